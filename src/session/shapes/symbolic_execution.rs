//! Symbolic execution: follows the steps of a function as far as sizes and shapes are known without running it.

use super::origin::{self, Position, Site};
use super::post_dominator::PostDominator;
use super::symbolic_frame::{KnownRegisters, SymbolicFrame};
use super::symbolic_value::{SymbolicObject, SymbolicValue};
use crate::ir::{FunctionId, Instruction, Op, Program, Terminator};
use crate::native::library::{self, Failure, FailureKind, Host, Native, NativeContext, NativeRegisters};
use crate::native::tensor::{ShapeEvaluator, has_known_shape, without_scalars, zeros_of_shape};
use crate::source::Span;
use crate::value::Bank;
use crate::value::shape::ShapeId;
use hashbrown::HashMap;
use std::rc::Rc;

/// The largest number of steps that are followed for one module.
const MAX_STEPS: usize = 50_000;
/// The largest number of nested calls that are followed.
const MAX_DEPTH: usize = 32;
/// The largest number of nested branches of which both successors are followed.
const MAX_BRANCHES: usize = 8;
/// The beginning of the names of native functions that create random tensors of a given shape.
const RANDOM: &str = "tensor.random";

/// An operation of tensors whose operands do not fit.
pub(super) struct Mismatch {
    /// The source location of the operation.
    pub(super) span: Span,
    /// The failure that the operation reports.
    pub(super) failure: Failure,
    /// The source locations at which the operands were created.
    pub(super) origins: Vec<Span>,
}

/// The state of a symbolic execution.
pub(super) struct SymbolicExecution<'p> {
    program: &'p Program,
    host: Host,
    evaluator: ShapeEvaluator,
    globals: HashMap<(Bank, u32), SymbolicValue>,
    is_constant: HashMap<(Bank, u32), bool>,
    steps_left: usize,
    /// The calls that are followed, outermost first.
    calls: Vec<Site<'p>>,
}

