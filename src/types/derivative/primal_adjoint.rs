//! Primal and adjoint: the older syntax of a registered derivative, `@differentiable(reverse, primal: p, adjoint: a)`.
//!
//! The adjoint takes the original's arguments, its result and the seed. If a primal is named, the primal is called
//! instead of the original and returns intermediate values with the result; the adjoint then takes these values as
//! well.

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::{DifferentiationArgs, FunctionName, Ident};
use crate::types::derivative::derivative_type;
use crate::types::derivative::derivative_type::{changed_parameters, together, unlabeled};
use crate::types::derivative::differentiability;
use crate::types::derivative::differentiability::parameters;
use crate::types::derivative::original_function;
use crate::types::derivative::registration;
use crate::types::derivative::registration::Original;
use crate::types::generics::associated_type;
use crate::types::generics::signature;
use crate::types::model::declaration_info::RegisteredKind;
use crate::types::model::declaration_tables::{Registered, Signature};
use crate::types::model::display;
use crate::types::model::ty::Type;
use crate::types::model::type_context;
use crate::types::model::type_context::TypeContext;
use crate::types::model::typed_tree::FunctionId;

/// A candidate for the primal or the adjoint, whose types are expressed in terms of the original's generic parameters.
struct Candidate {
    function: FunctionId,
    params: Vec<Type>,
    result: Type,
}

pub(crate) fn register_adjoint(cx: &mut TypeContext, f: FunctionId, args: &DifferentiationArgs, span: Span) {
    let Some(adjoint) = &args.adjoint else { return };
    let Some(differentiability) = differentiability::differentiability(cx, f) else { return };
    let signature = signature::signature(cx, f);
    let (_, params) = parameters(&signature);
    let (primal, wanted, given, found) = type_context::with_env(cx, signature.env.clone(), |cx| {
        let primal = args.primal.as_ref().map(|name| (name, self::primal(cx, f, name, &signature, &params)));
        let vectors: Vec<Type> = params
            .iter()
            .zip(&differentiability.wrt)
            .filter(|(_, w)| **w)
            .map(|(t, _)| derivative_type::vector_type(cx, t))
            .collect();
        let seed = derivative_type::vector_type(cx, &signature.result);
        let checkpoints = primal.as_ref().and_then(|(_, found)| found.as_ref()).map(|(_, checkpoints)| checkpoints);
        let wanted: Vec<Type> =
            params.iter().chain(checkpoints).chain([&signature.result, &seed]).map(unlabeled).collect();
        let given = unlabeled(&together(&vectors));
        let candidates = self::candidates(cx, f, adjoint, &signature);
        let found = candidates.into_iter().find(|c| c.params == wanted && unlabeled(&c.result) == given);
        (primal, wanted, given, found)
    });
    let primal = match primal {
        Some((name, None)) => {
            let takes = listed(cx, &params);
            let result = display::show(cx, &signature.result);
            let message =
                format!("no function '{}' has the type of a primal, '({takes}) -> (checkpoints, {result})'", name.name);
            cx.sink.report(Diagnostic::error(Code::Registration, name.span, message));
            return;
        }
        Some((_, Some((primal, _)))) => Some(primal),
        None => None,
    };
    let Some(found) = found else {
        let expected = format!("({}) -> {}", listed(cx, &wanted), display::show(cx, &given));
        let message = format!("no function '{}' has the type of an adjoint, '{expected}'", adjoint.name);
        cx.sink.report(Diagnostic::error(Code::Registration, adjoint.span, message));
        return;
    };
    let arguments = signature::signature(cx, found.function).env.params.iter().map(|p| Type::Param(*p)).collect();
    let (result, has_self) = (signature.result.clone(), signature.self_type.is_some());
    let changed = changed_parameters(&signature);
    let original = Original { function: f, arguments, params, changed, result, has_self };
    let new = original.registered(found.function, differentiability.wrt.clone(), RegisteredKind::Adjoint);
    registration::remember(cx, Registered { primal, ..new }, &original, span);
}

/// Returns the primal with a given name, and the type of the intermediate values that the primal returns.
fn primal(
    cx: &mut TypeContext,
    f: FunctionId,
    name: &Ident,
    signature: &Signature,
    params: &[Type],
) -> Option<(FunctionId, Type)> {
    let takes: Vec<Type> = params.iter().map(unlabeled).collect();
    candidates(cx, f, name, signature).into_iter().find_map(|candidate| match &candidate.result {
        Type::Tuple(parts) if candidate.params == takes && parts.len() == 2 && parts[1].1 == signature.result => {
            Some((candidate.function, parts[0].1.clone()))
        }
        _ => None,
    })
}

/// Returns the functions with a given name that have as many generic parameters as the original.
fn candidates(cx: &mut TypeContext, f: FunctionId, name: &Ident, signature: &Signature) -> Vec<Candidate> {
    let of = FunctionName { base: None, name: name.clone(), labels: None, accessor: None };
    let to = &signature.env.params;
    let mut found = vec![];
    for function in original_function::originals(cx, f, &of) {
        let given = signature::signature(cx, function);
        let from = &given.env.params;
        if from.len() != to.len() {
            continue;
        }
        let put = |cx: &mut TypeContext, t: &Type| {
            let t = t.substitute(&|p| from.iter().position(|q| *q == p).map(|i| Type::Param(to[i])));
            associated_type::normalize_type(cx, &t)
        };
        let params = parameters(&given).1.iter().map(|t| unlabeled(&put(cx, t))).collect();
        let result = put(cx, &given.result);
        found.push(Candidate { function, params, result });
    }
    found
}

fn listed(cx: &TypeContext, types: &[Type]) -> String {
    types.iter().map(|t| display::show(cx, t)).collect::<Vec<_>>().join(", ")
}
