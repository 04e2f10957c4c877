//! Flow state: the facts that hold at one point of a body, on some or all paths to it.

/// A set of small numbers, stored as bits.
#[derive(Clone, Default, Debug)]
pub(super) struct Bits(Vec<u64>);

impl Bits {
    pub(super) fn has(&self, i: u32) -> bool {
        self.0.get(i as usize / 64).is_some_and(|word| word >> (i % 64) & 1 == 1)
    }

    pub(super) fn put(&mut self, i: u32, is_in: bool) {
        let at = i as usize / 64;
        if at >= self.0.len() {
            self.0.resize(at + 1, 0);
        }
        let bit = 1 << (i % 64);
        if is_in {
            self.0[at] |= bit;
        } else {
            self.0[at] &= !bit;
        }
    }

    pub(super) fn add(&mut self, other: &Bits) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        self.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a |= b);
    }
}

/// The facts at a point of a body. Variables are identified by their numbers in
/// `Variables`.
#[derive(Clone, Debug)]
pub(super) struct State {
    /// Whether some path reaches this point.
    pub(super) reachable: bool,
    /// The variables that are uninitialized on some path.
    pub(super) unset: Bits,
    /// The variables that are initialized on some path.
    pub(super) set: Bits,
    /// Whether some path contains no call of the function itself.
    pub(super) free: bool,
}

impl State {
    /// Returns the state at the beginning of a body.
    pub(super) fn start() -> State {
        State { reachable: true, unset: Bits::default(), set: Bits::default(), free: true }
    }

    /// Returns the state at a point that no path reaches.
    pub(super) fn dead() -> State {
        State { reachable: false, free: false, ..State::start() }
    }

    /// Joins the state of another path into this state.
    pub(super) fn join(&mut self, other: &State) {
        if !other.reachable {
            return;
        }
        if !self.reachable {
            *self = other.clone();
            return;
        }
        self.unset.add(&other.unset);
        self.set.add(&other.set);
        self.free |= other.free;
    }

    /// Takes the state and leaves the state of an unreachable point.
    pub(super) fn take(&mut self) -> State {
        std::mem::replace(self, State::dead())
    }
}
