//! Levels: manages the live levels of differentiation.

use super::Num;
use super::column::TangentColumn;
use super::node::{Pool, RecordError};
use super::observer::{NonFiniteScalar, ObservedStep, Observer, ObserverOptions, Operation, Recorded};
use super::recording::{NodeMemory, Recording, SharedPool, Tape};
use crate::native::PrimitiveId;
use crate::value::Slot;
use std::cell::RefCell;
use std::rc::Rc;

/// The mode in which instructions of derivative code run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// No level is live, so the instructions are plain arithmetic.
    Inactive,
    /// One level is live, in reverse mode: its slots hold node numbers, and nothing is stored beside the nodes.
    SingleReverse,
    /// One level is live, in forward mode: its slots hold tangents.
    SingleForward,
    /// Several levels are live, or a linear function is recorded: the general rule applies.
    General,
}

/// The maximum number of nested levels. Deeper nesting is an error: the number of steps of each operation grows at
/// least with the square of the number of levels, and with most functions it doubles with each level.
const MAX_DEPTH: usize = 64;

/// The payload of a slot in a reverse level for a number that varies and was not recorded; no node has this number.
const UNRECORDED: u64 = u32::MAX as u64;

/// The number of bytes of scratch numbers that are retained for the next sweep.
const RETAINED_SCRATCH: usize = 4 << 20;

/// The live levels, the outermost first. Each was assigned an epoch when it was opened, higher than all earlier epochs,
/// so that the innermost level of some numbers is the one with the highest live epoch.
#[derive(Debug)]
pub struct Levels {
    mode: Mode,
    single: u64,
    /// The tape of the outermost level, if that is a reverse level: stored here for fast access by the machine.
    pub(super) outermost: Recording,
    pub(super) stack: Vec<Level>,
    last_epoch: u64,
    /// The number of operations that the general rule has recorded.
    pub(super) recorded: u32,
    pool: SharedPool,
    scratch: Vec<Vec<f64>>,
    /// The observer of the operations of all levels.
    pub(super) observer: Option<Box<dyn Observer>>,
    /// The observer of the ends of inner levels; present once something was stored while an inner level was live.
    pub(super) store_log: Option<Box<dyn Observer>>,
}

/// One live level of differentiation.
#[derive(Debug)]
pub(super) struct Level {
    pub(super) epoch: u64,
    pub(super) kind: LevelStorage,
    /// Whether the level records a function that must be linear.
    pub(super) is_linear: bool,
    /// Whether recording in the level is suspended: results are constant in the level, and only copies retain their
    /// slots.
    is_paused: bool,
    /// Whether results are marked as varied while the level is paused.
    is_traced: bool,
    /// The observer of the operations of this level alone.
    pub(super) observer: Option<Box<dyn Observer>>,
}

/// The storage of a level for its nodes or tangents.
#[derive(Debug)]
pub(super) enum LevelStorage {
    /// The outermost level, in reverse mode; its tape is [`Levels::outermost`].
    OutermostReverse,
    /// The outermost level, in forward mode: slots are tangents, and nothing is stored.
    OutermostForward,
    /// A reverse level inside of other levels.
    Reverse(Box<Recording>),
    /// A forward level inside of other levels, or the outermost level when the program stops at kinks.
    Forward(TangentColumn),
}

/// The direction in which a level differentiates.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// The level propagates tangents, along with the values.
    Forward,
    /// The level records a tape, which is swept afterwards.
    Reverse,
}

impl Levels {
    /// Sets the number of bytes that all tapes together may take.
    pub fn set_limit(&mut self, limit: u64) {
        self.pool.borrow_mut().set_limit(limit);
    }

    /// Creates a state without levels; all tapes together may take `limit` bytes.
    pub fn new(limit: u64) -> Levels {
        let pool = Rc::new(RefCell::new(Pool::new(limit)));
        Levels {
            mode: Mode::Inactive,
            single: 0,
            outermost: Recording::new(&pool),
            stack: vec![],
            last_epoch: 0,
            recorded: 0,
            pool,
            scratch: vec![],
            observer: None,
            store_log: None,
        }
    }

