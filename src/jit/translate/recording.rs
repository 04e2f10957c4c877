//! Recording: the arithmetic of derivative code while one level is live, in reverse mode.
//!
//! The node of a number is 0 for a constant. Slots are stored in the machine's stack at once, so that the interpreter can
//! continue anywhere; within a block, the nodes that were stored or loaded are known and are not loaded again.

use super::super::context::offsets;
use super::super::shims;
use super::super::treatment::{Treatment, treatment};
use super::objects::Index;
use super::views::{Key, Shown, key};
use super::{FLAGS, Translator};
use crate::bytecode::operand::{Access, FIn, FOut, Prim, Role};
use crate::bytecode::{Arithmetic, Instruction, primitive};
use crate::native::Partial;
use crate::native::partial::product_partial;
use crate::tape::Node;
use crate::value::{Bank, Slot};
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::immediates::Ieee64;
use cranelift_codegen::ir::{InstBuilder, InstructionData, Value, ValueDef, types};
use std::mem::offset_of;

const EPOCH: i32 = offset_of!(Slot, epoch) as i32;
const PAYLOAD: i32 = offset_of!(Slot, payload) as i32;
const SLOT: i32 = size_of::<Slot>() as i32;

/// An operand of a recorded operation: its node, and the partial derivative of the result in it.
pub(super) struct Operand {
    pub(super) node: Value,
    partial: OperandPartial,
}

impl Operand {
    /// Creates an operand whose partial derivative was computed.
    pub(super) fn known(node: Value, partial: Value) -> Operand {
        Operand { node, partial: OperandPartial::Value(partial) }
    }
}

/// A partial derivative, which is computed only if an operand varies.
enum OperandPartial {
    Constant(f64),
    Value(Value),
    /// The negated quotient of two numbers.
    NegatedQuotient(Value, Value),
    Reciprocal(Value),
    /// The result of a function, given its shim and its address.
    Function(usize, usize, Vec<Value>),
}

impl Translator<'_, '_> {
    /// Translates an instruction of derivative code; returns whether it was translated.
    pub(super) fn recorded(&mut self, at: usize, instruction: &Instruction) -> bool {
        use Instruction as I;
        match *instruction {
            I::DMoveF { out, a } => {
                let (value, node) = (self.f(a.0), self.node(a.0));
                self.write_number(out.0, value, node);
            }
            I::DLoadF { out, k } => {
                let bits = self.code.numbers[usize::from(k)].to_bits();
                let value = self.builder.ins().f64const(Ieee64::with_bits(bits));
                let node = self.constant(0);
                self.write_number(out.0, value, node);
            }
            I::ClearSlot { a } => {
                let node = self.constant(0);
                self.set_node(a.0, node);
            }
            I::DAddF { out, a, b } => self.recorded_arithmetic(Arithmetic::Add, out, a, b),
            I::DSubF { out, a, b } => self.recorded_arithmetic(Arithmetic::Sub, out, a, b),
            I::DMulF { out, a, b } => self.recorded_arithmetic(Arithmetic::Mul, out, a, b),
            I::DDivF { out, a, b } => self.recorded_arithmetic(Arithmetic::Div, out, a, b),
            I::DNegF { out, a } => {
                let (x, node) = (self.f(a.0), self.node(a.0));
                let value = self.builder.ins().fneg(x);
                self.record(out.0, value, vec![Operand { node, partial: OperandPartial::Constant(-1.0) }]);
            }
            I::DPrim1F { out, a, p } => {
                let x = self.f(a.0);
                self.recorded_primitive(out, p, &[x], &[a.0]);
            }
            I::DPrim2F { out, a, b, p } => {
                let x = [self.f(a.0), self.f(b.0)];
                self.recorded_primitive(out, p, &x, &[a.0, b.0]);
            }
            I::DPrimFI { out, a, n, p } => {
                let x = [self.f(a.0), self.i(n.0)];
                self.recorded_primitive(out, p, &x, &[a.0]);
            }
            I::DLoadGlobalF { out, index } if index.0 < self.globals[0] => {
                let globals = self.load_context(types::I64, offsets::GLOBALS);
                let value = self.builder.ins().load(types::F64, FLAGS, globals, 8 * index.0 as i32);
                let count = self.load_context(types::I64, offsets::GLOBAL_SLOTS);
                let slots = self.load_context(types::I64, offsets::GLOBAL_SLOTS_ADDRESS);
                let position = self.constant(i64::from(index.0));
                let node = self.node_of_component(slots, count, position);
                self.write_number(out.0, value, node);
            }
            I::DAppendF { array, a } => {
                let (value, node) = (self.f(a.0), self.node(a.0));
                self.append_varied(array.0, value, node);
            }
            _ => return self.recorded_access(at, instruction),
        }
        true
    }

