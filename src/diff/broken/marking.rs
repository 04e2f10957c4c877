//! What is put into a function whose chains break: registers that hold the numbers, and operators that say so.

use super::{At, Found, Source, is_number};
use crate::ir::{Function, Instruction, Op, Operator, Reg, Register};
use crate::source::Span;
use crate::value::Bank;
use crate::value::shape::TangentId;
use std::collections::{BTreeMap, BTreeSet};

/// Says behind a step that stores an integer in a variable that it was made of a number, beside those before if there
/// are `more`.
fn keep(store: &Instruction, number: Reg, more: bool) -> Instruction {
    let op = Op::Operator(Operator::KeepBreak { index: variable(store), more });
    let mut ins = store.ins.clone();
    ins.insert(ins.len() - 1, number);
    Instruction { op, outs: vec![], ins, ..store.clone() }
}

/// Which component of a box, or of the global variables, a step reads or writes.
fn variable(step: &Instruction) -> u32 {
    match step.op {
        Op::LoadBox { index, .. } | Op::StoreBox { index, .. } => u32::from(index),
        Op::LoadGlobal { index, .. } | Op::StoreGlobal { index, .. } => index,
        _ => u32::MAX,
    }
}

/// What is put into a function.
pub(super) struct Marking {
    registers: Vec<Register>,
    /// At the beginning: nothing is held.
    first: Vec<Instruction>,
    /// In front of a step.
    before: BTreeMap<At, Vec<Instruction>>,
    /// Behind a step.
    behind: BTreeMap<At, Vec<Instruction>>,
}

impl Marking {
    pub(super) fn of(f: &Function, found: &Found, number_kind: TangentId) -> Marking {
        let (before, behind) = (BTreeMap::new(), BTreeMap::new());
        let mut marking = Marking { registers: f.registers.clone(), first: vec![], before, behind };
        let mut held: BTreeMap<Source, Vec<Reg>> = BTreeMap::new();
        let arguments = found.arguments.values().flat_map(BTreeMap::values);
        let used = found.numbers.values().chain(found.results.values()).chain(found.stores.values());
        let used = used.chain(arguments).flatten();
        for of in used {
            let span = f.blocks[of.at().0].instructions[of.at().1].span;
            held.entry(*of).or_insert_with(|| match of {
                Source::Step(at) => marking.hold(*at, &found.breaks[at], span),
                Source::Call(at, k) => marking.receive(*at, *k, span),
                Source::Load(at) => marking.kept(*at, &f.blocks[at.0].instructions[at.1]),
            });
        }
        for ((at, out), sources) in &found.numbers {
            for of in sources {
                let span = f.blocks[of.at().0].instructions[of.at().1].span;
                let operator = |held: &Reg| {
                    let op = Op::Operator(Operator::Broken { of: number_kind });
                    Instruction { op, outs: vec![*out], ins: vec![*held, *out], span, active: false }
                };
                marking.behind.entry(*at).or_default().extend(held[of].iter().map(operator));
            }
        }
        for (at, sources) in &found.stores {
            let store = &f.blocks[at.0].instructions[at.1];
            let numbers = sources.iter().flat_map(|of| &held[of]).enumerate();
            let keep = numbers.map(|(k, number)| keep(store, *number, k > 0));
            marking.behind.entry(*at).or_default().extend(keep);
        }
        for (at, arguments) in &found.arguments {
            let call = &f.blocks[at.0].instructions[at.1];
            let function = marking.register(Bank::R);
            marking.first.push(Instruction { op: Op::Null, outs: vec![function], ins: vec![], ..call.clone() });
            let hold = Instruction { op: Op::Copy, outs: vec![function], ins: vec![call.ins[0]], ..call.clone() };
            marking.before.entry(*at).or_default().push(hold);
            for (argument, number) in arguments.iter().flat_map(|(k, all)| all.iter().map(move |of| (*k, of))) {
                for (result, out) in (0..).zip(&call.outs).filter(|(_, out)| is_number(f, **out)) {
                    let op = Op::Operator(Operator::BrokenArgument { of: number_kind, argument, result });
                    let ask = |held: &Reg| Instruction {
                        op: op.clone(),
                        outs: vec![*out],
                        ins: vec![function, *held, *out],
                        ..call.clone()
                    };
                    marking.behind.entry(*at).or_default().extend(held[number].iter().map(ask));
                }
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

    /// Asks behind a step that reads an integer from a variable what that was made of.
    fn kept(&mut self, at: At, load: &Instruction) -> Vec<Reg> {
        let register = self.number();
        self.clear(register, load.span);
        let op = Op::Operator(Operator::KeptBreak { index: variable(load) });
        let ins = [&load.ins[..], &load.outs[..]].concat();
        let step = Instruction { op, outs: vec![register], ins, ..load.clone() };
        self.behind.entry(at).or_default().insert(0, step);
        vec![register]
    }

    fn number(&mut self) -> Reg {
        self.register(Bank::F)
    }

    fn register(&mut self, bank: Bank) -> Reg {
        self.registers.push(Register { bank, name: None });
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

    pub(super) fn function(mut self, f: &Function) -> Function {
        let mut out = Function { registers: self.registers, ..f.clone() };
        for (b, block) in out.blocks.iter_mut().enumerate() {
            crate::stop::look();
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
