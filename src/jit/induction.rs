//! Induction: loops that count, and the indices that follow their counters.
//!
//! In: a loop of the bytecode. Out: the number of its iterations, as far as it is known before the loop, and the accesses to
//! elements that each iteration executes, with their indices as functions of the iteration.
//!
//! Promises: all sums are those of two's complement numbers, which do not tell whether a sum overflows.

use super::Signatures;
use super::effects::{consumes_window, effects, window};
use super::flow::Flow;
use crate::bytecode::operand::IIn;
use crate::bytecode::{Code, Instruction};
use crate::value::Bank;
use hashbrown::HashMap;
use std::ops::RangeInclusive;

/// The largest number of registers in the sum of an index.
const MAX_TERMS: usize = 3;

/// A loop that counts by one, until its counter reaches an end that the loop does not change.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Counter {
    /// The register that counts.
    pub register: u16,
    /// The instruction that changes the register.
    pub changed_at: usize,
    /// 1 or -1.
    pub step: i64,
    /// The value at which the loop ends.
    pub end: Operand,
    /// Whether there is an iteration that begins with the end.
    pub is_inclusive: bool,
}

/// A value that a loop does not change: the end of its counter, or an index.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operand {
    /// The value of a register.
    Register(u16),
    /// A constant.
    Constant(i64),
}

/// The value of an index in each iteration: the sum of registers before the loop and a constant, and in each further
/// iteration `step` more.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Linear {
    /// The registers.
    pub terms: Vec<u16>,
    /// The constant.
    pub constant: i64,
    /// The difference between an iteration and the next: -1, 0 or 1.
    pub step: i64,
}

/// What is known about a loop.
#[derive(Default, Debug)]
pub struct Induction {
    /// The counter of the loop.
    pub counter: Option<Counter>,
    /// The instructions that each iteration executes and that have an index, with the index and its value.
    pub indices: Vec<(usize, Operand, Linear)>,
    /// The additions that each iteration executes, with the registers of their results.
    pub sums: Vec<(usize, u16)>,
}

impl Linear {
    fn of(register: u16, step: i64) -> Linear {
        Linear { terms: vec![register], constant: 0, step }
    }

    fn plus_constant(&self, k: i64) -> Linear {
        Linear { constant: self.constant.wrapping_add(k), ..self.clone() }
    }

    fn plus(&self, other: &Linear) -> Option<Linear> {
        let terms = [&self.terms[..], &other.terms].concat();
        let step = self.step + other.step;
        let constant = self.constant.wrapping_add(other.constant);
        (terms.len() <= MAX_TERMS && step.abs() <= 1).then_some(Linear { terms, constant, step })
    }
}

/// Returns what is known about a loop; `index` returns the index of an instruction, if the instruction has one.
pub fn induction(
    code: &Code,
    flow: &Flow,
    around: &RangeInclusive<usize>,
    signature: Signatures<'_>,
    index: impl Fn(usize) -> Option<Operand>,
) -> Induction {
    let body = Body::of(code, flow, around, signature);
    let counter = body.counter();
    let mut found = Induction { counter, ..Induction::default() };
    let mut known: HashMap<u16, Linear> = HashMap::new();
    for (register, step) in body.changed_by_one() {
        if counter.is_some() {
            known.insert(register, Linear::of(register, step));
        }
    }
    let last = *around.end();
    for at in around.clone().filter(|at| body.is_always_executed(*at)) {
        let value = |known: &HashMap<u16, Linear>, register: u16| {
            known.get(&register).cloned().or_else(|| body.is_invariant(register).then(|| Linear::of(register, 0)))
        };
        if let Some(operand) = index(at) {
            let linear = match operand {
                Operand::Register(register) => value(&known, register),
                Operand::Constant(constant) => Some(Linear { terms: vec![], constant, step: 0 }),
            };
            found.indices.extend(linear.map(|linear| (at, operand, linear)));
        }
        let (out, sum) = match code.instructions[at] {
            Instruction::AddIK { out, a, k } => (out.0, value(&known, a.0).map(|a| a.plus_constant(i64::from(k.0)))),
            Instruction::AddI { out, a, b } => {
                (out.0, value(&known, a.0).zip(value(&known, b.0)).and_then(|(a, b)| a.plus(&b)))
            }
            Instruction::MoveI { out, a } => (out.0, value(&known, a.0)),
            Instruction::LoopLtI { i, .. } | Instruction::LoopLtIK { i, .. } if at == last => {
                found.sums.push((at, i.0));
                continue;
            }
            _ => continue,
        };
        if body.is_written_once(out)
            && let Some(sum) = sum
        {
            found.sums.push((at, out));
            known.insert(out, sum);
        }
    }
    found
}

/// The instructions of a loop, and the registers that they write.
pub(super) struct Body<'c> {
    /// The code of the loop.
    pub(super) code: &'c Code,
    /// The first and the last instruction.
    pub(super) around: &'c RangeInclusive<usize>,
    /// Whether each iteration executes an instruction exactly once.
    is_always_executed: Vec<bool>,
    /// The instructions that write each integer register.
    writers: HashMap<u16, Vec<usize>>,
}

