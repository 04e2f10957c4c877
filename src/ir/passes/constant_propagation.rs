//! Constant propagation: integers that are known when the code is generated become constants, and branches on them jumps.
//!
//! The counts of arrays of known length are such integers, and so are the counters of unrolled loops.

use crate::ir::analysis::constants::{Known, computed_integer, integer, known_place, step};
use crate::ir::analysis::data_flow::{Flat, forward};
use crate::ir::graph::{BlockId, Function, Op, Terminator};

/// Replaces computations of known integers by constants, and branches with known conditions by jumps.
pub(crate) fn propagate(function: &mut Function) {
    let entry = vec![Flat::Unknown; function.registers.len()];
    let mut changes: Vec<Changes> = function.blocks.iter().map(|_| Changes::default()).collect();
    // The facts at the start of a block are final when the block is analyzed for the last time.
    let analyze = |at: usize, facts: &mut [Known]| changes[at] = Changes::of(function, at, facts);
    forward(function, entry, analyze, |_, _| {});
    for (block, changes) in function.blocks.iter_mut().zip(changes) {
        for (i, integer) in changes.constants {
            (block.instructions[i].op, block.instructions[i].ins) = (Op::ConstI(integer), vec![]);
        }
        if let Some(to) = changes.target {
            block.end = Some(Terminator::Jump(to));
        }
        let mut i = 0;
        block.instructions.retain(|_| {
            i += 1;
            !changes.passed.contains(&(i - 1))
        });
    }
}

/// The changes of one block.
#[derive(Default)]
struct Changes {
    /// The steps that compute a known integer, with the integer.
    constants: Vec<(usize, i64)>,
    /// The checks of an index that never fail.
    passed: Vec<usize>,
    /// The only block that follows, if the block ends with a branch.
    target: Option<BlockId>,
}

impl Changes {
    /// Returns the changes of a block, and replaces the facts at its start by those at its end.
    fn of(function: &Function, at: usize, facts: &mut [Known]) -> Changes {
        let mut changes = Changes::default();
        for (i, instruction) in function.blocks[at].instructions.iter().enumerate() {
            match instruction.op {
                Op::ConstI(_) => {}
                Op::CheckIndex if known_place(instruction, facts).is_some() => changes.passed.push(i),
                _ => changes.constants.extend(computed_integer(instruction, facts).map(|integer| (i, integer))),
            }
            step(instruction, facts);
        }
        changes.target = known_target(function.blocks[at].end.as_ref(), facts);
        changes
    }
}

/// Returns the only target of a branch whose condition is known.
pub(super) fn known_target(end: Option<&Terminator>, facts: &[Known]) -> Option<BlockId> {
    let Some(Terminator::Branch { condition, then, otherwise }) = end else { return None };
    integer(facts, *condition).map(|holds| if holds != 0 { *then } else { *otherwise })
}
