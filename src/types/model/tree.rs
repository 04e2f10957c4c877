//! The typed tree: every name resolved, every type known (generic parameters apart), every implicit step written out.
//!
//! Functions are checked once, uninstantiated: types in a body may be [`Type::Param`] of the function's generic
//! parameters. `ir` compiles them for concrete types; a call of a protocol's requirement ([`Callee::Requirement`]) is
//! resolved then, by the conformance of the concrete type.

#![allow(missing_docs, reason = "the comment of a variant names its fields")]

use crate::source::Span;
use crate::syntax::ast::Name;
pub use crate::syntax::ast::TryKind;
use crate::types::model::ty::{NominalId, ProtocolId, Type};
use std::rc::Rc;

/// A function, method, initializer, accessor or closure: an index into [`TypeContext::functions`](crate::types::TypeContext).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct FunctionId(pub u32);

/// A variable at the top level or a static stored property: an index into [`TypeContext::globals`](crate::types::TypeContext).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct GlobalId(pub u32);

/// A local variable or parameter: an index into [`Body::locals`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct LocalId(pub u32);

/// A loop, `switch` or labelled block that `break` and `continue` name; counted within a body.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct LabelId(pub u32);

/// The body of a function or closure, checked.
#[derive(Clone, Debug, Default)]
pub struct Body {
    /// Its local variables. The parameters come first, in order (`self` first of all).
    pub locals: Vec<Local>,
    /// How many of them are parameters.
    pub params: usize,
    /// What is captured from the enclosing body, for closures and local functions.
    pub captures: Vec<Capture>,
    /// Its statements. Falls through only where the result is `()`.
    pub statements: Vec<Stmt>,
}

/// A local variable or parameter.
#[derive(Clone, Debug)]
pub struct Local {
    /// Its name; empty for one that the checker made.
    pub name: Name,
    /// Its type.
    pub ty: Type,
    /// Whether it can be assigned to (`var`, `inout`).
    pub mutable: bool,
    /// Whether it is a `let` without a value, which is assigned once, later. It counts as mutable.
    pub once: bool,
    /// Whether it is a parameter that is written back to the caller.
    pub is_inout: bool,
    /// Whether a closure or local function captures it. A captured mutable variable lives in a box.
    pub captured: bool,
    /// Whether it keeps what it refers to.
    pub ownership: Ownership,
    /// Where it is declared.
    pub span: Span,
}

/// Whether a variable or property keeps the instance that it refers to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Ownership {
    /// As long as it refers to it, it is there.
    #[default]
    Strong,
    /// `weak`: an optional that is `nil` when the instance is gone.
    Weak,
    /// `unowned`: to read it when the instance is gone is a failure.
    Unowned,
}

/// A variable of the enclosing body that a closure or local function uses.
#[derive(Clone, Debug)]
pub struct Capture {
    /// The variable in the enclosing body.
    pub outer: LocalId,
    /// The variable of the closure's own body that stands for it. A mutable one is shared (the same box), any other is
    /// copied when the closure is made.
    pub inner: LocalId,
}

/// A statement.
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
    /// An expression for its effect.
    Expr(Expr),
    /// `let pattern = value`; the pattern always matches. A variable without a value has none.
    Let { pattern: Pattern, value: Option<Expr> },
    /// Initialises a global variable (also `let (a, b) = …`: the pattern binds locals first, which are then stored).
    InitGlobal { global: GlobalId, value: Expr },
    /// `place = value`
    Assign { place: Place, value: Expr },
    /// `if conditions { then } else { otherwise }`
    If { conditions: Vec<Condition>, then: Vec<Stmt>, otherwise: Vec<Stmt> },
    /// `guard conditions else { otherwise }`: what the conditions bind stays in scope. `end` is the closing brace.
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
    /// `switch`: the first case that matches is run; `subject` is evaluated once into the local.
    Switch { label: LabelId, local: LocalId, subject: Expr, cases: Vec<Case> },
    /// A block of its own, which `break` can leave: `do { … }`, a labeled block.
    Block { label: LabelId, body: Vec<Stmt> },
    /// `return value`
    Return(Option<Expr>),
    /// `break`
    Break(LabelId),
    /// `continue`
    Continue(LabelId),
    /// `throw error`
    Throw(Expr),
    /// `defer { … }`: runs when the surrounding block is left.
    Defer(Vec<Stmt>),
    /// `do { body } catch …`; the error, an `any Error`, is in the local. What no case takes is thrown on.
    Catch { body: Vec<Stmt>, local: LocalId, cases: Vec<Case> },
    /// A local function comes into scope; its captures are those of its body.
    LocalFunction(FunctionId),
}

