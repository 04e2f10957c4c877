//! Fusion: combines an arithmetic operation with the only operation that reads its result.

use super::graph::{Block, FusedStep, Graph, Nesting, Reg, Step, StepOp};
use crate::bytecode::{Arithmetic, Fused};
use crate::ir::Op;
use crate::ir::analysis::flow_graph::{Counts, count};

/// The maximum distance between two steps that are combined; a greater distance would extend the live ranges of the
/// operands.
const MAX_DISTANCE: usize = 32;

/// Combines `t = a · b; … r = t + c` into one step if `t` has no other use and its operands are unchanged at `r`.
pub fn fuse_arithmetic(graph: &mut Graph) {
    let Counts { writes, reads } = count(graph);
    let single_use = |reg: Reg| writes[reg] == 1 && reads[reg] == 1;
    for block in &mut graph.blocks {
        crate::cancel::check();
        let mut gone = vec![false; block.steps.len()];
        for at in 0..block.steps.len() {
            fuse_at(block, at, &mut gone, &single_use);
        }
        let mut gone = gone.into_iter();
        block.steps.retain(|_| gone.next() != Some(true));
    }
}

/// Combines the step at `at` with the steps that compute its operands.
fn fuse_at(block: &mut Block, at: usize, gone: &mut [bool], single_use: &dyn Fn(Reg) -> bool) {
    let step = &block.steps[at];
    let (Some(last), &[x, y]) = (arithmetic(step), &step.ins[..]) else { return };
    let left = inner(block, at, x, gone, single_use);
    let right = inner(block, at, y, gone, single_use);
    let made = |k: usize| -> Option<(Arithmetic, Reg, Reg)> {
        let inner = &block.steps[k];
        Some((arithmetic(inner)?, *inner.ins.first()?, *inner.ins.get(1)?))
    };
    let absent = Arithmetic::Add;
    let fused = match (left.and_then(made), right.and_then(made)) {
        (Some((first, a, b)), Some((second, c, d))) => (Nesting::Both, Fused { first, last, second }, vec![a, b, c, d]),
        (Some((first, a, b)), None) => (Nesting::Left, Fused { first, last, second: absent }, vec![a, b, y]),
        (None, Some((first, b, c))) => (Nesting::Right, Fused { first, last, second: absent }, vec![x, b, c]),
        (None, None) => return,
    };
    let step = &mut block.steps[at];
    step.op = StepOp::Fused(FusedStep { form: fused.0, how: fused.1 });
    step.ins = fused.2;
    left.into_iter().chain(right).for_each(|k| gone[k] = true);
}

/// Returns the step that computes `reg` only for the step at `at`, if the step can be evaluated at `at` as well.
fn inner(block: &Block, at: usize, reg: Reg, gone: &[bool], single_use: &dyn Fn(Reg) -> bool) -> Option<usize> {
    if !single_use(reg) {
        return None;
    }
    let near = at.saturating_sub(MAX_DISTANCE)..at;
    let made = near.rev().find(|k| !gone[*k] && block.steps[*k].outs.contains(&reg))?;
    let step = &block.steps[made];
    arithmetic(step)?;
    let unchanged = block.steps[made + 1..at].iter().all(|s| !s.outs.iter().any(|out| step.ins.contains(out)));
    unchanged.then_some(made)
}

/// Returns the operation of a step that is plain arithmetic on two numbers. An active step must be recorded separately.
fn arithmetic(step: &Step) -> Option<Arithmetic> {
    match &step.op {
        StepOp::Ir(Op::Primitive(p)) if !step.active => Arithmetic::of_primitive(*p),
        _ => None,
    }
}
