//! Unvaried scalars: the scalars of a tangent that no seed reaches.
//!
//! Such a scalar is a negative zero, and a tangent that was computed as zero is an ordinary zero: only the second one gives
//! NaN with an infinite partial. A sum with negative zero changes no number.

use crate::native::library::Failure;
use crate::tensor::{ScalarKind, Shape, Tensor, Unary};

/// Returns the zeros of a seed as unvaried scalars.
///
/// # Errors
/// Fails if the scalars are not real.
pub fn marked(seed: &Tensor) -> Result<Tensor, Failure> {
    let is_zero = super::builder::is_equal_to(seed, 0.0)?;
    Ok(seed.replacing(&zeros(seed.kind(), Shape::default())?, &is_zero)?)
}

/// Whether a tangent has unvaried scalars.
pub fn has_unvaried(tangent: &Tensor) -> bool {
    match tangent.kind() {
        ScalarKind::F32 => tangent.scalars::<f32>().is_ok_and(|all| all.iter().any(|x| is_mark(f64::from(*x)))),
        ScalarKind::F64 => tangent.scalars::<f64>().is_ok_and(|all| all.iter().any(|x| is_mark(*x))),
        _ => false,
    }
}

/// Returns unvaried scalars of a shape.
pub(super) fn zeros(kind: ScalarKind, shape: Shape) -> Result<Tensor, Failure> {
    Ok(Tensor::zeros(kind, Shape::default())?.unary(Unary::Negate)?.broadcast_to(&shape)?)
}

/// Returns where the scalars of a tangent are unvaried; `None` if all of them vary.
pub(super) fn unvaried(tangent: &Tensor) -> Result<Option<Tensor>, Failure> {
    if !has_unvaried(tangent) {
        return Ok(None);
    }
    let scalars = tangent.cast(ScalarKind::F64)?;
    let mask: Vec<bool> = scalars.scalars::<f64>()?.iter().map(|x| is_mark(*x)).collect();
    Ok(Some(Tensor::new(tangent.shape().clone(), mask)?))
}

/// Returns 0 for the unvaried scalars of a tangent, and 1 for the others.
pub(super) fn weights(tangent: &Tensor) -> Result<Tensor, Failure> {
    match unvaried(tangent)? {
        Some(mask) => Ok(mask.logical_not()?.cast(tangent.kind())?),
        None => Ok(Tensor::ones(tangent.kind(), tangent.shape().clone())?),
    }
}

fn is_mark(x: f64) -> bool {
    x == 0.0 && x.is_sign_negative()
}
