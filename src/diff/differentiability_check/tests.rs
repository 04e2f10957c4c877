//! Assertions of differentiability and linearity that hold, and assertions that do not.

use super::check;
use crate::diagnostic::{Code, Diagnostic};
use crate::diff::test_graphs::Builder;
use crate::ir::{FunctionId, Op, Operator, Program, Reg};
use crate::native;
use crate::source::Span;
use crate::value::Bank::{F, I, R};
use crate::value::shape::{ShapeId, TangentId};
use std::rc::Rc;

/// Returns the diagnostics for a conversion of one function by name inside another function.
fn assert_that(program: &mut Program, target: FunctionId, linear: bool) -> Vec<Diagnostic> {
    let parameters = program.function(target).unwrap().parameters.len();
    let mut b = Builder::new("user");
    let function = b.op(Op::Closure(target), &[], R);
    let kept = b.op(Op::Copy, &[function], R);
    b.op(Op::AssertDifferentiable { linear, wrt: vec![true; parameters] }, &[kept], R);
    b.ret(&[]);
    let id = b.add_to(program);
    let mut out = vec![];
    check(program, id, &mut out);
    out
}

fn reported(b: Builder, linear: bool) -> Vec<Diagnostic> {
    let mut program = Program::default();
    let id = b.add_to(&mut program);
    assert_that(&mut program, id, linear)
}

fn codes(diagnostics: &[Diagnostic]) -> Vec<Code> {
    diagnostics.iter().map(|d| d.code).collect()
}

fn without_derivative() -> Op {
    Op::Operator(Operator::WithoutDerivative { of: TangentId(0) })
}

fn primitive(name: &str) -> Op {
    Op::Primitive(native::primitive(name).unwrap())
}

#[test]
fn a_number_goes_through_an_integer() {
    let mut b = Builder::new("closure in ‹script›");
    let x = b.param("x", F);
    let n = b.reg(I);
    let conversion = b.step(primitive("int.fromDouble"), &[x], &[n]);
    let y = b.primitive("double.fromInt", &[n]);
    let two = b.constant(2.0);
    let sum = b.primitive("double.add", &[y, two]);
    b.ret(&[sum]);
    let reported = reported(b, false);
    assert_eq!(codes(&reported), [Code::NotDifferentiable]);
    assert_eq!(reported[0].message, "function is not differentiable");
    let note = reported[0].notes.iter().find(|n| n.span == Some(conversion)).unwrap();
    assert!(note.text.starts_with("cannot differentiate through a non-differentiable result; do you want to add"));
    assert_eq!(reported[0].secondary[0].text, "differentiating with respect to 'x'");
    let edits = &reported[0].helps[0].edits;
    assert_eq!(edits[0], (conversion.before(), "withoutDerivative(at: ".into()));
    assert_eq!(edits[1], (conversion.after(), ")".into()));
}

#[test]
fn a_selection_is_no_path() {
    // table[Int(x)] * x, and Int(x) < n ? x : -x
    let mut b = Builder::new("f");
    let (x, table) = (b.param("x", F), b.param("table", R));
    let n = b.primitive("int.fromDouble", &[x]);
    let element = Op::LoadElement { bank: F, offset: 0, stride: crate::ir::Stride { f: 1, i: 0, r: 0 } };
    let entry = b.op(element, &[table, n], F);
    let product = b.primitive("double.mul", &[entry, x]);
    let less = b.primitive("int.lt", &[n, n]);
    let (then, otherwise) = (b.block(), b.block());
    b.branch(less, then, otherwise);
    b.at(then);
    let negative = b.primitive("double.neg", &[product]);
    b.ret(&[negative]);
    b.at(otherwise);
    b.ret(&[product]);
    assert_eq!(codes(&reported(b, false)), []);
}

#[test]
fn what_was_overwritten_does_not_count() {
    let mut b = Builder::new("f");
    let x = b.param("x", F);
    let y = b.reg(F);
    let n = b.primitive("int.fromDouble", &[x]);
    b.step(primitive("double.fromInt"), &[n], &[y]);
    b.step(Op::Copy, &[x], &[y]);
    b.ret(&[y]);
    assert_eq!(codes(&reported(b, false)), []);
}

#[test]
fn a_path_through_without_derivative_is_accepted() {
    let mut b = Builder::new("f");
    let x = b.param("x", F);
    let still = b.op(without_derivative(), &[x], F);
    let n = b.primitive("int.fromDouble", &[still]);
    let y = b.primitive("double.fromInt", &[n]);
    b.ret(&[y]);
    assert_eq!(codes(&reported(b, false)), []);
}

