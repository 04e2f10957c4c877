//! Texts and characters. A character is one grapheme cluster, as a reader counts them.

use super::context::{Failure, FailureKind, NativeContext, internal};
use super::{NativeFunction, array};
use crate::value::shape::Layout;
use crate::value::text as reader;
use crate::value::{Cells, Ref, Text};
use std::cmp::Ordering;
use std::rc::Rc;
use unicode_segmentation::UnicodeSegmentation;

type Call<'a, 'b> = &'a mut NativeContext<'b>;

pub(super) const TABLE: &[NativeFunction] = &[
    NativeFunction { name: "text.concat", call: concat },
    NativeFunction { name: "text.append", call: append },
    NativeFunction { name: "text.reserve", call: reserve },
    NativeFunction { name: "text.eq", call: equal },
    NativeFunction { name: "text.lt", call: less },
    NativeFunction { name: "text.count", call: |c| measure(c, |t| characters(t).count() as i64) },
    NativeFunction { name: "text.isEmpty", call: |c| measure(c, |t| i64::from(t.is_empty())) },
    NativeFunction { name: "text.characters", call: |c| parts(c, |t| characters(t).map(Into::into).collect()) },
    NativeFunction { name: "text.fromCharacters", call: from_characters },
    NativeFunction { name: "text.uppercased", call: |c| change(c, |t| t.to_uppercase()) },
    NativeFunction { name: "text.lowercased", call: |c| change(c, |t| t.to_lowercase()) },
    NativeFunction { name: "text.trim", call: |c| change(c, |t| t.trim().to_owned()) },
    NativeFunction { name: "text.hasPrefix", call: |c| relate(c, |t, part| t.starts_with(part)) },
    NativeFunction { name: "text.hasSuffix", call: |c| relate(c, |t, part| t.ends_with(part)) },
    NativeFunction { name: "text.contains", call: |c| relate(c, |t, part| t.contains(part)) },
    NativeFunction { name: "text.replace", call: replace },
    NativeFunction { name: "text.components", call: cut },
    NativeFunction { name: "text.join", call: join },
    NativeFunction { name: "text.repeating", call: repeating },
    NativeFunction { name: "text.ofInt", call: of_int },
    NativeFunction { name: "text.isKind", call: is_kind },
];

/// The layout of a text.
pub(super) const TEXT: Layout = Layout { f: 0, i: 0, r: 1 };

/// An array of texts.
pub(super) fn texts<T: Into<Text>>(all: Vec<T>) -> Ref {
    let (len, r) = (all.len(), all.into_iter().map(|text| Ref::Text(text.into())).collect());
    Ref::Cells(Rc::new(Cells { len, f: vec![], i: vec![], r, slots: vec![] }))
}

/// The text in a reference.
pub(super) fn text(r: &Ref) -> &str {
    match r {
        Ref::Text(text) => text,
        _ => "",
    }
}

fn characters(text: &str) -> impl Iterator<Item = &str> {
    text.graphemes(true)
}

fn concat(c: Call<'_, '_>) -> Result<(), Failure> {
    let (a, b) = (c.text()?, c.text()?);
    array::affordable(c.host, 1, a.len() + b.len())?;
    let mut both = String::with_capacity(a.len() + b.len());
    both.push_str(&a);
    both.push_str(&b);
    c.give_text(both)
}

fn append(c: Call<'_, '_>) -> Result<(), Failure> {
    let (mut text, more) = (c.text()?, c.text()?);
    array::affordable(c.host, 1, text.len() + more.len())?;
    text.push_str(&more);
    c.give_text(text)
}

fn reserve(c: Call<'_, '_>) -> Result<(), Failure> {
    let (mut text, bytes) = (c.text()?, c.integer());
    let bytes = array::count(bytes)?;
    array::affordable(c.host, 1, bytes)?;
    text.reserve(bytes);
    c.give_text(text)
}

fn equal(c: Call<'_, '_>) -> Result<(), Failure> {
    let (a, b) = (c.text()?, c.text()?);
    c.give_integer(i64::from(reader::same(&a, &b)))
}

fn less(c: Call<'_, '_>) -> Result<(), Failure> {
    let (a, b) = (c.text()?, c.text()?);
    c.give_integer(i64::from(reader::order(&a, &b) == Ordering::Less))
}

fn measure(c: Call<'_, '_>, by: fn(&str) -> i64) -> Result<(), Failure> {
    let text = c.text()?;
    c.give_integer(by(&text))
}

fn change(c: Call<'_, '_>, by: fn(&str) -> String) -> Result<(), Failure> {
    let text = c.text()?;
    c.give_text(by(&text))
}

fn relate(c: Call<'_, '_>, by: fn(&str, &str) -> bool) -> Result<(), Failure> {
    let (text, part) = (c.text()?, c.text()?);
    c.give_integer(i64::from(by(&text, &part)))
}

fn parts(c: Call<'_, '_>, by: fn(&str) -> Vec<Text>) -> Result<(), Failure> {
    let text = c.text()?;
    c.give_reference(texts(by(&text)))
}

fn from_characters(c: Call<'_, '_>) -> Result<(), Failure> {
    let all = c.array(TEXT)?;
    let longest = all.r.iter().map(|r| text(r).len()).max().unwrap_or(0);
    array::affordable(c.host, all.len, longest)?;
    c.give_text(all.r.iter().map(text).collect::<String>())
}

fn replace(c: Call<'_, '_>) -> Result<(), Failure> {
    let (text, part, other) = (c.text()?, c.text()?, c.text()?);
    array::affordable(c.host, text.matches(&*part).count(), other.len())?;
    // Nothing is not found anywhere.
    let changed = if part.is_empty() { text.to_string() } else { text.replace(&*part, &other) };
    c.give_text(changed)
}

fn cut(c: Call<'_, '_>) -> Result<(), Failure> {
    let (text, separator) = (c.text()?, c.text()?);
    let parts: Vec<Text> =
        if separator.is_empty() { vec![text] } else { text.split(&*separator).map(Into::into).collect() };
    c.give_reference(texts(parts))
}

fn join(c: Call<'_, '_>) -> Result<(), Failure> {
    let (all, separator) = (c.array(TEXT)?, c.text()?);
    let parts: Vec<&str> = all.r.iter().map(text).collect();
    let longest = parts.iter().map(|p| p.len()).max().unwrap_or(0);
    array::affordable(c.host, parts.len(), longest.max(separator.len()))?;
    c.give_text(parts.join(&separator))
}

fn repeating(c: Call<'_, '_>) -> Result<(), Failure> {
    let (text, count) = (c.text()?, c.integer());
    let count = array::count(count)?;
    array::affordable(c.host, count, text.len())?;
    c.give_text(text.repeat(count))
}

fn of_int(c: Call<'_, '_>) -> Result<(), Failure> {
    let (value, radix) = (c.integer(), c.integer());
    let Some(radix) = u32::try_from(radix).ok().filter(|r| (2..=36).contains(r)) else {
        return Err(Failure::new(FailureKind::Precondition, format!("radix {radix} is not between 2 and 36")));
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
    c.give_text(digits.iter().rev().collect::<String>())
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

fn is_kind(c: Call<'_, '_>) -> Result<(), Failure> {
    let (text, kind) = (c.text()?, c.integer());
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
        _ => return Err(internal()),
    };
    let holds = text.chars().next().is_some_and(test);
    c.give_integer(i64::from(holds))
}
