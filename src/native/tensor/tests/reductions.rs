//! Derivatives of reductions, cumulative operations, and functions of rows.

use super::super::{Axes, Direction};
use super::*;
use crate::tensor::Fold;

fn reductions() -> Vec<fn(Axes) -> Operation> {
    vec![
        |axes| Operation::Reduce(Fold::Sum, axes),
        |axes| Operation::Reduce(Fold::Product, axes),
        |axes| Operation::Reduce(Fold::Max, axes),
        |axes| Operation::Reduce(Fold::Min, axes),
        Operation::Mean,
        Operation::Variance,
        Operation::LogSumExp,
    ]
}

#[test]
fn reductions_over_axes() {
    let mut random = Random(4);
    for operation in reductions() {
        for keeps in [false, true] {
            for axes in [None, Some(vec![]), Some(vec![0]), Some(vec![-1, 0]), Some(vec![1])] {
                let x = random.tensor(&[2, 3, 4], 0.5, 1.5);
                check(operation(Axes { axes, keeps }), &[x]);
            }
            check(operation(Axes { axes: None, keeps }), &[random.tensor(&[], 0.5, 1.5)]);
            check(operation(Axes { axes: Some(vec![1]), keeps }), &[random.tensor(&[0, 3], 0.5, 1.5)]);
        }
    }
    for fold in [Fold::Sum, Fold::Product] {
        let operation = Operation::Reduce(fold, Axes { axes: Some(vec![1]), keeps: false });
        check(operation, &[random.tensor(&[2, 0], 0.5, 1.5)]);
    }
}

#[test]
fn products_with_zeros() {
    for zeros in 0..4 {
        let scalars = (0..6).map(|at| if at % 3 < zeros { 0.0 } else { 0.5 + at as f64 / 4.0 }).collect::<Vec<_>>();
        let x = Tensor::new(Shape::from([2, 3]), scalars).unwrap();
        for axes in [None, Some(vec![0]), Some(vec![1])] {
            check(Operation::Reduce(Fold::Product, Axes { axes, keeps: false }), std::slice::from_ref(&x));
        }
        for axis in [0, -1] {
            for flags in 0..4 {
                let direction = Direction { axis, is_exclusive: flags & 1 == 1, is_reversed: flags & 2 == 2 };
                check(Operation::CumulativeProduct(direction), std::slice::from_ref(&x));
            }
        }
    }
}

#[test]
fn cumulative_operations() {
    let mut random = Random(5);
    for axis in [0, 1, -1] {
        for flags in 0..4 {
            let direction = Direction { axis, is_exclusive: flags & 1 == 1, is_reversed: flags & 2 == 2 };
            for shape in [&[2, 3, 2][..], &[1, 2], &[0, 2]] {
                check(Operation::CumulativeSum(direction), &[random.tensor(shape, -1.0, 1.0)]);
                check(Operation::CumulativeProduct(direction), &[random.tensor(shape, 0.5, 1.5)]);
            }
        }
        for is_reversed in [false, true] {
            let operands = [random.tensor(&[2, 3, 2], -1.0, 1.0), random.tensor(&[2, 3, 2], -1.0, 1.0)];
            check(Operation::Recurrence(axis.max(0) as usize, is_reversed), &operands);
        }
    }
}

#[test]
fn functions_of_rows() {
    let mut random = Random(6);
    for shape in [&[3][..], &[2, 4], &[2, 1, 3], &[0, 3]] {
        let x = random.tensor(shape, -1.0, 1.0);
        check(Operation::Softmax, std::slice::from_ref(&x));
        check(Operation::LogSoftmax, std::slice::from_ref(&x));
        check(Operation::CrossEntropyOfProbabilities, &[x.clone(), random.tensor(shape, 0.1, 1.0)]);
        let rows: Vec<usize> = shape[..shape.len() - 1].to_vec();
        let count: usize = rows.iter().product();
        let labels = (0..count as i32).map(|at| at % 3).collect::<Vec<_>>();
        let labels = if shape.len() == 3 || shape == [3] { labels.iter().map(|_| 1).collect() } else { labels };
        let labels = Rc::new(Tensor::new(Shape::from(rows.as_slice()), labels).unwrap());
        check(Operation::CrossEntropy(labels), &[x]);
    }
}
