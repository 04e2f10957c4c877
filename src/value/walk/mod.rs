//! Value walk: visits the numbers of a differentiable value, as its [`Tangent`] describes.
//!
//! In: a value (its components in storage order), and how its type differentiates. Out: its numbers that can move, the
//! *leaves*, one after another, always in the same order: by the list of moving fields, elements and keys in their order.
//! In that order tangent vectors are made of numbers ([`Walk::vector`]) and read as numbers ([`Walk::read`]).
//!
//! Promises: arrays that are shared are copied before their slots change; what a vector lacks (`[]`, elements at the end,
//! `nil`, a missing key) counts as zero, what it has beyond the value is not read; what does not fit the tables (which
//! verified code cannot bring about) is skipped and never a panic.
//! Not here: what becomes of the numbers (`tape`), slots of what is not differentiable (`reach`).

mod change;
mod read;
mod sum;
mod vector;

use super::dictionary::Dictionary;
use super::shape::{BESIDE, Layout, Shape, ShapeId, Shapes, Tangent, TangentId, TangentKind, Tangents};
use super::{Cells, Ref, Slot};
use std::rc::Rc;

/// The tables that say what values look like.
#[derive(Clone, Copy, Debug)]
pub struct Walk<'a> {
    /// What values look like.
    pub shapes: &'a Shapes,
    /// How types differentiate.
    pub tangents: &'a Tangents,
}

/// Why a value and a tangent vector do not fit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mismatch {
    /// Two vectors of arrays that are added have different numbers of elements.
    Counts([usize; 2]),
    /// The vector belongs to another case of an enum.
    Case,
    /// The value is nested too deeply.
    TooDeep,
    /// An instance is a part of itself.
    Cyclic,
}

/// Where a value begins in each bank.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct At {
    /// In the numbers.
    pub f: usize,
    /// In the integers.
    pub i: usize,
    /// In the references.
    pub r: usize,
}

/// Records inside of records, and arrays of arrays, go at most that deep.
const DEEPEST: usize = 50_000;

impl At {
    /// Behind a value of that layout.
    #[must_use]
    pub fn behind(self, layout: Layout) -> At {
        At { f: self.f + layout.f as usize, i: self.i + layout.i as usize, r: self.r + layout.r as usize }
    }

    /// Behind the tag of an optional or enum.
    fn behind_tag(self) -> At {
        At { i: self.i + 1, ..self }
    }

    /// The place of element `k`, when elements have that layout.
    fn element(k: usize, layout: Layout) -> At {
        At { f: k * layout.f as usize, i: k * layout.i as usize, r: k * layout.r as usize }
    }
}

