//! The dispatch loop: what each instruction does.
//!
//! A `match` over the instruction, registers through [`Registers`]. Nothing in the loop may take the address of `at`: it
//! must stay in machine registers, so it is handed on by value and made anew after whatever may move the stacks.

use super::fault::{Fault, not_whole, trapped};
use super::functions::{Compiler, Entry, Version};
use super::machine::Machine;
use super::record;
use super::registers::Registers;
use super::stacks::Frame;
use super::task::Next;
use super::{joined, native, objects, operators};
use crate::bytecode::Instruction;
use crate::bytecode::operand::*;
use crate::native::{Primitive, Trap, Value, product_slope, table};
use crate::tape::Num;
use crate::value::{BoxCells, Cells, Closure, Ref, Slot};
use std::cell::RefCell;
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

/// Enters a function whose arguments stand in the window.
#[inline(always)]
fn enter(machine: &mut Machine, at: Registers, entry: *const Entry) -> Result<Registers, Box<Fault>> {
    // SAFETY: `entry` comes from `Functions`, which never drops one.
    #[allow(unsafe_code)]
    let callee = unsafe { &*entry };
    let own = at.entry().own;
    let Some(frame) = machine.frames.last_mut() else { unreachable!("the caller has a frame") };
    frame.pc = at.pc;
    let base = [frame.base[0] + own[0], frame.base[1] + own[1], frame.base[2] + own[2]];
    machine.fuel -= 1;
    if machine.fuel < 0 {
        machine.poll()?;
    }
    if machine.frames.len() >= machine.limits.depth {
        return Err(machine.too_deep());
    }
    // Written out: `map` over an array is a call here.
    let size = callee.frame;
    let end = [(base[0] + size[0]) as usize, (base[1] + size[1]) as usize, (base[2] + size[2]) as usize];
    if !machine.stacks.has(end, callee.is_derivative) {
        machine.make_room(end, callee.is_derivative)?;
    }
    if callee.is_derivative {
        let first = base[0] as usize;
        let inactive = first + callee.inactive.0 as usize..first + callee.inactive.1 as usize;
        machine.stacks.slots[inactive].fill(Slot::NONE);
    }
    let frame = Frame { entry, pc: callee.start, base };
    machine.frames.push(frame);
    Ok(Registers::of(&frame, &mut machine.stacks))
}

/// Leaves a function; its results stand in its first registers.
#[inline(always)]
fn leave(machine: &mut Machine, mut at: Registers) -> Registers {
    for leftover in at.leftovers() {
        if !matches!(leftover, Ref::Null) {
            *leftover = Ref::Null;
        }
    }
    machine.frames.pop();
    load(machine)
}

/// The window of the innermost frame, for work in Rust.
fn open_window(machine: &mut Machine, at: Registers) {
    save(machine, at.pc);
    if let Some(frame) = machine.frames.last() {
        let own = at.entry().own;
        let base = frame.base;
        machine.window = [(base[0] + own[0]) as usize, (base[1] + own[1]) as usize, (base[2] + own[2]) as usize];
    }
}

fn call_object(
    machine: &mut Machine,
    compiler: &mut dyn Compiler,
    mut at: Registers,
    function: RTake,
    derivative: bool,
) -> Result<(), Box<Fault>> {
    let Ref::Machine(object) = at.take(function) else {
        return Err(Fault::internal("a call of something that is not a function"));
    };
    open_window(machine, at);
    let next = operators::call_object(machine, compiler, &object, derivative)?;
    machine.perform(compiler, next)
}

fn perform(
    machine: &mut Machine,
    compiler: &mut dyn Compiler,
    next: Result<Next, Box<Fault>>,
) -> Result<(), Box<Fault>> {
    machine.perform(compiler, next?)
}

#[inline(always)]
fn primitive(p: Prim) -> &'static Primitive {
    // The verifier has checked the number; the default is never used.
    table::all().get(usize::from(p.0)).unwrap_or(&table::all()[0])
}

