//! Emission graph: the graph that `emit` works on, a copy of the function, with constants as operands and comparisons in branches.

use crate::bytecode::Joined;
use crate::ir::analysis::effects::{Transfer, transfer};
use crate::ir::analysis::flow_graph::{self, FlowGraph};
use crate::ir::{Function, Op, Operator, Targets, Terminator, Trap};
use crate::source::Span;
use crate::value::Bank;
use crate::value::origins::Storage;

/// A virtual register.
pub type Reg = usize;

/// The function while it is prepared.
#[derive(Debug)]
pub struct Graph {
    /// Its blocks; the first is the entry.
    pub blocks: Vec<Block>,
    /// The bank of each register.
    pub banks: Vec<Bank>,
    /// Where the arguments arrive.
    pub params: Vec<Reg>,
    /// Where the function object arrives, when it is a closure.
    pub closure: Option<Reg>,
}

/// A straight run of steps.
#[derive(Clone, Debug)]
pub struct Block {
    /// The steps.
    pub steps: Vec<Step>,
    /// How it ends.
    pub end: End,
    /// The place of the end in the source.
    pub end_span: Span,
}

/// One step.
#[derive(Clone, Debug)]
pub struct Step {
    /// What is done.
    pub op: StepOp,
    /// What is written.
    pub outs: Vec<Reg>,
    /// What is read.
    pub ins: Vec<Reg>,
    /// Its place in the source.
    pub span: Span,
    /// Whether it moves and combines slots.
    pub active: bool,
}

/// What is done.
#[derive(Clone, PartialEq, Debug)]
pub enum StepOp {
    /// What the graph says.
    Ir(Op),
    /// `a → a + k`, of integers.
    AddK(i16),
    /// Several operations on numbers at once.
    Join(Join),
}

/// A step that does the work of several.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Join {
    /// Where the operations are.
    pub form: Nesting,
    /// Which they are.
    pub how: Joined,
}

/// Where the operations of a joined step are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Nesting {
    /// `(a ∘ b) ∘ c`
    Left,
    /// `a ∘ (b ∘ c)`
    Right,
    /// `(a ∘ b) ∘ (c ∘ d)`
    Both,
}

/// How a block ends.
#[derive(Clone, Debug)]
pub enum End {
    /// Goes on there.
    Jump(usize),
    /// Goes to one of two places.
    Branch { test: Test, ins: Vec<Reg>, then: usize, otherwise: usize },
    /// Returns the results.
    Return(Vec<Reg>),
    /// Stops the program.
    Trap { trap: Trap, message: Option<Reg> },
}

/// What a branch asks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Test {
    /// Whether an integer is not 0.
    True,
    /// Compares two integers.
    Ints(Compare),
    /// Compares an integer with a constant.
    IntWith(Compare, i16),
    /// Compares two numbers.
    Numbers(Compare),
}

/// A comparison.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Compare {
    /// `==`
    Eq,
    /// `!=`
    Ne,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
}

impl Compare {
    /// The comparison that ends the name of a primitive.
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

    /// With its sides exchanged.
    pub fn swapped(self) -> Compare {
        match self {
            Compare::Lt => Compare::Gt,
            Compare::Le => Compare::Ge,
            Compare::Gt => Compare::Lt,
            Compare::Ge => Compare::Le,
            same => same,
        }
    }

    /// What holds when it does not. For integers only: a comparison of numbers may fail both ways.
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
    /// What it reads.
    pub fn ins(&self) -> &[Reg] {
        match self {
            End::Jump(_) => &[],
            End::Branch { ins, .. } | End::Return(ins) => ins,
            End::Trap { message, .. } => message.as_slice(),
        }
    }

    /// What it reads, to change it.
    pub fn ins_mut(&mut self) -> &mut [Reg] {
        match self {
            End::Jump(_) => &mut [],
            End::Branch { ins, .. } | End::Return(ins) => ins,
            End::Trap { message, .. } => message.as_mut_slice(),
        }
    }

    /// Where it may go.
    pub fn targets(&self) -> Targets<usize> {
        match self {
            End::Jump(to) => [Some(*to), None],
            End::Branch { then, otherwise, .. } => [Some(*then), Some(*otherwise)],
            End::Return(_) | End::Trap { .. } => [None, None],
        }
        .into_iter()
        .flatten()
    }

    /// The same with other targets.
    pub fn retarget(&mut self, to: impl Fn(usize) -> usize) {
        match self {
            End::Jump(target) => *target = to(*target),
            End::Branch { then, otherwise, .. } => (*then, *otherwise) = (to(*then), to(*otherwise)),
            End::Return(_) | End::Trap { .. } => {}
        }
    }
}

impl Step {
    /// The operation, when the graph has it so.
    pub fn ir(&self) -> Option<&Op> {
        match &self.op {
            StepOp::Ir(op) => Some(op),
            StepOp::AddK(_) | StepOp::Join(..) => None,
        }
    }

    /// Whether it needs the window, so that nothing else can stay there.
    pub fn uses_window(&self) -> bool {
        match self.ir() {
            Some(Op::Append(stride)) => stride.f + stride.i + stride.r != 1,
            op => self.is_call() || op.is_some_and(|op| transfer(op) == Transfer::Create),
        }
    }

    /// Whether its results arrive in the window.
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
    /// A copy of a function of the compiler.
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
    type Reg = Reg;

    fn op(&self) -> Option<&Op> {
        self.ir()
    }

    fn outs(&self) -> &[Reg] {
        &self.outs
    }

    fn outs_mut(&mut self) -> &mut [Reg] {
        &mut self.outs
    }

    fn ins(&self) -> &[Reg] {
        &self.ins
    }

    fn ins_mut(&mut self) -> &mut [Reg] {
        &mut self.ins
    }
}
