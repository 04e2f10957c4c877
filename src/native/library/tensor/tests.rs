//! Tests of the native functions, called as the machine calls them.

use super::super::host::Host;
use super::super::{Native, NativeContext, NativeRegisters, find, get, internal};
use super::*;
use crate::native::tensor::PlainEvaluator;
use crate::value::shape::{Shape as TypeShape, ShapeId, Shapes};
use crate::value::{Cells, Ref};
use std::rc::Rc;

/// The registers after a call.
struct Registers {
    f: Vec<f64>,
    i: Vec<i64>,
    r: Vec<Ref>,
}

/// Calls a native function for `Double` as the generic argument.
fn try_call(name: &str, f: &[f64], i: &[i64], r: &[Ref]) -> Result<Registers, Failure> {
    let mut shapes = Shapes::default();
    let double = [shapes.add(TypeShape::Double)];
    call_with(name, &shapes, &double, (f, i, r))
}

fn call_with(
    name: &str,
    shapes: &Shapes,
    types: &[ShapeId],
    (f, i, r): (&[f64], &[i64], &[Ref]),
) -> Result<Registers, Failure> {
    let Some(Native::Function(function)) = find(name).and_then(get) else { return Err(internal()) };
    let mut to = Registers { f: f.to_vec(), i: i.to_vec(), r: r.to_vec() };
    to.f.resize(8, 0.0);
    to.i.resize(8, 0);
    to.r.resize(8, Ref::Null);
    let mut host = Host::silent();
    let registers = NativeRegisters { f: &mut to.f, slots: &mut [], i: &mut to.i, r: &mut to.r };
    (function.call)(&mut NativeContext::new(shapes, types, (&mut host, &mut PlainEvaluator), registers))?;
    Ok(to)
}

#[track_caller]
fn call(name: &str, f: &[f64], i: &[i64], r: &[Ref]) -> Registers {
    try_call(name, f, i, r).unwrap()
}

fn tensor(shape: &[usize], scalars: &[f64]) -> Ref {
    Ref::Tensor(Rc::new(Tensor::new(Shape::from(shape), scalars.to_vec()).unwrap()))
}

fn integers(numbers: &[i64]) -> Ref {
    Ref::Cells(Rc::new(Cells::integers(numbers.to_vec())))
}

#[track_caller]
fn held(reference: &Ref) -> &Tensor {
    match reference {
        Ref::Tensor(tensor) => tensor,
        other => panic!("{other:?} is not a tensor"),
    }
}

#[track_caller]
fn assert_tensor(reference: &Ref, shape: &[usize], scalars: &[f64]) {
    let tensor = held(reference).cast(ScalarKind::F64).unwrap();
    assert_eq!(tensor.shape()[..], *shape);
    assert_eq!(tensor.to_vec::<f64>().unwrap(), scalars);
}

#[track_caller]
fn tensors(reference: &Ref) -> Vec<Vec<f64>> {
    match reference {
        Ref::Cells(cells) => cells.r.iter().map(|part| held(part).to_vec().unwrap()).collect(),
        other => panic!("{other:?} is not an array"),
    }
}

