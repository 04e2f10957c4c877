//! Partial formulas: replaces a partial derivative in tangent code by the primitives of its formula, which can be
//! differentiated again.

use super::Inliner;
use crate::ir::{Block, BlockId, Op, Reg, Terminator, TransformedOp};
use crate::native::field::{OrderOffset, Test};
use crate::native::formula::{self, Formula};
use crate::native::{PrimitiveId, primitive_ids};
use crate::source::Span;
use crate::value::Bank;

/// A step that computes the partial derivative of a primitive in one of its operands: the register of the result, and
/// those of the primitive's operands and result.
pub(super) struct PartialStep<'s> {
    pub primitive: PrimitiveId,
    pub operand: u8,
    pub out: Reg,
    pub ins: &'s [Reg],
}

/// The operands of a formula.
struct Operands<'s> {
    numbers: Vec<Reg>,
    integer: Option<Reg>,
    result: Option<&'s Reg>,
    span: Span,
}

impl Inliner<'_> {
    /// Appends the primitives of a partial derivative to a block; returns the block in which the result is known.
    pub(super) fn partial(&mut self, at: BlockId, step: PartialStep<'_>, span: Span) -> BlockId {
        let mut at = at;
        let (numbers, integers): (Vec<Reg>, Vec<Reg>) =
            step.ins.iter().partition(|r| self.registers[r.0 as usize].bank == Bank::F);
        let operands = Operands { numbers, integer: integers.first().copied(), result: step.ins.last(), span };
        let formula = formula::partials(step.primitive).get(usize::from(step.operand));
        match formula.and_then(|formula| self.formula(&mut at, formula, &operands)) {
            Some(value) => self.push(at, Op::Copy, vec![step.out], vec![value], span),
            None => {
                let PartialStep { primitive, operand, out, ins } = step;
                let op = Op::Transformed(TransformedOp::Partial { primitive, operand });
                self.push(at, op, vec![out], ins.to_vec(), span);
            }
        }
        at
    }

    /// Appends the steps that evaluate a formula; returns the register of its value, or `None` for a formula that does
    /// not consist of primitives.
    fn formula(&mut self, at: &mut BlockId, formula: &Formula, operands: &Operands<'_>) -> Option<Reg> {
        let span = operands.span;
        match formula {
            Formula::Operand(k) => operands.numbers.get(usize::from(*k)).copied(),
            Formula::Result => operands.result.copied(),
            Formula::Constant(c) => Some(self.computed(*at, Op::ConstF(*c), vec![], span)),
            Formula::Number(offset) => {
                let integer = self.integer(*at, *offset, operands);
                Some(self.computed(*at, Op::Primitive(primitive_ids::FROM_INT), vec![integer], span))
            }
            Formula::Apply(id, parts, offset) => {
                let mut ins: Vec<Reg> =
                    parts.iter().map(|part| self.formula(at, part, operands)).collect::<Option<_>>()?;
                if id.info().operands.len() > ins.len() {
                    ins.push(self.integer(*at, *offset, operands));
                }
                Some(self.computed(*at, Op::Primitive(*id), ins, span))
            }
            Formula::Select(parts) => {
                let (test, then, otherwise) = &**parts;
                let (id, a, b) = match test {
                    Test::Equal(a, b) => (primitive_ids::EQ, a, b),
                    Test::Less(a, b) => (primitive_ids::LT, a, b),
                    Test::AtMost(a, b) => (primitive_ids::LE, a, b),
                };
                let ins = vec![self.formula(at, a, operands)?, self.formula(at, b, operands)?];
                let condition = self.register(Bank::I);
                self.push(*at, Op::Primitive(id), vec![condition], ins, span);
                let value = self.register(Bank::F);
                let next = self.blocks.len() as u32;
                let [first, second, after] = [0, 1, 2].map(|k| BlockId(next + k));
                self.blocks.extend((0..3).map(|_| Block::default()));
                let end = Terminator::Branch { condition, then: first, otherwise: second };
                self.blocks[at.0 as usize].end = Some(end);
                for (mut block, part) in [(first, then), (second, otherwise)] {
                    let part = self.formula(&mut block, part, operands)?;
                    self.push(block, Op::Copy, vec![value], vec![part], span);
                    self.blocks[block.0 as usize].end = Some(Terminator::Jump(after));
                }
                *at = after;
                Some(value)
            }
            Formula::Bound(_) => None,
        }
    }

    /// Appends a step that computes a new number.
    pub(super) fn computed(&mut self, at: BlockId, op: Op, ins: Vec<Reg>, span: Span) -> Reg {
        let out = self.register(Bank::F);
        self.push(at, op, vec![out], ins, span);
        out
    }

    /// Returns the integer operand plus a constant; without an integer operand, the constant.
    fn integer(&mut self, at: BlockId, OrderOffset(offset): OrderOffset, operands: &Operands<'_>) -> Reg {
        if let (Some(n), 0) = (operands.integer, offset) {
            return n;
        }
        let constant = self.register(Bank::I);
        self.push(at, Op::ConstI(offset), vec![constant], vec![], operands.span);
        let Some(n) = operands.integer else { return constant };
        let sum = self.register(Bank::I);
        self.push(at, Op::Primitive(primitive_ids::INT_ADD), vec![sum], vec![n, constant], operands.span);
        sum
    }
}
