//! Borrowed elements: reads an array that is an element of an array of arrays where it is, without a copy of the reference.
//!
//! The register of the element does not hold it, so that the interpreter cannot continue between the load and the release.
//! Tangent and adjoint code is not continued at all. In other code only a single read is in between, and the interpreter
//! continues with the load where that read fails.

use super::super::flow::Flow;
use super::Translator;
use super::objects::Index;
use super::views::key;
use crate::bytecode::operand::{Access, Role};
use crate::bytecode::{Code, Instruction};
use crate::value::Bank;
use cranelift_codegen::ir::InstBuilder;
use hashbrown::{HashMap, HashSet};

/// The borrowed elements of a function.
#[derive(Default)]
pub(super) struct BorrowedElements {
    /// The instructions that load an element which is only read until it is released in the same block, and those that
    /// release it.
    steps: HashSet<usize>,
    /// The loads of elements with a single read, by that read.
    loads: HashMap<usize, usize>,
}

impl BorrowedElements {
    pub(super) fn of(code: &Code, flow: &Flow, is_derivative: bool) -> BorrowedElements {
        let mut found = BorrowedElements::default();
        let ends = flow.block_ends(code);
        for load in 0..code.instructions.len() {
            let Some(release) = release(code, &ends, load) else { continue };
            let read = following(code, load);
            if following(code, read) == release {
                found.loads.insert(read, load);
            } else if !is_derivative {
                continue;
            }
            found.steps.extend([load, release]);
        }
        found
    }

    /// Returns the instruction with which the interpreter continues where an instruction fails.
    pub(super) fn resumed_at(&self, at: usize) -> usize {
        self.loads.get(&at).copied().unwrap_or(at)
    }
}

/// Returns the index of the instruction that follows another and its operands.
fn following(code: &Code, at: usize) -> usize {
    match code.instructions.get(at + 1) {
        Some(Instruction::Element { .. }) => at + 2,
        _ => at + 1,
    }
}

/// Returns the instruction that releases the element which an instruction loads.
fn release(code: &Code, ends: &[bool], first: usize) -> Option<usize> {
    use Instruction as I;
    let (I::ElementR { out, array, .. } | I::PartR { out, array, .. }) = code.instructions[first] else { return None };
    if out.0 == array.0 {
        return None;
    }
    for (at, instruction) in code.instructions.iter().enumerate().skip(first + 1) {
        if ends[at] {
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
        let (Some(layout), true) = (self.layout, self.borrowed_elements.steps.contains(&at)) else { return false };
        match *instruction {
            Instruction::Clear { a } => {
                self.borrowed.retain(|(register, _)| *register != a.0);
                // The register may still hold what it held before the load.
                self.clear(at, layout, a.0);
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