#[test]
fn elementwise_functions() {
    let x = || tensor(&[2], &[1.0, -4.0]);
    assert_tensor(&call("tensor.abs", &[], &[], &[x()]).r[0], &[2], &[1.0, 4.0]);
    assert_tensor(&call("tensor.add", &[], &[], &[x(), tensor(&[], &[2.0])]).r[0], &[2], &[3.0, -2.0]);
    assert_tensor(&call("tensor.maximum", &[], &[], &[x(), Ref::Null]).r[0], &[2], &[1.0, 0.0]);
    assert_tensor(&call("tensor.less", &[], &[], &[x(), Ref::Null]).r[0], &[2], &[0.0, 1.0]);
    let single = Ref::Tensor(Rc::new(Tensor::new(Shape::from([1]), vec![1.5f32]).unwrap()));
    let sum = call("tensor.add", &[], &[], &[Ref::Null, single]);
    assert_eq!(held(&sum.r[0]).kind(), ScalarKind::F32);
    let bounds = [tensor(&[], &[-1.0]), tensor(&[], &[0.5])];
    assert_tensor(
        &call("tensor.clip", &[], &[], &[x(), bounds[0].clone(), bounds[1].clone()]).r[0],
        &[2],
        &[0.5, -1.0],
    );
    let mask = call("tensor.less", &[], &[], &[x(), Ref::Null]).r[0].clone();
    assert_tensor(&call("tensor.replacing", &[], &[], &[x(), Ref::Null, mask.clone()]).r[0], &[2], &[1.0, 0.0]);
    assert_eq!(call("tensor.all", &[], &[], std::slice::from_ref(&mask)).i[0], 0);
    assert_eq!(call("tensor.any", &[], &[], std::slice::from_ref(&mask)).i[0], 1);
    let not = call("tensor.not", &[], &[], std::slice::from_ref(&mask)).r[0].clone();
    assert_tensor(&not, &[2], &[1.0, 0.0]);
    assert_tensor(&call("tensor.or", &[], &[], &[mask, not]).r[0], &[2], &[1.0, 1.0]);
    assert_eq!(call("tensor.isEqual", &[], &[], &[x(), x()]).i[0], 1);
    assert!(try_call("tensor.add", &[], &[], &[x(), tensor(&[3], &[0.0; 3])]).is_err());
}

#[test]
fn construction_and_properties() {
    let x = || tensor(&[2, 2], &[1.0, 2.0, 3.0, 4.0]);
    assert_eq!(call("tensor.rank", &[], &[], &[x()]).i[0], 2);
    assert_eq!(call("tensor.count", &[], &[], &[x()]).i[0], 4);
    let Ref::Text(text) = &call("tensor.describe", &[], &[], &[tensor(&[2], &[1.0, 2.5])]).r[0] else { panic!() };
    assert_eq!(&**text, "[1.0, 2.5]");
    assert_tensor(&call("tensor.range", &[0.0, 2.0, 0.5], &[], &[]).r[0], &[4], &[0.0, 0.5, 1.0, 1.5]);
    assert_tensor(&call("tensor.linearSpace", &[0.0, 1.0], &[3], &[]).r[0], &[3], &[0.0, 0.5, 1.0]);
    let indices = Ref::Tensor(Rc::new(Tensor::new(Shape::from([2]), vec![1i32, 5]).unwrap()));
    // The indices take the first register of numbers.
    let hot = call("tensor.oneHot", &[0.0, 1.0, 0.5], &[2, -1], &[indices]);
    assert_tensor(&hot.r[0], &[2, 2], &[0.5, 1.0, 0.5, 0.5]);
    assert_tensor(&call("tensor.eye", &[], &[2, 2], &[integers(&[])]).r[0], &[2, 2], &[1.0, 0.0, 0.0, 1.0]);
    for name in ["tensor.randomUniform", "tensor.randomNormal", "tensor.randomTruncatedNormal"] {
        let [a, b] = [1, 1].map(|seed| call(name, &[], &[seed, 7], &[integers(&[3])]));
        assert!(held(&a.r[0]).is_equal(held(&b.r[0])).unwrap(), "{name}");
        assert!(try_call(name, &[], &[1, 7], &[integers(&[-3])]).is_err());
    }
    let mut shapes = Shapes::default();
    let int = [shapes.add(TypeShape::Int { bits: 32, signed: true })];
    let numbers = call_with("tensor.randomIntegers", &shapes, &int, (&[], &[2, 4, 1, 2], &[integers(&[9])])).unwrap();
    assert!(held(&numbers.r[0]).to_vec::<i32>().unwrap().iter().all(|n| (2..4).contains(n)));
    let range = call_with("tensor.range", &shapes, &int, (&[], &[5, 0, -2], &[])).unwrap();
    assert_eq!(held(&range.r[0]).to_vec::<i32>().unwrap(), [5, 3, 1]);
    let cast = call_with("tensor.cast", &shapes, &int, (&[], &[], &[x()])).unwrap();
    assert_eq!(held(&cast.r[0]).to_vec::<i32>().unwrap(), [1, 2, 3, 4]);
}

