//! Random well-typed programs: functions of one or two numbers that use all constructs of the language.
//!
//! In: a source of randomness. Out: a [`Program`], which [`render`] converts to text.
//!
//! Promises: every program is well-typed and terminates (loops and recursions are counted); numbers remain small, because
//! stored numbers pass through a bounded function; no primitive leaves its domain. A reference to a name is an index into the
//! names in scope, so that any part can be removed when a failing program is reduced. One quarter of the programs are
//! purely arithmetic, so that there is adjoint code for them.
//! Not here: the checks ([`agree`]); `tests/suite/properties.rs` and `fuzz/` generate the programs.

pub mod agree;
mod kinds;
pub mod render;
use proptest::collection::vec;
use proptest::prelude::*;

/// A program: helper functions, and the differentiated function.
#[derive(Clone, Debug)]
pub struct Program {
    /// Whether only constructs with adjoint code are rendered.
    pub is_arithmetic: bool,
    /// The helper functions, each of which may be called by later ones.
    pub helpers: Vec<Helper>,
    /// The differentiated function.
    pub main: Body,
}

/// A helper function.
#[derive(Clone, Debug)]
pub enum Helper {
    /// `func h(_ x: Double, _ y: Double) -> Double { … }`
    Plain(Body),
    /// Calls itself a counted number of times: the final result, and the function of the recursive result.
    Recursive { last: Expr, step: Expr, times: u8 },
    /// Throws unless it returns early: `func h(_ x: Double, _ y: Double) throws -> Double { … }`
    Throwing(Body),
    /// Changes its parameter, also by calls of other functions: `func h(_ a: inout Double, _ t: Double) { … a = … h(&a, …) }`
    InOut { before: Vec<Stmt>, value: Expr, calls: Vec<(Pick, Expr)> },
}

/// Statements, and the value that is returned after them.
#[derive(Clone, Debug)]
pub struct Body {
    /// The statements.
    pub statements: Vec<Stmt>,
    /// The result.
    pub result: Expr,
}

/// The choice of an element: an index modulo the number of elements in scope.
pub type Pick = u8;

/// A statement.
#[derive(Clone, Debug)]
pub enum Stmt {
    /// `let v = …`
    Let(Bounded),
    /// `var v = …`
    Var(Bounded),
    /// `v = …`
    Assign(Pick, Bounded),
    /// `v += …`
    Add(Pick, Bounded),
    /// `swap(&v, &w)` in two assignments of a tuple.
    Swap(Pick, Pick),
    /// `if … { … } else { … }`
    If(Condition, Vec<Stmt>, Vec<Stmt>),
    /// `for i in 0..<n { … }`
    For(u8, Vec<Stmt>),
    /// `while n < … { n += 1 … }`
    While(u8, Vec<Stmt>),
    /// `repeat { … } while n < …`
    Repeat(u8, Vec<Stmt>),
    /// `if … { break }` or `continue` in a loop, possibly with the label of an outer one.
    Leave(Condition, bool, Pick),
    /// `label: do { … }`
    Labeled(Vec<Stmt>),
    /// `do { … if … { throw … } } catch Refusal.refused(let e) { … } catch { … }`
    Catch(Vec<Stmt>, Condition, Bounded, Vec<Stmt>),
    /// `if … { throw … }`
    Throw(Condition, Bounded),
    /// `defer { … }`
    Defer(Vec<Stmt>),
    /// `checkpoint { … }`
    Checkpoint(Vec<Stmt>),
    /// `let k = { (t: Double) -> Double in … }` with statements, which change captured variables.
    Routine(Vec<Stmt>, Expr),
    /// `let c = gradient(at: …) { (t: Double) -> Double in … }`, or another operator, with statements.
    Inner(u8, Bounded, Vec<Stmt>, Expr),
    /// `if … { return … }`
    Return(Condition, Expr),
    /// `switch i % 3 { case 0: … case 1: … default: … }`
    Switch(Pick, Vec<Stmt>, Vec<Stmt>, Vec<Stmt>),
    /// `var a = [ …, …, … ]`
    Array(Vec<Bounded>),
    /// `a[i] = …`
    Store(Pick, Pick, Bounded),
    /// `a[i] += …`
    AddElement(Pick, Pick, Bounded),
    /// `a.append(…)`
    Append(Pick, Bounded),
    /// `for e in a { … }`
    ForIn(Pick, Vec<Stmt>),
    /// `var b = a`, `b[i] = …`: a copy, whose change does not affect the original.
    CopyArray(Pick, Bounded),
    /// `var p = Pair(a: …, b: …)`
    Struct(Bounded, Bounded),
    /// `p.a = …`
    StoreField(Pick, bool, Bounded),
    /// `p.push(…)`
    Mutate(Pick, Expr),
    /// `let c = { (t: Double) -> Double in … }`
    Closure(Expr),
    /// A closure that adds to a captured variable, called twice.
    Accumulate(Bounded, Expr, Expr),
    /// `let (a, b) = (…, …)`
    Tuple(Bounded, Bounded),
    /// `let o: Double? = … ? … : nil`, `let v = o ?? …`
    Optional(Condition, Bounded, Bounded),
    /// `change(&v, …)`, a helper function with an `inout` parameter: a variable, an element or a field.
    InOut(Pick, Pick, Expr),
    /// A local function, called immediately.
    LocalFunction(Expr, Expr),
    /// A declaration of a value of one of the [kinds]: the indices of the kind and of the template.
    Make(u8, u8, Filling),
    /// A change of such a value.
    Alter(Pick, u8, Filling),
    /// A change of a variable that consists of several steps.
    AlterVariable(Pick, u8, Filling),
    /// Blocks in which a part of such a value is bound, or which run when the part does not exist.
    Open(Pick, u8, Filling, Vec<Stmt>, Vec<Stmt>),
}

