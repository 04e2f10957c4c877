//! Active registers: the registers that may carry tangent slots while derivative code runs.
//!
//! In: a function. Out: [`ActiveRegisters`], one flag per register of the number bank.
//!
//! Promises: a register is *active* when its value may vary with something outside of the function and is read by a
//! step that reads slots. Every definition of an active register writes or clears its slot, and a slot that matters is
//! never in an inactive register.
//! Not here: the dependence that diagnostics report (`activity`), which must be certain and not only possible.

use crate::diff::dependence_transfer;
use crate::diff::dependence_transfer::{DependenceTransfer, NativeTransfer};
use crate::ir::analysis::effects::{Effects, Memory, MemoryAccess, Transfer, effects, transfer as transfer_of};
use crate::ir::{Function, FunctionId, Instruction, Op, Operator, Program, Reg, Terminator};
use crate::value::Bank;
use hashbrown::{HashMap, HashSet};
use std::cell::RefCell;

/// The number registers of a function, with the facts that the analysis has found: which are varied, which are useful,
/// and which are active.
#[derive(Debug)]
pub struct ActiveRegisters {
    varied: Vec<bool>,
    useful: Vec<bool>,
    forced: Vec<bool>,
    plain: RefCell<PlainCalls>,
}

impl ActiveRegisters {
    /// Analyzes the registers of a function.
    pub fn of(program: &Program, f: &Function) -> ActiveRegisters {
        let n = f.registers.len();
        let none = || vec![false; n];
        let plain = RefCell::default();
        let mut registers = ActiveRegisters { varied: none(), useful: none(), forced: none(), plain };
        for &reg in f.params.iter().filter(|r| is_number(f, **r)) {
            registers.varied[reg.0 as usize] = true;
            registers.forced[reg.0 as usize] = true;
        }
        registers.spread_varied(program, f);
        registers.spread_useful(program, f);
        registers
    }

    /// Whether a register may vary with something outside of the function.
    pub fn is_varied(&self, reg: Reg) -> bool {
        self.varied[reg.0 as usize]
    }

    /// Whether a step that reads slots reads a register.
    pub fn is_useful(&self, reg: Reg) -> bool {
        self.useful[reg.0 as usize]
    }

    /// Whether a register carries slots, because it is active or written by a call.
    pub fn is_active(&self, reg: Reg) -> bool {
        let at = reg.0 as usize;
        // A register that a call writes always receives a slot. If the register were not active, the slot could remain
        // in a register where no step expects a slot.
        self.varied[at] && (self.useful[at] || self.forced[at])
    }

    /// Whether a step of derivative code moves, combines or clears slots.
    pub fn is_active_step(&self, program: &Program, f: &Function, step: &Instruction) -> bool {
        if step.outs.iter().any(|r| self.is_active(*r)) {
            return true;
        }
        match transfer_of(&step.op) {
            Transfer::Call(callee) => !self.is_constant_call(program, f, callee, step),
            Transfer::DynamicCall => true,
            Transfer::Native(name) => {
                let carries = |r: &Reg| bank(f, *r) != Bank::I;
                dependence_transfer::native(name) != NativeTransfer::Nothing
                    && (step.ins.iter().any(carries) || step.outs.iter().any(carries))
            }
            Transfer::Operator(operator) => match operator {
                // The contents of references still have their slots; an inactive step must copy them without the slots.
                Operator::WithoutDerivative { .. } | Operator::NoDerivative { .. } => {
                    step.ins.iter().any(|r| bank(f, *r) == Bank::R)
                }
                Operator::ApplyAtOnce
                | Operator::Matrix { .. }
                | Operator::Jacobian { .. }
                | Operator::Gradient { .. } => false,
                _ => true,
            },
            // A new object has no slots until a slot is stored there.
            Transfer::Create => step.ins.iter().any(|r| self.is_active(*r)),
            // In memory that already holds a number, a constant must clear the slot of the replaced number.
            Transfer::Store { number } => number,
            // All other steps are active because of their results alone.
            Transfer::Nothing | Transfer::Copy | Transfer::Primitive(_) | Transfer::Load => false,
        }
    }

    fn spread_varied(&mut self, program: &Program, f: &Function) {
        let mut changed = true;
        while changed {
            changed = false;
            crate::cancel::check();
            for step in f.blocks.iter().flat_map(|b| &b.instructions) {
                for (k, out) in step.outs.iter().enumerate().filter(|(_, r)| is_number(f, **r)) {
                    let at = out.0 as usize;
                    if !self.varied[at] && self.yields_varied(program, f, step, k) {
                        self.varied[at] = true;
                        changed = true;
                    }
                }
            }
        }
    }

    /// Whether the `k`-th result of a step may vary.
    fn yields_varied(&self, program: &Program, f: &Function, step: &Instruction, k: usize) -> bool {
        let from_operands = || step.ins.iter().any(|r| self.is_varied(*r));
        let from_references = || step.ins.iter().any(|r| bank(f, *r) == Bank::R);
        match transfer_of(&step.op) {
            Transfer::Copy => from_operands(),
            Transfer::Primitive(id) => {
                dependence_transfer::primitive(id) == DependenceTransfer::Smooth && from_operands()
            }
            Transfer::Call(callee) => !self.is_constant_call(program, f, callee, step),
            Transfer::DynamicCall | Transfer::Load => true,
            Transfer::Native(name) => {
                dependence_transfer::native(name) != NativeTransfer::Nothing && (from_operands() || from_references())
            }
            Transfer::Operator(operator) => match operator {
                Operator::WithoutDerivative { .. }
                | Operator::ApplyAtOnce
                | Operator::Matrix { .. }
                | Operator::Jacobian { .. }
                | Operator::Gradient { .. } => false,
                Operator::WithDerivative { .. } | Operator::NoDerivative { .. } => {
                    step.ins.get(k).is_some_and(|r| self.is_varied(*r))
                }
                Operator::Coordinates { .. } => from_operands() || from_references(),
                _ => true,
            },
            // Such steps write no number, or a constant number.
            Transfer::Nothing | Transfer::Create | Transfer::Store { .. } => false,
        }
    }