/// How a `for` loop steps through its sequence.
#[derive(Clone, Debug)]
pub enum Iteration {
    /// `Range<Int>`: fields `lowerBound`, `upperBound`.
    Range,
    /// `ClosedRange<Int>`
    ClosedRange,
    /// `Array`
    Array,
    /// Any other sequence: `make` (takes the sequence) gives an iterator, which is kept in a variable; `next` (takes it
    /// `inout`) gives an optional element.
    Iterator { make: Callee, iterator: Type, next: Callee },
}

/// A case of `switch` or `catch`.
#[derive(Clone, Debug)]
pub struct Case {
    /// Alternatives with their `where`; empty for `default`. All bind the same locals.
    pub patterns: Vec<(Pattern, Option<Expr>)>,
    /// What is done.
    pub body: Vec<Stmt>,
    /// Whether it goes on with the body of the next case.
    pub falls_through: bool,
    /// Where.
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
    /// What it is.
    pub kind: PatternKind,
    /// The type of what it is matched with.
    pub ty: Type,
    /// Where.
    pub span: Span,
}

impl Pattern {
    /// The locals that it binds.
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
    /// A case of an enum, by its number, with patterns for its payload (fewer where the rest is ignored).
    Case { case: u32, payload: Vec<Pattern> },
    /// A present value of an optional.
    Some(Box<Pattern>),
    /// `nil`
    Nil,
    /// The value is put in the local, then the test must be true.
    Test { local: LocalId, test: Box<Expr> },
    /// `is Type`, and the pattern for the converted value.
    Is { ty: Type, pattern: Box<Pattern> },
}

/// An expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Its type.
    pub ty: Type,
    /// Where.
    pub span: Span,
}

impl Expr {
    /// The expressions that an operation of this kind takes one value each of, from left to right. Empty for what is
    /// evaluated in another way: calls, choices, chains, statements, places.
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
    /// A text literal of type `String` or `Character`.
    Text(Rc<str>),
    /// `true`, `false`
    Bool(bool),
    /// `nil`
    Nil,
    /// The value of a variable (of the own body; a captured one has a local, too).
    Local(LocalId),
    /// The value of a global variable.
    Global(GlobalId),
    /// The value of `base.field`, the `index`-th stored property of a struct or class.
    Field { base: Box<Expr>, index: u32 },
    /// The value of `base.index` of a tuple.
    Element { base: Box<Expr>, index: u32 },
    /// A tuple of values.
    Tuple(Vec<Expr>),
    /// `[a, b]`
    Array(Vec<Expr>),
    /// `[k: v]`
    Dictionary(Vec<(Expr, Expr)>),
    /// A value of a struct from the values of all its stored properties in order, used in memberwise initializers; an
    /// instance of a class, whose properties have no values yet and are not given.
    Struct { fields: Vec<Expr> },
    /// A case of an enum with its payload.
    Case { case: u32, payload: Vec<Expr> },
    /// A call. Arguments in the order of the parameters; `self` is the first one.
    Call { callee: Callee, args: Vec<Argument> },
    /// A call of a function value.
    CallValue { function: Box<Expr>, args: Vec<Argument> },
    /// A function declaration as a value (static; captures nothing). For a local function what it captures is captured.
    Function(FunctionRef),
    /// A requirement as a value.
    Requirement(Callee),
    /// A closure: its own body, with its captures. Has the generic parameters of the function around it.
    Closure { function: FunctionId },
    /// `condition ? then : otherwise`; also `&&`, `||` and `??` after their arguments were unpacked.
    Ternary { condition: Box<Expr>, then: Box<Expr>, otherwise: Box<Expr> },
    /// `if`/`switch` as expressions, and other places where statements give a value: the statements assign it to the
    /// local.
    Statements { statements: Vec<Stmt>, result: LocalId },
    /// A value as an optional of it.
    Some(Box<Expr>),
    /// `value!`
    Force(Box<Expr>),
    /// An optional chain: `base` is an optional; when there is a value it is put into `local` and `body` (of type `T`
    /// or already `T?`, see `flatten`) is evaluated, otherwise the whole is `nil`.
    Chain { base: Box<Expr>, local: LocalId, body: Box<Expr>, flatten: bool },
    /// An optional chain through a place that is modified: `place?.mutate()`, `place?.x = 1`; statements run on `local`,
    /// which is written back.
    ChainPlace { place: Place, local: LocalId, body: Box<Expr>, flatten: bool },
    /// A function value where another strength or other `@noDerivative` parameters are asked for. With `promise` it is a
    /// conversion to `@differentiable` or `@differentiable(linear)`, which is checked (`wrt`: one flag a parameter).
    ConvertFunction { value: Box<Expr>, promise: Option<Promise> },
    /// A value as `Any` or `any P`.
    Erase(Box<Expr>),
    /// An instance as one of its superclass.
    Upcast(Box<Expr>),
    /// `super`: `self` as one of its superclass, whose members are taken as they are declared there.
    Super(Box<Expr>),
    /// `value is T`, `as? T`, `as! T` where it has to be looked at while running.
    Is { value: Box<Expr>, ty: Type },
    /// See [`ExprKind::Is`].
    Cast { value: Box<Expr>, forced: bool },
    /// A call from which no error comes, although what is called may throw: it only hands on what it is given.
    Quiet(Box<Expr>),
    /// `try value`, `try?` (gives an optional), `try!`
    Try { kind: TryKind, value: Box<Expr> },
    /// A metatype: no value at all.
    Metatype,
    /// `"a\(b)c"`: the parts, each of type `String`.
    Interpolation(Vec<Expr>),
    /// `place = value` where an expression is asked for; gives `()`.
    Assign { place: Box<Place>, value: Box<Expr> },
    /// A choice that inference has not made yet. Never in a finished tree.
    Pending(u32),
    /// A value that never comes (behind a reported error).
    Error,
}

