//! Entry: the description of an instruction, and of its operands.

use super::operand::Role;
use crate::native::PrimitiveId;

/// An operand of one instruction, with its name and role.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Field {
    /// The name of the operand.
    pub name: &'static str,
    /// The role of the operand.
    pub role: Role,
    /// The encoded number of the operand.
    pub number: i64,
}

/// The description of one instruction.
#[derive(Hash, Debug)]
pub struct Entry {
    /// The name of the instruction.
    pub name: &'static str,
    /// The documentation of the instruction: register transfer, and further properties.
    pub doc: &'static [&'static str],
    /// The names and roles of the instruction's operands.
    pub operands: &'static [(&'static str, Role)],
    /// The primitive that the instruction computes.
    pub computes: Option<PrimitiveId>,
    /// Whether the instruction propagates tangent slots, and therefore occurs in derivative code only.
    pub active: bool,
}
