//! Derivatives: the instructions of tangent, adjoint and linearization code, which runs without sites and is restarted elsewhere when an
//! operation fails.

use super::super::RETURNED;
use super::super::context::offsets;
use super::super::rare::RareFunction;
use super::super::shims;
use super::objects::Index;
use super::views::key;
use super::{FLAGS, Translator, kind_of};
use crate::bytecode::operand::{IIn, Prim};
use crate::bytecode::{Instruction, primitive};
use crate::native::Partial;
use crate::value::Bank;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, MemFlagsData, Value, types};

/// The smallest normal number: a smaller one is subnormal, or zero.
const SMALLEST_NORMAL: f64 = f64::MIN_POSITIVE;

impl Translator<'_, '_> {
    /// Translates an instruction that occurs in tangent and adjoint code only.
    pub(super) fn derivative(&mut self, at: usize, instruction: &Instruction) {
        use Instruction as I;
        match *instruction {
            I::PartialF { out, a, y, p } => {
                let operands = [self.f(a.0), self.f(y.0)];
                self.partial(at, out.0, p, 0, &operands);
            }
            I::PartialLeftF { out, a, b, p } => {
                let operands = [self.f(a.0), self.f(b.0), self.f(self.extra(at))];
                self.partial(at, out.0, p, 0, &operands);
            }
            I::PartialRightF { out, a, b, p } => {
                let operands = [self.f(a.0), self.f(b.0), self.f(self.extra(at))];
                self.partial(at, out.0, p, 1, &operands);
            }
            I::PartialFI { out, a, n, p } => {
                let operands = [self.f(a.0), self.i(n.0), self.f(self.extra(at))];
                self.partial(at, out.0, p, 0, &operands);
            }
            I::AppendNode { out, node, a } => self.linear_node(out.0, &[(node.0, a.0)]),
            I::AppendNode2 { out, left, right } => match self.code.instructions.get(at + 1) {
                Some(I::Extras { c, d }) => self.linear_node(out.0, &[(left.0, c.0), (right.0, d.0)]),
                _ => {
                    self.leave_before(at);
                    self.is_ended = true;
                }
            },
            I::FlushF { a } => self.flush(a.0),
            I::PushF { a } => {
                let value = self.f(a.0);
                self.push(Bank::F, value);
            }
            I::PushI { a } => {
                let value = self.i(a.0);
                self.push(Bank::I, value);
            }
            I::PushKnown { value } => {
                let value = self.constant(i64::from(value.0));
                self.push(Bank::I, value);
            }
            I::PopF { out } => self.pop((Bank::F, out.0)),
            I::PopI { out } => self.pop((Bank::I, out.0)),
            I::AddElementF { a, index, .. } => self.add_to_component(at, a.0, index),
            I::AddPartF { a, index, .. } => self.add_to_component(at, a.0, index),
            _ => {
                self.leave_before(at);
                self.is_ended = true;
            }
        }
    }

    /// Computes a partial derivative of a primitive.
    fn partial(&mut self, at: usize, out: u16, p: Prim, operand: usize, operands: &[Value]) {
        let Some(Partial::Expression(expression)) = primitive(p.0).map(|primitive| primitive.partial(operand)) else {
            self.leave_before(at);
            self.is_ended = true;
            return;
        };
        let (shim, function) = shims::of_expression(expression);
        let function = self.constant(function as i64);
        let arguments: Vec<Value> = std::iter::once(function).chain(operands.iter().copied()).collect();
        let value = self.call_address(shim, &arguments, types::F64);
        self.set((Bank::F, out), value);
    }

    /// Sets a number to zero if it is subnormal. A number that is zero keeps its sign.
    fn flush(&mut self, a: u16) {
        let value = self.f(a);
        let bits = self.builder.ins().bitcast(types::I64, MemFlagsData::new(), value);
        // Without the sign; zero becomes the largest number.
        let magnitude = self.builder.ins().iadd(bits, bits);
        let below = self.builder.ins().iadd_imm_s(magnitude, -1);
        let smallest = self.constant(((SMALLEST_NORMAL.to_bits() << 1) - 1).cast_signed());
        let is_subnormal = self.builder.ins().icmp(IntCC::UnsignedLessThan, below, smallest);
        // The branch is predicted, so that the operations with the number need not wait for the comparison.
        let [subnormal, next] = [(); 2].map(|()| self.builder.create_block());
        self.builder.set_cold_block(subnormal);
        let flushed = self.builder.append_block_param(next, types::F64);
        self.builder.ins().brif(is_subnormal, subnormal, &[], next, &[value.into()]);
        self.continue_in(subnormal);
        let zero = self.builder.ins().f64const(0.0);
        self.builder.ins().jump(next, &[zero.into()]);
        self.continue_in(next);
        self.set((Bank::F, a), flushed);
    }

