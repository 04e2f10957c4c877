//! Code writer: writes instructions, constants and jumps into a code object.

use super::Unencodable;
use super::assign::{Assignment, Place};
use super::graph::Reg;
use crate::bytecode::operand::*;
use crate::bytecode::{AccessSite, Code, Instruction, Opcode, Trailer};
use crate::ir::passes::exclusivity_checks::{Region, StorageId};
use crate::source::Span;
use crate::value::{Bank, Constants};
use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

/// What makes two accesses the same: the storage, the components by bank, the getter that says them.
type AccessKey = (StorageId, [Range<u32>; 3], Option<u16>);

/// A code object that is being written.
#[derive(Debug)]
pub struct Writer<'a> {
    /// What is written.
    pub code: Code,
    /// The place in the text that the next instructions belong to.
    pub span: Span,
    /// Where the current block begins: instructions before it must not be joined with later ones.
    pub block_start: usize,
    /// Whether jumps may be too far for near ones.
    pub far: bool,
    /// In which banks the register after the window was used.
    pub scratch_used: [bool; 3],
    assignment: &'a Assignment,
    banks: &'a [Bank],
    numbers: HashMap<u64, u32>,
    integers: HashMap<i64, u32>,
    texts: HashMap<Rc<str>, u32>,
    parts: HashMap<[u16; 3], u32>,
    accesses: HashMap<AccessKey, u32>,
    starts: HashMap<usize, usize>,
    /// Jumps to be filled in: instruction and block.
    jumps: Vec<(usize, usize)>,
}