/// The operands of a template.
#[derive(Clone, Debug)]
pub struct Filling(pub Condition, pub Bounded, pub Bounded);

/// An expression whose value is bounded before it is stored.
#[derive(Clone, Debug)]
pub struct Bounded(pub Bound, pub Expr);

/// The bounded function.
#[derive(Clone, Copy, Debug)]
pub enum Bound {
    /// `sin(…)`
    Sin,
    /// `tanh(…)`
    Tanh,
    /// `atan(…)`
    Atan,
    /// `0.5 * cos(…)`
    Cos,
}

/// A condition.
#[derive(Clone, Debug)]
pub enum Condition {
    /// `a < b`, with an offset so that equal expressions are not at the threshold.
    Less(Expr, Expr),
    /// `i % 2 == 0` of a loop variable.
    Even(Pick),
    /// `a < b && c < d`
    Both(Box<Condition>, Box<Condition>),
    /// `!…`
    Not(Box<Condition>),
}

/// A numeric expression.
#[derive(Clone, Debug)]
pub enum Expr {
    /// A literal, in sixteenths.
    Constant(i8),
    /// A variable.
    Variable(Pick),
    /// `a[i]`
    Element(Pick, Pick),
    /// `p.a`, `p.b`, `p.sum`
    Field(Pick, u8),
    /// A primitive of one number.
    Unary(u8, Box<Expr>),
    /// A primitive or operator of two numbers.
    Binary(u8, Box<Expr>, Box<Expr>),
    /// A call of a helper function.
    Call(Pick, Box<Expr>, Box<Expr>),
    /// A call of a closure.
    CallClosure(Pick, Box<Expr>),
    /// `p.mix(…)`
    Method(Pick, Box<Expr>),
    /// `Pair(a: …, b: …).mix(0.5)`: a value that is not stored.
    Temporary(Box<Expr>, Box<Expr>),
    /// `(… ? … : …)`
    Ternary(Box<Condition>, Box<Expr>, Box<Expr>),
    /// `a.map { t in … }.reduce(0.0, +)`
    MapReduce(Pick, Box<Expr>),
    /// `pick(…, …, …)`, a generic function.
    Generic(Box<Condition>, Box<Expr>, Box<Expr>),
    /// `apply(…) { t in … }`, a function with a closure parameter.
    HigherOrder(Box<Expr>, Box<Expr>),
    /// A number that is read from a value of one of the [kinds].
    Read(Pick, u8, Box<Expr>),
}

/// Generates a program.
pub fn program() -> impl Strategy<Value = Program> {
    (proptest::bool::weighted(0.25), vec(helper(), 0..3), body(8)).prop_map(|(is_arithmetic, helpers, main)| Program {
        is_arithmetic,
        helpers,
        main,
    })
}

