//! Constants: the numbers, integers and lengths of arrays that are known at each point of a function.

use crate::ir::analysis::data_flow::Flat;
use crate::ir::analysis::effects::tied;
use crate::ir::graph::{Instruction, Op, Reg};
use crate::native::{PrimitiveId, Value, primitive_ids};

/// What is known about the content of a register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Constant {
    /// The bits of a number.
    Number(u64),
    /// An integer.
    Integer(i64),
    /// The number of elements of an array.
    Length(usize),
}

/// The content of a register at one point of a function.
pub type Known = Flat<Constant>;

/// Returns the integer that a register holds, if it is known.
pub fn integer(facts: &[Known], reg: Reg) -> Option<i64> {
    match facts[reg.0 as usize] {
        Flat::Value(Constant::Integer(integer)) => Some(integer),
        _ => None,
    }
}

/// Returns the number that a register holds, if it is known.
pub fn number(facts: &[Known], reg: Reg) -> Option<f64> {
    match facts[reg.0 as usize] {
        Flat::Value(Constant::Number(bits)) => Some(f64::from_bits(bits)),
        _ => None,
    }
}

/// Returns the length of the array that a register holds, if it is known.
pub fn length(facts: &[Known], reg: Reg) -> Option<usize> {
    match facts[reg.0 as usize] {
        Flat::Value(Constant::Length(length)) => Some(length),
        _ => None,
    }
}

/// Returns the place of an element that a step reads or writes, if its array has a known length and its index is in range.
pub fn known_place(step: &Instruction, facts: &[Known]) -> Option<usize> {
    let [array, index, ..] = step.ins[..] else { return None };
    let place = usize::try_from(integer(facts, index)?).ok()?;
    (place < length(facts, array)?).then_some(place)
}

/// Returns the integer that a step computes, if it is known.
pub fn computed_integer(step: &Instruction, facts: &[Known]) -> Option<i64> {
    match step.op {
        Op::ConstI(integer) => Some(integer),
        Op::Count => i64::try_from(length(facts, step.ins[0])?).ok(),
        Op::Primitive(id) => evaluated(id, &step.ins, facts),
        _ => None,
    }
}

/// Applies a primitive to integers; `None` if an operand is not known, or if the primitive fails.
fn evaluated(id: PrimitiveId, ins: &[Reg], facts: &[Known]) -> Option<i64> {
    match (id.info().value, ins) {
        (Value::I1(value), [a]) => value(integer(facts, *a)?).ok(),
        (Value::I2(value), [a, b]) => value(integer(facts, *a)?, integer(facts, *b)?).ok(),
        _ => None,
    }
}

/// Replaces the facts at the start of a step by those at its end.
pub fn step(step: &Instruction, facts: &mut [Known]) {
    let of = |k: usize| facts[step.ins[k].0 as usize];
    let result = match &step.op {
        Op::ConstF(number) => Flat::Value(Constant::Number(number.to_bits())),
        Op::Copy | Op::Take => of(0),
        Op::Primitive(primitive_ids::ADD) => {
            let sum = number(facts, step.ins[0]).zip(number(facts, step.ins[1])).map(|(a, b)| a + b);
            sum.map_or(Flat::Unknown, |sum| Flat::Value(Constant::Number(sum.to_bits())))
        }
        Op::NewArray(_) => Flat::Value(Constant::Length(0)),
        Op::Append(_) => length(facts, step.ins[0]).map_or(Flat::Unknown, |n| Flat::Value(Constant::Length(n + 1))),
        Op::Constants(elements) => Flat::Value(Constant::Length(elements.len())),
        _ => computed_integer(step, facts).map_or(Flat::Unknown, |integer| Flat::Value(Constant::Integer(integer))),
    };
    if step.op == Op::Take {
        facts[step.ins[0].0 as usize] = Flat::Unknown;
    }
    let array = of_modified_array(step, facts);
    step.outs.iter().for_each(|out| facts[out.0 as usize] = result);
    if let Some((array, known)) = array {
        facts[array.0 as usize] = known;
    }
}

/// Returns the array that a step modifies without changing its length, and what is known about the array.
fn of_modified_array(step: &Instruction, facts: &[Known]) -> Option<(Reg, Known)> {
    let is_array = matches!(step.op, Op::StoreElement { .. } | Op::TakeElement { .. });
    let (out, operand) = tied(&step.op).filter(|_| is_array)?;
    Some((step.outs[out], facts[step.ins[operand].0 as usize]))
}
