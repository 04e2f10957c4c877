//! Scalars: conversions between tensors and the numbers of a program.

use crate::native::library::{Failure, internal};
use crate::tensor::{ScalarKind, Shape, Tensor};

/// Returns a tensor of real numbers.
///
/// # Errors
/// Fails if the number of scalars does not match the shape, or if the kind is not real.
pub fn pack(kind: ScalarKind, shape: Shape, numbers: &[f64]) -> Result<Tensor, Failure> {
    match kind {
        ScalarKind::F64 => Ok(Tensor::new(shape, numbers.to_vec())?),
        ScalarKind::F32 => Ok(Tensor::new(shape, numbers.iter().map(|x| *x as f32).collect::<Vec<f32>>())?),
        _ => Err(internal()),
    }
}

/// Returns the scalars of a tensor of real numbers, in row-major order.
///
/// # Errors
/// Fails if the scalars are not real.
pub fn unpack(tensor: &Tensor) -> Result<Vec<f64>, Failure> {
    match tensor.kind() {
        ScalarKind::F64 => Ok(tensor.to_vec::<f64>()?),
        ScalarKind::F32 => Ok(tensor.scalars::<f32>()?.iter().map(|x| f64::from(*x)).collect()),
        _ => Err(internal()),
    }
}
