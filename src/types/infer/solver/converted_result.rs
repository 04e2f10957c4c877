//! Converted results: calls of initializers whose result has the elements of the argument and is converted to the expected
//! type as a whole: `let all: [Any] = Array(Set([1]))`.

use crate::syntax::ast::ExprKind as Ast;
use crate::types::generics::{associated_type, unification};
use crate::types::infer::Infer;
use crate::types::infer::call::arguments::ArgNode;
use crate::types::model::ty::Type;
use crate::types::names::name_lookup;

impl Infer<'_> {
    /// Whether an array or set that is created from the elements of a sequence has other elements than the expected type, to
    /// which they are converted. Infers the sequence, and thereby the elements of the array or set.
    pub(crate) fn is_converted(&mut self, ty: &Type, args: &mut [ArgNode], expected: &Type) -> bool {
        let [arg] = args else { return false };
        let expected = name_lookup::optional_payload(self.cx, expected).unwrap_or_else(|| expected.clone());
        let (Type::Nominal(created, of), Type::Nominal(wanted, parts)) = (ty, unification::shallow(self.cx, &expected))
        else {
            return false;
        };
        let ([element], [part], None) = (&of[..], &parts[..], &arg.label) else { return false };
        let (element, part) = (unification::shallow(self.cx, element), unification::shallow(self.cx, part));
        let is_wide = matches!(part, Type::Existential(_)) || name_lookup::is_optional(self.cx, &part);
        let is_copy = ["Array", "Set"].iter().any(|name| *created == name_lookup::library_nominal(self.cx, name));
        if *created != wanted || !is_copy || !is_wide || !matches!(element, Type::Var(_)) {
            return false;
        }
        let (arg_span, is_dictionary) = (arg.ast.span, matches!(arg.ast.kind, Ast::Dictionary(_)));
        self.ready_args(args);
        if is_dictionary {
            self.ready_collections(args);
        }
        let Some(ready) = args[0].ready.as_ref().map(|ready| ready.ty.clone()) else { return false };
        self.default_texts(std::slice::from_ref(&ready), arg_span);
        let ready = unification::resolved(self.cx, &ready);
        let given = associated_type::associated_type(self.cx, &ready, "Element");
        given.is_some_and(|given| {
            let given = std::slice::from_ref(&given);
            let _ = self.default_integers(given, arg_span)
                || self.default_fractions(given, arg_span)
                || self.default_texts(given, arg_span);
            let given = unification::resolved(self.cx, &given[0]);
            ![Type::Error, part].contains(&given) && unification::unify(self.cx, &element, &given, arg_span)
        })
    }
}
