//! Fused arithmetic: provides one specialized function for each combination of operations.

use crate::bytecode::Fused;
use crate::bytecode::operand::Ways;

/// Selects the specialized function for a combination of operations: a `match` over the numbers of [`Fused`], in which
/// each arm knows its number at compile time.
macro_rules! specialized {
    ($number:expr, $f:ident $args:tt, $($known:literal)*) => {
        match $number {
            $($known => $f::<$known> $args,)*
            // The verifier has checked the number, so that this arm is never reached.
            _ => f64::NAN,
        }
    };
}

/// Computes `(a ∘ b) ∘ c` for a combination of two operations.
#[inline(always)]
pub fn left(how: Ways, a: f64, b: f64, c: f64) -> f64 {
    specialized!(how.0, left_by(a, b, c), 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15)
}

/// Computes `a ∘ (b ∘ c)` for a combination of two operations.
#[inline(always)]
pub fn right(how: Ways, a: f64, b: f64, c: f64) -> f64 {
    specialized!(how.0, right_by(a, b, c), 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15)
}

/// Computes `(a ∘ b) ∘ (c ∘ d)` for a combination of three operations.
#[inline(always)]
pub fn both(how: Ways, operands: [f64; 4]) -> f64 {
    specialized!(how.0, both_by(operands),
        0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15
        16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31
        32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47
        48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63)
}

#[inline(always)]
fn left_by<const HOW: u8>(a: f64, b: f64, c: f64) -> f64 {
    let how = const { Fused::of(HOW) };
    how.last.apply(how.first.apply(a, b), c)
}

#[inline(always)]
fn right_by<const HOW: u8>(a: f64, b: f64, c: f64) -> f64 {
    let how = const { Fused::of(HOW) };
    how.last.apply(a, how.first.apply(b, c))
}

#[inline(always)]
fn both_by<const HOW: u8>([a, b, c, d]: [f64; 4]) -> f64 {
    let how = const { Fused::of(HOW) };
    how.last.apply(how.first.apply(a, b), how.second.apply(c, d))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytecode::Arithmetic;

    #[test]
    fn every_combination_is_what_its_number_says() {
        let [a, b, c, d] = [3.0, 5.0, 7.0, 11.0];
        for number in 0..Fused::COUNT as u8 {
            let fused = Fused::of(number);
            assert_eq!(fused.number(), number);
            let (first, second) = (fused.first.apply(a, b), fused.second.apply(c, d));
            assert_eq!(both(Ways(number), [a, b, c, d]), fused.last.apply(first, second));
            if fused.second == Arithmetic::Add {
                assert_eq!(left(Ways(number), a, b, c), fused.last.apply(first, c));
                assert_eq!(right(Ways(number), a, b, c), fused.last.apply(a, fused.first.apply(b, c)));
            }
        }
    }
}