impl<'a> Walk<'a> {
    fn tangent(&self, id: TangentId) -> &'a Tangent {
        self.tangents.get(id)
    }

    /// Where field `index` of a tuple, struct or instance begins, from where the value does.
    fn field(&self, shape: ShapeId, index: u32) -> At {
        At::default().behind(self.shapes.before_field(shape, index as usize))
    }

    /// Where the payload of a case begins in an enum, field by field; empty for a tag that there is not.
    fn payload(&self, shape: ShapeId, tag: i64) -> Vec<At> {
        let Shape::Enum { cases, .. } = self.shapes.get(shape) else { return vec![] };
        let case = usize::try_from(tag).ok().and_then(|tag| cases.get(tag));
        let fields = case.map_or(&[][..], |c| c.payload.as_slice());
        let mut at = At::default().behind_tag();
        let places = fields.iter().map(|(_, s)| {
            let here = at;
            at = at.behind(self.shapes.layout(*s));
            here
        });
        places.collect()
    }

    /// The case of a vector that belongs to a case of an enum. A vector has one more, in front: that of zero. An enum that
    /// is its own vector has the same cases.
    fn case_of_vector(tangent: &Tangent, tag: i64) -> i64 {
        if tangent.value == tangent.vector { tag } else { tag + 1 }
    }

    /// What moves in a case of an enum: how it does, and where it begins in the value and in the vector.
    fn parts(&self, tangent: &Tangent, cases: &[Vec<(u32, TangentId)>], tag: i64) -> Vec<(TangentId, At, At)> {
        let places = self.payload(tangent.value, tag);
        let vector_places = self.payload(tangent.vector, Walk::case_of_vector(tangent, tag));
        let is_own = tangent.value == tangent.vector;
        let parts = moving(cases, tag).iter().enumerate().filter_map(|(k, (field, of))| {
            let (field, k) = (*field as usize, if is_own { *field as usize } else { k });
            Some((*of, *places.get(field)?, *vector_places.get(k)?))
        });
        parts.collect()
    }

    fn is_boxed(&self, shape: ShapeId) -> bool {
        matches!(self.shapes.get(shape), Shape::Boxed(_))
    }

    fn is_class(&self, shape: ShapeId) -> bool {
        matches!(self.shapes.get(shape), Shape::Class { .. })
    }

    /// Shows every leaf with its slot.
    ///
    /// # Errors
    /// [`Mismatch::TooDeep`]
    pub fn leaves(
        &self,
        id: TangentId,
        value: &Cells,
        at: At,
        show: &mut dyn FnMut(f64, Slot),
    ) -> Result<(), Mismatch> {
        self.leaves_at(id, value, at, show, 0)
    }

    /// How many leaves there are.
    ///
    /// # Errors
    /// [`Mismatch::TooDeep`]
    pub fn count(&self, id: TangentId, value: &Cells, at: At) -> Result<usize, Mismatch> {
        let mut count = 0;
        self.leaves(id, value, at, &mut |_, _| count += 1)?;
        Ok(count)
    }

    fn leaves_at(
        &self,
        id: TangentId,
        value: &Cells,
        at: At,
        show: &mut dyn FnMut(f64, Slot),
        depth: usize,
    ) -> Result<(), Mismatch> {
        if depth > DEEPEST {
            return Err(Mismatch::TooDeep);
        }
        let tangent = self.tangent(id);
        match &tangent.kind {
            TangentKind::Nothing => {}
            TangentKind::Number | TangentKind::Opaque(_) => show(number(value, at), value.slot(at.f)),
            TangentKind::Fields(fields) => {
                let instance = if self.is_class(tangent.value) { instance(value, at) } else { None };
                let inside = instance.as_ref().map(|b| b.cells.borrow());
                let (value, at) = inside.as_deref().map_or((value, at), |cells| (cells, At::default()));
                for (field, _, of) in fields {
                    self.leaves_at(*of, value, at.plus(self.field(tangent.value, *field)), show, depth + 1)?;
                }
            }
            TangentKind::Array(of) => {
                let Some(elements) = cells(value, at) else { return Ok(()) };
                if self.tangent(*of).kind == TangentKind::Number {
                    elements.f.iter().enumerate().for_each(|(k, x)| show(*x, elements.slot(k)));
                    return Ok(());
                }
                self.elements(*of, elements, show, depth)?;
            }
            TangentKind::Dictionary(of) => {
                let Some(d) = dictionary(value, at) else { return Ok(()) };
                self.elements(*of, d.values(), show, depth)?;
            }
            TangentKind::Optional(of) => {
                if tag(value, at) != 0 {
                    self.leaves_at(*of, value, at.behind_tag(), show, depth + 1)?;
                }
            }
            TangentKind::Enum(cases) => {
                let tag = tag(value, at);
                let places = self.payload(tangent.value, tag);
                for (field, of) in moving(cases, tag) {
                    if let Some(place) = places.get(*field as usize) {
                        self.leaves_at(*of, value, at.plus(*place), show, depth + 1)?;
                    }
                }
            }
            TangentKind::Beside(of) => {
                self.leaves_at(*of, value, at.plus(self.field(tangent.value, BESIDE)), show, depth + 1)?;
            }
            TangentKind::Boxed(of) => {
                if !self.is_boxed(tangent.value) {
                    return self.leaves_at(*of, value, at, show, depth + 1);
                }
                if let Some(record) = cells(value, at) {
                    self.leaves_at(*of, record, At::default(), show, depth + 1)?;
                }
            }
        }
        Ok(())
    }

    fn elements(
        &self,
        of: TangentId,
        elements: &Cells,
        show: &mut dyn FnMut(f64, Slot),
        depth: usize,
    ) -> Result<(), Mismatch> {
        let layout = self.shapes.layout(self.tangent(of).value);
        for k in 0..elements.len {
            self.leaves_at(of, elements, At::element(k, layout), show, depth + 1)?;
        }
        Ok(())
    }
}

impl At {
    /// This place, seen from another one.
    #[must_use]
    fn plus(self, other: At) -> At {
        At { f: self.f + other.f, i: self.i + other.i, r: self.r + other.r }
    }
}

fn number(value: &Cells, at: At) -> f64 {
    value.f.get(at.f).copied().unwrap_or(f64::NAN)
}

fn tag(value: &Cells, at: At) -> i64 {
    value.i.get(at.i).copied().unwrap_or(0)
}

fn cells(value: &Cells, at: At) -> Option<&Cells> {
    match value.r.get(at.r) {
        Some(Ref::Cells(cells)) => Some(cells),
        _ => None,
    }
}

fn dictionary(value: &Cells, at: At) -> Option<&Dictionary> {
    match value.r.get(at.r) {
        Some(Ref::Dictionary(d)) => Some(d),
        _ => None,
    }
}

fn instance(value: &Cells, at: At) -> Option<Rc<super::BoxCells>> {
    match value.r.get(at.r) {
        Some(Ref::Box(b)) => Some(Rc::clone(b)),
        _ => None,
    }
}

/// The fields of a case's payload that move.
fn moving(cases: &[Vec<(u32, TangentId)>], tag: i64) -> &[(u32, TangentId)] {
    usize::try_from(tag).ok().and_then(|tag| cases.get(tag)).map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests;
