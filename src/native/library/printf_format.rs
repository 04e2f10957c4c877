//! `printf` formats: formats numbers and strings in the notation of `printf`, for `String(format:)`.

use super::context::{Failure, NativeContext};
use super::string::texts;
use super::{NativeFunction, array};

type Call<'a, 'b> = &'a mut NativeContext<'b>;

pub(super) const TABLE: &[NativeFunction] = &[
    NativeFunction { name: "format.pieces", call: pieces },
    NativeFunction { name: "format.integer", call: integer },
    NativeFunction { name: "format.number", call: number },
    NativeFunction { name: "format.text", call: written },
];

/// A directive of a format: `%`, flags, width, precision, conversion.
#[derive(Default, Debug, PartialEq)]
struct Directive {
    left: bool,
    zeros: bool,
    plus: bool,
    space: bool,
    alternate: bool,
    width: usize,
    precision: Option<usize>,
    kind: char,
}

impl Directive {
    fn read(text: &str) -> Directive {
        let mut d = Directive::default();
        let mut rest = text.trim_start_matches('%');
        while let Some(flag) = rest.chars().next().filter(|c| "-0+ #".contains(*c)) {
            match flag {
                '-' => d.left = true,
                '0' => d.zeros = true,
                '+' => d.plus = true,
                ' ' => d.space = true,
                _ => d.alternate = true,
            }
            rest = &rest[1..];
        }
        let digits = |rest: &str| rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let end = digits(rest);
        d.width = rest[..end].parse().unwrap_or(0);
        rest = &rest[end..];
        if let Some(after) = rest.strip_prefix('.') {
            let end = digits(after);
            d.precision = Some(after[..end].parse().unwrap_or(0));
        }
        d.kind = text.chars().next_back().unwrap_or('d');
        d
    }

    /// Pads the digits of a number with its sign to the width of the directive.
    fn pad(&self, negative: bool, prefix: &str, digits: &str, zeros: bool) -> String {
        let sign = match (negative, self.plus, self.space) {
            (true, ..) => "-",
            (_, true, _) => "+",
            (_, _, true) => " ",
            _ => "",
        };
        let missing = self.width.saturating_sub(sign.len() + prefix.len() + digits.chars().count());
        if self.left {
            format!("{sign}{prefix}{digits}{}", " ".repeat(missing))
        } else if zeros && self.zeros {
            format!("{sign}{prefix}{}{digits}", "0".repeat(missing))
        } else {
            format!("{}{sign}{prefix}{digits}", " ".repeat(missing))
        }
    }

    fn integer(&self, value: i64, negative: bool, magnitude: u64) -> String {
        let bits = value as u64;
        let (digits, prefix) = match self.kind {
            'x' => (format!("{bits:x}"), "0x"),
            'X' => (format!("{bits:X}"), "0X"),
            'o' => (format!("{bits:o}"), "0"),
            'c' => return self.pad(false, "", &char::from_u32(bits as u32).unwrap_or(' ').to_string(), false),
            'u' => (bits.to_string(), ""),
            _ => (magnitude.to_string(), ""),
        };
        let digits = match self.precision {
            Some(least) => format!("{}{digits}", "0".repeat(least.saturating_sub(digits.len()))),
            None => digits,
        };
        let signed = matches!(self.kind, 'd' | 'i');
        let prefix = if self.alternate && bits != 0 { prefix } else { "" };
        if signed {
            return self.pad(negative, prefix, &digits, self.precision.is_none());
        }
        let plain = Directive { plus: false, space: false, ..*self };
        plain.pad(false, prefix, &digits, self.precision.is_none())
    }

    fn number(&self, value: f64) -> String {
        let upper = self.kind.is_ascii_uppercase();
        let magnitude = value.abs();
        if !value.is_finite() {
            let word = if value.is_nan() { "nan" } else { "inf" };
            let word = if upper { word.to_uppercase() } else { word.to_owned() };
            return self.pad(value < 0.0, "", &word, false);
        }
        let precision = self.precision.unwrap_or(6);
        let digits = match self.kind.to_ascii_lowercase() {
            'e' => scientific(magnitude, precision),
            'g' => shortest(magnitude, precision.max(1), self.alternate),
            _ => format!("{magnitude:.precision$}"),
        };
        let digits = if upper { digits.to_uppercase() } else { digits };
        self.pad(value.is_sign_negative(), "", &digits, true)
    }

    fn text(&self, value: &str) -> String {
        let value: String = match self.precision {
            Some(most) => value.chars().take(most).collect(),
            None => value.to_owned(),
        };
        let missing = " ".repeat(self.width.saturating_sub(value.chars().count()));
        if self.left { value + &missing } else { missing + &value }
    }
}

