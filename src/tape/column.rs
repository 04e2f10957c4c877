//! Column: stores slots by number, beside the nodes of a tape or the numbers of a sweep.
//!
//! Most slots of a column belong to one level, so the epoch is stored once and each slot takes the 8 bytes of its
//! payload. A column consists of pieces, so that a long column is never copied, and pieces that were never written take
//! no memory.

use super::Num;
use crate::value::Slot;

/// The number of payloads in a piece. The first piece of a column is allocated smaller: most columns are short.
const CHUNK: usize = 1 << 13;
const INITIAL_SIZE: usize = 64;

/// The payload that represents the absence of a slot. No node and no cell has this number; as a tangent it is a NaN
/// that no arithmetic produces.
const NOTHING: u64 = u64::MAX;

/// A column of slots, indexed by number; a number whose slot was never written has no slot.
#[derive(Clone, Debug, Default)]
pub struct SlotColumn {
    /// The payloads of each level that a slot of the column belongs to; the outermost levels need not come first.
    levels: Vec<Payloads>,
}

#[derive(Clone, Debug)]
struct Payloads {
    epoch: u64,
    words: Words,
}

/// Payloads of slots, indexed by number and stored in pieces.
#[derive(Clone, Debug, Default)]
struct Words(Vec<Vec<u64>>);

/// A column of tangents with their slots, and for each tangent the outer slot of its value: the storage of a forward
/// level inside of other levels.
#[derive(Debug, Default)]
pub struct TangentColumn {
    count: usize,
    values: Words,
    slots: SlotColumn,
    outer: SlotColumn,
}

impl TangentColumn {
    /// Returns the tangent with the number `at`, and the outer slot of its value.
    pub fn get(&self, at: usize) -> (Num, Slot) {
        if at >= self.count {
            return (Num::default(), Slot::NONE);
        }
        (Num { value: f64::from_bits(self.values.get(at)), slot: self.slots.get(at) }, self.outer.get(at))
    }

    /// Returns the number of additional bytes that the column would take if the tangent were added.
    pub fn missing(&self, tangent: Num, outer: Slot) -> u64 {
        let at = self.count;
        self.values.missing(at) + self.slots.missing(at, tangent.slot) + self.outer.missing(at, outer)
    }

    /// Adds a tangent to the column and returns its number.
    pub fn push(&mut self, tangent: Num, outer: Slot) -> u64 {
        let at = self.count;
        self.values.set(at, tangent.value.to_bits());
        self.slots.set(at, tangent.slot);
        self.outer.set(at, outer);
        self.count += 1;
        at as u64
    }

    /// Returns the number of bytes that the column takes.
    pub fn bytes(&self) -> u64 {
        self.values.bytes() + self.slots.bytes() + self.outer.bytes()
    }
}

impl SlotColumn {
    /// Returns the slot with the number `at`.
    #[inline]
    pub fn get(&self, at: usize) -> Slot {
        let of = |level: &Payloads| {
            let payload = level.words.get(at);
            (payload != NOTHING).then_some(Slot { epoch: level.epoch, payload })
        };
        self.levels.iter().find_map(of).unwrap_or(Slot::NONE)
    }

    /// Returns the number of additional bytes that the column would take if a slot were written at `at`.
    pub fn missing(&self, at: usize, slot: Slot) -> u64 {
        if slot == Slot::NONE {
            return 0;
        }
        let level = self.levels.iter().find(|level| level.epoch == slot.epoch);
        level.map_or(bytes(size(at)), |level| level.words.missing(at))
    }

    /// Writes the slot with the number `at`, or clears it.
    pub fn set(&mut self, at: usize, slot: Slot) {
        for level in self.levels.iter_mut().filter(|level| level.epoch != slot.epoch) {
            level.words.clear(at);
        }
        if slot == Slot::NONE {
            return;
        }
        let level = match self.levels.iter().position(|level| level.epoch == slot.epoch) {
            Some(k) => &mut self.levels[k],
            None => {
                self.levels.push(Payloads { epoch: slot.epoch, words: Words::default() });
                let last = self.levels.len() - 1;
                &mut self.levels[last]
            }
        };
        level.words.set(at, slot.payload);
    }

    /// Returns the number of bytes that the column takes.
    pub fn bytes(&self) -> u64 {
        self.levels.iter().map(|level| level.words.bytes()).sum()
    }