#[test]
fn a_break_inside_calls_is_reported_with_the_calls() {
    let mut program = Program::default();
    let mut convert = Builder::new("Int.init(_:)");
    convert.function.is_prelude = true;
    let x = convert.param("x", F);
    let n = convert.primitive("int.fromDouble", &[x]);
    convert.ret(&[n]);
    let convert = convert.add_to(&mut program);
    let mut half = Builder::new("half(_:)");
    let n = half.param("n", I);
    let y = half.primitive("double.fromInt", &[n]);
    half.ret(&[y]);
    let half = half.add_to(&mut program);
    let mut loss = Builder::new("loss(_:)");
    let x = loss.param("x", F);
    let (n, y) = (loss.reg(I), loss.reg(F));
    let at = loss.step(Op::Call(convert), &[x], &[n]);
    loss.step(Op::Call(half), &[n], &[y]);
    loss.ret(&[y]);
    let loss = loss.add_to(&mut program);
    let mut b = Builder::new("f");
    let x = b.param("x", F);
    let y = b.reg(F);
    let call = b.step(Op::Call(loss), &[x], &[y]);
    b.ret(&[y]);
    let f = b.add_to(&mut program);
    let reported = assert_that(&mut program, f, false);
    assert_eq!(codes(&reported), [Code::NotDifferentiable]);
    let notes: Vec<_> = reported[0].notes.iter().map(|n| (n.span, &*n.text)).collect();
    assert_eq!(notes[0].1, "when differentiating this function definition");
    assert_eq!(notes[1], (Some(call), "when differentiating 'loss(_:)', called here"));
    assert_eq!(notes[2].0, Some(at));
}

#[test]
fn recursion_finds_the_break_at_its_place() {
    // f(x) = x < 1 ? Double(Int(x)) : f(x / 2)
    let mut program = Program::default();
    let mut b = Builder::new("f(_:)");
    let x = b.param("x", F);
    let (rest, done) = (b.block(), b.block());
    let less = b.primitive("double.lt", &[x, x]);
    b.branch(less, done, rest);
    b.at(rest);
    let half = b.apply(crate::native::primitive_ids::DIV, &[x, x]);
    let y = b.op(Op::Call(FunctionId(0)), &[half], F);
    b.ret(&[y]);
    b.at(done);
    let n = b.reg(I);
    let at = b.step(primitive("int.fromDouble"), &[x], &[n]);
    let z = b.primitive("double.fromInt", &[n]);
    b.ret(&[z]);
    let f = b.add_to(&mut program);
    let reported = assert_that(&mut program, f, false);
    assert_eq!(codes(&reported), [Code::NotDifferentiable]);
    assert_eq!(reported[0].notes.iter().filter(|n| n.text.contains("called here")).count(), 0);
    assert!(reported[0].notes.iter().any(|n| n.span == Some(at)));
}

#[test]
fn a_constant_result_is_warned_about() {
    let mut b = Builder::new("closure in ‹script›");
    b.param("x", F);
    let three = b.constant(3.0);
    let root = b.reg(F);
    let at = b.step(primitive("double.sqrt"), &[three], &[root]);
    b.ret(&[root]);
    let reported = reported(b, false);
    assert_eq!(codes(&reported), [Code::ZeroDerivative]);
    assert_eq!((reported[0].primary.span, &*reported[0].primary.text), (at, "'x' is not used here"));
    assert!(reported[0].message.ends_with("do you want to add 'withoutDerivative(at:)' to make it explicit?"));
}

#[test]
fn a_step_function_is_warned_about_and_a_cut_is_not() {
    let mut b = Builder::new("f");
    let x = b.param("x", F);
    let less = b.primitive("double.lt", &[x, x]);
    let (then, otherwise) = (b.block(), b.block());
    b.branch(less, then, otherwise);
    b.at(then);
    let one = b.constant(1.0);
    b.ret(&[one]);
    b.at(otherwise);
    let zero = b.constant(0.0);
    b.ret(&[zero]);
    assert_eq!(codes(&reported(b, false)), [Code::ZeroDerivative]);

    let mut b = Builder::new("f");
    b.param("x", F);
    let three = b.constant(3.0);
    let cut = b.op(without_derivative(), &[three], F);
    b.ret(&[cut]);
    assert_eq!(codes(&reported(b, false)), []);
}

#[test]
fn dynamic_calls_and_written_storage_are_not_reported() {
    let mut b = Builder::new("f");
    b.param("x", F);
    let g = b.op(Op::Capture { bank: R, index: 0 }, &[], R);
    let y = b.op(Op::CallValue, &[g], F);
    b.ret(&[y]);
    assert_eq!(codes(&reported(b, false)), []);

    let load = Op::LoadGlobal { bank: F, index: 0 };
    let mut b = Builder::new("f");
    let x = b.param("x", F);
    b.step(Op::StoreGlobal { bank: F, index: 1 }, &[x], &[]);
    let y = b.op(load.clone(), &[], F);
    b.ret(&[y]);
    assert_eq!(codes(&reported(b, false)), []);

    // A global variable that is only read cannot depend on the argument.
    let mut b = Builder::new("f");
    b.param("x", F);
    let y = b.op(load, &[], F);
    b.ret(&[y]);
    assert_eq!(codes(&reported(b, false)), [Code::ZeroDerivative]);
}

