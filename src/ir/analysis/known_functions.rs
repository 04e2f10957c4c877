//! Known functions: the function that a register holds, as far as the graph determines the function.

use crate::ir::{Function, FunctionId, Instruction, Op, Program, Reg, Terminator};
use hashbrown::HashMap;

/// The origin of the function in a register.
pub enum ClosureOrigin {
    /// The function object was created by [`Op::Closure`].
    Closure(FunctionId),
    /// No step of the function writes the register: it may be a parameter.
    Elsewhere(Reg),
}

/// The steps of a function that write each register. Clearing a register after its last reader is not counted as a
/// write.
pub struct Writers<'f>(HashMap<Reg, Vec<&'f Instruction>>);

impl<'f> Writers<'f> {
    /// Collects the writes of a function.
    pub fn of(f: &'f Function) -> Writers<'f> {
        let mut found: HashMap<Reg, Vec<&'f Instruction>> = HashMap::new();
        for step in f.blocks.iter().flat_map(|b| &b.instructions).filter(|s| s.op != Op::Null) {
            step.outs.iter().for_each(|r| found.entry(*r).or_default().push(step));
        }
        Writers(found)
    }

    /// Returns the function that a register holds, if a single step writes each register through which the function is
    /// moved and none of these steps is the operation `unless`.
    pub fn made_by(&self, reg: Reg, unless: Option<&Op>) -> Option<FunctionId> {
        match self.origin(reg, unless)? {
            ClosureOrigin::Closure(function) => Some(function),
            ClosureOrigin::Elsewhere(_) => None,
        }
    }

    /// Counts the steps that write a register.
    pub fn count(&self, reg: Reg) -> usize {
        self.0.get(&reg).map_or(0, Vec::len)
    }

    /// Returns the captured values of the function in a register, if a single step writes the register and creates the
    /// function.
    pub fn captured_by(&self, reg: Reg) -> Option<&'f [Reg]> {
        match self.0.get(&reg)?[..] {
            [writer] if matches!(writer.op, Op::Closure(_)) => Some(&writer.ins),
            _ => None,
        }
    }

    /// Traces the function in a register to its origin; see [`Writers::made_by`].
    pub fn origin(&self, mut reg: Reg, unless: Option<&Op>) -> Option<ClosureOrigin> {
        // The length of a chain of copies is limited, since copies in a loop may form a cycle.
        for _ in 0..32 {
            let Some(writers) = self.0.get(&reg) else { return Some(ClosureOrigin::Elsewhere(reg)) };
            let [writer] = writers[..] else { return None };
            if unless == Some(&writer.op) {
                return None;
            }
            match &writer.op {
                Op::Closure(function) => return Some(ClosureOrigin::Closure(*function)),
                Op::Copy | Op::Take | Op::AssertDifferentiable { .. } => reg = *writer.ins.first()?,
                _ => return None,
            }
        }
        None
    }
}

/// Whether a registered derivative returns a closure that it creates itself and that calls no function value: so that
/// the linear map can be examined before the program runs.
pub fn returns_literal_closure(program: &Program, registered: FunctionId) -> bool {
    let Some(f) = program.function(registered) else { return false };
    let writers = Writers::of(f);
    let is_written = |results: &[Reg]| {
        let map = f.result_len.checked_sub(1).and_then(|at| writers.made_by(*results.get(at)?, None));
        map.and_then(|map| program.function(map)).is_some_and(|map| {
            !map.blocks.iter().flat_map(|b| &b.instructions).any(|step| matches!(step.op, Op::CallValue))
        })
    };
    f.blocks.iter().all(|block| match &block.end {
        Some(Terminator::Return(results)) => is_written(results),
        _ => true,
    })
}