    /// Translates an access to a component with its slot; returns whether the instruction is one.
    fn recorded_access(&mut self, at: usize, instruction: &Instruction) -> bool {
        use Instruction as I;
        let (offset, _) = self.place(at);
        let Some(key) = key(self.code, at) else { return false };
        match *instruction {
            I::DElementF { out, index, .. } => self.load_varied(key, out.0, Index::Element(index, 0)),
            I::DPartF { out, index, .. } => self.load_varied(key, out.0, Index::Element(index, offset)),
            I::DLoadRecordF { out, index, .. } | I::DLoadBoxF { out, index, .. } | I::DCaptureF { out, index, .. } => {
                self.load_varied(key, out.0, Index::Field(index));
            }
            I::DSetElementF { a, index, .. } => self.store_varied(key, (a.0, true), Index::Element(index, 0)),
            I::DSetPartF { a, index, .. } => self.store_varied(key, (a.0, true), Index::Element(index, offset)),
            I::DStoreRecordF { a, index, .. } => self.store_varied(key, (a.0, true), Index::Field(index)),
            _ => return false,
        }
        true
    }

    /// Loads a component with its slot.
    fn load_varied(&mut self, key: Key, out: u16, index: Index) {
        let Some(layout) = self.layout else { return };
        let (base, offset) = self.address(key, layout, index);
        let value = self.builder.ins().load(types::F64, FLAGS, base, offset);
        let slots = self.view(Key { shown: Shown::Slots, is_modified: false, ..key }, layout);
        let position = self.position(key, index);
        let node = self.node_of_component(slots.address, slots.count, position);
        self.write_number(out, value, node);
    }

    /// Stores a number in a component, with its slot or as a constant.
    pub(super) fn store_varied(&mut self, key: Key, (a, varies): (u16, bool), index: Index) {
        let Some(layout) = self.layout else { return };
        let (base, offset) = self.address(key, layout, index);
        let value = self.f(a);
        let node = if varies { self.node(a) } else { self.constant(0) };
        let of_slots = Key { shown: Shown::Slots, is_modified: false, ..key };
        let slots = self.view(of_slots, layout);
        let position = self.position(key, index);
        let (none, some, done) =
            (self.builder.create_block(), self.builder.create_block(), self.builder.create_block());
        self.builder.append_block_param(some, types::I64);
        self.builder.ins().brif(slots.count, some, &[slots.address.into()], none, &[]);
        self.continue_in(none);
        if self.is_zero(node) {
            self.builder.ins().jump(done, &[]);
        } else {
            let make = self.builder.create_block();
            self.builder.set_cold_block(make);
            self.builder.ins().brif(node, make, &[], done, &[]);
            self.continue_in(make);
            let (registers, at) = self.reference(key.register);
            let array = self.builder.ins().iadd_imm_s(registers, i64::from(at));
            let succeeded = self.call_address(self.helpers.make_slots as *const () as usize, &[array], types::I64);
            self.leave_unless(succeeded);
            let slots = self.compute_view(&of_slots, layout);
            self.builder.ins().jump(some, &[slots.address.into()]);
        }
        self.continue_in(some);
        let address = self.builder.block_params(some)[0];
        let distance = self.builder.ins().ishl_imm_u(position, 4);
        let slot = self.builder.ins().iadd(address, distance);
        self.store_slot(slot, 0, node);
        self.builder.ins().jump(done, &[]);
        self.continue_in(done);
        self.builder.ins().store(FLAGS, value, base, offset);
        // The object, which other registers may refer to as well, may have slots from now on.
        self.views.retain(|(known, _)| known.shown != Shown::Slots);
    }

    /// Returns the number of a component among the numbers of its object.
    fn position(&mut self, key: Key, index: Index) -> Value {
        match index {
            Index::Field(part) => self.constant(i64::from(part.0)),
            Index::Element(register, offset) => {
                let number = self.i(register.0);
                let stride = match key.shown {
                    Shown::Components(_, stride) => i64::from(stride.max(1)),
                    Shown::Elements | Shown::Slots => 1,
                };
                let first = if stride == 1 { number } else { self.builder.ins().imul_imm_s(number, stride) };
                self.builder.ins().iadd_imm_s(first, i64::from(offset))
            }
        }
    }

