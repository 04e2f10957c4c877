//! Strings and characters: their native functions. A character is one grapheme cluster.

pub(super) mod encoding;
pub(super) mod index;

use super::PureOperation::{Advance, Query};
use super::context::{Failure, FailureKind, NativeContext, internal};
use super::{Host, NativeFunction, PureNative, array};
use crate::cancel;
use crate::value::shape::Layout;
use crate::value::string as reader;
use crate::value::{Cells, Ref, References, Text};
use std::cmp::Ordering;
use std::rc::Rc;
use unicode_normalization::UnicodeNormalization;
use unicode_segmentation::UnicodeSegmentation;

type Call<'a, 'b> = &'a mut NativeContext<'b>;

pub(super) const TABLE: &[NativeFunction] = &[
    NativeFunction { name: "text.reserve", call: reserve },
    NativeFunction { name: "text.characters", call: in_characters },
    NativeFunction { name: "text.fromCharacters", call: from_characters },
    NativeFunction { name: "text.decomposed", call: |c| change(c, |t| t.nfd().collect()) },
    NativeFunction { name: "text.composed", call: |c| change(c, |t| t.nfc().collect()) },
    NativeFunction { name: "text.uppercased", call: |c| recase(c, u8::to_ascii_uppercase, |t| t.to_uppercase()) },
    NativeFunction { name: "text.lowercased", call: |c| recase(c, u8::to_ascii_lowercase, |t| t.to_lowercase()) },
    NativeFunction { name: "text.trim", call: |c| change(c, |t| t.trim().to_owned()) },
    NativeFunction { name: "text.replace", call: replace },
    NativeFunction { name: "text.components", call: cut },
    NativeFunction { name: "text.join", call: join },
    NativeFunction { name: "text.repeating", call: repeating },
    NativeFunction { name: "text.ofInt", call: of_int },
];

/// The pure functions on strings and characters.
pub(super) const PURE: &[PureNative] = &[
    PureNative { name: "text.eq", operation: Query(|r, _| relate(r, reader::same)) },
    PureNative { name: "text.lt", operation: Query(|r, _| relate(r, |a, b| reader::order(a, b) == Ordering::Less)) },
    PureNative { name: "text.hasPrefix", operation: Query(|r, _| relate(r, has_prefix)) },
    PureNative { name: "text.hasSuffix", operation: Query(|r, _| relate(r, has_suffix)) },
    PureNative { name: "text.contains", operation: Query(|r, _| relate(r, |text, part| text.contains(part))) },
    PureNative { name: "text.count", operation: Query(|r, _| Some(character_count(seen(r, 0)?) as i64)) },
    PureNative { name: "text.isEmpty", operation: Query(|r, _| Some(i64::from(seen(r, 0)?.is_empty()))) },
    PureNative { name: "text.size", operation: Query(|r, _| Some(seen(r, 0)?.len() as i64)) },
    PureNative { name: "text.next", operation: Advance(next) },
    PureNative { name: "text.isKind", operation: Query(is_kind) },
];

/// Returns the string in the reference register `k`, if it holds a string.
fn seen(r: &[Ref], k: usize) -> Option<&str> {
    match r.get(k)? {
        Ref::Text(text) => Some(text),
        Ref::Null => Some(""),
        _ => None,
    }
}

fn relate(r: &[Ref], by: fn(&str, &str) -> bool) -> Option<i64> {
    Some(i64::from(by(seen(r, 0)?, seen(r, 1)?)))
}

/// Whether a text begins with the characters of another one, which may consist of other scalar values.
fn has_prefix(text: &str, part: &str) -> bool {
    if text.is_ascii() && part.is_ascii() {
        return text.starts_with(part);
    }
    let mut own = characters(text);
    characters(part).all(|c| own.next().is_some_and(|own| reader::same(own, c)))
}

/// Whether a text ends with the characters of another one, which may consist of other scalar values.
fn has_suffix(text: &str, part: &str) -> bool {
    if text.is_ascii() && part.is_ascii() {
        return text.ends_with(part);
    }
    let mut own = text.graphemes(true).rev();
    part.graphemes(true).rev().all(|c| own.next().is_some_and(|own| reader::same(own, c)))
}

