//! Flow: the jumps and loops of a function, and the registers whose values are needed later.

use super::Signatures;
use super::effects::{consumes_window, effects, window};
use super::site::Register;
use crate::bytecode::operand::Role;
use crate::bytecode::{Code, Instruction};
use crate::value::Bank;
use std::ops::RangeInclusive;

/// A set of the number and integer registers of a function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Registers {
    words: Vec<u64>,
}

/// The flow of control and values in a function.
#[derive(Debug)]
pub struct Flow {
    /// The target of the jump of each instruction, if it jumps.
    pub targets: Vec<Option<usize>>,
    /// The loops: the head, and the last instruction that jumps back to it.
    pub loops: Vec<RangeInclusive<usize>>,
    /// The references that each instruction writes, modifies or empties.
    pub references_written: Vec<Vec<u16>>,
    live: Vec<Registers>,
    numbers: usize,
}

impl Registers {
    fn none(count: usize) -> Registers {
        Registers { words: vec![0; count.div_ceil(64)] }
    }

    fn insert(&mut self, index: usize) {
        self.words[index / 64] |= 1 << (index % 64);
    }

    fn remove(&mut self, index: usize) {
        self.words[index / 64] &= !(1 << (index % 64));
    }

    fn contains(&self, index: usize) -> bool {
        self.words[index / 64] & (1 << (index % 64)) != 0
    }

    /// Adds the registers of another set; returns whether the set has changed.
    fn add(&mut self, other: &Registers) -> bool {
        let mut changed = false;
        for (word, more) in self.words.iter_mut().zip(&other.words) {
            changed |= *more & !*word != 0;
            *word |= more;
        }
        changed
    }
}

/// Returns the index to which an instruction jumps, if it jumps.
pub fn target(code: &Code, at: usize) -> Option<usize> {
    let mut found = None;
    code.instructions[at].visit(&mut |field| {
        if field.role == Role::Jump {
            found = (at + 1).checked_add_signed(field.number as isize);
        }
    });
    found
}

impl Flow {
    /// Analyzes a function with the given number of number and integer registers.
    pub fn of(code: &Code, [numbers, integers]: [usize; 2], signature: Signatures<'_>) -> Flow {
        let count = code.instructions.len();
        let targets: Vec<Option<usize>> = (0..count).map(|at| target(code, at)).collect();
        let total = numbers + integers;
        let index = |(bank, register): Register| match bank {
            Bank::F => Some(usize::from(register)),
            Bank::I => Some(numbers + usize::from(register)),
            Bank::R => None,
        };
        let mut references_written = vec![];
        let effects: Vec<[Vec<usize>; 2]> = (0..count)
            .map(|at| {
                let effects = effects(code, at, signature);
                let references = effects.written.iter().filter(|(bank, _)| *bank == Bank::R);
                references_written.push(references.map(|(_, register)| *register).collect());
                let lost = consumes_window(&code.instructions[at]).then(|| window(code, code.window));
                let written = effects.written.into_iter().chain(lost.into_iter().flatten());
                [effects.read.into_iter().filter_map(index).collect(), written.filter_map(index).collect()]
            })
            .collect();
        let mut live = vec![Registers::none(total); count];
        loop {
            let mut changed = false;
            for at in (0..count).rev() {
                let mut after = Registers::none(total);
                if !code.instructions[at].opcode().is_end() && at + 1 < count {
                    after.add(&live[at + 1]);
                }
                if let Some(target) = targets[at] {
                    after.add(&live[target]);
                }
                let [read, written] = &effects[at];
                written.iter().for_each(|register| after.remove(*register));
                read.iter().for_each(|register| after.insert(*register));
                changed |= live[at].add(&after);
            }
            if !changed {
                break;
            }
        }
        let loops = loops(&targets);
        // The counters of loops occur in error messages, so they are needed at every point of their loops.
        for around in &loops {
            let counter = match code.instructions[*around.end()] {
                Instruction::LoopLtI { i, n, .. } => [Some(i.0), Some(n.0)],
                Instruction::LoopLtIK { i, .. } => [Some(i.0), None],
                _ => [None, None],
            };
            for register in counter.into_iter().flatten() {
                live[around.clone()].iter_mut().for_each(|live| live.insert(numbers + usize::from(register)));
            }
        }
        Flow { targets, loops, references_written, live, numbers }
    }

    /// Returns the registers whose values are needed when the instruction is executed next.
    pub fn live(&self, at: usize) -> impl Iterator<Item = Register> + '_ {
        let numbers = self.numbers;
        let live = &self.live[at];
        (0..64 * live.words.len()).filter(|index| live.contains(*index)).map(move |index| {
            if index < numbers { (Bank::F, index as u16) } else { (Bank::I, (index - numbers) as u16) }
        })
    }

    /// Returns for each instruction whether it ends a straight run: it jumps, or an instruction jumps to it.
    pub fn block_ends(&self, code: &Code) -> Vec<bool> {
        let ends = |at: usize| self.targets[at].is_some() || code.instructions[at].opcode().is_end();
        let mut found: Vec<bool> = (0..self.targets.len()).map(ends).collect();
        for target in self.targets.iter().flatten() {
            if let Some(end) = found.get_mut(*target) {
                *end = true;
            }
        }
        found
    }

    /// Returns the innermost loop that begins at an instruction.
    pub fn loop_at(&self, head: usize) -> Option<RangeInclusive<usize>> {
        self.loops.iter().find(|around| *around.start() == head).cloned()
    }
}

/// Returns the loops whose only entry is their head.
fn loops(targets: &[Option<usize>]) -> Vec<RangeInclusive<usize>> {
    let mut found: Vec<RangeInclusive<usize>> = vec![];
    for (at, target) in targets.iter().enumerate() {
        let Some(head) = target.filter(|target| *target <= at) else { continue };
        match found.iter_mut().find(|known| *known.start() == head) {
            Some(known) => *known = head..=at,
            None => found.push(head..=at),
        }
    }
    let enters = |around: &RangeInclusive<usize>| {
        targets.iter().enumerate().any(|(from, target)| {
            !around.contains(&from) && target.is_some_and(|to| around.contains(&to) && to != *around.start())
        })
    };
    found.retain(|around| !enters(around));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_have_one_entry() {
        // A loop of three instructions, and a jump into the middle of another one, which ends a loop of its own.
        let targets = [None, None, Some(0), None, None, Some(3), Some(4)];
        assert_eq!(loops(&targets), [0..=2, 4..=6]);
        assert_eq!(loops(&targets[..6]), [0..=2, 3..=5]);
    }
}
