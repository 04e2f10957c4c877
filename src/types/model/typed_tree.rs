//! Typed tree: the checked form of function bodies, in which every name is resolved, every type is known (except for
//! generic parameters), and every implicit step is explicit.
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

/// The number of a function, method, initializer, accessor or closure: an index into `Definitions::functions`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct FunctionId(pub u32);

/// The number of a variable at the top level or of a static stored property: an index into `Definitions::globals`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct GlobalId(pub u32);

/// The number of a local variable or parameter: an index into [`Body::locals`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct LocalId(pub u32);

/// The number of a loop, `switch` or labeled block to which `break` and `continue` refer; numbered within a body.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct LabelId(pub u32);

/// The checked body of a function or closure.
#[derive(Clone, Debug, Default)]
pub struct Body {
    /// The local variables of the body. The parameters come first, in order, starting with `self`.
    pub locals: Vec<Local>,
    /// The number of parameters among the local variables.
    pub params: usize,
    /// The variables captured from the enclosing body, for closures and local functions.
    pub captures: Vec<Capture>,
    /// The statements of the body. Control reaches the end only if the result is `()`.
    pub statements: Vec<Stmt>,
}

/// A local variable or parameter of a body.
#[derive(Clone, Debug)]
pub struct Local {
    /// The name of the variable; empty for a variable that the checker created.
    pub name: Name,
    /// The type of the variable.
    pub ty: Type,
    /// Whether the variable can be assigned to (`var`, `inout`).
    pub mutable: bool,
    /// Whether the variable is a `let` without an initial value, which is assigned once later. Such a variable counts
    /// as mutable.
    pub once: bool,
    /// Whether the variable is a parameter that is written back to the caller.
    pub is_inout: bool,
    /// Whether a closure or local function captures the variable. A captured mutable variable lives in a box.
    pub captured: bool,
    /// Whether the variable retains the instance to which it refers.
    pub ownership: Ownership,
    /// The source location of the variable's declaration.
    pub span: Span,
}

impl Local {
    /// Creates a variable or parameter that retains the instance to which it refers; `is_mutable` states whether it can
    /// be assigned to.
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

/// Whether a variable or property retains the instance to which it refers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Ownership {
    /// The variable retains the instance: the instance exists as long as the reference does.
    #[default]
    Strong,
    /// The variable is `weak`: an optional that becomes `nil` when the instance is destroyed.
    Weak,
    /// The variable is `unowned`: reading it after the instance was destroyed is a fault.
    Unowned,
}

/// A variable of the enclosing body that a closure or local function uses.
#[derive(Clone, Debug)]
pub struct Capture {
    /// The captured variable in the enclosing body.
    pub outer: LocalId,
    /// The variable of the closure's own body that represents the captured variable. A mutable variable is shared (the
    /// same box), any other variable is copied when the closure is created.
    pub inner: LocalId,
}

/// A statement of a body.
#[derive(Clone, Debug)]
pub struct Stmt {
    /// The kind of the statement.
    pub kind: StmtKind,
    /// The source location of the statement.
    pub span: Span,
}

/// The kinds of statements.
#[derive(Clone, Debug)]
pub enum StmtKind {
    /// An expression that is evaluated for its effect.
    Expr(Expr),
    /// A declaration `let pattern = value`; the pattern always matches. `value` is absent for a variable without an
    /// initial value.
    Let { pattern: Pattern, value: Option<Expr> },
    /// An initialization of a global variable. A pattern such as `let (a, b) = …` first binds locals, whose values are
    /// then stored.
    InitGlobal { global: GlobalId, value: Expr },
    /// An assignment `place = value`.
    Assign { place: Place, value: Expr },
    /// A branch `if conditions { then } else { otherwise }`.
    If { conditions: Vec<Condition>, then: Vec<Stmt>, otherwise: Vec<Stmt> },
    /// A branch `guard conditions else { otherwise }`: the bindings of the conditions stay in scope. `end` is the
    /// closing brace.
    Guard { conditions: Vec<Condition>, otherwise: Vec<Stmt>, end: Span },
    /// A loop `while conditions { body }`.
    While { label: LabelId, conditions: Vec<Condition>, body: Vec<Stmt> },
    /// A loop `repeat { body } while condition`.
    Repeat { label: LabelId, body: Vec<Stmt>, condition: Expr },
    /// A loop `for pattern in sequence where filter { body }`.
    For {
        label: LabelId,
        pattern: Pattern,
        sequence: Expr,
        iteration: Iteration,
        filter: Option<Expr>,
        body: Vec<Stmt>,
    },
    /// A `switch`: runs the first case that matches; `subject` is evaluated once into the local variable.
    Switch { label: LabelId, local: LocalId, subject: Expr, cases: Vec<Case> },
    /// A block that `break` can leave: `do { … }`, a labeled block.
    Block { label: LabelId, body: Vec<Stmt> },
    /// A statement `return value`.
    Return(Option<Expr>),
    /// A `break` that leaves the statement with the label.
    Break(LabelId),
    /// A `continue` that starts the next iteration of the loop with the label.
    Continue(LabelId),
    /// A statement `throw error`.
    Throw(Expr),
    /// A statement `defer { … }`, which runs when the enclosing block is left.
    Defer(Vec<Stmt>),
    /// A statement `do { body } catch …`; the error, an `any Error`, is in the local variable. An error that no case
    /// matches is rethrown.
    Catch { body: Vec<Stmt>, local: LocalId, cases: Vec<Case> },
    /// The declaration of a local function, which brings the function into scope.
    LocalFunction(FunctionId),
}

