//! Dynamic dispatch: calls of methods that subclasses override, and of requirements of protocols on existentials.
//!
//! In: callees. Out: [`Op::FindMethod`], and a complete dispatch table: every method for every type of which values are
//! created anywhere.

use super::builder::{Builder, Value};
use super::call::{Operand, Thrown};
use super::{Lowering, Origin};
use crate::ir::graph::Trap;
use crate::ir::layout::cells;
use crate::ir::{MethodId, Op, Program, Reg};
use crate::types::model::declaration_info::{Declarations, Function, NominalKind};
use crate::types::model::ty::{ProtocolId, Type};
use crate::types::model::typed_tree;
use crate::types::model::typed_tree::{Callee, FunctionRef};
use crate::value::Bank;
use crate::value::shape::{Shape, ShapeId};
use hashbrown::{HashMap, HashSet};
use std::rc::Rc;

/// The target of a call.
#[derive(Clone, Debug)]
pub(super) enum Target {
    /// A function that is known statically.
    Static(FunctionRef),
    /// A method that is dispatched on the receiver, which is the argument with the index `on`. The function is the
    /// declaration of the method.
    Dynamic(MethodId, FunctionRef, usize),
    /// An initializer of a class, together with the instance that is created for it.
    InstanceCreation(FunctionRef),
}

impl Target {
    /// Returns the function that declares the parameters and results of a call of the target.
    pub fn declaration(&self) -> &FunctionRef {
        match self {
            Target::Static(f) | Target::Dynamic(_, f, _) | Target::InstanceCreation(f) => f,
        }
    }
}

/// A method that is dispatched at run time, for concrete generic arguments.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Method {
    /// A method of a class, which subclasses may override.
    Class(FunctionRef),
    /// A requirement of a protocol that is called on an existential; `generics` are the generic arguments of the
    /// requirement itself.
    Requirement { protocol: ProtocolId, requirement: u32, on: Type, generics: Vec<Type> },
    /// A cast of a boxed value to the generic argument.
    Cast(FunctionRef),
    /// The type of a boxed value.
    TypeOf(FunctionRef),
    /// A function whose generic parameter is the dynamic type of one of its arguments.
    OpenedExistential { function: FunctionRef, generic: usize, param: usize },
    /// The creation of an instance of a class, or of the subclass that a metatype represents.
    New(FunctionRef),
}

/// The function or operation that a thunk calls.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(in crate::ir) enum ThunkTarget {
    /// An override whose results have a different representation.
    Override(FunctionRef),
    /// The witness of a requirement for a type.
    Witness { protocol: ProtocolId, requirement: u32, of: Type, generics: Vec<Type> },
    /// A cast of values of a type; `None` for all types for which the cast fails.
    Cast { from: Option<Type>, to: Type },
    /// The type of which values are boxed, returned as a metatype.
    TypeOf(Type),
    /// A function for the dynamic type of an argument, instantiated for one type that the argument can have.
    OpenedExistential { function: FunctionRef, param: usize, of: Type },
    /// The creation of an uninitialized instance of a class.
    New(Type),
}

/// The methods that are dispatched at run time, and the types on which these methods are dispatched.
#[derive(Clone, Default)]
pub(super) struct Dynamic {
    methods: Vec<Method>,
    numbers: HashMap<Method, MethodId>,
    /// The classes of which instances are created, and the types that are erased.
    types: Vec<ShapeId>,
    known: HashSet<ShapeId>,
    /// The numbers of methods and of types whose combinations were resolved so far.
    done: (usize, usize),
    /// Whether the program takes values apart by mirrors, which box the parts.
    pub mirrors: bool,
    /// The number of types whose parts were noted so far.
    parted: usize,
}

impl Lowering {
    /// Resolves all combinations of a dispatched method and a type in which the method or the type is new.
    pub(super) fn find_methods(&mut self, d: &mut dyn Declarations, program: &mut Program) {
        if self.dynamic.mirrors {
            self.note_parts(d, program);
        }
        let (methods, types) = (self.dynamic.methods.len(), self.dynamic.types.len());
        let (old_methods, old_types) = std::mem::replace(&mut self.dynamic.done, (methods, types));
        for m in 0..methods {
            for t in if m < old_methods { old_types } else { 0 }..types {
                let shape = self.dynamic.types[t];
                let method = self.dynamic.methods[m].clone();
                if let Some(ty) = self.layouts.type_of(shape).cloned() {
                    self.find_method(d, program, (MethodId(m as u32), &method), (shape, &ty));
                }
            }
        }
    }

