//! Recording: records operations of tensors, each as one wide node.
//!
//! The slot of a tensor is that of the number in its storage, and belongs to the tensor as a whole. Its adjoints and
//! tangents are tensors, which a sweep carries as [opaque vectors](crate::value::opaque_vector).

use crate::native::library::Failure;
use crate::native::tensor::{
    Evaluation, Evaluator, Operands, Operation, Recorder, TensorValue, has_unvaried, marked, pack, unpack,
};
use crate::tape::Num;
use crate::tape::calls::Results;
use crate::tape::levels::{Direction, Levels};
use crate::tape::node::RecordError;
use crate::tape::observer::TensorPart;
use crate::tape::sweep::{NO_TANGENT, has_no_tangent};
use crate::tape::wide_node::{TensorNode, TensorStep, WideKind};
use crate::tensor::{Binary, Comparison, ScalarKind, Shape, Tensor};
use crate::value::Slot;
use crate::value::opaque_vector::{self, OpaqueVector};
use smallvec::{SmallVec, smallvec};
use std::rc::Rc;

/// Whether a tangent is that of a scalar that does not vary.
pub(super) fn is_unvaried(tangent: Num) -> bool {
    tangent.slot == Slot::NONE && has_no_tangent(tangent.value)
}

/// Returns the number that carries the slot of a tensor.
fn carrier(value: &TensorValue) -> Num {
    Num { value: 0.0, slot: value.slot }
}

/// Returns the number that represents a tensor as an adjoint or a tangent.
pub fn vector_number(value: TensorValue) -> Num {
    Num::constant(opaque_vector::keep_tensor(value.tensor, value.slot))
}

/// Returns a seed of a forward sweep, in which the zeros of a tensor do not vary.
///
/// # Errors
/// Fails if the tensor is not one of real numbers.
pub fn tangent_seed(number: Num) -> Result<Num, Failure> {
    match tensor_vector(number) {
        Some(value) if value.slot == Slot::NONE => Ok(vector_number(TensorValue::constant(marked(&value.tensor)?))),
        _ => Ok(number),
    }
}

/// Returns the tensor that a number represents as an adjoint or a tangent; `None` for zero.
pub fn tensor_vector(number: Num) -> Option<TensorValue> {
    match opaque_vector::find(number.value)? {
        OpaqueVector::Tensor(tensor, slot) => Some(TensorValue { tensor, slot }),
        OpaqueVector::Cells { .. } => None,
    }
}

impl Evaluator for Levels {
    fn apply(&mut self, operation: Operation, operands: Operands) -> Result<TensorValue, Failure> {
        let Some(k) = self.innermost_of(operands.iter().map(|operand| operand.slot)) else {
            let mask = self.watched_mask(&operands);
            let result = operation.evaluate_constant(operands)?;
            if let Some(mask) = mask {
                self.derived_mask(&mask, &result);
            }
            return Ok(result);
        };
        self.check_linear(k, &operation, &operands)?;
        let is_reverse = self.direction_at(k) == Some(Direction::Reverse);
        if is_reverse && !self.is_observed() {
            return self.record_operation(k, operation, operands);
        }
        let outside: Operands = operands
            .iter()
            .map(|operand| TensorValue { slot: self.strip_slot(k, operand.slot), ..operand.clone() })
            .collect();
        let result = self.apply_outside(&operation, &outside)?;
        let place = self.place_of_tensors();
        self.observe_tensor((&operation, TensorPart::Value), place, outside.iter(), &result)?;
        // At jumps of a rounding, the result counts only where a sweep reaches it: rounding often only selects.
        if !operation.is_flat() {
            self.observe_kink(k, &operation, Evaluation { operands: &operands, result: &result })?;
        }
        if !is_reverse {
            let tangents: Vec<Option<TensorValue>> =
                operands.iter().map(|x| tensor_vector(self.tangent(k, carrier(x)))).collect();
            self.observe_use(k, &operation, &operands, &result)?;
            let of = Evaluation { operands: &outside, result: &result };
            let Some(tangent) = operation.tangent(of, &tangents, self)? else {
                return self.unvaried_result(k, &operation, Evaluation { operands: &operands, result: &result });
            };
            self.observe_tensor((&operation, TensorPart::Tangent), place, tangents.iter().flatten(), &tangent)?;
            let number = self.with_tangent(k, carrier(&result), vector_number(tangent))?;
            return Ok(TensorValue { slot: number.slot, ..result });
        }
        let nodes = operands.iter().map(|x| self.node(k, carrier(x))).collect();
        let step = TensorStep::Operation(operation, outside, result.clone());
        self.push_operation(k, Box::new(TensorNode { step, operands: nodes }), result)
    }
}

