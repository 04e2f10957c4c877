//! Post-dominator: the block at which the two successors of a branch meet.

use crate::ir::Function;

/// The largest function whose branches are followed.
const MAX_BLOCKS: usize = 400;

/// The nearest block through which all paths from a branch to the end of the function lead.
pub(super) struct PostDominator {
    /// The block.
    pub(super) block: usize,
    /// The blocks between the branch and this block.
    pub(super) region: Vec<usize>,
}

impl PostDominator {
    /// Returns the immediate post-dominator of a branch; `None` if a successor returns from the function.
    pub(super) fn of(function: &Function, branch: usize) -> Option<PostDominator> {
        if function.blocks.len() > MAX_BLOCKS {
            return None;
        }
        let candidates = (0..function.blocks.len()).filter(|block| *block != branch);
        let found =
            candidates.filter_map(|block| Some(PostDominator { block, region: region(function, branch, block)? }));
        found.min_by_key(|post_dominator| post_dominator.region.len())
    }
}

/// Returns the blocks between a branch and a block; `None` unless all paths lead there. A path that ends with a fault
/// does not count.
fn region(function: &Function, branch: usize, to: usize) -> Option<Vec<usize>> {
    let mut seen = vec![false; function.blocks.len()];
    let mut region = vec![];
    let mut open = vec![branch];
    let mut arrives = false;
    while let Some(block) = open.pop() {
        let end = function.blocks[block].end.as_ref()?;
        if matches!(end, crate::ir::Terminator::Return(_)) {
            return None;
        }
        for next in end.targets().map(|next| next.0 as usize) {
            if next == to {
                arrives = true;
            } else if !std::mem::replace(&mut seen[next], true) {
                region.push(next);
                open.push(next);
            }
        }
    }
    arrives.then_some(region)
}