/// Determines whether the first scalar value of a character belongs to a class, such as letters or digits: 1 or 0.
fn is_kind(r: &[Ref], i: &[i64]) -> Option<i64> {
    let (text, kind) = (seen(r, 0)?, i.first()?);
    let test: fn(char) -> bool = match kind {
        0 => char::is_alphabetic,
        1 => char::is_numeric,
        2 => char::is_whitespace,
        3 => char::is_uppercase,
        4 => char::is_lowercase,
        5 => |c| {
            (c.is_ascii_punctuation() && !is_symbol(c))
                || matches!(c, '«' | '»' | '„' | '“' | '”' | '‘' | '’' | '…' | '–' | '—')
        },
        6 => is_symbol,
        7 => is_math,
        8 => is_currency,
        _ => return None,
    };
    Some(i64::from(text.chars().next().is_some_and(test)))
}

/// The layout of a value of type `String`: one reference.
pub(super) const TEXT: Layout = Layout { f: 0, i: 0, r: 1 };

/// Creates an array of strings.
pub fn texts<T: Into<Text>>(all: Vec<T>) -> Ref {
    Ref::Cells(Rc::new(Cells::references(all.into_iter().map(|text| Ref::Text(text.into())).collect::<References>())))
}

/// Returns the string to which a reference refers.
pub(super) fn text(r: &Ref) -> &str {
    match r {
        Ref::Text(text) => text,
        _ => "",
    }
}

/// Iterates over the characters of a string; the search for cluster boundaries is skipped between ASCII bytes.
fn characters(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text.graphemes(true);
    std::iter::from_fn(move || {
        let left = rest.as_str();
        if let [first, second, ..] = left.as_bytes()
            && index::are_two(*first, *second)
        {
            rest = left[1..].graphemes(true);
            return Some(&left[..1]);
        }
        rest.next()
    })
}

/// Counts the characters of a string. Each ASCII byte is a character, except in CR LF.
fn character_count(text: &str) -> usize {
    if text.is_ascii() && !text.contains('\r') { text.len() } else { characters(text).count() }
}

/// Replaces a string by the character at a string index, and the index by that of the next character.
fn next(r: &mut Ref, place: &mut i64) -> Option<()> {
    let whole = seen(std::slice::from_ref(r), 0)?;
    let from = usize::try_from(*place).ok()?;
    let to = index::after(whole, from)?;
    let character = reader::character(whole.get(from..to)?);
    (*r, *place) = (Ref::Text(character), to as i64);
    Some(())
}

/// Appends a string to another, in place if the first one is not shared.
///
/// # Errors
/// Fails if the result would be too large, or if a reference is not a string.
pub fn append_text(to: &mut Ref, more: &Ref, host: &Host) -> Result<(), Failure> {
    let more = seen(std::slice::from_ref(more), 0).ok_or_else(internal)?;
    if let Ref::Null = to {
        *to = Ref::Text("".into());
    }
    let Ref::Text(text) = to else { return Err(internal()) };
    array::affordable(host, 1, text.len() + more.len())?;
    text.push_str(more);
    Ok(())
}

fn reserve(c: Call<'_, '_>) -> Result<(), Failure> {
    let (mut text, bytes) = (c.text()?, c.integer());
    let bytes = array::count(bytes)?;
    array::affordable(c.host, 1, bytes)?;
    text.reserve(bytes);
    c.return_text(text)
}

fn change(c: Call<'_, '_>, by: fn(&str) -> String) -> Result<(), Failure> {
    let text = c.text()?;
    c.return_text(by(&text))
}

fn recase(c: Call<'_, '_>, letter: fn(&u8) -> u8, by: fn(&str) -> String) -> Result<(), Failure> {
    let text = c.text()?;
    match (text.as_bytes(), text.is_ascii()) {
        ([only], true) => c.return_text(reader::character(char::from(letter(only)).encode_utf8(&mut [0; 4]))),
        _ => c.return_text(by(&text)),
    }
}

fn in_characters(c: Call<'_, '_>) -> Result<(), Failure> {
    let text = c.text()?;
    // Each ASCII byte is a character (except in CR LF), so that the capacity is known.
    let mut all = Vec::with_capacity(if text.is_ascii() { text.len() } else { 0 });
    all.extend(cancel::checking(characters(&text)).map(|character| Ref::Text(reader::character(character))));
    c.return_reference(Ref::Cells(Rc::new(Cells::references(all))))
}

