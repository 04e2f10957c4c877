//! Block simplification: jump threading, merging of straight-line blocks, and removal of unreachable blocks. The order
//! of blocks follows the source.

use crate::ir::analysis::control_flow::reverse_postorder;
use crate::ir::analysis::flow_graph::FlowGraph;
use crate::ir::graph::{Block, BlockId, Function, Terminator};

/// Threads jumps through empty blocks, merges straight-line blocks, and removes unreachable blocks.
pub fn simplify(function: &mut Function) {
    thread(function);
    join(function);
    renumber(function);
}

/// Redirects jumps to blocks that contain only a jump, to the targets of these blocks.
fn thread(function: &mut Function) {
    let ends: Vec<Option<BlockId>> = function
        .blocks
        .iter()
        .map(|block| match block.end {
            Some(Terminator::Jump(to)) if block.instructions.is_empty() => Some(to),
            _ => None,
        })
        .collect();
    let finally = |mut at: BlockId| {
        // The number of steps is limited because an empty infinite loop has no final target.
        for _ in 0..ends.len() {
            match ends[at.0 as usize] {
                Some(next) => at = next,
                None => return at,
            }
        }
        at
    };
    for block in &mut function.blocks {
        match &mut block.end {
            Some(Terminator::Jump(to)) => *to = finally(*to),
            Some(Terminator::Branch { then, otherwise, .. }) => {
                *then = finally(*then);
                *otherwise = finally(*otherwise);
                if then == otherwise {
                    block.end = Some(Terminator::Jump(*then));
                }
            }
            Some(Terminator::Return(_) | Terminator::Trap(_)) | None => {}
        }
    }
}

/// Appends each block with a single predecessor to this predecessor, if the predecessor jumps to the block
/// unconditionally.
fn join(function: &mut Function) {
    let mut entries = vec![0usize; function.blocks.len()];
    entries[0] = 1;
    let mut order = reverse_postorder(function);
    for reached in &order {
        function.successors(*reached).for_each(|to| entries[to] += 1);
    }
    order.sort_unstable();
    for b in order {
        while let Some(Terminator::Jump(to)) = function.blocks[b].end {
            let to = to.0 as usize;
            if to == b || to == 0 || entries[to] != 1 {
                break;
            }
            let Block { instructions, end, end_span } = std::mem::take(&mut function.blocks[to]);
            let block = &mut function.blocks[b];
            block.instructions.extend(instructions);
            block.end = end;
            block.end_span = end_span;
            // The emptied block must have a terminator, because a missing terminator denotes a block under
            // construction.
            function.blocks[to].end = Some(Terminator::Jump(BlockId(to as u32)));
            entries[to] = 0;
        }
    }
}

fn renumber(function: &mut Function) {
    let order = reverse_postorder(function);
    let mut number = vec![BlockId(0); function.blocks.len()];
    for (i, block) in order.iter().enumerate() {
        number[*block] = BlockId(i as u32);
    }
    let mut blocks = vec![];
    for old in order {
        let mut block = std::mem::take(&mut function.blocks[old]);
        match &mut block.end {
            Some(Terminator::Jump(to)) => *to = number[to.0 as usize],
            Some(Terminator::Branch { then, otherwise, .. }) => {
                *then = number[then.0 as usize];
                *otherwise = number[otherwise.0 as usize];
            }
            Some(Terminator::Return(_) | Terminator::Trap(_)) | None => {}
        }
        blocks.push(block);
    }
    function.blocks = blocks;
}
