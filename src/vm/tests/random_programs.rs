//! Random program tests: random programs with variables, branches, loops, calls, arrays and boxes: the machine must
//! compute the same values and derivatives as a plain interpretation of the statements.

use super::derivatives::{derivative, gradient};
use super::graph_builder::*;
use crate::ir::*;
use proptest::prelude::*;

/// The number of variables of each kind in a function. Higher numbers represent temporaries: as a target a new
/// temporary, as an operand a temporary in scope.
const VARIABLES: usize = 4;
/// The number of arrays in a random function.
const ARRAYS: usize = 2;

#[derive(Clone, Debug)]
enum Stmt {
    Number { to: usize, op: u8, a: usize, b: usize },
    Constant { to: usize, value: i8 },
    Integer { to: usize, op: u8, a: usize, b: usize },
    CopyNumber { to: usize, from: usize },
    CopyInteger { to: usize, from: usize },
    CopyArray { to: usize, from: usize },
    If { kind: u8, a: usize, b: usize, then: Vec<Stmt>, otherwise: Vec<Stmt> },
    Loop { times: u8, body: Vec<Stmt> },
    Append { array: usize, from: usize },
    SetLast { array: usize, from: usize },
    GetLast { array: usize, to: usize },
    Count { array: usize, to: usize },
    StoreBox { from: usize },
    LoadBox { to: usize },
    Call { args: [usize; 2], integer: usize, array: usize, results: [usize; 2], counted: usize },
}

fn simple() -> impl Strategy<Value = Stmt> {
    let v = 0..3 * VARIABLES;
    let a = 0..3 * ARRAYS;
    prop_oneof![
        4 => (v.clone(), 0..6_u8, v.clone(), v.clone()).prop_map(|(to, op, a, b)| Stmt::Number { to, op, a, b }),
        1 => (v.clone(), any::<i8>()).prop_map(|(to, value)| Stmt::Constant { to, value }),
        2 => (v.clone(), 0..4_u8, v.clone(), v.clone()).prop_map(|(to, op, a, b)| Stmt::Integer { to, op, a, b }),
        2 => (v.clone(), v.clone()).prop_map(|(to, from)| Stmt::CopyNumber { to, from }),
        1 => (v.clone(), v.clone()).prop_map(|(to, from)| Stmt::CopyInteger { to, from }),
        1 => (a.clone(), a.clone()).prop_map(|(to, from)| Stmt::CopyArray { to, from }),
        1 => (a.clone(), v.clone()).prop_map(|(array, from)| Stmt::Append { array, from }),
        1 => (a.clone(), v.clone()).prop_map(|(array, from)| Stmt::SetLast { array, from }),
        1 => (a.clone(), v.clone()).prop_map(|(array, to)| Stmt::GetLast { array, to }),
        1 => (a.clone(), v.clone()).prop_map(|(array, to)| Stmt::Count { array, to }),
        1 => v.clone().prop_map(|from| Stmt::StoreBox { from }),
        1 => v.clone().prop_map(|to| Stmt::LoadBox { to }),
        2 => ([v.clone(), v.clone()], v.clone(), a, [v.clone(), v.clone()], v.clone()).prop_map(
            |(args, integer, array, results, counted)| Stmt::Call { args, integer, array, results, counted }
        ),
    ]
}

fn compound(inner: impl Strategy<Value = Vec<Stmt>> + Clone) -> impl Strategy<Value = Stmt> {
    let v = 0..3 * VARIABLES;
    prop_oneof![
        (0..4_u8, v.clone(), v, inner.clone(), inner.clone()).prop_map(|(kind, a, b, then, otherwise)| Stmt::If {
            kind,
            a,
            b,
            then,
            otherwise
        }),
        (0..4_u8, inner).prop_map(|(times, body)| Stmt::Loop { times, body }),
    ]
}

/// Generates mostly simple statements, with branches and loops among them.
fn statements() -> impl Strategy<Value = Vec<Stmt>> {
    let inner = prop::collection::vec(simple(), 1..8).boxed();
    let middle = prop::collection::vec(prop_oneof![5 => simple(), 1 => compound(inner)], 1..8).boxed();
    prop::collection::vec(prop_oneof![6 => simple(), 1 => compound(middle)], 5..40)
        .prop_map(|body| [prologue(), body, epilogue()].concat())
}

