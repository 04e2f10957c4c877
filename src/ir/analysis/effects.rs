//! Effects: the classification of every [`Op`] by the memory that it reads and writes. All passes and analyses use this
//! classification.
//!
//! Promises: [`effects`] and [`transfer`] match on all operations, so that a new operation does not compile until it is
//! classified.

use crate::ir::graph::{FunctionId, Op, Operator, TransformedOp};
use crate::native::PrimitiveId;
use crate::value::Bank;

/// The effects of an operation besides writing its results.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Effects {
    /// The memory that the operation accesses, besides registers.
    pub memory: Memory,
    /// The kind of the operation's access to this memory.
    pub access: MemoryAccess,
    /// Whether the operation may stop the program with a fault.
    pub may_fail: bool,
}

/// A kind of memory besides the registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Memory {
    /// The operation accesses no memory: only numbers, integers and references in registers.
    None,
    /// The contents of strings.
    Text,
    /// Function objects and their captured values.
    Closure,
    /// Boxes: captured variables and the properties of instances.
    Box,
    /// The headers of instances: their dynamic types and identities.
    Instance,
    /// Records, which have value semantics.
    Record,
    /// Arrays, which have value semantics.
    Array,
    /// Global variables.
    Global,
    /// The value stack of adjoint code.
    ValueStack,
    /// Any memory: the operation runs other code.
    Any,
}

/// The kind of access of an operation to memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MemoryAccess {
    /// The operation does not access the memory.
    None,
    /// The operation reads from the memory.
    Read,
    /// The operation creates a new object in the memory.
    Create,
    /// The operation writes to the memory.
    Write,
    /// The operation moves a reference out of memory, or out of a register, and leaves a null reference there.
    Move,
    /// The operation marks a point of the program on which other passes or the machine rely.
    Pin,
}

/// Classifies an operation by its effects.
pub fn effects(op: &Op) -> Effects {
    use Memory as M;
    use MemoryAccess as A;
    let (memory, access, may_fail) = match op {
        Op::ConstF(_) | Op::ConstI(_) | Op::Null | Op::Copy => (M::None, A::None, false),
        Op::Take => (M::None, A::Move, false),
        Op::Primitive(id) => (M::None, A::None, primitive_may_fail(id.info().name)),
        Op::Text(_) => (M::Text, A::Read, false),
        Op::AppendText => (M::Text, A::Write, false),
        Op::Closure(_) => (M::Closure, A::Create, false),
        Op::Capture { .. } => (M::Closure, A::Read, false),
        Op::NewBox => (M::Box, A::Create, false),
        Op::LoadBox { .. } => (M::Box, A::Read, false),
        Op::StoreBox { .. } => (M::Box, A::Write, false),
        Op::TakeBox { .. } => (M::Box, A::Move, false),
        Op::NewInstance(_) => (M::Instance, A::Create, false),
        Op::FindMethod(_) => (M::Instance, A::Read, false),
        Op::NewRecord => (M::Record, A::Create, false),
        Op::LoadRecord { .. } => (M::Record, A::Read, false),
        Op::StoreRecord { .. } => (M::Record, A::Write, false),
        Op::TakeRecord { .. } => (M::Record, A::Move, false),
        Op::Constants(_) | Op::NewArray(_) => (M::Array, A::Create, false),
        Op::Count => (M::Array, A::Read, false),
        Op::CheckIndex | Op::LoadElement { .. } => (M::Array, A::Read, true),
        Op::Append(_) => (M::Array, A::Write, false),
        Op::StoreElement { .. } => (M::Array, A::Write, true),
        Op::TakeElement { .. } => (M::Array, A::Move, true),
        Op::LoadGlobal { .. } => (M::Global, A::Read, false),
        Op::StoreGlobal { .. } => (M::Global, A::Write, false),
        Op::TakeGlobal { .. } => (M::Global, A::Move, false),
        Op::Hold | Op::AssertDifferentiable { .. } => (M::None, A::Pin, false),
        Op::Access { .. } => (M::None, A::Pin, true),
        Op::Call(_) | Op::CallRule(_) | Op::CallValue | Op::Native { .. } | Op::Operator(_) => (M::Any, A::Write, true),
        Op::Transformed(op) => match op {
            TransformedOp::Partial { .. }
            | TransformedOp::DropTangent
            | TransformedOp::RequireConstant
            // The order of independent nodes does not matter, and a node that nothing reads is not needed.
            | TransformedOp::AppendNode
            | TransformedOp::Flush => (M::None, A::None, false),
            TransformedOp::CaptureOf { .. } => (M::Closure, A::Read, false),
            TransformedOp::Push(_) | TransformedOp::PushConstant(_) | TransformedOp::Pop(_) => {
                (M::ValueStack, A::Write, false)
            }
            TransformedOp::ReadAdjoint { .. } => (M::Array, A::Read, false),
            TransformedOp::AddElement { .. } => (M::Array, A::Write, true),
            TransformedOp::Accumulate { .. }
            | TransformedOp::AccumulateArray { .. }
            | TransformedOp::TakeAdjoint { .. }
            | TransformedOp::TakeAdjointArray { .. }
            | TransformedOp::AddArray
            | TransformedOp::AddNodes => {
                (M::Array, A::Write, false)
            }
        },
    };
    Effects { memory, access, may_fail }
}

