//! Lost tangents: the source locations at which tangents were lost, and the origins of integers and strings that
//! functions pass to each other.

use crate::bytecode::Instruction;
use crate::tape::Num;
use crate::vm::fault::Fault;
use std::rc::Rc;

/// The log of the lost tangents of a run.
#[derive(Default)]
pub struct LostTangentLog {
    /// The lost tangents, in the order of detection.
    pub(crate) places: Vec<Rc<LostTangent>>,
    /// The numbers from which integers and strings were computed, passed between functions.
    pub(crate) transfers: OriginTransfers,
}

/// A step at which a tangent was lost. On a tape, this object represents the function that takes the adjoint of the
/// result.
pub struct LostTangent {
    /// The instruction that lost the tangent.
    pub(crate) step: *const Instruction,
    pub(crate) fault: Fault,
}

impl LostTangent {
    /// Returns the fault that stops the program because it needs the lost tangent.
    pub fn fault(&self) -> Box<Fault> {
        Box::new(self.fault.clone())
    }
}

impl LostTangentLog {
    /// Clears the log of lost tangents, at the beginning of a run.
    pub fn clear(&mut self) {
        self.places.clear();
        self.transfers.clear();
    }
}

/// Origins that one frame passes to another, by the number of the argument or result that was computed from these
/// origins.
#[derive(Default)]
pub(crate) struct OriginTransfer {
    pub(crate) numbers: Vec<(u32, Num)>,
    /// The depth of the frame that receives the origins.
    pub(crate) to: usize,
}

impl OriginTransfer {
    /// Sends an origin of one argument or result to a frame.
    pub(crate) fn send(&mut self, to: usize, of: u32, number: Num) {
        if self.to != to {
            self.numbers.clear();
            self.to = to;
        }
        self.numbers.push((of, number));
    }

    /// Returns the origins that were passed to a frame for one argument or result.
    pub(crate) fn find(&self, frame: usize, of: u32) -> Vec<Num> {
        if self.to != frame {
            return vec![];
        }
        self.numbers.iter().filter(|(for_, _)| *for_ == of).map(|(_, number)| *number).collect()
    }
}

/// The origins of integers and strings that functions pass to each other.
#[derive(Default)]
pub(crate) struct OriginTransfers {
    /// The origins of the results of the last returned function, for its caller.
    pub(crate) results: OriginTransfer,
    /// The origins of the arguments of the next called function.
    pub(crate) arguments: OriginTransfer,
}

impl OriginTransfers {
    /// Forwards the origins of the arguments of a frame to the function that the frame calls with these arguments.
    pub(crate) fn forward_origins(&mut self, frame: usize) {
        if self.arguments.to == frame {
            self.arguments.to += 1;
        }
    }

    /// Returns the numbers from which the arguments of the next called function were computed.
    pub(crate) fn argument_origins(&self, frames: usize) -> impl Iterator<Item = Num> {
        let is_next = self.arguments.to == frames + 1;
        self.arguments.numbers.iter().filter(move |_| is_next).map(|(_, number)| *number)
    }

    /// Clears the origins that callers and functions that have returned have passed.
    pub(crate) fn clear(&mut self) {
        self.results.numbers.clear();
        self.arguments.numbers.clear();
    }
}
