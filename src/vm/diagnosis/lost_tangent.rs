//! Lost tangents: where numbers lost their tangents, and what functions hand each other of what integers and texts were
//! made of.

use crate::bytecode::Instruction;
use crate::tape::Num;
use crate::vm::fault::Fault;
use std::rc::Rc;

/// Where tangents were lost in a run.
#[derive(Default)]
pub struct LostTangentLog {
    /// The places, in order.
    pub(crate) places: Vec<Rc<LostTangent>>,
    /// What functions leave for each other of integers and texts.
    pub(crate) transfers: Transfers,
}

/// A place where a tangent was lost: the function that takes the adjoint of the result.
pub struct LostTangent {
    /// The instruction.
    pub(crate) step: *const Instruction,
    pub(crate) fault: Fault,
}

impl LostTangent {
    /// Why the program stops.
    pub fn fault(&self) -> Box<Fault> {
        Box::new(self.fault.clone())
    }
}

impl LostTangentLog {
    /// A new run begins.
    pub fn clear(&mut self) {
        self.places.clear();
        self.transfers.forget();
    }
}

/// Numbers that one frame leaves for another, by the number of the argument or result that was made of them.
#[derive(Default)]
pub(crate) struct Transfer {
    pub(crate) numbers: Vec<(u32, Num)>,
    /// How many frames there are where they go.
    pub(crate) to: usize,
}

impl Transfer {
    /// Leaves a number.
    pub(crate) fn leave(&mut self, to: usize, of: u32, number: Num) {
        if self.to != to {
            self.numbers.clear();
            self.to = to;
        }
        self.numbers.push((of, number));
    }

    /// What was left for a frame.
    pub(crate) fn find(&self, frame: usize, of: u32) -> Vec<Num> {
        if self.to != frame {
            return vec![];
        }
        self.numbers.iter().filter(|(for_, _)| *for_ == of).map(|(_, number)| *number).collect()
    }
}

/// What functions leave for each other.
#[derive(Default)]
pub(crate) struct Transfers {
    /// For the caller of the function that returned last, its results.
    pub(crate) results: Transfer,
    /// For the function that is called next, its arguments.
    pub(crate) arguments: Transfer,
}

impl Transfers {
    /// Hands on what was left for the arguments of this frame to the function that it calls with the same ones.
    pub(crate) fn hand_on(&mut self, frame: usize) {
        if self.arguments.to == frame {
            self.arguments.to += 1;
        }
    }

    /// What the arguments of the function that is called next were made of.
    pub(crate) fn given(&self, frames: usize) -> impl Iterator<Item = Num> {
        let is_next = self.arguments.to == frames + 1;
        self.arguments.numbers.iter().filter(move |_| is_next).map(|(_, number)| *number)
    }

    /// Forgets what functions that have returned, and callers, have left.
    pub(crate) fn forget(&mut self) {
        self.results.numbers.clear();
        self.arguments.numbers.clear();
    }
}
