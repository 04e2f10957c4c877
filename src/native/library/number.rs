//! Numbers: native functions for parsing numbers from strings, for the clock, and for random numbers.

use super::NativeFunction;
use super::context::{Failure, FailureKind, NativeContext};
use crate::cancel;
use std::time::{Duration, Instant};

type Call<'a, 'b> = &'a mut NativeContext<'b>;

pub(super) const TABLE: &[NativeFunction] = &[
    NativeFunction { name: "double.parse", call: |c| parse(c, |text| text.parse().ok(), DOUBLE) },
    NativeFunction { name: "float.parse", call: |c| parse(c, |text| text.parse::<f32>().ok().map(f64::from), SINGLE) },
    NativeFunction { name: "int.parse", call: parse_integer },
    NativeFunction { name: "number.bits", call: bits },
    NativeFunction { name: "number.ofBits", call: of_bits },
    NativeFunction { name: "random.double", call: random_number },
    NativeFunction { name: "random.int", call: random_integer },
    NativeFunction { name: "time.clock", call: clock },
    NativeFunction { name: "time.now", call: now },
    NativeFunction { name: "time.sleep", call: sleep },
];

/// The format of a type of numbers: the number of bits of a significand, and the exponents of the smallest number and
/// of the first number that overflows.
struct Precision {
    bits: i32,
    least: i32,
    end: i32,
}

const DOUBLE: Precision = Precision { bits: 53, least: -1074, end: 1024 };
const SINGLE: Precision = Precision { bits: 24, least: -149, end: 128 };

fn parse(c: Call<'_, '_>, decimal: fn(&str) -> Option<f64>, precision: Precision) -> Result<(), Failure> {
    let text = c.text()?;
    let text: &str = &text;
    let number = decimal(text).or_else(|| hexadecimal(text, &precision)).or_else(|| payload(text));
    c.return_integer(i64::from(number.is_some()))?;
    c.return_number(number.unwrap_or(0.0))
}

/// Parses a number such as `-0x1.8p3`: hexadecimal digits, times a power of 2.
fn hexadecimal(text: &str, precision: &Precision) -> Option<f64> {
    let (is_negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let digits = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X"))?;
    let (digits, power) = match digits.split_once(['p', 'P']) {
        Some((digits, power)) => (digits, exponent_of(power)?),
        None => (digits, 0),
    };
    let (integer_digits, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if integer_digits.is_empty() && fraction.is_empty() {
        return None;
    }
    // Digits beyond the precision are represented by a sticky bit, which is 1 if any of these digits is not 0.
    let (mut significand, mut exponent, mut rest) = (0_u64, power, false);
    for (digits, step) in [(integer_digits, 0), (fraction, -4)] {
        for digit in digits.chars() {
            let digit = u64::from(digit.to_digit(16)?);
            if significand >> 58 == 0 {
                significand = significand << 4 | digit;
                exponent = exponent.saturating_add(step);
            } else {
                rest |= digit != 0;
                exponent = exponent.saturating_add(step + 4);
            }
        }
    }
    let size = rounded(significand << 1 | u64::from(rest), exponent.saturating_sub(1), precision);
    Some(if is_negative { -size } else { size })
}

/// Parses a decimal exponent; an exponent with too many digits is replaced by an exponent that is far out of range.
fn exponent_of(text: &str) -> Option<i32> {
    const EXPONENT_LIMIT: i32 = 1 << 24;
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let size = digits.parse().unwrap_or(EXPONENT_LIMIT).min(EXPONENT_LIMIT);
    Some(if text.starts_with('-') { -size } else { size })
}

/// Rounds a significand of at most 63 bits times a power of 2 to the nearest number, once; ties go to even.
fn rounded(significand: u64, exponent: i32, precision: &Precision) -> f64 {
    if significand == 0 {
        return 0.0;
    }
    let length = 64 - significand.leading_zeros() as i32;
    let lost = (length - precision.bits).max(precision.least.saturating_sub(exponent)).max(0);
    let kept = match lost {
        0 => significand,
        1..=63 => {
            let (kept, half) = (significand >> lost, 1_u64 << (lost - 1));
            let rest = significand & ((1_u64 << lost) - 1);
            kept + u64::from(rest > half || rest == half && kept & 1 == 1)
        }
        _ => 0,
    };
    let exponent = exponent.saturating_add(lost);
    let length = 64 - kept.leading_zeros() as i32;
    if kept != 0 && exponent.saturating_add(length) > precision.end {
        return f64::INFINITY;
    }
    // The scaling takes two steps: a single power of 2 may be below the range of numbers.
    let half = exponent.clamp(-2000, 2000) / 2;
    kept as f64 * 2.0_f64.powi(half) * 2.0_f64.powi(exponent.clamp(-2000, 2000) - half)
}

/// Parses `nan(payload)`; the payload is ignored, since there is only one NaN.
fn payload(text: &str) -> Option<f64> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let inside = unsigned.get(3..)?.strip_prefix('(')?.strip_suffix(')')?;
    let is_word = inside.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    (unsigned[..3].eq_ignore_ascii_case("nan") && is_word).then_some(f64::NAN)
}

fn parse_integer(c: Call<'_, '_>) -> Result<(), Failure> {
    let number = c.text()?.parse::<i64>().ok();
    c.return_integer(i64::from(number.is_some()))?;
    c.return_integer(number.unwrap_or(0))
}

fn bits(c: Call<'_, '_>) -> Result<(), Failure> {
    let bits = c.number().to_bits();
    c.return_integer(bits as i64)
}

fn of_bits(c: Call<'_, '_>) -> Result<(), Failure> {
    let number = f64::from_bits(c.integer() as u64);
    c.return_number(number)
}

fn random_number(c: Call<'_, '_>) -> Result<(), Failure> {
    let number = c.host.random.number();
    c.return_number(number)
}

fn random_integer(c: Call<'_, '_>) -> Result<(), Failure> {
    let (low, high) = (c.integer(), c.integer());
    if low > high {
        let message = format!("there is no integer from {low} to {high}");
        return Err(Failure::new(FailureKind::InvalidRange, message));
    }
    let number = c.host.random.integer(low, high);
    c.return_integer(number)
}

fn clock(c: Call<'_, '_>) -> Result<(), Failure> {
    let seconds = c.host.started.elapsed().as_secs_f64();
    c.return_number(seconds)
}

/// Returns the number of seconds since the beginning of 1970; the number is negative before that time.
fn now(c: Call<'_, '_>) -> Result<(), Failure> {
    let seconds = match std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH) {
        Ok(since) => since.as_secs_f64(),
        Err(before) => -before.duration().as_secs_f64(),
    };
    c.return_number(seconds)
}

