//! Local arrays: the arrays that tangent and adjoint code makes and modifies.

use super::super::context::offsets;
use super::super::layout::Layout;
use super::super::own_numbers::OwnNumbers;
use super::super::rare::RareFunction;
use super::{FLAGS, Translator};
use crate::bytecode::Instruction;
use crate::bytecode::operand::{FIn, IIn, Role};
use crate::value::Bank;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use cranelift_frontend::Variable;
use hashbrown::HashMap;
use std::ops::RangeInclusive;
use std::rc::Rc;

/// The largest number of zeros by which machine code extends an array of adjoints itself.
const MAX_ZEROS: i64 = 64;

/// The arrays whose numbers are known at the current point, so that they are not looked up again. Where the numbers of
/// an array change, its variables change, too.
#[derive(Default)]
pub(super) struct KnownArrays {
    /// The variables for the fields of [`OwnNumbers`], by register.
    variables: HashMap<u16, [Variable; OwnNumbers::FIELDS]>,
    /// The registers for which the variables are valid.
    valid: Vec<u16>,
    /// The registers for which they are valid everywhere in a loop.
    in_loops: Vec<(RangeInclusive<usize>, Vec<u16>)>,
}

/// Returns the array whose numbers an instruction modifies in place, if it does.
fn modified_in_place(instruction: &Instruction) -> Option<u16> {
    use Instruction as I;
    match *instruction {
        I::AppendF { array, .. }
        | I::SetElementF { array, .. }
        | I::SetPartF { array, .. }
        | I::Accumulate { array, .. }
        | I::TakeAdjoint { array, .. } => Some(array.0),
        _ => None,
    }
}

/// Whether the numbers of the array in a register stay known when an instruction is executed.
fn keeps(instruction: &Instruction, register: u16) -> bool {
    use Instruction as I;
    let is_access = matches!(
        instruction,
        I::ElementF { .. }
            | I::ReadAdjoint { .. }
            | I::PartF { .. }
            | I::ElementI { .. }
            | I::PartI { .. }
            | I::Count { .. }
            | I::CheckIndex { .. }
    );
    if is_access || modified_in_place(instruction).is_some() {
        return true;
    }
    let mut is_named = false;
    instruction.visit(&mut |field| {
        is_named |= matches!(field.role, Role::Register(Bank::R, _)) && field.number == i64::from(register);
    });
    !is_named
}

impl Translator<'_, '_> {
    /// Forgets the arrays that an instruction replaces or shares.
    pub(super) fn forget_arrays(&mut self, at: usize) {
        let mut valid = std::mem::take(&mut self.known_arrays.valid);
        valid.retain(|register| self.keeps_array(at, *register));
        self.known_arrays.valid = valid;
    }

    /// Whether the numbers of the array in a register stay known when the instruction at an index is executed, or become known.
    fn keeps_array(&self, at: usize, register: u16) -> bool {
        let instruction = &self.code.instructions[at];
        keeps(instruction, register) || self.is_made_again(at, register)
    }

    /// Sets the arrays that are known at the beginning of a block: those of the loops around it.
    pub(super) fn restore_arrays(&mut self, at: usize) {
        let KnownArrays { valid, in_loops, .. } = &mut self.known_arrays;
        valid.clear();
        in_loops.iter().filter(|(around, _)| around.contains(&at)).for_each(|(_, registers)| valid.extend(registers));
    }

    /// Looks up the arrays that a loop modifies and never replaces, in the block before the loop.
    pub(super) fn hoist_arrays(&mut self, around: &RangeInclusive<usize>) {
        let (Some(layout), true) = (self.layout, self.is_derivative) else { return };
        let steps = &self.code.instructions[around.clone()];
        let mut found: Vec<u16> = steps.iter().filter_map(modified_in_place).collect();
        found.sort_unstable();
        found.dedup();
        found.retain(|register| around.clone().all(|at| self.keeps_array(at, *register)));
        for register in &found {
            self.own_numbers(layout, *register);
        }
        self.known_arrays.in_loops.push((around.clone(), found));
    }

