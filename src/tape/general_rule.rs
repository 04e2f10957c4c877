//! General rule: applies an operation to numbers that are active in any mix of levels.
//!
//! Let L be the innermost live level among the operands. The slots of L are stripped from the operands; the result and
//! the partial derivatives are computed on the stripped operands by this rule, because they may vary in the outer
//! levels; then they are recorded on the tape of L, or combine tangents.

use super::Num;
use super::levels::{LevelStorage, Levels};
use super::node::{Node, RecordError};
use super::observer::{self, Recorded};
use crate::cancel;
use crate::native::field::{OrderOffset, Test};
use crate::native::formula::{self, Formula};
use crate::native::partial::product_partial;
use crate::native::{Partial, PrimitiveId, primitive_ids};
use crate::value::Slot;

/// The number of operations that are recorded between two checks for cancellation.
const CHECK_INTERVAL: u32 = 1 << 12;

/// The maximum number of operands of a primitive.
const OPERANDS: usize = 3;

/// The operands and the result of one operation.
#[derive(Clone, Copy)]
struct Step<'a> {
    id: PrimitiveId,
    /// The operands of the operation, stripped of the level.
    x: &'a [Num],
    /// The integer operand of the operation.
    n: i64,
    /// The result of the operation, stripped of the level.
    result: Num,
}

impl Levels {
    /// Computes the result of a primitive of numbers, and records it in every level in which it varies.
    ///
    /// # Errors
    /// [`RecordError`] when a limit is reached.
    pub fn record(&mut self, id: PrimitiveId, x: &[Num]) -> Result<Num, RecordError> {
        self.record_with(id, x, 0)
    }

    /// Computes and records the result of a primitive with an integer operand (`double.powi`).
    ///
    /// # Errors
    /// [`RecordError`] when a limit is reached.
    pub fn record_with(&mut self, id: PrimitiveId, x: &[Num], n: i64) -> Result<Num, RecordError> {
        debug_assert!(x.len() <= OPERANDS);
        // Where levels nest, one operation of a program calls the function `record` many times.
        self.recorded = self.recorded.wrapping_add(1);
        if self.recorded.is_multiple_of(CHECK_INTERVAL) && cancel::reason().is_some() {
            return Err(RecordError::Cancelled);
        }
        let Some(k) = self.innermost(x) else {
            return Ok(Num::constant(plain(id, x, n)));
        };
        if self.stack[k].is_linear && !self.is_linear_step(k, id, x) {
            return Err(RecordError::NotLinear(id.info().symbol));
        }
        let mut stripped = [Num::default(); OPERANDS];
        for (to, from) in stripped.iter_mut().zip(x) {
            *to = self.strip(k, *from);
        }
        let inner = &stripped[..x.len().min(OPERANDS)];
        let result = self.record_with(id, inner, n)?;
        if id.info().partials().is_empty() {
            return Ok(result);
        }
        if self.is_paused(k) {
            return Ok(self.unrecorded(k, result));
        }
        let seen = self.observe(k, id, x, n, result.value)?;
        let step = Step { id, x: inner, n, result };
        match self.stack[k].kind {
            LevelStorage::OutermostReverse | LevelStorage::Reverse(_) => {
                let y = self.record_reverse(k, x, step)?;
                self.keep(k, y, seen);
                Ok(y)
            }
            LevelStorage::OutermostForward | LevelStorage::Forward(_) => self.record_forward(k, x, step, seen),
        }
    }

    /// Whether a primitive is linear in those operands that vary in a level.
    fn is_linear_step(&self, k: usize, id: PrimitiveId, x: &[Num]) -> bool {
        let varies = |i: usize| x.get(i).is_some_and(|x| x.slot.epoch == self.stack[k].epoch);
        // The step is linear where none of its partial derivatives in the varied operands varies.
        (0..x.len()).filter(|i| varies(*i)).all(|i| match id.partial(i) {
            Partial::Constant(_) => true,
            Partial::Factor(other) => !varies(other),
            Partial::Reciprocal => !varies(1),
            Partial::Quotient | Partial::Expression(_) | Partial::Zero | Partial::Undefined(_) => false,
        })
    }

