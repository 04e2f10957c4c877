//! Derivatives of operations that move scalars.

use super::*;
use crate::tensor::{Index, PaddingMode};

#[test]
fn views() {
    let mut random = Random(8);
    let x = random.tensor(&[2, 3, 4], -1.0, 1.0);
    let mut one = |operation: Operation, shape: &[usize]| check(operation, &[random.tensor(shape, -1.0, 1.0)]);
    one(Operation::Broadcast(Shape::from([2, 5, 3])), &[1, 3]);
    one(Operation::Broadcast(Shape::from([2, 0])), &[1]);
    one(Operation::Unbroadcast(Shape::from([1, 3])), &[2, 5, 3]);
    one(Operation::Unbroadcast(Shape::from([])), &[2, 3]);
    one(Operation::Reshape(vec![-1, 2]), &[3, 4]);
    one(Operation::ExpandAxes(vec![0, -1]), &[2, 3]);
    one(Operation::Squeeze(vec![-1]), &[2, 1, 1]);
    one(Operation::Squeeze(vec![]), &[1, 2, 1]);
    one(Operation::Transpose(vec![]), &[2, 3, 4]);
    one(Operation::Transpose(vec![2, 0, -2]), &[2, 3, 4]);
    one(Operation::Reverse(vec![0, -1]), &[2, 3, 4]);
    one(Operation::Tile(vec![2, 1, 3]), &[2, 3, 1]);
    one(Operation::Tile(vec![0, 2]), &[2, 3]);
    one(Operation::SpaceToDepth(2), &[1, 4, 2, 3]);
    one(Operation::DepthToSpace(2), &[1, 2, 1, 8]);
    for mode in [PaddingMode::Constant(1.5), PaddingMode::Reflect, PaddingMode::Symmetric] {
        one(Operation::Pad(vec![(1, 0), (2, 1)], mode), &[2, 3]);
    }
    check(Operation::Slice(vec![0, 1, 1], vec![2, 1, -1]), std::slice::from_ref(&x));
    check(Operation::SliceAdjoint(Shape::from([4, 4, 6]), vec![1, 0, 2]), &[x]);
}

#[test]
fn index_expressions() {
    let mut random = Random(9);
    let range = |start, end, step| Index::Range { start, end, step };
    let expressions: [&[Index]; 6] = [
        &[Index::At(-1)],
        &[range(Some(0), Some(9), 2), Index::Ellipsis, Index::At(1)],
        &[Index::NewAxis, Index::ALL, range(None, None, -1)],
        &[Index::Ellipsis, range(Some(-2), None, 1)],
        &[range(Some(2), Some(2), 1)],
        &[Index::At(0), Index::At(1), Index::At(2)],
    ];
    for indices in expressions {
        let x = random.tensor(&[2, 3, 4], -1.0, 1.0);
        let part = x.index(indices).unwrap();
        check(Operation::Index(indices.to_vec()), std::slice::from_ref(&x));
        check(Operation::IndexAdjoint(x.shape().clone(), indices.to_vec()), &[random.like(&part)]);
        check(Operation::Assign(indices.to_vec()), &[x.clone(), random.like(&part)]);
        check(Operation::Assign(indices.to_vec()), &[x, Tensor::scalar(0.5)]);
    }
}

#[test]
fn joined_tensors() {
    let mut random = Random(10);
    for axis in [0, 1, -1] {
        let shapes: [[usize; 2]; 3] = [[2, 3], [2, 3], [2, 3]];
        let operands: Vec<Tensor> = shapes.iter().map(|shape| random.tensor(shape, -1.0, 1.0)).collect();
        check(Operation::Concatenate(axis), &operands);
        check(Operation::Stack(axis), &operands);
        check(Operation::Stack(axis), &operands[..1]);
    }
    check(Operation::Stack(2), &[random.tensor(&[2, 3], -1.0, 1.0), random.tensor(&[2, 3], -1.0, 1.0)]);
    let parts = [1, 0, 4].map(|size| random.tensor(&[2, size], -1.0, 1.0));
    check(Operation::Concatenate(-1), &parts);
}

#[test]
fn gathered_tensors() {
    let mut random = Random(12);
    let x = random.tensor(&[3, 4], -1.0, 1.0);
    let indices = Rc::new(Tensor::new(Shape::from([2, 2]), vec![2i64, 0, 2, -1]).unwrap());
    for axis in [0, -1] {
        check(Operation::Gather(Rc::clone(&indices), axis, 0), std::slice::from_ref(&x));
        let shape = x.gather(&indices, axis).unwrap().shape().clone();
        let part = random.tensor(&shape, -1.0, 1.0);
        check(Operation::ScatterAdd(x.shape().clone(), Rc::clone(&indices), axis, 0), &[part]);
    }
    let batches = Rc::new(Tensor::new(Shape::from([3, 2]), vec![0i32, 1, 3, 3, 2, 0]).unwrap());
    check(Operation::Gather(Rc::clone(&batches), 1, 1), std::slice::from_ref(&x));
    check(Operation::ScatterAdd(x.shape().clone(), batches, 1, 1), &[random.tensor(&[3, 2], -1.0, 1.0)]);
    let positions = Rc::new(Tensor::new(Shape::from([2, 2]), vec![11i64, 0, 0, 5]).unwrap());
    check(Operation::GatherFlat(Rc::clone(&positions)), std::slice::from_ref(&x));
    check(Operation::ScatterAddFlat(x.shape().clone(), positions), &[random.tensor(&[2, 2], -1.0, 1.0)]);
}
