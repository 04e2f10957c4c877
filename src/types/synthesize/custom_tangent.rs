//! Custom tangents: checks types that declare their tangent vectors explicitly.

use crate::syntax::ast::{Name, NominalKind};
use crate::types::conform::conformances;
use crate::types::generics::associated_type;
use crate::types::model::declaration_info::Builtin;
use crate::types::model::declaration_tables::VECTOR;
use crate::types::model::display;
use crate::types::model::ty::{NominalId, ParamId, ProtocolId, Type};
use crate::types::model::type_context;
use crate::types::model::type_context::TypeContext;
use crate::types::names::name_lookup;
use crate::types::resolved_declarations;
use std::rc::Rc;

/// Returns the tangent vector of a concrete type.
pub(crate) fn vector_of(cx: &mut TypeContext, ty: &Type) -> Option<Type> {
    type_context::with_env(cx, Rc::default(), |cx| vector_here(cx, ty))
}

/// Returns the tangent vector of a type in the current generic environment.
fn vector_here(cx: &mut TypeContext, ty: &Type) -> Option<Type> {
    let differentiable = name_lookup::protocol(cx, "Differentiable");
    if matches!(ty, Type::Function(_))
        || !contents_conform(cx, ty, differentiable)
        || !conformances::conforms_to(cx, ty, differentiable)
    {
        return None;
    }
    let vector = Type::Associated(Rc::new(ty.clone()), differentiable, "TangentVector".into());
    let normal = associated_type::normalize_type(cx, &vector);
    (normal != vector || matches!(ty, Type::Param(_) | Type::Associated(..) | Type::Opaque(..))).then_some(normal)
}

/// Whether the elements of an array or the value of an optional conform to a protocol: the containers conform under this
/// condition only. Where it is not met, the conformances of the container are not entered.
fn contents_conform(cx: &mut TypeContext, ty: &Type, protocol: ProtocolId) -> bool {
    let Type::Nominal(n, args) = ty else { return true };
    let is_container = matches!(cx.defs.nominal_data(*n).builtin, Some(Builtin::Array | Builtin::Optional));
    !is_container || args.iter().all(|of| conformances::conforms_to(cx, of, protocol))
}

/// Returns the tangent vector of a struct or enum that is not differentiated member by member, because the members of
/// the vector do not correspond by name to the members of the type.
pub(crate) fn own_vector(cx: &mut TypeContext, ty: &Type) -> Option<Type> {
    let Type::Nominal(n, args) = ty else { return None };
    let data = cx.defs.nominal_data(*n);
    if data.builtin.is_some() || data.kind == NominalKind::Class || !is_made_differentiable_by_user(cx, *n) {
        return None;
    }
    let (vector, follows) = type_context::with_env(cx, Rc::default(), |cx| {
        let vector = vector_here(cx, ty);
        let follows = vector
            .as_ref()
            .is_none_or(|v| v == ty || follows_members(cx, *n, args, v) && !is_written_without_members(cx, *n, v));
        (vector, follows)
    });
    vector.filter(|_| !follows)
}

/// Whether a tangent vector that the program declares has no member for a property of its type.
pub(crate) fn leaves_out(cx: &mut TypeContext, ty: &Type, property: &str) -> bool {
    let Type::Nominal(n, _) = ty else { return false };
    let data = cx.defs.nominal_data(*n);
    if data.builtin.is_some() || data.is_prelude || !is_made_differentiable_by_user(cx, *n) {
        return false;
    }
    if own_vector(cx, ty).is_some() {
        return false;
    }
    match vector_of(cx, ty) {
        Some(vector @ Type::Nominal(v, _))
            if vector != *ty && !cx.defs.nominal_data(*n).memo.synthesized.contains(&VECTOR) =>
        {
            let own = resolved_declarations::resolved_nominal(cx, *n);
            let storage = own.stored.iter().find(|s| &*s.name == property).and_then(|s| s.wrapped.as_ref());
            let name = storage.map_or(property, |(name, _)| &**name);
            !resolved_declarations::resolved_nominal(cx, v).stored.iter().any(|s| &*s.name == name)
        }
        _ => false,
    }
}

/// Whether moving a value along its tangent vector moves the members of the value along the corresponding members of
/// the vector.
pub(crate) fn moves_by_members(cx: &mut TypeContext, n: NominalId, ty: &Type) -> bool {
    let Type::Nominal(_, args) = ty else { return false };
    vector_here(cx, ty).is_none_or(|vector| follows_members(cx, n, args, &vector))
}

