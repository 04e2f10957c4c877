//! Tests of what is put into functions whose chains break.

use super::*;
use crate::diff::testing::{Builder, program};
use crate::ir::Operator;
use crate::value::Bank::{F, I, R};

fn marks(b: Builder) -> usize {
    let (program, id) = program(b);
    let f = program.function(id).unwrap();
    let marked = Chains::new(&program).marked(f);
    let is_mark = |s: &&Instruction| matches!(s.op, Op::Operator(Operator::Broken { .. }));
    marked.map_or(0, |f| f.blocks.iter().flat_map(|b| &b.instructions).filter(is_mark).count())
}

#[test]
fn a_number_that_was_an_integer_is_marked() {
    let mut b = Builder::new("f");
    let x = b.param("x", F);
    let n = b.primitive("int.fromDouble", &[x]);
    let m = b.primitive("int.add", &[n, n]);
    let y = b.primitive("double.fromInt", &[m]);
    b.ret(&[y]);
    assert_eq!(marks(b), 1);
}

/// The operators that are put into a function.
fn operators(b: Builder) -> Vec<Operator> {
    let (program, id) = program(b);
    let marked = Chains::new(&program).marked(program.function(id).unwrap());
    let blocks = marked.map_or(vec![], |f| f.blocks);
    let steps = blocks.into_iter().flat_map(|b| b.instructions);
    steps.filter_map(|s| if let Op::Operator(operator) = s.op { Some(operator) } else { None }).collect()
}

#[test]
fn an_integer_that_is_returned_hands_on_what_it_was_made_of() {
    let mut b = Builder::new("f");
    let (x, n) = (b.param("x", F), b.param("n", I));
    let whole = b.primitive("int.fromDouble", &[x]);
    b.ret(&[n, whole]);
    assert_eq!(operators(b), [Operator::SendBreak { result: 1 }]);
}

#[test]
fn a_caller_asks_what_an_integer_was_made_of() {
    let mut b = Builder::new("f");
    let (function, x) = (b.param("function", R), b.param("x", F));
    let n = b.op(Op::CallValue, &[function, x], I);
    let y = b.primitive("double.fromInt", &[n]);
    b.ret(&[y]);
    let put = operators(b);
    assert_eq!(put[..2], [Operator::ForgetBreaks, Operator::ReceiveBreak { result: 0 }]);
    assert!(matches!(put[2..], [Operator::Broken { .. }]));
}

#[test]
fn an_integer_in_a_variable_keeps_what_it_was_made_of() {
    let mut b = Builder::new("f");
    let (variable, x) = (b.param("variable", R), b.param("x", F));
    let whole = b.primitive("int.fromDouble", &[x]);
    b.op_to(Op::StoreBox { bank: I, index: 3 }, &[variable, whole], &[]);
    let n = b.op(Op::LoadBox { bank: I, index: 3 }, &[variable], I);
    let y = b.primitive("double.fromInt", &[n]);
    b.ret(&[y]);
    let put = operators(b);
    assert_eq!(put[..2], [Operator::KeepBreak { index: 3, more: false }, Operator::KeptBreak { index: 3 }]);
    assert!(matches!(put[2..], [Operator::Broken { .. }]));
}

#[test]
fn a_selection_and_a_constant_are_not() {
    let mut b = Builder::new("f");
    let (x, n) = (b.param("x", F), b.param("n", I));
    let whole = b.primitive("int.fromDouble", &[x]);
    let less = b.primitive("int.lt", &[whole, n]);
    let two = b.constant(2.0);
    let constant = b.primitive("int.fromDouble", &[two]);
    let back = b.primitive("double.fromInt", &[constant]);
    b.ret(&[less, back]);
    assert_eq!(marks(b), 0);
}
