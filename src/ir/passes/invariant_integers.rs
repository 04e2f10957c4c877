//! Invariant integers: an integer that a loop computes in each iteration from integers that it does not change is computed before
//! the loop: `k * n` of `xs[k * n + i]` in a loop over `i`.
//!
//! For tangent and adjoint code, in which a step that fails has no effect except that the code ends, and which changes no global
//! variable. A division stays in its place, because the loop may be there to avoid a division by zero.

use super::loop_preheader::Loop;
use crate::ir::analysis::control_flow::{predecessors, reverse_postorder};
use crate::ir::graph::{Function, Instruction, Op, Reg};
use crate::native::{PrimitiveId, primitive_ids};
use crate::value::Bank;

/// The arithmetic that is moved.
const MOVABLE: [PrimitiveId; 3] = [primitive_ids::INT_ADD, primitive_ids::INT_SUB, primitive_ids::INT_MUL];

/// Moves invariant integers out of all loops.
pub(crate) fn hoist(function: &mut Function) {
    let mut writes = vec![0; function.registers.len()];
    let outs = function.blocks.iter().flat_map(|block| &block.instructions).flat_map(|step| &step.outs);
    outs.chain(&function.params).for_each(|reg| writes[reg.0 as usize] += 1);
    for found in Loop::all(function).iter().filter(|found| found.head > 0) {
        crate::cancel::check();
        let inside = found.blocks(&predecessors(function));
        let moved = take_invariant(function, found, &inside, &writes);
        if !moved.is_empty() {
            found.insert_before(function, &inside, moved);
        }
    }
}

/// Takes the steps out of a loop that compute the same integers in each iteration, in their order. Constants stay, unless such a
/// step needs them.
fn take_invariant(function: &mut Function, found: &Loop, inside: &[bool], writes: &[u32]) -> Vec<Instruction> {
    let mut changes = vec![false; function.registers.len()];
    let blocks = function.blocks.iter().zip(inside).filter(|(_, inside)| **inside);
    let outs = blocks.flat_map(|(block, _)| &block.instructions).flat_map(|step| &step.outs);
    outs.for_each(|out| changes[out.0 as usize] = true);

    let mut moved: Vec<(usize, usize)> = vec![];
    for b in reverse_postorder(function).into_iter().filter(|b| inside[*b]) {
        let steps = &function.blocks[b].instructions;
        if !steps.iter().any(is_movable) {
            continue;
        }
        let is_executed = found.always_executes(function, inside, b);
        for (i, step) in steps.iter().enumerate() {
            let is_invariant = is_movable(step)
                && (is_executed || !matches!(step.op, Op::Primitive(_)))
                && writes[step.outs[0].0 as usize] == 1
                && !step.ins.iter().any(|reg| changes[reg.0 as usize]);
            if is_invariant {
                changes[step.outs[0].0 as usize] = false;
                moved.push((b, i));
            }
        }
    }
    let mut needed: Vec<Reg> = vec![];
    let mut steps: Vec<Instruction> = vec![];
    for (b, i) in moved.into_iter().rev() {
        let step = &function.blocks[b].instructions[i];
        if !matches!(step.op, Op::ConstI(_)) || needed.contains(&step.outs[0]) {
            needed.extend(&step.ins);
            steps.push(function.blocks[b].instructions.remove(i));
        }
    }
    steps.reverse();
    steps
}

/// Whether a step computes an integer of integers, or loads a global variable.
fn is_movable(step: &Instruction) -> bool {
    match step.op {
        Op::ConstI(_) | Op::LoadGlobal { bank: Bank::I | Bank::F, .. } => true,
        Op::Primitive(id) => MOVABLE.contains(&id),
        _ => false,
    }
}
