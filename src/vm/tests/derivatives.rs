//! Tests of the machine: derivatives in both modes.

use super::graph_builder::*;
use crate::ir::*;
use crate::tape::{Direction, LinearMap, Num};
use crate::value::{Components, Slot};
use crate::vm::dispatch;
use crate::vm::state::task::{Callee, Next};
use crate::vm::{Fault, Machine};

/// Runs the derivative code of the first of some functions, inside the live levels.
fn run_derivative(
    machine: &mut Machine,
    program: &mut TestProgram,
    x: &[Num],
    i: &[i64],
    results: usize,
) -> Result<Vec<Num>, Box<Fault>> {
    machine.fuel = 0;
    machine.push_halt();
    let (f, slots): (Vec<f64>, Vec<Slot>) = x.iter().map(|x| (x.value, x.slot)).unzip();
    machine.set_window(Components { f: &f, slots: &slots, i, r: &[] });
    crate::vm::dispatch::calls::perform(machine, program, Next::tail_call(Callee::Function(0), true))?;
    dispatch::run(machine, program)?;
    machine.window = [0; 3];
    let values = (0..results).map(|k| machine.num(k)).collect();
    machine.frames.clear();
    Ok(values)
}

/// Returns the value and the gradient of the first result, in reverse mode.
pub fn gradient(functions: Vec<Builder>, at: &[f64], i: &[i64]) -> (f64, Vec<f64>) {
    let (mut machine, mut program) = (machine(), TestProgram::new(functions));
    machine.levels.open(Direction::Reverse).unwrap();
    let x: Vec<Num> = at.iter().map(|x| machine.levels.leaf(Num::constant(*x)).unwrap()).collect();
    let mut y = run_derivative(&mut machine, &mut program, &x, i, 1).unwrap();
    let map = LinearMap::close(&mut machine.levels, &mut y);
    let adjoints = map.pull_back(&mut machine.levels, &[Num::constant(1.0)]).unwrap();
    (y[0].value, adjoints.iter().map(|a| a.value).collect())
}

/// Returns the derivative of the first result along a direction, in forward mode.
pub fn derivative(functions: Vec<Builder>, at: &[f64], along: &[f64], i: &[i64]) -> f64 {
    let (mut machine, mut program) = (machine(), TestProgram::new(functions));
    machine.levels.open(Direction::Forward).unwrap();
    let x: Vec<Num> = (at.iter().zip(along))
        .map(|(x, dx)| machine.levels.dual(Num::constant(*x), Num::constant(*dx)).unwrap())
        .collect();
    let y = run_derivative(&mut machine, &mut program, &x, i, 1).unwrap();
    let tangent = machine.levels.tangent(0, y[0]).value;
    machine.levels.close();
    tangent
}

fn logistic_by_hand(r: f64, x: f64, n: i64) -> (f64, f64, f64) {
    let (mut x, mut dr, mut dx) = (x, 0.0, 1.0);
    for _ in 0..n {
        let partial = r * (1.0 - 2.0 * x);
        dr = partial * dr + x * (1.0 - x);
        dx *= partial;
        x = r * x * (1.0 - x);
    }
    (x, dr, dx)
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1e-6)
}

#[test]
fn a_loop_is_differentiated_in_both_modes() {
    let (y, dr, dx) = logistic_by_hand(3.2, 0.3, 20);
    let (value, adjoints) = gradient(vec![logistic()], &[3.2, 0.3], &[20]);
    assert!(value == y && close(adjoints[0], dr) && close(adjoints[1], dx), "{adjoints:?} {dr} {dx}");
    assert!(close(derivative(vec![logistic()], &[3.2, 0.3], &[1.0, 0.0], &[20]), dr));
    assert!(close(derivative(vec![logistic()], &[3.2, 0.3], &[0.0, 1.0], &[20]), dx));
}

#[test]
fn slots_of_other_calls_are_not_seen() {
    // `inner(x) = 3.0`: the constant is stored in the register that held the caller's argument.
    let mut inner = Builder::new("inner", &[F], &[F]);
    let three = inner.num(3.0);
    let x = inner.reg(F);
    inner.set(x, three);
    inner.end(Terminator::Return(vec![x]));
    let mut main = Builder::new("main", &[F], &[F]);
    let y = main.new_op(F, Op::Call(FunctionId(1)), &[Reg(0)]);
    let z = main.prim("double.mul", &[Reg(0), y]);
    let w = main.new_op(F, Op::Call(FunctionId(1)), &[z]);
    let sum = main.prim("double.add", &[z, w]);
    main.end(Terminator::Return(vec![sum]));
    assert_eq!(gradient(vec![main, inner], &[2.0], &[]), (9.0, vec![3.0]));
}

