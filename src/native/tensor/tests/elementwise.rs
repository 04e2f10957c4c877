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

/// Numbers at which derivatives need care.
const SPECIAL: [f64; 9] = [0.0, -0.0, 0.5, -0.75, 1.0, -1.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];

/// The first, the second or the third numbers of all triples of special numbers.
fn triples(which: u32) -> TensorValue {
    let count = SPECIAL.len();
    let numbers = (0..count.pow(3)).map(|at| SPECIAL[at / count.pow(which) % count]);
    value(Tensor::new(Shape::from([count * count, count]), numbers.collect::<Vec<_>>()).unwrap())
}

/// The tangent and the adjoint of each operand, for the third numbers of the triples as those that are propagated.
fn derivatives(operation: &Operation, operands: &[TensorValue], given: &TensorValue) -> Vec<Option<TensorValue>> {
    let result = PlainEvaluator.apply(operation.clone(), operands.iter().cloned().collect()).unwrap();
    let of = Evaluation { operands, result: &result };
    let seeds = |k: usize| (0..operands.len()).map(|at| (at == k).then(|| given.clone())).collect::<Vec<_>>();
    let of_operand = |k: usize| {
        let tangent = operation.tangent(of, &seeds(k), &mut PlainEvaluator).unwrap();
        [tangent, operation.adjoint(k, of, given.clone(), &mut PlainEvaluator).unwrap()]
    };
    let derivatives = (0..operands.len()).flat_map(of_operand);
    std::iter::once(Some(result.clone())).chain(derivatives).collect()
}

#[test]
fn small_and_large_tensors_have_the_same_derivatives() {
    let slice = |x: &TensorValue, row: usize| {
        let part = x.tensor.slice(&[row as isize, 0], &[1, 9]).unwrap();
        value(Tensor::new(part.shape().clone(), part.to_vec::<f64>().unwrap()).unwrap())
    };
    let [x, y, g] = [0, 1, 2].map(triples);
    let unary = Unary::ALL.iter().map(|&function| (Operation::Unary(function), vec![x.clone()]));
    let is_tested = |function: &&Binary| !matches!(function, Binary::Polygamma);
    let binary = Binary::ALL.iter().filter(is_tested);
    let binary = binary.map(|&function| (Operation::Binary(function), vec![x.clone(), y.clone()]));
    for (operation, operands) in unary.chain(binary) {
        let large = derivatives(&operation, &operands, &g);
        for row in 0..81 {
            let operands: Vec<_> = operands.iter().map(|operand| slice(operand, row)).collect();
            let small = derivatives(&operation, &operands, &slice(&g, row));
            for (small, large) in small.iter().zip(&large) {
                let small = small.as_ref().map(|small| small.tensor.to_vec::<f64>().unwrap());
                let large = large.as_ref().map(|large| slice(large, row).tensor.to_vec::<f64>().unwrap());
                let bits = |x: &f64| if x.is_nan() { f64::NAN.to_bits() } else { x.to_bits() };
                let bits = |all: Vec<f64>| all.iter().map(bits).collect::<Vec<_>>();
                assert_eq!(small.map(bits), large.map(bits), "{operation:?} in row {row}");
            }
        }
    }
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
