//! Linearization: the nodes that linearization code appends to the tape. A number register holds the bits of a node's number.

use super::Translator;
use super::recording::Operand;
use crate::value::Bank;
use cranelift_codegen::ir::{InstBuilder, InstructionData, MemFlagsData, Value, ValueDef, types};

impl Translator<'_, '_> {
    /// Appends a node, unless all its operands are constants. The operands are given by the registers of the numbers of their
    /// nodes and of the partials.
    pub(super) fn linear_node(&mut self, out: u16, operands: &[(u16, u16)]) {
        let operands: Vec<Operand> = operands
            .iter()
            .map(|(node, partial)| Operand::known(self.number_of_node(*node), self.f(*partial)))
            .collect();
        let node = self.append_if_varied(operands);
        let bits = self.builder.ins().bitcast(types::F64, MemFlagsData::new(), node);
        self.nodes_of_bits.push((bits, node));
        self.set((Bank::F, out), bits);
    }

    /// Appends a node if one of its operands is not a constant; returns its number, or 0.
    fn append_if_varied(&mut self, mut operands: Vec<Operand>) -> Value {
        let zero = self.constant(0);
        operands.retain(|operand| !self.is_zero(operand.node));
        let any = operands.iter().map(|operand| operand.node).reduce(|a, b| self.builder.ins().bor(a, b));
        let Some(any) = any else { return zero };
        if operands.iter().any(|operand| self.is_number_of_node(operand.node)) {
            return self.append_node(&operands);
        }
        let (varied, done) = (self.builder.create_block(), self.builder.create_block());
        let node = self.builder.append_block_param(done, types::I64);
        self.builder.ins().brif(any, varied, &[], done, &[zero.into()]);
        self.continue_in(varied);
        let number = self.append_node(&operands);
        self.builder.ins().jump(done, &[number.into()]);
        self.continue_in(done);
        node
    }

    /// Returns the number of the node in a register.
    fn number_of_node(&mut self, register: u16) -> Value {
        let bits = self.f(register);
        if let Some((_, node)) = self.nodes_of_bits.iter().find(|(known, _)| *known == bits) {
            return *node;
        }
        let dfg = &self.builder.func.dfg;
        if let ValueDef::Result(instruction, _) = dfg.value_def(bits)
            && let InstructionData::UnaryIeee64 { imm, .. } = dfg.insts[instruction]
            && imm.bits() == 0
        {
            return self.constant(0);
        }
        self.builder.ins().bitcast(types::I64, MemFlagsData::new(), bits)
    }
}
