//! Natives: calls of native functions that need no context, and applications of differential operators.

use super::super::context::offsets;
use super::super::site::{Continuation, Register};
use super::super::{NOT_EXECUTED, PASSED};
use super::{Translator, kind_of};
use crate::bytecode::{Counts, NativeSite, OperatorSite};
use crate::native::library;
use crate::value::Bank;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};

impl Translator<'_, '_> {
    /// Calls a native function on the window, if it needs no context; the interpreter calls it where the function does
    /// not apply. Returns whether the call was translated.
    pub(super) fn native(&mut self, at: usize, site: &NativeSite) -> bool {
        let [numbers, integers, _] = site.window;
        let has_slots = self.code.is_derivative && numbers > 0;
        let is_refused = self.is_derivative || has_slots || usize::from(numbers + integers) > PASSED;
        if is_refused || library::direct(site.native).is_none() {
            return false;
        }
        self.pass_window(numbers, site.signature.params);
        let context = self.builder.ins().get_pinned_reg(types::I64);
        let address = self.constant(std::ptr::from_ref(site).addr() as i64);
        let references = self.register_address(self.code.registers[2]);
        let function = self.helpers.call_native as *const () as usize;
        let status = self.call_address(function, &[context, address, references], types::I64);
        self.finish_window_call(at, status, numbers, site.signature.results);
        true
    }

    /// Applies a differential operator to the window by tangent or adjoint code; the interpreter applies it where that is not
    /// possible. Returns whether the application was translated.
    pub(super) fn operator(&mut self, at: usize, site: &OperatorSite) -> bool {
        let [numbers, integers, _] = site.window();
        let is_refused = self.is_derivative || self.code.is_derivative || usize::from(numbers + integers) > PASSED;
        if is_refused || !site.operator.uses_transformed_code() {
            return false;
        }
        self.pass_window(numbers, site.params);
        let context = self.builder.ins().get_pinned_reg(types::I64);
        let place = self.site(at, vec![], vec![]);
        let given = [context, place, self.link(place), self.register_address(self.code.registers[2])];
        let status = self.call_address(self.helpers.operate as *const () as usize, &given, types::I64);
        self.finish_window_call(at, status, numbers, site.results);
        true
    }

    /// Passes the first numbers and integers of the window; the integers follow `numbers` numbers.
    pub(super) fn pass_window(&mut self, numbers: u16, params: Counts) {
        let own = self.code.registers;
        for ((bank, k), place) in passed(numbers, params) {
            let value = self.get((bank, own[bank as usize] + k));
            self.store_context(value, place);
        }
    }

    /// Continues after a call on the window, given its outcome: the interpreter makes the call if it was not executed.
    fn finish_window_call(&mut self, at: usize, status: Value, numbers: u16, results: Counts) {
        let next = self.builder.create_block();
        let (other, done) = self.branch_rarely(status);
        self.continue_in(other);
        let is_refused = self.builder.ins().icmp_imm_s(IntCC::Equal, status, NOT_EXECUTED);
        let (refused, left) = (self.builder.create_block(), self.builder.create_block());
        self.builder.set_cold_block(refused);
        self.builder.set_cold_block(left);
        self.builder.ins().brif(is_refused, refused, &[], left, &[]);
        self.continue_in(left);
        self.receive_window(numbers, results);
        let live = self.flow.live(at + 1).collect();
        self.leave(at, Continuation::After, live);
        self.continue_in(refused);
        self.set_cold();
        self.step(at);
        self.builder.ins().jump(next, &[]);
        self.continue_in(done);
        self.receive_window(numbers, results);
        self.builder.ins().jump(next, &[]);
        self.continue_in(next);
    }

    /// Writes the results of a call, which are where the arguments were passed, to the registers of the window.
    fn receive_window(&mut self, numbers: u16, results: Counts) {
        let own = self.code.registers;
        for ((bank, k), place) in passed(numbers, results) {
            let value = self.load_context(kind_of(bank), place);
            self.set((bank, own[bank as usize] + k), value);
        }
    }
}

/// Returns the first numbers and integers of the window, and the places in the context where they are passed; the integers follow
/// `numbers` numbers.
fn passed(numbers: u16, counts: Counts) -> impl Iterator<Item = (Register, i32)> + use<> {
    let place = |k: u16| offsets::PASSED + 8 * i32::from(k);
    let of_numbers = (0..counts[0]).map(move |k| ((Bank::F, k), place(k)));
    of_numbers.chain((0..counts[1]).map(move |k| ((Bank::I, k), place(numbers + k))))
}
