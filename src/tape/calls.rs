//! Calls on a tape: records calls of registered pullbacks, edits of adjoints, and numbers with given tangents.

use super::Num;
use super::levels::{Direction, Levels};
use super::node::RecordError;
use super::wide_node::{Block, Call, CallKind, Template, Wide, WideDescription, WideKind};
use crate::value::{Ref, Slot, opaque_vector};
use smallvec::SmallVec;
use std::rc::Rc;

/// The results of a wide node, of which most have one.
pub(super) type Results = SmallVec<[Num; 1]>;

impl Levels {
    /// Returns the direction of the level with the index `k`.
    pub fn direction_at(&self, k: usize) -> Option<Direction> {
        use super::levels::LevelStorage;
        Some(match self.stack.get(k)?.kind {
            LevelStorage::OutermostReverse | LevelStorage::Reverse(_) => Direction::Reverse,
            LevelStorage::OutermostForward | LevelStorage::Forward(_) => Direction::Forward,
        })
    }

    /// Returns the index of the innermost live level to which some slots belong.
    #[inline]
    pub(super) fn innermost_of(&self, slots: impl Iterator<Item = Slot> + Clone) -> Option<usize> {
        let epoch = slots.clone().map(|slot| slot.epoch).max().unwrap_or(0);
        match self.position(epoch) {
            Some(k) => Some(k),
            // The level with the highest epoch has ended; the other levels may still be live.
            None if epoch > 0 => slots.filter_map(|slot| self.position(slot.epoch)).max(),
            None => None,
        }
    }

    /// Records, on the tape of reverse level `k`, results whose adjoints go through a function of the user's own in the
    /// reverse sweep. `results` are numbers of the outer levels, and are returned as numbers of the level.
    ///
    /// # Errors
    /// [`RecordError`] when the limit is reached.
    pub fn push_call(&mut self, k: usize, call: Call, results: &[Num]) -> Result<Vec<Num>, RecordError> {
        Ok(self.push_kind(k, WideKind::Call(Box::new(call)), results)?.into_vec())
    }

    /// Records, on the tape of reverse level `k`, the results of a part of the program that the reverse sweep runs
    /// again. `results` are numbers of the outer levels, and are returned as numbers of the level.
    ///
    /// # Errors
    /// [`RecordError`] when the limit is reached.
    pub fn push_block(&mut self, k: usize, block: Block, results: &[Num]) -> Result<Vec<Num>, RecordError> {
        if results.is_empty() {
            return Ok(vec![]);
        }
        let held = block.held;
        self.pool().borrow_mut().reserve(held)?;
        let pushed = self.push_kind(k, WideKind::Block(Box::new(block)), results);
        if pushed.is_err() {
            self.pool().borrow_mut().release(held);
        }
        Ok(pushed?.into_vec())
    }

    pub(super) fn push_kind(&mut self, k: usize, kind: WideKind, results: &[Num]) -> Result<Results, RecordError> {
        // The values of the outermost level have no outer slots.
        let outer: SmallVec<[Slot; 1]> = match k {
            0 => SmallVec::new(),
            _ => results.iter().map(|y| self.live_slot(y.slot)).collect(),
        };
        let epoch = self.epoch_at(k).unwrap_or(0);
        let description = self.description(&kind, results);
        let Some(tape) = self.recording(k) else {
            return Ok(results.iter().map(|y| self.unrecorded(k, *y)).collect());
        };
        let count = results.len() as u32;
        let first = tape.push_wide(count, |first| Wide { first, results: count, kind, description })?;
        for (node, slot) in (first..).zip(outer) {
            tape.set_outer_value(node, slot)?;
        }
        let number = |value, node| Num { value, slot: Slot { epoch, payload: u64::from(node) } };
        Ok(match results {
            [y] => Results::from_buf([number(y.value, first)]),
            _ => results.iter().zip(first..).map(|(y, node)| number(y.value, node)).collect(),
        })
    }

    /// Returns the description of a wide node, if it is stored.
    fn description(&self, kind: &WideKind, results: &[Num]) -> Option<Box<WideDescription>> {
        let place = if let WideKind::Tensor(_) = kind { self.place_of_tensors() } else { self.place_shown() }?;
        let value = |y: &Num| if kind.returns_tensor() { opaque_vector::UNSTORED } else { y.value };
        let values = results.iter().map(value).collect();
        Some(Box::new(WideDescription { name: kind.name(), place, values }))
    }

