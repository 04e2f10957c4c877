//! Tests of the transforms.

use super::*;
use crate::diff::test_graphs::{Builder, program};
use crate::ir::passes::element_promotion;
use crate::ir::verifier::verify;
use crate::ir::{BlockId, Program, Terminator, TransformedOp};
use crate::value::Bank::{F, I, R};

fn function(b: Builder) -> (Program, Function) {
    let (program, id) = program(b);
    let f = (**program.function(id).unwrap()).clone();
    (program, f)
}

/// Verifies the graph of adjoint code and returns it.
fn sound((program, f): (Program, Function)) -> Function {
    let code = adjoint(&f, true).unwrap();
    let plain = Function { parameters: vec![], ..code.clone() };
    let faults: Vec<String> = verify(&program, &plain).into_iter().filter(|f| !f.contains("parameters")).collect();
    assert_eq!(faults, Vec::<String>::new());
    code
}

fn count(f: &Function, is: impl Fn(&TransformedOp) -> bool) -> usize {
    let steps = f.blocks.iter().flat_map(|b| &b.instructions);
    steps.filter(|step| matches!(&step.op, Op::Transformed(op) if is(op))).count()
}

fn pushes(f: &Function) -> usize {
    count(f, |op| matches!(op, TransformedOp::Push(F)))
}

/// Builds `for _ in 0..<n { … }` around the steps of `body`; returns the block after the loop.
fn repeat(b: &mut Builder, body: impl FnOnce(&mut Builder)) -> BlockId {
    let (i, n, one) = (b.op(Op::ConstI(0), &[], I), b.op(Op::ConstI(9), &[], I), b.op(Op::ConstI(1), &[], I));
    let (inside, after) = (b.block(), b.block());
    b.jump(inside);
    b.at(inside);
    body(b);
    b.op_to(Op::Primitive(crate::native::primitive("int.add").unwrap()), &[i, one], &[i]);
    let again = b.primitive("int.lt", &[i, n]);
    b.branch(again, inside, after);
    b.at(after);
    after
}

#[test]
fn a_straight_line_function_records_nothing() {
    let mut b = Builder::new("f");
    let x = b.param("x", F);
    let y = b.primitive("double.sin", &[x]);
    let z = b.primitive("double.mul", &[x, y]);
    b.ret(&[z]);
    let code = sound(function(b));
    assert_eq!(pushes(&code), 0);
    assert_eq!((code.params.len(), code.results.len()), (1, 2));
    assert_eq!(count(&code, |op| matches!(op, TransformedOp::Partial { .. })), 1);
}

#[test]
fn a_loop_records_values_that_cannot_be_recomputed() {
    // In `x = r * x * (1 - x)` only x is recorded, once per iteration; the loop variable identifies the first
    // iteration.
    let mut b = Builder::new("f");
    let (r, start) = (b.param("r", F), b.param("start", F));
    let x = b.op(Op::Copy, &[start], F);
    repeat(&mut b, |b| {
        let first = b.primitive("double.mul", &[r, x]);
        let one = b.constant(1.0);
        let second = b.primitive("double.sub", &[one, x]);
        b.op_to(Op::Primitive(crate::native::primitive("double.mul").unwrap()), &[first, second], &[x]);
    });
    b.ret(&[x]);
    let code = sound(function(b));
    assert_eq!(pushes(&code), 1);
    assert_eq!(count(&code, |op| matches!(op, TransformedOp::PushConstant(_) | TransformedOp::Push(I))), 0);
}

#[test]
fn a_sum_records_nothing() {
    let mut b = Builder::new("f");
    let x = b.param("x", F);
    let sum = b.op(Op::ConstF(0.0), &[], F);
    repeat(&mut b, |b| {
        let square = b.primitive("double.mul", &[x, x]);
        b.op_to(Op::Primitive(crate::native::primitive("double.add").unwrap()), &[sum, square], &[sum]);
    });
    b.ret(&[sum]);
    let (program, f) = function(b);
    assert_eq!(pushes(&sound((program, f.clone()))), 0);
    // Without the value of the function no sum is computed, and the loop only has to have counted.
    let times = |f: &Function, name: &str| {
        let steps = f.blocks.iter().flat_map(|b| &b.instructions);
        steps.filter(|step| matches!(step.op, Op::Primitive(id) if id.info().name == name)).count()
    };
    let (alone, with_value) = (adjoint(&f, false).unwrap(), adjoint(&f, true).unwrap());
    assert_eq!(times(&alone, "double.mul") + 1, times(&with_value, "double.mul"));
    assert_eq!((times(&alone, "int.max"), times(&with_value, "int.max")), (1, 0));
}

