//! Type syntax: types as written, attributes and generic parameters.

use super::{Ident, Name};
use crate::source::Span;
use serde::{Deserialize, Serialize};
use std::rc::Rc;

/// A type as written.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TypeExpr {
    /// Its kind.
    pub kind: TypeExprKind,
    /// The source span.
    pub span: Span,
}

/// The kinds of types as written.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum TypeExprKind {
    /// `A<B>.C`
    Named(Vec<(Ident, Vec<TypeExpr>)>),
    /// `[T]`
    Array(Box<TypeExpr>),
    /// `[K: V]`
    Dictionary(Box<TypeExpr>, Box<TypeExpr>),
    /// `T?`
    Optional(Box<TypeExpr>),
    /// `T!`
    Unwrapped(Box<TypeExpr>),
    /// `(a: A, B)`; `()` is the empty tuple; never one unlabeled element.
    Tuple(Vec<(Option<Ident>, TypeExpr)>),
    /// `@differentiable (A, B) throws -> C`
    Function { params: Vec<FunctionTypeParam>, result: Box<TypeExpr>, throws: bool, attributes: Vec<Attribute> },
    /// `some P`
    Some(Box<TypeExpr>),
    /// `any P`
    Any(Box<TypeExpr>),
    /// `P & Q`
    Composition(Vec<TypeExpr>),
    /// `[T].Name`: a member of a type that is not a plain name.
    Member(Box<TypeExpr>, Ident),
    /// `T.Type`
    Metatype(Box<TypeExpr>),
    /// `@memberwise P` and similar, in an inheritance clause or before any type.
    Attributed(Vec<Attribute>, Box<TypeExpr>),
    /// `_`
    Inferred,
}

/// A parameter of a function type.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FunctionTypeParam {
    /// A label before the type, which has no meaning.
    pub label: Option<Ident>,
    /// Its type.
    pub ty: TypeExpr,
    /// `inout`
    pub is_inout: bool,
    /// `T...`
    pub variadic: bool,
    /// `@noDerivative`, `@escaping`, `@autoclosure`
    pub attributes: Vec<Attribute>,
}

/// `@name(arguments)`
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Attribute {
    /// Its name without `@`.
    pub name: Ident,
    /// The arguments in parentheses.
    pub args: AttributeArgs,
    /// The source span, with `@`.
    pub span: Span,
}

/// The arguments in the parentheses of an attribute.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum AttributeArgs {
    /// No parentheses.
    None,
    /// `@differentiable(reverse, wrt: (self, x) where T: P, adjoint: f)`, `@derivative(of: f, wrt: 0)`,
    /// `@transpose(of: T.f, wrt: self)`.
    Differentiation(DifferentiationArgs),
    /// Any other arguments, as source text.
    Text(Rc<str>),
}

/// The arguments of `@differentiable`, `@derivative` and `@transpose`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct DifferentiationArgs {
    /// `reverse`, `linear`, `default`, `forward`
    pub kind: Option<Ident>,
    /// `of:` — the original function.
    pub of: Option<FunctionName>,
    /// `wrt:`, `withRespectTo:`
    pub wrt: Option<Vec<WrtParam>>,
    /// `adjoint:`, in the older spelling.
    pub adjoint: Option<Ident>,
    /// `primal:` beside `adjoint:`: the function that returns the checkpoints for the adjoint.
    pub primal: Option<Ident>,
    /// The span of `exact: false`: the function is intentionally not the exact derivative.
    pub differs: Option<Span>,
    /// The `where` clause.
    pub requirements: Vec<Requirement>,
}

/// A reference to a function in an attribute: `foo(x:_:)`, `Float.+`, `Type.foo`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FunctionName {
    /// The type before the dot.
    pub base: Option<TypeExpr>,
    /// The name, `init`, `subscript`, or an operator.
    pub name: Ident,
    /// The labels, if written; `None` in the list means `_`.
    pub labels: Option<Vec<Option<Ident>>>,
    /// `.get` or `.set` after the name.
    pub accessor: Option<Ident>,
}

/// A parameter named in `wrt:`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct WrtParam {
    /// The form of the reference.
    pub kind: WrtKind,
    /// The source span.
    pub span: Span,
}

/// The forms of a reference to a parameter.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum WrtKind {
    /// `self`
    SelfParam,
    /// By name.
    Name(Name),
    /// By position, also written `.0`.
    Index(u32),
}

/// `A: P`, `A == B`, `A.B: P`
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Requirement {
    /// The left side.
    pub left: TypeExpr,
    /// Whether it is a `==` requirement.
    pub same: bool,
    /// The right side.
    pub right: TypeExpr,
}

/// `<T: P, U> where …`
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Generics {
    /// The names, with the bounds after the colons.
    pub params: Vec<(Ident, Option<TypeExpr>)>,
    /// The `where` clause.
    pub requirements: Vec<Requirement>,
}
