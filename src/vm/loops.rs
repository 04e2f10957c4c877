//! Which loop the program is in, for people: what filled a tape.

use super::fault::{Fault, Remark};
use super::machine::Machine;
use crate::bytecode::operand::Role;
use crate::bytecode::{Code, Instruction};
use crate::source::Span;

/// A loop that is running.
struct Turning {
    /// Its head.
    span: Span,
    /// How many rounds are through, when the loop counts.
    rounds: Option<i64>,
}

impl Machine {
    /// Adds to a fault which loop filled the tape, and the ways out.
    pub(super) fn explain_full_tape(&self, fault: Box<Fault>) -> Box<Fault> {
        let fault = match self.filling_loop() {
            None => fault,
            Some(Turning { span, rounds }) => {
                let used = self.levels.pool().borrow().used();
                let text = match rounds.and_then(|n| u64::try_from(n).ok()).filter(|n| *n > 0) {
                    Some(n) => format!("about {n} rounds of this loop are recorded, {} bytes each", used / n),
                    None => "the rounds of this loop are recorded".into(),
                };
                fault.remark(Remark::There(span, text)).remark(Remark::Help(
                    "compute again instead of remembering: write 'checkpoint' in front of the loop, or \
                     'checkpoint { … }' around a part of it"
                        .into(),
                ))
            }
        };
        fault
            .remark(Remark::Note("reverse mode remembers every intermediate value".into()))
            .remark(Remark::Help("of few inputs, forward mode needs no tape: 'derivative(at:in:)'".into()))
            .remark(Remark::Help("or allow more: '--max-tape 8GiB'".into()))
    }

    /// The outermost loop inside of what is differentiated.
    fn filling_loop(&self) -> Option<Turning> {
        let operator = self.frames.iter().position(|frame| self.is_task(frame))?;
        self.frames[operator..].iter().find_map(|frame| {
            let (code, at) = self.executed(frame).filter(|(code, _)| !code.is_prelude)?;
            let (head, back) = outermost(code, at)?;
            let rounds = counter(code, head, back).and_then(|(register, from)| {
                let now = self.stacks.i.get(frame.base[1] as usize + register)?;
                now.checked_sub(from)
            });
            Some(Turning { span: code.spans.get(back).copied()?, rounds })
        })
    }
}

/// The outermost loop around an instruction: its first instruction, and the one that jumps back to it.
fn outermost(code: &Code, at: usize) -> Option<(usize, usize)> {
    let mut found = None;
    for (back, instruction) in code.instructions.iter().enumerate().skip(at) {
        instruction.visit(&mut |field| {
            if field.role == Role::Jump
                && let Some(head) = (back + 1).checked_add_signed(field.number as isize)
                && head <= at
                && found.is_none_or(|(first, _)| head <= first)
            {
                found = Some((head, back));
            }
        });
    }
    found
}

/// The register that counts the rounds of a loop, and where it began.
fn counter(code: &Code, head: usize, back: usize) -> Option<(usize, i64)> {
    let (Instruction::LoopLtI { i, .. } | Instruction::LoopLtIK { i, .. }) = code.instructions.get(back)? else {
        return None;
    };
    let start = code.instructions[..head].iter().rev().find_map(|instruction| match instruction {
        Instruction::SetI { out, value } if out.0 == i.0 => Some(i64::from(value.0)),
        _ => None,
    })?;
    Some((usize::from(i.0), start))
}
