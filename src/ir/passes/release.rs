//! References that were only looked at are let go at once, so that what they name has one owner again: an array that a
//! global variable or a box holds could not be changed in place while a register still names it.

use crate::ir::graph::{Function, Instruction, Op, Reg};
use crate::ir::passes::copy_propagation::count;
use crate::ir::verify::reads;
use crate::value::Bank;
use hashbrown::HashMap;

/// Empties registers behind the last look at what was loaded into them.
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
        let end: Vec<Reg> = block.end.iter().flat_map(reads).collect();
        let mut releases: Vec<(usize, Reg)> = vec![];
        for step in &block.instructions {
            let Some(loaded) = loaded(step) else { continue };
            let Some((at, here)) = last.get(&loaded) else { continue };
            let r = loaded.0 as usize;
            let only_here = counts.writes[r] == 1 && counts.reads[r] == *here && !end.contains(&loaded);
            if only_here && looks(&block.instructions[*at].op) && function.registers[r].bank == Bank::R {
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

/// The register that a step loads from storage that may hold on to the same reference.
fn loaded(step: &Instruction) -> Option<Reg> {
    match step.op {
        Op::LoadBox { bank: Bank::R, .. }
        | Op::LoadRecord { bank: Bank::R, .. }
        | Op::LoadElement { bank: Bank::R, .. }
        | Op::LoadGlobal { bank: Bank::R, .. } => step.outs.first().copied(),
        _ => None,
    }
}

/// Steps that read through a reference and do not keep it.
fn looks(op: &Op) -> bool {
    matches!(op, Op::Count | Op::CheckIndex | Op::LoadElement { .. } | Op::LoadRecord { .. } | Op::Native { .. })
}
