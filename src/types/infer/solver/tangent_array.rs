//! Tangent arrays: the implicit conversion of the tangent vector of an array to an array.

use crate::syntax::ast;
use crate::syntax::ast::Ident;
use crate::types::generics::associated_type;
use crate::types::generics::unification;
use crate::types::infer::Infer;
use crate::types::model::declaration_info::Builtin;
use crate::types::model::syntax_query;
use crate::types::model::ty::Type;
use crate::types::model::typed_tree::Expr;
use crate::types::names::name_lookup;
use std::rc::Rc;

impl Infer<'_> {
    /// Whether a type is the tangent vector of an array, and whether its elements can be converted to the elements of
    /// the other type, an array.
    pub(crate) fn is_tangent_of_array(&mut self, from: &Type, to: &Type) -> bool {
        let Some(wanted) = self.array_element(to) else { return false };
        self.tangent_element(from).is_some_and(|given| self.can_convert(&given, &wanted))
    }

    /// Whether a type is a `T.TangentVector` that may turn out to be the tangent vector of an array, where an array is
    /// expected.
    pub(crate) fn may_be_tangent_of_array(&mut self, from: &Type, to: &Type) -> bool {
        matches!(from, Type::Associated(_, _, name) if &**name == "TangentVector") && self.array_element(to).is_some()
    }

    /// Converts the tangent vector of an array to an array: `v.elements`, or `v.elements.map { e in e }` with a
    /// conversion of each element.
    pub(crate) fn tangent_as_array(&mut self, value: Expr, to: &Type) -> Expr {
        let given = self.tangent_element(&value.ty.clone());
        let (Some(given), Some(wanted)) = (given, self.array_element(to)) else { return value };
        let snapshot = self.cx.vars.snapshot();
        let is_same = unification::unify(self.cx, &given, &wanted, value.span);
        if is_same {
            self.cx.vars.keep(snapshot);
        } else {
            self.cx.vars.rollback(snapshot);
        }
        let span = value.span;
        let expr = |kind| ast::Expr { kind, span };
        let ident = |name: &str| Ident { name: name.into(), span };
        let variable = |name: &str| expr(ast::ExprKind::Ident { name: name.into(), generics: vec![] });
        let member =
            |base, name| expr(ast::ExprKind::Member { base: Rc::new(base), name: ident(name), generics: vec![] });
        let vector = format!("$vector{}", self.frame().locals.len());
        let mut elements = member(variable(&vector), "elements");
        if !is_same {
            let convert = syntax_query::closure_of(&["$element".into()], variable("$element"), span);
            let arg = ast::Arg { label: None, value: Rc::new(convert), trailing: false };
            elements = expr(ast::ExprKind::Call { callee: Rc::new(member(elements, "map")), args: vec![arg] });
        }
        self.with_temporary(value, |infer, local| {
            infer.in_scope(|infer| {
                infer.bind(&vector.as_str().into(), local);
                let converted = infer.expr(&elements, Some(to));
                infer.coerce(converted, to)
            })
        })
    }

    /// Returns `T` for the type `[T]`.
    fn array_element(&mut self, ty: &Type) -> Option<Type> {
        let Type::Nominal(n, args) = unification::shallow(self.cx, ty) else { return None };
        let is_array = self.cx.defs.nominal_data(n).builtin == Some(Builtin::Array);
        args.first().filter(|_| is_array).cloned()
    }

    /// Returns `T.TangentVector` for the type `[T].TangentVector`.
    fn tangent_element(&mut self, ty: &Type) -> Option<Type> {
        let ty = unification::shallow(self.cx, ty);
        let Type::Nominal(n, args) = &ty else { return None };
        let data = self.cx.defs.nominal_data(*n);
        if !data.is_prelude || &*data.name != "TangentVector" {
            return None;
        }
        let element = args.first()?.clone();
        let array = name_lookup::applied(self.cx, "Array", std::slice::from_ref(&element));
        let tangent = associated_type::associated_type(self.cx, &array, "TangentVector")?;
        if unification::resolved(self.cx, &tangent) != unification::resolved(self.cx, &ty) {
            return None;
        }
        associated_type::associated_type(self.cx, &element, "TangentVector")
    }
}
