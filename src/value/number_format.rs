//! Number format: the shortest digits that parse to the same number.

use std::fmt::Write;

/// Writes a `Double` in Swift's format: `6.0`, `1e-05`, `1e+16`, `inf`, `nan`.
pub fn write_double(out: &mut String, x: f64) {
    // From 2^53 on not every integer is a Double, so digits before the point would suggest a wrong precision.
    write_digits(out, &format!("{x:e}"), x.is_finite(), x.abs() > 9_007_199_254_740_992.0);
}

/// Writes a `Float`, which is represented as a rounded `f64`.
pub fn write_float(out: &mut String, x: f64) {
    let x = x as f32;
    write_digits(out, &format!("{x:e}"), x.is_finite(), x.abs() > 16_777_216.0);
}

/// Formats a number of bytes.
pub fn in_bytes(count: u64) -> String {
    const UNITS: [(&str, u64); 3] = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    match UNITS.iter().find(|(_, size)| count >= *size) {
        Some((unit, size)) if count.is_multiple_of(*size) => format!("{} {unit}", count / size),
        Some((unit, size)) => format!("{:.1} {unit}", count as f64 / *size as f64),
        None if count == 1 => "1 byte".to_owned(),
        None => format!("{count} bytes"),
    }
}

/// Formats a number for formulas: `3`, `-∞`, `0.25`.
pub fn in_formula(x: f64) -> String {
    if x.is_infinite() {
        return if x > 0.0 { "∞" } else { "-∞" }.into();
    }
    if x.is_nan() {
        return "NaN".into();
    }
    if x == x.trunc() && x.abs() < 1e15 {
        return format!("{x:.0}");
    }
    let mut text = String::new();
    write_double(&mut text, x);
    text
}

/// Writes a number in Swift's format. `text` is the number in Rust's `{:e}` format, which has the shortest digits:
/// `-1.25e-5`, `NaN`, `inf`.
fn write_digits(out: &mut String, text: &str, finite: bool, large: bool) {
    if !finite {
        out.push_str(if text == "NaN" { "nan" } else { text });
        return;
    }
    let (sign, text) = text.strip_prefix('-').map_or(("", text), |t| ("-", t));
    let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let (first, rest) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    out.push_str(sign);
    if large || exponent < -4 {
        out.push_str(first);
        if !rest.is_empty() {
            out.push('.');
            out.push_str(rest);
        }
        // Writing to a String cannot fail.
        let _ = write!(out, "e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs());
        return;
    }
    let digits = format!("{first}{rest}");
    if exponent < 0 {
        out.push_str("0.");
        out.extend(std::iter::repeat_n('0', (-exponent - 1) as usize));
        out.push_str(&digits);
        return;
    }
    let point = exponent as usize + 1;
    if digits.len() <= point {
        out.push_str(&digits);
        out.extend(std::iter::repeat_n('0', point - digits.len()));
        out.push_str(".0");
    } else {
        out.push_str(&digits[..point]);
        out.push('.');
        out.push_str(&digits[point..]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn double(x: f64) -> String {
        let mut out = String::new();
        write_double(&mut out, x);
        out
    }

    #[test]
    fn doubles_are_written_as_swift_does() {
        let expected = [
            (6.0, "6.0"),
            (0.00001, "1e-05"),
            (0.0001, "0.0001"),
            (0.000123, "0.000123"),
            (1e16, "1e+16"),
            (1.25e-7, "1.25e-07"),
            (123456789012345.0, "123456789012345.0"),
            (9007199254740992.0, "9007199254740992.0"),
            (9007199254740994.0, "9.007199254740994e+15"),
            (f64::INFINITY, "inf"),
            (f64::NEG_INFINITY, "-inf"),
            (f64::NAN, "nan"),
            (-0.0, "-0.0"),
            (0.0, "0.0"),
            (0.1, "0.1"),
            (100.0, "100.0"),
            (-1234.5, "-1234.5"),
            (5e-324, "5e-324"),
            (1e100, "1e+100"),
            (0.0770037537313969, "0.0770037537313969"),
        ];
        for (x, text) in expected {
            assert_eq!(double(x), text);
        }
    }

    #[test]
    fn floats_have_the_digits_of_single_precision() {
        let mut out = String::new();
        write_float(&mut out, f64::from(0.1_f32));
        out.push(' ');
        write_float(&mut out, 16_777_216.0);
        out.push(' ');
        write_float(&mut out, 16_777_218.0);
        assert_eq!(out, "0.1 16777216.0 1.6777218e+07");
    }
}