    /// Returns the numbers of an array that may be modified in place.
    fn own_numbers(&mut self, layout: &Layout, register: u16) -> OwnNumbers {
        if let Some(known) = self.known_numbers(register) {
            return known;
        }
        let at = self.reference(register);
        let found = OwnNumbers::look_up(self.builder, layout, at);
        self.know(register, found);
        found
    }

    /// Returns the numbers of an array if they are known.
    pub(super) fn known_numbers(&mut self, register: u16) -> Option<OwnNumbers> {
        if !self.known_arrays.valid.contains(&register) {
            return None;
        }
        let variables = self.known_arrays.variables.get(&register)?;
        Some(OwnNumbers::of(variables.map(|variable| self.builder.use_var(variable))))
    }

    pub(super) fn know(&mut self, register: u16, numbers: OwnNumbers) {
        let builder = &mut *self.builder;
        let declare = || [(); OwnNumbers::FIELDS].map(|()| builder.declare_var(types::I64));
        let variables = *self.known_arrays.variables.entry(register).or_insert_with(declare);
        for (variable, value) in variables.into_iter().zip(numbers.fields()) {
            self.builder.def_var(variable, value);
        }
        if !self.known_arrays.valid.contains(&register) {
            self.known_arrays.valid.push(register);
        }
    }

    /// Translates an instruction that makes or modifies an array; returns whether it is one.
    pub(super) fn local_array(&mut self, instruction: &Instruction, at: usize) -> bool {
        use Instruction as I;
        let Some(layout) = self.layout else { return false };
        if self.adjoint_element(layout, instruction, at) {
            return true;
        }
        let helpers = self.helpers;
        match *instruction {
            I::NewArray { out } if self.is_reused(at, out.0) => self.make_again(layout, out.0),
            I::NewArray { out } => self.new_array(out.0),
            I::LoadArray { out, k } => {
                let out = self.register_address(out.0);
                let constants = Rc::as_ptr(&self.code.arrays[usize::from(k)]).addr();
                let constants = self.constant(constants as i64);
                self.call_address(helpers.load_array as *const () as usize, &[out, constants], types::I64);
            }
            I::AppendF { array, a } => self.append_number(layout, array.0, a),
            I::Append { array, parts } => self.append_element(array.0, self.code.parts[usize::from(parts)]),
            I::SetElementF { array, a, index } => self.set_number(layout, array.0, index, a, (0, 1)),
            I::SetPartF { array, a, index } => self.set_number(layout, array.0, index, a, self.place(at)),
            I::SetElementI { array, a, index } => self.set_integer(array.0, index, a, (0, 1)),
            I::SetPartI { array, a, index } => self.set_integer(array.0, index, a, self.place(at)),
            I::Accumulate { array, a, index } => self.accumulate(layout, array.0, index, a, self.place(at)),
            I::TakeAdjoint { out, array, index } => {
                let value = self.take_adjoint(layout, array.0, index, self.place(at));
                self.set((Bank::F, out.0), value);
            }
            I::ReadAdjoint { out, array, index } => {
                let value = self.read_adjoint(layout, array.0, index, self.place(at));
                self.set((Bank::F, out.0), value);
            }
            I::AppendR { array, a } => {
                let given = [self.register_address(array.0), self.register_address(a.0)];
                self.require(helpers.append_reference as *const () as usize, &given);
            }
            I::TakePart { out, array, index } => {
                self.element_of_arrays(
                    helpers.take_reference as *const () as usize,
                    [out.0, array.0],
                    index,
                    self.place(at),
                );
            }
            I::SetElementR { array, a, index } => {
                self.element_of_arrays(helpers.set_reference as *const () as usize, [array.0, a.0], index, (0, 1));
            }
            I::SetPartR { array, a, index } => {
                self.element_of_arrays(
                    helpers.set_reference as *const () as usize,
                    [array.0, a.0],
                    index,
                    self.place(at),
                );
            }
            I::TakeAdjointR { out, array, index } => {
                let helper = helpers.take_adjoint_array as *const () as usize;
                self.element_of_arrays(helper, [out.0, array.0], index, self.place(at));
            }
            I::AccumulateR { array, from, index } => {
                let (index, place) = (self.i(index.0), self.packed(self.place(at)));
                let context = self.builder.ins().get_pinned_reg(types::I64);
                let given = [context, self.register_address(array.0), self.register_address(from.0), index, place];
                self.require(helpers.accumulate_array as *const () as usize, &given);
            }
            I::AddArray { array, from } | I::AddNodes { array, from } => {
                let is_of_nodes = matches!(instruction, I::AddNodes { .. });
                let helper = if is_of_nodes { helpers.add_nodes } else { helpers.add_array };
                let context = self.builder.ins().get_pinned_reg(types::I64);
                let given = [context, self.register_address(array.0), self.register_address(from.0)];
                self.store_tape();
                self.require(helper as *const () as usize, &given);
                self.load_tape();
            }
            _ => return false,
        }
        true
    }

