//! Calls: the callee, the order of arguments, and the values that are returned to `inout` places.

use super::Origin;
use super::builder::{Builder, Use, Value};
use super::dispatch::{Target, has_type_self};
use super::effects::{argument_may_write, last_writing};
use super::modification::OpenedPlace;
use super::place::Location;
use crate::ir::graph::{Op, Operator, Reg, Trap};
use crate::ir::layout::is_small;
use crate::source::Span;
use crate::types::model::declaration_info::Function;
use crate::types::model::ty::{FunctionType, Type};
use crate::types::model::typed_tree::{Argument, Callee, Expr, FunctionRef};
use crate::value::Bank;

/// An evaluated argument of a call, in registers.
pub(super) enum Operand {
    /// An argument that is passed by value.
    Value(Value),
    /// An `inout` argument: its registers are modified by the callee.
    InOut(Value),
}

/// Returns the registers of those operands of a call that the called function modifies.
pub(super) fn changed(operands: &[Operand]) -> Value {
    let registers = |operand: &Operand| match operand {
        Operand::InOut(regs) => regs.clone(),
        Operand::Value(_) => vec![],
    };
    operands.iter().flat_map(registers).collect()
}

/// The flag and the error that a call returns if it may throw.
pub(super) type Thrown = Option<(Reg, Reg)>;

enum PreparedArgument {
    Value(Value),
    Place(Location, Span),
}

