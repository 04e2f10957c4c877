//! Operator tests: operators that are applied by graphs built by hand.

use crate::diagnostic::Code as Number;
use crate::ir::*;
use crate::value::shape::{Shape, Style, Tangent, TangentId, TangentKind};
use crate::value::{Bank, Cells, Components, Ref};
use crate::vm::FaultKind;
use crate::vm::tests::graph_builder::{Builder, F, I, NUMBERS, R, TestProgram, machine};
use crate::vm::{Fault, Machine};
use std::rc::Rc;

/// A program of a test: functions and the types that they use.
struct Script {
    test_program: TestProgram,
    number: TangentId,
    array: TangentId,
}

impl Script {
    /// Creates a script; function 0 is run.
    fn new(functions: impl FnOnce(TangentId, TangentId) -> Vec<Builder>) -> Script {
        let mut test_program = TestProgram::new(vec![]);
        let program = &mut test_program.program;
        let double = program.shapes.add(Shape::Double);
        let number = program.tangents.add(Tangent { value: double, vector: double, kind: TangentKind::Number });
        let value = program.shapes.add(Shape::Array(double));
        let fields = vec![(Rc::from("elements"), value)];
        let vector =
            program.shapes.add(Shape::Struct { name: Rc::from("TangentVector"), fields, style: Style::Fields });
        let array = program.tangents.add(Tangent { value, vector, kind: TangentKind::Array(number) });
        let made = TestProgram::new(functions(number, array));
        test_program.program.functions = made.program.functions;
        test_program.derivatives = made.derivatives;
        Script { test_program, number, array }
    }

    fn try_run(&mut self, machine: &mut Machine, f: &[f64], r: &[Ref]) -> Result<Cells, Box<Fault>> {
        let args = Components { f, slots: &[], i: &[], r };
        let result = machine.run(&mut self.test_program, 0, args);
        assert_eq!(machine.levels.depth(), 0, "every level has ended");
        result
    }

    fn run(&mut self, f: &[f64]) -> Vec<f64> {
        self.try_run(&mut machine(), f, &[]).unwrap().f.to_vec()
    }
}

/// Builds `let (y, d) = valueWithDifferential(at: x, in: function)`.
fn with_differential(
    b: &mut Builder,
    (x, at): (Reg, TangentId),
    function: u32,
    captured: &[Reg],
    result: TangentId,
) -> [Reg; 2] {
    let body = b.new_op(R, Op::Closure(FunctionId(function)), captured);
    let (y, d) = (b.reg(F), b.reg(R));
    b.op(Op::Operator(Operator::ValueWithDifferential { at, result, throws: false }), &[y, d], &[x, body]);
    [y, d]
}

/// Computes `pullback(1)`, for a differential of one number by a value in the given bank.
fn pulled(b: &mut Builder, d: Reg, seed: f64, (at, result): (TangentId, TangentId), bank: Bank) -> Reg {
    let pullback = b.new_op(R, Op::Operator(Operator::Transpose { at, result }), &[d]);
    let seed = b.num(seed);
    b.new_op(bank, Op::CallValue, &[pullback, seed])
}

/// Builds `let (y, dy) = valueWithTangent(x, 1, function)`.
fn with_tangent(b: &mut Builder, x: Reg, function: u32, captured: &[Reg], of: TangentId) -> [Reg; 2] {
    let body = b.new_op(R, Op::Closure(FunctionId(function)), captured);
    let (y, dy, one) = (b.reg(F), b.reg(F), b.num(1.0));
    b.op(Op::Operator(Operator::ValueWithTangent { at: of, result: of, throws: false }), &[y, dy], &[x, one, body]);
    [y, dy]
}

/// Builds the derivative of function `function` at `x`, either as a differential or as a tangent.
fn derivative(b: &mut Builder, x: Reg, function: u32, captured: &[Reg], of: TangentId, reverse: bool) -> Reg {
    if reverse {
        let [_, d] = with_differential(b, (x, of), function, captured, of);
        pulled(b, d, 1.0, (of, of), F)
    } else {
        with_tangent(b, x, function, captured, of)[1]
    }
}

/// Builds the closure `{ x in x * sin(x) }`.
fn product() -> Builder {
    let mut b = Builder::new("product", &[F], &[F]);
    let s = b.prim("double.sin", &[Reg(0)]);
    let y = b.prim("double.mul", &[Reg(0), s]);
    b.end(Terminator::Return(vec![y]));
    b
}

