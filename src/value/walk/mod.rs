//! Value walk: the traversal of the numbers of a differentiable value, as described by its [`Tangent`].
//!
//! In: a value (its components in storage order), and the tangent of its type. Out: its differentiable numbers, the
//! *leaves*, always in the same order: the order of the differentiable fields, of the elements and of the keys. Tangent
//! vectors are constructed from numbers in this order ([`Walk::vector`]) and read in this order ([`Walk::read`]).
//!
//! Promises: shared arrays are copied before their slots change; missing parts of a vector (`[]`, elements at the end,
//! `nil`, a missing key) count as zero, additional ones are ignored; components that do not match the tables (which
//! verified code cannot produce) are skipped without a panic.
//! Not here: the use of the numbers (`tape`), the slots of values that are not differentiable (`slot_rewrite`).

mod leaf_paths;
mod leaf_update;
mod tangent_vector_builder;
mod tangent_vector_reader;
mod vector_sum;

pub use vector_sum::Addition;

use super::dictionary::Dictionary;
use super::shape::{BESIDE, Layout, Shape, ShapeId, Shapes, Tangent, TangentId, TangentKind, Tangents};
use super::{Cells, Ref, Slot};
use std::rc::Rc;

/// The tables of shapes and tangent types that describe the structure of values.
#[derive(Clone, Copy, Debug)]
pub struct Walk<'a> {
    /// The shapes of the session.
    pub shapes: &'a Shapes,
    /// The tangent types of the session.
    pub tangents: &'a Tangents,
}

/// The reason why a value and a tangent vector do not match.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mismatch {
    /// Two array vectors that are added have different numbers of elements.
    Counts([usize; 2]),
    /// The vector belongs to another case of an enum than the value.
    Case,
    /// The value is nested too deeply.
    TooDeep,
    /// An instance of a class contains itself.
    Cyclic,
}

/// The offset of the components of a value in each bank.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Offset {
    /// The index of the first number of the value.
    pub f: usize,
    /// The index of the first integer of the value.
    pub i: usize,
    /// The index of the first reference of the value.
    pub r: usize,
}

/// The maximum nesting depth of records and arrays.
const MAX_DEPTH: usize = 50_000;

impl Offset {
    /// Returns the offset after a value that has the layout `layout` and begins at this offset.
    #[must_use]
    pub fn after(self, layout: Layout) -> Offset {
        Offset { f: self.f + layout.f as usize, i: self.i + layout.i as usize, r: self.r + layout.r as usize }
    }

    /// Returns the offset after the tag of an optional or enum that begins at this offset.
    #[must_use]
    pub fn after_tag(self) -> Offset {
        Offset { i: self.i + 1, ..self }
    }

    /// Returns the offset of the element `k` of an array whose elements have the layout `layout`.
    pub fn element(k: usize, layout: Layout) -> Offset {
        Offset { f: k * layout.f as usize, i: k * layout.i as usize, r: k * layout.r as usize }
    }
}