impl Recorder for Levels {
    fn pack_numbers(
        &mut self,
        kind: ScalarKind,
        shape: Shape,
        numbers: &[(f64, Slot)],
    ) -> Result<TensorValue, Failure> {
        let numbers: Vec<Num> = numbers.iter().map(|(value, slot)| Num { value: *value, slot: *slot }).collect();
        self.pack(kind, shape, &numbers)
    }

    fn unpack_numbers(&mut self, value: &TensorValue) -> Result<Vec<(f64, Slot)>, Failure> {
        Ok(self.unpack(value)?.into_iter().map(|x| (x.value, x.slot)).collect())
    }

    fn compared(
        &mut self,
        comparison: Comparison,
        operands: [&TensorValue; 2],
        mask: &TensorValue,
    ) -> Result<(), Failure> {
        self.observe_comparison(comparison, operands, mask)
    }

    fn derived_mask(&mut self, from: &Rc<Tensor>, mask: &TensorValue) {
        if let Some(observer) = &mut self.observer {
            observer.derived_mask(from, &mask.tensor);
        }
    }
}

impl Levels {
    /// Applies an operation, and records it in the reverse level `k`.
    fn record_operation(
        &mut self,
        k: usize,
        operation: Operation,
        mut operands: Operands,
    ) -> Result<TensorValue, Failure> {
        let mut nodes = SmallVec::new();
        for operand in &mut operands {
            nodes.push(self.node(k, carrier(operand)));
            operand.slot = self.strip_slot(k, operand.slot);
        }
        let result = self.apply_outside(&operation, &operands)?;
        let step = TensorStep::Operation(operation, operands, result.clone());
        self.push_operation(k, Box::new(TensorNode { step, operands: nodes }), result)
    }

    /// Applies an operation to values of the levels outside of one that records it, so that their memory is not used again.
    fn apply_outside(&mut self, operation: &Operation, operands: &Operands) -> Result<TensorValue, Failure> {
        if operands.iter().all(|operand| operand.slot == Slot::NONE) {
            // The operand of a watched mask does not vary, so that there is no mask to derive here.
            return operation.evaluate_shared(operands);
        }
        self.apply(operation.clone(), operands.clone())
    }

    /// Records an operation with its result in the reverse level `k`, and returns the result as a value of the level.
    fn push_operation(&mut self, k: usize, node: Box<TensorNode>, result: TensorValue) -> Result<TensorValue, Failure> {
        let numbers = self.push_tensor(k, node, &[carrier(&result)])?;
        Ok(TensorValue { slot: numbers.first().map_or(result.slot, |y| y.slot), ..result })
    }

    /// Rejects an operation in a linear function if it is not linear in those operands that vary.
    fn check_linear(&self, k: usize, operation: &Operation, operands: &[TensorValue]) -> Result<(), RecordError> {
        if !self.stack[k].is_linear {
            return Ok(());
        }
        let epoch = self.stack[k].epoch;
        let is_linear = operation.is_linear(&|at| operands.get(at).is_some_and(|operand| operand.slot.epoch == epoch));
        if is_linear { Ok(()) } else { Err(RecordError::NotLinear(operation.name())) }
    }

    fn push_tensor(&mut self, k: usize, node: Box<TensorNode>, results: &[Num]) -> Result<Results, RecordError> {
        let held = node.held();
        self.pool().borrow_mut().reserve(held)?;
        let pushed = self.push_kind(k, WideKind::Tensor(node), results);
        if pushed.is_err() {
            self.pool().borrow_mut().release(held);
        }
        pushed
    }

    /// Returns a tensor of real numbers, which may vary.
    ///
    /// # Errors
    /// Fails if the number of scalars does not match the shape, or if a limit is reached.
    pub fn pack(&mut self, kind: ScalarKind, shape: Shape, numbers: &[Num]) -> Result<TensorValue, Failure> {
        let Some(k) = self.innermost(numbers) else {
            let values: Vec<f64> = numbers.iter().map(|x| x.value).collect();
            return Ok(TensorValue::constant(pack(kind, shape, &values)?));
        };
        let outside: Vec<Num> = numbers.iter().map(|x| self.strip(k, *x)).collect();
        let result = self.pack(kind, shape.clone(), &outside)?;
        if self.direction_at(k) == Some(Direction::Forward) {
            let epoch = self.epoch_at(k);
            let varies = |x: &Num| Some(x.slot.epoch) == epoch;
            let unvaried = Num::constant(NO_TANGENT);
            let tangents: Vec<Num> =
                numbers.iter().map(|x| if varies(x) { self.tangent(k, *x) } else { unvaried }).collect();
            let tangent = self.pack(kind, shape, &tangents)?;
            let number = self.with_tangent(k, carrier(&result), vector_number(tangent))?;
            return Ok(TensorValue { slot: number.slot, ..result });
        }
        let operands = numbers.iter().map(|x| self.node(k, *x)).collect();
        let node = Box::new(TensorNode { step: TensorStep::Pack(kind, shape), operands });
        let pushed = self.push_tensor(k, node, &[carrier(&result)])?;
        Ok(TensorValue { slot: pushed.first().map_or(result.slot, |y| y.slot), ..result })
    }

