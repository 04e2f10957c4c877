//! Delegating initializers: `self.init(…)`, which may fail.

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast;
use crate::syntax::ast::{ExprKind as Ast, Ident};
use crate::types::conform::superclass;
use crate::types::infer::Infer;
use crate::types::infer::call::arguments::ArgNode;
use crate::types::model::ty::Type;
use crate::types::model::typed_tree::{
    Condition, Expr, ExprKind, LocalId, Pattern, PatternKind, Place, Root, Stmt, StmtKind,
};
use crate::types::names::name_lookup;
use std::rc::Rc;

impl Infer<'_> {
    /// Returns the local variable that holds the `self` to be initialized, if `callee` is `self.init` in an
    /// initializer.
    pub(crate) fn delegated(&mut self, callee: &ast::Expr) -> Option<LocalId> {
        let Ast::Member { base, name, .. } = &callee.kind else { return None };
        let is_self = matches!(&base.kind, Ast::Ident { name, .. } if &**name == "self");
        self.frame().init_self.filter(|_| is_self && &*name.name == "init")
    }

    /// Infers `self.init(…)`, or with `forced` `self.init(…)!`: another initializer initializes `self`.
    pub(crate) fn delegate(&mut self, local: LocalId, args: Vec<ArgNode>, forced: bool, span: Span) -> Expr {
        let own = self.local_type(local);
        if let Type::Nominal(n, _) = &own
            && superclass::is_class(self.cx, *n)
        {
            return self.lead_on(local, args, forced, span);
        }
        let start = (self.pending.len(), self.cx.vars.var_count());
        let value = self.call_init(&own, None, args, None, span);
        let value = self.forced(value, forced, start);
        let unit = Type::unit();
        let place = Place { root: Root::Local(local), path: vec![], ty: own.clone(), span };
        if !self.may_fail(&value, &own) {
            let value = self.coerce(value, &own);
            return Expr { kind: ExprKind::Assign { place: Box::new(place), value: Box::new(value) }, ty: unit, span };
        }
        let result = self.frame().result.clone();
        if !name_lookup::is_optional(self.cx, &result) {
            self.cannot_fail(span);
            return self.error_expr(span);
        }
        let made = self.new_local("", own, false, span);
        let guard = self.or_fail(value, PatternKind::Bind(made), span);
        let value = self.local_expr(made, span);
        let fill = Stmt { kind: StmtKind::Assign { place, value }, span };
        let local = self.new_local("", unit.clone(), true, span);
        Expr { kind: ExprKind::Statements { statements: vec![guard, fill], result: local }, ty: unit, span }
    }

    /// Whether an initializer returned an optional of the type `own`, and not a value of the type itself, which may
    /// also be an optional.
    fn may_fail(&mut self, value: &Expr, own: &Type) -> bool {
        let ty = value.ty.clone();
        name_lookup::optional_payload(self.cx, &ty).is_some_and(|_| !name_lookup::is_optional(self.cx, own))
    }

    /// Resolves the overload of an initializer call and returns its value. It is unwrapped if it is optional and `forced` is
    /// set, or if an initializer that cannot fail calls one declared as `init!`.
    pub(super) fn forced(&mut self, value: Expr, forced: bool, start: (usize, u32)) -> Expr {
        let mut value = self.decided(value);
        if matches!(value.kind, ExprKind::Pending(_)) {
            self.resolve_statement(start);
            value = self.decided(value);
        }
        let (ty, span) = (value.ty.clone(), value.span);
        let result = self.frame().result.clone();
        let may_fail = name_lookup::is_optional(self.cx, &result);
        match name_lookup::optional_payload(self.cx, &ty) {
            Some(payload) if forced || !may_fail && self.inside_unwrapped(&value).is_some() => {
                Expr { kind: ExprKind::Force(Box::new(value)), ty: payload, span }
            }
            _ => value,
        }
    }

    fn cannot_fail(&mut self, span: Span) {
        let message = "a non-failable initializer cannot delegate to a failable initializer";
        let diagnostic = Diagnostic::error(Code::Inheritance, span, message);
        self.error(diagnostic.help(
            "declare it as 'init?', call an initializer that cannot fail, or write '!' after \
                                    the call",
        ));
    }

    /// Creates the statement `guard let pattern = value else { return nil }`.
    fn or_fail(&mut self, value: Expr, pattern: PatternKind, span: Span) -> Stmt {
        let result = self.frame().result.clone();
        let payload = name_lookup::optional_payload(self.cx, &value.ty.clone()).unwrap_or(Type::Error);
        let inner = Pattern { kind: pattern, ty: payload, span };
        let pattern = Pattern { kind: PatternKind::Some(Box::new(inner)), ty: value.ty.clone(), span };
        let nil = Expr { kind: ExprKind::Nil, ty: result, span };
        let otherwise = vec![Stmt { kind: StmtKind::Return(Some(nil)), span }];
        let conditions = vec![Condition::Match { pattern, value }];
        Stmt { kind: StmtKind::Guard { conditions, otherwise, end: span }, span }
    }

    /// Infers `self.init(…)` in a class.
    fn lead_on(&mut self, local: LocalId, args: Vec<ArgNode>, forced: bool, span: Span) -> Expr {
        let own = self.local_type(local);
        if !self.is_convenience() {
            let message = format!(
                "designated initializer for '{}' cannot delegate (with 'self.init'); did you mean this to be a convenience initializer?",
                self.show(&own)
            );
            let diagnostic = Diagnostic::error(Code::Inheritance, span, message);
            self.error(diagnostic.help("write 'convenience' before 'init'"));
        }
        let receiver = Rc::new(self.local_expr(local, span));
        let candidates = self.method_candidates(&own, "init", true, Some(&receiver));
        let name = Ident { name: "init".into(), span };
        let start = (self.pending.len(), self.cx.vars.var_count());
        let value = self.call_overloaded(&name, candidates, args, None, span);
        let value = self.forced(value, forced, start);
        self.led_on(value, span)
    }

    /// Wraps the call of an initializer that has initialized the instance; if that initializer failed, the enclosing
    /// initializer fails, too.
    pub(crate) fn led_on(&mut self, value: Expr, span: Span) -> Expr {
        let value = self.decided(value);
        let unit = Type::unit();
        if !name_lookup::is_optional(self.cx, &value.ty.clone()) {
            let place = Place { root: Root::Discard, path: vec![], ty: value.ty.clone(), span };
            return Expr { kind: ExprKind::Assign { place: Box::new(place), value: Box::new(value) }, ty: unit, span };
        }
        let result = self.frame().result.clone();
        if !name_lookup::is_optional(self.cx, &result) {
            self.cannot_fail(span);
        }
        let guard = self.or_fail(value, PatternKind::Wildcard, span);
        let local = self.new_local("", unit.clone(), true, span);
        Expr { kind: ExprKind::Statements { statements: vec![guard], result: local }, ty: unit, span }
    }
}