    /// Whether some slot of the column satisfies a predicate.
    pub fn any(&self, test: &mut dyn FnMut(Slot) -> bool) -> bool {
        self.slots().any(|(_, slot)| test(slot))
    }

    /// Replaces every slot of the column.
    pub fn map(&mut self, change: &mut dyn FnMut(Slot) -> Slot) {
        let old = std::mem::take(self);
        for (at, slot) in old.slots() {
            self.set(at, change(slot));
        }
    }

    fn slots(&self) -> impl Iterator<Item = (usize, Slot)> {
        self.levels.iter().flat_map(|Payloads { epoch, words }| {
            let payloads = (0..).zip(&words.0).flat_map(|(k, piece)| (k * CHUNK..).zip(piece));
            payloads
                .filter(|(_, payload)| **payload != NOTHING)
                .map(|(at, payload)| (at, Slot { epoch: *epoch, payload: *payload }))
        })
    }
}

impl Words {
    #[inline]
    fn get(&self, at: usize) -> u64 {
        self.0.get(at / CHUNK).and_then(|piece| piece.get(at % CHUNK)).copied().unwrap_or(NOTHING)
    }

    fn clear(&mut self, at: usize) {
        if let Some(payload) = self.0.get_mut(at / CHUNK).and_then(|piece| piece.get_mut(at % CHUNK)) {
            *payload = NOTHING;
        }
    }

    fn set(&mut self, at: usize, payload: u64) {
        let k = at / CHUNK;
        if k >= self.0.len() {
            self.0.resize_with(k + 1, Vec::new);
        }
        let piece = &mut self.0[k];
        if at % CHUNK >= piece.len() {
            let size = size(at);
            piece.reserve_exact(size - piece.len());
            piece.resize(size, NOTHING);
        }
        // A tangent with the bits of `NOTHING` is replaced by another NaN.
        piece[at % CHUNK] = if payload == NOTHING { NOTHING - 1 } else { payload };
    }

    fn missing(&self, at: usize) -> u64 {
        bytes(size(at).saturating_sub(self.0.get(at / CHUNK).map_or(0, Vec::len)))
    }

    fn bytes(&self) -> u64 {
        bytes(self.0.iter().map(Vec::len).sum())
    }
}

/// Returns the number of payloads in the piece that contains the number `at`.
fn size(at: usize) -> usize {
    if at < CHUNK { (at + 1).next_power_of_two().max(INITIAL_SIZE) } else { CHUNK }
}

fn bytes(payloads: usize) -> u64 {
    (payloads * size_of::<u64>()) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_where_they_were_written() {
        let mut column = SlotColumn::default();
        let slot = |epoch, payload| Slot { epoch, payload };
        for at in [3, 70, CHUNK - 1, CHUNK, 5 * CHUNK + 7] {
            let more = column.missing(at, slot(1, at as u64));
            let before = column.bytes();
            column.set(at, slot(1, at as u64));
            assert_eq!(column.bytes(), before + more);
            assert_eq!(column.missing(at, slot(1, 0)), 0);
        }
        assert_eq!((column.get(3), column.get(4), column.get(9 * CHUNK)), (slot(1, 3), Slot::NONE, Slot::NONE));
        assert_eq!(column.get(5 * CHUNK + 7), slot(1, 5 * CHUNK as u64 + 7));

        // A slot of another level replaces the slot, and then the original slot is restored.
        column.set(70, slot(9, 2));
        assert_eq!(column.get(70), slot(9, 2));
        column.set(70, slot(1, 4));
        assert_eq!(column.get(70), slot(1, 4));
        column.set(70, Slot::NONE);
        assert_eq!(column.get(70), Slot::NONE);

        // Even a tangent with the bits of `NOTHING` is a tangent.
        column.set(0, slot(1, NOTHING));
        assert!(column.get(0) != Slot::NONE && f64::from_bits(column.get(0).payload).is_nan());
        assert!(column.any(&mut |s| s.payload == 3) && !column.any(&mut |s| s.epoch == 9));
        column.map(&mut |s| if s.payload == 3 { Slot::NONE } else { slot(2, s.payload) });
        assert_eq!((column.get(3), column.get(CHUNK)), (Slot::NONE, slot(2, CHUNK as u64)));
    }
}
