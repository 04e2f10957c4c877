//! Literal parser: reads numbers and strings.

use super::{Builder, Node, Rule};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::{Arg, Expr, ExprKind, StringPart};
use crate::syntax::foreign;

impl Builder<'_> {
    /// Reads a numeric literal: `1_000`, `0xFF`, `1.5` or `1e-5`.
    pub(super) fn number(&mut self, node: &Node<'_>) -> Expr {
        let (span, text) = (self.span(node), node.as_str().replace('_', ""));
        let kind = match text.as_bytes() {
            [b'0', b'x', ..] if text.contains('.') || text.contains(['p', 'P']) => match hex_float(&text[2..]) {
                Some(value) => ExprKind::Float(value),
                None => self.bad_literal(span, "invalid hexadecimal number"),
            },
            [b'0', b'x', ..] => ExprKind::Int(u128::from_str_radix(&text[2..], 16).ok()),
            [b'0', b'b', ..] => ExprKind::Int(u128::from_str_radix(&text[2..], 2).ok()),
            [b'0', b'o', ..] => ExprKind::Int(u128::from_str_radix(&text[2..], 8).ok()),
            _ if text.bytes().all(|b| b.is_ascii_digit()) => {
                self.warn_of_groups(span);
                ExprKind::Int(text.parse().ok())
            }
            _ => match text.parse() {
                Ok(value) => ExprKind::Float(value),
                Err(_) => self.bad_literal(span, "invalid number"),
            },
        };
        Expr { kind, span }
    }

    /// Warns about several numbers that are one number in other notations: `1,000`.
    fn warn_of_groups(&mut self, last: Span) {
        let end = (last.end - self.start) as usize;
        if self.place.is_some() || end > self.text.len() {
            return;
        }
        let Some(groups) = foreign::groups_of_digits(self.text, end) else { return };
        let span = Span::new(self.start + groups.start as u32, last.end);
        let here = self.text[groups].replace(',', "_");
        let message = format!("a comma separates values; digits are grouped with '_': '{here}'");
        let warning = Diagnostic::warning(Code::OtherMeaning, span, message);
        self.diagnostics.push(warning.fix(format!("write '{here}'"), span, here));
    }

    fn bad_literal(&mut self, span: Span, message: &str) -> ExprKind {
        self.error(Code::InvalidLiteral, span, message);
        ExprKind::Error
    }

    /// Reads a string literal in any of its forms.
    pub(super) fn string(&mut self, node: Node<'_>) -> Expr {
        let span = self.span(&node);
        let (hashes, node) = if node.as_rule() == Rule::string_raw {
            let hashes = node.as_str().bytes().take_while(|b| *b == b'#').count();
            match node.into_inner().next() {
                Some(inner) => (hashes, inner),
                None => return Expr { kind: ExprKind::Error, span },
            }
        } else {
            (0, node)
        };
        let long = matches!(node.as_rule(), Rule::string_long | Rule::raw_long);
        let mut parts: Vec<Piece> = vec![];
        for part in node.into_inner() {
            match part.as_rule() {
                Rule::interpolation | Rule::raw_interpolation => {
                    let hash = std::mem::replace(&mut self.in_hash, false);
                    parts.push(Piece::Arguments(self.arguments(part.into_inner())));
                    self.in_hash = hash;
                }
                _ => parts.push(Piece::Text(part.as_str().to_owned(), self.span(&part))),
            }
        }
        if self.written(span).starts_with(['“', '”', '„']) {
            trim_quotes(&mut parts);
        }
        let indentation = if long { self.trim_long(&mut parts, span) } else { String::new() };
        let mut out = vec![];
        for (index, part) in parts.into_iter().enumerate() {
            match part {
                Piece::Arguments(args) => out.push(StringPart::Interpolation(args)),
                Piece::Text(text, place) => {
                    self.warn_of_interpolations(&text, hashes, place);
                    let layout = long.then_some((indentation.as_str(), index == 0));
                    let text = self.unescape(&text, hashes, layout, place);
                    if !text.is_empty() {
                        out.push(StringPart::Text(text.into()));
                    }
                }
            }
        }
        Expr { kind: ExprKind::String(out), span }
    }

    /// Warns about interpolations of other languages, which are text.
    fn warn_of_interpolations(&mut self, text: &str, hashes: usize, place: Span) {
        if hashes > 0 || self.place.is_some() {
            return;
        }
        for (range, here) in foreign::interpolations(text) {
            let span = Span::new(place.start + range.start as u32, place.start + range.end as u32);
            let message = format!("'{}' is text; a value is written '{here}'", &text[range]);
            let warning = Diagnostic::warning(Code::OtherMeaning, span, message);
            self.diagnostics.push(warning.fix(format!("write '{here}'"), span, here));
        }
    }

    /// Removes the line breaks after the opening and before the closing `"""`, and returns the indentation.
    fn trim_long(&mut self, parts: &mut [Piece], span: Span) -> String {
        match parts.first_mut() {
            Some(Piece::Text(text, _)) if text.trim_start_matches([' ', '\t', '\r']).starts_with('\n') => {
                let line = text.find('\n').map_or(0, |n| n + 1);
                // The newline stays until the indentation has been removed, so that the first line is processed like
                // the other lines.
                text.replace_range(..line, "\n");
            }
            _ => {
                self.error(Code::InvalidLiteral, span, "the content of a multi-line string must begin on a new line");
                return String::new();
            }
        }
        let mut indentation = String::new();
        match parts.last_mut() {
            Some(Piece::Text(text, _)) if text.rfind('\n').is_some_and(|n| text[n..].trim().is_empty()) => {
                let line = text.rfind('\n').unwrap_or(0);
                indentation = text[line + 1..].to_owned();
                text.truncate(line);
            }
            _ => {
                self.error(
                    Code::InvalidLiteral,
                    span,
                    "the closing '\"\"\"' of a multi-line string must be on its own line",
                );
            }
        }
        indentation
    }

    /// Replaces escapes and removes indentation: `layout` consists of the indentation of a multi-line string and of the
    /// flag whether its first newline must still be removed.
    fn unescape(&mut self, text: &str, hashes: usize, layout: Option<(&str, bool)>, span: Span) -> String {
        let mut out = String::with_capacity(text.len());
        let mark = format!("\\{}", "#".repeat(hashes));
        let mut rest = text;
        let mut drop_newline = layout.is_some_and(|l| l.1);
        while let Some(c) = rest.chars().next() {
            if c == '\n'
                && let Some((indentation, _)) = layout
            {
                rest = &rest[1..];
                rest = rest.strip_prefix(indentation).unwrap_or_else(|| rest.trim_start_matches([' ', '\t']));
                if !std::mem::replace(&mut drop_newline, false) {
                    out.push('\n');
                }
                continue;
            }
            let Some(escape) = rest.strip_prefix(mark.as_str()) else {
                // A carriage return before a line break belongs to the line break of the file and not to the string.
                if c != '\r' || layout.is_none() {
                    out.push(c);
                }
                rest = &rest[c.len_utf8()..];
                continue;
            };
            // A backslash at the end of a line joins the line to the next line.
            if layout.is_some() && escape.trim_start_matches([' ', '\t', '\r']).starts_with('\n') {
                rest = escape.trim_start_matches([' ', '\t', '\r']);
                drop_newline = true;
                continue;
            }
            rest = self.escape(escape, &mut out, span);
        }
        out
    }

    /// Reads one escape sequence after its backslash, and returns the text after it.
    fn escape<'e>(&mut self, escape: &'e str, out: &mut String, span: Span) -> &'e str {
        let Some(c) = escape.chars().next() else { return escape };
        let rest = &escape[c.len_utf8()..];
        match c {
            'n' => out.push('\n'),
            't' => out.push('\t'),
            'r' => out.push('\r'),
            '0' => out.push('\0'),
            '"' | '\'' | '\\' => out.push(c),
            'u' => {
                let code = rest.strip_prefix('{').and_then(|r| r.split_once('}'));
                let read = code.and_then(|(hex, _)| u32::from_str_radix(hex, 16).ok()).and_then(char::from_u32);
                if let (Some((_, after_escape)), Some(read)) = (code, read) {
                    out.push(read);
                    return after_escape;
                }
                self.error(
                    Code::InvalidLiteral,
                    span,
                    "'\\u' needs the hexadecimal code of a character, as in \
                                                        '\\u{3b1}'",
                );
            }
            _ => {
                self.error(Code::InvalidLiteral, span, format!("invalid escape sequence '\\{c}' in a string"))
                    .helps
                    .push(crate::diagnostic::Help { text: "to write a backslash, use '\\\\'".into(), edits: vec![] });
            }
        }
        rest
    }
}