    fn spread_useful(&mut self, program: &Program, f: &Function) {
        for block in &f.blocks {
            if let Some(Terminator::Return(regs)) = &block.end {
                self.mark_useful(f, regs);
            }
            for step in &block.instructions {
                if self.reads_slots(program, f, step) {
                    self.mark_useful(f, &step.ins);
                    for out in &step.outs {
                        self.forced[out.0 as usize] = true;
                    }
                }
            }
        }
        let mut changed = true;
        while changed {
            changed = false;
            crate::cancel::check();
            for step in f.blocks.iter().rev().flat_map(|b| b.instructions.iter().rev()) {
                let passes = match transfer_of(&step.op) {
                    Transfer::Copy | Transfer::Operator(Operator::NoDerivative { .. }) => true,
                    Transfer::Primitive(id) => dependence_transfer::primitive(id) == DependenceTransfer::Smooth,
                    _ => false,
                };
                if passes && step.outs.iter().any(|r| self.is_useful(*r)) {
                    changed |= self.mark_useful(f, &step.ins);
                }
            }
        }
    }

    fn mark_useful(&mut self, f: &Function, regs: &[Reg]) -> bool {
        let mut changed = false;
        for reg in regs.iter().filter(|r| is_number(f, **r)) {
            changed |= !std::mem::replace(&mut self.useful[reg.0 as usize], true);
        }
        changed
    }

    /// Whether a step forwards the slots of its operands to storage outside of the registers, and loads the slots of
    /// its results from there.
    fn reads_slots(&self, program: &Program, f: &Function, step: &Instruction) -> bool {
        match transfer_of(&step.op) {
            Transfer::Call(callee) => !self.is_constant_call(program, f, callee, step),
            Transfer::DynamicCall | Transfer::Create | Transfer::Store { .. } => true,
            Transfer::Native(name) => dependence_transfer::native(name) != NativeTransfer::Nothing,
            Transfer::Operator(operator) => !matches!(
                operator,
                Operator::WithoutDerivative { .. }
                    | Operator::NoDerivative { .. }
                    | Operator::ApplyAtOnce
                    | Operator::Matrix { .. }
                    | Operator::Jacobian { .. }
                    | Operator::Gradient { .. }
            ),
            Transfer::Nothing | Transfer::Copy | Transfer::Primitive(_) | Transfer::Load => false,
        }
    }

    /// Whether a call computes with constants alone: no varied value is passed in, not even as an integer, and the call
    /// examines no stored value. Such a call runs the original code.
    fn is_constant_call(&self, program: &Program, f: &Function, callee: FunctionId, step: &Instruction) -> bool {
        !step.active
            && step.ins.iter().all(|r| match bank(f, *r) {
                Bank::F => !self.is_varied(*r),
                Bank::I => true,
                Bank::R => false,
            })
            && self.plain.borrow_mut().is_plain(program, callee)
    }
}

fn bank(f: &Function, reg: Reg) -> Bank {
    f.registers[reg.0 as usize].bank
}

fn is_number(f: &Function, reg: Reg) -> bool {
    bank(f, reg) == Bank::F
}

/// The functions that compute with their arguments only and read no other state.
#[derive(Default, Debug)]
struct PlainCalls {
    known: HashMap<FunctionId, bool>,
}

impl PlainCalls {
    fn is_plain(&mut self, program: &Program, of: FunctionId) -> bool {
        if let Some(&known) = self.known.get(&of) {
            return known;
        }
        let mut seen: HashSet<FunctionId> = HashSet::from([of]);
        let mut open = vec![of];
        let mut plain = true;
        while let Some(id) = open.pop() {
            let Some(f) = program.function(id) else {
                plain = false;
                break;
            };
            if !f.blocks.iter().flat_map(|b| &b.instructions).all(|step| computes_only(f, step)) {
                plain = false;
                break;
            }
            for step in f.blocks.iter().flat_map(|b| &b.instructions) {
                if let Op::Call(callee) = step.op
                    && seen.insert(callee)
                {
                    open.push(callee);
                }
            }
        }
        self.known.insert(of, plain);
        plain
    }
}

fn computes_only(f: &Function, step: &Instruction) -> bool {
    match transfer_of(&step.op) {
        // Strings may be joined for a message; any value that contains numbers may have slots.
        Transfer::Call(_) => step.ins.iter().chain(&step.outs).all(|r| bank(f, *r) != Bank::R),
        Transfer::Native(name) => name.starts_with("text."),
        _ => {
            let Effects { memory, access, .. } = effects(&step.op);
            match memory {
                Memory::None => access != MemoryAccess::Pin,
                Memory::Text => access == MemoryAccess::Read,
                _ => false,
            }
        }
    }
}

#[cfg(test)]
mod tests;