/// Builds a sum of k·x over elements that were written to an array and read back, through a box and a closure.
fn through_storage() -> Vec<Builder> {
    let mut body = Builder::new("closure", &[F], &[F]);
    body.function.captures = vec![F, R];
    let k = body.new_op(F, Op::Capture { bank: F, index: 0 }, &[]);
    let shared = body.new_op(R, Op::Capture { bank: R, index: 0 }, &[]);
    let old = body.new_op(F, Op::LoadBox { bank: F, index: 0 }, &[shared]);
    let product = body.prim("double.mul", &[k, Reg(0)]);
    let sum = body.prim("double.add", &[old, product]);
    body.op(Op::StoreBox { bank: F, index: 0 }, &[], &[shared, sum]);
    let sine = body.prim("double.sin", &[sum]);
    body.end(Terminator::Return(vec![sine]));

    let mut main = Builder::new("main", &[F, I], &[F]);
    let zero = main.num(0.0);
    let total = main.new_op(R, Op::NewBox, &[zero]);
    let closure = main.new_op(R, Op::Closure(FunctionId(1)), &[Reg(0), total]);
    let array = main.new_op(R, Op::NewArray(NUMBERS), &[]);
    let none = main.int(0);
    main.count(none, Reg(1), |b, i| {
        let x = b.prim("double.fromInt", &[i]);
        let y = b.new_op(F, Op::CallValue, &[closure, x]);
        b.op(Op::Append(NUMBERS), &[array], &[array, y]);
    });
    let result = main.reg(F);
    main.set(result, zero);
    main.count(none, Reg(1), |b, i| {
        let y = b.new_op(F, Op::LoadElement { bank: F, offset: 0, stride: NUMBERS }, &[array, i]);
        let next = b.prim("double.add", &[result, y]);
        b.set(result, next);
    });
    main.end(Terminator::Return(vec![result]));
    vec![main, body]
}

#[test]
fn storage_and_closures_carry_slots() {
    let x = 0.7_f64;
    let partial: Vec<f64> = (0..5).map(|n| f64::from(n * (n + 1) / 2)).collect();
    let value: f64 = partial.iter().map(|s| (s * x).sin()).sum();
    let partial: f64 = partial.iter().map(|s| s * (s * x).cos()).sum();
    let (y, adjoints) = gradient(through_storage(), &[x], &[5]);
    assert!(close(y, value) && close(adjoints[0], partial), "{y} {value} {adjoints:?} {partial}");
    assert!(close(derivative(through_storage(), &[x], &[1.0], &[5]), partial));
}

/// The function `func deep(x, n) { n == 0 ? x : deep(x * x, n - 1) + x }` is differentiated with 50,000 nested calls.
#[test]
fn deep_recursion_is_differentiated() {
    let mut b = Builder::new("deep", &[F, I], &[F]);
    let zero = b.int(0);
    let condition = b.prim("int.eq", &[Reg(1), zero]);
    let [done, more] = [b.block(), b.block()];
    b.end(Terminator::Branch { condition, then: done, otherwise: more });
    b.switch_to_block(done);
    b.end(Terminator::Return(vec![Reg(0)]));
    b.switch_to_block(more);
    let one = b.int(1);
    let less = b.prim("int.sub", &[Reg(1), one]);
    let half = b.num(0.5);
    let x = b.prim("double.mul", &[Reg(0), half]);
    let rest = b.new_op(F, Op::Call(FunctionId(0)), &[x, less]);
    let sum = b.prim("double.add", &[rest, Reg(0)]);
    b.end(Terminator::Return(vec![sum]));
    let (y, adjoints) = gradient(vec![b], &[1.0], &[50_000]);
    assert!(close(y, 2.0) && close(adjoints[0], 2.0), "{y} {adjoints:?}");
}

/// A branch that selects one of two definitions, one active and one constant.
#[test]
fn a_constant_overwrites_a_slot() {
    let mut b = Builder::new("choose", &[F, I], &[F]);
    let y = b.reg(F);
    let square = b.prim("double.mul", &[Reg(0), Reg(0)]);
    b.set(y, square);
    let [reset, end] = [b.block(), b.block()];
    b.end(Terminator::Branch { condition: Reg(1), then: reset, otherwise: end });
    b.switch_to_block(reset);
    let four = b.num(4.0);
    b.set(y, four);
    b.end(Terminator::Jump(end));
    b.switch_to_block(end);
    b.end(Terminator::Return(vec![y]));
    let mut twin = Builder::new("twin", &[], &[]);
    twin.function = b.function.clone();
    assert_eq!(gradient(vec![b], &[3.0], &[0]), (9.0, vec![6.0]));
    assert_eq!(gradient(vec![twin], &[3.0], &[1]), (4.0, vec![0.0]));
}

/// Measures recording: `cargo test --release --lib -- --ignored --nocapture recording`.
#[test]
#[ignore = "a measurement"]
fn recording() {
    const STEPS: usize = 1000;
    let (mut machine, mut program) = (machine(), TestProgram::new(vec![logistic()]));
    let mut best = [f64::INFINITY; 2];
    for _ in 0..2000 {
        let start = std::time::Instant::now();
        machine.levels.open(Direction::Reverse).unwrap();
        let x = [3.5, 0.3].map(|x| machine.levels.leaf(Num::constant(x)).unwrap());
        let mut y = run_derivative(&mut machine, &mut program, &x, &[STEPS as i64], 1).unwrap();
        let recorded = start.elapsed().as_secs_f64();
        let map = LinearMap::close(&mut machine.levels, &mut y);
        map.pull_back(&mut machine.levels, &[Num::constant(1.0)]).unwrap();
        best[0] = best[0].min(recorded);
        best[1] = best[1].min(start.elapsed().as_secs_f64());
    }
    let [recorded, all] = best.map(|t| t * 1e9 / (3 * STEPS) as f64);
    eprintln!("per active operation: recorded in {recorded:.2} ns, with the sweep {all:.2} ns");
}
