//! The kinds of scalars that a tensor can have, and the buffers that store them.

use super::error::{Result, TensorError};
use std::fmt;

/// The type of the scalars of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum ScalarKind {
    F32,
    F64,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    Bool,
}

impl ScalarKind {
    /// All kinds.
    pub const ALL: [ScalarKind; 11] = [
        ScalarKind::F32,
        ScalarKind::F64,
        ScalarKind::I8,
        ScalarKind::I16,
        ScalarKind::I32,
        ScalarKind::I64,
        ScalarKind::U8,
        ScalarKind::U16,
        ScalarKind::U32,
        ScalarKind::U64,
        ScalarKind::Bool,
    ];

    /// Returns the name of the type in programs.
    pub fn name(self) -> &'static str {
        match self {
            ScalarKind::F32 => "Float",
            ScalarKind::F64 => "Double",
            ScalarKind::I8 => "Int8",
            ScalarKind::I16 => "Int16",
            ScalarKind::I32 => "Int32",
            ScalarKind::I64 => "Int",
            ScalarKind::U8 => "UInt8",
            ScalarKind::U16 => "UInt16",
            ScalarKind::U32 => "UInt32",
            ScalarKind::U64 => "UInt",
            ScalarKind::Bool => "Bool",
        }
    }

    /// Returns the kind of the integer type with a number of bits.
    pub fn integer(bits: u8, is_signed: bool) -> Option<ScalarKind> {
        Some(match (bits, is_signed) {
            (8, true) => ScalarKind::I8,
            (16, true) => ScalarKind::I16,
            (32, true) => ScalarKind::I32,
            (64, true) => ScalarKind::I64,
            (8, false) => ScalarKind::U8,
            (16, false) => ScalarKind::U16,
            (32, false) => ScalarKind::U32,
            (64, false) => ScalarKind::U64,
            _ => return None,
        })
    }

    /// Returns the number of bytes of a scalar.
    pub fn size(self) -> usize {
        match self {
            ScalarKind::I8 | ScalarKind::U8 | ScalarKind::Bool => 1,
            ScalarKind::I16 | ScalarKind::U16 => 2,
            ScalarKind::F32 | ScalarKind::I32 | ScalarKind::U32 => 4,
            ScalarKind::F64 | ScalarKind::I64 | ScalarKind::U64 => 8,
        }
    }

    /// Whether the kind is `Float` or `Double`.
    pub fn is_real(self) -> bool {
        matches!(self, ScalarKind::F32 | ScalarKind::F64)
    }
}

/// A type that can be the scalar of a tensor.
pub trait Scalar: Copy + Default + PartialEq + PartialOrd + fmt::Debug + Send + Sync + 'static {
    /// The kind of this type.
    const KIND: ScalarKind;
    /// The number one, or true.
    const ONE: Self;

    /// Returns the scalars of a buffer of this kind.
    fn scalars(buffer: &Buffer) -> Option<&[Self]>;

    /// Returns the scalars of a buffer of this kind for modification.
    fn scalars_mut(buffer: &mut Buffer) -> Option<&mut Vec<Self>>;

    /// Returns a buffer with the given scalars.
    fn buffer(scalars: Vec<Self>) -> Buffer;

    /// Returns the value as `f64`.
    fn to_f64(self) -> f64;

    /// Returns the nearest value of this type: fractions are cut, values out of range become the nearest bound, NaN becomes 0.
    fn from_f64(value: f64) -> Self;

    /// Returns the value as `i128`; fractions are cut.
    fn to_i128(self) -> i128;

    /// Returns the value of this type with the same low bits.
    fn from_i128(value: i128) -> Self;
}

/// The storage of the scalars of one or several tensors.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum Buffer {
    F32(Vec<f32>),
    F64(Vec<f64>),
    I8(Vec<i8>),
    I16(Vec<i16>),
    I32(Vec<i32>),
    I64(Vec<i64>),
    U8(Vec<u8>),
    U16(Vec<u16>),
    U32(Vec<u32>),
    U64(Vec<u64>),
    Bool(Vec<bool>),
}

