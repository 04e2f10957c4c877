//! Sweep: walks over a finished tape once, in reverse with adjoints or forward with tangents.
//!
//! A sweep is a state and no recursion: it stops where it needs a function of the user's own, and continues with its
//! results. Adjoints belong to the sweep, so that a tape can be swept many times and by several at once.

use super::Num;
use super::column::SlotColumn;
use super::deferred_factors::Factors;
use super::levels::{Direction, Levels};
use super::node::{Node, RecordError};
use super::recording::Tape;
use super::wide_node::{Block, Call, CallKind, WideKind};
use crate::value::Slot;
use std::rc::Rc;

/// The number of nodes between two checks for cancellation.
pub(super) const POLL: u32 = 1 << 16;

/// The tangent of a constant, which no seed reaches. A tangent that was computed as zero is `0.0` instead, and 0·∞ is
/// NaN only for such a tangent. Adding `-0.0` changes no number.
pub(super) const NO_TANGENT: f64 = -0.0;

/// The state in which a run of a sweep stops.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Progress {
    /// The sweep is complete.
    Done,
    /// The sweep needs the function of the wide node with the given index; [`Sweep::call`] returns it. In reverse, the
    /// function takes the adjoints of its results and the caller adds the adjoints of its operands; forward, tangents
    /// of the operands go through the transpose of the function, and the caller adds the tangents of the results.
    Call(usize),
    /// The user cancels.
    Interrupted,
}

/// A sweep over a tape that is in progress.
#[derive(Debug)]
pub struct Sweep {
    pub(super) tape: Rc<Tape>,
    pub(super) direction: Direction,
    pub(super) numbers: Numbers,
    /// The factors by which infinite adjoints are still to be multiplied, in reverse.
    pub(super) factors: Factors,
    /// The number of the last node that remains, in reverse; of the first remaining node, forward.
    at: u32,
    /// The chunk that contains the node `at`, and the number of the chunk's first node.
    chunk: usize,
    first: u32,
    /// The number of wide nodes that remain, in reverse; the index of the first remaining wide node, forward.
    wide: usize,
    /// The number of nodes since the last check for cancellation.
    since: u32,
}

/// The adjoints or tangents of a sweep, by node number.
#[derive(Debug)]
pub(super) enum Numbers {
    /// The numbers do not vary in any live level.
    Plain(Vec<f64>),
    /// Some numbers may vary in live levels.
    Live(LiveNumbers),
}

/// Numbers with their slots.
#[derive(Debug)]
pub(super) struct LiveNumbers {
    values: Vec<f64>,
    slots: SlotColumn,
}

impl LiveNumbers {
    fn new(values: Vec<f64>) -> LiveNumbers {
        LiveNumbers { values, slots: SlotColumn::default() }
    }

    pub(super) fn get(&self, node: u32) -> Num {
        Num { value: self.values[node as usize], slot: self.slots.get(node as usize) }
    }

    pub(super) fn set(&mut self, node: u32, x: Num) {
        self.values[node as usize] = x.value;
        self.slots.set(node as usize, x.slot);
    }
}

impl Sweep {
    /// Starts a sweep over a tape. The caller then adds seeds and [`run`](Sweep::run)s the sweep.
    pub fn new(levels: &mut Levels, tape: &Rc<Tape>, direction: Direction) -> Sweep {
        let fill = if direction == Direction::Reverse { 0.0 } else { NO_TANGENT };
        let len = tape.len() + 1;
        let live = levels.depth() > 0 && varies(levels, tape);
        let values = levels.take_scratch(len, fill);
        let numbers = if live { Numbers::Live(LiveNumbers::new(values)) } else { Numbers::Plain(values) };
        let last = tape.chunks().len().saturating_sub(1);
        let first_of_last = len - tape.chunks().last().map_or(0, Vec::len);
        let backwards = direction == Direction::Reverse;
        Sweep {
            direction,
            numbers,
            factors: Factors::default(),
            at: if backwards { len as u32 - 1 } else { tape.leaves() + 1 },
            chunk: if backwards { last } else { 0 },
            first: if backwards { first_of_last as u32 } else { tape.leaves() + 1 },
            wide: if backwards { tape.wide().len() } else { 0 },
            since: 0,
            tape: Rc::clone(tape),
        }
    }

