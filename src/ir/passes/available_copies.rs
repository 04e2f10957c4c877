//! Available copies: a step reads the original of a copy that was made in another block, if neither has changed on any path in
//! between. Inlined calls copy their arguments, and an adjoint would be propagated through each copy.

use crate::ir::analysis::data_flow::{Flat, forward};
use crate::ir::graph::{Function, Instruction, Op, Reg};

/// The register of which a register is a copy, at one point of a function.
type Original = Flat<Reg>;

/// Lets steps read the originals of copies.
pub(crate) fn read_originals(function: &mut Function) {
    let entry = vec![Flat::Unknown; function.registers.len()];
    let mut replaced: Vec<Vec<(usize, Vec<Reg>)>> = vec![vec![]; function.blocks.len()];
    // The copies that were found so far, with their originals: few registers are originals of copies.
    let mut copies: Vec<(Reg, Reg)> = vec![];
    // The facts at the start of a block are final when the block is analyzed for the last time.
    let analyze = |at: usize, known: &mut [Original]| {
        replaced[at].clear();
        for (i, step) in function.blocks[at].instructions.iter().enumerate() {
            let ins = originals(step, known);
            if ins != step.ins {
                replaced[at].push((i, ins));
            }
            write(step, known, &mut copies);
        }
    };
    forward(function, entry, analyze, |_, _| {});
    for (block, replaced) in function.blocks.iter_mut().zip(replaced) {
        for (i, ins) in replaced {
            block.instructions[i].ins = ins;
        }
    }
}

/// Returns the registers that a step may read in place of its operands. A step that moves or modifies an operand keeps it.
fn originals(step: &Instruction, known: &[Original]) -> Vec<Reg> {
    let original = |reg: &Reg| match known[reg.0 as usize] {
        Flat::Value(original) if step.op != Op::Take && !step.outs.contains(reg) => original,
        _ => *reg,
    };
    step.ins.iter().map(original).collect()
}

/// Updates what is known about the registers after a step.
fn write(step: &Instruction, known: &mut [Original], copies: &mut Vec<(Reg, Reg)>) {
    let moved = step.ins.first().copied().filter(|_| step.op == Op::Take);
    for changed in step.outs.iter().copied().chain(moved) {
        known[changed.0 as usize] = Flat::Unknown;
        for (copy, _) in copies.iter().filter(|(_, original)| *original == changed) {
            if known[copy.0 as usize] == Flat::Value(changed) {
                known[copy.0 as usize] = Flat::Unknown;
            }
        }
    }
    if step.op == Op::Copy {
        let (copy, from) = (step.outs[0], step.ins[0]);
        let original = match known[from.0 as usize] {
            Flat::Value(original) => original,
            Flat::Unreached | Flat::Unknown => from,
        };
        if copy != original {
            known[copy.0 as usize] = Flat::Value(original);
            if !copies.contains(&(copy, original)) {
                copies.push((copy, original));
            }
        }
    }
}
