//! Calls: calls of compiled functions, and returns.

use super::super::context::offsets;
use super::super::convention::{self, Place};
use super::super::site::Continuation;
use super::super::{Callee, FINALIZERS_PENDING, RETURNED, Signature};
use super::{FLAGS, Translator, kind_of};
use crate::bytecode::Instruction;
use crate::value::Bank;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};

impl Translator<'_, '_> {
    /// Calls a function, if it is compiled; otherwise the interpreter calls it.
    pub(super) fn call(&mut self, at: usize, instruction: &Instruction) {
        let found = Callee::of(instruction).and_then(|callee| Some((callee, (self.signature)(callee)?)));
        let Some((callee, signature)) = found else {
            self.leave_before(at);
            self.is_ended = true;
            return;
        };
        let own = self.code.registers;
        let table = if callee.is_derivative { offsets::DERIVATIVE_TARGETS } else { offsets::TARGETS };
        let targets = self.load_context(types::I64, table);
        let target = self.builder.ins().load(types::I64, FLAGS, targets, 8 * callee.function as i32);
        let is_missing = self.builder.ins().icmp_imm_s(IntCC::Equal, target, 0);
        self.leave_if(is_missing);
        let site = self.site(at, Continuation::After, vec![], vec![], vec![]);
        let link = self.link(site);
        let offset = i64::from(self.helpers.reference) * i64::from(own[2]);
        let references = match offset {
            0 => self.references,
            _ => self.builder.ins().iadd_imm_s(self.references, offset),
        };
        let mut given = vec![link, references];
        if callee.is_derivative {
            given.push(self.slot_address(own[0]));
        }
        self.store_tape();
        for ((bank, k), place) in convention::arguments(&signature) {
            let value = self.get((bank, own[bank as usize] + k));
            match place {
                Place::Machine => given.push(value),
                Place::Context(offset) => self.store_context(value, offset),
            }
        }
        let machine_signature = convention::of_function(&signature, self.convention);
        let machine_signature = self.builder.import_signature(machine_signature);
        let call = self.builder.ins().call_indirect(machine_signature, target, &given);
        let returned = self.builder.inst_results(call).to_vec();
        self.load_tape();
        self.nodes.retain(|(register, _)| *register < own[0]);
        let (other, done) = self.branch_rarely(returned[0]);
        self.continue_in(other);
        let is_normal = self.builder.ins().icmp_imm_s(IntCC::Equal, returned[0], FINALIZERS_PENDING);
        let (returned_normally, left) = self.branch_rarely(is_normal);
        self.continue_in(left);
        self.leave_after(at);
        self.continue_in(returned_normally);
        self.receive(&signature, &returned);
        let live = self.flow.live(at + 1).collect();
        self.leave(at, Continuation::After, live);
        self.continue_in(done);
        self.receive(&signature, &returned);
    }

    /// Writes the results of a call to the registers of the window.
    fn receive(&mut self, signature: &Signature, returned: &[Value]) {
        let own = self.code.registers;
        let mut next = 1;
        for ((bank, k), place) in convention::results(signature) {
            let value = match place {
                Place::Machine => {
                    next += 1;
                    returned[next - 1]
                }
                Place::Context(offset) => self.load_context(kind_of(bank), offset),
            };
            self.set((bank, own[bank as usize] + k), value);
        }
    }

    /// Returns from the function; a loop leaves the return to the interpreter.
    pub(super) fn return_(&mut self, at: usize, instruction: &Instruction, node: Option<Value>) {
        self.is_ended = true;
        if self.is_derivative {
            self.return_to_frame(at, instruction);
            return;
        }
        if !self.is_function {
            self.leave_before(at);
            return;
        }
        if let Some(node) = node {
            self.set_node(0, node);
        }
        self.store_tape();
        let (mut replaced, mut moved) = (None, -1);
        match *instruction {
            Instruction::ReturnF { a } | Instruction::DReturnF { a } => replaced = Some((Bank::F, a.0)),
            Instruction::ReturnI { a } => replaced = Some((Bank::I, a.0)),
            Instruction::ReturnR { a } => moved = i64::from(a.0),
            _ => {}
        }
        let held = self.held_references();
        let status = if moved > 0 || !held.is_empty() { self.finish(moved, &held) } else { self.constant(RETURNED) };
        let mut returned = vec![status];
        let signature = Signature::of(self.code);
        for ((bank, k), place) in convention::results(&signature) {
            let register = match replaced {
                Some((of, register)) if of == bank && k == 0 => register,
                _ => k,
            };
            let value = self.get((bank, register));
            match place {
                Place::Machine => returned.push(value),
                Place::Context(offset) => self.store_context(value, offset),
            }
        }
        self.builder.ins().return_(&returned);
    }
}
