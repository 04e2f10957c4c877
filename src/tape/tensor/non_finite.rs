//! Non-finite scalars: the search for the operation of tensors that has computed one from finite numbers.

use crate::native::tensor::{Operation, TensorValue, unpack};
use crate::tape::levels::Levels;
use crate::tape::node::RecordError;
use crate::tape::observer::{NonFiniteScalar, TensorPart};
use crate::tensor::Tensor;

/// Returns the first number in a tensor that is infinite or NaN.
pub fn non_finite(tensor: &Tensor) -> Option<f64> {
    if !tensor.kind().is_real() {
        return None;
    }
    unpack(tensor).ok()?.into_iter().find(|x| !x.is_finite())
}

impl Levels {
    /// Informs the observer if a tensor that was computed from finite ones is not finite.
    pub(super) fn observe_tensor<'t>(
        &mut self,
        (operation, part): (&Operation, TensorPart),
        place: Option<u32>,
        mut from: impl Iterator<Item = &'t TensorValue>,
        to: &TensorValue,
    ) -> Result<(), RecordError> {
        let Some(place) = place.filter(|_| self.checks_not_finite()) else { return Ok(()) };
        let Some(number) = non_finite(&to.tensor) else { return Ok(()) };
        if from.any(|value| non_finite(&value.tensor).is_some()) {
            return Ok(());
        }
        self.observe_scalar(NonFiniteScalar { place, name: operation.name(), part, number })
    }
}
