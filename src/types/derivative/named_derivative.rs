//! Named derivatives: the early syntax of registered derivatives, `@differentiable(vjp: f, jvp: g)`, in which the original
//! names the functions that return its value with a pullback or a differential. The components need no labels.

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::{DifferentiationArgs, FunctionName, Ident};
use crate::types::derivative::derivative_constraints;
use crate::types::derivative::derivative_type;
use crate::types::derivative::derivative_type::changed_parameters;
use crate::types::derivative::differentiability;
use crate::types::derivative::differentiability::parameters;
use crate::types::derivative::original_function;
use crate::types::derivative::registration;
use crate::types::generics::associated_type;
use crate::types::generics::signature;
use crate::types::model::declaration_info::RegisteredKind;
use crate::types::model::display;
use crate::types::model::ty::Type;
use crate::types::model::type_context;
use crate::types::model::type_context::TypeContext;
use crate::types::model::typed_tree::FunctionId;

/// The original, and the attribute that names a derivative.
struct Naming<'a> {
    original: FunctionId,
    args: &'a DifferentiationArgs,
    span: Span,
}

/// Registers the functions that an attribute names with `vjp:` and `jvp:`.
pub(crate) fn register_named(cx: &mut TypeContext, original: FunctionId, args: &DifferentiationArgs, span: Span) {
    let naming = Naming { original, args, span };
    let named = [(&args.vjp, RegisteredKind::Pullback), (&args.jvp, RegisteredKind::Differential)];
    for (name, kind) in named {
        if let Some(name) = name {
            register(cx, &naming, name, kind);
        }
    }
}

fn register(cx: &mut TypeContext, naming: &Naming<'_>, name: &Ident, kind: RegisteredKind) {
    let of = FunctionName { base: None, name: name.clone(), labels: None, accessor: None };
    let candidates = original_function::originals(cx, naming.original, &of);
    if candidates.is_empty() {
        let message = format!("cannot find '{}' in scope", name.name);
        cx.sink.report(Diagnostic::error(Code::UnknownName, name.span, message));
        return;
    }
    let mut nearest = None;
    for candidate in candidates {
        match register_candidate(cx, naming, candidate, kind) {
            Ok(()) => return,
            Err(problem) => nearest = nearest.or(problem),
        }
    }
    let problem = nearest.map_or_else(|| no_derivative(cx, naming.original, name, kind), |nearest| *nearest);
    cx.sink.report(problem);
}

/// Registers a function with the name of a derivative.
///
/// # Errors
/// Returns the diagnostic if only the type of the linear function differs, and nothing for a function of another kind.
fn register_candidate(
    cx: &mut TypeContext,
    naming: &Naming<'_>,
    candidate: FunctionId,
    kind: RegisteredKind,
) -> Result<(), Option<Box<Diagnostic>>> {
    let given = signature::signature(cx, candidate);
    let Type::Tuple(parts) = &given.result else { return Err(None) };
    let [(_, value), (_, linear @ Type::Function(_))] = &**parts else { return Err(None) };
    let (names, _) = parameters(&signature::signature(cx, naming.original));
    type_context::with_env(cx, given.env.clone(), |cx| {
        let original = registration::original(cx, naming.original, candidate, &given).ok_or(None)?;
        let (_, types) = parameters(&given);
        let same = |cx: &mut TypeContext, a: &Type, b: &Type| associated_type::normalize_type(cx, a) == *b;
        let is_alike = types.len() == original.params.len()
            && changed_parameters(&given) == original.changed
            && types.iter().zip(&original.params).all(|(a, b)| same(cx, a, b))
            && same(cx, value, &original.result);
        if !is_alike || derivative_constraints::unmet_of(cx, &original).is_some() {
            return Err(None);
        }
        let wrt = differentiability::wrt_flags(cx, naming.args, &names, &types, original.has_self);
        match derivative_type::misfitting_derivative(cx, candidate, &original, kind, &wrt, linear, naming.span) {
            Some(problem) => Err(Some(Box::new(problem))),
            None => {
                registration::remember(cx, original.registered(candidate, wrt, kind), &original, naming.span);
                Ok(())
            }
        }
    })
}

/// Returns the diagnostic for a name of functions that do not take the parameters of the original and return its value
/// with a linear function.
fn no_derivative(cx: &mut TypeContext, original: FunctionId, name: &Ident, kind: RegisteredKind) -> Diagnostic {
    let signature = signature::signature(cx, original);
    let (_, params) = parameters(&signature);
    let takes = params.iter().map(|t| display::show(cx, t)).collect::<Vec<_>>().join(", ");
    let result = display::show(cx, &signature.result);
    let word = if kind == RegisteredKind::Pullback { "pullback" } else { "differential" };
    let message = format!(
        "no function '{}' takes the parameters of '{}', '({takes})', and returns its value and a {word}, '(value: {result}, {word}: …)'",
        name.name,
        cx.defs.full_name(original)
    );
    Diagnostic::error(Code::Registration, name.span, message)
}
