//! Numbers out of texts, out of the clock and out of chance.

use super::NativeFunction;
use super::context::{Failure, FailureKind, NativeContext};

type Call<'a, 'b> = &'a mut NativeContext<'b>;

pub(super) const TABLE: &[NativeFunction] = &[
    NativeFunction { name: "double.parse", call: |c| parse(c, |text| text.parse().ok(), &DOUBLE) },
    NativeFunction { name: "float.parse", call: |c| parse(c, |text| text.parse::<f32>().ok().map(f64::from), &FLOAT) },
    NativeFunction { name: "int.parse", call: parse_integer },
    NativeFunction { name: "number.bits", call: bits },
    NativeFunction { name: "number.ofBits", call: of_bits },
    NativeFunction { name: "random.double", call: random_number },
    NativeFunction { name: "random.int", call: random_integer },
    NativeFunction { name: "time.clock", call: clock },
    NativeFunction { name: "time.now", call: now },
];

/// How many bits the significand of a format has, the exponent of its last bit at least, and its largest value.
struct Format {
    bits: i64,
    lowest: i64,
    largest: f64,
}

const DOUBLE: Format = Format { bits: 53, lowest: -1074, largest: f64::MAX };
const FLOAT: Format = Format { bits: 24, lowest: -149, largest: f32::MAX as f64 };

fn parse(c: Call<'_, '_>, decimal: fn(&str) -> Option<f64>, format: &Format) -> Result<(), Failure> {
    let text = c.text()?;
    let number = decimal(&text).or_else(|| hexadecimal(&text, format));
    c.give_integer(i64::from(number.is_some()))?;
    c.give_number(number.unwrap_or(0.0))
}

/// `-0x1.8p3`: a number with hexadecimal digits and an exponent of two, rounded to the nearest value of a format.
fn hexadecimal(text: &str, format: &Format) -> Option<f64> {
    let (sign, rest) = match text.strip_prefix('-') {
        Some(rest) => (-1.0, rest),
        None => (1.0, text.strip_prefix('+').unwrap_or(text)),
    };
    let rest = rest.strip_prefix("0x").or_else(|| rest.strip_prefix("0X"))?;
    let (digits, exponent) = match rest.split_once(['p', 'P']) {
        Some((digits, exponent)) => (digits, clamped(exponent)?),
        None => (rest, 0),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let (mut value, mut exponent) = (0_u64, exponent - 4 * fraction.len() as i64);
    for digit in whole.chars().chain(fraction.chars()) {
        let digit = u64::from(digit.to_digit(16)?);
        if value >> 60 == 0 {
            value = value << 4 | digit;
        } else {
            // Of the bits behind these, only whether any is set matters.
            value |= u64::from(digit != 0);
            exponent += 4;
        }
    }
    Some(sign * rounded(value, exponent, format))
}

/// An exponent; one that no digits make up for is as good as any other.
fn clamped(text: &str) -> Option<i64> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    const MOST: i64 = 1 << 40;
    let size = digits.parse().unwrap_or(MOST).min(MOST);
    Some(if text.starts_with('-') { -size } else { size })
}

/// `value · 2^exponent`, rounded once, to even where two values are equally near.
fn rounded(value: u64, exponent: i64, format: &Format) -> f64 {
    if value == 0 {
        return 0.0;
    }
    let length = i64::from(u64::BITS - value.leading_zeros());
    let last = (exponent + length - format.bits).max(format.lowest);
    let (significand, last) = match last - exponent {
        ..=0 => (value, exponent),
        shift @ 1..=64 => {
            let (value, half) = (u128::from(value), 1_u128 << (shift - 1));
            let (kept, cut) = (value >> shift, value & (2 * half - 1));
            ((kept + u128::from(cut > half || cut == half && kept & 1 == 1)) as u64, last)
        }
        _ => return 0.0,
    };
    let number = libm::ldexp(significand as f64, last.clamp(-4000, 4000) as i32);
    if number > format.largest { f64::INFINITY } else { number }
}

fn parse_integer(c: Call<'_, '_>) -> Result<(), Failure> {
    let number = c.text()?.parse::<i64>().ok();
    c.give_integer(i64::from(number.is_some()))?;
    c.give_integer(number.unwrap_or(0))
}

fn bits(c: Call<'_, '_>) -> Result<(), Failure> {
    let bits = c.number().to_bits();
    c.give_integer(bits as i64)
}

fn of_bits(c: Call<'_, '_>) -> Result<(), Failure> {
    let number = f64::from_bits(c.integer() as u64);
    c.give_number(number)
}

fn random_number(c: Call<'_, '_>) -> Result<(), Failure> {
    let number = c.host.random.number();
    c.give_number(number)
}

fn random_integer(c: Call<'_, '_>) -> Result<(), Failure> {
    let (low, high) = (c.integer(), c.integer());
    if low > high {
        let message = format!("there is no integer from {low} to {high}");
        return Err(Failure::new(FailureKind::InvalidRange, message));
    }
    let number = c.host.random.integer(low, high);
    c.give_integer(number)
}

fn clock(c: Call<'_, '_>) -> Result<(), Failure> {
    let seconds = c.host.started.elapsed().as_secs_f64();
    c.give_number(seconds)
}

/// Seconds since the beginning of 1970; before it, fewer than none.
fn now(c: Call<'_, '_>) -> Result<(), Failure> {
    let seconds = match std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH) {
        Ok(since) => since.as_secs_f64(),
        Err(before) => -before.duration().as_secs_f64(),
    };
    c.give_number(seconds)
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
        let float = |text: &str| hexadecimal(text, &FLOAT);
        assert_eq!(float("0x1.000001p0"), Some(1.0), "to even");
        assert_eq!(float("0x1.000003p0"), Some(f64::from(1.0 + 2.0 * f32::EPSILON)));
        assert_eq!(float("0x1p-149"), Some(f64::from(f32::from_bits(1))));
        assert_eq!(float("0x1p128"), Some(f64::INFINITY));
    }
}
