//! Typed tree: every name is resolved, every type is known (except for generic parameters), every implicit step is
//! explicit.
//!
//! Functions are checked once and uninstantiated: types in a body may contain [`Type::Param`] of the function's generic
//! parameters. `ir` compiles functions for concrete types; a call of a protocol's requirement ([`Callee::Requirement`])
//! is then resolved to the witness of the concrete type.

#![allow(missing_docs, reason = "the comment of a variant names its fields")]

use crate::source::Span;
use crate::syntax::ast::Name;
pub use crate::syntax::ast::TryKind;
use crate::types::model::differentiability::Differentiability;
use crate::types::model::ty::{NominalId, ProtocolId, Type};
use std::rc::Rc;

/// A function, method, initializer, accessor or closure: an index into `Definitions::functions`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct FunctionId(pub u32);

/// A variable at the top level or a static stored property: an index into `Definitions::globals`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct GlobalId(pub u32);

/// A local variable or parameter: an index into [`Body::locals`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct LocalId(pub u32);

/// A loop, `switch` or labeled block that `break` and `continue` refer to; numbered within a body.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct LabelId(pub u32);

/// The checked body of a function or closure.
#[derive(Clone, Debug, Default)]
pub struct Body {
    /// Its local variables. The parameters come first, in order, starting with `self`.
    pub locals: Vec<Local>,
    /// The number of parameters.
    pub params: usize,
    /// The variables captured from the enclosing body, for closures and local functions.
    pub captures: Vec<Capture>,
    /// Its statements. Control reaches the end only if the result is `()`.
    pub statements: Vec<Stmt>,
}

/// A local variable or parameter.
#[derive(Clone, Debug)]
pub struct Local {
    /// Its name; empty for a variable that the checker created.
    pub name: Name,
    /// Its type.
    pub ty: Type,
    /// Whether it can be assigned to (`var`, `inout`).
    pub mutable: bool,
    /// Whether it is a `let` without an initial value, which is assigned once later. It counts as mutable.
    pub once: bool,
    /// Whether it is a parameter that is written back to the caller.
    pub is_inout: bool,
    /// Whether a closure or local function captures it. A captured mutable variable lives in a box.
    pub captured: bool,
    /// Whether it retains the instance that it refers to.
    pub ownership: Ownership,
    /// The span of its declaration.
    pub span: Span,
}

impl Local {
    /// Creates a variable or parameter that retains what it refers to; `is_mutable` states whether it can be assigned to.
    pub fn new(name: impl Into<Name>, ty: Type, is_mutable: bool, span: Span) -> Local {
        Local {
            name: name.into(),
            ty,
            mutable: is_mutable,
            once: false,
            is_inout: false,
            captured: false,
            ownership: Ownership::Strong,
            span,
        }
    }
}

/// Whether a variable or property retains the instance that it refers to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Ownership {
    /// The instance exists as long as the reference does.
    #[default]
    Strong,
    /// `weak`: an optional that becomes `nil` when the instance is destroyed.
    Weak,
    /// `unowned`: reading it after the instance was destroyed is a fault.
    Unowned,
}

/// A variable of the enclosing body that a closure or local function uses.
#[derive(Clone, Debug)]
pub struct Capture {
    /// The variable in the enclosing body.
    pub outer: LocalId,
    /// The variable of the closure's own body that represents it. A mutable one is shared (the same box), any other one
    /// is copied when the closure is created.
    pub inner: LocalId,
}

/// A statement.
#[derive(Clone, Debug)]
pub struct Stmt {
    /// Its kind.
    pub kind: StmtKind,
    /// Its span.
    pub span: Span,
}

