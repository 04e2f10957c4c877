//! Type dump: writes types as they are written in a program.

use crate::syntax::ast::{Attribute, AttributeArgs, FunctionTypeParam, Ident, TypeExpr, TypeExprKind};

/// Formats the names of attributes with `@`, each followed by a blank.
pub(super) fn attributes(list: &[Attribute]) -> String {
    let one = |a: &Attribute| match &a.args {
        AttributeArgs::None => format!("@{} ", a.name.name),
        AttributeArgs::Text(text) => format!("@{}({text}) ", a.name.name),
        AttributeArgs::Differentiation(d) => format!("@{}({}) ", a.name.name, super::decl::differentiation(d)),
    };
    list.iter().map(one).collect()
}

pub(super) fn generics(list: &[TypeExpr]) -> String {
    match list {
        [] => String::new(),
        _ => format!("<{}>", list.iter().map(ty).collect::<Vec<_>>().join(", ")),
    }
}

fn labeled((label, t): &(Option<Ident>, TypeExpr)) -> String {
    match label {
        Some(label) => format!("{}: {}", label.name, ty(t)),
        None => ty(t),
    }
}

fn param(p: &FunctionTypeParam) -> String {
    let label = p.label.as_ref().map(|l| format!("{}: ", l.name)).unwrap_or_default();
    let (place, many) = (if p.is_inout { "inout " } else { "" }, if p.variadic { "..." } else { "" });
    format!("{label}{}{place}{}{many}", attributes(&p.attributes), ty(&p.ty))
}

fn joined<T>(list: &[T], one: impl Fn(&T) -> String) -> String {
    list.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// Formats a type as it is written in a program.
pub(super) fn ty(t: &TypeExpr) -> String {
    match &t.kind {
        TypeExprKind::Named(path) => {
            let part = |(name, arguments): &(Ident, Vec<TypeExpr>)| format!("{}{}", name.name, generics(arguments));
            path.iter().map(part).collect::<Vec<_>>().join(".")
        }
        TypeExprKind::Array(inner) => format!("[{}]", ty(inner)),
        TypeExprKind::Dictionary(key, value) => format!("[{}: {}]", ty(key), ty(value)),
        TypeExprKind::Optional(inner) => format!("{}?", bracketed(inner)),
        TypeExprKind::Unwrapped(inner) => format!("{}!", bracketed(inner)),
        TypeExprKind::Tuple(elements) => format!("({})", joined(elements, labeled)),
        TypeExprKind::Function { params, result, throws, attributes: a } => {
            let throws = if *throws { " throws" } else { "" };
            format!("{}({}){throws} -> {}", attributes(a), joined(params, param), ty(result))
        }
        TypeExprKind::Some(inner) => format!("some {}", ty(inner)),
        TypeExprKind::Any(inner) => format!("any {}", ty(inner)),
        TypeExprKind::Composition(all) => all.iter().map(ty).collect::<Vec<_>>().join(" & "),
        TypeExprKind::Member(inner, name) => format!("{}.{}", bracketed(inner), name.name),
        TypeExprKind::Metatype(inner) => format!("{}.Type", bracketed(inner)),
        TypeExprKind::Attributed(list, inner) => format!("{}{}", attributes(list), ty(inner)),
        TypeExprKind::Inferred => "_".into(),
    }
}

fn bracketed(t: &TypeExpr) -> String {
    match t.kind {
        TypeExprKind::Function { .. } | TypeExprKind::Some(_) | TypeExprKind::Any(_) | TypeExprKind::Composition(_) => {
            format!("({})", ty(t))
        }
        _ => ty(t),
    }
}
