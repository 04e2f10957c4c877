//! Instruction encoding: in a compiled program, an instruction is a sequence of its opcode and its operands.
//!
//! A derived implementation would have a visitor for each instruction, which takes long to compile.

use super::instructions::{Instruction, Opcode};
use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use smallvec::SmallVec;

/// The numbers of an encoded instruction: its opcode and its operands.
type Numbers = SmallVec<[i64; 5]>;

impl Serialize for Instruction {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut numbers: Numbers = smallvec::smallvec![i64::from(self.opcode() as u8)];
        self.visit(&mut |field| numbers.push(field.number));
        to.collect_seq(numbers)
    }
}

impl<'d> Deserialize<'d> for Instruction {
    fn deserialize<D: Deserializer<'d>>(from: D) -> Result<Instruction, D::Error> {
        from.deserialize_seq(InstructionVisitor)
    }
}

struct InstructionVisitor;

impl<'d> Visitor<'d> for InstructionVisitor {
    type Value = Instruction;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an opcode and its operands")
    }

    fn visit_seq<A: SeqAccess<'d>>(self, mut numbers: A) -> Result<Instruction, A::Error> {
        let code: usize = numbers.next_element()?.ok_or_else(|| A::Error::custom("an instruction has no opcode"))?;
        let opcode = *Opcode::ALL.get(code).ok_or_else(|| A::Error::custom("unknown opcode"))?;
        let mut operands = Numbers::new();
        while let Some(number) = numbers.next_element()? {
            operands.push(number);
        }
        let is_complete = operands.len() == opcode.entry().operands.len();
        let instruction = Instruction::build(opcode, &operands).filter(|_| is_complete);
        instruction.ok_or_else(|| A::Error::custom("operands do not fit the instruction"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_instruction_is_read_as_it_was_written() {
        for opcode in Opcode::ALL {
            let operands: Vec<i64> = (1..=opcode.entry().operands.len() as i64).collect();
            let instruction = Instruction::build(*opcode, &operands).unwrap();
            let bytes = rmp_serde::to_vec(&instruction).unwrap();
            assert_eq!(rmp_serde::from_slice::<Instruction>(&bytes).unwrap(), instruction);
        }
    }

    #[test]
    fn invalid_encodings_are_errors() {
        let read = |numbers: &[i64]| rmp_serde::from_slice::<Instruction>(&rmp_serde::to_vec(numbers).unwrap());
        let add = i64::from(Opcode::AddF as u8);
        assert!(read(&[add, 0, 1, 2]).is_ok());
        // The invalid encodings are: no opcode, an unknown opcode, a missing operand, an extra operand, and an operand
        // that is too large.
        for wrong in
            [&[][..], &[Opcode::ALL.len() as i64], &[-1], &[add, 0, 1], &[add, 0, 1, 2, 3], &[add, 0, 1, 1 << 40]]
        {
            assert!(read(wrong).is_err(), "{wrong:?}");
        }
    }
}
