//! Opaque properties: stored properties of types that define their own tangent vectors and are not differentiated
//! member by member, such as a point on a circle that is represented by an angle.
//!
//! Beside each value is a vector of zeros, whose slots carry the value's tangent; the vector is a single number if the
//! type's number of components is not fixed. Functions with registered derivatives read and write the vector like other
//! numbers, and copies preserve it. A stored property has no relation to the vector, unless the vector has a member of
//! the same name (`counterpart`): reading or setting the property is a call of a function without a derivative. Reading
//! a property is also such a call if the type's tangent vectors omit this property but contain others.

use crate::ir::graph::{Obstacle, Op, Parameter, Terminator};
use crate::ir::layout;
use crate::ir::lower::builder::{Builder, Use, Value};
use crate::ir::lower::call::Operand;
use crate::ir::lower::place::Property;
use crate::ir::lower::{Key, Origin};
use crate::types::model::declaration_info::NominalKind;
use crate::types::model::ty::Type;
use crate::value::shape::{ShapeId, TangentId, TangentKind};
use std::ops::Range;
use std::rc::Rc;

impl Builder<'_> {
    /// Returns the shape of a value without the tangent vector beside it, and the components of this vector. `shape` is
    /// not boxed.
    pub(crate) fn beside(&mut self, shape: ShapeId) -> (ShapeId, Option<Range<usize>>) {
        match layout::beside(&mut self.lowering.layouts, &self.program.shapes, shape) {
            Some((value, components)) => (value, Some(components)),
            None => (shape, None),
        }
    }

    /// Returns a stored property of a type whose tangent vectors do not contain it, if the property is differentiable.
    pub(crate) fn opaque_property_at(&mut self, owner: &Type, index: usize) -> Option<Property> {
        let Type::Nominal(id, args) = self.concrete(owner) else { return None };
        let nominal = self.d.nominal(id);
        let stored = nominal.stored.get(index).filter(|s| !s.no_derivative)?;
        let ty = layout::instantiate(self.d, &nominal, &args, &stored.ty);
        self.tangent(&ty)?;
        Some(Property { owner: Type::Nominal(id, args), ty, name: stored.name.clone() })
    }

    /// Returns a stored property of a type whose tangent vectors contain some of its properties, and omit this
    /// property.
    pub(crate) fn omitted_property(&mut self, owner: &Type, index: usize) -> Option<Property> {
        let owner = self.concrete(owner);
        let Type::Nominal(id, args) = &owner else { return None };
        let nominal = self.d.nominal(*id);
        let stored = nominal.stored.get(index).filter(|s| !s.no_derivative)?;
        if !self.d.leaves_out(&owner, &stored.name) {
            return None;
        }
        let ty = layout::instantiate(self.d, &nominal, args, &stored.ty);
        self.tangent(&ty)?;
        Some(Property { owner, ty, name: stored.name.clone() })
    }

    /// Returns a value in the payload of a case, if the value is differentiable, as a property that the tangent vectors
    /// do not contain.
    pub(crate) fn opaque_payload_at(&mut self, owner: &Type, case: u32, index: usize) -> Option<Property> {
        let Type::Nominal(id, args) = self.concrete(owner) else { return None };
        let nominal = self.d.nominal(id);
        let case = nominal.cases.get(case as usize)?;
        let ty = layout::instantiate(self.d, &nominal, &args, &case.payload.get(index)?.1);
        self.tangent(&ty)?;
        Some(Property { owner: Type::Nominal(id, args), ty, name: case.name.clone() })
    }

    /// Returns the tangent vector beside a struct with the given stored properties; empty for a type that is
    /// differentiated by members.
    pub(crate) fn vector_beside(&mut self, ty: &Type, values: &[Value]) -> Value {
        self.vector_of(ty, values, |b, k| b.opaque_property_at(ty, k))
    }

    /// Returns the tangent vector beside a case of an enum with the given values.
    pub(crate) fn vector_beside_case(&mut self, ty: &Type, case: u32, values: &[Value]) -> Value {
        self.vector_of(ty, values, |b, k| b.opaque_payload_at(ty, case, k))
    }

    fn vector_of(
        &mut self,
        ty: &Type,
        parts: &[Value],
        property: impl Fn(&mut Self, usize) -> Option<Property>,
    ) -> Value {
        let shape = self.shape(ty);
        let inner = self.inner(shape);
        let (_, Some(beside)) = self.beside(inner) else { return vec![] };
        let banks = self.banks_of(inner);
        let mut vector = self.zeros(&banks[beside]);
        let found = parts.iter().enumerate().filter_map(|(k, value)| Some((property(self, k)?, value)));
        let found: Vec<_> = found.collect();
        // Storing a constant in a property without a counterpart loses no tangent as long as the tangent vector is
        // zero.
        let (kept, lost): (Vec<_>, Vec<_>) =
            found.into_iter().partition(|(p, _)| self.counterpart(&p.owner, &p.ty, &p.name).is_some());
        for (property, value) in lost.into_iter().chain(kept) {
            vector = self.set_opaque_property(&property, vector, value.clone());
        }
        vector
    }

    /// Reads a stored property that its owner's tangent vector does not contain.
    pub(crate) fn read_opaque_property(&mut self, property: &Property, vector: Value, value: Value) -> Value {
        self.call_opaque_property(property, true, vector, value)
    }

    /// Returns the tangent vector beside the owner of a stored property after the property was set.
    pub(crate) fn set_opaque_property(&mut self, property: &Property, vector: Value, value: Value) -> Value {
        self.call_opaque_property(property, false, vector, value)
    }

    fn call_opaque_property(&mut self, property: &Property, is_read: bool, vector: Value, value: Value) -> Value {
        let given = if is_read { &value } else { &vector };
        let banks: Vec<_> = given.iter().map(|reg| self.bank(*reg)).collect();
        let origin = Origin::OpaqueProperty { name: property.name.clone(), is_read };
        let generics = vec![property.owner.clone(), property.ty.clone()];
        let id = self.lowering.request(self.program, origin, generics, None);
        self.invoke(Op::Call(id), &[], vec![Operand::Value(vector), Operand::Value(value)], &banks, false).0
    }

    /// Builds the body of an [`Origin::OpaqueProperty`], which reads or sets a stored property.
    pub(crate) fn opaque_property(&mut self, key: &Key, name: &Rc<str>, is_read: bool) {
        let [owner, ty] = &key.generics[..] else { return };
        let (owner, ty) = (owner.clone(), ty.clone());
        let type_name: Rc<str> = self.d.type_name(&owner).into();
        self.out.name = format!("{type_name}.{name}").into();
        self.out.is_prelude = true;
        let (vector, value) = self.opaque_property_parameters(&owner, &ty);
        if self.counterpart(&owner, &ty, name).is_some() {
            self.counterpart_rules(key, name, is_read);
        } else {
            self.out.is_opaque = true;
            let is_case = matches!(&owner, Type::Nominal(id, _) if self.d.nominal(*id).kind == NominalKind::Enum);
            let expected = self.expected_member(&owner, &ty, name);
            self.out.obstacle =
                Some(Obstacle::Property { owner: type_name, name: name.clone(), is_read, is_case, expected });
        }
        let results = if is_read { value } else { vector };
        self.out.result_len = results.len();
        self.out.results = results.iter().map(|reg| self.bank(*reg)).collect();
        self.end(Terminator::Return(results));
    }

    /// Returns the tangent type of the tangent vector beside values of a type.
    pub(crate) fn tangent_beside(&mut self, owner: &Type) -> Option<TangentId> {
        let mut id = self.tangent(owner)?;
        loop {
            id = match &self.program.tangents.get(id).kind {
                TangentKind::Boxed(inner) => *inner,
                TangentKind::Beside(vector) => return Some(*vector),
                _ => return None,
            };
        }
    }

    /// Adds parameters for the tangent vector beside the owner of a property, or for the owner itself, and for the
    /// property.
    pub(crate) fn opaque_property_parameters(&mut self, owner: &Type, ty: &Type) -> (Value, Value) {
        let (vector_shape, vector_tangent) = match self.tangent_beside(owner) {
            Some(beside) => (self.program.tangents.get(beside).value, Some(beside)),
            None => (self.shape(owner), self.tangent(owner)),
        };
        let vector = self.opaque_property_parameter(vector_shape, vector_tangent);
        let (shape, tangent) = (self.shape(ty), self.tangent(ty));
        (vector, self.opaque_property_parameter(shape, tangent))
    }

    fn opaque_property_parameter(&mut self, shape: ShapeId, tangent: Option<TangentId>) -> Value {
        let banks = self.banks_of(shape);
        let regs = self.regs(&banks);
        self.dedicate(&regs, "", Use::Constant);
        let (first, span) = (self.out.params.len(), self.span);
        self.out.parameters.push(Parameter { name: Rc::from("self"), span, first, len: regs.len(), tangent, shape });
        self.out.params.extend(&regs);
        regs
    }
}