#[cold]
fn integer_trap(trap: Trap, p: Prim, operands: &[i64]) -> Box<Fault> {
    trapped(trap, primitive(p).name, operands)
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
    // Work in Rust that may move the stacks or change the innermost frame.
    macro_rules! outside {
        ($work:expr) => {{
            attempt!($work);
            at = load(machine);
        }};
    }
    macro_rules! num {
        ($a:expr) => {
            Num { value: at.f($a), slot: at.slot($a) }
        };
    }
    macro_rules! set_num {
        ($out:expr, $num:expr) => {{
            let num: Num = $num;
            at.set_f($out, num.value);
            at.set_slot($out, num.slot.epoch, num.slot.payload);
        }};
    }
    macro_rules! sink {
        ($out:expr) => {
            |value: f64, epoch: u64, payload: u64| {
                at.set_f($out, value);
                at.set_slot($out, epoch, payload);
            }
        };
    }
    // What stands behind an instruction; the verifier has seen it there.
    macro_rules! element {
        () => {
            match *at.next() {
                I::Element { offset, stride } => (offset.0, stride.0),
                _ => (0, 0),
            }
        };
    }
    macro_rules! extra {
        () => {
            match *at.next() {
                I::Extra { c } => c,
                _ => FIn(0),
            }
        };
    }

    macro_rules! extras {
        () => {
            match *at.next() {
                I::Extras { c, d } => (c, d),
                _ => (FIn(0), FIn(0)),
            }
        };
    }

    loop {
        match *at.next() {
            I::MoveF { out, a } => {
                let value = at.f(a);
                at.set_f(out, value);
            }
            I::MoveI { out, a } => {
                let value = at.i(a);
                at.set_i(out, value);
            }
            I::Share { out, a } => {
                let value = at.r(a).clone();
                at.set_r(out, value);
            }
            I::Take { out, a } => {
                let value = at.take(a);
                at.set_r(out, value);
            }
            I::Clear { a } => at.set_r(a, Ref::Null),
            I::LoadF { out, k } => {
                let value = at.constant(k);
                at.set_f(out, value);
            }
            I::LoadI { out, k } => {
                let value = at.code().integers[usize::from(k)];
                at.set_i(out, value);
            }
            I::SetI { out, value } => at.set_i(out, i64::from(value.0)),
            I::LoadText { out, k } => {
                let text = at.code().texts[usize::from(k)].clone();
                at.set_r(out, Ref::Text(text));
            }

            I::AddF { out, a, b } => {
                let value = at.f(a) + at.f(b);
                at.set_f(out, value);
            }
            I::SubF { out, a, b } => {
                let value = at.f(a) - at.f(b);
                at.set_f(out, value);
            }
            I::MulF { out, a, b } => {
                let value = at.f(a) * at.f(b);
                at.set_f(out, value);
            }
            I::DivF { out, a, b } => {
                let value = at.f(a) / at.f(b);
                at.set_f(out, value);
            }
            I::NegF { out, a } => {
                let value = -at.f(a);
                at.set_f(out, value);
            }
            I::AbsF { out, a } => {
                let value = at.f(a).abs();
                at.set_f(out, value);
            }
            I::SqrtF { out, a } => {
                let value = at.f(a).sqrt();
                at.set_f(out, value);
            }
            I::RoundF { out, a } => {
                let value = f64::from(at.f(a) as f32);
                at.set_f(out, value);
            }
            I::NumberOf { out, a } => {
                let value = at.i(a) as f64;
                at.set_f(out, value);
            }
            I::Prim1F { out, a, p } => {
                if let Value::F1(f) = primitive(p).value {
                    let value = f(at.f(a));
                    at.set_f(out, value);
                }
            }
            I::Prim2F { out, a, b, p } => {
                if let Value::F2(f) = primitive(p).value {
                    let value = f(at.f(a), at.f(b));
                    at.set_f(out, value);
                }
            }
            I::Prim3F { out, a, b, p } => {
                let c = extra!();
                if let Value::F3(f) = primitive(p).value {
                    let value = f(at.f(a), at.f(b), at.f(c));
                    at.set_f(out, value);
                }
            }
            I::PrimFI { out, a, n, p } => {
                if let Value::FI(f) = primitive(p).value {
                    let value = f(at.f(a), at.i(n));
                    at.set_f(out, value);
                }
            }
            I::PrimNumber { out, a, p } => {
                if let Value::ItoF(f) = primitive(p).value {
                    let value = f(at.i(a));
                    at.set_f(out, value);
                }
            }
            I::PrimWhole { out, a, p } => {
                if let Value::FtoI(f) = primitive(p).value {
                    let x = at.f(a);
                    let value = attempt!(f(x).map_err(|_| not_whole(x)));
                    at.set_i(out, value);
                }
            }
            I::Prim1Test { out, a, p } => {
                if let Value::Test1(f) = primitive(p).value {
                    let value = f(at.f(a));
                    at.set_i(out, i64::from(value));
                }
            }
            I::Prim2Test { out, a, b, p } => {
                if let Value::Test2(f) = primitive(p).value {
                    let value = f(at.f(a), at.f(b));
                    at.set_i(out, i64::from(value));
                }
            }
            I::Prim1I { out, a, p } => {
                if let Value::I1(f) = primitive(p).value {
                    let a = at.i(a);
                    let value = attempt!(f(a).map_err(|trap| integer_trap(trap, p, &[a])));
                    at.set_i(out, value);
                }
            }
            I::Prim2I { out, a, b, p } => {
                if let Value::I2(f) = primitive(p).value {
                    let (a, b) = (at.i(a), at.i(b));
                    let value = attempt!(f(a, b).map_err(|trap| integer_trap(trap, p, &[a, b])));
                    at.set_i(out, value);
                }
            }
            I::JoinLeftF { out, a, b, how } => {
                let c = extra!();
                let value = joined::left(how, at.f(a), at.f(b), at.f(c));
                at.set_f(out, value);
            }
            I::JoinRightF { out, a, b, how } => {
                let c = extra!();
                let value = joined::right(how, at.f(a), at.f(b), at.f(c));
                at.set_f(out, value);
            }
            I::JoinBothF { out, a, b, how } => {
                let (c, d) = extras!();
                let value = joined::both(how, [at.f(a), at.f(b), at.f(c), at.f(d)]);
                at.set_f(out, value);
            }
            I::Extra { .. } | I::Extras { .. } | I::Element { .. } => {}

            I::AddI { out, a, b } => {
                let (a, b) = (at.i(a), at.i(b));
                match a.checked_add(b) {
                    Some(value) => at.set_i(out, value),
                    None => return stop(machine, at.pc, trapped(Trap::Overflow, "int.add", &[a, b])),
                }
            }
            I::AddIK { out, a, k } => {
                let (a, b) = (at.i(a), i64::from(k.0));
                match a.checked_add(b) {
                    Some(value) => at.set_i(out, value),
                    None => return stop(machine, at.pc, added(a, b)),
                }
            }
            I::SubI { out, a, b } => {
                let (a, b) = (at.i(a), at.i(b));
                match a.checked_sub(b) {
                    Some(value) => at.set_i(out, value),
                    None => return stop(machine, at.pc, trapped(Trap::Overflow, "int.sub", &[a, b])),
                }
            }
            I::MulI { out, a, b } => {
                let (a, b) = (at.i(a), at.i(b));
                match a.checked_mul(b) {
                    Some(value) => at.set_i(out, value),
                    None => return stop(machine, at.pc, trapped(Trap::Overflow, "int.mul", &[a, b])),
                }
            }
            I::Not { out, a } => {
                let value = at.i(a) == 0;
                at.set_i(out, i64::from(value));
            }
            I::EqI { out, a, b } => {
                let value = at.i(a) == at.i(b);
                at.set_i(out, i64::from(value));
            }
            I::NeI { out, a, b } => {
                let value = at.i(a) != at.i(b);
                at.set_i(out, i64::from(value));
            }
            I::LtI { out, a, b } => {
                let value = at.i(a) < at.i(b);
                at.set_i(out, i64::from(value));
            }
            I::LeI { out, a, b } => {
                let value = at.i(a) <= at.i(b);
                at.set_i(out, i64::from(value));
            }
            I::EqF { out, a, b } => {
                let value = at.f(a) == at.f(b);
                at.set_i(out, i64::from(value));
            }
            I::NeF { out, a, b } => {
                let value = at.f(a) != at.f(b);
                at.set_i(out, i64::from(value));
            }
            I::LtF { out, a, b } => {
                let value = at.f(a) < at.f(b);
                at.set_i(out, i64::from(value));
            }
            I::LeF { out, a, b } => {
                let value = at.f(a) <= at.f(b);
                at.set_i(out, i64::from(value));
            }

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
                    None => return stop(machine, at.pc, added(a, 1)),
                }
            }
            I::LoopLtIK { i, k, to } => {
                let a = at.i(IIn(i.0));
                match a.checked_add(1) {
                    Some(value) => {
                        at.set_i(IOut(i.0), value);
                        branch!(value < i64::from(k.0), to);
                    }
                    None => return stop(machine, at.pc, added(a, 1)),
                }
            }

            I::Call { function } => {
                let entry = match machine.functions.get(function.0, Version::Original) {
                    Some(entry) => std::ptr::from_ref(entry),
                    None => attempt!(machine.code(compiler, function.0, Version::Original)),
                };
                at = attempt!(enter(machine, at, entry));
            }
            I::CallValue { function } => match at.r(RIn(function.0)) {
                Ref::Closure(closure) => {
                    let number = closure.function;
                    let entry = match machine.functions.get(number, Version::Original) {
                        Some(entry) => std::ptr::from_ref(entry),
                        None => attempt!(machine.code(compiler, number, Version::Original)),
                    };
                    at = attempt!(enter(machine, at, entry));
                }
                _ => outside!(call_object(machine, compiler, at, function, false)),
            },
            I::Native { site } => {
                let site = &at.code().natives[usize::from(site)];
                open_window(machine, at);
                let next = native::call(machine, compiler, site, false);
                outside!(perform(machine, compiler, next));
            }
            I::Operate { site } => {
                let site = &at.code().operators[usize::from(site)];
                open_window(machine, at);
                let next = operators::operate(machine, compiler, site, false);
                outside!(perform(machine, compiler, next));
            }
            I::Return {} => at = leave(machine, at),
            I::ReturnF { a } => {
                let value = at.f(a);
                at.set_f(FOut(0), value);
                at = leave(machine, at);
            }
            I::ReturnI { a } => {
                let value = at.i(a);
                at.set_i(IOut(0), value);
                at = leave(machine, at);
            }
            I::ReturnR { a } => {
                let value = at.take(a);
                at.set_r(ROut(0), value);
                at = leave(machine, at);
            }

            I::NewBox { out, parts } | I::DNewBox { out, parts } => {
                let slots = at.entry().is_derivative;
                let cells = gather(at, parts, slots);
                at.set_r(out, Ref::Box(Rc::new(BoxCells { cells: RefCell::new(cells), shape: None })));
            }
            I::NewRecord { out, parts } | I::DNewRecord { out, parts } => {
                let slots = at.entry().is_derivative;
                let cells = gather(at, parts, slots);
                at.set_r(out, Ref::Cells(Rc::new(cells)));
            }
            I::NewClosure { out, site } | I::DNewClosure { out, site } => {
                let code = at.code();
                let site = &code.closures[usize::from(site)];
                let captures = gather_counts(at, site.captures, at.entry().is_derivative);
                at.set_r(out, Ref::Closure(Rc::new(Closure { function: site.function, captures })));
            }
            I::LoadBoxF { out, from, index } => {
                let cells = attempt!(objects::boxed(at.r(from))).cells.borrow();
                let value = attempt!(cells.f.get(usize::from(index)).copied().ok_or_else(objects::no_component));
                drop(cells);
                at.set_f(out, value);
            }
            I::LoadBoxI { out, from, index } => {
                let cells = attempt!(objects::boxed(at.r(from))).cells.borrow();
                let value = attempt!(cells.i.get(usize::from(index)).copied().ok_or_else(objects::no_component));
                drop(cells);
                at.set_i(out, value);
            }
            I::LoadBoxR { out, from, index } => {
                let cells = attempt!(objects::boxed(at.r(from))).cells.borrow();
                let value = attempt!(cells.r.get(usize::from(index)).cloned().ok_or_else(objects::no_component));
                drop(cells);
                at.set_r(out, value);
            }
            I::StoreBoxF { to, a, index } => {
                let value = at.f(a);
                let stored = attempt!(objects::boxed(at.r(to))).cells.borrow_mut().set_f(usize::from(index), value);
                attempt!(present(stored));
            }
            I::StoreBoxI { to, a, index } => {
                let value = at.i(a);
                let mut cells = attempt!(objects::boxed(at.r(to))).cells.borrow_mut();
                let place = attempt!(cells.i.get_mut(usize::from(index)).ok_or_else(objects::no_component));
                *place = value;
            }
            I::StoreBoxR { to, a, index } => {
                let value = at.take(a);
                let object = attempt!(objects::boxed(at.r(to)));
                // What is stored may hold slots: of an array's elements, of what a closure captured.
                machine.levels.log_store(object);
                let mut cells = object.cells.borrow_mut();
                let place = attempt!(cells.r.get_mut(usize::from(index)).ok_or_else(objects::no_component));
                let old = std::mem::replace(place, value);
                // What it held may in turn hold this very box.
                drop(cells);
                drop(old);
            }
            I::TakeBox { out, from, index } => {
                let mut cells = attempt!(objects::boxed(at.r(from))).cells.borrow_mut();
                let value =
                    attempt!(cells.r.get_mut(usize::from(index)).map(std::mem::take).ok_or_else(objects::no_component));
                drop(cells);
                at.set_r(out, value);
            }
            I::LoadRecordF { out, from, index } => {
                let cells = attempt!(objects::cells(at.r(from)));
                let value = attempt!(cells.f.get(usize::from(index)).copied().ok_or_else(objects::no_component));
                at.set_f(out, value);
            }
            I::LoadRecordI { out, from, index } => {
                let cells = attempt!(objects::cells(at.r(from)));
                let value = attempt!(cells.i.get(usize::from(index)).copied().ok_or_else(objects::no_component));
                at.set_i(out, value);
            }
            I::LoadRecordR { out, from, index } => {
                let cells = attempt!(objects::cells(at.r(from)));
                let value = attempt!(cells.r.get(usize::from(index)).cloned().ok_or_else(objects::no_component));
                at.set_r(out, value);
            }
            I::StoreRecordF { to, a, index } => {
                let value = at.f(a);
                let stored = attempt!(objects::own(at.changed(to))).set_f(usize::from(index), value);
                attempt!(present(stored));
            }
            I::StoreRecordI { to, a, index } => {
                let value = at.i(a);
                let cells = attempt!(objects::own(at.changed(to)));
                *attempt!(cells.i.get_mut(usize::from(index)).ok_or_else(objects::no_component)) = value;
            }
            I::StoreRecordR { to, a, index } => {
                let value = at.take(a);
                let cells = attempt!(objects::own(at.changed(to)));
                *attempt!(cells.r.get_mut(usize::from(index)).ok_or_else(objects::no_component)) = value;
            }
            I::TakeRecord { out, from, index } => {
                let cells = attempt!(objects::own(at.changed(from)));
                let value =
                    attempt!(cells.r.get_mut(usize::from(index)).map(std::mem::take).ok_or_else(objects::no_component));
                at.set_r(out, value);
            }
            I::CaptureF { out, from, index } => {
                let cells = attempt!(objects::captures(at.r(from)));
                let value = attempt!(cells.f.get(usize::from(index)).copied().ok_or_else(objects::no_component));
                at.set_f(out, value);
            }
            I::CaptureI { out, from, index } => {
                let cells = attempt!(objects::captures(at.r(from)));
                let value = attempt!(cells.i.get(usize::from(index)).copied().ok_or_else(objects::no_component));
                at.set_i(out, value);
            }
            I::CaptureR { out, from, index } => {
                let cells = attempt!(objects::captures(at.r(from)));
                let value = attempt!(cells.r.get(usize::from(index)).cloned().ok_or_else(objects::no_component));
                at.set_r(out, value);
            }

            I::NewArray { out } => at.set_r(out, Ref::Cells(Rc::default())),
            I::AppendF { array, a } => {
                let value = at.f(a);
                let cells = attempt!(objects::own(at.changed(array)));
                cells.push_f(value);
                cells.len += 1;
            }
            I::AppendI { array, a } => {
                let value = at.i(a);
                let cells = attempt!(objects::own(at.changed(array)));
                cells.i.push(value);
                cells.len += 1;
            }
            I::AppendR { array, a } => {
                let value = at.take(a);
                let cells = attempt!(objects::own(at.changed(array)));
                cells.r.push(value);
                cells.len += 1;
            }
            I::Append { array, parts } | I::DAppend { array, parts } => {
                let element = gather(at, parts, at.entry().is_derivative);
                let cells = attempt!(objects::own(at.changed(array)));
                cells.push(element.all());
            }
            I::Count { out, array } => {
                let count = attempt!(objects::cells(at.r(array))).len;
                at.set_i(out, count as i64);
            }
            I::CheckIndex { array, index } => {
                let index = at.i(index);
                let cells = attempt!(objects::cells(at.r(array)));
                attempt!(objects::position(cells, index, (0, 1)).ok_or_else(|| objects::bad_index(cells, index)));
            }
            I::ElementF { out, array, index } => {
                let index = at.i(index);
                let cells = attempt!(objects::cells(at.r(array)));
                let value = usize::try_from(index).ok().and_then(|k| cells.f.get(k).copied());
                let value = attempt!(value.ok_or_else(|| objects::bad_index(cells, index)));
                at.set_f(out, value);
            }
            I::ElementI { out, array, index } => {
                let index = at.i(index);
                let cells = attempt!(objects::cells(at.r(array)));
                let value = usize::try_from(index).ok().and_then(|k| cells.i.get(k).copied());
                let value = attempt!(value.ok_or_else(|| objects::bad_index(cells, index)));
                at.set_i(out, value);
            }
            I::ElementR { out, array, index } => {
                let index = at.i(index);
                let cells = attempt!(objects::cells(at.r(array)));
                let value = usize::try_from(index).ok().and_then(|k| cells.r.get(k).cloned());
                let value = attempt!(value.ok_or_else(|| objects::bad_index(cells, index)));
                at.set_r(out, value);
            }
            I::PartF { out, array, index } => {
                let (index, part) = (at.i(index), element!());
                let cells = attempt!(objects::cells(at.r(array)));
                let value = objects::position(cells, index, part).and_then(|k| cells.f.get(k).copied());
                let value = attempt!(value.ok_or_else(|| objects::bad_index(cells, index)));
                at.set_f(out, value);
            }
            I::PartI { out, array, index } => {
                let (index, part) = (at.i(index), element!());
                let cells = attempt!(objects::cells(at.r(array)));
                let value = objects::position(cells, index, part).and_then(|k| cells.i.get(k).copied());
                let value = attempt!(value.ok_or_else(|| objects::bad_index(cells, index)));
                at.set_i(out, value);
            }
            I::PartR { out, array, index } => {
                let (index, part) = (at.i(index), element!());
                let cells = attempt!(objects::cells(at.r(array)));
                let value = objects::position(cells, index, part).and_then(|k| cells.r.get(k).cloned());
                let value = attempt!(value.ok_or_else(|| objects::bad_index(cells, index)));
                at.set_r(out, value);
            }
            I::TakePart { out, array, index } => {
                let (index, part) = (at.i(index), element!());
                let cells = attempt!(objects::own(at.changed(array)));
                let place = objects::position(cells, index, part).filter(|k| *k < cells.r.len());
                let place = attempt!(place.ok_or_else(|| objects::bad_index(cells, index)));
                let value = std::mem::take(&mut cells.r[place]);
                at.set_r(out, value);
            }
            I::SetElementF { array, a, index } => {
                let (index, value) = (at.i(index), at.f(a));
                let cells = attempt!(objects::own(at.changed(array)));
                let stored = usize::try_from(index).is_ok_and(|k| cells.set_f(k, value));
                attempt!(stored.then_some(()).ok_or_else(|| objects::bad_index(cells, index)));
            }
            I::SetElementI { array, a, index } => {
                let (index, value) = (at.i(index), at.i(a));
                let cells = attempt!(objects::own(at.changed(array)));
                match usize::try_from(index).ok().filter(|k| *k < cells.i.len()) {
                    Some(k) => cells.i[k] = value,
                    None => {
                        let fault = objects::bad_index(cells, index);
                        return stop(machine, at.pc, fault);
                    }
                }
            }
            I::SetElementR { array, a, index } => {
                let (index, value) = (at.i(index), at.take(a));
                let cells = attempt!(objects::own(at.changed(array)));
                match usize::try_from(index).ok().filter(|k| *k < cells.r.len()) {
                    Some(k) => cells.r[k] = value,
                    None => {
                        let fault = objects::bad_index(cells, index);
                        return stop(machine, at.pc, fault);
                    }
                }
            }
            I::SetPartF { array, a, index } => {
                let (index, value, part) = (at.i(index), at.f(a), element!());
                let cells = attempt!(objects::own(at.changed(array)));
                let stored = objects::position(cells, index, part).is_some_and(|k| cells.set_f(k, value));
                attempt!(stored.then_some(()).ok_or_else(|| objects::bad_index(cells, index)));
            }
            I::SetPartI { array, a, index } => {
                let (index, value, part) = (at.i(index), at.i(a), element!());
                let cells = attempt!(objects::own(at.changed(array)));
                match objects::position(cells, index, part).filter(|k| *k < cells.i.len()) {
                    Some(k) => cells.i[k] = value,
                    None => {
                        let fault = objects::bad_index(cells, index);
                        return stop(machine, at.pc, fault);
                    }
                }
            }
            I::SetPartR { array, a, index } => {
                let (index, value, part) = (at.i(index), at.take(a), element!());
                let cells = attempt!(objects::own(at.changed(array)));
                match objects::position(cells, index, part).filter(|k| *k < cells.r.len()) {
                    Some(k) => cells.r[k] = value,
                    None => {
                        let fault = objects::bad_index(cells, index);
                        return stop(machine, at.pc, fault);
                    }
                }
            }

            I::LoadGlobalF { out, index } => {
                let value = machine.globals.f.get(usize::from(index)).copied();
                let value = attempt!(value.ok_or_else(objects::no_global));
                at.set_f(out, value);
            }
            I::LoadGlobalI { out, index } => {
                let value = machine.globals.i.get(usize::from(index)).copied();
                let value = attempt!(value.ok_or_else(objects::no_global));
                at.set_i(out, value);
            }
            I::LoadGlobalR { out, index } => {
                let value = machine.globals.r.get(usize::from(index)).cloned();
                let value = attempt!(value.ok_or_else(objects::no_global));
                at.set_r(out, value);
            }
            I::StoreGlobalF { a, index } => {
                let stored = machine.globals.set_f(usize::from(index), at.f(a));
                attempt!(stored.then_some(()).ok_or_else(objects::no_global));
            }
            I::StoreGlobalI { a, index } => match machine.globals.i.get_mut(usize::from(index)) {
                Some(place) => *place = at.i(a),
                None => return stop(machine, at.pc, objects::no_global()),
            },
            I::StoreGlobalR { a, index } => match machine.globals.r.get_mut(usize::from(index)) {
                Some(place) => {
                    *place = at.take(a);
                    machine.levels.log_global();
                }
                None => return stop(machine, at.pc, objects::no_global()),
            },
            I::TakeGlobal { out, index } => {
                let value = machine.globals.r.get_mut(usize::from(index)).map(std::mem::take);
                let value = attempt!(value.ok_or_else(objects::no_global));
                at.set_r(out, value);
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

            I::DMoveF { out, a } => set_num!(out, num!(a)),
            I::DLoadF { out, k } => set_num!(out, Num::constant(at.constant(k))),
            I::ClearSlot { a } => at.set_slot(FOut(a.0), 0, 0),
            I::DAddF { out, a, b } => {
                let (x, y) = (num!(a), num!(b));
                let id = machine.ids.add;
                let value = x.value + y.value;
                attempt!(record::binary(&mut machine.levels, id, (x, y), value, (|| 1.0, || 1.0), sink!(out)));
            }
            I::DSubF { out, a, b } => {
                let (x, y) = (num!(a), num!(b));
                let id = machine.ids.sub;
                let value = x.value - y.value;
                attempt!(record::binary(&mut machine.levels, id, (x, y), value, (|| 1.0, || -1.0), sink!(out)));
            }
            I::DMulF { out, a, b } => {
                let (x, y) = (num!(a), num!(b));
                let id = machine.ids.mul;
                let value = x.value * y.value;
                let slopes = (|| product_slope(value, y.value, x.value), || product_slope(value, x.value, y.value));
                attempt!(record::binary(&mut machine.levels, id, (x, y), value, slopes, sink!(out)));
            }
            I::DDivF { out, a, b } => {
                let (x, y) = (num!(a), num!(b));
                let id = machine.ids.div;
                let value = x.value / y.value;
                let slopes = (|| 1.0 / y.value, || -(value / y.value));
                attempt!(record::binary(&mut machine.levels, id, (x, y), value, slopes, sink!(out)));
            }
            I::DNegF { out, a } => {
                let x = num!(a);
                let id = machine.ids.neg;
                attempt!(record::unary(&mut machine.levels, id, (x, None), -x.value, || -1.0, sink!(out)));
            }
            I::DPrim1F { out, a, p } => {
                let x = num!(a);
                attempt!(record::primitive1(&mut machine.levels, p.0, x, None, sink!(out)));
            }
            I::DPrim2F { out, a, b, p } => {
                let (x, y) = (num!(a), num!(b));
                attempt!(record::primitive2(&mut machine.levels, p.0, x, y, sink!(out)));
            }
            I::DPrim3F { out, a, b, p } => {
                let c = extra!();
                set_num!(out, attempt!(record::primitive3(&mut machine.levels, p.0, [num!(a), num!(b), num!(c)])));
            }
            I::DPrimFI { out, a, n, p } => {
                let (x, n) = (num!(a), at.i(n));
                attempt!(record::primitive1(&mut machine.levels, p.0, x, Some(n), sink!(out)));
            }
            I::DCall { function } => {
                let entry = match machine.functions.get(function.0, Version::Derivative) {
                    Some(entry) => std::ptr::from_ref(entry),
                    None => attempt!(machine.code(compiler, function.0, Version::Derivative)),
                };
                at = attempt!(enter(machine, at, entry));
            }
            I::DCallValue { function } => match at.r(RIn(function.0)) {
                Ref::Closure(closure) => {
                    let number = closure.function;
                    let entry = match machine.functions.get(number, Version::Derivative) {
                        Some(entry) => std::ptr::from_ref(entry),
                        None => attempt!(machine.code(compiler, number, Version::Derivative)),
                    };
                    at = attempt!(enter(machine, at, entry));
                }
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
                open_window(machine, at);
                let next = native::call(machine, compiler, site, true);
                outside!(perform(machine, compiler, next));
            }
            I::DOperate { site } => {
                let site = &at.code().operators[usize::from(site)];
                open_window(machine, at);
                let next = operators::operate(machine, compiler, site, true);
                outside!(perform(machine, compiler, next));
            }
            I::DReturnF { a } => {
                set_num!(FOut(0), num!(a));
                at = leave(machine, at);
            }
            I::DLoadBoxF { out, from, index } => {
                let cells = attempt!(objects::boxed(at.r(from))).cells.borrow();
                let num = attempt!(objects::num(&cells, usize::from(index)).ok_or_else(objects::no_component));
                drop(cells);
                set_num!(out, num);
            }
            I::DStoreBoxF { to, a, index } => {
                let num = num!(a);
                let object = attempt!(objects::boxed(at.r(to)));
                machine.levels.log_store(object);
                let stored = object.cells.borrow_mut().set_num(usize::from(index), num.value, num.slot);
                attempt!(present(stored));
            }
            I::DLoadRecordF { out, from, index } => {
                let cells = attempt!(objects::cells(at.r(from)));
                set_num!(out, attempt!(objects::num(cells, usize::from(index)).ok_or_else(objects::no_component)));
            }
            I::DStoreRecordF { to, a, index } => {
                let num = num!(a);
                let cells = attempt!(objects::own(at.changed(to)));
                attempt!(present(cells.set_num(usize::from(index), num.value, num.slot)));
            }
            I::DCaptureF { out, from, index } => {
                let cells = attempt!(objects::captures(at.r(from)));
                set_num!(out, attempt!(objects::num(cells, usize::from(index)).ok_or_else(objects::no_component)));
            }
            I::DAppendF { array, a } => {
                let num = num!(a);
                let cells = attempt!(objects::own(at.changed(array)));
                cells.push_num(num.value, num.slot);
                cells.len += 1;
            }
            I::DElementF { out, array, index } => {
                let index = at.i(index);
                let cells = attempt!(objects::cells(at.r(array)));
                let num = usize::try_from(index).ok().and_then(|k| objects::num(cells, k));
                set_num!(out, attempt!(num.ok_or_else(|| objects::bad_index(cells, index))));
            }
            I::DPartF { out, array, index } => {
                let (index, part) = (at.i(index), element!());
                let cells = attempt!(objects::cells(at.r(array)));
                let num = objects::position(cells, index, part).and_then(|k| objects::num(cells, k));
                set_num!(out, attempt!(num.ok_or_else(|| objects::bad_index(cells, index))));
            }
            I::DSetElementF { array, a, index } => {
                let (index, num) = (at.i(index), num!(a));
                let cells = attempt!(objects::own(at.changed(array)));
                let stored = usize::try_from(index).is_ok_and(|k| cells.set_num(k, num.value, num.slot));
                attempt!(stored.then_some(()).ok_or_else(|| objects::bad_index(cells, index)));
            }
            I::DSetPartF { array, a, index } => {
                let (index, num, part) = (at.i(index), num!(a), element!());
                let cells = attempt!(objects::own(at.changed(array)));
                let place = objects::position(cells, index, part);
                let stored = place.is_some_and(|k| cells.set_num(k, num.value, num.slot));
                attempt!(stored.then_some(()).ok_or_else(|| objects::bad_index(cells, index)));
            }
            I::DLoadGlobalF { out, index } => {
                let num = objects::num(&machine.globals, usize::from(index));
                set_num!(out, attempt!(num.ok_or_else(objects::no_global)));
            }
            I::DStoreGlobalF { a, index } => {
                let num = num!(a);
                machine.levels.log_global();
                let stored = machine.globals.set_num(usize::from(index), num.value, num.slot);
                attempt!(stored.then_some(()).ok_or_else(objects::no_global));
            }
        }
    }
}

#[cold]
fn added(a: i64, b: i64) -> Box<Fault> {
    let (name, b) = if b < 0 { ("int.sub", -b) } else { ("int.add", b) };
    trapped(Trap::Overflow, name, &[a, b])
}

fn present(stored: bool) -> Result<(), Box<Fault>> {
    if stored { Ok(()) } else { Err(objects::no_component()) }
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
