//! Pointwise vectors: decides whether a synthesized tangent vector has operations on its components.

use super::{TangentProperty, requiring_conformance, tangent_properties};
use crate::syntax::ast::Name;
use crate::types::conform::conformances;
use crate::types::generics::associated_type;
use crate::types::model::declaration_tables::{GroupId, Named, VECTOR};
use crate::types::model::display;
use crate::types::model::ty::{NominalId, Type};
use crate::types::model::type_context::TypeContext;
use crate::types::names::name_lookup;
use std::rc::Rc;

/// The protocols of vectors with operations on their components, in the module of tensors.
pub(super) const PROTOCOLS: [&str; 5] =
    ["_PointwiseVector", "VectorProtocol", "PointwiseMultiplicative", "ElementaryFunctions", "KeyPathIterable"];

/// Whether a synthesized tangent vector has operations on its components: all tangent vectors of its members have these.
pub(super) fn is_pointwise(
    cx: &mut TypeContext,
    group: GroupId,
    varying: &[TangentProperty],
    required: &[Name],
) -> bool {
    let file = cx.defs.groups[group.0 as usize].file;
    let Some(Named::Protocol(p)) = name_lookup::type_entry(cx, "_PointwiseVector", file) else { return false };
    if required.iter().any(|r| &**r == "_PointwiseVector") {
        return true;
    }
    let differentiable = name_lookup::protocol(cx, "Differentiable");
    varying.iter().all(|TangentProperty { ty, .. }| {
        let vector = Type::Associated(Rc::new(ty.clone()), differentiable, "TangentVector".into());
        let vector = associated_type::normalize_type(cx, &vector);
        conformances::conforms_to(cx, &vector, p)
    })
}

/// Returns the text of the property whose value is a tangent vector with the numbers of a value, for a type whose tangent
/// vector is synthesized.
pub(super) fn vector_view(cx: &mut TypeContext, n: NominalId) -> Option<String> {
    let own = cx.defs.declared_type(n);
    let differentiable = name_lookup::protocol(cx, "Differentiable");
    let vector = Type::Associated(Rc::new(own.clone()), differentiable, "TangentVector".into());
    if associated_type::normalize_type(cx, &vector) == own
        || !cx.defs.nominal_data(n).memo.synthesized.contains(&VECTOR)
    {
        return None;
    }
    let conformance = requiring_conformance(cx, n, "differentiableVectorView")?;
    let (group, _) = conformances::declaration_site(cx, n, conformance);
    let file = cx.defs.groups[group.0 as usize].file;
    let Some(Named::Protocol(p)) = name_lookup::type_entry(cx, "EuclideanDifferentiable", file) else { return None };
    let mut parts = vec![];
    for TangentProperty { name, ty, .. } in tangent_properties(cx, n, false) {
        if !conformances::conforms_to(cx, &ty, p) {
            let ty = display::show(cx, &ty);
            let text = format!("'{name}' of type '{ty}' cannot be seen as a vector");
            return Some(format!("var differentiableVectorView: TangentVector {{ _fail(\"{text}\") }}"));
        }
        parts.push(format!("{name}: self.{name}.differentiableVectorView"));
    }
    Some(format!("var differentiableVectorView: TangentVector {{ TangentVector({}) }}", parts.join(", ")))
}
