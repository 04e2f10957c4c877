//! Wrapped values: finds the value of a wrapped property among the stored properties of its wrapper.

use crate::syntax::ast::Expr;
use crate::syntax::ast::ExprKind;
use crate::syntax::ast::Name;
use crate::syntax::ast::SequencePart;
use crate::syntax::ast::StmtKind;
use crate::types::conform::conformances;
use crate::types::conform::superclass;
use crate::types::generics::signature;
use crate::types::model::declaration_tables::Code;
use crate::types::model::declaration_tables::MemberKind;
use crate::types::model::ty::NominalId;
use crate::types::model::ty::Type;
use crate::types::model::type_context::TypeContext;
use crate::types::model::typed_tree::FunctionId;
use crate::types::names::prelude;
use crate::types::nominal::stored_property;

/// The value of a wrapped property inside its wrapper.
pub(crate) struct WrappedValue {
    /// The index of the stored property with the value, in each wrapper, from the outermost wrapper inward.
    pub(crate) places: Vec<u32>,
    pub(crate) ty: Type,
}

/// Returns the path of the value of a wrapped property through its wrappers; `None` for a property that is not wrapped
/// or cannot be set, and for a wrapper that computes the value.
pub(crate) fn wrapped_value(cx: &mut TypeContext, n: NominalId, stored: u32) -> Option<WrappedValue> {
    let depth = cx.defs.nominal_data(n).stored[stored as usize].wrapped.as_ref()?.depth;
    let mut value = WrappedValue { places: vec![], ty: stored_property::stored_type(cx, n, stored) };
    for _ in 0..depth {
        let (place, ty) = value_in_wrapper(cx, &value.ty)?;
        value.places.push(place);
        value.ty = ty;
    }
    Some(value)
}

pub(crate) fn value_in_wrapper(cx: &mut TypeContext, ty: &Type) -> Option<(u32, Type)> {
    const VALUE: &str = "wrappedValue";
    let Type::Nominal(wrapper, args) = ty else { return None };
    let wrapper = *wrapper;
    if superclass::superclass(cx, wrapper).is_some() {
        return None;
    }
    prelude::load_own_members(cx, wrapper, VALUE);
    let members = cx.defs.nominal_data(wrapper).members.get(VALUE).cloned().unwrap_or_default();
    let place = members.iter().find_map(|member| match member.kind {
        MemberKind::Stored(place) => (!cx.defs.nominal_data(wrapper).stored[place as usize].is_let).then_some(place),
        MemberKind::Computed(get, Some(_)) => returned_property(cx, wrapper, get),
        _ => None,
    })?;
    let ty = stored_property::stored_type(cx, wrapper, place);
    Some((place, conformances::substitute_nominal(cx, wrapper, args, &ty)))
}

/// Returns the stored variable that a getter returns unchanged.
pub(crate) fn returned_property(cx: &mut TypeContext, wrapper: NominalId, get: FunctionId) -> Option<u32> {
    let named = match &cx.defs.function_data(get).code {
        Code::Expression(e) => property_named(e),
        Code::Block(Some(block)) => match block.items.as_slice() {
            [only] => match &only.kind {
                StmtKind::Expr(e) | StmtKind::Return(Some(e)) => property_named(e),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    }?;
    let stored = &cx.defs.nominal_data(wrapper).stored;
    let place = stored.iter().position(|s| s.name == named && !s.is_let)? as u32;
    (stored_property::stored_type(cx, wrapper, place) == signature::signature(cx, get).result).then_some(place)
}

/// Returns the property of `self` that an expression reads.
pub(crate) fn property_named(e: &Expr) -> Option<Name> {
    match &e.kind {
        ExprKind::Ident { name, .. } => Some(name.clone()),
        ExprKind::Member { base, name, .. } => match &base.kind {
            ExprKind::Ident { name: own, .. } if &**own == "self" => Some(name.name.clone()),
            _ => None,
        },
        ExprKind::Sequence(parts) => match parts.as_slice() {
            [SequencePart::Operand(only)] => property_named(only),
            _ => None,
        },
        _ => None,
    }
}