#[test]
fn a_differential_and_its_transpose_are_functions() {
    let mut script = Script::new(|number, _| {
        let mut main = Builder::new("main", &[F], &[F, F, F, F]);
        let [y, d] = with_differential(&mut main, (Reg(0), number), 1, &[], number);
        let half = main.num(0.5);
        let forwards = main.new_op(F, Op::CallValue, &[d, half]);
        let once = pulled(&mut main, d, 1.0, (number, number), F);
        let twice = pulled(&mut main, d, 2.0, (number, number), F);
        main.end(Terminator::Return(vec![y, forwards, once, twice]));
        vec![main, product()]
    });
    let x = 2.0_f64;
    let partial = x.sin() + x * x.cos();
    assert_eq!(script.run(&[x]), [x * x.sin(), 0.5 * partial, partial, 2.0 * partial]);
}

#[test]
fn derivatives_nest_in_every_mix() {
    // Function 1 is x ↦ f'(x), function 2 is f.
    for (outer, inner) in [(true, true), (true, false), (false, true), (false, false)] {
        let mut script = Script::new(|number, _| {
            let mut main = Builder::new("main", &[F], &[F]);
            let second = derivative(&mut main, Reg(0), 1, &[], number, outer);
            main.end(Terminator::Return(vec![second]));
            let mut first = Builder::new("first", &[F], &[F]);
            let y = derivative(&mut first, Reg(0), 2, &[], number, inner);
            first.end(Terminator::Return(vec![y]));
            vec![main, first, product()]
        });
        let x = 2.0_f64;
        let second = script.run(&[x])[0];
        assert!((second - (2.0 * x.cos() - x * x.sin())).abs() < 1e-14, "{outer} {inner}: {second}");
    }
}

#[test]
fn captured_numbers_are_not_confused() {
    // d/dx (x · d/dy (x + y)) = 1; the inner body captures x.
    for (outer, inner) in [(true, true), (true, false), (false, true), (false, false)] {
        let mut script = Script::new(|number, _| {
            let mut main = Builder::new("main", &[F], &[F]);
            let d = derivative(&mut main, Reg(0), 1, &[], number, outer);
            main.end(Terminator::Return(vec![d]));
            let mut first = Builder::new("first", &[F], &[F]);
            let one = first.num(1.0);
            let d = derivative(&mut first, one, 2, &[Reg(0)], number, inner);
            let y = first.prim("double.mul", &[Reg(0), d]);
            first.end(Terminator::Return(vec![y]));
            let mut second = Builder::new("second", &[F], &[F]);
            second.function.captures = vec![F];
            let x = second.new_op(F, Op::Capture { bank: F, index: 0 }, &[]);
            let sum = second.prim("double.add", &[x, Reg(0)]);
            second.end(Terminator::Return(vec![sum]));
            vec![main, first, second]
        });
        assert_eq!(script.run(&[3.0]), [1.0], "{outer} {inner}");
    }
}

#[test]
fn a_variable_keeps_its_link_to_the_outer_level() {
    // d/dx of { var v = 0; d/dy { v = x * y; return y }; return v } at y = 5 is 5.
    for (outer, inner) in [(true, true), (true, false), (false, true), (false, false)] {
        let mut script = Script::new(|number, _| {
            let mut main = Builder::new("main", &[F], &[F]);
            let d = derivative(&mut main, Reg(0), 1, &[], number, outer);
            main.end(Terminator::Return(vec![d]));
            let mut first = Builder::new("first", &[F], &[F]);
            let zero = first.num(0.0);
            let v = first.new_op(R, Op::NewBox, &[zero]);
            let five = first.num(5.0);
            derivative(&mut first, five, 2, &[Reg(0), v], number, inner);
            let value = first.new_op(F, Op::LoadBox { bank: F, index: 0 }, &[v]);
            first.end(Terminator::Return(vec![value]));
            let mut second = Builder::new("second", &[F], &[F]);
            second.function.captures = vec![F, R];
            let x = second.new_op(F, Op::Capture { bank: F, index: 0 }, &[]);
            let v = second.new_op(R, Op::Capture { bank: R, index: 0 }, &[]);
            let product = second.prim("double.mul", &[x, Reg(0)]);
            second.op(Op::StoreBox { bank: F, index: 0 }, &[], &[v, product]);
            second.end(Terminator::Return(vec![Reg(0)]));
            vec![main, first, second]
        });
        assert_eq!(script.run(&[2.0]), [5.0], "{outer} {inner}");
    }
}

