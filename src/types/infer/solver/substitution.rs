//! Substitution: replaces the type variables of a finished body by their types, and pending expressions by their
//! solutions.

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::CastKind;
use crate::types::generics::signature;
use crate::types::generics::unification;
use crate::types::infer::Infer;
use crate::types::model::display;
use crate::types::model::ty::Type;
use crate::types::model::typed_tree::{
    Argument, Body, Callee, Case, Condition, Expr, ExprKind, FunctionRef, Iteration, Pattern, PatternKind, Place,
    ProjectionKind, Root, Stmt, StmtKind,
};
use crate::types::names::name_lookup;

impl Infer<'_> {
    fn finish_type(&mut self, e: &mut Expr) {
        e.ty = unification::resolved(self.cx, &e.ty);
        if !e.ty.any(&mut |t| matches!(t, Type::Var(_))) || self.failed {
            return;
        }
        let message = match &e.kind {
            ExprKind::Array(items) if items.is_empty() => {
                "empty collection literal requires an explicit type".to_string()
            }
            ExprKind::Dictionary(items) if items.is_empty() => {
                "empty collection literal requires an explicit type".to_string()
            }
            ExprKind::Call { callee: Callee::Static(f), .. } => match self.undecided_parameter(f) {
                Some(message) => message,
                None => "the type of this expression could not be inferred".to_string(),
            },
            _ => "the type of this expression could not be inferred".to_string(),
        };
        let text = display::show(self.cx, &e.ty);
        let mut diagnostic = Diagnostic::error(Code::CannotInfer, e.span, message);
        if text != "_" && text.contains('_') {
            diagnostic = diagnostic.note(format!("it is inferred as '{text}', where '_' is not known"));
        }
        let help = match &e.kind {
            ExprKind::Array(_) => "write the type where the value is declared, as in 'let xs: [Double] = []'",
            ExprKind::Dictionary(_) => {
                "write the type where the value is declared, as in 'let d: [String: Double] = [:]'"
            }
            _ => "write the type where the value is declared",
        };
        self.error(diagnostic.help(help));
    }

    /// Returns the message for a generic parameter of a function that could not be inferred.
    pub(crate) fn undecided_parameter(&mut self, f: &FunctionRef) -> Option<String> {
        let params = signature::signature(self.cx, f.function).env.params.clone();
        let at = f.generics.iter().position(|t| matches!(unification::resolved(self.cx, t), Type::Var(_)))?;
        let name = self.cx.defs.params[params.get(at)?.0 as usize].name.clone();
        Some(format!("generic parameter '{name}' of '{}' could not be inferred", self.cx.defs.full_name(f.function)))
    }

    pub(crate) fn finish_statements(&mut self, statements: &mut [Stmt]) {
        for statement in statements {
            self.finish_statement(statement);
        }
    }

    pub(crate) fn finish_locals(&mut self, body: &mut Body) {
        for local in &mut body.locals {
            local.ty = unification::resolved(self.cx, &local.ty);
        }
    }

    fn finish_statement(&mut self, s: &mut Stmt) {
        match &mut s.kind {
            StmtKind::Expr(e) | StmtKind::Throw(e) | StmtKind::InitGlobal { value: e, .. } => self.finish(e),
            StmtKind::Let { pattern, value } => {
                self.finish_pattern(pattern);
                if let Some(value) = value {
                    self.finish(value);
                }
            }
            StmtKind::Assign { place, value } => {
                self.finish_place(place);
                self.finish(value);
            }
            StmtKind::If { conditions, then, otherwise } => {
                self.finish_conditions(conditions);
                self.finish_statements(then);
                self.finish_statements(otherwise);
            }
            StmtKind::Guard { conditions, otherwise, .. } => {
                self.finish_conditions(conditions);
                self.finish_statements(otherwise);
            }
            StmtKind::While { conditions, body, .. } => {
                self.finish_conditions(conditions);
                self.finish_statements(body);
            }
            StmtKind::Repeat { body, condition, .. } => {
                self.finish_statements(body);
                self.finish(condition);
            }
            StmtKind::For { pattern, sequence, iteration, filter, body, .. } => {
                self.finish_pattern(pattern);
                self.finish(sequence);
                if let Iteration::Iterator { make, iterator, next } = iteration {
                    self.finish_callee(make, s.span);
                    *iterator = unification::resolved(self.cx, iterator);
                    self.finish_callee(next, s.span);
                }
                if let Some(filter) = filter {
                    self.finish(filter);
                }
                self.finish_statements(body);
            }
            StmtKind::Switch { subject, cases, .. } => {
                self.finish(subject);
                self.finish_cases(cases);
            }
            StmtKind::Block { body, .. } | StmtKind::Defer(body) => self.finish_statements(body),
            StmtKind::Return(value) => {
                if let Some(value) = value {
                    self.finish(value);
                }
            }
            StmtKind::Catch { body, cases, .. } => {
                self.finish_statements(body);
                self.finish_cases(cases);
            }
            StmtKind::Break(_) | StmtKind::Continue(_) | StmtKind::LocalFunction(_) => {}
        }
    }

    fn finish_cases(&mut self, cases: &mut [Case]) {
        for case in cases {
            for (pattern, guard) in &mut case.patterns {
                self.finish_pattern(pattern);
                if let Some(guard) = guard {
                    self.finish(guard);
                }
            }
            self.finish_statements(&mut case.body);
        }
    }

    fn finish_conditions(&mut self, conditions: &mut [Condition]) {
        for condition in conditions {
            match condition {
                Condition::Bool(e) => self.finish(e),
                Condition::Match { pattern, value } => {
                    self.finish_pattern(pattern);
                    self.finish(value);
                }
            }
        }
    }

    fn finish_pattern(&mut self, p: &mut Pattern) {
        p.ty = unification::resolved(self.cx, &p.ty);
        match &mut p.kind {
            PatternKind::Tuple(parts) | PatternKind::Case { payload: parts, .. } => {
                parts.iter_mut().for_each(|p| self.finish_pattern(p));
            }
            PatternKind::Some(inner) => self.finish_pattern(inner),
            PatternKind::Test { test, .. } => self.finish(test),
            PatternKind::Is { ty, pattern } => {
                *ty = unification::resolved(self.cx, ty);
                self.finish_pattern(pattern);
            }
            PatternKind::Wildcard | PatternKind::Bind(_) | PatternKind::Nil => {}
        }
    }

    fn finish_callee(&mut self, callee: &mut Callee, span: Span) {
        match callee {
            Callee::Static(f) => {
                self.finish_ref(f);
                match self.open_existential(f, span) {
                    Some(opened) => *callee = opened,
                    None => {
                        let f = f.clone();
                        self.check_required(&f, span);
                    }
                }
            }
            Callee::Class { function: f, .. } | Callee::Opened { function: f, .. } => self.finish_ref(f),
            Callee::Requirement { self_type, generics, .. } => {
                *self_type = unification::resolved(self.cx, self_type);
                generics.iter_mut().for_each(|t| *t = unification::resolved(self.cx, t));
            }
        }
    }

    fn finish_ref(&mut self, f: &mut FunctionRef) {
        f.generics.iter_mut().for_each(|t| *t = unification::resolved(self.cx, t));
    }

    fn finish_args(&mut self, args: &mut [Argument]) {
        for arg in args {
            match arg {
                Argument::Value(e) => self.finish(e),
                Argument::InOut(place) => self.finish_place(place),
            }
        }
    }

    fn finish_place(&mut self, place: &mut Place) {
        place.ty = unification::resolved(self.cx, &place.ty);
        if let Root::Value(e) = &mut place.root {
            self.finish(e);
        }
        for step in &mut place.path {
            step.ty = unification::resolved(self.cx, &step.ty);
            if let ProjectionKind::Accessor { get, set, args, .. } = &mut step.kind {
                self.finish_callee(get, step.span);
                self.finish_callee(set, step.span);
                args.iter_mut().for_each(|e| self.finish(e));
            }
        }
    }

    pub(crate) fn finish(&mut self, e: &mut Expr) {
        while let ExprKind::Pending(id) = e.kind {
            match self.solutions.get_mut(id as usize).and_then(Option::take) {
                Some(found) => {
                    // Several expressions may refer to the solution of one pending entry.
                    self.solutions[id as usize] = Some(found.clone());
                    let span = e.span;
                    *e = found;
                    if e.span == Span::default() {
                        e.span = span;
                    }
                }
                None => {
                    if !self.failed {
                        self.error(Diagnostic::error(
                            Code::CannotInfer,
                            e.span,
                            "this expression could not be resolved",
                        ));
                    }
                    e.kind = ExprKind::Error;
                }
            }
        }
        self.finish_type(e);
        match &mut e.kind {
            ExprKind::Int(_) | ExprKind::Float(_) | ExprKind::Text(_) => self.finish_literal(e),
            ExprKind::Field { base, .. }
            | ExprKind::Element { base, .. }
            | ExprKind::Some(base)
            | ExprKind::Force(base)
            | ExprKind::Erase(base)
            | ExprKind::Upcast(base)
            | ExprKind::Quiet(base)
            | ExprKind::Super(base)
            | ExprKind::ConvertFunction { value: base, .. }
            | ExprKind::Try { value: base, .. } => self.finish(base),
            ExprKind::Is { value, ty } => {
                self.finish(value);
                *ty = unification::resolved(self.cx, ty);
                self.check_cast(&value.ty, ty, None, e.span);
            }
            ExprKind::Cast { value, forced } => {
                self.finish(value);
                let (to, kind) = match *forced {
                    true => (Some(e.ty.clone()), CastKind::Forced),
                    false => (name_lookup::optional_payload(self.cx, &e.ty), CastKind::Optional),
                };
                if let Some(to) = to {
                    self.check_cast(&value.ty, &to, Some(kind), e.span);
                }
            }
            ExprKind::Tuple(parts)
            | ExprKind::Array(parts)
            | ExprKind::Struct { fields: parts }
            | ExprKind::Interpolation(parts) => parts.iter_mut().for_each(|p| self.finish(p)),
            ExprKind::Case { payload, .. } => {
                payload.iter_mut().for_each(|p| self.finish(p));
                self.check_required_of_type(&e.ty, e.span);
            }
            ExprKind::Dictionary(items) => items.iter_mut().for_each(|(k, v)| {
                self.finish(k);
                self.finish(v);
            }),
            ExprKind::Call { callee, args } => {
                self.finish_callee(callee, e.span);
                self.finish_args(args);
                self.check_quotient(callee, args, e.span);
                self.check_inequality(callee, args);
            }
            ExprKind::CallValue { function, args } => {
                self.finish(function);
                self.finish_args(args);
            }
            ExprKind::Function(f) => self.finish_ref(f),
            ExprKind::Requirement(callee) => self.finish_callee(callee, e.span),
            ExprKind::Ternary { condition, then, otherwise } => {
                [condition, then, otherwise].into_iter().for_each(|e| self.finish(e));
            }
            ExprKind::Statements { statements, .. } => self.finish_statements(statements),
            ExprKind::Chain { base, body, .. } => {
                self.finish(base);
                self.finish(body);
            }
            ExprKind::ChainPlace { place, body, .. } => {
                self.finish_place(place);
                self.finish(body);
            }
            ExprKind::Assign { place, value } => {
                self.finish_place(place);
                self.finish(value);
            }
            ExprKind::Error => {
                if !self.failed {
                    self.failed = true;
                }
            }
            ExprKind::Bool(_)
            | ExprKind::Nil
            | ExprKind::Local(_)
            | ExprKind::Global(_)
            | ExprKind::Closure { .. }
            | ExprKind::Metatype
            | ExprKind::Pending(_) => {}
        }
    }
}