    pub(super) fn new_array(&mut self, out: u16) {
        let context = self.builder.ins().get_pinned_reg(types::I64);
        let out = self.register_address(out);
        self.call_address(self.helpers.new_array as *const () as usize, &[context, out], types::I64);
    }

    /// Calls a function of the machine that accesses an element of an array of arrays.
    fn element_of_arrays(&mut self, function: usize, registers: [u16; 2], index: IIn, place: (u16, u16)) {
        let (index, place) = (self.i(index.0), self.packed(place));
        let [first, second] = registers.map(|register| self.register_address(register));
        self.require(function, &[first, second, index, place]);
    }

    /// Returns the offset and the stride of a component as one integer.
    pub(super) fn packed(&mut self, (offset, stride): (u16, u16)) -> Value {
        self.constant(i64::from(stride) << 16 | i64::from(offset))
    }

    /// Calls a function of the machine, and leaves if it did not succeed.
    fn require(&mut self, function: usize, arguments: &[Value]) {
        let succeeded = self.call_address(function, arguments, types::I64);
        self.leave_unless(succeeded);
    }

    /// Returns the address of a register of references.
    pub(super) fn register_address(&mut self, register: u16) -> Value {
        let (base, offset) = self.reference(register);
        self.builder.ins().iadd_imm_s(base, i64::from(offset))
    }

    /// Returns the offset and the stride of the component that an instruction accesses.
    pub(super) fn place(&self, at: usize) -> (u16, u16) {
        match self.code.instructions.get(at + 1) {
            Some(Instruction::Element { offset, stride }) => (offset.0, stride.0),
            _ => (0, 1),
        }
    }

    /// Returns the number of a component among the components of its bank.
    pub(super) fn position_of(&mut self, index: IIn, (offset, stride): (u16, u16)) -> Value {
        let index = self.i(index.0);
        let first = if stride == 1 { index } else { self.builder.ins().imul_imm_s(index, i64::from(stride)) };
        if offset == 0 { first } else { self.builder.ins().iadd_imm_s(first, i64::from(offset)) }
    }

    /// Returns the address of a number.
    fn address_of(&mut self, numbers: &OwnNumbers, position: Value) -> Value {
        let distance = self.builder.ins().ishl_imm_u(position, 3);
        self.builder.ins().iadd(numbers.first, distance)
    }

    /// Calls a function for rare cases with the array in a register, a position and a number, unless a condition holds;
    /// continues in the block for the usual case. Returns the block that follows both cases.
    fn unless_usual(
        &mut self,
        is_usual: Value,
        function: RareFunction,
        (array, position): (u16, Value),
        value: Value,
    ) -> cranelift_codegen::ir::Block {
        let [usual, rare, next] = [(); 3].map(|()| self.builder.create_block());
        self.builder.set_cold_block(rare);
        self.builder.ins().brif(is_usual, usual, &[], rare, &[]);
        self.continue_in(rare);
        self.store_context(value, offsets::PASSED);
        let address = self.register_address(array);
        let succeeded = self.call_rare(function, [address, position]);
        self.leave_unless(succeeded);
        self.set_cold();
        let context = self.builder.ins().get_pinned_reg(types::I64);
        let found = OwnNumbers::load(self.builder, context);
        self.know(array, found);
        self.builder.ins().jump(next, &[]);
        self.continue_in(usual);
        next
    }

