//! Derivatives of elementwise operations.

use super::*;
use crate::tensor::{ScalarKind, Unary};
use smallvec::smallvec;

/// The interval in which a function is differentiable, away from its kinks.
fn domain(function: Unary) -> (f64, f64) {
    match function {
        Unary::Acosh => (1.2, 3.0),
        Unary::Log1mexp => (-2.0, -0.3),
        Unary::Asin | Unary::Acos | Unary::Atanh => (-0.8, 0.8),
        Unary::Log | Unary::Log2 | Unary::Log10 | Unary::Log1p | Unary::Sqrt | Unary::Rsqrt | Unary::Reciprocal => {
            (0.3, 2.0)
        }
        Unary::Gamma | Unary::LogGamma => (0.4, 3.0),
        Unary::Tan => (-1.0, 1.0),
        Unary::Floor | Unary::Ceil | Unary::Round => (0.1, 0.4),
        _ => (0.2, 1.7),
    }
}

#[test]
fn functions_of_one_operand() {
    let mut random = Random(1);
    for &function in Unary::ALL {
        let (low, high) = domain(function);
        for shape in [&[][..], &[3], &[2, 3], &[2, 0]] {
            check(Operation::Unary(function), &[random.tensor(shape, low, high)]);
        }
        if domain(function) == (0.2, 1.7) {
            check(Operation::Unary(function), &[random.tensor(&[4], -1.7, -0.2)]);
        }
    }
    for function in [Unary::Relu6, Unary::HardSigmoid, Unary::HardSwish] {
        check(Operation::Unary(function), &[random.tensor(&[3], 6.5, 8.0)]);
        check(Operation::Unary(function), &[random.tensor(&[3], -8.0, -6.5)]);
    }
}

#[test]
fn functions_of_two_operands() {
    let mut random = Random(2);
    for &function in Binary::ALL.iter().filter(|&&function| function != Binary::Polygamma) {
        let shapes: [(&[usize], &[usize]); 6] =
            [(&[3], &[3]), (&[], &[2, 3]), (&[2, 3], &[3]), (&[2, 1], &[1, 3]), (&[2, 0], &[0]), (&[], &[])];
        for (a, b) in shapes {
            // The operands differ by more than a step, and no integer quotient is near.
            let (low, high) = if function == Binary::Remainder { (2.2, 2.8) } else { (0.5, 0.9) };
            let operands = [random.tensor(a, low, high), random.tensor(b, 1.1, 1.5)];
            check(Operation::Binary(function), &operands);
            if function != Binary::Remainder {
                check(Operation::Binary(function), &[operands[0].clone(), random.tensor(b, 0.1, 0.4)]);
            }
        }
    }
    check(Operation::Binary(Binary::LeakyRelu), &[random.tensor(&[4], -2.0, -0.5), random.tensor(&[], 0.1, 0.3)]);
    let (x, order) = (value(random.tensor(&[4], 0.5, 2.0)), value(Tensor::scalar(2.0)));
    let operation = Operation::Binary(Binary::Polygamma);
    let result = PlainEvaluator.apply(operation.clone(), smallvec![x.clone(), order.clone()]).unwrap();
    let next = PlainEvaluator.apply(operation.clone(), smallvec![x.clone(), value(Tensor::scalar(3.0))]).unwrap();
    let of = Evaluation { operands: &[x, order], result: &result };
    let adjoint = operation.adjoint(0, of, value(Tensor::scalar(1.0)), &mut PlainEvaluator).unwrap();
    assert!(adjoint.unwrap().tensor.is_equal(&next.tensor).unwrap());
    check(Operation::Binary(Binary::Pow), &[random.tensor(&[4], 0.5, 2.0), random.tensor(&[4], -2.0, 2.0)]);
}

#[test]
fn clipping_and_selection() {
    let mut random = Random(3);
    let x = random.tensor(&[2, 3], -2.0, 2.0);
    for (low, high) in [(-0.9, 0.8), (0.5, 1.1), (1.5, 0.25)] {
        check(Operation::Clip, &[x.clone(), Tensor::scalar(low), Tensor::scalar(high)]);
        let low = moved(&Tensor::repeating(low, Shape::from([3])).unwrap(), 0.1, &random.tensor(&[3], 0.0, 1.0));
        check(Operation::Clip, &[x.clone(), low, random.tensor(&[2, 1], 1.3, 1.4)]);
    }
    let mask = Rc::new(Tensor::new(Shape::from([2, 1]), vec![true, false]).unwrap());
    for (a, b) in [(&[2, 3][..], &[2, 3][..]), (&[3], &[]), (&[1, 3], &[2, 1])] {
        check(Operation::Select(Rc::clone(&mask)), &[random.tensor(a, -1.0, 1.0), random.tensor(b, -1.0, 1.0)]);
    }
    check(Operation::Cast(ScalarKind::F64), &[x]);
}

#[test]
fn single_precision_stays_single() {
    let x = value(Tensor::new(Shape::from([2]), vec![0.5f32, 1.5]).unwrap());
    for &function in Unary::ALL {
        let operation = Operation::Unary(function);
        let operands = [x.clone()];
        let result = PlainEvaluator.apply(operation.clone(), operands.iter().cloned().collect()).unwrap();
        let of = Evaluation { operands: &operands, result: &result };
        let adjoint = operation.adjoint(0, of, value(Tensor::scalar(1.0)), &mut PlainEvaluator).unwrap();
        assert!(adjoint.is_none_or(|adjoint| adjoint.tensor.kind() == ScalarKind::F32), "{function:?}");
    }
    let operation = Operation::Cast(ScalarKind::F64);
    let result = PlainEvaluator.apply(operation.clone(), smallvec![x.clone()]).unwrap();
    let of = Evaluation { operands: &[x], result: &result };
    let adjoint = operation.adjoint(0, of, value(Tensor::scalar(1.0)), &mut PlainEvaluator).unwrap().unwrap();
    assert_eq!(adjoint.tensor.kind(), ScalarKind::F32);
}

#[test]
fn integers_have_no_derivatives() {
    let x = value(Tensor::new(Shape::from([2]), vec![1i64, 2]).unwrap());
    let operation = Operation::Binary(Binary::Multiply);
    let operands = [x.clone(), x];
    let result = PlainEvaluator.apply(operation.clone(), operands.iter().cloned().collect()).unwrap();
    let of = Evaluation { operands: &operands, result: &result };
    assert!(operation.adjoint(0, of, result.clone(), &mut PlainEvaluator).unwrap().is_none());
    assert!(operation.tangent(of, &[Some(result.clone()), None], &mut PlainEvaluator).unwrap().is_none());
}