    /// Returns a number of reverse level `k` that varies in this level as `like` does, but has the value and the outer
    /// slot of `x`, a number of the outer levels. If `like` does not vary, the result is `x` itself.
    ///
    /// # Errors
    /// [`RecordError`] when the limit is reached.
    pub fn varied_like(&mut self, k: usize, like: Num, x: Num) -> Result<Num, RecordError> {
        let node = self.node(k, like);
        if node == 0 {
            return Ok(x);
        }
        if self.is_paused(k) {
            return Ok(self.unrecorded(k, x));
        }
        let outer = self.live_slot(x.slot);
        if outer == self.strip_slot(k, like.slot) {
            return Ok(Num { value: x.value, slot: like.slot });
        }
        let alias = self.push_node(k, (node, Num::constant(1.0)), (0, Num::default()), outer)?;
        Ok(Num { value: x.value, slot: self.slot_of(k, alias) })
    }

    /// Returns a number of forward level `k` with a tangent; `x` and the tangent are numbers of the outer levels.
    ///
    /// # Errors
    /// [`RecordError`] when the limit is reached.
    pub fn dual_at(&mut self, k: usize, x: Num, tangent: Num) -> Result<Num, RecordError> {
        match self.direction_at(k) {
            Some(Direction::Forward) => self.with_tangent(k, x, tangent),
            Some(Direction::Reverse) | None => Ok(x),
        }
    }

    /// Returns the number `y`, which was computed from `x` without a derivative: its adjoint is passed to `function`,
    /// and its tangent is `mark`, in every level in which `x` varies.
    ///
    /// # Errors
    /// [`RecordError`] when the limit is reached.
    pub fn without_tangent(
        &mut self,
        x: Num,
        y: Num,
        function: &Ref,
        template: &Template,
        mark: f64,
    ) -> Result<Num, RecordError> {
        let Some(k) = self.innermost(&[x]) else { return Ok(y) };
        let outside = self.without_tangent(self.strip(k, x), self.strip(k, y), function, template, mark)?;
        if self.direction_at(k) == Some(Direction::Forward) {
            let varies = !self.is_zero(self.tangent(k, x));
            return if varies { self.with_tangent(k, outside, Num::constant(mark)) } else { Ok(outside) };
        }
        let call = Call {
            kind: CallKind::Pullback,
            function: function.clone(),
            name: None,
            operands: vec![self.node(k, x)],
            x: vec![template.clone()],
            y: template.clone(),
        };
        Ok(self.push_call(k, call, &[outside])?.first().copied().unwrap_or(outside))
    }

    /// Whether a number was already computed [without a derivative](Levels::without_tangent) for the same reason.
    pub fn is_without_tangent(&mut self, x: Num, function: &Ref, mark: f64) -> bool {
        let Some(k) = self.innermost(&[x]) else { return false };
        if self.direction_at(k) == Some(Direction::Forward) {
            return self.tangent(k, x).value.to_bits() == mark.to_bits();
        }
        let node = self.node(k, x);
        let call = self.recording(k).and_then(|recording| recording.call(node));
        matches!((call.map(|call| &call.function), function), (Some(Ref::Machine(a)), Ref::Machine(b)) if Rc::ptr_eq(a, b))
    }

    /// Returns the numbers `x` as numbers whose adjoints go through `function` in the reverse sweep of every level in
    /// which they vary.
    ///
    /// # Errors
    /// [`RecordError`] when the limit is reached.
    pub fn edited(&mut self, x: &[Num], function: &Ref, template: &Template) -> Result<Vec<Num>, RecordError> {
        // The levels are visited from the outermost inward: an inner level uses the result of the outer levels.
        let Some(k) = self.innermost(x) else { return Ok(x.to_vec()) };
        let stripped: Vec<Num> = x.iter().map(|x| self.strip(k, *x)).collect();
        let outside = self.edited(&stripped, function, template)?;
        if self.direction_at(k) == Some(Direction::Forward) {
            let mut out = vec![];
            for (x, outside) in x.iter().zip(outside) {
                let varies = Some(x.slot.epoch) == self.epoch_at(k);
                let tangent = self.tangent(k, *x);
                out.push(if varies { self.with_tangent(k, outside, tangent)? } else { outside });
            }
            return Ok(out);
        }
        let call = Call {
            kind: CallKind::Edit,
            function: function.clone(),
            name: None,
            operands: x.iter().map(|x| self.node(k, *x)).collect(),
            x: vec![template.clone()],
            y: template.clone(),
        };
        self.push_call(k, call, &outside)
    }
}