    /// Returns the mode in which instructions of derivative code run.
    #[inline(always)]
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Returns the epoch of the only live level.
    #[inline(always)]
    pub fn single_epoch(&self) -> u64 {
        self.single
    }

    /// Records an operation of the single reverse level; an operand 0 is constant. `None` when the tape must be
    /// extended first.
    #[inline(always)]
    pub fn push_single(&mut self, a: u32, b: u32, pa: f64, pb: f64) -> Option<u32> {
        // `bool::then` is not used, because its closure would not be inlined.
        if self.outermost.has_room() { Some(self.outermost.append(a, b, pa, pb)) } else { None }
    }

    /// Extends the tape of the single reverse level for one more operation.
    ///
    /// # Errors
    /// [`RecordError`] when the limit is reached.
    pub fn make_room(&mut self) -> Result<(), RecordError> {
        if self.mode == Mode::SingleReverse { self.outermost.make_room() } else { Ok(()) }
    }

    /// Returns the memory of the tape of the single reverse level; `None` in another mode.
    pub fn node_memory(&mut self) -> Option<NodeMemory> {
        (self.mode == Mode::SingleReverse).then(|| self.outermost.memory())
    }

    /// Sets the end of the tape of the single reverse level, after machine code has appended nodes.
    ///
    /// # Safety
    /// The nodes below the address `next` must be in the memory of the tape, and initialized.
    #[allow(unsafe_code)]
    pub unsafe fn set_next_node(&mut self, next: usize) {
        // SAFETY: as the caller guarantees.
        unsafe { self.outermost.set_next(next) }
    }

    /// Returns the number of live levels.
    #[inline(always)]
    pub fn depth(&self) -> usize {
        self.stack.len()
    }

    /// Returns the pool of memory that all tapes share.
    pub fn pool(&self) -> &SharedPool {
        &self.pool
    }

    /// Opens a level inside of the live levels, and returns its epoch.
    ///
    /// # Errors
    /// [`RecordError`] when too many levels are live.
    pub fn open(&mut self, direction: Direction) -> Result<u64, RecordError> {
        if self.stack.len() >= MAX_DEPTH {
            return Err(RecordError::Levels(MAX_DEPTH));
        }
        let kind = match (direction, self.stack.is_empty()) {
            (Direction::Reverse, true) => LevelStorage::OutermostReverse,
            // In a column, unlike in slots, equal tangents of different numbers are distinguished.
            (Direction::Forward, true) if self.options().stops_at_kinks => {
                LevelStorage::Forward(TangentColumn::default())
            }
            (Direction::Forward, true) => LevelStorage::OutermostForward,
            (Direction::Reverse, false) => LevelStorage::Reverse(Box::new(Recording::new(&self.pool))),
            (Direction::Forward, false) => LevelStorage::Forward(TangentColumn::default()),
        };
        if let Some(observer) = self.observer.as_mut().filter(|_| self.stack.is_empty()) {
            observer.opened();
        }
        self.last_epoch += 1;
        self.stack.push(Level {
            epoch: self.last_epoch,
            kind,
            is_linear: false,
            is_paused: false,
            is_traced: false,
            observer: None,
        });
        self.set_mode();
        Ok(self.last_epoch)
    }

    /// Opens a reverse level in which a linear function is recorded: nonlinear operations are rejected.
    ///
    /// # Errors
    /// [`RecordError`] when too many levels are live.
    pub fn open_linear(&mut self) -> Result<u64, RecordError> {
        let epoch = self.open(Direction::Reverse)?;
        if let Some(level) = self.stack.last_mut() {
            level.is_linear = true;
        }
        self.set_mode();
        Ok(epoch)
    }

