//! Tree dump: writes a tree as text, for `dscript show --stage tree` and tests.

mod decl;
mod expr;
mod types;

use super::ast::{Block, Condition, File, Pattern, PatternKind, Stmt, StmtKind};
use crate::cancel;

/// The maximum width of an output line.
const WIDTH: usize = 100;
/// The maximum indentation, which keeps the output of a deep tree from growing quadratically.
const MAX_INDENT: usize = 60;

/// Formats the tree of a file: one or more lines for each statement, `(name part …)` for each node.
pub fn dump(file: &File) -> String {
    let mut out = String::new();
    for item in cancel::checking_each(&file.items) {
        stmt(item).write(0, &mut out);
        out.push('\n');
    }
    out
}

/// A part of the output: a word, or a list in parentheses.
enum Tree {
    Word(String),
    List(Vec<Tree>, usize),
}

fn word(text: impl Into<String>) -> Tree {
    Tree::Word(text.into())
}

fn list(head: impl Into<String>, parts: impl IntoIterator<Item = Tree>) -> Tree {
    let parts: Vec<Tree> = std::iter::once(word(head)).chain(parts).collect();
    let width = parts.iter().map(|p| p.width() + 1).sum::<usize>() + 1;
    Tree::List(parts, width)
}

/// Returns the list `(name part)`, or nothing when the part is absent.
fn maybe(name: &str, part: Option<Tree>) -> Option<Tree> {
    part.map(|part| list(name, [part]))
}

impl Tree {
    fn width(&self) -> usize {
        match self {
            Tree::Word(text) => text.len(),
            Tree::List(_, width) => *width,
        }
    }

    fn write(&self, indent: usize, out: &mut String) {
        match self {
            Tree::Word(text) => out.push_str(text),
            Tree::List(parts, width) => {
                let broken = indent + width > WIDTH;
                out.push('(');
                for (i, part) in parts.iter().enumerate() {
                    if i > 0 && broken {
                        out.push('\n');
                        out.push_str(&" ".repeat((indent + 2).min(MAX_INDENT)));
                    } else if i > 0 {
                        out.push(' ');
                    }
                    part.write((indent + 2).min(MAX_INDENT), out);
                }
                out.push(')');
            }
        }
    }
}

fn block(name: &str, block: &Block) -> Tree {
    list(name, block.items.iter().map(stmt))
}

fn stmt(item: &Stmt) -> Tree {
    let labeled = |label: &Option<super::ast::Ident>, name: &str| match label {
        Some(label) => format!("{}: {name}", label.name),
        None => name.to_owned(),
    };
    match &item.kind {
        StmtKind::Expr(e) => expr::expr(e),
        StmtKind::Decl(d) => decl::decl(d),
        StmtKind::Guard { conditions: c, body } => list("guard", [conditions(c), block("else", body)]),
        StmtKind::While { label, conditions: c, body } => {
            list(labeled(label, "while"), [conditions(c), block("do", body)])
        }
        StmtKind::Repeat { label, body, condition } => {
            list(labeled(label, "repeat"), [block("do", body), expr::expr(condition)])
        }
        StmtKind::For { label, pattern: p, sequence, filter, body } => {
            let filter = maybe("where", filter.as_ref().map(expr::expr));
            let parts = [pattern(p), expr::expr(sequence)].into_iter().chain(filter).chain([block("do", body)]);
            list(labeled(label, "for"), parts)
        }
        StmtKind::Labeled { label, body } => list(format!("{}:", label.name), [expr::expr(body)]),
        StmtKind::Return(value) => list("return", value.as_ref().map(expr::expr)),
        StmtKind::Break(label) => list("break", label.as_ref().map(|l| word(&*l.name))),
        StmtKind::Continue(label) => list("continue", label.as_ref().map(|l| word(&*l.name))),
        StmtKind::Fallthrough => word("fallthrough"),
        StmtKind::Throw(e) => list("throw", [expr::expr(e)]),
        StmtKind::Defer(body) => block("defer", body),
        StmtKind::Do { body, catches, .. } => {
            let catches = catches.iter().map(|c| {
                let patterns = c.patterns.iter().flat_map(|(p, guard)| {
                    std::iter::once(pattern(p)).chain(maybe("where", guard.as_ref().map(expr::expr)))
                });
                list("catch", patterns.chain([block("do", &c.body)]))
            });
            list("do", body.items.iter().map(stmt).chain(catches))
        }
        StmtKind::Adjoint { seed, wrt, body } => {
            list("adjoint", [word(&*seed.name), decl::wrt(wrt), block("do", body)])
        }
    }
}

fn conditions(conditions: &[Condition]) -> Tree {
    let one = |c: &Condition| match c {
        Condition::Expr(e) => expr::expr(e),
        Condition::Optional { is_let, pattern: p, ty, value, .. } => {
            let ty = ty.as_ref().map(|t| word(format!(": {}", types::ty(t))));
            let parts = std::iter::once(pattern(p)).chain(ty).chain(value.as_ref().map(expr::expr));
            list(if *is_let { "let" } else { "var" }, parts)
        }
        Condition::Case { pattern: p, value, .. } => list("case", [pattern(p), expr::expr(value)]),
    };
    match conditions {
        [only] => one(only),
        _ => list("all", conditions.iter().map(one)),
    }
}

fn pattern(p: &Pattern) -> Tree {
    let element = |(label, p): &(Option<super::ast::Ident>, Pattern)| match label {
        Some(label) => list(format!("{}:", label.name), [pattern(p)]),
        None => pattern(p),
    };
    match &p.kind {
        PatternKind::Wildcard => word("_"),
        PatternKind::Bind { name, mutable: false } => word(&**name),
        PatternKind::Bind { name, mutable: true } => word(format!("var:{name}")),
        PatternKind::Tuple(elements) => list("tuple", elements.iter().map(element)),
        PatternKind::Case { base, name, payload } => {
            let base = base.as_ref().map(types::ty).unwrap_or_default();
            match payload {
                Some(payload) => list(format!("{base}.{}", name.name), payload.iter().map(element)),
                None => word(format!("{base}.{}", name.name)),
            }
        }
        PatternKind::Some(inner) => list("some", [pattern(inner)]),
        PatternKind::Is(ty) => list("is", [word(types::ty(ty))]),
        PatternKind::As(inner, ty) => list("as", [pattern(inner), word(types::ty(ty))]),
        PatternKind::Expr(e) => list("~=", [expr::expr(e)]),
        PatternKind::Typed(inner, ty) => list(":", [pattern(inner), word(types::ty(ty))]),
    }
}
