//! Tangent of adjoint code: the tangents of the steps that only adjoint code has.
//!
//! Each number on the value stack is followed by its tangent, if any number on the stack varies. An array of adjoints has
//! an array of tangents of the same length, like every array that the code makes or modifies.

use super::tangent_code::{Companion, TangentBuilder};
use crate::ir::{Instruction, Op, TransformedOp};
use crate::value::Bank;

impl TangentBuilder<'_> {
    /// Emits a step of adjoint code through which varied numbers pass, and the same for their tangents; returns whether
    /// the step is one.
    pub(super) fn step_of_adjoint(&mut self, step: &Instruction, op: &TransformedOp) -> bool {
        match op {
            TransformedOp::Push(Bank::F) if self.varied.has_varied_stack() => {
                self.builder.steps.push(step.clone());
                let tangent = self.tangent_or_zero(step.ins[0]);
                self.builder.step(step.op.clone(), &[], &[tangent]);
            }
            TransformedOp::Pop(Bank::F) if self.varied.has_varied_stack() => {
                let tangent = self.tangent(step.outs[0]);
                self.forget(tangent);
                self.builder.step(step.op.clone(), &[tangent], &[]);
                self.builder.steps.push(step.clone());
            }
            TransformedOp::AddElement { .. } | TransformedOp::Accumulate { .. } | TransformedOp::AddArray
                if self.companion == Companion::Node && self.varied.is_local(step.outs[0]) =>
            {
                return self.sum_of_adjoints(step, op);
            }
            TransformedOp::AddElement { .. } | TransformedOp::Accumulate { .. }
                if self.varied.is_local(step.outs[0]) =>
            {
                let Some(vector) = self.vector(step.outs[0]) else { return false };
                self.builder.steps.push(step.clone());
                let tangent = self.tangent_or_zero(step.ins[2]);
                self.builder.step(step.op.clone(), &[vector], &[vector, step.ins[1], tangent]);
            }
            TransformedOp::TakeAdjoint { .. } if self.varied.is_local(step.outs[1]) => {
                let Some(vector) = self.vector(step.outs[1]) else { return false };
                self.builder.steps.push(step.clone());
                let tangent = self.tangent(step.outs[0]);
                self.forget(tangent);
                self.builder.step(step.op.clone(), &[tangent, vector], &[vector, step.ins[1]]);
            }
            TransformedOp::ReadAdjoint { .. } if self.varied.is_local(step.ins[0]) => {
                let Some(vector) = self.vector(step.ins[0]) else { return false };
                self.builder.steps.push(step.clone());
                let tangent = self.tangent(step.outs[0]);
                self.forget(tangent);
                self.builder.step(step.op.clone(), &[tangent], &[vector, step.ins[1]]);
            }
            TransformedOp::AccumulateArray { .. }
                if self.companion == Companion::Tangent && self.varied.is_local(step.outs[0]) =>
            {
                let Some(vector) = self.vector(step.outs[0]) else { return false };
                self.builder.steps.push(step.clone());
                if let Some(from) = self.vector(step.ins[2]) {
                    self.builder.step(step.op.clone(), &[vector], &[vector, step.ins[1], from]);
                }
            }
            TransformedOp::TakeAdjointArray { .. } if self.varied.is_local(step.outs[1]) => {
                let (Some(out), Some(vector)) = (self.vector(step.outs[0]), self.vector(step.outs[1])) else {
                    return false;
                };
                self.builder.steps.push(step.clone());
                self.builder.step(step.op.clone(), &[out, vector], &[vector, step.ins[1]]);
            }
            TransformedOp::AddArray if self.varied.is_local(step.outs[0]) => {
                let Some(vector) = self.vector(step.outs[0]) else { return false };
                self.builder.steps.push(step.clone());
                if let Some(from) = self.vector(step.ins[1]) {
                    self.builder.step(Op::Transformed(TransformedOp::AddArray), &[vector], &[vector, from]);
                }
            }
            // The tangent of a subnormal number is kept.
            TransformedOp::Flush if self.varied.is(step.ins[0]) => self.builder.steps.push(step.clone()),
            _ => return false,
        }
        true
    }
}
