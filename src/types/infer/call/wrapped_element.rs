//! Wrapped elements: elements of an array literal that are not literals, where the elements have a type of their own for
//! literals: `[x, 1]` as a tensor.

use crate::diagnostic::{Code, Diagnostic};
use crate::syntax::ast;
use crate::syntax::ast::{ExprKind as Ast, Ident};
use crate::types::conform::conformances;
use crate::types::generics::associated_type;
use crate::types::generics::unification;
use crate::types::infer::Infer;
use crate::types::infer::call::arguments::ArgNode;
use crate::types::infer::call::candidates::Candidate;
use crate::types::infer::expr::literal_conversion::{Kind, literal_kind};
use crate::types::model::syntax_walk::is_literal;
use crate::types::model::ty::Type;
use crate::types::model::typed_tree::Expr;
use crate::types::names::name_lookup;
use std::rc::Rc;

/// The label of the initializers of an element type for elements that are not literals.
const LABEL: &str = "_element";

impl Infer<'_> {
    /// Infers an element of an array literal that is not a literal, if the element type has initializers for such
    /// elements: a scalar or a tensor among the elements of a tensor.
    pub(crate) fn wrapped_element(&mut self, element: &Type, item: &ast::Expr) -> Option<Expr> {
        if matches!(item.kind, Ast::Array(_)) {
            return None;
        }
        let candidates = self.wrapping_initializers(element);
        if candidates.is_empty() {
            return None;
        }
        if is_literal(item) {
            let usual = self.refused_literal(element, item)?;
            return Some(self.refused_element(&usual, &candidates, item));
        }
        let arg = ArgNode { label: Some(LABEL.into()), ..ArgNode::unlabeled(Rc::new(item.clone())) };
        let mut args = vec![arg];
        self.ready_args(&mut args);
        if let Some(ready) = args[0].ready.clone() {
            let ty = unification::resolved(self.cx, &ready.ty);
            if ty == *element {
                return Some((*ready).clone());
            }
            let fits =
                |infer: &mut Self| candidates.iter().any(|c| infer.try_candidate(c, &args, None, item.span).is_some());
            let is_refused = !unification::has_vars(self.cx, &ty)
                && ty != Type::Error
                && !fits(self)
                && !self.with_widening(true, fits);
            if is_refused {
                return Some(self.refused_element(&ty, &candidates, item));
            }
        }
        let name = Ident { name: "init".into(), span: item.span };
        Some(self.call_overloaded(&name, candidates, args, None, item.span))
    }

    /// Whether the elements of an array literal may have the form of array literals, too, and be other expressions:
    /// `Tensor<Float>([[x, 1], [1, x]])` is a literal.
    pub(crate) fn nests_elements(&mut self, ty: &Type, literal: &ast::Expr) -> bool {
        let Ast::Array(items) = &literal.kind else { return false };
        items.iter().any(|item| matches!(item.kind, Ast::Array(_)))
            && associated_type::associated_type(self.cx, ty, "ArrayLiteralElement")
                .is_some_and(|element| !self.wrapping_initializers(&element).is_empty())
    }

    /// Returns the default type of a literal among the elements, if the element type does not accept the literal.
    fn refused_literal(&mut self, element: &Type, item: &ast::Expr) -> Option<Type> {
        let element = unification::shallow(self.cx, element);
        let (is_accepted, usual) = match literal_kind(item)? {
            Kind::Scalar(literal) => (unification::accepts_literal(self.cx, &element, literal), literal.usual()),
            Kind::Bool => {
                let protocol = name_lookup::protocol(self.cx, "ExpressibleByBooleanLiteral");
                (conformances::conforms_to(self.cx, &element, protocol), "Bool")
            }
            Kind::Nil | Kind::Array | Kind::Dictionary => return None,
        };
        (!is_accepted).then(|| name_lookup::simple(self.cx, usual))
    }

    /// Returns the initializers of an element type for elements that are not literals.
    fn wrapping_initializers(&mut self, element: &Type) -> Vec<Candidate> {
        let element = unification::shallow(self.cx, element);
        let Type::Nominal(n, _) = &element else { return vec![] };
        let data = self.cx.defs.nominal_data(*n);
        if !data.is_prelude || data.builtin.is_some() {
            return vec![];
        }
        let mut found = self.method_candidates(&element, "init", true, None);
        found.retain(|candidate| {
            let label = self.candidate_params(candidate).first().and_then(|param| param.label.clone());
            label.as_deref() == Some(LABEL)
        });
        found
    }

    /// Reports an element of a type that the literal does not accept.
    fn refused_element(&mut self, ty: &Type, candidates: &[Candidate], item: &ast::Expr) -> Expr {
        let mut accepted = vec![];
        for candidate in candidates {
            let instance = self.instantiate(candidate, item.span);
            if let Some(param) = instance.params.first() {
                let wanted = unification::resolved(self.cx, &param.ty);
                accepted.push(format!("'{}'", self.show(&wanted)));
            }
        }
        let (shown, first) = (self.show(ty), accepted.first().cloned().unwrap_or_default());
        let message = format!("an element of this literal must be of type {}, not '{shown}'", accepted.join(" or "));
        let mut diagnostic = Diagnostic::error(Code::Mismatch, item.span, message);
        if !shown.contains(['<', '[', '(']) {
            diagnostic = diagnostic.help(format!("convert it: '{}(…)'", first.trim_matches('\'')));
        }
        self.error(diagnostic);
        self.error_expr(item.span)
    }
}