    /// Makes all dispatched methods be resolved again for all types.
    pub(super) fn forget_methods(&mut self) {
        self.dynamic.done = (0, 0);
    }

    /// Notes the types of the parts of all boxed values, which a mirror boxes at run time.
    fn note_parts(&mut self, d: &mut dyn Declarations, program: &mut Program) {
        while let Some(&whole) = self.dynamic.types.get(self.dynamic.parted) {
            self.dynamic.parted += 1;
            for part in self.parts(d, program, whole) {
                if self.dynamic.known.insert(part) {
                    self.dynamic.types.push(part);
                }
            }
        }
    }

    /// Returns the shapes of the parts of a value. The payload of a case with several values is a tuple.
    fn parts(&mut self, d: &mut dyn Declarations, program: &mut Program, whole: ShapeId) -> Vec<ShapeId> {
        match program.shapes.get(whole).clone() {
            Shape::Tuple(fields) => fields.into_iter().map(|(_, shape)| shape).collect(),
            Shape::Struct { fields, .. } | Shape::Class { fields, .. } => {
                fields.into_iter().map(|(_, shape)| shape).collect()
            }
            Shape::Enum { cases, .. } => {
                cases.iter().filter_map(|case| self.payload(d, program, &case.payload)).collect()
            }
            Shape::Optional(of) | Shape::Array(of) | Shape::Set(of) | Shape::Boxed(of) => vec![of],
            Shape::Dictionary(key, value) => vec![key, value],
            _ => vec![],
        }
    }

    fn payload(
        &mut self,
        d: &mut dyn Declarations,
        program: &mut Program,
        payload: &[(Option<Rc<str>>, ShapeId)],
    ) -> Option<ShapeId> {
        match payload {
            [] => None,
            [(None, only)] => Some(*only),
            several => {
                let part = |(label, shape): &(Option<Rc<str>>, ShapeId)| {
                    Some((label.clone(), self.layouts.type_of(*shape)?.clone()))
                };
                let fields: Option<Rc<[_]>> = several.iter().map(part).collect();
                Some(self.layouts.shape(d, &mut program.shapes, &Type::Tuple(fields?)))
            }
        }
    }

