//! Dictionaries and sets: keys in the order in which they were inserted, and a table that finds them.

use super::compare::{equal, hash};
use super::shape::{Layout, Shape, ShapeId, Shapes};
use super::{Cells, Components, Ref};
use hashbrown::HashTable;
use std::cell::Cell;

/// A dictionary, or a set (whose values have no components).
#[derive(Clone, Debug, Default)]
pub struct Dictionary {
    /// The keys, in the order of insertion.
    pub keys: Cells,
    /// The values beside them, with their slots.
    pub values: Cells,
    table: HashTable<Entry>,
    /// The place of the key that was found last: what is changed is looked up twice, once to be read and once to be
    /// written.
    last: Cell<usize>,
}

/// The hash is kept, so that the table grows without looking at keys.
#[derive(Clone, Copy, Debug)]
struct Entry {
    hash: u64,
    index: usize,
}

impl Dictionary {
    /// How many keys there are.
    pub fn len(&self) -> usize {
        self.keys.len
    }

    /// Whether there is no key.
    pub fn is_empty(&self) -> bool {
        self.keys.len == 0
    }

    /// The place of a key.
    pub fn find(&self, shapes: &Shapes, shape: ShapeId, key: Components<'_>) -> Option<usize> {
        if self.is_last(shapes, shape, key) {
            return Some(self.last.get());
        }
        let place = self.find_hashed(shapes, shape, key, hash(shapes, shape, key))?;
        self.last.set(place);
        Some(place)
    }

    /// Whether a key is the one that was found last.
    fn is_last(&self, shapes: &Shapes, shape: ShapeId, key: Components<'_>) -> bool {
        let last = self.last.get();
        match shapes.get(shape) {
            Shape::Int { .. } => key.i.first().is_some_and(|key| self.keys.i.get(last) == Some(key)),
            Shape::String => match (key.r.first(), self.keys.r.get(last)) {
                (Some(Ref::Text(key)), Some(Ref::Text(there))) => **key == **there,
                _ => false,
            },
            _ => false,
        }
    }

    fn find_hashed(&self, shapes: &Shapes, shape: ShapeId, key: Components<'_>, hash: u64) -> Option<usize> {
        let found = match shapes.get(shape) {
            // The two kinds of keys that nearly every dictionary has.
            Shape::Int { .. } => {
                let key = key.i.first()?;
                self.table.find(hash, |e| e.hash == hash && self.keys.i.get(e.index) == Some(key))
            }
            Shape::String => {
                let Ref::Text(key) = key.r.first()? else { return None };
                let same = |r: &Ref| matches!(r, Ref::Text(text) if super::text::same(text, key));
                self.table.find(hash, |e| e.hash == hash && self.keys.r.get(e.index).is_some_and(same))
            }
            _ => {
                let layout = shapes.layout(shape);
                let same = |e: &Entry| e.hash == hash && equal(shapes, shape, self.keys.element(e.index, layout), key);
                self.table.find(hash, same)
            }
        };
        found.map(|e| e.index)
    }

    /// Sets the value of a key, which is added when it is new. Returns its place.
    pub fn set(
        &mut self,
        shapes: &Shapes,
        (key_shape, key): (ShapeId, Components<'_>),
        (layout, value): (Layout, Components<'_>),
    ) -> usize {
        if self.is_last(shapes, key_shape, key) {
            let there = self.values.set(self.last.get(), layout, value);
            debug_assert!(there, "values stand beside their keys");
            return self.last.get();
        }
        let hash = hash(shapes, key_shape, key);
        if let Some(index) = self.find_hashed(shapes, key_shape, key, hash) {
            let there = self.values.set(index, layout, value);
            debug_assert!(there, "values stand beside their keys");
            return index;
        }
        self.add_hashed(hash, key, value);
        self.keys.len - 1
    }

    /// The first place behind another one whose key has a hash.
    pub fn next_hashed(&self, hash: u64, after: i64) -> Option<usize> {
        let found = self.table.iter_hash(hash).filter(|e| e.hash == hash && e.index as i64 > after);
        found.map(|e| e.index).min()
    }

    /// Adds a key, without a look at those that are there.
    pub fn add_hashed(&mut self, hash: u64, key: Components<'_>, value: Components<'_>) {
        let index = self.keys.len;
        self.keys.push(key);
        self.values.push(value);
        self.table.insert_unique(hash, Entry { hash, index }, |e| e.hash);
    }

    /// Removes the key at a place, and its value; the order of the others stays.
    pub fn remove_at(&mut self, index: usize, keys: Layout, values: Layout) {
        self.table.retain(|e| e.index != index);
        if index + 1 < self.keys.len {
            self.table.iter_mut().filter(|e| e.index > index).for_each(|e| e.index -= 1);
        }
        self.keys.remove(index, index + 1, keys);
        self.values.remove(index, index + 1, values);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Slot;

    #[test]
    fn keys_keep_their_order_and_values_their_slots() {
        let mut shapes = Shapes::default();
        let int = shapes.add(Shape::Int { bits: 64, signed: true });
        let number = Layout { f: 1, i: 0, r: 0 };
        let mut d = Dictionary::default();
        let slot = Slot { epoch: 1, payload: 2 };
        for k in 0..1000_i64 {
            let value = Components { f: &[k as f64], slots: if k == 7 { &[slot] } else { &[] }, i: &[], r: &[] };
            d.set(&shapes, (int, Components { i: &[k * 17], ..Components::default() }), (number, value));
        }
        let key = |k: &'static [i64]| Components { i: k, ..Components::default() };
        assert_eq!(d.find(&shapes, int, key(&[17 * 7])), Some(7));
        assert_eq!((d.values.slot(7), d.values.slots.len()), (slot, 1000));
        d.remove_at(3, Layout { f: 0, i: 1, r: 0 }, number);
        assert_eq!(d.find(&shapes, int, key(&[17 * 3])), None);
        assert_eq!(d.find(&shapes, int, key(&[17 * 7])), Some(6));
        assert_eq!((d.len(), d.values.slot(6)), (999, slot));
    }
}
