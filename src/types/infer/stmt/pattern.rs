//! Patterns: inference of the types of patterns, and declaration of the names that patterns bind.

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast;
use crate::syntax::ast::{ExprKind as Ast, Ident, Name, PatternKind as AstPattern};
use crate::types::conform::conformances;
use crate::types::declare::redeclaration::redeclared;
use crate::types::generics::unification;
use crate::types::infer::{Binding, Infer};
use crate::types::model::declaration_tables::MemberKind;
use crate::types::model::ty::Type;
use crate::types::model::type_vars::Literal;
use crate::types::model::typed_tree::{LocalId, Pattern, PatternKind};
use crate::types::names::members;
use crate::types::names::name_lookup;
use crate::types::nominal::stored_property;
use std::rc::Rc;

impl Infer<'_> {
    /// Infers a pattern for a value of a type, and binds its names in the current scope. `mutable` is set for names
    /// after `var`.
    pub(crate) fn pattern(&mut self, p: &ast::Pattern, ty: &Type, mutable: bool) -> Pattern {
        let span = p.span;
        let made = |kind| Pattern { kind, ty: ty.clone(), span };
        match &p.kind {
            AstPattern::Wildcard => made(PatternKind::Wildcard),
            AstPattern::Bind { name, mutable: own } => {
                let local = self.bind_pattern(name, ty, mutable || *own, span);
                made(PatternKind::Bind(local))
            }
            AstPattern::Typed(inner, written) => {
                let written = self.resolve(written);
                if !unification::unify(self.cx, ty, &written, span) || self.states_less(ty, &written) {
                    self.pattern_mismatch(ty, &written, span);
                }
                self.pattern(inner, &written, mutable)
            }
            AstPattern::Tuple(parts) => self.tuple_pattern(parts, ty, mutable, span),
            AstPattern::Case { base, name, payload } => {
                self.case_pattern(base.as_ref(), name, payload.as_deref(), ty, mutable, span)
            }
            AstPattern::Some(inner) => {
                let Some(of) = name_lookup::optional_payload(self.cx, ty) else {
                    if *ty != Type::Error {
                        let message = format!("'?' pattern cannot match values of type '{}'", self.show(ty));
                        let mark = span.last();
                        self.error(Diagnostic::error(Code::Mismatch, span, message).fix("remove '?'", mark, ""));
                    }
                    return self.pattern(inner, &Type::Error, mutable);
                };
                let inner = self.pattern(inner, &of, mutable);
                made(PatternKind::Some(Box::new(inner)))
            }
            AstPattern::Is(written) => {
                let written = self.resolve(written);
                let inner = Pattern { kind: PatternKind::Wildcard, ty: written.clone(), span };
                made(PatternKind::Is { ty: written, pattern: Box::new(inner) })
            }
            AstPattern::As(inner, written) => {
                let written = self.resolve(written);
                let inner = self.pattern(inner, &written, mutable);
                made(PatternKind::Is { ty: written, pattern: Box::new(inner) })
            }
            AstPattern::Expr(e) => self.expression_pattern(e, ty, span),
        }
    }

    /// Declares the variable of a name; names that several alternatives of one `case` bind are one variable.
    fn bind_pattern(&mut self, name: &Name, ty: &Type, mutable: bool, span: Span) -> LocalId {
        if let Some((_, local)) = self.shared.iter().find(|(n, _)| n == name).cloned() {
            let other = self.local_type(local);
            if !unification::unify(self.cx, &other, ty, span) {
                self.mismatch(ty, &other, span);
            }
            return local;
        }
        self.check_redeclared(name, span);
        let local = self.new_local(name, ty.clone(), mutable, span);
        self.bind(name, local);
        self.bound.push((name.clone(), local));
        local
    }

    /// Reports a name that is declared twice in a block. The name may hide a parameter or a name of an enclosing block.
    fn check_redeclared(&mut self, name: &Name, span: Span) {
        let frame = self.frame();
        let Some(Binding::Local(before)) = frame.scopes.last().and_then(|scope| scope.get(name)).cloned() else {
            return;
        };
        let is_parameter = (before.0 as usize) < frame.params || frame.anonymous.contains(&before);
        let before = frame.locals[before.0 as usize].span;
        if !is_parameter && before != Span::default() && before != span {
            self.error(redeclared(name, span, before));
        }
    }

    /// Reports a pattern whose declared type differs from the type of the values that it matches.
    fn pattern_mismatch(&mut self, found: &Type, declared: &Type, span: Span) {
        if *declared == Type::Error || unification::shallow(self.cx, found) == Type::Error {
            self.failed = true;
            return;
        }
        let (found, declared) = (self.show(found), self.show(declared));
        let message = format!("cannot convert value of type '{found}' to expected type '{declared}'");
        let help = "leave out the type, and convert the value where it is used";
        self.error(Diagnostic::error(Code::Mismatch, span, message).help(help));
    }

    fn tuple_pattern(
        &mut self,
        parts: &[(Option<Ident>, ast::Pattern)],
        ty: &Type,
        mutable: bool,
        span: Span,
    ) -> Pattern {
        let made = |kind| Pattern { kind, ty: ty.clone(), span };
        if let [(None, only)] = parts {
            return self.pattern(only, ty, mutable);
        }
        let types = match unification::shallow(self.cx, ty) {
            Type::Tuple(types) if types.len() == parts.len() => types,
            Type::Var(_) => {
                let types: Vec<(Option<Name>, Type)> = parts.iter().map(|_| (None, self.cx.vars.fresh())).collect();
                let tuple = Type::Tuple(types.into());
                unification::unify(self.cx, ty, &tuple, span);
                match tuple {
                    Type::Tuple(types) => types,
                    _ => Rc::from([]),
                }
            }
            Type::Error => parts.iter().map(|_| (None, Type::Error)).collect(),
            other => {
                let message = format!(
                    "a tuple pattern with {} elements cannot match values of type '{}'",
                    parts.len(),
                    self.show(&other)
                );
                self.error(Diagnostic::error(Code::Mismatch, span, message));
                parts.iter().map(|_| (None, Type::Error)).collect()
            }
        };
        let mut out = vec![];
        for (i, (label, part)) in parts.iter().enumerate() {
            let at =
                label.as_ref().and_then(|l| types.iter().position(|(n, _)| n.as_ref() == Some(&l.name))).unwrap_or(i);
            let of = types[at].1.clone();
            out.push((at, self.pattern(part, &of, mutable)));
        }
        out.sort_by_key(|(at, _)| *at);
        made(PatternKind::Tuple(out.into_iter().map(|(_, p)| p).collect()))
    }

    fn case_pattern(
        &mut self,
        base: Option<&ast::TypeExpr>,
        name: &Ident,
        payload: Option<&[(Option<Ident>, ast::Pattern)]>,
        ty: &Type,
        mutable: bool,
        span: Span,
    ) -> Pattern {
        let made = |kind| Pattern { kind, ty: ty.clone(), span };
        if let Some(base) = base {
            let named = self.resolve(base);
            return self.named_case(&named, name, payload, ty, mutable, span);
        }
        let known = unification::shallow(self.cx, ty);
        if let Some(of) = name_lookup::optional_payload(self.cx, &known) {
            match (&*name.name, payload) {
                ("none", None) => return made(PatternKind::Nil),
                ("some", None) => {
                    let inner = Pattern { kind: PatternKind::Wildcard, ty: of, span };
                    return made(PatternKind::Some(Box::new(inner)));
                }
                ("some", Some([(_, inner)])) => {
                    let inner = self.pattern(inner, &of, mutable);
                    return made(PatternKind::Some(Box::new(inner)));
                }
                _ => {
                    let inner = self.case_pattern(None, name, payload, &of, mutable, span);
                    return made(PatternKind::Some(Box::new(inner)));
                }
            }
        }
        let Type::Nominal(n, args) = &known else {
            if known != Type::Error {
                let message = format!("'.{}' cannot match values of type '{}'", name.name, self.show(&known));
                self.error(Diagnostic::error(Code::Mismatch, span, message));
            }
            self.failed = true;
            // The names that the invalid pattern binds are declared nevertheless.
            for (_, part) in payload.into_iter().flatten() {
                self.pattern(part, &Type::Error, mutable);
            }
            return made(PatternKind::Wildcard);
        };
        let found =
            members::members(self.cx, &known, &name.name, true, self.file).into_iter().find_map(|(m, ..)| match m {
                MemberKind::Case(case) => Some(case),
                _ => None,
            });
        let Some(case) = found else {
            if let Some(parts) = payload {
                self.no_static_member(&known, name);
                for (_, part) in parts {
                    self.pattern(part, &Type::Error, mutable);
                }
                return made(PatternKind::Wildcard);
            }
            // The pattern denotes a static value: `case .zero`.
            let value = Rc::new(ast::Expr { kind: Ast::Implicit { name: name.clone(), generics: vec![] }, span });
            return self.expression_pattern(&value, ty, span);
        };
        let args = args.clone();
        let types = stored_property::case_payload(self.cx, *n, case);
        let types: Vec<(Option<Name>, Type)> =
            types.into_iter().map(|(l, t)| (l, conformances::substitute_nominal(self.cx, *n, &args, &t))).collect();
        let Some(parts) = payload else {
            return made(PatternKind::Case { case, payload: vec![] });
        };
        if let ([(None, only)], true) = (parts, types.len() > 1) {
            // The pattern matches the whole payload, which is a tuple, by one pattern.
            if let AstPattern::Tuple(inner) = &only.kind {
                return self.case_pattern(None, name, Some(inner), ty, mutable, span);
            }
            if matches!(only.kind, AstPattern::Wildcard) {
                return made(PatternKind::Case { case, payload: vec![] });
            }
        }
        if parts.len() != types.len() {
            let plural = if types.len() == 1 { "" } else { "s" };
            let (name, have, given) = (&name.name, types.len(), parts.len());
            let message = format!("'.{name}' has {have} associated value{plural}, but the pattern has {given}");
            self.error(Diagnostic::error(Code::Mismatch, span, message));
        }
        let types = types.iter().map(|(_, t)| t).chain(std::iter::repeat(&Type::Error));
        let payload = parts.iter().zip(types).map(|((_, p), t)| self.pattern(p, t, mutable)).collect();
        made(PatternKind::Case { case, payload })
    }

    /// Infers a case with an explicit type. A value of existential type matches only if it is of this type.
    fn named_case(
        &mut self,
        named: &Type,
        name: &Ident,
        payload: Option<&[(Option<Ident>, ast::Pattern)]>,
        ty: &Type,
        mutable: bool,
        span: Span,
    ) -> Pattern {
        if let (Type::Existential(_), Type::Nominal(..)) =
            (unification::shallow(self.cx, ty), unification::shallow(self.cx, named))
        {
            let inner = self.case_pattern(None, name, payload, named, mutable, span);
            let kind = PatternKind::Is { ty: named.clone(), pattern: Box::new(inner) };
            return Pattern { kind, ty: ty.clone(), span };
        }
        let inner = name_lookup::optional_payload(self.cx, ty).unwrap_or_else(|| ty.clone());
        if !unification::unify(self.cx, ty, named, span) && !unification::unify(self.cx, &inner, named, span) {
            self.mismatch(ty, named, span);
        }
        self.case_pattern(None, name, payload, ty, mutable, span)
    }

    /// Whether a type has a case named `name`.
    pub(crate) fn has_case(&mut self, of: &Type, name: &str) -> bool {
        let members = members::members(self.cx, of, name, true, self.file);
        members.iter().any(|(m, ..)| matches!(m, MemberKind::Case(_)))
    }

    /// Infers an expression pattern: a value, a range, or any value for which `~=` is declared.
    fn without_optionals(&mut self, ty: &Type) -> Type {
        let mut of = unification::shallow(self.cx, ty);
        while let Some(inner) = name_lookup::optional_payload(self.cx, &of) {
            of = unification::shallow(self.cx, &inner);
        }
        of
    }

    fn expression_pattern(&mut self, e: &Rc<ast::Expr>, ty: &Type, span: Span) -> Pattern {
        let made = |kind| Pattern { kind, ty: ty.clone(), span };
        match &e.kind {
            Ast::Nil if name_lookup::is_optional(self.cx, ty) => return made(PatternKind::Nil),
            Ast::Tuple(parts) => {
                let parts: Vec<(Option<Ident>, ast::Pattern)> = parts
                    .iter()
                    .map(|(l, e)| {
                        let kind = if matches!(e.kind, Ast::Discard) {
                            AstPattern::Wildcard
                        } else {
                            AstPattern::Expr(Rc::new(e.clone()))
                        };
                        (l.clone(), ast::Pattern { kind, span: e.span })
                    })
                    .collect();
                return self.tuple_pattern(&parts, ty, false, span);
            }
            Ast::Paren(inner) => return self.expression_pattern(inner, ty, span),
            // The pattern has the form `case 0 as Int`.
            Ast::As { value, ty: written, kind: ast::CastKind::Coerce } => {
                let written = self.resolve(written);
                if !unification::unifies(self.cx, ty, &written) {
                    let inner = self.expression_pattern(value, &written, span);
                    return made(PatternKind::Is { ty: written, pattern: Box::new(inner) });
                }
            }
            Ast::Implicit { name, .. } => {
                let of = self.without_optionals(ty);
                if self.has_case(&of, &name.name) {
                    return self.case_pattern(None, name, None, ty, false, span);
                }
            }
            Ast::Ident { name, .. } if !self.is_name(name) => {
                let of = self.without_optionals(ty);
                if self.has_case(&of, name) {
                    let name = Ident { name: name.clone(), span: e.span };
                    self.case_without_dot(&name);
                    return self.case_pattern(None, &name, None, ty, false, span);
                }
            }
            Ast::Member { base, name, .. } => {
                if let Some(named) = self.type_expression(base).map(|of| unification::shallow(self.cx, &of))
                    && self.has_case(&named, &name.name)
                {
                    return self.named_case(&named, name, None, ty, false, span);
                }
            }
            _ => {}
        }
        let local = self.new_local("", ty.clone(), false, span);
        let name: Name = format!("$match{}", local.0).into();
        let test = self.in_scope(|infer| {
            infer.bind(&name, local);
            let value = Rc::new(ast::Expr { kind: Ast::Ident { name: name.clone(), generics: vec![] }, span });
            let range = matches!(&e.kind, Ast::Binary { op, .. } if matches!(&*op.name, "..." | "..<"))
                || matches!(&e.kind, Ast::Prefix { op, .. } | Ast::Postfix { op, .. } if matches!(&*op.name, "..." | "..<"));
            let bool_type = infer.bool_type();
            let test = if range {
                let contains = Ident { name: "contains".into(), span };
                let callee = Ast::Member { base: e.clone(), name: contains, generics: vec![] };
                let arg = ast::Arg { label: None, value, trailing: false };
                let callee = Rc::new(ast::Expr { kind: callee, span });
                infer.expr(&ast::Expr { kind: Ast::Call { callee, args: vec![arg] }, span }, Some(&bool_type))
            } else {
                let is_equal = is_plain_value(e) && !infer.has_own_match(e, ty);
                let op = Ident { name: if is_equal { "==" } else { "~=" }.into(), span };
                infer.binary(&op, e, &value, Some(&bool_type), span)
            };
            infer.coerce(test, &bool_type)
        });
        made(PatternKind::Test { local, test: Box::new(test) })
    }

    /// Whether a literal that is no value of a type is matched with it by an operator `~=` of the program.
    fn has_own_match(&mut self, literal: &ast::Expr, ty: &Type) -> bool {
        let kind = match &literal.kind {
            Ast::Int(_) => Literal::Int,
            Ast::Float(_) => Literal::Float,
            Ast::String(_) => Literal::Words,
            _ => return false,
        };
        let of = self.without_optionals(ty);
        !unification::accepts_literal(self.cx, &of, kind)
            && (!name_lookup::own_entries(self.cx, "~=", self.file).is_empty()
                || !members::members(self.cx, &of, "~=", true, self.file).is_empty())
    }

    /// Whether a pattern always matches.
    pub(crate) fn is_certain(p: &Pattern) -> bool {
        match &p.kind {
            PatternKind::Wildcard | PatternKind::Bind(_) => true,
            PatternKind::Tuple(parts) => parts.iter().all(Infer::is_certain),
            _ => false,
        }
    }
}

/// Whether a pattern is a literal, which is compared with `==`.
fn is_plain_value(e: &ast::Expr) -> bool {
    match &e.kind {
        Ast::Int(_) | Ast::Float(_) | Ast::String(_) | Ast::Bool(_) | Ast::Implicit { .. } => true,
        Ast::Prefix { operand, .. } => matches!(operand.kind, Ast::Int(_) | Ast::Float(_)),
        _ => false,
    }
}
