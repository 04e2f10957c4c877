//! Chains that break while derivative code runs: a number becomes something that cannot move, and that becomes a number
//! again.
//!
//! In: a function. Out: the same function, where what was the number is held until there is a number again, and an
//! [`Operator::Broken`] then says so. Where the first one moves, the second has no derivative, and whoever asks for it is
//! told where the chain broke. An integer that a function returns hands on what it was made of: [`Operator::SendBreak`]
//! in front of the return, [`Operator::ReceiveBreak`] behind the call, whichever function that finds.
//!
//! Promises: a selection (a condition, an index, the length of a loop) is not a chain, and neither is what goes through
//! storage; a function without such a chain is left alone. What is certain of a function that is promised to be
//! differentiable has been refused before the program runs (`check`); this is for functions that are found only then.
//! Not here: what happens to the levels (`tape`), the words (`vm`).

use super::activity::Activity;
use super::dataflow::{self, Fact};
use super::flow::{self, NativePassage, Passage};
use super::possible::Possible;
use crate::ir::{Function, FunctionId, Instruction, Op, Operator, Program, Reg, Register, Terminator};
use crate::source::Span;
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
}

impl Source {
    /// The step where the function sees it.
    fn at(self) -> At {
        match self {
            Source::Step(at) | Source::Call(at, _) => at,
        }
    }
}

