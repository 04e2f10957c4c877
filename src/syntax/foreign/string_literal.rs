//! Foreign string literals: other quotes, prefixes, interpolations and formats.

use super::token::Kind;
use super::{Replacement, Search};

impl Search<'_> {
    /// Returns the text with interpolations for a format string with arguments: `"x = {}".format(x)`.
    pub(super) fn formatted_text(&self) -> Option<Replacement> {
        let code = &self.code;
        let near = self.focus.saturating_sub(3)..self.focus + 3;
        let text = near.into_iter().find(|at| code.is(*at, Kind::Text) && code.word(at + 2) == Some("format"))?;
        let call = code.call(text + 3).filter(|_| code.word(text + 1) == Some("."))?;
        let value = |at: &std::ops::Range<usize>| code.slice(at.start, at.end);
        let arguments: Vec<_> =
            call.arguments.iter().map(|argument| (argument.label, value(&argument.value))).collect();
        let here = with_arguments(code.word(text)?, &arguments)?;
        let range = code.tokens[text].from..code.tokens[call.end - 1].to;
        let message = "a text contains values as in \"x = \\(x)\"".to_owned();
        Some(Replacement { message, ..Replacement::certain(range, here) })
    }
}

/// Returns a string literal of another language in the notation of dscript, and the sentence; `None` if the literal is
/// not foreign.
pub(super) fn text_here(literal: &str) -> Option<(String, &'static str)> {
    let quote = literal.find(['"', '\'', '`', '‘'])?;
    let (prefix, rest) = literal.split_at(quote);
    let mark = rest.chars().next()?;
    let content = rest.strip_prefix(mark)?.strip_suffix(if mark == '‘' { '’' } else { mark })?;
    let (content, message) = match (prefix, mark) {
        (prefix, _) if prefix.contains('f') => {
            (interpolated(content, "{"), "a text contains values without a prefix: \"x = \\(x)\"")
        }
        (_, '`') => (interpolated(content, "${"), "a text contains values as in \"x = \\(x)\", and has double quotes"),
        ("", '\'' | '‘') => (content.to_owned(), "a string is written in double quotes"),
        ("", _) => return None,
        (prefix, _) if prefix.contains('r') => {
            return Some((format!("#\"{content}\"#"), "a raw string is written #\"…\"#"));
        }
        _ => (content.to_owned(), "strings have no prefix"),
    };
    let content = if mark == '"' { content } else { content.replace('"', "\\\"").replace("\\'", "'") };
    Some((format!("\"{content}\""), message))
}

/// Writes a format string with interpolations: `{x}`, `${x}`, `$x` and `$(x)` become `\(x)`.
pub(super) fn with_interpolations(literal: &str) -> String {
    let text = interpolated(&interpolated(literal, "${"), "{");
    let mut out = String::new();
    let mut rest = text.as_str();
    while let Some(at) = rest.find('$') {
        let after = &rest[at + 1..];
        let end = after.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(after.len());
        let name = &after[..end];
        let value = match name.is_empty() && after.starts_with('(') {
            true => "\\".to_owned(),
            false if name.starts_with(char::is_alphabetic) => format!("\\({name})"),
            false => format!("${name}"),
        };
        out.extend([&rest[..at], &value]);
        rest = &after[end..];
    }
    out + rest
}

/// Writes a format string whose places `{}`, `{0}` and `{:.2f}` stand for arguments with interpolations; `None` if a place has no
/// argument, or another format.
pub(super) fn with_arguments(literal: &str, arguments: &[(Option<&str>, &str)]) -> Option<String> {
    let mut out = String::new();
    let mut rest = literal;
    let mut next = 0;
    while let Some(at) = rest.find('{') {
        let end = at + rest[at..].find('}')?;
        let (place, format) = rest[at + 1..end].split_once(':').unwrap_or((&rest[at + 1..end], ""));
        let argument = match place.parse::<usize>() {
            Ok(index) => arguments.get(index)?.1,
            Err(_) if place.is_empty() => {
                next += 1;
                arguments.get(next - 1)?.1
            }
            Err(_) => arguments.iter().find(|(label, _)| *label == Some(place))?.1,
        };
        let format_here = number_format(format);
        if argument.contains('"') || !format.is_empty() && format_here.is_none() {
            return None;
        }
        out.push_str(&rest[..at]);
        match format_here {
            Some(format) => out.extend(["\\(String(format: \"%", &format, "\", ", argument, "))"]),
            None => out.extend(["\\(", argument, ")"]),
        }
        rest = &rest[end + 1..];
    }
    Some(out + rest)
}

/// Returns the format of C for a format of a number in Python: `>8.2f` is `8.2f`, and `<8.2f` is `-8.2f`. A format without a
/// precision or an alignment that C does not have is `None`.
fn number_format(format: &str) -> Option<String> {
    let (sign, rest) = match format.chars().next()? {
        '>' => ("", &format[1..]),
        '<' => ("-", &format[1..]),
        '+' => ("+", &format[1..]),
        _ => ("", format),
    };
    let (width, precision) = rest.strip_suffix(['f', 'e', 'g'])?.split_once('.')?;
    let is_number = |text: &str| text.chars().all(|c| c.is_ascii_digit());
    (is_number(width) && is_number(precision)).then(|| format!("{sign}{rest}"))
}

/// Writes interpolations that begin with `open` and end with `}` as `\(…)`: `{x}` becomes `\(x)`, and `{x:.2f}` a call with
/// the same format.
fn interpolated(content: &str, open: &str) -> String {
    let mut out = String::new();
    let mut rest = content;
    while let Some(at) = rest.find(open) {
        let inner = &rest[at + open.len()..];
        let Some(end) = inner.find('}') else { break };
        let (value, format) = inner[..end].split_once(':').unwrap_or((&inner[..end], ""));
        out.extend([&rest[..at], "\\("]);
        match number_format(format) {
            Some(format) => out.extend(["String(format: \"%", &format, "\", ", value, ")"]),
            None => out.push_str(value),
        }
        out.push(')');
        rest = &inner[end + 1..];
    }
    out + rest
}
