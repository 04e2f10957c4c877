//! Chains that break while derivative code runs: a number becomes something that cannot move, and that becomes a number
//! again.
//!
//! In: a function. Out: the same function, where what was the number is held until there is a number again, and an
//! operator `Broken` then says so. Where the first one moves, the second has no derivative, and whoever asks for it is
//! told where the chain broke. An integer that a function returns hands on what it was made of: `SendBreak` stands in
//! front of the return, `ReceiveBreak` behind the call, whichever function that finds. For an integer in a variable or
//! property `KeepBreak` stands behind the store, and `KeptBreak` behind the load.
//!
//! Promises: a selection (a condition, an index, the length of a loop) is not a chain, and neither is what goes through
//! an array or a dictionary; a function without such a chain is left alone. What is certain of a function that is promised to be
//! differentiable has been refused before the program runs (`check`); this is for functions that are found only then.
//! Not here: what happens to the levels (`tape`), the words (`vm`).

mod marking;

use self::marking::Marking;
use super::activity::Activity;
use super::dataflow::{self, Fact};
use super::flow::{self, NativePassage, Passage};
use super::possible::Possible;
use crate::ir::{Function, FunctionId, Instruction, Op, Program, Reg, Terminator};
use crate::value::Bank;
use crate::value::shape::{TangentId, TangentKind};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Finds broken chains, and remembers what it found out about called functions.
pub struct Chains<'p> {
    program: &'p Program,
    activity: Activity<'p>,
    /// How a number differentiates, if any does.
    number: Option<TangentId>,
    /// The results of functions that break a chain on some path, by number.
    broken_results: HashMap<FunctionId, BTreeSet<u32>>,
}

/// A step, by block and place in it.
type At = (usize, usize);

/// Where a chain broke, as a function sees it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Source {
    /// In a step of its own.
    Step(At),
    /// In a function that it called, on the way to the result with that number.
    Call(At, u32),
    /// Before an integer was stored in the variable that is read there.
    Load(At),
}

impl Source {
    /// The step where the function sees it.
    fn at(self) -> At {
        match self {
            Source::Step(at) | Source::Call(at, _) | Source::Load(at) => at,
        }
    }
}

/// The breaks that are behind what a register holds.
#[derive(Clone, Default, PartialEq)]
struct Behind(BTreeSet<Source>);

impl Behind {
    /// All but those of what was in variables before.
    fn made_here(&self) -> impl Iterator<Item = Source> {
        self.0.iter().copied().filter(|source| !matches!(source, Source::Load(_)))
    }
}

impl Fact for Behind {
    fn join(&mut self, other: &Behind) -> bool {
        let before = self.0.len();
        self.0.extend(&other.0);
        self.0.len() != before
    }
}

/// What was found in a function.
#[derive(Default)]
struct Found {
    /// The numbers that go into each break of the function's own.
    breaks: BTreeMap<At, BTreeSet<Reg>>,
    /// Steps whose result is a number again, with the breaks behind it.
    numbers: BTreeMap<(At, Reg), BTreeSet<Source>>,
    /// Results that are no numbers, by block and number, with the breaks behind them.
    results: BTreeMap<(usize, u32), BTreeSet<Source>>,
    /// Steps that store an integer in a variable, with the breaks behind it.
    stores: BTreeMap<At, BTreeSet<Source>>,
    /// Calls of function values that are given integers, with the breaks behind each, by number.
    arguments: BTreeMap<At, BTreeMap<u32, BTreeSet<Source>>>,
}

