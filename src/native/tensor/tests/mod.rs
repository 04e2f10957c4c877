//! Tests of the derivatives of all operations: tangents against differences, adjoints against tangents, and derivatives of
//! adjoints, for which a small tape records the operations that a rule applies.

mod elementwise;
mod indexing;
mod kinks;
mod matrices;
mod reductions;
mod windows;

use super::{Evaluation, Evaluator, Operands, Operation, PlainEvaluator, TensorValue};
use crate::native::library::Failure;
use crate::tensor::{Binary, Shape, Tensor};
use crate::value::Slot;
use std::collections::HashMap;
use std::rc::Rc;

/// A source of random numbers; the same ones in each run.
struct Random(u64);

impl Random {
    fn number(&mut self, low: f64, high: f64) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        low + (high - low) * ((self.0 >> 11) as f64 / (1u64 << 53) as f64)
    }

    fn tensor(&mut self, shape: &[usize], low: f64, high: f64) -> Tensor {
        let count: usize = shape.iter().product();
        Tensor::new(Shape::from(shape), (0..count).map(|_| self.number(low, high)).collect::<Vec<_>>()).unwrap()
    }

    fn like(&mut self, tensor: &Tensor) -> Tensor {
        self.tensor(tensor.shape(), -1.0, 1.0)
    }
}

/// The operations that were applied to varied values. Such a value has a slot with the number of its node.
#[derive(Default)]
struct Tape {
    steps: Vec<(Operation, Operands, TensorValue)>,
    nodes: u64,
}

impl Evaluator for Tape {
    fn apply(&mut self, operation: Operation, operands: Operands) -> Result<TensorValue, Failure> {
        let result = PlainEvaluator.apply(operation.clone(), operands.clone())?;
        if operands.iter().all(|operand| operand.slot == Slot::NONE) {
            return Ok(result);
        }
        let result = self.varied((*result.tensor).clone());
        self.steps.push((operation, operands, result.clone()));
        Ok(result)
    }
}

type Values = HashMap<u64, TensorValue>;

/// The number of the node of a value; 0 for a constant.
fn key(value: &TensorValue) -> u64 {
    value.slot.payload
}

impl Tape {
    /// A new varied value.
    fn varied(&mut self, tensor: Tensor) -> TensorValue {
        self.nodes += 1;
        TensorValue { tensor: Rc::new(tensor), slot: Slot { epoch: 1, payload: self.nodes } }
    }

    /// The tangents of all values, given some.
    fn tangents(&self, mut tangents: Values) -> Values {
        for (operation, operands, result) in &self.steps {
            let of = Evaluation { operands, result };
            let seeds: Vec<_> = operands.iter().map(|operand| tangents.get(&key(operand)).cloned()).collect();
            if let Some(tangent) = operation.tangent(of, &seeds, &mut PlainEvaluator).unwrap() {
                assert_eq!(tangent.tensor.shape(), result.tensor.shape(), "{operation:?}");
                tangents.insert(key(result), tangent);
            }
        }
        tangents
    }

    /// The adjoints of all values, given that of one.
    fn adjoints(&self, of: &TensorValue, adjoint: TensorValue) -> Values {
        let mut adjoints = Values::from([(key(of), adjoint)]);
        for (operation, operands, result) in self.steps.iter().rev() {
            let Some(adjoint) = adjoints.get(&key(result)).cloned() else { continue };
            for (k, operand) in operands.iter().enumerate().filter(|(_, operand)| operand.slot != Slot::NONE) {
                let of = Evaluation { operands, result };
                let Some(part) = operation.adjoint(k, of, adjoint.clone(), &mut PlainEvaluator).unwrap() else {
                    continue;
                };
                assert_eq!(part.tensor.shape(), operand.tensor.shape(), "{operation:?}");
                let sum = match adjoints.remove(&key(operand)) {
                    Some(sum) => value((*sum.tensor).clone().binary(Binary::Add, (*part.tensor).clone()).unwrap()),
                    None => part,
                };
                adjoints.insert(key(operand), sum);
            }
        }
        adjoints
    }
}

