//! False friends: notations of other languages that are valid here, but mean something else.

use super::spelling::is_keyword;
use super::token::{Kind, Token, is_word, text_of, tokens};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;

/// The sentence about `//`, which divides in other languages.
pub(super) const NO_QUOTIENT: &str = "'//' begins a comment; integers are divided with '/', which rounds towards zero";

/// Returns warnings for comments that are divisors in other languages: `let half = n // 2`. `start` is
/// the source offset of the text; in `copy`, comments are blank.
pub(crate) fn quotients(text: &str, copy: &str, start: u32) -> Vec<Diagnostic> {
    let mut found = vec![];
    for (at, _) in text.match_indices("//") {
        let is_comment = copy.as_bytes().get(at..at + 2) == Some(b"  ");
        if !is_comment || !is_quotient(text, copy, at) {
            continue;
        }
        let place = Span::new(start + at as u32, start + at as u32 + 2);
        let warning = Diagnostic::warning(Code::OtherMeaning, place, NO_QUOTIENT);
        if let Some((from, to, code)) = sum_of_fractions(text, copy, at) {
            let whole = Span::new(start + from as u32, start + to as u32);
            found.push(warning.fix("divide with '/'", whole, code));
            continue;
        }
        found.push(match rounded_down(text, copy, at) {
            // A quotient of two literals may be a fraction.
            Some((from, to, code)) => {
                warning.fix("round the quotient down", Span::new(start + from as u32, start + to as u32), code)
            }
            None => warning.fix("divide with '/'", place, "/"),
        });
    }
    found
}

/// Returns the range of a sum of fractions of integer literals whose first `//` is at `at`, and code that computes it:
/// `1//3 + 1//6`.
fn sum_of_fractions(text: &str, copy: &str, at: usize) -> Option<(usize, usize, String)> {
    let line = copy[..at].rfind('\n').map_or(0, |n| n + 1);
    let end = text[at..].find('\n').map_or(text.len(), |n| at + n);
    let left = copy[line..at].trim_end();
    let (from, to) = (line + left.len() - operand(left)?.len(), at + text[at..end].trim_end().len());
    let quotient = if copy[..at].ends_with(' ') { ".0 /" } else { ".0/" };
    let operands: Vec<&str> = text[from..to].split("//").map(str::trim_end).collect();
    is_sum_of_fractions(text[at + 2..to].trim()).then(|| (from, to, operands.join(quotient)))
}

/// Returns the range of a quotient of an integer literal around the comment at `at`, and code that rounds it down.
fn rounded_down(text: &str, copy: &str, at: usize) -> Option<(usize, usize, String)> {
    let end = text[at..].find('\n').map_or(text.len(), |n| at + n);
    is_integer(text[at + 2..end].trim()).then(|| floor_of_quotient(text, copy, at))?
}

/// Returns the range of a quotient by an integer literal, whose `//` is at `at`, and code that rounds it down, if the
/// dividend consists of integer literals or has a sign. Other dividends are rarely negative.
pub(super) fn floor_of_quotient(text: &str, copy: &str, at: usize) -> Option<(usize, usize, String)> {
    let line = copy[..at].rfind('\n').map_or(0, |n| n + 1);
    let left = copy[line..at].trim_end();
    let digits = text[at + 2..].trim_start_matches(' ');
    let from = text.len() - digits.len();
    let (divisor, rest) = digits.split_at(digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len()));
    let is_part = rest.trim_start().starts_with(['^', '.']) || rest.starts_with(is_word) || rest.starts_with("**");
    if divisor.is_empty() || is_part {
        return None;
    }
    let (dividend, is_literal) = dividend(left)?;
    let is_product = dividend.chars().all(|c| c.is_ascii_digit() || "-* ".contains(c)) && !dividend.contains("**");
    let code = match (is_literal && is_product, is_literal || dividend.contains('-')) {
        (true, _) => format!("Int(floor({dividend}.0 / {divisor}))"),
        (_, true) => format!("Int(floor(Double({dividend}) / {divisor}))"),
        _ => return None,
    };
    Some((line + left.len() - dividend.len(), from + divisor.len(), code))
}

