//! The older spelling of a derivative: `@differentiable(reverse, primal: p, adjoint: a)`.
//!
//! The adjoint takes the original's arguments, its result and the seed. Where a primal is named, that is called instead of
//! the original: it gives checkpoints and the result, and the adjoint takes the checkpoints, too.

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::{DifferentiationArgs, FunctionName, Ident};
use crate::types::derivative::derivative_type::{changed_parameters, together, unlabelled};
use crate::types::derivative::differentiability::parameters;
use crate::types::derivative::registration::Original;
use crate::types::model::declared::RegisteredKind;
use crate::types::model::tables::{Registered, Signature, World};
use crate::types::model::tree::FunctionId;
use crate::types::model::ty::Type;

/// A function that was looked for, with the types that it has in terms of the original's generic parameters.
struct Candidate {
    function: FunctionId,
    params: Vec<Type>,
    result: Type,
}

impl World {
    pub(crate) fn register_adjoint(&mut self, f: FunctionId, args: &DifferentiationArgs, span: Span) {
        let Some(adjoint) = &args.adjoint else { return };
        let Some(promise) = self.promise(f) else { return };
        let signature = self.signature(f);
        let (_, params) = parameters(&signature);
        let saved = std::mem::replace(&mut self.env, signature.env.clone());
        let primal = args.primal.as_ref().map(|name| (name, self.primal(f, name, &signature, &params)));
        let moved: Vec<Type> =
            params.iter().zip(&promise.wrt).filter(|(_, w)| **w).map(|(t, _)| self.vector_type(t)).collect();
        let seed = self.vector_type(&signature.result);
        let checkpoints = primal.as_ref().and_then(|(_, found)| found.as_ref()).map(|(_, checkpoints)| checkpoints);
        let wanted: Vec<Type> =
            params.iter().chain(checkpoints).chain([&signature.result, &seed]).map(unlabelled).collect();
        let given = unlabelled(&together(&moved));
        let candidates = self.candidates(f, adjoint, &signature);
        let found = candidates.into_iter().find(|c| c.params == wanted && unlabelled(&c.result) == given);
        self.env = saved;
        let primal = match primal {
            Some((name, None)) => {
                let takes = self.listed(&params);
                let result = self.show(&signature.result);
                let message = format!(
                    "no function '{}' has the type of a primal, '({takes}) -> (checkpoints, {result})'",
                    name.name
                );
                self.report(Diagnostic::error(Code::Registration, name.span, message));
                return;
            }
            Some((_, Some((primal, _)))) => Some(primal),
            None => None,
        };
        let Some(found) = found else {
            let expected = format!("({}) -> {}", self.listed(&wanted), self.show(&given));
            let message = format!("no function '{}' has the type of an adjoint, '{expected}'", adjoint.name);
            self.report(Diagnostic::error(Code::Registration, adjoint.span, message));
            return;
        };
        let arguments = self.signature(found.function).env.params.iter().map(|p| Type::Param(*p)).collect();
        let (result, has_self) = (signature.result.clone(), signature.self_type.is_some());
        let changed = changed_parameters(&signature);
        let original = Original { function: f, arguments, params, changed, result, has_self };
        let new = original.registered(found.function, promise.wrt.clone(), RegisteredKind::Adjoint);
        self.remember(Registered { primal, ..new }, &original, span);
    }

    /// The primal of that name, with the type of the checkpoints that it gives.
    fn primal(
        &mut self,
        f: FunctionId,
        name: &Ident,
        signature: &Signature,
        params: &[Type],
    ) -> Option<(FunctionId, Type)> {
        let takes: Vec<Type> = params.iter().map(unlabelled).collect();
        self.candidates(f, name, signature).into_iter().find_map(|candidate| match &candidate.result {
            Type::Tuple(parts) if candidate.params == takes && parts.len() == 2 && parts[1].1 == signature.result => {
                Some((candidate.function, parts[0].1.clone()))
            }
            _ => None,
        })
    }

    /// The functions of that name with as many generic parameters as the original.
    fn candidates(&mut self, f: FunctionId, name: &Ident, signature: &Signature) -> Vec<Candidate> {
        let of = FunctionName { base: None, name: name.clone(), labels: None, accessor: None };
        let to = &signature.env.params;
        let mut found = vec![];
        for function in self.originals(f, &of) {
            let given = self.signature(function);
            let from = &given.env.params;
            if from.len() != to.len() {
                continue;
            }
            let put = |world: &mut World, t: &Type| {
                let t = t.substitute(&|p| from.iter().position(|q| *q == p).map(|i| Type::Param(to[i])));
                world.normalize_type(&t)
            };
            let params = parameters(&given).1.iter().map(|t| unlabelled(&put(self, t))).collect();
            let result = put(self, &given.result);
            found.push(Candidate { function, params, result });
        }
        found
    }

    fn listed(&self, types: &[Type]) -> String {
        types.iter().map(|t| self.show(t)).collect::<Vec<_>>().join(", ")
    }
}
