//! Strings: sequences of grapheme clusters, so that `é` is one character in either encoding.

use super::hashing::short_word;
use std::borrow::Cow;
use std::cmp::Ordering;
use std::ops::Deref;
use std::rc::Rc;
use unicode_normalization::{UnicodeNormalization, is_nfc};

/// A string with value semantics. Most strings are short and never change: they are one object without spare capacity.
/// A string that was appended to has spare capacity, so that a long string can be built in pieces without a copy for
/// each piece.
#[derive(Clone, Debug)]
pub enum Text {
    /// A string without spare capacity.
    Fixed(Rc<str>),
    /// A string with spare capacity, to which more text can be appended.
    Growing(Rc<String>),
}

/// The minimum capacity of a string after the first append: words are often built letter by letter.
const MIN_CAPACITY: usize = 24;

impl Text {
    /// Appends text to the string: in place when the string is not shared.
    pub fn push_str(&mut self, more: &str) {
        if let Text::Growing(text) = self {
            Rc::make_mut(text).push_str(more);
            return;
        }
        let mut text = String::with_capacity(((self.len() + more.len()) * 2).max(MIN_CAPACITY));
        text.push_str(self);
        text.push_str(more);
        *self = Text::Growing(Rc::new(text));
    }

    /// Reserves capacity for a total length of `bytes` bytes.
    pub fn reserve(&mut self, bytes: usize) {
        let more = bytes.saturating_sub(self.len());
        match self {
            Text::Growing(text) => Rc::make_mut(text).reserve(more),
            Text::Fixed(text) => {
                let mut growing = String::with_capacity(text.len() + more);
                growing.push_str(text);
                *self = Text::Growing(Rc::new(growing));
            }
        }
    }

    /// Returns the address of the string object.
    pub fn address(&self) -> usize {
        match self {
            Text::Fixed(text) => text.as_ptr() as usize,
            Text::Growing(text) => Rc::as_ptr(text) as usize,
        }
    }
}