#[test]
fn expensive_results_are_recorded() {
    let mut b = Builder::new("f");
    let x = b.param("x", F);
    let y = b.op(Op::Copy, &[x], F);
    repeat(&mut b, |b| {
        let e = b.primitive("double.exp", &[y]);
        b.op_to(Op::Primitive(crate::native::primitive("double.mul").unwrap()), &[e, x], &[y]);
    });
    b.ret(&[y]);
    // The exponential is recorded, because the partial and the product need it; its operand is not recorded.
    assert_eq!(pushes(&sound(function(b))), 1);
}

#[test]
fn the_predecessor_of_a_join_is_recorded() {
    let mut b = Builder::new("f");
    let x = b.param("x", F);
    let zero = b.constant(0.0);
    let y = b.op(Op::Copy, &[x], F);
    let (then, after) = (b.block(), b.block());
    let less = b.primitive("double.lt", &[x, zero]);
    b.branch(less, then, after);
    b.at(then);
    b.op_to(Op::Primitive(crate::native::primitive("double.mul").unwrap()), &[x, x], &[y]);
    b.jump(after);
    b.at(after);
    b.ret(&[y]);
    let code = sound(function(b));
    assert_eq!(count(&code, |op| matches!(op, TransformedOp::PushConstant(_))), 2);
    assert_eq!(count(&code, |op| matches!(op, TransformedOp::Pop(I))), 1);
}

#[test]
fn elements_get_their_adjoints_in_place() {
    let mut b = Builder::new("f");
    let xs = b.param("xs", R);
    let index = b.op(Op::ConstI(1), &[], I);
    let stride = crate::ir::Stride { f: 1, i: 0, r: 0 };
    let x = b.op(Op::LoadElement { bank: F, offset: 0, stride }, &[xs, index], F);
    let y = b.primitive("double.exp", &[x]);
    b.ret(&[y]);
    let code = sound(function(b));
    assert_eq!(code.results, [F, R]);
    assert_eq!(count(&code, |op| matches!(op, TransformedOp::AddElement { .. })), 1);
}

#[test]
fn numbers_go_through_arrays_that_a_function_makes() {
    let mut b = Builder::new("f");
    let x = b.param("x", F);
    let index = b.op(Op::ConstI(0), &[], I);
    let stride = crate::ir::Stride { f: 1, i: 0, r: 0 };
    let array = b.op(Op::NewArray(stride), &[], R);
    b.op_to(Op::Append(stride), &[array, x], &[array]);
    let y = b.op(Op::LoadElement { bank: F, offset: 0, stride }, &[array, index], F);
    b.ret(&[y]);
    let (_, f) = function(b);
    let code = adjoint(&f, true).unwrap();
    assert_eq!(count(&code, |op| matches!(op, TransformedOp::Accumulate { .. })), 1);
    assert_eq!(count(&code, |op| matches!(op, TransformedOp::TakeAdjoint { .. })), 1);
    let code = tangent(&f).unwrap();
    let appends = code.blocks[0].instructions.iter().filter(|step| matches!(step.op, Op::Append(_))).count();
    assert_eq!(appends, 2);
}

#[test]
fn unsupported_functions_have_no_adjoint_code() {
    // The function converts a number to an integer.
    let mut b = Builder::new("f");
    let x = b.param("x", F);
    let n = b.primitive("int.fromDouble", &[x]);
    let y = b.primitive("double.fromInt", &[n]);
    let z = b.primitive("double.mul", &[x, y]);
    b.ret(&[z]);
    let (_, f) = function(b);
    assert!(adjoint(&f, true).is_err() && tangent(&f).is_err());
}

#[test]
fn tangent_code_reads_operands_before_it_writes_them() {
    // In x = x * x, the tangent needs the old x.
    let mut b = Builder::new("f");
    let x = b.param("x", F);
    b.op_to(Op::Primitive(crate::native::primitive("double.mul").unwrap()), &[x, x], &[x]);
    b.ret(&[x]);
    let (_, f) = function(b);
    let code = tangent(&f).unwrap();
    assert_eq!((code.params.len(), code.results.len()), (2, 2));
    let steps = &code.blocks[0].instructions;
    let writes = steps.iter().position(|step| step.outs == [x]).unwrap();
    let reads = steps.iter().rposition(|step| step.ins.contains(&x)).unwrap();
    assert!(reads < writes);
    let Some(Terminator::Return(results)) = &code.blocks[0].end else { panic!("it returns") };
    assert_eq!(results[0], x);
}

