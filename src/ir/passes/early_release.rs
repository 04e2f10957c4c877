//! Early release: drops loaded references after their last use, so that their objects have one owner again. An array in
//! a global variable or a box cannot be modified in place while a register refers to the array.

use crate::ir::analysis::effects::{Effects, Memory, MemoryAccess, Transfer, effects, transfer};
use crate::ir::analysis::flow_graph::count;
use crate::ir::graph::{Function, Instruction, Op, Reg, Terminator};
use crate::value::Bank;
use hashbrown::HashMap;

/// Empties registers after the last use of the references that were loaded into them.
pub fn release(function: &mut Function) {
    let counts = count(function);
    for block in &mut function.blocks {
        crate::cancel::check();
        let mut last: HashMap<Reg, (usize, u32)> = HashMap::new();
        for (i, step) in block.instructions.iter().enumerate() {
            for reg in &step.ins {
                let seen = last.entry(*reg).or_default();
                *seen = (i, seen.1 + 1);
            }
        }
        let end = block.end.as_ref().map_or(&[][..], Terminator::reads);
        let mut releases: Vec<(usize, Reg)> = vec![];
        for step in &block.instructions {
            let Some(loaded) = loaded(step) else { continue };
            let Some((at, here)) = last.get(&loaded) else { continue };
            let r = loaded.0 as usize;
            let only_here = counts.writes[r] == 1 && counts.reads[r] == *here && !end.contains(&loaded);
            if only_here && reads_only(&block.instructions[*at].op) && function.registers[r].bank == Bank::R {
                releases.push((*at, loaded));
            }
        }
        releases.sort_unstable();
        releases.dedup();
        if releases.is_empty() {
            continue;
        }
        let mut next = releases.into_iter().peekable();
        let mut steps = Vec::with_capacity(block.instructions.len());
        for (i, step) in std::mem::take(&mut block.instructions).into_iter().enumerate() {
            let span = step.span;
            steps.push(step);
            while let Some((_, reg)) = next.next_if(|(at, _)| *at == i) {
                steps.push(Instruction { op: Op::Null, outs: vec![reg], ins: vec![], span, active: false });
            }
        }
        block.instructions = steps;
    }
}

/// Returns the register into which a step loads a reference from storage that may retain the reference.
fn loaded(step: &Instruction) -> Option<Reg> {
    let Effects { memory, access, .. } = effects(&step.op);
    let is_shared = matches!(memory, Memory::Box | Memory::Record | Memory::Array | Memory::Global);
    (is_shared && access == MemoryAccess::Read).then(|| step.outs.first().copied()).flatten()
}

/// Whether a step reads the object of a reference and does not store the reference.
fn reads_only(op: &Op) -> bool {
    let Effects { memory, access, .. } = effects(op);
    matches!((memory, access), (Memory::Array | Memory::Record, MemoryAccess::Read))
        || matches!(transfer(op), Transfer::Native(_))
}
