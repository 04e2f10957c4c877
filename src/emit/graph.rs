//! Emission graph: the graph of `emit`, a copy of the function with constants as operands and comparisons in branches.

use crate::bytecode::Fused;
use crate::ir::analysis::effects::{Transfer, transfer};
use crate::ir::analysis::flow_graph::{self, FlowGraph};
use crate::ir::{Function, Op, Operator, Targets, Terminator, Trap};
use crate::source::Span;
use crate::value::Bank;
use crate::value::origins::Storage;

/// The number of a virtual register.
pub type Reg = usize;

/// The graph of a function during preparation.
#[derive(Debug)]
pub struct Graph {
    /// The blocks of the graph; the first block is the entry.
    pub blocks: Vec<Block>,
    /// The bank of each virtual register.
    pub banks: Vec<Bank>,
    /// The registers that hold the arguments at the entry.
    pub params: Vec<Reg>,
    /// The register of the function object, if the function is a closure.
    pub closure: Option<Reg>,
}

/// A straight run of steps with one terminator.
#[derive(Clone, Debug)]
pub struct Block {
    /// The steps of the block.
    pub steps: Vec<Step>,
    /// The terminator of the block.
    pub end: End,
    /// The source location of the terminator.
    pub end_span: Span,
}

/// One step of a block.
#[derive(Clone, Debug)]
pub struct Step {
    /// The operation of the step.
    pub op: StepOp,
    /// The registers that the step writes.
    pub outs: Vec<Reg>,
    /// The registers that the step reads.
    pub ins: Vec<Reg>,
    /// The source location of the step.
    pub span: Span,
    /// Whether the step propagates slots.
    pub active: bool,
}

/// The operation of a step.
#[derive(Clone, PartialEq, Debug)]
pub enum StepOp {
    /// An operation of the function's graph.
    Ir(Op),
    /// The addition of a constant to an integer, `a → a + k`.
    AddK(i16),
    /// A combination of several operations on numbers.
    Fused(FusedStep),
}

/// A step that combines several operations.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FusedStep {
    /// The nesting of the combined operations.
    pub form: Nesting,
    /// The combined operations.
    pub how: Fused,
}

/// The nesting of the operations in a fused step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Nesting {
    /// The first operation is the left operand of the second: `(a ∘ b) ∘ c`.
    Left,
    /// The first operation is the right operand of the second: `a ∘ (b ∘ c)`.
    Right,
    /// Two operations are the operands of a third: `(a ∘ b) ∘ (c ∘ d)`.
    Both,
}

/// The terminator of a block.
#[derive(Clone, Debug)]
pub enum End {
    /// The block ends with a jump to another block.
    Jump(usize),
    /// The block ends with a branch to one of two blocks.
    Branch { test: Test, ins: Vec<Reg>, then: usize, otherwise: usize },
    /// The block returns the results of the function.
    Return(Vec<Reg>),
    /// The block stops the program with a fault.
    Trap { trap: Trap, message: Option<Reg> },
}

/// The condition of a branch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Test {
    /// The test whether an integer is not 0.
    True,
    /// The comparison of two integers.
    Ints(Compare),
    /// The comparison of an integer with a constant.
    IntWith(Compare, i16),
    /// The comparison of two numbers.
    Numbers(Compare),
}

/// A comparison operator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Compare {
    /// Equality, `==`.
    Eq,
    /// Inequality, `!=`.
    Ne,
    /// Less than, `<`.
    Lt,
    /// Less than or equal, `<=`.
    Le,
    /// Greater than, `>`.
    Gt,
    /// Greater than or equal, `>=`.
    Ge,
}

impl Compare {
    /// Returns the comparison whose name is the end of the name of a primitive.
    pub fn named(name: &str) -> Option<Compare> {
        Some(match name {
            "eq" => Compare::Eq,
            "ne" => Compare::Ne,
            "lt" => Compare::Lt,
            "le" => Compare::Le,
            "gt" => Compare::Gt,
            "ge" => Compare::Ge,
            _ => return None,
        })
    }

    /// Returns the comparison that is equivalent after its operands are exchanged.
    pub fn swapped(self) -> Compare {
        match self {
            Compare::Lt => Compare::Gt,
            Compare::Le => Compare::Ge,
            Compare::Gt => Compare::Lt,
            Compare::Ge => Compare::Le,
            same => same,
        }
    }

    /// Returns the negation of the comparison. The negation exists for integers only: two numbers may fail both a
    /// comparison and its negation.
    pub fn negated(self) -> Compare {
        match self {
            Compare::Eq => Compare::Ne,
            Compare::Ne => Compare::Eq,
            Compare::Lt => Compare::Ge,
            Compare::Le => Compare::Gt,
            Compare::Gt => Compare::Le,
            Compare::Ge => Compare::Lt,
        }
    }
}

impl End {
    /// Returns the registers that the terminator reads.
    pub fn ins(&self) -> &[Reg] {
        match self {
            End::Jump(_) => &[],
            End::Branch { ins, .. } | End::Return(ins) => ins,
            End::Trap { message, .. } => message.as_slice(),
        }
    }

