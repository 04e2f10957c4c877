//! Extensions of `AsyncSequence`: the two versions of a method that rethrows the errors of the sequence itself.
//!
//! In Swift, `extension AsyncSequence { func list() async rethrows -> [Element] { … } }` declares a method that throws
//! errors if the iterator of the sequence does. Here it becomes a method of all asynchronous sequences, which throws, and
//! one of the sequences that throw no errors, which throws only the errors of its arguments.

use super::ast::{Decl, DeclKind, ExtensionDecl, File, StmtKind, TypeExprKind};
use std::rc::Rc;

/// The protocol of all asynchronous sequences.
const ALL: &str = "AsyncSequence";
/// The protocol of the asynchronous sequences that throw no errors.
const SAFE: &str = "_SafeAsyncSequence";

/// Declares the two versions of each such method of a file.
pub fn split_rethrowing_methods(file: &mut File) {
    let mut at = 0;
    while at < file.items.len() {
        if let StmtKind::Decl(decl) = &file.items[at].kind
            && let Some((all, safe)) = split(decl)
        {
            let mut added = file.items[at].clone();
            added.kind = StmtKind::Decl(Rc::new(safe));
            file.items[at].kind = StmtKind::Decl(Rc::new(all));
            file.items.insert(at + 1, added);
            at += 1;
        }
        at += 1;
    }
}

/// Returns the extension with methods that throw, and the extension with the other versions of these methods; `None` for
/// declarations without such methods.
fn split(decl: &Decl) -> Option<(Decl, Decl)> {
    let DeclKind::Extension(extension) = &decl.kind else { return None };
    let TypeExprKind::Named(path) = &extension.target.kind else { return None };
    let [(name, _)] = path.as_slice() else { return None };
    if &*name.name != ALL {
        return None;
    }
    let rethrowing: Vec<_> = extension.members.iter().filter(|member| rethrows(member)).cloned().collect();
    if rethrowing.is_empty() {
        return None;
    }
    let with = |extension| Decl { kind: DeclKind::Extension(extension), ..decl.clone() };
    let all = ExtensionDecl { members: extension.members.iter().map(throwing).collect(), ..extension.clone() };
    let mut target = extension.target.clone();
    if let TypeExprKind::Named(path) = &mut target.kind
        && let Some((name, _)) = path.first_mut()
    {
        name.name = SAFE.into();
    }
    let safe = ExtensionDecl { target, inherits: vec![], members: rethrowing, ..extension.clone() };
    Some((with(all), with(safe)))
}

fn rethrows(member: &Decl) -> bool {
    matches!(&member.kind, DeclKind::Function(function) if function.rethrows)
}

/// Returns a member with `throws` instead of `rethrows`.
fn throwing(member: &Rc<Decl>) -> Rc<Decl> {
    let DeclKind::Function(function) = &member.kind else { return member.clone() };
    if !function.rethrows {
        return member.clone();
    }
    let mut function = function.clone();
    (function.throws, function.rethrows) = (true, false);
    Rc::new(Decl { kind: DeclKind::Function(function), ..(**member).clone() })
}
