//! Full inlining: one graph of a function and all its callees, for tangent and adjoint code.
//!
//! In: a function value, as far as it is known statically: its function, and the functions among its captured values.
//! Out: a graph without calls, and the [reasons](Fallback) why some of its paths end early. The graph
//! [stops](Trap::Unsupported) at each step that is neither arithmetic on numbers and integers nor access to their
//! storage. Until then it modifies only its own registers, so that the function can run again from its beginning.

mod array_functions;
mod coordinates;
mod nested_operators;
mod partial_formulas;

pub use nested_operators::Transforms;

use crate::ir::analysis::effects::{Effects, Memory, MemoryAccess, effects};
use crate::ir::passes::exclusivity_checks::AccessKind;
use crate::ir::passes::fallback::Fallback;
use crate::ir::passes::{
    available_copies, clean, common_subexpressions, early_release, element_promotion, invariant_loads, invariant_steps,
    move_coalescing, specialize,
};
use crate::ir::{
    Block, BlockId, Function, FunctionId, Instruction, Op, Operator, Program, Reg, Register, Terminator, TransformedOp,
    Trap,
};
use crate::source::Span;
use crate::value::{Bank, Signature};
use hashbrown::HashMap;
use std::rc::Rc;

/// The maximum number of steps of the graph, which limits the compile time.
const MAX_STEPS: usize = 4000;

/// The maximum depth of nested calls.
const MAX_DEPTH: usize = 24;

/// A function with all calls inlined, as a graph without calls.
#[derive(Debug)]
pub struct Inlined {
    /// The graph without calls.
    pub graph: Function,
    /// The reasons why paths of the graph end with [`Trap::Unsupported`], without repetitions.
    pub fallbacks: Vec<Fallback>,
}

/// Inlines all calls in a function value.
///
/// # Errors
/// Fails with the reason if even the function itself cannot be inlined.
pub fn inline_all(program: &Program, known: &Signature, transforms: Transforms) -> Result<Inlined, Fallback> {
    let id = FunctionId(known.function);
    let f = inlinable(program, id)?;
    if size(f) > MAX_STEPS {
        return Err(Fallback::TooLarge(MAX_STEPS));
    }
    let mut inliner = Inliner::new(program, transforms);
    let captures = CaptureSource::Running(known.captured.clone());
    let first = inliner.copy_registers(f);
    inliner.function(id, f, first, &captures, None);
    let fallbacks = inliner.reasons();
    let mut graph = inliner.graph(f, first);
    available_copies::read_originals(&mut graph);
    clean(&mut graph);
    if common_subexpressions::load_once(&mut graph) {
        clean(&mut graph);
        invariant_loads::hoist(&mut graph);
    }
    specialize(&mut graph);
    move_coalescing::coalesce(&mut graph);
    let has_moved = invariant_steps::hoist(&mut graph);
    if element_promotion::promote(&mut graph) || has_moved {
        common_subexpressions::load_globals_once(&mut graph);
        available_copies::read_originals(&mut graph);
        clean(&mut graph);
    }
    early_release::release(&mut graph);
    if !returns(&graph) {
        return Err(fallbacks.into_iter().next().unwrap_or(Fallback::NoReturn));
    }
    Ok(Inlined { graph, fallbacks })
}

/// Returns a function if its own code determines its derivative.
fn inlinable(program: &Program, id: FunctionId) -> Result<&Function, Fallback> {
    let f = program.function(id).map(Rc::as_ref).ok_or(Fallback::Missing)?;
    match f {
        _ if f.is_opaque || f.obstacle.is_some() => Err(Fallback::Opaque(f.name.clone())),
        _ if !f.rules.is_empty() => Err(Fallback::Registered(f.name.clone())),
        _ => Ok(f),
    }
}

/// Whether a path leads from the entry of a function to a return.
fn returns(f: &Function) -> bool {
    let reached = reached(&f.blocks);
    f.blocks
        .iter()
        .zip(reached)
        .any(|(block, is_reached)| is_reached && matches!(block.end, Some(Terminator::Return(_))))
}

