//! Current location: determines the source location that the program has reached.

use crate::bytecode::{Code, Instruction};
use crate::source::Span;
use crate::vm::fault::{BacktraceEntry, Fault};
use crate::vm::state::machine::Machine;
use crate::vm::state::stacks::Frame;

impl Machine {
    /// Adds the source location and the running calls to a fault. Calls inside of the standard library are omitted,
    /// because the user cannot change its code.
    pub(in crate::vm) fn locate(&self, fault: &mut Fault) {
        if !fault.backtrace.is_empty() {
            return;
        }
        let places = || self.frames.iter().rev().filter_map(|frame| Some((frame, self.place(frame)?)));
        let user = || places().filter(|(_, (code, _))| !code.is_prelude);
        if fault.span == Span::default() {
            fault.span = self.user_span();
        }
        let call = |(frame, (code, span)): (&Frame, (&Code, Span))| BacktraceEntry {
            name: code.name.clone(),
            span,
            iteration: self.iteration(frame),
        };
        fault.backtrace = user().map(call).collect();
        fault.cap();
    }

    /// Returns the current source location in the innermost function of the program, or of the library if no function
    /// of the program is running.
    pub(in crate::vm) fn user_span(&self) -> Span {
        let places = || self.frames.iter().rev().filter_map(|frame| self.place(frame));
        let user = places().find(|(code, _)| !code.is_prelude);
        user.or_else(|| places().next()).map(|(_, span)| span).unwrap_or_default()
    }

    /// Whether a frame runs code of the library.
    pub(in crate::vm) fn is_prelude(&self, frame: &Frame) -> bool {
        self.place(frame).is_none_or(|(code, _)| code.is_prelude)
    }

    /// Returns the code of a frame, and the source location of the instruction that it executed last.
    pub(in crate::vm) fn place(&self, frame: &Frame) -> Option<(&Code, Span)> {
        let (code, at) = self.executed(frame)?;
        Some((code, code.spans.get(at).copied().unwrap_or_default()))
    }

    /// Returns the code of a frame, and the index of the instruction that it executed last; `None` for the machine's
    /// own frames.
    pub(in crate::vm) fn executed(&self, frame: &Frame) -> Option<(&Code, usize)> {
        // SAFETY: the entry of a frame lives as long as the machine, which is borrowed.
        #[allow(unsafe_code)]
        let code: &Code = &unsafe { &*frame.entry }.code;
        if matches!(code.instructions.first(), Some(Instruction::Halt {} | Instruction::Resume {})) {
            return None;
        }
        let next = (frame.pc as usize).wrapping_sub(code.instructions.as_ptr() as usize) / size_of::<Instruction>();
        Some((code, next.saturating_sub(1)))
    }
}
