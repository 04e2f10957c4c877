//! Neutral operands: a product with the constant 1 is a copy of the other factor, and the sum of an integer and 0 a copy of the
//! integer. The adjoint of a sum is 1, so the reverse pass of a sum of squares multiplies each term by it.
//!
//! Promises: every number keeps its bits, except that a signaling NaN stays one.

use crate::ir::analysis::constants::{self, Known, integer, number};
use crate::ir::analysis::data_flow::{Flat, forward};
use crate::ir::graph::{Function, Instruction, Op, Reg};
use crate::native::primitive_ids;

/// Replaces operations with neutral operands by copies, and sums of constant numbers by constants.
pub(crate) fn remove(function: &mut Function) {
    let entry = vec![Flat::Unknown; function.registers.len()];
    let mut replaced: Vec<Vec<(usize, Op, Vec<Reg>)>> = vec![vec![]; function.blocks.len()];
    // The facts at the start of a block are final when the block is analyzed for the last time.
    let analyze = |at: usize, facts: &mut [Known]| {
        replaced[at].clear();
        for (i, step) in function.blocks[at].instructions.iter().enumerate() {
            match replacement(step, facts) {
                Some((op, ins)) => {
                    constants::step(&Instruction { op: op.clone(), ins: ins.clone(), ..step.clone() }, facts);
                    replaced[at].push((i, op, ins));
                }
                None => constants::step(step, facts),
            }
        }
    };
    forward(function, entry, analyze, |_, _| {});
    for (block, replaced) in function.blocks.iter_mut().zip(replaced) {
        for (i, op, ins) in replaced {
            let step = &mut block.instructions[i];
            (step.op, step.ins) = (op, ins);
        }
    }
}

/// Returns the operation and the operands that replace a step.
fn replacement(step: &Instruction, facts: &[Known]) -> Option<(Op, Vec<Reg>)> {
    let [a, b] = step.ins[..] else { return None };
    let copy = |is_neutral: &dyn Fn(Reg) -> bool| {
        let of = if is_neutral(a) { Some(b) } else { Some(a).filter(|_| is_neutral(b)) };
        of.map(|of| (Op::Copy, vec![of]))
    };
    match step.op {
        Op::Primitive(primitive_ids::MUL) => copy(&|reg| number(facts, reg) == Some(1.0)),
        Op::Primitive(primitive_ids::INT_ADD) => copy(&|reg| integer(facts, reg) == Some(0)),
        Op::Primitive(primitive_ids::ADD) => Some((Op::ConstF(number(facts, a)? + number(facts, b)?), vec![])),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::graph::{Block, BlockId, Register, Terminator};
    use crate::source::Span;
    use crate::value::Bank;

    #[test]
    fn a_factor_is_removed_only_where_it_is_1_on_every_path() {
        let step = |op: Op, out: u32, ins: &[u32]| {
            let ins = ins.iter().map(|reg| Reg(*reg)).collect();
            Instruction { op, outs: vec![Reg(out)], ins, span: Span::default(), active: false }
        };
        let product = Op::Primitive(primitive_ids::MUL);
        let end = |block: Vec<Instruction>, end: Terminator| Block {
            instructions: block,
            end: Some(end),
            end_span: Span::default(),
        };
        // The factor 2 in a loop that doubles it after the first iteration, and the factor 3, which stays 1.
        let start =
            end(vec![step(Op::ConstF(1.0), 2, &[]), step(Op::ConstF(1.0), 3, &[])], Terminator::Jump(BlockId(1)));
        let body = vec![
            step(product.clone(), 0, &[0, 3]),
            step(product, 0, &[2, 0]),
            step(Op::Primitive(primitive_ids::ADD), 2, &[2, 2]),
        ];
        let branch = Terminator::Branch { condition: Reg(1), then: BlockId(1), otherwise: BlockId(2) };
        let registers = [Bank::F, Bank::I, Bank::F, Bank::F].map(|bank| Register { bank, name: None }).to_vec();
        let mut function = Function {
            params: vec![Reg(0), Reg(1)],
            registers,
            blocks: vec![start, end(body, branch), end(vec![], Terminator::Return(vec![Reg(0)]))],
            ..Function::empty("f", Span::default())
        };
        remove(&mut function);
        let ops: Vec<&Op> = function.blocks[1].instructions.iter().map(|step| &step.op).collect();
        assert_eq!(ops, [&Op::Copy, &Op::Primitive(primitive_ids::MUL), &Op::Primitive(primitive_ids::ADD)]);
    }
}
