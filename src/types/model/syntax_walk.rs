//! Syntax walk: searches statements and expressions for names, `try`, `return` and initializer calls.

use crate::syntax::ast::{
    Arg, Block, Condition, DeclKind, Expr, ExprKind, KeyPathPart, Stmt, StmtKind, StringPart, TryKind,
};
use crate::types::model::syntax_query::result_expression;

/// Calls `found` with every name in a closure's body, except in nested closures that have their own `$0`.
pub(crate) fn names(body: &Block, found: &mut dyn FnMut(&str)) {
    statements(&body.items, &mut |e| {
        if let ExprKind::Ident { name, .. } = &e.kind {
            found(name);
        }
        !matches!(&e.kind, ExprKind::Closure(c) if c.params.is_none())
    });
}

/// Calls `found` with every name in a body.
pub(crate) fn all_names(body: &Block, found: &mut dyn FnMut(&str)) {
    statements(&body.items, &mut |e| visit_name(e, found));
}

/// Calls `found` with every name in an expression.
pub(crate) fn names_in(e: &Expr, found: &mut dyn FnMut(&str)) {
    expr(e, &mut |e| visit_name(e, found));
}

fn visit_name(e: &Expr, found: &mut dyn FnMut(&str)) -> bool {
    if let ExprKind::Ident { name, .. } = &e.kind {
        found(name);
    }
    true
}

/// Whether a name is used anywhere in a body.
pub(crate) fn mentions(body: &Block, wanted: &str) -> bool {
    let mut found = false;
    all_names(body, &mut |name| found |= name == wanted);
    found
}

/// Whether an expression passes a variable on to a function, or combines it with another operand. Uses inside branches
/// and closures of several statements, which are inferred statement by statement, do not count and exclude other uses.
pub(crate) fn passes_on(e: &Expr, name: &str) -> bool {
    let (mut passes, mut is_nested) = (false, false);
    expr(e, &mut |e| match &e.kind {
        // A nested closure without declared parameters has its own `$0`.
        ExprKind::Closure(closure) if closure.params.is_none() && name.starts_with('$') => false,
        ExprKind::Closure(closure) if result_expression(&closure.body).is_some() => true,
        ExprKind::Closure(_) | ExprKind::If { .. } | ExprKind::Switch { .. } | ExprKind::Block(_) => {
            expr(e, &mut |inner| {
                is_nested |= matches!(&inner.kind, ExprKind::Ident { name: used, .. } if &**used == name);
                true
            });
            false
        }
        ExprKind::Call { args, .. } | ExprKind::Subscript { args, .. } => {
            passes |= args.iter().any(|arg| is_operand(&arg.value, name));
            true
        }
        ExprKind::Binary { lhs, rhs, .. } => {
            passes |= is_operand(lhs, name) != is_operand(rhs, name);
            true
        }
        _ => true,
    });
    passes && !is_nested
}

/// Whether an expression is a variable, or an operator, a tuple or an array literal with the variable as an operand.
fn is_operand(e: &Expr, name: &str) -> bool {
    match &e.kind {
        ExprKind::Ident { name: used, .. } => &**used == name,
        ExprKind::Paren(inner) | ExprKind::Prefix { operand: inner, .. } => is_operand(inner, name),
        ExprKind::Binary { lhs, rhs, .. } => is_operand(lhs, name) || is_operand(rhs, name),
        ExprKind::Tuple(parts) => parts.iter().any(|(_, part)| is_operand(part, name)),
        ExprKind::Array(items) => items.iter().any(|item| is_operand(item, name)),
        _ => false,
    }
}

/// Whether an expression consists of literals only, so that its meaning does not depend on its context.
pub(crate) fn is_literal(e: &Expr) -> bool {
    let mut all = true;
    expr(e, &mut |e| {
        all &= matches!(
            &e.kind,
            ExprKind::Int(_)
                | ExprKind::Float(_)
                | ExprKind::String(_)
                | ExprKind::Bool(_)
                | ExprKind::Nil
                | ExprKind::Array(_)
                | ExprKind::Dictionary(_)
                | ExprKind::Tuple(_)
                | ExprKind::Paren(_)
                | ExprKind::Prefix { .. }
        );
        all
    });
    all
}

