//! Random programs with variables, branches, loops, calls, arrays and boxes: the machine must compute what a plain
//! interpretation of the statements computes, values and derivatives.

use super::build::*;
use super::derivatives::{derivative, gradient};
use crate::ir::*;
use crate::value::Bank;
use proptest::prelude::*;

/// Variables of each kind that a function has.
const VARIABLES: usize = 4;
/// Arrays that a function has.
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

fn statement() -> impl Strategy<Value = Stmt> {
    let v = 0..VARIABLES;
    let a = 0..ARRAYS;
    let leaf = prop_oneof![
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
    ];
    leaf.prop_recursive(3, 24, 5, move |inner| {
        let body = prop::collection::vec(inner, 0..5);
        prop_oneof![
            (0..4_u8, v.clone(), v.clone(), body.clone(), body.clone())
                .prop_map(|(kind, a, b, then, otherwise)| Stmt::If { kind, a, b, then, otherwise }),
            (0..4_u8, body).prop_map(|(times, body)| Stmt::Loop { times, body }),
        ]
    })
}

/// A number and its derivative.
#[derive(Clone, Copy, Debug, Default)]
struct Dual(f64, f64);

#[derive(Clone, Debug, Default)]
struct State {
    f: [Dual; VARIABLES],
    i: [i64; VARIABLES],
    arrays: [Vec<Dual>; ARRAYS],
    cell: Dual,
}

/// The plain interpretation. `functions[0]` is running; the others may be called by those before them.
fn interpret(functions: &[Vec<Stmt>], body: &[Stmt], s: &mut State) {
    for stmt in body {
        match stmt {
            Stmt::Number { to, op, a, b } => {
                let (x, y) = (s.f[*a], s.f[*b]);
                s.f[*to] = match op {
                    0 => Dual(x.0 + y.0, x.1 + y.1),
                    1 => Dual(x.0 - y.0, x.1 - y.1),
                    2 => Dual(x.0 * y.0, x.0 * y.1 + y.0 * x.1),
                    3 => Dual(x.0.sin(), x.0.cos() * x.1),
                    4 => Dual(-x.0, -x.1),
                    _ => Dual(x.0.floor(), 0.0),
                };
            }
            Stmt::Constant { to, value } => s.f[*to] = Dual(f64::from(*value) / 16.0, 0.0),
            Stmt::Integer { to, op, a, b } => {
                let (x, y) = (s.i[*a], s.i[*b]);
                s.i[*to] = match op {
                    0 => x.wrapping_add(y),
                    1 => x.wrapping_mul(y),
                    2 => i64::from(x < y),
                    _ => x.wrapping_sub(3),
                };
            }
            Stmt::CopyNumber { to, from } => s.f[*to] = s.f[*from],
            Stmt::CopyInteger { to, from } => s.i[*to] = s.i[*from],
            Stmt::CopyArray { to, from } => s.arrays[*to] = s.arrays[*from].clone(),
            Stmt::If { kind, a, b, then, otherwise } => {
                let holds = match kind {
                    0 => s.i[*a] < s.i[*b],
                    1 => s.f[*a].0 < s.f[*b].0,
                    2 => s.i[*a] >= 2,
                    _ => s.f[*a].0 != s.f[*b].0,
                };
                interpret(functions, if holds { then } else { otherwise }, s);
            }
            Stmt::Loop { times, body } => (0..*times).for_each(|_| interpret(functions, body, s)),
            Stmt::Append { array, from } => s.arrays[*array].push(s.f[*from]),
            Stmt::SetLast { array, from } => {
                let x = s.f[*from];
                if let Some(last) = s.arrays[*array].last_mut() {
                    *last = x;
                }
            }
            Stmt::GetLast { array, to } => {
                if let Some(last) = s.arrays[*array].last() {
                    s.f[*to] = *last;
                }
            }
            Stmt::Count { array, to } => s.i[*to] = s.arrays[*array].len() as i64,
            Stmt::StoreBox { from } => s.cell = s.f[*from],
            Stmt::LoadBox { to } => s.f[*to] = s.cell,
            Stmt::Call { args, integer, array, results, counted } => {
                let Some((callee, _)) = functions.get(1..).and_then(<[_]>::split_first) else { continue };
                let mut inner =
                    State { f: [s.f[args[0]], s.f[args[1]], Dual::default(), Dual::default()], ..State::default() };
                inner.i[0] = s.i[*integer];
                inner.arrays[0] = s.arrays[*array].clone();
                interpret(&functions[1..], callee, &mut inner);
                (s.f[results[0]], s.f[results[1]]) = (inner.f[1], inner.f[0]);
                s.i[*counted] = inner.i[0];
                s.arrays[*array] = inner.arrays[0].clone();
            }
        }
    }
}

