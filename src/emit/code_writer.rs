//! Code writer: adds instructions, constants and jumps to a code object.

use super::EncodeError;
use super::graph::Reg;
use super::register_assignment::{Assignment, Place};
use crate::bytecode::operand::*;
use crate::bytecode::{AccessSite, CallSignature, Code, Instruction, Opcode, Trailer};
use crate::ir::passes::exclusivity_checks::{Region, StorageId};
use crate::source::Span;
use crate::value::{Bank, Constants};
use hashbrown::HashMap;
use std::ops::Range;
use std::rc::Rc;

/// The identity of an access to shared storage: the storage, the components by bank, and the getter that determines the
/// components.
type AccessKey = (StorageId, [Range<u32>; 3], Option<u16>);

/// A code object under construction.
#[derive(Debug)]
pub struct Writer<'a> {
    /// The code object to which instructions are added.
    pub code: Code,
    /// The source location of the instructions that are added next.
    pub span: Span,
    /// The index of the first instruction of the current block: earlier instructions must not be fused with later
    /// ones.
    pub block_start: usize,
    /// Whether jumps may be too far for near jumps.
    pub long_jumps: bool,
    /// Whether the register after the window is used, by bank.
    pub scratch_used: [bool; 3],
    assignment: &'a Assignment,
    banks: &'a [Bank],
    numbers: HashMap<u64, u32>,
    integers: HashMap<i64, u32>,
    texts: HashMap<Rc<str>, u32>,
    parts: HashMap<[u16; 3], u32>,
    signatures: HashMap<CallSignature, u32>,
    accesses: HashMap<AccessKey, u32>,
    starts: HashMap<usize, usize>,
    /// The jumps whose targets must be filled in: instruction and block.
    jumps: Vec<(usize, usize)>,
}

