//! Expressions: lowering of all expressions except calls, literals and places.

use super::builder::{Builder, Slot, Value};
use super::effects::{last_writing, may_write};
use super::place::Location;
use crate::ir::graph::{BlockId, Op, Reg, Trap};
use crate::ir::lower::control::exits::Scope;
use crate::types::Differentiability;
use crate::types::model::ty::Type;
use crate::types::model::typed_tree::{Expr, ExprKind, LocalId, Place, Stmt, TryKind};
use crate::value::Bank;
use crate::value::shape::Shape;

impl Builder<'_> {
    /// Lowers an expression. Registers of variables are returned without a copy: a caller that evaluates another
    /// expression before it uses these registers must [copy](Builder::keep) them.
    pub fn expr(&mut self, e: &Expr) -> Value {
        let outer = std::mem::replace(&mut self.span, e.span);
        let value = match &e.kind {
            ExprKind::Local(_)
            | ExprKind::Global(_)
            | ExprKind::Field { .. }
            | ExprKind::Element { .. }
            | ExprKind::Upcast(_)
            | ExprKind::Super(_)
            | ExprKind::Call { .. } => {
                let at = self.location(e);
                self.span = e.span;
                self.load(&at)
            }
            _ => self.expr_value(e),
        };
        self.span = outer;
        value
    }

    /// Lowers several expressions from left to right, none of which changes the values of the preceding expressions.
    pub fn exprs<'e>(&mut self, all: impl IntoIterator<Item = &'e Expr>) -> Vec<Value> {
        let all: Vec<&Expr> = all.into_iter().collect();
        let last_write = last_writing(&all, |e| may_write(e));
        let mut values = vec![];
        for (i, e) in all.into_iter().enumerate() {
            let value = self.expr(e);
            values.push(if i < last_write { self.keep(value) } else { value });
        }
        values
    }

    /// Lowers an expression that is not a mere read of a place.
    pub fn expr_value(&mut self, e: &Expr) -> Value {
        self.span = e.span;
        match &e.kind {
            ExprKind::Local(_)
            | ExprKind::Global(_)
            | ExprKind::Field { .. }
            | ExprKind::Element { .. }
            | ExprKind::Upcast(_)
            | ExprKind::Super(_) => self.expr(e),
            // The literal fits its type; a literal of type `UInt64` retains its bit pattern.
            ExprKind::Int(n) => vec![self.int(*n as i64)],
            ExprKind::Float(x) => self.number(*x, &e.ty),
            ExprKind::Text(text) => vec![self.value(Op::Text(text.clone()), Bank::R, &[])],
            ExprKind::Bool(b) => vec![self.int(i64::from(*b))],
            ExprKind::Nil => self.nothing(&e.ty),
            ExprKind::Tuple(parts) => {
                let parts = self.exprs(parts).concat();
                self.pack(&e.ty, parts)
            }
            ExprKind::Array(parts) => self.array(parts, &e.ty),
            ExprKind::Dictionary(pairs) => self.dictionary(pairs, &e.ty),
            ExprKind::Struct { fields } => self.structure(fields, &e.ty),
            ExprKind::Case { case, payload } => self.case(*case, payload, &e.ty),
            ExprKind::Call { callee, args } => self.call(callee, args, &e.ty),
            ExprKind::CallValue { function, args } => self.call_value(function, args),
            ExprKind::Function(f) => {
                let f = self.concrete_ref(f);
                vec![self.function_value(&f)]
            }
            ExprKind::Requirement(callee) => match self.resolve(callee) {
                Some(target) => vec![self.function_value(target.declaration())],
                None => {
                    self.refuse("a protocol requirement cannot be used on a value of unknown type");
                    self.nothing(&e.ty)
                }
            },
            ExprKind::Closure { function } => vec![self.closure(*function)],
            ExprKind::Ternary { condition, then, otherwise } => self.ternary(condition, then, otherwise, &e.ty),
            ExprKind::Statements { statements, result } => self.statements_value(statements, *result),
            ExprKind::Some(value) => {
                let value = self.expr(value);
                self.some(value)
            }
            ExprKind::Force(value) => {
                let value = self.expr(value);
                self.span = e.span;
                self.demand(value[0], Trap::UnexpectedNil);
                value[1..].to_vec()
            }
            ExprKind::Chain { base, local, body, flatten } => self.chain(base, *local, body, *flatten, &e.ty),
            ExprKind::ChainPlace { place, local, body, flatten } => {
                self.chain_place(place, *local, body, *flatten, &e.ty)
            }
            ExprKind::ConvertFunction { value, differentiability } => {
                self.converted_function(e, value, differentiability.as_ref())
            }
            ExprKind::Erase(value) => self.erase(value, &e.ty),
            ExprKind::Is { value, ty } => {
                let (from, to) = (self.concrete(&value.ty), self.concrete(ty));
                let value = self.expr(value);
                self.span = e.span;
                self.converted(&from, value, &to)[..1].to_vec()
            }
            ExprKind::Cast { value, forced } => self.cast(value, *forced, &e.ty),
            ExprKind::Quiet(call) => self.expr(call),
            ExprKind::Try { kind, value } => self.attempt(*kind, value, &e.ty),
            ExprKind::Metatype => match self.concrete(&e.ty) {
                Type::Metatype(of) => self.metatype(&of),
                _ => vec![],
            },
            ExprKind::Interpolation(parts) => {
                let parts = self.exprs(parts).concat();
                vec![self.concatenate(&parts)]
            }
            ExprKind::Assign { place, value } => {
                self.assign_place(place, value);
                vec![]
            }
            ExprKind::Pending(_) | ExprKind::Error => {
                self.trap(Trap::Unreachable);
                self.nothing(&e.ty)
            }
        }
    }

    /// Lowers statements and returns the value that they leave in a variable.
    fn statements_value(&mut self, statements: &[Stmt], result: LocalId) -> Value {
        self.declare(result);
        self.block_of(statements);
        let at = self.local_location(result);
        let value = self.load(&at);
        // The variable is not read any more, so its references are moved.
        let how = |b: &Self, reg| if b.bank(reg) == Bank::R { Op::Take } else { Op::Copy };
        value.iter().map(|reg| self.value(how(self, *reg), self.bank(*reg), &[*reg])).collect()
    }

    /// Converts a function to another type, which may assert that it is differentiable.
    fn converted_function(&mut self, e: &Expr, value: &Expr, differentiability: Option<&Differentiability>) -> Value {
        let from = value.ty.clone();
        let mut function = self.expr(value);
        function = self.adapt(function, &from, &e.ty);
        self.span = e.span;
        match differentiability {
            Some(p) => {
                let op = Op::AssertDifferentiable { linear: p.linear, wrt: p.wrt.clone() };
                vec![self.value(op, Bank::R, &function)]
            }
            None => function,
        }
    }

    /// Lowers an assignment of a value to a place.
    pub fn assign_place(&mut self, place: &Place, value: &Expr) {
        let mut at = self.place(place);
        if may_write(value) {
            at = self.keep_indices(at);
        }
        let value = self.expr(value);
        self.span = place.span;
        if let Location::Registers(regs) = &at {
            self.hold(regs);
        }
        let at = self.fetch(at);
        self.store(&at, &value);
    }

    /// Copies the indices of a place that are stored in variables, so that they do not change before the place is used.
    fn keep_indices(&mut self, at: Location) -> Location {
        match at {
            Location::Element { array, index, stride, cells } => {
                let array = Box::new(self.keep_indices(*array));
                let index = self.keep(vec![index])[0];
                Location::Element { array, index, stride, cells }
            }
            other => other,
        }
    }

    /// Lowers a condition as a branch; `a && b` and other logical operators become jumps.
    pub fn condition(&mut self, e: &Expr, then: BlockId, otherwise: BlockId) {
        match &e.kind {
            ExprKind::Bool(b) => {
                self.span = e.span;
                self.jump(if *b { then } else { otherwise });
            }
            ExprKind::Ternary { condition, then: yes, otherwise: no } => {
                let (first, second) = (self.block(), self.block());
                // An operand that is constant needs no block.
                let target = |side: &Expr, own| match side.kind {
                    ExprKind::Bool(true) => then,
                    ExprKind::Bool(false) => otherwise,
                    _ => own,
                };
                let (to_yes, to_no) = (target(yes, first), target(no, second));
                self.condition(condition, to_yes, to_no);
                for (side, own, used) in [(yes, first, to_yes), (no, second, to_no)] {
                    if own == used {
                        self.switch_to_block(own);
                        self.condition(side, then, otherwise);
                    }
                }
            }
            _ => {
                let value = self.expr(e);
                self.span = e.span;
                match value.first() {
                    Some(flag) => self.branch(*flag, then, otherwise),
                    None => self.jump(otherwise),
                }
            }
        }
    }

    fn ternary(&mut self, condition: &Expr, then: &Expr, otherwise: &Expr, ty: &Type) -> Value {
        let (yes, no, after) = (self.block(), self.block(), self.block());
        let banks = self.banks(ty);
        let result = self.regs(&banks);
        self.condition(condition, yes, no);
        for (block, side) in [(yes, then), (no, otherwise)] {
            self.switch_to_block(block);
            let value = self.expr(side);
            self.assign(&result, &value);
            self.jump(after);
        }
        self.switch_to_block(after);
        result
    }

    /// Concatenates strings.
    fn concatenate(&mut self, parts: &[Reg]) -> Reg {
        let Some((first, others)) = parts.split_first() else {
            return self.value(Op::Text("".into()), Bank::R, &[]);
        };
        others.iter().fold(*first, |before, part| self.concatenation(before, *part))
    }

    /// Joins two strings.
    pub fn concatenation(&mut self, a: Reg, b: Reg) -> Reg {
        let shapes = vec![self.program.shapes.add(Shape::String)];
        self.value(Op::Native { name: "text.concat", shapes }, Bank::R, &[a, b])
    }

    /// Wraps a value in an optional.
    pub fn some(&mut self, value: Value) -> Value {
        let mut optional = vec![self.int(1)];
        optional.extend(value);
        optional
    }

    fn chain(&mut self, base: &Expr, local: LocalId, body: &Expr, flatten: bool, ty: &Type) -> Value {
        let base = self.expr(base);
        let base = self.keep(base);
        self.make_permanent(&base);
        let (present, absent, after) = (self.block(), self.block(), self.block());
        let banks = self.banks(ty);
        let result = self.regs(&banks);
        self.branch(base[0], present, absent);
        self.switch_to_block(present);
        self.bind(local, &base[1..]);
        self.chain_result(body, flatten, &result);
        self.jump(after);
        self.switch_to_block(absent);
        self.nil(&result);
        self.jump(after);
        self.switch_to_block(after);
        result
    }

    fn chain_result(&mut self, body: &Expr, flatten: bool, result: &[Reg]) {
        let value = self.expr(body);
        let value = if flatten { value } else { self.some(value) };
        self.assign(result, &value);
    }

    fn nil(&mut self, result: &[Reg]) {
        for reg in result {
            self.set_zero(*reg);
        }
    }

    fn chain_place(&mut self, place: &Place, local: LocalId, body: &Expr, flatten: bool, ty: &Type) -> Value {
        let at = self.place(place);
        let at = self.fetch_all(at);
        let (present, absent, after) = (self.block(), self.block(), self.block());
        let banks = self.banks(ty);
        let result = self.regs(&banks);
        let tag = self.tag(&at);
        self.branch(tag, present, absent);
        self.switch_to_block(present);
        let range = 1..self.banks(&place.ty).len();
        // The operands may change the optional before the value in it is accessed.
        let inside = match self.runs_code(body) {
            true => Location::Unwrapped { optional: Box::new(at), range },
            false => self.part(at, range),
        };
        self.locals[local.0 as usize] = Slot::Place(inside.into());
        self.chain_result(body, flatten, &result);
        self.jump(after);
        self.switch_to_block(absent);
        self.nil(&result);
        self.jump(after);
        self.switch_to_block(after);
        result
    }

    /// Converts a value to `Any`, or a metatype to a metatype of a type that is only known at run time.
    fn erase(&mut self, value: &Expr, to: &Type) -> Value {
        let regs = self.expr(value);
        let ty = self.concrete(&value.ty);
        match (&ty, self.concrete(to)) {
            (Type::Metatype(of), Type::Metatype(wanted)) => self.metatype_as(of, regs, &wanted),
            _ => self.erased(&ty, regs),
        }
    }

    fn attempt(&mut self, kind: TryKind, value: &Expr, ty: &Type) -> Value {
        if kind == TryKind::Propagate {
            return self.expr(value);
        }
        let (handler, after) = (self.block(), self.block());
        let error = self.reg(Bank::R);
        self.scopes.push(Scope::Catch { handler, error });
        let regs = self.expr(value);
        self.scopes.pop();
        if kind == TryKind::Forced {
            self.jump(after);
            self.switch_to_block(handler);
            self.unexpected(error);
            self.switch_to_block(after);
            return regs;
        }
        let banks = self.banks(ty);
        let result = self.regs(&banks);
        // A `try?` does not wrap an optional in another optional.
        let regs = if regs.len() == banks.len() { regs } else { self.some(regs) };
        self.assign(&result, &regs);
        self.jump(after);
        self.switch_to_block(handler);
        self.nil(&result);
        self.jump(after);
        self.switch_to_block(after);
        result
    }
}
