//! Loops over asynchronous sequences: `for await x in xs { … }` is a `while` loop that calls the iterator.

use crate::source::Span;
use crate::syntax::ast::{
    Binding, Block, Condition, Decl, DeclKind, Expr, ExprKind, Ident, Pattern, PatternKind, Stmt, StmtKind, TryKind,
};
use std::rc::Rc;

/// The variable that holds the iterator, which programs cannot name. Because of the `$`, it need not be modified.
const ITERATOR: &str = "$iterator of the loop";
/// The constant that holds an element that is matched with a pattern.
const ELEMENT: &str = "element of the loop";

/// The parts of a loop over an asynchronous sequence.
pub(super) struct AwaitingLoop {
    pub label: Option<Ident>,
    /// Whether the loop is marked with `try`.
    pub throws: bool,
    pub pattern: Pattern,
    pub sequence: Expr,
    pub filter: Option<Expr>,
    pub body: Block,
}

impl AwaitingLoop {
    /// Returns the loop as a statement.
    pub(super) fn into_statement(self) -> StmtKind {
        let AwaitingLoop { label, throws, pattern, sequence, filter, mut body } = self;
        let span = sequence.span;
        let iterator = variable(ITERATOR, call(sequence, "makeAsyncIterator"));
        let next = call(name(ITERATOR, span), "next");
        let next = match throws {
            true => Expr { kind: ExprKind::Try { kind: TryKind::Propagate, value: Rc::new(next) }, span },
            false => next,
        };
        let mut conditions: Vec<Condition> = vec![];
        let pattern = match is_irrefutable(&pattern) {
            true => pattern,
            false => {
                conditions.push(Condition::Case { span: pattern.span, pattern, value: name(ELEMENT, span) });
                Pattern { kind: PatternKind::Bind { name: ELEMENT.into(), mutable: false }, span }
            }
        };
        conditions.extend(filter.map(Condition::Expr));
        if !conditions.is_empty() {
            let next_element = Stmt { kind: StmtKind::Continue(None), span };
            let otherwise = Block { items: vec![next_element], span };
            body.items.insert(0, Stmt { kind: StmtKind::Guard { conditions, body: otherwise }, span });
        }
        let element = Pattern { span: pattern.span, kind: PatternKind::Some(Box::new(pattern)) };
        let conditions = vec![Condition::Case { pattern: element, value: next, span }];
        let repeated = Stmt { kind: StmtKind::While { label, conditions, body }, span };
        StmtKind::Do { thrown: None, body: Block { items: vec![iterator, repeated], span }, catches: vec![] }
    }
}

/// Whether a pattern matches every value.
fn is_irrefutable(pattern: &Pattern) -> bool {
    match &pattern.kind {
        PatternKind::Wildcard | PatternKind::Bind { .. } => true,
        PatternKind::Typed(inner, _) => is_irrefutable(inner),
        PatternKind::Tuple(parts) => parts.iter().all(|(_, part)| is_irrefutable(part)),
        _ => false,
    }
}

fn name(name: &str, span: Span) -> Expr {
    Expr { kind: ExprKind::Ident { name: name.into(), generics: vec![] }, span }
}

/// Returns the call `base.method()`.
fn call(base: Expr, method: &str) -> Expr {
    let span = base.span;
    let name = Ident { name: method.into(), span };
    let callee = Expr { kind: ExprKind::Member { base: Rc::new(base), name, generics: vec![] }, span };
    Expr { kind: ExprKind::Call { callee: Rc::new(callee), args: vec![] }, span }
}

/// Returns the declaration `var name = value`.
fn variable(name: &str, value: Expr) -> Stmt {
    let span = value.span;
    let pattern = Pattern { kind: PatternKind::Bind { name: name.into(), mutable: true }, span };
    let binding = Binding { pattern, ty: None, value: Some(value), accessors: None };
    let kind = DeclKind::Variable { is_let: false, bindings: vec![binding] };
    let decl = Decl { kind, attributes: vec![], modifiers: vec![], span, documentation: None };
    Stmt { kind: StmtKind::Decl(Rc::new(decl)), span }
}
