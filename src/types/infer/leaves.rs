//! Which statements never fall through to what follows.

use crate::types::tree::{Condition, Expr, ExprKind, Stmt, StmtKind};
use crate::types::ty::Type;

/// Whether statements never fall through to what follows.
pub(super) fn leaves(statements: &[Stmt]) -> bool {
    statements.iter().any(|s| match &s.kind {
        StmtKind::Return(_) | StmtKind::Break(_) | StmtKind::Continue(_) | StmtKind::Throw(_) => true,
        StmtKind::Expr(e) => never_returns(e),
        StmtKind::If { then, otherwise, .. } => leaves(then) && leaves(otherwise),
        StmtKind::Switch { cases, label, .. } => {
            !cases.is_empty()
                && cases.iter().all(|c| c.falls_through || leaves(&c.body))
                && !cases.iter().any(|c| breaks_to(&c.body, *label))
        }
        StmtKind::Block { body, label } => leaves(body) && !breaks_to(body, *label),
        StmtKind::While { conditions, body, label } => {
            let forever =
                conditions.iter().all(|c| matches!(c, Condition::Bool(Expr { kind: ExprKind::Bool(true), .. })));
            forever && !breaks_to(body, *label)
        }
        StmtKind::Repeat { body, condition, label } => {
            (leaves(body) || matches!(condition.kind, ExprKind::Bool(true))) && !breaks_to(body, *label)
        }
        StmtKind::Catch { body, cases, .. } => leaves(body) && cases.iter().all(|c| leaves(&c.body)),
        _ => false,
    })
}

fn never_returns(e: &Expr) -> bool {
    e.ty == Type::Never || matches!(e.kind, ExprKind::Error)
}

fn breaks_to(statements: &[Stmt], label: crate::types::tree::LabelId) -> bool {
    statements.iter().any(|s| match &s.kind {
        StmtKind::Break(l) => *l == label,
        StmtKind::If { then, otherwise, .. } => breaks_to(then, label) || breaks_to(otherwise, label),
        StmtKind::Switch { cases, .. } | StmtKind::Catch { cases, .. } => {
            cases.iter().any(|c| breaks_to(&c.body, label))
        }
        StmtKind::While { body, .. }
        | StmtKind::Repeat { body, .. }
        | StmtKind::For { body, .. }
        | StmtKind::Block { body, .. } => breaks_to(body, label),
        _ => false,
    })
}
