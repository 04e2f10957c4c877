//! `Self` as the result of a member of a class: the class of the instance, which may inherit from the one that declares
//! the member.
//!
//! In: results as they are written, checked bodies. Out: what a member gives for a receiver, and errors where it could
//! give an instance of the declaring class instead.
//!
//! Not here: `Self` of protocols, which is a generic parameter, and of structs and enums, which is their name.

use crate::diagnostic::{Code, Diagnostic};
use crate::syntax::ast::{TypeExpr, TypeExprKind};
use crate::types::conform::superclass;
use crate::types::generics::signature;
use crate::types::generics::unification;
use crate::types::model::context::TypeContext;
use crate::types::model::tables::{FunctionKind, Owner};
use crate::types::model::tree::FunctionId;
use crate::types::model::ty::{NominalId, ParamId, ProtocolId, Type};
use std::rc::Rc;

/// Whether a type is written with `Self`.
fn mentions_self(ty: &TypeExpr) -> bool {
    match &ty.kind {
        TypeExprKind::Named(path) => {
            path.first().is_some_and(|(name, _)| &*name.name == "Self")
                || path.iter().any(|(_, generics)| generics.iter().any(mentions_self))
        }
        TypeExprKind::Array(of)
        | TypeExprKind::Optional(of)
        | TypeExprKind::Unwrapped(of)
        | TypeExprKind::Metatype(of)
        | TypeExprKind::Attributed(_, of) => mentions_self(of),
        TypeExprKind::Dictionary(key, value) => mentions_self(key) || mentions_self(value),
        TypeExprKind::Tuple(parts) => parts.iter().any(|(_, part)| mentions_self(part)),
        TypeExprKind::Function { params, result, .. } => {
            params.iter().any(|p| mentions_self(&p.ty)) || mentions_self(result)
        }
        TypeExprKind::Some(_)
        | TypeExprKind::Any(_)
        | TypeExprKind::Composition(_)
        | TypeExprKind::Member(..)
        | TypeExprKind::Inferred => false,
    }
}

/// A type with another one in each place where `Self` is written.
fn with_self(written: &TypeExpr, ty: &Type, own: &Type) -> Type {
    match (&written.kind, ty) {
        (TypeExprKind::Named(path), _) if path.first().is_some_and(|(name, _)| &*name.name == "Self") => {
            match (path.as_slice(), ty) {
                ([_], _) => own.clone(),
                ([_, _], Type::Metatype(_)) => Type::Metatype(Rc::new(own.clone())),
                _ => ty.clone(),
            }
        }
        (TypeExprKind::Named(path), Type::Nominal(n, args)) => {
            let written = path.last().map_or(&[][..], |(_, generics)| generics);
            let Some(kept) = args.len().checked_sub(written.len()) else { return ty.clone() };
            let own = written.iter().zip(&args[kept..]).map(|(w, t)| with_self(w, t, own));
            Type::Nominal(*n, args[..kept].iter().cloned().chain(own).collect())
        }
        (
            TypeExprKind::Array(of) | TypeExprKind::Optional(of) | TypeExprKind::Unwrapped(of),
            Type::Nominal(n, args),
        ) => Type::Nominal(*n, args.iter().map(|t| with_self(of, t, own)).collect()),
        (TypeExprKind::Dictionary(key, value), Type::Nominal(n, args)) => {
            let written = [key, value];
            Type::Nominal(*n, written.iter().zip(args.iter()).map(|(w, t)| with_self(w, t, own)).collect())
        }
        (TypeExprKind::Tuple(parts), Type::Tuple(fields)) => {
            let both = parts.iter().zip(fields.iter());
            Type::Tuple(both.map(|((_, w), (label, t))| (label.clone(), with_self(w, t, own))).collect())
        }
        (TypeExprKind::Function { params, result, .. }, Type::Function(f)) => {
            let mut f = (**f).clone();
            for (written, param) in params.iter().zip(&mut f.params) {
                param.ty = with_self(&written.ty, &param.ty, own);
            }
            f.result = with_self(result, &f.result, own);
            Type::Function(Rc::new(f))
        }
        (TypeExprKind::Metatype(of), Type::Metatype(ty)) => Type::Metatype(Rc::new(with_self(of, ty, own))),
        (TypeExprKind::Attributed(_, of), _) => with_self(of, ty, own),
        _ => ty.clone(),
    }
}

/// Whether a generic parameter is a part of a type, and not only what another type belongs to.
fn gives_param(ty: &Type, param: ParamId) -> bool {
    let mut found = false;
    let _ = ty.map(&mut |t| match t {
        Type::Associated(..) => Some(t.clone()),
        _ => {
            found |= *t == Type::Param(param);
            None
        }
    });
    found
}

/// Whether what a function of a class gives is written with `Self`.
pub(crate) fn gives_self(cx: &TypeContext, f: FunctionId) -> bool {
    let data = cx.defs.function_data(f);
    matches!(data.owner, Owner::Nominal(n) if superclass::is_class(cx, n))
        && data.ast_result.as_deref().is_some_and(mentions_self)
}

/// What a member of a class gives for a receiver of some class, if that is something else than it says.
pub(crate) fn result_for_receiver(cx: &mut TypeContext, f: FunctionId, receiver: &Type, result: &Type) -> Option<Type> {
    if !gives_self(cx, f) {
        return None;
    }
    let written = cx.defs.function_data(f).ast_result.clone()?;
    let own = match unification::shallow(cx, receiver) {
        Type::Metatype(of) => unification::shallow(cx, &of),
        other => other,
    };
    let fits = matches!(own, Type::Nominal(m, _) if superclass::is_class(cx, m));
    fits.then(|| with_self(&written, result, &own)).filter(|ty| ty != result)
}

/// Subclasses conform, too: what fulfils a requirement that gives `Self` gives it.
pub(crate) fn check_gives_self(
    cx: &mut TypeContext,
    n: NominalId,
    p: ProtocolId,
    requirement: FunctionId,
    f: FunctionId,
) {
    let data = cx.defs.function_data(f);
    let is_own = matches!(data.owner, Owner::Nominal(m) if superclass::is_class(cx, m));
    let is_made = matches!(data.kind, FunctionKind::Init { .. });
    let result = signature::signature(cx, requirement).result.clone();
    let own = cx.defs.protocol_data(p).self_param;
    if !is_own || is_made || cx.defs.nominal_data(n).is_final || gives_self(cx, f) || !gives_param(&result, own) {
        return;
    }
    let data = cx.defs.function_data(f);
    let what = match data.kind {
        FunctionKind::Getter if &*data.base_name == "subscript" => "subscript",
        FunctionKind::Getter => "property",
        _ if crate::types::model::syntax_query::is_operator(&data.base_name) => "operator method",
        _ if data.is_static => "static method",
        _ => "method",
    };
    let span = data.span;
    let (name, class) = (cx.defs.full_name(f), cx.defs.nominal_data(n).name.clone());
    let protocol = cx.defs.protocol_data(p).name.clone();
    let message =
        format!("{what} '{name}' in non-final class '{class}' must return 'Self' to conform to protocol '{protocol}'");
    let diagnostic = Diagnostic::error(Code::Inheritance, span, message);
    cx.sink.report(
        diagnostic
            .also(cx.defs.function_data(requirement).span, "required here")
            .help(format!("write 'Self' instead of '{class}' in its result type, or make the class 'final'")),
    );
}

/// Whether an override gives `Self`, if what it overrides does.
pub(crate) fn keeps_self(cx: &TypeContext, old: FunctionId, new: FunctionId) -> bool {
    !gives_self(cx, old) || gives_self(cx, new)
}