    /// Returns the innermost level, if it can be [paused](Levels::pause): a reverse level that records.
    pub fn pausable(&self) -> Option<usize> {
        let level = self.stack.last()?;
        let is_plain = !level.is_linear && !level.is_paused && level.observer.is_none();
        (is_plain && self.direction() == Some(Direction::Reverse)).then(|| self.stack.len() - 1)
    }

    /// Suspends recording in level `k`. With `traced`, results computed from varied numbers get the slot of an
    /// [unrecorded](Levels::is_unrecorded) number.
    pub fn pause(&mut self, k: usize, traced: bool) {
        self.set_pause(k, true, traced);
    }

    /// Resumes recording in level `k`.
    pub fn unpause(&mut self, k: usize) {
        self.set_pause(k, false, false);
    }

    fn set_pause(&mut self, k: usize, is_paused: bool, is_traced: bool) {
        if let Some(level) = self.stack.get_mut(k) {
            (level.is_paused, level.is_traced) = (is_paused, is_traced);
        }
        self.set_mode();
    }

    /// Whether a slot of the level `epoch` only states that the number varies.
    pub fn is_unrecorded(epoch: u64, slot: Slot) -> bool {
        slot == Slot { epoch, payload: UNRECORDED }
    }

    /// Marks a result that was computed from varied numbers while level `k` was paused. A number that varies in an
    /// outer level retains its link to that level.
    pub(super) fn unrecorded(&self, k: usize, y: Num) -> Num {
        match self.stack.get(k) {
            Some(level) if level.is_traced && !self.is_live(y.slot) => {
                Num { value: y.value, slot: Slot { epoch: level.epoch, payload: UNRECORDED } }
            }
            _ => y,
        }
    }

    /// Whether recording in level `k` is suspended.
    pub(super) fn is_paused(&self, k: usize) -> bool {
        self.stack.get(k).is_some_and(|level| level.is_paused)
    }

    /// Sets the observer of the innermost level; returns the previous observer.
    pub(super) fn set_level_observer(&mut self, observer: Option<Box<dyn Observer>>) -> Option<Box<dyn Observer>> {
        let before = self.stack.last_mut().and_then(|level| std::mem::replace(&mut level.observer, observer));
        self.set_mode();
        before
    }

    /// Ends the innermost level and returns its tape if it is a reverse level. Numbers that were stored in the meantime
    /// become constants of the level and retain their links to the outer levels.
    pub fn close(&mut self) -> Option<Tape> {
        let level = self.stack.len().wrapping_sub(1);
        if self.stack.len() > 1
            && let Some(mut log) = self.store_log.take()
        {
            log.closed(level, &|slot| self.strip_slot(level, slot));
            self.store_log = Some(log);
        }
        let level = self.stack.pop()?;
        self.set_mode();
        match level.kind {
            LevelStorage::OutermostReverse => Some(self.outermost.finish()),
            LevelStorage::Reverse(mut recording) => Some(recording.finish()),
            LevelStorage::OutermostForward => None,
            LevelStorage::Forward(tangents) => {
                self.pool.borrow_mut().release(tangents.bytes());
                None
            }
        }
    }

    /// Ends every level, after a trap or an interruption. All slots then belong to levels that have ended, and
    /// represent constants.
    pub fn abandon(&mut self) {
        self.abandon_inner(0);
        drop(self.outermost.finish());
    }

    /// Ends every level except the outermost `depth` levels.
    pub fn abandon_inner(&mut self, depth: usize) {
        while self.stack.len() > depth
            && let Some(level) = self.stack.pop()
        {
            if let LevelStorage::Forward(tangents) = level.kind {
                self.pool.borrow_mut().release(tangents.bytes());
            }
        }
        if let Some(log) = &mut self.store_log {
            log.abandoned(depth);
        }
        self.set_mode();
    }