    /// Returns the registers that the terminator reads, mutably.
    pub fn ins_mut(&mut self) -> &mut [Reg] {
        match self {
            End::Jump(_) => &mut [],
            End::Branch { ins, .. } | End::Return(ins) => ins,
            End::Trap { message, .. } => message.as_mut_slice(),
        }
    }

    /// Returns the successors of the block that the terminator ends.
    pub fn targets(&self) -> Targets<usize> {
        match self {
            End::Jump(to) => [Some(*to), None],
            End::Branch { then, otherwise, .. } => [Some(*then), Some(*otherwise)],
            End::Return(_) | End::Trap { .. } => [None, None],
        }
        .into_iter()
        .flatten()
    }

    /// Replaces the successors of the block that the terminator ends.
    pub fn retarget(&mut self, to: impl Fn(usize) -> usize) {
        match self {
            End::Jump(target) => *target = to(*target),
            End::Branch { then, otherwise, .. } => (*then, *otherwise) = (to(*then), to(*otherwise)),
            End::Return(_) | End::Trap { .. } => {}
        }
    }
}

impl Step {
    /// Returns the operation of the step, if it is an operation of the function's graph.
    pub fn ir(&self) -> Option<&Op> {
        match &self.op {
            StepOp::Ir(op) => Some(op),
            StepOp::AddK(_) | StepOp::Fused(..) => None,
        }
    }

    /// Whether the step uses the window, so that no other value can be in the window.
    pub fn uses_window(&self) -> bool {
        match self.ir() {
            Some(Op::Append(stride)) => stride.f + stride.i + stride.r != 1,
            op => self.is_call() || op.is_some_and(|op| transfer(op) == Transfer::Create),
        }
    }

    /// Whether the results of the step are returned in the window.
    pub fn is_call(&self) -> bool {
        self.ir().is_some_and(|op| match transfer(op) {
            Transfer::Call(_) | Transfer::DynamicCall | Transfer::Native(_) | Transfer::Operator(_) => true,
            Transfer::Nothing
            | Transfer::Copy
            | Transfer::Primitive(_)
            | Transfer::Load
            | Transfer::Create
            | Transfer::Store { .. } => false,
        })
    }
}

impl Graph {
    /// Creates a copy of a function's graph.
    pub fn of(function: &Function) -> Graph {
        let mut banks: Vec<Bank> = function.registers.iter().map(|r| r.bank).collect();
        let closure = (!function.captures.is_empty()).then(|| {
            banks.push(Bank::R);
            banks.len() - 1
        });
        let regs = |regs: &[crate::ir::Reg]| regs.iter().map(|r| r.0 as usize).collect::<Vec<_>>();
        let blocks = function.blocks.iter().map(|block| {
            let steps = block.instructions.iter().map(|i| {
                let mut ins = regs(&i.ins);
                if matches!(i.op, Op::Capture { .. }) {
                    ins.extend(closure);
                }
                if matches!(i.op, Op::Operator(Operator::LoadOrigin { inside: Storage::Captured, .. })) {
                    ins.splice(0..0, closure);
                }
                Step { op: StepOp::Ir(i.op.clone()), outs: regs(&i.outs), ins, span: i.span, active: i.active }
            });
            let end = match &block.end {
                Some(Terminator::Jump(to)) => End::Jump(to.0 as usize),
                Some(Terminator::Branch { condition, then, otherwise }) => End::Branch {
                    test: Test::True,
                    ins: vec![condition.0 as usize],
                    then: then.0 as usize,
                    otherwise: otherwise.0 as usize,
                },
                Some(Terminator::Return(results)) => End::Return(regs(results)),
                Some(Terminator::Trap(trap)) => {
                    let message = match trap {
                        Trap::Failed { message, .. } => message.map(|r| r.0 as usize),
                        Trap::Uncaught(message) => Some(message.0 as usize),
                        Trap::UnexpectedNil | Trap::Unreachable | Trap::Unsupported => None,
                    };
                    End::Trap { trap: trap.clone(), message }
                }
                None => End::Trap { trap: Trap::Unreachable, message: None },
            };
            Block { steps: steps.collect(), end, end_span: block.end_span }
        });
        let params = regs(&function.params);
        Graph { blocks: blocks.collect(), banks, params, closure }
    }
}

impl FlowGraph for Graph {
    type Reg = Reg;
    type Step = Step;

    fn register_count(&self) -> usize {
        self.banks.len()
    }

    fn inputs(&self) -> impl Iterator<Item = Reg> {
        self.params.iter().chain(&self.closure).copied()
    }

    fn block_count(&self) -> usize {
        self.blocks.len()
    }

    fn steps(&self, block: usize) -> &[Step] {
        &self.blocks[block].steps
    }

    fn steps_mut(&mut self, block: usize) -> &mut Vec<Step> {
        &mut self.blocks[block].steps
    }

    fn successors(&self, block: usize) -> Targets<usize> {
        self.blocks[block].end.targets()
    }

    fn end_reads(&self, block: usize) -> &[Reg] {
        self.blocks[block].end.ins()
    }

    fn end_reads_mut(&mut self, block: usize) -> &mut [Reg] {
        self.blocks[block].end.ins_mut()
    }
}

impl flow_graph::Step for Step {
    flow_graph::step_registers!(Reg);

    fn op(&self) -> Option<&Op> {
        self.ir()
    }
}