    /// Returns the scalars of a tensor of real numbers, which vary as the tensor does.
    ///
    /// # Errors
    /// Fails if the scalars are not real, or if a limit is reached.
    pub fn unpack(&mut self, value: &TensorValue) -> Result<Vec<Num>, Failure> {
        let Some(k) = self.innermost(&[carrier(value)]) else {
            return Ok(unpack(&value.tensor)?.into_iter().map(Num::constant).collect());
        };
        let outside = TensorValue { slot: self.strip_slot(k, value.slot), ..value.clone() };
        let mut numbers = self.unpack(&outside)?;
        if self.direction_at(k) == Some(Direction::Forward) {
            let Some(tangent) = tensor_vector(self.tangent(k, carrier(value))) else {
                self.unpack_flat(k, value, &mut numbers)?;
                return Ok(numbers);
            };
            let tangent = self.broadcast_like(tangent, value.tensor.shape())?;
            let tangents = self.unpack(&tangent)?;
            let pairs = numbers.into_iter().zip(tangents);
            let varied = |(x, tangent): (Num, Num)| match is_unvaried(tangent) {
                true => Ok(x),
                false => self.with_tangent(k, x, tangent),
            };
            return Ok(pairs.map(varied).collect::<Result<_, _>>()?);
        }
        let step = TensorStep::Unpack(value.tensor.kind(), value.tensor.shape().clone());
        let node = Box::new(TensorNode { step, operands: smallvec![self.node(k, carrier(value))] });
        Ok(self.push_tensor(k, node, &numbers)?.into_vec())
    }

    /// Returns a tangent for a program, with ordinary zeros in place of scalars that do not vary.
    ///
    /// # Errors
    /// Fails if a limit is reached.
    pub fn plain_tangent(&mut self, number: Num) -> Result<Num, RecordError> {
        match tensor_vector(number) {
            Some(value) if has_unvaried(&value.tensor) => {
                let zero = Tensor::zeros(value.tensor.kind(), Shape::default()).map_err(Failure::from)?;
                let zero = TensorValue::constant(zero);
                Ok(vector_number(self.apply(Operation::Binary(Binary::Add), smallvec![value, zero])?))
            }
            _ => Ok(number),
        }
    }

    /// Returns an adjoint or a tangent in the kind and the shape of its tensor.
    ///
    /// # Errors
    /// Fails if the shapes cannot be broadcast, or if a limit is reached.
    pub fn fitted(&mut self, vector: TensorValue, kind: ScalarKind, shape: &Shape) -> Result<TensorValue, RecordError> {
        let is_of_kind = vector.tensor.kind() == kind;
        let vector = if is_of_kind { vector } else { self.apply(Operation::Cast(kind), smallvec![vector])? };
        Ok(self.broadcast_like(vector, shape)?)
    }

    /// Broadcasts an adjoint or a tangent to the shape of its tensor, if it has another shape.
    pub(in crate::tape) fn broadcast_like(
        &mut self,
        vector: TensorValue,
        shape: &Shape,
    ) -> Result<TensorValue, Failure> {
        if vector.tensor.shape() == shape {
            return Ok(vector);
        }
        self.apply(Operation::Broadcast(shape.clone()), smallvec![vector])
    }

    /// Returns the sum of two adjoints or tangents.
    ///
    /// # Errors
    /// Fails if the shapes cannot be broadcast, or if a limit is reached.
    pub fn add_tensors(
        &mut self,
        mut a: (Rc<Tensor>, Slot),
        b: (Rc<Tensor>, Slot),
    ) -> Result<(Rc<Tensor>, Slot), RecordError> {
        if a.1 == Slot::NONE
            && b.1 == Slot::NONE
            && let Some(own) = Rc::get_mut(&mut a.0)
            && own.add_small(&b.0)
        {
            return Ok(a);
        }
        let value = |(tensor, slot)| TensorValue { tensor, slot };
        let sum = self.apply(Operation::Binary(Binary::Add), smallvec![value(a), value(b)])?;
        Ok((sum.tensor, sum.slot))
    }
}
