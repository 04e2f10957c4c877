//! The tree of a program as written: names are still text, operators are folded, every node has its span.

#![allow(missing_docs)] // the fields of a variant are named in the example beside it
#![allow(clippy::large_enum_variant)] // the large ones are rare or behind an `Rc`

use crate::source::Span;
use std::rc::Rc;

/// A name, compared after NFC.
pub type Name = Rc<str>;

/// A name and where it stands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ident {
    /// The name, in NFC.
    pub name: Name,
    /// Where.
    pub span: Span,
}

/// One source text as a tree.
#[derive(Clone, Debug, Default)]
pub struct File {
    /// Statements and declarations in order.
    pub items: Vec<Stmt>,
}

/// A block in braces.
#[derive(Clone, Debug)]
pub struct Block {
    /// Its statements.
    pub items: Vec<Stmt>,
    /// With the braces.
    pub span: Span,
}

/// A statement or declaration.
#[derive(Clone, Debug)]
pub struct Stmt {
    /// What it is.
    pub kind: StmtKind,
    /// Where.
    pub span: Span,
}

/// The kinds of statements.
#[derive(Clone, Debug)]
pub enum StmtKind {
    /// An expression for its effect, or as the implicit result of its block. `if`, `switch` and `do` stand here as
    /// [`ExprKind::If`] and so on.
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
    Labelled { label: Ident, body: Expr },
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
    /// `adjoint let seed wrt a, b { … }` inside of a function: its derivative, written where its values are in scope.
    Adjoint { seed: Ident, wrt: Vec<WrtParam>, body: Block },
}

/// `catch pattern where guard { … }`; no pattern binds `error`.
#[derive(Clone, Debug)]
pub struct Catch {
    /// What is caught; `None` catches everything and binds `error`.
    pub pattern: Option<Pattern>,
    /// The `where` behind the pattern.
    pub guard: Option<Expr>,
    /// What is done.
    pub body: Block,
    /// Where.
    pub span: Span,
}

/// One of the comma-separated conditions of `if`, `guard` and `while`.
#[derive(Clone, Debug)]
pub enum Condition {
    /// A `Bool`.
    Expr(Expr),
    /// `let pattern = value`, `var pattern = value`; without a value it unwraps the variable of the same name.
    Optional { is_let: bool, pattern: Pattern, ty: Option<TypeExpr>, value: Option<Expr>, span: Span },
    /// `case pattern = value`
    Case { pattern: Pattern, value: Expr, span: Span },
}

/// A pattern and where it stands.
#[derive(Clone, Debug)]
pub struct Pattern {
    /// What it is.
    pub kind: PatternKind,
    /// Where.
    pub span: Span,
}

/// The kinds of patterns.
#[derive(Clone, Debug)]
pub enum PatternKind {
    /// `_`
    Wildcard,
    /// A name that is bound; `mutable` after `var`.
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
    /// An expression that is matched with `~=`: a value, a range.
    Expr(Box<Expr>),
    /// `pattern: Type`, in `let` and `for`.
    Typed(Box<Pattern>, TypeExpr),
}

/// An expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Where.
    pub span: Span,
}