/// Initializes the variables so that none is zero.
fn prologue() -> Vec<Stmt> {
    vec![
        Stmt::Constant { to: 2, value: 7 },
        Stmt::Number { to: 3, op: 1, a: 0, b: 2 },
        Stmt::Integer { to: 1, op: 3, a: 0, b: 0 },
        Stmt::Integer { to: 2, op: 3, a: 1, b: 0 },
        Stmt::Append { array: 0, from: 1 },
        Stmt::Append { array: 1, from: 0 },
    ]
}

/// Adds all variables to the results.
fn epilogue() -> Vec<Stmt> {
    vec![
        Stmt::Number { to: 1, op: 0, a: 1, b: 2 },
        Stmt::Number { to: 1, op: 0, a: 1, b: 3 },
        Stmt::GetLast { array: 0, to: 2 },
        Stmt::Number { to: 1, op: 1, a: 1, b: 2 },
        Stmt::GetLast { array: 1, to: 2 },
        Stmt::Number { to: 1, op: 0, a: 1, b: 2 },
        Stmt::LoadBox { to: 2 },
        Stmt::Number { to: 1, op: 0, a: 1, b: 2 },
        Stmt::Integer { to: 0, op: 0, a: 0, b: 1 },
        Stmt::Integer { to: 0, op: 1, a: 0, b: 2 },
        Stmt::Integer { to: 0, op: 0, a: 0, b: 3 },
    ]
}

/// A number and its derivative.
#[derive(Clone, Copy, Debug, Default)]
struct Dual(f64, f64);

/// The variables and, after them, the temporaries that are in scope.
#[derive(Clone, Debug)]
struct Pool<T> {
    all: Vec<T>,
    variables: usize,
}

impl<T: Clone> Pool<T> {
    fn new(variables: Vec<T>) -> Pool<T> {
        Pool { variables: variables.len(), all: variables }
    }

    /// Returns the index in the pool of the variable or temporary that an operand represents.
    fn at(&self, k: usize) -> usize {
        if k < self.variables { k } else { k % self.all.len() }
    }

    fn get(&self, k: usize) -> T {
        self.all[self.at(k)].clone()
    }

    /// Sets a variable, or creates a temporary with the value.
    fn set(&mut self, k: usize, value: T) {
        if k < self.variables { self.all[k] = value } else { self.all.push(value) }
    }

    /// Returns the index of the variable that a statement modifies.
    fn variable(&self, k: usize) -> usize {
        k % self.variables
    }
}

#[derive(Clone, Debug)]
struct State {
    f: Pool<Dual>,
    i: Pool<i64>,
    arrays: Pool<Vec<Dual>>,
    cell: Dual,
    /// The largest number that occurred; rounding errors are compared with it.
    largest: f64,
}

impl State {
    fn new(a: Dual, b: Dual, n: i64, array: Vec<Dual>) -> State {
        State {
            f: Pool::new(vec![a, b, Dual::default(), Dual::default()]),
            i: Pool::new(vec![n, 0, 0, 0]),
            arrays: Pool::new(vec![array, vec![]]),
            cell: Dual::default(),
            largest: 1.0,
        }
    }
}