#[test]
fn an_opaque_function_has_no_derivative() {
    let mut program = Program::default();
    let mut sinf = Builder::new("sinf(_:)");
    let x = sinf.param("x", F);
    sinf.function.is_opaque = true;
    sinf.function.is_prelude = true;
    let y = sinf.primitive("double.sin", &[x]);
    sinf.ret(&[y]);
    let sinf = sinf.add_to(&mut program);
    let mut b = Builder::new("closure in ‹script›");
    let x = b.param("x", F);
    let y = b.reg(F);
    let call = b.step(Op::Call(sinf), &[x], &[y]);
    b.ret(&[y]);
    let f = b.add_to(&mut program);
    let reported = assert_that(&mut program, f, false);
    assert_eq!(codes(&reported), [Code::NoDerivative]);
    assert_eq!((reported[0].primary.span, &*reported[0].message), (call, "expression is not differentiable"));
    assert!(reported[0].notes.iter().any(|n| n.text.contains("defined in other modules") && n.span == Some(call)));

    let reported = assert_that(&mut program, sinf, true);
    assert_eq!(
        reported[0].message,
        "'sinf(_:)' is from a different module and has not been marked with '@differentiable'"
    );

    // With a registered derivative the assertion is accepted, except that it is not declared linear.
    let mut known = (**program.function(sinf).unwrap()).clone();
    let kind = crate::ir::RuleKind::Differential;
    known.rules.push(crate::ir::Rule::new(vec![true], f, kind, TangentId(0)));
    program.functions[sinf.0 as usize] = Some(Rc::new(known));
    assert_eq!(codes(&assert_that(&mut program, f, false)), []);
    assert_eq!(codes(&assert_that(&mut program, sinf, false)), []);
    let reported = assert_that(&mut program, f, true);
    assert_eq!(codes(&reported), [Code::NotLinear]);
    assert!(reported[0].message.ends_with("'sinf' is not linear"));
}

#[test]
fn linear_conversions_are_checked() {
    let product = |second: bool| {
        let mut b = Builder::new("closure in ‹script›");
        let x = b.param("x", F);
        let c = b.op(Op::Capture { bank: F, index: 0 }, &[], F);
        let y = b.primitive("double.mul", &[x, if second { x } else { c }]);
        b.ret(&[y]);
        b
    };
    assert_eq!(codes(&reported(product(false), true)), []);
    let nonlinear = reported(product(true), true);
    assert_eq!(nonlinear[0].message, "when differentiating this closure as a linear map, '*' is not linear");

    let mut b = Builder::new("addOne(_:)");
    let x = b.param("x", F);
    let one = b.constant(1.0);
    let y = b.primitive("double.add", &[x, one]);
    b.ret(&[y]);
    assert_eq!(codes(&reported(b, true)), [Code::AffineAsLinear]);
}

#[test]
fn only_varied_components_are_differentiated() {
    // The second component of the parameter is a `@noDerivative` property.
    let mut program = Program::default();
    let mut b = Builder::new("f");
    let varied = b.param("p", F);
    let still = b.reg(F);
    b.function.params.push(still);
    let n = b.primitive("int.fromDouble", &[still]);
    let y = b.primitive("double.fromInt", &[n]);
    let sum = b.primitive("double.add", &[y, varied]);
    b.ret(&[sum]);
    let f = b.add_to(&mut program);
    let double = ShapeId(0);
    let name: Rc<str> = "p".into();
    let fields = vec![(name.clone(), double), (name.clone(), double)];
    let style = crate::value::shape::Style::Fields;
    let shape = program.shapes.add(crate::value::shape::Shape::Struct { name, fields, style });
    let kind = crate::value::shape::TangentKind::Fields(vec![(0, 0, TangentId(0))]);
    let tangent = program.tangents.add(crate::value::shape::Tangent { value: shape, vector: shape, kind });
    let mut changed = (**program.function(f).unwrap()).clone();
    changed.parameters[0].len = 2;
    changed.parameters[0].shape = shape;
    changed.parameters[0].tangent = Some(tangent);
    program.functions[f.0 as usize] = Some(Rc::new(changed));
    assert_eq!(codes(&assert_that(&mut program, f, false)), []);
}

#[test]
fn a_place_is_reported_once() {
    let mut program = Program::default();
    let mut b = Builder::new("f");
    b.param("x", F);
    let one = b.constant(1.0);
    b.ret(&[one]);
    let f = b.add_to(&mut program);
    let mut user = Builder::new("user");
    let function = user.op(Op::Closure(f), &[], R);
    for _ in 0..2 {
        let out: Reg = user.reg(R);
        user.step(Op::AssertDifferentiable { linear: false, wrt: vec![true] }, &[function], &[out]);
    }
    user.ret(&[]);
    let user = user.add_to(&mut program);
    let mut out = vec![];
    check(&program, user, &mut out);
    assert_eq!(out.len(), 1);
    assert_ne!(out[0].primary.span, Span::default());
}
