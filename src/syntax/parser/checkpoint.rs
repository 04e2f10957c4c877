//! Checkpointed loops: rewrites `checkpoint for x in xs { … }` and `checkpoint while … { … }`, whose iterations run
//! again in the reverse pass.
//!
//! The body of the loop becomes a closure that returns whether the loop continues, which the library calls: `continue`
//! and the end of the body return `true`, `break` returns `false`.

use super::{Builder, Node};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::{
    Arg, Block, Closure, ClosureParam, Expr, ExprKind, Ident, Pattern, PatternKind, Stmt, StmtKind, TryKind,
};
use std::rc::Rc;

/// The name of the closure's parameter when the pattern of the loop destructures the element.
const ELEMENT: &str = "$element";

impl Builder<'_> {
    /// Reads the loop after the word `checkpoint`.
    pub(super) fn checkpoint_statement(&mut self, node: Node<'_>) -> Option<StmtKind> {
        let span = self.span(&node);
        let statement = node.into_inner().next()?;
        let around = std::mem::take(&mut self.throwing);
        let kind = self.statement_kind(statement, None);
        let throws = std::mem::replace(&mut self.throwing, around);
        self.throwing |= throws;
        let (sequence, params, items) = match kind? {
            StmtKind::For { pattern, sequence, filter: None, mut body, .. } if name_of(&pattern).is_some() => {
                self.rewrite(&mut body, Place::Round);
                (Some(sequence), vec![param(name_of(&pattern)?, pattern.span)], body.items)
            }
            StmtKind::For { label, pattern, sequence, filter, mut body } => {
                self.rewrite(&mut body, Place::Round);
                let element = Expr { kind: ExprKind::Ident { name: ELEMENT.into(), generics: vec![] }, span };
                let one = Expr { kind: ExprKind::Array(vec![element]), span };
                let inner = StmtKind::For { label, pattern, sequence: one, filter, body };
                (Some(sequence), vec![param(ELEMENT, span)], vec![Stmt { kind: inner, span }])
            }
            StmtKind::While { conditions, mut body, .. } => {
                self.rewrite(&mut body, Place::Round);
                let end = Block { items: vec![Stmt { kind: goes_on(false, span), span }], span };
                let guard = Stmt { kind: StmtKind::Guard { conditions, body: end }, span };
                (None, vec![], std::iter::once(guard).chain(body.items).collect())
            }
            _ => return None,
        };
        let mut body = Block { items, span };
        body.items.push(Stmt { kind: goes_on(true, span), span });
        let closure = Closure::plain(Some(params), throws, body);
        let closure = Expr { kind: ExprKind::Closure(Rc::new(closure)), span };
        let args = sequence.into_iter().chain([closure]);
        let args = args.map(|value| Arg { label: None, value: Rc::new(value), trailing: false }).collect();
        let callee = ExprKind::Ident { name: "_checkpointedLoop".into(), generics: vec![] };
        let call = Expr { kind: ExprKind::Call { callee: Rc::new(Expr { kind: callee, span }), args }, span };
        Some(StmtKind::Expr(match throws {
            true => Expr { kind: ExprKind::Try { kind: TryKind::Propagate, value: Rc::new(call) }, span },
            false => call,
        }))
    }

    /// Replaces the statements that leave an iteration by a `return` of the closure.
    fn rewrite(&mut self, block: &mut Block, place: Place) {
        for item in &mut block.items {
            let span = item.span;
            match &mut item.kind {
                StmtKind::Break(None) if place == Place::Round => item.kind = goes_on(false, span),
                StmtKind::Continue(None) if place != Place::Loop => item.kind = goes_on(true, span),
                StmtKind::Return(_) => {
                    let help = "store the result in a variable, and leave the loop with 'break'";
                    let message = "a 'return' cannot leave a checkpointed loop";
                    self.diagnostics.push(Diagnostic::error(Code::WrongContext, span, message).help(help));
                }
                StmtKind::Expr(e) | StmtKind::Labeled { body: e, .. } => self.rewrite_inside(e, place),
                StmtKind::Guard { body, .. } => self.rewrite(body, place),
                StmtKind::While { body, .. } | StmtKind::Repeat { body, .. } | StmtKind::For { body, .. } => {
                    self.rewrite(body, Place::Loop);
                }
                StmtKind::Do { body, catches, .. } => {
                    self.rewrite(body, place);
                    catches.iter_mut().for_each(|catch| self.rewrite(&mut catch.body, place));
                }
                _ => {}
            }
        }
    }

    fn rewrite_inside(&mut self, expr: &mut Expr, place: Place) {
        match &mut expr.kind {
            ExprKind::If { then, otherwise, .. } => {
                self.rewrite(then, place);
                if let Some(otherwise) = otherwise {
                    self.rewrite_inside(Rc::make_mut(otherwise), place);
                }
            }
            ExprKind::Block(block) => self.rewrite(block, place),
            ExprKind::Switch { cases, .. } => {
                let place = if place == Place::Loop { Place::Loop } else { Place::Switch };
                cases.iter_mut().for_each(|case| self.rewrite(&mut case.body, place));
            }
            _ => {}
        }
    }
}

/// The construct to which a `break` or `continue` refers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Both `break` and `continue` refer to the checkpointed loop.
    Round,
    /// A `break` refers to a `switch` in the loop, and `continue` to the loop.
    Switch,
    /// Both `break` and `continue` refer to another loop inside the checkpointed loop.
    Loop,
}

fn goes_on(goes_on: bool, span: Span) -> StmtKind {
    StmtKind::Return(Some(Expr { kind: ExprKind::Bool(goes_on), span }))
}

fn name_of(pattern: &Pattern) -> Option<&str> {
    match &pattern.kind {
        PatternKind::Bind { name, mutable: false } => Some(name),
        PatternKind::Wildcard => Some("_"),
        _ => None,
    }
}

fn param(name: &str, span: Span) -> ClosureParam {
    ClosureParam { name: Ident { name: name.into(), span }, ty: None, is_inout: false }
}
