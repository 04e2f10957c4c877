//! Inlining: the code of a function in which calls of small functions are replaced by the instructions of those
//! functions, and the place of each instruction in its own function.
//!
//! Only functions without references, loops and calls that remain are inlined: they can leave, but have no record on the
//! stack of the processor. The registers of an inlined function are those of the window of its caller, as in a call.

use super::flow::target;
use super::treatment::{Treatment, treatment};
use super::{Callee, Functions};
use crate::bytecode::operand::{FIn, FOut, Far, IIn, IOut, Role, Table};
use crate::bytecode::{Code, Instruction};
use crate::value::Bank;

/// The largest number of instructions of a function that is inlined.
const MAX_INLINED: usize = 40;
/// The largest number of instructions that inlining adds to a function.
const MAX_ADDED: usize = 600;
/// How deeply inlined calls are nested.
const MAX_DEPTH: usize = 3;

/// One activation of a function in the code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Activation {
    /// The identity of the function in its sites.
    pub owner: usize,
    /// The first number and integer register of the function.
    pub base: [u16; 2],
    /// The place of the call; `None` for the function that is compiled.
    pub caller: Option<Place>,
}

/// The place of an instruction in its own function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// The index of the activation.
    pub activation: usize,
    /// The index of the instruction in the code of the function.
    pub pc: u32,
}

/// The code of a function with inlined calls.
#[derive(Debug)]
pub struct Inlined {
    /// The code. Its tables are those of the function, to which constants are added.
    pub code: Code,
    /// The number of number and integer registers.
    pub frame: [usize; 2],
    /// The activations, that of the function first.
    pub activations: Vec<Activation>,
    /// The place of each instruction.
    pub places: Vec<Place>,
    /// The index of each instruction of the function.
    pub starts: Vec<usize>,
}

impl Inlined {
    /// Returns the code of a function without inlined calls.
    pub fn none(code: &Code, owner: usize) -> Inlined {
        let count = code.instructions.len();
        Inlined {
            code: code.clone(),
            frame: [code.frame()[0], code.frame()[1]],
            activations: vec![Activation { owner, base: [0; 2], caller: None }],
            places: (0..count).map(|pc| Place { activation: 0, pc: pc as u32 }).collect(),
            starts: (0..count).collect(),
        }
    }

    /// Returns the code of a function with inlined calls.
    pub fn of(code: &Code, owner: usize, functions: Functions<'_>) -> Inlined {
        let is_inlined = |instruction: &Instruction| inlined_callee(instruction, functions, MAX_DEPTH).is_some();
        let mut made = Inlined::none(code, owner);
        if code.is_derivative || !code.instructions.iter().any(is_inlined) {
            return made;
        }
        made.code.instructions.clear();
        made.code.spans.clear();
        made.places.clear();
        let limit = code.instructions.len() + MAX_ADDED;
        let mut inliner = Inliner { made: &mut made, functions, limit };
        match inliner.add(code, 0, MAX_DEPTH) {
            Some(starts) => Inlined { starts, ..made },
            None => Inlined::none(code, owner),
        }
    }
}

/// Returns the code and the identity of the function that an instruction calls, if it can be inlined.
fn inlined_callee<'p>(instruction: &Instruction, functions: Functions<'p>, depth: usize) -> Option<(&'p Code, usize)> {
    let callee = Callee::of(instruction).filter(|callee| !callee.is_derivative)?;
    let found = functions(callee)?;
    inlined_size(found.0, functions, depth).filter(|size| *size <= MAX_INLINED)?;
    Some(found)
}

/// Returns the number of instructions of a function with the calls in it inlined; `None` if the function cannot be inlined.
fn inlined_size(code: &Code, functions: Functions<'_>, depth: usize) -> Option<usize> {
    if depth == 0 || code.instructions.len() > MAX_INLINED || code.frame()[2] > 0 {
        return None;
    }
    let size = |instruction: &Instruction| match Callee::of(instruction) {
        Some(callee) => inlined_size(functions(callee)?.0, functions, depth - 1),
        None => {
            let is_possible = matches!(treatment(instruction.opcode()), Treatment::Translated | Treatment::Leave);
            (is_possible && !jumps_back(instruction)).then_some(1)
        }
    };
    code.instructions.iter().map(size).sum()
}