/// The way in which a `for` loop steps through its sequence.
#[derive(Clone, Debug)]
pub enum Iteration {
    /// The loop steps through a `Range<Int>`, with the fields `lowerBound` and `upperBound`.
    Range,
    /// The loop steps through a `ClosedRange<Int>`.
    ClosedRange,
    /// The loop steps through the elements of an `Array`.
    Array,
    /// The loop steps through any other sequence: `make` takes the sequence and returns an iterator, which is stored in
    /// a variable; `next` takes the iterator as `inout` and returns an optional element.
    Iterator { make: Callee, iterator: Type, next: Callee },
}

/// A case of `switch` or `catch`.
#[derive(Clone, Debug)]
pub struct Case {
    /// The alternative patterns of the case, each with its `where` clause; empty for `default`. All alternatives bind
    /// the same local variables.
    pub patterns: Vec<(Pattern, Option<Expr>)>,
    /// The statements of the case.
    pub body: Vec<Stmt>,
    /// Whether the case continues with the body of the next case.
    pub falls_through: bool,
    /// The source location of the case.
    pub span: Span,
}

/// A condition of `if` or `while`.
#[derive(Clone, Debug)]
pub enum Condition {
    /// A condition of type `Bool`.
    Bool(Expr),
    /// A condition `case pattern = value`; `if let x = y` has the pattern `x?`.
    Match { pattern: Pattern, value: Expr },
}

/// A pattern that is matched with a value.
#[derive(Clone, Debug)]
pub struct Pattern {
    /// The kind of the pattern.
    pub kind: PatternKind,
    /// The type of the value with which the pattern is matched.
    pub ty: Type,
    /// The source location of the pattern.
    pub span: Span,
}

impl Pattern {
    /// Returns the local variables that the pattern binds.
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
    /// The wildcard pattern `_`.
    Wildcard,
    /// A pattern that binds the value to a local variable.
    Bind(LocalId),
    /// A tuple pattern `(a, b)`.
    Tuple(Vec<Pattern>),
    /// A case of an enum, by index, with patterns for its payload (fewer if the rest is ignored).
    Case { case: u32, payload: Vec<Pattern> },
    /// A pattern for the value in an optional.
    Some(Box<Pattern>),
    /// The pattern `nil`.
    Nil,
    /// A pattern with a test: the value is stored in the local variable, then the test must be true.
    Test { local: LocalId, test: Box<Expr> },
    /// A pattern `is Type`, with the pattern for the converted value.
    Is { ty: Type, pattern: Box<Pattern> },
}

/// An expression of a body.
#[derive(Clone, Debug)]
pub struct Expr {
    /// The kind of the expression.
    pub kind: ExprKind,
    /// The type of the expression.
    pub ty: Type,
    /// The source location of the expression.
    pub span: Span,
}