fn value(tensor: Tensor) -> TensorValue {
    TensorValue::constant(tensor)
}

fn values(tensors: &[Tensor]) -> Operands {
    tensors.iter().cloned().map(value).collect()
}

fn inner(a: &Tensor, b: &Tensor) -> f64 {
    assert_eq!(a.shape(), b.shape());
    a.scalars::<f64>().unwrap().iter().zip(b.scalars::<f64>().unwrap().iter()).map(|(a, b)| a * b).sum()
}

fn size(a: &Tensor) -> f64 {
    inner(a, a).sqrt()
}

/// Returns `a + factor · b`.
fn moved(a: &Tensor, factor: f64, b: &Tensor) -> Tensor {
    let sum = a
        .scalars::<f64>()
        .unwrap()
        .iter()
        .zip(b.scalars::<f64>().unwrap().iter())
        .map(|(a, b)| a + factor * b)
        .collect::<Vec<_>>();
    Tensor::new(a.shape().clone(), sum).unwrap()
}

/// The result of an operation, for operands that are moved along tangents.
fn evaluated(operation: &Operation, operands: &[Tensor], step: f64, tangents: &[Tensor]) -> Tensor {
    let operands = operands.iter().zip(tangents).map(|(a, b)| Rc::new(moved(a, step, b)));
    operation.evaluate(operands).unwrap()
}

#[track_caller]
fn assert_near(found: f64, expected: f64, tolerance: f64, scale: f64, what: &str) {
    let is_near = (found - expected).abs() <= tolerance * (1.0 + scale);
    assert!(is_near, "{what}: {found} is not {expected} (scale {scale})");
}

/// The smallest number by which the differences are computed.
const STEP: f64 = 1e-5;

/// Checks all derivatives of an operation at operands, along random tangents.
#[track_caller]
fn check(operation: Operation, operands: &[Tensor]) {
    let mut random = Random(7);
    let tangents: Vec<Tensor> = operands.iter().map(|operand| random.like(operand)).collect();
    check_along(operation, operands, &tangents);
}

/// Checks all derivatives of an operation at operands, along tangents.
#[track_caller]
fn check_along(operation: Operation, operands: &[Tensor], tangents: &[Tensor]) {
    let name = format!("{operation:?}");
    let mut random = Random(11);
    let operands_as_values = values(operands);
    let result = PlainEvaluator.apply(operation.clone(), operands_as_values.clone()).unwrap();
    let of = Evaluation { operands: &operands_as_values, result: &result };
    let seed = random.like(&result.tensor);
    let adjoint_of = |k: usize, of: Evaluation<'_>, evaluator: &mut dyn Evaluator| {
        operation.adjoint(k, of, value(seed.clone()), evaluator).unwrap()
    };
    // The tangent against a difference.
    let seeds: Vec<_> = tangents.iter().cloned().map(|tangent| Some(value(tangent))).collect();
    let tangent = operation.tangent(of, &seeds, &mut PlainEvaluator).unwrap();
    let difference = moved(
        &evaluated(&operation, operands, STEP, tangents),
        -1.0,
        &evaluated(&operation, operands, -STEP, tangents),
    );
    let expected = inner(&seed, &difference) / (2.0 * STEP);
    let found = tangent.as_ref().map_or(0.0, |tangent| inner(&seed, &tangent.tensor));
    assert_near(found, expected, 1e-6, size(&seed) * size(&difference) / STEP, &name);
    // The adjoints against the tangents of single operands.
    for (k, tangent) in tangents.iter().enumerate() {
        let single: Vec<_> = (0..operands.len()).map(|at| (at == k).then(|| value(tangent.clone()))).collect();
        let forward = operation.tangent(of, &single, &mut PlainEvaluator).unwrap();
        let backward = adjoint_of(k, of, &mut PlainEvaluator);
        let scale = forward.as_ref().map_or(0.0, |forward| size(&seed) * size(&forward.tensor));
        let forward = forward.map_or(0.0, |forward| inner(&seed, &forward.tensor));
        let backward = backward.map_or(0.0, |backward| {
            assert_eq!(backward.tensor.shape(), operands[k].shape(), "{name}");
            inner(tangent, &backward.tensor)
        });
        assert_near(backward, forward, 1e-12, scale, &name);
        check_second_order(&operation, k, operands, tangents, &seed, &name);
    }
    check_broadcast_adjoint(&operation, of, &name);
}

