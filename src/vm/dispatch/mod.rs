//! The dispatch loop: what each instruction does.
//!
//! One `match` over the instruction, and so one jump table: what moves control, and what is a line, stands here, the rest
//! is inlined from [`numbers`], [`arrays`], [`stored`] and [`slots`]. Registers are reached through
//! [`Registers`]. Nothing in the loop may let the address of `at` escape: it must stay in machine registers. So what is not
//! inlined gets a copy, and `at` is made anew after whatever may move the stacks.

mod arrays;
mod calls;
mod numbers;
mod slots;
mod stored;

use super::fault::Fault;
use super::functions::{Compiler, Version};
use super::machine::Machine;
use super::registers::Registers;
use super::{objects, operators};
use crate::bytecode::Instruction;
use crate::bytecode::operand::*;
use crate::native::{Primitive, table};
use crate::tape::Num;
use crate::value::{Cells, Ref};
use calls::{call_object, enter, leave, native, open_window, perform};
use std::rc::Rc;

/// The registers of the innermost frame.
#[inline(always)]
fn load(machine: &mut Machine) -> Registers {
    match machine.frames.last() {
        Some(frame) => Registers::of(frame, &mut machine.stacks),
        None => unreachable!("the loop runs below a frame that ends it"),
    }
}

/// Remembers where the innermost frame is.
#[inline(always)]
fn save(machine: &mut Machine, pc: *const Instruction) {
    if let Some(frame) = machine.frames.last_mut() {
        frame.pc = pc;
    }
}

#[cold]
#[inline(never)]
fn stop(machine: &mut Machine, pc: *const Instruction, fault: impl Into<Box<Fault>>) -> Result<(), Box<Fault>> {
    save(machine, pc);
    Err(fault.into())
}

#[inline(always)]
fn primitive(p: Prim) -> &'static Primitive {
    // The verifier has checked the number; the default is never used.
    table::all().get(usize::from(p.0)).unwrap_or(&table::all()[0])
}

