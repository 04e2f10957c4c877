//! Holes: the unused places of a dictionary.

use std::ops::Range;

const WORD: usize = u64::BITS as usize;

/// The set of the unused places of a dictionary.
#[derive(Clone, Debug, Default)]
pub(super) struct Holes {
    /// A bit for each place, which is set if the place is a hole.
    bits: Vec<u64>,
    count: usize,
    /// The number of consecutive holes at the beginning of the dictionary.
    leading: usize,
}

impl Holes {
    pub(super) fn len(&self) -> usize {
        self.count
    }

    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    pub(super) fn contains(&self, place: usize) -> bool {
        self.bits.get(place / WORD).is_some_and(|word| word >> (place % WORD) & 1 == 1)
    }

    /// Adds a place that is in use at the end.
    pub(super) fn add(&mut self, place: usize) {
        let word = place / WORD;
        if word >= self.bits.len() {
            self.bits.resize(word + 1, 0);
        }
        self.bits[word] |= 1 << (place % WORD);
        self.count += 1;
        while self.contains(self.leading) {
            self.leading += 1;
        }
    }

    /// Returns the number of holes before a place.
    fn before(&self, place: usize) -> usize {
        let (words, rest) = (place / WORD, place % WORD);
        let full_words: u32 = self.bits.iter().take(words).map(|word| word.count_ones()).sum();
        let part = self.bits.get(words).map_or(0, |word| (word & ((1 << rest) - 1)).count_ones());
        (full_words + part) as usize
    }

    /// Returns the index of a place among the places that are in use.
    pub(super) fn position(&self, place: usize) -> usize {
        match self.count == self.leading {
            true => place.saturating_sub(self.leading),
            false => place - self.before(place),
        }
    }

    /// Returns the place that has the given index among the places in use.
    pub(super) fn place(&self, position: usize) -> usize {
        if position == 0 || self.count == self.leading {
            return position + self.leading;
        }
        let mut left = position;
        for (at, word) in self.bits.iter().enumerate() {
            let there = word.count_zeros() as usize;
            if left < there {
                return at * WORD + nth_zero(*word, left);
            }
            left -= there;
        }
        self.bits.len() * WORD + left
    }

    /// Removes the holes directly before `end`, which is the new end when the places from `end` on are removed, and
    /// returns the place of the first removed hole.
    pub(super) fn end_before(&mut self, end: usize) -> usize {
        let mut new = end;
        while new > 0 && self.contains(new - 1) {
            new -= 1;
            self.bits[new / WORD] &= !(1 << (new % WORD));
            self.count -= 1;
        }
        self.leading = self.leading.min(new);
        new
    }

    /// Returns the ranges of places below `end` that are in use.
    pub(super) fn runs(&self, end: usize) -> impl Iterator<Item = Range<usize>> + '_ {
        let mut at = 0;
        std::iter::from_fn(move || {
            while at < end && self.contains(at) {
                at += 1;
            }
            let start = at;
            while at < end && !self.contains(at) {
                at += 1;
            }
            (start < at).then_some(start..at)
        })
    }
}

/// Returns the index of the `n`-th zero bit of a 64-bit word.
fn nth_zero(word: u64, n: usize) -> usize {
    let mut zeros = !word;
    for _ in 0..n {
        zeros &= zeros - 1;
    }
    zeros.trailing_zeros() as usize
}
