//! Translation: converts instructions to cells of threaded code.

use super::arithmetic_cells::{self as numbers, BOTH, LEFT, RIGHT, write_result as number};
use super::integer_cells::{
    self as integers, ConditionValue, branch, increment_and_branch, jump, write_result as integer,
};
use super::object_cells::{self as objects, end, end_with, fail, perform};
use super::{Cell, Handler, More, Threaded};
use crate::bytecode::operand::*;
use crate::bytecode::{Code, Instruction, primitive};
use crate::native::{Expression, Partial, Primitive, Value};
use std::rc::Rc;

/// Translates verified code to cells; `None` where the code contains operations that threaded code cannot execute.
pub fn translate(code: &Code) -> Option<Threaded> {
    let mut cells = vec![];
    let mut places = vec![];
    for (at, instruction) in code.instructions.iter().enumerate() {
        places.push(cells.len());
        if let Instruction::Extra { .. } | Instruction::Extras { .. } | Instruction::Element { .. } = instruction {
            continue;
        }
        cells.push((at, cell(code, at, instruction)?));
    }
    // Distances between instructions become distances between cells.
    for (place, (at, cell)) in cells.iter_mut().enumerate() {
        if let Some(distance) = distance(&code.instructions[*at]) {
            let target = usize::try_from(i64::try_from(*at).ok()? + 1 + i64::from(distance)).ok()?;
            cell.more = More { distance: *places.get(target)? as isize - place as isize };
        }
    }
    Some(Threaded { cells: cells.into_iter().map(|(_, cell)| cell).collect() })
}

/// Returns the distance of a jump instruction; `None` for other instructions.
fn distance(instruction: &Instruction) -> Option<i32> {
    let mut found = None;
    instruction.visit(&mut |field| {
        if field.role == Role::Jump {
            found = i32::try_from(field.number).ok();
        }
    });
    found
}

/// Creates a cell that has only register operands.
fn plain(run: Handler, regs: &[u16]) -> Cell {
    let mut all = [0; 5];
    all[..regs.len()].copy_from_slice(regs);
    Cell { run, more: More { nothing: () }, regs: all }
}

fn info(p: Prim) -> Option<&'static Primitive> {
    primitive(p.0)
}

/// Creates a cell that calls a primitive.
fn of(run: Handler, p: Prim, regs: &[u16]) -> Option<Cell> {
    Some(Cell { more: More { primitive: info(p)? }, ..plain(run, regs) })
}

/// Creates the cell of a jump, forward or backward.
macro_rules! jumps {
    ($to:expr, $f:ident $(::<$condition:ident>)?) => {
        if i32::from($to.0) < 0 { $f::<$(integers::$condition,)? true> } else { $f::<$(integers::$condition,)? false> }
    };
}