    fn find_method(
        &mut self,
        d: &mut dyn Declarations,
        program: &mut Program,
        (id, method): (MethodId, &Method),
        (shape, ty): (ShapeId, &Type),
    ) {
        let (origin, generics) = match method {
            Method::Class(f) => {
                let declared = d.function(f.function);
                let put = |p| declared.generics.iter().position(|q| *q == p).and_then(|i| f.generics.get(i).cloned());
                let Some(own) = declared.params.first().map(|p| d.normalize(&p.ty.substitute(&put))) else { return };
                let (ty, own) = match (ty, &own) {
                    (Type::Metatype(of), Type::Metatype(wanted)) => (&**of, &**wanted),
                    _ => (ty, &own),
                };
                if !is_class_of(d, ty, own) {
                    return;
                }
                let found = d.override_of(f, ty);
                if found == *f || has_same_result_layout(d, f, &found) {
                    (Origin::Function(found.function), found.generics)
                } else {
                    let to = Rc::new(ThunkTarget::Override(found));
                    (Origin::Thunk { like: f.function, to }, f.generics.clone())
                }
            }
            Method::Requirement { protocol, requirement, on, generics } => {
                let (protocol, requirement) = (*protocol, *requirement);
                let like = d.requirement(protocol, requirement);
                let ty = match ty {
                    Type::Metatype(of) if has_type_self(&d.function(like)) => of,
                    Type::Metatype(_) => return,
                    _ => ty,
                };
                let fits = match on {
                    Type::Existential(e) => d.is_value_of(ty, e),
                    _ => true,
                };
                if !fits || !d.conforms(ty, protocol) {
                    return;
                }
                let to = ThunkTarget::Witness { protocol, requirement, of: ty.clone(), generics: generics.clone() };
                let all = std::iter::once(on.clone()).chain(generics.iter().cloned()).collect();
                (Origin::Thunk { like, to: Rc::new(to) }, all)
            }
            Method::Cast(f) => {
                let to = f.generics.first().cloned().unwrap_or(Type::Error);
                // All existentials have the same shape, regardless of their protocols.
                let any = |t: &Type| matches!(t, Type::Existential(_)).then(Type::any_value);
                let from = super::cast::may_succeed(d, ty, &to).then(|| ty.map(&mut |t| any(t)));
                (Origin::Thunk { like: f.function, to: Rc::new(ThunkTarget::Cast { from, to }) }, f.generics.clone())
            }
            Method::OpenedExistential { function, generic, param } => {
                let declared = d.function(function.function);
                let Some(declared_param) = declared.params.get(*param) else { return };
                let ty = match (&declared_param.ty, ty) {
                    (Type::Metatype(_), Type::Metatype(of)) => of,
                    (Type::Metatype(_), _) | (_, Type::Metatype(_)) => return,
                    _ => ty,
                };
                let Some(Type::Existential(opened)) = function.generics.get(*generic) else { return };
                if !d.is_value_of(ty, opened) {
                    return;
                }
                let mut known = function.clone();
                known.generics[*generic] = ty.clone();
                let to = Rc::new(ThunkTarget::OpenedExistential { function: known, param: *param, of: ty.clone() });
                (Origin::Thunk { like: function.function, to }, function.generics.clone())
            }
            Method::New(f) => {
                let (Type::Metatype(of), [class]) = (ty, f.generics.as_slice()) else { return };
                if !is_class_of(d, of, class) {
                    return;
                }
                let to = Rc::new(ThunkTarget::New((**of).clone()));
                (Origin::Thunk { like: f.function, to }, f.generics.clone())
            }
            Method::TypeOf(f) => {
                (Origin::Thunk { like: f.function, to: Rc::new(ThunkTarget::TypeOf(ty.clone())) }, f.generics.clone())
            }
        };
        let function = self.request(program, origin, generics, None);
        program.dispatch.insert((id, shape), function);
    }

    fn method(&mut self, program: &mut Program, method: Method, name: &Rc<str>) -> MethodId {
        if let Some(id) = self.dynamic.numbers.get(&method) {
            return *id;
        }
        let id = MethodId(self.dynamic.methods.len() as u32);
        self.dynamic.methods.push(method.clone());
        self.dynamic.numbers.insert(method, id);
        program.methods.push(name.clone());
        id
    }
}

/// Whether the first parameter of a function is a metatype `self`.
pub(super) fn has_type_self(declared: &Function) -> bool {
    declared.params.first().is_some_and(|p| &*p.name == "self" && matches!(p.ty, Type::Metatype(_)))
}

/// Whether a type is the given class or a subclass.
pub(super) fn is_class_of(d: &mut dyn Declarations, ty: &Type, class: &Type) -> bool {
    let mut at = ty.clone();
    loop {
        if at == *class {
            return true;
        }
        let Type::Nominal(id, args) = &at else { return false };
        let nominal = d.nominal(*id);
        let Some(base) = &nominal.superclass else { return false };
        at = crate::ir::layout::instantiate(d, &nominal, args, base);
    }
}

/// Whether the results of an override and of the overridden method have the same representation, so that no thunk is
/// needed.
fn has_same_result_layout(d: &mut dyn Declarations, f: &FunctionRef, by: &FunctionRef) -> bool {
    let mut result = |f: &FunctionRef| {
        let declared = d.function(f.function);
        let put = |p| declared.generics.iter().position(|q| *q == p).and_then(|i| f.generics.get(i).cloned());
        (d.normalize(&declared.result.substitute(&put)), declared.throws)
    };
    let ((a, a_throws), (b, b_throws)) = (result(f), result(by));
    let mut is_class = |t: &Type| matches!(t, Type::Nominal(id, _) if d.nominal(*id).kind == NominalKind::Class);
    a_throws == b_throws && (a == b || is_class(&a) && is_class(&b))
}