/// Returns for each block whether a path leads to it from the first block.
fn reached(blocks: &[Block]) -> Vec<bool> {
    let mut seen = vec![false; blocks.len()];
    let mut work = vec![BlockId(0)];
    while let Some(b) = work.pop() {
        if !std::mem::replace(&mut seen[b.0 as usize], true) {
            work.extend(blocks[b.0 as usize].end.iter().flat_map(Terminator::targets));
        }
    }
    seen
}

/// Counts the steps of a function.
fn size(f: &Function) -> usize {
    f.blocks.iter().map(|block| block.instructions.len()).sum()
}

/// The known content of a register: a function, and its captured values.
#[derive(Clone)]
struct KnownClosure {
    function: FunctionId,
    captures: CaptureSource,
}

/// The source of a function's captured values.
#[derive(Clone)]
enum CaptureSource {
    /// The values are captured by the function value that runs.
    Running(Vec<Option<Signature>>),
    /// The values are captured by the function object in a register.
    Object(Reg, Vec<Option<Signature>>),
    /// The values are in registers, component by component.
    Parts(Vec<Reg>),
}

/// The continuation of a call: the registers of its results, and the block that follows.
struct Continuation<'c> {
    outs: &'c [Reg],
    to: BlockId,
}

struct Inliner<'p> {
    program: &'p Program,
    transforms: Transforms,
    registers: Vec<Register>,
    blocks: Vec<Block>,
    /// The known functions in registers.
    values: HashMap<Reg, KnownClosure>,
    /// The functions that are being inlined, each inside the previous one.
    running: Vec<FunctionId>,
    steps: usize,
    /// The number of operators inside of which the function is differentiated.
    nesting: usize,
    /// The registers that hold the integer 1 wherever they are read.
    ones: Vec<Reg>,
    /// The reasons why paths end early, with the blocks in which they end.
    fallbacks: Vec<(BlockId, Fallback)>,
}

