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
    let found = operation.adjoint(k, of, value(adjoint.clone()), &mut PlainEvaluator).unwrap();
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

/// The tangent of a result for tangents of the operands.
fn tangent(operation: Operation, operands: &[Tensor], tangents: &[Option<Tensor>]) -> Vec<f64> {
    let operands = values(operands);
    let result = PlainEvaluator.apply(operation.clone(), operands.clone()).unwrap();
    let of = Evaluation { operands: &operands, result: &result };
    let tangents: Vec<_> = tangents.iter().map(|tangent| tangent.clone().map(value)).collect();
    let found = operation.tangent(of, &tangents, &mut PlainEvaluator).unwrap();
    found.map_or(vec![], |found| found.tensor.to_vec().unwrap())
}

#[test]
fn a_zero_partial_ends_the_propagation_of_a_tangent() {
    let infinite = vector(&[f64::INFINITY, 1.0]);
    let operands = [vector(&[1.0, 1.0]), vector(&[0.0, 2.0])];
    let multiply = Operation::Binary(Binary::Multiply);
    assert_eq!(tangent(multiply, &operands, &[Some(infinite.clone()), None]), [0.0, 2.0]);
    let divide = Operation::Binary(Binary::Divide);
    let operands = [vector(&[1.0, 1.0]), vector(&[f64::INFINITY, 2.0])];
    assert_eq!(tangent(divide, &operands, &[Some(infinite), None]), [0.0, 0.5]);
}

#[test]
fn only_an_unvaried_scalar_is_not_multiplied_by_an_infinite_partial() {
    let found = tangent(Operation::Unary(Unary::Sqrt), &[vector(&[0.0; 3])], &[Some(vector(&[0.0, -0.0, 1.0]))]);
    assert!(found[0].is_nan() && found[1] == 0.0 && found[1].is_sign_negative());
    assert_eq!(found[2], f64::INFINITY);
}

#[test]
fn zeros_end_the_propagation_in_products_of_matrices() {
    let matrix = |shape: [usize; 2], scalars: &[f64]| Tensor::new(Shape::from(shape), scalars.to_vec()).unwrap();
    let matmul = Operation::Matmul(false, false);
    let row = matrix([1, 2], &[1.0, 1.0]);
    let infinite = Some(matrix([1, 2], &[f64::INFINITY, 1.0]));
    let column = |first: f64| matrix([2, 1], &[first, 2.0]);
    assert_eq!(tangent(matmul.clone(), &[row.clone(), column(0.0)], &[infinite.clone(), None]), [2.0]);
    assert_eq!(tangent(matmul.clone(), &[row.clone(), column(-3.0)], &[infinite, None]), [f64::NEG_INFINITY]);
    let right = matrix([2, 2], &[f64::INFINITY, 2.0, 3.0, 4.0]);
    assert_eq!(adjoint(matmul, 0, &[row, right], &matrix([1, 2], &[0.0, 1.0])), [2.0, 4.0]);
}

#[test]
fn operations_are_linear_in_some_operands() {
    let all = |_: usize| true;
    let first = |k: usize| k == 0;
    let second = |k: usize| k == 1;
    for operation in [Operation::Binary(Binary::Multiply), Operation::Matmul(false, true), Operation::Dot] {
        assert!(operation.is_linear(&first) && operation.is_linear(&second) && !operation.is_linear(&all));
    }
    let divide = Operation::Binary(Binary::Divide);
    assert!(divide.is_linear(&first) && !divide.is_linear(&second));
    assert!(Operation::Solve.is_linear(&second) && !Operation::Solve.is_linear(&first));
    assert!(Operation::Unary(Unary::Negate).is_linear(&all) && !Operation::Unary(Unary::Relu).is_linear(&all));
}
