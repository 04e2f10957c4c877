//! Tests of the machine: arrays.

use super::graph_builder::*;
use crate::diagnostic::Code as Number;
use crate::ir::*;
use crate::value::{Components, Ref};
use crate::vm::FaultKind;
use std::rc::Rc;

fn numbers(result: &Ref) -> &[f64] {
    match result {
        Ref::Cells(cells) => &cells.f,
        other => panic!("{other:?}"),
    }
}

/// Builds a function that appends `0..<n`, then doubles every element in place.
fn fill_and_double() -> Builder {
    let mut b = Builder::new("fill", &[I], &[R, F]);
    let array = b.new_op(R, Op::NewArray(NUMBERS), &[]);
    let zero = b.int(0);
    b.count(zero, Reg(0), |b, i| {
        let x = b.prim("double.fromInt", &[i]);
        b.op(Op::Append(NUMBERS), &[array], &[array, x]);
    });
    let count = b.new_op(I, Op::Count, &[array]);
    let sum = b.reg(F);
    let start = b.num(0.0);
    b.set(sum, start);
    b.count(zero, count, |b, i| {
        let element = Op::LoadElement { bank: F, offset: 0, stride: NUMBERS };
        let x = b.new_op(F, element, &[array, i]);
        let two = b.prim("double.add", &[x, x]);
        b.op(Op::StoreElement { bank: F, offset: 0, stride: NUMBERS }, &[array], &[array, i, two]);
        let next = b.prim("double.add", &[sum, two]);
        b.set(sum, next);
    });
    b.end(Terminator::Return(vec![array, sum]));
    b
}

#[test]
fn arrays_are_filled_and_changed_in_place() {
    let result = run(vec![fill_and_double()], &[], &[5]).unwrap();
    assert_eq!((numbers(&result.r[0]), &result.f[..]), (&[0.0, 2.0, 4.0, 6.0, 8.0][..], &[20.0][..]));
}

/// The body `var b = a; b[0] = 9; return (a, b)` changes a parameter that is also shared with the caller.
#[test]
fn a_shared_array_is_copied_when_it_changes() {
    let mut b = Builder::new("copy", &[R], &[R, R]);
    let other = b.reg(R);
    b.set(other, Reg(0));
    let (zero, nine) = (b.int(0), b.num(9.0));
    b.op(Op::StoreElement { bank: F, offset: 0, stride: NUMBERS }, &[other], &[other, zero, nine]);
    b.end(Terminator::Return(vec![Reg(0), other]));
    let array = Ref::Cells(Rc::new(crate::value::Cells::numbers(vec![1.0, 2.0])));
    let args = Components { r: &[array], ..Components::default() };
    let result = machine().run(&mut TestProgram::new(vec![b]), 0, args).unwrap();
    assert_eq!((numbers(&result.r[0]), numbers(&result.r[1])), (&[1.0, 2.0][..], &[9.0, 2.0][..]));
}

/// A loop that reads its array through a copy must not cause the write after the read to copy the array in each
/// iteration.
#[test]
fn a_copy_that_is_not_needed_any_more_does_not_share() {
    let mut b = Builder::new("touch", &[I], &[R]);
    let array = b.new_op(R, Op::NewArray(NUMBERS), &[]);
    let zero = b.int(0);
    b.count(zero, Reg(0), |b, _| {
        let x = b.num(1.0);
        b.op(Op::Append(NUMBERS), &[array], &[array, x]);
    });
    b.count(zero, Reg(0), |b, i| {
        let copy = b.reg(R);
        b.set(copy, array);
        let inner = b.block();
        b.end(Terminator::Jump(inner));
        b.switch_to_block(inner);
        let count = b.new_op(I, Op::Count, &[copy]);
        let x = b.prim("double.fromInt", &[count]);
        b.op(Op::StoreElement { bank: F, offset: 0, stride: NUMBERS }, &[array], &[array, i, x]);
    });
    b.end(Terminator::Return(vec![array]));
    let start = std::time::Instant::now();
    let result = run(vec![b], &[], &[30_000]).unwrap();
    assert!(numbers(&result.r[0]).iter().all(|x| *x == 30_000.0));
    // Copying the array each time would move 7 GB.
    assert!(start.elapsed().as_secs_f64() < 1.0);
}