#[test]
fn every_entry_with_partial_derivatives_has_tangent_and_adjoint_code() {
    use crate::native::{PrimitiveId, primitive_table};
    let ids = (0..primitive_table::all().len() as u16).map(PrimitiveId);
    for id in ids.filter(|id| !id.info().partials().is_empty()) {
        let mut b = Builder::new("f");
        let operands: Vec<Reg> = id.info().operands.iter().map(|bank| b.param("x", *bank)).collect();
        let y = b.apply(id, &operands);
        b.ret(&[y]);
        let (program, f) = function(b);
        assert!(tangent(&f).is_ok(), "{} has no tangent code", id.info().name);
        sound((program, f));
    }
}

#[test]
fn a_call_of_an_invalid_function_is_a_fault() {
    let mut program = Program::default();
    let mut called = Builder::new("called");
    let x = called.param("x", F);
    called.ret(&[x]);
    let mut caller = Builder::new("caller");
    let x = caller.param("x", F);
    let y = caller.op(Op::Call(crate::ir::FunctionId(0)), &[x], F);
    caller.ret(&[y]);
    called.add_to(&mut program);
    let caller = caller.add_to(&mut program);
    let faults = |program: &Program| verify(program, program.function(caller).unwrap()).len();
    assert_eq!(faults(&program), 0);

    // A graph from a damaged file is transformed: the register of the parameter does not exist.
    let called = program.functions[0].as_mut().and_then(std::rc::Rc::get_mut).unwrap();
    called.params[0] = crate::ir::Reg(9);
    assert_eq!(faults(&program), 1);
}

/// Returns the number of steps with an operation in loops.
fn in_loops(f: &Function, op: &Op) -> usize {
    let inside = crate::ir::analysis::control_flow::in_loops(f);
    let blocks = f.blocks.iter().zip(inside).filter(|(_, inside)| *inside);
    blocks.flat_map(|(block, _)| &block.instructions).filter(|step| step.op == *op).count()
}

#[test]
fn the_reverse_pass_divides_by_an_unchanged_number_before_the_loop() {
    let mut b = Builder::new("f");
    let (start, d) = (b.param("start", F), b.param("d", F));
    let x = b.op(Op::Copy, &[start], F);
    repeat(&mut b, |b| {
        let quotient = b.primitive("double.div", &[x, d]);
        b.op_to(Op::Copy, &[quotient], &[x]);
    });
    b.ret(&[x]);
    let code = sound(function(b));
    // The forward pass divides, and the reverse pass does so again for the adjoint of the divisor.
    assert_eq!(in_loops(&code, &arithmetic("double.div")), 2);
    assert_eq!(in_loops(&code, &arithmetic("double.mul")), 3);
}

#[test]
fn the_elements_of_an_array_are_counted_by_a_register() {
    let mut b = Builder::new("f");
    let x = b.param("x", F);
    let stride = crate::ir::Stride { f: 1, i: 0, r: 0 };
    let array = b.op(Op::NewArray(stride), &[], R);
    repeat(&mut b, |b| {
        let y = b.primitive("double.mul", &[x, x]);
        b.op_to(Op::Append(stride), &[array, y], &[array]);
    });
    let index = b.op(Op::ConstI(2), &[], I);
    let y = b.op(Op::LoadElement { bank: F, offset: 0, stride }, &[array, index], F);
    b.ret(&[y]);
    let code = sound(function(b));
    assert_eq!(count(&code, |op| matches!(op, TransformedOp::Push(I))), 0);
    assert!(!code.blocks.iter().flat_map(|block| &block.instructions).any(|step| step.op == Op::Count));
}

#[test]
fn the_adjoint_of_a_sum_in_an_element_is_read() {
    let mut b = Builder::new("f");
    let x = b.param("x", F);
    let stride = crate::ir::Stride { f: 1, i: 0, r: 0 };
    let array = b.op(Op::NewArray(stride), &[], R);
    b.op_to(Op::Append(stride), &[array, x], &[array]);
    let index = b.op(Op::ConstI(0), &[], I);
    let load = Op::LoadElement { bank: F, offset: 0, stride };
    repeat(&mut b, |b| {
        let before = b.op(load.clone(), &[array, index], F);
        let square = b.primitive("double.mul", &[x, x]);
        let sum = b.primitive("double.add", &[before, square]);
        b.op_to(Op::StoreElement { bank: F, offset: 0, stride }, &[array, index, sum], &[array]);
    });
    let y = b.op(load, &[array, index], F);
    b.ret(&[y]);
    let code = sound(function(b));
    assert_eq!(count(&code, |op| matches!(op, TransformedOp::ReadAdjoint { .. })), 1);
    // The one of the append.
    assert_eq!(count(&code, |op| matches!(op, TransformedOp::TakeAdjoint { .. })), 1);
}

