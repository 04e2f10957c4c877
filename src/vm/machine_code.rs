//! Machine code: the compiled parts of a function, and how often the function was found running.

use crate::jit::Compiled;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// The machine code of one part of a function, the whole function or a loop.
#[derive(Clone, Debug, Default)]
pub enum PartState {
    /// The part is not compiled.
    #[default]
    Interpreted,
    /// The part is compiled.
    Compiled(Rc<Compiled>),
    /// The part is not compiled any more, or cannot be compiled.
    Refused,
}

/// One part of a function.
#[derive(Debug, Default)]
pub struct PartCode {
    /// The machine code of the part.
    pub state: RefCell<PartState>,
    /// The number of times that the part was found running.
    pub seen: Cell<u32>,
    /// The number of times in succession that the machine code was left soon after it was entered.
    pub short_runs: Cell<u32>,
}

/// The machine code of a function.
#[derive(Debug, Default)]
pub struct MachineCode {
    /// The whole function.
    pub function: PartCode,
    /// The loops, by the index of their first instruction.
    pub loops: RefCell<Vec<(usize, Rc<PartCode>)>>,
}

impl PartCode {
    /// Notes that the part was found running; returns the number of times.
    pub fn observe(&self) -> u32 {
        self.seen.set(self.seen.get().saturating_add(1));
        self.seen.get()
    }

    /// Notes that the part has run for as long as `times` ordinary runs.
    pub fn observe_run(&self, times: u32) -> u32 {
        self.seen.set(self.seen.get().saturating_add(times));
        self.seen.get()
    }

    /// Whether the part may be compiled.
    pub fn is_interpreted(&self) -> bool {
        matches!(*self.state.borrow(), PartState::Interpreted)
    }
}

impl MachineCode {
    /// Returns the loop that begins at an instruction.
    pub fn loop_at(&self, head: usize) -> Rc<PartCode> {
        let mut loops = self.loops.borrow_mut();
        if let Some((_, known)) = loops.iter().find(|(at, _)| *at == head) {
            return Rc::clone(known);
        }
        let new = Rc::new(PartCode::default());
        loops.push((head, Rc::clone(&new)));
        new
    }
}
