//! Stored references: moves of references into and out of boxes, records and global variables, and modifications in place.

use super::Translator;
use crate::bytecode::Instruction;
use crate::bytecode::operand::{AccessAt, Part};
use cranelift_codegen::ir::{InstBuilder, Value, types};

impl Translator<'_, '_> {
    /// Translates an instruction that moves a reference into or out of an object or a global variable, or that begins or
    /// ends a modification in place; returns whether it was translated.
    pub(super) fn stored_reference(&mut self, at: usize, instruction: &Instruction) -> bool {
        use Instruction as I;
        if self.is_derivative {
            return false;
        }
        let helpers = self.helpers;
        let context = self.builder.ins().get_pinned_reg(types::I64);
        match *instruction {
            I::TakeBox { out, from, index } => {
                self.component(at, helpers.take_box as *const () as usize, &[], [out.0, from.0], index);
            }
            I::StoreBoxR { to, a, index } => {
                self.component(at, helpers.store_box as *const () as usize, &[context], [to.0, a.0], index);
            }
            I::TakeRecord { out, from, index } => {
                self.component(at, helpers.take_record as *const () as usize, &[], [out.0, from.0], index);
            }
            I::StoreRecordR { to, a, index } => {
                self.component(at, helpers.store_record as *const () as usize, &[], [to.0, a.0], index);
            }
            I::TakeGlobal { out, index } => {
                let given = [context, self.register_address(out.0), self.constant(i64::from(index.0))];
                self.call_or_step(at, helpers.take_global as *const () as usize, &given);
            }
            I::StoreGlobalR { a, index } => {
                let given = [context, self.register_address(a.0), self.constant(i64::from(index.0))];
                self.call_or_step(at, helpers.store_global as *const () as usize, &given);
            }
            I::BeginAccess { object, site } => return self.begin_access(at, Some(object.0), site),
            I::BeginGlobalAccess { site } => return self.begin_access(at, None, site),
            I::EndAccess {} => self.call_or_step(at, helpers.end_access as *const () as usize, &[context]),
            _ => return false,
        }
        true
    }

    /// Moves a reference between a component of an object and a register by a function of the machine.
    fn component(&mut self, at: usize, function: usize, given: &[Value], registers: [u16; 2], index: Part) {
        let [first, second] = registers.map(|register| self.register_address(register));
        let index = self.constant(usize::from(index) as i64);
        let given = [given, &[first, second, index]].concat();
        self.call_or_step(at, function, &given);
    }

    /// Begins a modification in place. The library's modifications have the location of the call in the program, which only the
    /// interpreter determines.
    fn begin_access(&mut self, at: usize, object: Option<u16>, site: AccessAt) -> bool {
        if self.code.is_prelude {
            return false;
        }
        let span = self.code.spans.get(at).copied().unwrap_or_default();
        let context = self.builder.ins().get_pinned_reg(types::I64);
        let object = match object {
            Some(register) => self.register_address(register),
            None => self.constant(0),
        };
        let site = std::ptr::from_ref(&self.code.accesses[usize::from(site)]).addr();
        let [site, start, end] = [site as i64, i64::from(span.start), i64::from(span.end)].map(|k| self.constant(k));
        self.call_or_step(at, self.helpers.begin_access as *const () as usize, &[context, object, site, start, end]);
        true
    }
}
