//! Opaque types: determines the properties of opaque types that do not depend on their underlying types.

use crate::types::model::ty::{Existential, OpaqueId, Type};
use crate::types::model::type_context::TypeContext;
use std::rc::Rc;

pub(crate) fn of_arguments(cx: &TypeContext, id: OpaqueId, args: &[Type], ty: &Type) -> Type {
    let params = &cx.memo.opaques.all[id.0 as usize].params;
    ty.substitute(&|p| params.iter().position(|q| *q == p).and_then(|i| args.get(i).cloned()))
}

/// Returns the constraints of an opaque type as an existential.
pub(crate) fn bounds_of_opaque(cx: &TypeContext, id: OpaqueId, args: &[Type]) -> Rc<Existential> {
    match of_arguments(cx, id, args, &cx.memo.opaques.all[id.0 as usize].bounds) {
        Type::Existential(bounds) => bounds,
        _ => Rc::default(),
    }
}