    /// Sets the observer of all levels; returns the previous observer.
    pub fn set_observer(&mut self, observer: Option<Box<dyn Observer>>) -> Option<Box<dyn Observer>> {
        let before = std::mem::replace(&mut self.observer, observer);
        self.set_mode();
        before
    }

    /// Returns the options of the observer of all levels.
    #[inline(always)]
    pub(super) fn options(&self) -> ObserverOptions {
        self.observer.as_ref().map_or_else(ObserverOptions::default, |observer| observer.options())
    }

    /// Whether an observer is active.
    #[inline(always)]
    pub fn is_observed(&self) -> bool {
        self.observer.is_some()
    }

    /// Whether the observer of all levels searches for numbers that are not finite.
    pub fn checks_not_finite(&self) -> bool {
        self.options().not_finite
    }

    /// Whether sweeps are shown step by step.
    pub fn observes_steps(&self) -> bool {
        self.options().steps
    }

    /// Returns the number of the current source location, while sweeps are shown step by step.
    pub(super) fn place_shown(&self) -> Option<u32> {
        self.observer.as_ref().filter(|observer| observer.options().steps).map(|observer| observer.place())
    }

    /// Returns the number of the current source location, while an operation of tensors stores it.
    pub(super) fn place_of_tensors(&self) -> Option<u32> {
        let stores = |options: ObserverOptions| options.steps || options.not_finite || options.kinks;
        self.observer.as_ref().filter(|observer| stores(observer.options())).map(|observer| observer.place())
    }

    /// Informs the observer of a number in a tensor that is not finite.
    pub(super) fn observe_scalar(&mut self, scalar: NonFiniteScalar) -> Result<(), RecordError> {
        self.observer.as_mut().map_or(Ok(()), |observer| observer.lost(scalar))
    }

    /// Informs the observer of an operation of level `k`; returns the operation as a step if it must be stored.
    #[inline]
    pub(super) fn observe(
        &mut self,
        k: usize,
        id: PrimitiveId,
        x: &[Num],
        n: i64,
        result: f64,
    ) -> Result<Option<ObservedStep>, RecordError> {
        if self.observer.is_none() {
            return Ok(None);
        }
        let mut nodes = [0; 3];
        for (to, from) in nodes.iter_mut().zip(x) {
            *to = self.node(k, *from);
        }
        let epoch = self.stack[k].epoch;
        match &mut self.observer {
            Some(observer) => observer.computed(&Operation { id, x, nodes, n, result, epoch }),
            None => Ok(None),
        }
    }

    /// Informs the observer of the tangent of an observed step.
    pub(super) fn observe_tangent(&mut self, step: &ObservedStep, of: &[f64], tangent: f64) -> Result<(), RecordError> {
        match &mut self.observer {
            Some(observer) => observer.propagated(step, of, tangent),
            None => Ok(()),
        }
    }

    /// Informs the observer of level `k` of an operation that was recorded in the level.
    pub(super) fn observe_record(&mut self, k: usize, operation: Recorded) -> Result<(), RecordError> {
        match &mut self.stack[k].observer {
            Some(observer) => observer.recorded(operation, &mut self.pool.borrow_mut()),
            None => Ok(()),
        }
    }

    fn set_mode(&mut self) {
        let (mode, single) = match self.stack.as_slice() {
            [] | [Level { is_paused: true, is_traced: false, .. }] => (Mode::Inactive, 0),
            _ if self.observer.is_some() => (Mode::General, 0),
            // The general rule checks whether a recorded step is linear.
            [
                Level { is_linear: true, .. }
                | Level { is_traced: true, .. }
                | Level { observer: Some(_), .. }
                | Level { kind: LevelStorage::Forward(_), .. },
            ] => (Mode::General, 0),
            [Level { epoch, kind: LevelStorage::OutermostForward, .. }] => (Mode::SingleForward, *epoch),
            [Level { epoch, .. }] => (Mode::SingleReverse, *epoch),
            _ => (Mode::General, 0),
        };
        self.mode = mode;
        self.single = single;
    }