impl Builder<'_> {
    /// Substitutes concrete generic arguments in a function reference.
    pub fn concrete_ref(&mut self, f: &FunctionRef) -> FunctionRef {
        FunctionRef { function: f.function, generics: f.generics.iter().map(|t| self.concrete(t)).collect() }
    }

    /// Whether a function is the given primitive, and has no registered derivative.
    pub fn is_primitive(&mut self, f: &FunctionRef, name: &str) -> bool {
        let declared = self.d.function(f.function);
        declared.primitive.as_deref() == Some(name) && self.is_transparent(f, &declared)
    }

    /// Whether a primitive is differentiated as its table entry specifies: no other derivative is registered, and the
    /// function is not declared opaque. Otherwise a call of the primitive must remain a call.
    fn is_transparent(&mut self, f: &FunctionRef, declared: &Function) -> bool {
        let view = self.d.view(f, self.span);
        !declared.is_opaque && self.d.rules(f, view).is_empty()
    }

    /// Lowers a call.
    pub fn call(&mut self, callee: &Callee, args: &[Argument], ty: &Type) -> Value {
        if let Callee::Requirement { self_type, .. } = callee
            && self.concrete(self_type) == Type::Never
        {
            // There is no value on which the requirement can be called: the evaluation of the receiver does not return.
            self.prepare(args, &[]);
            return self.nothing(ty);
        }
        let Some(target) = self.resolve(callee) else {
            self.refuse("a protocol requirement cannot be called on a value of unknown type");
            return self.nothing(ty);
        };
        let target = self.or_instance_creation(target, args);
        let f = target.declaration().clone();
        let (declared, args) = match target {
            Target::InstanceCreation(_) => (self.original(f.function), &args[1..]),
            _ => (self.d.function(f.function), args),
        };
        let (own, args) = self.own_type(callee, &declared, args);
        let mut wanted = self.param_types(&declared, &f.generics);
        if own.is_some() {
            wanted.remove(0);
        }
        let prepared = self.prepare(args, &wanted);
        let copies_globals = self.lowering.interactive && !is_safe(&declared);
        let before = std::mem::replace(&mut self.copies_globals, copies_globals);
        let (mut operands, opened) = self.operands(prepared);
        operands.splice(0..0, own);
        let (value, thrown) = self.call_target(&target, operands);
        for place in opened.into_iter().rev() {
            self.close(place);
        }
        self.copies_globals = before;
        if let Some((flag, error)) = thrown {
            self.propagate(flag, error);
            let result = self.concrete(ty);
            self.never_returns(&result, None);
        }
        value
    }

    /// Returns the type operand, if the witness of a static requirement needs one, and the other arguments. The
    /// declaration of the requirement does not determine whether the witness needs the type operand.
    fn own_type<'e>(
        &mut self,
        callee: &Callee,
        declared: &Function,
        args: &'e [Argument],
    ) -> (Option<Operand>, &'e [Argument]) {
        let Callee::Requirement { protocol, requirement, self_type, .. } = callee else { return (None, args) };
        let requirement = self.d.requirement(*protocol, *requirement);
        let requirement = self.d.function(requirement);
        let (metatype, rest) = match args.split_first() {
            Some((Argument::Value(metatype), rest)) if has_type_self(&requirement) => (Some(self.expr(metatype)), rest),
            _ => (None, args),
        };
        let of = self.concrete(self_type);
        (self.type_operand(declared, metatype, &of, rest.len()), rest)
    }

    /// Returns the operand that a function takes before its `further` other operands: the type that is its `self`, or
    /// an instance that it initializes.
    pub(super) fn type_operand(
        &mut self,
        declared: &Function,
        metatype: Option<Value>,
        of: &Type,
        further: usize,
    ) -> Option<Operand> {
        if declared.params.len() <= further {
            return None;
        }
        let metatype = match metatype {
            Some(value) if crate::ir::layout::is_dynamic(self.d, of) => value,
            _ => self.metatype(of),
        };
        let value = if has_type_self(declared) { metatype } else { self.new_of_type(of, metatype) };
        Some(Operand::Value(value))
    }

    /// Lowers a call of a function value.
    pub fn call_value(&mut self, function: &Expr, args: &[Argument]) -> Value {
        let Type::Function(ty) = self.concrete(&function.ty) else {
            self.refuse("a value that is not a function cannot be called");
            return vec![];
        };
        let mut callee = self.expr(function);
        if args.iter().any(argument_may_write) {
            callee = self.keep(callee);
        }
        let wanted: Vec<Type> = ty.params.iter().map(|p| p.ty.clone()).collect();
        let prepared = self.prepare(args, &wanted);
        let before = std::mem::replace(&mut self.copies_globals, self.lowering.interactive);
        let (mut operands, opened) = self.operands(prepared);
        for ((operand, param), arg) in operands.iter_mut().zip(&ty.params).zip(args) {
            if let (Operand::Value(value), Argument::Value(e), true) = (operand, arg, param.no_derivative)
                && self.tangent(&param.ty).is_some()
            {
                let outer_span = std::mem::replace(&mut self.span, e.span);
                let banks = self.banks(&param.ty);
                *value = self.operate(Operator::NoDerivative { is_property: false }, &std::mem::take(value), &banks);
                self.span = outer_span;
            }
        }
        let (value, thrown) = self.call_value_raw(callee[0], &ty, operands);
        for place in opened.into_iter().rev() {
            self.close(place);
        }
        self.copies_globals = before;
        if let Some((flag, error)) = thrown {
            self.propagate(flag, error);
            let result = self.concrete(&ty.result);
            self.never_returns(&result, None);
        }
        value
    }

    /// Evaluates the arguments of a call from left to right; places of `inout` arguments are located, but not opened.
    fn prepare(&mut self, args: &[Argument], wanted: &[Type]) -> Vec<PreparedArgument> {
        let mut prepared = vec![];
        let last_write = last_writing(args, argument_may_write);
        for (i, arg) in args.iter().enumerate() {
            prepared.push(match arg {
                Argument::Value(e) => {
                    let mut value = self.expr(e);
                    if let Some(to) = wanted.get(i) {
                        value = self.adapt(value, &e.ty, to);
                    }
                    PreparedArgument::Value(if i < last_write { self.keep(value) } else { value })
                }
                Argument::InOut(place) => PreparedArgument::Place(self.place(place), place.span),
            });
        }
        prepared
    }

    /// Opens the places of the `inout` arguments of a call.
    fn operands(&mut self, mut prepared: Vec<PreparedArgument>) -> (Vec<Operand>, Vec<OpenedPlace>) {
        for argument in &mut prepared {
            if let PreparedArgument::Place(at, _) = argument {
                *at = self.fetch(std::mem::replace(at, Location::Discard));
                self.check(at);
            }
        }
        let mut opened: Vec<OpenedPlace> = vec![];
        let mut operands = vec![];
        for argument in prepared {
            match argument {
                PreparedArgument::Value(value) => operands.push(Operand::Value(value)),
                PreparedArgument::Place(at, span) => {
                    self.changed_at = Some(span);
                    let place = self.open(&at);
                    self.changed_at = None;
                    operands.push(Operand::InOut(place.regs.clone()));
                    opened.push(place);
                }
            }
        }
        // In `xs.append(contentsOf: xs)`, the argument is the value of the array before the call.
        for operand in &mut operands {
            if let Operand::Value(value) = operand
                && value.iter().any(|reg| opened.iter().any(|o| o.regs.contains(reg)))
            {
                *value = self.copy(value);
            }
        }
        (operands, opened)
    }

    /// Calls a statically known function; an error that it throws is propagated to the handler.
    pub fn call_function(&mut self, f: &FunctionRef, operands: Vec<Operand>) -> Value {
        self.call_and_propagate(&Target::Static(f.clone()), operands)
    }

    /// Calls the target of a call; an error that it throws is propagated to the handler.
    pub fn call_and_propagate(&mut self, target: &Target, operands: Vec<Operand>) -> Value {
        let (value, thrown) = self.call_target(target, operands);
        if let Some((flag, error)) = thrown {
            self.propagate(flag, error);
        }
        value
    }

    pub(super) fn call_raw(&mut self, f: &FunctionRef, mut operands: Vec<Operand>) -> (Value, Thrown) {
        let declared = self.d.function(f.function);
        let result = self.of_function(&declared, &f.generics, &declared.result);
        if !f.generics.iter().all(is_small) {
            self.refuse("the generic types of this call grow without bound");
            return (self.nothing(&result), None);
        }
        if let Some(name) = &declared.primitive
            && self.is_transparent(f, &declared)
        {
            if let Some(function) = f.generics.first().and_then(|of| self.d.by_own_equality(name, of)) {
                return self.call_raw(&FunctionRef { function, generics: f.generics.clone() }, operands);
            }
            let mut value = self.apply_primitive(name, &declared, &f.generics, &operands);
            let thrown = declared.throws.then(|| (value[0], value[1]));
            self.never_returns(&result, thrown);
            return (value.split_off(if declared.throws { 2 } else { 0 }), thrown);
        }
        let mut origin = Origin::Function(f.function);
        if declared.primitive.is_none() {
            let captured = self.captured(f.function);
            if !captured.is_empty() {
                origin = Origin::LocalFunction(f.function);
                operands.extend(captured.into_iter().map(Operand::Value));
            }
        }
        let view = self.d.view(f, self.span);
        let id = self.lowering.request(self.program, origin, f.generics.clone(), view);
        let banks = self.banks(&result);
        let answer = self.invoke(Op::Call(id), &[], operands, &banks, declared.throws);
        self.never_returns(&result, answer.1);
        answer
    }

    /// Calls a function value; returns the flag and the error if the function may throw.
    pub fn call_value_raw(&mut self, function: Reg, ty: &FunctionType, operands: Vec<Operand>) -> (Value, Thrown) {
        let banks = self.banks(&ty.result);
        let answer = self.invoke(Op::CallValue, &[function], operands, &banks, ty.throws);
        self.never_returns(&ty.result, answer.1);
        answer
    }

    /// Marks the return path of a call as unreachable if the result type is `Never`; the return path of an error
    /// remains reachable.
    fn never_returns(&mut self, result: &Type, thrown: Thrown) {
        if !matches!(result, Type::Never) {
            return;
        }
        let Some((flag, _)) = thrown else { return self.trap(Trap::Unreachable) };
        let (threw, returned) = (self.block(), self.block());
        self.branch(flag, threw, returned);
        self.switch_to_block(returned);
        self.trap(Trap::Unreachable);
        self.switch_to_block(threw);
    }

    /// Adds the call instruction. References that the callee modifies are moved to the callee and back.
    pub fn invoke(
        &mut self,
        op: Op,
        first: &[Reg],
        operands: Vec<Operand>,
        banks: &[Bank],
        throws: bool,
    ) -> (Value, Thrown) {
        self.note_call(&op);
        let mut ins = first.to_vec();
        let mut back = vec![];
        for operand in operands {
            match operand {
                Operand::Value(value) => ins.extend(value),
                Operand::InOut(regs) => {
                    for reg in regs {
                        let given = match self.bank(reg) {
                            Bank::R => self.value(Op::Take, Bank::R, &[reg]),
                            Bank::F | Bank::I => reg,
                        };
                        ins.push(given);
                        back.push(reg);
                    }
                }
            }
        }
        let thrown = throws.then(|| (self.reg(Bank::I), self.reg(Bank::R)));
        let value = self.regs(banks);
        let mut outs: Vec<Reg> = thrown.iter().flat_map(|(flag, error)| [*flag, *error]).collect();
        outs.extend(&value);
        outs.extend(back);
        self.emit(op, &outs, &ins);
        (value, thrown)
    }

    /// Substitutes concrete arguments for the generic parameters of a function in a type.
    pub fn of_function(&mut self, declared: &Function, generics: &[Type], ty: &Type) -> Type {
        let put = |p| declared.generics.iter().position(|q| *q == p).and_then(|i| generics.get(i).cloned());
        self.d.normalize(&ty.substitute(&put))
    }

    /// Returns the concrete types of a function's parameters.
    pub fn param_types(&mut self, declared: &Function, generics: &[Type]) -> Vec<Type> {
        declared.params.iter().map(|p| self.of_function(declared, generics, &p.ty)).collect()
    }

    /// Marks the registers of a value as constant instead of temporary, so that the value can be used several times.
    pub fn make_permanent(&mut self, value: &[Reg]) {
        for reg in value {
            if self.use_of(*reg) == Use::Temporary {
                self.dedicate(&[*reg], "", Use::Constant);
            }
        }
    }
}

/// Whether a call cannot fail, so that the value that it modifies may be moved out of a global variable during the
/// call.
fn is_safe(declared: &Function) -> bool {
    matches!(
        declared.primitive.as_deref(),
        Some("array.append" | "array.appendContents" | "array.removeAll" | "text.append")
    )
}
