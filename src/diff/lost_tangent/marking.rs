//! Marking: inserts registers for the origins of integers and strings, which are the numbers that they were computed
//! from, and the operators that move these origins.

use crate::diff::lost_tangent::links::{Link, Links, Place};
use crate::diff::lost_tangent::reachability::{Reachability, body_of, passes};
use crate::ir::{Block, BlockId, Function, FunctionId, Instruction, Op, Operator, Program, Reg, Register, Terminator};
use crate::source::Span;
use crate::value::Bank;
use crate::value::origins::Storage;
use crate::value::shape::TangentId;
use hashbrown::HashMap;
use std::collections::{BTreeMap, BTreeSet};

/// The marking of one function.
pub(crate) struct Marking<'a> {
    links: Links<'a>,
    reachability: &'a Reachability,
    /// The tangent type of a number.
    number: TangentId,
    registers: Vec<Register>,
    /// The registers of origins, by the register that each of them accompanies.
    beside: BTreeMap<Reg, Reg>,
    /// The definitions of the registers that must be followed.
    writers: HashMap<Reg, Vec<Definition>>,
    /// The steps that are inserted after the current step.
    after: Vec<Instruction>,
    is_changed: bool,
}

/// A definition of a register that holds an integer or a string.
enum Definition {
    /// A step computes the register from a number, or loads it from storage.
    Step(Span),
    /// A step computes the register from the content of another register.
    Of(Reg),
}

impl<'a> Marking<'a> {
    pub(crate) fn of(
        program: &'a Program,
        reachability: &'a Reachability,
        (id, f): (FunctionId, &'a Function),
        number: TangentId,
    ) -> Marking<'a> {
        let mut marking = Marking {
            links: Links { program, f, id },
            reachability,
            number,
            registers: f.registers.clone(),
            beside: BTreeMap::new(),
            writers: HashMap::new(),
            after: vec![],
            is_changed: false,
        };
        marking.note_writers();
        marking
    }

    /// Returns the function with the inserted steps; `None` when no step was inserted.
    pub(crate) fn function(mut self) -> Option<Function> {
        let f = self.links.f;
        let mut blocks = vec![];
        for block in &f.blocks {
            crate::cancel::check();
            let mut steps = vec![];
            for step in &block.instructions {
                self.step(step, &mut steps);
            }
            if let Some(Terminator::Return(results)) = &block.end {
                for (k, result) in self.followed(results) {
                    let number = self.beside(result);
                    steps.push(self.operator(Operator::SendResultOrigin { result: k }, &[], &[number], block.end_span));
                }
            }
            blocks.push(Block { instructions: steps, ..block.clone() });
        }
        let taken = self.taken();
        if !self.is_changed {
            return None;
        }
        begin_with(&mut blocks, taken);
        Some(Function { registers: self.registers, blocks, ..f.clone() })
    }

    /// Creates the steps at the beginning of the function, which receive the origins of the arguments.
    fn taken(&mut self) -> Vec<Instruction> {
        let f = self.links.f;
        let taken = self.followed(&f.params).into_iter().map(|(argument, param)| {
            let number = self.beside(param);
            self.operator(Operator::ReceiveArgumentOrigin { argument }, &[number], &[], f.span)
        });
        taken.collect()
    }

    fn follows(&self, reg: Reg) -> bool {
        self.links.f.registers[reg.0 as usize].bank != Bank::F && self.reachability.follows(self.links.id, reg)
    }

    /// Returns those registers of a list that are followed, with their indices in the list.
    fn followed(&self, regs: &[Reg]) -> Vec<(u32, Reg)> {
        (0..).zip(regs.iter().copied()).filter(|(_, reg)| self.follows(*reg)).collect()
    }

    fn follows_place(&self, place: Place) -> bool {
        self.reachability.follows_place(self.links.id, place)
    }

    /// Returns the register of the origin that accompanies a register.
    fn beside(&mut self, reg: Reg) -> Reg {
        if let Some(known) = self.beside.get(&reg) {
            return *known;
        }
        let new = self.new_number();
        self.beside.insert(reg, new);
        new
    }

    fn new_number(&mut self) -> Reg {
        self.registers.push(Register { bank: Bank::F, name: None });
        Reg(self.registers.len() as u32 - 1)
    }

    fn operator(&mut self, operator: Operator, outs: &[Reg], ins: &[Reg], span: Span) -> Instruction {
        self.is_changed = true;
        let (outs, ins) = (outs.to_vec(), ins.to_vec());
        Instruction { op: Op::Operator(operator), outs, ins, span, active: false }
    }

    fn insert_after(&mut self, operator: Operator, outs: &[Reg], ins: &[Reg], span: Span) {
        let step = self.operator(operator, outs, ins, span);
        self.after.push(step);
    }

