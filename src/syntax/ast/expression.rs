//! Expressions: the nodes of expressions in the tree.

use super::{Attribute, Block, Condition, Ident, Name, SwitchCase, TypeExpr};
use crate::source::Span;
use serde::{Deserialize, Serialize};
use std::rc::Rc;

/// An expression. Its parts are shared, so that the type checker can retain an expression whose check is postponed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Expr {
    /// Its kind.
    pub kind: ExprKind,
    /// The source span.
    pub span: Span,
}

/// The kinds of expressions.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum ExprKind {
    /// An integer literal; `None` when it does not fit in 128 bits.
    Int(Option<u128>),
    /// A literal with a point or an exponent.
    Float(f64),
    /// A string literal: alternating text and interpolations.
    String(Vec<StringPart>),
    /// `true`, `false`
    Bool(bool),
    /// `nil`
    Nil,
    /// A name, `self` and `Self` and `$0` among them, with generic arguments if given.
    Ident { name: Name, generics: Vec<TypeExpr> },
    /// `super`
    Super,
    /// `_` on the left of `=`.
    Discard,
    /// `.name`
    Implicit { name: Ident, generics: Vec<TypeExpr> },
    /// `base.name`, `base.0`, `base.init`, `base.self`
    Member { base: Rc<Expr>, name: Ident, generics: Vec<TypeExpr> },
    /// `callee(arguments) { trailing }`; the trailing closures are the last elements of `args` and are marked as trailing.
    Call { callee: Rc<Expr>, args: Vec<Arg> },
    /// `base[arguments]`
    Subscript { base: Rc<Expr>, args: Vec<Arg> },
    /// `{ … }`
    Closure(Rc<Closure>),
    /// `[a, b]`
    Array(Vec<Expr>),
    /// `[k: v]`, `[:]`
    Dictionary(Vec<(Expr, Expr)>),
    /// `(a, label: b)`; never one unlabeled element. `()` is the empty tuple.
    Tuple(Vec<(Option<Ident>, Expr)>),
    /// `(a)`
    Paren(Rc<Expr>),
    /// Operands and operators as written; absent after folding.
    Sequence(Vec<SequencePart>),
    /// `-x`, `!x`, `√x`, `+x`; `&x` is [`ExprKind::InOut`].
    Prefix { op: Ident, operand: Rc<Expr> },
    /// `x%`, for operators declared postfix.
    Postfix { op: Ident, operand: Rc<Expr> },
    /// `a + b`; also `&&`, `||`, `??`, `...`, `+=`. `juxtaposed` is set for `2x`, whose operator has an empty span.
    Binary { op: Ident, lhs: Rc<Expr>, rhs: Rc<Expr>, juxtaposed: bool },
    /// `target = value`
    Assign { target: Rc<Expr>, value: Rc<Expr> },
    /// `condition ? then : otherwise`
    Ternary { condition: Rc<Expr>, then: Rc<Expr>, otherwise: Rc<Expr> },
    /// `value is Type`
    Is { value: Rc<Expr>, ty: TypeExpr },
    /// `value as Type`, `as?`, `as!`
    As { value: Rc<Expr>, ty: TypeExpr, kind: CastKind },
    /// `&place`
    InOut(Rc<Expr>),
    /// `value!`
    Force(Rc<Expr>),
    /// `value?` inside an optional chain.
    Chain(Rc<Expr>),
    /// `try value`, `try?`, `try!`
    Try { kind: TryKind, value: Rc<Expr> },
    /// `if conditions { … } else …`, as statement or expression.
    If { conditions: Vec<Condition>, then: Block, otherwise: Option<Rc<Expr>> },
    /// A block in the position of an expression: the `else` part of an `if`.
    Block(Block),
    /// `switch value { … }`, as statement or expression.
    Switch { value: Rc<Expr>, cases: Vec<SwitchCase> },
    /// `\Type.path`, `\.path`
    KeyPath { root: Option<TypeExpr>, path: Vec<KeyPathPart> },
    /// An operator used as a value: `reduce(0, +)`.
    Operator(Name),
    /// A type in the position of a value: `[Int]()`, `(Int, Int).self`, `[String: Double].self`.
    Type(TypeExpr),
    /// `f'`, `f''`: the `order`-th derivative.
    Prime { function: Rc<Expr>, order: u32 },
    /// `∇f`
    Nabla(Rc<Expr>),
    /// `∂(f, x)`
    Partial { function: Rc<Expr>, parameter: Ident },
    /// `#name(arguments)`
    Hash { name: Ident, args: Vec<Arg> },
    /// An expression that could not be parsed; a diagnostic was reported.
    Error,
}

/// The kind of an `as` cast.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum CastKind {
    /// `as`
    Coerce,
    /// `as?`
    Optional,
    /// `as!`
    Forced,
}

/// The error handling of a `try`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum TryKind {
    /// `try`
    Propagate,
    /// `try?`
    Optional,
    /// `try!`
    Forced,
}

/// A part of a string literal.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum StringPart {
    /// Literal text, with escapes replaced.
    Text(Rc<str>),
    /// `\(value)`, with further labeled arguments if present.
    Interpolation(Vec<Arg>),
}

/// A component of a key path.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum KeyPathPart {
    /// `.name`
    Member(Ident),
    /// `[arguments]`
    Subscript(Vec<Arg>, Span),
    /// `?`
    Chain(Span),
    /// `!`
    Force(Span),
}

/// An element of an unfolded sequence.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum SequencePart {
    /// An operand, with its prefix operators applied.
    Operand(Expr),
    /// A binary operator. `juxtaposed` is set for the implicit `*` of `2x`.
    Operator { op: Ident, juxtaposed: bool },
    /// `=`
    Assign(Span),
    /// `? then :`
    Ternary(Rc<Expr>, Span),
    /// `is Type`
    Is(TypeExpr),
    /// `as Type`
    As(TypeExpr, CastKind),
}

/// An argument of a call.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Arg {
    /// Its label.
    pub label: Option<Ident>,
    /// Its value; [`ExprKind::InOut`] for `&x`.
    pub value: Rc<Expr>,
    /// Whether it is a trailing closure.
    pub trailing: bool,
}

/// A closure expression.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Closure {
    /// The capture list.
    pub captures: Vec<ClosureCapture>,
    /// The parameters; `None` when there is no `in` (then `$0`, `$1` … are used).
    pub params: Option<Vec<ClosureParam>>,
    /// Whether `throws` is written.
    pub throws: bool,
    /// The result type after `->`.
    pub result: Option<TypeExpr>,
    /// Attributes before the parameters.
    pub attributes: Vec<Attribute>,
    /// The body.
    pub body: Block,
}

/// An element of a capture list, such as `weak self` or `x = y`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ClosureCapture {
    /// `weak`, `unowned`
    pub ownership: Option<Name>,
    /// The name in the body.
    pub name: Ident,
    /// The captured value; `None` for the variable with that name.
    pub value: Option<Expr>,
}

/// A closure's parameter.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ClosureParam {
    /// Its name; `_` for an unnamed parameter.
    pub name: Ident,
    /// Its type, if written.
    pub ty: Option<TypeExpr>,
    /// Whether the type is marked `inout`.
    pub is_inout: bool,
}