impl<'p> Inliner<'p> {
    /// Creates an inliner whose graph consists of an empty block.
    fn new(program: &'p Program, transforms: Transforms) -> Inliner<'p> {
        Inliner {
            program,
            transforms,
            registers: vec![],
            blocks: vec![Block::default()],
            values: HashMap::new(),
            running: vec![],
            steps: 0,
            nesting: 0,
            ones: vec![],
            fallbacks: vec![],
        }
    }

    /// Returns the graph of a function, whose registers begin with `first`.
    fn graph(self, f: &Function, first: u32) -> Function {
        let params = f.params.iter().map(|r| Reg(r.0 + first)).collect();
        Function { params, registers: self.registers, blocks: self.blocks, ..f.clone() }
    }

    /// Returns the reasons why paths end early, without repetitions.
    fn reasons(&self) -> Vec<Fallback> {
        let reached = reached(&self.blocks);
        let mut reasons = vec![];
        for (block, why) in &self.fallbacks {
            if reached[block.0 as usize] && !reasons.contains(why) {
                reasons.push(why.clone());
            }
        }
        reasons
    }

    /// Notes the reason why a path ends early in a block; returns `false`.
    fn refuse(&mut self, at: BlockId, why: Fallback) -> bool {
        self.fallbacks.push((at, why));
        false
    }

    /// Allocates registers for the registers of a function; returns the index of the first new register.
    fn copy_registers(&mut self, f: &Function) -> u32 {
        let first = self.registers.len() as u32;
        self.registers.extend(f.registers.iter().cloned());
        first
    }

    fn register(&mut self, bank: Bank) -> Reg {
        self.registers.push(Register { bank, name: None });
        Reg(self.registers.len() as u32 - 1)
    }

    /// Appends the steps of a function, whose registers begin with `first`, to the last block.
    fn function(
        &mut self,
        id: FunctionId,
        f: &Function,
        first: u32,
        captures: &CaptureSource,
        continuation: Option<&Continuation<'_>>,
    ) {
        self.running.push(id);
        let single = written_once(f);
        // The steps of the entry are added to the last block; the other blocks are new.
        let entry = BlockId(self.blocks.len() as u32 - 1);
        let others = self.blocks.len() as u32;
        self.blocks.extend(f.blocks.iter().skip(1).map(|_| Block::default()));
        let number = |b: BlockId| if b.0 == 0 { entry } else { BlockId(others + b.0 - 1) };
        // A loop back to the entry would need the entry as a separate block.
        let is_loop = f.blocks.iter().flat_map(|b| &b.end).flat_map(Terminator::targets).any(|b| b.0 == 0);
        if is_loop {
            self.refuse(entry, Fallback::LoopAtEntry(f.name.clone()));
        }
        for (b, block) in f.blocks.iter().enumerate() {
            crate::cancel::check();
            let mut site =
                CallSite { at: number(BlockId(b as u32)), first, single: &single, captures, banks: &f.captures };
            let noted = self.fallbacks.len();
            let is_complete = !is_loop && block.instructions.iter().all(|step| self.step(&mut site, step));
            let end = if is_complete {
                self.end(&site, block, &number, continuation)
            } else {
                Terminator::Trap(Trap::Unsupported)
            };
            if matches!(block.end, Some(Terminator::Trap(_)) | None) {
                // A path that fails needs no reason: the function runs again on the tape, which reports the failure.
                self.fallbacks.truncate(noted);
            }
            let last = &mut self.blocks[site.at.0 as usize];
            last.end = Some(end);
            last.end_span = block.end_span;
        }
        self.running.pop();
    }

    fn end(
        &mut self,
        site: &CallSite<'_>,
        block: &Block,
        number: &impl Fn(BlockId) -> BlockId,
        continuation: Option<&Continuation<'_>>,
    ) -> Terminator {
        match (&block.end, continuation) {
            (Some(Terminator::Jump(to)), _) => Terminator::Jump(number(*to)),
            (Some(Terminator::Branch { condition, then, .. }), _) if self.ones.contains(&site.here(*condition)) => {
                Terminator::Jump(number(*then))
            }
            (Some(Terminator::Branch { condition, then, otherwise }), _) => Terminator::Branch {
                condition: site.here(*condition),
                then: number(*then),
                otherwise: number(*otherwise),
            },
            (Some(Terminator::Return(values)), None) => {
                Terminator::Return(values.iter().map(|r| site.here(*r)).collect())
            }
            (Some(Terminator::Return(values)), Some(continuation)) => {
                let values: Vec<Reg> = values.iter().map(|r| site.here(*r)).collect();
                self.results(site.at, continuation, &values, block.end_span)
            }
            (Some(Terminator::Trap(_)) | None, _) => Terminator::Trap(Trap::Unsupported),
        }
    }

    /// Appends the transfer of the results of a call to the last block of the callee.
    fn results(&mut self, at: BlockId, continuation: &Continuation<'_>, values: &[Reg], span: Span) -> Terminator {
        for (k, (out, value)) in continuation.outs.iter().zip(values).enumerate() {
            let is_last = !values[k + 1..].contains(value);
            let reference = self.registers[value.0 as usize].bank == Bank::R;
            let op = if reference && is_last { Op::Take } else { Op::Copy };
            self.push(at, op, vec![*out], vec![*value], span);
        }
        Terminator::Jump(continuation.to)
    }

    fn push(&mut self, at: BlockId, op: Op, outs: Vec<Reg>, ins: Vec<Reg>, span: Span) {
        self.steps += 1;
        let block = &mut self.blocks[at.0 as usize];
        block.instructions.push(Instruction { op, outs, ins, span, active: false });
    }

    /// Appends a step to the graph; returns `false` if the step is not supported.
    fn step(&mut self, site: &mut CallSite<'_>, step: &Instruction) -> bool {
        let outs: Vec<Reg> = step.outs.iter().map(|r| site.here(*r)).collect();
        let ins: Vec<Reg> = step.ins.iter().map(|r| site.here(*r)).collect();
        let once = step.outs.first().is_some_and(|r| site.single[r.0 as usize]);
        match &step.op {
            Op::Call(id) => {
                let closure = KnownClosure { function: *id, captures: CaptureSource::Parts(vec![]) };
                self.call(site, &closure, &outs, &ins, step)
            }
            Op::CallValue => match self.values.get(&ins[0]).cloned() {
                Some(closure) => self.call(site, &closure, &outs, &ins[1..], step),
                None => self.refuse(site.at, Fallback::UnknownFunction),
            },
            Op::Closure(function) => {
                if once {
                    let parts = ins.iter().map(|r| self.copied(site, *r, step.span)).collect();
                    self.values
                        .insert(outs[0], KnownClosure { function: *function, captures: CaptureSource::Parts(parts) });
                }
                self.push(site.at, step.op.clone(), outs, ins, step.span);
                true
            }
            Op::Copy | Op::Take | Op::AssertDifferentiable { .. } => {
                if once && let Some(closure) = self.values.get(&ins[0]).cloned() {
                    let captures = match closure.captures {
                        CaptureSource::Parts(parts) => {
                            CaptureSource::Parts(parts.into_iter().map(|r| self.copied(site, r, step.span)).collect())
                        }
                        CaptureSource::Object(_, known) => CaptureSource::Object(outs[0], known),
                        running @ CaptureSource::Running(_) => running,
                    };
                    self.values.insert(outs[0], KnownClosure { captures, ..closure });
                }
                if once && self.ones.contains(&ins[0]) {
                    self.ones.push(outs[0]);
                }
                let op = if step.op == Op::Take { Op::Take } else { Op::Copy };
                self.push(site.at, op, outs, ins, step.span);
                true
            }
            Op::Capture { bank, index } => self.capture(site, (*bank, *index), outs[0], once, step.span),
            Op::Operator(operator @ (Operator::WithoutDerivative { .. } | Operator::NoDerivative { .. })) => {
                let is_cut = matches!(operator, Operator::WithoutDerivative { .. });
                for (out, from) in outs.into_iter().zip(ins) {
                    let op = if is_cut { TransformedOp::DropTangent } else { TransformedOp::RequireConstant };
                    self.push(site.at, Op::Transformed(op), vec![out], vec![from], step.span);
                }
                true
            }
            Op::Operator(operator) => self.operator(site, operator, (&outs, &ins), step),
            Op::Native { name, shapes } => match shapes.first() {
                Some(element) if self.array_function(site, name, *element, (&outs, &ins), step.span) => true,
                _ => self.refuse(site.at, Fallback::of_step(&step.op)),
            },
            // Tangent and adjoint code does not run during a modification of shared memory.
            Op::Hold | Op::Access { how: AccessKind::Instantaneous, .. } => true,
            op if is_supported(op) => {
                self.push(site.at, op.clone(), outs, ins, step.span);
                true
            }
            op => self.refuse(site.at, Fallback::of_step(op)),
        }
    }

    /// Copies a register, together with the knowledge about the function in it.
    fn copied(&mut self, site: &CallSite<'_>, from: Reg, span: Span) -> Reg {
        let new = self.register(self.registers[from.0 as usize].bank);
        if let Some(closure) = self.values.get(&from).cloned() {
            self.values.insert(new, closure);
        }
        self.push(site.at, Op::Copy, vec![new], vec![from], span);
        new
    }

    /// Reads a captured value of the function that is inlined.
    fn capture(&mut self, site: &CallSite<'_>, (bank, index): (Bank, u16), out: Reg, once: bool, span: Span) -> bool {
        let (op, from, known) = match site.captures {
            CaptureSource::Running(known) => (Op::Capture { bank, index }, vec![], known.get(usize::from(index))),
            CaptureSource::Object(object, known) => (
                Op::Transformed(TransformedOp::CaptureOf { bank, index }),
                vec![*object],
                known.get(usize::from(index)),
            ),
            CaptureSource::Parts(parts) => {
                let mut same = parts.iter().zip(site.banks).filter(|(_, b)| **b == bank);
                let Some((part, _)) = same.nth(usize::from(index)) else { return self.refuse(site.at, Fallback::Step) };
                if once && let Some(closure) = self.values.get(part).cloned() {
                    self.values.insert(out, closure);
                }
                (Op::Copy, vec![*part], None)
            }
        };
        if once
            && bank == Bank::R
            && let Some(Some(known)) = known
        {
            let captures = CaptureSource::Object(out, known.captured.clone());
            self.values.insert(out, KnownClosure { function: FunctionId(known.function), captures });
        }
        self.push(site.at, op, vec![out], from, span);
        true
    }

    /// Returns a function if it can be inlined at this point.
    fn callee(&self, id: FunctionId) -> Result<&'p Function, Fallback> {
        match inlinable(self.program, id)? {
            f if self.running.contains(&id) => Err(Fallback::Recursive(f.name.clone())),
            _ if self.running.len() >= MAX_DEPTH => Err(Fallback::TooDeep(MAX_DEPTH)),
            f if self.steps + size(f) > MAX_STEPS => Err(Fallback::TooLarge(MAX_STEPS)),
            f => Ok(f),
        }
    }

