//! Tokens of foreign code: a lexer that accepts any text, for the patterns of the tables.

/// The kind of a token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// A name or a keyword.
    Word,
    Number,
    /// A string literal with any quotes, and with its prefix: `f"…"`.
    Text,
    /// An operator or a punctuation mark.
    Symbol,
    Open,
    Close,
    LineBreak,
    /// A comment up to the end of its line.
    Comment,
}

/// A token: its kind and its range in the text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub kind: Kind,
    pub from: usize,
    pub to: usize,
}

/// Operators of several characters, the longest operators first.
const OPERATORS: &[&str] = &[
    "%in%", "%>%", "%/%", "%*%", "/@", "===", "!==", "<=>", "...", "..<", "..=", "<<<", "**=", "->", "=>", "=!", "^^",
    "==", "!=", "<=", ">=", "&&", "||", "**", "+=", "-=", "*=", "/=", "^=", "//", "::", ":=", "<-", "|>", "<>", "~=",
    "/.", "??", "?:", "?.", "++", "--", ".*", ".^", ".+", "./", ".-", "%%", "=<", "=~", "<<", ">>", "..",
];

/// The prefixes of string literals in Python and Rust.
const PREFIXES: &[&str] = &["f", "r", "b", "u", "rb", "fr"];

pub(super) fn text_of(text: &str, token: Token) -> &str {
    &text[token.from..token.to]
}

/// Splits the part of a text from an offset on into tokens, at most `limit` bytes.
pub(super) fn tokens(text: &str, from: usize, limit: usize) -> Vec<Token> {
    let end = text.floor_char_boundary(text.len().min(from.saturating_add(limit)));
    let mut found = vec![];
    let mut at = from;
    while let Some(first) = text[at..end].chars().next() {
        if first != '\n' && first.is_whitespace() {
            at += first.len_utf8();
            continue;
        }
        let (kind, length) = token(&text[at..end], first);
        found.push(Token { kind, from: at, to: at + length });
        at += length;
    }
    found
}

fn token(rest: &str, first: char) -> (Kind, usize) {
    let run = |fits: fn(char) -> bool| rest.find(|c| !fits(c)).unwrap_or(rest.len());
    let line = rest.find('\n').unwrap_or(rest.len());
    match first {
        '\n' => (Kind::LineBreak, 1),
        '(' | '[' | '{' => (Kind::Open, 1),
        ')' | ']' | '}' => (Kind::Close, 1),
        '0'..='9' => (Kind::Number, number(rest)),
        '$' if is_amount(&rest[1..]) => (Kind::Symbol, 1),
        '$' if rest[1..].starts_with(|c: char| c.is_ascii_digit()) => {
            (Kind::Word, 1 + rest[1..].find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len() - 1))
        }
        '"' | '`' | '\'' | '‘' if string(rest, first).is_some() => (Kind::Text, string(rest, first).unwrap_or(1)),
        _ if is_word(first) => {
            let length = run(is_word);
            let quote = rest[length..].chars().next().filter(|c| matches!(c, '"' | '\'' | '`'));
            let literal = quote.and_then(|quote| string(&rest[length..], quote));
            match literal {
                // `f'(2)` is a derivative and not a string literal with a prefix.
                Some(more) if PREFIXES.contains(&&rest[..length]) && !rest[length..].starts_with("'(") => {
                    (Kind::Text, length + more)
                }
                _ => (Kind::Word, length),
            }
        }
        '/' if rest.starts_with("//") => (Kind::Comment, line),
        _ => {
            let operator = OPERATORS.iter().find(|operator| rest.starts_with(**operator));
            (Kind::Symbol, operator.map_or(first.len_utf8(), |operator| operator.len()))
        }
    }
}

pub(super) fn is_word(c: char) -> bool {
    c.is_alphanumeric() && !"²³¹⁰⁴⁵⁶⁷⁸⁹½⅓¼¾".contains(c) || c == '_'
}

/// Whether a text begins with an amount of money: a number with two decimals. `$0.1` may be a component of a parameter.
fn is_amount(text: &str) -> bool {
    let after = |text: &str| text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let whole = after(text);
    whole > 0 && text[whole..].strip_prefix('.').is_some_and(|fraction| after(fraction) == 2)
}

/// Returns the length of a number, without letters after it: `2x` is a number and a name.
fn number(rest: &str) -> usize {
    let digits = |text: &str| text.find(|c: char| !c.is_ascii_digit() && c != '_').unwrap_or(text.len());
    let mut length = digits(rest);
    if let Some(fraction) = rest[length..].strip_prefix('.').filter(|f| f.starts_with(|c: char| c.is_ascii_digit())) {
        length += 1 + digits(fraction);
    }
    let exponent = rest[length..].strip_prefix(['e', 'E']).map(|e| (e, e.strip_prefix(['-', '+']).unwrap_or(e)));
    match exponent.filter(|(_, power)| power.starts_with(|c: char| c.is_ascii_digit())) {
        Some((signed, power)) => length + 1 + (signed.len() - power.len()) + digits(power),
        None => length,
    }
}

/// Returns the length of a string literal, if it ends on its line.
fn string(rest: &str, quote: char) -> Option<usize> {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            '\n' => return None,
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if c == quote || quote == '‘' && c == '’' => return Some(at + c.len_utf8()),
            _ => {}
        }
    }
    None
}