/// Returns the protocols, beyond the usual ones, to which a synthesized tangent vector must conform because a protocol
/// of its type requires these conformances.
pub(crate) fn required_of_vector(cx: &mut TypeContext, n: NominalId) -> Vec<Name> {
    let differentiable = name_lookup::protocol(cx, "Differentiable");
    let is_vector = |t: &Type, own: ParamId| matches!(t, Type::Associated(of, p, name) if **of == Type::Param(own) && *p == differentiable && &**name == "TangentVector");
    let mut required: Vec<Name> = vec![];
    for q in associated_type::all_conforming(cx, n) {
        let own = cx.defs.protocol_data(q).self_param;
        let clauses = associated_type::protocol_clauses(cx, q);
        for (_, bound) in clauses.conform.iter().filter(|(of, _)| is_vector(of, own)) {
            let name = cx.defs.protocol_data(*bound).name.clone();
            let usual = ["Differentiable", "AdditiveArithmetic", "ScalableVector", "Scalable", "Equatable"];
            if !usual.contains(&&*name) && !required.contains(&name) {
                required.push(name);
            }
        }
    }
    required
}

/// Describes the requirement that a class violates if its tangent vector does not correspond to its properties:
/// instances of a class have no storage for other tangents.
pub(crate) fn unreachable_vector(cx: &mut TypeContext, n: NominalId, ty: &Type) -> Option<String> {
    let Type::Nominal(_, args) = ty else { return None };
    let vector = vector_here(cx, ty)?;
    let is_own = cx.defs.nominal_data(n).kind == NominalKind::Class && !follows_members(cx, n, args, &vector);
    is_own.then(|| {
        format!(
            "the 'TangentVector' of a class to have properties with the same names as the class, unlike '{}'",
            display::show(cx, &vector)
        )
    })
}

/// Describes the requirement that a tangent vector violates if numbers in the vector cannot be found: vectors are added
/// number by number, so stored properties with numbers must be differentiable.
pub(crate) fn hidden_in_vector(cx: &mut TypeContext, ty: &Type) -> Option<String> {
    let vector = vector_here(cx, ty)?;
    let Type::Nominal(v, args) = &vector else { return None };
    let data = cx.defs.nominal_data(*v);
    if data.is_prelude || data.kind != NominalKind::Struct {
        return None;
    }
    let differentiable = name_lookup::protocol(cx, "Differentiable");
    for member in resolved_declarations::resolved_nominal(cx, *v).stored.iter().filter(|member| !member.no_derivative) {
        let part = conformances::substitute_nominal(cx, *v, args, &member.ty);
        let part = associated_type::normalize_type(cx, &part);
        if !conformances::conforms_to(cx, &part, differentiable) && holds_numbers(cx, &part, &mut vec![]) {
            let (name, part) = (&member.name, display::show(cx, &part));
            return Some(format!(
                "a 'TangentVector' whose stored properties conform to 'Differentiable', unlike '{name}' of type '{part}'"
            ));
        }
    }
    None
}

/// Whether values of a type contain numbers that could vary.
fn holds_numbers(cx: &mut TypeContext, ty: &Type, ancestors: &mut Vec<Type>) -> bool {
    match ty {
        Type::Param(_) | Type::Associated(..) | Type::Existential(_) => true,
        Type::Tuple(parts) => parts.iter().any(|(_, part)| holds_numbers(cx, part, ancestors)),
        Type::Nominal(n, args) => {
            if ancestors.contains(ty) {
                return false;
            }
            ancestors.push(ty.clone());
            let info = resolved_declarations::resolved_nominal(cx, *n);
            if matches!(info.builtin, Some(Builtin::Double | Builtin::Float | Builtin::TensorStorage)) {
                return true;
            }
            let stored = info.stored.iter().map(|s| &s.ty);
            let payloads = info.cases.iter().flat_map(|case| case.payload.iter().map(|(_, ty)| ty));
            let own: Vec<Type> =
                stored.chain(payloads).map(|t| conformances::substitute_nominal(cx, *n, args, t)).collect();
            own.iter().chain(args.iter()).any(|part| {
                let part = associated_type::normalize_type(cx, part);
                holds_numbers(cx, &part, ancestors)
            })
        }
        _ => false,
    }
}

