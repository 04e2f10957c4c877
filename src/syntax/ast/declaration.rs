//! Declarations: defines functions, variables, types and extensions in the syntax tree.

use super::{Attribute, Block, Expr, Generics, Ident, LazyBlock, Pattern, Requirement, TypeExpr};
use crate::source::Span;
use serde::{Deserialize, Serialize};
use std::rc::Rc;

/// A declaration in the syntax tree.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Decl {
    /// The kind of the declaration.
    pub kind: DeclKind,
    /// The attributes before the declaration, `@…`.
    pub attributes: Vec<Attribute>,
    /// The modifiers before the declaration, with their spans: `static`, `mutating`, `private`, `indirect`, `override`,
    /// `final`, `lazy`, `weak`, `prefix` …
    pub modifiers: Vec<Ident>,
    /// The source span of the declaration, with attributes and body.
    pub span: Span,
    /// The `///` comment before the declaration.
    pub documentation: Option<Rc<str>>,
}

impl Decl {
    /// Whether the declaration has the given modifier.
    pub fn has(&self, modifier: &str) -> bool {
        self.modifiers.iter().any(|m| &*m.name == modifier)
    }

    /// Returns the attribute with the given name, if the declaration has it.
    pub fn attribute(&self, name: &str) -> Option<&Attribute> {
        self.attributes.iter().find(|a| &*a.name.name == name)
    }
}

/// The kinds of declarations.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum DeclKind {
    /// Variables or constants: `let a = 1, b: Int`, `var x: Int { … }`.
    Variable { is_let: bool, bindings: Vec<Binding> },
    /// A function: `func name<T>(…) throws -> T { … }`.
    Function(FunctionDecl),
    /// A formula, which is a function: `f(x, y) = value`.
    Formula { name: Ident, params: Vec<Param>, body: Expr },
    /// A test, `test "name" { … }`, at the top level of a file; the declared name is `test "name"`.
    Test { name: Ident, body: Block },
    /// A nominal type: `struct`, `enum`, `class`.
    Nominal(NominalDecl),
    /// A protocol: `protocol P { … }`.
    Protocol(ProtocolDecl),
    /// An extension: `extension T { … }`.
    Extension(ExtensionDecl),
    /// An initializer: `init?(…) { … }`.
    Init { failable: bool, function: FunctionDecl },
    /// A deinitializer: `deinit { … }`.
    Deinit(Block),
    /// A subscript: `subscript(…) -> T { … }`.
    Subscript { function: FunctionDecl, accessors: Accessors },
    /// A type alias: `typealias A<T> = B`.
    TypeAlias { name: Ident, generics: Generics, target: TypeExpr },
    /// An associated type: `associatedtype A: P = B where …`.
    AssociatedType { name: Ident, bound: Option<TypeExpr>, default: Option<TypeExpr>, requirements: Vec<Requirement> },
    /// Cases of an enum: `case a, b(Int), c = 1`.
    Cases(Vec<CaseDecl>),
    /// An import: `import A`, `import func A.b`, `import "path"`.
    Import { kind: Option<Ident>, path: Vec<Ident>, file: Option<Rc<str>> },
    /// The declaration of an operator: `infix operator ** : Precedence`.
    Operator { fixity: Fixity, name: Ident, precedence: Option<Ident> },
    /// A precedence group: `precedencegroup P { … }`.
    PrecedenceGroup {
        name: Ident,
        higher_than: Vec<Ident>,
        lower_than: Vec<Ident>,
        associativity: Option<Ident>,
        assignment: bool,
    },
}

/// The fixity of an operator.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Fixity {
    /// The operator precedes its operand.
    Prefix,
    /// The operator is between its operands.
    Infix,
    /// The operator follows its operand.
    Postfix,
}

/// One binding `pattern: Type = value { accessors }` of a `let` or `var`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Binding {
    /// The bound names; in `let a, b: Int` both names have the type.
    pub pattern: Pattern,
    /// The type after the colon of the binding.
    pub ty: Option<TypeExpr>,
    /// The initial value of the binding.
    pub value: Option<Expr>,
    /// The accessors of the binding: `{ get … set … }`, `{ value }`, `{ willSet … didSet … }`.
    pub accessors: Option<Accessors>,
}