impl Expr {
    /// Returns the operands of an operation that evaluates each operand once to a value, from left to right. The result
    /// is empty for expressions with another order of evaluation: calls, choices, chains, statements, places.
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
    /// The literal `true` or `false`.
    Bool(bool),
    /// The literal `nil`.
    Nil,
    /// The value of a variable of this body; a captured variable is represented by a local variable, too.
    Local(LocalId),
    /// The value of a global variable.
    Global(GlobalId),
    /// The value of `base.field`, the stored property of a struct or class with the given index.
    Field { base: Box<Expr>, index: u32 },
    /// The value of `base.index` for a tuple.
    Element { base: Box<Expr>, index: u32 },
    /// A tuple that is created from its elements.
    Tuple(Vec<Expr>),
    /// An array literal `[a, b]`.
    Array(Vec<Expr>),
    /// A dictionary literal `[k: v]`.
    Dictionary(Vec<(Expr, Expr)>),
    /// A struct that is created from the values of all its stored properties in order, in memberwise initializers; or
    /// an instance of a class, without fields, because its properties have no values yet.
    Struct { fields: Vec<Expr> },
    /// A case of an enum with its payload.
    Case { case: u32, payload: Vec<Expr> },
    /// A call of a callee. The arguments are in the order of the parameters, with `self` first.
    Call { callee: Callee, args: Vec<Argument> },
    /// A call of a function value.
    CallValue { function: Box<Expr>, args: Vec<Argument> },
    /// A function declaration as a value. The value of a local function contains the captures of the function; other
    /// functions have no captures.
    Function(FunctionRef),
    /// A requirement of a protocol as a value.
    Requirement(Callee),
    /// A closure: a body with captures. A closure has the generic parameters of the enclosing function.
    Closure { function: FunctionId },
    /// A conditional `condition ? then : otherwise`; also `&&`, `||` and `??` after their autoclosures were expanded.
    Ternary { condition: Box<Expr>, then: Box<Expr>, otherwise: Box<Expr> },
    /// `if` and `switch` as expressions, and other uses of statements as a value: the statements assign the value to
    /// the local.
    Statements { statements: Vec<Stmt>, result: LocalId },
    /// A value that is converted to an optional.
    Some(Box<Expr>),
    /// A forced unwrapping `value!`.
    Force(Box<Expr>),
    /// An optional chain. `base` is an optional; if it has a value, the value is stored in `local` and `body` is
    /// evaluated, otherwise the result is `nil`. `flatten` states that the type of `body` is already optional.
    Chain { base: Box<Expr>, local: LocalId, body: Box<Expr>, flatten: bool },
    /// An optional chain through a place that is modified: `place?.mutate()`, `place?.x = 1`; `body` works on `local`,
    /// which is written back.
    ChainPlace { place: Place, local: LocalId, body: Box<Expr>, flatten: bool },
    /// A function value converted to another strength or to other `@noDerivative` parameters. `differentiability` is
    /// present for a conversion to `@differentiable` or `@differentiable(linear)`, which is checked; `wrt` has one flag
    /// per parameter.
    ConvertFunction { value: Box<Expr>, differentiability: Option<Differentiability> },
    /// A value that is converted to `Any` or `any P`.
    Erase(Box<Expr>),
    /// An instance that is converted to an instance of its superclass.
    Upcast(Box<Expr>),
    /// The value of `super`: `self` as an instance of its superclass, whose members are used as declared there.
    Super(Box<Expr>),
    /// A test `value is T` at run time.
    Is { value: Box<Expr>, ty: Type },
    /// A cast `value as? T`, or `value as! T` (`forced`), at run time.
    Cast { value: Box<Expr>, forced: bool },
    /// A call that throws no error although the callee is declared to throw: the callee rethrows, and no argument
    /// throws.
    Quiet(Box<Expr>),
    /// An expression `try value`, `try? value` (which returns an optional), or `try! value`.
    Try { kind: TryKind, value: Box<Expr> },
    /// A metatype, whose type states the represented type.
    Metatype,
    /// An interpolated string `"a\(b)c"`: the parts, each of type `String`.
    Interpolation(Vec<Expr>),
    /// An assignment `place = value` as an expression of type `()`.
    Assign { place: Box<Place>, value: Box<Expr> },
    /// A choice that inference has not made yet. This kind never occurs in a finished tree.
    Pending(u32),
    /// The value of an erroneous expression, whose error was reported.
    Error,
}

/// An argument of a call.
#[derive(Clone, Debug)]
pub enum Argument {
    /// An argument that is passed by value.
    Value(Expr),
    /// An argument that is passed by reference: `&place`, or the receiver of a `mutating` method.
    InOut(Place),
}

/// A function declaration with generic arguments.
#[derive(Clone, PartialEq, Eq, Debug, Hash)]
pub struct FunctionRef {
    /// The function to which the reference refers.
    pub function: FunctionId,
    /// One type per generic parameter of the function (the generic parameters of enclosing types come first).
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
    /// The variable or value from which the path starts.
    pub root: Root,
    /// The projections of the path, starting from the root.
    pub path: Vec<Projection>,
    /// The type of the value that is stored at the place.
    pub ty: Type,
    /// The source location of the place.
    pub span: Span,
}

/// The starting point of the path to a place.
#[derive(Clone, Debug)]
pub enum Root {
    /// A local variable.
    Local(LocalId),
    /// A global variable.
    Global(GlobalId),
    /// A value that is only read, and not written back: an instance of a class, or the receiver of a nonmutating
    /// setter.
    Value(Box<Expr>),
    /// No storage: the assigned value is discarded, as in `_ = value`.
    Discard,
}

/// A step in the path to a place.
#[derive(Clone, Debug)]
pub struct Projection {
    /// The kind of the projection.
    pub kind: ProjectionKind,
    /// The type of the value to which the projection leads.
    pub ty: Type,
    /// The source location of the projection.
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
    /// The value of an optional, which must not be `nil`, as in `place! = …`.
    Force,
}