/// Builds a loop that adds `x` to the element `index` of an array, and to the element with the number of the iteration if `also`
/// is true.
fn sums_in_elements(also: bool) -> Function {
    let stride = crate::ir::Stride { f: 1, i: 0, r: 0 };
    let (load, store) =
        (Op::LoadElement { bank: F, offset: 0, stride }, Op::StoreElement { bank: F, offset: 0, stride });
    let mut b = Builder::new("f");
    let (array, index, x) = (b.param("array", R), b.param("index", I), b.param("x", F));
    let other = b.op(Op::ConstI(1), &[], I);
    repeat(&mut b, |b| {
        for index in if also { vec![index, other] } else { vec![index] } {
            let before = b.op(load.clone(), &[array, index], F);
            let sum = b.primitive("double.add", &[before, x]);
            b.op_to(store.clone(), &[array, index, sum], &[array]);
        }
    });
    let result = b.op(load, &[array, index], F);
    b.ret(&[result]);
    function(b).1
}

#[test]
fn an_element_is_in_a_register_during_a_loop() {
    let mut f = sums_in_elements(false);
    assert!(element_promotion::promote(&mut f));
    let inside = crate::ir::analysis::control_flow::in_loops(&f);
    let is_access = |step: &Instruction| matches!(step.op, Op::LoadElement { .. } | Op::StoreElement { .. });
    let accesses = |inside_loop: bool| {
        let blocks = f.blocks.iter().zip(&inside).filter(|(_, inside)| **inside == inside_loop);
        blocks.flat_map(|(block, _)| &block.instructions).filter(|step| is_access(step)).count()
    };
    // The load before the loop, the store after it, and the load of the result.
    assert_eq!((accesses(true), accesses(false)), (0, 3));
    assert!(!element_promotion::promote(&mut sums_in_elements(true)), "the indices may be equal");
}

#[test]
fn the_partial_derivatives_of_a_sine_and_a_cosine_are_computed_once() {
    let derivatives = |angles: [usize; 2], in_loop: bool| {
        let mut b = Builder::new("f");
        let x = [b.param("x", F), b.param("y", F)];
        let product = b.op(Op::ConstF(0.0), &[], F);
        let steps = |b: &mut Builder| {
            let (sine, cosine) =
                (b.primitive("double.sin", &[x[angles[0]]]), b.primitive("double.cos", &[x[angles[1]]]));
            let term = b.primitive("double.mul", &[sine, cosine]);
            b.op_to(Op::Primitive(crate::native::primitive("double.add").unwrap()), &[product, term], &[product]);
        };
        if in_loop {
            repeat(&mut b, steps);
        } else {
            steps(&mut b);
        }
        b.ret(&[product]);
        let (program, f) = function(b);
        let tangents = tangent(&f).unwrap();
        let is_partial = |op: &TransformedOp| matches!(op, TransformedOp::Partial { .. });
        [count(&sound((program, f)), is_partial), count(&tangents, is_partial)]
    };
    // In tangent code, the first of two partial derivatives is computed instead of the function that follows.
    assert_eq!(derivatives([0, 0], false), [0, 1]);
    assert_eq!(derivatives([0, 1], false), [2, 2]);
    assert_eq!(derivatives([0, 0], true)[1], 1);
}

#[test]
fn the_reverse_pass_of_a_branch_uses_the_sine_of_its_forward_pass() {
    let mut b = Builder::new("f");
    let (x, condition) = (b.param("x", F), b.param("condition", Bank::I));
    let result = b.op(Op::Copy, &[x], F);
    let (then, after) = (b.block(), b.block());
    b.branch(condition, then, after);
    b.at(then);
    let (sine, cosine) = (b.primitive("double.sin", &[x]), b.primitive("double.cos", &[x]));
    b.op_to(Op::Primitive(crate::native::primitive("double.mul").unwrap()), &[sine, cosine], &[result]);
    b.jump(after);
    b.at(after);
    b.ret(&[result]);
    assert_eq!(count(&sound(function(b)), |op| matches!(op, TransformedOp::Partial { .. })), 0);
}