/// Whether an instruction jumps to itself or an earlier instruction.
fn jumps_back(instruction: &Instruction) -> bool {
    let mut found = false;
    instruction.visit(&mut |field| found |= field.role == Role::Jump && field.number < 0);
    found
}

fn is_return(instruction: &Instruction) -> bool {
    matches!(instruction, Instruction::Return {} | Instruction::ReturnF { .. } | Instruction::ReturnI { .. })
}

/// The construction of code with inlined calls.
struct Inliner<'m, 'p> {
    made: &'m mut Inlined,
    functions: Functions<'p>,
    /// The largest number of instructions.
    limit: usize,
}

impl Inliner<'_, '_> {
    /// Adds the code of an activation; returns the index of each of its instructions, or `None` if an operand of an
    /// instruction would not fit.
    fn add(&mut self, code: &Code, activation: usize, depth: usize) -> Option<Vec<usize>> {
        let Activation { base, caller, .. } = self.made.activations[activation];
        let constants = match caller {
            None => [0; 2],
            Some(_) => self.add_constants(code),
        };
        for (bank, base) in base.iter().enumerate() {
            let end = usize::from(*base) + code.frame()[bank];
            self.made.frame[bank] = self.made.frame[bank].max(end);
        }
        let mut starts = vec![];
        // The jumps of the activation, and its returns, which become jumps to the end.
        let mut jumps = vec![];
        for (pc, instruction) in code.instructions.iter().enumerate() {
            starts.push(self.made.code.instructions.len());
            let place = Place { activation, pc: pc as u32 };
            // The calls in an inlined function must be inlined, too.
            let has_room = caller.is_some() || self.made.code.instructions.len() + MAX_INLINED < self.limit;
            if let Some((callee, owner)) = inlined_callee(instruction, self.functions, depth).filter(|_| has_room) {
                let base = [0, 1].map(|bank| base[bank].checked_add(code.registers[bank]));
                let base = [base[0]?, base[1]?];
                self.made.activations.push(Activation { owner, base, caller: Some(place) });
                self.add(callee, self.made.activations.len() - 1, depth - 1)?;
            } else if caller.is_some() && is_return(instruction) {
                self.add_return(instruction, base, place)?;
                if pc + 1 < code.instructions.len() {
                    jumps.push((self.made.code.instructions.len(), None));
                    self.push(Instruction::Jump { to: Far(0) }, place);
                }
            } else {
                if let Some(target) = target(code, pc) {
                    jumps.push((self.made.code.instructions.len(), Some(target)));
                }
                self.push(shifted(instruction, base, constants)?, place);
            }
        }
        for (at, target) in jumps {
            let to = match target {
                Some(target) => *starts.get(target)?,
                None => self.made.code.instructions.len(),
            };
            let jump = &mut self.made.code.instructions[at];
            *jump = rebuilt(jump, |role, number| if role == Role::Jump { to as i64 - at as i64 - 1 } else { number })?;
        }
        Some(starts)
    }

    fn push(&mut self, instruction: Instruction, place: Place) {
        self.made.code.instructions.push(instruction);
        self.made.places.push(place);
    }

    /// Adds the constants of an inlined function; returns the indices of the first number and integer.
    fn add_constants(&mut self, code: &Code) -> [i64; 2] {
        let made = &mut self.made.code;
        let first = [made.numbers.len() as i64, made.integers.len() as i64];
        made.numbers.extend(&code.numbers);
        made.integers.extend(&code.integers);
        first
    }

    /// Adds the move of the result of an inlined function to its first register; `None` if the register of the result
    /// would not fit.
    fn add_return(&mut self, instruction: &Instruction, base: [u16; 2], place: Place) -> Option<()> {
        let moved = match *instruction {
            Instruction::ReturnF { a } => Instruction::MoveF { out: FOut(base[0]), a: FIn(base[0].checked_add(a.0)?) },
            Instruction::ReturnI { a } => Instruction::MoveI { out: IOut(base[1]), a: IIn(base[1].checked_add(a.0)?) },
            _ => return Some(()),
        };
        self.push(moved, place);
        Some(())
    }
}