/// A part of a string literal before escapes are replaced.
enum Piece {
    Text(String, Span),
    Arguments(Vec<Arg>),
}

/// Removes the U+0005 characters by which the scanner replaces bytes of typographic quotes.
fn trim_quotes(parts: &mut [Piece]) {
    const FILLER: &str = "\u{5}\u{5}";
    if let Some(Piece::Text(text, _)) = parts.first_mut() {
        *text = text.strip_prefix(FILLER).unwrap_or(text).to_owned();
    }
    if let Some(Piece::Text(text, _)) = parts.last_mut() {
        *text = text.strip_suffix(FILLER).unwrap_or(text).to_owned();
    }
}

/// Returns the value of the digits of `0x1.8p3` after `0x`.
fn hex_float(text: &str) -> Option<f64> {
    let (mantissa, exponent) = text.split_once(['p', 'P'])?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let bits = u128::from_str_radix(digits.get(..30).unwrap_or(&digits), 16).ok()?;
    let dropped = 4 * digits.len().saturating_sub(30) as i32;
    let scale = exponent.parse::<i32>().ok()?.clamp(-5000, 5000) - 4 * fraction.len().min(10_000) as i32 + dropped;
    // The value is scaled in two steps, so that neither factor overflows while the product is in range.
    Some(bits as f64 * 2f64.powi(scale / 2) * 2f64.powi(scale - scale / 2))
}