/// Whether an expression propagates errors, because it contains a `try` outside of closures.
pub(crate) fn tries(e: &Expr) -> bool {
    let mut found = false;
    expr(e, &mut |e| {
        found |= matches!(&e.kind, ExprKind::Try { kind: TryKind::Propagate, .. });
        !matches!(&e.kind, ExprKind::Closure(_))
    });
    found
}

/// Whether every `try` in a block is written before a call, so that no accessor throws there.
pub(crate) fn only_calls_throw(block: &Block) -> bool {
    let mut only_calls = true;
    statements(&block.items, &mut |e| {
        if let ExprKind::Try { kind: TryKind::Propagate, value } = &e.kind {
            only_calls &= matches!(&value.kind, ExprKind::Call { .. });
        }
        !matches!(&e.kind, ExprKind::Closure(_))
    });
    only_calls
}

/// Calls `found` with the value of every `return` of a body, except those in nested functions.
pub(crate) fn returns(items: &[Stmt], found: &mut dyn FnMut(Option<&Expr>)) {
    for item in items {
        match &item.kind {
            StmtKind::Return(value) => found(value.as_ref()),
            StmtKind::Expr(e) | StmtKind::Labeled { body: e, .. } => expression_returns(e, found),
            StmtKind::Guard { body, .. }
            | StmtKind::While { body, .. }
            | StmtKind::Repeat { body, .. }
            | StmtKind::For { body, .. }
            | StmtKind::Defer(body) => returns(&body.items, found),
            StmtKind::Do { body, catches, .. } => {
                returns(&body.items, found);
                catches.iter().for_each(|c| returns(&c.body.items, found));
            }
            _ => {}
        }
    }
}

fn expression_returns(e: &Expr, found: &mut dyn FnMut(Option<&Expr>)) {
    match &e.kind {
        ExprKind::If { then, otherwise, .. } => {
            returns(&then.items, found);
            if let Some(otherwise) = otherwise {
                expression_returns(otherwise, found);
            }
        }
        ExprKind::Block(block) => returns(&block.items, found),
        ExprKind::Switch { cases, .. } => cases.iter().for_each(|c| returns(&c.body.items, found)),
        _ => {}
    }
}

/// Visits expressions, the outermost first; `visit` returns whether to visit the parts of an expression.
fn statements(items: &[Stmt], visit: &mut dyn FnMut(&Expr) -> bool) {
    for item in items {
        match &item.kind {
            StmtKind::Expr(e) | StmtKind::Throw(e) | StmtKind::Labeled { body: e, .. } => expr(e, visit),
            StmtKind::Decl(decl) => match &decl.kind {
                DeclKind::Variable { bindings, .. } => {
                    bindings.iter().filter_map(|b| b.value.as_ref()).for_each(|e| expr(e, visit))
                }
                DeclKind::Formula { body, .. } => expr(body, visit),
                DeclKind::Function(f) => f.body.iter().for_each(|b| statements(&b.items, visit)),
                _ => {}
            },
            StmtKind::Guard { conditions: c, body } | StmtKind::While { conditions: c, body, .. } => {
                conditions(c, visit);
                statements(&body.items, visit);
            }
            StmtKind::Repeat { body, condition, .. } => {
                statements(&body.items, visit);
                expr(condition, visit);
            }
            StmtKind::For { sequence, filter, body, .. } => {
                expr(sequence, visit);
                filter.iter().for_each(|e| expr(e, visit));
                statements(&body.items, visit);
            }
            StmtKind::Return(value) => value.iter().for_each(|e| expr(e, visit)),
            StmtKind::Defer(body) => statements(&body.items, visit),
            StmtKind::Do { body, catches, .. } => {
                statements(&body.items, visit);
                catches.iter().for_each(|c| statements(&c.body.items, visit));
            }
            _ => {}
        }
    }
}

fn conditions(list: &[Condition], visit: &mut dyn FnMut(&Expr) -> bool) {
    for condition in list {
        match condition {
            Condition::Expr(e) | Condition::Case { value: e, .. } => expr(e, visit),
            Condition::Optional { value, .. } => value.iter().for_each(|e| expr(e, visit)),
        }
    }
}

