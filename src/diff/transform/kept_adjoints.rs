//! Kept adjoints: after `xs[i] += y`, the adjoint of `xs[i]` is also that of `y`, and stays where it is.
//!
//! The reverse of the store moves the adjoint out of the array, and that of the load adds it again.

use crate::ir::{Instruction, Op, Reg, TransformedOp};

/// Replaces pairs of steps that move an adjoint out of an array and add it to the same element by a step that reads it.
pub(super) fn read_kept_adjoints(steps: &mut Vec<Instruction>) {
    let mut taken = 0;
    while taken < steps.len() {
        if let Op::Transformed(TransformedOp::TakeAdjoint { offset, stride }) = steps[taken].op
            && let Some(added) = addition(steps, taken)
        {
            steps.remove(added);
            let step = &mut steps[taken];
            step.op = Op::Transformed(TransformedOp::ReadAdjoint { offset, stride });
            step.outs.truncate(1);
        }
        taken += 1;
    }
}

/// Returns the step that adds the adjoint that another step has taken to the same element of the array.
fn addition(steps: &[Instruction], taken: usize) -> Option<usize> {
    let Op::Transformed(TransformedOp::TakeAdjoint { offset, stride }) = steps[taken].op else { return None };
    let (adjoint, array, index) = (steps[taken].outs[0], steps[taken].ins[0], steps[taken].ins[1]);
    let again = Op::Transformed(TransformedOp::Accumulate { offset, stride });
    for (at, step) in steps.iter().enumerate().skip(taken + 1) {
        let uses_array = step.outs.contains(&array) || step.ins.contains(&array);
        if step.op == again && step.ins == [array, index, adjoint] {
            return Some(at);
        }
        let is_flush = step.op == Op::Transformed(TransformedOp::Flush);
        let writes = |reg: Reg| step.outs.contains(&reg);
        if uses_array || writes(index) || writes(adjoint) && !is_flush {
            return None;
        }
    }
    None
}