fn helper() -> impl Strategy<Value = Helper> {
    prop_oneof![
        2 => body(2).prop_map(Helper::Plain),
        1 => (expr(2), expr(2), 1..5u8).prop_map(|(last, step, times)| Helper::Recursive { last, step, times }),
        1 => body(2).prop_map(Helper::Throwing),
        1 => (vec(stmt(), 0..2), expr(2), vec((any::<Pick>(), expr(1)), 0..3))
            .prop_map(|(before, value, calls)| Helper::InOut { before, value, calls }),
    ]
}

fn body(statements: usize) -> impl Strategy<Value = Body> {
    (vec(stmt(), 0..=statements), expr(3)).prop_map(|(statements, result)| Body { statements, result })
}

fn bounded() -> impl Strategy<Value = Bounded> {
    let bound = prop_oneof![Just(Bound::Sin), Just(Bound::Tanh), Just(Bound::Atan), Just(Bound::Cos)];
    (bound, expr(2)).prop_map(|(bound, expr)| Bounded(bound, expr))
}

fn stmt() -> impl Strategy<Value = Stmt> {
    let nested = change().prop_recursive(2, 12, 3, |inner| prop_oneof![3 => inner.clone(), 2 => control(inner)]);
    prop_oneof![
        4 => declaration(),
        4 => change(),
        4 => control(nested.boxed()),
    ]
}

/// Generates blocks and loops around other statements.
fn control(inner: BoxedStrategy<Stmt>) -> impl Strategy<Value = Stmt> {
    let block = || vec(prop_oneof![4 => inner.clone(), 1 => declaration()], 1..=3);
    prop_oneof![
        2 => (condition(1), block(), block()).prop_map(|(c, a, b)| Stmt::If(c, a, b)),
        1 => (2..4u8, block()).prop_map(|(n, body)| Stmt::For(n, body)),
        1 => (2..4u8, block()).prop_map(|(n, body)| Stmt::While(n, body)),
        1 => (2..4u8, block()).prop_map(|(n, body)| Stmt::Repeat(n, body)),
        1 => (any::<Pick>(), block()).prop_map(|(a, body)| Stmt::ForIn(a, body)),
        1 => (any::<Pick>(), block(), block(), block()).prop_map(|(i, a, b, c)| Stmt::Switch(i, a, b, c)),
        2 => (any::<Pick>(), any::<u8>(), filling(), block(), block())
            .prop_map(|(thing, how, fill, a, b)| Stmt::Open(thing, how, fill, a, b)),
        1 => block().prop_map(Stmt::Labeled),
        1 => (block(), condition(1), bounded(), block()).prop_map(|(a, c, e, b)| Stmt::Catch(a, c, e, b)),
        1 => block().prop_map(Stmt::Defer),
        1 => block().prop_map(Stmt::Checkpoint),
        1 => (block(), expr(1)).prop_map(|(body, result)| Stmt::Routine(body, result)),
        1 => (any::<u8>(), bounded(), block(), expr(2))
            .prop_map(|(operator, at, body, result)| Stmt::Inner(operator, at, body, result)),
    ]
}

/// Generates statements that declare a name.
fn declaration() -> impl Strategy<Value = Stmt> {
    prop_oneof![
        2 => bounded().prop_map(Stmt::Let),
        4 => bounded().prop_map(Stmt::Var),
        2 => vec(bounded(), 1..4).prop_map(Stmt::Array),
        2 => (bounded(), bounded()).prop_map(|(a, b)| Stmt::Struct(a, b)),
        2 => expr(2).prop_map(Stmt::Closure),
        1 => (any::<Pick>(), bounded()).prop_map(|(a, e)| Stmt::CopyArray(a, e)),
        1 => (bounded(), expr(2), expr(2)).prop_map(|(v, a, b)| Stmt::Accumulate(v, a, b)),
        1 => (bounded(), bounded()).prop_map(|(a, b)| Stmt::Tuple(a, b)),
        1 => (condition(1), bounded(), bounded()).prop_map(|(c, a, b)| Stmt::Optional(c, a, b)),
        1 => (expr(2), expr(2)).prop_map(|(body, e)| Stmt::LocalFunction(body, e)),
        12 => (any::<u8>(), any::<u8>(), filling()).prop_map(|(kind, how, fill)| Stmt::Make(kind, how, fill)),
    ]
}