    fn record_reverse(&mut self, k: usize, x: &[Num], step: Step) -> Result<Num, RecordError> {
        let mut pending: Option<(u32, Num)> = None;
        let mut node = None;
        let mut nodes = 0;
        for (i, operand) in x.iter().enumerate() {
            let number = self.node(k, *operand);
            if number == 0 {
                continue;
            }
            let partial = self.partial(i, step)?;
            let (a, pa) = match (pending.take(), node.take()) {
                (None, None) => {
                    pending = Some((number, partial));
                    continue;
                }
                (Some(first), _) => first,
                // The third operand of the step is combined with the sum so far.
                (None, Some(sum)) => (sum, Num::constant(1.0)),
            };
            node = Some(self.push_node(k, (a, pa), (number, partial), step.result.slot)?);
            nodes += 1;
        }
        if let Some(only) = pending {
            node = Some(self.push_node(k, only, (0, Num::default()), step.result.slot)?);
            nodes += 1;
        }
        if let Some(node) = node.filter(|_| self.stack[k].observer.is_some()) {
            let operands = x.iter().zip(step.x).map(|(x, outside)| (self.node(k, *x), *outside)).collect();
            self.observe_record(k, Recorded { id: step.id, n: step.n, operands, nodes, node })?;
        }
        Ok(match node {
            Some(node) => Num { slot: self.slot_of(k, node), ..step.result },
            None => step.result,
        })
    }

    /// Returns the slot that represents a node of the reverse level `k`.
    pub(super) fn slot_of(&self, k: usize, node: u32) -> Slot {
        Slot { epoch: self.stack[k].epoch, payload: u64::from(node) }
    }

    /// Records a node on the tape of reverse level `k`, whose result has the slot `outer` in the outer levels.
    pub(super) fn push_node(
        &mut self,
        k: usize,
        (a, pa): (u32, Num),
        (b, pb): (u32, Num),
        outer: Slot,
    ) -> Result<u32, RecordError> {
        let partials = [self.live_slot(pa.slot), self.live_slot(pb.slot)];
        let outer = self.live_slot(outer);
        match self.recording(k) {
            Some(tape) if k == 0 => tape.push(a, b, pa.value, pb.value),
            Some(tape) => tape.push_nested(Node { a, b, pa: pa.value, pb: pb.value }, outer, partials),
            None => unreachable!("level {k} is a reverse one"),
        }
    }

    fn record_forward(
        &mut self,
        k: usize,
        x: &[Num],
        step: Step,
        seen: Option<observer::ObservedStep>,
    ) -> Result<Num, RecordError> {
        let tangent = match (step.id.info().partials(), x) {
            // A primitive that is linear in its one operand is its own differential: a rounding rounds the tangent too.
            ([Partial::Constant(_)], [only]) => self.record(step.id, &[self.tangent(k, *only)])?,
            _ => self.combine(k, x, step)?,
        };
        if let Some(seen) = seen {
            let tangents: Vec<f64> = x.iter().map(|x| self.tangent(k, *x).value).collect();
            self.observe_tangent(&seen, &tangents, tangent.value)?;
        }
        self.with_tangent(k, step.result, tangent)
    }

    /// Stores an observed step beside the node of its result.
    pub(super) fn keep(&mut self, k: usize, y: Num, seen: Option<observer::ObservedStep>) {
        let node = self.node(k, y);
        if let (Some(seen), Some(tape)) = (seen, self.recording(k)) {
            tape.keep(node, seen);
        }
    }

    fn combine(&mut self, k: usize, x: &[Num], step: Step) -> Result<Num, RecordError> {
        let mut sum: Option<Num> = None;
        for (i, operand) in x.iter().enumerate() {
            if operand.slot.epoch != self.stack[k].epoch {
                continue;
            }
            let partial = self.partial(i, step)?;
            // A zero partial derivative contributes nothing, whatever the tangent.
            if self.is_zero(partial) {
                continue;
            }
            let term = self.scaled(self.tangent(k, *operand), partial)?;
            sum = Some(self.plus(sum, term)?);
        }
        Ok(sum.unwrap_or_default())
    }