/// The registers of a function's variables.
struct Vars {
    f: Vec<Reg>,
    i: Vec<Reg>,
    arrays: Vec<Reg>,
    cell: Reg,
}

/// `func (a, b, n, inout array) -> (b, a, n)`, as function `number` of several.
fn build(number: u32, last: bool, body: &[Stmt]) -> Builder {
    let mut b = Builder::new("random", &[F, F, I, R], &[F, F, I, R]);
    let zero = b.num(0.0);
    let none = b.int(0);
    let empty = b.new_op(R, Op::NewArray(NUMBERS), &[]);
    let mut vars = Vars { f: vec![], i: vec![], arrays: vec![], cell: b.new_op(R, Op::NewBox, &[zero]) };
    for (bank, params, initial, count) in
        [(F, &[Reg(0), Reg(1)][..], zero, VARIABLES), (I, &[Reg(2)], none, VARIABLES), (R, &[Reg(3)], empty, ARRAYS)]
    {
        for k in 0..count {
            let variable = b.reg(bank);
            b.set(variable, params.get(k).copied().unwrap_or(initial));
            match bank {
                Bank::F => vars.f.push(variable),
                Bank::I => vars.i.push(variable),
                Bank::R => vars.arrays.push(variable),
            }
        }
    }
    write(&mut b, &vars, number, last, body);
    b.end(Terminator::Return(vec![vars.f[1], vars.f[0], vars.i[0], vars.arrays[0]]));
    b
}

fn write(b: &mut Builder, v: &Vars, number: u32, last: bool, body: &[Stmt]) {
    for stmt in body {
        match stmt {
            Stmt::Number { to, op, a, b: other } => {
                let (x, y) = (v.f[*a], v.f[*other]);
                let value = match op {
                    0 => b.prim("double.add", &[x, y]),
                    1 => b.prim("double.sub", &[x, y]),
                    2 => b.prim("double.mul", &[x, y]),
                    3 => b.prim("double.sin", &[x]),
                    4 => b.prim("double.neg", &[x]),
                    _ => b.prim("double.floor", &[x]),
                };
                b.set(v.f[*to], value);
            }
            Stmt::Constant { to, value } => {
                let value = b.num(f64::from(*value) / 16.0);
                b.set(v.f[*to], value);
            }
            Stmt::Integer { to, op, a, b: other } => {
                let (x, y) = (v.i[*a], v.i[*other]);
                let value = match op {
                    0 => b.prim("int.addWrapping", &[x, y]),
                    1 => b.prim("int.mulWrapping", &[x, y]),
                    2 => b.prim("int.lt", &[x, y]),
                    _ => {
                        let three = b.int(3);
                        b.prim("int.subWrapping", &[x, three])
                    }
                };
                b.set(v.i[*to], value);
            }
            Stmt::CopyNumber { to, from } => b.set(v.f[*to], v.f[*from]),
            Stmt::CopyInteger { to, from } => b.set(v.i[*to], v.i[*from]),
            Stmt::CopyArray { to, from } => b.set(v.arrays[*to], v.arrays[*from]),
            Stmt::If { kind, a, b: other, then, otherwise } => {
                let condition = match kind {
                    0 => b.prim("int.lt", &[v.i[*a], v.i[*other]]),
                    1 => b.prim("double.lt", &[v.f[*a], v.f[*other]]),
                    2 => {
                        let two = b.int(2);
                        b.prim("int.ge", &[v.i[*a], two])
                    }
                    _ => {
                        let equal = b.prim("double.eq", &[v.f[*a], v.f[*other]]);
                        b.prim("bool.not", &[equal])
                    }
                };
                branch(b, condition, |b| write(b, v, number, last, then), |b| write(b, v, number, last, otherwise));
            }
            Stmt::Loop { times, body } => {
                let (none, times) = (b.int(0), b.int(i64::from(*times)));
                b.count(none, times, |b, _| write(b, v, number, last, body));
            }
            Stmt::Append { array, from } => {
                let array = v.arrays[*array];
                b.op(Op::Append(NUMBERS), &[array], &[array, v.f[*from]]);
            }
            Stmt::SetLast { array, from } => with_last(b, v.arrays[*array], |b, array, index| {
                let store = Op::StoreElement { bank: F, offset: 0, stride: NUMBERS };
                b.op(store, &[array], &[array, index, v.f[*from]]);
            }),
            Stmt::GetLast { array, to } => with_last(b, v.arrays[*array], |b, array, index| {
                let load = Op::LoadElement { bank: F, offset: 0, stride: NUMBERS };
                let value = b.new_op(F, load, &[array, index]);
                b.set(v.f[*to], value);
            }),
            Stmt::Count { array, to } => {
                let copy = b.reg(R);
                b.set(copy, v.arrays[*array]);
                let count = b.new_op(I, Op::Count, &[copy]);
                b.set(v.i[*to], count);
            }
            Stmt::StoreBox { from } => b.op(Op::StoreBox { bank: F, index: 0 }, &[], &[v.cell, v.f[*from]]),
            Stmt::LoadBox { to } => {
                let value = b.new_op(F, Op::LoadBox { bank: F, index: 0 }, &[v.cell]);
                b.set(v.f[*to], value);
            }
            Stmt::Call { args, integer, array, results, counted } => {
                if last {
                    continue;
                }
                let array = v.arrays[*array];
                let moved = b.new_op(R, Op::Take, &[array]);
                let outs = [b.reg(F), b.reg(F), b.reg(I), b.reg(R)];
                let ins = [v.f[args[0]], v.f[args[1]], v.i[*integer], moved];
                b.op(Op::Call(FunctionId(number + 1)), &outs, &ins);
                b.set(v.f[results[0]], outs[0]);
                b.set(v.f[results[1]], outs[1]);
                b.set(v.i[*counted], outs[2]);
                b.op(Op::Take, &[array], &[outs[3]]);
            }
        }
    }
}

