//! Invariant loads: an array that a loop loads out of an array of arrays in each iteration, always the same one, is loaded before
//! the loop: `m[i]` of `m[i][j]` in a loop over `j`.
//!
//! For graphs of tangent and adjoint code, in which a load that fails has no effect except that the code ends. Only steps of the
//! block with which an iteration begins are moved, which the loop executes in any case.

use super::loops::Loop;
use crate::ir::analysis::control_flow::predecessors;
use crate::ir::graph::{Function, Instruction, Op, Reg};
use crate::value::Bank;

/// Moves invariant loads out of all loops.
pub(crate) fn hoist(function: &mut Function) {
    let writes = writes(function);
    for found in Loop::all(function) {
        crate::cancel::check();
        let inside = found.blocks(&predecessors(function));
        let moved = invariant_steps(function, found.head, &inside, &writes);
        if moved.contains(&true) {
            move_before(function, &found, &inside, &moved);
        }
    }
}

/// Counts the writes of each register; emptying a register is not counted.
fn writes(function: &Function) -> Vec<u32> {
    let mut writes = vec![0; function.registers.len()];
    let steps = function.blocks.iter().flat_map(|block| &block.instructions).filter(|step| step.op != Op::Null);
    let outs = steps.flat_map(|step| &step.outs);
    outs.chain(&function.params).for_each(|reg| writes[reg.0 as usize] += 1);
    writes
}

/// Returns for each step of the first block of a loop whether it loads the same array in each iteration, or computes the
/// index of such a load.
fn invariant_steps(function: &Function, head: usize, inside: &[bool], writes: &[u32]) -> Vec<bool> {
    let blocks = function.blocks.iter().zip(inside).filter(|(_, inside)| **inside);
    let steps = blocks.flat_map(|(block, _)| &block.instructions).filter(|step| step.op != Op::Null);
    let mut written = vec![false; function.registers.len()];
    steps.for_each(|step| step.outs.iter().for_each(|out| written[out.0 as usize] = true));
    let instructions = &function.blocks[head].instructions;
    let mut moved: Vec<bool> = vec![];
    for step in instructions {
        let is_invariant = step.outs.iter().all(|out| writes[out.0 as usize] == 1)
            && is_movable(function, &step.op, &step.outs)
            && !step.ins.iter().any(|reg| written[reg.0 as usize]);
        if is_invariant {
            step.outs.iter().for_each(|out| written[out.0 as usize] = false);
        }
        moved.push(is_invariant);
    }
    // Integers are moved only if a load needs them.
    let mut needed: Vec<Reg> = vec![];
    for (step, moved) in instructions.iter().zip(&mut moved).rev().filter(|(_, moved)| **moved) {
        *moved = is_load(&step.op) || step.outs.iter().any(|out| needed.contains(out));
        if *moved {
            needed.extend(&step.ins);
        }
    }
    moved
}

fn is_load(op: &Op) -> bool {
    matches!(op, Op::LoadElement { bank: Bank::R, .. })
}

/// Whether an operation loads an array, or computes an integer of integers.
fn is_movable(function: &Function, op: &Op, outs: &[Reg]) -> bool {
    let yields_integer = outs.iter().all(|out| function.registers[out.0 as usize].bank == Bank::I);
    is_load(op) || yields_integer && matches!(op, Op::ConstI(_) | Op::Copy | Op::Primitive(_))
}

/// Moves steps of the first block of a loop to the block before it. The arrays that they load stay in their registers during the
/// loop.
fn move_before(function: &mut Function, found: &Loop, inside: &[bool], moved: &[bool]) {
    let block = &mut function.blocks[found.head];
    let (instructions, rest): (Vec<_>, Vec<_>) =
        std::mem::take(&mut block.instructions).into_iter().zip(moved).partition(|(_, moved)| **moved);
    block.instructions = rest.into_iter().map(|(step, _)| step).collect();
    let instructions: Vec<Instruction> = instructions.into_iter().map(|(step, _)| step).collect();
    let loaded: Vec<Reg> = instructions.iter().filter(|step| is_load(&step.op)).map(|step| step.outs[0]).collect();
    for (block, _) in function.blocks.iter_mut().zip(inside).filter(|(_, inside)| **inside) {
        block.instructions.retain(|step| step.op != Op::Null || !loaded.contains(&step.outs[0]));
    }
    found.insert_before(function, inside, instructions);
}