impl<'a> Writer<'a> {
    /// Creates a writer for an empty code object.
    pub fn new(code: Code, assignment: &'a Assignment, banks: &'a [Bank], long_jumps: bool) -> Writer<'a> {
        Writer {
            code,
            span: Span::default(),
            block_start: 0,
            long_jumps,
            scratch_used: [false; 3],
            assignment,
            banks,
            numbers: HashMap::new(),
            integers: HashMap::new(),
            texts: HashMap::new(),
            parts: HashMap::new(),
            signatures: HashMap::new(),
            accesses: HashMap::new(),
            starts: HashMap::new(),
            jumps: vec![],
        }
    }

    /// Returns the index of the machine register that a place represents.
    pub fn at(&mut self, bank: Bank, place: Place) -> u16 {
        self.scratch_used[bank as usize] |= place == self.scratch(bank);
        let number = match place {
            Place::Own(at) => at,
            Place::Window(at) => self.assignment.own[bank as usize] + at,
        };
        // The numbers of own registers and of window registers were checked before emission.
        number as u16
    }

    /// Returns the place of a virtual register. A register that is never read and never written has no place.
    pub fn place(&self, reg: Reg) -> Place {
        self.assignment.places[reg].unwrap_or(Place::Own(0))
    }

    /// Returns the index of the machine register that is assigned to a virtual register.
    pub fn number(&mut self, reg: Reg) -> u16 {
        self.at(self.banks[reg], self.place(reg))
    }

    /// Returns the scratch register after the window.
    pub fn scratch(&self, bank: Bank) -> Place {
        Place::Window(self.assignment.window[bank as usize])
    }

    /// Appends an instruction to the code.
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

    /// Returns the last instruction of the current block.
    pub fn last(&mut self) -> Option<&mut Instruction> {
        let start = self.block_start;
        self.code.instructions.get_mut(start..)?.last_mut()
    }

    /// Whether the previous instruction has moved the reference out of a register.
    pub fn is_empty(&mut self, a: ROut) -> bool {
        let mut empty = false;
        if let Some(last) = self.last() {
            // The register of the function object may hold a result after the call.
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

    /// Returns the index of a number in the table of constants.
    pub fn constant(&mut self, value: f64) -> Number {
        let numbers = &mut self.code.numbers;
        Number(*self.numbers.entry(value.to_bits()).or_insert_with(|| add(numbers, value)))
    }

    /// Returns the index of an integer in the table of constants.
    pub fn integer(&mut self, value: i64) -> Integer {
        let integers = &mut self.code.integers;
        Integer(*self.integers.entry(value).or_insert_with(|| add(integers, value)))
    }

    /// Returns the index of a string in the table of constants.
    pub fn text(&mut self, value: &Rc<str>) -> Text {
        let texts = &mut self.code.texts;
        Text(*self.texts.entry(value.clone()).or_insert_with(|| add(texts, value.clone())))
    }

    /// Returns the index of the constant elements of an array literal.
    pub fn constants(&mut self, value: &Rc<Constants>) -> ArrayAt {
        ArrayAt(add(&mut self.code.arrays, value.clone()))
    }

    /// Returns the index of a triple of component counts in the table of such triples.
    pub fn parts(&mut self, value: [u16; 3]) -> PartsAt {
        let parts = &mut self.code.parts;
        PartsAt(*self.parts.entry(value).or_insert_with(|| add(parts, value)))
    }

    /// Returns the index of the signature of a function object that is called in the table of signatures.
    pub fn signature(&mut self, value: CallSignature) -> SignatureAt {
        let signatures = &mut self.code.signatures;
        SignatureAt(*self.signatures.entry(value).or_insert_with(|| add(signatures, value)))
    }

    /// Returns the index of an access to shared storage in the table of accesses.
    pub fn access(&mut self, region: &Region) -> AccessAt {
        let accesses = &mut self.code.accesses;
        let getter = region.getter.and_then(|method| u16::try_from(method.0).ok());
        let site = || AccessSite { name: region.name.clone(), cells: region.cells.clone(), getter };
        let key = (region.storage, region.cells.clone(), getter);
        AccessAt(*self.accesses.entry(key).or_insert_with(|| add(accesses, site())))
    }

    /// Marks the beginning of a block in the code.
    pub fn begin(&mut self, block: usize) {
        self.block_start = self.code.instructions.len();
        self.starts.insert(block, self.block_start);
    }

    /// Whether a block is already written, so that a jump to it is a backward jump.
    pub fn is_backward(&self, block: usize) -> bool {
        self.starts.contains_key(&block)
    }

    /// Appends a jump to a block.
    pub fn jump(&mut self, to: usize) {
        self.jumps.push((self.code.instructions.len(), to));
        self.push(Instruction::Jump { to: Far(0) });
    }

    /// Appends a conditional jump, whose target is filled in later.
    pub fn branch(&mut self, instruction: Instruction, to: usize) {
        if !self.long_jumps {
            self.jumps.push((self.code.instructions.len(), to));
            self.push(instruction);
            return;
        }
        // The conditional jump skips a jump over the far jump to the target.
        self.push(with_target(instruction, 1).unwrap_or(instruction));
        self.push(Instruction::Jump { to: Far(1) });
        self.jump(to);
    }

    /// Fills in the targets of all jumps.
    ///
    /// # Errors
    /// [`EncodeError::Far`] if a target is too far for a near jump.
    pub fn finish(mut self) -> Result<Code, EncodeError> {
        for (at, block) in self.jumps {
            let Some(start) = self.starts.get(&block) else { return Err(EncodeError::Unreachable) };
            let distance = *start as i64 - (at as i64 + 1);
            let instruction = &mut self.code.instructions[at];
            *instruction = with_target(*instruction, distance).ok_or(EncodeError::Far)?;
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

/// Returns a copy of a jump instruction that jumps by another distance; `None` if the distance does not fit.
pub fn with_target(instruction: Instruction, distance: i64) -> Option<Instruction> {
    let mut numbers = vec![];
    instruction.visit(&mut |field| numbers.push(if field.role == Role::Jump { distance } else { field.number }));
    Instruction::build(instruction.opcode(), &numbers)
}
