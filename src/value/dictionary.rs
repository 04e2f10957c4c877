//! Dictionaries: dictionaries and sets, with keys in insertion order and an index.
//!
//! A key has a *place*, the index at which it is stored, and a *position*, its index among the existing keys. The two
//! differ where keys were removed: removal leaves a hole, so that its cost does not depend on the size of the
//! dictionary. When there are more holes than keys, the dictionary is compacted.

mod holes;
#[cfg(test)]
mod model_tests;
mod scalar_keys;

use super::comparison::equal;
use super::hashing::hash;
use super::origins::Origins;
use super::shape::{Layout, Shape, ShapeId, Shapes};
use super::{Cells, Components, Ref};
use hashbrown::HashTable;
use holes::Holes;
pub use scalar_keys::ScalarKey;
use std::cell::{Cell, OnceCell};

/// A place that no key has.
const INVALID: usize = usize::MAX;

/// A dictionary, or a set (whose values have no components).
#[derive(Debug, Default)]
pub struct Dictionary {
    /// The keys in the order of insertion, and the values with their slots; indexed by place.
    kept: Columns,
    /// The hashes of the keys, indexed by place, so that the table can grow and remove keys without computing the
    /// hashes again.
    hashes: Vec<u64>,
    table: HashTable<Entry>,
    holes: Holes,
    /// A cache of all keys and values, indexed by position, while there are holes.
    packed: OnceCell<Box<Columns>>,
    /// The place of the last key that was found: an update looks a key up twice, once to read the value and once to
    /// write it.
    last: Cell<usize>,
}

#[derive(Clone, Debug, Default)]
struct Columns {
    keys: Cells,
    values: Cells,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    hash: u64,
    index: usize,
}

impl Clone for Dictionary {
    /// Copies the dictionary, including the place of the last key that was found.
    fn clone(&self) -> Dictionary {
        Dictionary {
            kept: self.kept.clone(),
            hashes: self.hashes.clone(),
            table: self.table.clone(),
            holes: self.holes.clone(),
            packed: OnceCell::new(),
            last: self.last.clone(),
        }
    }
}

impl Dictionary {
    /// Returns a dictionary without holes that consists of the given columns.
    fn closed(&self, kept: Columns) -> Dictionary {
        let hashes: Vec<u64> = self.places().map(|place| self.hashes[place]).collect();
        let mut table = HashTable::with_capacity(hashes.len());
        for (index, hash) in hashes.iter().copied().enumerate() {
            table.insert_unique(hash, Entry { hash, index }, |e| e.hash);
        }
        Dictionary { kept, hashes, table, last: Cell::new(INVALID), ..Dictionary::default() }
    }

    /// Returns the number of keys in the dictionary.
    pub fn len(&self) -> usize {
        self.kept.keys.len - self.holes.len()
    }

    /// Whether the dictionary has no keys.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the keys and the values of the dictionary have the given layouts.
    pub fn fits(&self, keys: Layout, values: Layout) -> bool {
        self.kept.keys.fits(keys) && self.kept.values.fits(values)
    }

    /// Returns the origins of the integers and strings in the keys and in the values.
    pub fn origins(&self) -> [&Origins; 2] {
        [&self.kept.keys.origins, &self.kept.values.origins]
    }

    /// Returns the origins of the integers and strings in the keys and in the values for modification.
    pub fn origins_mut(&mut self) -> [&mut Origins; 2] {
        self.packed.take();
        [&mut self.kept.keys.origins, &mut self.kept.values.origins]
    }

    // By position

    /// Returns all keys in the order of insertion.
    pub fn keys(&self) -> &Cells {
        &self.columns().keys
    }

    /// Returns all values in the order of their keys.
    pub fn values(&self) -> &Cells {
        &self.columns().values
    }

    /// Returns all values for modification. The number of values must not change.
    pub fn values_mut(&mut self) -> &mut Cells {
        self.close();
        &mut self.kept.values
    }

    /// Returns a dictionary with the same keys and other values, one for each key.
    #[must_use]
    pub fn with_values(&self, values: Cells) -> Dictionary {
        self.with(self.keys().clone(), values)
    }