    fn append_varied(&mut self, array: u16, value: Value, node: Value) {
        let (base, offset) = self.reference(array);
        let array = self.builder.ins().iadd_imm_s(base, i64::from(offset));
        let context = self.builder.ins().get_pinned_reg(types::I64);
        let function = self.helpers.append_varied as *const () as usize;
        let succeeded = self.call_address(function, &[context, array, value, node], types::I64);
        self.leave_unless(succeeded);
    }

    /// Returns the node in the slot of a component, given the slots of the object and their number, which is 0 if all
    /// components are constant.
    fn node_of_component(&mut self, slots: Value, count: Value, position: Value) -> Value {
        let Some(layout) = self.layout else { return self.constant(0) };
        let distance = self.builder.ins().ishl_imm_u(position, 4);
        let address = self.builder.ins().iadd(slots, distance);
        // Memory without content has no live slot.
        let nothing = self.constant(layout.nothing as i64);
        let address = self.builder.ins().select(count, address, nothing);
        self.load_slot(address, 0)
    }

    /// Returns the node in a slot: 0 unless the slot belongs to the level.
    fn load_slot(&mut self, base: Value, offset: i32) -> Value {
        let found = self.builder.ins().load(types::I64, FLAGS, base, offset + EPOCH);
        let payload = self.builder.ins().load(types::I64, FLAGS, base, offset + PAYLOAD);
        let epoch = self.load_context(types::I64, offsets::EPOCH);
        let is_live = self.builder.ins().icmp(IntCC::Equal, found, epoch);
        let zero = self.constant(0);
        self.builder.ins().select(is_live, payload, zero)
    }

    fn store_slot(&mut self, base: Value, offset: i32, node: Value) {
        let epoch = if self.is_zero(node) {
            node
        } else {
            let epoch = self.load_context(types::I64, offsets::EPOCH);
            let zero = self.constant(0);
            self.builder.ins().select(node, epoch, zero)
        };
        self.builder.ins().store(FLAGS, epoch, base, offset + EPOCH);
        self.builder.ins().store(FLAGS, node, base, offset + PAYLOAD);
    }

    /// Whether a register never varies.
    fn is_inactive(&self, register: u16) -> bool {
        (self.code.inactive_from..self.code.registers[0]).contains(&register)
    }

    /// Returns the node of a number register.
    pub(super) fn node(&mut self, register: u16) -> Value {
        if self.is_inactive(register) {
            return self.constant(0);
        }
        if let Some((_, node)) = self.nodes.iter().find(|(known, _)| *known == register) {
            return *node;
        }
        let node = self.load_slot(self.slots, SLOT * i32::from(register));
        self.nodes.push((register, node));
        node
    }

    /// Stores the node of a number register.
    pub(super) fn set_node(&mut self, register: u16, node: Value) {
        self.store_slot(self.slots, SLOT * i32::from(register), node);
        self.remember(register, node);
    }

    fn remember(&mut self, register: u16, node: Value) {
        self.nodes.retain(|(known, _)| *known != register);
        self.nodes.push((register, node));
    }

    fn write_number(&mut self, out: u16, value: Value, node: Value) {
        self.set((Bank::F, out), value);
        self.set_node(out, node);
    }

    /// Returns the address of the slot of a number register.
    pub(super) fn slot_address(&mut self, register: u16) -> Value {
        self.builder.ins().iadd_imm_s(self.slots, i64::from(SLOT) * i64::from(register))
    }

    /// Clears the slots of the registers that never vary as far as they are read outside of this code: by the caller, if
    /// they are results, or by the interpreter, when it executes an instruction.
    pub(super) fn clear_inactive_slots(&mut self) {
        if !self.code.is_derivative {
            return;
        }
        let mut read: Vec<u16> = self.code.instructions.iter().flat_map(Translator::slots_read).collect();
        read.extend(0..self.code.results[Bank::F as usize]);
        read.sort_unstable();
        read.dedup();
        read.retain(|register| self.is_inactive(*register));
        for register in read {
            let zero = self.constant(0);
            self.store_slot(self.slots, SLOT * i32::from(register), zero);
        }
    }

    /// Returns the registers whose slots the interpreter reads for machine code.
    fn slots_read(instruction: &Instruction) -> Vec<u16> {
        let mut found = vec![];
        let opcode = instruction.opcode();
        if opcode.entry().active && treatment(opcode) != Treatment::Recorded
            || matches!(instruction, Instruction::Extra { .. })
        {
            instruction.visit(&mut |field| {
                if let (Role::Register(Bank::F, Access::In), Ok(register)) = (field.role, u16::try_from(field.number)) {
                    found.push(register);
                }
            });
        }
        found
    }