impl<'p> Chains<'p> {
    /// Of the functions of a program.
    pub fn new(program: &'p Program) -> Chains<'p> {
        let number = program.tangents.find(|tangent| tangent.kind == TangentKind::Number);
        Chains { program, activity: Activity::new(program), number, broken_results: HashMap::new() }
    }

    /// The function with its broken chains marked; `None` when it has none.
    pub fn marked(&mut self, f: &Function) -> Option<Function> {
        let number = self.number?;
        let found = self.find(f);
        let is_whole = found.numbers.is_empty() && found.results.is_empty();
        if is_whole && found.stores.is_empty() && found.arguments.is_empty() {
            return None;
        }
        Some(Marking::of(f, &found, number).function(f))
    }

    fn find(&mut self, f: &Function) -> Found {
        let mut found = Found::default();
        let steps = f.blocks.iter().flat_map(|b| &b.instructions);
        if !steps.clone().any(|step| may_break(f, step)) {
            return found;
        }
        let possible = Possible::of(self.program, f);
        let entry = vec![Behind::default(); f.registers.len()];
        let step = |block: usize, facts: &mut [Behind]| {
            for (k, step) in f.blocks[block].instructions.iter().enumerate() {
                self.step(f, &possible, (block, k), step, facts, &mut found);
            }
            let Some(Terminator::Return(results)) = &f.blocks[block].end else { return };
            for (k, result) in (0..).zip(results).filter(|(_, r)| !is_number(f, **r)) {
                // What is in a variable is not handed on any further, and neither is a text that another function has made.
                let is_integer = f.registers[result.0 as usize].bank == Bank::I;
                let is_sent = |source: &Source| is_integer || matches!(source, Source::Step(_));
                let behind: Vec<Source> = facts[result.0 as usize].made_here().filter(is_sent).collect();
                if !behind.is_empty() {
                    found.results.entry((block, k)).or_default().extend(behind);
                }
            }
        };
        dataflow::forward(f, entry, step, |_, _| {});
        found
    }

    /// Whether a function makes a result of an argument, both by number, as far as that is known.
    pub fn passes(&mut self, function: FunctionId, argument: u32, result: u32) -> bool {
        let is_by_rule = self.program.function(function).is_none_or(|f| f.is_opaque || !f.rules.is_empty());
        let summary = self.activity.summary(function);
        let known = summary.results.get(result as usize).and_then(|known| known.0.as_deref());
        !is_by_rule && known.is_some_and(|result| result.on.contains(&argument))
    }

    /// The results of a function that break a chain on some path. Of functions that call each other not all may be known.
    fn broken_results(&mut self, id: FunctionId) -> BTreeSet<u32> {
        if let Some(known) = self.broken_results.get(&id) {
            return known.clone();
        }
        self.broken_results.insert(id, BTreeSet::new());
        let Some(f) = self.program.function(id).filter(|f| !f.is_opaque && f.rules.is_empty()) else {
            return BTreeSet::new();
        };
        let results: BTreeSet<u32> = self.find(f).results.keys().map(|(_, k)| *k).collect();
        self.broken_results.insert(id, results.clone());
        results
    }

    fn step(
        &mut self,
        f: &Function,
        possible: &Possible,
        at: At,
        step: &Instruction,
        facts: &mut [Behind],
        found: &mut Found,
    ) {
        stored(at, step, facts, found);
        let outs = self.behind(f, at, step, facts, found);
        for (out, mut behind) in step.outs.iter().zip(outs) {
            behind.0.retain(|source| match source {
                Source::Step(at) => found.breaks[at].iter().any(|r| possible.is_varied(*r)),
                Source::Call(..) | Source::Load(_) => true,
            });
            if is_number(f, *out) && !matches!(step.op, Op::Copy) {
                if !behind.0.is_empty() {
                    found.numbers.entry((at, *out)).or_default().extend(&behind.0);
                }
                behind = Behind::default();
            }
            facts[out.0 as usize] = behind;
        }
    }

    /// The breaks behind each result of a step.
    fn behind(&mut self, f: &Function, at: At, step: &Instruction, facts: &[Behind], found: &mut Found) -> Vec<Behind> {
        let all = || union(step.ins.iter().map(|r| &facts[r.0 as usize]));
        let each = |behind: Behind| vec![behind; step.outs.len()];
        match &step.op {
            Op::Copy | Op::Take | Op::Promise { .. } => each(all()),
            Op::Primitive(id) => match flow::primitive(*id) {
                Passage::Smooth | Passage::Carry => each(all()),
                Passage::Flat => each(Behind::default()),
                Passage::Break => each(broken(f, at, &step.ins, all(), found)),
            },
            Op::Native { name, .. } => match flow::native(name) {
                NativePassage::Carry => each(all()),
                NativePassage::Break => each(broken(f, at, &step.ins, all(), found)),
                NativePassage::Container | NativePassage::Nothing | NativePassage::Unknown => each(Behind::default()),
            },
            Op::Call(callee) | Op::CallRule(callee) => self.call(f, *callee, (at, step), facts, found),
            // Which function that is turns out when it is called.
            Op::CallValue => {
                let gives_numbers = step.outs.iter().any(|r| is_number(f, *r));
                for (k, argument) in (0..).zip(&step.ins[1..]).filter(|_| gives_numbers) {
                    let behind = &facts[argument.0 as usize];
                    if behind.made_here().next().is_some() {
                        found.arguments.entry(at).or_default().entry(k).or_default().extend(&behind.0);
                    }
                }
                (0..).zip(&step.outs).map(|(k, out)| handed_on(f, (at, k), *out)).collect()
            }
            Op::LoadBox { bank: Bank::I, .. } | Op::LoadGlobal { bank: Bank::I, .. } => {
                each(Behind(BTreeSet::from([Source::Load(at)])))
            }
            _ => each(Behind::default()),
        }
    }

    /// Integers and texts that go into a function, and numbers that break in it.
    fn call(
        &mut self,
        f: &Function,
        callee: FunctionId,
        (at, step): (At, &Instruction),
        facts: &[Behind],
        found: &mut Found,
    ) -> Vec<Behind> {
        let is_touched = step.ins.iter().any(|r| !facts[r.0 as usize].0.is_empty()) || may_break(f, step);
        if !is_touched {
            return vec![Behind::default(); step.outs.len()];
        }
        let summary = self.activity.summary(callee);
        let sent = self.broken_results(callee);
        let argument = |k: u32| step.ins.get(k as usize).copied();
        let mut outs = vec![];
        for (k, out) in step.outs.iter().enumerate() {
            let mut behind = Behind::default();
            if let Some(inside) = summary.results.get(k).and_then(|known| known.0.as_deref()) {
                let through = inside.on.iter().filter_map(|k| argument(*k));
                behind = union(through.map(|r| &facts[r.0 as usize]));
                if f.registers[out.0 as usize].bank == Bank::I && !sent.contains(&(k as u32)) {
                    let ins: Vec<Reg> = inside.breaks.keys().filter_map(|(k, _)| argument(*k)).collect();
                    behind = broken(f, at, &ins, behind, found);
                }
            }
            if sent.contains(&(k as u32)) {
                behind.join(&handed_on(f, (at, k as u32), *out));
            }
            outs.push(behind);
        }
        outs
    }
}

/// Remembers which breaks are behind an integer that a step stores in a variable.
fn stored(at: At, step: &Instruction, facts: &[Behind], found: &mut Found) {
    if let Op::StoreBox { bank: Bank::I, .. } | Op::StoreGlobal { bank: Bank::I, .. } = step.op
        && let Some(behind) = step.ins.last().map(|value| &facts[value.0 as usize])
        && behind.made_here().next().is_some()
    {
        found.stores.entry(at).or_default().extend(&behind.0);
    }
}

/// What a called function says of a result of its own.
fn handed_on(f: &Function, (at, k): (At, u32), out: Reg) -> Behind {
    Behind((!is_number(f, out)).then_some(Source::Call(at, k)).into_iter().collect())
}

/// What comes out of a step where the path of some numbers breaks.
fn broken(f: &Function, at: At, ins: &[Reg], mut behind: Behind, found: &mut Found) -> Behind {
    let numbers: BTreeSet<Reg> = ins.iter().copied().filter(|r| is_number(f, *r)).collect();
    if !numbers.is_empty() {
        found.breaks.entry(at).or_default().extend(numbers);
        behind.0.insert(Source::Step(at));
    }
    behind
}

/// Whether numbers go into a step, or something that may hold some, and something else comes out; or the other way round.
fn may_break(f: &Function, step: &Instruction) -> bool {
    let takes = |what: fn(Bank) -> bool| step.ins.iter().any(|r| what(f.registers[r.0 as usize].bank));
    match &step.op {
        Op::Primitive(id) => flow::primitive(*id) == Passage::Break && takes(|bank| bank == Bank::F),
        Op::Native { name, .. } if flow::native(name) == NativePassage::Break => takes(|bank| bank == Bank::F),
        Op::Call(_) | Op::CallRule(_) | Op::CallValue => {
            takes(|bank| bank != Bank::I) && step.outs.iter().any(|r| f.registers[r.0 as usize].bank == Bank::I)
        }
        Op::LoadBox { bank: Bank::I, .. } | Op::LoadGlobal { bank: Bank::I, .. } => true,
        // A text becomes a number.
        Op::Native { name, .. } if flow::native(name) == NativePassage::Carry => {
            step.outs.iter().any(|r| is_number(f, *r))
        }
        _ => false,
    }
}

fn union<'a>(all: impl Iterator<Item = &'a Behind>) -> Behind {
    let mut sum = Behind::default();
    for behind in all {
        sum.join(behind);
    }
    sum
}

fn is_number(f: &Function, reg: Reg) -> bool {
    f.registers[reg.0 as usize].bank == Bank::F
}

#[cfg(test)]
mod tests;
