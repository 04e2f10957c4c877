//! Transformed steps: selection of the instructions for the steps that occur only in tangent and adjoint code.

use super::Selector;
use crate::bytecode::Instruction;
use crate::bytecode::operand::*;
use crate::emit::EncodeError;
use crate::emit::graph::Step;
use crate::ir::TransformedOp;
use crate::native::{PrimitiveId, Value};
use crate::value::Bank;

impl Selector<'_> {
    pub(super) fn sweep(&mut self, op: &TransformedOp, step: &Step) -> Result<(), EncodeError> {
        use Instruction as I;
        match op {
            TransformedOp::Partial { primitive, operand } => return self.partial(*primitive, *operand, step),
            TransformedOp::Push(Bank::F) => {
                let a = FIn(self.n(step.ins[0]));
                self.writer.push(I::PushF { a });
            }
            TransformedOp::Push(_) => {
                let a = IIn(self.n(step.ins[0]));
                self.writer.push(I::PushI { a });
            }
            TransformedOp::PushConstant(value) => self.writer.push(I::PushKnown { value: Immediate(*value) }),
            TransformedOp::Pop(Bank::F) => {
                let out = FOut(self.n(step.outs[0]));
                self.writer.push(I::PopF { out });
            }
            TransformedOp::Pop(_) => {
                let out = IOut(self.n(step.outs[0]));
                self.writer.push(I::PopI { out });
            }
            TransformedOp::AddElement { offset, stride } => {
                let (array, index) = (self.changed(step, 0), IIn(self.n(step.ins[1])));
                let a = FIn(self.n(step.ins[2]));
                if stride.f == 1 {
                    self.writer.push(I::AddElementF { array, a, index });
                } else {
                    self.writer.push(I::AddPartF { array, a, index });
                    self.element(Bank::F, *offset, *stride);
                }
            }
            TransformedOp::Accumulate { offset, stride } => {
                let (array, index) = (self.changed(step, 0), IIn(self.n(step.ins[1])));
                let a = FIn(self.n(step.ins[2]));
                self.writer.push(I::Accumulate { array, a, index });
                self.element(Bank::F, *offset, *stride);
            }
            TransformedOp::TakeAdjoint { offset, stride } => {
                let (array, index) = (self.changed(step, 1), IIn(self.n(step.ins[1])));
                let out = FOut(self.n(step.outs[0]));
                self.writer.push(I::TakeAdjoint { out, array, index });
                self.element(Bank::F, *offset, *stride);
            }
            TransformedOp::ReadAdjoint { offset, stride } => {
                let (array, index) = (RIn(self.n(step.ins[0])), IIn(self.n(step.ins[1])));
                let out = FOut(self.n(step.outs[0]));
                self.writer.push(I::ReadAdjoint { out, array, index });
                self.element(Bank::F, *offset, *stride);
            }
            TransformedOp::AccumulateArray { offset, stride } => {
                let (array, index) = (self.changed(step, 0), IIn(self.n(step.ins[1])));
                let from = RIn(self.n(step.ins[2]));
                self.writer.push(I::AccumulateR { array, from, index });
                self.element(Bank::R, *offset, *stride);
            }
            TransformedOp::TakeAdjointArray { offset, stride } => {
                let (array, index) = (self.changed(step, 1), IIn(self.n(step.ins[1])));
                let out = ROut(self.n(step.outs[0]));
                self.writer.push(I::TakeAdjointR { out, array, index });
                self.element(Bank::R, *offset, *stride);
            }
            TransformedOp::AddArray | TransformedOp::AddNodes => {
                let array = self.changed(step, 0);
                let from = RIn(self.n(step.ins[1]));
                let is_of_nodes = *op == TransformedOp::AddNodes;
                self.writer.push(if is_of_nodes { I::AddNodes { array, from } } else { I::AddArray { array, from } });
            }
            TransformedOp::DropTangent | TransformedOp::RequireConstant => self.copy(step),
            TransformedOp::Flush => {
                let a = FIn(self.n(step.ins[0]));
                self.writer.push(I::FlushF { a });
            }
            TransformedOp::AppendNode => {
                let out = FOut(self.n(step.outs[0]));
                let ins: Vec<FIn> = step.ins.iter().map(|r| FIn(self.n(*r))).collect();
                match ins[..] {
                    [left, right, c, d] => {
                        self.writer.push(I::AppendNode2 { out, left, right });
                        self.writer.push(I::Extras { c, d });
                    }
                    _ => self.writer.push(I::AppendNode { out, node: ins[0], a: ins[1] }),
                }
            }
            TransformedOp::CaptureOf { bank, index } => {
                let (out, from, index) = (self.n(step.outs[0]), RIn(self.n(step.ins[0])), Part(*index));
                self.writer.push(match bank {
                    Bank::F => I::CaptureF { out: FOut(out), from, index },
                    Bank::I => I::CaptureI { out: IOut(out), from, index },
                    Bank::R => I::CaptureR { out: ROut(out), from, index },
                });
            }
        }
        Ok(())
    }

    fn partial(&mut self, id: PrimitiveId, operand: u8, step: &Step) -> Result<(), EncodeError> {
        use Instruction as I;
        let info = id.info();
        let p = Prim(u8::try_from(id.0).map_err(|_| EncodeError::Primitive(info.name))?);
        let out = FOut(self.n(step.outs[0]));
        let ins: Vec<u16> = step.ins.iter().map(|r| self.n(*r)).collect();
        let (a, y) = (FIn(ins[0]), FIn(ins[ins.len() - 1]));
        match info.value {
            Value::F1(_) => {
                self.writer.push(I::PartialF { out, a, y, p });
                return Ok(());
            }
            Value::F2(_) if operand == 0 => self.writer.push(I::PartialLeftF { out, a, b: FIn(ins[1]), p }),
            Value::F2(_) => self.writer.push(I::PartialRightF { out, a, b: FIn(ins[1]), p }),
            Value::FI(_) => self.writer.push(I::PartialFI { out, a, n: IIn(ins[1]), p }),
            _ => return Err(EncodeError::Operands(info.name)),
        }
        self.writer.push(I::Extra { c: y });
        Ok(())
    }
}
