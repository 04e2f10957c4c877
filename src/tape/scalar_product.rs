//! Scalar product: records a sum of products as one node with many operands.

use super::Num;
use super::levels::{Direction, Levels};
use super::node::RecordError;
use super::wide_node::{Wide, WideKind};
use crate::native::partial::product_partial;
use crate::native::primitive_ids;

/// Returns the factors of products, each with the partial derivative of its product, which is the other factor.
fn pairs<'n>(factors: &'n [Num], others: &'n [Num]) -> impl Iterator<Item = (Num, Num)> {
    factors.iter().zip(others).map(|(x, other)| {
        let partial = product_partial(other.value, x.value);
        (*x, if partial.is_nan() && !other.value.is_nan() { Num::constant(partial) } else { *other })
    })
}

impl Levels {
    /// Computes `Σ a·b` over pairs, with one wide node instead of two nodes per pair. A sum has factors of 1.
    ///
    /// # Errors
    /// [`RecordError`] when a limit is reached.
    pub fn dot(&mut self, a: &[Num], b: &[Num]) -> Result<Num, RecordError> {
        let Some(k) = self.innermost(a).max(self.innermost(b)) else {
            return Ok(Num::constant(a.iter().zip(b).map(|(a, b)| a.value * b.value).sum()));
        };
        let strip = |x: &[Num]| -> Vec<Num> { x.iter().map(|x| self.strip(k, *x)).collect() };
        let (inner_a, inner_b) = (strip(a), strip(b));
        let value = self.dot(&inner_a, &inner_b)?;
        match self.direction_at(k) {
            Some(Direction::Reverse) => {
                let mut operands = vec![];
                for (x, partial) in pairs(a, &inner_b).chain(pairs(b, &inner_a)) {
                    let node = self.node(k, x);
                    if node != 0 {
                        operands.push((node, partial.value, self.live_slot(partial.slot)));
                    }
                }
                let y = self.push_sum(k, operands, value)?;
                let seen = self.observe(k, primitive_ids::ADD, &[], 0, value.value)?;
                self.keep(k, y, seen);
                Ok(y)
            }
            Some(Direction::Forward) => {
                let epoch = self.epoch_at(k);
                let mut partials = vec![];
                let mut tangents = vec![];
                for (x, partial) in pairs(a, &inner_b).chain(pairs(b, &inner_a)) {
                    // A zero partial derivative contributes nothing, whatever the tangent.
                    if Some(x.slot.epoch) == epoch && !self.is_zero(partial) {
                        partials.push(partial);
                        tangents.push(self.tangent(k, x));
                    }
                }
                let tangent = self.dot(&tangents, &partials)?;
                self.with_tangent(k, value, tangent)
            }
            None => Ok(value),
        }
    }

    fn push_sum(
        &mut self,
        k: usize,
        operands: Vec<(u32, f64, crate::value::Slot)>,
        value: Num,
    ) -> Result<Num, RecordError> {
        let outer = self.live_slot(value.slot);
        let Some(tape) = self.recording(k) else { return Ok(self.unrecorded(k, value)) };
        let node =
            tape.push_wide(1, |first| Wide { first, results: 1, kind: WideKind::Sum(operands), description: None })?;
        if k > 0 {
            tape.set_outer_value(node, outer)?;
        }
        Ok(Num { slot: self.slot_of(k, node), ..value })
    }
}
