//! Too many arguments: calls of a differential operator with more arguments than any of its overloads accepts.

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::Ident;
use crate::types::generics::unification;
use crate::types::infer::Infer;
use crate::types::infer::call::arguments::ArgNode;
use crate::types::infer::call::candidates::Candidate;
use crate::types::model::ty::Type;

impl Infer<'_> {
    /// Returns the diagnostic for a call of a differential operator of the library with more arguments, or with a
    /// function of more arguments, than its overloads accept.
    pub(crate) fn too_many_arguments(
        &mut self,
        name: &Ident,
        candidates: &[Candidate],
        args: &[ArgNode],
        span: Span,
    ) -> Option<Diagnostic> {
        let most = candidates.iter().filter_map(|candidate| self.arity_of_operator(candidate)).max()?;
        let body = args.iter().filter(|a| matches!(a.label.as_deref(), Some("in" | "of")) || a.trailing);
        let types: Vec<Type> = body.filter_map(|a| Some(a.ready.as_ref()?.ty.clone())).collect();
        let of_body = types.iter().find_map(|ty| self.parameter_count(ty)).unwrap_or(0);
        let points = args.iter().skip_while(|a| a.label.as_deref() != Some("at"));
        let given = points.take_while(|a| matches!(a.label.as_deref(), None | Some("at")) && !a.trailing).count();
        let given = given.max(of_body);
        if given <= most {
            return None;
        }
        let message =
            format!("'{}' accepts functions of at most {most} arguments, but this one takes {given}", name.name);
        let help = "collect arguments in an array or in a struct, whose derivatives are an array and a struct as well: \
                    'f(v: [Double]) = …'";
        Some(Diagnostic::error(Code::NoOverload, span, message).help(help))
    }

    /// Returns the number of arguments of the function that a differential operator of the library takes.
    fn arity_of_operator(&mut self, candidate: &Candidate) -> Option<usize> {
        if self.is_of_script(candidate) {
            return None;
        }
        let params = self.candidate_params(candidate);
        let body = params.iter().find(|p| matches!(p.label.as_deref(), Some("in" | "of")))?;
        self.parameter_count(&body.ty)
    }

    fn parameter_count(&mut self, ty: &Type) -> Option<usize> {
        match unification::shallow(self.cx, ty) {
            Type::Function(f) => Some(f.params.len()),
            _ => None,
        }
    }
}
