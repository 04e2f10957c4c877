//! `some P` as the type of a parameter: a generic parameter that has no name of its own.

use crate::syntax::ast::{Generics, Ident, Param, TypeExpr, TypeExprKind};
use crate::syntax::written_type;
use std::rc::Rc;

/// Generic parameters and parameters of a function, with each `some P` as a generic parameter. It is called what was
/// written, which no program can name.
pub(super) fn name_opaque(generics: &Generics, params: &[Param]) -> (Generics, Rc<[Param]>) {
    let (mut generics, mut params) = (generics.clone(), params.to_vec());
    for param in &mut params {
        if let Some(ty) = &mut param.ty {
            name_in(ty, &mut generics);
        }
    }
    (generics, params.into())
}

fn name_in(ty: &mut TypeExpr, generics: &mut Generics) {
    match &mut ty.kind {
        TypeExprKind::Some(bound) => {
            let mut name = format!("some {}", written_type(bound));
            while generics.params.iter().any(|(other, _)| *other.name == *name) {
                name.push('\'');
            }
            let name = Ident { name: name.as_str().into(), span: ty.span };
            generics.params.push((name.clone(), Some((**bound).clone())));
            ty.kind = TypeExprKind::Named(vec![(name, vec![])]);
        }
        TypeExprKind::Array(inner)
        | TypeExprKind::Optional(inner)
        | TypeExprKind::Unwrapped(inner)
        | TypeExprKind::Metatype(inner)
        | TypeExprKind::Attributed(_, inner) => name_in(inner, generics),
        TypeExprKind::Dictionary(key, value) => {
            name_in(key, generics);
            name_in(value, generics);
        }
        TypeExprKind::Tuple(parts) => parts.iter_mut().for_each(|(_, part)| name_in(part, generics)),
        TypeExprKind::Named(path) => {
            path.iter_mut().flat_map(|(_, arguments)| arguments).for_each(|t| name_in(t, generics));
        }
        TypeExprKind::Function { .. }
        | TypeExprKind::Any(_)
        | TypeExprKind::Composition(_)
        | TypeExprKind::Member(..)
        | TypeExprKind::Inferred => {}
    }
}