/// What is promised where a function is converted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Promise {
    /// `@differentiable(linear)`
    pub linear: bool,
    /// One flag a parameter: whether it is differentiated.
    pub wrt: Vec<bool>,
}

/// An argument of a call.
#[derive(Clone, Debug)]
pub enum Argument {
    /// By value.
    Value(Expr),
    /// `&place`, or the receiver of a `mutating` method.
    InOut(Place),
}

/// A function declaration for given generic arguments.
#[derive(Clone, PartialEq, Eq, Debug, Hash)]
pub struct FunctionRef {
    /// The function.
    pub function: FunctionId,
    /// One type for each of its generic parameters (those of the enclosing types come first).
    pub generics: Vec<Type>,
}

/// What is called.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Callee {
    /// A function that is known.
    Static(FunctionRef),
    /// The `requirement`-th requirement of a protocol, as the conformance of `self_type` supplies it; `generics` are
    /// those of the requirement itself.
    Requirement { protocol: ProtocolId, requirement: u32, self_type: Type, generics: Vec<Type> },
    /// A method of a class that subclasses may override.
    Class { class: NominalId, function: FunctionRef },
    /// A function for the type of the value in an existential, or for the type that a metatype stands for: the argument
    /// of the `param`-th parameter says what the `generic`-th generic argument is.
    Opened { function: FunctionRef, generic: u32, param: u32 },
}

/// Something that can be read and written.
#[derive(Clone, Debug)]
pub struct Place {
    /// Where it begins.
    pub root: Root,
    /// The way from there.
    pub path: Vec<Projection>,
    /// The type of what is there.
    pub ty: Type,
    /// Where.
    pub span: Span,
}

/// Where a place begins.
#[derive(Clone, Debug)]
pub enum Root {
    /// A variable.
    Local(LocalId),
    /// A global variable.
    Global(GlobalId),
    /// A value that is only looked through: an instance of a class, or the receiver of a setter that does not mutate.
    Value(Box<Expr>),
    /// Nowhere: `_ = value`.
    Discard,
}

/// A step on the way to a place.
#[derive(Clone, Debug)]
pub struct Projection {
    /// Which step.
    pub kind: ProjectionKind,
    /// The type of what is there.
    pub ty: Type,
    /// Where.
    pub span: Span,
}

/// The steps.
#[derive(Clone, Debug)]
pub enum ProjectionKind {
    /// A stored property of a struct, or of the class instance that the way leads to.
    Field(u32),
    /// An element of a tuple.
    Element(u32),
    /// A computed property or subscript: `get` takes the base and the arguments; `set` takes the base (`inout` unless it
    /// does not mutate), the new value and the arguments.
    Accessor { get: Callee, set: Callee, args: Vec<Expr>, mutating: bool },
    /// The value of an optional, which must be there: `place! = …`.
    Force,
}
