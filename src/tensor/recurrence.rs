//! Linear recurrences along an axis.

use super::error::Result;
use super::scalar::with_kind;
use super::strided::Tensor;

impl Tensor {
    /// Returns the sequences `s[i] = bias[i] + self[i] · s[i - 1]` along an axis, which start with `bias[0]`; from the last
    /// scalar to the first one if `is_reversed`. Both tensors are of the same shape.
    pub fn recurrence(&self, bias: &Tensor, axis: usize, is_reversed: bool) -> Result<Tensor> {
        let operation = "recurrence";
        let at = self.shape.axis(operation, axis as isize)?;
        bias.require_shape(operation, &self.shape)?;
        if is_reversed {
            let axis = [at as isize];
            return self.reverse(&axis)?.recurrence(&bias.reverse(&axis)?, at, false)?.reverse(&axis);
        }
        let (_, inner) = self.shape.around(at);
        let length = (self.shape[at] * inner).max(1);
        with_kind!(operation, real self.kind(), T => {
            let factors = self.scalars::<T>()?;
            let mut sums = bias.to_vec::<T>()?;
            for (sums, factors) in sums.chunks_mut(length).zip(factors.chunks(length)) {
                for place in inner..sums.len() {
                    sums[place] += factors[place] * sums[place - inner];
                }
            }
            Ok(Tensor::from_scalars(self.shape.clone(), sums))
        })
    }
}
