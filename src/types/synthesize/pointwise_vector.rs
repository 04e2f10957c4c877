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
use crate::types::nominal::stored_property;
use std::rc::Rc;

/// The protocols of vectors with operations on their components, in the module of tensors.
pub(super) const PROTOCOLS: [&str; 5] =
    ["_PointwiseVector", "VectorProtocol", "PointwiseMultiplicative", "ElementaryFunctions", "KeyPathIterable"];

/// The protocols among these whose requirements are operations on components.
const OPERATIONS: [&str; 3] = ["_PointwiseVector", "PointwiseMultiplicative", "ElementaryFunctions"];

/// Whether a synthesized tangent vector has operations on its components: all tangent vectors of its members have these.
pub(super) fn is_pointwise(
    cx: &mut TypeContext,
    group: GroupId,
    varying: &[TangentProperty],
    required: &[Name],
) -> bool {
    let file = cx.defs.groups[group.0 as usize].file;
    let Some(Named::Protocol(_)) = name_lookup::type_entry(cx, "_PointwiseVector", file) else { return false };
    if required.iter().any(|r| OPERATIONS.contains(&&**r)) {
        return true;
    }
    let differentiable = name_lookup::protocol(cx, "Differentiable");
    varying.iter().all(|TangentProperty { ty, .. }| {
        let vector = Type::Associated(Rc::new(ty.clone()), differentiable, "TangentVector".into());
        let vector = associated_type::normalize_type(cx, &vector);
        conforms(cx, file, &vector, "_PointwiseVector") || has_functions(cx, file, &vector)
    })
}

/// Whether a vector that the program declares has functions for the operations on its components.
fn has_functions(cx: &mut TypeContext, file: u32, vector: &Type) -> bool {
    ["VectorProtocol", "PointwiseMultiplicative", "ElementaryFunctions", "KeyPathIterable"]
        .iter()
        .all(|protocol| conforms(cx, file, vector, protocol))
}

fn conforms(cx: &mut TypeContext, file: u32, ty: &Type, protocol: &str) -> bool {
    match name_lookup::type_entry(cx, protocol, file) {
        Some(Named::Protocol(p)) => conformances::conforms_to(cx, ty, p),
        _ => false,
    }
}

/// Returns the stored properties of a vector whose types have functions for the operations on their components, instead
/// of one method for all operations.
pub(super) fn components_with_functions(cx: &mut TypeContext, n: NominalId) -> Vec<Name> {
    let file = cx.defs.nominal_data(n).file;
    let mut components = vec![];
    for i in 0..cx.defs.nominal_data(n).stored.len() {
        let ty = stored_property::stored_type(cx, n, i as u32);
        if !conforms(cx, file, &ty, "_PointwiseVector") && has_functions(cx, file, &ty) {
            components.push(cx.defs.nominal_data(n).stored[i].name.clone());
        }
    }
    components
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
