//! Deferred factors: the multipliers of infinite adjoints.
//!
//! Where an adjoint is infinite, the sum of its contributions is decisive: the derivative of `sqrt(x + x²)` at 0 is ∞ ·
//! (1 + 0). Forward, the sum is known before it is multiplied by the infinite partial. In reverse, each summand would
//! be multiplied separately, and ∞ · 1 + ∞ · 0 is NaN. So a sweep does not multiply infinite adjoints: each node gets
//! the factors of the infinite adjoints that it contributes to; the factors are added up, and multiplied by the
//! infinite adjoint where the adjoint is needed. A factor of zero is a true 0·∞.

use super::Num;
use super::levels::Levels;
use super::node::RecordError;
use super::sweep::Sweep;
use hashbrown::HashMap;

/// The maximum number of infinite adjoints that are distinguished at a node. The factors of further infinite adjoints
/// are multiplied immediately.
const MAX_DISTINGUISHED: usize = 8;

/// The factors of infinite adjoints, by node. The list is empty until an adjoint is infinite.
#[derive(Debug, Default)]
pub(super) struct Factors(HashMap<u32, Vec<Factor>>);

/// The contribution of a node to the infinite adjoint of another node.
#[derive(Clone, Copy, Debug)]
struct Factor {
    /// The node that has the infinite adjoint.
    of: u32,
    /// The infinite adjoint.
    infinity: Num,
    /// The sum over all paths between the two nodes; each path contributes the product of its partials.
    factor: Num,
}

impl Factors {
    /// Whether a node has no deferred factors.
    pub(super) fn are_none(&self, node: u32) -> bool {
        self.0.is_empty() || !self.0.contains_key(&node)
    }
}

impl Sweep {
    /// Adds the adjoint of a node, times the partials, to the adjoints of its operands. A zero adjoint contributes
    /// nothing; an infinite adjoint contributes its factors.
    pub(super) fn return_partials(
        &mut self,
        levels: &mut Levels,
        node: u32,
        partials: impl Iterator<Item = (u32, Num)>,
    ) -> Result<(), RecordError> {
        let mut adjoint = self.number(node);
        let mut factors = self.factors.0.remove(&node).unwrap_or_default();
        if factors.is_empty() && levels.is_zero(adjoint) {
            return Ok(());
        }
        if !factors.is_empty() && (levels.checks_not_finite() || levels.observes_steps()) {
            let product = multiplied(levels, adjoint, &factors)?;
            self.make_live();
            self.set(node, product);
        }
        if adjoint.value.is_infinite() {
            // From this node on, the deferred factors of each node must be stored.
            self.make_live();
            factors.push(Factor { of: node, infinity: adjoint, factor: Num::constant(1.0) });
            adjoint = Num::default();
        }
        for (operand, partial) in partials.filter(|(operand, _)| *operand != 0) {
            if !levels.is_zero(adjoint) {
                let term = levels.scaled(adjoint, partial)?;
                self.add(levels, operand, term)?;
            }
            if !partial.value.is_finite() && !factors.is_empty() {
                let infinite = multiplied(levels, Num::default(), &factors)?;
                let term = levels.scaled(infinite, partial)?;
                self.add(levels, operand, term)?;
                continue;
            }
            for before in &factors {
                let factor = levels.scaled(before.factor, partial)?;
                self.add_factor(levels, operand, Factor { factor, ..*before })?;
            }
        }
        Ok(())
    }

    fn add_factor(&mut self, levels: &mut Levels, node: u32, more: Factor) -> Result<(), RecordError> {
        let all = self.factors.0.entry(node).or_default();
        if let Some(known) = all.iter_mut().find(|known| known.of == more.of) {
            known.factor = levels.plus(Some(known.factor), more.factor)?;
        } else if all.len() < MAX_DISTINGUISHED {
            all.push(more);
        } else {
            let term = levels.scaled(more.infinity, more.factor)?;
            self.add(levels, node, term)?;
        }
        Ok(())
    }

    /// Multiplies the deferred factors of a node, and adds the product to its adjoint.
    pub(super) fn multiply_factors(&mut self, levels: &mut Levels, node: u32) -> Result<(), RecordError> {
        if let Some(factors) = self.factors.0.remove(&node) {
            let product = multiplied(levels, self.number(node), &factors)?;
            self.make_live();
            self.set(node, product);
        }
        Ok(())
    }

    /// Multiplies the deferred factors of all nodes, and adds the products to their adjoints.
    pub(super) fn multiply_all_factors(&mut self, levels: &mut Levels) -> Result<(), RecordError> {
        let nodes: Vec<u32> = self.factors.0.keys().copied().collect();
        nodes.into_iter().try_for_each(|node| self.multiply_factors(levels, node))
    }
}

/// Returns the sum of an adjoint and of infinite adjoints times their factors.
fn multiplied(levels: &mut Levels, adjoint: Num, factors: &[Factor]) -> Result<Num, RecordError> {
    let mut sum = (!levels.is_zero(adjoint)).then_some(adjoint);
    for Factor { infinity, factor, .. } in factors {
        let term = levels.scaled(*infinity, *factor)?;
        sum = Some(levels.plus(sum, term)?);
    }
    Ok(sum.unwrap_or_default())
}
