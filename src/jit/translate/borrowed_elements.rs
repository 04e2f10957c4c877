//! Borrowed elements: reads an array that is an element of an array of arrays where it is, without a copy of the reference.
//!
//! For tangent and adjoint code, which nothing continues when it is left, so that the register of the element need not hold
//! it.

use super::super::flow::Flow;
use super::Translator;
use super::objects::Index;
use super::views::key;
use crate::bytecode::operand::{Access, Role};
use crate::bytecode::{Code, Instruction};
use crate::value::Bank;
use cranelift_codegen::ir::InstBuilder;
use hashbrown::HashSet;

/// Returns the instructions that load an element which is only read until it is released in the same block, and those that
/// release it.
pub(super) fn borrowed_elements(code: &Code, flow: &Flow) -> HashSet<usize> {
    (0..code.instructions.len()).filter_map(|at| Some([at, release(code, flow, at)?])).flatten().collect()
}

/// Returns the instruction that releases the element which an instruction loads.
fn release(code: &Code, flow: &Flow, first: usize) -> Option<usize> {
    use Instruction as I;
    let (I::ElementR { out, array, .. } | I::PartR { out, array, .. }) = code.instructions[first] else { return None };
    if out.0 == array.0 {
        return None;
    }
    for at in first + 1..code.instructions.len() {
        let instruction = &code.instructions[at];
        if flow.targets.contains(&Some(at)) || flow.targets[at].is_some() || instruction.opcode().is_end() {
            return None;
        }
        let is_read = match *instruction {
            I::Clear { a } if a.0 == out.0 => return Some(at),
            I::ElementF { .. }
            | I::ElementI { .. }
            | I::PartF { .. }
            | I::PartI { .. }
            | I::Count { .. }
            | I::CheckIndex { .. } => true,
            _ => false,
        };
        let mut is_other_use = false;
        instruction.visit(&mut |field| {
            let Role::Register(Bank::R, access) = field.role else { return };
            is_other_use |= field.number == i64::from(out.0) && !is_read;
            is_other_use |= field.number == i64::from(array.0) && access != Access::In;
        });
        if is_other_use {
            return None;
        }
    }
    None
}

impl Translator<'_, '_> {
    /// Translates an instruction that loads or releases a borrowed element; returns whether it is one.
    pub(super) fn borrowed_element(&mut self, instruction: &Instruction, at: usize) -> bool {
        let (Some(layout), true) = (self.layout, self.borrowed_elements.contains(&at)) else { return false };
        match *instruction {
            Instruction::Clear { a } => {
                self.borrowed.retain(|(register, _)| *register != a.0);
                true
            }
            Instruction::ElementR { out, index, .. } | Instruction::PartR { out, index, .. } => {
                let Some(key) = key(self.code, at) else { return false };
                let (base, offset) = self.address(key, layout, Index::Element(index, self.place(at).0));
                let address = self.builder.ins().iadd_imm_s(base, i64::from(offset));
                self.borrowed.push((out.0, address));
                true
            }
            _ => false,
        }
    }
}