fn from_characters(c: Call<'_, '_>) -> Result<(), Failure> {
    let all = c.array(TEXT)?;
    let longest = all.r.iter().map(|r| text(r).len()).max().unwrap_or(0);
    array::affordable(c.host, all.len, longest)?;
    c.return_text(cancel::checking(all.r.iter()).map(text).collect::<String>())
}

fn replace(c: Call<'_, '_>) -> Result<(), Failure> {
    let (text, part, other) = (c.text()?, c.text()?, c.text()?);
    array::affordable(c.host, cancel::checking(text.matches(&*part)).count(), other.len())?;
    // An empty pattern occurs nowhere in a string.
    if part.is_empty() {
        return c.return_text(text);
    }
    let (mut changed, mut from) = (String::with_capacity(text.len()), 0);
    for (at, found) in cancel::checking(text.match_indices(&*part)) {
        changed.push_str(&text[from..at]);
        changed.push_str(&other);
        from = at + found.len();
    }
    changed.push_str(&text[from..]);
    c.return_text(changed)
}

fn cut(c: Call<'_, '_>) -> Result<(), Failure> {
    let (text, separator) = (c.text()?, c.text()?);
    let parts: Vec<Text> = if separator.is_empty() {
        vec![text]
    } else {
        cancel::checking(text.split(&*separator)).map(Into::into).collect()
    };
    c.return_reference(texts(parts))
}

fn join(c: Call<'_, '_>) -> Result<(), Failure> {
    let (all, separator) = (c.array(TEXT)?, c.text()?);
    let parts: Vec<&str> = all.r.iter().map(text).collect();
    let longest = parts.iter().map(|p| p.len()).max().unwrap_or(0);
    array::affordable(c.host, parts.len(), longest.max(separator.len()))?;
    let mut joined = String::with_capacity(parts.iter().map(|p| p.len() + separator.len()).sum());
    for (k, part) in cancel::checking(parts.iter().enumerate()) {
        joined.push_str(if k == 0 { "" } else { &separator });
        joined.push_str(part);
    }
    c.return_text(joined)
}

fn repeating(c: Call<'_, '_>) -> Result<(), Failure> {
    let (text, count) = (c.text()?, c.integer());
    let count = array::count(count)?;
    array::affordable(c.host, count, text.len())?;
    let mut repeated = String::with_capacity(count * text.len());
    // A chunk consists of many copies of a short string, or of one copy of a long one.
    let piece = text.repeat((cancel::CHECK_INTERVAL / text.len().max(1)).clamp(1, count.max(1)));
    while repeated.len() < count * text.len() {
        cancel::check();
        let missing = count * text.len() - repeated.len();
        repeated.push_str(&piece[..missing.min(piece.len())]);
    }
    c.return_text(repeated)
}

fn of_int(c: Call<'_, '_>) -> Result<(), Failure> {
    let (value, radix) = (c.integer(), c.integer());
    let Some(radix) = u32::try_from(radix).ok().filter(|r| (2..=36).contains(r)) else {
        return Err(Failure::new(FailureKind::Precondition, format!("radix {radix} is not in the range 2...36")));
    };
    let (mut rest, mut digits) = (value.unsigned_abs(), vec![]);
    loop {
        digits.push(char::from_digit((rest % u64::from(radix)) as u32, radix).unwrap_or('?'));
        rest /= u64::from(radix);
        if rest == 0 {
            break;
        }
    }
    if value < 0 {
        digits.push('-');
    }
    c.return_text(digits.iter().rev().collect::<String>())
}

fn is_currency(c: char) -> bool {
    matches!(c, '$' | '¢'..='¥' | '\u{20a0}'..='\u{20c0}')
}

fn is_math(c: char) -> bool {
    matches!(c, '+' | '<'..='>' | '|' | '~' | '¬' | '±' | '×' | '÷' | '\u{2190}'..='\u{2194}' | '\u{2200}'..='\u{22ff}')
}

fn is_symbol(c: char) -> bool {
    is_currency(c)
        || is_math(c)
        || matches!(c, '^' | '`' | '¨' | '¯' | '´' | '¸' | '¦' | '©' | '®' | '°' | '\u{2195}'..='\u{21ff}')
        || matches!(c, '\u{2300}'..='\u{2bff}' | '\u{1f300}'..='\u{1faff}')
}