/// Interprets the statements of the running function, `functions[0]`; a function may call the functions after it.
fn interpret(functions: &[Vec<Stmt>], body: &[Stmt], s: &mut State) {
    let scope = [s.f.all.len(), s.i.all.len(), s.arrays.all.len()];
    for stmt in body {
        match stmt {
            Stmt::Number { to, op, a, b } => {
                let (x, y) = (s.f.get(*a), s.f.get(*b));
                let value = match op {
                    0 => Dual(x.0 + y.0, x.1 + y.1),
                    1 => Dual(x.0 - y.0, x.1 - y.1),
                    2 => Dual(x.0 * y.0, x.0 * y.1 + y.0 * x.1),
                    3 => Dual(x.0.sin(), x.0.cos() * x.1),
                    4 => Dual(-x.0, -x.1),
                    _ => Dual(x.0.floor(), 0.0),
                };
                s.largest = [value.0, value.1].iter().fold(s.largest, |l, x| l.max(x.abs()));
                s.f.set(*to, value);
            }
            Stmt::Constant { to, value } => s.f.set(*to, Dual(f64::from(*value) / 16.0, 0.0)),
            Stmt::Integer { to, op, a, b } => {
                let (x, y) = (s.i.get(*a), s.i.get(*b));
                let value = match op {
                    0 => x.wrapping_add(y),
                    1 => x.wrapping_mul(y),
                    2 => i64::from(x < y),
                    _ => x.wrapping_sub(3),
                };
                s.i.set(*to, value);
            }
            Stmt::CopyNumber { to, from } => s.f.set(*to, s.f.get(*from)),
            Stmt::CopyInteger { to, from } => s.i.set(*to, s.i.get(*from)),
            Stmt::CopyArray { to, from } => s.arrays.set(*to, s.arrays.get(*from)),
            Stmt::If { kind, a, b, then, otherwise } => {
                let holds = match kind {
                    0 => s.i.get(*a) < s.i.get(*b),
                    1 => s.f.get(*a).0 < s.f.get(*b).0,
                    2 => s.i.get(*a) >= 2,
                    _ => s.f.get(*a).0 != s.f.get(*b).0,
                };
                interpret(functions, if holds { then } else { otherwise }, s);
            }
            Stmt::Loop { times, body } => (0..*times).for_each(|_| interpret(functions, body, s)),
            Stmt::Append { array, from } => {
                let (at, x) = (s.arrays.variable(*array), s.f.get(*from));
                s.arrays.all[at].push(x);
            }
            Stmt::SetLast { array, from } => {
                let (at, x) = (s.arrays.variable(*array), s.f.get(*from));
                if let Some(last) = s.arrays.all[at].last_mut() {
                    *last = x;
                }
            }
            Stmt::GetLast { array, to } => {
                if let Some(last) = s.arrays.get(*array).last() {
                    let at = s.f.variable(*to);
                    s.f.all[at] = *last;
                }
            }
            Stmt::Count { array, to } => s.i.set(*to, s.arrays.get(*array).len() as i64),
            Stmt::StoreBox { from } => s.cell = s.f.get(*from),
            Stmt::LoadBox { to } => s.f.set(*to, s.cell),
            Stmt::Call { args, integer, array, results, counted } => {
                let Some((callee, _)) = functions.get(1..).and_then(<[_]>::split_first) else { continue };
                let at = s.arrays.variable(*array);
                let array = s.arrays.all[at].clone();
                let mut inner = State::new(s.f.get(args[0]), s.f.get(args[1]), s.i.get(*integer), array);
                interpret(&functions[1..], callee, &mut inner);
                s.largest = s.largest.max(inner.largest);
                s.f.set(results[0], inner.f.all[1]);
                s.f.set(results[1], inner.f.all[0]);
                s.i.set(*counted, inner.i.all[0]);
                s.arrays.all[at] = inner.arrays.all[0].clone();
            }
        }
    }
    s.f.all.truncate(scope[0]);
    s.i.all.truncate(scope[1]);
    s.arrays.all.truncate(scope[2]);
}

/// The registers of a function's variables and temporaries.
struct Vars {
    f: Pool<Reg>,
    i: Pool<Reg>,
    arrays: Pool<Reg>,
    cell: Reg,
}

/// Sets a variable, or stores the value as a temporary.
fn set(b: &mut Builder, pool: &mut Pool<Reg>, k: usize, value: Reg) {
    if k < pool.variables { b.set(pool.all[k], value) } else { pool.all.push(value) }
}

/// Builds `func (a, b, n, inout array) -> (b, a, n)`, as function `number` of several.
fn build(number: u32, last: bool, body: &[Stmt]) -> Builder {
    let mut b = Builder::new("random", &[F, F, I, R], &[F, F, I, R]);
    let zero = b.num(0.0);
    let none = b.int(0);
    let empty = b.new_op(R, Op::NewArray(NUMBERS), &[]);
    let cell = b.new_op(R, Op::NewBox, &[zero]);
    let mut variables = |bank, params: &[Reg], initial, count: usize| {
        let make = (0..count).map(|k| {
            let variable = b.reg(bank);
            b.set(variable, params.get(k).copied().unwrap_or(initial));
            variable
        });
        Pool::new(make.collect())
    };
    let f = variables(F, &[Reg(0), Reg(1)], zero, VARIABLES);
    let i = variables(I, &[Reg(2)], none, VARIABLES);
    let arrays = variables(R, &[Reg(3)], empty, ARRAYS);
    let mut vars = Vars { f, i, arrays, cell };
    write(&mut b, &mut vars, number, last, body);
    b.end(Terminator::Return(vec![vars.f.all[1], vars.f.all[0], vars.i.all[0], vars.arrays.all[0]]));
    b
}