impl<'a> Walk<'a> {
    fn tangent(&self, id: TangentId) -> &'a Tangent {
        self.tangents.get(id)
    }

    /// Returns the offset of the field `index` of a tuple, struct or instance, relative to the value.
    fn field(&self, shape: ShapeId, index: u32) -> Offset {
        Offset::default().after(self.shapes.before_field(shape, index as usize))
    }

    /// Returns the offsets of the payload fields of a case of an enum; empty for an invalid tag.
    fn payload(&self, shape: ShapeId, tag: i64) -> Vec<Offset> {
        let Shape::Enum { cases, .. } = self.shapes.get(shape) else { return vec![] };
        let case = usize::try_from(tag).ok().and_then(|tag| cases.get(tag));
        let fields = case.map_or(&[][..], |c| c.payload.as_slice());
        let mut at = Offset::default().after_tag();
        let places = fields.iter().map(|(_, s)| {
            let here = at;
            at = at.after(self.shapes.layout(*s));
            here
        });
        places.collect()
    }

    /// Returns the case of a vector that corresponds to a case of an enum. A vector has an additional first case, the
    /// zero vector. An enum that is its own vector has the same cases.
    fn case_of_vector(tangent: &Tangent, tag: i64) -> i64 {
        if tangent.value == tangent.vector { tag } else { tag + 1 }
    }

    /// Returns the differentiable parts of a case of an enum: their tangents, and their offsets in the value and in the
    /// vector.
    fn parts(&self, tangent: &Tangent, cases: &[Vec<(u32, TangentId)>], tag: i64) -> Vec<(TangentId, Offset, Offset)> {
        let places = self.payload(tangent.value, tag);
        let vector_places = self.payload(tangent.vector, Walk::case_of_vector(tangent, tag));
        let is_own = tangent.value == tangent.vector;
        let parts = varied_fields(cases, tag).iter().enumerate().filter_map(|(k, (field, of))| {
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

    /// Calls `show` with every leaf and its slot.
    ///
    /// # Errors
    /// [`Mismatch::TooDeep`]
    pub fn leaves(
        &self,
        id: TangentId,
        value: &Cells,
        at: Offset,
        show: &mut dyn FnMut(f64, Slot),
    ) -> Result<(), Mismatch> {
        self.leaves_at(id, (value, at), &mut |x, slot, _| show(x, slot), 0)
    }

    /// Calls `show` with every leaf and its slot, and with the reference to the tensor if the leaf is that of a tensor.
    ///
    /// # Errors
    /// [`Mismatch::TooDeep`]
    pub fn leaves_with_tensors(
        &self,
        id: TangentId,
        value: &Cells,
        show: &mut dyn FnMut(f64, Slot, Option<&Ref>),
    ) -> Result<(), Mismatch> {
        self.leaves_at(id, (value, Offset::default()), &mut |x, slot, tensor| show(x, slot, tensor), 0)
    }

    /// Returns the number of leaves.
    ///
    /// # Errors
    /// [`Mismatch::TooDeep`]
    pub fn count(&self, id: TangentId, value: &Cells, at: Offset) -> Result<usize, Mismatch> {
        let mut count = 0;
        self.leaves(id, value, at, &mut |_, _| count += 1)?;
        Ok(count)
    }

    fn leaves_at<Show: FnMut(f64, Slot, Option<&Ref>)>(
        &self,
        id: TangentId,
        (value, at): (&Cells, Offset),
        show: &mut Show,
        depth: usize,
    ) -> Result<(), Mismatch> {
        if depth > MAX_DEPTH {
            return Err(Mismatch::TooDeep);
        }
        let tangent = self.tangent(id);
        match &tangent.kind {
            TangentKind::Nothing => {}
            TangentKind::Number | TangentKind::Opaque(_) => show(number(value, at), value.slot(at.f), None),
            TangentKind::Tensor => show(number(value, at), value.slot(at.f), value.r.get(at.r)),
            TangentKind::Fields(fields) => {
                let instance = if self.is_class(tangent.value) { instance(value, at) } else { None };
                let inside = instance.as_ref().map(|b| b.cells.borrow());
                let (value, at) = inside.as_deref().map_or((value, at), |cells| (cells, Offset::default()));
                for (field, _, of) in fields {
                    self.leaves_at(*of, (value, at.plus(self.field(tangent.value, *field))), show, depth + 1)?;
                }
            }
            TangentKind::Array(of) => {
                let Some(elements) = cells(value, at) else { return Ok(()) };
                if self.tangent(*of).kind == TangentKind::Number {
                    elements.f.iter().enumerate().for_each(|(k, x)| show(*x, elements.slot(k), None));
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
                    self.leaves_at(*of, (value, at.after_tag()), show, depth + 1)?;
                }
            }
            TangentKind::Enum(cases) => {
                let tag = tag(value, at);
                let places = self.payload(tangent.value, tag);
                for (field, of) in varied_fields(cases, tag) {
                    if let Some(place) = places.get(*field as usize) {
                        self.leaves_at(*of, (value, at.plus(*place)), show, depth + 1)?;
                    }
                }
            }
            TangentKind::Beside(of) => {
                self.leaves_at(*of, (value, at.plus(self.field(tangent.value, BESIDE))), show, depth + 1)?;
            }
            TangentKind::Boxed(of) => {
                if !self.is_boxed(tangent.value) {
                    return self.leaves_at(*of, (value, at), show, depth + 1);
                }
                if let Some(record) = cells(value, at) {
                    self.leaves_at(*of, (record, Offset::default()), show, depth + 1)?;
                }
            }
        }
        Ok(())
    }

    fn elements<Show: FnMut(f64, Slot, Option<&Ref>)>(
        &self,
        of: TangentId,
        elements: &Cells,
        show: &mut Show,
        depth: usize,
    ) -> Result<(), Mismatch> {
        let layout = self.shapes.layout(self.tangent(of).value);
        for k in 0..elements.len {
            self.leaves_at(of, (elements, Offset::element(k, layout)), show, depth + 1)?;
        }
        Ok(())
    }
}

impl Offset {
    /// Returns the component-wise sum of two offsets.
    #[must_use]
    fn plus(self, other: Offset) -> Offset {
        Offset { f: self.f + other.f, i: self.i + other.i, r: self.r + other.r }
    }
}

fn number(value: &Cells, at: Offset) -> f64 {
    value.f.get(at.f).copied().unwrap_or(f64::NAN)
}

fn tag(value: &Cells, at: Offset) -> i64 {
    value.i.get(at.i).copied().unwrap_or(0)
}

fn cells(value: &Cells, at: Offset) -> Option<&Cells> {
    match value.r.get(at.r) {
        Some(Ref::Cells(cells)) => Some(cells),
        _ => None,
    }
}

fn dictionary(value: &Cells, at: Offset) -> Option<&Dictionary> {
    match value.r.get(at.r) {
        Some(Ref::Dictionary(d)) => Some(d),
        _ => None,
    }
}

fn instance(value: &Cells, at: Offset) -> Option<Rc<super::BoxCells>> {
    match value.r.get(at.r) {
        Some(Ref::Box(b)) => Some(Rc::clone(b)),
        _ => None,
    }
}

/// Returns the differentiable fields of a case's payload.
fn varied_fields(cases: &[Vec<(u32, TangentId)>], tag: i64) -> &[(u32, TangentId)] {
    usize::try_from(tag).ok().and_then(|tag| cases.get(tag)).map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests;
