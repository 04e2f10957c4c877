//! Instruction selection: the translation of steps to instructions.

mod elements;
mod primitives;
mod transformed_steps;

use super::call_sites;
use super::code_writer::Writer;
use super::graph::{FusedStep, Nesting, Reg, Step, StepOp};
use super::parallel_moves::in_sequence;
use super::register_assignment::{Place, window_args, window_places};
use super::{Context, EncodeError};
use crate::bytecode::Instruction;
use crate::bytecode::operand::*;
use crate::ir::Op;
use crate::ir::passes::exclusivity_checks::{AccessKind, Region};
use crate::value::Bank;

/// The state of the translation of steps to instructions.
pub struct Selector<'a> {
    /// The writer to which the instructions are added.
    pub writer: Writer<'a>,
    /// The properties of the function that is emitted.
    pub context: &'a Context<'a>,
    /// The references that the current step reads for the last time.
    killed: Vec<Reg>,
    /// The references among `killed` that were moved.
    consumed: Vec<Reg>,
}

impl<'a> Selector<'a> {
    /// Creates a selector for an empty code object.
    pub fn new(writer: Writer<'a>, context: &'a Context<'a>) -> Selector<'a> {
        Selector { writer, context, killed: vec![], consumed: vec![] }
    }

    /// Translates a step. `killed` are the references that the step reads for the last time, `dead` the references that
    /// it writes and no step reads; `clear` states whether these references must be dropped at this step.
    ///
    /// # Errors
    /// Fails if a step refers to an entity that does not exist.
    pub fn step(&mut self, step: &Step, killed: Vec<Reg>, dead: &[Reg], clear: bool) -> Result<(), EncodeError> {
        self.writer.span = step.span;
        self.killed = killed;
        self.consumed.clear();
        match &step.op {
            StepOp::AddK(k) => {
                let (out, a) = (IOut(self.n(step.outs[0])), IIn(self.n(step.ins[0])));
                self.writer.push(Instruction::AddIK { out, a, k: Small(*k) });
            }
            StepOp::Fused(fused) => self.fused(step, *fused),
            StepOp::Ir(op) => self.ir(step, op)?,
        }
        self.clear_slots(step);
        let outs: Vec<Place> = step.outs.iter().map(|r| self.writer.place(*r)).collect();
        for reg in std::mem::take(&mut self.killed) {
            let is_free = !self.consumed.contains(&reg)
                && !step.outs.iter().zip(&outs).any(|(o, p)| self.bank(*o) == Bank::R && *p == self.writer.place(reg));
            // The references of variables are dropped in the order of the variables, not of the registers.
            if is_free && (clear || matches!(step.ir(), Some(Op::Hold))) {
                self.clear(reg);
            }
        }
        dead.iter().for_each(|r| self.clear(*r));
        Ok(())
    }

    /// Appends an instruction that drops the reference in a register.
    pub fn clear(&mut self, reg: Reg) {
        let a = ROut(self.n(reg));
        if !self.writer.is_empty(a) {
            self.writer.push(Instruction::Clear { a });
        }
    }

    fn n(&mut self, reg: Reg) -> u16 {
        self.writer.number(reg)
    }

    fn bank(&self, reg: Reg) -> Bank {
        self.context.graph.banks[reg]
    }

    /// Whether the slot of a register must be updated.
    fn has_slot(&self, reg: Reg) -> bool {
        self.context.is_derivative
            && self.bank(reg) == Bank::F
            && (self.context.active[reg] || matches!(self.writer.place(reg), Place::Window(_)))
    }

    fn clear_slot(&mut self, reg: Reg) {
        let a = FIn(self.n(reg));
        self.writer.push(Instruction::ClearSlot { a });
    }

    /// Clears the slots of the results of an inactive step, which are constant.
    fn clear_slots(&mut self, step: &Step) {
        if step.active || step.is_call() || matches!(step.ir(), Some(Op::ConstF(_) | Op::Copy)) {
            return;
        }
        for out in &step.outs {
            if self.has_slot(*out) {
                self.clear_slot(*out);
            }
        }
    }

    fn ir(&mut self, step: &Step, op: &Op) -> Result<(), EncodeError> {
        use Instruction as I;
        let n = |s: &mut Self, regs: &[Reg], k: usize| s.writer.number(regs[k]);
        let (outs, ins) = (&step.outs[..], &step.ins[..]);
        match op {
            Op::ConstF(value) => {
                let (out, k) = (FOut(n(self, outs, 0)), self.writer.constant(*value));
                let slot = self.has_slot(outs[0]);
                self.writer.push(if slot { I::DLoadF { out, k } } else { I::LoadF { out, k } });
            }
            Op::ConstI(value) => {
                let out = IOut(n(self, outs, 0));
                let instruction = match i32::try_from(*value) {
                    Ok(value) => I::SetI { out, value: Immediate(value) },
                    Err(_) => I::LoadI { out, k: self.writer.integer(*value) },
                };
                self.writer.push(instruction);
            }
            Op::Text(text) => {
                let (out, k) = (ROut(n(self, outs, 0)), self.writer.text(text));
                self.writer.push(I::LoadText { out, k });
            }
            Op::Constants(all) => {
                let (out, k) = (ROut(n(self, outs, 0)), self.writer.constants(all));
                self.writer.push(I::LoadArray { out, k });
            }
            Op::Null => self.clear(outs[0]),
            // References that are not live are dropped after this step, as after every step.
            Op::Hold => {}
            Op::Access { how, region } => self.access(step, *how, region),
            Op::Copy | Op::Take | Op::AssertDifferentiable { .. } => self.copy(step),
            Op::Primitive(p) => self.primitive(*p, step)?,
            Op::Call(_) | Op::CallRule(_) | Op::CallValue | Op::Native { .. } | Op::Operator(_) => {
                self.call(step, op)?
            }
            Op::NewInstance(shape) => {
                let out = ROut(n(self, outs, 0));
                self.writer.push(I::NewInstance { out, shape: Shaped(shape.0) });
            }
            Op::FindMethod(method) => {
                let (out, from) = (ROut(n(self, outs, 0)), RIn(n(self, ins, 0)));
                let method = u16::try_from(method.0).map_err(|_| EncodeError::Methods)?;
                self.writer.push(I::FindMethod { out, from, method: Method(method) });
            }
            Op::Closure(_) | Op::NewBox | Op::NewRecord => self.make(step, op),
            Op::Capture { bank, index } => {
                let (out, from, index) = (n(self, outs, 0), RIn(n(self, ins, ins.len() - 1)), Part(*index));
                self.writer.push(match bank {
                    Bank::F if step.active => I::DCaptureF { out: FOut(out), from, index },
                    Bank::F => I::CaptureF { out: FOut(out), from, index },
                    Bank::I => I::CaptureI { out: IOut(out), from, index },
                    Bank::R => I::CaptureR { out: ROut(out), from, index },
                });
            }
            Op::LoadBox { bank, index } => {
                let (out, from, index) = (n(self, outs, 0), RIn(n(self, ins, 0)), Part(*index));
                self.writer.push(match bank {
                    Bank::F if step.active => I::DLoadBoxF { out: FOut(out), from, index },
                    Bank::F => I::LoadBoxF { out: FOut(out), from, index },
                    Bank::I => I::LoadBoxI { out: IOut(out), from, index },
                    Bank::R => I::LoadBoxR { out: ROut(out), from, index },
                });
            }
            Op::StoreBox { bank, index } => {
                let (to, index) = (RIn(n(self, ins, 0)), Part(*index));
                let instruction = match bank {
                    Bank::F if step.active => I::DStoreBoxF { to, a: FIn(n(self, ins, 1)), index },
                    Bank::F => I::StoreBoxF { to, a: FIn(n(self, ins, 1)), index },
                    Bank::I => I::StoreBoxI { to, a: IIn(n(self, ins, 1)), index },
                    Bank::R => I::StoreBoxR { to, a: self.taken(step, 1), index },
                };
                self.writer.push(instruction);
            }
            Op::TakeBox { index } => {
                let (out, from) = (ROut(n(self, outs, 0)), RIn(n(self, ins, 0)));
                self.writer.push(I::TakeBox { out, from, index: Part(*index) });
            }
            Op::LoadRecord { bank, index } => {
                let (out, from, index) = (n(self, outs, 0), RIn(n(self, ins, 0)), Part(*index));
                self.writer.push(match bank {
                    Bank::F if step.active => I::DLoadRecordF { out: FOut(out), from, index },
                    Bank::F => I::LoadRecordF { out: FOut(out), from, index },
                    Bank::I => I::LoadRecordI { out: IOut(out), from, index },
                    Bank::R => I::LoadRecordR { out: ROut(out), from, index },
                });
            }
            Op::StoreRecord { bank, index } => {
                let (to, index) = (self.changed(step, 0), Part(*index));
                let instruction = match bank {
                    Bank::F if step.active => I::DStoreRecordF { to, a: FIn(n(self, ins, 1)), index },
                    Bank::F => I::StoreRecordF { to, a: FIn(n(self, ins, 1)), index },
                    Bank::I => I::StoreRecordI { to, a: IIn(n(self, ins, 1)), index },
                    Bank::R => I::StoreRecordR { to, a: self.taken(step, 1), index },
                };
                self.writer.push(instruction);
            }
            Op::TakeRecord { index } => {
                let (out, from) = (ROut(n(self, outs, 0)), self.changed(step, 1));
                self.writer.push(I::TakeRecord { out, from, index: Part(*index) });
            }
            Op::NewArray(_) => {
                let out = ROut(n(self, outs, 0));
                self.writer.push(I::NewArray { out });
            }
            Op::Append(stride) => self.append(step, *stride),
            Op::AppendText => {
                let text = self.changed(step, 0);
                let a = self.taken(step, 1);
                self.writer.push(I::AppendText { text, a });
            }
            Op::Count => {
                let (out, array) = (IOut(n(self, outs, 0)), RIn(n(self, ins, 0)));
                self.writer.push(I::Count { out, array });
            }
            Op::CheckIndex => {
                let (array, index) = (RIn(n(self, ins, 0)), IIn(n(self, ins, 1)));
                self.writer.push(I::CheckIndex { array, index });
            }
            Op::LoadElement { bank, offset, stride } => self.load_element(step, *bank, *offset, *stride),
            Op::StoreElement { bank, offset, stride } => self.store_element(step, *bank, *offset, *stride),
            Op::TakeElement { offset, stride } => {
                let (out, array, index) = (ROut(n(self, outs, 0)), self.changed(step, 1), IIn(n(self, ins, 1)));
                self.writer.push(I::TakePart { out, array, index });
                self.writer.push(I::Element { offset: Part(*offset), stride: Part(stride.r) });
            }
            Op::LoadGlobal { bank, index } => {
                let (out, index) = (n(self, outs, 0), Global(*index));
                self.writer.push(match bank {
                    Bank::F if step.active => I::DLoadGlobalF { out: FOut(out), index },
                    Bank::F => I::LoadGlobalF { out: FOut(out), index },
                    Bank::I => I::LoadGlobalI { out: IOut(out), index },
                    Bank::R => I::LoadGlobalR { out: ROut(out), index },
                });
            }
            Op::StoreGlobal { bank, index } => {
                let index = Global(*index);
                let instruction = match bank {
                    Bank::F if step.active => I::DStoreGlobalF { a: FIn(n(self, ins, 0)), index },
                    Bank::F => I::StoreGlobalF { a: FIn(n(self, ins, 0)), index },
                    Bank::I => I::StoreGlobalI { a: IIn(n(self, ins, 0)), index },
                    Bank::R => I::StoreGlobalR { a: self.taken(step, 0), index },
                };
                self.writer.push(instruction);
            }
            Op::Transformed(op) => self.sweep(op, step)?,
            Op::TakeGlobal { index } => {
                let out = ROut(n(self, outs, 0));
                self.writer.push(I::TakeGlobal { out, index: Global(*index) });
            }
        }
        Ok(())
    }

    fn access(&mut self, step: &Step, how: AccessKind, region: &Region) {
        use Instruction as I;
        let object = step.ins.first().map(|object| RIn(self.writer.number(*object)));
        let site = self.writer.access(region);
        self.writer.push(match (how, object) {
            (AccessKind::Instantaneous, Some(object)) => I::CheckAccess { object, site },
            (AccessKind::Instantaneous, None) => I::CheckGlobalAccess { site },
            (AccessKind::Begin(_), Some(object)) => I::BeginAccess { object, site },
            (AccessKind::Begin(_), None) => I::BeginGlobalAccess { site },
            (AccessKind::End(_), _) => I::EndAccess {},
        });
    }

    fn copy(&mut self, step: &Step) {
        let (out, a) = (step.outs[0], step.ins[0]);
        let bank = self.bank(out);
        let (to, from) = (self.writer.place(out), self.writer.place(a));
        let moved = step.ir() == Some(&Op::Take) || self.killed.contains(&a);
        if to == from {
            if self.has_slot(out) && !step.active {
                self.clear_slot(a);
            }
            return;
        }
        if bank == Bank::R && moved {
            self.consumed.push(a);
        }
        self.transfer(bank, to, from, moved);
        if bank == Bank::F && self.has_slot(out) && !step.active {
            self.clear_slot(out);
        }
    }

    /// Writes one move of a value, including its slot in derivative code.
    pub fn transfer(&mut self, bank: Bank, to: Place, from: Place, moved: bool) {
        let (out, a) = (self.writer.at(bank, to), self.writer.at(bank, from));
        // Registers without a slot are only written by plain moves, so their slots remain empty.
        let slot = self.context.is_derivative
            && match to {
                Place::Own(at) => at < self.context.inactive_from,
                Place::Window(_) => true,
            };
        self.writer.push(match bank {
            Bank::F if slot => Instruction::DMoveF { out: FOut(out), a: FIn(a) },
            Bank::F => Instruction::MoveF { out: FOut(out), a: FIn(a) },
            Bank::I => Instruction::MoveI { out: IOut(out), a: IIn(a) },
            Bank::R if moved => Instruction::Take { out: ROut(out), a: RTake(a) },
            Bank::R => Instruction::Share { out: ROut(out), a: RIn(a) },
        });
    }

    /// Writes parallel moves; `killed(place)` states whether the reference at a place is no longer live.
    pub fn transfers(&mut self, bank: Bank, moves: &[(Place, Place)], killed: &dyn Fn(Place) -> bool) {
        let scratch = self.writer.scratch(bank);
        for m in in_sequence(moves, scratch) {
            self.transfer(bank, m.to, m.from, m.last && (m.from == scratch || killed(m.from)));
        }
    }

    /// Moves the arguments of a call into the window.
    fn arguments(&mut self, step: &Step) {
        let args = window_args(step);
        let targets = window_places(&self.context.graph.banks, &args);
        for bank in [Bank::F, Bank::I, Bank::R] {
            let moves: Vec<(Place, Place)> = (args.iter().zip(&targets))
                .filter(|(reg, _)| self.bank(**reg) == bank)
                .map(|(reg, target)| (Place::Window(*target), self.writer.place(*reg)))
                .collect();
            let killed: Vec<Place> = match bank {
                Bank::R => self.killed.iter().map(|r| self.writer.place(*r)).collect(),
                Bank::F | Bank::I => vec![],
            };
            self.transfers(bank, &moves, &|place| killed.contains(&place));
        }
        // The array to which an element is appended is not one of the arguments, and remains in place.
        let consumed = self.killed.iter().copied().filter(|r| args.contains(r));
        self.consumed.extend(consumed);
    }

    fn call(&mut self, step: &Step, op: &Op) -> Result<(), EncodeError> {
        use Instruction as I;
        self.arguments(step);
        let derivative = self.context.is_derivative;
        let instruction = match op {
            Op::Call(f) if derivative => I::DCall { function: Fun(f.0) },
            Op::CallRule(f) if derivative => {
                let is_entry = matches!(&self.context.graph.blocks[..], [only] if only.steps.len() == 1);
                let site = call_sites::rule(&mut self.writer.code, self.context.program, *f, is_entry)?;
                I::DCallRule { site }
            }
            Op::Call(f) | Op::CallRule(f) => I::Call { function: Fun(f.0) },
            Op::CallValue => {
                let places = window_places(&self.context.graph.banks, &window_args(step));
                let after = Place::Window(places.last().copied().unwrap_or(0));
                let function = RTake(self.writer.at(Bank::R, after));
                let signature = call_sites::signature(&self.context.graph.banks, step);
                let signature = self.writer.signature(signature);
                if derivative { I::DCallValue { function, signature } } else { I::CallValue { function, signature } }
            }
            Op::Native { name, shapes } => {
                let shapes = (&shapes[..], &self.context.program.shapes);
                let site = call_sites::native(&mut self.writer.code, &self.context.graph.banks, step, name, shapes)?;
                if derivative { I::DNative { site } } else { I::Native { site } }
            }
            Op::Operator(operator) => {
                let site = call_sites::operator(&mut self.writer.code, &self.context.graph.banks, step, operator);
                if derivative { I::DOperate { site } } else { I::Operate { site } }
            }
            _ => return Err(EncodeError::Unreachable),
        };
        self.writer.push(instruction);
        let sources = window_places(&self.context.graph.banks, &step.outs);
        for bank in [Bank::F, Bank::I, Bank::R] {
            let moves: Vec<(Place, Place)> = (step.outs.iter().zip(&sources))
                .filter(|(reg, _)| self.bank(**reg) == bank)
                .map(|(reg, source)| (self.writer.place(*reg), Place::Window(*source)))
                .collect();
            self.transfers(bank, &moves, &|_| true);
        }
        Ok(())
    }

    fn make(&mut self, step: &Step, op: &Op) {
        use Instruction as I;
        self.arguments(step);
        let counts = call_sites::counts(&self.context.graph.banks, &step.ins);
        let out = ROut(self.n(step.outs[0]));
        let slots = step.active && counts[0] > 0;
        let instruction = match op {
            Op::Closure(f) => {
                let site = call_sites::closure(&mut self.writer.code, f.0, counts);
                if slots { I::DNewClosure { out, site } } else { I::NewClosure { out, site } }
            }
            Op::NewBox => {
                let parts = self.writer.parts(counts);
                if slots { I::DNewBox { out, parts } } else { I::NewBox { out, parts } }
            }
            _ => {
                let parts = self.writer.parts(counts);
                if slots { I::DNewRecord { out, parts } } else { I::NewRecord { out, parts } }
            }
        };
        self.writer.push(instruction);
    }

    /// Returns an operand that the instruction empties: the register itself if it is not read later, otherwise a new
    /// reference.
    fn taken(&mut self, step: &Step, k: usize) -> RTake {
        let reg = step.ins[k];
        let once = step.ins.iter().filter(|r| **r == reg).count() == 1;
        if once && self.killed.contains(&reg) {
            self.consumed.push(reg);
            return RTake(self.n(reg));
        }
        let scratch = self.writer.scratch(Bank::R);
        self.transfer(Bank::R, scratch, self.writer.place(reg), false);
        RTake(self.writer.at(Bank::R, scratch))
    }

    /// Returns the register of an object that the step modifies: `ins[0]`, which is also `outs[k]`.
    fn changed(&mut self, step: &Step, k: usize) -> RChange {
        let (out, a) = (step.outs[k], step.ins[0]);
        if out != a {
            let moved = self.killed.contains(&a);
            if moved {
                self.consumed.push(a);
            }
            self.transfer(Bank::R, self.writer.place(out), self.writer.place(a), moved);
        }
        RChange(self.n(out))
    }

    fn fused(&mut self, step: &Step, fused: FusedStep) {
        use Instruction as I;
        let (out, how) = (FOut(self.n(step.outs[0])), Ways(fused.how.number()));
        let ins: Vec<FIn> = step.ins.iter().map(|r| FIn(self.n(*r))).collect();
        let (a, b, c) = (ins[0], ins[1], ins[2]);
        let (instruction, trailer) = match fused.form {
            Nesting::Left => (I::JoinLeftF { out, a, b, how }, I::Extra { c }),
            Nesting::Right => (I::JoinRightF { out, a, b, how }, I::Extra { c }),
            Nesting::Both => (I::JoinBothF { out, a, b, how }, I::Extras { c, d: ins[3] }),
        };
        self.writer.push(instruction);
        self.writer.push(trailer);
    }
}
