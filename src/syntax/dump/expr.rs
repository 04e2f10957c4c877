//! Expression dump: writes expressions as text.

use super::types::{generics, ty};
use super::{Tree, block, conditions, list, maybe, pattern, stmt, word};
use crate::syntax::ast::{
    Arg, CastKind, Closure, Expr, ExprKind, Ident, KeyPathPart, SequencePart, StringPart, TryKind, TypeExpr,
};

fn labeled(label: &Option<Ident>, tree: Tree) -> Tree {
    match label {
        Some(label) => list(format!("{}:", label.name), [tree]),
        None => tree,
    }
}

fn args(args: &[Arg]) -> impl Iterator<Item = Tree> {
    args.iter().map(|arg| {
        let value = labeled(&arg.label, expr(&arg.value));
        if arg.trailing { list("trailing", [value]) } else { value }
    })
}

fn name(text: &str, arguments: &[TypeExpr]) -> String {
    format!("{text}{}", generics(arguments))
}

/// Converts an expression to a dump tree.
pub(super) fn expr(e: &Expr) -> Tree {
    match &e.kind {
        ExprKind::Int(Some(value)) => word(value.to_string()),
        ExprKind::Int(None) => word("too-big"),
        ExprKind::Float(value) => word(format!("{value:?}")),
        ExprKind::String(parts) => string(parts),
        ExprKind::Bool(value) => word(value.to_string()),
        ExprKind::Nil => word("nil"),
        ExprKind::Ident { name: n, generics } => word(name(n, generics)),
        ExprKind::Super => word("super"),
        ExprKind::Discard => word("_"),
        ExprKind::Implicit { name: n, generics } => word(format!(".{}", name(&n.name, generics))),
        ExprKind::Member { base, name: n, generics } => list(".", [expr(base), word(name(&n.name, generics))]),
        ExprKind::Call { callee, args: a } => list("call", std::iter::once(expr(callee)).chain(args(a))),
        ExprKind::Subscript { base, args: a } => list("at", std::iter::once(expr(base)).chain(args(a))),
        ExprKind::Closure(c) => closure(c),
        ExprKind::Array(elements) => list("array", elements.iter().map(expr)),
        ExprKind::Dictionary(pairs) => list("dictionary", pairs.iter().map(|(k, v)| list(":", [expr(k), expr(v)]))),
        ExprKind::Tuple(elements) => list("tuple", elements.iter().map(|(l, e)| labeled(l, expr(e)))),
        ExprKind::Paren(inner) => list("paren", [expr(inner)]),
        ExprKind::Sequence(parts) => list("sequence", parts.iter().map(sequence_part)),
        ExprKind::Prefix { op, operand } => list(format!("prefix{}", op.name), [expr(operand)]),
        ExprKind::Postfix { op, operand } => list(format!("postfix{}", op.name), [expr(operand)]),
        ExprKind::Binary { op, lhs, rhs, juxtaposed } => {
            let op = if *juxtaposed { "juxtaposed" } else { &op.name };
            list(op, [expr(lhs), expr(rhs)])
        }
        ExprKind::Assign { target, value } => list("=", [expr(target), expr(value)]),
        ExprKind::Ternary { condition, then, otherwise } => list("?:", [expr(condition), expr(then), expr(otherwise)]),
        ExprKind::Is { value, ty: t } => list("is", [expr(value), word(ty(t))]),
        ExprKind::As { value, ty: t, kind } => list(cast(*kind), [expr(value), word(ty(t))]),
        ExprKind::InOut(inner) => list("&", [expr(inner)]),
        ExprKind::Force(inner) => list("force", [expr(inner)]),
        ExprKind::Chain(inner) => list("chain", [expr(inner)]),
        ExprKind::Try { kind, value } => {
            let head = match kind {
                TryKind::Propagate => "try",
                TryKind::Optional => "try?",
                TryKind::Forced => "try!",
            };
            list(head, [expr(value)])
        }
        ExprKind::If { conditions: c, then, otherwise } => {
            let otherwise = maybe("else", otherwise.as_deref().map(expr));
            list("if", [conditions(c), block("then", then)].into_iter().chain(otherwise))
        }
        ExprKind::Block(b) => block("block", b),
        ExprKind::Switch { value, cases } => {
            let cases = cases.iter().map(|case| {
                let patterns = case.patterns.iter().map(|(p, guard)| match guard {
                    Some(guard) => list("where", [pattern(p), expr(guard)]),
                    None => pattern(p),
                });
                let head = if case.patterns.is_empty() { "default" } else { "case" };
                list(head, patterns.chain([block("do", &case.body)]))
            });
            list("switch", std::iter::once(expr(value)).chain(cases))
        }
        ExprKind::KeyPath { root, path } => {
            let root = root.as_ref().map(|r| word(ty(r)));
            let parts = path.iter().map(|part| match part {
                KeyPathPart::Member(n) => word(format!(".{}", n.name)),
                KeyPathPart::Subscript(a, _) => list("at", args(a)),
                KeyPathPart::Chain(_) => word("?"),
                KeyPathPart::Force(_) => word("!"),
            });
            list("keypath", root.into_iter().chain(parts))
        }
        ExprKind::Operator(op) => list("operator", [word(&**op)]),
        ExprKind::Type(t) => list("type", [word(ty(t))]),
        ExprKind::Prime { function, order } => list(format!("prime{order}"), [expr(function)]),
        ExprKind::Nabla(inner) => list("nabla", [expr(inner)]),
        ExprKind::Partial { function, parameter } => list("partial", [expr(function), word(&*parameter.name)]),
        ExprKind::Hash { name, args: a } => list(format!("#{}", name.name), args(a)),
        ExprKind::Error => word("error"),
    }
}