#[test]
fn shapes_and_parts() {
    let x = || tensor(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let least = i64::MIN;
    assert_tensor(
        &call("tensor.reshape", &[], &[], &[x(), integers(&[-1])]).r[0],
        &[6],
        &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
    );
    let padded = call("tensor.pad", &[0.0, 9.0], &[0], &[tensor(&[1], &[1.0]), integers(&[1, 2])]);
    assert_tensor(&padded.r[0], &[4], &[9.0, 1.0, 9.0, 9.0]);
    let last = [1, -1, least, least];
    let all = [1, least, least, 1];
    let part = call("tensor.index", &[], &[], &[x(), integers(&[all, [0, -1, 0, 0]].concat())]);
    assert_tensor(&part.r[0], &[2], &[3.0, 6.0]);
    let part = call("tensor.index", &[], &[], &[x(), integers(&[[2, 0, 0, 0], last].concat())]);
    assert_tensor(&part.r[0], &[1, 1, 3], &[4.0, 5.0, 6.0]);
    let changed = call("tensor.assign", &[], &[], &[x(), integers(&[0, 0, 0, 0]), Ref::Null]);
    assert_tensor(&changed.r[0], &[2, 3], &[0.0, 0.0, 0.0, 4.0, 5.0, 6.0]);
    assert_eq!(tensors(&call("tensor.unstack", &[], &[-1], &[x()]).r[0]), [[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]);
    let parts = call("tensor.split", &[], &[1], &[x(), integers(&[1, 2])]);
    assert_eq!(tensors(&parts.r[0]), [vec![1.0, 4.0], vec![2.0, 3.0, 5.0, 6.0]]);
    let joined = call("tensor.concatenate", &[], &[0], &[parts_of(&[x(), x()])]);
    assert_eq!(held(&joined.r[0]).shape()[..], [4, 3]);
    let stacked =
        call("tensor.stack", &[], &[-1], &[parts_of(&[tensor(&[2], &[1.0, 2.0]), tensor(&[2], &[3.0, 4.0])])]);
    assert_tensor(&stacked.r[0], &[2, 2], &[1.0, 3.0, 2.0, 4.0]);
    let mask = call("tensor.greater", &[], &[], &[x(), tensor(&[], &[4.5])]).r[0].clone();
    assert_tensor(&call("tensor.gatherWhere", &[], &[0], &[x(), mask]).r[0], &[2], &[5.0, 6.0]);
    for name in ["tensor.index", "tensor.slice", "tensor.reshape", "tensor.tile", "tensor.broadcast", "tensor.assign"] {
        assert!(try_call(name, &[], &[], &[x(), integers(&[7, 7, 7]), integers(&[7])]).is_err(), "{name}");
    }
}

/// An array of the storages of tensors.
fn parts_of(parts: &[Ref]) -> Ref {
    let mut cells = Cells::references(parts.to_vec());
    parts.iter().for_each(|_| cells.f.push(0.0));
    Ref::Cells(Rc::new(cells))
}

#[test]
fn reductions_and_order() {
    let x = || tensor(&[2, 3], &[3.0, 1.0, 2.0, 5.0, 5.0, 4.0]);
    assert_tensor(&call("tensor.sum", &[], &[0, 1], &[x(), integers(&[1])]).r[0], &[2, 1], &[6.0, 14.0]);
    assert_tensor(&call("tensor.max", &[], &[1, 0], &[x(), integers(&[])]).r[0], &[], &[5.0]);
    assert_tensor(&call("tensor.argMax", &[], &[-1, 0], &[x()]).r[0], &[2], &[0.0, 0.0]);
    let sorted = call("tensor.sorted", &[], &[1, 0], &[x()]);
    assert_tensor(&sorted.r[0], &[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 5.0]);
    assert_tensor(&sorted.r[1], &[2, 3], &[1.0, 2.0, 0.0, 2.0, 0.0, 1.0]);
    let largest = call("tensor.topK", &[], &[2], &[x()]);
    assert_tensor(&largest.r[0], &[2, 2], &[3.0, 2.0, 5.0, 5.0]);
    assert_tensor(&largest.r[1], &[2, 2], &[0.0, 2.0, 0.0, 1.0]);
    assert!(try_call("tensor.topK", &[], &[4], &[x()]).is_err());
    assert!(try_call("tensor.sum", &[], &[0, 0], &[x(), integers(&[2])]).is_err());
}

#[test]
fn matrices_and_windows() {
    let a = || tensor(&[2, 2], &[2.0, 1.0, 0.0, 4.0]);
    assert_tensor(&call("tensor.matmul", &[], &[0, 1], &[a(), a()]).r[0], &[2, 2], &[5.0, 4.0, 4.0, 16.0]);
    assert_tensor(&call("tensor.trace", &[], &[], &[a()]).r[0], &[], &[6.0]);
    assert_tensor(&call("tensor.determinant", &[], &[], &[a()]).r[0], &[], &[8.0]);
    let v = || tensor(&[2], &[1.0, 2.0]);
    assert_tensor(&call("tensor.outer", &[], &[], &[v(), v()]).r[0], &[2, 2], &[1.0, 2.0, 2.0, 4.0]);
    assert!(try_call("tensor.outer", &[], &[], &[a(), v()]).is_err());
    let image = || tensor(&[1, 3, 1], &[1.0, 2.0, 4.0]);
    let none = || integers(&[]);
    let filter = tensor(&[2, 1, 1], &[1.0, 1.0]);
    let result = call("tensor.convolution", &[], &[0], &[image(), filter, none(), none()]);
    assert_tensor(&result.r[0], &[1, 2, 1], &[3.0, 6.0]);
    let result = call("tensor.maxPool", &[], &[0], &[image(), integers(&[2]), none()]);
    assert_tensor(&result.r[0], &[1, 2, 1], &[2.0, 4.0]);
    let q = call("tensor.qr", &[], &[0], &[a()]);
    assert_eq!(held(&q.r[1]).shape()[..], [2, 2]);
}

#[test]
fn no_arguments_cause_a_panic() {
    let tensors = [
        Ref::Null,
        tensor(&[2, 0], &[]),
        tensor(&[2, 2], &[1.0, f64::NAN, f64::INFINITY, 0.0]),
        tensor(&[1, 2, 2, 1], &[1.0, -1.0, 2.0, 0.5]),
        Ref::Tensor(Rc::new(Tensor::new(Shape::from([2]), vec![-1i32, 1]).unwrap())),
        Ref::Tensor(Rc::new(Tensor::new(Shape::from([2, 2]), vec![true, false, true, true]).unwrap())),
    ];
    let arrays = [integers(&[]), integers(&[0]), integers(&[-1, 2]), integers(&[1, i64::MIN, i64::MAX, -1])];
    let numbers = [[0; 6], [1; 6], [-1; 6], [i64::MAX; 6], [i64::MIN; 6], [2, 1, 0, -1, 1, 2]];
    let names = super::super::names().filter(|name| name.starts_with("tensor."));
    for name in names {
        for a in &tensors {
            for b in &tensors {
                for array in &arrays {
                    for numbers in &numbers {
                        // Signatures have at most three tensors, before, between or after arrays.
                        let orders: [[&Ref; 4]; 4] =
                            [[a, b, array, array], [a, array, b, array], [a, array, array, b], [a, b, a, array]];
                        for order in orders {
                            let _ = try_call(name, &[0.5; 6], numbers, &order.map(Ref::clone));
                        }
                        let parts = parts_of(&[a.clone(), b.clone()]);
                        let _ = try_call(name, &[f64::NAN; 6], numbers, &[parts, array.clone()]);
                    }
                }
            }
        }
    }
}
