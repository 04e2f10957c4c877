//! Dispatch loop: executes instructions.
//!
//! [`run`] executes the usual case of instructions, most of it in [`fast_path`]; an instruction that creates an object,
//! calls Rust, fails or is unusual goes to [`slow_path`], which has the complete meaning of those instructions in
//! [`numbers`], [`arrays`], [`storage`] and [`slots`]. Registers are accessed through [`Registers`], which must stay in
//! machine registers. Therefore the address of this object does not escape from the loop, and the object is rebuilt
//! after every call.

mod arrays;
pub(super) mod calls;
mod fast_path;
mod finalizers;
mod numbers;
mod object_operations;
mod single_step;
mod slots;
mod slow_path;
mod storage;
mod strings;
mod window_calls;

use crate::bytecode::Instruction;
use crate::bytecode::operand::*;
use crate::native::{Primitive, primitive_table};
use crate::tape::Num;
use crate::value::{Cells, Ref, finalizer};
use crate::vm::compiled;
use crate::vm::compiler_interface::Compiler;
use crate::vm::fault::Fault;
use crate::vm::function_table::Version;
use crate::vm::objects;
use crate::vm::state::machine::Machine;
use crate::vm::state::registers::Registers;
use calls::{enter, leave};

/// Returns the registers of the innermost frame.
#[inline(always)]
fn load(machine: &mut Machine) -> Registers {
    match machine.frames.last() {
        Some(frame) => Registers::of(frame, &mut machine.stacks),
        None => unreachable!("the loop runs below a frame that ends it"),
    }
}

/// Saves the program counter in the innermost frame.
#[inline(always)]
fn save(machine: &mut Machine, pc: *const Instruction) {
    if let Some(frame) = machine.frames.last_mut() {
        frame.pc = pc;
    }
}

#[inline(always)]
fn primitive(p: Prim) -> &'static Primitive {
    // The verifier has checked the number of the primitive; the default is never used.
    primitive_table::all().get(usize::from(p.0)).unwrap_or(&primitive_table::all()[0])
}