/// The derivatives of an adjoint, as recorded on a tape, against differences.
#[track_caller]
fn check_second_order(
    operation: &Operation,
    k: usize,
    operands: &[Tensor],
    tangents: &[Tensor],
    seed: &Tensor,
    name: &str,
) {
    let mut random = Random(13);
    let change_of_seed = random.like(seed);
    let adjoint_at = |step: f64| {
        let moved_operands: Operands = operands.iter().zip(tangents).map(|(a, t)| value(moved(a, step, t))).collect();
        let result = PlainEvaluator.apply(operation.clone(), moved_operands.clone()).unwrap();
        let seed = value(moved(seed, step, &change_of_seed));
        let of = Evaluation { operands: &moved_operands, result: &result };
        operation.adjoint(k, of, seed.clone(), &mut PlainEvaluator).unwrap()
    };
    let mut tape = Tape::default();
    let operands_as_values: Operands = operands.iter().map(|operand| tape.varied(operand.clone())).collect();
    let seed_value = tape.varied(seed.clone());
    let result = tape.apply(operation.clone(), operands_as_values.clone()).unwrap();
    let of = Evaluation { operands: &operands_as_values, result: &result };
    let Some(adjoint) = operation.adjoint(k, of, seed_value.clone(), &mut tape).unwrap() else { return };
    let weights = random.like(&adjoint.tensor);
    let (Some(after), Some(before)) = (adjoint_at(STEP), adjoint_at(-STEP)) else { return };
    let difference = moved(&after.tensor, -1.0, &before.tensor);
    let expected = inner(&weights, &difference) / (2.0 * STEP);
    let scale = size(&weights) * size(&difference) / STEP;
    let mut seeds: Values = operands_as_values.iter().zip(tangents).map(|(a, t)| (key(a), value(t.clone()))).collect();
    seeds.insert(key(&seed_value), value(change_of_seed.clone()));
    let forward = tape.tangents(seeds).get(&key(&adjoint)).map_or(0.0, |t| inner(&weights, &t.tensor));
    assert_near(forward, expected, 1e-6, scale, &format!("second order, forward, {name}"));
    let adjoints = tape.adjoints(&adjoint, value(weights));
    let inputs = operands_as_values.iter().zip(tangents).chain([(&seed_value, &change_of_seed)]);
    let backward: f64 =
        inputs.map(|(input, t)| adjoints.get(&key(input)).map_or(0.0, |found| inner(t, &found.tensor))).sum();
    assert_near(backward, forward, 1e-10, scale, &format!("second order, backward, {name}"));
}

/// An adjoint of rank 0 stands for one of the shape of the result.
#[track_caller]
fn check_broadcast_adjoint(operation: &Operation, of: Evaluation<'_>, name: &str) {
    let small = value(Tensor::scalar(0.7));
    let large = value(Tensor::repeating(0.7, of.result.tensor.shape().clone()).unwrap());
    for k in 0..of.operands.len() {
        let of_small = operation.adjoint(k, of, small.clone(), &mut PlainEvaluator).unwrap();
        let of_large = operation.adjoint(k, of, large.clone(), &mut PlainEvaluator).unwrap();
        match (of_small, of_large) {
            (Some(a), Some(b)) => assert!(a.tensor.is_equal(&b.tensor).unwrap(), "{name}"),
            (a, b) => assert_eq!(a.is_some(), b.is_some(), "{name}"),
        }
    }
}
