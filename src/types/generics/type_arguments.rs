//! Type arguments: checks whether the arguments of generic types satisfy the requirements of these types.

use crate::diagnostic::{Code as DiagnosticCode, Diagnostic};
use crate::source::Span;
use crate::types::conform::conformances;
use crate::types::generics::generic_env;
use crate::types::generics::signature;
use crate::types::generics::unification;
use crate::types::generics::unmet_requirement;
use crate::types::model::declaration_tables::Requirement;
use crate::types::model::display;
use crate::types::model::queries;
use crate::types::model::ty::{NominalId, Type};
use crate::types::model::type_context;
use crate::types::model::type_context::TypeContext;
use crate::types::model::typed_tree::FunctionId;
use crate::types::names::type_alias;

/// Reports every generic type in a type annotation whose arguments do not satisfy the requirements of the type.
pub(crate) fn check_arguments(cx: &mut TypeContext, ty: &Type, span: Span) {
    type_alias::check_alias_uses(cx);
    if cx.memo.refused_by_alias.contains(ty) {
        return;
    }
    let mut parts: Vec<Type> = vec![];
    ty.any(&mut |t| {
        if matches!(t, Type::Nominal(_, args) if !args.is_empty()) {
            parts.push(t.clone());
        }
        false
    });
    for part in parts {
        if let Type::Nominal(n, args) = &part {
            check_arguments_of(cx, *n, args, span);
        }
    }
}

pub(crate) fn check_arguments_of(cx: &mut TypeContext, n: NominalId, args: &[Type], span: Span) {
    let env = generic_env::nominal_env(cx, n);
    for (index, requirement) in env.requirements.iter().enumerate() {
        let substituted = requirement.map(&mut |t| conformances::substitute_nominal(cx, n, args, t));
        if unmet_requirement::is_met(cx, &substituted) || is_unknown(cx, &substituted) {
            continue;
        }
        let whole = display::show(cx, &Type::Nominal(n, args.into()));
        let message = match &substituted {
            Requirement::Conforms(ty, p) => {
                let protocol = cx.defs.protocol_data(*p).name.clone();
                format!("type '{}' does not conform to protocol '{protocol}'", display::show(cx, ty))
            }
            other => format!("'{whole}' requires {}", unmet_requirement::condition(cx, other)),
        };
        let diagnostic = Diagnostic::error(DiagnosticCode::NotConforming, span, message);
        let is_shown = !cx.defs.nominal_data(n).is_prelude;
        let diagnostic = match &substituted {
            Requirement::Conforms(..) if !is_shown => diagnostic.note(format!("'{whole}' requires it")),
            _ => unmet_requirement::with_clause(cx, diagnostic, &env, index, &substituted, is_shown),
        };
        let diagnostic = unmet_requirement::with_way_out(cx, diagnostic, &substituted);
        cx.sink.report(diagnostic);
        cx.memo.refused.push(Type::Nominal(n, args.into()));
        return;
    }
}

/// Whether the type that must satisfy a requirement contains type variables.
fn is_unknown(cx: &mut TypeContext, substituted: &Requirement) -> bool {
    matches!(substituted, Requirement::Conforms(ty, _) if unification::has_vars(cx, ty))
}

/// Checks the type arguments of the types in a function's signature.
pub(crate) fn check_signature(cx: &mut TypeContext, f: FunctionId) {
    let signature = signature::signature(cx, f);
    type_context::with_env(cx, signature.env.clone(), |cx| {
        for param in &signature.params {
            check_arguments(cx, &param.ty, param.span);
        }
        let span = cx.defs.function_data(f).ast_result.as_ref().map_or(cx.defs.function_data(f).span, |t| t.span);
        check_arguments(cx, &signature.result, span);
    });
}

/// Checks the type arguments of the types of stored properties.
pub(crate) fn check_stored(cx: &mut TypeContext, n: NominalId) {
    let env = generic_env::nominal_env(cx, n);
    type_context::with_env(cx, env, |cx| {
        for i in 0..cx.defs.nominal_data(n).stored.len() as u32 {
            let ty = queries::stored_type(cx, n, i);
            let span = cx.defs.nominal_data(n).stored[i as usize].span;
            check_arguments(cx, &ty, span);
        }
    });
}
