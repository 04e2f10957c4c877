//! Opaque types: `some P` in the result of a function, a type of which callers know only its conformances.
//!
//! While bodies are checked, an opaque type is like a generic parameter that belongs to the function. The types of the
//! returned values are recorded; in code generation, the opaque type is replaced by this underlying type.

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::TypeExpr;
use crate::types::conform::conformances;
use crate::types::generics::associated_type;
use crate::types::generics::existential;
use crate::types::generics::unification;
use crate::types::model::declaration_tables::Opaque;
use crate::types::model::declaration_tables::{BodyState, FunctionKind};
use crate::types::model::display;
use crate::types::model::opaque_requirements;
use crate::types::model::queries;
use crate::types::model::ty::{Existential, OpaqueId, ProtocolId, Type};
use crate::types::model::type_context::TypeContext;
use crate::types::model::typed_tree::FunctionId;
use crate::types::names::type_expr;
use crate::types::names::type_expr::TypeScope;
use std::rc::Rc;

/// A returned value whose type determines an opaque type.
pub(crate) struct Given {
    id: OpaqueId,
    ty: Type,
    span: Span,
}

/// Resolves the result type of a function; each `some P` in the result type becomes an opaque type of the function.
pub(crate) fn resolve_result(cx: &mut TypeContext, f: FunctionId, ty: &TypeExpr, scope: &TypeScope) -> Type {
    let data = cx.defs.function_data(f);
    let has_body = matches!(data.kind, FunctionKind::Function | FunctionKind::Getter) && data.requirement.is_none();
    with_opaque_results(cx, has_body.then_some(f), |cx| type_expr::resolve_type(cx, ty, scope))
}

/// Runs `then` while `some P` is resolved to an opaque type of the function.
fn with_opaque_results<A>(
    cx: &mut TypeContext,
    function: Option<FunctionId>,
    then: impl FnOnce(&mut TypeContext) -> A,
) -> A {
    let outer = std::mem::replace(&mut cx.scope.opaque_result, function);
    let result = then(cx);
    cx.scope.opaque_result = outer;
    result
}

/// Returns the type of `some P` for the bounds `P`; outside of result types, `some P` is `any P`.
pub(crate) fn opaque_type(cx: &mut TypeContext, bounds: Type, span: Span) -> Type {
    let Some(function) = cx.scope.opaque_result else { return bounds };
    let bounds = match bounds {
        Type::Existential(_) | Type::Error => bounds,
        class => existential::composed(cx, vec![(class, span)]),
    };
    if bounds == Type::Error {
        return bounds;
    }
    let params = cx.scope.env.params.clone();
    let args = params.iter().map(|p| Type::Param(*p)).collect();
    cx.memo.opaques.all.push(Opaque { function, params, bounds, underlying: None });
    Type::Opaque(OpaqueId(cx.memo.opaques.all.len() as u32 - 1), args)
}

/// Returns the protocols to which an opaque type conforms.
pub(crate) fn protocols_of_opaque(cx: &mut TypeContext, ty: &Type) -> Rc<[ProtocolId]> {
    let Type::Opaque(id, args) = ty else { return Rc::from([]) };
    let bounds = Type::Existential(opaque_requirements::requirements_of_opaque(cx, *id, args));
    conformances::protocols_of(cx, &bounds)
}

/// Returns the associated type `T.Name` of an opaque type if the constraints of the opaque type specify it: `some
/// Sequence<Int>`.
pub(crate) fn known_of_opaque(cx: &TypeContext, of: &Type, name: &str) -> Option<Type> {
    let Type::Opaque(id, args) = of else { return None };
    crate::types::generics::existential::known_type(
        &Type::Existential(opaque_requirements::requirements_of_opaque(cx, *id, args)),
        name,
    )
}

/// Returns the underlying type of an opaque type.
pub(crate) fn underlying_type(cx: &mut TypeContext, id: OpaqueId, args: &[Type]) -> Type {
    let function = cx.memo.opaques.all[id.0 as usize].function;
    if cx.memo.opaques.all[id.0 as usize].underlying.is_none() {
        queries::check_body(cx, function);
    }
    match cx.memo.opaques.all[id.0 as usize].underlying.clone() {
        Some(underlying) => {
            let ty = opaque_requirements::with_arguments(cx, id, args, &underlying);
            associated_type::normalize_type(cx, &ty)
        }
        None => Type::Error,
    }
}

/// Returns the type that the returned values of a function must have: each opaque type of the function is replaced by a
/// type variable, which is added to `given`.
pub(crate) fn open_result(
    cx: &mut TypeContext,
    f: FunctionId,
    result: &Type,
    span: Span,
    given: &mut Vec<Given>,
) -> Type {
    let mut found: Vec<OpaqueId> = vec![];
    result.any(&mut |t| {
        if let Type::Opaque(id, _) = t {
            found.push(*id);
        }
        false
    });
    found.retain(|id| cx.memo.opaques.all[id.0 as usize].function == f);
    if found.is_empty() {
        return result.clone();
    }
    let opened: Vec<(OpaqueId, Type)> = found.into_iter().map(|id| (id, fresh_for(cx, id, span))).collect();
    given.extend(opened.iter().map(|(id, ty)| Given { id: *id, ty: ty.clone(), span }));
    result.map(&mut |t| match t {
        Type::Opaque(id, _) => opened.iter().find(|(other, _)| other == id).map(|(_, ty)| ty.clone()),
        _ => None,
    })
}

