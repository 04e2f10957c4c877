//! Expressions, in the order in which they are evaluated.

use super::Flow;
use super::places::Use;
use super::state::State;
use crate::source::Span;
use crate::types::tree::{Argument, Callee, Expr, ExprKind, FunctionId, TryKind};
use crate::types::ty::Type;

impl<'b> Flow<'b, '_> {
    pub(super) fn exprs(&mut self, all: &'b [Expr]) {
        all.iter().for_each(|e| self.expr(e));
    }

    pub(super) fn expr(&mut self, e: &'b Expr) {
        match &e.kind {
            ExprKind::Local(local) => self.read(*local, e.span, Use::Value),
            ExprKind::Global(global) => {
                self.usage.globals.insert(*global);
                self.read_global(*global, e.span, Use::Value);
            }
            ExprKind::Field { base, index } | ExprKind::Element { base, index } => match base.kind {
                ExprKind::Local(local) => self.read_part(local, *index, e.span),
                _ => self.expr(base),
            },
            ExprKind::Tuple(parts)
            | ExprKind::Array(parts)
            | ExprKind::Struct { fields: parts }
            | ExprKind::Case { payload: parts, .. }
            | ExprKind::Interpolation(parts) => self.exprs(parts),
            ExprKind::Dictionary(items) => items.iter().for_each(|(key, value)| {
                self.expr(key);
                self.expr(value);
            }),
            ExprKind::Call { callee, args } => self.call(callee, args, e.span),
            ExprKind::CallValue { function, args } => {
                self.expr(function);
                self.arguments(args, None);
                if matches!(&function.ty, Type::Function(f) if f.throws) {
                    self.may_throw();
                }
            }
            ExprKind::Function(f) => self.use_function(f.function, e.span),
            ExprKind::Closure { function } => {
                let (captures, globals) = self.inner(*function);
                captures.iter().for_each(|c| self.must_be_set(c.outer, e.span, Use::Captured));
                globals.into_iter().for_each(|g| self.capture_global(g, e.span));
            }
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
            ExprKind::ChainPlace { place, body, .. } => {
                self.place_arguments(place);
                self.change(place, Use::Value);
                self.perhaps(body);
            }
            ExprKind::Some(inner)
            | ExprKind::Force(inner)
            | ExprKind::Erase(inner)
            | ExprKind::Upcast(inner)
            | ExprKind::ConvertFunction { value: inner, .. }
            | ExprKind::Is { value: inner, .. }
            | ExprKind::Cast { value: inner, .. } => self.expr(inner),
            ExprKind::Try { kind, value } => self.attempt(*kind, value),
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
        if e.ty == Type::Never && self.state.reachable {
            self.never = Some(e.span);
            self.escape();
            self.state = State::dead();
        }
    }

    /// What is evaluated on some paths only.
    fn perhaps(&mut self, e: &'b Expr) {
        let before = self.state.clone();
        self.expr(e);
        self.state.join(&before);
    }

    fn attempt(&mut self, kind: TryKind, value: &'b Expr) {
        match kind {
            TryKind::Propagate => {
                self.expr(value);
                self.may_throw();
            }
            TryKind::Optional => {
                let caught = self.catching(|flow| flow.expr(value));
                self.state.join(&caught);
            }
            TryKind::Forced => {
                let caught = self.catching(|flow| flow.expr(value));
                // An error ends the program.
                self.escapes |= caught.reachable && caught.free;
            }
        }
    }

    fn call(&mut self, callee: &'b Callee, args: &'b [Argument], span: Span) {
        let known = self.called(callee);
        self.arguments(args, Some(known));
        if let Callee::Static(f) = callee {
            self.use_function(f.function, span);
            self.call_needs(f.function, span);
            if f.function == self.function && self.state.reachable {
                self.calls_itself.get_or_insert(span);
                self.state.free = false;
            }
        }
        if self.world.signature(known).throws {
            self.may_throw();
        }
    }

    /// The arguments of a call; `method` when the first one is its receiver.
    fn arguments(&mut self, args: &'b [Argument], of: Option<FunctionId>) {
        let method = of.filter(|f| self.world.signature(*f).self_type.is_some());
        for (i, arg) in args.iter().enumerate() {
            let how = match method {
                Some(f) if i == 0 => Use::Receiver(f),
                _ => Use::Value,
            };
            match arg {
                Argument::Value(Expr { kind: ExprKind::Local(local), span, .. }) => self.read(*local, *span, how),
                Argument::Value(e) => self.expr(e),
                Argument::InOut(place) => {
                    self.place_arguments(place);
                    self.change(place, if i == 0 { how } else { Use::ByReference });
                }
            }
        }
    }

    /// A local function that is used needs what it captures.
    fn use_function(&mut self, f: FunctionId, span: Span) {
        let Some(captures) = self.local_functions.get(&f).cloned() else { return };
        for capture in captures.iter() {
            self.must_be_set(capture.outer, span, Use::InFunction(f));
        }
    }
}
