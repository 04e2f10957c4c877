//! Nondifferentiable requirements: checks the calls in a generic `@differentiable` function whose callees are not
//! differentiable for all types. Such callees are requirements without `@differentiable`, and functions whose
//! registered derivatives require more than the generic environment states.
//!
//! In: a checked body with generic parameters. Out: an error for each such call whose result depends on a
//! differentiated parameter and reaches the result of the function.
//!
//! Promises: conditions carry no dependence, and neither does `withoutDerivative`. Calls inside closures and inside
//! called functions are not checked, because these need not be differentiable.

use crate::diagnostic::{Code, Diagnostic};
use crate::types::conform::conformances;
use crate::types::derivative::differentiability;
use crate::types::derivative::registered_derivatives;
use crate::types::flow::data_flow::DataFlow;
use crate::types::generics::signature;
use crate::types::model::ty::Type;
use crate::types::model::type_context;
use crate::types::model::type_context::TypeContext;
use crate::types::model::typed_tree::{Argument, Body, Callee, Expr, ExprKind, FunctionId, LocalId};
use crate::types::names::name_lookup;
use crate::types::names::prelude;

/// Reports the nondifferentiable calls on which the result of a generic `@differentiable` function depends.
pub(crate) fn check_called_requirements(cx: &mut TypeContext, f: FunctionId, body: &Body) {
    let Some(differentiability) = differentiability::differentiability(cx, f).filter(|p| !p.default) else { return };
    let signature = signature::signature(cx, f);
    if signature.env.params.is_empty() {
        return;
    }
    let mut flow = DataFlow::of(body);
    flow.varies = (0..).map(LocalId).zip(&differentiability.wrt).filter(|(_, w)| **w).map(|(local, _)| local).collect();
    flow.cut = prelude::library_function(cx, "withoutDerivative");
    while flow.spread() {}
    for (call, varies) in flow.calls_on_path() {
        type_context::with_env(cx, signature.env.clone(), |cx| {
            let differentiable = name_lookup::protocol(cx, "Differentiable");
            if !matches!(call.ty, Type::Function(_)) && conformances::conforms_to(cx, &call.ty, differentiable) {
                report_unmarked(cx, call, &varies);
            }
        });
    }
}

fn report_unmarked(cx: &mut TypeContext, call: &Expr, varies: &[bool]) {
    let ExprKind::Call { callee, args } = &call.kind else { return };
    let error = || Diagnostic::error(Code::NoDerivative, call.span, "expression is not differentiable");
    let (protocol, requirement) = match callee {
        Callee::Requirement { protocol, requirement, .. } => (*protocol, *requirement),
        Callee::Static(f) => {
            let registered = &cx.defs.function_data(f.function).registered;
            if registered.iter().all(|r| cx.defs.function_data(r.function).is_prelude) {
                return;
            }
            if let Some(unmet) =
                registered_derivatives::unmet_here(cx, f, registered_derivatives::file_of(cx, call.span))
            {
                let message =
                    format!("function call is not differentiable because generic requirements are not met: {unmet}");
                cx.sink.report(error().note_at(call.span, message));
            }
            return;
        }
        Callee::Class { .. } | Callee::Opened { .. } => return,
    };
    let data = cx.defs.protocol_data(protocol);
    let (function, is_prelude) = (data.requirements[requirement as usize].function, data.is_prelude);
    if is_prelude || !cx.defs.function_data(function).registered.is_empty() {
        return;
    }
    let declared = differentiability::declared_wrt(cx, function);
    let at = cx.defs.function_data(function).span;
    if declared.is_empty() {
        let message =
            "member is not differentiable because the corresponding protocol requirement is not '@differentiable'";
        let diagnostic = error()
            .note_at(call.span, message)
            .also(at, "the requirement is declared here")
            .help("mark the requirement with '@differentiable'");
        cx.sink.report(diagnostic);
        return;
    }
    let differentiable = name_lookup::protocol(cx, "Differentiable");
    let mut moves = vec![];
    for (arg, varies) in args.iter().zip(varies) {
        let Argument::Value(e) = arg else { return };
        moves.push(
            *varies && !matches!(e.ty, Type::Function(_)) && conformances::conforms_to(cx, &e.ty, differentiable),
        );
    }
    let covers = |wrt: &[bool]| wrt.len() != moves.len() || moves.iter().zip(wrt).all(|(moves, wrt)| wrt | !moves);
    if !declared.iter().any(|(_, wrt)| covers(wrt)) {
        let message = "member is differentiable only with respect to a smaller subset of arguments";
        cx.sink.report(error().note_at(call.span, message).also(at, "the requirement is declared here"));
    }
}
