//! Scalar replacement: the elements of small arrays whose lengths and indices are known are kept in registers.
//!
//! Arrays have value semantics, so that an array in a register is nothing but its elements: a copy of the array copies them.
//! Vectors of three numbers and small matrices need no memory then, nor do their adjoints.

use crate::ir::analysis::constants::{Known, known_place, length, step};
use crate::ir::analysis::data_flow::{Flat, forward};
use crate::ir::graph::{Function, Instruction, Op, Reg, Register, Stride, Terminator};
use crate::source::Span;
use crate::value::{Bank, Constants};
use hashbrown::HashMap;

/// The maximum number of components of an array that is replaced.
const MAX_COMPONENTS: usize = 32;

/// Replaces arrays of which all uses are known; returns whether there were any. Arrays of arrays are replaced by
/// registers that hold arrays, which can be replaced next.
pub(crate) fn replace(function: &mut Function) -> bool {
    let known = KnownPlaces::of(function);
    let arrays = Arrays::of(function, &known);
    if arrays.0.is_empty() {
        return false;
    }
    let mut replacement =
        Replacement { elements: HashMap::new(), registers: function.registers.clone(), steps: vec![] };
    for (array, Array { stride, length }) in arrays.0 {
        let elements = (0..length).map(|_| replacement.element(stride)).collect();
        replacement.elements.insert(array, Elements { stride, elements });
    }
    for (at, block) in function.blocks.iter_mut().enumerate() {
        for (instruction, place) in std::mem::take(&mut block.instructions).into_iter().zip(&known.of_steps[at]) {
            replacement.step(instruction, place.unwrap_or(0));
        }
        if let Some(Terminator::Return(results)) = &mut block.end {
            for (result, length) in results.iter_mut().zip(&known.returned[at]) {
                *result = replacement.result(*result, length.unwrap_or(0), block.end_span);
            }
        }
        block.instructions = std::mem::take(&mut replacement.steps);
    }
    function.registers = replacement.registers;
    true
}

/// The known indices and lengths.
struct KnownPlaces {
    /// By block and by step: the index of the element that a step accesses, or the length of its first operand.
    of_steps: Vec<Vec<Option<usize>>>,
    /// By block: the lengths of the arrays that it returns.
    returned: Vec<Vec<Option<usize>>>,
}

impl KnownPlaces {
    fn of(function: &Function) -> KnownPlaces {
        let none = vec![vec![]; function.blocks.len()];
        let mut known = KnownPlaces { of_steps: none.clone(), returned: none };
        let entry = vec![Flat::Unknown; function.registers.len()];
        // The facts at the start of a block are final when the block is analyzed for the last time.
        let analyze = |at: usize, facts: &mut [Known]| {
            let block = &function.blocks[at];
            known.of_steps[at].clear();
            for instruction in &block.instructions {
                known.of_steps[at].push(match instruction.op {
                    Op::CheckIndex | Op::LoadElement { .. } | Op::StoreElement { .. } | Op::TakeElement { .. } => {
                        known_place(instruction, facts)
                    }
                    _ => instruction.ins.first().and_then(|array| length(facts, *array)),
                });
                step(instruction, facts);
            }
            if let Some(Terminator::Return(results)) = &block.end {
                known.returned[at] = results.iter().map(|result| length(facts, *result)).collect();
            }
        };
        forward(function, entry, analyze, |_, _| {});
        known
    }
}

/// An array that can be replaced.
#[derive(Clone, Copy)]
struct Array {
    stride: Stride,
    /// The largest length of the array.
    length: usize,
}

/// The arrays that can be replaced, by register.
struct Arrays(HashMap<Reg, Array>);

/// The arrays of a function whose uses have been seen so far.
#[derive(Default)]
struct Candidates {
    arrays: HashMap<Reg, Array>,
    /// The registers that have uses which are not supported.
    rejected: Vec<Reg>,
    /// The copies of arrays: the copy, the original, and the length.
    copies: Vec<(Reg, Reg, usize)>,
}

impl Arrays {
    /// Finds the arrays all of whose uses are supported, with known indices and lengths.
    fn of(function: &Function, known: &KnownPlaces) -> Arrays {
        let mut candidates = Candidates { rejected: function.params.clone(), ..Candidates::default() };
        for (at, block) in function.blocks.iter().enumerate() {
            for (instruction, place) in block.instructions.iter().zip(&known.of_steps[at]) {
                candidates.step(function, instruction, *place);
            }
            match &block.end {
                Some(Terminator::Return(results)) => {
                    let unknown = results.iter().zip(&known.returned[at]).filter(|(_, length)| length.is_none());
                    candidates.rejected.extend(unknown.map(|(result, _)| *result));
                }
                end => candidates.rejected.extend(end.iter().flat_map(Terminator::reads)),
            }
        }
        candidates.finish()
    }
}

