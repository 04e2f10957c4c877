//! Convention: how compiled functions receive arguments and return results.
//!
//! The context is in the pinned register. The first arguments are the link of the caller, the registers of references
//! and, for derivative code, the slots of the number registers; numbers and integers follow in machine registers as far
//! as there are any, and by way of the context otherwise. The first result is the outcome.

use super::Signature;
use super::context::offsets;
use super::site::Register;
use crate::value::Bank;
use cranelift_codegen::ir::{AbiParam, Signature as MachineSignature, types};
use cranelift_codegen::isa::CallConv;

/// The number of integers and numbers that are passed in machine registers.
const IN_REGISTERS: [u16; 2] = [8, 4];
/// The number of numbers and integers that are returned in machine registers.
const RETURNED_IN_REGISTERS: [u16; 2] = [2, 1];

/// The place of one argument or result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// The argument or result is passed in a machine register.
    Machine,
    /// The argument or result is passed at this offset in the context.
    Context(i32),
}

/// Returns the places of the arguments.
pub fn arguments(signature: &Signature) -> impl Iterator<Item = (Register, Place)> {
    places([signature.params[0], signature.params[1]], IN_REGISTERS)
}

/// Returns the places of the results.
pub fn results(signature: &Signature) -> impl Iterator<Item = (Register, Place)> {
    places([signature.results[0], signature.results[1]], RETURNED_IN_REGISTERS)
}

fn places(counts: [u16; 2], in_registers: [u16; 2]) -> impl Iterator<Item = (Register, Place)> {
    let mut next = offsets::PASSED;
    [Bank::F, Bank::I].into_iter().flat_map(move |bank| (0..counts[bank as usize]).map(move |k| (bank, k))).map(
        move |(bank, k)| {
            if k < in_registers[bank as usize] {
                return ((bank, k), Place::Machine);
            }
            next += 8;
            ((bank, k), Place::Context(next - 8))
        },
    )
}

/// Returns the number of arguments before those of the function.
pub fn addresses(signature: &Signature) -> usize {
    if signature.has_slots { 3 } else { 2 }
}

/// Returns the signature of a compiled function for the code generator.
pub fn of_function(signature: &Signature, convention: CallConv) -> MachineSignature {
    let mut made = MachineSignature::new(convention);
    made.params.extend(std::iter::repeat_n(AbiParam::new(types::I64), addresses(signature)));
    let kind = |bank| AbiParam::new(if bank == Bank::F { types::F64 } else { types::I64 });
    let in_machine = |(register, place): (Register, Place)| (place == Place::Machine).then(|| kind(register.0));
    made.params.extend(arguments(signature).filter_map(in_machine));
    made.returns.push(AbiParam::new(types::I64));
    made.returns.extend(results(signature).filter_map(in_machine));
    made
}

/// Returns the signature of a compiled loop: the registers of references, numbers and integers of its frame, and the
/// slots of the numbers.
pub fn of_loop(convention: CallConv) -> MachineSignature {
    let mut made = MachineSignature::new(convention);
    made.params.extend([AbiParam::new(types::I64); 4]);
    made.returns.push(AbiParam::new(types::I64));
    made
}

/// Returns the signature of a function for a path that is rare: it preserves all machine registers, so that the values
/// of the usual path stay in theirs. It takes two arguments. The address of the function of the machine that it calls is
/// in the context, where its outcome is afterwards.
pub fn of_rare() -> MachineSignature {
    let mut made = MachineSignature::new(CallConv::PreserveAll);
    made.params.extend([AbiParam::new(types::I64); 2]);
    made
}

/// Returns the signature of a function of the machine with integer arguments and result.
pub fn of_helper(arguments: usize, convention: CallConv) -> MachineSignature {
    let mut made = MachineSignature::new(convention);
    made.params.extend(std::iter::repeat_n(AbiParam::new(types::I64), arguments));
    made.returns.push(AbiParam::new(types::I64));
    made
}
