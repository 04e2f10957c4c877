//! Converted results: calls of initializers whose result has the elements of the argument and is converted to the expected
//! type as a whole: `let all: [Any] = Array(Set([1]))`.

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
        let (Type::Nominal(created, of), Type::Nominal(wanted, parts)) = (ty, unification::shallow(self.cx, expected))
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
        let arg_span = arg.ast.span;
        self.ready_args(args);
        let Some(ready) = args[0].ready.as_ref().map(|ready| ready.ty.clone()) else { return false };
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
