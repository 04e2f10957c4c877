//! Default literals: gives the literals among the arguments of a call their default types, to find the overloads that take
//! them.

use crate::source::Span;
use crate::types::generics::unification;
use crate::types::infer::Infer;
use crate::types::model::ty::Type;
use crate::types::model::type_vars::Literal;
use crate::types::names::name_lookup;

impl Infer<'_> {
    /// Unifies the type variables of integer literals among the types with the default type; returns whether there are
    /// any.
    pub(crate) fn default_integers(&mut self, types: &[Type], span: Span) -> bool {
        let is_open_parameter = |infer: &mut Self, ty: &Type| match unification::shallow(infer.cx, ty) {
            Type::Var(v) => infer.cx.vars.var(v).is_parameter,
            _ => false,
        };
        let beside_parameter = types.iter().any(|ty| is_open_parameter(self, ty));
        let usual = if self.in_formula || beside_parameter { "Double" } else { "Int" };
        self.default_to(usual, types, |literal| literal == Literal::Int, span)
    }

    /// Unifies the type variables of floating-point literals among the types with `Double`; returns whether there are any.
    pub(crate) fn default_fractions(&mut self, types: &[Type], span: Span) -> bool {
        self.default_to("Double", types, |literal| literal == Literal::Float, span)
    }

    /// Unifies the type variables of string literals among the types with `String`; returns whether there are any.
    pub(crate) fn default_texts(&mut self, types: &[Type], span: Span) -> bool {
        self.default_to("String", types, Literal::is_text, span)
    }

    /// Unifies the type variables of literals of a kind with a type of the library; returns whether there are any.
    fn default_to(&mut self, usual: &'static str, types: &[Type], is_meant: fn(Literal) -> bool, span: Span) -> bool {
        let usual = name_lookup::simple(self.cx, usual);
        let mut any = false;
        for ty in types {
            if let Type::Var(v) = unification::shallow(self.cx, ty)
                && self.cx.vars.var(v).literal.is_some_and(is_meant)
            {
                any |= unification::unify(self.cx, ty, &usual, span);
            }
        }
        any
    }
}