/// Describes the conditions of a protocol on associated types that do not hold for a type.
pub(crate) fn broken_clauses(cx: &mut TypeContext, p: ProtocolId, ty: &Type) -> Vec<String> {
    let own = cx.defs.protocol_data(p).self_param;
    let by = |t: &Type| t.substitute(&|q| (q == own).then(|| ty.clone()));
    let mut required: Vec<(Type, ProtocolId)> = vec![];
    for a in 0..cx.defs.protocol_data(p).associated.len() {
        let name = cx.defs.protocol_data(p).associated[a].name.clone();
        let bounds = associated_type::associated_bounds(cx, p, &name);
        let of = Type::Associated(Rc::new(Type::Param(own)), p, name);
        required.extend(bounds.iter().map(|bound| (of.clone(), *bound)));
    }
    let clauses = associated_type::protocol_clauses(cx, p);
    required.extend(clauses.conform.iter().cloned());
    // The library requires these conformances in addition to the documents that the language is based on; these
    // conformances are supplied where possible.
    let given = [name_lookup::protocol(cx, "Scalable"), name_lookup::protocol(cx, "ScalableVector")];
    let mut broken = vec![];
    for (of, bound) in required.into_iter().filter(|(_, bound)| !given.contains(bound)) {
        let found = associated_type::normalize_type(cx, &by(&of));
        if !found.any(&mut |t| *t == Type::Error) && !conformances::conforms_to(cx, &found, bound) {
            let (what, found) = (display::show(cx, &by(&of)), display::show(cx, &found));
            broken
                .push(format!("that '{what}', which is '{found}', conform to '{}'", cx.defs.protocol_data(bound).name));
        }
    }
    for (a, b) in &clauses.equal {
        let (one, other) = (associated_type::normalize_type(cx, &by(a)), associated_type::normalize_type(cx, &by(b)));
        if one != other && ![&one, &other].iter().any(|t| t.any(&mut |t| *t == Type::Error)) {
            let (one, other) = (display::show(cx, &one), display::show(cx, &other));
            broken.push(format!(
                "that '{}' be '{}', but it is '{one}', not '{other}'",
                display::show(cx, &by(a)),
                display::show(cx, &by(b))
            ));
        }
    }
    broken
}

/// Whether the program declares a type differentiable. Types of the library are differentiated by the machine.
fn is_made_differentiable_by_user(cx: &mut TypeContext, n: NominalId) -> bool {
    let Some(conformance) = conformances::declares(cx, n, "Differentiable") else { return false };
    let (group, _) = conformances::declaration_site(cx, n, conformance);
    !cx.defs.groups[group.0 as usize].is_prelude
}

/// Whether the program declares a tangent vector without members. The values of such a vector may be stored elsewhere.
fn is_written_without_members(cx: &mut TypeContext, n: NominalId, vector: &Type) -> bool {
    let Type::Nominal(v, _) = vector else { return false };
    let of_vector = resolved_declarations::resolved_nominal(cx, *v);
    let is_struct = of_vector.kind == NominalKind::Struct && cx.defs.nominal_data(*v).builtin.is_none();
    is_struct && of_vector.stored.is_empty() && !cx.defs.nominal_data(n).memo.synthesized.contains(&VECTOR)
}

/// Whether each member of a tangent vector is the tangent vector of the member of the type with the same name.
fn follows_members(cx: &mut TypeContext, n: NominalId, args: &[Type], vector: &Type) -> bool {
    let Type::Nominal(v, vector_args) = vector else { return false };
    if cx.defs.nominal_data(*v).builtin.is_some() {
        return false;
    }
    let (own, of_vector) =
        (resolved_declarations::resolved_nominal(cx, n), resolved_declarations::resolved_nominal(cx, *v));
    if own.kind == NominalKind::Enum || of_vector.kind == NominalKind::Enum {
        // A tangent vector with cases is an enum, which only synthesis produces.
        return own.kind == of_vector.kind;
    }
    of_vector.stored.iter().all(|member| {
        let storage = own.stored.iter().find(|s| s.wrapped.as_ref().is_some_and(|(name, _)| *name == member.name));
        let Some(same) = storage.or_else(|| own.stored.iter().find(|s| s.name == member.name)) else { return false };
        let ty = conformances::substitute_nominal(cx, n, args, &same.ty);
        let mut ty = associated_type::normalize_type(cx, &ty);
        for place in same.wrapped.iter().flat_map(|(_, places)| places) {
            let Type::Nominal(wrapper, of) = &ty else { return false };
            let value = resolved_declarations::resolved_nominal(cx, *wrapper).stored[*place as usize].ty.clone();
            let value = conformances::substitute_nominal(cx, *wrapper, &of.clone(), &value);
            ty = associated_type::normalize_type(cx, &value);
        }
        let wanted = conformances::substitute_nominal(cx, *v, vector_args, &member.ty);
        let wanted = associated_type::normalize_type(cx, &wanted);
        vector_here(cx, &ty) == Some(wanted)
    })
}
