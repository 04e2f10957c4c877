//! Natives: calls of native functions that need no context.

use super::super::context::offsets;
use super::super::site::Continuation;
use super::super::{NOT_EXECUTED, PASSED};
use super::{Translator, kind_of};
use crate::bytecode::NativeSite;
use crate::native::library;
use crate::value::Bank;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, types};

impl Translator<'_, '_> {
    /// Calls a native function on the window, if it needs no context; the interpreter calls it where the function does
    /// not apply. Returns whether the call was translated.
    pub(super) fn native(&mut self, at: usize, site: &NativeSite) -> bool {
        let [numbers, integers, _] = site.window().map(usize::from);
        let has_slots = self.code.is_derivative && numbers > 0;
        let is_refused = self.is_derivative || has_slots || numbers + integers > PASSED;
        if is_refused || library::direct(site.native).is_none() {
            return false;
        }
        let own = self.code.registers;
        for (register, place) in passed(site, site.params) {
            let value = self.get((register.0, own[register.0 as usize] + register.1));
            self.store_context(value, place);
        }
        let context = self.builder.ins().get_pinned_reg(types::I64);
        let address = self.constant(std::ptr::from_ref(site).addr() as i64);
        let references = self.register_address(own[2]);
        let function = self.helpers.call_native as *const () as usize;
        let status = self.call_address(function, &[context, address, references], types::I64);
        let next = self.builder.create_block();
        let (other, done) = self.branch_rarely(status);
        self.continue_in(other);
        let is_refused = self.builder.ins().icmp_imm_s(IntCC::Equal, status, NOT_EXECUTED);
        let (refused, left) = (self.builder.create_block(), self.builder.create_block());
        self.builder.set_cold_block(refused);
        self.builder.set_cold_block(left);
        self.builder.ins().brif(is_refused, refused, &[], left, &[]);
        self.continue_in(left);
        self.receive_from_native(site);
        let live = self.flow.live(at + 1).collect();
        self.leave(at, Continuation::After, live);
        self.continue_in(refused);
        self.set_cold();
        self.step(at);
        self.builder.ins().jump(next, &[]);
        self.continue_in(done);
        self.receive_from_native(site);
        self.builder.ins().jump(next, &[]);
        self.continue_in(next);
        true
    }

    /// Writes the results of a native function, which are where the arguments were passed, to the registers of the window.
    fn receive_from_native(&mut self, site: &NativeSite) {
        let own = self.code.registers;
        for ((bank, k), place) in passed(site, site.results) {
            let value = self.load_context(kind_of(bank), place);
            self.set((bank, own[bank as usize] + k), value);
        }
    }
}

/// Returns the first numbers and integers of the window, and the places in the context where they are passed.
fn passed(site: &NativeSite, counts: [u16; 3]) -> impl Iterator<Item = ((Bank, u16), i32)> + use<> {
    let numbers = site.window()[0];
    let place = |k: u16| offsets::PASSED + 8 * i32::from(k);
    let of_numbers = (0..counts[0]).map(move |k| ((Bank::F, k), place(k)));
    of_numbers.chain((0..counts[1]).map(move |k| ((Bank::I, k), place(numbers + k))))
}
