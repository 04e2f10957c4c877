//! Live sweep: performs a sweep whose arithmetic is itself recorded, because seeds or partial derivatives are active in
//! live levels.

use super::Num;
use super::levels::Levels;
use super::node::{Node, RecordError};
use super::sweep::{NO_TANGENT, Numbers, Sweep, has_no_tangent};
use crate::value::Slot;

impl Sweep {
    fn live(&self, node: u32) -> Num {
        match &self.numbers {
            Numbers::Live(numbers) => numbers.get(node),
            Numbers::Plain(numbers) => Num::constant(numbers[node as usize]),
        }
    }

    pub(super) fn set_live(&mut self, node: u32, x: Num) {
        match &mut self.numbers {
            Numbers::Live(numbers) => numbers.set(node, x),
            Numbers::Plain(_) => unreachable!("numbers that vary have slots"),
        }
    }

    /// Sweeps in reverse over nodes from the number `first` on, and records the arithmetic.
    pub(super) fn backward_live(&mut self, levels: &mut Levels, nodes: &[Node], first: u32) -> Result<(), RecordError> {
        for (k, node) in nodes.iter().enumerate().rev() {
            let i = first + k as u32;
            if levels.is_zero(self.live(i)) && self.factors.are_none(i) {
                continue;
            }
            let [a, b] = self.tape.outer_partials(i);
            let partials = [(node.a, Num { value: node.pa, slot: a }), (node.b, Num { value: node.pb, slot: b })];
            self.return_partials(levels, i, partials.into_iter().filter(|(operand, _)| *operand != i))?;
        }
        Ok(())
    }

    /// Sweeps forward over nodes from the number `first` on, and records the arithmetic.
    pub(super) fn forward_live(&mut self, levels: &mut Levels, nodes: &[Node], first: u32) -> Result<(), RecordError> {
        for (k, node) in nodes.iter().enumerate() {
            let i = first + k as u32;
            let outer = self.tape.outer_partials(i);
            let mut sum = None;
            for (operand, partial, slot) in [(node.a, node.pa, outer[0]), (node.b, node.pb, outer[1])] {
                let tangent = self.live(operand);
                if operand == i || (tangent.slot == Slot::NONE && has_no_tangent(tangent.value)) {
                    continue;
                }
                let partial = Num { value: partial, slot };
                let term = if levels.is_zero(partial) { Num::default() } else { levels.scaled(tangent, partial)? };
                sum = Some(levels.plus(sum.filter(|x| !levels.is_zero(*x)), term)?);
            }
            let sum = sum.map_or(Num::constant(NO_TANGENT), |x: Num| Num { value: x.value + 0.0, ..x });
            self.set_live(i, sum);
        }
        Ok(())
    }
}
