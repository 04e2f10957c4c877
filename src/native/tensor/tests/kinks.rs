//! Derivatives at kinks and at poles.

use super::*;
use crate::tensor::Unary;

fn vector(scalars: &[f64]) -> Tensor {
    Tensor::new(Shape::from([scalars.len()]), scalars.to_vec()).unwrap()
}

/// The adjoint of an operand for an adjoint of the result.
fn adjoint(operation: Operation, k: usize, operands: &[Tensor], adjoint: &Tensor) -> Vec<f64> {
    let operands = values(operands);
    let result = PlainEvaluator.apply(operation.clone(), operands.clone()).unwrap();
    let of = Evaluation { operands: &operands, result: &result };
    let found = operation.adjoint(k, of, &value(adjoint.clone()), &mut PlainEvaluator).unwrap();
    found.map_or(vec![], |found| found.tensor.to_vec().unwrap())
}

#[test]
fn kinks_have_the_partials_of_the_table() {
    let one = Tensor::scalar(1.0);
    let unary = |function: Unary, x: &[f64]| adjoint(Operation::Unary(function), 0, &[vector(x)], &one);
    assert_eq!(unary(Unary::Abs, &[0.0, -2.0]), [0.0, -1.0]);
    assert_eq!(unary(Unary::Relu, &[0.0, -1.0, 1.0]), [0.0, 0.0, 1.0]);
    assert_eq!(unary(Unary::Sqrt, &[0.0]), [f64::INFINITY]);
    assert_eq!(unary(Unary::Log, &[0.0, -1.0]), [f64::INFINITY, -1.0]);
    assert_eq!(unary(Unary::Reciprocal, &[0.0]), [f64::NEG_INFINITY]);
    let binary = |function: Binary, k: usize, a: f64, b: f64| {
        adjoint(Operation::Binary(function), k, &[vector(&[a]), vector(&[b])], &one)[0]
    };
    for k in 0..2 {
        assert_eq!(binary(Binary::Max, k, 1.0, 1.0), 0.5);
        assert_eq!(binary(Binary::Min, k, 1.0, 1.0), 0.5);
        assert_eq!(binary(Binary::Hypot, k, 0.0, 0.0), 0.0);
    }
    assert_eq!(binary(Binary::Pow, 0, 0.0, 0.0), 0.0);
    assert_eq!(binary(Binary::Pow, 1, 0.0, 2.0), 0.0);
    assert_eq!(binary(Binary::Pow, 1, -2.0, 2.0), 0.0);
    assert_eq!(binary(Binary::Pow, 0, -2.0, 2.0), -4.0);
    let bounds = [vector(&[-1.0, 1.0, 0.0, 2.0]), Tensor::scalar(-1.0), Tensor::scalar(1.0)];
    assert_eq!(adjoint(Operation::Clip, 0, &bounds, &one), [1.0, 1.0, 1.0, 0.0]);
}

#[test]
fn a_zero_adjoint_stops_at_a_pole() {
    let seed = vector(&[0.0, 1.0]);
    for function in [Unary::Sqrt, Unary::Log, Unary::Reciprocal, Unary::Rsqrt, Unary::Log2] {
        let found = adjoint(Operation::Unary(function), 0, &[vector(&[0.0, 4.0])], &seed);
        assert_eq!(found[0], 0.0, "{function:?}");
        assert!(found[1] != 0.0 && found[1].is_finite(), "{function:?}");
    }
    for k in 0..2 {
        let operands = [vector(&[1.0, 1.0]), vector(&[0.0, 2.0])];
        assert_eq!(adjoint(Operation::Binary(Binary::Divide), k, &operands, &seed)[0], 0.0);
    }
}

#[test]
fn ties_of_reductions_share() {
    let axes = super::super::Axes { axes: None, keeps: false };
    let x = vector(&[3.0, 1.0, 3.0, 2.0]);
    let operation = Operation::Reduce(crate::tensor::Fold::Max, axes);
    assert_eq!(adjoint(operation, 0, &[x], &Tensor::scalar(1.0)), [0.5, 0.0, 0.5, 0.0]);
}