/// Runs instructions until the frame that ends the run returns.
///
/// # Errors
/// Fails when the program fails or a limit is reached.
#[allow(clippy::too_many_lines, reason = "one arm per instruction; it is a table")]
pub fn run(machine: &mut Machine, compiler: &mut dyn Compiler) -> Result<(), Box<Fault>> {
    use Instruction as I;
    machine.tier.helpers = Some(&single_step::HELPERS);
    let mut at = load(machine);
    loop {
        let here = at.pc;
        let instruction = at.next();

        // The macro executes code outside of the loop: no part of `at` is live across this call of Rust code.
        macro_rules! outside {
            ($work:expr) => {{
                let value = $work;
                at = load(machine);
                value
            }};
        }
        macro_rules! slow_path {
            () => {{
                // The cost of this path must not affect the code that continues without it, so the path is moved out of
                // line.
                std::hint::cold_path();
                outside!(slow_path::step(machine, compiler, here)?);
                run_finalizers!()
            }};
        }
        // The macro runs the finalizers that may be pending after the instruction.
        macro_rules! run_finalizers {
            () => {
                if finalizer::any() {
                    // A fast path does not store in the frame where it continues.
                    save(machine, at.pc);
                    outside!(finalizers::run_finalizers(machine, compiler)?);
                }
            };
        }
        macro_rules! leave {
            () => {{
                let (back, let_go) = leave(machine, at);
                at = back;
                if let_go {
                    std::hint::cold_path();
                    run_finalizers!();
                }
            }};
        }
        // The macro executes the fast path of an instruction, if it applies; otherwise the slow path.
        macro_rules! fast_path {
            ($done:expr) => {
                if $done.is_none() {
                    slow_path!();
                }
            };
        }
        // The macro applies a function of the table of primitives, which is called through a pointer.
        macro_rules! primitive {
            ($value:expr) => {{
                save(machine, at.pc);
                outside!($value)
            }};
        }
        macro_rules! jump {
            ($to:expr) => {{
                let distance = i32::from($to.0);
                if distance < 0 {
                    machine.fuel -= 1;
                    if machine.fuel < 0 {
                        save(machine, at.pc);
                        at.jump(distance);
                        outside!(compiled::jump_back(machine, compiler, at.pc)?);
                        run_finalizers!();
                    } else {
                        at.jump(distance);
                    }
                } else {
                    at.jump(distance);
                }
            }};
        }
        macro_rules! branch {
            ($condition:expr, $to:expr) => {
                if $condition {
                    jump!($to)
                }
            };
        }
        // The macro executes one iteration of a loop over integers.
        macro_rules! increment_and_branch {
            ($i:expr, $end:expr, $to:expr) => {
                match at.i(IIn($i.0)).checked_add(1) {
                    Some(value) => {
                        at.set_i(IOut($i.0), value);
                        branch!(value < $end, $to);
                    }
                    None => slow_path!(),
                }
            };
        }
        macro_rules! call {
            ($function:expr, $version:expr) => {
                match machine.functions.get($function, $version).map(std::ptr::from_ref) {
                    Some(entry) => at = enter(machine, at, entry)?,
                    None => slow_path!(),
                }
            };
        }
        macro_rules! call_value {
            ($function:expr, $version:expr) => {
                match at.r(RIn($function.0)) {
                    Ref::Closure(closure) => call!(closure.function, $version),
                    _ => slow_path!(),
                }
            };
        }

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
            // The condition is not `a >= b`: with NaN both comparisons are false.
            I::UnlessLtF { a, b, to } => {
                let holds = at.f(a) < at.f(b);
                branch!(!holds, to);
            }
            I::UnlessLeF { a, b, to } => {
                let holds = at.f(a) <= at.f(b);
                branch!(!holds, to);
            }
            I::LoopLtI { i, n, to } => increment_and_branch!(i, at.i(n), to),
            I::LoopLtIK { i, k, to } => increment_and_branch!(i, i64::from(k.0), to),

            I::Call { function } => call!(function.0, Version::Original),
            I::CallValue { function, .. } => call_value!(function, Version::Original),
            I::DCall { function } => call!(function.0, Version::Derivative),
            I::DCallValue { function, .. } => call_value!(function, Version::Derivative),
            I::Return {} => leave!(),
            I::ReturnF { a } => {
                at.set_f(FOut(0), at.f(a));
                leave!();
            }
            I::ReturnI { a } => {
                at.set_i(IOut(0), at.i(a));
                leave!();
            }
            I::ReturnR { a } => {
                let value = at.take(a);
                at.set_r(ROut(0), value);
                leave!();
            }
            I::DReturnF { a } => {
                at.set_num(FOut(0), at.num(a));
                leave!();
            }
            I::Halt {} => return Ok(()),
            I::EnterCompiled {} => {
                outside!(compiled::enter(machine, compiler)?);
                run_finalizers!();
            }

            I::MoveF { out, a } => at.set_f(out, at.f(a)),
            I::MoveI { out, a } => at.set_i(out, at.i(a)),
            I::Share { out, a } => fast_path!(fast_path::share(&mut at, out, a)),
            I::Take { out, a } => fast_path!(fast_path::take(&mut at, out, a)),
            I::Clear { a } => fast_path!(fast_path::clear(&mut at, a)),
            I::LoadText { out, k } => fast_path!(fast_path::load_text(&mut at, out, k)),
            I::LoadF { out, k } => at.set_f(out, at.constant(k)),
            I::LoadI { out, k } => at.set_i(out, at.code().integers[usize::from(k)]),
            I::SetI { out, value } => at.set_i(out, i64::from(value.0)),
            I::AddF { out, a, b } => at.set_f(out, at.f(a) + at.f(b)),
            I::SubF { out, a, b } => at.set_f(out, at.f(a) - at.f(b)),
            I::MulF { out, a, b } => at.set_f(out, at.f(a) * at.f(b)),
            I::DivF { out, a, b } => at.set_f(out, at.f(a) / at.f(b)),
            I::NegF { out, a } => at.set_f(out, -at.f(a)),
            I::AbsF { out, a } => at.set_f(out, at.f(a).abs()),
            I::SqrtF { out, a } => at.set_f(out, at.f(a).sqrt()),
            I::RoundF { out, a } => at.set_f(out, f64::from(at.f(a) as f32)),
            I::NumberOf { out, a } => at.set_f(out, at.i(a) as f64),
            I::JoinLeftF { out, a, b, how } => fast_path::join_left_f(&mut at, out, a, b, how),
            I::JoinRightF { out, a, b, how } => fast_path::join_right_f(&mut at, out, a, b, how),
            I::JoinBothF { out, a, b, how } => fast_path::join_both_f(&mut at, out, a, b, how),
            I::Extra { .. } | I::Extras { .. } | I::Element { .. } => {}
            I::Prim1F { out, a, p } => {
                let value = primitive!(numbers::prim1_f(p, at.f(a)));
                at.set_f(out, value);
            }
            I::Prim2F { out, a, b, p } => {
                let value = primitive!(numbers::prim2_f(p, at.f(a), at.f(b)));
                at.set_f(out, value);
            }
            I::Prim3F { out, a, b, p } => {
                let c = at.extra();
                let value = primitive!(numbers::prim3_f(p, at.f(a), at.f(b), at.f(c)));
                at.set_f(out, value);
            }
            I::PrimFI { out, a, n, p } => {
                let value = primitive!(numbers::prim_fi(p, at.f(a), at.i(n)));
                at.set_f(out, value);
            }
            I::PrimNumber { out, a, p } => {
                let value = primitive!(numbers::prim_number(p, at.i(a)));
                at.set_f(out, value);
            }
            I::PrimWhole { out, a, p } => {
                let value = primitive!(numbers::prim_whole(p, at.f(a))?);
                at.set_i(out, value);
            }
            I::Prim1Test { out, a, p } => {
                let value = primitive!(numbers::prim1_test(p, at.f(a)));
                at.set_i(out, i64::from(value));
            }
            I::Prim2Test { out, a, b, p } => {
                let value = primitive!(numbers::prim2_test(p, at.f(a), at.f(b)));
                at.set_i(out, i64::from(value));
            }
            I::Prim1I { out, a, p } => {
                let value = primitive!(numbers::prim1_i(p, at.i(a))?);
                at.set_i(out, value);
            }
            I::Prim2I { out, a, b, p } => {
                let value = primitive!(numbers::prim2_i(p, at.i(a), at.i(b))?);
                at.set_i(out, value);
            }
            I::AddI { out, a, b } => fast_path!(at.i(a).checked_add(at.i(b)).map(|value| at.set_i(out, value))),
            I::AddIK { out, a, k } => fast_path!(at.i(a).checked_add(i64::from(k.0)).map(|value| at.set_i(out, value))),
            I::SubI { out, a, b } => fast_path!(at.i(a).checked_sub(at.i(b)).map(|value| at.set_i(out, value))),
            I::MulI { out, a, b } => fast_path!(at.i(a).checked_mul(at.i(b)).map(|value| at.set_i(out, value))),
            I::DivI { out, a, b } => fast_path!(at.i(a).checked_div(at.i(b)).map(|value| at.set_i(out, value))),
            I::RemI { out, a, b } => fast_path!(at.i(a).checked_rem(at.i(b)).map(|value| at.set_i(out, value))),
            I::Not { out, a } => at.set_i(out, i64::from(at.i(a) == 0)),
            I::EqI { out, a, b } => at.set_i(out, i64::from(at.i(a) == at.i(b))),
            I::NeI { out, a, b } => at.set_i(out, i64::from(at.i(a) != at.i(b))),
            I::LtI { out, a, b } => at.set_i(out, i64::from(at.i(a) < at.i(b))),
            I::LeI { out, a, b } => at.set_i(out, i64::from(at.i(a) <= at.i(b))),
            I::EqF { out, a, b } => at.set_i(out, i64::from(at.f(a) == at.f(b))),
            I::NeF { out, a, b } => at.set_i(out, i64::from(at.f(a) != at.f(b))),
            I::LtF { out, a, b } => at.set_i(out, i64::from(at.f(a) < at.f(b))),
            I::LeF { out, a, b } => at.set_i(out, i64::from(at.f(a) <= at.f(b))),

            I::AppendF { array, a } => fast_path!(fast_path::append_f(&mut at, array, a)),
            I::AppendI { array, a } => fast_path!(fast_path::append_i(&mut at, array, a)),
            I::AppendText { text, a } => fast_path!(fast_path::append_text(&mut at, text, a)),
            I::Count { out, array } => fast_path!(fast_path::count(&mut at, out, array)),
            I::CheckAccess { .. } | I::CheckGlobalAccess { .. } => fast_path!(machine.changes.is_empty().then_some(())),
            I::CheckIndex { array, index } => fast_path!(fast_path::check_index(&at, array, index)),
            I::ElementF { out, array, index } => fast_path!(fast_path::element_f(&mut at, out, array, index, None)),
            I::ElementI { out, array, index } => fast_path!(fast_path::element_i(&mut at, out, array, index, None)),
            I::ElementR { out, array, index } => fast_path!(fast_path::element_r(&mut at, out, array, index, None)),
            I::SetElementF { array, a, index } => fast_path!(fast_path::set_element_f(&mut at, array, a, index, None)),
            I::SetElementI { array, a, index } => fast_path!(fast_path::set_element_i(&mut at, array, a, index, None)),
            I::DElementF { out, array, index } => fast_path!(fast_path::d_element_f(&mut at, out, array, index, None)),
            I::DSetElementF { array, a, index } => {
                fast_path!(fast_path::d_set_element_f(&mut at, array, a, index, None))
            }
            I::PartF { out, array, index } => {
                let part = Some(at.element());
                fast_path!(fast_path::element_f(&mut at, out, array, index, part));
            }
            I::PartI { out, array, index } => {
                let part = Some(at.element());
                fast_path!(fast_path::element_i(&mut at, out, array, index, part));
            }
            I::PartR { out, array, index } => {
                let part = Some(at.element());
                fast_path!(fast_path::element_r(&mut at, out, array, index, part));
            }
            I::SetPartF { array, a, index } => {
                let part = Some(at.element());
                fast_path!(fast_path::set_element_f(&mut at, array, a, index, part));
            }
            I::SetPartI { array, a, index } => {
                let part = Some(at.element());
                fast_path!(fast_path::set_element_i(&mut at, array, a, index, part));
            }
            I::DPartF { out, array, index } => {
                let part = Some(at.element());
                fast_path!(fast_path::d_element_f(&mut at, out, array, index, part));
            }
            I::DSetPartF { array, a, index } => {
                let part = Some(at.element());
                fast_path!(fast_path::d_set_element_f(&mut at, array, a, index, part));
            }

            I::NewClosure { out, site } => fast_path!(fast_path::plain_closure(machine, &mut at, out, site)),
            I::FindMethod { out, from, method } => {
                fast_path!(fast_path::find_method(machine, &mut at, out, from, method))
            }
            I::LoadBoxF { out, from, index } => fast_path!(fast_path::load_box_f(&mut at, out, from, index)),
            I::LoadBoxI { out, from, index } => fast_path!(fast_path::load_box_i(&mut at, out, from, index)),
            I::LoadBoxR { out, from, index } => fast_path!(fast_path::load_box_r(&mut at, out, from, index)),
            I::StoreBoxR { to, a, index } => fast_path!(fast_path::store_box_r(machine, &mut at, to, a, index)),
            I::StoreBoxF { to, a, index } => fast_path!(fast_path::store_box_f(&mut at, to, a, index)),
            I::StoreBoxI { to, a, index } => fast_path!(fast_path::store_box_i(&mut at, to, a, index)),
            I::LoadRecordF { out, from, index } => fast_path!(fast_path::load_record_f(&mut at, out, from, index)),
            I::LoadRecordI { out, from, index } => fast_path!(fast_path::load_record_i(&mut at, out, from, index)),
            I::LoadRecordR { out, from, index } => fast_path!(fast_path::load_record_r(&mut at, out, from, index)),
            I::StoreRecordF { to, a, index } => fast_path!(fast_path::store_record_f(&mut at, to, a, index)),
            I::StoreRecordI { to, a, index } => fast_path!(fast_path::store_record_i(&mut at, to, a, index)),
            I::CaptureF { out, from, index } => fast_path!(fast_path::capture_f(&mut at, out, from, index)),
            I::CaptureI { out, from, index } => fast_path!(fast_path::capture_i(&mut at, out, from, index)),
            I::CaptureR { out, from, index } => fast_path!(fast_path::capture_r(&mut at, out, from, index)),
            I::LoadGlobalF { out, index } => fast_path!(fast_path::load_global_f(machine, &mut at, out, index)),
            I::LoadGlobalI { out, index } => fast_path!(fast_path::load_global_i(machine, &mut at, out, index)),
            I::LoadGlobalR { out, index } => fast_path!(fast_path::load_global_r(machine, &mut at, out, index)),
            I::StoreGlobalF { a, index } => fast_path!(fast_path::store_global_f(machine, &at, a, index)),
            I::StoreGlobalI { a, index } => fast_path!(fast_path::store_global_i(machine, &at, a, index)),
            I::DLoadBoxF { out, from, index } => fast_path!(fast_path::d_load_box_f(&mut at, out, from, index)),
            I::DLoadRecordF { out, from, index } => fast_path!(fast_path::d_load_record_f(&mut at, out, from, index)),
            I::DCaptureF { out, from, index } => fast_path!(fast_path::d_capture_f(&mut at, out, from, index)),
            I::DLoadGlobalF { out, index } => fast_path!(fast_path::d_load_global_f(machine, &mut at, out, index)),

            I::DMoveF { out, a } => at.set_num(out, at.num(a)),
            I::DLoadF { out, k } => at.set_num(out, Num::constant(at.constant(k))),
            I::ClearSlot { a } => at.set_slot(FOut(a.0), 0, 0),
            I::DAddF { out, a, b } => fast_path!(slots::add(machine, &mut at, out, a, b)),
            I::DSubF { out, a, b } => fast_path!(slots::sub(machine, &mut at, out, a, b)),
            I::DMulF { out, a, b } => fast_path!(slots::mul(machine, &mut at, out, a, b)),
            I::DDivF { out, a, b } => fast_path!(slots::div(machine, &mut at, out, a, b)),
            I::DNegF { out, a } => fast_path!(slots::neg(machine, &mut at, out, a)),

            I::Native { site } => {
                match fast_path::native(at, &at.code().natives[usize::from(site)]) {
                    Some(steps) => machine.fuel -= steps,
                    None => {
                        std::hint::cold_path();
                        outside!(slow_path::call_native(machine, compiler, here)?);
                    }
                }
                run_finalizers!();
            }

            // The instructions from here up to the addition to elements belong to threaded code.
            I::FlushF { .. }
            | I::AppendNode { .. }
            | I::AppendNode2 { .. }
            | I::PartialF { .. }
            | I::PartialLeftF { .. }
            | I::PartialRightF { .. }
            | I::PartialFI { .. }
            | I::PushF { .. }
            | I::PushI { .. }
            | I::PushKnown { .. }
            | I::PopF { .. }
            | I::PopI { .. }
            | I::AddElementF { .. }
            | I::AddPartF { .. }
            | I::Accumulate { .. }
            | I::TakeAdjoint { .. }
            | I::ReadAdjoint { .. }
            | I::AccumulateR { .. }
            | I::TakeAdjointR { .. }
            | I::AddArray { .. }
            | I::AddNodes { .. }
            | I::Operate { .. }
            | I::Resume {}
            | I::TrapNil {}
            | I::TrapFailed { .. }
            | I::TrapUncaught { .. }
            | I::TrapUnreachable {}
            | I::LoadArray { .. }
            | I::NewArray { .. }
            | I::AppendR { .. }
            | I::Append { .. }
            | I::TakePart { .. }
            | I::SetElementR { .. }
            | I::SetPartR { .. }
            | I::NewBox { .. }
            | I::NewRecord { .. }
            | I::NewInstance { .. }
            | I::TakeBox { .. }
            | I::StoreRecordR { .. }
            | I::TakeRecord { .. }
            | I::StoreGlobalR { .. }
            | I::TakeGlobal { .. }
            | I::BeginAccess { .. }
            | I::BeginGlobalAccess { .. }
            | I::EndAccess {}
            | I::DNative { .. }
            | I::DOperate { .. }
            | I::DCallRule { .. }
            | I::DAppendF { .. }
            | I::DAppend { .. }
            | I::DNewBox { .. }
            | I::DNewRecord { .. }
            | I::DNewClosure { .. }
            | I::DStoreBoxF { .. }
            | I::DStoreRecordF { .. }
            | I::DStoreGlobalF { .. }
            | I::DPrim1F { .. }
            | I::DPrim2F { .. }
            | I::DPrim3F { .. }
            | I::DPrimFI { .. } => slow_path!(),
        }
    }
}

/// Combines the components in the window to the cells of an object.
fn gather(at: Registers, parts: PartsAt, slots: bool) -> Cells {
    let counts = at.code().parts[usize::from(parts)];
    gather_counts(at, counts, slots)
}

fn gather_counts(at: Registers, [f, i, r]: [u16; 3], slots: bool) -> Cells {
    let mut references = at;
    objects::gather(at.window_f(f, slots), at.window_i(i), references.window_r(r))
}
