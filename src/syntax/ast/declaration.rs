//! Declarations: functions, variables, types and extensions in the tree.

use super::{Attribute, Block, Expr, Generics, Ident, LazyBlock, Pattern, Requirement, TypeExpr};
use crate::source::Span;
use serde::{Deserialize, Serialize};
use std::rc::Rc;

/// A declaration.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Decl {
    /// Its kind.
    pub kind: DeclKind,
    /// `@…`
    pub attributes: Vec<Attribute>,
    /// `static`, `mutating`, `private`, `indirect`, `override`, `final`, `lazy`, `weak`, `prefix` … with their spans.
    pub modifiers: Vec<Ident>,
    /// The source span, with attributes and body.
    pub span: Span,
    /// The `///` comment before it.
    pub documentation: Option<Rc<str>>,
}

impl Decl {
    /// Whether the declaration has this modifier.
    pub fn has(&self, modifier: &str) -> bool {
        self.modifiers.iter().any(|m| &*m.name == modifier)
    }

    /// Returns the attribute with that name.
    pub fn attribute(&self, name: &str) -> Option<&Attribute> {
        self.attributes.iter().find(|a| &*a.name.name == name)
    }
}

/// The kinds of declarations.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum DeclKind {
    /// `let a = 1, b: Int`, `var x: Int { … }`
    Variable { is_let: bool, bindings: Vec<Binding> },
    /// `func name<T>(…) throws -> T { … }`
    Function(FunctionDecl),
    /// `f(x, y) = value`
    Formula { name: Ident, params: Vec<Param>, body: Expr },
    /// `test "name" { … }`, at the top level of a file; its name is `test "name"`.
    Test { name: Ident, body: Block },
    /// `struct`, `enum`, `class`
    Nominal(NominalDecl),
    /// `protocol`
    Protocol(ProtocolDecl),
    /// `extension`
    Extension(ExtensionDecl),
    /// `init?(…) { … }`
    Init { failable: bool, function: FunctionDecl },
    /// `deinit { … }`
    Deinit(Block),
    /// `subscript(…) -> T { … }`
    Subscript { function: FunctionDecl, accessors: Accessors },
    /// `typealias A<T> = B`
    TypeAlias { name: Ident, generics: Generics, target: TypeExpr },
    /// `associatedtype A: P = B where …`
    AssociatedType { name: Ident, bound: Option<TypeExpr>, default: Option<TypeExpr>, requirements: Vec<Requirement> },
    /// `case a, b(Int), c = 1`
    Cases(Vec<CaseDecl>),
    /// `import A`, `import func A.b`, `import "path"`
    Import { kind: Option<Ident>, path: Vec<Ident>, file: Option<Rc<str>> },
    /// `infix operator ** : Precedence`
    Operator { fixity: Fixity, name: Ident, precedence: Option<Ident> },
    /// `precedencegroup P { … }`
    PrecedenceGroup {
        name: Ident,
        higher_than: Vec<Ident>,
        lower_than: Vec<Ident>,
        associativity: Option<Ident>,
        assignment: bool,
    },
}

/// The position of an operator relative to its operands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Fixity {
    /// Before its operand.
    Prefix,
    /// Between its operands.
    Infix,
    /// After its operand.
    Postfix,
}

/// One `pattern: Type = value { accessors }` of a `let` or `var`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Binding {
    /// The bound names; in `let a, b: Int` both names have the type.
    pub pattern: Pattern,
    /// The type after the colon.
    pub ty: Option<TypeExpr>,
    /// The initial value.
    pub value: Option<Expr>,
    /// `{ get … set … }`, `{ value }`, `{ willSet … didSet … }`
    pub accessors: Option<Accessors>,
}

/// The accessors of a property or subscript.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Accessors {
    /// The getter's body; in a protocol `Some` with an empty block for `get`.
    pub get: Option<LazyBlock>,
    /// `set(newValue) { … }`
    pub set: Option<(Option<Ident>, LazyBlock)>,
    /// `willSet(newValue) { … }`
    pub will_set: Option<(Option<Ident>, LazyBlock)>,
    /// `didSet(oldValue) { … }`
    pub did_set: Option<(Option<Ident>, LazyBlock)>,
    /// Attributes on the getter.
    pub get_attributes: Vec<Attribute>,
    /// `mutating get`
    pub mutating_get: bool,
    /// `get throws`
    pub get_throws: bool,
    /// `nonmutating set`
    pub nonmutating_set: bool,
    /// Whether it has the form `{ get set }` without bodies, as in a protocol or on a primitive.
    pub is_requirement: bool,
}

/// A function, initializer or subscript.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FunctionDecl {
    /// Its name, an operator, `_` or `init`.
    pub name: Ident,
    /// Its generic parameters.
    pub generics: Generics,
    /// Its parameters.
    pub params: Vec<Param>,
    /// `throws`
    pub throws: bool,
    /// `rethrows`
    pub rethrows: bool,
    /// The result type; `None` means `()`, except for closures and formulas, where it is inferred.
    pub result: Option<TypeExpr>,
    /// Its body; `None` for a requirement or a primitive.
    pub body: Option<LazyBlock>,
}

/// A parameter.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Param {
    /// The label at the call; `None` for `_`.
    pub label: Option<Ident>,
    /// The name in the body.
    pub name: Ident,
    /// Its type; `None` when omitted, as in a formula.
    pub ty: Option<TypeExpr>,
    /// `inout`
    pub is_inout: bool,
    /// `T...`
    pub variadic: bool,
    /// `= value`
    pub default: Option<Expr>,
    /// `@noDerivative`, `@escaping`, `@autoclosure` before the type.
    pub attributes: Vec<Attribute>,
}

/// `struct`, `enum` or `class`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct NominalDecl {
    /// Its kind.
    pub kind: NominalKind,
    /// Its name.
    pub name: Ident,
    /// Its generic parameters.
    pub generics: Generics,
    /// Superclass, raw type and protocols, `@memberwise` as [`Attributed`](super::TypeExprKind::Attributed).
    pub inherits: Vec<TypeExpr>,
    /// Its members.
    pub members: Vec<Rc<Decl>>,
}

/// The kinds of nominal types.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum NominalKind {
    /// `struct`
    Struct,
    /// `enum`
    Enum,
    /// `class`
    Class,
}

/// `protocol`
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ProtocolDecl {
    /// Its name.
    pub name: Ident,
    /// The primary associated types `A` of `P<A>`.
    pub primary: Vec<Ident>,
    /// The protocols that it refines.
    pub inherits: Vec<TypeExpr>,
    /// The `where` clause.
    pub requirements: Vec<Requirement>,
    /// Its members.
    pub members: Vec<Rc<Decl>>,
}

/// `extension`
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ExtensionDecl {
    /// The extended type.
    pub target: TypeExpr,
    /// The conformances that it declares.
    pub inherits: Vec<TypeExpr>,
    /// The `where` clause.
    pub requirements: Vec<Requirement>,
    /// Its members.
    pub members: Vec<Rc<Decl>>,
}

/// An associated value of an enum case.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CasePart {
    /// Its label.
    pub label: Option<Ident>,
    /// Its type.
    pub ty: TypeExpr,
    /// The default value.
    pub default: Option<Expr>,
}

/// One case of an enum.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CaseDecl {
    /// Its name.
    pub name: Ident,
    /// The associated values with labels; `None` without parentheses.
    pub payload: Option<Vec<CasePart>>,
    /// The raw value.
    pub raw: Option<Expr>,
}
