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
    fn of(f: &Function, found: &Found, number_kind: TangentId) -> Marking {
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
    use crate::value::Bank::{F, I, R};

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

    /// The operators that are put into a function.
    fn operators(b: Builder) -> Vec<Operator> {
        let (program, id) = program(b);
        let marked = Chains::new(&program).marked(program.function(id).unwrap());
        let blocks = marked.map_or(vec![], |f| f.blocks);
        let steps = blocks.into_iter().flat_map(|b| b.instructions);
        steps.filter_map(|s| if let Op::Operator(operator) = s.op { Some(operator) } else { None }).collect()
    }

    #[test]
    fn an_integer_that_is_returned_hands_on_what_it_was_made_of() {
        let mut b = Builder::new("f");
        let (x, n) = (b.param("x", F), b.param("n", I));
        let whole = b.primitive("int.fromDouble", &[x]);
        b.ret(&[n, whole]);
        assert_eq!(operators(b), [Operator::SendBreak { result: 1 }]);
    }

    #[test]
    fn a_caller_asks_what_an_integer_was_made_of() {
        let mut b = Builder::new("f");
        let (function, x) = (b.param("function", R), b.param("x", F));
        let n = b.op(Op::CallValue, &[function, x], I);
        let y = b.primitive("double.fromInt", &[n]);
        b.ret(&[y]);
        let put = operators(b);
        assert_eq!(put[..2], [Operator::ForgetBreaks, Operator::ReceiveBreak { result: 0 }]);
        assert!(matches!(put[2..], [Operator::Broken { .. }]));
    }

    #[test]
    fn an_integer_in_a_variable_keeps_what_it_was_made_of() {
        let mut b = Builder::new("f");
        let (variable, x) = (b.param("variable", R), b.param("x", F));
        let whole = b.primitive("int.fromDouble", &[x]);
        b.op_to(Op::StoreBox { bank: I, index: 3 }, &[variable, whole], &[]);
        let n = b.op(Op::LoadBox { bank: I, index: 3 }, &[variable], I);
        let y = b.primitive("double.fromInt", &[n]);
        b.ret(&[y]);
        let put = operators(b);
        assert_eq!(put[..2], [Operator::KeepBreak { index: 3, more: false }, Operator::KeptBreak { index: 3 }]);
        assert!(matches!(put[2..], [Operator::Broken { .. }]));
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