impl<'a> Writer<'a> {
    /// An empty code object.
    pub fn new(code: Code, assignment: &'a Assignment, banks: &'a [Bank], far: bool) -> Writer<'a> {
        Writer {
            code,
            span: Span::default(),
            block_start: 0,
            far,
            scratch_used: [false; 3],
            assignment,
            banks,
            numbers: HashMap::new(),
            integers: HashMap::new(),
            texts: HashMap::new(),
            parts: HashMap::new(),
            accesses: HashMap::new(),
            starts: HashMap::new(),
            jumps: vec![],
        }
    }

    /// The number of the machine register at a place.
    pub fn at(&mut self, bank: Bank, place: Place) -> u16 {
        self.scratch_used[bank as usize] |= place == self.scratch(bank);
        let number = match place {
            Place::Own(at) => at,
            Place::Window(at) => self.assignment.own[bank as usize] + at,
        };
        // The sizes of both were checked before anything was written.
        number as u16
    }

    /// The place of a virtual register. One that is never read and never written has none.
    pub fn place(&self, reg: Reg) -> Place {
        self.assignment.places[reg].unwrap_or(Place::Own(0))
    }

    /// The number of the machine register of a virtual one.
    pub fn number(&mut self, reg: Reg) -> u16 {
        self.at(self.banks[reg], self.place(reg))
    }

    /// The register after the window that nothing else uses.
    pub fn scratch(&self, bank: Bank) -> Place {
        Place::Window(self.assignment.window[bank as usize])
    }

    /// Appends an instruction.
    pub fn push(&mut self, instruction: Instruction) {
        self.code.instructions.push(instruction);
        self.code.spans.push(self.span);
    }

    /// Appends an instruction whose operands are registers.
    pub fn push_opcode(&mut self, opcode: Opcode, operands: &[u16]) {
        let numbers: [i64; 4] = std::array::from_fn(|k| operands.get(k).copied().map_or(0, i64::from));
        let instruction = Instruction::build(opcode, &numbers);
        debug_assert_eq!(opcode.trailer(), Trailer::None, "trailing operands are written separately");
        self.push(instruction.unwrap_or(Instruction::TrapUnreachable {}));
    }

    /// The last instruction of the current block.
    pub fn last(&mut self) -> Option<&mut Instruction> {
        let start = self.block_start;
        self.code.instructions.get_mut(start..)?.last_mut()
    }

    /// Whether the instruction before has emptied a reference register.
    pub fn is_empty(&mut self, a: ROut) -> bool {
        let mut empty = false;
        if let Some(last) = self.last() {
            // Where a function object was, its result may be now.
            if matches!(last.opcode(), Opcode::CallValue | Opcode::DCallValue) {
                return false;
            }
            let cleared = last.opcode() == Opcode::Clear;
            last.visit(&mut |field| {
                let emptied = cleared || field.role == Role::Register(Bank::R, Access::Take);
                empty |= emptied && field.number == i64::from(a.0);
            });
        }
        empty
    }

    /// The index of a number constant.
    pub fn constant(&mut self, value: f64) -> Number {
        let numbers = &mut self.code.numbers;
        Number(*self.numbers.entry(value.to_bits()).or_insert_with(|| add(numbers, value)))
    }

    /// The index of an integer constant.
    pub fn integer(&mut self, value: i64) -> Integer {
        let integers = &mut self.code.integers;
        Integer(*self.integers.entry(value).or_insert_with(|| add(integers, value)))
    }

    /// The index of a text.
    pub fn text(&mut self, value: &Rc<str>) -> Text {
        let texts = &mut self.code.texts;
        Text(*self.texts.entry(value.clone()).or_insert_with(|| add(texts, value.clone())))
    }

    /// The index of the constant elements of an array.
    pub fn constants(&mut self, value: &Rc<Constants>) -> ArrayAt {
        ArrayAt(add(&mut self.code.arrays, value.clone()))
    }

    /// The index of a number of components.
    pub fn parts(&mut self, value: [u16; 3]) -> PartsAt {
        let parts = &mut self.code.parts;
        PartsAt(*self.parts.entry(value).or_insert_with(|| add(parts, value)))
    }

    /// The index of an access.
    pub fn access(&mut self, region: &Region) -> AccessAt {
        let accesses = &mut self.code.accesses;
        let getter = region.getter.and_then(|method| u16::try_from(method.0).ok());
        let site = || AccessSite { name: region.name.clone(), cells: region.cells.clone(), getter };
        let key = (region.storage, region.cells.clone(), getter);
        AccessAt(*self.accesses.entry(key).or_insert_with(|| add(accesses, site())))
    }

    /// A block begins here.
    pub fn begin(&mut self, block: usize) {
        self.block_start = self.code.instructions.len();
        self.starts.insert(block, self.block_start);
    }

    /// Whether a block was written already, so that a jump to it goes back.
    pub fn is_behind(&self, block: usize) -> bool {
        self.starts.contains_key(&block)
    }

    /// Appends a jump.
    pub fn jump(&mut self, to: usize) {
        self.jumps.push((self.code.instructions.len(), to));
        self.push(Instruction::Jump { to: Far(0) });
    }

    /// Appends a conditional jump; its target is filled in.
    pub fn branch(&mut self, instruction: Instruction, to: usize) {
        if !self.far {
            self.jumps.push((self.code.instructions.len(), to));
            self.push(instruction);
            return;
        }
        // Jumps over the far jump that skips the other far jump.
        self.push(with_target(instruction, 1).unwrap_or(instruction));
        self.push(Instruction::Jump { to: Far(1) });
        self.jump(to);
    }

    /// Fills in the jumps.
    ///
    /// # Errors
    /// [`Unencodable::Far`] when one of them is too far for a near jump.
    pub fn finish(mut self) -> Result<Code, Unencodable> {
        for (at, block) in self.jumps {
            let Some(start) = self.starts.get(&block) else { return Err(Unencodable::Unreachable) };
            let distance = *start as i64 - (at as i64 + 1);
            let instruction = &mut self.code.instructions[at];
            *instruction = with_target(*instruction, distance).ok_or(Unencodable::Far)?;
        }
        for (window, used) in self.code.window.iter_mut().zip(self.scratch_used) {
            *window -= u16::from(!used);
        }
        Ok(self.code)
    }
}

fn add<T>(all: &mut Vec<T>, value: T) -> u32 {
    all.push(value);
    all.len() as u32 - 1
}

/// The same jump to elsewhere; `None` when that is too far.
pub fn with_target(instruction: Instruction, distance: i64) -> Option<Instruction> {
    let mut numbers = vec![];
    instruction.visit(&mut |field| numbers.push(if field.role == Role::Jump { distance } else { field.number }));
    Instruction::build(instruction.opcode(), &numbers)
}
