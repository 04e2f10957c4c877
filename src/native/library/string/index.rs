//! String indices: steps between characters, the character at a position, and substrings.

use crate::cancel;
use crate::native::library::context::{Failure, FailureKind, NativeContext};
use crate::native::library::{NativeFunction, array};
use crate::value::{Cells, Ref, string as reader};
use std::rc::Rc;
use unicode_segmentation::GraphemeCursor;

type Call<'a, 'b> = &'a mut NativeContext<'b>;

pub(in crate::native::library) const TABLE: &[NativeFunction] = &[
    NativeFunction { name: "text.after", call: |c| step(c, after) },
    NativeFunction { name: "text.before", call: |c| step(c, before) },
    NativeFunction { name: "text.offset", call: offset },
    NativeFunction { name: "text.scalarAfter", call: |c| step(c, scalar_after) },
    NativeFunction { name: "text.scalarBefore", call: |c| step(c, scalar_before) },
    NativeFunction { name: "text.at", call: at },
    NativeFunction { name: "text.scalarAt", call: scalar_at },
    NativeFunction { name: "text.byteAt", call: byte_at },
    NativeFunction { name: "text.part", call: part },
    NativeFunction { name: "text.find", call: |c| find(c, |text, part| text.find(part)) },
    NativeFunction { name: "text.findLast", call: |c| find(c, |text, part| text.rfind(part)) },
    NativeFunction { name: "text.split", call: split },
];

fn outside(index: i64) -> Failure {
    let message = format!("the string has no character at index {index}");
    Failure::new(FailureKind::IndexOutOfRange, message)
}

/// Checks a string index. An index that was computed for another string may lie inside a character's bytes; such an
/// index is moved back to the beginning of the scalar value.
fn checked_index(text: &str, index: i64) -> Result<usize, Failure> {
    let index = usize::try_from(index).ok().filter(|k| *k <= text.len()).ok_or_else(|| outside(index))?;
    Ok(text.floor_char_boundary(index))
}

fn step(c: Call<'_, '_>, by: fn(&str, usize) -> Option<usize>) -> Result<(), Failure> {
    let (text, from) = (c.text()?, c.integer());
    let next = by(&text, checked_index(&text, from)?).ok_or_else(|| outside(from))?;
    c.return_integer(next as i64)
}

/// Returns the string index a number of characters after an index, or before it if the number is negative, but not beyond
/// a limit.
fn offset(c: Call<'_, '_>) -> Result<(), Failure> {
    let (text, from, distance, limit) = (c.text()?, c.integer(), c.integer(), c.integer());
    let (mut index, limit) = (checked_index(&text, from)?, checked_index(&text, limit)?);
    for _ in cancel::checking(0..distance.unsigned_abs()) {
        let next = if distance < 0 { before(&text, index) } else { after(&text, index) };
        let is_inside = |next: &usize| if distance < 0 { *next > limit } else { *next < limit };
        match next.filter(is_inside) {
            Some(next) => index = next,
            None => {
                index = limit;
                break;
            }
        }
    }
    c.return_integer(index as i64)
}

/// Whether two bytes certainly belong to different characters. Two ASCII characters never form one grapheme cluster,
/// except a carriage return and a line feed.
pub(super) fn are_two(first: u8, second: u8) -> bool {
    first.is_ascii() && second.is_ascii() && first != b'\r'
}

/// Returns the end of the character that begins at a string index.
pub(super) fn after(text: &str, index: usize) -> Option<usize> {
    match text.as_bytes().get(index..)? {
        [] => None,
        [first, second, ..] if are_two(*first, *second) => Some(index + 1),
        _ => GraphemeCursor::new(index, text.len(), true).next_boundary(text, 0).ok().flatten(),
    }
}

/// Returns the beginning of the character that ends at a string index.
fn before(text: &str, index: usize) -> Option<usize> {
    match text.as_bytes().get(..index)? {
        [] => None,
        [.., first, second] if are_two(*first, *second) => Some(index - 1),
        _ => GraphemeCursor::new(index, text.len(), true).prev_boundary(text, 0).ok().flatten(),
    }
}

fn scalar_after(text: &str, index: usize) -> Option<usize> {
    text.get(index..)?.chars().next().map(|scalar| index + scalar.len_utf8())
}

fn scalar_before(text: &str, index: usize) -> Option<usize> {
    text.get(..index)?.chars().next_back().map(|scalar| index - scalar.len_utf8())
}

