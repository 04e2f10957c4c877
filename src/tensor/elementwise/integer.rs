//! The elementwise operations on integers. Results that are too large wrap around.

use super::super::error::{Result, TensorError};
use super::super::reader::Operand;
use super::super::scalar::Scalar;
use super::operation::{Binary, Unary};

/// A type of integers.
pub trait Integer: Scalar + Ord {
    /// Replaces each number by the result of an operation.
    fn unary(operation: Unary, x: &mut [Self]) -> Result<()>;

    /// Replaces each number by the result of an operation with a second operand; `is_swapped` makes it the second operand.
    fn binary(operation: Binary, x: &mut [Self], y: Operand<'_, Self>, is_swapped: bool) -> Result<()>;

    /// Returns the sum, which wraps around.
    fn wrapping_sum(self, other: Self) -> Self;

    /// Returns the product, which wraps around.
    fn wrapping_product(self, other: Self) -> Self;
}

fn zip<T: Copy>(x: &mut [T], y: Operand<'_, T>, is_swapped: bool, function: impl Fn(T, T) -> T) {
    let apply = |x: T, y: T| if is_swapped { function(y, x) } else { function(x, y) };
    match y {
        Operand::Slice(y) => x.iter_mut().zip(y).for_each(|(x, &y)| *x = apply(*x, y)),
        Operand::Scalar(y) => x.iter_mut().for_each(|x| *x = apply(*x, y)),
    }
}

/// Raises to a power; a negative exponent gives 0, except for the bases 1 and -1.
fn power<T: Integer>(base: T, exponent: T) -> T {
    let exponent = exponent.to_i128();
    if exponent < 0 {
        return match base.to_i128() {
            1 => base,
            -1 if exponent % 2 == 0 => T::ONE,
            -1 => base,
            _ => T::default(),
        };
    }
    let (mut result, mut square, mut rest) = (T::ONE, base, exponent);
    while rest > 0 {
        if rest & 1 == 1 {
            result = result.wrapping_product(square);
        }
        square = square.wrapping_product(square);
        rest >>= 1;
    }
    result
}

macro_rules! integer {
    ($($type:ty)*) => {$(
        impl Integer for $type {
            fn unary(operation: Unary, x: &mut [$type]) -> Result<()> {
                let zero: $type = 0;
                let each = |x: &mut [$type], function: fn($type) -> $type| x.iter_mut().for_each(|x| *x = function(*x));
                match operation {
                    Unary::Negate => each(x, <$type>::wrapping_neg),
                    #[allow(unused_comparisons)]
                    Unary::Abs => each(x, |x| if x < 0 { x.wrapping_neg() } else { x }),
                    Unary::Sign => x.iter_mut().for_each(|x| {
                        *x = match (*x).cmp(&zero) {
                            std::cmp::Ordering::Less => zero.wrapping_sub(1),
                            std::cmp::Ordering::Equal => 0,
                            std::cmp::Ordering::Greater => 1,
                        }
                    }),
                    Unary::Squared => each(x, |x| x.wrapping_mul(x)),
                    Unary::Relu => each(x, |x| x.max(0)),
                    _ => return Err(TensorError::Kind { operation: operation.name(), kind: <$type>::KIND }),
                }
                Ok(())
            }

            fn binary(operation: Binary, x: &mut [$type], y: Operand<'_, $type>, is_swapped: bool) -> Result<()> {
                if matches!(operation, Binary::Divide | Binary::Remainder) {
                    let divides_by_zero = match (&y, is_swapped) {
                        (_, true) => x.contains(&0),
                        (Operand::Slice(y), false) => y[..x.len()].contains(&0),
                        (Operand::Scalar(y), false) => *y == 0,
                    };
                    if divides_by_zero && !x.is_empty() {
                        return Err(TensorError::value(operation.name(), "division by zero"));
                    }
                }
                match operation {
                    Binary::Add => zip(x, y, is_swapped, <$type>::wrapping_add),
                    Binary::Subtract => zip(x, y, is_swapped, <$type>::wrapping_sub),
                    Binary::Multiply => zip(x, y, is_swapped, <$type>::wrapping_mul),
                    Binary::Divide => zip(x, y, is_swapped, <$type>::wrapping_div),
                    Binary::Remainder => zip(x, y, is_swapped, <$type>::wrapping_rem),
                    Binary::Max => zip(x, y, is_swapped, <$type>::max),
                    Binary::Min => zip(x, y, is_swapped, <$type>::min),
                    Binary::Pow => zip(x, y, is_swapped, power),
                    Binary::SquaredDifference => zip(x, y, is_swapped, |x, y| {
                        x.wrapping_sub(y).wrapping_mul(x.wrapping_sub(y))
                    }),
                    _ => return Err(TensorError::Kind { operation: operation.name(), kind: <$type>::KIND }),
                }
                Ok(())
            }

            fn wrapping_sum(self, other: $type) -> $type {
                self.wrapping_add(other)
            }

            fn wrapping_product(self, other: $type) -> $type {
                self.wrapping_mul(other)
            }
        }
    )*};
}

integer!(i8 i16 i32 i64 u8 u16 u32 u64);