/// The kinds of statements.
#[derive(Clone, Debug)]
pub enum StmtKind {
    /// An expression that is evaluated for its effect.
    Expr(Expr),
    /// `let pattern = value`; the pattern always matches. `value` is absent for a variable without an initial value.
    Let { pattern: Pattern, value: Option<Expr> },
    /// Initializes a global variable (also `let (a, b) = …`: the pattern binds locals first, which are then stored).
    InitGlobal { global: GlobalId, value: Expr },
    /// `place = value`
    Assign { place: Place, value: Expr },
    /// `if conditions { then } else { otherwise }`
    If { conditions: Vec<Condition>, then: Vec<Stmt>, otherwise: Vec<Stmt> },
    /// `guard conditions else { otherwise }`: the bindings of the conditions stay in scope. `end` is the closing brace.
    Guard { conditions: Vec<Condition>, otherwise: Vec<Stmt>, end: Span },
    /// `while conditions { body }`
    While { label: LabelId, conditions: Vec<Condition>, body: Vec<Stmt> },
    /// `repeat { body } while condition`
    Repeat { label: LabelId, body: Vec<Stmt>, condition: Expr },
    /// `for pattern in sequence where filter { body }`
    For {
        label: LabelId,
        pattern: Pattern,
        sequence: Expr,
        iteration: Iteration,
        filter: Option<Expr>,
        body: Vec<Stmt>,
    },
    /// `switch`: runs the first case that matches; `subject` is evaluated once into the local.
    Switch { label: LabelId, local: LocalId, subject: Expr, cases: Vec<Case> },
    /// A block that `break` can leave: `do { … }`, a labeled block.
    Block { label: LabelId, body: Vec<Stmt> },
    /// `return value`
    Return(Option<Expr>),
    /// `break`
    Break(LabelId),
    /// `continue`
    Continue(LabelId),
    /// `throw error`
    Throw(Expr),
    /// `defer { … }`: runs when the enclosing block is left.
    Defer(Vec<Stmt>),
    /// `do { body } catch …`; the error, an `any Error`, is in the local. An error that no case matches is rethrown.
    Catch { body: Vec<Stmt>, local: LocalId, cases: Vec<Case> },
    /// Brings a local function into scope; its captures are those of its body.
    LocalFunction(FunctionId),
}

/// The way in which a `for` loop steps through its sequence.
#[derive(Clone, Debug)]
pub enum Iteration {
    /// `Range<Int>`: fields `lowerBound`, `upperBound`.
    Range,
    /// `ClosedRange<Int>`
    ClosedRange,
    /// `Array`
    Array,
    /// Any other sequence: `make` takes the sequence and returns an iterator, which is stored in a variable; `next`
    /// takes the iterator as `inout` and returns an optional element.
    Iterator { make: Callee, iterator: Type, next: Callee },
}

/// A case of `switch` or `catch`.
#[derive(Clone, Debug)]
pub struct Case {
    /// The alternatives, each with its `where` clause; empty for `default`. All bind the same locals.
    pub patterns: Vec<(Pattern, Option<Expr>)>,
    /// Its statements.
    pub body: Vec<Stmt>,
    /// Whether it continues with the body of the next case.
    pub falls_through: bool,
    /// Its span.
    pub span: Span,
}

/// A condition of `if` or `while`.
#[derive(Clone, Debug)]
pub enum Condition {
    /// A `Bool`.
    Bool(Expr),
    /// `case pattern = value`; `if let x = y` is the pattern `x?`.
    Match { pattern: Pattern, value: Expr },
}

/// A pattern.
#[derive(Clone, Debug)]
pub struct Pattern {
    /// Its kind.
    pub kind: PatternKind,
    /// The type of the value that it is matched with.
    pub ty: Type,
    /// Its span.
    pub span: Span,
}

impl Pattern {
    /// Returns the locals that it binds.
    pub fn bound(&self) -> Vec<LocalId> {
        match &self.kind {
            PatternKind::Bind(local) => vec![*local],
            PatternKind::Tuple(parts) | PatternKind::Case { payload: parts, .. } => {
                parts.iter().flat_map(Pattern::bound).collect()
            }
            PatternKind::Some(inner) | PatternKind::Is { pattern: inner, .. } => inner.bound(),
            PatternKind::Wildcard | PatternKind::Nil | PatternKind::Test { .. } => vec![],
        }
    }
}

/// The kinds of patterns.
#[derive(Clone, Debug)]
pub enum PatternKind {
    /// `_`
    Wildcard,
    /// Binds the value to a local.
    Bind(LocalId),
    /// `(a, b)`
    Tuple(Vec<Pattern>),
    /// A case of an enum, by index, with patterns for its payload (fewer if the rest is ignored).
    Case { case: u32, payload: Vec<Pattern> },
    /// The value in an optional.
    Some(Box<Pattern>),
    /// `nil`
    Nil,
    /// The value is stored in the local, then the test must be true.
    Test { local: LocalId, test: Box<Expr> },
    /// `is Type`, with the pattern for the converted value.
    Is { ty: Type, pattern: Box<Pattern> },
}