/// The kinds of expressions.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// An integer literal; `None` when it does not fit 128 bits.
    Int(Option<u128>),
    /// A literal with a point or an exponent.
    Float(f64),
    /// A string literal: text and interpolations in turn.
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
    Member { base: Box<Expr>, name: Ident, generics: Vec<TypeExpr> },
    /// `callee(arguments) { trailing }`; the trailing closures are at the end of `args`, marked.
    Call { callee: Box<Expr>, args: Vec<Arg> },
    /// `base[arguments]`
    Subscript { base: Box<Expr>, args: Vec<Arg> },
    /// `{ … }`
    Closure(Rc<Closure>),
    /// `[a, b]`
    Array(Vec<Expr>),
    /// `[k: v]`, `[:]`
    Dictionary(Vec<(Expr, Expr)>),
    /// `(a, label: b)`; never one unlabelled element. `()` is the empty tuple.
    Tuple(Vec<(Option<Ident>, Expr)>),
    /// `(a)`
    Paren(Box<Expr>),
    /// Operands and operators as written, before `fold`; gone afterwards.
    Sequence(Vec<SequencePart>),
    /// `-x`, `!x`, `√x`, `+x`; `ampersand` forms are [`ExprKind::InOut`].
    Prefix { op: Ident, operand: Box<Expr> },
    /// `x%`, for operators declared postfix.
    Postfix { op: Ident, operand: Box<Expr> },
    /// `a + b`; also `&&`, `||`, `??`, `...`, `+=`. `juxtaposed` for `2x`, whose operator has an empty span.
    Binary { op: Ident, lhs: Box<Expr>, rhs: Box<Expr>, juxtaposed: bool },
    /// `target = value`
    Assign { target: Box<Expr>, value: Box<Expr> },
    /// `condition ? then : otherwise`
    Ternary { condition: Box<Expr>, then: Box<Expr>, otherwise: Box<Expr> },
    /// `value is Type`
    Is { value: Box<Expr>, ty: TypeExpr },
    /// `value as Type`, `as?`, `as!`
    As { value: Box<Expr>, ty: TypeExpr, kind: CastKind },
    /// `&place`
    InOut(Box<Expr>),
    /// `value!`
    Force(Box<Expr>),
    /// `value?` inside an optional chain.
    Chain(Box<Expr>),
    /// `try value`, `try?`, `try!`
    Try { kind: TryKind, value: Box<Expr> },
    /// `if conditions { … } else …`, as statement or expression.
    If { conditions: Vec<Condition>, then: Block, otherwise: Option<Box<Expr>> },
    /// A block that stands for an expression: the `else` part of an `if`.
    Block(Block),
    /// `switch value { … }`, as statement or expression.
    Switch { value: Box<Expr>, cases: Vec<SwitchCase> },
    /// `\Type.path`, `\.path`
    KeyPath { root: Option<TypeExpr>, path: Vec<KeyPathPart> },
    /// An operator as a value: `reduce(0, +)`.
    Operator(Name),
    /// A type in the place of a value: `[Int]()`, `(Int, Int).self`, `[String: Double].self`.
    Type(TypeExpr),
    /// `f'`, `f''`: the `order`-th derivative.
    Prime { function: Box<Expr>, order: u32 },
    /// `∇f`
    Nabla(Box<Expr>),
    /// `∂(f, x)`
    Partial { function: Box<Expr>, parameter: Ident },
    /// `#name(arguments)`
    Hash { name: Ident, args: Vec<Arg> },
    /// Something that could not be read; reported already.
    Error,
}

/// How `as` converts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CastKind {
    /// `as`
    Coerce,
    /// `as?`
    Optional,
    /// `as!`
    Forced,
}

/// How `try` treats an error.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TryKind {
    /// `try`
    Propagate,
    /// `try?`
    Optional,
    /// `try!`
    Forced,
}

/// A piece of a string literal.
#[derive(Clone, Debug)]
pub enum StringPart {
    /// Text, escapes replaced.
    Text(Rc<str>),
    /// `\(value)`, with further labelled arguments if any.
    Interpolation(Vec<Arg>),
}

/// A piece of a key path.
#[derive(Clone, Debug)]
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
#[derive(Clone, Debug)]
pub enum SequencePart {
    /// An operand, with its prefix operators applied.
    Operand(Expr),
    /// A binary operator. `juxtaposed` for the invisible `*` of `2x`.
    Operator { op: Ident, juxtaposed: bool },
    /// `=`
    Assign(Span),
    /// `? then :`
    Ternary(Box<Expr>, Span),
    /// `is Type`
    Is(TypeExpr),
    /// `as Type`
    As(TypeExpr, CastKind),
}

/// An argument of a call.
#[derive(Clone, Debug)]
pub struct Arg {
    /// Its label.
    pub label: Option<Ident>,
    /// Its value; [`ExprKind::InOut`] for `&x`.
    pub value: Expr,
    /// Whether it is a closure behind the brackets.
    pub trailing: bool,
}

