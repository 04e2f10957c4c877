//! Implicit members: `.name` and chains that begin with it, such as `.red`, `.of(3)`, `.pi.rounded()`.

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast;
use crate::syntax::ast::{ExprKind as Ast, Ident};
use crate::types::conform::conformances;
use crate::types::generics::signature;
use crate::types::generics::unification;
use crate::types::infer::Infer;
use crate::types::infer::call::arguments::{ArgNode, match_args};
use crate::types::infer::expr::operator;
use crate::types::infer::solver::pending_expression::PendingKind;
use crate::types::model::declaration_tables::MemberKind;
use crate::types::model::ty::Type;
use crate::types::model::typed_tree::Expr;
use crate::types::names::dynamic_self;
use crate::types::names::members;
use crate::types::names::name_lookup;
use crate::types::nominal::stored_property;
use std::rc::Rc;

impl Infer<'_> {
    /// Infers a chain of members of `.name`, whose result has the type to which `.name` belongs.
    pub(crate) fn implicit_chain(&mut self, e: &ast::Expr, expected: Option<&Type>) -> Option<Expr> {
        let (root, _) = implicit_root(e)?;
        if is_single(e) || self.roots.iter().any(|(at, _)| *at == root) {
            return None;
        }
        let ty = expected.cloned().unwrap_or_else(|| self.cx.vars.fresh());
        self.roots.push((root, ty.clone()));
        let value = self.expr(e, Some(&ty));
        self.roots.pop();
        if expected.is_some() {
            return Some(value);
        }
        Some(self.wait(PendingKind::Coerce { value: Rc::new(value), to: ty.clone() }, ty, e.span))
    }

    /// Infers an implicit member `.name` or `.name(arguments)`; the expression is pending until the type to which the
    /// member belongs is known.
    pub(crate) fn implicit_or_wait(
        &mut self,
        name: &Ident,
        args: Option<Vec<ArgNode>>,
        expected: Option<Type>,
        span: Span,
    ) -> Expr {
        match expected.as_ref().and_then(|ty| self.known(ty)) {
            Some(ty) => self.implicit(name, args, &ty, span),
            None => {
                let result = expected.unwrap_or_else(|| self.cx.vars.fresh());
                self.wait(PendingKind::Implicit { name: name.clone(), args }, result, span)
            }
        }
    }

    /// Infers an implicit member `.name` or `.name(arguments)` where a value of a known type is expected.
    pub(crate) fn implicit(&mut self, name: &Ident, args: Option<Vec<ArgNode>>, expected: &Type, span: Span) -> Expr {
        let mut ty = unification::shallow(self.cx, expected);
        // `.some(x)` belongs to the optional itself, everything else to its payload.
        while let Some(payload) = name_lookup::optional_payload(self.cx, &ty) {
            if matches!(&*name.name, "some" | "none") {
                break;
            }
            match unification::shallow(self.cx, &payload) {
                Type::Var(_) => break,
                inner => ty = inner,
            }
        }
        match args {
            Some(args) => self.call_static(&ty, None, name, args, Some(&ty), span),
            None => self.case_without_payload(&ty, name, span),
        }
    }

    /// Infers an implicit member `.name` without arguments; reports a case that has a payload.
    fn case_without_payload(&mut self, ty: &Type, name: &Ident, span: Span) -> Expr {
        let members = members::members(self.cx, ty, &name.name, true, self.file);
        let (Type::Nominal(n, args), [(MemberKind::Case(case), ..)]) = (ty, members.as_slice()) else {
            return self.static_member_of(ty, None, name, Some(ty), span);
        };
        let payload = stored_property::case_payload(self.cx, *n, *case);
        if payload.is_empty() {
            return self.static_member_of(ty, None, name, Some(ty), span);
        }
        let types: Vec<Type> =
            payload.iter().map(|(_, ty)| conformances::substitute_nominal(self.cx, *n, args, ty)).collect();
        let shown: Vec<String> = types.iter().map(|ty| format!("'{}'", self.show(ty))).collect();
        let message = match shown.as_slice() {
            [one] => format!("member '{}' expects argument of type {one}", name.name),
            all => format!("member '{}' expects arguments of types {}", name.name, all.join(", ")),
        };
        let labels =
            payload.iter().map(|(label, _)| label.as_ref().map_or("…".into(), |label| format!("{label}: …")));
        let written = format!(".{}({})", name.name, labels.collect::<Vec<_>>().join(", "));
        self.error(Diagnostic::error(Code::WrongArguments, span, message).help(format!("write '{written}'")));
        self.error_expr(span)
    }

    /// Infers the operands that are operators with an implicit member among their operands, such as `.now() + 1` in
    /// `.now() + 1 + pause`, with the type that is expected of the whole expression.
    pub(crate) fn ready_implicit(&mut self, op: &Ident, args: &mut [ArgNode], expected: Option<&Type>) {
        if expected.is_none() || operator::is_comparison(&op.name) {
            return;
        }
        for arg in args {
            if arg.ready.is_none() && has_implicit_operand(&arg.ast) {
                let value = self.expr(&arg.ast.clone(), expected);
                arg.ready = Some(self.set_aside(value));
            }
        }
    }

    /// Returns the cost of the type `of` for an argument `.member(…)`. A type without such a member has a high cost, so
    /// that the missing member is reported.
    pub(crate) fn implicit_call_fits(&mut self, name: &Ident, args: &[ast::Arg], of: &Type) -> Option<u32> {
        const WITHOUT: u32 = 30;
        if !matches!(of, Type::Nominal(..)) {
            return (!matches!(of, Type::Function(_) | Type::Tuple(_))).then_some(1);
        }
        let given: Vec<ArgNode> = args.iter().map(ArgNode::new).collect();
        let candidates = self.method_candidates(of, &name.name, true, None);
        let takes = |infer: &mut Self, c| match_args(&infer.candidate_params(c), &given).is_ok();
        if candidates.is_empty() {
            return (&*name.name != "init").then_some(WITHOUT);
        }
        candidates.iter().any(|c| takes(self, c)).then_some(1)
    }

    /// Rewrites `.name(arguments)`, the result of a function that returns `Self` of a class, as a member of `Self`,
    /// which may be a subclass.
    pub(crate) fn of_own_class(&mut self, value: &ast::Expr) -> Option<ast::Expr> {
        let f = self.frame().function.filter(|f| dynamic_self::gives_self(self.cx, *f))?;
        let (owner, result) = (self.own_type()?, signature::signature(self.cx, f).result.clone());
        let result = name_lookup::optional_payload(self.cx, &result).unwrap_or(result);
        if result != owner || self.cx.defs.function_data(f).is_prelude {
            return None;
        }
        match &value.kind {
            Ast::Implicit { name, generics } if !matches!(&*name.name, "some" | "none") => {
                let own = Ast::Ident { name: "Self".into(), generics: vec![] };
                let base = Rc::new(ast::Expr { kind: own, span: value.span.before() });
                let kind = Ast::Member { base, name: name.clone(), generics: generics.clone() };
                Some(ast::Expr { kind, span: value.span })
            }
            Ast::Call { callee, args } => {
                let callee = Rc::new(self.of_own_class(callee)?);
                Some(ast::Expr { kind: Ast::Call { callee, args: args.clone() }, span: value.span })
            }
            _ => None,
        }
    }

    /// Returns the type to which `.name` belongs, as far as it is known.
    pub(crate) fn implicit_type(&self, root: Span, expected: Option<&Type>) -> Option<Type> {
        let of_chain = self.roots.iter().find(|(at, _)| *at == root).map(|(_, ty)| ty);
        expected.or(of_chain).cloned()
    }
}

