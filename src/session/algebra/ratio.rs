//! Ratio: exact rational numbers, the coefficients and exponents of the normal form.

use std::cmp::Ordering;

/// A rational number in lowest terms with a positive denominator; the denominator 0 marks an overflow, which spreads.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(super) struct Ratio {
    pub(super) over: i64,
    pub(super) under: i64,
}

impl Ratio {
    pub(super) const ZERO: Ratio = Ratio { over: 0, under: 1 };
    pub(super) const ONE: Ratio = Ratio { over: 1, under: 1 };
    pub(super) const HALF: Ratio = Ratio { over: 1, under: 2 };
    const OVERFLOW: Ratio = Ratio { over: 0, under: 0 };

    pub(super) fn new(over: i128, under: i128) -> Ratio {
        if under == 0 {
            return Ratio::OVERFLOW;
        }
        let divisor = gcd(over, under) * under.signum();
        match (i64::try_from(over / divisor), i64::try_from(under / divisor)) {
            (Ok(over), Ok(under)) => Ratio { over, under },
            _ => Ratio::OVERFLOW,
        }
    }

    pub(super) fn integer(n: i64) -> Ratio {
        Ratio { over: n, under: 1 }
    }

    /// Returns the ratio that a literal denotes: an integer, a decimal fraction of at most six digits, or the quotient of an
    /// integer and a small integer, rounded.
    pub(super) fn of_number(c: f64) -> Option<Ratio> {
        const MAX: f64 = 1e12;
        if c == c.trunc() && c.abs() < MAX {
            return Some(Ratio::integer(c as i64));
        }
        let denominators = [10, 100, 1000, 10_000, 100_000, 1_000_000].into_iter().chain(3..=99);
        denominators.into_iter().find_map(|under: i64| {
            let over = (c * under as f64).round();
            (over.abs() < MAX && over / under as f64 == c).then(|| Ratio::new(over as i128, i128::from(under)))
        })
    }

    /// Whether the number was computed without an overflow.
    pub(super) fn is_valid(self) -> bool {
        self.under != 0
    }

    pub(super) fn is_integer(self) -> bool {
        self.under == 1
    }

    pub(super) fn is_zero(self) -> bool {
        self == Ratio::ZERO
    }

    pub(super) fn is_negative(self) -> bool {
        self.over < 0
    }

    pub(super) fn is_even(self) -> bool {
        self.under == 1 && self.over % 2 == 0
    }

    pub(super) fn plus(self, other: Ratio) -> Ratio {
        let [a, b, c, d] = [self.over, self.under, other.over, other.under].map(i128::from);
        Ratio::new(a * d + c * b, b * d)
    }

    pub(super) fn minus(self, other: Ratio) -> Ratio {
        self.plus(other.negative())
    }

    pub(super) fn times(self, other: Ratio) -> Ratio {
        let [a, b, c, d] = [self.over, self.under, other.over, other.under].map(i128::from);
        Ratio::new(a * c, b * d)
    }

    pub(super) fn negative(self) -> Ratio {
        Ratio::new(-i128::from(self.over), i128::from(self.under))
    }

    pub(super) fn abs(self) -> Ratio {
        if self.is_negative() { self.negative() } else { self }
    }

    pub(super) fn inverse(self) -> Ratio {
        Ratio::new(i128::from(self.under), i128::from(self.over))
    }

    pub(super) fn power(self, n: i64) -> Ratio {
        let base = if n < 0 { self.inverse() } else { self };
        let power = |x: i64| u32::try_from(n.unsigned_abs()).ok().and_then(|n| i128::from(x).checked_pow(n));
        match (power(base.over), power(base.under)) {
            (Some(over), Some(under)) => Ratio::new(over, under),
            _ => Ratio::OVERFLOW,
        }
    }

    /// Returns the largest integer that is not larger.
    pub(super) fn floor(self) -> i64 {
        if self.under == 0 { 0 } else { self.over.div_euclid(self.under) }
    }

    /// Compares two numbers by size.
    pub(super) fn compare(self, other: Ratio) -> Ordering {
        self.minus(other).over.cmp(&0)
    }

    pub(super) fn number(self) -> f64 {
        self.over as f64 / self.under as f64
    }

    /// Whether the number has a finite decimal representation.
    pub(super) fn is_decimal(self) -> bool {
        let mut under = self.under;
        for prime in [2, 5] {
            while under > 1 && under % prime == 0 {
                under /= prime;
            }
        }
        under == 1
    }
}

/// Returns the greatest common divisor, and 1 for two zeros.
pub(super) fn gcd(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a.abs(), b.abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a.max(1)
}