#[test]
fn an_index_out_of_range_is_reported() {
    let mut b = Builder::new("read", &[R, I], &[F]);
    let x = b.new_op(F, Op::LoadElement { bank: F, offset: 0, stride: NUMBERS }, &[Reg(0), Reg(1)]);
    b.end(Terminator::Return(vec![x]));
    let (mut machine, mut program) = (machine(), TestProgram::new(vec![b]));
    let cells = crate::value::Cells::numbers(vec![0.0; 5]);
    let array = [Ref::Cells(Rc::new(cells))];
    for index in [5, -1] {
        let args = Components { i: &[index], r: &array, ..Components::default() };
        let fault = machine.run(&mut program, 0, args).unwrap_err();
        let message = format!("index {index} is out of range for an array of 5 elements (valid: 0 to 4)");
        assert_eq!((fault.kind, fault.message), (FaultKind::Error(Number::IndexOutOfRange), message));
    }
}

/// The elements consist of two numbers and a reference; the second number and the reference are changed in place.
#[test]
fn elements_have_parts() {
    let stride = Stride { f: 2, i: 0, r: 1 };
    let mut b = Builder::new("parts", &[I], &[F, R, I]);
    let array = b.new_op(R, Op::NewArray(stride), &[]);
    for k in 0..3 {
        let (x, y) = (b.num(f64::from(k)), b.num(f64::from(k) + 0.5));
        let row = b.new_op(R, Op::NewArray(NUMBERS), &[]);
        b.op(Op::Append(stride), &[array], &[array, x, y, row]);
    }
    let row = b.reg(R);
    b.op(Op::TakeElement { offset: 0, stride }, &[row, array], &[array, Reg(0)]);
    let seven = b.num(7.0);
    b.op(Op::Append(NUMBERS), &[row], &[row, seven]);
    b.op(Op::StoreElement { bank: R, offset: 0, stride }, &[array], &[array, Reg(0), row]);
    b.op(Op::StoreElement { bank: F, offset: 1, stride }, &[array], &[array, Reg(0), seven]);
    let x = b.new_op(F, Op::LoadElement { bank: F, offset: 0, stride }, &[array, Reg(0)]);
    let y = b.new_op(F, Op::LoadElement { bank: F, offset: 1, stride }, &[array, Reg(0)]);
    let sum = b.prim("double.add", &[x, y]);
    let row = b.new_op(R, Op::LoadElement { bank: R, offset: 0, stride }, &[array, Reg(0)]);
    let count = b.new_op(I, Op::Count, &[array]);
    b.end(Terminator::Return(vec![sum, row, count]));
    let result = run(vec![b], &[], &[2]).unwrap();
    assert_eq!((&result.f[..], numbers(&result.r[0]), &result.i[..]), (&[9.0][..], &[7.0][..], &[3][..]));
}

#[test]
fn records_are_values() {
    let mut b = Builder::new("record", &[F, F], &[F, F]);
    let one = b.new_op(R, Op::NewRecord, &[Reg(0), Reg(1)]);
    let other = b.reg(R);
    b.set(other, one);
    let ten = b.num(10.0);
    b.op(Op::StoreRecord { bank: F, index: 1 }, &[other], &[other, ten]);
    let x = b.new_op(F, Op::LoadRecord { bank: F, index: 1 }, &[one]);
    let y = b.new_op(F, Op::LoadRecord { bank: F, index: 1 }, &[other]);
    b.end(Terminator::Return(vec![x, y]));
    assert_eq!(run(vec![b], &[1.0, 2.0], &[]).unwrap().f[..], [2.0, 10.0]);
}
