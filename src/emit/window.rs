//! Values that are made where they are needed: arguments in the window of their call, and results that stay there.

use super::assign::{window_args, window_places};
use super::graph::{Block, Graph, Reg, Step};
use super::live::Liveness;
use std::collections::HashMap;

/// What stands in the window.
#[derive(Debug)]
pub struct Windows {
    /// For each register its place in the window, if it lives there.
    pub places: Vec<Option<usize>>,
    /// How big the window must be.
    pub size: [usize; 3],
}

/// Chooses them. A register lives in the window only inside one block and between two steps that need the window.
pub fn windows(graph: &Graph, live: &Liveness) -> Windows {
    let mut found = Windows { places: vec![None; graph.banks.len()], size: [0; 3] };
    let (writes, reads) = graph.counts();
    for (at, block) in graph.blocks.iter().enumerate() {
        let local = |r: Reg| writes[r] == 1 && !live.exit[at].has(r);
        let users: Vec<usize> = (0..block.steps.len()).filter(|k| block.steps[*k].uses_window()).collect();
        for (k, &user) in users.iter().enumerate() {
            let step = &block.steps[user];
            grow(graph, &mut found.size, &window_args(step));
            if step.is_call() {
                grow(graph, &mut found.size, &step.outs);
            }
            let before = k.checked_sub(1).map(|k| users[k]);
            let taken = arguments(graph, block, before, user, &local, &reads, &mut found.places);
            if let Some(before) = before.filter(|b| block.steps[*b].is_call()) {
                results(graph, block, before, Some(user), &local, &taken, &mut found.places);
            }
        }
        if let Some(last) = users.last().filter(|u| block.steps[**u].is_call()) {
            results(graph, block, *last, None, &local, &HashMap::new(), &mut found.places);
        }
    }
    found
}

fn grow(graph: &Graph, size: &mut [usize; 3], regs: &[Reg]) {
    for (reg, place) in regs.iter().zip(window_places(&graph.banks, regs)) {
        let size = &mut size[graph.banks[*reg] as usize];
        *size = (*size).max(place + 1);
    }
}

/// Arguments that are computed between the step that used the window before and the call that they belong to. Returns
/// from which step on each place of the window is taken.
fn arguments(
    graph: &Graph,
    block: &Block,
    before: Option<usize>,
    user: usize,
    local: &dyn Fn(Reg) -> bool,
    reads: &[u32],
    places: &mut [Option<usize>],
) -> HashMap<(usize, usize), usize> {
    let args = window_args(&block.steps[user]);
    let mut wanted: HashMap<Reg, usize> = HashMap::new();
    for (reg, place) in args.iter().zip(window_places(&graph.banks, &args)) {
        if reads[*reg] == 1 && local(*reg) {
            wanted.insert(*reg, place);
        }
    }
    let mut taken = HashMap::new();
    for made in before.map_or(0, |b| b + 1)..user {
        for reg in block.steps[made].outs.iter().filter(|r| changes_nothing_else(&block.steps[made], **r)) {
            if let Some(place) = wanted.get(reg) {
                places[*reg] = Some(*place);
                taken.insert((graph.banks[*reg] as usize, *place), made);
            }
        }
    }
    taken
}

/// A register that a step both reads and writes has an earlier life elsewhere.
fn changes_nothing_else(step: &Step, reg: Reg) -> bool {
    !step.ins.contains(&reg)
}

/// Results that are needed only before the window is used again.
fn results(
    graph: &Graph,
    block: &Block,
    call: usize,
    next: Option<usize>,
    local: &dyn Fn(Reg) -> bool,
    taken: &HashMap<(usize, usize), usize>,
    places: &mut [Option<usize>],
) {
    let outs = &block.steps[call].outs;
    for (reg, place) in outs.iter().zip(window_places(&graph.banks, outs)) {
        if !local(*reg) || places[*reg].is_some() {
            continue;
        }
        let last = next.unwrap_or(block.steps.len());
        let later = block.steps.iter().skip(last + 1).any(|s| s.ins.contains(reg))
            || (next.is_some() && block.end.ins().contains(reg));
        let used = (call + 1..block.steps.len().min(last + 1)).rfind(|k| block.steps[*k].ins.contains(reg));
        let from = taken.get(&(graph.banks[*reg] as usize, place)).copied().unwrap_or(usize::MAX);
        // A step reads before it writes, so the argument may be made by the last step that needs the result.
        if !later && used.is_none_or(|used| used <= from) && (next.is_some() || from == usize::MAX) {
            places[*reg] = Some(place);
        }
    }
}
