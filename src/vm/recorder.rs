//! Recorder: executes arithmetic of derivative code, and records it in the mode of the live levels.

use crate::native::{Primitive, PrimitiveId, primitive_table};
use crate::tape::{Levels, Mode, Num, RecordError};
use crate::value::Slot;

/// Returns the node of a number in the single reverse level; 0 for a constant.
#[inline(always)]
fn node(slot: Slot, epoch: u64) -> u32 {
    if slot.epoch == epoch { slot.payload as u32 } else { 0 }
}

/// Returns the contribution of an operand to the tangent of a result, in the single forward level. A partial derivative
/// of zero contributes nothing, whatever the tangent.
#[inline(always)]
fn share(slot: Slot, epoch: u64, partial: f64) -> f64 {
    if slot.epoch == epoch && partial != 0.0 { partial * f64::from_bits(slot.payload) } else { 0.0 }
}

/// The destination of the number, epoch and payload of a result. The result is written separately in each branch,
/// because a slot that is assembled in memory and read back as a whole is slower than all other steps together.
pub trait Sink {
    /// Writes the number of the result with its slot, which consists of an epoch and a payload.
    fn put(self, value: f64, epoch: u64, payload: u64);
}

impl<F: FnOnce(f64, u64, u64)> Sink for F {
    #[inline(always)]
    fn put(self, value: f64, epoch: u64, payload: u64) {
        self(value, epoch, payload);
    }
}

/// Records `value = op(a, b)` with its partial derivatives when at most one level is live. Returns `None`, without a
/// change, when several levels are live or the tape must be extended first.
#[inline(always)]
pub fn usual_binary(
    levels: &mut Levels,
    (a, b): (Num, Num),
    value: f64,
    (pa, pb): (impl FnOnce() -> f64, impl FnOnce() -> f64),
    out: impl Sink,
) -> Option<()> {
    match levels.mode() {
        Mode::SingleReverse => {
            let epoch = levels.single_epoch();
            let (na, nb) = (node(a.slot, epoch), node(b.slot, epoch));
            if na | nb == 0 {
                out.put(value, 0, 0);
            } else {
                let (pa, pb) = (if na == 0 { 0.0 } else { pa() }, if nb == 0 { 0.0 } else { pb() });
                let node = levels.push_single(na, nb, pa, pb)?;
                out.put(value, epoch, u64::from(node));
            }
        }
        Mode::SingleForward => {
            let epoch = levels.single_epoch();
            let (moves_a, moves_b) = (a.slot.epoch == epoch, b.slot.epoch == epoch);
            if !moves_a && !moves_b {
                out.put(value, 0, 0);
            } else {
                let first = if moves_a { share(a.slot, epoch, pa()) } else { 0.0 };
                let second = if moves_b { share(b.slot, epoch, pb()) } else { 0.0 };
                out.put(value, epoch, (first + second).to_bits());
            }
        }
        Mode::Inactive => out.put(value, 0, 0),
        Mode::General => return None,
    }
    Some(())
}

/// Records `value = op(a)` with its partial derivative, under the conditions of [`usual_binary`].
#[inline(always)]
pub fn usual_unary(levels: &mut Levels, a: Num, value: f64, pa: impl FnOnce() -> f64, out: impl Sink) -> Option<()> {
    match levels.mode() {
        Mode::SingleReverse => {
            let epoch = levels.single_epoch();
            let na = node(a.slot, epoch);
            if na == 0 {
                out.put(value, 0, 0);
            } else {
                let node = levels.push_single(na, 0, pa(), 0.0)?;
                out.put(value, epoch, u64::from(node));
            }
        }
        Mode::SingleForward => {
            let epoch = levels.single_epoch();
            if a.slot.epoch == epoch {
                out.put(value, epoch, share(a.slot, epoch, pa()).to_bits());
            } else {
                out.put(value, 0, 0);
            }
        }
        Mode::Inactive => out.put(value, 0, 0),
        Mode::General => return None,
    }
    Some(())
}

#[inline(never)]
fn general(levels: &mut Levels, id: PrimitiveId, x: &[Num], n: Option<i64>) -> Result<Num, RecordError> {
    match n {
        Some(n) => levels.record_with(id, x, n),
        None => levels.record(id, x),
    }
}

/// Applies a primitive of one number, and possibly an integer, and records it.
#[inline(always)]
pub fn primitive1(levels: &mut Levels, p: u8, a: Num, n: Option<i64>, out: impl Sink) -> Result<(), RecordError> {
    let Some(info) = entry(p) else { return Ok(()) };
    let x = [a.value];
    let value = info.number(&x, n.unwrap_or(0)).unwrap_or(f64::NAN);
    if info.partials().is_empty() {
        out.put(value, 0, 0);
        return Ok(());
    }
    if levels.mode() == Mode::General {
        let num = general(levels, PrimitiveId(u16::from(p)), &[a], n)?;
        out.put(num.value, num.slot.epoch, num.slot.payload);
        return Ok(());
    }
    levels.make_room()?;
    usual_unary(levels, a, value, || info.partial_at(0, &x, n.unwrap_or(0), value).unwrap_or(0.0), out);
    Ok(())
}

/// Applies a primitive of two numbers, and records it.
#[inline(always)]
pub fn primitive2(levels: &mut Levels, p: u8, a: Num, b: Num, out: impl Sink) -> Result<(), RecordError> {
    let Some(info) = entry(p) else { return Ok(()) };
    let x = [a.value, b.value];
    let value = info.number(&x, 0).unwrap_or(f64::NAN);
    if info.partials().is_empty() {
        out.put(value, 0, 0);
        return Ok(());
    }
    if levels.mode() == Mode::General {
        let num = general(levels, PrimitiveId(u16::from(p)), &[a, b], None)?;
        out.put(num.value, num.slot.epoch, num.slot.payload);
        return Ok(());
    }
    levels.make_room()?;
    let partial = |k: usize| info.partial_at(k, &x, 0, value).unwrap_or(0.0);
    usual_binary(levels, (a, b), value, (|| partial(0), || partial(1)), out);
    Ok(())
}

/// Applies a primitive of three numbers, and records it. Such primitives are rare, so the general rule is fast enough.
pub fn primitive3(levels: &mut Levels, p: u8, x: [Num; 3]) -> Result<Num, RecordError> {
    match levels.mode() {
        Mode::Inactive => {
            let values = x.map(|x| x.value);
            Ok(Num::constant(entry(p).and_then(|info| info.number(&values, 0)).unwrap_or(f64::NAN)))
        }
        Mode::SingleReverse | Mode::SingleForward | Mode::General => levels.record(PrimitiveId(u16::from(p)), &x),
    }
}

#[inline(always)]
fn entry(p: u8) -> Option<&'static Primitive> {
    primitive_table::all().get(usize::from(p))
}