    /// Adds to the adjoint or tangent of a node; 0 represents no node.
    ///
    /// # Errors
    /// [`RecordError`] when the sum cannot be recorded in the live levels.
    pub fn add(&mut self, levels: &mut Levels, node: u32, x: Num) -> Result<(), RecordError> {
        let live = levels.is_live(x.slot);
        if node == 0 || (x.value == 0.0 && !live) {
            return Ok(());
        }
        if live {
            self.make_live();
        }
        match &mut self.numbers {
            Numbers::Plain(numbers) => numbers[node as usize] += x.value,
            Numbers::Live(numbers) => {
                let before = numbers.get(node);
                numbers.set(node, levels.plus((!levels.is_zero(before)).then_some(before), x)?);
            }
        }
        Ok(())
    }

    /// Replaces the adjoint or tangent of a node; 0 represents no node.
    pub fn set(&mut self, node: u32, x: Num) {
        match &mut self.numbers {
            _ if node == 0 => {}
            Numbers::Plain(numbers) => numbers[node as usize] = x.value,
            Numbers::Live(numbers) => numbers.set(node, x),
        }
    }

    /// Returns the adjoint or tangent of a node.
    pub fn number(&self, node: u32) -> Num {
        match &self.numbers {
            _ if node == 0 => Num::default(),
            // Adding 0 turns the tangent of a constant into an ordinary zero.
            Numbers::Plain(numbers) => Num::constant(numbers[node as usize] + 0.0),
            Numbers::Live(numbers) => {
                let x = numbers.get(node);
                Num { value: x.value + 0.0, ..x }
            }
        }
    }

    /// Returns the adjoints or tangents of several nodes.
    pub fn numbers(&self, nodes: &[u32]) -> Vec<Num> {
        match &self.numbers {
            // Number 0 belongs to no node, so it retains its initial value.
            Numbers::Plain(numbers) => nodes.iter().map(|n| Num::constant(numbers[*n as usize] + 0.0)).collect(),
            Numbers::Live(_) => nodes.iter().map(|n| self.number(*n)).collect(),
        }
    }

    /// Returns the call to which [`Progress::Call`] refers, and the node of its first result.
    pub fn call(&self, index: usize) -> Option<(&Call, u32)> {
        let wide = self.tape.wide().get(index)?;
        match &wide.kind {
            WideKind::Call(call) => Some((call, wide.first)),
            WideKind::Sum(_) | WideKind::Block(_) | WideKind::Tensor(_) => None,
        }
    }

    /// Returns the checkpoint to which [`Progress::Call`] refers, and the node of its first result.
    pub fn block(&self, index: usize) -> Option<(&Block, u32)> {
        let wide = self.tape.wide().get(index)?;
        match &wide.kind {
            WideKind::Block(block) => Some((block, wide.first)),
            WideKind::Sum(_) | WideKind::Call(_) | WideKind::Tensor(_) => None,
        }
    }

    /// Ends the sweep and releases the memory of its numbers.
    pub fn finish(self, levels: &mut Levels) {
        levels.return_scratch(match self.numbers {
            Numbers::Plain(values) | Numbers::Live(LiveNumbers { values, .. }) => values,
        });
    }

    /// Switches the sweep to numbers that may vary in live levels, or that have deferred factors.
    pub(super) fn make_live(&mut self) {
        if let Numbers::Plain(plain) = &mut self.numbers {
            self.numbers = Numbers::Live(LiveNumbers::new(std::mem::take(plain)));
        }
    }

    /// Continues to the end, or to a function of the user's own. `stop` reports whether the user cancels.
    ///
    /// # Errors
    /// [`RecordError`] when the arithmetic of the sweep itself is recorded in live levels and a limit is reached.
    pub fn run(&mut self, levels: &mut Levels, stop: &dyn Fn() -> bool) -> Result<Progress, RecordError> {
        match self.direction {
            Direction::Reverse => self.run_backwards(levels, stop),
            Direction::Forward => self.run_forwards(levels, stop),
        }
    }

    fn run_backwards(&mut self, levels: &mut Levels, stop: &dyn Fn() -> bool) -> Result<Progress, RecordError> {
        let tape = Rc::clone(&self.tape);
        while self.at > tape.leaves() {
            while self.at < self.first {
                self.chunk -= 1;
                self.first -= tape.chunks()[self.chunk].len() as u32;
            }
            let mut low = self.first.max(self.at.saturating_sub(POLL - 1));
            if let Some(index) = self.wide.checked_sub(1) {
                let wide = &tape.wide()[index];
                let last = wide.first + wide.results - 1;
                if last == self.at {
                    self.wide = index;
                    self.at = wide.first - 1;
                    if self.wide_backward(levels, index)? {
                        return Ok(Progress::Call(index));
                    }
                    continue;
                }
                low = low.max(last + 1);
            }
            let nodes = &tape.chunks()[self.chunk][(low - self.first) as usize..=(self.at - self.first) as usize];
            let left = match &mut self.numbers {
                Numbers::Plain(adjoints) if levels.checks_not_finite() || levels.observes_steps() => {
                    backward_plain(nodes, low, adjoints)
                }
                Numbers::Plain(adjoints) => backwards(nodes, low, adjoints),
                Numbers::Live(_) => nodes.len(),
            };
            if left > 0 {
                self.make_live();
                self.backward_live(levels, &nodes[..left], low)?;
            }
            self.since += self.at + 1 - low;
            self.at = low - 1;
            if self.is_time() && stop() {
                return Ok(Progress::Interrupted);
            }
        }
        self.multiply_all_factors(levels)?;
        Ok(Progress::Done)
    }

