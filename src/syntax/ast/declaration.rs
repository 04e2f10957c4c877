//! Declarations: functions, variables, types and extensions in the tree.

use super::{Attribute, Block, Expr, Generics, Ident, LazyBlock, Pattern, Requirement, TypeExpr};
use crate::source::Span;
use serde::{Deserialize, Serialize};
use std::rc::Rc;

/// A declaration.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Decl {
    /// What it declares.
    pub kind: DeclKind,
    /// `@…`
    pub attributes: Vec<Attribute>,
    /// `static`, `mutating`, `private`, `indirect`, `override`, `final`, `lazy`, `weak`, `prefix` … with their spans.
    pub modifiers: Vec<Ident>,
    /// With attributes and body.
    pub span: Span,
    /// `///` comment before it.
    pub documentation: Option<Rc<str>>,
}

impl Decl {
    /// Whether a modifier is there.
    pub fn has(&self, modifier: &str) -> bool {
        self.modifiers.iter().any(|m| &*m.name == modifier)
    }

    /// The attribute of that name.
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
    /// `test "name" { … }`, at the top level of a file; called `test "name"`.
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

/// Where an operator stands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Fixity {
    /// Before its operand.
    Prefix,
    /// Between two.
    Infix,
    /// Behind its operand.
    Postfix,
}

/// One `pattern: Type = value { accessors }` of a `let` or `var`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Binding {
    /// What is bound; `let a, b: Int` gives both the type.
    pub pattern: Pattern,
    /// The type behind the colon.
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
    /// Whether it is only `{ get set }`, as in a protocol or on a primitive.
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
    /// The result type; `None` is `()`, and is inferred for closures and formulas.
    pub result: Option<TypeExpr>,
    /// Its body; `None` for a requirement or a primitive.
    pub body: Option<LazyBlock>,
}

/// A parameter.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Param {
    /// The label at the call; `None` for `_`.
    pub label: Option<Ident>,
    /// The name inside.
    pub name: Ident,
    /// Its type; `None` when left out (a formula, or a function of one's own).
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
    /// Which.
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
    /// The associated types that `P<A>` gives.
    pub primary: Vec<Ident>,
    /// What it refines.
    pub inherits: Vec<TypeExpr>,
    /// The `where` clause.
    pub requirements: Vec<Requirement>,
    /// Its requirements.
    pub members: Vec<Rc<Decl>>,
}

/// `extension`
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ExtensionDecl {
    /// What is extended.
    pub target: TypeExpr,
    /// Conformances that it adds.
    pub inherits: Vec<TypeExpr>,
    /// The `where` clause.
    pub requirements: Vec<Requirement>,
    /// Its members.
    pub members: Vec<Rc<Decl>>,
}

/// A value that a case of an enum carries.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CasePart {
    /// Its label.
    pub label: Option<Ident>,
    /// Its type.
    pub ty: TypeExpr,
    /// What it is when it is left out.
    pub default: Option<Expr>,
}

/// One case of an enum.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CaseDecl {
    /// Its name.
    pub name: Ident,
    /// Its payload with labels; `None` without brackets.
    pub payload: Option<Vec<CasePart>>,
    /// The raw value.
    pub raw: Option<Expr>,
}
