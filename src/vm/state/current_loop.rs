//! Current loop: determines the running loop and its iteration, for error messages.

use crate::bytecode::operand::{Access, Role};
use crate::bytecode::{Code, Instruction};
use crate::source::Span;
use crate::value::Bank;
use crate::vm::fault::{Fault, Remark};
use crate::vm::state::machine::Machine;
use crate::vm::state::stacks::Frame;

/// The counter of a loop: its value, its first value, and its end value, if the end value is constant.
pub(crate) struct LoopCounter {
    pub now: i64,
    pub from: i64,
    pub to: Option<i64>,
}

/// A loop that is running.
struct RunningLoop {
    /// The source location of the head of the loop.
    span: Span,
    /// The number of completed iterations of the loop, when the loop has a counter.
    iterations: Option<i64>,
}

impl Machine {
    /// Adds the loop whose iterations filled the tape, and suggestions, to a fault.
    pub(crate) fn explain_full_tape(&self, fault: Box<Fault>) -> Box<Fault> {
        let fault = match self.filling_loop() {
            None => fault,
            Some(RunningLoop { span, iterations }) => {
                let used = self.levels.pool().borrow().used();
                let text = match iterations.and_then(|n| u64::try_from(n).ok()).filter(|n| *n > 0) {
                    Some(n) => format!("about {n} iterations of this loop are recorded, {} bytes each", used / n),
                    None => "the iterations of this loop are recorded".into(),
                };
                fault.remark(Remark::There(span, text)).remark(Remark::Help(
                    "to recompute values instead of storing them, write 'checkpoint' before the loop, or 'checkpoint { \
                     … }' around a part of it"
                        .into(),
                ))
            }
        };
        fault
            .remark(Remark::Note("reverse mode stores every intermediate value".into()))
            .remark(Remark::Help(
                "if there are few inputs, use forward mode, which needs no tape: 'derivative(at:in:)'".into(),
            ))
            .remark(Remark::Help("to allow more memory, use '--max-tape 8GiB'".into()))
    }

    /// Returns the outermost loop inside the differentiated function.
    fn filling_loop(&self) -> Option<RunningLoop> {
        let operator = self.frames.iter().position(|frame| self.is_task(frame))?;
        self.frames[operator..].iter().find_map(|frame| {
            let (code, at) = self.executed(frame).filter(|(code, _)| !code.is_prelude)?;
            let loop_ends = around(code, at).max_by_key(|(head, back)| back - head)?;
            let iterations =
                self.counted(frame, code, loop_ends).and_then(|counted| counted.now.checked_sub(counted.from));
            Some(RunningLoop { span: code.spans.get(loop_ends.1).copied()?, iterations })
        })
    }

    /// Returns the iteration, from 1, of the innermost running loop of a frame, if the loop has a counter.
    pub(crate) fn iteration(&self, frame: &Frame) -> Option<i64> {
        let (code, at) = self.executed(frame)?;
        let loop_ends = around(code, at).min_by_key(|(head, back)| back - head)?;
        let LoopCounter { now, from, .. } = self.counted(frame, code, loop_ends)?;
        now.checked_sub(from)?.checked_add(1).filter(|iteration| *iteration > 0)
    }

    /// Returns the counter of a loop, if any.
    pub(crate) fn counted(&self, frame: &Frame, code: &Code, (head, back): (usize, usize)) -> Option<LoopCounter> {
        let (register, from) = counter(code, head, back)?;
        let value = |register: usize| self.stacks.i.get(frame.base[1] as usize + register).copied();
        let to = match code.instructions.get(back)? {
            Instruction::LoopLtI { n, .. } => value(usize::from(n.0)),
            Instruction::LoopLtIK { k, .. } => Some(i64::from(k.0)),
            _ => None,
        };
        Some(LoopCounter { now: value(register)?, from, to })
    }
}

/// Returns the loops around an instruction: the first instruction of each loop, and the instruction that jumps back to
/// the first.
pub(crate) fn around(code: &Code, at: usize) -> impl Iterator<Item = (usize, usize)> {
    code.instructions.iter().enumerate().skip(at).filter_map(move |(back, instruction)| {
        let mut head = None;
        instruction.visit(&mut |field| {
            if field.role == Role::Jump {
                head = (back + 1).checked_add_signed(field.number as isize).filter(|head| *head <= at);
            }
        });
        Some((head?, back))
    })
}

/// Returns the register that counts the iterations of a loop, and its first value.
fn counter(code: &Code, head: usize, back: usize) -> Option<(usize, i64)> {
    let (Instruction::LoopLtI { i, .. } | Instruction::LoopLtIK { i, .. }) = code.instructions.get(back)? else {
        return None;
    };
    let before = code.instructions[..head].iter().rev().find(|instruction| writes(instruction, i.0.into()))?;
    match before {
        Instruction::SetI { value, .. } => Some((usize::from(i.0), i64::from(value.0))),
        _ => None,
    }
}

/// Whether an instruction writes to a given integer register.
fn writes(instruction: &Instruction, register: i64) -> bool {
    let mut writes = false;
    instruction.visit(&mut |field| {
        let is_written = matches!(field.role, Role::Register(Bank::I, access) if access != Access::In);
        writes |= is_written && field.number == register;
    });
    writes
}