    pub(super) fn is_zero(&self, value: Value) -> bool {
        let dfg = &self.builder.func.dfg;
        let ValueDef::Result(instruction, _) = dfg.value_def(value) else { return false };
        matches!(dfg.insts[instruction], InstructionData::UnaryImm { imm, .. } if imm.bits() == 0)
    }

    fn recorded_arithmetic(&mut self, operation: Arithmetic, out: FOut, a: FIn, b: FIn) {
        let (x, y) = (self.f(a.0), self.f(b.0));
        let (first, second) = (self.node(a.0), self.node(b.0));
        let value = self.apply(operation, x, y);
        let partials = match operation {
            Arithmetic::Add => [OperandPartial::Constant(1.0), OperandPartial::Constant(1.0)],
            Arithmetic::Sub => [OperandPartial::Constant(1.0), OperandPartial::Constant(-1.0)],
            Arithmetic::Mul => {
                if !(self.is_zero(first) && self.is_zero(second)) {
                    // The partial derivatives of a product 0·∞ are NaN, too.
                    let is_nan = self.builder.ins().fcmp(FloatCC::Unordered, value, value);
                    self.leave_if(is_nan);
                }
                [OperandPartial::Value(y), OperandPartial::Value(x)]
            }
            Arithmetic::Div => [OperandPartial::Reciprocal(y), OperandPartial::NegatedQuotient(value, y)],
        };
        let [p, q] = partials;
        self.record(out.0, value, vec![Operand { node: first, partial: p }, Operand { node: second, partial: q }]);
    }

    /// Applies a primitive, whose operands are the numbers in the given registers, and possibly an integer.
    fn recorded_primitive(&mut self, out: FOut, p: Prim, operands: &[Value], registers: &[u16]) {
        let value = self.primitive(p, operands);
        let Some(info) = primitive(p.0) else { return };
        let mut recorded = vec![];
        if !info.partials().is_empty() {
            let given: Vec<Value> = operands.iter().copied().chain([value]).collect();
            for (k, register) in registers.iter().enumerate() {
                let node = self.node(*register);
                recorded.push(Operand { node, partial: partial_of(info.partial(k), operands, &given) });
            }
        }
        self.record(out.0, value, recorded);
    }

    /// Writes the result of an operation, and appends it to the tape if an operand varies.
    fn record(&mut self, out: u16, value: Value, mut operands: Vec<Operand>) {
        operands.retain(|operand| !self.is_zero(operand.node));
        let any = operands.iter().map(|operand| operand.node).reduce(|a, b| self.builder.ins().bor(a, b));
        let Some(any) = any else {
            let node = self.constant(0);
            self.write_number(out, value, node);
            return;
        };
        let (varied, constant, done) =
            (self.builder.create_block(), self.builder.create_block(), self.builder.create_block());
        let node = self.builder.append_block_param(done, types::I64);
        let is_known = operands.iter().any(|operand| self.is_number_of_node(operand.node));
        if is_known {
            self.builder.ins().jump(varied, &[]);
        } else {
            self.builder.ins().brif(any, varied, &[], constant, &[]);
        }
        self.continue_in(varied);
        let number = self.append_node(&operands);
        let epoch = self.load_context(types::I64, offsets::EPOCH);
        self.builder.ins().store(FLAGS, epoch, self.slots, SLOT * i32::from(out) + EPOCH);
        self.builder.ins().store(FLAGS, number, self.slots, SLOT * i32::from(out) + PAYLOAD);
        if is_known {
            self.set((Bank::F, out), value);
            self.remember(out, number);
            return;
        }
        self.builder.ins().jump(done, &[number.into()]);
        self.continue_in(constant);
        let zero = self.constant(0);
        self.store_slot(self.slots, SLOT * i32::from(out), zero);
        self.builder.ins().jump(done, &[zero.into()]);
        self.continue_in(done);
        self.set((Bank::F, out), value);
        self.remember(out, node);
    }

    /// Whether a value is the number of a node that was appended, so that it is not 0.
    pub(super) fn is_number_of_node(&self, value: Value) -> bool {
        self.numbers.contains(&value)
    }

