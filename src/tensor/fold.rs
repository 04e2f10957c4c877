//! The operations by which tensors are reduced, on one block of scalars.

use super::elementwise::{Binary, Integer, Real};
use super::reader::Operand;
use super::scalar::Scalar;
use multiversion::multiversion;

/// An associative operation that reduces many scalars to one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fold {
    /// The sum.
    Sum,
    /// The product.
    Product,
    /// The largest number; NaN if one is NaN. Of Booleans: whether any is true.
    Max,
    /// The smallest number; NaN if one is NaN. Of Booleans: whether all are true.
    Min,
}

impl Fold {
    /// Returns the name of the reduction in programs.
    pub fn name(self) -> &'static str {
        match self {
            Fold::Sum => "sum",
            Fold::Product => "product",
            Fold::Max => "max",
            Fold::Min => "min",
        }
    }

    fn binary(self) -> Binary {
        match self {
            Fold::Sum => Binary::Add,
            Fold::Product => Binary::Multiply,
            Fold::Max => Binary::Max,
            Fold::Min => Binary::Min,
        }
    }
}

/// A type of scalars that can be reduced.
pub trait Foldable: Scalar {
    /// Returns the result for no scalars.
    fn identity(fold: Fold) -> Self;

    /// Returns the result for two scalars.
    fn combine(fold: Fold, a: Self, b: Self) -> Self;

    /// Returns the result for a block.
    fn block(fold: Fold, scalars: &[Self]) -> Self;

    /// Combines each scalar with the one at the same place of another slice.
    fn accumulate(fold: Fold, scalars: &mut [Self], others: &[Self]);
}

/// The number of partial results of a block, which become vectors.
const LANES: usize = 32;

#[inline(always)]
fn lanes<T: Copy>(scalars: &[T], identity: T, combine: impl Fn(T, T) -> T) -> T {
    if scalars.len() < LANES {
        return scalars.iter().fold(identity, |result, &scalar| combine(result, scalar));
    }
    let mut partial = [identity; LANES];
    let chunks = scalars.chunks_exact(LANES);
    let rest = chunks.remainder();
    for chunk in chunks {
        for (partial, &scalar) in partial.iter_mut().zip(chunk) {
            *partial = combine(*partial, scalar);
        }
    }
    for (partial, &scalar) in partial.iter_mut().zip(rest) {
        *partial = combine(*partial, scalar);
    }
    let mut width = LANES / 2;
    while width > 0 {
        for lane in 0..width {
            partial[lane] = combine(partial[lane], partial[lane + width]);
        }
        width /= 2;
    }
    partial[0]
}

macro_rules! foldable_real {
    ($type:ident) => {
        impl Foldable for $type {
            fn identity(fold: Fold) -> $type {
                match fold {
                    Fold::Sum => 0.0,
                    Fold::Product => 1.0,
                    Fold::Max => -$type::INFINITY,
                    Fold::Min => $type::INFINITY,
                }
            }

            fn combine(fold: Fold, a: $type, b: $type) -> $type {
                match fold {
                    Fold::Sum => a + b,
                    Fold::Product => a * b,
                    Fold::Max => {
                        if a >= b || a.is_nan() {
                            a
                        } else {
                            b
                        }
                    }
                    Fold::Min => {
                        if a <= b || a.is_nan() {
                            a
                        } else {
                            b
                        }
                    }
                }
            }

            fn block(fold: Fold, scalars: &[$type]) -> $type {
                #[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+avx512bw+avx2+fma", "x86_64+avx2+fma"))]
                fn dispatch(fold: Fold, scalars: &[$type]) -> $type {
                    match fold {
                        Fold::Sum => lanes(scalars, 0.0, |a, b| a + b),
                        Fold::Product => lanes(scalars, 1.0, |a, b| a * b),
                        Fold::Max => lanes(scalars, -$type::INFINITY, |a, b| if a >= b || a != a { a } else { b }),
                        Fold::Min => lanes(scalars, $type::INFINITY, |a, b| if a <= b || a != a { a } else { b }),
                    }
                }
                dispatch(fold, scalars)
            }

            fn accumulate(fold: Fold, scalars: &mut [$type], others: &[$type]) {
                <$type as Real>::binary(fold.binary(), scalars, Operand::Slice(others), false);
            }
        }
    };
}

foldable_real!(f32);
foldable_real!(f64);

macro_rules! foldable_integer {
    ($($type:ident)*) => {$(
        impl Foldable for $type {
            fn identity(fold: Fold) -> $type {
                match fold {
                    Fold::Sum => 0,
                    Fold::Product => 1,
                    Fold::Max => $type::MIN,
                    Fold::Min => $type::MAX,
                }
            }

            fn combine(fold: Fold, a: $type, b: $type) -> $type {
                match fold {
                    Fold::Sum => a.wrapping_sum(b),
                    Fold::Product => a.wrapping_product(b),
                    Fold::Max => a.max(b),
                    Fold::Min => a.min(b),
                }
            }

            fn block(fold: Fold, scalars: &[$type]) -> $type {
                scalars.iter().fold(Self::identity(fold), |result, &scalar| Self::combine(fold, result, scalar))
            }

            fn accumulate(fold: Fold, scalars: &mut [$type], others: &[$type]) {
                scalars.iter_mut().zip(others).for_each(|(a, &b)| *a = Self::combine(fold, *a, b));
            }
        }
    )*};
}

foldable_integer!(i8 i16 i32 i64 u8 u16 u32 u64);

impl Foldable for bool {
    fn identity(fold: Fold) -> bool {
        matches!(fold, Fold::Product | Fold::Min)
    }

    fn combine(fold: Fold, a: bool, b: bool) -> bool {
        match fold {
            Fold::Sum | Fold::Max => a | b,
            Fold::Product | Fold::Min => a & b,
        }
    }

    fn block(fold: Fold, scalars: &[bool]) -> bool {
        scalars.iter().fold(Self::identity(fold), |result, &scalar| Self::combine(fold, result, scalar))
    }

    fn accumulate(fold: Fold, scalars: &mut [bool], others: &[bool]) {
        scalars.iter_mut().zip(others).for_each(|(a, &b)| *a = Self::combine(fold, *a, b));
    }
}