/// Returns an instruction with other registers and constants.
fn shifted(instruction: &Instruction, base: [u16; 2], constants: [i64; 2]) -> Option<Instruction> {
    rebuilt(instruction, |role, number| match role {
        Role::Register(Bank::F, _) => number + i64::from(base[0]),
        Role::Register(Bank::I, _) => number + i64::from(base[1]),
        Role::Table(Table::Numbers) => number + constants[0],
        Role::Table(Table::Integers) => number + constants[1],
        _ => number,
    })
}

/// Returns an instruction with other operands, if they fit.
fn rebuilt(instruction: &Instruction, change: impl Fn(Role, i64) -> i64) -> Option<Instruction> {
    let mut operands: smallvec::SmallVec<[i64; 4]> = Default::default();
    instruction.visit(&mut |field| operands.push(change(field.role, field.number)));
    Instruction::build(instruction.opcode(), &operands)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytecode::operand::{Fun, Integer, Small, To};

    #[test]
    fn calls_are_replaced_by_instructions_with_the_registers_of_the_window() {
        use Instruction as I;
        // The callee returns 3 · n, or n unless n < 4.
        let callee = Code {
            instructions: vec![
                I::IfLtIK { a: IIn(0), k: Small(4), to: To(1) },
                I::ReturnI { a: IIn(0) },
                I::LoadI { out: IOut(1), k: Integer(0) },
                I::MulI { out: IOut(1), a: IIn(0), b: IIn(1) },
                I::ReturnI { a: IIn(1) },
            ],
            integers: vec![3],
            params: [0, 1, 0],
            results: [0, 1, 0],
            registers: [0, 2, 0],
            ..Code::default()
        };
        let caller = Code {
            instructions: vec![
                I::MoveI { out: IOut(1), a: IIn(0) },
                I::Call { function: Fun(7) },
                I::ReturnI { a: IIn(1) },
            ],
            integers: vec![5],
            params: [0, 1, 0],
            results: [0, 1, 0],
            registers: [0, 1, 0],
            window: [0, 1, 0],
            ..Code::default()
        };
        let functions = |callee_of_call: Callee| (callee_of_call.function == 7).then_some((&callee, 70));
        let inlined = Inlined::of(&caller, 60, &functions);
        let expected = [
            I::MoveI { out: IOut(1), a: IIn(0) },
            I::IfLtIK { a: IIn(1), k: Small(4), to: To(2) },
            I::MoveI { out: IOut(1), a: IIn(1) },
            I::Jump { to: Far(3) },
            I::LoadI { out: IOut(2), k: Integer(1) },
            I::MulI { out: IOut(2), a: IIn(1), b: IIn(2) },
            I::MoveI { out: IOut(1), a: IIn(2) },
            I::ReturnI { a: IIn(1) },
        ];
        assert_eq!(inlined.code.instructions, expected);
        assert_eq!((inlined.code.integers, inlined.frame), (vec![5, 3], [0, 3]));
        assert_eq!(inlined.starts, [0, 1, 7]);
        let call = Place { activation: 0, pc: 1 };
        assert_eq!(inlined.activations[1], Activation { owner: 70, base: [0, 1], caller: Some(call) });
        assert_eq!(inlined.places[5], Place { activation: 1, pc: 3 });
    }

    #[test]
    fn functions_with_loops_or_references_are_called() {
        let again = Code { instructions: vec![Instruction::Jump { to: Far(-1) }], ..Code::default() };
        let reference = Code { instructions: vec![Instruction::Return {}], registers: [0, 0, 1], ..Code::default() };
        let caller = Code {
            instructions: vec![
                Instruction::Call { function: Fun(0) },
                Instruction::Call { function: Fun(1) },
                Instruction::Return {},
            ],
            ..Code::default()
        };
        let functions = |callee: Callee| [(&again, 1), (&reference, 2)].get(callee.function as usize).copied();
        let inlined = Inlined::of(&caller, 0, &functions);
        assert_eq!((inlined.code.instructions, inlined.activations.len()), (caller.instructions, 1));
    }
}
