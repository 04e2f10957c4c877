//! Slow path: executes the instructions that the dispatch loop does not execute itself: instructions that create
//! objects, call Rust or fail, and the unusual case of instructions that have a fast path.

use super::calls::{call_object, call_rule, enter, native, operate, resume};
use super::{arrays, load, numbers, save, slots, storage, strings};
use crate::bytecode::Instruction;
use crate::bytecode::operand::*;
use crate::native::primitive_ids;
use crate::value::Ref;
use crate::vm::compiler_interface::Compiler;
use crate::vm::fault::Fault;
use crate::vm::function_table::Version;
use crate::vm::state::machine::Machine;
use crate::vm::state::registers::Registers;
use crate::vm::{exclusivity, objects};
use std::rc::Rc;

/// Executes the instruction at `pc`. The next program counter is stored in the innermost frame.
///
/// # Errors
/// Fails when the program fails or a limit is reached.
#[inline(never)]
pub(super) fn step(
    machine: &mut Machine,
    compiler: &mut dyn Compiler,
    pc: *const Instruction,
) -> Result<(), Box<Fault>> {
    use Instruction as I;
    save(machine, pc);
    let mut at = load(machine);
    let instruction = at.next();
    save(machine, at.pc);
    if machine.levels.is_observed() {
        machine.note_place();
    }
    match *instruction {
        I::Call { function } => call(machine, compiler, at, (function.0, Version::Original)),
        I::DCall { function } => call(machine, compiler, at, (function.0, Version::Derivative)),
        I::CallValue { function, .. } => match at.r(RIn(function.0)) {
            Ref::Closure(closure) => call(machine, compiler, at, (closure.function, Version::Original)),
            _ => call_object(machine, compiler, at, function, false),
        },
        I::DCallValue { function, .. } => match at.r(RIn(function.0)) {
            Ref::Closure(closure) => call(machine, compiler, at, (closure.function, Version::Derivative)),
            _ => call_object(machine, compiler, at, function, true),
        },
        I::DCallRule { site } => call_rule(machine, compiler, at, site),
        I::Native { site } => native(machine, compiler, at, &at.code().natives[usize::from(site)], false),
        I::DNative { site } => native(machine, compiler, at, &at.code().natives[usize::from(site)], true),
        I::Operate { site } => operate(machine, compiler, at, site, false),
        I::DOperate { site } => operate(machine, compiler, at, site, true),
        I::Resume {} => resume(machine, compiler),
        _ => {
            let done = line(machine, compiler, &mut at, instruction);
            // The operands that follow the instruction have been read by now.
            save(machine, at.pc);
            done
        }
    }
}

/// Executes the call of the native library at `pc`.
///
/// # Errors
/// Fails when the function fails.
#[inline(never)]
pub(super) fn call_native(
    machine: &mut Machine,
    compiler: &mut dyn Compiler,
    pc: *const Instruction,
) -> Result<(), Box<Fault>> {
    if machine.levels.is_observed() {
        return step(machine, compiler, pc);
    }
    save(machine, pc);
    let mut at = load(machine);
    match *at.next() {
        Instruction::Native { site } => native(machine, compiler, at, &at.code().natives[usize::from(site)], false),
        _ => step(machine, compiler, pc),
    }
}