    /// Returns the direction of the innermost level.
    pub fn direction(&self) -> Option<Direction> {
        Some(match self.stack.last()?.kind {
            LevelStorage::OutermostReverse | LevelStorage::Reverse(_) => Direction::Reverse,
            LevelStorage::OutermostForward | LevelStorage::Forward(_) => Direction::Forward,
        })
    }

    /// Returns the index of the level with the epoch `epoch`; `None` when the level has ended.
    #[inline]
    pub fn position(&self, epoch: u64) -> Option<usize> {
        if epoch == 0 {
            return None;
        }
        self.stack.iter().rposition(|level| level.epoch == epoch)
    }

    /// Returns the epoch of the level with the index `k`.
    pub fn epoch_at(&self, k: usize) -> Option<u64> {
        self.stack.get(k).map(|level| level.epoch)
    }

    /// Whether the level of a slot is live, so that the slot is valid.
    #[inline]
    pub fn is_live(&self, slot: Slot) -> bool {
        self.position(slot.epoch).is_some()
    }

    /// Whether a number is zero and constant in all levels.
    #[inline]
    pub fn is_zero(&self, x: Num) -> bool {
        x.value == 0.0 && !self.is_live(x.slot)
    }

    /// Returns the index of the innermost live level in which any of some numbers has a slot.
    pub fn innermost(&self, xs: &[Num]) -> Option<usize> {
        self.innermost_of(xs.iter().map(|x| x.slot))
    }

    pub(super) fn recording(&mut self, k: usize) -> Option<&mut Recording> {
        match self.stack.get_mut(k).filter(|level| !level.is_paused).map(|level| &mut level.kind)? {
            LevelStorage::OutermostReverse => Some(&mut self.outermost),
            LevelStorage::Reverse(recording) => Some(recording),
            LevelStorage::OutermostForward | LevelStorage::Forward(_) => None,
        }
    }

    /// Returns a number of the innermost, reverse level that is an input of the level: a leaf. `x` is a number of the
    /// outer levels, or already a leaf: an instance that is passed twice varies with its last leaf.
    ///
    /// # Errors
    /// [`RecordError`] when the limit is reached.
    pub fn leaf(&mut self, x: Num) -> Result<Num, RecordError> {
        let Some(k) = self.stack.len().checked_sub(1) else { return Ok(x) };
        let outer = self.live_slot(self.strip_slot(k, x.slot));
        let epoch = self.stack[k].epoch;
        match self.recording(k) {
            Some(recording) => {
                let node = recording.leaf(outer)?;
                Ok(Num { value: x.value, slot: Slot { epoch, payload: u64::from(node) } })
            }
            None => Ok(x),
        }
    }

    /// Returns the slot of the first leaf of a new reverse level that is the only level: its leaves are consecutive
    /// nodes, and nothing is stored beside them. [`add_leaves`](Levels::add_leaves) then adds the leaves.
    pub fn single_leaves(&self) -> Option<Slot> {
        match &self.stack[..] {
            [Level { epoch, kind: LevelStorage::OutermostReverse, .. }] => {
                Some(Slot { epoch: *epoch, payload: u64::from(self.outermost.len()) + 1 })
            }
            _ => None,
        }
    }

    /// Adds `count` leaves to the level of [`single_leaves`](Levels::single_leaves).
    ///
    /// # Errors
    /// [`RecordError`] when no node numbers are left.
    pub fn add_leaves(&mut self, count: usize) -> Result<(), RecordError> {
        self.outermost.leaves(count)
    }

    /// Returns a number of the innermost, forward level with the given tangent; with a zero tangent that is constant in
    /// the outer levels, the number is a constant. The tangent replaces any previous one.
    ///
    /// # Errors
    /// [`RecordError`] when the limit is reached.
    pub fn dual(&mut self, x: Num, tangent: Num) -> Result<Num, RecordError> {
        let Some(k) = self.stack.len().checked_sub(1) else { return Ok(x) };
        let outside = self.strip(k, x);
        if self.is_zero(tangent) { Ok(outside) } else { self.with_tangent(k, outside, tangent) }
    }