    /// Appends a node to the tape; returns its number.
    pub(super) fn append_node(&mut self, operands: &[Operand]) -> Value {
        self.make_room();
        let [next, number] = self.tape.map(|variable| self.builder.use_var(variable));
        let zero = self.builder.ins().f64const(0.0);
        let is_single = operands.len() == 1;
        let mut fields: Vec<(Value, Value)> = operands
            .iter()
            .map(|operand| {
                let partial = self.partial_value(&operand.partial);
                if is_single || self.is_number_of_node(operand.node) {
                    return (operand.node, partial);
                }
                let node = self.builder.ins().select(operand.node, operand.node, number);
                (node, self.builder.ins().select(operand.node, partial, zero))
            })
            .collect();
        fields.resize(2, (number, zero));
        let places = [(offset_of!(Node, a), offset_of!(Node, pa)), (offset_of!(Node, b), offset_of!(Node, pb))];
        for ((node, partial), (at, of_partial)) in fields.into_iter().zip(places) {
            self.builder.ins().istore32(FLAGS, node, next, at as i32);
            self.builder.ins().store(FLAGS, partial, next, of_partial as i32);
        }
        let after = self.builder.ins().iadd_imm_s(next, size_of::<Node>() as i64);
        let following = self.builder.ins().iadd_imm_s(number, 1);
        self.builder.def_var(self.tape[0], after);
        self.builder.def_var(self.tape[1], following);
        self.numbers.push(number);
        number
    }

    /// Makes room for a node. The interpreter continues if the limit does not permit it.
    fn make_room(&mut self) {
        let next = self.builder.use_var(self.tape[0]);
        let end = self.load_context(types::I64, offsets::NODES_END);
        let is_full = self.builder.ins().icmp(IntCC::Equal, next, end);
        let (full, ready) = self.branch_rarely(is_full);
        self.continue_in(full);
        self.store_tape();
        let nothing = self.constant(0);
        let succeeded = self.call_rare(self.rare.extend_tape, [nothing; 2]);
        self.leave_unless(succeeded);
        self.load_tape();
        self.builder.ins().jump(ready, &[]);
        self.continue_in(ready);
    }

    fn partial_value(&mut self, partial: &OperandPartial) -> Value {
        match partial {
            OperandPartial::Constant(value) => self.builder.ins().f64const(*value),
            OperandPartial::Value(value) => *value,
            OperandPartial::Reciprocal(y) => {
                let one = self.builder.ins().f64const(1.0);
                self.builder.ins().fdiv(one, *y)
            }
            OperandPartial::NegatedQuotient(x, y) => {
                let quotient = self.builder.ins().fdiv(*x, *y);
                self.builder.ins().fneg(quotient)
            }
            OperandPartial::Function(shim, function, arguments) => {
                let function = self.constant(*function as i64);
                let given: Vec<Value> = std::iter::once(function).chain(arguments.iter().copied()).collect();
                self.call_address(*shim, &given, types::F64)
            }
        }
    }

    /// Reads the end of the tape from the context.
    pub(super) fn load_tape(&mut self) {
        if self.appends_nodes {
            for (variable, offset) in self.tape.into_iter().zip([offsets::NEXT_NODE, offsets::NODE_NUMBER]) {
                let value = self.load_context(types::I64, offset);
                self.builder.def_var(variable, value);
            }
        }
    }

    /// Writes the end of the tape to the context.
    pub(super) fn store_tape(&mut self) {
        if self.appends_nodes {
            for (variable, offset) in self.tape.into_iter().zip([offsets::NEXT_NODE, offsets::NODE_NUMBER]) {
                let value = self.builder.use_var(variable);
                self.store_context(value, offset);
            }
        }
    }
}

/// Returns a partial derivative of a primitive, over its operands, and over its operands and its result.
fn partial_of(partial: Partial, operands: &[Value], given: &[Value]) -> OperandPartial {
    let function = |shim: usize, function: usize, arguments: &[Value]| {
        OperandPartial::Function(shim, function, arguments.to_vec())
    };
    match (partial, operands) {
        (Partial::Constant(value), _) => OperandPartial::Constant(value),
        (Partial::Factor(k), [a, b, ..]) => {
            let (other, own) = if k == 0 { (*a, *b) } else { (*b, *a) };
            function(shims::two as *const () as usize, product_partial as *const () as usize, &[other, own])
        }
        (Partial::Reciprocal, [_, y, ..]) => OperandPartial::Reciprocal(*y),
        (Partial::Quotient, [_, y, ..]) => OperandPartial::NegatedQuotient(given[given.len() - 1], *y),
        (Partial::Expression(expression), _) => {
            let (shim, address) = shims::of_expression(expression);
            function(shim, address, given)
        }
        (Partial::Zero | Partial::Undefined(_) | Partial::Factor(_) | Partial::Reciprocal | Partial::Quotient, _) => {
            OperandPartial::Constant(0.0)
        }
    }
}