/// Waits for a number of seconds, unless the program is interrupted.
fn sleep(c: Call<'_, '_>) -> Result<(), Failure> {
    /// The time after which the program notices an interruption.
    const LONGEST_WAIT: Duration = Duration::from_millis(10);
    // The longest duration stands for infinity.
    let wanted = Duration::try_from_secs_f64(c.number().max(0.0)).unwrap_or(Duration::MAX);
    let start = Instant::now();
    while let Some(rest) = wanted.checked_sub(start.elapsed()).filter(|rest| !rest.is_zero()) {
        cancel::check();
        std::thread::sleep(rest.min(LONGEST_WAIT));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hexadecimal_numbers_are_rounded_once() {
        let double = |text: &str| hexadecimal(text, &DOUBLE);
        assert_eq!(
            ["0x1p3", "0X1.8P+1", "-0x.8p0", "+0xff", "0x0p9"].map(double),
            [8.0, 3.0, -0.5, 255.0, 0.0].map(Some)
        );
        assert_eq!(double("0x1p-1074"), Some(5e-324));
        assert_eq!(double("0x1.8p-1075"), Some(5e-324));
        assert_eq!(double("0x1p-1075"), Some(0.0), "to even");
        assert_eq!(double("0x1.00000000000008p0"), Some(1.0), "to even");
        assert_eq!(double("0x1.000000000000080000000000000001p0"), Some(1.0 + f64::EPSILON));
        assert_eq!(double("0x1p1024"), Some(f64::INFINITY));
        assert_eq!(double("0x1p99999999999999999999"), Some(f64::INFINITY));
        for wrong in ["", "0x", "0x.", "0x1p", "0x1p+", "0xg", "0x1.2.3", "1p3", "0x1p3 ", " 0x1", "--0x1", "0x-1"] {
            assert_eq!(double(wrong), None, "{wrong}");
        }
        let float = |text: &str| hexadecimal(text, &SINGLE);
        assert_eq!(float("0x1.000001p0"), Some(1.0), "to even");
        assert_eq!(float("0x1.000003p0"), Some(f64::from(1.0 + 2.0 * f32::EPSILON)));
        assert_eq!(float("0x1p-149"), Some(f64::from(f32::from_bits(1))));
        assert_eq!(float("0x1p128"), Some(f64::INFINITY));
    }
}