/// The breaks that are behind what a register holds.
#[derive(Clone, Default, PartialEq)]
struct Behind(BTreeSet<Source>);

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
        if found.numbers.is_empty() && found.results.is_empty() {
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
            for (k, result) in (0..).zip(results).filter(|(_, r)| f.registers[r.0 as usize].bank == Bank::I) {
                let behind = &facts[result.0 as usize].0;
                if !behind.is_empty() {
                    found.results.entry((block, k)).or_default().extend(behind);
                }
            }
        };
        dataflow::forward(f, entry, step, |_, _| {});
        found
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
        let outs = self.behind(f, at, step, facts, found);
        for (out, mut behind) in step.outs.iter().zip(outs) {
            behind.0.retain(|source| match source {
                Source::Step(at) => found.breaks[at].iter().any(|r| possible.is_varied(*r)),
                Source::Call(..) => true,
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
            Op::CallValue => (0..).zip(&step.outs).map(|(k, out)| handed_on(f, (at, k), *out)).collect(),
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

/// What a called function says of a result of its own.
fn handed_on(f: &Function, (at, k): (At, u32), out: Reg) -> Behind {
    let is_integer = f.registers[out.0 as usize].bank == Bank::I;
    Behind(is_integer.then_some(Source::Call(at, k)).into_iter().collect())
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

/// Whether numbers go into a step, or something that may hold some, and something else comes out.
fn may_break(f: &Function, step: &Instruction) -> bool {
    let takes = |what: fn(Bank) -> bool| step.ins.iter().any(|r| what(f.registers[r.0 as usize].bank));
    match &step.op {
        Op::Primitive(id) => flow::primitive(*id) == Passage::Break && takes(|bank| bank == Bank::F),
        Op::Native { name, .. } => flow::native(name) == NativePassage::Break && takes(|bank| bank == Bank::F),
        Op::Call(_) | Op::CallRule(_) | Op::CallValue => {
            takes(|bank| bank != Bank::I) && step.outs.iter().any(|r| f.registers[r.0 as usize].bank == Bank::I)
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

/// What is put into a function.
struct Marking {
    registers: Vec<Register>,
    /// At the beginning: nothing is held.
    first: Vec<Instruction>,
    /// In front of a step.
    before: BTreeMap<At, Vec<Instruction>>,
    /// Behind a step.
    behind: BTreeMap<At, Vec<Instruction>>,
}

impl Marking {
    fn of(f: &Function, found: &Found, number: TangentId) -> Marking {
        let (before, behind) = (BTreeMap::new(), BTreeMap::new());
        let mut marking = Marking { registers: f.registers.clone(), first: vec![], before, behind };
        let mut held: BTreeMap<Source, Vec<Reg>> = BTreeMap::new();
        let used = found.numbers.values().chain(found.results.values()).flatten();
        for of in used {
            let span = f.blocks[of.at().0].instructions[of.at().1].span;
            held.entry(*of).or_insert_with(|| match of {
                Source::Step(at) => marking.hold(*at, &found.breaks[at], span),
                Source::Call(at, k) => marking.receive(*at, *k, span),
            });
        }
        for ((at, out), sources) in &found.numbers {
            for of in sources {
                let span = f.blocks[of.at().0].instructions[of.at().1].span;
                let operator = |held: &Reg| {
                    let op = Op::Operator(Operator::Broken { of: number });
                    Instruction { op, outs: vec![*out], ins: vec![*held, *out], span, active: false }
                };
                marking.behind.entry(*at).or_default().extend(held[of].iter().map(operator));
            }
        }
        for ((block, result), sources) in &found.results {
            let end = (*block, f.blocks[*block].instructions.len());
            for number in sources.iter().flat_map(|of| &held[of]) {
                let op = Op::Operator(Operator::SendBreak { result: *result });
                let span = f.blocks[*block].end_span;
                let step = Instruction { op, outs: vec![], ins: vec![*number], span, active: false };
                marking.before.entry(end).or_default().push(step);
            }
        }
        marking
    }

    /// Asks behind a call what was sent for one of its results.
    fn receive(&mut self, at: At, result: u32, span: Span) -> Vec<Reg> {
        let register = self.number();
        let step = |op, outs| Instruction { op: Op::Operator(op), outs, ins: vec![], span, active: false };
        self.clear(register, span);
        let before = self.before.entry(at).or_default();
        if !before.iter().any(|step| step.op == Op::Operator(Operator::ForgetBreaks)) {
            before.push(step(Operator::ForgetBreaks, vec![]));
        }
        // In front of those who ask for the register.
        self.behind.entry(at).or_default().insert(0, step(Operator::ReceiveBreak { result }, vec![register]));
        vec![register]
    }

    fn number(&mut self) -> Reg {
        self.registers.push(Register { bank: Bank::F, name: None });
        Reg(self.registers.len() as u32 - 1)
    }

    /// Before anything is held a register has a number, too.
    fn clear(&mut self, register: Reg, span: Span) {
        let (outs, ins) = (vec![register], vec![]);
        self.first.push(Instruction { op: Op::ConstF(0.0), outs, ins, span, active: false });
    }

    /// Holds the numbers that go into a step.
    fn hold(&mut self, at: At, numbers: &BTreeSet<Reg>, span: Span) -> Vec<Reg> {
        let mut held = vec![];
        for number in numbers {
            let register = self.number();
            self.clear(register, span);
            let copy = Instruction { op: Op::Copy, outs: vec![register], ins: vec![*number], span, active: false };
            self.before.entry(at).or_default().push(copy);
            held.push(register);
        }
        held
    }

    fn function(mut self, f: &Function) -> Function {
        let mut out = Function { registers: self.registers, ..f.clone() };
        for (b, block) in out.blocks.iter_mut().enumerate() {
            let old = std::mem::take(&mut block.instructions);
            if b == 0 {
                block.instructions.append(&mut self.first);
            }
            let end = old.len();
            for (k, step) in old.into_iter().enumerate() {
                block.instructions.extend(self.before.remove(&(b, k)).unwrap_or_default());
                block.instructions.push(step);
                block.instructions.extend(self.behind.remove(&(b, k)).unwrap_or_default());
            }
            block.instructions.extend(self.before.remove(&(b, end)).unwrap_or_default());
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diff::testing::{Builder, program};
    use crate::value::Bank::{F, I};

    fn marks(b: Builder) -> usize {
        let (program, id) = program(b);
        let f = program.function(id).unwrap();
        let marked = Chains::new(&program).marked(f);
        let is_mark = |s: &&Instruction| matches!(s.op, Op::Operator(Operator::Broken { .. }));
        marked.map_or(0, |f| f.blocks.iter().flat_map(|b| &b.instructions).filter(is_mark).count())
    }

    #[test]
    fn a_number_that_was_an_integer_is_marked() {
        let mut b = Builder::new("f");
        let x = b.param("x", F);
        let n = b.primitive("int.fromDouble", &[x]);
        let m = b.primitive("int.add", &[n, n]);
        let y = b.primitive("double.fromInt", &[m]);
        b.ret(&[y]);
        assert_eq!(marks(b), 1);
    }

    #[test]
    fn a_selection_and_a_constant_are_not() {
        let mut b = Builder::new("f");
        let (x, n) = (b.param("x", F), b.param("n", I));
        let whole = b.primitive("int.fromDouble", &[x]);
        let less = b.primitive("int.lt", &[whole, n]);
        let two = b.constant(2.0);
        let constant = b.primitive("int.fromDouble", &[two]);
        let back = b.primitive("double.fromInt", &[constant]);
        b.ret(&[less, back]);
        assert_eq!(marks(b), 0);
    }
}
