//! Sweep: propagates adjoints and tangents through operations of tensors.

use super::recording::{is_unvaried, tensor_vector, vector_number};
use crate::native::tensor::{Evaluation, TensorValue};
use crate::tape::Num;
use crate::tape::levels::Levels;
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
        let sum = match opaque_vector::find(self.number(node).value) {
            Some(OpaqueVector::Tensor(tensor, slot)) => {
                let (tensor, slot) = levels.add_tensors((tensor, slot), (x.tensor, x.slot))?;
                TensorValue { tensor, slot }
            }
            _ => x,
        };
        self.set(node, vector_number(sum));
        Ok(())
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
                let Some(adjoint) = tensor_vector(self.number(first)) else { return Ok(()) };
                let of = Evaluation { operands, result };
                levels.observe_jump(operation, of, place)?;
                for (k, operand) in node.operands.iter().enumerate().filter(|(_, operand)| **operand != 0) {
                    if let Some(share) = operation.adjoint(k, of, &adjoint, levels)? {
                        let part = (operation, TensorPart::Adjoint);
                        levels.observe_tensor(part, place, std::iter::once(&adjoint), &share)?;
                        self.add_tensor(levels, *operand, share)?;
                    }
                }
            }
            TensorStep::Pack(_, shape) => {
                let Some(adjoint) = tensor_vector(self.number(first)) else { return Ok(()) };
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