/// Generates statements that change a value, or exit.
fn change() -> impl Strategy<Value = Stmt> {
    let pick = any::<Pick>;
    prop_oneof![
        4 => (pick(), bounded()).prop_map(|(v, e)| Stmt::Assign(v, e)),
        4 => (pick(), bounded()).prop_map(|(v, e)| Stmt::Add(v, e)),
        1 => (pick(), pick()).prop_map(|(v, w)| Stmt::Swap(v, w)),
        2 => (condition(1), any::<bool>(), pick()).prop_map(|(c, is_break, label)| Stmt::Leave(c, is_break, label)),
        1 => (condition(1), bounded()).prop_map(|(c, e)| Stmt::Throw(c, e)),
        1 => (condition(1), expr(2)).prop_map(|(c, e)| Stmt::Return(c, e)),
        2 => (pick(), pick(), bounded()).prop_map(|(a, i, e)| Stmt::Store(a, i, e)),
        2 => (pick(), pick(), bounded()).prop_map(|(a, i, e)| Stmt::AddElement(a, i, e)),
        1 => (pick(), bounded()).prop_map(|(a, e)| Stmt::Append(a, e)),
        1 => (pick(), any::<bool>(), bounded()).prop_map(|(p, first, e)| Stmt::StoreField(p, first, e)),
        2 => (pick(), expr(2)).prop_map(|(p, e)| Stmt::Mutate(p, e)),
        2 => (pick(), pick(), expr(2)).prop_map(|(h, v, e)| Stmt::InOut(h, v, e)),
        12 => (pick(), any::<u8>(), filling()).prop_map(|(thing, how, fill)| Stmt::Alter(thing, how, fill)),
        6 => (pick(), any::<u8>(), filling()).prop_map(|(v, how, fill)| Stmt::AlterVariable(v, how, fill)),
    ]
}

fn filling() -> impl Strategy<Value = Filling> {
    (condition(1), bounded(), bounded()).prop_map(|(condition, a, b)| Filling(condition, a, b))
}

fn condition(depth: u32) -> impl Strategy<Value = Condition> {
    condition_of(expr(depth).boxed())
}

fn condition_of(expr: BoxedStrategy<Expr>) -> impl Strategy<Value = Condition> {
    let single = prop_oneof![
        3 => (expr.clone(), expr).prop_map(|(a, b)| Condition::Less(a, b)),
        2 => any::<Pick>().prop_map(Condition::Even),
    ];
    single.prop_recursive(1, 3, 2, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(a, b)| Condition::Both(a.into(), b.into())),
            inner.prop_map(|c| Condition::Not(c.into())),
        ]
    })
}

fn expr(depth: u32) -> impl Strategy<Value = Expr> {
    let pick = any::<Pick>;
    let leaf = prop_oneof![
        1 => (-24..=24i8).prop_map(Expr::Constant),
        6 => pick().prop_map(Expr::Variable),
        2 => (pick(), pick()).prop_map(|(a, i)| Expr::Element(a, i)),
        2 => (pick(), any::<u8>()).prop_map(|(p, f)| Expr::Field(p, f)),
    ];
    leaf.prop_recursive(depth, 8, 2, move |inner| {
        let one = || inner.clone().prop_map(Box::new);
        let choice = || condition_of(inner.clone().boxed()).prop_map(Box::new);
        prop_oneof![
            4 => (any::<u8>(), one()).prop_map(|(f, x)| Expr::Unary(f, x)),
            6 => (any::<u8>(), one(), one()).prop_map(|(f, x, y)| Expr::Binary(f, x, y)),
            2 => (pick(), one(), one()).prop_map(|(f, x, y)| Expr::Call(f, x, y)),
            2 => (pick(), one()).prop_map(|(f, x)| Expr::CallClosure(f, x)),
            1 => (pick(), one()).prop_map(|(p, x)| Expr::Method(p, x)),
            1 => (one(), one()).prop_map(|(x, y)| Expr::Temporary(x, y)),
            1 => (choice(), one(), one()).prop_map(|(c, x, y)| Expr::Ternary(c, x, y)),
            1 => (pick(), one()).prop_map(|(a, x)| Expr::MapReduce(a, x)),
            1 => (choice(), one(), one()).prop_map(|(c, x, y)| Expr::Generic(c, x, y)),
            1 => (one(), one()).prop_map(|(x, y)| Expr::HigherOrder(x, y)),
            4 => (pick(), any::<u8>(), one()).prop_map(|(thing, how, x)| Expr::Read(thing, how, x)),
        ]
    })
}
