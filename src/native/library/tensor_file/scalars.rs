//! Scalars of tensors as bytes, with the least significant byte first.

use crate::tensor::{Scalar, ScalarKind, Shape, Tensor};

/// A scalar with a representation in bytes.
trait Bytes: Scalar {
    fn of(bytes: &[u8]) -> Self;
    fn append(self, to: &mut Vec<u8>);
}

macro_rules! number {
    ($($type:ty)*) => {$(
        impl Bytes for $type {
            fn of(bytes: &[u8]) -> $type {
                let mut raw = [0; size_of::<$type>()];
                raw.copy_from_slice(bytes);
                <$type>::from_le_bytes(raw)
            }

            fn append(self, to: &mut Vec<u8>) {
                to.extend_from_slice(&self.to_le_bytes());
            }
        }
    )*};
}

number! { f32 f64 i8 i16 i32 i64 u8 u16 u32 u64 }

impl Bytes for bool {
    fn of(bytes: &[u8]) -> bool {
        bytes != [0]
    }

    fn append(self, to: &mut Vec<u8>) {
        to.push(u8::from(self));
    }
}

/// Evaluates an expression for the type of a kind of scalars.
macro_rules! with_type {
    ($kind:expr, $type:ident => $body:expr) => {
        with_type!(@ $kind, $type, $body, F32 f32, F64 f64, I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32,
            U64 u64, Bool bool)
    };
    (@ $kind:expr, $type:ident, $body:expr, $($name:ident $scalar:ty),*) => {
        match $kind {
            $(ScalarKind::$name => {
                type $type = $scalar;
                $body
            })*
        }
    };
}

/// The representation of one scalar in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    /// The bytes of a scalar of this kind.
    Plain(ScalarKind),
    /// A number of 16 bits with a fraction of 10 bits, which is read as `Float`.
    Half,
    /// The upper 16 bits of a `Float`.
    BrainFloat,
}

impl Encoding {
    /// Returns the number of bytes of a scalar in the file.
    pub(super) fn size(self) -> usize {
        match self {
            Encoding::Plain(kind) => kind.size(),
            Encoding::Half | Encoding::BrainFloat => 2,
        }
    }

    /// Returns the number of bytes that a tensor occupies in the file; `None` if it is too large.
    pub(super) fn bytes(self, shape: &Shape) -> Option<usize> {
        shape.iter().try_fold(self.size(), |count, &size| count.checked_mul(size))
    }

    /// Returns the tensor with the given bytes, whose number is right; `None` if it is not.
    pub(super) fn tensor(self, shape: Shape, bytes: &[u8]) -> Option<Tensor> {
        if self.bytes(&shape) != Some(bytes.len()) {
            return None;
        }
        let halves = || bytes.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]]));
        match self {
            Encoding::Half => Tensor::new(shape, halves().map(half).collect::<Vec<f32>>()).ok(),
            Encoding::BrainFloat => {
                let scalars = halves().map(|bits| f32::from_bits(u32::from(bits) << 16));
                Tensor::new(shape, scalars.collect::<Vec<f32>>()).ok()
            }
            Encoding::Plain(kind) => with_type!(kind, T => {
                Tensor::new(shape, bytes.chunks_exact(size_of::<T>()).map(T::of).collect::<Vec<T>>()).ok()
            }),
        }
    }
}

/// Returns the value of a number of 16 bits.
fn half(bits: u16) -> f32 {
    let sign = if bits & 0x8000 == 0 { 1.0 } else { -1.0 };
    let (exponent, fraction) = (i32::from(bits >> 10 & 0x1f), f32::from(bits & 0x3ff));
    sign * match exponent {
        0 => fraction * 2f32.powi(-24),
        0x1f if fraction == 0.0 => f32::INFINITY,
        0x1f => f32::NAN,
        _ => (1.0 + fraction / 1024.0) * 2f32.powi(exponent - 15),
    }
}

/// Returns the scalars of a tensor in row-major order as bytes.
pub(super) fn bytes_of(tensor: &Tensor) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(tensor.scalar_count() * tensor.kind().size());
    with_type!(tensor.kind(), T => {
        // The scalars are read as the type that the tensor has.
        for scalar in tensor.scalars::<T>().iter().flat_map(|scalars| scalars.iter()) {
            scalar.append(&mut bytes);
        }
    });
    bytes
}

/// Converts a tensor to another kind of scalars if no value is lost; numbers are only rounded from `Double` to `Float`.
pub(super) fn converted(tensor: &Tensor, kind: ScalarKind) -> Result<Tensor, String> {
    let from = tensor.kind();
    let loses = kind != from && (kind == ScalarKind::Bool || from.is_real() && !kind.is_real());
    let result = if loses { None } else { tensor.cast(kind).ok() };
    let result = result.filter(|result| from == kind || kind.is_real() || has_same_integers(tensor, result));
    result.ok_or_else(|| {
        format!("its scalars are of type {}, and not all of them are values of {}", from.name(), kind.name())
    })
}

/// Whether two tensors of integers have the same values: the same low bits and the same magnitude.
fn has_same_integers(tensor: &Tensor, other: &Tensor) -> bool {
    let real = |tensor: &Tensor| tensor.cast(ScalarKind::F64);
    let is_near = || real(tensor)?.is_equal(&real(other)?);
    let has_same_bits = || other.cast(tensor.kind())?.is_equal(tensor);
    is_near().unwrap_or(false) && has_same_bits().unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_16_bits_have_their_values() {
        // The values are those of IEEE 754: 1, -2, the largest finite number, the least positive one, infinity.
        let values =
            [(0x3c00, 1.0), (0xc000, -2.0), (0x7bff, 65504.0), (0x0001, 5.960_464_5e-8), (0x7c00, f32::INFINITY)];
        for (bits, value) in values {
            assert_eq!(half(bits), value);
        }
        assert!(half(0x7e00).is_nan());
        let tensor = Encoding::BrainFloat.tensor([2].into(), &[0x80, 0x3f, 0x49, 0x40]).unwrap();
        assert_eq!(tensor.to_vec::<f32>().unwrap(), [1.0, 3.140_625]);
    }

    #[test]
    fn bytes_become_the_same_scalars_again() {
        let tensor = Tensor::new([2, 2].into(), vec![1i16, -2, 300, i16::MIN]).unwrap();
        let bytes = bytes_of(&tensor);
        assert_eq!(bytes[..4], [1, 0, 254, 255]);
        let again = Encoding::Plain(ScalarKind::I16).tensor([2, 2].into(), &bytes).unwrap();
        assert!(again.is_equal(&tensor).unwrap());
        assert!(Encoding::Plain(ScalarKind::I16).tensor([3].into(), &bytes).is_none());
        assert!(Encoding::Half.bytes(&[usize::MAX, 2].into()).is_none());
    }

    #[test]
    fn a_conversion_loses_no_value() {
        let bytes = Tensor::new([2].into(), vec![0u8, 255]).unwrap();
        assert!(converted(&bytes, ScalarKind::F32).is_ok() && converted(&bytes, ScalarKind::I16).is_ok());
        assert!(converted(&bytes, ScalarKind::I8).is_err() && converted(&bytes, ScalarKind::Bool).is_err());
        let numbers = Tensor::new([1].into(), vec![0.1f64]).unwrap();
        assert!(converted(&numbers, ScalarKind::F32).is_ok() && converted(&numbers, ScalarKind::I64).is_err());
    }
}