fn write(b: &mut Builder, v: &mut Vars, number: u32, last: bool, body: &[Stmt]) {
    let scope = [v.f.all.len(), v.i.all.len(), v.arrays.all.len()];
    for stmt in body {
        match stmt {
            Stmt::Number { to, op, a, b: other } => {
                let (x, y) = (v.f.get(*a), v.f.get(*other));
                let value = match op {
                    0 => b.prim("double.add", &[x, y]),
                    1 => b.prim("double.sub", &[x, y]),
                    2 => b.prim("double.mul", &[x, y]),
                    3 => b.prim("double.sin", &[x]),
                    4 => b.prim("double.neg", &[x]),
                    _ => b.prim("double.floor", &[x]),
                };
                set(b, &mut v.f, *to, value);
            }
            Stmt::Constant { to, value } => {
                let value = b.num(f64::from(*value) / 16.0);
                set(b, &mut v.f, *to, value);
            }
            Stmt::Integer { to, op, a, b: other } => {
                let (x, y) = (v.i.get(*a), v.i.get(*other));
                let value = match op {
                    0 => b.prim("int.addWrapping", &[x, y]),
                    1 => b.prim("int.mulWrapping", &[x, y]),
                    2 => b.prim("int.lt", &[x, y]),
                    _ => {
                        let three = b.int(3);
                        b.prim("int.subWrapping", &[x, three])
                    }
                };
                set(b, &mut v.i, *to, value);
            }
            Stmt::CopyNumber { to, from } => {
                let copy = b.new_op(F, Op::Copy, &[v.f.get(*from)]);
                set(b, &mut v.f, *to, copy);
            }
            Stmt::CopyInteger { to, from } => {
                let copy = b.new_op(I, Op::Copy, &[v.i.get(*from)]);
                set(b, &mut v.i, *to, copy);
            }
            Stmt::CopyArray { to, from } => {
                let copy = b.new_op(R, Op::Copy, &[v.arrays.get(*from)]);
                set(b, &mut v.arrays, *to, copy);
            }
            Stmt::If { kind, a, b: other, then, otherwise } => {
                let condition = match kind {
                    0 => b.prim("int.lt", &[v.i.get(*a), v.i.get(*other)]),
                    1 => b.prim("double.lt", &[v.f.get(*a), v.f.get(*other)]),
                    2 => {
                        let two = b.int(2);
                        b.prim("int.ge", &[v.i.get(*a), two])
                    }
                    _ => {
                        let equal = b.prim("double.eq", &[v.f.get(*a), v.f.get(*other)]);
                        b.prim("bool.not", &[equal])
                    }
                };
                let arms = [then, otherwise];
                branch(b, condition, &mut |b, arm| write(b, v, number, last, arms[arm]));
            }
            Stmt::Loop { times, body } => {
                let (none, times) = (b.int(0), b.int(i64::from(*times)));
                b.count(none, times, |b, _| write(b, v, number, last, body));
            }
            Stmt::Append { array, from } => {
                let array = v.arrays.all[v.arrays.variable(*array)];
                b.op(Op::Append(NUMBERS), &[array], &[array, v.f.get(*from)]);
            }
            Stmt::SetLast { array, from } => {
                let (array, from) = (v.arrays.all[v.arrays.variable(*array)], v.f.get(*from));
                with_last(b, array, |b, index| {
                    let store = Op::StoreElement { bank: F, offset: 0, stride: NUMBERS };
                    b.op(store, &[array], &[array, index, from]);
                });
            }
            Stmt::GetLast { array, to } => {
                let (array, to) = (v.arrays.get(*array), v.f.all[v.f.variable(*to)]);
                with_last(b, array, |b, index| {
                    let load = Op::LoadElement { bank: F, offset: 0, stride: NUMBERS };
                    let value = b.new_op(F, load, &[array, index]);
                    b.set(to, value);
                });
            }
            Stmt::Count { array, to } => {
                let copy = b.new_op(R, Op::Copy, &[v.arrays.get(*array)]);
                let count = b.new_op(I, Op::Count, &[copy]);
                set(b, &mut v.i, *to, count);
            }
            Stmt::StoreBox { from } => b.op(Op::StoreBox { bank: F, index: 0 }, &[], &[v.cell, v.f.get(*from)]),
            Stmt::LoadBox { to } => {
                let value = b.new_op(F, Op::LoadBox { bank: F, index: 0 }, &[v.cell]);
                set(b, &mut v.f, *to, value);
            }
            Stmt::Call { args, integer, array, results, counted } => {
                if last {
                    continue;
                }
                let array = v.arrays.all[v.arrays.variable(*array)];
                let moved = b.new_op(R, Op::Take, &[array]);
                let outs = [b.reg(F), b.reg(F), b.reg(I), b.reg(R)];
                let ins = [v.f.get(args[0]), v.f.get(args[1]), v.i.get(*integer), moved];
                b.op(Op::Call(FunctionId(number + 1)), &outs, &ins);
                set(b, &mut v.f, results[0], outs[0]);
                set(b, &mut v.f, results[1], outs[1]);
                set(b, &mut v.i, *counted, outs[2]);
                b.op(Op::Take, &[array], &[outs[3]]);
            }
        }
    }
    v.f.all.truncate(scope[0]);
    v.i.all.truncate(scope[1]);
    v.arrays.all.truncate(scope[2]);
}

