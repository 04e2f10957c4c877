//! Expressions: defines the nodes of expressions in the syntax tree.

use super::{Attribute, Block, Condition, Ident, Name, SwitchCase, TypeExpr};
use crate::source::Span;
use serde::{Deserialize, Serialize};
use std::rc::Rc;

/// An expression. The parts of an expression are shared, so that the type checker can retain expressions whose check is
/// postponed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Expr {
    /// The kind of the expression.
    pub kind: ExprKind,
    /// The source span of the expression.
    pub span: Span,
}

/// The kinds of expressions.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum ExprKind {
    /// An integer literal; `None` when it does not fit in 128 bits.
    Int(Option<u128>),
    /// A numeric literal with a point or an exponent.
    Float(f64),
    /// A string literal: alternating text and interpolations.
    String(Vec<StringPart>),
    /// The literal `true` or `false`.
    Bool(bool),
    /// The literal `nil`.
    Nil,
    /// A name (also `self`, `Self` and `$0`), with generic arguments if they are given.
    Ident { name: Name, generics: Vec<TypeExpr> },
    /// The expression `super`.
    Super,
    /// The discarding target `_` on the left of `=`.
    Discard,
    /// An implicit member: `.name`.
    Implicit { name: Ident, generics: Vec<TypeExpr> },
    /// A member: `base.name`, `base.0`, `base.init`, `base.self`.
    Member { base: Rc<Expr>, name: Ident, generics: Vec<TypeExpr> },
    /// A call: `callee(arguments) { trailing }`. The trailing closures are the last elements of `args` and are marked
    /// as trailing.
    Call { callee: Rc<Expr>, args: Vec<Arg> },
    /// A subscript: `base[arguments]`.
    Subscript { base: Rc<Expr>, args: Vec<Arg> },
    /// A closure: `{ … }`.
    Closure(Rc<Closure>),
    /// An array literal: `[a, b]`.
    Array(Vec<Expr>),
    /// A dictionary literal: `[k: v]`, `[:]`.
    Dictionary(Vec<(Expr, Expr)>),
    /// A tuple: `(a, label: b)`, which never has one unlabeled element. `()` is the empty tuple.
    Tuple(Vec<(Option<Ident>, Expr)>),
    /// An expression in parentheses: `(a)`.
    Paren(Rc<Expr>),
    /// A sequence of operands and operators as written, which folding replaces by a tree.
    Sequence(Vec<SequencePart>),
    /// A prefix operator with its operand: `-x`, `!x`, `√x`, `+x`; `&x` is [`ExprKind::InOut`].
    Prefix { op: Ident, operand: Rc<Expr> },
    /// A postfix operator with its operand: `x%`, for operators declared postfix.
    Postfix { op: Ident, operand: Rc<Expr> },
    /// An infix operator with its operands: `a + b`; also `&&`, `||`, `??`, `...`, `+=`. `juxtaposed` is set for `2x`,
    /// whose operator has an empty span.
    Binary { op: Ident, lhs: Rc<Expr>, rhs: Rc<Expr>, juxtaposed: bool },
    /// An assignment: `target = value`.
    Assign { target: Rc<Expr>, value: Rc<Expr> },
    /// A conditional expression: `condition ? then : otherwise`.
    Ternary { condition: Rc<Expr>, then: Rc<Expr>, otherwise: Rc<Expr> },
    /// A type test: `value is Type`.
    Is { value: Rc<Expr>, ty: TypeExpr },
    /// A cast: `value as Type`, `as?`, `as!`.
    As { value: Rc<Expr>, ty: TypeExpr, kind: CastKind },
    /// An argument that is passed by reference: `&place`.
    InOut(Rc<Expr>),
    /// A forced unwrapping: `value!`.
    Force(Rc<Expr>),
    /// An unwrapping inside an optional chain: `value?`.
    Chain(Rc<Expr>),
    /// An expression with error handling: `try value`, `try?`, `try!`.
    Try { kind: TryKind, value: Rc<Expr> },
    /// A branch `if conditions { … } else …`, as statement or expression.
    If { conditions: Vec<Condition>, then: Block, otherwise: Option<Rc<Expr>> },
    /// A block that occurs as an expression: the `else` part of an `if`.
    Block(Block),
    /// A branch `switch value { … }`, as statement or expression.
    Switch { value: Rc<Expr>, cases: Vec<SwitchCase> },
    /// A key path: `\Type.path`, `\.path`.
    KeyPath { root: Option<TypeExpr>, path: Vec<KeyPathPart> },
    /// An operator used as a value: `reduce(0, +)`.
    Operator(Name),
    /// A type that occurs as a value: `[Int]()`, `(Int, Int).self`, `[String: Double].self`.
    Type(TypeExpr),
    /// The `order`-th derivative of a function: `f'`, `f''`.
    Prime { function: Rc<Expr>, order: u32 },
    /// The gradient of a function: `∇f`.
    Nabla(Rc<Expr>),
    /// The partial derivative of a function: `∂(f, x)`.
    Partial { function: Rc<Expr>, parameter: Ident },
    /// An expression `#name(arguments)`, such as a source location literal.
    Hash { name: Ident, args: Vec<Arg> },
    /// An expression that could not be parsed; a diagnostic was reported.
    Error,
}