    /// Inlines a call into the graph.
    fn call(
        &mut self,
        site: &mut CallSite<'_>,
        closure: &KnownClosure,
        outs: &[Reg],
        args: &[Reg],
        call: &Instruction,
    ) -> bool {
        let id = closure.function;
        let f = match self.callee(id) {
            Ok(f) => f,
            Err(why) => return self.refuse(site.at, why),
        };
        let first = self.copy_registers(f);
        let single = written_once(f);
        for (own, arg) in f.params.iter().zip(args) {
            let param = Reg(own.0 + first);
            if single[own.0 as usize]
                && let Some(closure) = self.values.get(arg).cloned()
            {
                self.values.insert(param, closure);
            }
            self.push(site.at, Op::Copy, vec![param], vec![*arg], call.span);
        }
        // The block is split: the steps after the call follow in a new block, and the steps of the function begin in
        // the current block.
        let after = BlockId(self.blocks.len() as u32);
        self.blocks.extend([Block::default(), Block::default()]);
        self.blocks[site.at.0 as usize].end = Some(Terminator::Jump(BlockId(after.0 + 1)));
        self.function(id, f, first, &closure.captures, Some(&Continuation { outs, to: after }));
        site.at = after;
        true
    }
}

/// The site of an inlined call: the registers and the captured values of the function whose steps are copied.
struct CallSite<'c> {
    at: BlockId,
    first: u32,
    /// The registers that are written by a single step.
    single: &'c [bool],
    captures: &'c CaptureSource,
    /// The banks of the captured values.
    banks: &'c [Bank],
}

impl CallSite<'_> {
    fn here(&self, reg: Reg) -> Reg {
        Reg(reg.0 + self.first)
    }
}

/// Returns for each register whether a single step writes it; emptying a register is not counted as a write.
pub fn written_once(f: &Function) -> Vec<bool> {
    let mut writes = vec![0u32; f.registers.len()];
    f.params.iter().for_each(|r| writes[r.0 as usize] += 1);
    let steps = f.blocks.iter().flat_map(|b| &b.instructions).filter(|step| step.op != Op::Null);
    steps.flat_map(|step| &step.outs).for_each(|r| writes[r.0 as usize] += 1);
    writes.into_iter().map(|n| n == 1).collect()
}

/// Whether a step only performs arithmetic, or reads and writes objects that its own registers hold.
fn is_supported(op: &Op) -> bool {
    let Effects { memory, access, .. } = effects(op);
    match memory {
        Memory::None => access == MemoryAccess::None,
        Memory::Record | Memory::Array => true,
        Memory::Box | Memory::Global => access == MemoryAccess::Read,
        Memory::Text | Memory::Closure | Memory::Instance | Memory::ValueStack | Memory::Any => false,
    }
}
