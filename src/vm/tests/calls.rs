//! Tests of the machine: calls, loops, closures, global variables and faults.

use super::graph_builder::*;
use crate::bytecode::disassemble;
use crate::diagnostic::Code as Number;
use crate::ir::*;
use crate::value::{Components, Ref};
use crate::vm::FaultKind;

#[test]
fn a_loop_runs_and_is_short() {
    let code = TestProgram::new(vec![logistic()]).code(0, false);
    let text = disassemble(&code);
    // The loop contains three operations on numbers in one instruction, and the jump at the end of the loop.
    let inside: Vec<&str> = text.lines().filter_map(|l| l.split_whitespace().nth(1)).collect();
    let end = inside.iter().position(|n| *n == "LoopLtI").unwrap_or_else(|| panic!("{text}"));
    assert_eq!(inside[end - 2..=end], ["JoinBothF", "Extras", "LoopLtI"], "{text}");

    let result = run(vec![logistic()], &[3.5, 0.3], &[1000]).unwrap();
    let expected = (0..1000).fold(0.3, |x, _| 3.5 * x * (1.0 - x));
    assert_eq!(result.f[..], [expected]);
}

#[test]
fn functions_call_themselves() {
    assert_eq!(run(vec![fib(0)], &[], &[20]).unwrap().i[..], [6765]);
}

/// Builds `func deep(n) { n == 0 ? 0 : deep(n - 1) + 1 }`.
fn deep() -> Builder {
    let mut b = Builder::new("deep", &[I], &[I]);
    let zero = b.int(0);
    let condition = b.prim("int.eq", &[Reg(0), zero]);
    let [done, more] = [b.block(), b.block()];
    b.end(Terminator::Branch { condition, then: done, otherwise: more });
    b.switch_to_block(done);
    let zero = b.int(0);
    b.end(Terminator::Return(vec![zero]));
    b.switch_to_block(more);
    let one = b.int(1);
    let less = b.prim("int.sub", &[Reg(0), one]);
    let rest = b.new_op(I, Op::Call(FunctionId(0)), &[less]);
    let sum = b.prim("int.add", &[rest, one]);
    b.end(Terminator::Return(vec![sum]));
    b
}

#[test]
fn recursion_is_deep_but_not_endless() {
    assert_eq!(run(vec![deep()], &[], &[99_990]).unwrap().i[..], [99_990]);
    let fault = run(vec![deep()], &[], &[1_000_000]).unwrap_err();
    assert_eq!((fault.kind, fault.backtrace.len()), (FaultKind::Error(Number::DepthLimit), 16));
}

/// The arguments and results of `swap(a, b) = (b, a)` are in different orders, and the function is called twice.
#[test]
fn several_results_change_places() {
    let mut swap = Builder::new("swap", &[F, F, I, R], &[F, F, I, R]);
    swap.end(Terminator::Return(vec![Reg(1), Reg(0), Reg(2), Reg(3)]));
    let mut main = Builder::new("main", &[F, F], &[F, F, F, I, R]);
    let n = main.int(7);
    let text = main.new_op(R, Op::Text("t".into()), &[]);
    let (a, b, i, r) = (main.reg(F), main.reg(F), main.reg(I), main.reg(R));
    main.op(Op::Call(FunctionId(1)), &[a, b, i, r], &[Reg(0), Reg(1), n, text]);
    let (c, d, j, s) = (main.reg(F), main.reg(F), main.reg(I), main.reg(R));
    main.op(Op::Call(FunctionId(1)), &[c, d, j, s], &[b, a, i, r]);
    let sum = main.prim("double.sub", &[a, c]);
    main.end(Terminator::Return(vec![d, c, sum, j, s]));
    let result = run(vec![main, swap], &[1.0, 2.0], &[]).unwrap();
    assert_eq!((&result.f[..], &result.i[..]), (&[1.0, 2.0, 0.0][..], &[7][..]));
    assert!(matches!(&result.r[..], [Ref::Text(t)] if &**t == "t"));
}

/// The closure `{ y in box + k * y }` shares `box` with its creator, which changes it afterwards.
#[test]
fn closures_share_their_boxes() {
    let mut body = Builder::new("closure", &[F], &[F]);
    body.function.captures = vec![F, R];
    let k = body.new_op(F, Op::Capture { bank: F, index: 0 }, &[]);
    let shared = body.new_op(R, Op::Capture { bank: R, index: 0 }, &[]);
    let value = body.new_op(F, Op::LoadBox { bank: F, index: 0 }, &[shared]);
    let product = body.prim("double.mul", &[k, Reg(0)]);
    let sum = body.prim("double.add", &[value, product]);
    body.end(Terminator::Return(vec![sum]));

    let mut main = Builder::new("main", &[F], &[F]);
    let one = main.num(1.0);
    let shared = main.new_op(R, Op::NewBox, &[one]);
    let k = main.num(10.0);
    let closure = main.new_op(R, Op::Closure(FunctionId(1)), &[k, shared]);
    let hundred = main.num(100.0);
    main.op(Op::StoreBox { bank: F, index: 0 }, &[], &[shared, hundred]);
    let y = main.new_op(F, Op::CallValue, &[closure, Reg(0)]);
    let z = main.new_op(F, Op::CallValue, &[closure, y]);
    main.end(Terminator::Return(vec![z]));
    assert_eq!(run(vec![main, body], &[2.0], &[]).unwrap().f[..], [1300.0]);
}

#[test]
fn global_variables_stay_between_runs() {
    let mut b = Builder::new("count", &[], &[F]);
    let old = b.new_op(F, Op::LoadGlobal { bank: F, index: 1 }, &[]);
    let one = b.num(1.0);
    let new = b.prim("double.add", &[old, one]);
    b.op(Op::StoreGlobal { bank: F, index: 1 }, &[], &[new]);
    b.end(Terminator::Return(vec![new]));
    let (mut machine, mut program) = (machine(), TestProgram::new(vec![b]));
    machine.reserve_globals([2, 0, 0]);
    for expected in [1.0, 2.0, 3.0] {
        assert_eq!(machine.run(&mut program, 0, Components::default()).unwrap().f[..], [expected]);
    }
}

#[test]
fn failures_name_their_values() {
    let mut b = Builder::new("sum", &[I, I], &[I]);
    let sum = b.prim("int.add", &[Reg(0), Reg(1)]);
    let quotient = b.prim("int.div", &[sum, Reg(1)]);
    b.end(Terminator::Return(vec![quotient]));
    let (mut machine, mut program) = (machine(), TestProgram::new(vec![b]));
    let mut fails = |i: &[i64]| machine.run(&mut program, 0, Components { i, ..Components::default() }).unwrap_err();
    let fault = fails(&[i64::MAX, 1]);
    assert_eq!(fault.message, "integer overflow: 9223372036854775807 + 1 is out of range for 'Int'");
    assert_eq!(fault.values, [("a".into(), i64::MAX.to_string()), ("b".into(), "1".into())]);
    assert_eq!((fault.span.start, &*fault.backtrace[0].name), (0, "sum"));
    let fault = fails(&[5, 0]);
    assert_eq!((fault.kind, &*fault.message), (FaultKind::Error(Number::DivisionByZero), "division by zero: 5 / 0"));
    assert_eq!(fault.span.start, 1);
}
