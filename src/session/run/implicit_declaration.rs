//! Implicit declaration: an assignment to a name without a declaration, which declares a variable in an interactive
//! session.

use crate::syntax;
use crate::syntax::OperatorTable;
use crate::syntax::ast::{Binding, Decl, DeclKind, Expr, ExprKind, File, Name, Pattern, PatternKind, Stmt, StmtKind};
use hashbrown::HashSet;
use std::rc::Rc;

/// Converts the assignments at the top level whose targets are not declared to declarations: `x = 3` to `var x = 3`.
pub(crate) fn declare_assigned(file: &mut File, is_declared: &dyn Fn(&str) -> bool) {
    let mut declared: HashSet<Name> = HashSet::new();
    for item in &mut file.items {
        match &item.kind {
            StmtKind::Decl(decl) => declared.extend(names(decl)),
            _ => {
                let Some((name, value)) = assigned(item) else { continue };
                if is_declared(&name) || !declared.insert(name.clone()) {
                    continue;
                }
                item.kind = StmtKind::Decl(Rc::new(declaration(item, name, value)));
            }
        }
    }
}

/// Returns the names to which a text assigns at the top level.
pub(crate) fn assigned_names(text: &str) -> HashSet<Name> {
    let mut file = syntax::parse(text, 0).file;
    // Diagnostics were reported when the text was compiled.
    let _ = syntax::fold_file(&mut file, &OperatorTable::standard());
    file.items.iter().filter_map(|item| Some(assigned(item)?.0)).collect()
}

/// Whether a text assigns to one of the given names at the top level.
pub(crate) fn assigns_one_of(text: &str, names: &HashSet<Name>) -> bool {
    text.contains('=') && assigned_names(text).iter().any(|name| names.contains(name))
}

/// Returns the name and the value of an assignment to a name.
fn assigned(item: &Stmt) -> Option<(Name, Expr)> {
    let StmtKind::Expr(Expr { kind: ExprKind::Assign { target, value }, .. }) = &item.kind else { return None };
    match &target.kind {
        ExprKind::Ident { name, generics } if generics.is_empty() && !name.starts_with(['$', '_']) => {
            (!matches!(&**name, "self" | "super")).then(|| (name.clone(), (**value).clone()))
        }
        _ => None,
    }
}

/// Returns the declaration of a variable in place of an assignment.
fn declaration(item: &Stmt, name: Name, value: Expr) -> Decl {
    let StmtKind::Expr(Expr { kind: ExprKind::Assign { target, .. }, span }) = &item.kind else {
        unreachable!("the item is an assignment")
    };
    let pattern = Pattern { kind: PatternKind::Bind { name, mutable: true }, span: target.span };
    let binding = Binding { pattern, ty: None, value: Some(value), accessors: None };
    Decl {
        kind: DeclKind::Variable { is_let: false, bindings: vec![binding] },
        attributes: vec![],
        modifiers: vec![],
        span: *span,
        documentation: None,
    }
}

/// Returns the names that a declaration declares.
fn names(decl: &Decl) -> Vec<Name> {
    match &decl.kind {
        DeclKind::Variable { bindings, .. } => bindings.iter().flat_map(|binding| bound(&binding.pattern)).collect(),
        DeclKind::Function(function) => vec![function.name.name.clone()],
        DeclKind::Formula { name, .. } => vec![name.name.clone()],
        DeclKind::Nominal(nominal) => vec![nominal.name.name.clone()],
        DeclKind::Protocol(protocol) => vec![protocol.name.name.clone()],
        _ => vec![],
    }
}

fn bound(pattern: &Pattern) -> Vec<Name> {
    match &pattern.kind {
        PatternKind::Bind { name, .. } => vec![name.clone()],
        PatternKind::Tuple(parts) => parts.iter().flat_map(|(_, part)| bound(part)).collect(),
        PatternKind::Typed(inner, _) => bound(inner),
        _ => vec![],
    }
}