/// Runs until the frame that ends the run.
///
/// # Errors
/// When the program fails or a limit is reached.
#[allow(clippy::too_many_lines, reason = "one arm per instruction; it is a table")]
pub fn run(machine: &mut Machine, compiler: &mut dyn Compiler) -> Result<(), Box<Fault>> {
    use Instruction as I;
    let mut at = load(machine);

    // What may fail: the place is kept for the message.
    macro_rules! attempt {
        ($result:expr) => {
            match $result {
                Ok(value) => value,
                Err(fault) => return stop(machine, at.pc, fault),
            }
        };
    }
    macro_rules! jump {
        ($to:expr) => {{
            let distance = i32::from($to.0);
            if distance < 0 {
                machine.fuel -= 1;
                if machine.fuel < 0 {
                    attempt!(machine.poll());
                }
            }
            at.jump(distance);
        }};
    }
    macro_rules! branch {
        ($condition:expr, $to:expr) => {
            if $condition {
                jump!($to)
            }
        };
    }
    macro_rules! call {
        ($function:expr, $version:expr) => {{
            let number = $function;
            let entry = match machine.functions.get(number, $version) {
                Some(entry) => std::ptr::from_ref(entry),
                None => attempt!(machine.code(compiler, number, $version)),
            };
            at = attempt!(enter(machine, at, entry));
        }};
    }
    // Work in Rust that may move the stacks or change the innermost frame.
    macro_rules! outside {
        ($work:expr) => {{
            attempt!($work);
            at = load(machine);
        }};
    }
    loop {
        let instruction = at.next();
        match *instruction {
            I::Jump { to } => jump!(to),
            I::If { a, to } => branch!(at.i(a) != 0, to),
            I::Unless { a, to } => branch!(at.i(a) == 0, to),
            I::IfEqI { a, b, to } => branch!(at.i(a) == at.i(b), to),
            I::IfNeI { a, b, to } => branch!(at.i(a) != at.i(b), to),
            I::IfLtI { a, b, to } => branch!(at.i(a) < at.i(b), to),
            I::IfLeI { a, b, to } => branch!(at.i(a) <= at.i(b), to),
            I::IfEqIK { a, k, to } => branch!(at.i(a) == i64::from(k.0), to),
            I::IfNeIK { a, k, to } => branch!(at.i(a) != i64::from(k.0), to),
            I::IfLtIK { a, k, to } => branch!(at.i(a) < i64::from(k.0), to),
            I::IfLeIK { a, k, to } => branch!(at.i(a) <= i64::from(k.0), to),
            I::IfGtIK { a, k, to } => branch!(at.i(a) > i64::from(k.0), to),
            I::IfGeIK { a, k, to } => branch!(at.i(a) >= i64::from(k.0), to),
            I::IfEqF { a, b, to } => branch!(at.f(a) == at.f(b), to),
            I::IfNeF { a, b, to } => branch!(at.f(a) != at.f(b), to),
            I::IfLtF { a, b, to } => branch!(at.f(a) < at.f(b), to),
            I::IfLeF { a, b, to } => branch!(at.f(a) <= at.f(b), to),
            // Not `>=`: a comparison with NaN is false both ways.
            I::UnlessLtF { a, b, to } => {
                let holds = at.f(a) < at.f(b);
                branch!(!holds, to);
            }
            I::UnlessLeF { a, b, to } => {
                let holds = at.f(a) <= at.f(b);
                branch!(!holds, to);
            }
            I::LoopLtI { i, n, to } => {
                let a = at.i(IIn(i.0));
                match a.checked_add(1) {
                    Some(value) => {
                        at.set_i(IOut(i.0), value);
                        branch!(value < at.i(n), to);
                    }
                    None => return stop(machine, at.pc, numbers::added(a, 1)),
                }
            }
            I::LoopLtIK { i, k, to } => {
                let a = at.i(IIn(i.0));
                match a.checked_add(1) {
                    Some(value) => {
                        at.set_i(IOut(i.0), value);
                        branch!(value < i64::from(k.0), to);
                    }
                    None => return stop(machine, at.pc, numbers::added(a, 1)),
                }
            }

            I::Call { function } => call!(function.0, Version::Original),
            I::CallValue { function } => match at.r(RIn(function.0)) {
                Ref::Closure(closure) => call!(closure.function, Version::Original),
                _ => outside!(call_object(machine, compiler, at, function, false)),
            },
            I::Native { site } => {
                let site = &at.code().natives[usize::from(site)];
                outside!(native(machine, compiler, at, site, false));
            }
            I::Operate { site } => {
                let site = &at.code().operators[usize::from(site)];
                open_window(machine, at);
                let next = operators::operate(machine, compiler, site, false);
                outside!(perform(machine, compiler, next));
            }
            I::Return {} => at = leave(machine, at),
            I::ReturnF { a } => {
                at.set_f(FOut(0), at.f(a));
                at = leave(machine, at);
            }
            I::ReturnI { a } => {
                at.set_i(IOut(0), at.i(a));
                at = leave(machine, at);
            }
            I::ReturnR { a } => {
                let value = at.take(a);
                at.set_r(ROut(0), value);
                at = leave(machine, at);
            }
            I::TrapNil {} => return stop(machine, at.pc, objects::unexpected_nil()),
            I::TrapFailed { message, what } => {
                let fault = objects::failed(&at.code().texts[usize::from(what)], at.r(message));
                return stop(machine, at.pc, fault);
            }
            I::TrapUncaught { message } => {
                let fault = objects::uncaught(at.r(message));
                return stop(machine, at.pc, fault);
            }
            I::TrapUnreachable {} => {
                return stop(machine, at.pc, Fault::internal("the program came to a place that cannot be reached"));
            }
            I::Resume {} => outside!(machine.resume(compiler)),
            I::Halt {} => return Ok(()),
            I::DCall { function } => call!(function.0, Version::Derivative),
            I::DCallValue { function } => match at.r(RIn(function.0)) {
                Ref::Closure(closure) => call!(closure.function, Version::Derivative),
                _ => outside!(call_object(machine, compiler, at, function, true)),
            },
            I::DCallRule { site } => {
                let site = &at.code().rules[usize::from(site)];
                open_window(machine, at);
                let next = operators::call_rule(machine, compiler, site);
                outside!(perform(machine, compiler, next));
            }
            I::DNative { site } => {
                let site = &at.code().natives[usize::from(site)];
                outside!(native(machine, compiler, at, site, true));
            }
            I::DOperate { site } => {
                let site = &at.code().operators[usize::from(site)];
                open_window(machine, at);
                let next = operators::operate(machine, compiler, site, true);
                outside!(perform(machine, compiler, next));
            }
            I::DReturnF { a } => {
                at.set_num(FOut(0), at.num(a));
                at = leave(machine, at);
            }

            I::MoveF { out, a } => at.set_f(out, at.f(a)),
            I::MoveI { out, a } => at.set_i(out, at.i(a)),
            I::Share { out, a } => at.set_r(out, at.r(a).clone()),
            I::Take { out, a } => numbers::take(&mut at, out, a),
            I::Clear { a } => at.set_r(a, Ref::Null),
            I::LoadF { out, k } => at.set_f(out, at.constant(k)),
            I::LoadI { out, k } => at.set_i(out, at.code().integers[usize::from(k)]),
            I::SetI { out, value } => at.set_i(out, i64::from(value.0)),
            I::LoadText { out, k } => numbers::load_text(&mut at, out, k),
            I::AddF { out, a, b } => at.set_f(out, at.f(a) + at.f(b)),
            I::SubF { out, a, b } => at.set_f(out, at.f(a) - at.f(b)),
            I::MulF { out, a, b } => at.set_f(out, at.f(a) * at.f(b)),
            I::DivF { out, a, b } => at.set_f(out, at.f(a) / at.f(b)),
            I::NegF { out, a } => at.set_f(out, -at.f(a)),
            I::AbsF { out, a } => at.set_f(out, at.f(a).abs()),
            I::SqrtF { out, a } => at.set_f(out, at.f(a).sqrt()),
            I::RoundF { out, a } => at.set_f(out, f64::from(at.f(a) as f32)),
            I::NumberOf { out, a } => at.set_f(out, at.i(a) as f64),
            I::Prim1F { out, a, p } => numbers::prim1_f(&mut at, out, a, p),
            I::Prim2F { out, a, b, p } => numbers::prim2_f(&mut at, out, a, b, p),
            I::Prim3F { out, a, b, p } => numbers::prim3_f(&mut at, out, a, b, p),
            I::PrimFI { out, a, n, p } => numbers::prim_fi(&mut at, out, a, n, p),
            I::PrimNumber { out, a, p } => numbers::prim_number(&mut at, out, a, p),
            I::PrimWhole { out, a, p } => attempt!(numbers::prim_whole(&mut at, out, a, p)),
            I::Prim1Test { out, a, p } => numbers::prim1_test(&mut at, out, a, p),
            I::Prim2Test { out, a, b, p } => numbers::prim2_test(&mut at, out, a, b, p),
            I::Prim1I { out, a, p } => attempt!(numbers::prim1_i(&mut at, out, a, p)),
            I::Prim2I { out, a, b, p } => attempt!(numbers::prim2_i(&mut at, out, a, b, p)),
            I::JoinLeftF { out, a, b, how } => numbers::join_left_f(&mut at, out, a, b, how),
            I::JoinRightF { out, a, b, how } => numbers::join_right_f(&mut at, out, a, b, how),
            I::JoinBothF { out, a, b, how } => numbers::join_both_f(&mut at, out, a, b, how),
            I::Extra { .. } | I::Extras { .. } | I::Element { .. } => {}
            I::AddI { out, a, b } => attempt!(numbers::add_i(&mut at, out, a, b)),
            I::AddIK { out, a, k } => attempt!(numbers::add_ik(&mut at, out, a, k)),
            I::SubI { out, a, b } => attempt!(numbers::sub_i(&mut at, out, a, b)),
            I::MulI { out, a, b } => attempt!(numbers::mul_i(&mut at, out, a, b)),
            I::Not { out, a } => at.set_i(out, i64::from(at.i(a) == 0)),
            I::EqI { out, a, b } => at.set_i(out, i64::from(at.i(a) == at.i(b))),
            I::NeI { out, a, b } => at.set_i(out, i64::from(at.i(a) != at.i(b))),
            I::LtI { out, a, b } => at.set_i(out, i64::from(at.i(a) < at.i(b))),
            I::LeI { out, a, b } => at.set_i(out, i64::from(at.i(a) <= at.i(b))),
            I::EqF { out, a, b } => at.set_i(out, i64::from(at.f(a) == at.f(b))),
            I::NeF { out, a, b } => at.set_i(out, i64::from(at.f(a) != at.f(b))),
            I::LtF { out, a, b } => at.set_i(out, i64::from(at.f(a) < at.f(b))),
            I::LeF { out, a, b } => at.set_i(out, i64::from(at.f(a) <= at.f(b))),

            I::LoadArray { out, k } => arrays::load_array(at, out, k),
            I::NewArray { out } => at.set_r(out, Ref::Cells(Rc::default())),
            I::AppendF { array, a } => attempt!(arrays::append_f(&mut at, array, a)),
            I::AppendI { array, a } => attempt!(arrays::append_i(&mut at, array, a)),
            I::AppendR { array, a } => attempt!(arrays::append_r(&mut at, array, a)),
            I::Append { array, parts } | I::DAppend { array, parts } => attempt!(arrays::append(&mut at, array, parts)),
            I::Count { out, array } => attempt!(arrays::count(&mut at, out, array)),
            I::CheckIndex { array, index } => attempt!(arrays::check_index(&mut at, array, index)),
            I::ElementF { out, array, index } => attempt!(arrays::element_f(&mut at, out, array, index)),
            I::ElementI { out, array, index } => attempt!(arrays::element_i(&mut at, out, array, index)),
            I::ElementR { out, array, index } => attempt!(arrays::element_r(&mut at, out, array, index)),
            I::PartF { out, array, index } => attempt!(arrays::part_f(&mut at, out, array, index)),
            I::PartI { out, array, index } => attempt!(arrays::part_i(&mut at, out, array, index)),
            I::PartR { out, array, index } => attempt!(arrays::part_r(&mut at, out, array, index)),
            I::TakePart { out, array, index } => attempt!(arrays::take_part(&mut at, out, array, index)),
            I::SetElementF { array, a, index } => attempt!(arrays::set_element_f(&mut at, array, a, index)),
            I::SetElementI { array, a, index } => attempt!(arrays::set_element_i(&mut at, array, a, index)),
            I::SetElementR { array, a, index } => attempt!(arrays::set_element_r(&mut at, array, a, index)),
            I::SetPartF { array, a, index } => attempt!(arrays::set_part_f(&mut at, array, a, index)),
            I::SetPartI { array, a, index } => attempt!(arrays::set_part_i(&mut at, array, a, index)),
            I::SetPartR { array, a, index } => attempt!(arrays::set_part_r(&mut at, array, a, index)),
            I::DAppendF { array, a } => attempt!(arrays::d_append_f(&mut at, array, a)),
            I::DElementF { out, array, index } => attempt!(arrays::d_element_f(&mut at, out, array, index)),
            I::DPartF { out, array, index } => attempt!(arrays::d_part_f(&mut at, out, array, index)),
            I::DSetElementF { array, a, index } => attempt!(arrays::d_set_element_f(&mut at, array, a, index)),
            I::DSetPartF { array, a, index } => attempt!(arrays::d_set_part_f(&mut at, array, a, index)),

            I::NewBox { out, parts } | I::DNewBox { out, parts } => stored::new_box(&mut at, out, parts),
            I::NewRecord { out, parts } | I::DNewRecord { out, parts } => stored::new_record(&mut at, out, parts),
            I::NewClosure { out, site } | I::DNewClosure { out, site } => stored::new_closure(&mut at, out, site),
            I::NewInstance { out, shape } => attempt!(stored::new_instance(compiler, at, out, shape)),
            I::FindMethod { out, from, method } => {
                attempt!(stored::find_method(machine, compiler, &mut at, out, (from, method)));
            }
            I::LoadBoxF { out, from, index } => attempt!(stored::load_box_f(&mut at, out, from, index)),
            I::LoadBoxI { out, from, index } => attempt!(stored::load_box_i(&mut at, out, from, index)),
            I::LoadBoxR { out, from, index } => attempt!(stored::load_box_r(&mut at, out, from, index)),
            I::StoreBoxF { to, a, index } => attempt!(stored::store_box_f(&mut at, to, a, index)),
            I::StoreBoxI { to, a, index } => attempt!(stored::store_box_i(&mut at, to, a, index)),
            I::StoreBoxR { to, a, index } => attempt!(stored::store_box_r(machine, &mut at, to, a, index)),
            I::TakeBox { out, from, index } => attempt!(stored::take_box(&mut at, out, from, index)),
            I::LoadRecordF { out, from, index } => attempt!(stored::load_record_f(&mut at, out, from, index)),
            I::LoadRecordI { out, from, index } => attempt!(stored::load_record_i(&mut at, out, from, index)),
            I::LoadRecordR { out, from, index } => attempt!(stored::load_record_r(&mut at, out, from, index)),
            I::StoreRecordF { to, a, index } => attempt!(stored::store_record_f(&mut at, to, a, index)),
            I::StoreRecordI { to, a, index } => attempt!(stored::store_record_i(&mut at, to, a, index)),
            I::StoreRecordR { to, a, index } => attempt!(stored::store_record_r(&mut at, to, a, index)),
            I::TakeRecord { out, from, index } => attempt!(stored::take_record(&mut at, out, from, index)),
            I::CaptureF { out, from, index } => attempt!(stored::capture_f(&mut at, out, from, index)),
            I::CaptureI { out, from, index } => attempt!(stored::capture_i(&mut at, out, from, index)),
            I::CaptureR { out, from, index } => attempt!(stored::capture_r(&mut at, out, from, index)),
            I::LoadGlobalF { out, index } => attempt!(stored::load_global_f(machine, &mut at, out, index)),
            I::LoadGlobalI { out, index } => attempt!(stored::load_global_i(machine, &mut at, out, index)),
            I::LoadGlobalR { out, index } => attempt!(stored::load_global_r(machine, &mut at, out, index)),
            I::StoreGlobalF { a, index } => attempt!(stored::store_global_f(machine, &mut at, a, index)),
            I::StoreGlobalI { a, index } => attempt!(stored::store_global_i(machine, &mut at, a, index)),
            I::StoreGlobalR { a, index } => attempt!(stored::store_global_r(machine, &mut at, a, index)),
            I::TakeGlobal { out, index } => attempt!(stored::take_global(machine, &mut at, out, index)),
            I::DLoadBoxF { out, from, index } => attempt!(stored::d_load_box_f(&mut at, out, from, index)),
            I::DStoreBoxF { to, a, index } => attempt!(stored::d_store_box_f(machine, &mut at, to, a, index)),
            I::DLoadRecordF { out, from, index } => attempt!(stored::d_load_record_f(&mut at, out, from, index)),
            I::DStoreRecordF { to, a, index } => attempt!(stored::d_store_record_f(&mut at, to, a, index)),
            I::DCaptureF { out, from, index } => attempt!(stored::d_capture_f(&mut at, out, from, index)),
            I::DLoadGlobalF { out, index } => attempt!(stored::d_load_global_f(machine, &mut at, out, index)),
            I::DStoreGlobalF { a, index } => attempt!(stored::d_store_global_f(machine, &mut at, a, index)),

            I::DMoveF { out, a } => at.set_num(out, at.num(a)),
            I::DLoadF { out, k } => at.set_num(out, Num::constant(at.constant(k))),
            I::ClearSlot { a } => at.set_slot(FOut(a.0), 0, 0),
            I::DAddF { out, a, b } => attempt!(slots::d_add_f(machine, &mut at, out, a, b)),
            I::DSubF { out, a, b } => attempt!(slots::d_sub_f(machine, &mut at, out, a, b)),
            I::DMulF { out, a, b } => attempt!(slots::d_mul_f(machine, &mut at, out, a, b)),
            I::DDivF { out, a, b } => attempt!(slots::d_div_f(machine, &mut at, out, a, b)),
            I::DNegF { out, a } => attempt!(slots::d_neg_f(machine, &mut at, out, a)),
            I::DPrim1F { out, a, p } => attempt!(slots::d_prim1_f(machine, &mut at, out, a, p)),
            I::DPrim2F { out, a, b, p } => attempt!(slots::d_prim2_f(machine, &mut at, out, a, b, p)),
            I::DPrim3F { out, a, b, p } => attempt!(slots::d_prim3_f(machine, &mut at, out, a, b, p)),
            I::DPrimFI { out, a, n, p } => attempt!(slots::d_prim_fi(machine, &mut at, out, a, n, p)),
        }
    }
}

/// Puts the components in the window together.
fn gather(at: Registers, parts: PartsAt, slots: bool) -> Cells {
    let counts = at.code().parts[usize::from(parts)];
    gather_counts(at, counts, slots)
}

fn gather_counts(at: Registers, [f, i, r]: [u16; 3], slots: bool) -> Cells {
    let mut references = at;
    objects::gather(at.window_f(f, slots), at.window_i(i), references.window_r(r))
}