fn branch(b: &mut Builder, condition: Reg, then: impl FnOnce(&mut Builder), otherwise: impl FnOnce(&mut Builder)) {
    let [yes, no, end] = [b.block(), b.block(), b.block()];
    b.end(Terminator::Branch { condition, then: yes, otherwise: no });
    b.go(yes);
    then(b);
    b.end(Terminator::Jump(end));
    b.go(no);
    otherwise(b);
    b.end(Terminator::Jump(end));
    b.go(end);
}

fn with_last(b: &mut Builder, array: Reg, work: impl FnOnce(&mut Builder, Reg, Reg)) {
    let count = b.new_op(I, Op::Count, &[array]);
    let none = b.int(0);
    let some = b.prim("int.gt", &[count, none]);
    let one = b.int(1);
    branch(
        b,
        some,
        |b| {
            let index = b.prim("int.sub", &[count, one]);
            work(b, array, index);
        },
        |_| {},
    );
}

/// Function 0 takes two numbers and an integer, and gives the first number.
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

fn near(a: f64, b: f64) -> bool {
    !a.is_finite() || !b.is_finite() || (a - b).abs() <= 1e-8 * (1.0 + a.abs().max(b.abs()))
}

fn cases() -> u32 {
    std::env::var("DSCRIPT_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(400)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), ..ProptestConfig::default() })]

    #[test]
    fn random_programs_compute_what_they_say(
        functions in prop::collection::vec(prop::collection::vec(statement(), 1..12), 1..4),
        x in -20..20_i32,
        y in -20..20_i32,
        n in -3..4_i64,
    ) {
        let at = [f64::from(x) / 8.0, f64::from(y) / 8.0];
        let interpret_along = |dx: f64, dy: f64| {
            let mut state = State { f: [Dual(at[0], dx), Dual(at[1], dy), Dual::default(), Dual::default()], ..State::default() };
            state.i[0] = n;
            interpret(&functions, &functions[0], &mut state);
            state
        };
        let state = interpret_along(1.0, 0.0);
        let result = run(program(&functions), &at, &[n]).unwrap();
        prop_assert!(same(result.f[0], state.f[1].0) && same(result.f[1], state.f[0].0), "{:?} {:?}", result, state);
        prop_assert_eq!(result.i[0], state.i[0]);

        let (value, adjoints) = gradient(program(&functions), &at, &[n]);
        prop_assert!(same(value, state.f[1].0));
        let slopes = [state.f[1].1, interpret_along(0.0, 1.0).f[1].1];
        let large = |s: f64| !s.is_finite() || s.abs() > 1e100;
        if !slopes.iter().any(|s| large(*s)) {
            prop_assert!(near(adjoints[0], slopes[0]) && near(adjoints[1], slopes[1]), "{:?} {:?}", adjoints, slopes);
            prop_assert!(near(derivative(program(&functions), &at, &[1.0, 0.0], &[n]), slopes[0]));
            prop_assert!(near(derivative(program(&functions), &at, &[0.0, 1.0], &[n]), slopes[1]));
        }
    }
}
