//! Verifier: checks the invariants of a graph, in tests and debug builds.
//!
//! In: a finished graph. Out: a description of each violation of an invariant.

use super::{
    Block, BlockId, Function, Instruction, Op, Operator, Program, Reg, Stride, Terminator, TransformedOp, Trap,
};
use crate::ir::analysis::effects::tied;
use crate::ir::analysis::liveness::live_at_entry;
use crate::value::Bank;
use crate::value::origins::Storage;
use crate::value::shape::TangentId;

/// Returns the violations of the invariants in a graph.
pub fn verify(program: &Program, function: &Function) -> Vec<String> {
    let mut check = Check { program, function, faults: vec![], at: String::new() };
    check.run();
    if check.faults.is_empty() {
        check.definitions();
    }
    check.faults
}

struct Check<'p> {
    program: &'p Program,
    function: &'p Function,
    faults: Vec<String>,
    at: String,
}

impl Check<'_> {
    fn fault(&mut self, what: impl AsRef<str>) {
        self.faults.push(format!("{}: {}", self.at, what.as_ref()));
    }

    fn run(&mut self) {
        self.at = "function".into();
        if self.function.blocks.is_empty() {
            self.fault("no blocks");
        }
        if self.function.result_len > self.function.results.len() {
            self.fault("more proper results than results");
        }
        self.registers(&self.function.params.clone());
        let given: usize = self.function.parameters.iter().map(|p| p.len).sum();
        if given != self.function.params.len() {
            self.fault("parameters do not cover the registers of the arguments");
        }
        for (b, block) in self.function.blocks.iter().enumerate() {
            for (i, instruction) in block.instructions.iter().enumerate() {
                self.at = format!("b{b} instruction {i} {:?}", instruction.op);
                if self.registers(&instruction.outs) && self.registers(&instruction.ins) {
                    self.instruction(instruction);
                }
            }
            self.at = format!("end of b{b}");
            self.end(block);
        }
    }

    fn registers(&mut self, regs: &[Reg]) -> bool {
        let is_valid = regs.iter().all(|r| (r.0 as usize) < self.function.registers.len());
        if !is_valid {
            self.fault("a register does not exist");
        }
        is_valid
    }

    fn banks(&self, regs: &[Reg]) -> Vec<Bank> {
        regs.iter().map(|r| self.function.registers[r.0 as usize].bank).collect()
    }

    fn end(&mut self, block: &Block) {
        let target = |b: BlockId| (b.0 as usize) < self.function.blocks.len();
        match &block.end {
            None => self.fault("the block has no terminator"),
            Some(Terminator::Jump(to)) => {
                if !target(*to) {
                    self.fault("a jump to a block that does not exist");
                }
            }
            Some(Terminator::Branch { condition, then, otherwise }) => {
                if !target(*then) || !target(*otherwise) {
                    self.fault("a branch to a block that does not exist");
                }
                if self.registers(&[*condition]) && self.banks(&[*condition]) != [Bank::I] {
                    self.fault("a condition that is not an integer");
                }
            }
            Some(Terminator::Return(regs)) => {
                if self.registers(regs) && self.banks(regs) != self.function.results {
                    self.fault("results in other banks than declared");
                }
            }
            Some(Terminator::Trap(trap)) => {
                let message = match trap {
                    Trap::Failed { message: Some(reg), .. } | Trap::Uncaught(reg) => vec![*reg],
                    Trap::Failed { message: None, .. }
                    | Trap::UnexpectedNil
                    | Trap::Unreachable
                    | Trap::Unsupported => vec![],
                };
                if self.registers(&message) && self.banks(&message).iter().any(|b| *b != Bank::R) {
                    self.fault("a message that is not a string");
                }
            }
        }
    }

    /// Compares the banks of the operands of a step with the banks that its operation reads and writes.
    fn instruction(&mut self, instruction: &Instruction) {
        use Bank::{F, I, R};
        let (outs, ins) = (self.banks(&instruction.outs), self.banks(&instruction.ins));
        let is = |a: &[Bank], b: &[Bank]| a == b;
        let cells = |banks: &[Bank], s: Stride| {
            let count = |bank| banks.iter().filter(|b| **b == bank).count() as u16;
            s == Stride { f: count(F), i: count(I), r: count(R) }
        };
        let is_valid = match &instruction.op {
            Op::ConstF(_) => is(&outs, &[F]) && ins.is_empty(),
            Op::ConstI(_) => is(&outs, &[I]) && ins.is_empty(),
            Op::Text(_) | Op::Constants(_) | Op::Null | Op::NewArray(_) => is(&outs, &[R]) && ins.is_empty(),
            Op::Copy => outs.len() == 1 && outs == ins,
            Op::Take => is(&outs, &[R]) && is(&ins, &[R]),
            Op::Primitive(id) => {
                let info = id.info();
                is(&outs, &[info.result]) && is(&ins, info.operands)
            }
            Op::Call(id) | Op::CallRule(id) => self.call(*id, &outs, &ins),
            Op::CallValue => ins.first() == Some(&R),
            Op::Closure(id) => {
                let wanted = self.program.function(*id).map(|f| f.captures.clone());
                is(&outs, &[R]) && wanted.is_none_or(|w| w == ins)
            }
            Op::Capture { bank, index } => {
                let same = self.function.captures.iter().filter(|b| *b == bank).count();
                is(&outs, &[*bank]) && ins.is_empty() && usize::from(*index) < same
            }
            Op::NewInstance(_) => is(&outs, &[R]) && ins.is_empty(),
            Op::FindMethod(_) => is(&outs, &[R]) && is(&ins, &[R]),
            Op::NewBox | Op::NewRecord => is(&outs, &[R]),
            Op::LoadBox { bank, .. } | Op::LoadRecord { bank, .. } => is(&outs, &[*bank]) && is(&ins, &[R]),
            Op::Hold => outs.is_empty() && ins.iter().all(|bank| *bank == R),
            Op::Access { .. } => outs.is_empty() && (ins.is_empty() || is(&ins, &[R])),
            Op::StoreBox { bank, .. } => outs.is_empty() && is(&ins, &[R, *bank]),
            Op::TakeBox { .. } => is(&outs, &[R]) && is(&ins, &[R]),
            Op::StoreRecord { bank, .. } => is(&outs, &[R]) && is(&ins, &[R, *bank]),
            Op::TakeRecord { .. } => is(&outs, &[R, R]) && is(&ins, &[R]),
            Op::Append(stride) => is(&outs, &[R]) && ins.first() == Some(&R) && cells(&ins[1..], *stride),
            Op::AppendText => is(&outs, &[R]) && is(&ins, &[R, R]),
            Op::Count => is(&outs, &[I]) && is(&ins, &[R]),
            Op::CheckIndex => outs.is_empty() && is(&ins, &[R, I]),
            Op::LoadElement { bank, .. } => is(&outs, &[*bank]) && is(&ins, &[R, I]),
            Op::StoreElement { bank, .. } => is(&outs, &[R]) && is(&ins, &[R, I, *bank]),
            Op::TakeElement { .. } => is(&outs, &[R, R]) && is(&ins, &[R, I]),
            Op::LoadGlobal { bank, .. } => is(&outs, &[*bank]) && ins.is_empty(),
            Op::StoreGlobal { bank, .. } => outs.is_empty() && is(&ins, &[*bank]),
            Op::TakeGlobal { .. } => is(&outs, &[R]) && ins.is_empty(),
            Op::Native { .. } => true,
            Op::Operator(operator) => self.operator(operator, &outs, &ins),
            Op::AssertDifferentiable { .. } => is(&outs, &[R]) && is(&ins, &[R]),
            Op::Transformed(TransformedOp::Partial { primitive, .. }) => {
                is(&outs, &[F]) && ins.split_last().is_some_and(|(y, x)| *y == F && x == primitive.info().operands)
            }
            Op::Transformed(TransformedOp::Push(bank)) => outs.is_empty() && is(&ins, &[*bank]),
            Op::Transformed(TransformedOp::PushConstant(_)) => outs.is_empty() && ins.is_empty(),
            Op::Transformed(TransformedOp::Pop(bank)) => is(&outs, &[*bank]) && ins.is_empty(),
            Op::Transformed(TransformedOp::AddElement { .. } | TransformedOp::Accumulate { .. }) => {
                is(&outs, &[R]) && is(&ins, &[R, I, F])
            }
            Op::Transformed(TransformedOp::TakeAdjoint { .. }) => is(&outs, &[F, R]) && is(&ins, &[R, I]),
            Op::Transformed(TransformedOp::ReadAdjoint { .. }) => is(&outs, &[F]) && is(&ins, &[R, I]),
            Op::Transformed(TransformedOp::AccumulateArray { .. }) => is(&outs, &[R]) && is(&ins, &[R, I, R]),
            Op::Transformed(TransformedOp::TakeAdjointArray { .. }) => is(&outs, &[R, R]) && is(&ins, &[R, I]),
            Op::Transformed(TransformedOp::AddArray | TransformedOp::AddNodes) => is(&outs, &[R]) && is(&ins, &[R, R]),
            Op::Transformed(TransformedOp::AppendNode) => is(&outs, &[F]) && (is(&ins, &[F; 2]) || is(&ins, &[F; 4])),
            Op::Transformed(TransformedOp::Flush) => is(&outs, &[F]) && instruction.outs == instruction.ins,
            Op::Transformed(TransformedOp::DropTangent | TransformedOp::RequireConstant) => {
                outs.len() == 1 && outs == ins
            }
            Op::Transformed(TransformedOp::CaptureOf { bank, .. }) => is(&outs, &[*bank]) && is(&ins, &[R]),
        };
        if !is_valid {
            self.fault(format!("reads {ins:?} and writes {outs:?}"));
        }
        if let Some((out, input)) = tied(&instruction.op)
            && instruction.outs.get(out) != instruction.ins.get(input)
        {
            self.fault("a value modified in place has changed its register");
        }
    }

    fn call(&self, id: super::graph::FunctionId, outs: &[Bank], ins: &[Bank]) -> bool {
        match self.program.function(id) {
            Some(f) => {
                // The called function may not have been verified yet.
                let wanted = f.params.iter().map(|r| f.registers.get(r.0 as usize).map(|register| register.bank));
                f.results == outs && wanted.eq(ins.iter().copied().map(Some))
            }
            None => (id.0 as usize) < self.program.functions.len(),
        }
    }

    fn operator(&self, operator: &Operator, outs: &[Bank], ins: &[Bank]) -> bool {
        let value = |id: &TangentId| self.size(self.program.tangents.get(*id).value);
        let vector = |id: &TangentId| self.size(self.program.tangents.get(*id).vector);
        let error = |throws: &bool| if *throws { 2 } else { 0 };
        match operator {
            Operator::ValueWithDifferential { at, result, throws } => {
                ins.len() == value(at) + 1 && outs.len() == error(throws) + value(result) + 1
            }
            Operator::ValueWithTangent { at, result, throws } => {
                ins.len() == value(at) + vector(at) + 1 && outs.len() == error(throws) + value(result) + vector(result)
            }
            Operator::Transpose { .. } => outs == [Bank::R] && ins == [Bank::R],
            Operator::LoseTangent { of } => ins.len() == 2 * value(of) && outs.len() == value(of),
            Operator::SendResultOrigin { .. } => ins == [Bank::F] && outs.is_empty(),
            Operator::ReceiveResultOrigin { .. } => ins.is_empty() && outs == [Bank::F],
            Operator::ForgetOrigins => ins.is_empty() && outs.is_empty(),
            Operator::SendArgumentOrigin { .. } => ins == [Bank::F] && outs.is_empty(),
            Operator::ReceiveArgumentOrigin { .. } => ins.is_empty() && outs == [Bank::F],
            Operator::JoinOrigins => ins.iter().all(|bank| *bank != Bank::I) && outs == [Bank::F],
            Operator::StoreOrigin { inside, .. } => {
                let (object, number) = ins.split_at(usize::from(inside.has_object()).min(ins.len()));
                let content = number.get(1..).unwrap_or_default();
                let is_stored = inside.is_content(content) && *inside != Storage::Captured;
                let is_number = number.first() == Some(&Bank::F);
                is_stored && is_number && object.iter().all(|bank| *bank == Bank::R) && outs == object
            }
            Operator::LoadOrigin { inside, .. } => {
                let (object, content) = ins.split_at(usize::from(inside.has_object()).min(ins.len()));
                inside.is_content(content) && object.iter().all(|bank| *bank == Bank::R) && outs == [Bank::F]
            }
            Operator::Threshold { .. } => outs.is_empty() && (ins == [Bank::F] || ins == [Bank::F, Bank::F]),
            Operator::Gradient { at, value: gives, throws } => {
                let more = error(throws) + 1 + usize::from(*gives);
                ins.len() == value(at) + 1 && outs.len() == more + vector(at)
            }
            Operator::Series { throws, .. } => ins == [Bank::F, Bank::I, Bank::R] && outs.len() == error(throws) + 2,
            Operator::Matrix { sparse: false } => outs == [Bank::I, Bank::R] && ins == [Bank::R],
            Operator::Matrix { sparse: true } => outs == [Bank::I, Bank::R, Bank::R, Bank::R] && ins == [Bank::R],
            Operator::Jacobian { at, form, .. } => ins.len() == value(at) + 1 && outs == form.results(),
            Operator::ApplyAtOnce => outs == [Bank::I, Bank::R] && ins == [Bank::R, Bank::R],
            Operator::Recompute { .. } => (outs.is_empty() || outs == [Bank::I, Bank::R]) && ins == [Bank::R],
            Operator::Coordinates { of } => outs == [Bank::R] && ins.len() == value(of),
            Operator::NoDerivative { .. } => ins == outs,
            Operator::WithoutDerivative { of } => ins == outs && ins.len() == value(of),
            Operator::WithDerivative { of } => ins.len() == value(of) + 1 && outs.len() == value(of),
        }
    }

    fn size(&self, shape: crate::value::shape::ShapeId) -> usize {
        let all = self.program.shapes.layout(shape);
        (all.f + all.i + all.r) as usize
    }

    /// Checks that every register has a value on every path before it is read.
    fn definitions(&mut self) {
        self.at = "function".into();
        if self.function.blocks.is_empty() {
            return;
        }
        let live = live_at_entry(self.function);
        for reg in live.of(0).filter(|r| !self.function.params.contains(&Reg(*r as u32))) {
            self.fault(format!("%{reg} is read before it has a value"));
        }
    }
}
