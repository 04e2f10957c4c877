//! Expressions: visits expressions in the order of evaluation.

use super::Flow;
use super::flow_state::State;
use super::places::Use;
use crate::source::Span;
use crate::types::conform::superclass;
use crate::types::generics::local_function;
use crate::types::generics::signature;
use crate::types::model::syntax_query::is_operator;
use crate::types::model::ty::Type;
use crate::types::model::typed_tree::{Argument, Callee, Expr, ExprKind, FunctionId, LocalId, TryKind};

impl<'b> Flow<'b, '_> {
    pub(super) fn exprs(&mut self, all: &'b [Expr]) {
        all.iter().for_each(|e| self.expr(e));
    }

    pub(super) fn expr(&mut self, e: &'b Expr) {
        crate::cancel::check();
        let is_step = matches!(
            e.kind,
            ExprKind::Field { .. }
                | ExprKind::Element { .. }
                | ExprKind::Force(_)
                | ExprKind::Upcast(_)
                | ExprKind::Super(_)
        );
        if !std::mem::replace(&mut self.is_on_path, is_step) {
            self.note_read(e);
        }
        self.expr_inside(e);
        self.is_on_path = false;
        if e.ty == Type::Never && self.state.reachable {
            self.never = Some(e.span);
            self.escape();
            self.state = State::dead();
        }
    }

    fn expr_inside(&mut self, e: &'b Expr) {
        match &e.kind {
            ExprKind::Local(local) => self.read(*local, e.span, Use::Value),
            ExprKind::Global(global) => {
                self.usage.globals.insert(*global);
                self.read_global(*global, e.span, Use::Value);
            }
            ExprKind::Field { base, .. } | ExprKind::Element { base, .. } => {
                if !self.read_part(e) {
                    self.expr(base);
                }
            }
            ExprKind::Tuple(parts)
            | ExprKind::Array(parts)
            | ExprKind::Struct { fields: parts }
            | ExprKind::Case { payload: parts, .. }
            | ExprKind::Interpolation(parts) => self.exprs(parts),
            ExprKind::Dictionary(items) => items.iter().for_each(|(key, value)| {
                self.expr(key);
                self.expr(value);
            }),
            ExprKind::Call { callee, args } => {
                self.call(callee, args, e.span);
                let known = self.called(callee);
                if signature::signature(self.cx, known).throws {
                    self.throwing_call(e.span);
                }
            }
            ExprKind::CallValue { function, args } => {
                self.lent_function(function);
                self.arguments(args, None, None);
                self.check_exclusive(None, args);
                if matches!(&function.ty, Type::Function(f) if f.throws) {
                    self.throwing_call(e.span);
                }
            }
            ExprKind::Function(f) => {
                self.use_function(f.function, e.span);
                if let Some(captures) = self.local_functions.get(&f.function).cloned() {
                    self.check_escaping(&captures, "local function", e.span);
                }
            }
            ExprKind::Closure { function } => self.closure(*function, e.span, true),
            ExprKind::Ternary { condition, then, otherwise } => {
                self.expr(condition);
                let before = self.state.clone();
                self.expr(then);
                let then = std::mem::replace(&mut self.state, before);
                self.expr(otherwise);
                self.state.join(&then);
            }
            ExprKind::Statements { statements, .. } => self.block(statements),
            ExprKind::Chain { base, body, .. } => {
                self.expr(base);
                self.perhaps(body);
            }
            ExprKind::ChainPlace { place, local, body, .. } => {
                self.place_arguments(place);
                self.change(place, Use::Value);
                self.chained.push((*local, place));
                self.perhaps(body);
                self.chained.pop();
            }
            ExprKind::Some(inner)
            | ExprKind::Force(inner)
            | ExprKind::Erase(inner)
            | ExprKind::Upcast(inner)
            | ExprKind::Super(inner)
            | ExprKind::ConvertFunction { value: inner, .. }
            | ExprKind::Is { value: inner, .. }
            | ExprKind::Cast { value: inner, .. } => self.expr(inner),
            ExprKind::Try { kind, value } => self.attempt(*kind, value, e.span),
            ExprKind::Quiet(call) => {
                if let ExprKind::Call { callee, args } = &call.kind {
                    self.call(callee, args, call.span);
                }
            }
            ExprKind::Assign { place, value } => self.assign(place, value),
            ExprKind::Int(_)
            | ExprKind::Float(_)
            | ExprKind::Text(_)
            | ExprKind::Bool(_)
            | ExprKind::Nil
            | ExprKind::Requirement(_)
            | ExprKind::Metatype
            | ExprKind::Pending(_)
            | ExprKind::Error => {}
        }
    }

    /// Visits a closure expression. `escapes` is false if the closure is only called, before the statement ends.
    fn closure(&mut self, function: FunctionId, span: Span, escapes: bool) {
        let (captures, globals) = self.inner(function);
        captures.iter().for_each(|c| self.must_be_set(c.outer, span, Use::Captured));
        globals.into_iter().for_each(|g| self.capture_global(g, span));
        if escapes {
            self.check_escaping(&captures, "closure", span);
        }
    }

    /// Visits a function passed as an argument to a call that does not let it escape.
    fn lent_function(&mut self, e: &'b Expr) {
        match &e.kind {
            ExprKind::Closure { function } => self.closure(*function, e.span, false),
            ExprKind::ConvertFunction { value, .. } => self.lent_function(value),
            ExprKind::Function(f) => self.use_function(f.function, e.span),
            _ => self.expr(e),
        }
    }

    /// Visits an expression that is evaluated on some paths only.
    fn perhaps(&mut self, e: &'b Expr) {
        let before = self.state.clone();
        self.expr(e);
        self.state.join(&before);
    }

    fn attempt(&mut self, kind: TryKind, value: &'b Expr, span: Span) {
        let before = self.thrown;
        match kind {
            TryKind::Propagate => {
                self.tried(value);
                if self.thrown > before {
                    self.may_throw();
                }
            }
            TryKind::Optional => {
                let caught = self.catching(true, |flow| flow.tried(value));
                self.state.join(&caught);
            }
            TryKind::Forced => {
                let caught = self.catching(true, |flow| flow.tried(value));
                // An uncaught error stops the program.
                self.escapes |= caught.reachable && caught.free;
            }
        }
        if self.thrown == before {
            self.warn_of_needless_try(span);
        }
    }

    fn call(&mut self, callee: &'b Callee, args: &'b [Argument], span: Span) {
        let known = self.called(callee);
        let is_operator = is_operator(&self.cx.defs.function_data(known).base_name);
        let whole = is_operator.then(|| self.operation.unwrap_or(span));
        let outer = std::mem::replace(&mut self.operation, whole);
        // A receiver on the right of an operator cannot be marked with `try`, either.
        let around_receiver = if is_operator { whole } else { outer };
        self.call_arguments(known, args, span, around_receiver);
        self.operation = outer;
        self.check_exclusive(Some(callee), args);
        if let Callee::Static(f) = callee {
            self.use_function(f.function, span);
            self.call_needs(f.function, span);
            if f.function == self.function && self.state.reachable {
                self.calls_itself.get_or_insert(span);
                self.state.free = false;
            }
        }
    }

    fn call_arguments(&mut self, known: FunctionId, args: &'b [Argument], span: Span, around_receiver: Option<Span>) {
        match self.leads_on(known, args) {
            Some(rest) => {
                self.arguments(rest, None, None);
                self.led_on(span);
            }
            None => self.arguments(args, Some(known), around_receiver),
        }
    }

    /// Returns the remaining arguments of a call that delegates to another initializer, with the instance being
    /// initialized as its receiver.
    fn leads_on(&self, called: FunctionId, args: &'b [Argument]) -> Option<&'b [Argument]> {
        let (first, rest) = args.split_first()?;
        let Argument::Value(receiver) = first else { return None };
        let inner = match &receiver.kind {
            ExprKind::Super(inner) | ExprKind::Upcast(inner) => inner,
            _ => receiver,
        };
        let is_own = matches!(inner.kind, ExprKind::Local(local) if self.filled == Some(local));
        (is_own && self.led_to.is_some() && superclass::fills_instance(self.cx, called)).then_some(rest)
    }

    /// Records that another initializer has initialized the instance or its inherited part.
    fn led_on(&mut self, span: Span) {
        let (Some(local), Some(call)) = (self.filled, self.led_to) else { return };
        let parts = self.variables.local(local).unwrap_or(0..0);
        if superclass::is_convenience(self.cx, self.function) {
            self.assume_set(&parts.collect::<Vec<_>>());
            return;
        }
        if self.state.reachable && self.state.set.has(call) {
            self.called_again(span);
        }
        self.state.set.put(call, true);
        for part in parts.filter(|p| *p != call) {
            if self.state.reachable && self.state.unset.has(part) {
                self.unset_at_super_init(part, span);
            }
        }
        self.assume_set(&[call]);
    }

    /// Visits the arguments of a call of the function `of`; the first argument may be the receiver. `around_receiver` is
    /// the operation of operators to which the receiver belongs, if any.
    fn arguments(&mut self, args: &'b [Argument], of: Option<FunctionId>, around_receiver: Option<Span>) {
        let method = of.filter(|f| signature::signature(self.cx, *f).self_type.is_some());
        self.is_on_path = false;
        for (i, arg) in args.iter().enumerate() {
            let how = match method {
                Some(f) if i == 0 => Use::Receiver(f),
                _ => Use::Value,
            };
            match arg {
                Argument::Value(e) => match variable(e) {
                    Some(local) => {
                        self.note_read(e);
                        self.read(local, e.span, how);
                    }
                    None if self.lent(of, i, e).is_some() => self.lent_function(e),
                    None if i == 0 && method.is_some() => {
                        let around = std::mem::replace(&mut self.operation, around_receiver);
                        self.expr(e);
                        self.operation = around;
                    }
                    None => self.expr(e),
                },
                Argument::InOut(place) => {
                    self.place_arguments(place);
                    self.change(place, if i == 0 { how } else { Use::ByReference });
                }
            }
        }
    }

    /// Records the use of a local function, which requires its captures to be initialized.
    fn use_function(&mut self, f: FunctionId, span: Span) {
        let is_farther = self.is_inner && local_function::is_local(self.cx, f) && !self.accesses_of.contains_key(&f);
        if is_farther && !self.called_inside.contains(&f) {
            self.called_inside.push(f);
        }
        let Some(captures) = self.local_functions.get(&f).cloned() else { return };
        if let Some(accesses) = self.accesses_of.get(&f).filter(|_| self.is_inner) {
            self.accesses.extend(accesses.iter().cloned());
        }
        for capture in captures.iter() {
            match self.upcoming.contains(&capture.outer) {
                true => self.function_uses_later(f, capture.outer, span),
                false => self.must_be_set(capture.outer, span, Use::InFunction(f)),
            }
        }
    }
}

/// Returns the local variable to which an expression refers, possibly through an upcast.
fn variable(e: &Expr) -> Option<LocalId> {
    match &e.kind {
        ExprKind::Local(local) => Some(*local),
        ExprKind::Upcast(inner) | ExprKind::Super(inner) => variable(inner),
        _ => None,
    }
}
