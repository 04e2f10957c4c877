//! Texts as readers see them: `é` is the same letter whether it is one scalar or an `e` with an accent behind it.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::rc::Rc;
use unicode_normalization::{UnicodeNormalization, is_nfc};

thread_local! {
    static LETTERS: [Rc<str>; 128] = std::array::from_fn(|code| Rc::from(char::from(code as u8).encode_utf8(&mut [0; 4]) as &str));
}

/// A character as a text of its own. Those of ASCII are made once: texts are taken apart into them all the time.
pub fn character(text: &str) -> Rc<str> {
    match text.as_bytes() {
        [letter] => LETTERS.try_with(|letters| letters.get(usize::from(*letter)).cloned()).ok().flatten(),
        _ => None,
    }
    .unwrap_or_else(|| text.into())
}

/// Whether two texts are the same to a reader.
pub fn same(a: &str, b: &str) -> bool {
    a == b || !(a.is_ascii() && b.is_ascii()) && canonical(a) == canonical(b)
}

/// The order of two texts, by the numbers of their scalars.
pub fn order(a: &str, b: &str) -> Ordering {
    if a.is_ascii() && b.is_ascii() { a.cmp(b) } else { canonical(a).cmp(&canonical(b)) }
}

/// The one spelling that all texts have that are the same to a reader.
pub fn canonical(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || is_nfc(text) { Cow::Borrowed(text) } else { Cow::Owned(text.nfc().collect()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_a_letter_are_one_letter() {
        assert!(same("é", "e\u{301}") && !same("e", "é") && same("K", "\u{212a}"));
        assert_eq!(order("e\u{301}", "é"), Ordering::Equal);
        assert_eq!(order("e\u{301}a", "éb"), Ordering::Less);
        assert_eq!(canonical("e\u{301}"), "é");
    }
}
