//! Windows: the choice of arguments that are computed in the window of their call, and of results that are used there.

use super::graph::{Block, Graph, Reg, Step};
use super::register_assignment::{window_args, window_places};
use crate::ir::analysis::flow_graph::{Counts, count};
use crate::ir::analysis::liveness::Liveness;
use hashbrown::HashMap;

/// The assignment of virtual registers to the registers of the window.
#[derive(Debug)]
pub struct Windows {
    /// The place of each register in the window, if it has one.
    pub places: Vec<Option<usize>>,
    /// The required size of the window in each bank.
    pub size: [usize; 3],
}

/// Chooses the registers that are in the window. A register is in the window only inside one block and between two
/// steps that use the window.
pub fn windows(graph: &Graph, live: &Liveness) -> Windows {
    let mut found = Windows { places: vec![None; graph.banks.len()], size: [0; 3] };
    let Counts { writes, reads } = count(graph);
    let mut last_reads = LastReads(vec![(usize::MAX, 0); graph.banks.len()]);
    for (at, block) in graph.blocks.iter().enumerate() {
        crate::cancel::check();
        last_reads.note(at, block);
        let last_read = |r: Reg| last_reads.of(at, r);
        let local = |r: Reg| writes[r] == 1 && !live.leaves(at, r);
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
                results(graph, block, (before, Some(user)), &local, &last_read, &taken, &mut found.places);
            }
        }
        if let Some(last) = users.last().filter(|u| block.steps[**u].is_call()) {
            results(graph, block, (*last, None), &local, &last_read, &HashMap::new(), &mut found.places);
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

/// Places arguments that are computed between the previous use of the window and their call. Returns the step from
/// which on each place of the window is occupied.
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
    let mut requested: HashMap<Reg, usize> = HashMap::new();
    for (reg, place) in args.iter().zip(window_places(&graph.banks, &args)) {
        if reads[*reg] == 1 && local(*reg) {
            requested.insert(*reg, place);
        }
    }
    let mut taken = HashMap::new();
    for made in before.map_or(0, |b| b + 1)..user {
        for reg in block.steps[made].outs.iter().filter(|r| changes_nothing_else(&block.steps[made], **r)) {
            if let Some(place) = requested.get(reg) {
                places[*reg] = Some(*place);
                taken.insert((graph.banks[*reg] as usize, *place), made);
            }
        }
    }
    taken
}

/// Whether a step writes a register without reading it: a register that is also read is live earlier, in another place.
fn changes_nothing_else(step: &Step, reg: Reg) -> bool {
    !step.ins.contains(&reg)
}

/// The last block that reads each register, among the blocks that were noted, and the last step in it that reads the
/// register; the terminator of a block counts as a step after the others.
struct LastReads(Vec<(usize, usize)>);

impl LastReads {
    fn note(&mut self, at: usize, block: &Block) {
        for (k, ins) in block.steps.iter().map(|s| &s.ins[..]).chain([block.end.ins()]).enumerate() {
            ins.iter().for_each(|r| self.0[*r] = (at, k));
        }
    }

    fn of(&self, block: usize, reg: Reg) -> Option<usize> {
        let (at, k) = self.0[reg];
        (at == block).then_some(k)
    }
}

/// Places results of a call that are only live until the next use of the window.
fn results(
    graph: &Graph,
    block: &Block,
    (call, next): (usize, Option<usize>),
    local: &dyn Fn(Reg) -> bool,
    last_read: &dyn Fn(Reg) -> Option<usize>,
    taken: &HashMap<(usize, usize), usize>,
    places: &mut [Option<usize>],
) {
    let outs = &block.steps[call].outs;
    for (reg, place) in outs.iter().zip(window_places(&graph.banks, outs)) {
        if !local(*reg) || places[*reg].is_some() {
            continue;
        }
        let used = last_read(*reg);
        let later = used > Some(next.unwrap_or(block.steps.len()));
        let from = taken.get(&(graph.banks[*reg] as usize, place)).copied().unwrap_or(usize::MAX);
        // A step reads its operands before it writes its results, so the last step that reads the result may compute
        // the argument.
        if !later && used.is_none_or(|used| used <= from) && (next.is_some() || from == usize::MAX) {
            places[*reg] = Some(place);
        }
    }
}