impl<'p> SymbolicExecution<'p> {
    /// Creates the state for the functions of a program.
    pub(super) fn new(program: &'p Program) -> SymbolicExecution<'p> {
        SymbolicExecution {
            program,
            host: Host::silent(),
            evaluator: ShapeEvaluator::default(),
            globals: HashMap::new(),
            is_constant: HashMap::new(),
            steps_left: MAX_STEPS,
            calls: vec![],
        }
    }

    /// Follows a function whose arguments and captured values are unknown.
    ///
    /// # Errors
    /// Fails if an operation is reached whose operands do not fit.
    pub(super) fn run(&mut self, id: FunctionId) -> Result<(), Box<Mismatch>> {
        let Some(function) = self.program.function(id) else { return Ok(()) };
        self.follow(SymbolicFrame::new(function), 0, None, &mut vec![]).map(drop)
    }

    /// Follows the blocks of a function from a block to another one, or to the end. Returns the results of the function,
    /// if they are known; `branches` are the blocks between whose successors the execution is undecided.
    fn follow(
        &mut self,
        mut frame: SymbolicFrame<'p>,
        from: usize,
        to: Option<usize>,
        branches: &mut Vec<usize>,
    ) -> Result<Option<Vec<SymbolicValue>>, Box<Mismatch>> {
        let function = frame.function;
        let mut block = from;
        while Some(block) != to {
            let code = &function.blocks[block];
            for (index, step) in code.instructions.iter().enumerate() {
                if self.steps_left == 0 {
                    return Ok(None);
                }
                self.steps_left -= 1;
                crate::cancel::check();
                self.step(&mut frame, step, Position { block, index })?;
            }
            block = match &code.end {
                Some(Terminator::Jump(to)) => to.0 as usize,
                Some(Terminator::Branch { condition, then, otherwise }) => match frame.get(*condition).integer() {
                    Some(0) => otherwise.0 as usize,
                    Some(_) => then.0 as usize,
                    None => {
                        let is_repeated = branches.contains(&block) || branches.len() == MAX_BRANCHES;
                        let meeting = (!is_repeated).then(|| PostDominator::of(function, block)).flatten();
                        if !is_repeated {
                            branches.push(block);
                            for arm in [then, otherwise] {
                                let end = meeting.as_ref().map(|meeting| meeting.block);
                                self.follow(frame.clone(), arm.0 as usize, end, branches)?;
                            }
                            branches.pop();
                        }
                        let Some(meeting) = meeting else { return Ok(None) };
                        frame.forget_results(&meeting.region);
                        meeting.block
                    }
                },
                Some(Terminator::Return(results)) => {
                    return Ok(Some(results.iter().map(|reg| frame.get(*reg)).collect()));
                }
                Some(Terminator::Trap(_)) | None => return Ok(None),
            };
        }
        Ok(None)
    }

    fn step(
        &mut self,
        frame: &mut SymbolicFrame<'p>,
        step: &'p Instruction,
        at: Position,
    ) -> Result<(), Box<Mismatch>> {
        let site = (frame.function, at);
        match &step.op {
            Op::Call(id) => {
                let arguments = step.ins.iter().map(|reg| frame.get(*reg)).collect();
                let results = self.call(site, *id, Rc::default(), arguments)?;
                frame.set_results(step, results);
            }
            Op::CallValue => {
                let mut operands = step.ins.iter().map(|reg| frame.get(*reg));
                let results = match operands.next() {
                    Some(SymbolicValue::Closure(id, captures)) => self.call(site, id, captures, operands.collect())?,
                    _ => None,
                };
                frame.set_results(step, results);
            }
            Op::Operator(operator) if operator.differentiates_at_point() => {
                if let Some(SymbolicValue::Closure(id, captures)) = step.ins.last().map(|reg| frame.get(*reg)) {
                    let count = self.program.function(id).map_or(0, |function| function.params.len());
                    let arguments = step.ins.iter().take(count).map(|reg| frame.get(*reg)).collect();
                    self.call(site, id, captures, arguments)?;
                }
                frame.set_results(step, None);
            }
            Op::Native { name, shapes } => match self.native(frame, step, (name, shapes.as_slice())) {
                Ok(results) => frame.set_results(step, results),
                Err(failure) => return Err(Box::new(self.mismatch(site, failure))),
            },
            Op::LoadGlobal { bank, index } => {
                let place = (*bank, *index);
                let value = self.is_constant(place).then(|| self.globals.get(&place).cloned().unwrap_or_default());
                frame.set_results(step, value.map(|value| vec![value]));
            }
            Op::StoreGlobal { bank, index } => {
                let value = step.ins.first().map(|reg| frame.get(*reg)).unwrap_or_default();
                self.globals.insert((*bank, *index), value);
            }
            _ => frame.execute(step),
        }
        Ok(())
    }

    /// Describes a failed operation. A failure in the library is located at the call in the program.
    fn mismatch(&self, site: Site<'p>, failure: Failure) -> Mismatch {
        let calls: Vec<Site<'_>> = self.calls.iter().rev().copied().collect();
        let sites = std::iter::once(&site).chain(&calls);
        let own = sites.into_iter().find(|(function, _)| !function.is_prelude).unwrap_or(&site);
        let span = origin::step_of(*own).map_or(Span::default(), |step| step.span);
        Mismatch { span, failure, origins: origin::origins(self.program, site, &calls) }
    }

    /// Follows a call; returns the results if they are known.
    fn call(
        &mut self,
        site: Site<'p>,
        id: FunctionId,
        captures: Rc<SymbolicObject>,
        arguments: Vec<SymbolicValue>,
    ) -> Result<Option<Vec<SymbolicValue>>, Box<Mismatch>> {
        let callee = self.program.function(id).filter(|_| self.calls.len() < MAX_DEPTH);
        let Some(callee) = callee else { return Ok(None) };
        let mut frame = SymbolicFrame::with_captures(callee, captures);
        for (param, argument) in callee.params.iter().zip(arguments) {
            frame.set(*param, argument);
        }
        self.calls.push(site);
        let results = self.follow(frame, 0, None, &mut vec![]);
        self.calls.pop();
        results
    }

    /// Whether a global component is stored at a single point of the program.
    fn is_constant(&mut self, (bank, index): (Bank, u32)) -> bool {
        let program = self.program;
        *self.is_constant.entry((bank, index)).or_insert_with(|| {
            let taken = Op::TakeGlobal { index };
            let mut steps =
                program.functions.iter().flatten().flat_map(|f| &f.blocks).flat_map(|block| &block.instructions);
            origin::stored(program, bank, index).is_some() && (bank != Bank::R || !steps.any(|step| step.op == taken))
        })
    }

    /// Calls a native function of tensors with known arguments; fails only if shapes do not fit.
    fn native(
        &mut self,
        frame: &SymbolicFrame<'p>,
        step: &Instruction,
        (name, types): (&str, &[ShapeId]),
    ) -> Result<Option<Vec<SymbolicValue>>, Failure> {
        let mut registers = match frame.arguments(step) {
            Some(registers) => registers,
            // The seed of random numbers is not known, but their shape may be.
            None if name.starts_with(RANDOM) => match frame.references(step) {
                Some(registers) => registers,
                None => return Ok(None),
            },
            None => return Ok(None),
        };
        if name != "value.equal" && !has_known_shape(name, &registers.r) {
            return Ok(None);
        }
        match self.compute(name, types, &mut registers) {
            Ok(()) => {}
            Err(failure) if failure.kind == FailureKind::Shapes => return Err(failure),
            Err(_) => return Ok(None),
        }
        let KnownRegisters { f, i, r } = registers;
        let (mut f, mut i, mut r) = (f.into_iter(), i.into_iter(), r.into_iter());
        let known = step.outs.iter().map(|reg| match frame.bank(*reg) {
            Bank::F => f.next().map(SymbolicValue::Number),
            Bank::I => i.next().map(SymbolicValue::Integer),
            Bank::R => r.next().and_then(|reference| without_scalars(reference).ok()).map(SymbolicValue::of),
        });
        Ok(Some(known.map(Option::unwrap_or_default).collect()))
    }

    /// Calls a native function of tensors on registers, which then have the results.
    fn compute(&mut self, name: &str, types: &[ShapeId], registers: &mut KnownRegisters) -> Result<(), Failure> {
        let KnownRegisters { f, i, r } = registers;
        let native = NativeRegisters { f, slots: &mut [], i, r };
        let (host, evaluator) = (&mut self.host, &mut self.evaluator);
        let mut context = NativeContext::new(&self.program.shapes, types, (host, evaluator), native);
        if name.starts_with(RANDOM) {
            let (kind, sizes) = (context.scalar_kind(0)?, context.integers()?);
            context.return_number(0.0)?;
            return context.return_reference(zeros_of_shape(kind, &sizes)?);
        }
        match library::find(name).and_then(library::get) {
            Some(Native::Function(function)) => {
                (function.call)(&mut context).map_err(|failure| context.with_argument_shapes(failure))
            }
            _ => Err(library::internal()),
        }
    }
}