    fn run_forwards(&mut self, levels: &mut Levels, stop: &dyn Fn() -> bool) -> Result<Progress, RecordError> {
        let tape = Rc::clone(&self.tape);
        while self.chunk < tape.chunks().len() {
            let end = self.first + tape.chunks()[self.chunk].len() as u32;
            if self.at >= end {
                self.chunk += 1;
                self.first = end;
                continue;
            }
            let mut high = end.min(self.at + POLL);
            if let Some(wide) = tape.wide().get(self.wide) {
                if wide.first == self.at {
                    let index = self.wide;
                    self.wide += 1;
                    self.at = wide.first + wide.results;
                    if self.wide_forward(levels, index)? {
                        return Ok(Progress::Call(index));
                    }
                    continue;
                }
                high = high.min(wide.first);
            }
            let nodes = &tape.chunks()[self.chunk][(self.at - self.first) as usize..(high - self.first) as usize];
            match &mut self.numbers {
                Numbers::Plain(tangents) => forwards(nodes, self.at, tangents),
                Numbers::Live(_) => self.forward_live(levels, nodes, self.at)?,
            }
            self.since += high - self.at;
            self.at = high;
            if self.is_time() && stop() {
                return Ok(Progress::Interrupted);
            }
        }
        Ok(Progress::Done)
    }

    /// Whether it is time to check for cancellation.
    fn is_time(&mut self) -> bool {
        let is_time = self.since >= POLL;
        if is_time {
            self.since = 0;
        }
        is_time
    }

    /// Processes a wide node; returns whether the sweep needs the function of the node.
    fn wide_backward(&mut self, levels: &mut Levels, index: usize) -> Result<bool, RecordError> {
        let tape = Rc::clone(&self.tape);
        let wide = &tape.wide()[index];
        match &wide.kind {
            WideKind::Sum(operands) => {
                let partials =
                    operands.iter().map(|(node, partial, slot)| (*node, Num { value: *partial, slot: *slot }));
                self.return_partials(levels, wide.first, partials)?;
                Ok(false)
            }
            WideKind::Tensor(node) => {
                self.tensor_backward(levels, node, (wide.first, wide.place()))?;
                Ok(false)
            }
            WideKind::Call(_) | WideKind::Block(_) => {
                let results = wide.first..wide.first + wide.results;
                results.clone().try_for_each(|node| self.multiply_factors(levels, node))?;
                Ok(self.any_varies(levels, results))
            }
        }
    }

    fn wide_forward(&mut self, levels: &mut Levels, index: usize) -> Result<bool, RecordError> {
        let tape = Rc::clone(&self.tape);
        let wide = &tape.wide()[index];
        match &wide.kind {
            WideKind::Sum(operands) => {
                for (node, partial, outer) in operands {
                    let partial = Num { value: *partial, slot: *outer };
                    let tangent = self.number(*node);
                    if !levels.is_zero(partial) && !self.has_no_tangent(*node) {
                        let term = levels.scaled(tangent, partial)?;
                        self.add(levels, wide.first, term)?;
                    }
                }
                Ok(false)
            }
            WideKind::Call(call) if call.kind == CallKind::Edit => {
                for (k, node) in call.operands.iter().enumerate() {
                    self.add(levels, wide.first + k as u32, self.number(*node))?;
                }
                Ok(false)
            }
            WideKind::Call(call) => Ok(self.any_varies(levels, call.operands.iter().copied())),
            WideKind::Tensor(node) => {
                self.tensor_forward(levels, node, (wide.first, wide.place()))?;
                Ok(false)
            }
            WideKind::Block(block) => Ok(self.any_varies(levels, block.operands.iter().copied())),
        }
    }

    fn any_varies(&self, levels: &Levels, mut nodes: impl Iterator<Item = u32>) -> bool {
        nodes.any(|node| !levels.is_zero(self.number(node)))
    }

