//! Vector sums: the addition of tangent vectors of any type.

use super::{MAX_DEPTH, Mismatch, Offset, Walk, cells, dictionary, number, tag, varied_fields};
use crate::tensor::Tensor;
use crate::value::dictionary::Dictionary;
use crate::value::shape::{Shape, ShapeId, TangentId, TangentKind};
use crate::value::{Cells, Components, Ref, Slot};
use std::rc::Rc;

/// The addition of numbers and of tensors, with their slots.
pub trait Addition {
    /// Returns the sum of two numbers.
    fn numbers(&mut self, a: (f64, Slot), b: (f64, Slot)) -> (f64, Slot);
    /// Returns the sum of two tensors.
    fn tensors(&mut self, a: (Rc<Tensor>, Slot), b: (Rc<Tensor>, Slot)) -> (Rc<Tensor>, Slot);
}

impl Walk<'_> {
    /// Returns the sum of two vectors of a type that has the tangent `of` and is its own tangent vector type. Parts
    /// that are missing in one of the vectors (an element of an array, a key, a value of an optional) count as zero.
    ///
    /// # Errors
    /// [`Mismatch`] when the vectors belong to values of different sizes.
    pub fn sum(&self, of: TangentId, a: &Cells, b: &Cells, plus: &mut dyn Addition) -> Result<Cells, Mismatch> {
        let mut out = a.clone();
        self.add_at(of, (&mut out, Offset::default()), (b, Offset::default()), plus, 0)?;
        Ok(out)
    }

    /// Returns the components of the part of a value that begins at an offset.
    pub(super) fn part(&self, value: &Cells, at: Offset, shape: ShapeId) -> Cells {
        let layout = self.shapes.layout(shape);
        let mut out = Cells::empty();
        out.len = 1;
        for k in at.f..at.f + layout.f as usize {
            out.push_num(value.f.get(k).copied().unwrap_or(0.0), value.slot(k));
        }
        out.i.extend((at.i..at.i + layout.i as usize).map(|k| value.i.get(k).copied().unwrap_or(0)));
        out.r.extend((at.r..at.r + layout.r as usize).map(|k| value.r.get(k).cloned().unwrap_or_default()));
        out
    }

    /// Stores the components of a part of a value at an offset.
    pub(super) fn put_part(&self, out: &mut Cells, to: Offset, part: Components<'_>) {
        for (k, x) in part.f.iter().enumerate() {
            // The components always match if the tables of shapes are consistent.
            let _ = out.set_num(to.f + k, *x, part.slots.get(k).copied().unwrap_or(Slot::NONE));
        }
        for (k, x) in part.i.iter().enumerate() {
            if let Some(place) = out.i.get_mut(to.i + k) {
                *place = *x;
            }
        }
        for (k, x) in part.r.iter().enumerate() {
            if let Some(place) = out.r.get_mut(to.r + k) {
                *place = x.clone();
            }
        }
    }

    /// Copies a part that is missing in one vector from the other vector.
    fn take(&self, shape: ShapeId, (out, to): (&mut Cells, Offset), (from, at): (&Cells, Offset)) {
        let part = self.part(from, at, shape);
        self.put_part(out, to, part.all());
    }

    fn add_at(
        &self,
        id: TangentId,
        (out, to): (&mut Cells, Offset),
        (other, at): (&Cells, Offset),
        plus: &mut dyn Addition,
        depth: usize,
    ) -> Result<(), Mismatch> {
        if depth > MAX_DEPTH {
            return Err(Mismatch::TooDeep);
        }
        let tangent = self.tangent(id);
        match &tangent.kind {
            TangentKind::Nothing | TangentKind::Beside(_) | TangentKind::Opaque(_) => {}
            TangentKind::Number => {
                let (x, slot) = plus.numbers((number(out, to), out.slot(to.f)), (number(other, at), other.slot(at.f)));
                let x = if *self.shapes.get(tangent.vector) == Shape::Float { f64::from(x as f32) } else { x };
                let _ = out.set_num(to.f, x, slot);
            }
            TangentKind::Tensor => match (out.r.get(to.r).cloned(), other.r.get(at.r).cloned()) {
                (Some(Ref::Tensor(a)), Some(Ref::Tensor(b))) => {
                    if let Some(place) = out.r.get_mut(to.r) {
                        *place = Ref::Null;
                    }
                    let (sum, slot) = plus.tensors((a, out.slot(to.f)), (b, other.slot(at.f)));
                    let _ = out.set_num(to.f, 0.0, slot);
                    if let Some(place) = out.r.get_mut(to.r) {
                        *place = Ref::Tensor(sum);
                    }
                }
                (Some(Ref::Tensor(_)), _) => {}
                _ => self.take(tangent.value, (out, to), (other, at)),
            },
            TangentKind::Fields(fields) => {
                for (field, _, of) in fields {
                    let place = self.field(tangent.value, *field);
                    self.add_at(*of, (out, to.plus(place)), (other, at.plus(place)), plus, depth + 1)?;
                }
            }
            TangentKind::Array(of) => {
                let Some(more) = cells(other, at).filter(|more| more.len > 0) else { return Ok(()) };
                match out.r.get_mut(to.r) {
                    Some(Ref::Cells(all)) if all.len > 0 => {
                        self.add_elements(*of, Rc::make_mut(all), more, plus, depth)?;
                    }
                    _ => self.take(tangent.value, (out, to), (other, at)),
                }
            }
            TangentKind::Dictionary(of) => {
                let Some(more) = dictionary(other, at).filter(|more| !more.is_empty()) else { return Ok(()) };
                match out.r.get_mut(to.r) {
                    Some(Ref::Dictionary(all)) if !all.is_empty() => {
                        self.add_values((*of, tangent.value), Rc::make_mut(all), more, plus, depth)?;
                    }
                    _ => self.take(tangent.value, (out, to), (other, at)),
                }
            }
            TangentKind::Optional(of) => match (tag(out, to), tag(other, at)) {
                (_, 0) => {}
                (0, _) => self.take(tangent.value, (out, to), (other, at)),
                _ => self.add_at(*of, (out, to.after_tag()), (other, at.after_tag()), plus, depth + 1)?,
            },
            TangentKind::Enum(cases) => {
                let (case, more) = (tag(out, to), tag(other, at));
                if case != more {
                    return match (case, more) {
                        (_, 0) => Ok(()),
                        (0, _) => {
                            self.take(tangent.value, (out, to), (other, at));
                            Ok(())
                        }
                        _ => Err(Mismatch::Case),
                    };
                }
                let places = self.payload(tangent.value, case);
                for (field, of) in varied_fields(cases, case) {
                    let Some(place) = places.get(*field as usize) else { continue };
                    self.add_at(*of, (out, to.plus(*place)), (other, at.plus(*place)), plus, depth + 1)?;
                }
            }
            TangentKind::Boxed(of) => match (self.is_boxed(tangent.value), cells(other, at)) {
                (false, _) => self.add_at(*of, (out, to), (other, at), plus, depth + 1)?,
                (true, None) => {}
                (true, Some(record)) => match out.r.get_mut(to.r) {
                    Some(Ref::Cells(all)) => {
                        let all = (Rc::make_mut(all), Offset::default());
                        self.add_at(*of, all, (record, Offset::default()), plus, depth + 1)?;
                    }
                    _ => self.take(tangent.value, (out, to), (other, at)),
                },
            },
        }
        Ok(())
    }

    fn add_elements(
        &self,
        of: TangentId,
        all: &mut Cells,
        more: &Cells,
        plus: &mut dyn Addition,
        depth: usize,
    ) -> Result<(), Mismatch> {
        if all.len != more.len {
            return Err(Mismatch::Counts([all.len, more.len]));
        }
        let layout = self.shapes.layout(self.tangent(of).value);
        for k in 0..all.len {
            let place = Offset::element(k, layout);
            self.add_at(of, (all, place), (more, place), plus, depth + 1)?;
        }
        Ok(())
    }

    fn add_values(
        &self,
        (of, shape): (TangentId, ShapeId),
        all: &mut Dictionary,
        more: &Dictionary,
        plus: &mut dyn Addition,
        depth: usize,
    ) -> Result<(), Mismatch> {
        let Shape::Dictionary(key_shape, _) = self.shapes.get(shape) else { return Ok(()) };
        let (keys, layout) = (self.shapes.layout(*key_shape), self.shapes.layout(self.tangent(of).value));
        // Modifiable access removes the holes, so that places equal positions.
        all.values_mut();
        for k in 0..more.len() {
            let key = more.keys().element(k, keys);
            match all.find(self.shapes, *key_shape, key) {
                Some(there) => {
                    let (to, at) = (Offset::element(there, layout), Offset::element(k, layout));
                    self.add_at(of, (all.values_mut(), to), (more.values(), at), plus, depth + 1)?;
                }
                None => {
                    all.set(self.shapes, (*key_shape, key), (layout, more.values().element(k, layout)));
                }
            }
        }
        Ok(())
    }
}