macro_rules! scalar {
    ($type:ty, $kind:ident, $one:expr, $to_f64:expr, $from_f64:expr, $to_i128:expr, $from_i128:expr) => {
        impl Scalar for $type {
            const KIND: ScalarKind = ScalarKind::$kind;
            const ONE: $type = $one;

            #[inline]
            fn scalars(buffer: &Buffer) -> Option<&[$type]> {
                match buffer {
                    Buffer::$kind(scalars) => Some(scalars),
                    _ => None,
                }
            }

            #[inline]
            fn scalars_mut(buffer: &mut Buffer) -> Option<&mut Vec<$type>> {
                match buffer {
                    Buffer::$kind(scalars) => Some(scalars),
                    _ => None,
                }
            }

            #[inline]
            fn buffer(scalars: Vec<$type>) -> Buffer {
                Buffer::$kind(scalars)
            }

            #[inline]
            fn to_f64(self) -> f64 {
                ($to_f64)(self)
            }

            #[inline]
            fn from_f64(value: f64) -> $type {
                ($from_f64)(value)
            }

            #[inline]
            fn to_i128(self) -> i128 {
                ($to_i128)(self)
            }

            #[inline]
            fn from_i128(value: i128) -> $type {
                ($from_i128)(value)
            }
        }
    };
    ($type:ty, $kind:ident, $one:expr) => {
        scalar!($type, $kind, $one, |x| x as f64, |x| x as $type, |x| x as i128, |x| x as $type);
    };
}

scalar!(f32, F32, 1.0);
scalar!(f64, F64, 1.0);
scalar!(i8, I8, 1);
scalar!(i16, I16, 1);
scalar!(i32, I32, 1);
scalar!(i64, I64, 1);
scalar!(u8, U8, 1);
scalar!(u16, U16, 1);
scalar!(u32, U32, 1);
scalar!(u64, U64, 1);
scalar!(bool, Bool, true, |x| f64::from(u8::from(x)), |x| x != 0.0, i128::from, |x| x != 0);

/// Evaluates an expression with a type parameter that is bound to the type of a kind: all kinds, numbers, or reals.
macro_rules! with_kind {
    ($kind:expr, $type:ident => $body:expr) => {
        $crate::tensor::scalar::with_kind!(@arms $kind, $type, $body,
            F32 f32, F64 f64, I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64, Bool bool)
    };
    ($operation:expr, number $kind:expr, $type:ident => $body:expr) => {
        $crate::tensor::scalar::with_kind!(@arms_or $operation, $kind, $type, $body,
            F32 f32, F64 f64, I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64)
    };
    ($operation:expr, integer $kind:expr, $type:ident => $body:expr) => {
        $crate::tensor::scalar::with_kind!(@arms_or $operation, $kind, $type, $body,
            I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64)
    };
    ($operation:expr, real $kind:expr, $type:ident => $body:expr) => {
        $crate::tensor::scalar::with_kind!(@arms_or $operation, $kind, $type, $body, F32 f32, F64 f64)
    };
    (@arms $kind:expr, $type:ident, $body:expr, $($name:ident $scalar:ty),*) => {
        match $kind {
            $($crate::tensor::scalar::ScalarKind::$name => {
                type $type = $scalar;
                $body
            })*
        }
    };
    (@arms_or $operation:expr, $kind:expr, $type:ident, $body:expr, $($name:ident $scalar:ty),*) => {
        match $kind {
            $($crate::tensor::scalar::ScalarKind::$name => {
                type $type = $scalar;
                $body
            })*
            #[allow(unreachable_patterns)]
            kind => Err($crate::tensor::error::TensorError::Kind { operation: $operation, kind }),
        }
    };
}
pub(super) use with_kind;

impl Buffer {
    /// Returns the kind of the scalars.
    #[inline]
    pub fn kind(&self) -> ScalarKind {
        match self {
            Buffer::F32(_) => ScalarKind::F32,
            Buffer::F64(_) => ScalarKind::F64,
            Buffer::I8(_) => ScalarKind::I8,
            Buffer::I16(_) => ScalarKind::I16,
            Buffer::I32(_) => ScalarKind::I32,
            Buffer::I64(_) => ScalarKind::I64,
            Buffer::U8(_) => ScalarKind::U8,
            Buffer::U16(_) => ScalarKind::U16,
            Buffer::U32(_) => ScalarKind::U32,
            Buffer::U64(_) => ScalarKind::U64,
            Buffer::Bool(_) => ScalarKind::Bool,
        }
    }

    /// Returns the number of scalars.
    pub fn len(&self) -> usize {
        with_kind!(self.kind(), T => T::scalars(self).map_or(0, <[T]>::len))
    }

    /// Returns the number of bytes of the scalars.
    pub(super) fn bytes(&self) -> usize {
        with_kind!(self.kind(), T => T::scalars(self).map_or(0, size_of_val))
    }

    /// Whether there are no scalars.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the scalars, which must be of the type that the operation expects.
    pub(super) fn typed<T: Scalar>(&self, operation: &'static str) -> Result<&[T]> {
        T::scalars(self).ok_or_else(|| TensorError::Kind { operation, kind: self.kind() })
    }
}
