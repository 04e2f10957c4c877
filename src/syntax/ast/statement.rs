//! Statements: statements, conditions and patterns in the tree.

use super::{Decl, Expr, Ident, Name, TypeExpr, WrtParam};
use crate::source::Span;
use serde::{Deserialize, Serialize};
use std::rc::Rc;

/// A block in braces.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Block {
    /// Its statements.
    pub items: Vec<Stmt>,
    /// The source span, with the braces.
    pub span: Span,
}

/// A statement or declaration.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Stmt {
    /// Its kind.
    pub kind: StmtKind,
    /// The source span.
    pub span: Span,
}

/// The kinds of statements.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum StmtKind {
    /// An expression for its side effect, or as the implicit result of its block. `if`, `switch` and `do` occur as
    /// expressions too ([`If`](super::ExprKind::If) and so on).
    Expr(Expr),
    /// A declaration.
    Decl(Rc<Decl>),
    /// `guard conditions else { … }`
    Guard { conditions: Vec<Condition>, body: Block },
    /// `label: while conditions { … }`
    While { label: Option<Ident>, conditions: Vec<Condition>, body: Block },
    /// `label: repeat { … } while condition`
    Repeat { label: Option<Ident>, body: Block, condition: Expr },
    /// `label: for pattern in sequence where filter { … }`
    For { label: Option<Ident>, pattern: Pattern, sequence: Expr, filter: Option<Expr>, body: Block },
    /// `label: if …`, `label: switch …`, `label: do …`
    Labeled { label: Ident, body: Expr },
    /// `return value`
    Return(Option<Expr>),
    /// `break label`
    Break(Option<Ident>),
    /// `continue label`
    Continue(Option<Ident>),
    /// `fallthrough`
    Fallthrough,
    /// `throw error`
    Throw(Expr),
    /// `defer { … }`
    Defer(Block),
    /// `do { … } catch pattern { … }`
    Do { body: Block, catches: Vec<Catch> },
    /// `adjoint let seed wrt a, b { … }` inside a function: its derivative, written where its values are in scope.
    Adjoint { seed: Ident, wrt: Vec<WrtParam>, body: Block },
}

/// `catch pattern where guard { … }`; without a pattern it binds `error`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Catch {
    /// The patterns with their `where` clauses; an empty list catches every error and binds `error`.
    pub patterns: Vec<(Pattern, Option<Expr>)>,
    /// The body.
    pub body: Block,
    /// The source span.
    pub span: Span,
}

impl Catch {
    /// Whether it catches every error.
    pub fn takes_all(&self) -> bool {
        let takes = |p: &Pattern| matches!(p.kind, PatternKind::Wildcard | PatternKind::Bind { .. });
        self.patterns.is_empty() || self.patterns.iter().any(|(p, guard)| guard.is_none() && takes(p))
    }
}

/// One of the comma-separated conditions of `if`, `guard` and `while`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Condition {
    /// A `Bool`.
    Expr(Expr),
    /// `let pattern = value`, `var pattern = value`; without a value it unwraps the variable with the same name.
    Optional { is_let: bool, pattern: Pattern, ty: Option<TypeExpr>, value: Option<Expr>, span: Span },
    /// `case pattern = value`
    Case { pattern: Pattern, value: Expr, span: Span },
}

/// A pattern and its source span.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Pattern {
    /// Its kind.
    pub kind: PatternKind,
    /// The source span.
    pub span: Span,
}

/// The kinds of patterns.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum PatternKind {
    /// `_`
    Wildcard,
    /// A name that is bound; `mutable` for `var`.
    Bind { name: Name, mutable: bool },
    /// `(a, label: b)`
    Tuple(Vec<(Option<Ident>, Pattern)>),
    /// `.case`, `.case(a, b)`, `Type.case(a)`
    Case { base: Option<TypeExpr>, name: Ident, payload: Option<Vec<(Option<Ident>, Pattern)>> },
    /// `pattern?`
    Some(Box<Pattern>),
    /// `is Type`
    Is(TypeExpr),
    /// `pattern as Type`
    As(Box<Pattern>, TypeExpr),
    /// An expression that is matched with `~=`: a value or a range.
    Expr(Rc<Expr>),
    /// `pattern: Type`, in `let` and `for`.
    Typed(Box<Pattern>, TypeExpr),
}

/// One `case … :` or `default:` of a switch.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SwitchCase {
    /// The patterns with their `where` clauses; empty for `default`.
    pub patterns: Vec<(Pattern, Option<Expr>)>,
    /// The body.
    pub body: Block,
    /// The source span.
    pub span: Span,
}