fn at(c: Call<'_, '_>) -> Result<(), Failure> {
    let (text, from) = (c.text()?, c.integer());
    let start = checked_index(&text, from)?;
    let end = after(&text, start).ok_or_else(|| outside(from))?;
    c.return_text(reader::character(&text[start..end]))
}

fn scalar_at(c: Call<'_, '_>) -> Result<(), Failure> {
    let (text, from) = (c.text()?, c.integer());
    let start = checked_index(&text, from)?;
    let scalar = text[start..].chars().next().ok_or_else(|| outside(from))?;
    c.return_integer(i64::from(u32::from(scalar)))
}

fn byte_at(c: Call<'_, '_>) -> Result<(), Failure> {
    let (text, from) = (c.text()?, c.integer());
    let byte = usize::try_from(from).ok().and_then(|k| text.as_bytes().get(k)).ok_or_else(|| outside(from))?;
    c.return_integer(i64::from(*byte))
}

fn part(c: Call<'_, '_>) -> Result<(), Failure> {
    let (text, low, high) = (c.text()?, c.integer(), c.integer());
    let (from, to) = (checked_index(&text, low)?, checked_index(&text, high)?);
    if from == 0 && to == text.len() {
        return c.return_text(text);
    }
    let part = text.get(from..to).ok_or_else(|| {
        Failure::new(
            FailureKind::InvalidRange,
            format!("the range of a string from {low} to {high} ends before it starts"),
        )
    })?;
    c.return_text(part)
}

/// Finds a substring between two string indices; -1 if there is none.
fn find(c: Call<'_, '_>, which: fn(&str, &str) -> Option<usize>) -> Result<(), Failure> {
    let (text, part, low, high) = (c.text()?, c.text()?, c.integer(), c.integer());
    let (from, to) = (checked_index(&text, low)?, checked_index(&text, high)?);
    let found = text.get(from..to).filter(|_| !part.is_empty()).and_then(|inside| which(inside, &part));
    c.return_integer(found.map_or(-1, |k| (from + k) as i64))
}

/// Returns every part between separators, a string with the beginning and end of the part. The maximum number of cuts,
/// and whether empty parts are included, are arguments.
fn split(c: Call<'_, '_>) -> Result<(), Failure> {
    let (text, separator, low, high) = (c.text()?, c.text()?, c.integer(), c.integer());
    let (most, without_empty) = (usize::try_from(c.integer()).unwrap_or(0), c.integer() != 0);
    let (from, to) = (checked_index(&text, low)?, checked_index(&text, high)?);
    let inside = text.get(from..to).unwrap_or("");
    let bytes = 2 * size_of::<i64>() + size_of::<Ref>();
    array::affordable(c.host, inside.len() / separator.len().max(1), bytes)?;
    let mut places = vec![];
    let mut add = |start: usize, end: usize| {
        let wanted = start < end || !without_empty;
        if wanted {
            places.extend([start as i64, end as i64]);
        }
        wanted
    };
    let (mut start, mut parts) = (from, 0);
    let found = inside.match_indices(&*separator).filter(|_| !separator.is_empty()).map(|(at, _)| from + at);
    for at in found {
        if parts == most {
            break;
        }
        parts += usize::from(add(start, at));
        start = at + separator.len();
    }
    add(start, to);
    let mut parts = Cells::empty();
    parts.len = places.len() / 2;
    parts.i = places.into();
    parts.r.resize(parts.len, Ref::Text(text));
    c.return_reference(Ref::Cells(Rc::new(parts)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_lead_from_character_to_character() {
        let text = "a\r\n👩‍👩‍👧ñ🇩🇪🇫🇷x";
        let mut forth = vec![0];
        while let Some(next) = after(text, *forth.last().unwrap()) {
            forth.push(next);
        }
        let mut back = vec![text.len()];
        while let Some(next) = before(text, *back.last().unwrap()) {
            back.push(next);
        }
        back.reverse();
        assert_eq!(forth, back);
        assert_eq!(forth.len(), 8);
    }

    #[test]
    fn an_index_inside_of_a_scalar_value_is_moved_to_its_beginning() {
        assert_eq!(checked_index("aé", 2).ok(), Some(1));
        assert!(checked_index("aé", 4).is_err() && checked_index("aé", -1).is_err());
    }
}
