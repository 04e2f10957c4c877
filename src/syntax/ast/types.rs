//! Type syntax: types as written, attributes and generic parameters.

use super::{Ident, Name};
use crate::source::Span;
use serde::{Deserialize, Serialize};
use std::rc::Rc;

/// A type as written.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TypeExpr {
    /// What it is.
    pub kind: TypeExprKind,
    /// Where.
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
    /// `[T].Name`: a member of a type that is not a name.
    Member(Box<TypeExpr>, Ident),
    /// `T.Type`
    Metatype(Box<TypeExpr>),
    /// `@memberwise P` and the like, in an inheritance clause or before any type.
    Attributed(Vec<Attribute>, Box<TypeExpr>),
    /// `_`
    Inferred,
}

/// A parameter of a function type.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FunctionTypeParam {
    /// A name before the type, which means nothing.
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
    /// What is in the brackets.
    pub args: AttributeArgs,
    /// Where, with `@`.
    pub span: Span,
}

/// What stands in the brackets of an attribute.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum AttributeArgs {
    /// No brackets.
    None,
    /// `@differentiable(reverse, wrt: (self, x) where T: P, adjoint: f)`, `@derivative(of: f, wrt: 0)`,
    /// `@transpose(of: T.f, wrt: self)`.
    Differentiation(DifferentiationArgs),
    /// Anything else, as text.
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
    /// `adjoint:` of the older spelling.
    pub adjoint: Option<Ident>,
    /// `primal:` beside it: what gives the adjoint checkpoints.
    pub primal: Option<Ident>,
    /// `exact: false`: it is meant to be another one than the derivative.
    pub differs: Option<Span>,
    /// The `where` clause.
    pub requirements: Vec<Requirement>,
}

/// A reference to a function in an attribute: `foo(x:_:)`, `Float.+`, `Type.foo`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FunctionName {
    /// The type before the point.
    pub base: Option<TypeExpr>,
    /// The name, `init`, `subscript` or an operator.
    pub name: Ident,
    /// The labels, if written: `None` in the list is `_`.
    pub labels: Option<Vec<Option<Ident>>>,
    /// `.get` or `.set` behind it.
    pub accessor: Option<Ident>,
}

/// A parameter named in `wrt:`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct WrtParam {
    /// Which.
    pub kind: WrtKind,
    /// Where.
    pub span: Span,
}

/// The ways to name a parameter.
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
    /// Whether it is `==`.
    pub same: bool,
    /// The right side.
    pub right: TypeExpr,
}

/// `<T: P, U> where …`
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Generics {
    /// Names with the bound written behind the colon.
    pub params: Vec<(Ident, Option<TypeExpr>)>,
    /// The `where` clause.
    pub requirements: Vec<Requirement>,
}
