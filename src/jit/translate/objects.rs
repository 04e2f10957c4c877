//! Objects: reads and writes of components, and copies of references.

use super::super::PASSED;
use super::super::context::offsets;
use super::super::layout::Layout;
use super::views::{Key, Shown, key};
use super::{FLAGS, Translator, kind_of};
use crate::bytecode::Instruction;
use crate::bytecode::operand::{IIn, Part};
use crate::value::Bank;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};

/// The position of a component.
#[derive(Clone, Copy)]
pub(super) enum Index {
    /// The component of the element whose index is in a register.
    Element(IIn, u16),
    /// The component with a fixed index.
    Field(Part),
}

impl Translator<'_, '_> {
    /// Translates an instruction that accesses objects or global variables; returns whether it was translated.
    pub(super) fn object(&mut self, at: usize, instruction: &Instruction) -> bool {
        use Instruction as I;
        let Some(layout) = self.layout else { return false };
        // The interpreter clears slots in boxes and global variables.
        if self.code.is_derivative && matches!(instruction, I::StoreBoxF { .. } | I::StoreGlobalF { .. }) {
            return false;
        }
        let (offset, _) = self.place(at);
        if let Some(key) = key(self.code, at) {
            match *instruction {
                I::Count { out, .. } => {
                    let view = self.view(key, layout);
                    self.set((Bank::I, out.0), view.count);
                }
                I::CheckIndex { index, .. } => {
                    let view = self.view(key, layout);
                    let index = self.i(index.0);
                    self.check_range(index, view.count);
                }
                I::ElementF { out, index, .. } => self.load(key, layout, (Bank::F, out.0), Index::Element(index, 0)),
                I::ElementI { out, index, .. } => self.load(key, layout, (Bank::I, out.0), Index::Element(index, 0)),
                I::PartF { out, index, .. } => self.load(key, layout, (Bank::F, out.0), Index::Element(index, offset)),
                I::PartI { out, index, .. } => self.load(key, layout, (Bank::I, out.0), Index::Element(index, offset)),
                I::LoadRecordF { out, index, .. } | I::LoadBoxF { out, index, .. } | I::CaptureF { out, index, .. } => {
                    self.load(key, layout, (Bank::F, out.0), Index::Field(index));
                }
                I::LoadRecordI { out, index, .. } | I::LoadBoxI { out, index, .. } | I::CaptureI { out, index, .. } => {
                    self.load(key, layout, (Bank::I, out.0), Index::Field(index));
                }
                I::SetElementF { a, index, .. } => self.store(key, layout, (Bank::F, a.0), Index::Element(index, 0)),
                I::SetElementI { a, index, .. } => self.store(key, layout, (Bank::I, a.0), Index::Element(index, 0)),
                I::SetPartF { a, index, .. } => self.store(key, layout, (Bank::F, a.0), Index::Element(index, offset)),
                I::SetPartI { a, index, .. } => self.store(key, layout, (Bank::I, a.0), Index::Element(index, offset)),
                I::StoreRecordF { a, index, .. } | I::StoreBoxF { a, index, .. } => {
                    self.store(key, layout, (Bank::F, a.0), Index::Field(index));
                }
                I::StoreRecordI { a, index, .. } | I::StoreBoxI { a, index, .. } => {
                    self.store(key, layout, (Bank::I, a.0), Index::Field(index));
                }
                I::ElementR { out, index, .. } => {
                    self.share_component(at, key, layout, out.0, Index::Element(index, 0))
                }
                I::PartR { out, index, .. } => {
                    self.share_component(at, key, layout, out.0, Index::Element(index, offset));
                }
                I::LoadRecordR { out, index, .. } | I::LoadBoxR { out, index, .. } | I::CaptureR { out, index, .. } => {
                    self.share_component(at, key, layout, out.0, Index::Field(index));
                }
                _ => return false,
            }
            return true;
        }
        match *instruction {
            I::Share { out, a } => {
                let (base, offset) = self.reference(a.0);
                self.share(at, layout, out.0, base, offset);
            }
            I::Take { out, a } => self.take(at, layout, out.0, a.0),
            I::Clear { a } => self.clear(at, layout, a.0),
            I::TakePart { out, array, index } => {
                let function = self.helpers.take_element as *const () as usize;
                self.element_of_arrays_or_step(at, function, [out.0, array.0], (index, self.place(at)));
            }
            I::SetElementR { array, a, index } => {
                let function = self.helpers.set_element as *const () as usize;
                self.element_of_arrays_or_step(at, function, [array.0, a.0], (index, (0, 1)));
            }
            I::SetPartR { array, a, index } => {
                let function = self.helpers.set_element as *const () as usize;
                self.element_of_arrays_or_step(at, function, [array.0, a.0], (index, self.place(at)));
            }
            I::NewClosure { out, site } => {
                let site = &self.code.closures[usize::from(site)];
                let [numbers, integers, _] = site.captures;
                if self.code.is_derivative && numbers > 0 || usize::from(numbers + integers) > PASSED {
                    return false;
                }
                self.pass_window(numbers, site.captures);
                let context = self.builder.ins().get_pinned_reg(types::I64);
                let given = [
                    context,
                    self.register_address(out.0),
                    self.register_address(self.code.registers[2]),
                    self.constant(std::ptr::from_ref(site).addr() as i64),
                ];
                self.call_or_step(at, self.helpers.new_closure as *const () as usize, &given);
            }
            I::NewArray { out } if !self.is_derivative => {
                let context = self.builder.ins().get_pinned_reg(types::I64);
                let given = [context, self.register_address(out.0)];
                self.call_or_step(at, self.helpers.new_array_if_empty as *const () as usize, &given);
            }
            I::LoadText { out, k } => {
                let text = std::ptr::from_ref(&self.code.texts[usize::from(k)]).addr();
                let given = [self.register_address(out.0), self.constant(text as i64)];
                self.call_or_step(at, self.helpers.load_text as *const () as usize, &given);
            }
            I::AppendText { text, a } => {
                let given = [text.0, a.0].map(|register| self.register_address(register));
                self.call_or_step(at, self.helpers.append_text as *const () as usize, &given);
            }
            I::Native { site } => return self.native(at, &self.code.natives[usize::from(site)]),
            I::Operate { site } => return self.operator(at, &self.code.operators[usize::from(site)]),
            I::AppendR { array, a } => {
                let given = [array.0, a.0].map(|register| self.register_address(register));
                self.call_or_step(at, self.helpers.append_reference as *const () as usize, &given);
            }
            I::LoadGlobalF { out, index } if index.0 < self.globals[0] => {
                let globals = self.load_context(types::I64, offsets::GLOBALS);
                let value = self.builder.ins().load(types::F64, FLAGS, globals, 8 * index.0 as i32);
                self.set((Bank::F, out.0), value);
            }
            I::LoadGlobalI { out, index } if index.0 < self.globals[1] => {
                let globals = self.load_context(types::I64, offsets::GLOBALS + 8);
                let value = self.builder.ins().load(types::I64, FLAGS, globals, 8 * index.0 as i32);
                self.set((Bank::I, out.0), value);
            }
            I::LoadGlobalR { out, index } if index.0 < self.globals[2] => {
                let globals = self.load_context(types::I64, offsets::GLOBALS + 16);
                self.share(at, layout, out.0, globals, index.0 as i32 * layout.reference);
            }
            I::StoreGlobalF { a, index } if index.0 < self.globals[0] => {
                let slots = self.load_context(types::I64, offsets::GLOBAL_SLOTS);
                self.leave_if(slots);
                let value = self.f(a.0);
                let globals = self.load_context(types::I64, offsets::GLOBALS);
                self.builder.ins().store(FLAGS, value, globals, 8 * index.0 as i32);
            }
            I::StoreGlobalI { a, index } if index.0 < self.globals[1] => {
                let value = self.i(a.0);
                let globals = self.load_context(types::I64, offsets::GLOBALS + 8);
                self.builder.ins().store(FLAGS, value, globals, 8 * index.0 as i32);
            }
            I::AppendF { array, a } => {
                let value = self.f(a.0);
                self.append(array.0, value, self.helpers.append_number as *const () as usize);
            }
            I::AppendI { array, a } => {
                let value = self.i(a.0);
                self.append(array.0, value, self.helpers.append_integer as *const () as usize);
            }
            I::CheckAccess { .. } | I::CheckGlobalAccess { .. } => {
                let modifications = self.load_context(types::I64, offsets::MODIFICATIONS);
                let (rare, usual) = (self.builder.create_block(), self.builder.create_block());
                self.builder.set_cold_block(rare);
                self.builder.ins().brif(modifications, rare, &[], usual, &[]);
                self.continue_in(rare);
                self.rare_step(at, usual);
                self.continue_in(usual);
            }
            _ => return false,
        }
        true
    }