/// An expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// Its kind.
    pub kind: ExprKind,
    /// Its type.
    pub ty: Type,
    /// Its span.
    pub span: Span,
}

impl Expr {
    /// Returns the operands of an operation that evaluates each of them once to a value, from left to right. Empty for
    /// expressions with another order of evaluation: calls, choices, chains, statements, places.
    pub fn operands(&self) -> Box<dyn Iterator<Item = &Expr> + '_> {
        match &self.kind {
            ExprKind::Field { base: one, .. }
            | ExprKind::Element { base: one, .. }
            | ExprKind::Some(one)
            | ExprKind::Force(one)
            | ExprKind::Erase(one)
            | ExprKind::Upcast(one)
            | ExprKind::Quiet(one)
            | ExprKind::Super(one)
            | ExprKind::ConvertFunction { value: one, .. }
            | ExprKind::Is { value: one, .. }
            | ExprKind::Cast { value: one, .. }
            | ExprKind::Try { value: one, .. } => Box::new(std::iter::once(&**one)),
            ExprKind::Tuple(parts)
            | ExprKind::Array(parts)
            | ExprKind::Struct { fields: parts }
            | ExprKind::Case { payload: parts, .. }
            | ExprKind::Interpolation(parts) => Box::new(parts.iter()),
            ExprKind::Dictionary(items) => Box::new(items.iter().flat_map(|(key, value)| [key, value])),
            _ => Box::new(std::iter::empty()),
        }
    }
}

/// The kinds of expressions.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// An integer literal of a built-in integer type (`Int` …).
    Int(i128),
    /// A number literal of type `Double` or `Float`.
    Float(f64),
    /// A string literal of type `String` or `Character`.
    Text(Rc<str>),
    /// `true`, `false`
    Bool(bool),
    /// `nil`
    Nil,
    /// The value of a variable of this body; a captured variable has a local, too.
    Local(LocalId),
    /// The value of a global variable.
    Global(GlobalId),
    /// The value of `base.field`, the stored property of a struct or class with this index.
    Field { base: Box<Expr>, index: u32 },
    /// The value of `base.index` for a tuple.
    Element { base: Box<Expr>, index: u32 },
    /// A tuple from its elements.
    Tuple(Vec<Expr>),
    /// `[a, b]`
    Array(Vec<Expr>),
    /// `[k: v]`
    Dictionary(Vec<(Expr, Expr)>),
    /// A struct from the values of all its stored properties in order, used in memberwise initializers; or an instance
    /// of a class, with no fields, because its properties have no values yet.
    Struct { fields: Vec<Expr> },
    /// A case of an enum with its payload.
    Case { case: u32, payload: Vec<Expr> },
    /// A call. The arguments are in the order of the parameters, with `self` first.
    Call { callee: Callee, args: Vec<Argument> },
    /// A call of a function value.
    CallValue { function: Box<Expr>, args: Vec<Argument> },
    /// A function declaration as a value. A function that is not local captures nothing; for a local function, its
    /// captures are captured.
    Function(FunctionRef),
    /// A requirement as a value.
    Requirement(Callee),
    /// A closure: a body with captures. It has the generic parameters of the enclosing function.
    Closure { function: FunctionId },
    /// `condition ? then : otherwise`; also `&&`, `||` and `??` after their autoclosures were expanded.
    Ternary { condition: Box<Expr>, then: Box<Expr>, otherwise: Box<Expr> },
    /// `if` and `switch` as expressions, and other uses of statements as a value: the statements assign the value to
    /// the local.
    Statements { statements: Vec<Stmt>, result: LocalId },
    /// A value as an optional of it.
    Some(Box<Expr>),
    /// `value!`
    Force(Box<Expr>),
    /// An optional chain. `base` is an optional; if it has a value, the value is stored in `local` and `body` is
    /// evaluated, otherwise the result is `nil`. `flatten`: the type of `body` is already optional.
    Chain { base: Box<Expr>, local: LocalId, body: Box<Expr>, flatten: bool },
    /// An optional chain through a place that is modified: `place?.mutate()`, `place?.x = 1`; `body` works on `local`,
    /// which is written back.
    ChainPlace { place: Place, local: LocalId, body: Box<Expr>, flatten: bool },
    /// A function value converted to another strength or to other `@noDerivative` parameters. With `differentiability` it is a
    /// conversion to `@differentiable` or `@differentiable(linear)`, which is checked (`wrt`: one flag per parameter).
    ConvertFunction { value: Box<Expr>, differentiability: Option<Differentiability> },
    /// A value converted to `Any` or `any P`.
    Erase(Box<Expr>),
    /// An instance as an instance of its superclass.
    Upcast(Box<Expr>),
    /// `super`: `self` as an instance of its superclass, whose members are used as declared there.
    Super(Box<Expr>),
    /// `value is T`, as a check at run time.
    Is { value: Box<Expr>, ty: Type },
    /// `value as? T`, `value as! T` (`forced`), as a check at run time.
    Cast { value: Box<Expr>, forced: bool },
    /// A call that throws no error although the callee is declared to throw: the callee rethrows, and no argument
    /// throws.
    Quiet(Box<Expr>),
    /// `try value`, `try?` (returns an optional), `try!`
    Try { kind: TryKind, value: Box<Expr> },
    /// A metatype; its type states the type that it represents.
    Metatype,
    /// `"a\(b)c"`: the parts, each of type `String`.
    Interpolation(Vec<Expr>),
    /// `place = value` as an expression of type `()`.
    Assign { place: Box<Place>, value: Box<Expr> },
    /// A choice that inference has not made yet. Never in a finished tree.
    Pending(u32),
    /// The value of an erroneous expression; the error was reported.
    Error,
}