fn branch(b: &mut Builder, condition: Reg, arm: &mut dyn FnMut(&mut Builder, usize)) {
    let [yes, no, end] = [b.block(), b.block(), b.block()];
    b.end(Terminator::Branch { condition, then: yes, otherwise: no });
    for (k, block) in [yes, no].into_iter().enumerate() {
        b.switch_to_block(block);
        arm(b, k);
        b.end(Terminator::Jump(end));
    }
    b.switch_to_block(end);
}

fn with_last(b: &mut Builder, array: Reg, mut work: impl FnMut(&mut Builder, Reg)) {
    let count = b.new_op(I, Op::Count, &[array]);
    let none = b.int(0);
    let some = b.prim("int.gt", &[count, none]);
    let one = b.int(1);
    branch(b, some, &mut |b, arm| {
        if arm == 0 {
            let index = b.prim("int.sub", &[count, one]);
            work(b, index);
        }
    });
}

/// Builds the program. Function 0 takes two numbers and an integer, and returns the first number.
fn program(functions: &[Vec<Stmt>]) -> Vec<Builder> {
    let mut main = Builder::new("main", &[F, F, I], &[F, F, I]);
    let array = main.new_op(R, Op::NewArray(NUMBERS), &[]);
    let outs = [main.reg(F), main.reg(F), main.reg(I), main.reg(R)];
    main.op(Op::Call(FunctionId(1)), &outs, &[Reg(0), Reg(1), Reg(2), array]);
    main.end(Terminator::Return(vec![outs[0], outs[1], outs[2]]));
    let mut all = vec![main];
    for (k, body) in functions.iter().enumerate() {
        all.push(build(k as u32 + 1, k + 1 == functions.len(), body));
    }
    all
}

fn same(a: f64, b: f64) -> bool {
    a == b || (a.is_nan() && b.is_nan())
}

fn near(a: f64, b: f64, scale: f64) -> bool {
    (a - b).abs() <= 1e-9 * scale * scale
}

fn cases() -> u32 {
    std::env::var("DSCRIPT_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(400)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), ..ProptestConfig::default() })]

    #[test]
    fn random_programs_compute_what_they_say(
        functions in prop::collection::vec(statements(), 1..4),
        x in -20..20_i32,
        y in -20..20_i32,
        n in -3..4_i64,
    ) {
        let at = [f64::from(x) / 8.0, f64::from(y) / 8.0];
        let interpret_along = |dx: f64, dy: f64| {
            let mut state = State::new(Dual(at[0], dx), Dual(at[1], dy), n, vec![]);
            interpret(&functions, &functions[0], &mut state);
            state
        };
        let state = interpret_along(1.0, 0.0);
        let result = run(program(&functions), &at, &[n]).unwrap();
        prop_assert!(same(result.f[0], state.f.all[1].0) && same(result.f[1], state.f.all[0].0), "{:?} {:?}", result, state);
        prop_assert_eq!(result.i[0], state.i.all[0]);

        let (value, adjoints) = gradient(program(&functions), &at, &[n]);
        prop_assert!(same(value, state.f.all[1].0));
        let other = interpret_along(0.0, 1.0);
        let partials = [state.f.all[1].1, other.f.all[1].1];
        let scale = state.largest.max(other.largest);
        // Beyond that scale, cancellation of large terms leaves no digits to compare.
        if scale < 1e4 {
            let close = |a: f64, b: f64| near(a, b, scale);
            prop_assert!(close(adjoints[0], partials[0]) && close(adjoints[1], partials[1]), "{:?} {:?}", adjoints, partials);
            prop_assert!(close(derivative(program(&functions), &at, &[1.0, 0.0], &[n]), partials[0]));
            prop_assert!(close(derivative(program(&functions), &at, &[0.0, 1.0], &[n]), partials[1]));
        }
    }
}