    fn accumulate(&mut self, layout: &Layout, array: u16, index: IIn, a: FIn, place: (u16, u16)) {
        let position = self.position_of(index, place);
        let numbers = self.own_numbers(layout, array);
        let (existing, absent) = (self.builder.create_block(), self.builder.create_block());
        let exists = self.builder.ins().icmp(IntCC::UnsignedLessThan, position, numbers.count);
        self.builder.ins().brif(exists, existing, &[], absent, &[]);
        self.continue_in(absent);
        let more = self.f(a.0);
        let few = self.builder.ins().iadd_imm_s(numbers.count, MAX_ZEROS);
        let last = self.builder.ins().umin(numbers.room, few);
        let has_room = self.builder.ins().icmp(IntCC::UnsignedLessThan, position, last);
        let next = self.unless_usual(has_room, self.rare.accumulate, (array, position), more);
        self.extend_by_zeros(array, &numbers, position);
        self.add_to(&numbers, position, more);
        self.builder.ins().jump(next, &[]);
        self.continue_in(existing);
        self.add_to(&numbers, position, more);
        self.builder.ins().jump(next, &[]);
        self.continue_in(next);
    }

    /// Extends an array that has room by zeros, so that `position` is its last one.
    fn extend_by_zeros(&mut self, array: u16, numbers: &OwnNumbers, position: Value) {
        let [head, zero, filled] = [(); 3].map(|()| self.builder.create_block());
        let reached = self.builder.append_block_param(head, types::I64);
        self.builder.ins().jump(head, &[numbers.count.into()]);
        self.builder.switch_to_block(head);
        let is_after = self.builder.ins().icmp(IntCC::UnsignedGreaterThan, reached, position);
        self.builder.ins().brif(is_after, filled, &[], zero, &[]);
        self.continue_in(zero);
        let (at, nothing) = (self.address_of(numbers, reached), self.builder.ins().f64const(0.0));
        self.builder.ins().store(FLAGS, nothing, at, 0);
        let following = self.builder.ins().iadd_imm_s(reached, 1);
        self.builder.ins().jump(head, &[following.into()]);
        self.builder.seal_block(head);
        self.continue_in(filled);
        let count = self.builder.ins().iadd_imm_s(position, 1);
        self.builder.ins().store(FLAGS, count, numbers.counter, 0);
        self.know(array, OwnNumbers { count, ..*numbers });
    }

    /// Adds to a number of an array.
    pub(super) fn add_to(&mut self, numbers: &OwnNumbers, position: Value, more: Value) {
        let at = self.address_of(numbers, position);
        let old = self.builder.ins().load(types::F64, FLAGS, at, 0);
        let sum = self.builder.ins().fadd(old, more);
        self.builder.ins().store(FLAGS, sum, at, 0);
    }

    /// Moves a number out of an array of adjoints, of which this code is the only owner. The last number is removed.
    fn take_adjoint(&mut self, layout: &Layout, array: u16, index: IIn, place: (u16, u16)) -> Value {
        let position = self.position_of(index, place);
        let numbers = self.own_numbers(layout, array);
        let [some, last, inner, next] = [(); 4].map(|()| self.builder.create_block());
        let taken = self.builder.append_block_param(next, types::F64);
        let exists = self.builder.ins().icmp(IntCC::UnsignedLessThan, position, numbers.count);
        let zero = self.builder.ins().f64const(0.0);
        self.builder.ins().brif(exists, some, &[], next, &[zero.into()]);
        self.continue_in(some);
        let at = self.address_of(&numbers, position);
        let value = self.builder.ins().load(types::F64, FLAGS, at, 0);
        let fewer = self.builder.ins().iadd_imm_s(numbers.count, -1);
        let is_last = self.builder.ins().icmp(IntCC::Equal, position, fewer);
        self.builder.ins().brif(is_last, last, &[], inner, &[]);
        self.continue_in(last);
        self.builder.ins().store(FLAGS, fewer, numbers.counter, 0);
        self.know(array, OwnNumbers { count: fewer, ..numbers });
        self.builder.ins().jump(next, &[value.into()]);
        self.continue_in(inner);
        self.builder.ins().store(FLAGS, zero, at, 0);
        self.builder.ins().jump(next, &[value.into()]);
        self.continue_in(next);
        taken
    }

