//! Ratio: exact rational numbers, the coefficients and exponents of the normal form.

use std::cmp::Ordering;

/// A rational number in lowest terms with a positive denominator; the denominator 0 marks an overflow, and results
/// computed from such a ratio have it, too.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(super) struct Ratio {
    pub(super) numerator: i64,
    pub(super) denominator: i64,
}

impl Ratio {
    pub(super) const ZERO: Ratio = Ratio { numerator: 0, denominator: 1 };
    pub(super) const ONE: Ratio = Ratio { numerator: 1, denominator: 1 };
    pub(super) const HALF: Ratio = Ratio { numerator: 1, denominator: 2 };
    const OVERFLOW: Ratio = Ratio { numerator: 0, denominator: 0 };

    pub(super) fn new(numerator: i128, denominator: i128) -> Ratio {
        if denominator == 0 {
            return Ratio::OVERFLOW;
        }
        let divisor = gcd(numerator, denominator) * denominator.signum();
        match (i64::try_from(numerator / divisor), i64::try_from(denominator / divisor)) {
            (Ok(numerator), Ok(denominator)) => Ratio { numerator, denominator },
            _ => Ratio::OVERFLOW,
        }
    }

    pub(super) fn integer(n: i64) -> Ratio {
        Ratio { numerator: n, denominator: 1 }
    }

    /// Returns the ratio that a literal denotes: an integer, a decimal fraction of at most six digits, or the quotient
    /// of an integer and a small integer, rounded.
    pub(super) fn of_number(c: f64) -> Option<Ratio> {
        const MAX: f64 = 1e12;
        if c == c.trunc() && c.abs() < MAX {
            return Some(Ratio::integer(c as i64));
        }
        let denominators = [10, 100, 1000, 10_000, 100_000, 1_000_000].into_iter().chain(3..=99);
        denominators.into_iter().find_map(|denominator: i64| {
            let numerator = (c * denominator as f64).round();
            (numerator.abs() < MAX && numerator / denominator as f64 == c)
                .then(|| Ratio::new(numerator as i128, i128::from(denominator)))
        })
    }

    /// Whether the number was computed without an overflow.
    pub(super) fn is_valid(self) -> bool {
        self.denominator != 0
    }

    pub(super) fn is_integer(self) -> bool {
        self.denominator == 1
    }

    pub(super) fn is_zero(self) -> bool {
        self == Ratio::ZERO
    }

    pub(super) fn is_negative(self) -> bool {
        self.numerator < 0
    }

    pub(super) fn is_even(self) -> bool {
        self.denominator == 1 && self.numerator % 2 == 0
    }

    pub(super) fn plus(self, other: Ratio) -> Ratio {
        let [a, b, c, d] = [self.numerator, self.denominator, other.numerator, other.denominator].map(i128::from);
        Ratio::new(a * d + c * b, b * d)
    }

    pub(super) fn minus(self, other: Ratio) -> Ratio {
        self.plus(other.negative())
    }

    pub(super) fn times(self, other: Ratio) -> Ratio {
        let [a, b, c, d] = [self.numerator, self.denominator, other.numerator, other.denominator].map(i128::from);
        Ratio::new(a * c, b * d)
    }

    pub(super) fn negative(self) -> Ratio {
        Ratio::new(-i128::from(self.numerator), i128::from(self.denominator))
    }

    pub(super) fn abs(self) -> Ratio {
        if self.is_negative() { self.negative() } else { self }
    }

    pub(super) fn inverse(self) -> Ratio {
        Ratio::new(i128::from(self.denominator), i128::from(self.numerator))
    }

    pub(super) fn power(self, n: i64) -> Ratio {
        let base = if n < 0 { self.inverse() } else { self };
        let power = |x: i64| u32::try_from(n.unsigned_abs()).ok().and_then(|n| i128::from(x).checked_pow(n));
        match (power(base.numerator), power(base.denominator)) {
            (Some(numerator), Some(denominator)) => Ratio::new(numerator, denominator),
            _ => Ratio::OVERFLOW,
        }
    }

    /// Returns the largest integer that is at most this number.
    pub(super) fn floor(self) -> i64 {
        if self.denominator == 0 { 0 } else { self.numerator.div_euclid(self.denominator) }
    }

    /// Compares two numbers by size.
    pub(super) fn compare(self, other: Ratio) -> Ordering {
        self.minus(other).numerator.cmp(&0)
    }

    pub(super) fn number(self) -> f64 {
        self.numerator as f64 / self.denominator as f64
    }

    /// Whether the number has a finite decimal representation.
    pub(super) fn is_decimal(self) -> bool {
        let mut denominator = self.denominator;
        for prime in [2, 5] {
            while denominator > 1 && denominator % prime == 0 {
                denominator /= prime;
            }
        }
        denominator == 1
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