/// Builds the closure `{ xs in var s = 0; for x in xs { s += x * x }; return s }`.
fn sum_of_squares() -> Builder {
    let mut b = Builder::new("sum", &[R], &[F]);
    let (s, zero) = (b.reg(F), b.num(0.0));
    b.set(s, zero);
    let (first, count) = (b.int(0), b.new_op(I, Op::Count, &[Reg(0)]));
    b.count(first, count, |b, i| {
        let x = b.new_op(F, Op::LoadElement { bank: F, offset: 0, stride: NUMBERS }, &[Reg(0), i]);
        let square = b.prim("double.mul", &[x, x]);
        let next = b.prim("double.add", &[s, square]);
        b.set(s, next);
    });
    b.end(Terminator::Return(vec![s]));
    b
}

fn array(numbers: &[f64]) -> Ref {
    let mut cells = Cells::default();
    numbers.iter().for_each(|x| cells.push(Components { f: &[*x], ..Components::default() }));
    Ref::Cells(Rc::new(cells))
}

fn gradient_of_sum() -> Script {
    Script::new(|number, array| {
        let mut main = Builder::new("main", &[R], &[R]);
        let body = main.new_op(R, Op::Closure(FunctionId(1)), &[]);
        let (y, d) = (main.reg(F), main.reg(R));
        main.op(
            Op::Operator(Operator::ValueWithDifferential { at: array, result: number, throws: false }),
            &[y, d],
            &[Reg(0), body],
        );
        let gradient = pulled(&mut main, d, 1.0, (array, number), R);
        main.end(Terminator::Return(vec![gradient]));
        vec![main, sum_of_squares()]
    })
}

#[test]
fn the_gradient_by_an_array_is_a_vector_of_its_size() {
    let mut script = gradient_of_sum();
    let x = array(&[1.0, -2.0, 0.5]);
    let result = script.try_run(&mut machine(), &[], std::slice::from_ref(&x)).unwrap();
    assert!(matches!(&result.r[0], Ref::Cells(c) if c.f[..] == [2.0, -4.0, 1.0] && c.len == 3 && c.slots.is_empty()));
    assert!(matches!(&x, Ref::Cells(c) if c.slots.is_empty()), "the argument is a value of its own");
    let empty = script.try_run(&mut machine(), &[], &[array(&[])]).unwrap();
    assert!(matches!(&empty.r[0], Ref::Cells(c) if c.len == 0));
}

#[test]
fn many_gradients_leave_no_garbage() {
    let (mut script, mut machine) = (gradient_of_sum(), machine());
    let x = array(&[0.25; 600]);
    for _ in 0..200 {
        script.try_run(&mut machine, &[], std::slice::from_ref(&x)).unwrap();
        assert_eq!(machine.levels.pool().borrow().used(), 0);
    }
}

#[test]
fn a_vector_of_another_size_is_read_as_far_as_it_goes() {
    let mut script = Script::new(|number, array| {
        let mut main = Builder::new("main", &[R, R], &[F]);
        let body = main.new_op(R, Op::Closure(FunctionId(1)), &[]);
        let (y, d) = (main.reg(F), main.reg(R));
        main.op(
            Op::Operator(Operator::ValueWithDifferential { at: array, result: number, throws: false }),
            &[y, d],
            &[Reg(0), body],
        );
        let dy = main.new_op(F, Op::CallValue, &[d, Reg(1)]);
        main.end(Terminator::Return(vec![dy]));
        vec![main, sum_of_squares()]
    });
    let mut apply = |dx: &[f64]| script.try_run(&mut machine(), &[], &[array(&[1.0, 2.0]), array(dx)]);
    assert_eq!(apply(&[1.0, 1.0]).unwrap().f[..], [6.0]);
    assert_eq!(apply(&[]).unwrap().f[..], [0.0]);
    // Missing elements at the end are zero, and excess elements are not read.
    assert_eq!(apply(&[1.0]).unwrap().f[..], [2.0]);
    assert_eq!(apply(&[1.0, 1.0, 1.0]).unwrap().f[..], [6.0]);
}

