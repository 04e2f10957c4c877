//! Cells: the storage of numbers with their slots, integers and references.

use super::origins::{Content, Origins};
use super::shape::Layout;
use super::{Components, Ref, Slot, release};
use crate::cancel;
use smallvec::SmallVec;
use std::rc::Rc;

/// The numbers of an object. A few numbers are stored inline, so that most records and instances are a single
/// allocation; the same applies to [`Integers`] and [`References`].
pub type Numbers = SmallVec<[f64; 2]>;
/// The integers of an object.
pub type Integers = SmallVec<[i64; 2]>;
/// The references of an object.
pub type References = SmallVec<[Ref; 2]>;

/// Storage of numbers, integers and references: the elements of an array, the fields of a record, the contents of a
/// box, the captures of a closure. Element `k` of an array with stride `(nf, ni, nr)` has its numbers at `f[k·nf..]`,
/// and so on.
#[derive(Debug, Default)]
pub struct Cells {
    /// The number of elements in the storage; 1 for records, boxes and captures.
    pub len: usize,
    /// The numbers of all elements.
    pub f: Numbers,
    /// The integers of all elements.
    pub i: Integers,
    /// The references of all elements.
    pub r: References,
    /// The tangent slots of the numbers `f`: empty, or as long as `f`. They are allocated when the first slot is
    /// stored.
    pub slots: Vec<Slot>,
    /// The origins of the stored integers and strings, which are the numbers from which they were computed, for the
    /// detection of lost tangents.
    pub origins: Origins,
}

impl Clone for Cells {
    fn clone(&self) -> Cells {
        let Cells { len, f, i, r, slots, origins } = self;
        if f.len().max(i.len()).max(r.len()) <= cancel::CHECK_INTERVAL {
            let (f, i, r, slots) = (f.clone(), i.clone(), r.clone(), slots.clone());
            return Cells { len: *len, f, i, r, slots, origins: origins.clone() };
        }
        let mut copy = Cells::empty();
        copy.origins = origins.clone();
        copy.len = *len;
        copy.slots.reserve_exact(slots.len());
        copy.f.reserve_exact(f.len());
        copy.i.reserve_exact(i.len());
        copy.r.reserve_exact(r.len());
        cancel::in_pieces(f.len(), |piece| copy.f.extend_from_slice(&f[piece]));
        cancel::in_pieces(i.len(), |piece| copy.i.extend_from_slice(&i[piece]));
        cancel::in_pieces(r.len(), |piece| copy.r.extend(r[piece].iter().cloned()));
        cancel::in_pieces(slots.len(), |piece| copy.slots.extend_from_slice(&slots[piece]));
        copy
    }
}

impl Drop for Cells {
    fn drop(&mut self) {
        if !self.r.is_empty() {
            release(&mut self.r);
        }
    }
}

impl Cells {
    /// Returns empty storage, which needs no allocation.
    pub const fn empty() -> Cells {
        Cells {
            len: 0,
            f: Numbers::new_const(),
            i: Integers::new_const(),
            r: References::new_const(),
            slots: vec![],
            origins: Origins::new(),
        }
    }

    /// Creates storage with an owner, and fills it. The storage is created in its allocation, because moving it there takes longer
    /// than filling a few elements.
    #[inline]
    pub fn shared(fill: impl FnOnce(&mut Cells)) -> Rc<Cells> {
        let mut shared = Rc::<Cells>::default();
        if let Some(cells) = Rc::get_mut(&mut shared) {
            fill(cells);
        }
        shared
    }

    /// Creates a record, box or list of captures that has the given components.
    pub fn record(parts: Components<'_>) -> Cells {
        let mut cells = Cells::default();
        cells.push(parts);
        cells
    }

    /// Creates an array of numbers that are constant in every level.
    pub fn numbers(elements: Vec<f64>) -> Cells {
        let mut cells = Cells::empty();
        cells.len = elements.len();
        cells.f = elements.into();
        cells
    }

    /// Creates an array whose elements consist of one integer each.
    pub fn integers(elements: Vec<i64>) -> Cells {
        let mut cells = Cells::empty();
        cells.len = elements.len();
        cells.i = elements.into();
        cells
    }

    /// Creates an array whose elements consist of one reference each.
    pub fn references(elements: impl Into<References>) -> Cells {
        let mut cells = Cells::empty();
        cells.r = elements.into();
        cells.len = cells.r.len();
        cells
    }

    /// Creates a record whose numbers and integers are zero and whose references are null.
    pub fn zeros(layout: Layout) -> Cells {
        Cells {
            len: 1,
            f: SmallVec::from_elem(0.0, layout.f as usize),
            i: SmallVec::from_elem(0, layout.i as usize),
            r: (0..layout.r).map(|_| Ref::Null).collect(),
            slots: vec![],
            origins: Origins::new(),
        }
    }