impl Deref for Text {
    type Target = str;
    fn deref(&self) -> &str {
        match self {
            Text::Fixed(text) => text,
            Text::Growing(text) => text,
        }
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Text {
        Text::Fixed(text.into())
    }
}

impl From<String> for Text {
    fn from(text: String) -> Text {
        Text::Fixed(text.into())
    }
}

impl From<Rc<str>> for Text {
    fn from(text: Rc<str>) -> Text {
        Text::Fixed(text)
    }
}

thread_local! {
    static LETTERS: [Text; 128] = std::array::from_fn(|code| Text::from(&*char::from(code as u8).to_string()));
}

/// Returns a character as a string. The strings of ASCII characters are preallocated, because text is often split into
/// characters.
pub fn character(text: &str) -> Text {
    match text.as_bytes() {
        [letter] => LETTERS.try_with(|letters| letters.get(usize::from(*letter)).cloned()).ok().flatten(),
        _ => None,
    }
    .unwrap_or_else(|| text.into())
}

/// Whether two strings consist of the same bytes. Words of short strings may overlap. Short strings are compared without branches
/// that depend on their bytes, which could not be predicted.
#[inline(always)]
pub fn is_bytewise_equal(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    match (a.len(), b.len()) {
        (4..8, 4..8) => (a.len() == b.len()) & (ends::<4>(a) == ends::<4>(b)),
        (8..=16, 8..=16) => (a.len() == b.len()) & (ends::<8>(a) == ends::<8>(b)),
        _ => a == b,
    }
}

/// Returns the first and the last `N` bytes, at most eight, as one number; 0 if there are not as many bytes.
#[inline(always)]
fn ends<const N: usize>(bytes: &[u8]) -> u128 {
    let word = |bytes: Option<&[u8; N]>| {
        let mut word = [0; 8];
        bytes.map_or(0, |bytes| {
            word[..N].copy_from_slice(bytes);
            u64::from_le_bytes(word)
        })
    };
    u128::from(word(bytes.first_chunk())) << 64 | u128::from(word(bytes.last_chunk()))
}

/// Whether two strings are canonically equivalent in the sense of Unicode.
#[inline]
pub fn same(a: &str, b: &str) -> bool {
    is_bytewise_equal(a, b) || are_equivalent(a, b)
}

/// Whether two strings that consist of different bytes are canonically equivalent.
fn are_equivalent(a: &str, b: &str) -> bool {
    !(a.is_ascii() && b.is_ascii()) && canonical(a) == canonical(b)
}

/// Compares two strings by the Unicode scalars of their canonical forms.
pub fn order(a: &str, b: &str) -> Ordering {
    let (left, right) = (a.as_bytes(), b.as_bytes());
    let at = first_difference(left, right);
    // An ASCII character is not composed with a following one.
    let decides = |text: &[u8]| text.get(at..).unwrap_or(&[]).iter().take(2).all(u8::is_ascii);
    if decides(left) && decides(right) {
        return left.get(at).cmp(&right.get(at));
    }
    if a.is_ascii() && b.is_ascii() { a.cmp(b) } else { canonical(a).cmp(&canonical(b)) }
}

/// Returns the first eight bytes of a string as a number: two strings are ordered like their numbers, unless these are
/// equal. Returns `None` if the order may depend on the canonical form of these bytes.
pub fn leading_bytes(text: &str) -> Option<u64> {
    let bytes = text.as_bytes();
    let start = bytes.first_chunk().map_or_else(|| short_word(bytes).swap_bytes(), |start| u64::from_be_bytes(*start));
    // An ASCII character is not composed with a following one.
    let is_canonical = start & 0x8080_8080_8080_8080 == 0 && bytes.get(8).is_none_or(u8::is_ascii);
    is_canonical.then_some(start)
}

/// Returns the number of bytes at the beginning that are equal in two texts.
fn first_difference(a: &[u8], b: &[u8]) -> usize {
    let (words, others) = (a.as_chunks::<8>().0, b.as_chunks::<8>().0);
    let word = words.iter().zip(others).take_while(|(word, other)| word == other).count();
    if let (Some(word_a), Some(word_b)) = (words.get(word), others.get(word)) {
        let difference = u64::from_le_bytes(*word_a) ^ u64::from_le_bytes(*word_b);
        return 8 * word + (difference.trailing_zeros() / 8) as usize;
    }
    let rest = a[8 * word..].iter().zip(&b[8 * word..]).take_while(|(byte, other)| byte == other).count();
    8 * word + rest
}

/// Returns the canonical form of a string, which is the same for all canonically equivalent strings.
pub fn canonical(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || is_nfc(text) { Cow::Borrowed(text) } else { Cow::Owned(text.nfc().collect()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_strings_are_unchanged_when_one_grows() {
        let mut text = Text::from("a");
        text.push_str("b");
        let other = text.clone();
        text.push_str("c");
        let at = text.address();
        text.push_str("d");
        assert_eq!((&*text, &*other), ("abcd", "ab"));
        assert_eq!(text.address(), at, "it is not shared, so it grows in place");
        let mut growing = Text::from("x");
        growing.reserve(100);
        let Text::Growing(inside) = &growing else { panic!("a text with room") };
        assert!(inside.capacity() >= 100 && &*growing == "x");
    }

    #[test]
    fn strings_of_all_lengths_are_compared_bytewise() {
        for count in 0..40 {
            let text = "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz"[..count].to_owned();
            assert!(is_bytewise_equal(&text, &text.clone()) && !is_bytewise_equal(&text, &format!("{text}a")));
            for changed in 0..count {
                let mut other = text.clone();
                other.replace_range(changed..=changed, "-");
                assert!(!is_bytewise_equal(&text, &other), "{text} {other}");
            }
        }
    }

    #[test]
    fn spellings_of_a_letter_are_one_letter() {
        assert!(same("é", "e\u{301}") && !same("e", "é") && same("K", "\u{212a}"));
        assert_eq!(order("e\u{301}", "é"), Ordering::Equal);
        assert_eq!(order("e\u{301}a", "éb"), Ordering::Less);
        let texts = [
            "",
            "a",
            "e",
            "ez",
            "e\u{301}",
            "é",
            "éz",
            "abcdefgh",
            "abcdefghi",
            "abcdefge\u{301}",
            "abcdefgé",
            "z",
            "z\0",
            "abcdefgh\u{301}",
        ];
        for (a, b) in texts.iter().flat_map(|a| texts.iter().map(move |b| (a, b))) {
            assert_eq!(order(a, b), canonical(a).cmp(&canonical(b)), "{a} {b}");
            if let (Some(start_a), Some(start_b)) = (leading_bytes(a), leading_bytes(b)) {
                assert!(start_a == start_b || start_a.cmp(&start_b) == order(a, b), "{a} {b}");
            }
        }
        assert_eq!(canonical("e\u{301}"), "é");
    }
}
