//! Linearization code: appends, after each step, a node with the partial derivatives of the step to the tape.
//!
//! The node of a number is where tangent code has the tangent of the number: beside it in registers, in arrays and on the
//! value stack. So numbers that vary need no slots, and the code of a gradient can be recorded, too.

use super::GraphBuilder;
use super::tangent_code::{Companion, TangentBuilder, transform};
use crate::ir::{Fallback, Function, Instruction, Op, Reg, TransformedOp};
use crate::native::{Partial, PrimitiveId, primitive_ids};

/// Derives the linearization code of a function. Its parameters and results are those of [tangent code](super::tangent()),
/// with the bits of node numbers in place of tangents.
///
/// # Errors
/// The reason why the function cannot be transformed.
pub fn linearization(f: &Function) -> Result<Function, Fallback> {
    transform(f, Companion::Node)
}

impl GraphBuilder {
    /// Emits the partial derivative of a primitive in operand `k`; `x` are the operands, `y` is the result. `None` where there
    /// is no partial derivative.
    fn partial(&mut self, (id, k): (PrimitiveId, usize), x: &[Reg], y: Reg) -> Option<Reg> {
        Some(match id.partial(k) {
            Partial::Constant(c) => self.emit(Op::ConstF(c), &[]),
            Partial::Factor(other) => x[other],
            Partial::Reciprocal => {
                let one = self.emit(Op::ConstF(1.0), &[]);
                self.arithmetic(primitive_ids::DIV, &[one, x[1]])
            }
            Partial::Quotient => {
                let quotient = self.arithmetic(primitive_ids::DIV, &[y, x[1]]);
                self.arithmetic(primitive_ids::NEG, &[quotient])
            }
            Partial::Expression(_) => {
                let op = Op::Transformed(TransformedOp::Partial { primitive: id, operand: k as u8 });
                self.emit(op, &[x, &[y]].concat())
            }
            Partial::Zero | Partial::Undefined(_) => return None,
        })
    }

    /// Appends a node that is the sum of two nodes to the tape.
    fn sum_of_nodes(&mut self, a: Reg, b: Reg) -> Reg {
        let one = self.emit(Op::ConstF(1.0), &[]);
        self.emit(Op::Transformed(TransformedOp::AppendNode), &[a, b, one, one])
    }
}

impl TangentBuilder<'_> {
    /// Emits the node of the result of a primitive, which is in `value`.
    pub(super) fn node(&mut self, node: Reg, id: PrimitiveId, step: &Instruction, value: Reg) -> Option<()> {
        let mut operands = vec![];
        for (k, operand) in step.ins.iter().enumerate() {
            if self.varied.is(*operand) {
                operands.push((self.tangent(*operand), self.builder.partial((id, k), &step.ins, value)?));
            }
        }
        let op = Op::Transformed(TransformedOp::AppendNode);
        while operands.len() > 2 {
            let ((a, p), (b, q)) = (operands.pop()?, operands.pop()?);
            let both = self.builder.emit(op.clone(), &[b, a, q, p]);
            operands.push((both, self.builder.emit(Op::ConstF(1.0), &[])));
        }
        let (nodes, partials): (Vec<Reg>, Vec<Reg>) = operands.into_iter().unzip();
        self.builder.step(op, &[node], &[nodes, partials].concat());
        Some(())
    }

    /// Emits a step that adds to an array of adjoints, and the nodes of the sums; returns whether the step is one.
    pub(super) fn sum_of_adjoints(&mut self, step: &Instruction, op: &TransformedOp) -> bool {
        let Some(vector) = self.vector(step.outs[0]) else { return false };
        let index = step.ins[1];
        match op {
            TransformedOp::AddElement { offset, stride } => {
                self.builder.steps.push(step.clone());
                if self.varied.is(step.ins[2]) {
                    let (bank, offset, stride) = (crate::value::Bank::F, *offset, *stride);
                    let old = self.builder.emit(Op::LoadElement { bank, offset, stride }, &[vector, index]);
                    let more = self.tangent(step.ins[2]);
                    let sum = self.builder.sum_of_nodes(old, more);
                    self.builder.step(Op::StoreElement { bank, offset, stride }, &[vector], &[vector, index, sum]);
                }
            }
            TransformedOp::Accumulate { offset, stride } => {
                self.builder.steps.push(step.clone());
                let mut node = self.tangent_or_zero(step.ins[2]);
                if self.varied.is(step.ins[2]) {
                    let old = self.builder.number();
                    let take = TransformedOp::TakeAdjoint { offset: *offset, stride: *stride };
                    self.builder.step(Op::Transformed(take), &[old, vector], &[vector, index]);
                    node = self.builder.sum_of_nodes(old, node);
                }
                self.builder.step(step.op.clone(), &[vector], &[vector, index, node]);
            }
            TransformedOp::AddArray if self.vector(index).is_none() => self.builder.steps.push(step.clone()),
            TransformedOp::AddArray => {
                let Some(from) = self.vector(index) else { return false };
                self.builder.steps.push(step.clone());
                self.builder.step(Op::Transformed(TransformedOp::AddNodes), &[vector], &[vector, from]);
            }
            _ => return false,
        }
        true
    }
}