/// A closure expression.
#[derive(Clone, Debug)]
pub struct Closure {
    /// `[weak self, x = y]`
    pub captures: Vec<ClosureCapture>,
    /// Parameters; `None` when there is no `in` (then `$0`, `$1` … are used).
    pub params: Option<Vec<ClosureParam>>,
    /// Whether `throws` is written.
    pub throws: bool,
    /// The result type behind `->`.
    pub result: Option<TypeExpr>,
    /// Attributes before the parameters.
    pub attributes: Vec<Attribute>,
    /// The body.
    pub body: Block,
}

/// `[weak self, x = y]`
#[derive(Clone, Debug)]
pub struct ClosureCapture {
    /// `weak`, `unowned`
    pub ownership: Option<Name>,
    /// The name inside.
    pub name: Ident,
    /// What it is given; `None` for the variable of that name.
    pub value: Option<Expr>,
}

/// A closure's parameter.
#[derive(Clone, Debug)]
pub struct ClosureParam {
    /// Its name; `_` for none.
    pub name: Ident,
    /// Its type, if written.
    pub ty: Option<TypeExpr>,
    /// Whether the type is marked `inout`.
    pub is_inout: bool,
}

/// One `case … :` or `default:` of a switch.
#[derive(Clone, Debug)]
pub struct SwitchCase {
    /// The patterns with their `where`; empty for `default`.
    pub patterns: Vec<(Pattern, Option<Expr>)>,
    /// What is done.
    pub body: Block,
    /// Where.
    pub span: Span,
}

/// A type as written.
#[derive(Clone, Debug)]
pub struct TypeExpr {
    /// What it is.
    pub kind: TypeExprKind,
    /// Where.
    pub span: Span,
}

/// The kinds of types as written.
#[derive(Clone, Debug)]
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
    /// `(a: A, B)`; `()` is the empty tuple; never one unlabelled element.
    Tuple(Vec<(Option<Ident>, TypeExpr)>),
    /// `@differentiable (A, B) throws -> C`
    Function { params: Vec<FunctionTypeParam>, result: Box<TypeExpr>, throws: bool, attributes: Vec<Attribute> },
    /// `some P`
    Some(Box<TypeExpr>),
    /// `any P`
    Any(Box<TypeExpr>),
    /// `P & Q`
    Composition(Vec<TypeExpr>),
    /// `T.Type`
    Metatype(Box<TypeExpr>),
    /// `@memberwise P` and the like, in an inheritance clause or before any type.
    Attributed(Vec<Attribute>, Box<TypeExpr>),
    /// `_`
    Inferred,
}

/// A parameter of a function type.
#[derive(Clone, Debug)]
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
#[derive(Clone, Debug)]
pub struct Attribute {
    /// Its name without `@`.
    pub name: Ident,
    /// What is in the brackets.
    pub args: AttributeArgs,
    /// Where, with `@`.
    pub span: Span,
}

/// What stands in the brackets of an attribute.
#[derive(Clone, Debug)]
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
#[derive(Clone, Debug, Default)]
pub struct DifferentiationArgs {
    /// `reverse`, `linear`, `default`, `forward`
    pub kind: Option<Ident>,
    /// `of:` — the original function.
    pub of: Option<FunctionName>,
    /// `wrt:`, `withRespectTo:`
    pub wrt: Option<Vec<WrtParam>>,
    /// `adjoint:`, `primal:` of the older spelling.
    pub adjoint: Option<Ident>,
    /// The `where` clause.
    pub requirements: Vec<Requirement>,
}

/// A reference to a function in an attribute: `foo(x:_:)`, `Float.+`, `Type.foo`.
#[derive(Clone, Debug)]
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
#[derive(Clone, Debug)]
pub struct WrtParam {
    /// Which.
    pub kind: WrtKind,
    /// Where.
    pub span: Span,
}

/// The ways to name a parameter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum WrtKind {
    /// `self`
    SelfParam,
    /// By name.
    Name(Name),
    /// By position, also written `.0`.
    Index(u32),
}

