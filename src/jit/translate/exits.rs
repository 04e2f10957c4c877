//! Exits: the code that leaves for the interpreter, and single steps.

use super::super::context::offsets;
use super::super::convention::{self, Place};
use super::super::effects::{consumes_window, effects, window};
use super::super::inlining::Activation;
use super::super::site::{Continuation, Register, Site};
use super::super::{LEFT, PASSED, Signature};
use super::{FLAGS, PendingExit, Translator, kind_of};
use crate::value::Bank;
use cranelift_codegen::ir::{Block, InstBuilder, Value, types};

impl Translator<'_, '_> {
    /// Returns the block that leaves before the current instruction.
    pub(super) fn exit_block(&mut self) -> Block {
        if let Some(block) = self.exit {
            return block;
        }
        let block = self.builder.create_block();
        self.builder.set_cold_block(block);
        self.exit = Some(block);
        block
    }

    /// Leaves before the current instruction if a condition holds.
    pub(super) fn leave_if(&mut self, condition: Value) {
        let exit = self.exit_block();
        let next = self.builder.create_block();
        self.builder.ins().brif(condition, exit, &[], next, &[]);
        self.continue_in(next);
    }

    /// Leaves before the current instruction unless a condition holds.
    pub(super) fn leave_unless(&mut self, condition: Value) {
        let exit = self.exit_block();
        let next = self.builder.create_block();
        self.builder.ins().brif(condition, next, &[], exit, &[]);
        self.continue_in(next);
    }

    /// Notes that the block that leaves before the instruction `at` must be filled, if the instruction has used it. The
    /// registers have the values that they had before the instruction, because an instruction writes them after its
    /// last check. Derivative code stores nothing when it leaves, so that it has one such block. Since that is outside of
    /// all loops, the code generator moves more computations out of them.
    pub(super) fn finish_exit(&mut self, at: usize, continuation: Continuation) {
        if self.is_derivative {
            return;
        }
        if let Some(block) = self.exit.take() {
            let leaf_loop = self.leaf_loop.clone();
            self.exits.push(PendingExit { block, at, continuation, leaf_loop });
        }
    }

    /// Fills the blocks that leave before instructions.
    pub(super) fn fill_exits(&mut self) {
        if let Some(block) = self.exit.take() {
            self.continue_in(block);
            self.return_status(LEFT);
        }
        for PendingExit { block, at, continuation, leaf_loop } in std::mem::take(&mut self.exits) {
            self.continue_in(block);
            self.leaf_loop = leaf_loop;
            match continuation {
                Continuation::Entry => {
                    let params = self.code.params;
                    let numbers = (0..params[0]).map(|k| (Bank::F, k));
                    let saved = numbers.chain((0..params[1]).map(|k| (Bank::I, k))).collect();
                    self.leave(0, Continuation::Entry, saved);
                }
                Continuation::Before | Continuation::After => self.leave_before(at),
            }
        }
    }

    /// Continues in a block whose predecessors are known.
    pub(super) fn continue_in(&mut self, block: Block) {
        self.builder.switch_to_block(block);
        self.builder.seal_block(block);
    }

    /// Marks the current block as one that is rarely executed.
    pub(super) fn set_cold(&mut self) {
        if let Some(block) = self.builder.current_block() {
            self.builder.set_cold_block(block);
        }
    }

    /// Creates two blocks for the case that a condition holds, which is rare, and for the other case, and branches.
    pub(super) fn branch_rarely(&mut self, condition: Value) -> (Block, Block) {
        let (rare, usual) = (self.builder.create_block(), self.builder.create_block());
        self.builder.set_cold_block(rare);
        self.builder.ins().brif(condition, rare, &[], usual, &[]);
        (rare, usual)
    }

    /// Leaves the code; the interpreter executes the instruction `at` next.
    pub(super) fn leave_before(&mut self, at: usize) {
        let saved = self.flow.live(at).collect();
        self.leave(at, Continuation::Before, saved);
    }

