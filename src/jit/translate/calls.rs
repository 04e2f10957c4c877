//! Calls: calls of compiled functions, and returns.

use super::super::context::offsets;
use super::super::convention::{self, Place};
use super::super::layout::Layout;
use super::super::site::Continuation;
use super::super::{Callee, FINALIZERS_PENDING, MAX_PASSED, RETURNED, Signature};
use super::{FLAGS, Translator, kind_of};
use crate::bytecode::Instruction;
use crate::value::Bank;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{ExtFuncData, ExternalName, InstBuilder, UserExternalName, Value, types};

impl Translator<'_, '_> {
    /// Calls a function, if it is compiled; otherwise the interpreter calls it.
    pub(super) fn call(&mut self, at: usize, instruction: &Instruction) {
        let is_recursive = self.itself.is_some() && Callee::of(instruction) == self.itself;
        let (target, signature) = if is_recursive {
            (None, Signature::of(self.code))
        } else {
            let Some((target, signature)) = self.target(instruction) else {
                self.leave_before(at);
                self.is_ended = true;
                return;
            };
            let is_missing = self.builder.ins().icmp_imm_s(IntCC::Equal, target, 0);
            self.leave_if(is_missing);
            (Some(target), signature)
        };
        let own = self.code.registers;
        let site = self.site(at, vec![], vec![]);
        let link = self.link(site);
        let offset = i64::from(self.helpers.reference) * i64::from(own[2]);
        let references = match offset {
            0 => self.references,
            _ => self.builder.ins().iadd_imm_s(self.references, offset),
        };
        let mut given = vec![link, references];
        if signature.has_slots {
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
        let call = match target {
            Some(target) => self.builder.ins().call_indirect(machine_signature, target, &given),
            None => {
                let name = UserExternalName { namespace: 0, index: 0 };
                let name = self.builder.func.declare_imported_user_function(name);
                let itself = self.builder.import_function(ExtFuncData {
                    name: ExternalName::user(name),
                    signature: machine_signature,
                    colocated: true,
                    patchable: false,
                });
                self.builder.ins().call(itself, &given)
            }
        };
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

    /// Returns the address of the machine code of the function that an instruction calls, which is 0 if the function is not
    /// compiled, and the signature of the function; `None` if the interpreter must call it.
    fn target(&mut self, instruction: &Instruction) -> Option<(Value, Signature)> {
        if let Instruction::CallValue { function, signature } | Instruction::DCallValue { function, signature } =
            *instruction
        {
            let signature = Signature::of_object(self.code, signature);
            let can_be_passed = signature.params.iter().chain(&signature.results).all(|count| *count <= MAX_PASSED);
            let layout = self.layout.filter(|_| can_be_passed)?;
            return Some((self.target_of_object(layout, function.0), signature));
        }
        let callee = Callee::of(instruction)?;
        let signature = (self.signature)(callee)?;
        let table = if callee.is_derivative { offsets::DERIVATIVE_TARGETS } else { offsets::TARGETS };
        let targets = self.load_context(types::I64, table);
        let target = self.builder.ins().load(types::I64, FLAGS, targets, 8 * callee.function as i32);
        Some((target, signature))
    }

    /// Returns the address of the machine code of a function object. Leaves if it is an object of the machine, or its
    /// function is not among those that are called in machine code.
    fn target_of_object(&mut self, layout: &Layout, register: u16) -> Value {
        let (base, offset) = self.reference(register);
        let tag = self.builder.ins().load(types::I8, FLAGS, base, offset + layout.tag);
        let is_other = self.builder.ins().icmp_imm_u(IntCC::NotEqual, tag, i64::from(layout.tags.closure));
        self.leave_if(is_other);
        let object = self.builder.ins().load(types::I64, FLAGS, base, offset + layout.object);
        let function = self.builder.ins().uload32(FLAGS, object, layout.function);
        let count = self.load_context(types::I64, offsets::TARGET_COUNT);
        let table = if self.code.is_derivative { offsets::DERIVATIVE_TARGETS } else { offsets::TARGETS };
        let is_unknown = self.builder.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, function, count);
        self.leave_if(is_unknown);
        let targets = self.load_context(types::I64, table);
        let distance = self.builder.ins().ishl_imm_u(function, 3);
        let entry = self.builder.ins().iadd(targets, distance);
        self.builder.ins().load(types::I64, FLAGS, entry, 0)
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
