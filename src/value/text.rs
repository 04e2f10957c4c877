//! Strings: text as grapheme clusters, so that `é` is one character in either encoding.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::ops::Deref;
use std::rc::Rc;
use unicode_normalization::{UnicodeNormalization, is_nfc};

/// A text with value semantics. Most texts are short and never change: they are one object without room to grow. One
/// that something is appended to has room, so that a long text is built piece by piece without being copied each time.
#[derive(Clone, Debug)]
pub enum Text {
    /// As long as it is.
    Fixed(Rc<str>),
    /// With room behind it.
    Growing(Rc<String>),
}

/// What a text has room for, at least, once something was appended to it: words are built letter by letter.
const ROOM: usize = 24;

impl Text {
    /// Appends a text: in place when nobody else has this one.
    pub fn push_str(&mut self, more: &str) {
        if let Text::Growing(text) = self {
            Rc::make_mut(text).push_str(more);
            return;
        }
        let mut text = String::with_capacity(((self.len() + more.len()) * 2).max(ROOM));
        text.push_str(self);
        text.push_str(more);
        *self = Text::Growing(Rc::new(text));
    }

    /// Makes room for a text of that many bytes.
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

    /// Which object it is.
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

/// A character as a text of its own. Those of ASCII are made once: texts are taken apart into them all the time.
pub fn character(text: &str) -> Text {
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
    fn what_others_have_stays_when_a_text_grows() {
        let mut text = Text::from("a");
        text.push_str("b");
        let other = text.clone();
        text.push_str("c");
        let at = text.address();
        text.push_str("d");
        assert_eq!((&*text, &*other), ("abcd", "ab"));
        assert_eq!(text.address(), at, "nobody else has it, so it grows in place");
        let mut roomy = Text::from("x");
        roomy.reserve(100);
        let Text::Growing(inside) = &roomy else { panic!("a text with room") };
        assert!(inside.capacity() >= 100 && &*roomy == "x");
    }

    #[test]
    fn spellings_of_a_letter_are_one_letter() {
        assert!(same("é", "e\u{301}") && !same("e", "é") && same("K", "\u{212a}"));
        assert_eq!(order("e\u{301}", "é"), Ordering::Equal);
        assert_eq!(order("e\u{301}a", "éb"), Ordering::Less);
        assert_eq!(canonical("e\u{301}"), "é");
    }
}