/// Formats a number as `1.5e+03`, with an exponent of at least two digits.
fn scientific(value: f64, precision: usize) -> String {
    let text = format!("{value:.precision$e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, exponent) = exponent.strip_prefix('-').map_or(('+', exponent), |e| ('-', e));
    format!("{digits}e{sign}{exponent:0>2}")
}

/// Formats a number with `digits` significant digits, and with an exponent only if it is very large or small.
fn shortest(value: f64, digits: usize, keep_zeros: bool) -> String {
    let scaled = scientific(value, digits - 1);
    let exponent: i32 = scaled.split_once('e').and_then(|(_, e)| e.parse().ok()).unwrap_or(0);
    let trim = |text: &str| match text.contains('.') && !keep_zeros {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    if exponent < -4 || exponent >= digits as i32 {
        let (digits, exponent) = scaled.split_once('e').unwrap_or((&scaled, ""));
        return format!("{}e{exponent}", trim(digits));
    }
    let decimals = (digits as i32 - 1 - exponent).max(0) as usize;
    trim(&format!("{value:.decimals$}"))
}

/// Splits a format into directives, which begin with `%`, and literal parts, which do not, apart from the literal part `%`.
fn split(format: &str) -> Vec<String> {
    let mut out: Vec<String> = vec![];
    let mut literal = String::new();
    let mut rest = format;
    while let Some(at) = rest.find('%') {
        literal.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let end = rest.find(|c: char| !"-0+ #123456789.lhqzt".contains(c));
        let Some((end, kind)) = end.and_then(|e| rest[e..].chars().next().map(|kind| (e, kind))) else {
            literal.push('%');
            continue;
        };
        if kind == '%' {
            literal.push('%');
        } else {
            push_literal(&mut out, &std::mem::take(&mut literal));
            let flags = rest[..end].trim_end_matches(['l', 'h', 'q', 'z', 't']);
            out.push(format!("%{flags}{kind}"));
        }
        rest = &rest[end + kind.len_utf8()..];
    }
    literal.push_str(rest);
    push_literal(&mut out, &literal);
    out
}

fn push_literal(out: &mut Vec<String>, literal: &str) {
    let text = literal.trim_start_matches('%');
    out.extend((text.len()..literal.len()).map(|_| "%".to_string()));
    if !text.is_empty() {
        out.push(text.to_string());
    }
}

fn pieces(c: Call<'_, '_>) -> Result<(), Failure> {
    let format = c.text()?;
    c.return_reference(texts(split(&format)))
}

/// Reads the directive from the arguments of a call, and checks that its width fits into memory.
fn directive(c: Call<'_, '_>) -> Result<Directive, Failure> {
    let directive = Directive::read(&c.text()?);
    let widest = directive.width.max(directive.precision.unwrap_or(0));
    array::affordable(c.host, widest, size_of::<char>())?;
    Ok(directive)
}

fn integer(c: Call<'_, '_>) -> Result<(), Failure> {
    let (directive, value, signed) = (directive(c)?, c.integer(), c.integer() != 0);
    let (negative, magnitude) = if signed { (value < 0, value.unsigned_abs()) } else { (false, value as u64) };
    c.return_text(directive.integer(value, negative, magnitude))
}

fn number(c: Call<'_, '_>) -> Result<(), Failure> {
    let (directive, value) = (directive(c)?, c.number());
    c.return_text(directive.number(value))
}

fn written(c: Call<'_, '_>) -> Result<(), Failure> {
    let (directive, value) = (directive(c)?, c.text()?);
    c.return_text(directive.text(&value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn n(directive: &str, value: f64) -> String {
        Directive::read(directive).number(value)
    }

    fn i(directive: &str, value: i64) -> String {
        Directive::read(directive).integer(value, value < 0, value.unsigned_abs())
    }

    #[test]
    fn numbers_as_c_writes_them() {
        assert_eq!(
            [n("%5.2f", 2.345), n("%f", 1.0), n("%.0f", 2.5), n("%08.2f", -1.5)],
            [" 2.35", "1.000000", "2", "-0001.50"]
        );
        assert_eq!([n("%e", 12345.678), n("%.2E", 0.00012), n("%+.1f", 1.0)], ["1.234568e+04", "1.20E-04", "+1.0"]);
        assert_eq!(
            [n("%g", 100000.0), n("%g", 1e6), n("%g", 0.0001), n("%g", 1.5e-5), n("%.3g", 2.41421)],
            ["100000", "1e+06", "0.0001", "1.5e-05", "2.41"]
        );
        assert_eq!([n("%5f", f64::INFINITY), n("%F", f64::NAN), n("%g", 0.0)], ["  inf", "NAN", "0"]);
    }

    #[test]
    fn integers_as_c_writes_them() {
        assert_eq!(
            [i("%d", -5), i("%05d", 42), i("%-8d", 3), i("%+d", 3), i("%05d", -42)],
            ["-5", "00042", "3       ", "+3", "-0042"]
        );
        assert_eq!(
            [i("%x", 255), i("%#X", 255), i("%o", 8), i("%.3d", 7), i("%c", 65)],
            ["ff", "0XFF", "10", "007", "A"]
        );
    }

    #[test]
    fn formats_fall_into_pieces() {
        assert_eq!(split("a %5.2f%% %ld%"), ["a ", "%5.2f", "%", " ", "%d", "%"]);
        assert_eq!(Directive::read("%-5s").text("é"), "é    ");
    }
}
