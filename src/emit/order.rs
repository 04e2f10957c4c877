//! The order of blocks in the code, and which of them lie in loops.

use super::graph::Graph;

/// Blocks that can be reached, each before what it leads to except around loops; a loop's body comes before its exit.
pub fn block_order(graph: &Graph) -> Vec<usize> {
    let mut order = postorder(graph);
    order.reverse();
    order
}

fn postorder(graph: &Graph) -> Vec<usize> {
    let mut seen = vec![false; graph.blocks.len()];
    let mut order = vec![];
    // The list of targets is walked from its end, so that `then` is finished last and comes first in the result.
    let mut stack = vec![(0, graph.blocks[0].end.targets().rev().collect::<Vec<_>>())];
    seen[0] = true;
    while let Some((block, targets)) = stack.last_mut() {
        if targets.is_empty() {
            order.push(*block);
            stack.pop();
            continue;
        }
        let next = targets.remove(0);
        if !std::mem::replace(&mut seen[next], true) {
            stack.push((next, graph.blocks[next].end.targets().rev().collect()));
        }
    }
    order
}

/// Jumps that go back, as (from, to).
pub fn back_edges(graph: &Graph) -> Vec<(usize, usize)> {
    let order = block_order(graph);
    let mut place = vec![usize::MAX; graph.blocks.len()];
    order.iter().enumerate().for_each(|(k, b)| place[*b] = k);
    let edges = order.iter().flat_map(|b| graph.blocks[*b].end.targets().map(move |to| (*b, to)));
    edges.filter(|(from, to)| place[*to] <= place[*from]).collect()
}

/// For each block whether it can be run several times.
pub fn in_loops(graph: &Graph) -> Vec<bool> {
    let mut before = vec![vec![]; graph.blocks.len()];
    for (from, block) in graph.blocks.iter().enumerate() {
        block.end.targets().for_each(|to| before[to].push(from));
    }
    // The last loop in which each block was seen.
    let mut seen = vec![usize::MAX; graph.blocks.len()];
    let mut inside = vec![false; graph.blocks.len()];
    for (k, (latch, head)) in back_edges(graph).into_iter().enumerate() {
        // The natural loop: what reaches the latch without passing the head.
        seen[head] = k;
        inside[head] = true;
        let mut work = vec![latch];
        while let Some(block) = work.pop() {
            if std::mem::replace(&mut seen[block], k) != k {
                inside[block] = true;
                work.extend(&before[block]);
            }
        }
    }
    inside
}
