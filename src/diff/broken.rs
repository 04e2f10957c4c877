//! Chains that break while derivative code runs: a number becomes something that cannot move, and that becomes a number
//! again.
//!
//! In: a function. Out: the same function, where what was the number is held until there is a number again, and an
//! [`Operator::Broken`] then says so. Where the first one moves, the second has no derivative, and whoever asks for it is
//! told where the chain broke.
//!
//! Promises: a selection (a condition, an index, the length of a loop) is not a chain, and neither is what goes through
//! storage; a function without such a chain is left alone. What is certain of a function that is promised to be
//! differentiable has been refused before the program runs (`check`); this is for functions that are found only then.
//! Not here: what happens to the levels (`tape`), the words (`vm`).

use super::activity::Activity;
use super::dataflow::{self, Fact};
use super::flow::{self, NativePassage, Passage};
use super::possible::Possible;
use crate::ir::{Function, FunctionId, Instruction, Op, Operator, Program, Reg, Register};
use crate::source::Span;
use crate::value::Bank;
use crate::value::shape::{TangentId, TangentKind};
use std::collections::{BTreeMap, BTreeSet};

/// Finds broken chains, and remembers what it found out about called functions.
pub struct Chains<'p> {
    program: &'p Program,
    activity: Activity<'p>,
    /// How a number differentiates, if any does.
    number: Option<TangentId>,
}

/// A step, by block and place in it.
type At = (usize, usize);

/// The breaks that are behind what a register holds.
#[derive(Clone, Default, PartialEq)]
struct Behind(BTreeSet<At>);

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
    /// The numbers that go into each break.
    breaks: BTreeMap<At, BTreeSet<Reg>>,
    /// Steps whose result is a number again, with the breaks behind it.
    numbers: BTreeMap<(At, Reg), BTreeSet<At>>,
}

impl<'p> Chains<'p> {
    /// Of the functions of a program.
    pub fn new(program: &'p Program) -> Chains<'p> {
        let number = program.tangents.find(|tangent| tangent.kind == TangentKind::Number);
        Chains { program, activity: Activity::new(program), number }
    }

    /// The function with its broken chains marked; `None` when it has none.
    pub fn marked(&mut self, f: &Function) -> Option<Function> {
        let number = self.number?;
        let found = self.find(f);
        if found.numbers.is_empty() {
            return None;
        }
        Some(Marking::of(f, &found, number).function(f))
    }

    fn find(&mut self, f: &Function) -> Found {
        let mut found = Found::default();
        let steps = f.blocks.iter().flat_map(|b| &b.instructions);
        let mut returns_numbers = steps.clone().flat_map(|s| &s.outs).any(|r| is_number(f, *r));
        returns_numbers &= steps.clone().any(|step| may_break(f, step));
        if !returns_numbers {
            return found;
        }
        let possible = Possible::of(self.program, f);
        let entry = vec![Behind::default(); f.registers.len()];
        let step = |block: usize, facts: &mut [Behind]| {
            for (k, step) in f.blocks[block].instructions.iter().enumerate() {
                self.step(f, &possible, (block, k), step, facts, &mut found);
            }
        };
        dataflow::forward(f, entry, step, |_, _| {});
        found
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
            behind.0.retain(|at| found.breaks[at].iter().any(|r| possible.is_varied(*r)));
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
        let argument = |k: u32| step.ins.get(k as usize).copied();
        let mut outs = vec![];
        for (k, out) in step.outs.iter().enumerate() {
            let mut behind = Behind::default();
            if let Some(inside) = summary.results.get(k).and_then(|known| known.0.as_deref()) {
                let through = inside.on.iter().filter_map(|k| argument(*k));
                behind = union(through.map(|r| &facts[r.0 as usize]));
                if f.registers[out.0 as usize].bank == Bank::I {
                    let ins: Vec<Reg> = inside.breaks.keys().filter_map(|(k, _)| argument(*k)).collect();
                    behind = broken(f, at, &ins, behind, found);
                }
            }
            outs.push(behind);
        }
        outs
    }
}

/// What comes out of a step where the path of some numbers breaks.
fn broken(f: &Function, at: At, ins: &[Reg], mut behind: Behind, found: &mut Found) -> Behind {
    let numbers: BTreeSet<Reg> = ins.iter().copied().filter(|r| is_number(f, *r)).collect();
    if !numbers.is_empty() {
        found.breaks.entry(at).or_default().extend(numbers);
        behind.0.insert(at);
    }
    behind
}

/// Whether numbers go into a step, and something else comes out.
fn may_break(f: &Function, step: &Instruction) -> bool {
    let passes = match &step.op {
        Op::Primitive(id) => flow::primitive(*id) == Passage::Break,
        Op::Native { name, .. } => flow::native(name) == NativePassage::Break,
        Op::Call(_) | Op::CallRule(_) => step.outs.iter().any(|r| f.registers[r.0 as usize].bank == Bank::I),
        _ => false,
    };
    passes && step.ins.iter().any(|r| is_number(f, *r))
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
        let mut held: BTreeMap<At, Vec<Reg>> = BTreeMap::new();
        for ((at, out), breaks) in &found.numbers {
            for of in breaks {
                let span = f.blocks[of.0].instructions[of.1].span;
                let numbers = held.entry(*of).or_insert_with(|| marking.hold(*of, &found.breaks[of], span));
                let operator = |held: &Reg| {
                    let op = Op::Operator(Operator::Broken { of: number });
                    Instruction { op, outs: vec![*out], ins: vec![*held, *out], span, active: false }
                };
                marking.behind.entry(*at).or_default().extend(numbers.iter().map(operator));
            }
        }
        marking
    }

    /// Holds the numbers that go into a step.
    fn hold(&mut self, at: At, numbers: &BTreeSet<Reg>, span: Span) -> Vec<Reg> {
        let mut held = vec![];
        for number in numbers {
            let register = Reg(self.registers.len() as u32);
            self.registers.push(Register { bank: Bank::F, name: None });
            let step = |op, ins| Instruction { op, outs: vec![register], ins, span, active: false };
            self.first.push(step(Op::ConstF(0.0), vec![]));
            self.before.entry(at).or_default().push(step(Op::Copy, vec![*number]));
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
            for (k, step) in old.into_iter().enumerate() {
                block.instructions.extend(self.before.remove(&(b, k)).unwrap_or_default());
                block.instructions.push(step);
                block.instructions.extend(self.behind.remove(&(b, k)).unwrap_or_default());
            }
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