/// Whether an operation has no effect except writing its results, and cannot fail.
pub fn is_pure(op: &Op) -> bool {
    let Effects { access, may_fail, .. } = effects(op);
    !may_fail && matches!(access, MemoryAccess::None | MemoryAccess::Read | MemoryAccess::Create)
}

/// Whether a primitive may have no result: integer arithmetic overflows, all other primitives are total.
fn primitive_may_fail(name: &str) -> bool {
    let total = ["eq", "ne", "lt", "le", "gt", "ge", "and", "or", "xor", "not", "min", "max"];
    match name.strip_prefix("int.") {
        Some(rest) => !total.contains(&rest) && !rest.ends_with("Wrapping"),
        None => false,
    }
}

/// The way in which numbers, and the tangents that belong to them, pass through an operation.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Transfer<'o> {
    /// No number passes through the operation: the results are constant or not numbers.
    Nothing,
    /// The result is the operand unchanged.
    Copy,
    /// The result is computed by a primitive.
    Primitive(PrimitiveId),
    /// The numbers pass through a function that is known.
    Call(FunctionId),
    /// The numbers pass through a function that is determined at run time, or through a registered derivative.
    DynamicCall,
    /// The numbers pass through a function of the native library.
    Native(&'static str),
    /// The numbers pass through an operator of the machine.
    Operator(&'o Operator),
    /// The result is loaded from memory.
    Load,
    /// The operands are stored in a new object.
    Create,
    /// The operands are stored in memory that may contain other values.
    Store {
        /// Whether one of the operands is a number.
        number: bool,
    },
}

/// Classifies an operation by the numbers that pass through it.
pub fn transfer(op: &Op) -> Transfer<'_> {
    match op {
        Op::Copy => Transfer::Copy,
        Op::Primitive(id) => Transfer::Primitive(*id),
        Op::Call(id) => Transfer::Call(*id),
        Op::CallRule(_) | Op::CallValue => Transfer::DynamicCall,
        Op::Native { name, .. } => Transfer::Native(name),
        Op::Operator(operator) => Transfer::Operator(operator),
        Op::Capture { .. }
        | Op::LoadBox { .. }
        | Op::LoadRecord { .. }
        | Op::LoadElement { .. }
        | Op::LoadGlobal { .. } => Transfer::Load,
        Op::Closure(_) | Op::NewBox | Op::NewRecord => Transfer::Create,
        Op::Append(stride) => Transfer::Store { number: stride.f > 0 },
        Op::StoreBox { bank, .. }
        | Op::StoreRecord { bank, .. }
        | Op::StoreElement { bank, .. }
        | Op::StoreGlobal { bank, .. } => Transfer::Store { number: *bank == Bank::F },
        Op::ConstF(_)
        | Op::ConstI(_)
        | Op::Text(_)
        | Op::Constants(_)
        | Op::Null
        | Op::Take
        | Op::NewInstance(_)
        | Op::FindMethod(_)
        | Op::Hold
        | Op::TakeBox { .. }
        | Op::TakeRecord { .. }
        | Op::NewArray(_)
        | Op::AppendText
        | Op::Count
        | Op::CheckIndex
        | Op::TakeElement { .. }
        | Op::TakeGlobal { .. }
        | Op::Access { .. }
        | Op::AssertDifferentiable { .. }
        // Tangent and adjoint code computes with plain numbers, which have no tangents.
        | Op::Transformed(_) => Transfer::Nothing,
    }
}

/// Returns the result and the operand that must be the same register, for operations that modify an object in place.
pub fn tied(op: &Op) -> Option<(usize, usize)> {
    match op {
        Op::StoreRecord { .. }
        | Op::Append(_)
        | Op::AppendText
        | Op::StoreElement { .. }
        | Op::Transformed(
            TransformedOp::AddElement { .. }
            | TransformedOp::Accumulate { .. }
            | TransformedOp::AccumulateArray { .. }
            | TransformedOp::AddArray
            | TransformedOp::AddNodes,
        ) => Some((0, 0)),
        Op::TakeRecord { .. }
        | Op::TakeElement { .. }
        | Op::Transformed(TransformedOp::TakeAdjoint { .. } | TransformedOp::TakeAdjointArray { .. }) => Some((1, 0)),
        _ => None,
    }
}