    /// Returns the number `x`, which the levels that enclose forward level `k` use, with a tangent in level `k`.
    pub(super) fn with_tangent(&mut self, k: usize, x: Num, tangent: Num) -> Result<Num, RecordError> {
        let epoch = self.stack[k].epoch;
        let outer = self.live_slot(x.slot);
        let tangent = Num { slot: self.live_slot(tangent.slot), ..tangent };
        let payload = match &mut self.stack[k].kind {
            LevelStorage::Forward(tangents) => {
                let missing = tangents.missing(tangent, outer);
                if missing > 0 {
                    self.pool.borrow_mut().reserve(missing)?;
                }
                tangents.push(tangent, outer)
            }
            LevelStorage::OutermostForward => tangent.value.to_bits(),
            LevelStorage::OutermostReverse | LevelStorage::Reverse(_) => unreachable!("level {k} is a forward one"),
        };
        Ok(Num { value: x.value, slot: Slot { epoch, payload } })
    }

    /// Returns the tangent that a number has in the forward level `k`; zero when the number does not vary in that
    /// level.
    pub fn tangent(&self, k: usize, x: Num) -> Num {
        match self.stack.get(k) {
            Some(level) if level.epoch == x.slot.epoch => match &level.kind {
                LevelStorage::OutermostForward => Num::constant(f64::from_bits(x.slot.payload)),
                LevelStorage::Forward(tangents) => tangents.get(x.slot.payload as usize).0,
                LevelStorage::OutermostReverse | LevelStorage::Reverse(_) => Num::default(),
            },
            _ => Num::default(),
        }
    }

    /// Returns the node that a number has on the tape of the reverse level `k`; 0 when the number does not vary in that
    /// level.
    pub fn node(&self, k: usize, x: Num) -> u32 {
        match self.stack.get(k) {
            Some(level) if level.epoch == x.slot.epoch => x.slot.payload as u32,
            _ => 0,
        }
    }

    /// Returns a number without its tangent or node in level `k`, for the levels that enclose level `k`.
    pub fn strip(&self, k: usize, x: Num) -> Num {
        Num { value: x.value, slot: self.strip_slot(k, x.slot) }
    }

    /// Returns the slot, for the levels that enclose level `k`, of a number with the given slot.
    pub fn strip_slot(&self, k: usize, slot: Slot) -> Slot {
        match self.stack.get(k) {
            Some(level) if level.epoch == slot.epoch => match &level.kind {
                LevelStorage::OutermostReverse | LevelStorage::OutermostForward => Slot::NONE,
                LevelStorage::Reverse(recording) => recording.outer_value(slot.payload as u32),
                LevelStorage::Forward(tangents) => tangents.get(slot.payload as usize).1,
            },
            _ => slot,
        }
    }

    /// Returns a slot unchanged, or no slot when the level of the slot has ended: links to ended levels must not be
    /// stored.
    pub(super) fn live_slot(&self, slot: Slot) -> Slot {
        if self.is_live(slot) { slot } else { Slot::NONE }
    }

    /// Returns scratch storage for `len` numbers, which are initialized to `fill`.
    pub(super) fn take_scratch(&mut self, len: usize, fill: f64) -> Vec<f64> {
        let mut scratch = self.scratch.pop().unwrap_or_default();
        scratch.clear();
        scratch.resize(len, fill);
        scratch
    }

    /// Takes back scratch storage that is no longer used.
    pub(super) fn return_scratch(&mut self, scratch: Vec<f64>) {
        let kept: usize = self.scratch.iter().map(Vec::capacity).sum();
        if (kept + scratch.capacity()) * size_of::<f64>() <= RETAINED_SCRATCH {
            self.scratch.push(scratch);
        }
    }
}