/// Returns the operands at the end of a line that precede a division, `3 * -7` or `2^8`, and whether all of them are
/// integer literals.
fn dividend(line: &str) -> Option<(&str, bool)> {
    let (mut rest, mut is_literal) = (line, true);
    loop {
        let factor = operand(rest)?;
        is_literal &= is_integer(factor);
        rest = &rest[..rest.len() - factor.len()];
        rest = rest.strip_suffix('-').filter(|before| is_before_sign(before)).unwrap_or(rest);
        let before = rest.trim_end();
        let is_operator = before.ends_with(['*', '/', '%', '^']);
        match before.trim_end_matches(['*', '/', '%', '^']).trim_end() {
            factors if is_operator && operand(factors).is_some() => rest = factors,
            _ => return Some((&line[rest.len()..], is_literal)),
        }
    }
}

/// Whether a `-` after a text is the sign of a number, and not a difference.
fn is_before_sign(before: &str) -> bool {
    let before = before.trim_end();
    let is_keyword = before.rsplit(|c| !is_word(c)).next().is_some_and(|word| matches!(word, "return" | "in"));
    before.is_empty() || is_keyword || before.ends_with(|c: char| "=+-*/%^<>&|?:,([{".contains(c))
}

fn is_integer(operand: &str) -> bool {
    !operand.is_empty() && operand.bytes().all(|b| b.is_ascii_digit())
}

/// Whether a comment continues an expression as a division would: it consists of a number, and as many blanks are
/// before it as in it.
fn is_quotient(text: &str, copy: &str, at: usize) -> bool {
    let line = copy[..at].rfind('\n').map_or(0, |n| n + 1);
    let end = text[at..].find('\n').map_or(text.len(), |n| at + n);
    let (before, after) = (&copy[line..at], &text[at + 2..end]);
    // `x //= 2` assigns the quotient.
    let after = after.strip_prefix('=').unwrap_or(after);
    let (left, right) = (before.trim_end(), after.trim());
    let blanks = (before.len() - left.len(), after.len() - after.trim_start().len());
    if blanks.0 != blanks.1 || blanks.0 > 1 || !is_arithmetic(right) && !is_sum_of_fractions(right) {
        return false;
    }
    let Some(operand) = operand(left) else { return false };
    let is_number = |operand: &str| operand.bytes().all(|b| b.is_ascii_digit());
    if right.contains("//") && !is_number(operand) {
        return false;
    }
    let context = left[..left.len() - operand.len()].trim_end();
    let is_whole_line = context.is_empty();
    let is_expression = context.ends_with(|c: char| "=+-*/%^<>&|?(".contains(c)) && !context.ends_with("->")
        || context.rsplit(|c| !is_word(c)).next() == Some("return")
        || is_whole_line && (is_alone(copy, line, end) || right.contains("//"));
    // A number alone on its line is not divided.
    is_expression && operand != right
}

/// Whether a line is the whole text, or a whole body in braces.
fn is_alone(copy: &str, line: usize, end: usize) -> bool {
    let (before, after) = (copy[..line].trim_end(), copy[end.min(copy.len())..].trim_start());
    before.is_empty() && after.is_empty() || before.ends_with('{') && after.starts_with('}')
}

/// Returns the operand at the end of a line: a number, a variable, a property, or parentheses, but not a call.
fn operand(line: &str) -> Option<&str> {
    if line.ends_with(')') {
        let mut depth = 0_i32;
        let open = line.char_indices().rev().find(|(_, c)| {
            depth += i32::from(*c == ')') - i32::from(*c == '(');
            depth == 0
        });
        let from = open?.0;
        return (!line[..from].ends_with(|c: char| is_word(c) || ")]}".contains(c))).then_some(&line[from..]);
    }
    let is_part = |c: char| is_word(c) || c == '.';
    let from = line.trim_end_matches(is_part).len();
    let operand = &line[from..];
    let is_constant = matches!(operand, "true" | "false" | "nil" | "self" | "fallthrough");
    (!operand.is_empty() && !is_keyword(operand) && !is_constant && !line[..from].ends_with('@')).then_some(operand)
}

/// Whether a text continues a sum of fractions of integers: `3 + 1//6`.
fn is_sum_of_fractions(text: &str) -> bool {
    let (denominator, rest) = text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()));
    rest.contains("//") && !denominator.is_empty() && is_arithmetic(&format!("({})", text.replace("//", "/")))
}

