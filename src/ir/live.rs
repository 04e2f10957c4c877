//! Liveness over a control-flow graph: which registers a block needs from the blocks before it.
//!
//! Promises: time and memory grow with what is live, not with blocks times registers.

use super::graph::Function;
use super::verify::{reads, targets};
use crate::stop;

/// What a block does with registers.
#[derive(Clone, Debug, Default)]
pub struct Use {
    /// What it reads before it has written it.
    pub reads: Vec<usize>,
    /// What it writes.
    pub writes: Vec<usize>,
}

impl Use {
    /// A register is read, unless the block has written it.
    pub fn read(&mut self, reg: usize, written: &[usize], block: usize) {
        if written[reg] != block {
            self.reads.push(reg);
        }
    }
}

/// The registers that are live at the start of each block, in their order. `before`: the blocks before each block.
pub fn entering(uses: &[Use], before: &[Vec<usize>], registers: usize) -> Vec<Vec<usize>> {
    let (mut readers, mut writers) = (vec![vec![]; registers], vec![vec![]; registers]);
    for (block, used) in uses.iter().enumerate() {
        used.reads.iter().for_each(|r| readers[*r].push(block));
        used.writes.iter().for_each(|r| writers[*r].push(block));
    }
    let mut live = vec![vec![]; uses.len()];
    // The register that was last found to be live at the start of a block, and the last that was found to be written there.
    let (mut found, mut written) = (vec![usize::MAX; uses.len()], vec![usize::MAX; uses.len()]);
    for (reg, readers) in stop::looking_at_each(readers).enumerate() {
        writers[reg].iter().for_each(|block| written[*block] = reg);
        let mut work = vec![];
        for block in readers {
            if std::mem::replace(&mut found[block], reg) != reg {
                live[block].push(reg);
                work.push(block);
            }
        }
        while let Some(block) = work.pop() {
            for &from in &before[block] {
                if written[from] != reg && std::mem::replace(&mut found[from], reg) != reg {
                    live[from].push(reg);
                    work.push(from);
                }
            }
        }
    }
    live
}

/// The registers that are live at the start of each block of a function.
pub fn live(f: &Function) -> Vec<Vec<usize>> {
    let mut uses = vec![Use::default(); f.blocks.len()];
    let mut before = vec![vec![]; f.blocks.len()];
    // The block that wrote each register last.
    let mut written = vec![usize::MAX; f.registers.len()];
    for (at, (block, used)) in stop::looking_at_each(f.blocks.iter().zip(&mut uses)).enumerate() {
        for step in &block.instructions {
            step.ins.iter().for_each(|r| used.read(r.0 as usize, &written, at));
            for out in &step.outs {
                written[out.0 as usize] = at;
                used.writes.push(out.0 as usize);
            }
        }
        block.end.iter().flat_map(reads).for_each(|r| used.read(r.0 as usize, &written, at));
        block.end.iter().flat_map(targets).for_each(|to| before[to.0 as usize].push(at));
    }
    entering(&uses, &before, f.registers.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_register_is_live_from_where_it_is_written_to_where_it_is_read() {
        // 0 → 1 ⇄ 2, 1 → 3: register 0 is written before the loop and read behind it, 1 goes around, 2 stays in a block.
        let used = |reads: &[usize], writes: &[usize]| Use { reads: reads.to_vec(), writes: writes.to_vec() };
        let uses = [used(&[], &[0, 1]), used(&[1], &[]), used(&[1], &[1, 2]), used(&[0], &[])];
        let before = [vec![], vec![0, 2], vec![1], vec![1]];
        assert_eq!(entering(&uses, &before, 3), [vec![], vec![0, 1], vec![0, 1], vec![0]]);
    }

    #[test]
    fn what_is_read_in_the_first_block_is_live_there() {
        let uses = [Use { reads: vec![1], writes: vec![] }];
        assert_eq!(entering(&uses, &[vec![]], 2), [vec![1]]);
    }
}
