//! Invariant steps: what a loop computes in each iteration from values that it does not change is computed before the loop.
//!
//! For tangent and adjoint code, in which a step that fails has no effect except that the code ends, and which changes no global
//! variable. An integer division stays in its place, because the loop may be there to avoid a division by zero.

use super::loops::Loop;
use crate::ir::analysis::control_flow::{predecessors, reverse_postorder};
use crate::ir::analysis::flow_graph::count;
use crate::ir::graph::{Function, Instruction, Op, Reg};
use crate::native::{PrimitiveId, primitive_ids};
use crate::value::Bank;

/// The arithmetic of integers that is moved.
const INTEGER_ARITHMETIC: [PrimitiveId; 3] = [primitive_ids::INT_ADD, primitive_ids::INT_SUB, primitive_ids::INT_MUL];

/// The arithmetic of numbers that is moved out of branches, too.
const NUMBER_ARITHMETIC: [PrimitiveId; 5] =
    [primitive_ids::ADD, primitive_ids::SUB, primitive_ids::MUL, primitive_ids::NEG, primitive_ids::FROM_INT];

/// What is done with an invariant step.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Motion {
    /// The step stays in the loop.
    Stays,
    /// The step is moved if a step that is moved needs it.
    IfNeeded,
    /// The step is moved wherever it is in the loop: it takes little time, and its partial derivatives are finite.
    Always,
    /// The step is moved if each iteration that is repeated executes it.
    IfRepeated,
    /// The step may fail. It is moved if the loop executes it whenever it is entered.
    IfEntered,
}

/// Moves invariant arithmetic and loads of numbers out of all loops; returns whether there were any. In the graph from which tangent
/// or adjoint code is derived, their derivatives move, too.
pub(crate) fn hoist(function: &mut Function) -> bool {
    let mut has_moved = false;
    let writes = count(function).writes;
    for found in &Loop::all(function) {
        crate::cancel::check();
        let inside = found.blocks(&predecessors(function));
        let moved = take_invariant(function, found, &inside, &writes);
        if !moved.is_empty() {
            found.insert_before(function, &inside, moved);
            has_moved = true;
        }
    }
    has_moved
}

/// Returns what is done with an invariant step.
fn motion(step: &Instruction) -> Motion {
    match step.op {
        Op::ConstF(_) | Op::ConstI(_) => Motion::IfNeeded,
        Op::LoadGlobal { bank: Bank::F | Bank::I, .. } => Motion::Always,
        Op::Primitive(id) if NUMBER_ARITHMETIC.contains(&id) => Motion::Always,
        Op::Primitive(id) if id.info().result == Bank::F || INTEGER_ARITHMETIC.contains(&id) => Motion::IfRepeated,
        Op::LoadElement { bank: Bank::F, .. } | Op::LoadRecord { bank: Bank::F, .. } => Motion::IfEntered,
        _ => Motion::Stays,
    }
}

/// Takes the steps out of a loop that compute the same values in each iteration, in their order.
fn take_invariant(function: &mut Function, found: &Loop, inside: &[bool], writes: &[u32]) -> Vec<Instruction> {
    let mut changes = vec![false; function.registers.len()];
    let blocks = function.blocks.iter().zip(inside).filter(|(_, inside)| **inside);
    let outs = blocks.flat_map(|(block, _)| &block.instructions).flat_map(|step| &step.outs);
    outs.for_each(|out| changes[out.0 as usize] = true);

    let mut moved: Vec<(usize, usize)> = vec![];
    for b in reverse_postorder(function).into_iter().filter(|b| inside[*b]) {
        let steps = &function.blocks[b].instructions;
        if steps.iter().all(|step| motion(step) == Motion::Stays) {
            continue;
        }
        let is_repeated = found.always_executes(function, inside, b);
        let is_entered = is_repeated && found.executes_before_exit(function, inside, b);
        for (i, step) in steps.iter().enumerate() {
            let is_movable = match motion(step) {
                Motion::Stays => false,
                Motion::Always | Motion::IfNeeded => true,
                Motion::IfRepeated => is_repeated,
                Motion::IfEntered => is_entered,
            };
            let is_invariant = is_movable
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
        if motion(step) != Motion::IfNeeded || needed.contains(&step.outs[0]) {
            needed.extend(&step.ins);
            steps.push(function.blocks[b].instructions.remove(i));
        }
    }
    steps.reverse();
    steps
}
