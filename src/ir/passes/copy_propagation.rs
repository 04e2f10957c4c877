//! Copies: readers go to the original, and a result goes to its variable at once.

use crate::cancel;
use crate::ir::graph::{Function, Instruction, Op, Reg, Terminator, Trap};
use crate::ir::verify::{reads, tied};
use hashbrown::HashMap;

/// How often each register is written and read in a function.
pub struct Counts {
    /// Writes; a parameter has one from the caller.
    pub writes: Vec<u32>,
    /// Reads.
    pub reads: Vec<u32>,
}

/// Counts writes and reads.
pub fn count(function: &Function) -> Counts {
    let size = function.registers.len();
    let mut counts = Counts { writes: vec![0; size], reads: vec![0; size] };
    for reg in &function.params {
        counts.writes[reg.0 as usize] += 1;
    }
    for block in &function.blocks {
        for step in &block.instructions {
            step.outs.iter().for_each(|r| counts.writes[r.0 as usize] += 1);
            step.ins.iter().for_each(|r| counts.reads[r.0 as usize] += 1);
        }
        block.end.iter().flat_map(reads).for_each(|r| counts.reads[r.0 as usize] += 1);
    }
    counts
}

/// Within a block, reads the original instead of a copy while neither changes. Only where that may make the copy
/// unnecessary: a variable that is written elsewhere, too, needs it anyway.
pub fn propagate(function: &mut Function) {
    let counts = count(function);
    for block in &mut function.blocks {
        let mut originals: HashMap<Reg, Reg> = HashMap::new();
        for step in cancel::checking(block.instructions.iter_mut()) {
            let fixed = tied(&step.op).map(|(_, input)| input);
            if step.op != Op::Take {
                for (i, reg) in step.ins.iter_mut().enumerate() {
                    if fixed != Some(i) {
                        *reg = originals.get(reg).copied().unwrap_or(*reg);
                    }
                }
            }
            let emptied = if step.op == Op::Take { &step.ins[..] } else { &[] };
            for changed in step.outs.iter().chain(emptied) {
                originals.remove(changed);
                originals.retain(|_, original| original != changed);
            }
            if step.op == Op::Copy && step.outs[0] != step.ins[0] && counts.writes[step.outs[0].0 as usize] == 1 {
                originals.insert(step.outs[0], step.ins[0]);
            }
        }
        let original = |reg: &mut Reg| *reg = originals.get(reg).copied().unwrap_or(*reg);
        match &mut block.end {
            Some(Terminator::Branch { condition, .. }) => original(condition),
            Some(Terminator::Return(regs)) => regs.iter_mut().for_each(original),
            Some(Terminator::Trap(Trap::Failed { message: Some(reg), .. } | Trap::Uncaught(reg))) => original(reg),
            Some(Terminator::Trap(_) | Terminator::Jump(_)) | None => {}
        }
    }
}

/// Within a block, `t = …` and later `x = t`, where nothing else reads `t`, becomes `x = …`.
pub fn coalesce(function: &mut Function) {
    let counts = count(function);
    for block in &mut function.blocks {
        // Where each register was written last, and where it was last written or read.
        let mut made: HashMap<Reg, usize> = HashMap::new();
        let mut touched: HashMap<Reg, usize> = HashMap::new();
        let mut gone = vec![false; block.instructions.len()];
        for (i, gone) in gone.iter_mut().enumerate() {
            if let Some((to, from)) = transfer(&block.instructions[i]) {
                let once = counts.writes[from.0 as usize] == 1 && counts.reads[from.0 as usize] == 1;
                let start = made.get(&from).copied().filter(|_| once && to != from);
                // The step that makes the value may read the variable, but nothing behind it may.
                let free = start.filter(|s| touched.get(&to).is_none_or(|t| t <= s));
                if let Some(start) = free.filter(|s| !block.instructions[*s].outs.contains(&to)) {
                    for out in block.instructions[start].outs.iter_mut().filter(|out| **out == from) {
                        *out = to;
                    }
                    *gone = true;
                    made.insert(to, start);
                    touched.insert(to, start);
                    continue;
                }
            }
            let step = &block.instructions[i];
            for reg in step.ins.iter().chain(&step.outs) {
                touched.insert(*reg, i);
            }
            for out in &step.outs {
                made.insert(*out, i);
            }
        }
        let mut i = 0;
        block.instructions.retain(|_| {
            i += 1;
            !gone[i - 1]
        });
    }
}

/// From where to where a step only moves a value.
fn transfer(step: &Instruction) -> Option<(Reg, Reg)> {
    matches!(step.op, Op::Copy | Op::Take).then(|| (step.outs[0], step.ins[0]))
}
