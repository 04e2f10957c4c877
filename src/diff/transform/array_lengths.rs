//! Array lengths: adds integer registers that count the elements of the arrays to which a function appends.
//!
//! The reverse pass needs the index of each appended element. It undoes `n = n + 1` as in any loop, so no index is recorded.

use crate::ir::{Function, Instruction, Op, Reg, Register};
use crate::native::primitive_ids;
use crate::value::Bank;
use hashbrown::{HashMap, HashSet};

/// Adds the registers, and returns them by the register of the array.
pub(super) fn count_elements(f: &mut Function) -> HashMap<Reg, Reg> {
    let arrays = counted_arrays(f);
    let mut lengths = HashMap::new();
    for block in &mut f.blocks {
        let mut steps = Vec::with_capacity(block.instructions.len());
        for step in std::mem::take(&mut block.instructions) {
            let (span, array) = (step.span, step.outs.first().copied().filter(|array| arrays.contains(array)));
            let changes = matches!(step.op, Op::NewArray(_) | Op::Append(_));
            let is_new = matches!(step.op, Op::NewArray(_));
            steps.push(step);
            let Some(array) = array.filter(|_| changes) else { continue };
            let mut integer = || {
                f.registers.push(Register { bank: Bank::I, name: None });
                Reg(f.registers.len() as u32 - 1)
            };
            let length = *lengths.entry(array).or_insert_with(&mut integer);
            let mut push = |op, out, ins| steps.push(Instruction { op, outs: vec![out], ins, span, active: false });
            if is_new {
                push(Op::ConstI(0), length, vec![]);
            } else {
                let one = integer();
                push(Op::ConstI(1), one, vec![]);
                push(Op::Primitive(primitive_ids::INT_ADD), length, vec![length, one]);
            }
        }
        block.instructions = steps;
    }
    lengths
}

/// Returns the registers whose arrays are made empty and changed in length by appended elements only.
fn counted_arrays(f: &Function) -> HashSet<Reg> {
    let (mut appended, mut others): (HashSet<Reg>, HashSet<Reg>) = (HashSet::new(), f.params.iter().copied().collect());
    for step in f.blocks.iter().flat_map(|block| &block.instructions) {
        for (k, out) in step.outs.iter().enumerate().filter(|(_, out)| f.registers[out.0 as usize].bank == Bank::R) {
            let is_same = step.ins.first() == Some(out);
            match step.op {
                Op::Append(_) if is_same => drop(appended.insert(*out)),
                Op::NewArray(_) | Op::Null => {}
                Op::StoreElement { .. } if is_same => {}
                Op::TakeElement { .. } if is_same && k == 1 => {}
                _ => drop(others.insert(*out)),
            }
        }
    }
    appended.difference(&others).copied().collect()
}