/// The kind of an `as` cast.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum CastKind {
    /// A conversion that always succeeds: `as`.
    Coerce,
    /// A conditional cast: `as?`.
    Optional,
    /// A forced cast: `as!`.
    Forced,
}

/// The way in which a `try` handles errors.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum TryKind {
    /// An error is propagated: `try`.
    Propagate,
    /// An error becomes `nil`: `try?`.
    Optional,
    /// An error stops the program: `try!`.
    Forced,
}

/// A part of a string literal.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum StringPart {
    /// Literal text of the string, with escapes replaced.
    Text(Rc<str>),
    /// An interpolation `\(value)`, with further labeled arguments if present.
    Interpolation(Vec<Arg>),
}

/// A component of a key path.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum KeyPathPart {
    /// A member: `.name`.
    Member(Ident),
    /// A subscript: `[arguments]`.
    Subscript(Vec<Arg>, Span),
    /// An unwrapping that ends the path at `nil`: `?`.
    Chain(Span),
    /// A forced unwrapping: `!`.
    Force(Span),
}

/// An element of a sequence of operands and operators that is not folded yet.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum SequencePart {
    /// An operand, with its prefix operators applied.
    Operand(Expr),
    /// A binary operator. `juxtaposed` is set for the implicit `*` of `2x`.
    Operator { op: Ident, juxtaposed: bool },
    /// The assignment operator `=`.
    Assign(Span),
    /// The middle of a conditional expression: `? then :`.
    Ternary(Rc<Expr>, Span),
    /// A type test: `is Type`.
    Is(TypeExpr),
    /// A cast: `as Type`.
    As(TypeExpr, CastKind),
}

/// An argument of a call.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Arg {
    /// The label of the argument.
    pub label: Option<Ident>,
    /// The value of the argument; [`ExprKind::InOut`] for `&x`.
    pub value: Rc<Expr>,
    /// Whether the argument is a trailing closure.
    pub trailing: bool,
}

/// A closure expression.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Closure {
    /// The capture list of the closure.
    pub captures: Vec<ClosureCapture>,
    /// The parameters of the closure; `None` when there is no `in` (then `$0`, `$1` … are used).
    pub params: Option<Vec<ClosureParam>>,
    /// Whether `throws` is written before the arrow.
    pub throws: bool,
    /// The type of the errors: `throws(E)`.
    pub thrown: Option<TypeExpr>,
    /// The result type after `->`.
    pub result: Option<TypeExpr>,
    /// The attributes before the parameters of the closure.
    pub attributes: Vec<Attribute>,
    /// The body of the closure.
    pub body: Block,
}

impl Closure {
    /// Creates a closure without a capture list, types and attributes.
    pub fn plain(params: Option<Vec<ClosureParam>>, throws: bool, body: Block) -> Closure {
        Closure { captures: vec![], params, throws, thrown: None, result: None, attributes: vec![], body }
    }
}

/// An element of a capture list, such as `weak self` or `x = y`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ClosureCapture {
    /// The ownership that is written before the name: `weak`, `unowned`.
    pub ownership: Option<Name>,
    /// The name of the captured value in the body.
    pub name: Ident,
    /// The captured value; `None` for the variable with the same name.
    pub value: Option<Expr>,
}

/// A parameter of a closure.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ClosureParam {
    /// The name of the parameter; `_` for an unnamed parameter.
    pub name: Ident,
    /// The type of the parameter, if it is written.
    pub ty: Option<TypeExpr>,
    /// Whether the type of the parameter is marked `inout`.
    pub is_inout: bool,
}
