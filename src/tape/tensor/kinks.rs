//! Kinks of tensors: informs the observer of scalars at which an operation has no derivative, and of masks that change there.

use crate::native::library::Failure;
use crate::native::tensor::{Evaluation, Operation, TensorKink, TensorValue, equal_operands};
use crate::tape::Num;
use crate::tape::flat_results::FlatResult;
use crate::tape::levels::Levels;
use crate::tape::node::RecordError;
use crate::tape::sweep::NO_TANGENT;
use crate::tensor::{Comparison, ScalarKind, Tensor};
use crate::value::Slot;
use std::rc::Rc;

impl Levels {
    /// Informs the observer of the comparison of two tensors, of which one varies.
    pub(super) fn observe_comparison(
        &mut self,
        comparison: Comparison,
        [a, b]: [&TensorValue; 2],
        mask: &TensorValue,
    ) -> Result<(), Failure> {
        if !self.options().kinks {
            return Ok(());
        }
        let carriers = [a, b].map(|value| Num { value: 0.0, slot: value.slot });
        let varies = a.slot != b.slot && self.innermost(&carriers).is_some_and(|k| !self.is_paused(k));
        let Some(place) = self.place_of_tensors().filter(|_| varies) else { return Ok(()) };
        if let (Some(kink), Some(observer)) = (equal_operands(comparison, &a.tensor, &b.tensor)?, &mut self.observer) {
            observer.compared_tensors(&mask.tensor, kink, place);
        }
        Ok(())
    }

    /// Returns the only operand of an operation if it is a mask, while kinks are observed.
    pub(super) fn watched_mask(&self, operands: &[TensorValue]) -> Option<Rc<Tensor>> {
        match operands {
            [mask] if self.options().kinks && mask.tensor.kind() == ScalarKind::Bool => Some(Rc::clone(&mask.tensor)),
            _ => None,
        }
    }

    /// Informs the observer of scalars of tensors at a kink, in an operation at a source location.
    fn observe_tensor_kink(&mut self, kink: TensorKink, place: u32) -> Result<(), RecordError> {
        self.observer.as_mut().map_or(Ok(()), |observer| observer.met_kink(kink, place))
    }

    /// Informs the observer if an operation of level `k` is at a kink.
    pub(super) fn observe_kink(&mut self, k: usize, operation: &Operation, of: Evaluation<'_>) -> Result<(), Failure> {
        if !self.options().kinks || self.is_paused(k) {
            return Ok(());
        }
        if let Operation::Select(mask) = operation {
            return Ok(self.observer.as_mut().map_or(Ok(()), |observer| observer.used_mask(mask))?);
        }
        let epoch = self.epoch_at(k);
        let varies = |at: usize| of.operands.get(at).is_some_and(|operand| Some(operand.slot.epoch) == epoch);
        match (operation.kink(of, &varies)?, self.place_of_tensors()) {
            (Some(kink), Some(place)) => Ok(self.observe_tensor_kink(kink, place)?),
            _ => Ok(()),
        }
    }

    /// Returns the result of an operation without a tangent in the forward level `k`. At a jump, the result gets a slot,
    /// by which its use is noticed, if the level has slots for that; otherwise the jump counts as used, like that of a number.
    pub(super) fn unvaried_result(
        &mut self,
        k: usize,
        operation: &Operation,
        of: Evaluation<'_>,
    ) -> Result<TensorValue, Failure> {
        let result = of.result.clone();
        if !operation.is_flat() || !self.options().kinks || self.is_paused(k) {
            return Ok(result);
        }
        let epoch = self.epoch_at(k);
        let varies = |at: usize| of.operands.get(at).is_some_and(|operand| Some(operand.slot.epoch) == epoch);
        let (Some(kink), Some(place)) = (operation.kink(of, &varies)?, self.place_of_tensors()) else {
            return Ok(result);
        };
        // Only these levels have slots that distinguish equal tangents.
        if !self.options().stops_at_kinks {
            self.observe_tensor_kink(kink, place)?;
            return Ok(result);
        }
        let slot = self.flat_slot(k, result.slot, (kink, place))?;
        Ok(TensorValue { slot, ..result })
    }

    /// Returns a slot in the forward level `k` for a result at a jump.
    fn flat_slot(&mut self, k: usize, slot: Slot, (kink, place): FlatResult) -> Result<Slot, RecordError> {
        let number = self.with_tangent(k, Num { value: 0.0, slot }, Num::constant(NO_TANGENT))?;
        if let Some(observer) = &mut self.observer {
            observer.computed_flat(number.slot, kink, place);
        }
        Ok(number.slot)
    }

    /// Informs the observer of operands of an operation in the forward level `k`.
    pub(super) fn observe_use(
        &mut self,
        k: usize,
        operation: &Operation,
        operands: &[TensorValue],
        result: &TensorValue,
    ) -> Result<(), RecordError> {
        let epoch = self.epoch_at(k);
        match &mut self.observer {
            Some(observer) if !operation.is_flat() && result.tensor.kind().is_real() => operands
                .iter()
                .filter(|operand| Some(operand.slot.epoch) == epoch)
                .try_for_each(|operand| observer.used(operand.slot)),
            _ => Ok(()),
        }
    }

    /// Gives the scalar at a jump its own slot, if a tensor in the forward level `k` is the result of a rounding.
    pub(super) fn unpack_flat(&mut self, k: usize, value: &TensorValue, numbers: &mut [Num]) -> Result<(), Failure> {
        let flat_result = self.observer.as_ref().and_then(|observer| observer.flat_result(value.slot));
        let Some((kink, place)) = flat_result else { return Ok(()) };
        let index = kink.indices.first().into_iter().flatten().zip(value.tensor.shape().iter());
        let position = index.fold(0, |position, (at, size)| position * size + at);
        if let Some(number) = numbers.get_mut(position) {
            number.slot = self.flat_slot(k, number.slot, (kink, place))?;
        }
        Ok(())
    }

    /// Informs the observer if a tangent or an adjoint reaches an operation whose partials are zero at one of its jumps.
    pub(super) fn observe_jump(
        &mut self,
        operation: &Operation,
        of: Evaluation<'_>,
        place: Option<u32>,
    ) -> Result<(), RecordError> {
        if !operation.is_flat() || !self.options().kinks {
            return Ok(());
        }
        match (operation.kink(of, &|_| true)?, place) {
            (Some(kink), Some(place)) => self.observe_tensor_kink(kink, place),
            _ => Ok(()),
        }
    }
}