fn cast(kind: CastKind) -> &'static str {
    match kind {
        CastKind::Coerce => "as",
        CastKind::Optional => "as?",
        CastKind::Forced => "as!",
    }
}

fn string(parts: &[StringPart]) -> Tree {
    match parts {
        [] => word("\"\""),
        [StringPart::Text(text)] => word(format!("{text:?}")),
        _ => list(
            "string",
            parts.iter().map(|part| match part {
                StringPart::Text(text) => word(format!("{text:?}")),
                StringPart::Interpolation(a) => list("\\", args(a)),
            }),
        ),
    }
}

fn sequence_part(part: &SequencePart) -> Tree {
    match part {
        SequencePart::Operand(e) => expr(e),
        SequencePart::Operator { op, .. } => list("op", [word(&*op.name)]),
        SequencePart::Assign(_) => list("op", [word("=")]),
        SequencePart::Ternary(then, _) => list("?", [expr(then)]),
        SequencePart::Is(t) => list("is", [word(ty(t))]),
        SequencePart::As(t, kind) => list(cast(*kind), [word(ty(t))]),
    }
}

fn closure(c: &Closure) -> Tree {
    let mut head = vec![];
    if !c.attributes.is_empty() {
        head.push(word(super::types::attributes(&c.attributes).trim_end()));
    }
    if !c.captures.is_empty() {
        head.push(list(
            "captures",
            c.captures.iter().map(|capture| {
                let ownership = capture.ownership.as_ref().map(|o| word(&**o));
                let parts = ownership.into_iter().chain(capture.value.as_ref().map(expr));
                list(&*capture.name.name, parts)
            }),
        ));
    }
    if let Some(params) = &c.params {
        head.push(list(
            "params",
            params.iter().map(|p| match &p.ty {
                Some(t) => word(format!("{}:{}{}", p.name.name, if p.is_inout { "inout " } else { "" }, ty(t))),
                None => word(&*p.name.name),
            }),
        ));
    }
    head.extend(c.throws.then(|| word("throws")));
    head.extend(c.result.as_ref().map(|t| list("->", [word(ty(t))])));
    list("closure", head.into_iter().chain(c.body.items.iter().map(stmt)))
}
