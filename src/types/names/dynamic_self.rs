//! Dynamic `Self`: `Self` in the result type of a member of a class. It denotes the class of the instance, which may be
//! a subclass of the declaring class.
//!
//! In: result types in the syntax, checked bodies. Out: the result type of a member for a receiver, and errors where a
//! member could return an instance of the declaring class instead.
//!
//! Not here: `Self` of protocols, which is a generic parameter, and of structs and enums, which is the type itself.

use crate::diagnostic::{Code, Diagnostic};
use crate::syntax::ast::{TypeExpr, TypeExprKind};
use crate::types::conform::superclass;
use crate::types::generics::signature;
use crate::types::generics::unification;
use crate::types::model::declaration_tables::{FunctionKind, Owner};
use crate::types::model::ty::{NominalId, ParamId, ProtocolId, Type};
use crate::types::model::type_context::TypeContext;
use crate::types::model::typed_tree::FunctionId;
use std::rc::Rc;

/// Whether a type expression contains `Self`.
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

/// Replaces each part of `ty` that is written as `Self` in the type expression `written` by `own`.
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
            let Some(outer) = args.len().checked_sub(written.len()) else { return ty.clone() };
            let own = written.iter().zip(&args[outer..]).map(|(w, t)| with_self(w, t, own));
            Type::Nominal(*n, args[..outer].iter().cloned().chain(own).collect())
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

/// Whether a generic parameter occurs in a type other than as the base of an associated type.
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

/// Whether the result type of a function of a class is written as a type that contains `Self`.
pub(crate) fn gives_self(cx: &TypeContext, f: FunctionId) -> bool {
    let data = cx.defs.function_data(f);
    matches!(data.owner, Owner::Nominal(n) if superclass::is_class(cx, n))
        && data.ast_result.as_deref().is_some_and(mentions_self)
}

/// Returns the result type of a member of a class for a receiver of some class, if the result type differs from the
/// declared type.
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

/// Reports a member that satisfies a requirement with the result `Self` but is not declared to return `Self`:
/// subclasses conform to the protocol, too.
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

/// Whether an override returns `Self` if the overridden member returns `Self`.
pub(crate) fn keeps_self(cx: &TypeContext, old: FunctionId, new: FunctionId) -> bool {
    !gives_self(cx, old) || gives_self(cx, new)
}