    /// Appends a step, with the steps that are inserted before and after it.
    fn step(&mut self, step: &Instruction, steps: &mut Vec<Instruction>) {
        let mut made_of: BTreeMap<Reg, Vec<Reg>> = BTreeMap::new();
        if calls(step) {
            self.call(step, steps, &mut made_of);
        } else if step.op == Op::Operator(Operator::Recompute { traced: false }) && self.reachability.leads_out() {
            let traced = self.operator(Operator::Recompute { traced: true }, &step.outs, &step.ins, step.span);
            steps.push(Instruction { active: step.active, ..traced });
        } else {
            steps.push(step.clone());
        }
        let links = self.links.of(step);
        for link in &links {
            self.source(*link, step.span, &mut made_of);
        }
        for out in step.outs.iter().filter(|out| self.follows(**out)).copied().collect::<BTreeSet<Reg>>() {
            self.write_beside(out, &made_of.remove(&out).unwrap_or_default(), step.span);
        }
        for link in links {
            self.end(link, step.span);
        }
        steps.append(&mut self.after);
    }

    /// Adds the origin of the result of a link.
    fn source(&mut self, link: Link, span: Span, made_of: &mut BTreeMap<Reg, Vec<Reg>>) {
        match link {
            Link::Lose { number, to } => made_of.entry(to).or_default().push(number),
            Link::Carry { from, to } if self.follows(from) && self.follows(to) => {
                let number = self.beside(from);
                made_of.entry(to).or_default().push(number);
            }
            Link::Load { place, component, to } if self.follows(to) && self.follows_place(place) => {
                let (object, inside) = place.storage();
                // If the reference replaces the object that contained the value, the reference is not a string.
                if object != Some(to) {
                    let number = self.new_number();
                    let is_whole = inside == Storage::Whole;
                    let ins: Vec<Reg> = object.into_iter().chain((!is_whole).then_some(to)).collect();
                    self.insert_after(Operator::LoadOrigin { inside, component }, &[number], &ins, span);
                    made_of.entry(to).or_default().push(number);
                }
            }
            _ => {}
        }
    }

    /// Writes the origin that accompanies a register.
    fn write_beside(&mut self, reg: Reg, made_of: &[Reg], span: Span) {
        let number = self.beside(reg);
        let is_number = |reg: &Reg| self.registers[reg.0 as usize].bank == Bank::F;
        let (op, ins) = match made_of {
            [] => (Op::ConstF(0.0), vec![]),
            [one] if *one == number => return,
            [one] if is_number(one) => (Op::Copy, vec![*one]),
            all => (Op::Operator(Operator::JoinOrigins), all.to_vec()),
        };
        self.is_changed = true;
        self.after.push(Instruction { op, outs: vec![number], ins, span, active: false });
    }

    /// Ends the path of a lost tangent at a store, or at a conversion to a number.
    fn end(&mut self, link: Link, span: Span) {
        match link {
            Link::Store { place, component, value, replaces } if self.follows_place(place) => {
                let number = match self.follows(value) {
                    true => self.beside(value),
                    false if replaces => {
                        let constant = self.new_number();
                        let op = Op::ConstF(0.0);
                        self.after.push(Instruction { op, outs: vec![constant], ins: vec![], span, active: false });
                        constant
                    }
                    false => return,
                };
                let (object, inside) = place.storage();
                let is_whole = inside == Storage::Whole;
                let content = (!is_whole).then_some(value);
                let ins: Vec<Reg> = object.into_iter().chain([number]).chain(content).collect();
                let outs: Vec<Reg> = object.into_iter().collect();
                self.insert_after(Operator::StoreOrigin { inside, component, replaces }, &outs, &ins, span);
            }
            Link::Number { from, to } if self.follows(from) => {
                let number = self.beside(from);
                let place = self.place_of_break(from).unwrap_or(span);
                self.insert_after(Operator::LoseTangent { of: self.number }, &[to], &[number, to], place);
            }
            _ => {}
        }
    }

    /// Marks a call: passes the origins of its arguments, and receives the origins of its results.
    fn call(&mut self, step: &Instruction, steps: &mut Vec<Instruction>, made_of: &mut BTreeMap<Reg, Vec<Reg>>) {
        let sent: Vec<(u32, Reg)> = self.given(step);
        let receives: Vec<(u32, Reg)> = match step.op {
            Op::Call(callee) if !self.links.program.function(callee).is_some_and(|f| passes(f)) => vec![],
            Op::Operator(ref operator) => {
                let body = body_of(self.links.program, self.links.f, operator, step);
                body.map_or(vec![], |(_, results)| self.followed(results))
            }
            _ => self.followed(&step.outs),
        };
        let is_touched = !sent.is_empty() || !receives.is_empty();
        if is_touched {
            steps.push(self.operator(Operator::ForgetOrigins, &[], &[], step.span));
        }
        for (argument, reg) in &sent {
            let number = self.beside(*reg);
            steps.push(self.operator(Operator::SendArgumentOrigin { argument: *argument }, &[], &[number], step.span));
        }
        // A call with integer arguments alone must also run derivative code, to receive the origins.
        steps.push(Instruction { active: !sent.is_empty(), ..step.clone() });
        for (result, out) in receives {
            let number = self.new_number();
            self.insert_after(Operator::ReceiveResultOrigin { result }, &[number], &[], step.span);
            made_of.entry(out).or_default().push(number);
        }
        if !sent.is_empty() {
            self.insert_after(Operator::ForgetOrigins, &[], &[], step.span);
        }
    }