    /// Leaves the code: stores the registers in a record, and returns.
    pub(super) fn leave(&mut self, at: usize, continuation: Continuation, saved: Vec<Register>) {
        if self.is_derivative {
            let exit = self.exit_block();
            self.builder.ins().jump(exit, &[]);
            return;
        }
        self.store_tape();
        self.store_steps();
        let records = self.load_context(types::I64, offsets::RECORDS);
        let place = self.inlined.places[at];
        let (mut words, mut next) = (0, Some((place, continuation)));
        let mut saved = saved;
        // Single steps are never in inlined functions.
        let can_be_step = continuation == Continuation::Before && place.activation == 0;
        let mut written = if can_be_step { self.overwritten(at) } else { vec![] };
        // The records of an inlined function and of its callers, which continue after their calls.
        while let Some((place, continuation)) = next {
            let Activation { owner, base, caller } = self.inlined.activations[place.activation];
            let is_own = |(bank, register): &Register| *register >= base[*bank as usize];
            let (own, others): (Vec<_>, Vec<_>) = saved.into_iter().partition(is_own);
            let values: Vec<Value> = own.iter().map(|register| self.get(*register)).collect();
            let in_frame = |registers: Vec<Register>| {
                registers.into_iter().map(|(bank, register)| (bank, register - base[bank as usize])).collect()
            };
            let (saved_here, written_here) = (in_frame(own), in_frame(std::mem::take(&mut written)));
            let site = self.add_site(Site {
                owner,
                pc: place.pc,
                continuation,
                saved: saved_here,
                read: Box::default(),
                written: written_here,
            });
            for (k, value) in std::iter::once(site).chain(values).enumerate() {
                self.builder.ins().store(FLAGS, value, records, 8 * (words + k) as i32);
            }
            words += self.sites.last().map_or(0, |site| site.saved.len() + 1);
            (saved, next) = (others, caller.map(|caller| (caller, Continuation::After)));
        }
        self.largest_record = self.largest_record.max(words);
        let end = self.builder.ins().iadd_imm_s(records, 8 * words as i64);
        self.store_context(end, offsets::RECORDS);
        self.return_status(LEFT);
    }

    /// Returns from the function with a status, and results without a meaning.
    fn return_status(&mut self, status: i64) {
        let mut returned = vec![self.constant(status)];
        if self.is_function {
            let signature = Signature::of(self.code);
            for ((bank, _), place) in convention::results(&signature) {
                if place == Place::Machine {
                    returned.push(match bank {
                        Bank::F => self.builder.ins().f64const(0.0),
                        Bank::I | Bank::R => self.constant(0),
                    });
                }
            }
        }
        self.builder.ins().return_(&returned);
    }

    /// Creates the site of a call or single step, which is never in an inlined function; returns its address as a value.
    pub(super) fn site(&mut self, at: usize, read: Vec<Register>, written: Vec<Register>) -> Value {
        let place = self.inlined.places[at];
        self.add_site(Site {
            owner: self.inlined.activations[place.activation].owner,
            pc: place.pc,
            continuation: Continuation::After,
            saved: Box::default(),
            read: read.into(),
            written: written.into(),
        })
    }

    /// Adds a site; returns its address as a value.
    fn add_site(&mut self, site: Site) -> Value {
        let site = Box::new(site);
        let address = std::ptr::from_ref::<Site>(&site) as usize;
        self.sites.push(site);
        self.constant(address as i64)
    }

    /// Executes one instruction by the interpreter, and continues.
    pub(super) fn step(&mut self, at: usize) {
        let operands = effects(self.code, at, self.signature);
        if self.is_derivative || operands.read.len().max(operands.written.len()) > PASSED {
            self.leave_before(at);
            self.is_ended = true;
            return;
        }
        let status = self.perform_step(at);
        self.leave_if_stopped(at, status);
        let written = plain(effects(self.code, at, self.signature).written);
        for (k, (bank, register)) in written.into_iter().enumerate() {
            let value = self.load_context(kind_of(bank), offsets::PASSED + 8 * k as i32);
            self.set((bank, register), value);
        }
    }

