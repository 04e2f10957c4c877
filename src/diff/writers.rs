//! Which function a register holds, as far as the text says.

use crate::ir::{Function, FunctionId, Instruction, Op, Reg};
use std::collections::HashMap;

/// How the function in a register came there.
pub(super) enum Made {
    /// It was made there.
    Closure(FunctionId),
    /// No step of the function writes that register: it may be a parameter.
    Elsewhere(Reg),
}

/// The steps of a function that write each register. A variable may be emptied behind its last reader: that is no writing.
pub(super) struct Writers<'f>(HashMap<Reg, Vec<&'f Instruction>>);

impl<'f> Writers<'f> {
    pub(super) fn of(f: &'f Function) -> Writers<'f> {
        let mut found: HashMap<Reg, Vec<&'f Instruction>> = HashMap::new();
        for step in f.blocks.iter().flat_map(|b| &b.instructions).filter(|s| s.op != Op::Null) {
            step.outs.iter().for_each(|r| found.entry(*r).or_default().push(step));
        }
        Writers(found)
    }

    /// The function that a register holds, if only one step writes it, and no promise like a given one was made of it.
    pub(super) fn made_by(&self, reg: Reg, unless: Option<&Op>) -> Option<FunctionId> {
        match self.origin(reg, unless)? {
            Made::Closure(function) => Some(function),
            Made::Elsewhere(_) => None,
        }
    }

    /// Where what a register holds comes from.
    pub(super) fn origin(&self, mut reg: Reg, unless: Option<&Op>) -> Option<Made> {
        // A chain of copies has an end; a loop of them is no known function.
        for _ in 0..32 {
            let Some(writers) = self.0.get(&reg) else { return Some(Made::Elsewhere(reg)) };
            let [writer] = writers[..] else { return None };
            if unless == Some(&writer.op) {
                return None;
            }
            match &writer.op {
                Op::Closure(function) => return Some(Made::Closure(*function)),
                Op::Copy | Op::Take | Op::Promise { .. } => reg = *writer.ins.first()?,
                _ => return None,
            }
        }
        None
    }
}