/// Creates a type variable for the underlying type of an opaque type, with the constraints of the opaque type.
fn fresh_for(cx: &mut TypeContext, id: OpaqueId, span: Span) -> Type {
    match cx.memo.opaques.all[id.0 as usize].bounds.clone() {
        Type::Existential(bounds) => fresh_within(cx, &bounds, span),
        _ => cx.vars.fresh(),
    }
}

/// Creates a type variable with the constraints of an existential.
pub(crate) fn fresh_within(cx: &mut TypeContext, bounds: &Existential, span: Span) -> Type {
    let ty = cx.vars.fresh();
    for p in &bounds.protocols {
        unification::require(cx, &ty, *p, span);
    }
    for (name, known) in &bounds.known {
        let owner = conformances::all_refined(cx, bounds.protocols.clone())
            .into_iter()
            .find(|p| cx.defs.protocol_data(*p).associated.iter().any(|a| a.name == *name));
        if let Some(p) = owner {
            let own = Type::Associated(Rc::new(ty.clone()), p, name.clone());
            unification::unify(cx, &own, known, span);
        }
    }
    ty
}

/// Checks that all values returned as one opaque type have the same type, and stores this type.
pub(crate) fn agree_on_opaque(cx: &mut TypeContext, given: Vec<Given>) {
    for Given { id, ty, span } in &given {
        let ty = unification::resolved(cx, ty);
        if matches!(ty, Type::Var(_) | Type::Error | Type::Never)
            || matches!(ty, Type::Opaque(other, _) if other == *id)
        {
            continue;
        }
        let bounds = cx.memo.opaques.all[id.0 as usize].bounds.clone();
        if let Type::Existential(bounds) = &bounds
            && let Some(class) = &bounds.class
            && !existential::is_instance_of(cx, &ty, class)
        {
            let message = format!(
                "return type requires that '{}' inherit from '{}'",
                display::show(cx, &ty),
                display::show(cx, class)
            );
            cx.sink.report(Diagnostic::error(Code::Mismatch, *span, message));
        }
        match cx.memo.opaques.all[id.0 as usize].underlying.clone() {
            None => cx.memo.opaques.all[id.0 as usize].underlying = Some(ty),
            Some(before) if before != ty => report_disagreement(cx, *id, &given),
            Some(_) => {}
        }
    }
    // An earlier value may determine type variables of a later value, such as `return nil`.
    for Given { id, ty, span } in &given {
        if let Some(known) = cx.memo.opaques.all[id.0 as usize].underlying.clone() {
            unification::unify(cx, ty, &known, *span);
        }
    }
}

/// Checks that every opaque type has an underlying type and is not defined in terms of itself.
pub(crate) fn check_opaques(cx: &mut TypeContext) {
    for index in 0..cx.memo.opaques.all.len() {
        let id = OpaqueId(index as u32);
        let Opaque { function, underlying, .. } = &cx.memo.opaques.all[index];
        let (function, underlying) = (*function, underlying.clone());
        let problem = match underlying {
            None if !is_checked(cx, function) => continue,
            None => {
                "function declares an opaque return type, but has no return statements in its body from which to infer an underlying type".to_string()
            }
            Some(ty) if leads_to(cx, &ty, id, &mut vec![]) => {
                let shown = display::show(cx, &ty);
                format!("function opaque return type was inferred as '{shown}', which defines the opaque type in terms of itself")
            }
            Some(_) => continue,
        };
        cx.memo.opaques.all[index].underlying = Some(Type::Error);
        let span = cx.defs.function_data(function).span;
        cx.sink.report(Diagnostic::error(Code::CannotInfer, span, problem));
    }
}

fn is_checked(cx: &TypeContext, f: FunctionId) -> bool {
    matches!(cx.defs.function_data(f).memo.body, BodyState::Checked(_))
}

/// Whether a type contains an opaque type, directly or in the underlying types of the opaque types that it contains.
fn leads_to(cx: &TypeContext, ty: &Type, id: OpaqueId, seen: &mut Vec<OpaqueId>) -> bool {
    let mut mentioned = vec![];
    ty.any(&mut |t| {
        if let Type::Opaque(other, _) = t {
            mentioned.push(*other);
        }
        false
    });
    mentioned.into_iter().any(|other| {
        let is_new = !seen.contains(&other);
        seen.push(other);
        let underlying = &cx.memo.opaques.all[other.0 as usize].underlying;
        other == id || is_new && underlying.as_ref().is_some_and(|ty| leads_to(cx, ty, id, seen))
    })
}

fn report_disagreement(cx: &mut TypeContext, id: OpaqueId, given: &[Given]) {
    let data = &cx.memo.opaques.all[id.0 as usize];
    let (span, bounds) = (cx.defs.function_data(data.function).span, data.bounds.clone());
    let shown = display::show(cx, &bounds).replacen("any ", "some ", 1);
    let message = format!(
        "function declares an opaque return type '{shown}', but the return statements in its body do not have matching underlying types"
    );
    let mut diagnostic = Diagnostic::error(Code::Mismatch, span, message);
    for part in given.iter().filter(|part| part.id == id) {
        let ty = unification::resolved(cx, &part.ty);
        diagnostic = diagnostic.also(part.span, format!("of type '{}'", display::show(cx, &ty)));
    }
    cx.sink.report(diagnostic);
}