    /// Computes `x · partial derivative`, without a record for a partial derivative of 1.
    pub(super) fn scaled(&mut self, x: Num, partial: Num) -> Result<Num, RecordError> {
        if self.is_live(partial.slot) {
            return self.record(primitive_ids::MUL, &[partial, x]);
        }
        match partial.value {
            1.0 => Ok(x),
            -1.0 => self.record(primitive_ids::NEG, &[x]),
            _ => self.record(primitive_ids::MUL, &[partial, x]),
        }
    }

    /// Computes `sum + x`, without a record when `sum` is `None`.
    pub(super) fn plus(&mut self, sum: Option<Num>, x: Num) -> Result<Num, RecordError> {
        match sum {
            None => Ok(x),
            Some(sum) => self.record(primitive_ids::ADD, &[sum, x]),
        }
    }

    /// Returns the partial derivative of an operation's result in operand `i`, as a number of the outer levels.
    fn partial(&mut self, i: usize, step: Step) -> Result<Num, RecordError> {
        let info = step.id.info();
        if self.innermost(step.x).is_none() {
            let mut x = [0.0; OPERANDS];
            for (to, from) in x.iter_mut().zip(step.x) {
                *to = from.value;
            }
            let partial = info.partial_at(i, &x[..step.x.len()], step.n, step.result.value);
            return Ok(Num::constant(partial.unwrap_or(0.0)));
        }
        match info.partial(i) {
            Partial::Constant(c) => Ok(Num::constant(c)),
            Partial::Factor(other) => {
                let (factor, other) = (step.x[i], step.x[other]);
                let value = product_partial(other.value, factor.value);
                // A factor that is NaN still varies: its partial derivative may be a number.
                Ok(if value.is_nan() && !other.value.is_nan() { Num::constant(value) } else { other })
            }
            Partial::Reciprocal | Partial::Quotient | Partial::Expression(_) => match formula::partials(step.id).get(i)
            {
                Some(formula) => self.evaluate(formula, step),
                None => unreachable!("`{}` has a formula for each operand", info.name),
            },
            Partial::Zero | Partial::Undefined(_) => Ok(Num::default()),
        }
    }

    /// Evaluates the formula of a partial derivative over numbers that may vary in the outer levels.
    fn evaluate(&mut self, formula: &Formula, step: Step) -> Result<Num, RecordError> {
        match formula {
            Formula::Operand(k) => Ok(step.x[*k as usize]),
            Formula::Result => Ok(step.result),
            Formula::Constant(c) => Ok(Num::constant(*c)),
            Formula::Number(OrderOffset(by)) => Ok(Num::constant(step.n.saturating_add(*by) as f64)),
            // Adding 0 changes only zeros, and for other numbers nothing has to be recorded.
            Formula::Apply(add, operands, _) if *add == primitive_ids::ADD && operands[1] == Formula::Constant(0.0) => {
                let x = self.evaluate(&operands[0], step)?;
                if x.value == 0.0 { Ok(Num { value: 0.0, ..x }) } else { Ok(x) }
            }
            Formula::Apply(id, operands, OrderOffset(by)) => {
                let mut x = [Num::default(); OPERANDS];
                for (to, from) in x.iter_mut().zip(operands) {
                    *to = self.evaluate(from, step)?;
                }
                self.record_with(*id, &x[..operands.len()], step.n.saturating_add(*by))
            }
            Formula::Select(parts) => {
                let (test, then, otherwise) = &**parts;
                let holds = match test {
                    Test::Equal(a, b) => self.evaluate(a, step)?.value == self.evaluate(b, step)?.value,
                    Test::Less(a, b) => self.evaluate(a, step)?.value < self.evaluate(b, step)?.value,
                    Test::AtMost(a, b) => self.evaluate(a, step)?.value <= self.evaluate(b, step)?.value,
                };
                self.evaluate(if holds { then } else { otherwise }, step)
            }
            Formula::Bound(_) => unreachable!("a sum or an integral in a partial derivative"),
        }
    }
}

/// Returns the value of a primitive.
fn plain(id: PrimitiveId, x: &[Num], n: i64) -> f64 {
    let mut values = [0.0; OPERANDS];
    for (to, from) in values.iter_mut().zip(x) {
        *to = from.value;
    }
    match id.info().number(&values[..x.len().min(OPERANDS)], n) {
        Some(value) => value,
        None => unreachable!("only operations with a number for a result are recorded"),
    }
}
