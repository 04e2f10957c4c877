//! Type syntax: defines types as written, attributes and generic parameters in the syntax tree.

use super::{Ident, Name};
use crate::source::Span;
use serde::{Deserialize, Serialize};
use std::rc::Rc;

/// A type as it is written in a program.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TypeExpr {
    /// The kind of the type.
    pub kind: TypeExprKind,
    /// The source span of the type.
    pub span: Span,
}

/// The kinds of types as written.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum TypeExprKind {
    /// A named type: `A<B>.C`.
    Named(Vec<(Ident, Vec<TypeExpr>)>),
    /// An array type: `[T]`.
    Array(Box<TypeExpr>),
    /// A dictionary type: `[K: V]`.
    Dictionary(Box<TypeExpr>, Box<TypeExpr>),
    /// An optional type: `T?`.
    Optional(Box<TypeExpr>),
    /// An implicitly unwrapped optional type: `T!`.
    Unwrapped(Box<TypeExpr>),
    /// A tuple type: `(a: A, B)`, which never has one unlabeled element; `()` is the empty tuple.
    Tuple(Vec<(Option<Ident>, TypeExpr)>),
    /// A function type: `@differentiable (A, B) throws -> C`.
    Function { params: Vec<FunctionTypeParam>, result: Box<TypeExpr>, throws: bool, attributes: Vec<Attribute> },
    /// An opaque type: `some P`.
    Some(Box<TypeExpr>),
    /// An existential: `any P`.
    Any(Box<TypeExpr>),
    /// A composition of protocols: `P & Q`.
    Composition(Vec<TypeExpr>),
    /// A member of a type that is not a plain name: `[T].Name`.
    Member(Box<TypeExpr>, Ident),
    /// A metatype: `T.Type`.
    Metatype(Box<TypeExpr>),
    /// A type with attributes, in an inheritance clause or elsewhere: `@memberwise P`.
    Attributed(Vec<Attribute>, Box<TypeExpr>),
    /// A type that is to be inferred: `_`.
    Inferred,
}

impl TypeExpr {
    /// Returns the type expressions of which a type expression consists.
    pub fn parts(&self) -> Vec<&TypeExpr> {
        match &self.kind {
            TypeExprKind::Array(of)
            | TypeExprKind::Optional(of)
            | TypeExprKind::Unwrapped(of)
            | TypeExprKind::Attributed(_, of)
            | TypeExprKind::Some(of)
            | TypeExprKind::Any(of)
            | TypeExprKind::Member(of, _)
            | TypeExprKind::Metatype(of) => vec![of],
            TypeExprKind::Dictionary(key, value) => vec![key, value],
            TypeExprKind::Named(path) => path.iter().flat_map(|(_, given)| given).collect(),
            TypeExprKind::Tuple(parts) => parts.iter().map(|(_, t)| t).collect(),
            TypeExprKind::Function { params, result, .. } => params.iter().map(|p| &p.ty).chain([&**result]).collect(),
            TypeExprKind::Composition(parts) => parts.iter().collect(),
            TypeExprKind::Inferred => vec![],
        }
    }
}

/// A parameter of a function type.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FunctionTypeParam {
    /// A label before the type, which has no meaning.
    pub label: Option<Ident>,
    /// The type of the parameter.
    pub ty: TypeExpr,
    /// Whether the parameter is `inout`.
    pub is_inout: bool,
    /// Whether the parameter is variadic, `T...`.
    pub variadic: bool,
    /// The attributes of the parameter: `@noDerivative`, `@escaping`, `@autoclosure`.
    pub attributes: Vec<Attribute>,
}

/// An attribute: `@name(arguments)`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Attribute {
    /// The name of the attribute without `@`.
    pub name: Ident,
    /// The generic arguments of the attribute: `@ArrayBuilder<Int>`.
    pub generics: Vec<TypeExpr>,
    /// The arguments of the attribute in parentheses.
    pub args: AttributeArgs,
    /// The source span of the attribute, with `@`.
    pub span: Span,
}

/// The arguments in the parentheses of an attribute.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum AttributeArgs {
    /// The attribute has no parentheses.
    None,
    /// Arguments of a differentiation attribute: `@differentiable(reverse, wrt: (self, x) where T: P, adjoint: f)`,
    /// `@derivative(of: f, wrt: 0)`, `@transpose(of: T.f, wrt: self)`.
    Differentiation(DifferentiationArgs),
    /// Arguments of any other attribute, as source text.
    Text(Rc<str>),
}

/// The arguments of `@differentiable`, `@derivative` and `@transpose`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct DifferentiationArgs {
    /// The kind of differentiability: `reverse`, `linear`, `default`, `forward`.
    pub kind: Option<Ident>,
    /// The original function after `of:`.
    pub of: Option<FunctionName>,
    /// The parameters after `wrt:` or `withRespectTo:`.
    pub wrt: Option<Vec<WrtParam>>,
    /// The function after `vjp:`, which returns the value and a pullback, in the early spelling.
    pub vjp: Option<Ident>,
    /// The function after `jvp:`, which returns the value and a differential.
    pub jvp: Option<Ident>,
    /// The adjoint after `adjoint:`, in the older spelling.
    pub adjoint: Option<Ident>,
    /// The function after `primal:`, which returns the intermediate values for the function after `adjoint:`.
    pub primal: Option<Ident>,
    /// The span of `exact: false`, which states that the function is intentionally not the exact derivative.
    pub differs: Option<Span>,
    /// The requirements in the `where` clause of the attribute.
    pub requirements: Vec<Requirement>,
}

/// A reference to a function in an attribute: `foo(x:_:)`, `Float.+`, `Type.foo`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FunctionName {
    /// The type before the dot of the function's name.
    pub base: Option<TypeExpr>,
    /// The name of the function: an identifier, `init`, `subscript`, or an operator.
    pub name: Ident,
    /// The argument labels, if they are written; `None` in the list means `_`.
    pub labels: Option<Vec<Option<Ident>>>,
    /// The accessor after the name, `get` or `set`.
    pub accessor: Option<Ident>,
}

/// A reference in `wrt:` to a parameter.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct WrtParam {
    /// The form of the reference.
    pub kind: WrtKind,
    /// The source span of the reference.
    pub span: Span,
}

/// The forms of a reference to a parameter.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum WrtKind {
    /// The parameter `self`.
    SelfParam,
    /// A parameter given by its name.
    Name(Name),
    /// A parameter given by its index, also written as `.0`.
    Index(u32),
}

/// A requirement of a `where` clause: `A: P`, `A == B`, `A.B: P`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Requirement {
    /// The left side of the requirement.
    pub left: TypeExpr,
    /// Whether the requirement is written with `==`.
    pub same: bool,
    /// The right side of the requirement.
    pub right: TypeExpr,
}

/// A list of generic parameters: `<T: P, U> where …`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Generics {
    /// The names of the generic parameters, with the bounds after the colons.
    pub params: Vec<(Ident, Option<TypeExpr>)>,
    /// The requirements in the `where` clause.
    pub requirements: Vec<Requirement>,
}