/// The accessors of a property or subscript.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Accessors {
    /// The body of the getter; an empty block for `get` in a protocol.
    pub get: Option<LazyBlock>,
    /// The setter, `set(newValue) { … }`.
    pub set: Option<(Option<Ident>, LazyBlock)>,
    /// The observer `willSet(newValue) { … }`.
    pub will_set: Option<(Option<Ident>, LazyBlock)>,
    /// The observer `didSet(oldValue) { … }`.
    pub did_set: Option<(Option<Ident>, LazyBlock)>,
    /// The attributes before the getter.
    pub get_attributes: Vec<Attribute>,
    /// Whether the getter is written as `mutating get`.
    pub mutating_get: bool,
    /// Whether the getter is written as `get throws`.
    pub get_throws: bool,
    /// Whether the setter is written as `nonmutating set`.
    pub nonmutating_set: bool,
    /// Whether the accessors have the form `{ get set }` without bodies, as in a protocol or on a primitive.
    pub is_requirement: bool,
}

/// The common parts of functions, initializers and subscripts.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FunctionDecl {
    /// The name of the function, an operator, `_` or `init`.
    pub name: Ident,
    /// The generic parameters of the function.
    pub generics: Generics,
    /// The parameters of the function.
    pub params: Vec<Param>,
    /// Whether `throws` is written.
    pub throws: bool,
    /// Whether `rethrows` is written.
    pub rethrows: bool,
    /// The type of the errors: `throws(E)`.
    pub thrown: Option<TypeExpr>,
    /// The result type; `None` means `()`, except for closures and formulas, whose result type is inferred.
    pub result: Option<TypeExpr>,
    /// The body of the function; `None` for a requirement or a primitive.
    pub body: Option<LazyBlock>,
}

/// A parameter of a function.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Param {
    /// The argument label of the parameter; `None` for `_`.
    pub label: Option<Ident>,
    /// The name of the parameter in the body.
    pub name: Ident,
    /// The type of the parameter; `None` when it is omitted, as in a formula.
    pub ty: Option<TypeExpr>,
    /// Whether the parameter is `inout`.
    pub is_inout: bool,
    /// Whether the parameter is `consuming`: the body may modify its copy of the argument.
    pub is_consuming: bool,
    /// Whether the parameter is variadic, `T...`.
    pub variadic: bool,
    /// The default value of the parameter, `= value`.
    pub default: Option<Expr>,
    /// The attributes before the type of the parameter: `@noDerivative`, `@escaping`, `@autoclosure`.
    pub attributes: Vec<Attribute>,
}

/// A nominal type: a `struct`, `enum` or `class`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct NominalDecl {
    /// The kind of the nominal type.
    pub kind: NominalKind,
    /// The name of the type.
    pub name: Ident,
    /// The generic parameters of the type.
    pub generics: Generics,
    /// The superclass, raw type and protocols after the colon; `@memberwise` as
    /// [`Attributed`](super::TypeExprKind::Attributed).
    pub inherits: Vec<TypeExpr>,
    /// The members of the type.
    pub members: Vec<Rc<Decl>>,
}

/// The kinds of nominal types.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum NominalKind {
    /// A type declared with `struct`.
    Struct,
    /// A type declared with `enum`.
    Enum,
    /// A type declared with `class`.
    Class,
}

/// The declaration of a protocol.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ProtocolDecl {
    /// The name of the protocol.
    pub name: Ident,
    /// The primary associated types `A` of `P<A>`.
    pub primary: Vec<Ident>,
    /// The protocols that the protocol refines.
    pub inherits: Vec<TypeExpr>,
    /// The requirements in the `where` clause of the protocol.
    pub requirements: Vec<Requirement>,
    /// The members of the protocol.
    pub members: Vec<Rc<Decl>>,
}

/// The declaration of an extension.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ExtensionDecl {
    /// The type that is extended.
    pub target: TypeExpr,
    /// The conformances that the extension declares.
    pub inherits: Vec<TypeExpr>,
    /// The requirements in the `where` clause of the extension.
    pub requirements: Vec<Requirement>,
    /// The members of the extension.
    pub members: Vec<Rc<Decl>>,
}

/// An associated value of an enum case.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CasePart {
    /// The label of the associated value.
    pub label: Option<Ident>,
    /// The type of the associated value.
    pub ty: TypeExpr,
    /// The default value of the associated value.
    pub default: Option<Expr>,
}

/// One case of an enum.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CaseDecl {
    /// The name of the case.
    pub name: Ident,
    /// The associated values of the case with labels; `None` without parentheses.
    pub payload: Option<Vec<CasePart>>,
    /// The raw value of the case.
    pub raw: Option<Expr>,
}