    /// Whether no seed reaches a node in a forward sweep.
    pub(super) fn has_no_tangent(&self, node: u32) -> bool {
        match &self.numbers {
            Numbers::Plain(numbers) => has_no_tangent(numbers[node as usize]),
            Numbers::Live(numbers) => {
                let x = numbers.get(node);
                x.slot == Slot::NONE && has_no_tangent(x.value)
            }
        }
    }
}

/// Whether a partial derivative on the tape varies in a live level.
fn varies(levels: &Levels, tape: &Tape) -> bool {
    let wide = |kind: &WideKind| match kind {
        WideKind::Sum(operands) => operands.iter().any(|(_, _, slot)| levels.is_live(*slot)),
        WideKind::Call(_) | WideKind::Block(_) | WideKind::Tensor(_) => false,
    };
    tape.columns().any(&mut |slot| levels.is_live(slot)) || tape.wide().iter().any(|w| wide(&w.kind))
}

/// Whether a tangent is the tangent of a constant.
pub(super) fn has_no_tangent(tangent: f64) -> bool {
    tangent.to_bits() == NO_TANGENT.to_bits()
}

/// Sweeps in reverse over nodes from number `first` on; returns how many of them remain when an adjoint is infinite,
/// since [`return_partials`](Sweep::return_partials) multiplies infinite adjoints later.
///
/// The adjoint of the previous node is held in a register: a chain of operations would otherwise wait for its own store
/// at each step (4.2 against 2.5 ns). An adjoint below the smallest normal number counts as zero: contractions over
/// thousands of steps would otherwise run on subnormal numbers, which is 15 times slower; setting the processor's flush
/// mode instead would change arithmetic outside of the sweep.
fn backwards(nodes: &[Node], first: u32, adjoints: &mut [f64]) -> usize {
    let mut i = first as usize + nodes.len() - 1;
    let mut adjoint = adjoints[i];
    for node in nodes.iter().rev() {
        let below = i - 1;
        let mut next = adjoints[below];
        // The comparison propagates a NaN.
        if is_normal(adjoint) {
            let (a, b) = (node.a as usize, node.b as usize);
            let (to_a, to_b) = (adjoint * node.pa, adjoint * node.pb);
            if a == below {
                next += to_a;
            } else {
                adjoints[a] += to_a;
            }
            if b == below {
                next += to_b;
            } else {
                // A missing operand is represented by the node itself, which is already processed.
                adjoints[b] += to_b;
            }
        } else if adjoint.is_infinite() {
            adjoints[i] = adjoint;
            return i + 1 - first as usize;
        }
        adjoint = next;
        i = below;
    }
    adjoints[i] = adjoint;
    0
}

/// Whether an adjoint is neither zero nor subnormal nor infinite. NaN counts as normal.
#[inline(always)]
fn is_normal(adjoint: f64) -> bool {
    const MIN_NORMAL: u64 = f64::MIN_POSITIVE.to_bits() << 1;
    const INFINITE: u64 = f64::INFINITY.to_bits() << 1;
    let magnitude = adjoint.to_bits() << 1;
    magnitude >= MIN_NORMAL && magnitude != INFINITE
}

/// Sweeps in reverse for an observer: every adjoint remains stored after it was propagated.
fn backward_plain(nodes: &[Node], first: u32, adjoints: &mut [f64]) -> usize {
    for (k, node) in nodes.iter().enumerate().rev() {
        let n = first as usize + k;
        let adjoint = adjoints[n];
        if adjoint.is_infinite() {
            return k + 1;
        }
        if adjoint.abs() < f64::MIN_POSITIVE {
            continue;
        }
        for (operand, partial) in [(node.a as usize, node.pa), (node.b as usize, node.pb)] {
            if operand != n {
                adjoints[operand] += adjoint * partial;
            }
        }
    }
    0
}

/// Sweeps forward over nodes from the number `first` on.
fn forwards(nodes: &[Node], first: u32, tangents: &mut [f64]) {
    for (k, node) in nodes.iter().enumerate() {
        let sum = along(node.pa, tangents[node.a as usize]) + along(node.pb, tangents[node.b as usize]);
        tangents[first as usize + k] = sum;
    }
}

/// Returns the contribution of an operand to a tangent: nothing when the operand does not vary, zero when the partial
/// derivative is zero.
pub(super) fn along(partial: f64, tangent: f64) -> f64 {
    if has_no_tangent(tangent) {
        NO_TANGENT
    } else if partial == 0.0 {
        0.0
    } else {
        partial * tangent + 0.0
    }
}
