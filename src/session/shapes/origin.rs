//! Origin of a shape: the expression that created a tensor, for messages about shapes that do not fit.

use crate::ir::{Function, Instruction, Op, Program, Reg};
use crate::source::Span;
use crate::value::Bank;

/// The largest number of copies and calls that are followed.
const MAX_STEPS: usize = 32;

/// A step of a function: the indices of its block and of the instruction in the block.
#[derive(Clone, Copy)]
pub(super) struct Position {
    pub(super) block: usize,
    pub(super) index: usize,
}

/// A step of a function, with the function.
pub(super) type Site<'p> = (&'p Function, Position);

/// Returns the source locations at which the tensors among the operands of a step were created, in the order of the
/// operands. `calls` are the calls that led to the function, innermost first.
pub(super) fn origins(program: &Program, (function, at): Site<'_>, calls: &[Site<'_>]) -> Vec<Span> {
    let Some(step) = step_of((function, at)) else { return vec![] };
    // A tensor consists of a number, which carries the slot, and a reference.
    let banks = |reg: &Reg| function.registers.get(reg.0 as usize).map(|register| register.bank);
    let is_tensor = |pair: &&[Reg]| matches!(pair, [f, r] if banks(f) == Some(Bank::F) && banks(r) == Some(Bank::R));
    step.ins.windows(2).filter(is_tensor).map(|pair| origin(program, function, pair[1], Some(at), calls)).collect()
}

/// Returns the calls at source locations, innermost first, that led to a function.
pub(super) fn call_sites<'p>(program: &'p Program, function: &Function, spans: &[Span]) -> Vec<Site<'p>> {
    let mut callee = function;
    let mut sites = vec![];
    for span in spans {
        let is_call = |step: &Instruction| {
            let Op::Call(id) = step.op else { return false };
            program.function(id).is_some_and(|called| std::ptr::eq(&**called, callee))
        };
        let Some(site) = step_at(program, *span, is_call) else { break };
        sites.push(site);
        callee = site.0;
    }
    sites
}

/// Returns the instruction of a site.
pub(super) fn step_of<'p>((function, at): Site<'p>) -> Option<&'p Instruction> {
    function.blocks.get(at.block)?.instructions.get(at.index)
}

/// Returns the step of the program's own code that applies an operation of tensors at a source location.
pub(super) fn failed_step(program: &Program, span: Span) -> Option<Site<'_>> {
    let is_operation = |step: &Instruction| matches!(step.op, Op::Native { name, .. } if name.starts_with("tensor."));
    step_at(program, span, is_operation)
}

fn step_at(program: &Program, span: Span, matches: impl Fn(&Instruction) -> bool) -> Option<Site<'_>> {
    let functions = program.functions.iter().flatten().filter(|function| !function.is_prelude);
    functions.map(|function| &**function).find_map(|function| {
        let position = function.blocks.iter().enumerate().find_map(|(block, code)| {
            let index = code.instructions.iter().position(|step| step.span == span && matches(step))?;
            Some(Position { block, index })
        })?;
        Some((function, position))
    })
}

/// Follows a reference to the step that created it.
fn origin(program: &Program, function: &Function, reg: Reg, before: Option<Position>, calls: &[Site<'_>]) -> Span {
    let (mut function, mut reg, mut before, mut calls) = (function, reg, before, calls);
    let mut span = Span::default();
    for _ in 0..MAX_STEPS {
        let Some((position, step)) = definition(function, reg, before) else {
            let Some(parameter) = function.params.iter().position(|param| *param == reg) else { return span };
            let declared = function.parameters.iter().find(|p| (p.first..p.first + p.len).contains(&parameter));
            span = declared.map_or(span, |parameter| parameter.span);
            let Some((call, outer)) = calls.split_first() else { return span };
            let Some(argument) = step_of(*call).and_then(|step| step.ins.get(parameter)) else { return span };
            (function, reg, before, calls) = (call.0, *argument, Some(call.1), outer);
            continue;
        };
        span = step.span;
        match (&step.op, step.ins.first()) {
            (Op::Copy | Op::Take, Some(from)) => (reg, before) = (*from, Some(position)),
            (Op::LoadGlobal { bank, index }, _) => match stored(program, *bank, *index) {
                Some((owner, at, from)) => (function, reg, before) = (owner, from, Some(at)),
                None => return span,
            },
            _ => return span,
        }
    }
    span
}

/// Returns the step that wrote a register: the last one before a position in the same block, or the only one of the
/// function.
fn definition(function: &Function, reg: Reg, before: Option<Position>) -> Option<(Position, &Instruction)> {
    if let Some(Position { block, index }) = before {
        let earlier = function.blocks[block].instructions[..index].iter().enumerate().rev();
        let writer = earlier.into_iter().find(|(_, step)| step.outs.contains(&reg));
        if let Some((index, step)) = writer {
            return Some((Position { block, index }, step));
        }
    }
    let all = function.blocks.iter().enumerate().flat_map(|(block, code)| {
        code.instructions.iter().enumerate().map(move |(index, step)| (Position { block, index }, step))
    });
    let mut writers = all.filter(|(_, step)| step.outs.contains(&reg));
    writers.next().filter(|_| writers.next().is_none())
}

/// Returns the only step that stores a global component, and the register that it stores.
pub(super) fn stored(program: &Program, bank: Bank, index: u32) -> Option<(&Function, Position, Reg)> {
    let place = Op::StoreGlobal { bank, index };
    let mut stores = program.functions.iter().flatten().flat_map(|function| {
        function.blocks.iter().enumerate().flat_map({
            let place = &place;
            move |(block, code)| {
                let steps = code.instructions.iter().enumerate().filter(move |(_, step)| step.op == *place);
                steps
                    .filter_map(move |(index, step)| Some((&**function, Position { block, index }, *step.ins.first()?)))
            }
        })
    });
    stores.next().filter(|_| stores.next().is_none())
}