    /// Pushes a value onto the value stack, after allocating memory if necessary.
    fn push(&mut self, bank: Bank, value: Value) {
        let offset = 8 * bank as i32;
        let variable = self.tops[bank as usize];
        let top = self.builder.use_var(variable);
        let end = self.load_context(types::I64, offsets::ENDS + offset);
        let is_full = self.builder.ins().icmp(IntCC::Equal, top, end);
        let (full, ready) = (self.builder.create_block(), self.builder.create_block());
        self.builder.set_cold_block(full);
        self.builder.ins().brif(is_full, full, &[], ready, &[]);
        self.continue_in(full);
        for (k, variable) in self.tops.into_iter().enumerate() {
            let top = self.builder.use_var(variable);
            self.store_context(top, offsets::TOPS + 8 * k as i32);
        }
        let nothing = self.constant(0);
        let succeeded = self.call_rare(self.rare.grow, [nothing; 2]);
        self.leave_unless(succeeded);
        self.set_cold();
        self.load_tops();
        self.builder.ins().jump(ready, &[]);
        self.continue_in(ready);
        let top = self.builder.use_var(variable);
        self.builder.ins().store(FLAGS, value, top, 0);
        let top = self.builder.ins().iadd_imm_s(top, 8);
        self.builder.def_var(variable, top);
    }

    /// Reads the ends of the value stack.
    pub(super) fn load_tops(&mut self) {
        for (k, variable) in self.tops.into_iter().enumerate() {
            let top = self.load_context(types::I64, offsets::TOPS + 8 * k as i32);
            self.builder.def_var(variable, top);
        }
    }

    /// Pops the last value from the value stack; code whose value stack is empty is wrong, and fails.
    fn pop(&mut self, out: (Bank, u16)) {
        let variable = self.tops[out.0 as usize];
        let top = self.builder.use_var(variable);
        let bottom = self.load_context(types::I64, offsets::BOTTOMS + 8 * out.0 as i32);
        let is_empty = self.builder.ins().icmp(IntCC::Equal, top, bottom);
        self.leave_if(is_empty);
        let top = self.builder.ins().iadd_imm_s(top, -8);
        let value = self.builder.ins().load(kind_of(out.0), FLAGS, top, 0);
        self.builder.def_var(variable, top);
        self.set(out, value);
    }

    /// Adds a number to a component of an element.
    fn add_to_component(&mut self, at: usize, a: u16, index: IIn) {
        let (offset, _) = self.place(at);
        let (Some(layout), Some(key)) = (self.layout, key(self.code, at)) else {
            self.leave_before(at);
            self.is_ended = true;
            return;
        };
        let (base, offset) = self.address(key, layout, Index::Element(index, offset));
        let (old, more) = (self.builder.ins().load(types::F64, FLAGS, base, offset), self.f(a));
        let sum = self.builder.ins().fadd(old, more);
        self.builder.ins().store(FLAGS, sum, base, offset);
    }

    /// Reads the number of steps until the limits must be checked, which is positive when the code is entered.
    pub(super) fn load_fuel(&mut self) {
        let fuel = self.load_context(types::I64, offsets::FUEL);
        self.builder.def_var(self.fuel, fuel);
    }

    /// Stores the number of steps in the context. Between two loops it lies there, because the code generator would not find a
    /// register for it in the second one, if it needed many registers in between.
    pub(super) fn store_fuel(&mut self) {
        let fuel = self.builder.use_var(self.fuel);
        self.store_context(fuel, offsets::FUEL);
    }

    /// Counts a step, and checks the limits if they must be.
    pub(super) fn count_step(&mut self) {
        let fuel = self.builder.use_var(self.fuel);
        let left = self.builder.ins().iadd_imm_s(fuel, -1);
        self.builder.def_var(self.fuel, left);
        let is_empty = self.builder.ins().icmp_imm_s(IntCC::SignedLessThan, left, 0);
        let (empty, next) = self.branch_rarely(is_empty);
        self.continue_in(empty);
        self.store_context(left, offsets::FUEL);
        let nothing = self.constant(0);
        let continues = self.call_rare(self.rare.poll, [nothing; 2]);
        self.leave_unless(continues);
        self.set_cold();
        self.load_fuel();
        self.builder.ins().jump(next, &[]);
        self.continue_in(next);
    }

    /// Copies or moves a reference to a register by a function of the machine, and continues in another block.
    pub(super) fn replace_by(&mut self, function: RareFunction, to: u16, from: (Value, i32), next: Block) {
        let (base, offset) = self.reference(to);
        let to = self.builder.ins().iadd_imm_s(base, i64::from(offset));
        let from = self.builder.ins().iadd_imm_s(from.0, i64::from(from.1));
        self.call_rare(function, [to, from]);
        self.builder.ins().jump(next, &[]);
    }

    /// Returns from tangent or adjoint code: the results are stored in the frame.
    pub(super) fn return_to_frame(&mut self, at: usize, instruction: &Instruction) {
        self.store_tape();
        self.store_fuel();
        let results = self.code.results;
        let first = match *instruction {
            Instruction::ReturnF { a } => Some((Bank::F, a.0)),
            Instruction::ReturnI { a } => Some((Bank::I, a.0)),
            Instruction::ReturnR { a } => {
                if let Some(layout) = self.layout {
                    self.take(at, layout, 0, a.0);
                }
                None
            }
            _ => None,
        };
        let registers =
            [Bank::F, Bank::I].into_iter().flat_map(|bank| (0..results[bank as usize]).map(move |k| (bank, k)));
        for (bank, k) in registers.collect::<Vec<_>>() {
            let value = self.get(first.filter(|(of, _)| *of == bank && k == 0).unwrap_or((bank, k)));
            self.builder.ins().store(FLAGS, value, self.frame[bank as usize], 8 * i32::from(k));
        }
        let status = self.constant(RETURNED);
        self.builder.ins().return_(&[status]);
    }
}
