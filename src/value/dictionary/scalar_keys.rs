//! Scalar keys: access to the keys that are single strings or integers, which are hashed and compared directly.

use super::{Dictionary, Entry, INVALID};
use crate::value::hashing::{hash_integer, hash_text};
use crate::value::shape::Layout;
use crate::value::{Components, Ref, string};

/// A key of a type that consists of a single string or integer.
#[derive(Clone, Copy, Debug)]
pub enum ScalarKey<'a> {
    /// The key is an integer.
    Int(i64),
    /// The key is a string.
    Text(&'a str),
}

impl<'a> ScalarKey<'a> {
    /// Returns the key that consists of the given components.
    pub fn of(key: Components<'a>) -> Option<ScalarKey<'a>> {
        match (key.i, key.r) {
            ([key], []) => Some(ScalarKey::Int(*key)),
            ([], [Ref::Text(key)]) => Some(ScalarKey::Text(key)),
            _ => None,
        }
    }

    fn hash(self) -> u64 {
        match self {
            ScalarKey::Int(key) => hash_integer(key),
            ScalarKey::Text(key) => hash_text(key),
        }
    }
}

impl Dictionary {
    /// Whether the values have the given layout.
    pub fn values_fit(&self, layout: Layout) -> bool {
        self.kept.values.fits(layout)
    }

    /// Returns the value at a place, if the values are single integers.
    #[inline(always)]
    pub fn integer_there(&self, place: usize) -> Option<i64> {
        self.kept.values.i.get(place).copied()
    }

    /// Sets the value at a place to an integer, if the values are single integers.
    #[inline(always)]
    pub fn set_integer_there(&mut self, place: usize, value: i64) -> Option<()> {
        if self.packed.get().is_some() {
            self.packed.take();
        }
        *self.kept.values.i.get_mut(place)? = value;
        Some(())
    }

    /// Returns the place at which a key is stored.
    #[inline(always)]
    pub fn find_scalar(&self, key: ScalarKey<'_>) -> Option<usize> {
        let last = self.last.get();
        if last != INVALID && self.is_bytewise(last, key) {
            return Some(last);
        }
        let place = self.find_scalar_hashed(key, key.hash())?;
        self.last.set(place);
        Some(place)
    }

    /// Whether the key at a place consists of the same integer or the same bytes as `key`.
    #[inline(always)]
    fn is_bytewise(&self, place: usize, key: ScalarKey<'_>) -> bool {
        match key {
            ScalarKey::Int(key) => self.kept.keys.i.get(place) == Some(&key),
            ScalarKey::Text(key) => {
                let there = self.kept.keys.r.get(place);
                matches!(there, Some(Ref::Text(there)) if string::is_bytewise_equal(there, key))
            }
        }
    }

    fn find_scalar_hashed(&self, key: ScalarKey<'_>, hash: u64) -> Option<usize> {
        let found = match key {
            ScalarKey::Int(key) => {
                self.table.find(hash, |e| e.hash == hash && self.kept.keys.i.get(e.index) == Some(&key))
            }
            ScalarKey::Text(key) => {
                let same = |r: &Ref| matches!(r, Ref::Text(there) if string::same(there, key));
                self.table.find(hash, |e: &Entry| e.hash == hash && self.kept.keys.r.get(e.index).is_some_and(same))
            }
        };
        found.map(|e| e.index)
    }

    /// Sets the value of a key, which is added if it does not exist; `None` if it is not a scalar key.
    pub fn set_scalar(&mut self, key: Components<'_>, (layout, value): (Layout, Components<'_>)) -> Option<()> {
        let scalar = ScalarKey::of(key)?;
        let last = self.last.get();
        if last != INVALID && self.is_bytewise(last, scalar) {
            self.set_there(last, layout, value);
            return Some(());
        }
        let hash = scalar.hash();
        match self.find_scalar_hashed(scalar, hash) {
            Some(place) => self.set_there(place, layout, value),
            None => self.add_hashed(hash, key, value),
        }
        Some(())
    }

    /// Returns the references of the value at a place, for moving them out and back.
    pub fn references_there(&mut self, place: usize, layout: Layout) -> &mut [Ref] {
        self.packed.take();
        let count = layout.r as usize;
        &mut self.kept.values.r[place * count..(place + 1) * count]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::shape::{Shape, Shapes};

    #[test]
    fn scalar_keys_are_the_keys_of_their_shapes() {
        let mut shapes = Shapes::default();
        let (int, string) = (shapes.add(Shape::Int { bits: 64, signed: true }), shapes.add(Shape::String));
        let texts = ["", "a", "abc", "abcdefg", "abcdefgh", "abcdefghi", "é", "e\u{301}", "ｋ", "longer than 16 bytes"];
        let layout = Layout { f: 0, i: 1, r: 0 };
        let value = Components { i: &[3], ..Components::default() };
        let (mut by_text, mut by_integer) = (Dictionary::default(), Dictionary::default());
        for (k, text) in texts.iter().enumerate() {
            let text = [Ref::Text((*text).into())];
            let key = Components { r: &text, ..Components::default() };
            assert_eq!(by_text.find(&shapes, string, key), by_text.find_scalar(ScalarKey::of(key).unwrap()));
            by_text.set_scalar(key, (layout, value)).unwrap();
            by_text.last.set(INVALID);
            assert!(by_text.find(&shapes, string, key).is_some());
            let integer = [k as i64 * 1_000_003];
            let key = Components { i: &integer, ..Components::default() };
            by_integer.set(&shapes, (int, key), (layout, value));
            by_integer.last.set(INVALID);
            assert_eq!(by_integer.find_scalar(ScalarKey::of(key).unwrap()), Some(k));
        }
        assert_eq!((by_text.len(), by_integer.len()), (texts.len() - 1, texts.len()), "é is one key in both encodings");
    }
}