    /// Calls the interpreter for one instruction that writes no number or integer, and preserves all machine registers.
    /// Returns the status.
    pub(super) fn perform_rare_step(&mut self, at: usize) -> Value {
        let (site, link) = self.prepare_step(at);
        let status = self.call_rare(self.rare.step, [site, link]);
        self.load_tape();
        status
    }

    /// Executes one instruction by the interpreter, which continues.
    pub(super) fn step_and_leave(&mut self, at: usize) {
        self.is_ended = true;
        if effects(self.code, at, self.signature).read.len() > PASSED {
            self.leave_before(at);
            return;
        }
        let status = self.perform_step(at);
        self.leave_if_stopped(at, status);
        self.leave_after(at);
    }

    /// Calls the interpreter for one instruction; returns the status.
    fn perform_step(&mut self, at: usize) -> Value {
        let (site, link) = self.prepare_step(at);
        let context = self.builder.ins().get_pinned_reg(types::I64);
        let status = self.call_address(self.helpers.step as *const () as usize, &[context, site, link], types::I64);
        self.load_tape();
        self.nodes.clear();
        status
    }

    /// Passes the operands of an instruction to the interpreter; returns the site and the record of the function.
    fn prepare_step(&mut self, at: usize) -> (Value, Value) {
        self.store_tape();
        let effects = effects(self.code, at, self.signature);
        let (read, written) = (plain(effects.read), plain(effects.written));
        for (k, register) in read.iter().enumerate() {
            let value = self.get(*register);
            self.store_context(value, offsets::PASSED + 8 * k as i32);
        }
        let site = self.site(at, read, written);
        let link = self.link(site);
        (site, link)
    }

    /// Leaves the code after a single step with which it cannot continue: the interpreter continues where it is, or before the
    /// instruction if the step was not executed. Either way the registers that the instruction does not write have the values that
    /// they had before.
    pub(super) fn leave_if_stopped(&mut self, at: usize, status: Value) {
        if self.borrowed_elements.resumed_at(at) == at {
            self.leave_if(status);
            return;
        }
        let (stopped, next) = self.branch_rarely(status);
        self.continue_in(stopped);
        self.leave_before(at);
        self.continue_in(next);
    }

    /// Leaves the code after an instruction whose results are in the frame already.
    pub(super) fn leave_after(&mut self, at: usize) {
        let overwritten = self.overwritten(at);
        let live = self.flow.live(at + 1).filter(|register| !overwritten.contains(register)).collect();
        self.leave(at, Continuation::After, live);
    }

    /// Returns the number and integer registers whose old values are lost when an instruction is executed: the results, and the whole
    /// window if the registers of another function may lie there.
    fn overwritten(&self, at: usize) -> Vec<Register> {
        let written = plain(effects(self.code, at, self.signature).written);
        let loses_window = consumes_window(&self.code.instructions[at]);
        let lost = loses_window.then(|| window(self.code, self.code.window)).into_iter().flatten();
        written.into_iter().chain(plain(lost.collect())).collect()
    }

    /// Stores the site in the record of the function, for a call; returns the address of the record.
    pub(super) fn link(&mut self, site: Value) -> Value {
        let Some(slot) = self.link else { return self.constant(0) };
        self.builder.ins().stack_store(types::I64, site, slot, offsets::SITE);
        self.builder.ins().stack_addr(types::I64, slot, 0)
    }
}

/// Returns the registers of numbers and integers among the given ones.
fn plain(registers: Vec<Register>) -> Vec<Register> {
    registers.into_iter().filter(|(bank, _)| *bank != Bank::R).collect()
}