    /// Appends an element to an array by a function of the machine.
    fn append(&mut self, array: u16, value: Value, function: usize) {
        let (base, offset) = self.reference(array);
        let array = self.builder.ins().iadd_imm_s(base, i64::from(offset));
        let succeeded = self.call_address(function, &[array, value], types::I64);
        self.leave_unless(succeeded);
    }

    /// Leaves unless an index is in a range.
    fn check_range(&mut self, index: Value, count: Value) {
        if self.in_range[self.at] {
            return;
        }
        // A check of the same values on the way to this point holds here, too.
        if self.checked.contains(&(index, count)) {
            return;
        }
        self.checked.push((index, count));
        // As an unsigned number, a negative index is larger than any count.
        let is_outside = self.builder.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, index, count);
        self.leave_if(is_outside);
    }

    /// Returns the address of a component, after the check that it exists, and that it may be modified if it is.
    pub(super) fn address(&mut self, key: Key, layout: &Layout, index: Index) -> (Value, i32) {
        let view = self.view(key, layout);
        let Shown::Components(bank, stride) = key.shown else { return (view.address, 0) };
        let size = if bank == Bank::R { layout.reference } else { 8 };
        match index {
            Index::Field(index) => {
                let number = self.constant(i64::from(index.0));
                self.check_range(number, view.count);
                (view.address, size * i32::from(index.0))
            }
            Index::Element(register, offset) => {
                let number = self.i(register.0);
                self.check_range(number, view.count);
                let bytes = i64::from(size) * i64::from(stride.max(1));
                let distance = match bytes {
                    8 => self.builder.ins().ishl_imm_u(number, 3),
                    _ => {
                        let bytes = self.constant(bytes);
                        self.builder.ins().imul(number, bytes)
                    }
                };
                (self.builder.ins().iadd(view.address, distance), size * i32::from(offset))
            }
        }
    }

    fn load(&mut self, key: Key, layout: &Layout, out: (Bank, u16), index: Index) {
        let (base, offset) = self.address(key, layout, index);
        let value = self.builder.ins().load(kind_of(out.0), FLAGS, base, offset);
        self.set(out, value);
    }

    fn store(&mut self, key: Key, layout: &Layout, a: (Bank, u16), index: Index) {
        if self.code.is_derivative && a.0 == Bank::F {
            self.store_varied(key, (a.1, false), index);
            return;
        }
        let (base, offset) = self.address(key, layout, index);
        let value = self.get(a);
        self.builder.ins().store(FLAGS, value, base, offset);
    }

    fn share_component(&mut self, at: usize, key: Key, layout: &Layout, out: u16, index: Index) {
        let (base, offset) = self.address(key, layout, index);
        self.share(at, layout, out, base, offset);
    }

    /// Moves a reference out of an element or into one by a function of the machine, or by the interpreter in rare cases.
    fn element_of_arrays_or_step(
        &mut self,
        at: usize,
        function: usize,
        registers: [u16; 2],
        (index, place): (IIn, (u16, u16)),
    ) {
        let (index, place) = (self.i(index.0), self.packed(place));
        let [first, second] = registers.map(|register| self.register_address(register));
        self.call_or_step(at, function, &[first, second, index, place]);
    }

    /// Calls a function of the machine; the interpreter executes the instruction if the function returns that it has done
    /// nothing.
    fn call_or_step(&mut self, at: usize, function: usize, arguments: &[Value]) {
        let succeeded = self.call_address(function, arguments, types::I64);
        let [rare, next] = [(); 2].map(|()| self.builder.create_block());
        self.builder.set_cold_block(rare);
        self.builder.ins().brif(succeeded, next, &[], rare, &[]);
        self.continue_in(rare);
        self.rare_step(at, next);
        self.continue_in(next);
    }

    /// Executes the current instruction, which changes no number or integer, by the interpreter, without an effect on
    /// machine registers, and continues in another block.
    fn rare_step(&mut self, at: usize, next: cranelift_codegen::ir::Block) {
        if self.is_derivative {
            self.leave_before(at);
            return;
        }
        let status = self.perform_rare_step(at);
        self.leave_if_stopped(at, status);
        self.builder.ins().jump(next, &[]);
    }

    /// Copies a reference to a register. The interpreter does so if an object must be dropped, or is unusual.
    fn share(&mut self, at: usize, layout: &Layout, out: u16, base: Value, offset: i32) {
        let rare = self.builder.create_block();
        self.builder.set_cold_block(rare);
        let next = self.builder.create_block();
        if !self.writes_to_empty() {
            self.require_null(layout, out, rare);
        }
        let tag = self.builder.ins().load(types::I8, FLAGS, base, offset + layout.tag);
        let [copied, uncounted, filled, text, counted] = [(); 5].map(|()| self.builder.create_block());
        self.builder.append_block_param(counted, types::I64);
        let is_counted = self.is_counted(layout, tag);
        let object = self.builder.ins().load(types::I64, FLAGS, base, offset + layout.object);
        self.builder.ins().brif(is_counted, counted, &[object.into()], uncounted, &[]);
        self.continue_in(uncounted);
        let is_null = self.builder.ins().icmp_imm_u(IntCC::Equal, tag, i64::from(layout.tags.null));
        self.builder.ins().brif(is_null, copied, &[], filled, &[]);
        self.continue_in(filled);
        let is_text = self.builder.ins().icmp_imm_u(IntCC::Equal, tag, i64::from(layout.tags.text));
        self.builder.ins().brif(is_text, text, &[], rare, &[]);
        self.continue_in(text);
        let growing = self.builder.ins().load(types::I64, FLAGS, base, offset + layout.growing_text);
        let object = self.builder.ins().select(object, object, growing);
        self.builder.ins().jump(counted, &[object.into()]);
        self.continue_in(counted);
        let object = self.builder.block_params(counted)[0];
        let owners = self.builder.ins().load(types::I64, FLAGS, object, layout.owners);
        let owners = self.builder.ins().iadd_imm_s(owners, 1);
        self.builder.ins().store(FLAGS, owners, object, layout.owners);
        self.builder.ins().jump(copied, &[]);
        self.continue_in(copied);
        self.copy_words(layout, out, base, offset);
        self.builder.ins().jump(next, &[]);
        self.continue_in(rare);
        if self.is_derivative {
            self.replace_by(self.rare.share, out, (base, offset), next);
        } else {
            self.rare_step(at, next);
        }
        self.continue_in(next);
    }

    /// Whether the object of a reference begins with the number of its owners.
    fn is_counted(&mut self, layout: &Layout, tag: Value) -> Value {
        let tag = self.builder.ins().uextend(types::I64, tag);
        let all = self.constant(layout.tags.counted.cast_signed());
        let bits = self.builder.ins().ushr(all, tag);
        self.builder.ins().band_imm_s(bits, 1)
    }

    /// Continues only if a register of references is empty.
    fn require_null(&mut self, layout: &Layout, register: u16, otherwise: cranelift_codegen::ir::Block) {
        let (base, offset) = self.reference(register);
        let tag = self.builder.ins().load(types::I8, FLAGS, base, offset + layout.tag);
        let is_null = self.builder.ins().icmp_imm_u(IntCC::Equal, tag, i64::from(layout.tags.null));
        let next = self.builder.create_block();
        self.builder.ins().brif(is_null, next, &[], otherwise, &[]);
        self.continue_in(next);
    }

    fn copy_words(&mut self, layout: &Layout, out: u16, base: Value, offset: i32) {
        let (to, at) = self.reference(out);
        for word in (0..layout.reference).step_by(8) {
            let value = self.builder.ins().load(types::I64, FLAGS, base, offset + word);
            self.builder.ins().store(FLAGS, value, to, at + word);
        }
    }

    /// Moves a reference to an empty register.
    fn move_words(&mut self, layout: &Layout, out: u16, a: u16) {
        let (base, offset) = self.reference(a);
        self.copy_words(layout, out, base, offset);
        self.set_null(layout, a);
    }

    /// Whether the current instruction writes a reference to a register that is empty.
    fn writes_to_empty(&self) -> bool {
        self.writes_to_empty.get(self.at).is_some_and(|is_empty| *is_empty)
    }

    fn set_null(&mut self, layout: &Layout, register: u16) {
        let (base, offset) = self.reference(register);
        let null = self.builder.ins().iconst(types::I8, i64::from(layout.tags.null));
        self.builder.ins().store(FLAGS, null, base, offset + layout.tag);
    }

    pub(super) fn take(&mut self, at: usize, layout: &Layout, out: u16, a: u16) {
        if out == a {
            return;
        }
        if self.writes_to_empty() {
            self.move_words(layout, out, a);
            return;
        }
        let rare = self.builder.create_block();
        self.builder.set_cold_block(rare);
        let next = self.builder.create_block();
        if self.is_derivative {
            self.require_null(layout, out, rare);
        } else {
            let (empty, filled) = (self.builder.create_block(), self.builder.create_block());
            self.builder.set_cold_block(filled);
            self.require_null(layout, out, filled);
            self.builder.ins().jump(empty, &[]);
            self.continue_in(filled);
            self.drop_reference(out, empty, rare);
            self.continue_in(empty);
        }
        let (base, offset) = self.reference(a);
        self.move_words(layout, out, a);
        self.builder.ins().jump(next, &[]);
        self.continue_in(rare);
        if self.is_derivative {
            self.replace_by(self.rare.take, out, (base, offset), next);
        } else {
            self.rare_step(at, next);
        }
        self.continue_in(next);
    }

    /// Drops the reference in a register, and continues in one of two blocks, depending on whether finalizers are pending.
    fn drop_reference(
        &mut self,
        register: u16,
        done: cranelift_codegen::ir::Block,
        pending: cranelift_codegen::ir::Block,
    ) {
        let address = self.register_address(register);
        let is_pending = self.call_rare(self.rare.drop, [address, address]);
        self.builder.ins().brif(is_pending, pending, &[], done, &[]);
    }

    /// Drops the reference in a register. The interpreter runs finalizers.
    pub(super) fn clear(&mut self, at: usize, layout: &Layout, a: u16) {
        let (base, offset) = self.reference(a);
        let (next, filled) = (self.builder.create_block(), self.builder.create_block());
        let tag = self.builder.ins().load(types::I8, FLAGS, base, offset + layout.tag);
        let is_null = self.builder.ins().icmp_imm_u(IntCC::Equal, tag, i64::from(layout.tags.null));
        self.builder.ins().brif(is_null, next, &[], filled, &[]);
        self.continue_in(filled);
        if self.is_reused(at, a) {
            self.unless_reusable(layout, (base, offset), tag, next);
        }
        let (rare, counted) = (self.builder.create_block(), self.builder.create_block());
        self.builder.set_cold_block(rare);
        let is_counted = self.is_counted(layout, tag);
        self.builder.ins().brif(is_counted, counted, &[], rare, &[]);
        self.continue_in(counted);
        let object = self.builder.ins().load(types::I64, FLAGS, base, offset + layout.object);
        let owners = self.builder.ins().load(types::I64, FLAGS, object, layout.owners);
        let is_shared = self.builder.ins().icmp_imm_s(IntCC::UnsignedGreaterThan, owners, 1);
        let shared = self.builder.create_block();
        self.builder.ins().brif(is_shared, shared, &[], rare, &[]);
        self.continue_in(shared);
        let owners = self.builder.ins().iadd_imm_s(owners, -1);
        self.builder.ins().store(FLAGS, owners, object, layout.owners);
        self.set_null(layout, a);
        self.builder.ins().jump(next, &[]);
        self.continue_in(rare);
        if self.is_derivative {
            // An object without components begins with the tag of the null reference.
            let null = self.constant(layout.nothing as i64);
            self.replace_by(self.rare.share, a, (null, 0), next);
        } else {
            let pending = self.builder.create_block();
            self.builder.set_cold_block(pending);
            self.drop_reference(a, next, pending);
            self.continue_in(pending);
            self.rare_step(at, next);
        }
        self.continue_in(next);
    }

    /// Ends a function that may hold references: drops those that are not results. Returns the status.
    pub(super) fn finish(&mut self, moved: i64, written: &[u16]) -> Value {
        let kept = self.code.results[2];
        let call = |translator: &mut Self| {
            let kept = translator.constant(i64::from(kept));
            let end = translator.constant(translator.code.frame()[2] as i64);
            let from = translator.constant(moved);
            let finish = translator.helpers.finish as *const () as usize;
            translator.call_address(finish, &[translator.references, kept, end, from], types::I64)
        };
        let Some(layout) = self.layout.filter(|layout| layout.tags.null == 0) else { return call(self) };
        let status = self.builder.create_block();
        self.builder.append_block_param(status, types::I64);
        let mut tags = None;
        let moved_from = u16::try_from(moved).ok();
        for register in written.iter().filter(|register| **register >= kept && Some(**register) != moved_from) {
            let (base, offset) = self.reference(*register);
            let tag = self.builder.ins().load(types::I8, FLAGS, base, offset + layout.tag);
            tags = Some(tags.map_or(tag, |others| self.builder.ins().bor(others, tag)));
        }
        let (filled, empty) = (self.builder.create_block(), self.builder.create_block());
        if let Some(from) = moved_from.filter(|from| *from != 0) {
            // The result replaces the content of the first register, which is dropped.
            let (base, offset) = self.reference(0);
            let tag = self.builder.ins().load(types::I8, FLAGS, base, offset + layout.tag);
            let tags = tags.map_or(tag, |others| self.builder.ins().bor(others, tag));
            self.builder.ins().brif(tags, filled, &[], empty, &[]);
            self.continue_in(empty);
            let (base, offset) = self.reference(from);
            self.copy_words(layout, 0, base, offset);
            self.set_null(layout, from);
        } else if let Some(tags) = tags {
            self.builder.ins().brif(tags, filled, &[], empty, &[]);
            self.continue_in(empty);
        } else {
            self.builder.ins().jump(empty, &[]);
            self.continue_in(empty);
        }
        let returned = self.constant(super::super::RETURNED);
        self.builder.ins().jump(status, &[returned.into()]);
        self.continue_in(filled);
        let result = call(self);
        self.builder.ins().jump(status, &[result.into()]);
        self.continue_in(status);
        self.builder.block_params(status)[0]
    }
}