    /// Returns all components of all elements.
    pub fn all(&self) -> Components<'_> {
        Components { f: &self.f, slots: &self.slots, i: &self.i, r: &self.r }
    }

    /// Returns the element `index` of an array whose elements have the layout `layout`. A bank with too few components
    /// is empty.
    pub fn element(&self, index: usize, layout: Layout) -> Components<'_> {
        let (nf, ni, nr) = (layout.f as usize, layout.i as usize, layout.r as usize);
        Components {
            f: part(&self.f, index, nf),
            slots: part(&self.slots, index, nf),
            i: part(&self.i, index, ni),
            r: part(&self.r, index, nr),
        }
    }

    /// Appends an element to an array.
    pub fn push(&mut self, parts: Components<'_>) {
        self.push_numbers(parts.f, parts.slots);
        self.i.extend_from_slice(parts.i);
        self.r.extend(parts.r.iter().cloned());
        self.len += 1;
    }

    /// Appends numbers to the `f` bank, with their slots (none, or one each).
    pub fn push_numbers(&mut self, numbers: &[f64], slots: &[Slot]) {
        if slots.iter().any(|s| *s != Slot::NONE) {
            self.make_slots();
            self.slots.extend_from_slice(slots);
            self.f.extend_from_slice(numbers);
            // A well-formed element has a slot for each number or no slots; the two lists must have equal lengths in
            // any case.
            self.slots.resize(self.f.len(), Slot::NONE);
        } else {
            self.f.extend_from_slice(numbers);
            if !self.slots.is_empty() {
                self.slots.resize(self.f.len(), Slot::NONE);
            }
        }
    }

    /// Appends one number that is constant in every level to the `f` bank.
    #[inline]
    pub fn push_f(&mut self, value: f64) {
        self.f.push(value);
        if !self.slots.is_empty() {
            self.slots.push(Slot::NONE);
        }
    }

    /// Appends one number with its slot to the `f` bank.
    #[inline]
    pub fn push_num(&mut self, value: f64, slot: Slot) {
        if slot != Slot::NONE && self.slots.is_empty() {
            self.make_slots();
        }
        self.f.push(value);
        if slot != Slot::NONE || !self.slots.is_empty() {
            self.slots.push(slot);
        }
    }

    /// Returns the tangent slot of the number `index`.
    #[inline]
    pub fn slot(&self, index: usize) -> Slot {
        self.slots.get(index).copied().unwrap_or(Slot::NONE)
    }

    /// Replaces the number `index` by a number that is constant in every level; returns `false` when the index is out
    /// of range.
    #[inline]
    #[must_use]
    pub fn set_f(&mut self, index: usize, value: f64) -> bool {
        let Some(place) = self.f.get_mut(index) else { return false };
        *place = value;
        if let Some(slot) = self.slots.get_mut(index) {
            *slot = Slot::NONE;
        }
        true
    }

    /// Replaces the number `index` and its slot; returns `false` when the index is out of range.
    #[inline]
    #[must_use]
    pub fn set_num(&mut self, index: usize, value: f64, slot: Slot) -> bool {
        let Some(place) = self.f.get_mut(index) else { return false };
        *place = value;
        self.set_slot(index, slot);
        true
    }

    /// Replaces the slot of the number `index`, and leaves the number unchanged.
    #[inline]
    pub fn set_slot(&mut self, index: usize, slot: Slot) {
        if self.slots.is_empty() {
            if slot == Slot::NONE {
                return;
            }
            self.make_slots();
        }
        self.slots[index] = slot;
    }

    /// Allocates tangent slots for all numbers.
    pub fn make_slots(&mut self) {
        self.slots.resize(self.f.len(), Slot::NONE);
    }

    /// Overwrites the element `index` of an array; returns `false` when the index is out of range.
    #[must_use]
    pub fn set(&mut self, index: usize, layout: Layout, parts: Components<'_>) -> bool {
        let (nf, ni, nr) = (layout.f as usize, layout.i as usize, layout.r as usize);
        if (index + 1) * nf > self.f.len() || (index + 1) * ni > self.i.len() || (index + 1) * nr > self.r.len() {
            return false;
        }
        for (k, value) in parts.f.iter().enumerate().take(nf) {
            self.f[index * nf + k] = *value;
            self.set_slot(index * nf + k, parts.slots.get(k).copied().unwrap_or(Slot::NONE));
        }
        if ni > 0 {
            self.i[index * ni..(index + 1) * ni].iter_mut().zip(parts.i).for_each(|(to, from)| *to = *from);
        }
        if nr > 0 {
            self.r[index * nr..(index + 1) * nr].iter_mut().zip(parts.r).for_each(|(to, from)| to.clone_from(from));
        }
        true
    }

    /// Inserts an element into an array, before the element `index`.
    pub fn insert(&mut self, index: usize, layout: Layout, parts: Components<'_>) {
        let (nf, ni, nr) = (layout.f as usize, layout.i as usize, layout.r as usize);
        if parts.slots.iter().any(|s| *s != Slot::NONE) {
            self.make_slots();
        }
        if !self.slots.is_empty() {
            let slots = (0..nf).map(|k| parts.slots.get(k).copied().unwrap_or(Slot::NONE));
            self.slots.splice(index * nf..index * nf, slots);
        }
        self.f.insert_many(index * nf, parts.f.iter().copied());
        self.i.insert_many(index * ni, parts.i.iter().copied());
        self.r.insert_many(index * nr, parts.r.iter().cloned());
        self.len += 1;
    }

    /// Removes the elements `from..to` of an array.
    pub fn remove(&mut self, from: usize, to: usize, layout: Layout) {
        let (nf, ni, nr) = (layout.f as usize, layout.i as usize, layout.r as usize);
        if !self.slots.is_empty() {
            self.slots.drain(from * nf..to * nf);
        }
        self.f.drain(from * nf..to * nf);
        self.i.drain(from * ni..to * ni);
        self.r.drain(from * nr..to * nr);
        self.len -= to - from;
    }

    /// Sets the numbers and integers of the element `index` to zero, and its references to null.
    pub fn clear(&mut self, index: usize, layout: Layout) {
        let (nf, ni, nr) = (layout.f as usize, layout.i as usize, layout.r as usize);
        self.f[index * nf..(index + 1) * nf].fill(0.0);
        self.i[index * ni..(index + 1) * ni].fill(0);
        self.r[index * nr..(index + 1) * nr].fill(Ref::Null);
        if !self.slots.is_empty() {
            self.slots[index * nf..(index + 1) * nf].fill(Slot::NONE);
        }
    }

    /// Appends the elements `from..to` of another array of the same type to an array.
    pub fn extend(&mut self, other: &Cells, from: usize, to: usize, layout: Layout) {
        let (nf, ni, nr) = (layout.f as usize, layout.i as usize, layout.r as usize);
        let slots = if other.slots.is_empty() { &[] } else { &other.slots[from * nf..to * nf] };
        self.push_numbers(&other.f[from * nf..to * nf], slots);
        self.i.extend_from_slice(&other.i[from * ni..to * ni]);
        self.r.extend(other.r[from * nr..to * nr].iter().cloned());
        if !other.origins.is_unused() {
            let integers = (from * ni..to * ni).map(|k| ((k % ni) as u32, Content::Integer(other.i[k])));
            let texts = (from * nr..to * nr).filter_map(|k| Some(((k % nr) as u32, Content::of(&other.r[k])?)));
            self.origins.merge(&other.origins, integers.chain(texts));
        }
        self.len += to - from;
    }

    /// Exchanges two elements of an array.
    pub fn swap(&mut self, a: usize, b: usize, layout: Layout) {
        let (nf, ni, nr) = (layout.f as usize, layout.i as usize, layout.r as usize);
        (0..nf).for_each(|k| self.f.swap(a * nf + k, b * nf + k));
        (0..ni).for_each(|k| self.i.swap(a * ni + k, b * ni + k));
        (0..nr).for_each(|k| self.r.swap(a * nr + k, b * nr + k));
        if !self.slots.is_empty() {
            (0..nf).for_each(|k| self.slots.swap(a * nf + k, b * nf + k));
        }
    }

    /// Returns the size of the stored components in bytes.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.f[..]) + size_of_val(&self.i[..]) + size_of_val(&self.r[..]) + size_of_val(&self.slots[..])
    }

    /// Whether the storage has as many components in each bank as `len` elements with the layout `layout`.
    pub fn fits(&self, layout: Layout) -> bool {
        let fits = |have: usize, each: u32| self.len.checked_mul(each as usize) == Some(have);
        fits(self.f.len(), layout.f) && fits(self.i.len(), layout.i) && fits(self.r.len(), layout.r)
    }
}

fn part<T>(all: &[T], index: usize, size: usize) -> &[T] {
    index.checked_mul(size).and_then(|at| all.get(at..at.checked_add(size)?)).unwrap_or(&[])
}

#[cfg(test)]
mod tests {
    use super::*;

    const SLOT: Slot = Slot { epoch: 3, payload: 1 };

    #[test]
    fn slots_stay_in_step() {
        let mut cells = Cells::default();
        cells.push_f(1.0);
        assert!(cells.slots.is_empty());
        cells.push_num(2.0, SLOT);
        cells.push_f(3.0);
        assert_eq!(cells.slots, [Slot::NONE, SLOT, Slot::NONE]);
        assert!(cells.set_f(1, 5.0));
        assert_eq!(cells.slot(1), Slot::NONE);
        cells.len = 3;
        let layout = Layout { f: 1, i: 0, r: 0 };
        cells.insert(1, layout, Components { f: &[9.0], slots: &[SLOT], i: &[], r: &[] });
        assert_eq!((&cells.f[..], cells.slot(1), cells.slots.len()), (&[1.0, 9.0, 5.0, 3.0][..], SLOT, 4));
        cells.remove(0, 2, layout);
        assert_eq!((cells.len, cells.slots.len()), (2, 2));
    }
}