    /// Returns the arguments of a call whose origins the call passes.
    fn given(&self, step: &Instruction) -> Vec<(u32, Reg)> {
        let bank = |r: &Reg| self.links.f.registers[r.0 as usize].bank;
        let followed = |ins: &[Reg], takes: &dyn Fn(u32) -> bool| -> Vec<(u32, Reg)> {
            self.followed(ins).into_iter().filter(|(k, _)| takes(*k)).collect()
        };
        match step.op {
            Op::Call(id) => match self.links.program.function(id).filter(|f| passes(f)) {
                Some(callee) => followed(&step.ins, &|k| self.reachability.follows(id, callee.params[k as usize])),
                None => vec![],
            },
            Op::CallValue => {
                let kind = (step.ins[1..].iter().map(bank).collect(), step.outs.iter().map(bank).collect());
                followed(&step.ins[1..], &|k| self.reachability.follows_argument(&kind, k))
            }
            _ => vec![],
        }
    }

    /// Collects the definitions of all registers that hold integers and strings.
    fn note_writers(&mut self) {
        for step in self.links.f.blocks.iter().flat_map(|b| &b.instructions) {
            let mut written = vec![];
            if calls(step) {
                written.extend(step.outs.iter().map(|out| (*out, Definition::Step(step.span))));
            }
            for link in self.links.of(step) {
                match link {
                    Link::Lose { to, .. } => written.push((to, Definition::Step(step.span))),
                    Link::Load { place, to, .. } if self.follows_place(place) => {
                        written.push((to, Definition::Step(step.span)));
                    }
                    Link::Carry { from, to } if self.follows(from) => written.push((to, Definition::Of(from))),
                    _ => {}
                }
            }
            for (reg, writer) in written {
                if self.follows(reg) {
                    self.writers.entry(reg).or_default().push(writer);
                }
            }
        }
    }

    /// Returns the step where an integer or a string was computed from a number or loaded from storage, if there is
    /// exactly one such step.
    fn place_of_break(&self, reg: Reg) -> Option<Span> {
        let mut seen = BTreeSet::from([reg]);
        let mut open = vec![reg];
        let mut found = None;
        while let Some(reg) = open.pop() {
            for writer in self.writers.get(&reg).into_iter().flatten() {
                match writer {
                    Definition::Step(span) if found.is_some_and(|known| known != *span) => return None,
                    Definition::Step(span) => found = Some(*span),
                    Definition::Of(from) if seen.insert(*from) => open.push(*from),
                    Definition::Of(_) => {}
                }
            }
        }
        found
    }
}

/// Whether a step calls a function that may forward the origins of its results.
fn calls(step: &Instruction) -> bool {
    matches!(
        step.op,
        Op::Call(_)
            | Op::CallValue
            | Op::Operator(Operator::ValueWithDifferential { .. } | Operator::ValueWithTangent { .. })
    )
}

/// Inserts steps at the beginning of a function, so that no jump leads to them.
fn begin_with(blocks: &mut Vec<Block>, first: Vec<Instruction>) {
    if first.is_empty() {
        return;
    }
    let entry = BlockId(0);
    let moved = BlockId(blocks.len() as u32);
    let mut is_repeated = false;
    for to in blocks.iter_mut().filter_map(|block| block.end.as_mut()).flat_map(targets) {
        if *to == entry {
            (*to, is_repeated) = (moved, true);
        }
    }
    if is_repeated {
        let end_span = blocks[0].end_span;
        let begin = Block { instructions: first, end: Some(Terminator::Jump(moved)), end_span };
        let old = std::mem::replace(&mut blocks[0], begin);
        blocks.push(old);
    } else {
        blocks[0].instructions.splice(0..0, first);
    }
}

fn targets(end: &mut Terminator) -> Vec<&mut BlockId> {
    match end {
        Terminator::Jump(to) => vec![to],
        Terminator::Branch { then, otherwise, .. } => vec![then, otherwise],
        Terminator::Return(_) | Terminator::Trap(_) => vec![],
    }
}
