//! Expressions: inference of the types of each kind of expression.

pub(crate) mod calculus_notation;
pub(crate) mod closure;
pub(crate) mod fraction;
pub(crate) mod function_reference;
pub(crate) mod hash_gradient;
pub(crate) mod implicit_member;
pub(crate) mod key_path;
pub(crate) mod literal;
pub(crate) mod literal_conversion;
pub(crate) mod literal_operands;
pub(crate) mod member;
pub(crate) mod metatype;
pub(crate) mod module_member;
pub(crate) mod name;
pub(crate) mod operator;
pub(crate) mod optional_chain;
pub(crate) mod source_location;
pub(crate) mod truncated_quotient;
pub(crate) mod type_expr;

use super::Infer;
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::{self, CastKind, ExprKind as Ast, Ident};
use crate::types::generics::unification;
use crate::types::infer::call::arguments::ArgNode;
use crate::types::infer::solver::pending_expression::PendingKind;
use crate::types::infer::stmt::place::assignment_inside;
use crate::types::model::ty::Type;
use crate::types::model::type_vars::Literal;
use crate::types::model::typed_tree::{Condition, Expr, ExprKind, LocalId, Pattern, PatternKind, Stmt, StmtKind};
use crate::types::names::name_lookup;
use std::rc::Rc;

