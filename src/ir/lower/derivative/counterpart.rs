//! Counterparts: the members of a declared tangent vector that correspond by name to stored properties of the type,
//! while other members of the vector do not.
//!
//! In: a property that is read and set by functions ([`Origin::OpaqueProperty`]). Out: derivatives of these functions,
//! as if the program had registered them, which load or store the member of the vector.

use crate::ir::layout;
use crate::ir::lower::builder::{Builder, Use, Value};
use crate::ir::lower::place::Location;
use crate::ir::lower::{Key, Origin};
use crate::ir::{Op, Rule, RuleKind};
use crate::types::model::declaration_info::NominalKind;
use crate::types::model::ty::{FunctionType, Strength, Type};
use crate::types::model::typed_tree::FunctionRef;
use crate::value::Bank;
use std::rc::Rc;

/// An access to a property, and the direction of its derivative. The generic arguments of the functions are the owner's
/// type and the type of the property.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(in crate::ir) struct Access {
    name: Rc<str>,
    is_read: bool,
    is_pullback: bool,
}

/// The tangent vector of a type with a property, the tangent vector of the property, and the index of the member for
/// the property.
pub(crate) struct Counterpart {
    vector: Type,
    part: Type,
    index: usize,
}

impl Builder<'_> {
    /// Returns the member of a type's tangent vector that is the tangent of a stored property.
    pub(crate) fn counterpart(&mut self, owner: &Type, ty: &Type, name: &str) -> Option<Counterpart> {
        let (found, member) = self.namesake(owner, ty, name)?;
        (member == found.part).then_some(found)
    }

    /// Returns the type that a member of a type's tangent vector would need to be the tangent of the property of the
    /// same name, if it has another type.
    pub(crate) fn expected_member(&mut self, owner: &Type, ty: &Type, name: &str) -> Option<Rc<str>> {
        let (found, member) = self.namesake(owner, ty, name)?;
        (member != found.part).then(|| format!("{}.TangentVector", self.d.type_name(ty)).into())
    }

    /// Returns the member of a type's tangent vector that has the name of a stored property, and the type of the member.
    fn namesake(&mut self, owner: &Type, ty: &Type, name: &str) -> Option<(Counterpart, Type)> {
        let Type::Nominal(own, _) = owner else { return None };
        // If values of the type are stored without a tangent vector, the vector has a member for each differentiable
        // property.
        if self.d.nominal(*own).kind != NominalKind::Struct || self.tangent_beside(owner).is_none() {
            return None;
        }
        let (vector, part) = (self.d.tangent_vector(owner)?, self.d.tangent_vector(ty)?);
        let Type::Nominal(id, args) = &vector else { return None };
        let nominal = self.d.nominal(*id);
        if nominal.is_prelude || nominal.builtin.is_some() || nominal.kind != NominalKind::Struct {
            return None;
        }
        let index = nominal.stored.iter().position(|member| &*member.name == name)?;
        let member = layout::instantiate(self.d, &nominal, args, &nominal.stored[index].ty);
        Some((Counterpart { vector, part, index }, member))
    }

    /// Registers the derivatives of the function that reads or sets a property.
    pub(crate) fn counterpart_rules(&mut self, key: &Key, name: &Rc<str>, is_read: bool) {
        let [owner, ty] = &key.generics[..] else { return };
        let result = if is_read { self.tangent(ty) } else { self.tangent_beside(owner) };
        let Some(result) = result else { return };
        let mover = self.mover(ty);
        for (kind, is_pullback) in [(RuleKind::Pullback, true), (RuleKind::Differential, false)] {
            let access = Rc::new(Access { name: name.clone(), is_read, is_pullback });
            let origin = Origin::CounterpartRule(access);
            let function = self.lowering.request(self.program, origin, key.generics.clone(), None);
            self.out.rules.push(Rule {
                // The body of the function does not determine how a property varies.
                differs: true,
                place: self.span,
                movers: Rc::from([None, mover]),
                ..Rule::new(vec![true, !is_read], function, kind, result)
            });
        }
    }

    /// Builds the body of an [`Origin::CounterpartRule`], which returns the value of the property, and the linear
    /// function.
    pub(crate) fn counterpart_rule(&mut self, key: &Key, access: &Rc<Access>) {
        let [owner, ty] = &key.generics[..] else { return };
        self.name_access(access);
        let (vector, value) = self.opaque_property_parameters(owner, ty);
        let Some(found) = self.counterpart(owner, ty, &access.name) else { return };
        let origin = Origin::CounterpartMap(access.clone());
        let map = self.lowering.request(self.program, origin, key.generics.clone(), None);
        let map = self.value(Op::Closure(map), Bank::R, &[]);
        let (result, mut components) = match access.is_read {
            true => (ty.clone(), value),
            // A single number represents a vector whose number of components is not fixed.
            false if self.banks(&found.vector).len() == vector.len() => (found.vector, vector),
            false => (self.number_type(), vector),
        };
        components.push(map);
        let linear = FunctionType { params: vec![], result: Type::unit(), throws: false, strength: Strength::Plain };
        let both = Type::Tuple(Rc::from([(None, result), (None, Type::Function(Rc::new(linear)))]));
        let components = self.pack(&both, components);
        self.return_results(components);
    }

    /// Builds the body of an [`Origin::CounterpartMap`], the linear function that reads a member of a tangent vector or
    /// stores it.
    pub(crate) fn counterpart_map(&mut self, key: &Key, access: &Access) {
        let [owner, ty] = &key.generics[..] else { return };
        self.name_access(access);
        let Some(Counterpart { vector, part, index }) = self.counterpart(owner, ty, &access.name) else { return };
        let given = match (access.is_read, access.is_pullback) {
            (true, true) => {
                let seed = self.parameter("v", &part);
                let zero = self.zero_vector(&vector);
                let (whole, member) = self.vector_and_member(&vector, &zero, index);
                self.store(&member, &seed);
                whole
            }
            (true, false) => {
                let tangent = self.parameter("v", &vector);
                let member = self.field_location(Location::Registers(tangent), &vector, index);
                self.load(&member)
            }
            (false, true) => {
                let seed = self.parameter("v", &vector);
                let (whole, member) = self.vector_and_member(&vector, &seed, index);
                let adjoint = self.load(&member);
                let adjoint = self.keep(adjoint);
                let zero = self.zero_vector(&part);
                self.store(&member, &zero);
                let both = Type::Tuple(Rc::from([(None, vector), (None, part)]));
                self.pack(&both, [whole, adjoint].concat())
            }
            (false, false) => {
                let (tangent, new) = (self.parameter("v", &vector), self.parameter("w", &part));
                let (whole, member) = self.vector_and_member(&vector, &tangent, index);
                self.store(&member, &new);
                whole
            }
        };
        self.return_results(given);
    }

    /// Returns a tangent vector that can be modified, and the place of a member of this vector.
    fn vector_and_member(&mut self, ty: &Type, value: &Value, index: usize) -> (Value, Location) {
        let banks = self.banks(ty);
        let whole = self.regs(&banks);
        self.dedicate(&whole, "", Use::Variable);
        for (to, from) in whole.iter().zip(value) {
            self.emit(Op::Copy, &[*to], &[*from]);
        }
        let member = self.field_location(Location::Registers(whole.clone()), ty, index);
        (whole, member)
    }

    fn zero_vector(&mut self, ty: &Type) -> Value {
        let Some(function) = self.d.prelude_function("_zeroVector") else { return self.nothing(ty) };
        self.call_function(&FunctionRef { function, generics: vec![ty.clone()] }, vec![])
    }

    fn number_type(&mut self) -> Type {
        self.d.prelude_nominal("Double").map_or_else(Type::unit, |double| Type::Nominal(double, Rc::from([])))
    }

    fn name_access(&mut self, access: &Access) {
        self.out.name = access.name.clone();
        self.out.is_prelude = true;
    }
}