/// Returns the location and the name of the `.name` with which a chain of members, calls and subscripts begins.
pub(crate) fn implicit_root(e: &ast::Expr) -> Option<(Span, &Ident)> {
    match &e.kind {
        Ast::Implicit { name, .. } => Some((e.span, name)),
        Ast::Member { base, .. } | Ast::Subscript { base, .. } | Ast::Force(base) | Ast::Chain(base) => {
            implicit_root(base)
        }
        Ast::Call { callee, .. } => implicit_root(callee),
        _ => None,
    }
}

/// Whether an expression is an implicit member `.name` or `.name(…)` without further members.
fn is_single(e: &ast::Expr) -> bool {
    match &e.kind {
        Ast::Implicit { .. } => true,
        Ast::Call { callee, .. } => matches!(callee.kind, Ast::Implicit { .. }),
        _ => false,
    }
}

/// Whether an expression is an operator that has an implicit member as its operand, or is such an operator's result.
fn has_implicit_operand(e: &ast::Expr) -> bool {
    match &e.kind {
        Ast::Binary { lhs, rhs, .. } => {
            [lhs, rhs].into_iter().any(|operand| implicit_root(operand).is_some() || has_implicit_operand(operand))
        }
        Ast::Paren(inner) => has_implicit_operand(inner),
        _ => false,
    }
}
