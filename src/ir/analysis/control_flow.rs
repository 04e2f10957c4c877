//! Control flow: predecessors, the order of blocks, and loops.

use crate::ir::analysis::flow_graph::FlowGraph;

/// Returns the predecessors of each block of a graph.
pub fn predecessors<G: FlowGraph>(graph: &G) -> Vec<Vec<usize>> {
    let mut before = vec![vec![]; graph.block_count()];
    for from in 0..graph.block_count() {
        graph.successors(from).for_each(|to| before[to].push(from));
    }
    before
}

/// Returns the reachable blocks in reverse postorder: each block before its successors, except along back edges. The
/// body of a loop precedes the exit of the loop.
pub fn reverse_postorder<G: FlowGraph>(graph: &G) -> Vec<usize> {
    let mut order = vec![];
    if graph.block_count() == 0 {
        return order;
    }
    let mut seen = vec![false; graph.block_count()];
    // The last successor is visited first, so that the first successor comes first in the reversed order.
    let mut open = vec![(0, graph.successors(0).rev())];
    seen[0] = true;
    while let Some((block, targets)) = open.last_mut() {
        match targets.next() {
            Some(next) => {
                if !std::mem::replace(&mut seen[next], true) {
                    open.push((next, graph.successors(next).rev()));
                }
            }
            None => {
                order.push(*block);
                open.pop();
            }
        }
    }
    order.reverse();
    order
}

/// Returns the back edges, the jumps from the end of a loop to its head, as (from, to).
pub fn back_edges<G: FlowGraph>(graph: &G) -> Vec<(usize, usize)> {
    let order = reverse_postorder(graph);
    let mut place = vec![usize::MAX; graph.block_count()];
    order.iter().enumerate().for_each(|(k, block)| place[*block] = k);
    let edges = order.iter().flat_map(|from| graph.successors(*from).map(move |to| (*from, to)));
    edges.filter(|(from, to)| place[*to] <= place[*from]).collect()
}

/// Returns for each block whether it belongs to the natural loop of a back edge: the blocks that reach the latch without
/// passing through the head. `before` are the predecessors of each block.
pub fn natural_loop(before: &[Vec<usize>], (latch, head): (usize, usize)) -> Vec<bool> {
    let mut inside = vec![false; before.len()];
    inside[head] = true;
    let mut work = vec![latch];
    while let Some(block) = work.pop() {
        if !std::mem::replace(&mut inside[block], true) {
            work.extend(&before[block]);
        }
    }
    inside
}

/// Computes for each block whether it is in a loop, and may therefore run several times.
pub fn in_loops<G: FlowGraph>(graph: &G) -> Vec<bool> {
    let before = predecessors(graph);
    // The index of the last loop in which each block was found.
    let mut seen = vec![usize::MAX; graph.block_count()];
    let mut inside = vec![false; graph.block_count()];
    for (k, (latch, head)) in back_edges(graph).into_iter().enumerate() {
        // The natural loop: the blocks that reach the latch without passing through the head.
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

/// Whether every path from the entry to the second block leads through the first one.
pub fn dominates<G: FlowGraph>(graph: &G, first: usize, second: usize) -> bool {
    let mut seen = vec![false; graph.block_count()];
    let mut work = vec![0];
    while let Some(block) = work.pop() {
        if block == first || std::mem::replace(&mut seen[block], true) {
            continue;
        }
        if block == second {
            return false;
        }
        work.extend(graph.successors(block));
    }
    true
}
