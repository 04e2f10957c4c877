//! Available copies: a step reads the original of a copy that was made in another block, if neither has changed on any path in
//! between. Inlined calls copy their arguments, and an adjoint would be propagated through each copy.

use crate::ir::analysis::data_flow::{Fact, forward};
use crate::ir::graph::{Function, Instruction, Op, Reg};

/// What is known about a register at one point of a function.
#[derive(Clone, Copy, PartialEq, Default)]
enum Content {
    /// No path reaches the point.
    #[default]
    Unreached,
    /// The register holds the same value as another one.
    CopyOf(Reg),
    /// The register holds a value of its own, or of different registers on different paths.
    Own,
}

impl Fact for Content {
    fn join(&mut self, other: &Content) -> bool {
        let joined = match (*self, *other) {
            (Content::Unreached, content) | (content, Content::Unreached) => content,
            (a, b) if a == b => a,
            _ => Content::Own,
        };
        std::mem::replace(self, joined) != joined
    }
}

/// Lets steps read the originals of copies.
pub(crate) fn read_originals(function: &mut Function) {
    let entry = vec![Content::Own; function.registers.len()];
    let mut replaced: Vec<Vec<(usize, Vec<Reg>)>> = vec![vec![]; function.blocks.len()];
    // The copies that were found so far, with their originals: few registers are originals of copies.
    let mut copies: Vec<(Reg, Reg)> = vec![];
    // The facts at the start of a block are final when the block is analyzed for the last time.
    let analyze = |at: usize, contents: &mut [Content]| {
        replaced[at].clear();
        for (i, step) in function.blocks[at].instructions.iter().enumerate() {
            let ins = originals(step, contents);
            if ins != step.ins {
                replaced[at].push((i, ins));
            }
            write(step, contents, &mut copies);
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
fn originals(step: &Instruction, contents: &[Content]) -> Vec<Reg> {
    let original = |reg: &Reg| match contents[reg.0 as usize] {
        Content::CopyOf(original) if step.op != Op::Take && !step.outs.contains(reg) => original,
        _ => *reg,
    };
    step.ins.iter().map(original).collect()
}

/// Updates the contents of the registers after a step.
fn write(step: &Instruction, contents: &mut [Content], copies: &mut Vec<(Reg, Reg)>) {
    let moved = step.ins.first().copied().filter(|_| step.op == Op::Take);
    for changed in step.outs.iter().copied().chain(moved) {
        contents[changed.0 as usize] = Content::Own;
        for (copy, _) in copies.iter().filter(|(_, original)| *original == changed) {
            if contents[copy.0 as usize] == Content::CopyOf(changed) {
                contents[copy.0 as usize] = Content::Own;
            }
        }
    }
    if step.op == Op::Copy {
        let (copy, from) = (step.outs[0], step.ins[0]);
        let original = match contents[from.0 as usize] {
            Content::CopyOf(original) => original,
            Content::Unreached | Content::Own => from,
        };
        if copy != original {
            contents[copy.0 as usize] = Content::CopyOf(original);
            if !copies.contains(&(copy, original)) {
                copies.push((copy, original));
            }
        }
    }
}