impl Candidates {
    fn step(&mut self, function: &Function, step: &Instruction, place: Option<usize>) {
        // The registers of which the use is not supported.
        let others = match (&step.op, place) {
            (Op::NewArray(stride), _) => {
                self.note(step.outs[0], *stride, 0);
                vec![]
            }
            (Op::Constants(elements), _) => {
                self.note(step.outs[0], stride_of(elements), elements.len());
                vec![]
            }
            (Op::Append(stride), Some(length)) => {
                self.note(step.outs[0], *stride, length + 1);
                step.ins[1..].to_vec()
            }
            (Op::LoadElement { stride, .. }, Some(k)) => {
                self.note(step.ins[0], *stride, k + 1);
                step.outs.clone()
            }
            (Op::StoreElement { stride, .. }, Some(k)) => {
                self.note(step.outs[0], *stride, k + 1);
                step.ins[2..].to_vec()
            }
            (Op::TakeElement { stride, .. }, Some(k)) => {
                self.note(step.outs[1], *stride, k + 1);
                step.outs[..1].to_vec()
            }
            (Op::Copy | Op::Take, Some(length)) => {
                self.copies.push((step.outs[0], step.ins[0], length));
                vec![]
            }
            (Op::CheckIndex | Op::Count, Some(_)) | (Op::Null, _) => vec![],
            _ => [&step.ins[..], &step.outs].concat(),
        };
        let references = others.into_iter().filter(|reg| function.registers[reg.0 as usize].bank == Bank::R);
        self.rejected.extend(references);
    }

    /// Notes the element type and a length of an array.
    fn note(&mut self, reg: Reg, stride: Stride, length: usize) {
        let array = self.arrays.entry(reg).or_insert(Array { stride, length });
        array.length = array.length.max(length);
        if array.stride != stride {
            self.rejected.push(reg);
        }
    }

    /// Returns the arrays that are not rejected.
    fn finish(mut self) -> Arrays {
        // The element type of a copy is that of its original.
        let mut more = true;
        while std::mem::take(&mut more) {
            for (copy, original, length) in self.copies.clone() {
                if let Some(array) = self.arrays.get(&original).copied() {
                    more |= !self.arrays.contains_key(&copy);
                    self.note(copy, array.stride, length);
                }
            }
        }
        let excess = self.arrays.iter().filter(|(_, array)| {
            let Stride { f, i, r } = array.stride;
            array.length * usize::from(f + i + r) > MAX_COMPONENTS
        });
        let mut rejected: Vec<Reg> = excess.map(|(reg, _)| *reg).chain(std::mem::take(&mut self.rejected)).collect();
        while let Some(reg) = rejected.pop() {
            if self.arrays.remove(&reg).is_some() {
                let others = self.copies.iter().filter(|(copy, original, _)| *copy == reg || *original == reg);
                rejected.extend(others.flat_map(|(copy, original, _)| [*copy, *original]));
            }
        }
        Arrays(self.arrays)
    }
}

/// Returns the element type of a constant array.
fn stride_of(elements: &Constants) -> Stride {
    match elements {
        Constants::Numbers(_) => Stride::NUMBERS,
        Constants::Integers(_) => Stride { f: 0, i: 1, r: 0 },
    }
}

/// The registers of an array's elements.
struct Elements {
    stride: Stride,
    elements: Vec<[Vec<Reg>; 3]>,
}

/// The replacement of arrays by the registers of their elements.
struct Replacement {
    elements: HashMap<Reg, Elements>,
    registers: Vec<Register>,
    /// The steps of the current block.
    steps: Vec<Instruction>,
}

impl Replacement {
    /// Creates the registers of an element, by bank.
    fn element(&mut self, stride: Stride) -> [Vec<Reg>; 3] {
        let mut of_bank = |bank, count| (0..count).map(|_| self.register(bank)).collect();
        [of_bank(Bank::F, stride.f), of_bank(Bank::I, stride.i), of_bank(Bank::R, stride.r)]
    }

