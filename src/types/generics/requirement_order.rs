//! Order of requirements: the order in which the requirements of a `where` clause are resolved.

use crate::syntax::ast::{Ident, Requirement, TypeExpr, TypeExprKind};

/// A path of names, such as `T.A.B`, without generic arguments.
type Path = [(Ident, Vec<TypeExpr>)];

/// Returns the requirements in an order in which each one can be resolved: `V == T.A.B` names a member of `T.A`, so it
/// follows `T.A: P`. Otherwise the order is that of the source.
pub(crate) fn resolvable_order(requirements: &[Requirement]) -> Vec<&Requirement> {
    let mut waiting: Vec<&Requirement> = requirements.iter().collect();
    let mut ordered = Vec::with_capacity(waiting.len());
    while waiting.len() > 1 {
        crate::cancel::check();
        let depends = |r: &Requirement| waiting.iter().any(|other| !std::ptr::eq(*other, r) && precedes(other, r));
        let next = waiting.iter().position(|r| !depends(r)).unwrap_or(0);
        ordered.push(waiting.remove(next));
    }
    ordered.append(&mut waiting);
    ordered
}

/// Whether a requirement constrains a type of which the other requirement names a member.
fn precedes(requirement: &Requirement, other: &Requirement) -> bool {
    let right = requirement.same.then_some(&requirement.right);
    let subjects = [&requirement.left].into_iter().chain(right).filter_map(path);
    let mut named = vec![];
    [&other.left, &other.right].into_iter().for_each(|ty| paths(ty, &mut named));
    subjects.into_iter().any(|subject| named.iter().any(|path| is_proper_prefix(subject, path)))
}

fn path(ty: &TypeExpr) -> Option<&Path> {
    match &ty.kind {
        TypeExprKind::Named(path) => Some(path),
        _ => None,
    }
}

/// Collects the paths in a type expression.
fn paths<'t>(ty: &'t TypeExpr, out: &mut Vec<&'t Path>) {
    out.extend(path(ty));
    ty.parts().into_iter().for_each(|part| paths(part, out));
}

fn is_proper_prefix(prefix: &Path, path: &Path) -> bool {
    prefix.len() < path.len() && prefix.iter().zip(path).all(|((a, _), (b, _))| a.name == b.name)
}