/// Executes an instruction after which the running frame continues.
fn line(
    machine: &mut Machine,
    compiler: &mut dyn Compiler,
    at: &mut Registers,
    instruction: &Instruction,
) -> Result<(), Box<Fault>> {
    use Instruction as I;
    match *instruction {
        I::TrapNil {} => return Err(objects::unexpected_nil()),
        I::TrapFailed { message, what } => {
            return Err(objects::failed(&at.code().texts[usize::from(what)], at.r(message)));
        }
        I::TrapUncaught { message } => return Err(objects::uncaught(at.r(message))),
        I::TrapUnreachable {} => {
            return Err(Fault::internal("the program reached code that should be unreachable"));
        }
        I::LoopLtI { i, .. } | I::LoopLtIK { i, .. } => return Err(numbers::added(at.i(IIn(i.0)), 1)),

        I::Share { out, a } => at.set_r(out, at.r(a).clone()),
        I::Take { out, a } => numbers::take(at, out, a),
        I::Clear { a } => at.set_r(a, Ref::Null),
        I::LoadText { out, k } => strings::load(at, out, k),
        I::AddI { a, b, .. } => return Err(numbers::overflow("int.add", at.i(a), at.i(b))),
        I::AddIK { a, k, .. } => return Err(numbers::added(at.i(a), i64::from(k.0))),
        I::SubI { a, b, .. } => return Err(numbers::overflow("int.sub", at.i(a), at.i(b))),
        I::MulI { a, b, .. } => return Err(numbers::overflow("int.mul", at.i(a), at.i(b))),
        I::DivI { a, b, .. } => return Err(numbers::undivided("int.div", at.i(a), at.i(b))),
        I::RemI { a, b, .. } => return Err(numbers::undivided("int.rem", at.i(a), at.i(b))),

        I::LoadArray { out, k } => arrays::load_array(at, out, k),
        I::NewArray { out } => at.set_r(out, Ref::Cells(Rc::default())),
        I::AppendF { array, a } => arrays::append_f(at, array, a)?,
        I::AppendI { array, a } => arrays::append_i(at, array, a)?,
        I::AppendR { array, a } => arrays::append_r(at, array, a)?,
        I::AppendText { text, a } => strings::append(machine, at, text, a)?,
        I::Append { array, parts } | I::DAppend { array, parts } => arrays::append(at, array, parts)?,
        I::Count { out, array } => arrays::count(at, out, array)?,
        I::CheckIndex { array, index } => arrays::check_index(at, array, index)?,
        I::ElementF { out, array, index } => arrays::element_f(at, out, array, index)?,
        I::ElementI { out, array, index } => arrays::element_i(at, out, array, index)?,
        I::ElementR { out, array, index } => arrays::element_r(at, out, array, index)?,
        I::PartF { out, array, index } => arrays::part_f(at, out, array, index)?,
        I::PartI { out, array, index } => arrays::part_i(at, out, array, index)?,
        I::PartR { out, array, index } => arrays::part_r(at, out, array, index)?,
        I::TakePart { out, array, index } => arrays::take_part(at, out, array, index)?,
        I::SetElementF { array, a, index } => arrays::set_element_f(at, array, a, index)?,
        I::SetElementI { array, a, index } => arrays::set_element_i(at, array, a, index)?,
        I::SetElementR { array, a, index } => arrays::set_element_r(at, array, a, index)?,
        I::SetPartF { array, a, index } => arrays::set_part_f(at, array, a, index)?,
        I::SetPartI { array, a, index } => arrays::set_part_i(at, array, a, index)?,
        I::SetPartR { array, a, index } => arrays::set_part_r(at, array, a, index)?,
        I::DAppendF { array, a } => arrays::d_append_f(at, array, a)?,
        I::DElementF { out, array, index } => arrays::d_element_f(at, out, array, index)?,
        I::DPartF { out, array, index } => arrays::d_part_f(at, out, array, index)?,
        I::DSetElementF { array, a, index } => arrays::d_set_element_f(at, array, a, index)?,
        I::DSetPartF { array, a, index } => arrays::d_set_part_f(at, array, a, index)?,

        I::NewBox { out, parts } | I::DNewBox { out, parts } => storage::new_box(at, out, parts),
        I::NewRecord { out, parts } | I::DNewRecord { out, parts } => storage::new_record(at, out, parts),
        I::NewClosure { out, site } | I::DNewClosure { out, site } => storage::new_closure(machine, at, out, site),
        I::NewInstance { out, shape } => storage::new_instance(compiler, at, out, shape)?,
        I::FindMethod { out, from, method } => storage::find_method(machine, compiler, at, out, from, method)?,
        I::LoadBoxF { out, from, index } => storage::load_box_f(at, out, from, index)?,
        I::LoadBoxI { out, from, index } => storage::load_box_i(at, out, from, index)?,
        I::LoadBoxR { out, from, index } => storage::load_box_r(at, out, from, index)?,
        I::StoreBoxF { to, a, index } => storage::store_box_f(at, to, a, index)?,
        I::StoreBoxI { to, a, index } => storage::store_box_i(at, to, a, index)?,
        I::StoreBoxR { to, a, index } => storage::store_box_r(machine, at, to, a, index)?,
        I::TakeBox { out, from, index } => storage::take_box(at, out, from, index)?,
        I::LoadRecordF { out, from, index } => storage::load_record_f(at, out, from, index)?,
        I::LoadRecordI { out, from, index } => storage::load_record_i(at, out, from, index)?,
        I::LoadRecordR { out, from, index } => storage::load_record_r(at, out, from, index)?,
        I::StoreRecordF { to, a, index } => storage::store_record_f(at, to, a, index)?,
        I::StoreRecordI { to, a, index } => storage::store_record_i(at, to, a, index)?,
        I::StoreRecordR { to, a, index } => storage::store_record_r(at, to, a, index)?,
        I::TakeRecord { out, from, index } => storage::take_record(at, out, from, index)?,
        I::CaptureF { out, from, index } => storage::capture_f(at, out, from, index)?,
        I::CaptureI { out, from, index } => storage::capture_i(at, out, from, index)?,
        I::CaptureR { out, from, index } => storage::capture_r(at, out, from, index)?,
        I::LoadGlobalF { out, index } => storage::load_global_f(machine, at, out, index)?,
        I::LoadGlobalI { out, index } => storage::load_global_i(machine, at, out, index)?,
        I::LoadGlobalR { out, index } => storage::load_global_r(machine, at, out, index)?,
        I::StoreGlobalF { a, index } => storage::store_global_f(machine, at, a, index)?,
        I::StoreGlobalI { a, index } => storage::store_global_i(machine, at, a, index)?,
        I::StoreGlobalR { a, index } => storage::store_global_r(machine, at, a, index)?,
        I::TakeGlobal { out, index } => storage::take_global(machine, at, out, index)?,
        I::CheckAccess { object, site } => exclusivity::check(machine, at, Some(object), site)?,
        I::CheckGlobalAccess { site } => exclusivity::check(machine, at, None, site)?,
        I::BeginAccess { object, site } => exclusivity::begin(machine, at, Some(object), site)?,
        I::BeginGlobalAccess { site } => exclusivity::begin(machine, at, None, site)?,
        I::EndAccess {} => {
            machine.changes.pop();
        }
        I::DLoadBoxF { out, from, index } => storage::d_load_box_f(at, out, from, index)?,
        I::DStoreBoxF { to, a, index } => storage::d_store_box_f(machine, at, to, a, index)?,
        I::DLoadRecordF { out, from, index } => storage::d_load_record_f(at, out, from, index)?,
        I::DStoreRecordF { to, a, index } => storage::d_store_record_f(at, to, a, index)?,
        I::DCaptureF { out, from, index } => storage::d_capture_f(at, out, from, index)?,
        I::DLoadGlobalF { out, index } => storage::d_load_global_f(machine, at, out, index)?,
        I::DStoreGlobalF { a, index } => storage::d_store_global_f(machine, at, a, index)?,

        I::DAddF { out, a, b } => {
            if !slots::general(machine, at, out, primitive_ids::ADD, &[at.num(a), at.num(b)])? {
                slots::add(machine, at, out, a, b);
            }
        }
        I::DSubF { out, a, b } => {
            if !slots::general(machine, at, out, primitive_ids::SUB, &[at.num(a), at.num(b)])? {
                slots::sub(machine, at, out, a, b);
            }
        }
        I::DMulF { out, a, b } => {
            if !slots::general(machine, at, out, primitive_ids::MUL, &[at.num(a), at.num(b)])? {
                slots::mul(machine, at, out, a, b);
            }
        }
        I::DDivF { out, a, b } => {
            if !slots::general(machine, at, out, primitive_ids::DIV, &[at.num(a), at.num(b)])? {
                slots::div(machine, at, out, a, b);
            }
        }
        I::DNegF { out, a } => {
            if !slots::general(machine, at, out, primitive_ids::NEG, &[at.num(a)])? {
                slots::neg(machine, at, out, a);
            }
        }
        I::DPrim1F { out, a, p } => slots::d_prim1_f(machine, at, out, a, p)?,
        I::DPrim2F { out, a, b, p } => slots::d_prim2_f(machine, at, out, a, b, p)?,
        I::DPrim3F { out, a, b, p } => slots::d_prim3_f(machine, at, out, a, b, p)?,
        I::DPrimFI { out, a, n, p } => slots::d_prim_fi(machine, at, out, a, n, p)?,
        // The dispatch loop and `step` execute these instructions.
        I::MoveF { .. }
        | I::MoveI { .. }
        | I::LoadF { .. }
        | I::LoadI { .. }
        | I::SetI { .. }
        | I::AddF { .. }
        | I::SubF { .. }
        | I::MulF { .. }
        | I::DivF { .. }
        | I::NegF { .. }
        | I::AbsF { .. }
        | I::SqrtF { .. }
        | I::RoundF { .. }
        | I::NumberOf { .. }
        | I::Prim1F { .. }
        | I::Prim2F { .. }
        | I::Prim3F { .. }
        | I::PrimFI { .. }
        | I::PrimNumber { .. }
        | I::PrimWhole { .. }
        | I::Prim1Test { .. }
        | I::Prim2Test { .. }
        | I::Prim1I { .. }
        | I::Prim2I { .. }
        | I::PartialF { .. }
        | I::PartialLeftF { .. }
        | I::PartialRightF { .. }
        | I::PartialFI { .. }
        | I::FlushF { .. }
        | I::AppendNode { .. }
        | I::AppendNode2 { .. }
        | I::PushF { .. }
        | I::PushI { .. }
        | I::PushKnown { .. }
        | I::PopF { .. }
        | I::PopI { .. }
        | I::JoinLeftF { .. }
        | I::JoinRightF { .. }
        | I::JoinBothF { .. }
        | I::Extra { .. }
        | I::Extras { .. }
        | I::Element { .. }
        | I::Not { .. }
        | I::EqI { .. }
        | I::NeI { .. }
        | I::LtI { .. }
        | I::LeI { .. }
        | I::EqF { .. }
        | I::NeF { .. }
        | I::LtF { .. }
        | I::LeF { .. }
        | I::Jump { .. }
        | I::If { .. }
        | I::Unless { .. }
        | I::IfEqI { .. }
        | I::IfNeI { .. }
        | I::IfLtI { .. }
        | I::IfLeI { .. }
        | I::IfEqIK { .. }
        | I::IfNeIK { .. }
        | I::IfLtIK { .. }
        | I::IfLeIK { .. }
        | I::IfGtIK { .. }
        | I::IfGeIK { .. }
        | I::IfEqF { .. }
        | I::IfNeF { .. }
        | I::IfLtF { .. }
        | I::IfLeF { .. }
        | I::UnlessLtF { .. }
        | I::UnlessLeF { .. }
        | I::Call { .. }
        | I::CallValue { .. }
        | I::Native { .. }
        | I::Operate { .. }
        | I::Return {}
        | I::ReturnF { .. }
        | I::ReturnI { .. }
        | I::ReturnR { .. }
        | I::AddElementF { .. }
        | I::AddPartF { .. }
        | I::Accumulate { .. }
        | I::TakeAdjoint { .. }
        | I::ReadAdjoint { .. }
        | I::AccumulateR { .. }
        | I::TakeAdjointR { .. }
        | I::AddArray { .. }
        | I::AddNodes { .. }
        | I::Resume {}
        | I::Halt {}
        | I::EnterCompiled {}
        | I::DMoveF { .. }
        | I::DLoadF { .. }
        | I::ClearSlot { .. }
        | I::DCall { .. }
        | I::DCallValue { .. }
        | I::DCallRule { .. }
        | I::DNative { .. }
        | I::DOperate { .. }
        | I::DReturnF { .. } => {
            return Err(Fault::internal("an instruction of the dispatch loop was not executed there"));
        }
    }
    Ok(())
}

fn call(
    machine: &mut Machine,
    compiler: &mut dyn Compiler,
    at: Registers,
    (function, version): (u32, Version),
) -> Result<(), Box<Fault>> {
    let entry = machine.code(compiler, function, version)?;
    enter(machine, at, entry).map(|_| ())
}