/// An argument of a call.
#[derive(Clone, Debug)]
pub enum Argument {
    /// By value.
    Value(Expr),
    /// `&place`, or the receiver of a `mutating` method.
    InOut(Place),
}

/// A function declaration with generic arguments.
#[derive(Clone, PartialEq, Eq, Debug, Hash)]
pub struct FunctionRef {
    /// The function.
    pub function: FunctionId,
    /// One type per generic parameter (those of the enclosing types come first).
    pub generics: Vec<Type>,
}

/// The target of a call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Callee {
    /// A function that is known statically.
    Static(FunctionRef),
    /// The `requirement`-th requirement of a protocol, for which the conformance of `self_type` supplies the witness;
    /// `generics` are the generic arguments of the requirement itself.
    Requirement { protocol: ProtocolId, requirement: u32, self_type: Type, generics: Vec<Type> },
    /// A method of a class that subclasses may override.
    Class { class: NominalId, function: FunctionRef },
    /// A function that is called with the type of the value in an existential, or with the type that a metatype
    /// represents: the argument of the `param`-th parameter determines the `generic`-th generic argument.
    Opened { function: FunctionRef, generic: u32, param: u32 },
}

/// A storage location that can be read and written.
#[derive(Clone, Debug)]
pub struct Place {
    /// The variable or value that it starts from.
    pub root: Root,
    /// The projections, starting from the root.
    pub path: Vec<Projection>,
    /// The type of what is there.
    pub ty: Type,
    /// Its span.
    pub span: Span,
}

/// The starting point of a place.
#[derive(Clone, Debug)]
pub enum Root {
    /// A variable.
    Local(LocalId),
    /// A global variable.
    Global(GlobalId),
    /// A value that is only read: an instance of a class, or the receiver of a nonmutating setter.
    Value(Box<Expr>),
    /// No storage: `_ = value`.
    Discard,
}

/// A step in the path to a place.
#[derive(Clone, Debug)]
pub struct Projection {
    /// Its kind.
    pub kind: ProjectionKind,
    /// The type of what is there.
    pub ty: Type,
    /// Its span.
    pub span: Span,
}

/// The kinds of projections.
#[derive(Clone, Debug)]
pub enum ProjectionKind {
    /// A stored property of a struct, or of the class instance that the path leads to.
    Field(u32),
    /// An element of a tuple.
    Element(u32),
    /// A computed property or subscript: `get` takes the base and the arguments; `set` takes the base (as `inout`
    /// unless it is nonmutating), the new value and the arguments.
    Accessor { get: Callee, set: Callee, args: Vec<Expr>, mutating: bool },
    /// The value of an optional, which must not be `nil`: `place! = …`.
    Force,
}