impl<'c> Body<'c> {
    /// Analyzes a loop.
    pub(super) fn of(
        code: &'c Code,
        flow: &Flow,
        around: &'c RangeInclusive<usize>,
        signature: Signatures<'_>,
    ) -> Body<'c> {
        let mut writers: HashMap<u16, Vec<usize>> = HashMap::new();
        for at in around.clone() {
            let lost = consumes_window(&code.instructions[at]).then(|| window(code, code.window));
            let written = effects(code, at, signature).written.into_iter().chain(lost.into_iter().flatten());
            for (_, register) in written.filter(|(bank, _)| *bank == Bank::I) {
                let writers = writers.entry(register).or_default();
                if writers.last() != Some(&at) {
                    writers.push(at);
                }
            }
        }
        let (head, last) = (*around.start(), *around.end());
        let mut is_always_executed = vec![true; last - head + 1];
        for from in head..last {
            let Some(target) = flow.targets[from] else { continue };
            // A jump forward skips instructions, one out of the loop all that follow, and one backward repeats some.
            let affected = if target <= head || target > last {
                from + 1..last + 1
            } else if target > from {
                from + 1..target
            } else {
                target..from + 1
            };
            is_always_executed[affected.start - head..affected.end - head].fill(false);
        }
        Body { code, around, is_always_executed, writers }
    }

    /// Whether each iteration executes an instruction exactly once.
    pub(super) fn is_always_executed(&self, at: usize) -> bool {
        self.is_always_executed[at - self.around.start()]
    }

    /// Whether the loop does not write a register.
    pub(super) fn is_invariant(&self, register: u16) -> bool {
        !self.writers.contains_key(&register)
    }

    /// Whether a single instruction of the loop writes a register.
    pub(super) fn is_written_once(&self, register: u16) -> bool {
        self.writers.get(&register).is_some_and(|writers| writers.len() == 1)
    }

    /// Returns the registers that change by 1 or -1 in each iteration.
    fn changed_by_one(&self) -> impl Iterator<Item = (u16, i64)> + '_ {
        self.writers.iter().filter_map(|(register, _)| Some((*register, self.change(*register)?.1)))
    }

    /// Returns the only instruction that changes a register, and by how much, if each iteration executes it.
    fn change(&self, register: u16) -> Option<(usize, i64)> {
        let [at] = self.writers.get(&register)?[..] else { return None };
        let step = match self.code.instructions[at] {
            Instruction::AddIK { out, a, k } if out.0 == register && a.0 == register => i64::from(k.0),
            Instruction::LoopLtI { i, .. } | Instruction::LoopLtIK { i, .. } if i.0 == register => 1,
            _ => return None,
        };
        (self.is_always_executed(at) && step.abs() == 1).then_some((at, step))
    }

    /// Returns the counter of the loop.
    pub(super) fn counter(&self) -> Option<Counter> {
        use Instruction as I;
        let last = *self.around.end();
        if !self.is_always_executed(last) {
            return None;
        }
        let constant =
            |a: IIn, k: i16, step, is_inclusive| self.counts(a.0, Operand::Constant(k.into()), step, is_inclusive);
        match self.code.instructions[last] {
            I::LoopLtI { i, n, .. } => self.counts(i.0, Operand::Register(n.0), Some(1), false),
            I::LoopLtIK { i, k, .. } => self.counts(i.0, Operand::Constant(k.0.into()), Some(1), false),
            I::IfLtI { a, b, .. } => self.counts_between(a, b, [Some(1), Some(-1)], false),
            I::IfLeI { a, b, .. } => self.counts_between(a, b, [Some(1), Some(-1)], true),
            I::IfNeI { a, b, .. } => self.counts_between(a, b, [None; 2], false),
            I::IfNeIK { a, k, .. } => constant(a, k.0, None, false),
            I::IfLtIK { a, k, .. } => constant(a, k.0, Some(1), false),
            I::IfLeIK { a, k, .. } => constant(a, k.0, Some(1), true),
            I::IfGtIK { a, k, .. } => constant(a, k.0, Some(-1), false),
            I::IfGeIK { a, k, .. } => constant(a, k.0, Some(-1), true),
            _ => None,
        }
    }

    /// Returns the counter of a loop that compares two registers, one of which counts.
    fn counts_between(&self, a: IIn, b: IIn, steps: [Option<i64>; 2], is_inclusive: bool) -> Option<Counter> {
        let first = self.counts(a.0, Operand::Register(b.0), steps[0], is_inclusive);
        first.or_else(|| self.counts(b.0, Operand::Register(a.0), steps[1], is_inclusive))
    }

    /// Returns the counter, if a register counts by `expected` if that is given, and the loop does not change the end.
    fn counts(&self, register: u16, end: Operand, expected: Option<i64>, is_inclusive: bool) -> Option<Counter> {
        let (changed_at, step) = self.change(register)?;
        let is_fixed = match end {
            Operand::Register(end) => self.is_invariant(end),
            Operand::Constant(_) => true,
        };
        let fits = is_fixed && expected.is_none_or(|expected| expected == step);
        fits.then_some(Counter { register, changed_at, step, end, is_inclusive })
    }
}
