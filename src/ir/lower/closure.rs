//! Closures and local functions: their captured values, and functions as values.

use super::builder::{Builder, Slot, Use, Value};
use super::call::Operand;
use super::{Key, Origin};
use crate::ir::graph::{FunctionId, Op, Parameter, Reg};
use crate::types::model::ty::Type;
use crate::types::model::typed_tree;
use crate::types::model::typed_tree::{Body, FunctionRef, LocalId};
use crate::value::Bank;
use crate::value::shape::Shape;
use std::rc::Rc;

impl Builder<'_> {
    /// Creates a function value for a closure expression.
    pub fn closure(&mut self, function: typed_tree::FunctionId) -> Reg {
        self.lowering.parents.insert(function, self.owner);
        let f = FunctionRef { function, generics: self.generics.clone() };
        self.function_value(&f)
    }

    /// Calls a closure without arguments that does not throw. No function value is created if it captures nothing.
    pub fn call_closure(&mut self, function: typed_tree::FunctionId, result: &[Bank]) -> Value {
        let object = self.closure(function);
        let f = FunctionRef { function, generics: self.generics.clone() };
        let captures = !self.captured(function).concat().is_empty();
        let id = self.requested(&f);
        let (op, first) = if captures { (Op::CallValue, &[object][..]) } else { (Op::Call(id), &[][..]) };
        self.invoke(op, first, vec![], result, false).0
    }

    /// Creates a function value for a function, including the values that the function captures.
    pub fn function_value(&mut self, f: &FunctionRef) -> Reg {
        let captured = self.captured(f.function).concat();
        let id = self.requested(f);
        self.value(Op::Closure(id), Bank::R, &captured)
    }

    /// Returns the function of the program for a function that is used as a value.
    fn requested(&mut self, f: &FunctionRef) -> FunctionId {
        let view = self.d.view(f, self.span);
        self.lowering.request(self.program, Origin::Function(f.function), f.generics.clone(), view)
    }

    /// Whether a function is declared inside another function.
    pub(super) fn is_local(&self, function: typed_tree::FunctionId) -> bool {
        self.lowering.parents.contains_key(&function)
    }

    /// Returns the values that a closure or local function captures: for a variable that is shared with the closure,
    /// its box; for any other variable, its value.
    pub fn captured(&mut self, function: typed_tree::FunctionId) -> Vec<Value> {
        if self.d.function(function).primitive.is_some() {
            return vec![];
        }
        if let Some((_, values)) = self.passed_on.as_ref().filter(|(f, _)| *f == function) {
            return values.clone();
        }
        let Some(body) = self.d.body(function) else { return vec![] };
        if body.captures.is_empty() {
            return vec![];
        }
        let Some(home) = self.lowering.parents.get(&function).copied() else {
            self.refuse("a local function cannot be used before it is declared");
            return vec![];
        };
        let mut values = vec![];
        for capture in &body.captures {
            let Some(local) = self.captured_local(home, self.owner, capture.outer) else {
                self.refuse("a captured variable is not accessible here");
                return vec![];
            };
            values.push(match self.slot(local) {
                Slot::Registers(regs) => regs,
                Slot::Box(object) => vec![object],
                // No closure captures the value that an optional chain unwrapped.
                Slot::Place(_) | Slot::Absent => vec![],
            });
        }
        values
    }

    /// Returns the local variable of the body `here` that represents, as a capture, a variable of the enclosing body
    /// `home`.
    fn captured_local(
        &mut self,
        home: typed_tree::FunctionId,
        here: typed_tree::FunctionId,
        variable: LocalId,
    ) -> Option<LocalId> {
        if here == home {
            return Some(variable);
        }
        // The path leads from `here` outwards to `home`; then the variable is passed inwards, capture by capture.
        let mut path = vec![here];
        let mut at = here;
        while at != home {
            at = *self.lowering.parents.get(&at)?;
            path.push(at);
        }
        path.pop();
        let mut local = variable;
        for inner in path.into_iter().rev() {
            let body = self.d.body(inner)?;
            local = body.captures.iter().find(|c| c.outer == local)?.inner;
        }
        Some(local)
    }

    /// Loads a captured value from the function object; `next` counts the components of each bank.
    pub(super) fn receive(&mut self, banks: &[Bank], next: &mut [u16; 3]) -> Value {
        let mut regs = vec![];
        for bank in banks {
            let index = next[*bank as usize];
            next[*bank as usize] += 1;
            regs.push(self.value(Op::Capture { bank: *bank, index }, *bank, &[]));
            self.out.captures.push(*bank);
        }
        regs
    }

    /// Loads the captured values of the lowered function from its function object.
    pub fn receive_captures(&mut self) {
        let body = self.body.clone();
        let mut next = [0u16; 3];
        for capture in &body.captures {
            let local = &body.locals[capture.inner.0 as usize];
            let banks: Rc<[Bank]> = if local.mutable { Rc::from([Bank::R]) } else { self.banks(&local.ty) };
            let regs = self.receive(&banks, &mut next);
            self.make_capture_permanent(capture.inner, regs);
        }
    }

    /// Receives the captured values of the lowered function as additional arguments.
    pub fn receive_captures_as_parameters(&mut self) {
        let body = self.body.clone();
        let values = self.capture_parameters(&body);
        for (capture, regs) in body.captures.iter().zip(values) {
            self.make_capture_permanent(capture.inner, regs);
        }
    }

    /// Adds parameters for the captured values of a function body.
    fn capture_parameters(&mut self, body: &Body) -> Vec<Value> {
        let mut values = vec![];
        for capture in &body.captures {
            let local = &body.locals[capture.inner.0 as usize];
            let mut shape = self.shape(&local.ty);
            let mut tangent = self.tangent(&local.ty);
            let mut banks = self.banks_of(shape);
            if local.mutable {
                // The shape of a box is that of an instance of a class with one property.
                let fields = vec![(local.name.clone(), shape)];
                shape = self.program.shapes.add(Shape::Class { name: local.name.clone(), base: None, fields });
                tangent = None;
                banks = Rc::from([Bank::R]);
            }
            let regs = self.regs(&banks);
            let (name, span) = (local.name.clone(), local.span);
            let first = self.out.params.len();
            self.out.parameters.push(Parameter { name, span, first, len: regs.len(), tangent, shape });
            self.out.params.extend(&regs);
            values.push(regs);
        }
        values
    }

    /// Adds parameters for the captured values of a local function, which the lowered function calls with these values.
    pub(super) fn forward_captures(&mut self, function: typed_tree::FunctionId) {
        if let Some(body) = self.d.body(function) {
            let values = self.capture_parameters(&body);
            self.passed_on = Some((function, values));
        }
    }

    fn make_capture_permanent(&mut self, local: LocalId, regs: Value) {
        let (name, mutable) =
            (self.body.locals[local.0 as usize].name.clone(), self.body.locals[local.0 as usize].mutable);
        self.dedicate(&regs, &name, Use::Constant);
        self.locals[local.0 as usize] = match regs.first() {
            Some(object) if mutable => Slot::Box(*object),
            _ => Slot::Registers(regs),
        };
    }

    /// Converts a function value to another function type: a function that never throws is converted to one that may
    /// throw.
    pub fn adapt(&mut self, value: Value, from: &Type, to: &Type) -> Value {
        let (Type::Function(from), Type::Function(wanted)) = (self.concrete(from), self.concrete(to)) else {
            return value;
        };
        if from.throws || !wanted.throws {
            return value;
        }
        let id = self.lowering.request(self.program, Origin::NeverThrows, vec![Type::Function(from)], None);
        vec![self.value(Op::Closure(id), Bank::R, &value)]
    }

    /// Builds the body of an [`Origin::NeverThrows`], which calls the captured function value.
    pub fn never_throws(&mut self, key: &Key) {
        let Some(Type::Function(ty)) = key.generics.first().cloned() else { return };
        self.out.name = Rc::from("closure");
        self.out.is_prelude = true;
        self.out.captures = vec![Bank::R];
        let function = self.value(Op::Capture { bank: Bank::R, index: 0 }, Bank::R, &[]);
        let mut operands = vec![];
        let mut back = vec![];
        for (i, param) in ty.params.iter().enumerate() {
            let shape = self.shape(&param.ty);
            let banks = self.banks_of(shape);
            let regs = self.regs(&banks);
            let tangent = self.tangent(&param.ty);
            let first = self.out.params.len();
            let name = Rc::from(format!("${i}"));
            let span = self.span;
            self.out.parameters.push(Parameter { name, span, first, len: regs.len(), tangent, shape });
            self.out.params.extend(&regs);
            if param.is_inout {
                self.dedicate(&regs, "", Use::Variable);
                back.extend(regs.clone());
                operands.push(Operand::InOut(regs));
            } else {
                operands.push(Operand::Value(regs));
            }
        }
        let banks = self.banks(&ty.result);
        let (value, _) = self.invoke(Op::CallValue, &[function], operands, &banks, false);
        let mut results = vec![self.int(0), self.zero(Bank::R)];
        results.extend(value);
        self.out.result_len = results.len();
        results.extend(back);
        self.out.results = results.iter().map(|reg| self.bank(*reg)).collect();
        self.end(crate::ir::graph::Terminator::Return(results));
    }
}