    /// Returns a dictionary with other keys, whose hashes are those of the existing keys, and other values.
    #[must_use]
    pub fn with(&self, keys: Cells, values: Cells) -> Dictionary {
        self.closed(Columns { keys, values })
    }

    fn columns(&self) -> &Columns {
        if self.holes.is_empty() {
            return &self.kept;
        }
        self.packed.get_or_init(|| Box::new(self.pack()))
    }

    fn pack(&self) -> Columns {
        let (keys, values) = (self.layout(&self.kept.keys), self.layout(&self.kept.values));
        let mut packed = Columns::default();
        for run in self.holes.runs(self.kept.keys.len) {
            packed.keys.extend(&self.kept.keys, run.start, run.end, keys);
            packed.values.extend(&self.kept.values, run.start, run.end, values);
        }
        packed
    }

    /// Returns the layout of the elements of a column, which contains all keys or all values.
    fn layout(&self, column: &Cells) -> Layout {
        let each = |all: usize| (all / self.kept.keys.len.max(1)) as u32;
        Layout { f: each(column.f.len()), i: each(column.i.len()), r: each(column.r.len()) }
    }

    /// Returns the place of the key at a position, if it is in range.
    pub fn place(&self, position: usize) -> Option<usize> {
        (position < self.len()).then(|| self.holes.place(position))
    }

    /// Returns the position of the key that is stored at a place.
    pub fn position(&self, place: usize) -> usize {
        self.holes.position(place)
    }

    // By place

    /// Whether a key is stored at a place.
    pub fn is_there(&self, place: usize) -> bool {
        place < self.kept.keys.len && !self.holes.contains(place)
    }

