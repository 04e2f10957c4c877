//! Sweep: propagates adjoints and tangents through operations of tensors.

use super::recording::{is_unvaried, tensor_vector, vector_number};
use crate::native::tensor::{Evaluation, TensorValue};
use crate::tape::Num;
use crate::tape::levels::{Direction, Levels};
use crate::tape::node::RecordError;
use crate::tape::observer::TensorPart;
use crate::tape::sweep::{NO_TANGENT, Sweep};
use crate::tape::wide_node::{TensorNode, TensorStep};
use crate::value::opaque_vector::{self, OpaqueVector};

impl Sweep {
    /// Adds a tensor to the adjoint or tangent of a node; 0 represents no node.
    ///
    /// # Errors
    /// [`RecordError`] when the shapes cannot be broadcast, or when a limit is reached.
    pub fn add_tensor(&mut self, levels: &mut Levels, node: u32, x: TensorValue) -> Result<(), RecordError> {
        if node == 0 {
            return Ok(());
        }
        let number = self.number(node).value;
        // The sum replaces a tensor of which only this node knows.
        let before = opaque_vector::take_unique(number).or_else(|| match opaque_vector::find(number) {
            Some(OpaqueVector::Tensor(tensor, slot)) => Some((tensor, slot)),
            _ => None,
        });
        let (tensor, slot) = match before {
            Some(before) => levels.add_tensors(before, (x.tensor, x.slot))?,
            None => (x.tensor, x.slot),
        };
        // In reverse, the number of a node is only read when it is complete.
        let number = match self.direction {
            Direction::Reverse => Num::constant(opaque_vector::keep_unique(tensor, slot)),
            Direction::Forward => vector_number(TensorValue { tensor, slot }),
        };
        self.set(node, number);
        Ok(())
    }

    /// Returns the adjoint of the result of a tensor node, which is needed only once: afterwards the memory of the tensor may be
    /// used again. An observer reads all adjoints at the end.
    fn complete_adjoint(&mut self, levels: &Levels, node: u32) -> Option<TensorValue> {
        let number = self.number(node);
        if levels.is_observed() {
            return tensor_vector(number);
        }
        let Some((tensor, slot)) = opaque_vector::take_unique(number.value) else { return tensor_vector(number) };
        self.set(node, Num::default());
        Some(TensorValue { tensor, slot })
    }

    /// Adds the adjoints of the operands of a tensor node, given those of its results.
    pub(in crate::tape) fn tensor_backward(
        &mut self,
        levels: &mut Levels,
        node: &TensorNode,
        (first, place): (u32, Option<u32>),
    ) -> Result<(), RecordError> {
        match &node.step {
            TensorStep::Operation(operation, operands, result) => {
                let Some(adjoint) = self.complete_adjoint(levels, first) else { return Ok(()) };
                let of = Evaluation { operands, result };
                levels.observe_jump(operation, of, place)?;
                let mut operands =
                    node.operands.iter().enumerate().filter(|(_, operand)| **operand != 0).map(|(k, node)| (k, *node));
                let mut next = operands.next();
                let mut adjoint = Some(adjoint);
                while let Some((k, operand)) = next {
                    next = operands.next();
                    // The share of the last operand may be computed in the memory of the adjoint.
                    let is_last = next.is_none() && !levels.is_observed();
                    let Some(given) = (if is_last { adjoint.take() } else { adjoint.clone() }) else { break };
                    if let Some(share) = operation.adjoint(k, of, given, levels)? {
                        let part = (operation, TensorPart::Adjoint);
                        levels.observe_tensor(part, place, adjoint.iter(), &share)?;
                        self.add_tensor(levels, operand, share)?;
                    }
                }
            }
            TensorStep::Pack(_, shape) => {
                let Some(adjoint) = self.complete_adjoint(levels, first) else { return Ok(()) };
                let adjoint = levels.broadcast_like(adjoint, shape)?;
                let numbers = levels.unpack(&adjoint)?;
                for (operand, number) in node.operands.iter().zip(numbers) {
                    self.add(levels, *operand, number)?;
                }
            }
            TensorStep::Unpack(kind, shape) => {
                let numbers: Vec<Num> = (first..).take(shape.scalar_count()).map(|node| self.number(node)).collect();
                if numbers.iter().all(|x| levels.is_zero(*x)) {
                    return Ok(());
                }
                let adjoint = levels.pack(*kind, shape.clone(), &numbers)?;
                self.add_tensor(levels, node.operands[0], adjoint)?;
            }
        }
        Ok(())
    }

    /// Sets the tangents of the results of a tensor node, given those of its operands.
    pub(in crate::tape) fn tensor_forward(
        &mut self,
        levels: &mut Levels,
        node: &TensorNode,
        (first, place): (u32, Option<u32>),
    ) -> Result<(), RecordError> {
        match &node.step {
            TensorStep::Operation(operation, operands, result) => {
                let tangents: Vec<Option<TensorValue>> =
                    node.operands.iter().map(|operand| tensor_vector(self.number(*operand))).collect();
                if tangents.iter().all(Option::is_none) {
                    return Ok(());
                }
                let of = Evaluation { operands, result };
                levels.observe_jump(operation, of, place)?;
                if let Some(tangent) = operation.tangent(of, &tangents, levels)? {
                    let part = (operation, TensorPart::Tangent);
                    levels.observe_tensor(part, place, tangents.iter().flatten(), &tangent)?;
                    self.add_tensor(levels, first, tangent)?;
                }
            }
            TensorStep::Pack(kind, shape) => {
                let unvaried = Num::constant(NO_TANGENT);
                let tangent = |node: &u32| if self.has_no_tangent(*node) { unvaried } else { self.number(*node) };
                let numbers: Vec<Num> = node.operands.iter().map(tangent).collect();
                if numbers.iter().any(|x| !is_unvaried(*x)) {
                    let tangent = levels.pack(*kind, shape.clone(), &numbers)?;
                    self.add_tensor(levels, first, tangent)?;
                }
            }
            TensorStep::Unpack(_, shape) => {
                let Some(tangent) = node.operands.first().and_then(|operand| tensor_vector(self.number(*operand)))
                else {
                    return Ok(());
                };
                let tangent = levels.broadcast_like(tangent, shape)?;
                for (node, number) in (first..).zip(levels.unpack(&tangent)?) {
                    match levels.is_zero(number) && !is_unvaried(number) {
                        true => self.set(node, number),
                        false => self.add(levels, node, number)?,
                    }
                }
            }
        }
        Ok(())
    }
}