/// Builds a rule for `square`: its derivative is three times the true derivative, so that its use is visible. Function
/// 1 calls `square` by rule, function 2 is `square`, function 3 is registered and returns function 4.
fn by_rule(kind: RuleKind, main: impl FnOnce(&mut Builder, TangentId)) -> Script {
    Script::new(|number, _| {
        let mut first = Builder::new("main", &[F], &[F]);
        main(&mut first, number);
        let mut body = Builder::new("body", &[F], &[F]);
        let y = body.new_op(F, Op::CallRule(FunctionId(2)), &[Reg(0)]);
        body.end(Terminator::Return(vec![y]));
        let mut square = Builder::new("square", &[F], &[F]);
        let y = square.prim("double.mul", &[Reg(0), Reg(0)]);
        square.end(Terminator::Return(vec![y]));
        let parameter = |tangent| Parameter {
            name: "x".into(),
            span: Default::default(),
            first: 0,
            len: 1,
            tangent: Some(tangent),
            shape: crate::value::shape::ShapeId(0),
        };
        square.function.parameters = vec![parameter(number)];
        square.function.rules = vec![Rule::new(vec![true], FunctionId(3), kind, number)];
        let mut registered = Builder::new("registered", &[F], &[F, R]);
        let y = registered.new_op(F, Op::CallRule(FunctionId(2)), &[Reg(0)]);
        let closure = registered.new_op(R, Op::Closure(FunctionId(4)), &[Reg(0)]);
        registered.end(Terminator::Return(vec![y, closure]));
        let mut linear = Builder::new("linear", &[F], &[F]);
        linear.function.captures = vec![F];
        let x = linear.new_op(F, Op::Capture { bank: F, index: 0 }, &[]);
        let six = linear.num(6.0);
        let partial = linear.prim("double.mul", &[six, x]);
        let dy = linear.prim("double.mul", &[partial, Reg(0)]);
        linear.end(Terminator::Return(vec![dy]));
        vec![first, body, square, registered, linear]
    })
}

#[test]
fn registered_derivatives_are_used_in_every_mode() {
    for kind in [RuleKind::Differential, RuleKind::Pullback] {
        let mut script = by_rule(kind, |main, number| {
            let [_, d] = with_differential(main, (Reg(0), number), 1, &[], number);
            let back = pulled(main, d, 1.0, (number, number), F);
            let one = main.num(1.0);
            let forth = main.new_op(F, Op::CallValue, &[d, one]);
            let [_, tangent] = with_tangent(main, Reg(0), 1, &[], number);
            let ten = main.num(10.0);
            let all = main.prim("double.mul", &[ten, back]);
            let all = main.prim("double.add", &[all, forth]);
            let all = main.prim("double.mul", &[ten, all]);
            let all = main.prim("double.add", &[all, tangent]);
            main.end(Terminator::Return(vec![all]));
        });
        // 6 · 0.5 = 3 each.
        assert_eq!(script.run(&[0.5]), [333.0], "{kind:?}");
    }
}

#[test]
fn registered_derivatives_nest() {
    for kind in [RuleKind::Differential, RuleKind::Pullback] {
        for (outer, inner) in [(true, true), (true, false), (false, true), (false, false)] {
            let mut script = by_rule(kind, |main, number| {
                let d = derivative(main, Reg(0), 5, &[], number, outer);
                main.end(Terminator::Return(vec![d]));
            });
            let number = script.number;
            let mut first = Builder::new("first", &[F], &[F]);
            let d = derivative(&mut first, Reg(0), 1, &[], number, inner);
            first.end(Terminator::Return(vec![d]));
            script.test_program.derivatives.push(Some(first.all_active()));
            script.test_program.program.functions.push(Some(Rc::new(first.function)));
            // The partial derivative by the rule is 6 x; its partial derivative is 6.
            assert_eq!(script.run(&[0.5]), [6.0], "{kind:?} {outer} {inner}");
        }
    }
}

/// Function 1 calls function 2 by rule; 3 is registered and returns function 4, which returns 42 for any argument.
#[test]
fn a_constant_differential_has_no_transpose() {
    let constant = || {
        let mut linear = Builder::new("linear", &[F], &[F]);
        linear.function.captures = vec![F];
        let y = linear.num(42.0);
        linear.end(Terminator::Return(vec![y]));
        linear
    };
    let with = |reverse: bool| {
        let mut script = by_rule(RuleKind::Differential, |main, number| {
            let d = derivative(main, Reg(0), 1, &[], number, reverse);
            main.end(Terminator::Return(vec![d]));
        });
        script.test_program.derivatives[4] = Some(constant().all_active());
        script.test_program.program.functions[4] = Some(Rc::new(constant().function));
        script.try_run(&mut machine(), &[0.5], &[])
    };
    assert_eq!(with(false).unwrap().f[..], [42.0]);
    let fault = with(true).unwrap_err();
    assert_eq!(fault.message, "the function is constant and therefore not linear, so it has no transpose");
}

#[test]
fn closures_are_transposed_by_their_code() {
    let mut script = Script::new(|number, _| {
        let mut main = Builder::new("main", &[F], &[F]);
        let body = main.new_op(R, Op::Closure(FunctionId(1)), &[Reg(0)]);
        let y = pulled(&mut main, body, 2.0, (number, number), F);
        main.end(Terminator::Return(vec![y]));
        // An affine function: the constant part is ignored.
        let mut body = Builder::new("body", &[F], &[F]);
        body.function.captures = vec![F];
        let k = body.new_op(F, Op::Capture { bank: F, index: 0 }, &[]);
        let product = body.prim("double.mul", &[k, Reg(0)]);
        let one = body.num(1.0);
        let sum = body.prim("double.add", &[product, one]);
        body.end(Terminator::Return(vec![sum]));
        vec![main, body]
    });
    assert_eq!(script.run(&[3.5]), [7.0]);
}