    fn places(&self) -> impl Iterator<Item = usize> + '_ {
        self.holes.runs(self.kept.keys.len).flatten()
    }

    /// Returns the key that is stored at a place.
    pub fn key_there(&self, place: usize, layout: Layout) -> Components<'_> {
        self.kept.keys.element(place, layout)
    }

    /// Returns the value of the key that is stored at a place.
    pub fn value_there(&self, place: usize, layout: Layout) -> Components<'_> {
        self.kept.values.element(place, layout)
    }

    /// Returns all values indexed by place, including the values of holes.
    pub fn values_there(&self) -> &Cells {
        &self.kept.values
    }

    /// Sets the value of the key that is stored at a place.
    pub fn set_there(&mut self, place: usize, layout: Layout, value: Components<'_>) {
        self.packed.take();
        let there = self.kept.values.set(place, layout, value);
        debug_assert!(there, "values stand beside their keys");
    }

    /// Sets the references of the value of the key at a place to null.
    pub fn forget_references(&mut self, place: usize, layout: Layout) {
        self.packed.take();
        let count = layout.r as usize;
        self.kept.values.r[place * count..(place + 1) * count].fill(Ref::Null);
    }

    /// Returns the place at which a key is stored.
    pub fn find(&self, shapes: &Shapes, shape: ShapeId, key: Components<'_>) -> Option<usize> {
        if self.is_last(shapes, shape, key) {
            return Some(self.last.get());
        }
        let place = self.find_hashed(shapes, shape, key, hash(shapes, shape, key))?;
        self.last.set(place);
        Some(place)
    }

    /// Whether a key is the last one that was found.
    fn is_last(&self, shapes: &Shapes, shape: ShapeId, key: Components<'_>) -> bool {
        let last = self.last.get();
        match shapes.get(shape) {
            Shape::Int { .. } => key.i.first().is_some_and(|key| self.kept.keys.i.get(last) == Some(key)),
            Shape::String => match (key.r.first(), self.kept.keys.r.get(last)) {
                (Some(Ref::Text(key)), Some(Ref::Text(there))) => **key == **there,
                _ => false,
            },
            _ => false,
        }
    }

    fn find_hashed(&self, shapes: &Shapes, shape: ShapeId, key: Components<'_>, hash: u64) -> Option<usize> {
        let found = match shapes.get(shape) {
            // The most frequent kinds of keys are compared directly.
            Shape::Int { .. } => {
                let key = key.i.first()?;
                self.table.find(hash, |e| e.hash == hash && self.kept.keys.i.get(e.index) == Some(key))
            }
            Shape::String => {
                let Ref::Text(key) = key.r.first()? else { return None };
                let same = |r: &Ref| matches!(r, Ref::Text(text) if super::string::same(text, key));
                self.table.find(hash, |e| e.hash == hash && self.kept.keys.r.get(e.index).is_some_and(same))
            }
            _ => {
                let layout = shapes.layout(shape);
                let same =
                    |e: &Entry| e.hash == hash && equal(shapes, shape, self.kept.keys.element(e.index, layout), key);
                self.table.find(hash, same)
            }
        };
        found.map(|e| e.index)
    }

    /// Sets the value of a key, which is added if it does not exist. Returns its place.
    pub fn set(
        &mut self,
        shapes: &Shapes,
        (key_shape, key): (ShapeId, Components<'_>),
        (layout, value): (Layout, Components<'_>),
    ) -> usize {
        if self.is_last(shapes, key_shape, key) {
            let place = self.last.get();
            self.set_there(place, layout, value);
            return place;
        }
        let hash = hash(shapes, key_shape, key);
        if let Some(place) = self.find_hashed(shapes, key_shape, key, hash) {
            self.set_there(place, layout, value);
            return place;
        }
        self.add_hashed(hash, key, value);
        self.kept.keys.len - 1
    }

    /// Returns the first place after the place `after` whose key has the hash `hash`.
    pub fn next_hashed(&self, hash: u64, after: i64) -> Option<usize> {
        let found = self.table.iter_hash(hash).filter(|e| e.hash == hash && e.index as i64 > after);
        found.map(|e| e.index).min()
    }

    /// Adds a key and its value, without comparing the key with the existing keys.
    pub fn add_hashed(&mut self, hash: u64, key: Components<'_>, value: Components<'_>) {
        self.packed.take();
        let index = self.kept.keys.len;
        self.kept.keys.push(key);
        self.kept.values.push(value);
        self.hashes.push(hash);
        self.table.insert_unique(hash, Entry { hash, index }, |e| e.hash);
    }

    /// Removes the key at a place, and its value; the order of the other keys is unchanged.
    pub fn remove_there(&mut self, place: usize, keys: Layout, values: Layout) {
        self.packed.take();
        if self.last.get() == place {
            self.last.set(INVALID);
        }
        if let Ok(entry) = self.table.find_entry(self.hashes[place], |e| e.index == place) {
            entry.remove();
        }
        if place + 1 == self.kept.keys.len {
            self.shorten(keys, values);
            return;
        }
        self.kept.keys.clear(place, keys);
        self.kept.values.clear(place, values);
        self.holes.add(place);
        if self.holes.len() > self.len() {
            self.close();
        }
    }

    /// Removes the last place of the dictionary, and the holes before it.
    fn shorten(&mut self, keys: Layout, values: Layout) {
        let old = self.kept.keys.len;
        let new = self.holes.end_before(old - 1);
        self.kept.keys.remove(new, old, keys);
        self.kept.values.remove(new, old, values);
        self.hashes.truncate(new);
    }

    /// Compacts the dictionary: removes all holes.
    fn close(&mut self) {
        if !self.holes.is_empty() {
            let packed = self.packed.take().map_or_else(|| self.pack(), |packed| *packed);
            *self = self.closed(packed);
        }
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
        assert_eq!((d.values().slot(7), d.values().slots.len()), (slot, 1000));
        d.remove_there(3, Layout { f: 0, i: 1, r: 0 }, number);
        assert_eq!(d.find(&shapes, int, key(&[17 * 3])), None);
        assert_eq!(d.find(&shapes, int, key(&[17 * 7])).map(|place| d.position(place)), Some(6));
        assert_eq!((d.len(), d.values().slot(6)), (999, slot));
        assert_eq!((d.clone().find(&shapes, int, key(&[17 * 7])), d.clone().values().slot(6)), (Some(7), slot));
    }
}