/// `A: P`, `A == B`, `A.B: P`
#[derive(Clone, Debug)]
pub struct Requirement {
    /// The left side.
    pub left: TypeExpr,
    /// Whether it is `==`.
    pub same: bool,
    /// The right side.
    pub right: TypeExpr,
}

/// `<T: P, U> where …`
#[derive(Clone, Debug, Default)]
pub struct Generics {
    /// Names with the bound written behind the colon.
    pub params: Vec<(Ident, Option<TypeExpr>)>,
    /// The `where` clause.
    pub requirements: Vec<Requirement>,
}

/// A declaration.
#[derive(Clone, Debug)]
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
#[derive(Clone, Debug)]
pub enum DeclKind {
    /// `let a = 1, b: Int`, `var x: Int { … }`
    Variable { is_let: bool, bindings: Vec<Binding> },
    /// `func name<T>(…) throws -> T { … }`
    Function(FunctionDecl),
    /// `f(x, y) = value`
    Formula { name: Ident, params: Vec<Param>, body: Expr },
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
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fixity {
    /// Before its operand.
    Prefix,
    /// Between two.
    Infix,
    /// Behind its operand.
    Postfix,
}

/// One `pattern: Type = value { accessors }` of a `let` or `var`.
#[derive(Clone, Debug)]
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
#[derive(Clone, Debug, Default)]
pub struct Accessors {
    /// The getter's body; in a protocol `Some` with an empty block for `get`.
    pub get: Option<Block>,
    /// `set(newValue) { … }`
    pub set: Option<(Option<Ident>, Block)>,
    /// `willSet(newValue) { … }`
    pub will_set: Option<(Option<Ident>, Block)>,
    /// `didSet(oldValue) { … }`
    pub did_set: Option<(Option<Ident>, Block)>,
    /// Attributes on the getter.
    pub get_attributes: Vec<Attribute>,
    /// `mutating get`
    pub mutating_get: bool,
    /// `nonmutating set`
    pub nonmutating_set: bool,
    /// Whether it is only `{ get set }`, as in a protocol or on a primitive.
    pub is_requirement: bool,
}

/// A function, initialiser or subscript.
#[derive(Clone, Debug)]
pub struct FunctionDecl {
    /// Its name, an operator, `_` or `init`.
    pub name: Ident,
    /// Its generic parameters.
    pub generics: Generics,
    /// Its parameters.
    pub params: Vec<Param>,
    /// `throws` or `rethrows`
    pub throws: bool,
    /// The result type; `None` is `()`, and is inferred for closures and formulas.
    pub result: Option<TypeExpr>,
    /// Its body; `None` for a requirement or a primitive.
    pub body: Option<Block>,
}

/// A parameter.
#[derive(Clone, Debug)]
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
#[derive(Clone, Debug)]
pub struct NominalDecl {
    /// Which.
    pub kind: NominalKind,
    /// Its name.
    pub name: Ident,
    /// Its generic parameters.
    pub generics: Generics,
    /// Superclass, raw type and protocols, `@memberwise` as [`TypeExprKind::Attributed`].
    pub inherits: Vec<TypeExpr>,
    /// Its members.
    pub members: Vec<Rc<Decl>>,
}

/// The kinds of nominal types.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum NominalKind {
    /// `struct`
    Struct,
    /// `enum`
    Enum,
    /// `class`
    Class,
}

/// `protocol`
#[derive(Clone, Debug)]
pub struct ProtocolDecl {
    /// Its name.
    pub name: Ident,
    /// What it refines.
    pub inherits: Vec<TypeExpr>,
    /// The `where` clause.
    pub requirements: Vec<Requirement>,
    /// Its requirements.
    pub members: Vec<Rc<Decl>>,
}

/// `extension`
#[derive(Clone, Debug)]
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

/// One case of an enum.
#[derive(Clone, Debug)]
pub struct CaseDecl {
    /// Its name.
    pub name: Ident,
    /// Its payload with labels; `None` without brackets.
    pub payload: Option<Vec<(Option<Ident>, TypeExpr)>>,
    /// The raw value.
    pub raw: Option<Expr>,
}