impl Builder<'_> {
    /// Resolves the callee of a call for concrete types; `None` if the function does not exist.
    pub fn resolve(&mut self, callee: &Callee) -> Option<Target> {
        match callee {
            Callee::Static(f) => Some(Target::Static(self.concrete_ref(f))),
            Callee::Class { function, .. } => {
                let f = self.concrete_ref(function);
                Some(self.method_of_class(f))
            }
            Callee::Opened { function, generic, param } => {
                let f = self.concrete_ref(function);
                let name = self.d.function(f.function).name.clone();
                let (generic, param) = (*generic as usize, *param as usize);
                let method = Method::OpenedExistential { function: f.clone(), generic, param };
                let id = self.lowering.method(self.program, method, &name);
                Some(Target::Dynamic(id, f, param))
            }
            Callee::Requirement { protocol, requirement, self_type, generics } => {
                let of = self.concrete(self_type);
                let generics: Vec<Type> = generics.iter().map(|t| self.concrete(t)).collect();
                if let Type::Existential(_) = of {
                    return Some(self.method_of_protocol(*protocol, *requirement, of, generics));
                }
                let witness = self.d.witness(*protocol, *requirement, &of, &generics)?;
                Some(self.method_of_class(witness))
            }
        }
    }

    /// Returns the target of a call of a class's method: the call is dispatched dynamically only if the method is
    /// overridden, or may be overridden later.
    fn method_of_class(&mut self, f: FunctionRef) -> Target {
        match self.d.overridden(f.function) {
            Some(is_overridden) if is_overridden || self.lowering.interactive => {
                let name = self.d.function(f.function).name.clone();
                let id = self.lowering.method(self.program, Method::Class(f.clone()), &name);
                Target::Dynamic(id, f, 0)
            }
            _ => Target::Static(f),
        }
    }

    fn method_of_protocol(&mut self, protocol: ProtocolId, requirement: u32, on: Type, generics: Vec<Type>) -> Target {
        let function = self.d.requirement(protocol, requirement);
        let name = self.d.function(function).name.clone();
        let all = std::iter::once(on.clone()).chain(generics.iter().cloned()).collect();
        let method = Method::Requirement { protocol, requirement, on, generics };
        let id = self.lowering.method(self.program, method, &name);
        Target::Dynamic(id, FunctionRef { function, generics: all }, 0)
    }

    /// Returns the method that casts a boxed value: a function for each type.
    pub(super) fn method_of_cast(&mut self, f: FunctionRef) -> Target {
        let id = self.lowering.method(self.program, Method::Cast(f.clone()), &"as".into());
        Target::Dynamic(id, f, 0)
    }

    /// Returns the method that allocates an instance of the class that a metatype represents.
    pub(super) fn method_of_new(&mut self, f: FunctionRef) -> Target {
        let id = self.lowering.method(self.program, Method::New(f.clone()), &"new".into());
        Target::Dynamic(id, f, 0)
    }

    /// Returns the method that determines the type of an instance or of a boxed value.
    pub(super) fn method_of_type(&mut self, f: FunctionRef) -> Target {
        let id = self.lowering.method(self.program, Method::TypeOf(f.clone()), &"type".into());
        Target::Dynamic(id, f, 0)
    }

    /// Whether the target of a call is statically known to be the given primitive, and has no registered derivative.
    pub fn is_primitive_target(&mut self, target: &Target, name: &str) -> bool {
        matches!(target, Target::Static(f) if self.is_primitive(f, name))
    }

    /// Adds a call of a target with the given operands.
    pub fn call_target(&mut self, target: &Target, mut operands: Vec<Operand>) -> (Value, Thrown) {
        if let Target::InstanceCreation(f) = target {
            return self.call_instance_creation(f, operands);
        }
        let declared = self.d.function(target.declaration().function);
        for (operand, param) in operands.iter_mut().zip(&declared.params) {
            // A mutating requirement of a protocol modifies the instance and not the reference, if the type is a class.
            if let (Operand::InOut(regs), false) = (&*operand, param.is_inout) {
                *operand = Operand::Value(regs.clone());
            }
        }
        let (method, f, at) = match target {
            Target::Static(f) | Target::InstanceCreation(f) => return self.call_raw(f, operands),
            Target::Dynamic(method, f, at) => (*method, f, *at),
        };
        let result = self.of_function(&declared, &f.generics, &declared.result);
        let receiver = match operands.get(at) {
            Some(Operand::Value(regs) | Operand::InOut(regs)) => regs.first().copied(),
            None => None,
        };
        let Some(receiver) = receiver else {
            self.refuse("a static protocol requirement cannot be used on a value of unknown type");
            return (self.nothing(&result), None);
        };
        let function = self.value(Op::FindMethod(method), Bank::R, &[receiver]);
        let banks = self.banks(&result);
        if self.is_local(f.function) {
            operands.extend(self.captured(f.function).into_iter().map(Operand::Value));
        }
        self.invoke(Op::CallValue, &[function], operands, &banks, declared.throws)
    }

    /// Creates an instance of a class with the given components, or an uninitialized instance.
    pub fn instance(&mut self, shape: ShapeId, components: &[Reg]) -> Value {
        self.note_type(shape);
        let object = self.value(Op::NewInstance(shape), Bank::R, &[]);
        let banks: Vec<Bank> = components.iter().map(|reg| self.bank(*reg)).collect();
        for (reg, (bank, index)) in components.iter().zip(cells(&banks)) {
            self.emit(Op::StoreBox { bank, index: index as u16 }, &[], &[object, *reg]);
        }
        if let Some(class) = self.lowering.layouts.type_of(shape).cloned() {
            for last in self.d.deinits(&class) {
                let does = self.function_value(&last);
                self.emit(Op::Native { name: "instance.atEnd", shapes: vec![] }, &[], &[object, does]);
            }
        }
        vec![object]
    }

    /// Boxes a value of a concrete type as an existential.
    pub fn boxed(&mut self, ty: &Type, regs: &[Reg]) -> Value {
        let shape = self.shape(ty);
        self.note_type(shape);
        vec![self.value(Op::Native { name: "any.box", shapes: vec![shape] }, Bank::R, regs)]
    }

    /// Notes that values of a type may be receivers of methods.
    pub(super) fn note_type(&mut self, shape: ShapeId) {
        let dynamic = &mut self.lowering.dynamic;
        if dynamic.known.insert(shape) {
            dynamic.types.push(shape);
        }
    }

    /// Builds a thunk that has the signature of one function and calls another.
    pub(super) fn thunk(&mut self, like: typed_tree::FunctionId, to: &ThunkTarget) {
        let declared = self.d.function(like);
        self.params = declared.generics.clone();
        self.out.name = declared.name.clone();
        self.out.span = declared.span;
        self.span = declared.span;
        self.out.is_prelude = true;
        self.result = self.concrete(&declared.result);
        self.throws = declared.throws;
        self.results(&declared);
        let mut operands = self.parameters(&declared);
        let (target, of) = match to {
            ThunkTarget::Cast { from, to } => {
                let found = self.cast_of_box(from.as_ref(), &operands, to);
                return self.return_value(found);
            }
            ThunkTarget::New(of) => {
                let shape = self.shape(of);
                let found = self.instance(shape, &[]);
                return self.return_value(found);
            }
            ThunkTarget::TypeOf(of) => {
                let found = self.boxed_metatype(of);
                return self.return_value(found);
            }
            ThunkTarget::Override(f) => (Target::Static(f.clone()), None),
            ThunkTarget::OpenedExistential { function, param, of } => {
                if self.is_local(function.function) {
                    self.forward_captures(function.function);
                }
                (self.method_of_class(function.clone()), Some((*param, of)))
            }
            ThunkTarget::Witness { protocol, requirement, of, generics } => {
                let callee = Callee::Requirement {
                    protocol: *protocol,
                    requirement: *requirement,
                    self_type: of.clone(),
                    generics: generics.clone(),
                };
                let Some(target) = self.resolve(&callee) else {
                    // 'Never' conforms to every protocol without members, since no value needs them.
                    match of {
                        Type::Never => self.trap(Trap::Unreachable),
                        _ => self.refuse("the type does not satisfy this requirement"),
                    }
                    return;
                };
                let found = self.d.override_of(target.declaration(), of);
                self.out.reads = self.reads(&found);
                (target, Some((0, of)))
            }
        };
        let takes_metatype = has_type_self(&declared);
        if takes_metatype && let (ThunkTarget::Witness { .. }, Some((_, of))) = (to, of) {
            let Operand::Value(metatype) = operands.remove(0) else { return };
            let from = self.d.function(target.declaration().function);
            operands.splice(0..0, self.type_operand(&from, Some(metatype), of, operands.len()));
        }
        if let ThunkTarget::OpenedExistential { param, of, .. } = to
            && matches!(declared.params[*param].ty, Type::Metatype(_))
            && !crate::ir::layout::is_dynamic(self.d, of)
        {
            operands[*param] = Operand::Value(vec![]);
        }
        let is_type = |k: usize| declared.params.get(k).is_some_and(|p| matches!(p.ty, Type::Metatype(_)));
        let of = of.filter(|(k, _)| !is_type(*k));
        // The values of `inout` parameters are returned at the end of a thunk, and the receiver is boxed again.
        let mut back = vec![];
        for (k, operand) in operands.iter_mut().enumerate() {
            let (Operand::Value(regs) | Operand::InOut(regs)) = &mut *operand;
            let of = of.filter(|(at, _)| k == *at).map(|(_, of)| of);
            if let Some(of) = of {
                *regs = self.unboxed(of, regs);
            }
            if let Operand::InOut(regs) = operand {
                back.push((regs.clone(), of));
            }
        }
        let from = self.d.function(target.declaration().function);
        let generics = target.declaration().generics.clone();
        let from = self.of_function(&from, &generics, &from.result);
        let (value, thrown) = self.call_target(&target, operands);
        if let Some((flag, error)) = thrown {
            self.propagate_from_thunk(flag, error, &back);
        }
        let to = self.result.clone();
        let mut results = self.as_declared(value, &from, &to);
        results.extend(self.given_back(&back));
        self.return_value(results);
    }

    /// Propagates the error of the function that a thunk calls, together with the values of the `inout` parameters.
    fn propagate_from_thunk(&mut self, flag: Reg, error: Reg, back: &[(Value, Option<&Type>)]) {
        if !self.throws {
            return self.propagate(flag, error);
        }
        let (threw, fine) = (self.block(), self.block());
        self.branch(flag, threw, fine);
        self.switch_to_block(threw);
        let result = self.result.clone();
        let mut results = self.nothing(&result);
        results.extend(self.given_back(back));
        self.finish(Some(error), results);
        self.switch_to_block(fine);
    }

    /// Returns the values of the `inout` parameters of a thunk; a receiver of the given type is boxed again.
    fn given_back(&mut self, back: &[(Value, Option<&Type>)]) -> Value {
        let mut values = vec![];
        for (regs, of) in back {
            match of {
                Some(of) => values.extend(self.boxed(of, regs)),
                None => values.extend(regs),
            }
        }
        values
    }

    /// Unboxes an existential whose value is known to have a concrete type.
    pub(super) fn unboxed(&mut self, ty: &Type, regs: &[Reg]) -> Value {
        let shape = self.shape(ty);
        if let Shape::Class { .. } = self.program.shapes.get(shape) {
            // The cast that unboxes the value also accepts an instance of a subclass.
            let optional = [self.reg(Bank::I), self.reg(Bank::R)];
            self.emit(Op::Native { name: "any.as", shapes: vec![shape] }, &optional, regs);
            return vec![optional[1]];
        }
        let mut banks = vec![Bank::I];
        banks.extend(self.banks_of(shape).iter());
        let optional = self.regs(&banks);
        self.emit(Op::Native { name: "any.as", shapes: vec![shape] }, &optional, regs);
        let value = optional[1..].to_vec();
        self.dedicate(&value, "", super::builder::Use::Variable);
        value
    }

    /// Converts a result to the type that the overridden method declares: an optional, or an existential.
    fn as_declared(&mut self, value: Value, from: &Type, to: &Type) -> Value {
        if from == to || matches!(from, Type::Never) {
            return value;
        }
        if let (Type::Existential(_), false) = (to, matches!(from, Type::Existential(_))) {
            return self.boxed(from, &value);
        }
        if to.any(&mut |t| matches!(t, Type::Existential(_))) {
            // The existentials are parts of another type, so the value is converted by a cast.
            return self.converted_exact(from, value, to)[1..].to_vec();
        }
        let (from, to) = (self.banks(from), self.banks(to));
        if from.len() + 1 == to.len() { self.some(value) } else { value }
    }
}