    fn register(&mut self, bank: Bank) -> Reg {
        self.registers.push(Register { bank, name: None });
        Reg(self.registers.len() as u32 - 1)
    }

    /// Returns the register of a component of an element.
    fn component(&self, array: Reg, place: usize, bank: Bank, offset: u16) -> Option<Reg> {
        Some(self.elements.get(&array)?.elements.get(place)?[bank as usize][usize::from(offset)])
    }

    fn push(&mut self, span: Span, op: Op, outs: &[Reg], ins: &[Reg]) {
        let (outs, ins) = (outs.to_vec(), ins.to_vec());
        self.steps.push(Instruction { op, outs, ins, span, active: false });
    }

    /// Appends a step, or the steps that replace it; `place` is the index of an element or a length.
    fn step(&mut self, step: Instruction, place: usize) {
        let (outs, ins, span) = (&step.outs, &step.ins, step.span);
        let array = match step.op {
            Op::NewArray(_) | Op::Constants(_) | Op::Null => outs.first(),
            _ => ins.first(),
        };
        let Some(array) = array.copied().filter(|array| self.elements.contains_key(array)) else {
            self.steps.push(step);
            return;
        };
        match &step.op {
            Op::Constants(elements) => self.constants(array, elements, span),
            Op::Append(_) => self.set_element(array, place, &ins[1..], span),
            Op::LoadElement { bank, offset, .. } => {
                if let Some(component) = self.component(array, place, *bank, *offset) {
                    self.push(span, Op::Copy, outs, &[component]);
                }
            }
            Op::StoreElement { bank, offset, .. } => {
                if let Some(component) = self.component(array, place, *bank, *offset) {
                    self.push(span, Op::Copy, &[component], &ins[2..]);
                }
            }
            Op::TakeElement { offset, .. } => {
                if let Some(component) = self.component(array, place, Bank::R, *offset) {
                    self.push(span, Op::Take, &outs[..1], &[component]);
                }
            }
            Op::Count => self.push(span, Op::ConstI(place as i64), outs, &[]),
            Op::Copy | Op::Take => self.copy(&step, place),
            _ => {}
        }
    }

    fn constants(&mut self, array: Reg, elements: &Constants, span: Span) {
        let (bank, loads): (Bank, Vec<Op>) = match elements {
            Constants::Numbers(all) => (Bank::F, all.iter().map(|number| Op::ConstF(*number)).collect()),
            Constants::Integers(all) => (Bank::I, all.iter().map(|integer| Op::ConstI(*integer)).collect()),
        };
        for (k, load) in loads.into_iter().enumerate() {
            if let Some(component) = self.component(array, k, bank, 0) {
                self.push(span, load, &[component], &[]);
            }
        }
    }

    /// Writes all components of an element.
    fn set_element(&mut self, array: Reg, place: usize, components: &[Reg], span: Span) {
        let mut offsets = [0; 3];
        for from in components {
            let bank = self.registers[from.0 as usize].bank;
            if let Some(component) = self.component(array, place, bank, offsets[bank as usize]) {
                self.push(span, Op::Copy, &[component], &[*from]);
            }
            offsets[bank as usize] += 1;
        }
    }

    /// Copies or moves an array of the given length.
    fn copy(&mut self, step: &Instruction, length: usize) {
        let [to, from] = [step.outs[0], step.ins[0]].map(|array| self.components(array, length));
        for (to, from) in to.into_iter().zip(from) {
            let is_move = step.op == Op::Take && self.registers[from.0 as usize].bank == Bank::R;
            self.push(step.span, if is_move { Op::Take } else { Op::Copy }, &[to], &[from]);
        }
    }

    /// Returns the registers of the first elements of an array.
    fn components(&self, array: Reg, length: usize) -> Vec<Reg> {
        let elements = self.elements.get(&array).into_iter().flat_map(|array| array.elements.iter().take(length));
        elements.flatten().flatten().copied().collect()
    }

    /// Returns a register that holds a result: an array is created from its elements.
    fn result(&mut self, result: Reg, length: usize, span: Span) -> Reg {
        let Some(Elements { stride, .. }) = self.elements.get(&result) else { return result };
        let stride = *stride;
        let array = self.register(Bank::R);
        self.push(span, Op::NewArray(stride), &[array], &[]);
        let size = usize::from(stride.f + stride.i + stride.r);
        for element in self.components(result, length).chunks(size.max(1)) {
            self.push(span, Op::Append(stride), &[array], &[&[array], element].concat());
        }
        array
    }
}