impl Infer<'_> {
    /// Infers an expression. `expected` is a hint: the caller still coerces the value to the expected type.
    pub(super) fn expr(&mut self, e: &ast::Expr, expected: Option<&Type>) -> Expr {
        crate::cancel::check();
        if self.is_initializer && !is_collection_or_tuple(e) {
            // A literal inside of a call or a closure is not the value of the variable.
            self.is_initializer = false;
            let found = self.expr(e, expected);
            self.is_initializer = true;
            return found;
        }
        let span = e.span;
        // An erroneous type provides no expectation.
        let expected = expected.filter(|ty| **ty != Type::Error);
        if let Some(chain) = self.implicit_chain(e, expected) {
            return chain;
        }
        if let Some(chain) = self.optional_chain(e) {
            return chain;
        }
        match &e.kind {
            Ast::Int(value) => self.int_literal(*value, expected, span),
            Ast::Float(value) if value.is_infinite() => {
                let message = "number is too large for 'Double'";
                self.error(
                    Diagnostic::error(Code::InvalidLiteral, span, message)
                        .help("the largest 'Double' is about 1.8e308"),
                );
                self.error_expr(span)
            }
            Ast::Float(value) => {
                let ty = self.literal_type(Literal::Float, expected);
                Expr { kind: ExprKind::Float(*value), ty, span }
            }
            Ast::String(parts) => self.string(parts, expected, span),
            Ast::Bool(value) => self.bool_literal(*value, expected, span),
            Ast::Nil => match expected.and_then(|t| self.known(t)) {
                Some(ty) => self.nil(ty, span),
                None => {
                    let result = expected.cloned().unwrap_or_else(|| self.cx.vars.fresh());
                    self.wait(PendingKind::Nil, result, span)
                }
            },
            Ast::Ident { name, generics } => {
                let ident = Ident { name: name.clone(), span };
                self.name(&ident, generics, expected)
            }
            Ast::Implicit { name, .. } => {
                let expected = self.implicit_type(span, expected);
                self.implicit_or_wait(name, None, expected, span)
            }
            Ast::Member { base, name, .. } => {
                if &*name.name == "self" {
                    if let Some(own) = self.written_metatype(base) {
                        return own;
                    }
                    if let Some(ty) = self.type_expression(base) {
                        return Expr { kind: ExprKind::Metatype, ty: Type::Metatype(Rc::new(ty)), span };
                    }
                    return self.expr(base, expected);
                }
                if let Some(ty) = self.type_expression(e) {
                    return Expr { kind: ExprKind::Metatype, ty: Type::Metatype(Rc::new(ty)), span };
                }
                if let Some((module_name, module)) = self.module_of(base) {
                    return self.member_of_module(module_name, module, name, expected);
                }
                if let Some(ty) = self.type_expression(base) {
                    let on = self.written_metatype(base).map(Rc::new);
                    return self.static_member_of(&ty, on.as_ref(), name, expected, span);
                }
                let base = self.expr(base, None);
                self.member(base, name, expected, span)
            }
            Ast::Call { callee, args } => self.without_fractions(|infer| infer.call(callee, args, expected, span)),
            Ast::Subscript { base, args } => self.without_fractions(|infer| {
                let args: Vec<ArgNode> = args.iter().map(ArgNode::new).collect();
                let base = infer.expr(base, None);
                infer.subscript(base, args, expected, span)
            }),
            Ast::Closure(closure) => self.without_fractions(|infer| infer.closure(closure, expected, span)),
            Ast::Array(items) => self.array(items, expected, span),
            Ast::Dictionary(items) => self.dictionary(items, expected, span),
            Ast::Tuple(parts) => self.tuple(parts, expected, span),
            Ast::Paren(inner) => {
                let value = self.expr(inner, expected);
                Expr { span, ..value }
            }
            Ast::Prefix { op, operand } => self.prefix(op, operand, expected, span),
            Ast::Postfix { op, operand } => {
                self.postfix.push(op.span);
                self.unary(op, operand, expected, span)
            }
            Ast::Binary { op, lhs, rhs, .. } => self.binary(op, lhs, rhs, expected, span),
            Ast::Assign { target, value } => self.assignment(target, value, span),
            Ast::Ternary { condition, then, otherwise } => self.ternary(condition, then, otherwise, expected, span),
            Ast::Is { value, ty } => {
                let value = self.expr(value, None);
                let value = self.inside_hashable(value);
                let ty = self.resolve(ty);
                Expr { kind: ExprKind::Is { value: Box::new(value), ty }, ty: self.bool_type(), span }
            }
            Ast::As { value, ty, kind } => self.cast(value, ty, *kind, span),
            Ast::InOut(_) => self.fail(Code::Mismatch, span, "'&' is only allowed for an 'inout' argument"),
            Ast::Force(inner) => self.force(inner, span),
            Ast::Chain(_) => {
                self.fail(Code::Types, span, "'?' must be followed by a call, member lookup, or subscript")
            }
            Ast::Try { kind, value } => self.try_expr(*kind, value, expected, span),
            Ast::If { .. } | Ast::Switch { .. } | Ast::Block(_) => self.statement_expression(e, expected),
            Ast::Operator(name) => self.operator_value(name, expected, span),
            Ast::Type(ty) => {
                let ty = self.resolve(ty);
                Expr { kind: ExprKind::Metatype, ty: Type::Metatype(Rc::new(ty)), span }
            }
            Ast::Prime { function, order } => self.prime(function, *order, span),
            Ast::Nabla(function) => self.nabla(function, None, span),
            Ast::Partial { function, parameter } => self.partial(function, parameter, span),
            Ast::Discard => self.fail(
                Code::WrongContext,
                span,
                "'_' can only appear in a pattern or on the left side of an assignment",
            ),
            Ast::Super => self.super_value(span),
            Ast::Hash { name, args } => match self.here(&name.name, expected, span).filter(|_| args.is_empty()) {
                Some(value) => value,
                None => self.hash_operator(name, args, expected, span),
            },
            Ast::KeyPath { root, path } => self.key_path(root.as_ref(), path, expected, span),
            Ast::Sequence(_) | Ast::Error => self.error_expr(span),
        }
    }

    fn ternary(
        &mut self,
        condition: &ast::Expr,
        then: &ast::Expr,
        otherwise: &ast::Expr,
        expected: Option<&Type>,
        span: Span,
    ) -> Expr {
        let condition = self.condition_value(condition);
        let is_open =
            expected.is_none_or(|t| matches!(unification::shallow(self.cx, t), Type::Var(_) | Type::Existential(_)));
        if is_open && (is_nil(then) || is_nil(otherwise)) {
            return self.ternary_with_nil(condition, then, otherwise, span);
        }
        let then = self.expr(then, expected);
        let beside = expected.cloned().or_else(|| self.expected_beside(&then.ty, otherwise));
        let otherwise = self.expr(otherwise, beside.as_ref());
        let (then, otherwise, ty) = self.common(then, otherwise, expected);
        let kind =
            ExprKind::Ternary { condition: Box::new(condition), then: Box::new(then), otherwise: Box::new(otherwise) };
        Expr { kind, ty, span }
    }

    /// Infers `condition ? value : nil`, an optional of the value's type.
    fn ternary_with_nil(&mut self, condition: Expr, then: &ast::Expr, otherwise: &ast::Expr, span: Span) -> Expr {
        let payload = self.cx.vars.fresh();
        let mut ty = name_lookup::applied(self.cx, "Optional", &[payload]);
        let mut branch = |infer: &mut Self, e: &ast::Expr| {
            if is_nil(e) {
                return None;
            }
            let value = infer.expr(e, None);
            if name_lookup::is_optional(infer.cx, &value.ty.clone()) {
                ty = value.ty.clone();
            }
            Some(value)
        };
        let (a, b) = (branch(self, then), branch(self, otherwise));
        let mut made = |value: Option<Expr>, e: &ast::Expr| match value {
            Some(value) => Box::new(self.coerce(value, &ty)),
            None => Box::new(Expr { kind: ExprKind::Nil, ty: ty.clone(), span: e.span }),
        };
        let (then, otherwise) = (made(a, then), made(b, otherwise));
        Expr { kind: ExprKind::Ternary { condition: Box::new(condition), then, otherwise }, ty, span }
    }

    /// Infers `nil` as a value of a type.
    pub(super) fn nil(&mut self, ty: Type, span: Span) -> Expr {
        if name_lookup::is_optional(self.cx, &ty) || ty == Type::Error {
            return Expr { kind: ExprKind::Nil, ty, span };
        }
        let nothing = Expr { kind: ExprKind::Tuple(vec![]), ty: Type::unit(), span };
        if let Some(made) = self.literal_of("ExpressibleByNilLiteral", &ty, nothing) {
            return made;
        }
        let message = format!("'nil' is not compatible with expected type '{}'", self.show(&ty));
        self.fail(Code::Mismatch, span, message)
    }

    /// Coerces two alternatives of one value to a common type.
    pub(super) fn common(&mut self, a: Expr, b: Expr, expected: Option<&Type>) -> (Expr, Expr, Type) {
        if expected.is_none_or(|expected| self.is_undetermined(expected))
            && let Some(joined) = self.joined_type(&a.ty, &b.ty)
        {
            return (self.coerce(a, &joined), self.coerce(b, &joined), joined);
        }
        if let Some(expected) = expected {
            let is_open = self.is_undetermined(expected) || matches!(expected, Type::Existential(_));
            let (a, b) = if is_open { self.joined_numbers(a, b) } else { (a, b) };
            // The enclosing expression may be another alternative that makes these numbers `Double`s, so that the caller
            // converts them to the expected type.
            if is_open && self.are_same_numbers(&a.ty, &b.ty) {
                let ty = a.ty.clone();
                return (a, b, ty);
            }
            let (a, b) = (self.coerce(a, expected), self.coerce(b, expected));
            return (a, b, expected.clone());
        }
        let (s, t) = (a.ty.clone(), b.ty.clone());
        let snapshot = self.cx.vars.snapshot();
        if unification::unify(self.cx, &s, &t, a.span) {
            self.cx.vars.keep(snapshot);
            return (a, b, s);
        }
        self.cx.vars.rollback(snapshot);
        if self.can_convert(&t, &s) || self.needs_widening(&t, &s) {
            let b = self.coerce(b, &s);
            return (a, b, s);
        }
        let a = self.coerce(a, &t);
        (a, b, t)
    }

    pub(super) fn condition_value(&mut self, e: &ast::Expr) -> Expr {
        if let Some(assignment) = assignment_inside(e)
            && let Ast::Assign { target, value } = &assignment.kind
        {
            let between = Span::new(target.span.end, value.span.start);
            let message = "use of '=' in a boolean context, did you mean '=='?";
            self.error(Diagnostic::error(Code::Mismatch, e.span, message).fix("compare with '=='", between, " == "));
            return self.error_expr(e.span);
        }
        let bool_type = self.bool_type();
        let value = self.expr(e, Some(&bool_type));
        if let Some(payload) = name_lookup::optional_payload(self.cx, &value.ty.clone())
            && payload != bool_type
            && !self.is_open(&payload)
        {
            let text = self.show(&value.ty.clone());
            let message = format!("optional type '{text}' cannot be used as a boolean; test for '!= nil' instead");
            let diagnostic = Diagnostic::error(Code::OptionalNotUnwrapped, e.span, message);
            self.error(diagnostic.fix("test whether there is a value", e.span.after(), " != nil"));
            return self.error_expr(e.span);
        }
        self.coerce(value, &bool_type)
    }

    fn cast(&mut self, value: &ast::Expr, ty: &ast::TypeExpr, kind: CastKind, span: Span) -> Expr {
        let wanted = self.resolve(ty);
        if kind == CastKind::Coerce {
            // The operands of an operator are strings of Swift.
            let expected = Some(&wanted).filter(|wanted| !self.is_bridged_string(wanted));
            let value = self.expr(value, expected);
            let value = self.bridged_string(value, &wanted);
            return self.coerce(value, &wanted);
        }
        let value = self.expr(value, None);
        let value = self.inside_hashable(value);
        let forced = kind == CastKind::Forced;
        let ty = if forced { wanted } else { name_lookup::applied(self.cx, "Optional", &[wanted]) };
        Expr { kind: ExprKind::Cast { value: Box::new(value), forced }, ty, span }
    }

    fn force(&mut self, inner: &ast::Expr, span: Span) -> Expr {
        if let Ast::Call { callee, args } = &inner.kind
            && let Some(local) = self.delegated(callee)
        {
            return self.delegate(local, args.iter().map(ArgNode::new).collect(), true, span);
        }
        if let Ast::Call { callee, args } = &inner.kind
            && let Ast::Member { base, name, .. } = &callee.kind
            && matches!(base.kind, Ast::Super)
            && &*name.name == "init"
        {
            return self.super_init(args.iter().map(ArgNode::new).collect(), base.span, true, span);
        }
        let value = self.expr(inner, None);
        if let Some(payload) = name_lookup::optional_payload(self.cx, &value.ty.clone()) {
            return Expr { kind: ExprKind::Force(Box::new(value)), ty: payload, span };
        }
        let ty = value.ty.clone();
        if let Type::Var(_) = unification::shallow(self.cx, &ty) {
            let payload = self.cx.vars.fresh();
            let optional = name_lookup::applied(self.cx, "Optional", std::slice::from_ref(&payload));
            unification::unify(self.cx, &ty, &optional, span);
            return Expr { kind: ExprKind::Force(Box::new(value)), ty: payload, span };
        }
        if ty == Type::Error {
            return value;
        }
        let message = format!("cannot force unwrap value of non-optional type '{}'", self.show(&ty));
        let mark = Span::new(span.end.saturating_sub(1), span.end);
        self.error(Diagnostic::error(Code::Mismatch, span, message).fix("remove '!'", mark, ""));
        value
    }

    fn try_expr(&mut self, kind: ast::TryKind, value: &ast::Expr, expected: Option<&Type>, span: Span) -> Expr {
        self.frame().catching += 1;
        self.frame().tried += 1;
        let inner_expected = match kind {
            ast::TryKind::Optional => None,
            ast::TryKind::Propagate | ast::TryKind::Forced => expected,
        };
        let value = self.expr(value, inner_expected);
        self.frame().catching -= 1;
        self.frame().tried -= 1;
        if kind == ast::TryKind::Propagate {
            self.throws_here(span);
        }
        if kind == ast::TryKind::Optional {
            return self.optional_try(value, span);
        }
        let ty = value.ty.clone();
        Expr { kind: ExprKind::Try { kind, value: Box::new(value) }, ty, span }
    }

    /// Returns the expression `try? value`. If the value is optional, the result has the same type.
    fn optional_try(&mut self, value: Expr, span: Span) -> Expr {
        if !name_lookup::is_optional(self.cx, &value.ty.clone()) && self.may_resolve_to_optional(&value) {
            let result = self.cx.vars.fresh();
            return self.wait(PendingKind::OptionalTry { value: Rc::new(value) }, result, span);
        }
        self.optional_try_now(value, span)
    }

    pub(crate) fn optional_try_now(&mut self, value: Expr, span: Span) -> Expr {
        let ty = match name_lookup::is_optional(self.cx, &value.ty.clone()) {
            true => value.ty.clone(),
            false => name_lookup::applied(self.cx, "Optional", std::slice::from_ref(&value.ty)),
        };
        Expr { kind: ExprKind::Try { kind: ast::TryKind::Optional, value: Box::new(value) }, ty, span }
    }

    /// Stores a value in a temporary constant for an expression that `run` creates.
    pub(super) fn with_temporary(&mut self, value: Expr, run: impl FnOnce(&mut Self, LocalId) -> Expr) -> Expr {
        let span = value.span;
        let local = self.new_local("", value.ty.clone(), false, span);
        let pattern = Pattern { kind: PatternKind::Bind(local), ty: value.ty.clone(), span };
        let first = Stmt { kind: StmtKind::Let { pattern, value: Some(value) }, span };
        let body = run(self, local);
        let result = self.new_local("", body.ty.clone(), true, span);
        let ty = body.ty.clone();
        let place = crate::types::model::typed_tree::Place {
            root: crate::types::model::typed_tree::Root::Local(result),
            path: vec![],
            ty: ty.clone(),
            span,
        };
        let last = Stmt { kind: StmtKind::Assign { place, value: body }, span };
        Expr { kind: ExprKind::Statements { statements: vec![first, last], result }, ty, span }
    }

    /// Creates an expression of type `Bool` that states whether a value matches a pattern.
    pub(super) fn matches(&mut self, value: Expr, pattern: PatternKind, span: Span) -> Expr {
        let bool_type = self.bool_type();
        let result = self.new_local("", bool_type.clone(), true, span);
        let assign = |value| {
            let place = crate::types::model::typed_tree::Place {
                root: crate::types::model::typed_tree::Root::Local(result),
                path: vec![],
                ty: bool_type.clone(),
                span,
            };
            let value = Expr { kind: ExprKind::Bool(value), ty: bool_type.clone(), span };
            vec![Stmt { kind: StmtKind::Assign { place, value }, span }]
        };
        let pattern = Pattern { kind: pattern, ty: value.ty.clone(), span };
        let conditions = vec![Condition::Match { pattern, value }];
        let statement = Stmt { kind: StmtKind::If { conditions, then: assign(true), otherwise: assign(false) }, span };
        Expr { kind: ExprKind::Statements { statements: vec![statement], result }, ty: bool_type.clone(), span }
    }
}

/// Whether an expression is a `nil` literal.
pub(crate) fn is_nil(e: &ast::Expr) -> bool {
    match &e.kind {
        Ast::Nil => true,
        Ast::Paren(inner) => is_nil(inner),
        _ => false,
    }
}

/// Whether an expression is a collection literal, or consists of such literals in parentheses.
pub(crate) fn is_collection_or_tuple(e: &ast::Expr) -> bool {
    matches!(e.kind, Ast::Array(_) | Ast::Dictionary(_) | Ast::Tuple(_) | Ast::Paren(_))
}
