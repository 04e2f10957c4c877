//! Opaque requirements: the requirements on an opaque type (`some P`) as an existential. The underlying types are in
//! `generics/opaque_type.rs`.

use crate::types::model::ty::{Existential, OpaqueId, Type};
use crate::types::model::type_context::TypeContext;
use std::rc::Rc;

/// Substitutes the arguments of an opaque type for its generic parameters in a type.
pub(crate) fn with_arguments(cx: &TypeContext, id: OpaqueId, args: &[Type], ty: &Type) -> Type {
    let params = &cx.memo.opaques.all[id.0 as usize].params;
    ty.substitute(&|p| params.iter().position(|q| *q == p).and_then(|i| args.get(i).cloned()))
}

/// Returns the requirements on an opaque type as an existential.
pub(crate) fn requirements_of_opaque(cx: &TypeContext, id: OpaqueId, args: &[Type]) -> Rc<Existential> {
    match with_arguments(cx, id, args, &cx.memo.opaques.all[id.0 as usize].bounds) {
        Type::Existential(bounds) => bounds,
        _ => Rc::default(),
    }
}