fn arguments(args: &[Arg], visit: &mut dyn FnMut(&Expr) -> bool) {
    args.iter().for_each(|a| expr(&a.value, visit));
}

fn expr(e: &Expr, visit: &mut dyn FnMut(&Expr) -> bool) {
    if !visit(e) {
        return;
    }
    match &e.kind {
        ExprKind::String(parts) => {
            for part in parts {
                if let StringPart::Interpolation(args) = part {
                    arguments(args, visit);
                }
            }
        }
        ExprKind::Member { base, .. }
        | ExprKind::Paren(base)
        | ExprKind::InOut(base)
        | ExprKind::Force(base)
        | ExprKind::Chain(base)
        | ExprKind::Nabla(base)
        | ExprKind::Prefix { operand: base, .. }
        | ExprKind::Postfix { operand: base, .. }
        | ExprKind::Is { value: base, .. }
        | ExprKind::As { value: base, .. }
        | ExprKind::Try { value: base, .. }
        | ExprKind::Prime { function: base, .. }
        | ExprKind::Partial { function: base, .. } => expr(base, visit),
        ExprKind::Call { callee: base, args } | ExprKind::Subscript { base, args } => {
            expr(base, visit);
            arguments(args, visit);
        }
        ExprKind::Hash { args, .. } => arguments(args, visit),
        ExprKind::KeyPath { path, .. } => {
            for part in path {
                if let KeyPathPart::Subscript(args, _) = part {
                    arguments(args, visit);
                }
            }
        }
        ExprKind::Closure(closure) => {
            closure.captures.iter().filter_map(|c| c.value.as_ref()).for_each(|e| expr(e, visit));
            statements(&closure.body.items, visit);
        }
        ExprKind::Array(items) => items.iter().for_each(|e| expr(e, visit)),
        ExprKind::Dictionary(items) => items.iter().for_each(|(k, v)| {
            expr(k, visit);
            expr(v, visit);
        }),
        ExprKind::Tuple(parts) => parts.iter().for_each(|(_, e)| expr(e, visit)),
        ExprKind::Binary { lhs, rhs, .. } | ExprKind::Assign { target: lhs, value: rhs } => {
            expr(lhs, visit);
            expr(rhs, visit);
        }
        ExprKind::Ternary { condition, then, otherwise } => {
            [condition, then, otherwise].into_iter().for_each(|e| expr(e, visit))
        }
        ExprKind::If { conditions: c, then, otherwise } => {
            conditions(c, visit);
            statements(&then.items, visit);
            otherwise.iter().for_each(|e| expr(e, visit));
        }
        ExprKind::Block(block) => statements(&block.items, visit),
        ExprKind::Switch { value, cases } => {
            expr(value, visit);
            for case in cases {
                case.patterns.iter().filter_map(|(_, g)| g.as_ref()).for_each(|e| expr(e, visit));
                statements(&case.body.items, visit);
            }
        }
        _ => {}
    }
}

/// Whether an initializer delegates to another initializer, or assigns a whole value to `self`.
pub(crate) fn delegates(items: &[Stmt]) -> bool {
    let mut found = false;
    let is_self = |e: &Expr| matches!(&e.kind, ExprKind::Ident { name, .. } if &**name == "self");
    statements(items, &mut |e| {
        found |= match &e.kind {
            ExprKind::Assign { target, .. } => is_self(target),
            ExprKind::Call { callee, .. } => {
                matches!(&callee.kind, ExprKind::Member { base, name, .. } if &*name.name == "init" && is_self(base))
            }
            _ => false,
        };
        true
    });
    found
}

/// Whether an initializer calls an initializer of the superclass.
pub(crate) fn calls_super_init(items: &[Stmt]) -> bool {
    let mut found = false;
    statements(items, &mut |e| {
        found |= matches!(&e.kind, ExprKind::Call { callee, .. }
            if matches!(&callee.kind, ExprKind::Member { base, name, .. }
                if &*name.name == "init" && matches!(base.kind, ExprKind::Super)));
        true
    });
    found
}