/// Whether a text is a number, or an expression of numbers in parentheses.
fn is_arithmetic(text: &str) -> bool {
    let all = tokens(text, 0, text.len());
    let is_number = |token: &Token| {
        let digits = text_of(text, *token);
        token.kind == Kind::Number && !(digits.len() > 1 && digits.starts_with('0') && !digits.contains('.'))
    };
    match all.as_slice() {
        [only] => is_number(only),
        [open, inner @ .., close] if text_of(text, *open) == "(" && text_of(text, *close) == ")" => {
            let is_operator = |token: &Token| matches!(text_of(text, *token), "+" | "-" | "*" | "/" | "^");
            inner.iter().enumerate().all(|(i, token)| if i % 2 == 0 { is_number(token) } else { is_operator(token) })
                && inner.len() % 2 == 1
        }
        _ => false,
    }
}

/// Returns the range of a number with commas between groups of three digits that ends at `end`, `1,000`, if one of the
/// groups begins with zero. Numbers without leading zeros may be elements: `[1,200]`.
pub(crate) fn groups_of_digits(text: &str, end: usize) -> Option<std::ops::Range<usize>> {
    let bytes = text.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let is_group = |at: usize| (0..3).all(|n| is_digit(at + n)) && !is_digit(at + 3);
    if bytes.get(end) == Some(&b',') && is_group(end + 1) {
        return None;
    }
    let mut from = end;
    let mut has_zero = false;
    while from >= 4 && is_group(from - 3) && bytes[from - 4] == b',' {
        has_zero |= bytes[from - 3] == b'0';
        from -= 4;
    }
    let begins = text[..from].trim_end_matches(|c: char| c.is_ascii_digit()).len();
    let is_number = (1..=3).contains(&(from - begins)) && bytes.get(begins) != Some(&b'0');
    let follows = text[..begins].ends_with(|c: char| is_word(c) || matches!(c, '.' | ','));
    (has_zero && is_number && !follows).then_some(begins..end)
}

/// Returns the interpolations of other languages in the text of a string literal, each with its range: `${x}`.
pub(crate) fn interpolations(text: &str) -> Vec<(std::ops::Range<usize>, String)> {
    let mut found = vec![];
    for (at, _) in text.match_indices("${") {
        let Some(length) = text[at..].find('}') else { break };
        let value = &text[at + 2..at + length];
        let is_value = value.chars().all(|c| is_word(c) || " .+-*/()[]".contains(c));
        let begins = value.starts_with(|c: char| is_word(c) || c == '(');
        // `${x}$` is a formula in a document.
        if is_value && begins && !text[at + length + 1..].starts_with('$') {
            found.push((at..at + length + 1, format!("\\({value})")));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{groups_of_digits, quotients};

    #[test]
    fn groups_of_digits_are_distinguished_from_elements() {
        for (text, number) in [("f(1,000", "1,000"), ("[12,050,300", "12,050,300"), ("x = 1,000,000", "1,000,000")] {
            assert_eq!(groups_of_digits(text, text.len()).map(|range| &text[range]), Some(number), "{text}");
        }
        for text in ["[1,200", "f(1, 000", "[1,02", "[1,0000", "a1,000", "[0,000", "[1,2,000", "1000"] {
            assert_eq!(groups_of_digits(text, text.len()), None, "{text}");
        }
    }

    fn is_warned(text: &str) -> bool {
        let at = text.find("//").unwrap();
        let end = text[at..].find('\n').map_or(text.len(), |n| at + n);
        let copy = format!("{}{}{}", &text[..at], " ".repeat(end - at), &text[end..]);
        !quotients(text, &copy, 0).is_empty()
    }

    #[test]
    fn divisors_are_distinguished_from_comments() {
        for text in [
            "let q = 5 // 3",
            "let q = n//2",
            "middle = (low + high) // 2",
            "q = xs.count // 2",
            "    return n // 10",
            "7 // 2",
            "x //= 2",
            "let q = 1 + n // (2 + 3)",
            "func half(_ n: Int) -> Int {\n    n // 2\n}",
            "1//3 + 1//6",
        ] {
            assert!(is_warned(text), "{text}");
        }
        for text in [
            "let x = 3 // 3",
            "let x = 3  // 4",
            "let x = f(2) // 4",
            "print(7) // 7",
            "let x = 3 // meters",
            "let x = 3 // 2 items",
            "let x = 3 // 2024-01-05",
            "let x = 3 // 1.2.3",
            "let x = 3 // 50%",
            "let x = 3 // 007",
            "case red // 0",
            "var n: Int // 3",
            "    6 // 4\n]",
            "    5, // 3",
            "func f() -> Int // 3",
            "let x = y // n",
            "let x = 3 // 4 // 5 items",
            "let x = n // 4 // 5",
            "let x = true // 1",
        ] {
            assert!(!is_warned(text), "{text}");
        }
    }
}
