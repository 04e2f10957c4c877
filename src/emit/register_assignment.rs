//! Register assignment: some virtual registers are placed in the window of the call that takes or returns them, the
//! others are assigned by linear scan over the order of the blocks.

use super::graph::{Graph, Reg, Step};
use super::window::{Windows, windows};
use crate::ir::Op;
use crate::ir::analysis::liveness::Liveness;
use crate::value::Bank;
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

/// The place of a virtual register: a machine register.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Place {
    /// A register of the function itself, by index.
    Own(usize),
    /// A register of the window, by index.
    Window(usize),
}

/// The machine registers of a function.
#[derive(Debug)]
pub struct Assignment {
    /// The place of each virtual register; `None` for those that are not used.
    pub places: Vec<Option<Place>>,
    /// The number of the function's own registers in each bank.
    pub own: [usize; 3],
    /// The size of the window in each bank, without the scratch register after it.
    pub window: [usize; 3],
    /// The index of the first own number register that never has a slot.
    pub inactive_from: usize,
}

/// Returns the place of each argument or result of a call in its bank.
pub fn window_places(banks: &[Bank], regs: &[Reg]) -> Vec<usize> {
    let mut next = [0; 3];
    let place = |r: &Reg| {
        let bank = banks[*r] as usize;
        next[bank] += 1;
        next[bank] - 1
    };
    regs.iter().map(place).collect()
}

/// Returns the registers of a step that are in the window, in the order of their places.
pub fn window_args(step: &Step) -> Vec<Reg> {
    match step.ir() {
        // The function object follows its arguments.
        Some(Op::CallValue) => step.ins[1..].iter().chain(&step.ins[..1]).copied().collect(),
        // The array to which an element is appended is not part of the element.
        Some(Op::Append(_)) => step.ins[1..].to_vec(),
        _ => step.ins.clone(),
    }
}

/// Returns the number registers that are written with a slot somewhere. In original code all number registers form one
/// class.
pub fn active_registers(graph: &Graph, is_derivative: bool) -> Vec<bool> {
    let mut active = vec![!is_derivative; graph.banks.len()];
    graph.params.iter().for_each(|p| active[*p] = true);
    for step in graph.blocks.iter().flat_map(|b| &b.steps) {
        if step.active || step.is_call() {
            step.outs.iter().for_each(|r| active[*r] = true);
        }
    }
    active
}

/// Assigns a machine register to every virtual register.
pub fn assign(graph: &Graph, order: &[usize], live: &Liveness, active: &[bool]) -> Assignment {
    let Windows { places: in_window, size: window } = windows(graph, live);
    let mut places: Vec<Option<Place>> = in_window.iter().map(|p| p.map(Place::Window)).collect();
    let mut intervals = intervals(graph, order, live);
    intervals.retain(|i| places[i.reg].is_none());
    intervals.sort_by_key(|i| (i.start, i.reg));
    let mut own = [0; 3];
    let mut params = graph.params.clone();
    params.extend(graph.closure);
    for (reg, at) in params.iter().zip(window_places(&graph.banks, &params)) {
        places[*reg] = Some(Place::Own(at));
        let size = &mut own[graph.banks[*reg] as usize];
        *size = (*size).max(at + 1);
    }
    let mut inactive_from = 0;
    for (bank, class) in [(Bank::F, true), (Bank::F, false), (Bank::I, false), (Bank::R, false)] {
        let slot = bank as usize;
        if (bank, class) == (Bank::F, false) {
            inactive_from = own[slot];
        }
        // The place of a parameter becomes free after the last use of the parameter; places of the other class are not
        // available.
        let first = if (bank, class) == (Bank::F, false) { own[slot] } else { 0 };
        let mine =
            intervals.iter().filter(|i| graph.banks[i.reg] == bank && (bank != Bank::F || active[i.reg] == class));
        own[slot] = scan(mine, first, own[slot], &mut places);
    }
    Assignment { places, own, window, inactive_from }
}

/// The range of the code in which a register is live; steps read at even positions and write at odd positions.
#[derive(Debug)]
struct Interval {
    reg: Reg,
    start: usize,
    end: usize,
    /// A register from which the interval's register is copied, and whose place is preferred.
    hint: Option<Reg>,
}

fn intervals(graph: &Graph, order: &[usize], live: &Liveness) -> Vec<Interval> {
    let mut all: Vec<Interval> =
        (0..graph.banks.len()).map(|reg| Interval { reg, start: usize::MAX, end: 0, hint: None }).collect();
    let mut touch = |reg: Reg, at: usize| {
        all[reg].start = all[reg].start.min(at);
        all[reg].end = all[reg].end.max(at);
    };
    graph.params.iter().chain(&graph.closure).for_each(|p| touch(*p, 0));
    let mut at = 1;
    for block in order {
        live.entry(*block).for_each(|r| touch(r, 2 * at));
        for step in &graph.blocks[*block].steps {
            at += 1;
            step.ins.iter().for_each(|r| touch(*r, 2 * at));
            step.outs.iter().for_each(|r| touch(*r, 2 * at + 1));
        }
        at += 1;
        graph.blocks[*block].end.ins().iter().for_each(|r| touch(*r, 2 * at));
        live.exit(*block).for_each(|r| touch(r, 2 * at + 1));
    }
    for step in graph.blocks.iter().flat_map(|b| &b.steps) {
        if let (Some(Op::Copy | Op::Take | Op::AssertDifferentiable { .. }), [out], [a]) =
            (step.ir(), &step.outs[..], &step.ins[..])
        {
            all[*out].hint = Some(*a);
        }
    }
    all.retain(|i| i.start != usize::MAX);
    all
}

/// Assigns places to live ranges in the order of their starts; returns the number of places.
fn scan<'a>(
    intervals: impl Iterator<Item = &'a Interval>,
    first: usize,
    mut size: usize,
    places: &mut [Option<Place>],
) -> usize {
    let mut free: BTreeSet<usize> = (first..size).collect();
    let mut busy: BinaryHeap<Reverse<(usize, usize)>> = BinaryHeap::new();
    for interval in intervals {
        while let Some(Reverse((_, at))) = busy.peek().copied().filter(|Reverse((end, _))| *end < interval.start) {
            busy.pop();
            free.insert(at);
        }
        if let Some(Place::Own(at)) = places[interval.reg] {
            free.remove(&at);
            busy.push(Reverse((interval.end, at)));
            continue;
        }
        let hint = interval.hint.and_then(|f| places[f]).and_then(|p| match p {
            Place::Own(at) => free.contains(&at).then_some(at),
            Place::Window(_) => None,
        });
        let at = hint.or_else(|| free.first().copied()).unwrap_or_else(|| {
            size += 1;
            size - 1
        });
        free.remove(&at);
        busy.push(Reverse((interval.end, at)));
        places[interval.reg] = Some(Place::Own(at));
    }
    size
}