#[allow(clippy::too_many_lines, reason = "one arm per instruction; it is a table")]
fn cell(code: &Code, at: usize, instruction: &Instruction) -> Option<Cell> {
    use Instruction as I;
    let trailer = code.instructions.get(at + 1);
    let extra = || match trailer {
        Some(I::Extra { c }) => Some(c.0),
        _ => None,
    };
    let element = || match trailer {
        Some(I::Element { offset, stride }) => Some([offset.0, stride.0]),
        _ => None,
    };
    Some(match *instruction {
        I::Return {} => plain(end, &[]),
        I::ReturnF { a } => plain(end_with::<objects::Move>, &[0, a.0]),
        I::ReturnR { a } => plain(end_with::<objects::Take>, &[0, a.0]),
        I::TrapNil {} | I::TrapUnreachable {} => plain(fail, &[]),
        I::Jump { to } => plain(jumps!(to, jump), &[]),
        I::If { a, to } => plain(jumps!(to, branch::<True>), &[0, a.0]),
        I::Unless { a, to } => plain(jumps!(to, branch::<False>), &[0, a.0]),
        I::IfEqI { a, b, to } => plain(jumps!(to, branch::<Equal>), &[0, a.0, b.0]),
        I::IfNeI { a, b, to } => plain(jumps!(to, branch::<Unequal>), &[0, a.0, b.0]),
        I::IfLtI { a, b, to } => plain(jumps!(to, branch::<Less>), &[0, a.0, b.0]),
        I::IfLeI { a, b, to } => plain(jumps!(to, branch::<AtMost>), &[0, a.0, b.0]),
        I::IfEqIK { a, k, to } => plain(jumps!(to, branch::<EqualConstant>), &[0, a.0, k.0.cast_unsigned()]),
        I::IfNeIK { a, k, to } => plain(jumps!(to, branch::<UnequalConstant>), &[0, a.0, k.0.cast_unsigned()]),
        I::IfLtIK { a, k, to } => plain(jumps!(to, branch::<LessConstant>), &[0, a.0, k.0.cast_unsigned()]),
        I::IfLeIK { a, k, to } => plain(jumps!(to, branch::<AtMostConstant>), &[0, a.0, k.0.cast_unsigned()]),
        I::IfGtIK { a, k, to } => plain(jumps!(to, branch::<GreaterConstant>), &[0, a.0, k.0.cast_unsigned()]),
        I::IfGeIK { a, k, to } => plain(jumps!(to, branch::<AtLeastConstant>), &[0, a.0, k.0.cast_unsigned()]),
        I::IfEqF { a, b, to } => plain(jumps!(to, branch::<NumberEqual>), &[0, a.0, b.0]),
        I::IfNeF { a, b, to } => plain(jumps!(to, branch::<NumberUnequal>), &[0, a.0, b.0]),
        I::IfLtF { a, b, to } => plain(jumps!(to, branch::<NumberLess>), &[0, a.0, b.0]),
        I::IfLeF { a, b, to } => plain(jumps!(to, branch::<NumberAtMost>), &[0, a.0, b.0]),
        I::UnlessLtF { a, b, to } => plain(jumps!(to, branch::<NumberNotLess>), &[0, a.0, b.0]),
        I::UnlessLeF { a, b, to } => plain(jumps!(to, branch::<NumberNotAtMost>), &[0, a.0, b.0]),
        I::LoopLtI { i, n, to } => plain(jumps!(to, increment_and_branch::<Less>), &[0, i.0, n.0]),
        I::LoopLtIK { i, k, to } => {
            plain(jumps!(to, increment_and_branch::<LessConstant>), &[0, i.0, k.0.cast_unsigned()])
        }

        I::MoveF { out, a } => plain(number::<numbers::Same>, &[out.0, a.0]),
        I::LoadF { out, k } => {
            let value = *code.numbers.get(usize::from(k))?;
            Cell { more: More { number: value }, ..plain(number::<numbers::Constant>, &[out.0]) }
        }
        I::AddF { out, a, b } => plain(number::<numbers::Sum>, &[out.0, a.0, b.0]),
        I::SubF { out, a, b } => plain(number::<numbers::Difference>, &[out.0, a.0, b.0]),
        I::MulF { out, a, b } => plain(number::<numbers::Product>, &[out.0, a.0, b.0]),
        I::DivF { out, a, b } => plain(number::<numbers::Quotient>, &[out.0, a.0, b.0]),
        I::NegF { out, a } => plain(number::<numbers::Negative>, &[out.0, a.0]),
        I::AbsF { out, a } => plain(number::<numbers::Magnitude>, &[out.0, a.0]),
        I::SqrtF { out, a } => plain(number::<numbers::Root>, &[out.0, a.0]),
        I::RoundF { out, a } => plain(number::<numbers::Rounded>, &[out.0, a.0]),
        I::NumberOf { out, a } => plain(number::<numbers::OfInteger>, &[out.0, a.0]),
        I::JoinLeftF { out, a, b, how } => plain(*LEFT.get(usize::from(how.0))?, &[out.0, a.0, b.0, extra()?]),
        I::JoinRightF { out, a, b, how } => plain(*RIGHT.get(usize::from(how.0))?, &[out.0, a.0, b.0, extra()?]),
        I::JoinBothF { out, a, b, how } => {
            let Some(I::Extras { c, d }) = trailer else { return None };
            plain(*BOTH.get(usize::from(how.0))?, &[out.0, a.0, b.0, c.0, d.0])
        }
        I::Prim1F { out, a, p } => {
            let Value::F1(one) = info(p)?.value else { return None };
            Cell { more: More { one }, ..plain(number::<numbers::One>, &[out.0, a.0]) }
        }
        I::Prim2F { out, a, b, p } => {
            let Value::F2(two) = info(p)?.value else { return None };
            Cell { more: More { two }, ..plain(number::<numbers::Two>, &[out.0, a.0, b.0]) }
        }
        I::Prim3F { out, a, b, p } => {
            let Value::F3(three) = info(p)?.value else { return None };
            Cell { more: More { three }, ..plain(number::<numbers::Three>, &[out.0, a.0, b.0, extra()?]) }
        }
        I::PrimFI { out, a, n, p } => of(number::<numbers::WithInteger>, p, &[out.0, a.0, n.0])?,
        I::PrimNumber { out, a, p } => of(number::<numbers::MadeOfInteger>, p, &[out.0, a.0])?,
        I::PartialF { out, a, y, p } => {
            let Partial::Expression(Expression::Unary(two, _)) = info(p)?.partial(0) else { return None };
            Cell { more: More { two }, ..plain(number::<numbers::Partial>, &[out.0, a.0, y.0]) }
        }
        I::PartialLeftF { out, a, b, p } => partial_of_two(p, 0, &[out.0, a.0, b.0, extra()?])?,
        I::PartialRightF { out, a, b, p } => partial_of_two(p, 1, &[out.0, a.0, b.0, extra()?])?,
        I::PartialFI { out, a, n, p } => of(number::<numbers::PartialWithInteger>, p, &[out.0, a.0, n.0, extra()?])?,

        I::MoveI { out, a } => plain(integer::<integers::Same>, &[out.0, a.0]),
        I::SetI { out, value } => known(i64::from(value.0), out),
        I::LoadI { out, k } => known(*code.integers.get(usize::from(k))?, out),
        I::AddI { out, a, b } => plain(integer::<integers::Sum>, &[out.0, a.0, b.0]),
        I::AddIK { out, a, k } => plain(integer::<integers::SumConstant>, &[out.0, a.0, k.0.cast_unsigned()]),
        I::SubI { out, a, b } => plain(integer::<integers::Difference>, &[out.0, a.0, b.0]),
        I::MulI { out, a, b } => plain(integer::<integers::Product>, &[out.0, a.0, b.0]),
        I::DivI { out, a, b } => plain(integer::<integers::Quotient>, &[out.0, a.0, b.0]),
        I::RemI { out, a, b } => plain(integer::<integers::Remainder>, &[out.0, a.0, b.0]),
        I::Not { out, a } => plain(integer::<integers::Not>, &[out.0, a.0]),
        I::EqI { out, a, b } => plain(integer::<ConditionValue<integers::Equal>>, &[out.0, a.0, b.0]),
        I::NeI { out, a, b } => plain(integer::<ConditionValue<integers::Unequal>>, &[out.0, a.0, b.0]),
        I::LtI { out, a, b } => plain(integer::<ConditionValue<integers::Less>>, &[out.0, a.0, b.0]),
        I::LeI { out, a, b } => plain(integer::<ConditionValue<integers::AtMost>>, &[out.0, a.0, b.0]),
        I::EqF { out, a, b } => plain(integer::<ConditionValue<integers::NumberEqual>>, &[out.0, a.0, b.0]),
        I::NeF { out, a, b } => plain(integer::<ConditionValue<integers::NumberUnequal>>, &[out.0, a.0, b.0]),
        I::LtF { out, a, b } => plain(integer::<ConditionValue<integers::NumberLess>>, &[out.0, a.0, b.0]),
        I::LeF { out, a, b } => plain(integer::<ConditionValue<integers::NumberAtMost>>, &[out.0, a.0, b.0]),
        I::Prim1I { out, a, p } => of(integer::<integers::One>, p, &[out.0, a.0])?,
        I::Prim2I { out, a, b, p } => of(integer::<integers::Two>, p, &[out.0, a.0, b.0])?,
        I::PrimWhole { out, a, p } => of(integer::<integers::Whole>, p, &[out.0, a.0])?,
        I::Prim1Test { out, a, p } => of(integer::<integers::Test1>, p, &[out.0, a.0])?,
        I::Prim2Test { out, a, b, p } => of(integer::<integers::Test2>, p, &[out.0, a.0, b.0])?,

        I::Share { out, a } => plain(perform::<objects::Share>, &[out.0, a.0]),
        I::Take { out, a } => plain(perform::<objects::Take>, &[out.0, a.0]),
        I::Clear { a } => plain(perform::<objects::Clear>, &[a.0]),
        I::Count { out, array } => plain(perform::<objects::Count>, &[out.0, array.0]),
        I::CheckIndex { array, index } => plain(perform::<objects::CheckIndex>, &[array.0, index.0]),
        I::ElementF { out, array, index } => plain(perform::<objects::Element>, &[out.0, array.0, index.0]),
        I::ElementI { out, array, index } => plain(perform::<objects::PartInteger>, &[out.0, array.0, index.0, 0, 1]),
        I::ElementR { out, array, index } => plain(perform::<objects::PartReference>, &[out.0, array.0, index.0, 0, 1]),
        I::PartF { out, array, index } => part(perform::<objects::Part>, [out.0, array.0, index.0], element()?),
        I::PartI { out, array, index } => part(perform::<objects::PartInteger>, [out.0, array.0, index.0], element()?),
        I::PartR { out, array, index } => {
            part(perform::<objects::PartReference>, [out.0, array.0, index.0], element()?)
        }
        I::AddElementF { array, a, index } => plain(perform::<objects::AddElement>, &[array.0, a.0, index.0]),
        I::AddPartF { array, a, index } => part(perform::<objects::AddPart>, [array.0, a.0, index.0], element()?),
        I::NewArray { out } => plain(perform::<objects::NewArray>, &[out.0]),
        I::LoadArray { out, k } => Cell {
            more: More { constants: Rc::as_ptr(code.arrays.get(usize::from(k))?) },
            ..plain(perform::<objects::LoadArray>, &[out.0])
        },
        I::AppendF { array, a } => plain(perform::<objects::Append>, &[array.0, a.0]),
        I::AppendI { array, a } => plain(perform::<objects::AppendInteger>, &[array.0, a.0]),
        I::AppendR { array, a } => plain(perform::<objects::AppendReference>, &[array.0, a.0]),
        I::Append { array, parts } => {
            let [f, i, r] = code.registers;
            let counts = *code.parts.get(usize::from(parts))?;
            Cell { more: More { counts }, ..plain(perform::<objects::AppendElement>, &[array.0, f, i, r]) }
        }
        I::SetElementF { array, a, index } => part(perform::<objects::SetPart>, [array.0, a.0, index.0], [0, 1]),
        I::SetElementI { array, a, index } => part(perform::<objects::SetPartInteger>, [array.0, a.0, index.0], [0, 1]),
        I::SetPartF { array, a, index } => part(perform::<objects::SetPart>, [array.0, a.0, index.0], element()?),
        I::SetPartI { array, a, index } => {
            part(perform::<objects::SetPartInteger>, [array.0, a.0, index.0], element()?)
        }
        I::TakePart { out, array, index } => {
            part(perform::<objects::TakePartReference>, [out.0, array.0, index.0], element()?)
        }
        I::SetElementR { array, a, index } => {
            part(perform::<objects::SetPartReference>, [array.0, a.0, index.0], [0, 1])
        }
        I::SetPartR { array, a, index } => {
            part(perform::<objects::SetPartReference>, [array.0, a.0, index.0], element()?)
        }
        I::Accumulate { array, a, index } => part(perform::<objects::Accumulate>, [array.0, a.0, index.0], element()?),
        I::TakeAdjoint { out, array, index } => {
            part(perform::<objects::TakeAdjoint>, [out.0, array.0, index.0], element()?)
        }
        I::ReadAdjoint { out, array, index } => {
            part(perform::<objects::ReadAdjoint>, [out.0, array.0, index.0], element()?)
        }
        I::AccumulateR { array, from, index } => {
            part(perform::<objects::AccumulateArray>, [array.0, from.0, index.0], element()?)
        }
        I::TakeAdjointR { out, array, index } => {
            part(perform::<objects::TakeAdjointArray>, [out.0, array.0, index.0], element()?)
        }
        I::AddNodes { array, from } => plain(perform::<objects::AddNodes>, &[array.0, from.0]),
        I::AddArray { array, from } => plain(perform::<objects::AddArray>, &[array.0, from.0]),
        I::LoadRecordF { out, from, index } => plain(perform::<objects::Field>, &[out.0, from.0, index.0]),
        I::LoadRecordI { out, from, index } => plain(perform::<objects::FieldInteger>, &[out.0, from.0, index.0]),
        I::LoadRecordR { out, from, index } => plain(perform::<objects::FieldReference>, &[out.0, from.0, index.0]),
        I::StoreRecordF { to, a, index } => plain(perform::<objects::SetField>, &[to.0, a.0, index.0]),
        I::CaptureF { out, from, index } => plain(perform::<objects::Captured>, &[out.0, from.0, index.0]),
        I::CaptureI { out, from, index } => plain(perform::<objects::CapturedInteger>, &[out.0, from.0, index.0]),
        I::CaptureR { out, from, index } => plain(perform::<objects::CapturedReference>, &[out.0, from.0, index.0]),
        I::LoadGlobalF { out, index } => global(perform::<objects::Global>, out.0, index),
        I::LoadGlobalI { out, index } => global(perform::<objects::GlobalInteger>, out.0, index),
        I::LoadGlobalR { out, index } => global(perform::<objects::GlobalReference>, out.0, index),
        I::AppendNode { out, node, a } => plain(perform::<objects::AppendNode>, &[out.0, node.0, a.0]),
        I::AppendNode2 { out, left, right } => {
            let Some(I::Extras { c, d }) = trailer else { return None };
            plain(perform::<objects::AppendNode2>, &[out.0, left.0, right.0, c.0, d.0])
        }
        I::FlushF { a } => plain(perform::<objects::Flush>, &[a.0]),
        I::PushF { a } => plain(perform::<objects::Push>, &[a.0]),
        I::PushI { a } => plain(perform::<objects::PushInteger>, &[a.0]),
        I::PushKnown { value } => {
            Cell { more: More { integer: i64::from(value.0) }, ..plain(perform::<objects::PushKnown>, &[]) }
        }
        I::PopF { out } => plain(perform::<objects::Pop>, &[out.0]),
        I::PopI { out } => plain(perform::<objects::PopInteger>, &[out.0]),
        // Functions with these instructions have no adjoint code; trailers belong to the instruction before them.
        I::LoadText { .. }
        | I::Call { .. }
        | I::CallValue { .. }
        | I::Native { .. }
        | I::Operate { .. }
        | I::ReturnI { .. }
        | I::NewBox { .. }
        | I::NewInstance { .. }
        | I::FindMethod { .. }
        | I::NewRecord { .. }
        | I::NewClosure { .. }
        | I::LoadBoxF { .. }
        | I::LoadBoxI { .. }
        | I::LoadBoxR { .. }
        | I::StoreBoxF { .. }
        | I::StoreBoxI { .. }
        | I::StoreBoxR { .. }
        | I::TakeBox { .. }
        | I::StoreRecordI { .. }
        | I::StoreRecordR { .. }
        | I::TakeRecord { .. }
        | I::AppendText { .. }
        | I::StoreGlobalF { .. }
        | I::StoreGlobalI { .. }
        | I::StoreGlobalR { .. }
        | I::TakeGlobal { .. }
        | I::CheckAccess { .. }
        | I::CheckGlobalAccess { .. }
        | I::BeginAccess { .. }
        | I::BeginGlobalAccess { .. }
        | I::EndAccess {}
        | I::TrapFailed { .. }
        | I::TrapUncaught { .. }
        | I::Resume {}
        | I::Halt {}
        | I::EnterCompiled {}
        | I::DMoveF { .. }
        | I::DLoadF { .. }
        | I::ClearSlot { .. }
        | I::DAddF { .. }
        | I::DSubF { .. }
        | I::DMulF { .. }
        | I::DDivF { .. }
        | I::DNegF { .. }
        | I::DPrim1F { .. }
        | I::DPrim2F { .. }
        | I::DPrim3F { .. }
        | I::DPrimFI { .. }
        | I::DCall { .. }
        | I::DCallValue { .. }
        | I::DCallRule { .. }
        | I::DNative { .. }
        | I::DOperate { .. }
        | I::DReturnF { .. }
        | I::DNewBox { .. }
        | I::DNewRecord { .. }
        | I::DNewClosure { .. }
        | I::DLoadBoxF { .. }
        | I::DStoreBoxF { .. }
        | I::DLoadRecordF { .. }
        | I::DStoreRecordF { .. }
        | I::DCaptureF { .. }
        | I::DAppendF { .. }
        | I::DAppend { .. }
        | I::DElementF { .. }
        | I::DPartF { .. }
        | I::DSetElementF { .. }
        | I::DSetPartF { .. }
        | I::DLoadGlobalF { .. }
        | I::DStoreGlobalF { .. }
        | I::Extra { .. }
        | I::Extras { .. }
        | I::Element { .. } => return None,
    })
}

/// Creates the cell of the partial derivative of a primitive of two numbers.
fn partial_of_two(p: Prim, operand: usize, regs: &[u16]) -> Option<Cell> {
    let Partial::Expression(Expression::Binary(three, _)) = info(p)?.partial(operand) else { return None };
    Some(Cell { more: More { three }, ..plain(number::<numbers::PartialOfTwo>, regs) })
}

/// Creates the cell of a constant integer.
fn known(value: i64, out: IOut) -> Cell {
    Cell { more: More { integer: value }, ..plain(integer::<integers::Constant>, &[out.0]) }
}

/// Creates a cell for a component of an element.
fn part(run: Handler, [a, b, c]: [u16; 3], [offset, stride]: [u16; 2]) -> Cell {
    plain(run, &[a, b, c, offset, stride])
}

/// Creates a cell for a global variable.
fn global(run: Handler, out: u16, index: Global) -> Cell {
    Cell { more: More { integer: usize::from(index) as i64 }, ..plain(run, &[out]) }
}