    /// Reads a number of an array of adjoints.
    fn read_adjoint(&mut self, layout: &Layout, array: u16, index: IIn, place: (u16, u16)) -> Value {
        let position = self.position_of(index, place);
        let numbers = self.own_numbers(layout, array);
        let exists = self.builder.ins().icmp(IntCC::UnsignedLessThan, position, numbers.count);
        let at = self.address_of(&numbers, position);
        let zero = self.constant(layout.nothing as i64);
        let at = self.builder.ins().select(exists, at, zero);
        self.builder.ins().load(types::F64, FLAGS, at, 0)
    }

    fn append_number(&mut self, layout: &Layout, array: u16, a: FIn) {
        let numbers = self.own_numbers(layout, array);
        let has_room = self.builder.ins().icmp(IntCC::UnsignedLessThan, numbers.count, numbers.room);
        let (value, position) = (self.f(a.0), self.constant(0));
        let next = self.unless_usual(has_room, self.rare.append_number, (array, position), value);
        let at = self.address_of(&numbers, numbers.count);
        self.builder.ins().store(FLAGS, value, at, 0);
        let more = self.builder.ins().iadd_imm_s(numbers.count, 1);
        self.builder.ins().store(FLAGS, more, numbers.counter, 0);
        self.know(array, OwnNumbers { count: more, ..numbers });
        let elements = layout.cells + layout.elements;
        let count = self.builder.ins().load(types::I64, FLAGS, numbers.object, elements);
        let more = self.builder.ins().iadd_imm_s(count, 1);
        self.builder.ins().store(FLAGS, more, numbers.object, elements);
        self.builder.ins().jump(next, &[]);
        self.continue_in(next);
    }

    fn append_element(&mut self, array: u16, counts: [u16; 3]) {
        let own = self.code.registers;
        let numbers = (0..counts[0]).map(|k| (Bank::F, own[0] + k));
        let passed: Vec<_> = numbers.chain((0..counts[1]).map(|k| (Bank::I, own[1] + k))).collect();
        for (k, register) in passed.into_iter().enumerate() {
            let value = self.get(register);
            self.store_context(value, offsets::PASSED + 8 * k as i32);
        }
        let context = self.builder.ins().get_pinned_reg(types::I64);
        let (array, references) = (self.register_address(array), self.register_address(own[2]));
        let packed = counts.iter().rev().fold(0, |packed, count| packed << 16 | i64::from(*count));
        let packed = self.constant(packed);
        self.require(self.helpers.append_element as *const () as usize, &[context, array, references, packed]);
    }

    fn set_number(&mut self, layout: &Layout, array: u16, index: IIn, a: FIn, place: (u16, u16)) {
        let mut position = self.position_of(index, place);
        let numbers = self.own_numbers(layout, array);
        if place.1 != 1 {
            // The position of a large index has overflowed.
            let (index, outside) = (self.i(index.0), self.constant(-1));
            let is_large = self.builder.ins().icmp_imm_u(IntCC::UnsignedGreaterThan, index, i64::from(u32::MAX));
            position = self.builder.ins().select(is_large, outside, position);
        }
        let exists = self.builder.ins().icmp(IntCC::UnsignedLessThan, position, numbers.count);
        let value = self.f(a.0);
        let next = self.unless_usual(exists, self.rare.set_number, (array, position), value);
        let at = self.address_of(&numbers, position);
        self.builder.ins().store(FLAGS, value, at, 0);
        self.builder.ins().jump(next, &[]);
        self.continue_in(next);
    }

    fn set_integer(&mut self, array: u16, index: IIn, a: IIn, place: (u16, u16)) {
        let (position, value) = (self.position_of(index, place), self.i(a.0));
        self.store_context(value, offsets::PASSED);
        let context = self.builder.ins().get_pinned_reg(types::I64);
        let array = self.register_address(array);
        self.require(self.helpers.set_integer as *const () as usize, &[context, array, position]);
    }
}
