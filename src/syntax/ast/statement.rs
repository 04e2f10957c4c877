//! Statements: defines statements, conditions and patterns in the syntax tree.

use super::{Decl, Expr, Ident, Name, TypeExpr, WrtParam};
use crate::source::Span;
use serde::{Deserialize, Serialize};
use std::rc::Rc;

/// A block of statements in braces.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Block {
    /// The statements of the block.
    pub items: Vec<Stmt>,
    /// The source span of the block, with the braces.
    pub span: Span,
}

/// A statement or declaration.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Stmt {
    /// The kind of the statement.
    pub kind: StmtKind,
    /// The source span of the statement.
    pub span: Span,
}

/// The kinds of statements.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum StmtKind {
    /// An expression that is evaluated for its side effect, or is the implicit result of its block. `if`, `switch` and
    /// `do` are also expressions ([`If`](super::ExprKind::If) and so on).
    Expr(Expr),
    /// A declaration that occurs as a statement.
    Decl(Rc<Decl>),
    /// A statement `guard conditions else { … }`.
    Guard { conditions: Vec<Condition>, body: Block },
    /// A loop `label: while conditions { … }`.
    While { label: Option<Ident>, conditions: Vec<Condition>, body: Block },
    /// A loop `label: repeat { … } while condition`.
    Repeat { label: Option<Ident>, body: Block, condition: Expr },
    /// A loop `label: for pattern in sequence where filter { … }`.
    For { label: Option<Ident>, pattern: Pattern, sequence: Expr, filter: Option<Expr>, body: Block },
    /// A labeled statement: `label: if …`, `label: switch …`, `label: do …`.
    Labeled { label: Ident, body: Expr },
    /// A statement `return value`.
    Return(Option<Expr>),
    /// A statement `break label`.
    Break(Option<Ident>),
    /// A statement `continue label`.
    Continue(Option<Ident>),
    /// A statement `fallthrough`.
    Fallthrough,
    /// A statement `throw error`.
    Throw(Expr),
    /// A statement `defer { … }`.
    Defer(Block),
    /// A statement `do throws(E) { … } catch pattern { … }`.
    Do { thrown: Option<TypeExpr>, body: Block, catches: Vec<Catch> },
    /// An inline adjoint `adjoint let seed wrt a, b { … }` inside a function: the derivative of the function, in whose
    /// scope its values are.
    Adjoint { seed: Ident, wrt: Vec<WrtParam>, body: Block },
}

/// A clause `catch pattern where guard { … }`; a clause without a pattern binds `error`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Catch {
    /// The patterns of the clause with their `where` clauses; an empty list catches every error and binds `error`.
    pub patterns: Vec<(Pattern, Option<Expr>)>,
    /// The body of the clause.
    pub body: Block,
    /// The source span of the clause.
    pub span: Span,
}

impl Catch {
    /// Whether the clause catches every error.
    pub fn takes_all(&self) -> bool {
        let takes = |p: &Pattern| matches!(p.kind, PatternKind::Wildcard | PatternKind::Bind { .. });
        self.patterns.is_empty() || self.patterns.iter().any(|(p, guard)| guard.is_none() && takes(p))
    }
}

/// A single one of the comma-separated conditions of `if`, `guard` and `while`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Condition {
    /// An expression of type `Bool`.
    Expr(Expr),
    /// An optional binding `let pattern = value`, `var pattern = value`; a binding without a value unwraps the variable
    /// with this name.
    Optional { is_let: bool, pattern: Pattern, ty: Option<TypeExpr>, value: Option<Expr>, span: Span },
    /// A pattern match `case pattern = value`.
    Case { pattern: Pattern, value: Expr, span: Span },
}

/// A pattern and its source span.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Pattern {
    /// The kind of the pattern.
    pub kind: PatternKind,
    /// The source span of the pattern.
    pub span: Span,
}

/// The kinds of patterns.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum PatternKind {
    /// The wildcard pattern `_`.
    Wildcard,
    /// A name that the pattern binds; `mutable` for `var`.
    Bind { name: Name, mutable: bool },
    /// A tuple pattern `(a, label: b)`.
    Tuple(Vec<(Option<Ident>, Pattern)>),
    /// A case of an enum: `.case`, `.case(a, b)`, `Type.case(a)`.
    Case { base: Option<TypeExpr>, name: Ident, payload: Option<Vec<(Option<Ident>, Pattern)>> },
    /// A pattern for the value in an optional: `pattern?`.
    Some(Box<Pattern>),
    /// A type test: `is Type`.
    Is(TypeExpr),
    /// A cast: `pattern as Type`.
    As(Box<Pattern>, TypeExpr),
    /// An expression that is matched with `~=`: a value or a range.
    Expr(Rc<Expr>),
    /// A pattern with a type, `pattern: Type`, in `let` and `for`.
    Typed(Box<Pattern>, TypeExpr),
}

/// One `case … :` or `default:` of a `switch`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SwitchCase {
    /// The patterns of the case with their `where` clauses; empty for `default`.
    pub patterns: Vec<(Pattern, Option<Expr>)>,
    /// The body of the case.
    pub body: Block,
    /// The source span of the case.
    pub span: Span,
}
