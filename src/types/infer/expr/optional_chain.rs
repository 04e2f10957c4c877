//! Optional chains: infers `a?.b`.

use crate::diagnostic::{Code, Diagnostic};
use crate::syntax::ast;
use crate::syntax::ast::ExprKind as Ast;
use crate::types::generics::unification;
use crate::types::infer::Infer;
use crate::types::model::ty::Type;
use crate::types::model::typed_tree::{Expr, ExprKind};
use crate::types::names::name_lookup;
use std::rc::Rc;

impl Infer<'_> {
    /// Infers `a?.b`: the rest of the expression after the innermost `?` is evaluated with the unwrapped value.
    pub(crate) fn optional_chain(&mut self, e: &ast::Expr) -> Option<Expr> {
        let chained = chained(e, true)?;
        // An expression such as `Int?.none` begins with a type, and is no optional chain.
        if self.type_expression(chained).is_some() {
            return None;
        }
        let mut rewritten = e.clone();
        let name = format!("$chain{}", self.frame().locals.len());
        let base = take_chain(&mut rewritten, &name, true)?;
        let value = self.expr(&base, None);
        let ty = value.ty.clone();
        let payload = match name_lookup::optional_payload(self.cx, &ty) {
            Some(payload) => payload,
            None if matches!(unification::shallow(self.cx, &ty), Type::Var(_)) => {
                let payload = self.cx.vars.fresh();
                let optional = name_lookup::applied(self.cx, "Optional", std::slice::from_ref(&payload));
                unification::unify(self.cx, &ty, &optional, e.span);
                payload
            }
            None => {
                if ty != Type::Error {
                    let message =
                        format!("cannot use optional chaining on non-optional value of type '{}'", self.show(&ty));
                    self.error(Diagnostic::error(Code::Mismatch, base.span, message).help("remove '?'"));
                }
                return Some(self.error_expr(e.span));
            }
        };
        let is_instance = self.is_instance(&payload);
        let local = self.new_local("", payload, true, base.span);
        let start = (self.pending.len(), self.cx.vars.var_count());
        let body = self.in_scope(|infer| {
            infer.bind(&name.as_str().into(), local);
            infer.expr(&rewritten, None)
        });
        // The body must be resolved here, because it must be known whether it mutates the unwrapped value.
        let mut body = self.decided(body);
        if matches!(body.kind, ExprKind::Pending(_)) {
            self.resolve_statement(start);
            body = self.decided(body);
        }
        let flatten = name_lookup::is_optional(self.cx, &body.ty.clone());
        let result = if flatten {
            body.ty.clone()
        } else {
            name_lookup::applied(self.cx, "Optional", std::slice::from_ref(&body.ty))
        };
        let (local_, body) = (local, Box::new(body));
        let kind = if self.mutated.contains(&(self.current, local)) && !is_instance {
            let place = self.place_of(value, "cannot use mutating member on immutable value");
            ExprKind::ChainPlace { place, local: local_, body, flatten }
        } else {
            ExprKind::Chain { base: Box::new(value), local: local_, body, flatten }
        };
        Some(Expr { kind, ty: result, span: e.span })
    }
}

/// Returns the operand of the innermost `?` in a chain of members, calls and subscripts.
pub(crate) fn chained(e: &ast::Expr, is_top: bool) -> Option<&ast::Expr> {
    match &e.kind {
        Ast::Chain(inner) if !is_top => Some(chained(inner, false).unwrap_or(inner)),
        Ast::Member { base, .. } | Ast::Subscript { base, .. } | Ast::Force(base) => chained(base, false),
        Ast::Call { callee, .. } => chained(callee, false),
        _ => None,
    }
}

/// Replaces the innermost `x?` in a chain of members, calls and subscripts by a name; returns `x`.
pub(crate) fn take_chain(e: &mut ast::Expr, name: &str, is_top: bool) -> Option<Rc<ast::Expr>> {
    match &mut e.kind {
        Ast::Chain(inner) if !is_top => {
            if let Some(found) = take_chain(Rc::make_mut(inner), name, false) {
                return Some(found);
            }
            let base = inner.clone();
            e.kind = Ast::Ident { name: name.into(), generics: vec![] };
            Some(base)
        }
        Ast::Member { base, .. } | Ast::Subscript { base, .. } | Ast::Force(base) => {
            take_chain(Rc::make_mut(base), name, false)
        }
        Ast::Call { callee, .. } => take_chain(Rc::make_mut(callee), name, false),
        _ => None,
    }
}
