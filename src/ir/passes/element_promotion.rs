//! Element promotion: an element of an array that a loop reads and modifies in each iteration, always the same one, is kept in a
//! register during the loop: `y[i]` of `y[i] += a[k] * x[j]` in a loop over `j`.
//!
//! For graphs of tangent and adjoint code, in which a load that fails has no effect except that the code ends.

use super::loops::Loop;
use crate::ir::analysis::control_flow::predecessors;
use crate::ir::graph::{Block, Function, Instruction, Op, Reg, Register, Stride};
use crate::value::Bank;
use hashbrown::HashMap;

/// The element that a loop accesses in an array.
#[derive(Clone, PartialEq)]
struct Element {
    index: Reg,
    offset: u16,
    stride: Stride,
}

/// What a loop does with an array.
enum Use {
    /// It accesses one element only.
    One {
        element: Element,
        /// Whether the element is modified.
        is_modified: bool,
        /// The block of the first access.
        block: usize,
    },
    /// It does something else.
    Other,
}

/// The largest number of loops in which elements are promoted, which limits the compile time.
const MAX_LOOPS: usize = 64;

/// Promotes elements in all loops, in inner loops first; returns whether there were any.
pub(crate) fn promote(function: &mut Function) -> bool {
    // The steps after a loop may be at the end of the loop around it, which is therefore determined again.
    (0..MAX_LOOPS).take_while(|_| promote_in_one_loop(function)).count() > 0
}

/// Promotes elements in the first loop that has any; returns whether there is one.
fn promote_in_one_loop(function: &mut Function) -> bool {
    for found in &Loop::all(function) {
        crate::cancel::check();
        let inside = found.blocks(&predecessors(function));
        let elements = promotable(function, found, &inside);
        if !elements.is_empty() {
            promote_elements(function, found, &inside, &elements);
            return true;
        }
    }
    false
}

/// Returns the element that a step loads or stores, if it is a number.
fn accessed(step: &Instruction) -> Option<Element> {
    match step.op {
        Op::LoadElement { bank: Bank::F, offset, stride } | Op::StoreElement { bank: Bank::F, offset, stride } => {
            Some(Element { index: step.ins[1], offset, stride })
        }
        _ => None,
    }
}

/// Returns the elements that are promoted in a loop, with the registers of their arrays.
fn promotable(function: &Function, found: &Loop, inside: &[bool]) -> Vec<(Reg, Element)> {
    let blocks = || (0..inside.len()).filter(|b| inside[*b]).map(|b| (b, &function.blocks[b].instructions));
    let mut uses: HashMap<Reg, Use> = HashMap::new();
    for (b, step) in blocks().flat_map(|(b, steps)| steps.iter().map(move |step| (b, step))) {
        let arrays = step.ins.iter().chain(&step.outs).filter(|reg| function.registers[reg.0 as usize].bank == Bank::R);
        if matches!(step.op, Op::Count | Op::CheckIndex) {
            continue;
        }
        let modifies = matches!(step.op, Op::StoreElement { .. });
        for array in arrays {
            let element = accessed(step).filter(|_| step.ins[0] == *array);
            match (uses.get_mut(array), element) {
                (None, Some(element)) => {
                    uses.insert(*array, Use::One { element, is_modified: modifies, block: b });
                }
                (Some(Use::One { element: known, is_modified, .. }), Some(element)) if *known == element => {
                    *is_modified |= modifies;
                }
                _ => {
                    uses.insert(*array, Use::Other);
                }
            }
        }
    }
    let mut chosen: Vec<(Reg, Element)> = vec![];
    for (array, used) in uses {
        let Use::One { element, is_modified: true, block } = used else { continue };
        let is_written = |reg: Reg| blocks().any(|(_, steps)| steps.iter().any(|step| step.outs.contains(&reg)));
        let is_invariant = !is_written(element.index) || constant(&function.blocks, element.index).is_some();
        if is_invariant && found.executes_before_exit(function, inside, block) {
            chosen.push((array, element));
        }
    }
    chosen.sort_unstable_by_key(|(array, _)| *array);
    chosen
}

/// Returns the constant that a register always holds.
fn constant(blocks: &[Block], reg: Reg) -> Option<i64> {
    let mut steps = blocks.iter().flat_map(|block| &block.instructions).filter(|step| step.outs.contains(&reg));
    match (steps.next()?, steps.next()) {
        (Instruction { op: Op::ConstI(n), .. }, None) => Some(*n),
        _ => None,
    }
}

fn promote_elements(function: &mut Function, found: &Loop, inside: &[bool], elements: &[(Reg, Element)]) {
    let span = function.blocks[found.head].end_span;
    let step = |op: Op, outs: &[Reg], ins: &[Reg]| Instruction {
        op,
        outs: outs.to_vec(),
        ins: ins.to_vec(),
        span,
        active: false,
    };
    let (mut before, mut after) = (vec![], vec![]);
    for (array, element) in elements {
        let registers = &mut function.registers;
        let mut register = |bank: Bank| {
            registers.push(Register { bank, name: None });
            Reg(registers.len() as u32 - 1)
        };
        let number = register(Bank::F);
        let Element { mut index, offset, stride } = *element;
        // The loop may contain the step that assigns a constant index.
        if let Some(n) = constant(&function.blocks, index) {
            index = register(Bank::I);
            before.push(step(Op::ConstI(n), &[index], &[]));
        }
        let bank = Bank::F;
        before.push(step(Op::LoadElement { bank, offset, stride }, &[number], &[*array, index]));
        after.push(step(Op::StoreElement { bank, offset, stride }, &[*array], &[*array, index, number]));
        let blocks = function.blocks.iter_mut().zip(inside).filter(|(_, inside)| **inside);
        for step in blocks.flat_map(|(block, _)| &mut block.instructions) {
            let (outs, ins) = match step.op {
                Op::LoadElement { .. } if step.ins[0] == *array => (step.outs.clone(), vec![number]),
                Op::StoreElement { .. } if step.ins[0] == *array => (vec![number], vec![step.ins[2]]),
                _ => continue,
            };
            (step.op, step.outs, step.ins) = (Op::Copy, outs, ins);
        }
    }
    Loop::insert_after(function, inside, &after);
    found.insert_before(function, inside, before);
}
