//! Type declarations: checks the declaration of a struct, enum or class.

use crate::types::check::conformance;
use crate::types::conform::conformances;
use crate::types::derivative::differentiability;
use crate::types::generics::type_arguments;
use crate::types::model::ty::NominalId;
use crate::types::model::ty::Type;
use crate::types::model::type_context::TypeContext;
use crate::types::nominal::initializers;
use crate::types::nominal::raw_value;
use crate::types::nominal::recursive_types;
use crate::types::nominal::stored_property;
use crate::types::resolved_declarations;
use crate::types::synthesize::custom_tangent::required_of_vector;
use crate::types::synthesize::custom_tangent::vector_of;
use crate::types::synthesize::subclass_tangent;

/// Checks the declaration of a nominal type: the types of its properties, its initializers and its conformances.
pub(crate) fn check_nominal(cx: &mut TypeContext, n: NominalId) {
    if cx.defs.nominal_data(n).is_prelude {
        return;
    }
    crate::cancel::check();
    initializers::check_class(cx, n);
    resolved_declarations::resolved_nominal(cx, n);
    recursive_types::check_size(cx, n);
    raw_value::check_raw_values(cx, n);
    stored_property::enter_case_defaults(cx, n);
    stored_property::enter_initial_values(cx, n);
    type_arguments::check_stored(cx, n);
    differentiability::check_differentiable_properties(cx, n);
    subclass_tangent::check_continued(cx, n);
    check_conformances(cx, n);
}

/// Checks the conformances of a type that were not checked yet.
pub(crate) fn check_conformances(cx: &mut TypeContext, n: NominalId) {
    for i in 0..cx.defs.nominal_data(n).conformances.len() {
        if !subclass_tangent::is_redundant(cx, n, i) {
            conformance::check_conformance(cx, n, i);
        }
    }
    check_required_of_vector(cx, n);
}

/// Checks that a synthesized tangent vector conforms to the protocols that its type requires.
pub(crate) fn check_required_of_vector(cx: &mut TypeContext, n: NominalId) {
    if conformances::declares(cx, n, "Differentiable").is_none() || required_of_vector(cx, n).is_empty() {
        return;
    }
    let own = cx.defs.declared_type(n);
    let Some(Type::Nominal(v, _)) = vector_of(cx, &own).filter(|vector| *vector != own) else { return };
    if !cx.defs.nominal_data(v).is_prelude {
        // It is declared in the program, and checked as all declared types.
        return;
    }
    // A synthesized tangent vector has no source location in the program.
    let (span, before) = (cx.defs.nominal_data(n).span, cx.sink.diagnostics.len());
    for i in 0..cx.defs.nominal_data(v).conformances.len() {
        conformance::check_conformance(cx, v, i);
    }
    for diagnostic in &mut cx.sink.diagnostics[before..] {
        diagnostic.primary.span = span;
    }
}