#[test]
fn adjoints_are_edited_on_their_way_back_and_cut() {
    // { x in withDerivative(x) { $0 *= 10 } * withoutDerivative(x) }
    let mut script = Script::new(|number, _| {
        let mut main = Builder::new("main", &[F], &[F, F]);
        let [_, d] = with_differential(&mut main, (Reg(0), number), 1, &[], number);
        let back = pulled(&mut main, d, 1.0, (number, number), F);
        let one = main.num(1.0);
        let forth = main.new_op(F, Op::CallValue, &[d, one]);
        main.end(Terminator::Return(vec![back, forth]));
        let mut body = Builder::new("body", &[F], &[F]);
        let edit = body.new_op(R, Op::Closure(FunctionId(2)), &[]);
        let edited = body.new_op(F, Op::Operator(Operator::WithDerivative { of: number }), &[Reg(0), edit]);
        let cut = body.new_op(F, Op::Operator(Operator::WithoutDerivative { of: number }), &[Reg(0)]);
        let y = body.prim("double.mul", &[edited, cut]);
        body.end(Terminator::Return(vec![y]));
        let mut edit = Builder::new("edit", &[F], &[F]);
        edit.function.result_len = 0;
        let ten = edit.num(10.0);
        let y = edit.prim("double.mul", &[ten, Reg(0)]);
        edit.end(Terminator::Return(vec![y]));
        vec![main, body, edit]
    });
    assert_eq!(script.run(&[3.0]), [30.0, 3.0]);
}

#[test]
fn a_failure_inside_of_a_body_ends_its_level() {
    let mut script = Script::new(|number, _| {
        let mut main = Builder::new("main", &[F], &[F]);
        let d = derivative(&mut main, Reg(0), 1, &[], number, true);
        main.end(Terminator::Return(vec![d]));
        let mut body = Builder::new("body", &[F], &[F]);
        let y = body.prim("double.mul", &[Reg(0), Reg(0)]);
        let n = body.prim("int.fromDouble", &[y]);
        let zero = body.int(0);
        let q = body.prim("int.div", &[n, zero]);
        let y = body.prim("double.fromInt", &[q]);
        body.end(Terminator::Return(vec![y]));
        vec![main, body]
    });
    let mut machine = machine();
    for _ in 0..2 {
        let fault = script.try_run(&mut machine, &[3.0], &[]).unwrap_err();
        assert_eq!(fault.kind, FaultKind::Error(Number::DivisionByZero));
        assert_eq!(machine.levels.pool().borrow().used(), 0);
    }
}

#[test]
fn recursion_is_differentiated_deep_down() {
    // power(x, n) = n == 0 ? 1 : x * power(x, n - 1), with n = 50,000 in a box.
    let mut script = Script::new(|number, _| {
        let mut main = Builder::new("main", &[F], &[F, F]);
        let [y, d] = with_differential(&mut main, (Reg(0), number), 1, &[], number);
        let d = pulled(&mut main, d, 1.0, (number, number), F);
        main.end(Terminator::Return(vec![y, d]));
        let mut body = Builder::new("body", &[F], &[F]);
        let n = body.int(50_000);
        let y = body.new_op(F, Op::Call(FunctionId(2)), &[Reg(0), n]);
        body.end(Terminator::Return(vec![y]));
        let mut power = Builder::new("power", &[F, I], &[F]);
        let zero = power.int(0);
        let condition = power.prim("int.eq", &[Reg(1), zero]);
        let [done, more] = [power.block(), power.block()];
        power.end(Terminator::Branch { condition, then: done, otherwise: more });
        power.switch_to_block(done);
        let one = power.num(1.0);
        power.end(Terminator::Return(vec![one]));
        power.switch_to_block(more);
        let one = power.int(1);
        let less = power.prim("int.sub", &[Reg(1), one]);
        let rest = power.new_op(F, Op::Call(FunctionId(2)), &[Reg(0), less]);
        let y = power.prim("double.mul", &[Reg(0), rest]);
        power.end(Terminator::Return(vec![y]));
        vec![main, body, power]
    });
    assert_eq!(script.run(&[1.0]), [1.0, 50_000.0]);
    assert_ne!(script.array, script.number);
}
