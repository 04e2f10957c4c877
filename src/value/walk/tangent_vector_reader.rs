//! Tangent vector reader: the numbers of tangent vectors.

use super::{MAX_DEPTH, Mismatch, Offset, Walk, cells, dictionary, instance, number, tag, varied_fields};
use crate::value::dictionary::Dictionary;
use crate::value::shape::{BESIDE, Shape, ShapeId, TangentId, TangentKind};
use crate::value::{Cells, Ref, Slot, opaque_vector};
use std::rc::Rc;

impl Walk<'_> {
    /// Calls `show`, for every leaf of `value`, with the corresponding number of a tangent vector.
    ///
    /// # Errors
    /// [`Mismatch`] when the vector belongs to another case of an enum.
    pub fn read(
        &self,
        id: TangentId,
        (value, at): (&Cells, Offset),
        (vector, from): (&Cells, Offset),
        show: &mut dyn FnMut(f64, Slot),
    ) -> Result<(), Mismatch> {
        self.read_at(id, (value, at), (vector, from), show, 0)
    }

    fn read_at(
        &self,
        id: TangentId,
        (value, at): (&Cells, Offset),
        (vector, from): (&Cells, Offset),
        show: &mut dyn FnMut(f64, Slot),
        depth: usize,
    ) -> Result<(), Mismatch> {
        if depth > MAX_DEPTH {
            return Err(Mismatch::TooDeep);
        }
        let tangent = self.tangent(id);
        match &tangent.kind {
            TangentKind::Nothing => {}
            TangentKind::Number => show(number(vector, from), vector.slot(from.f)),
            TangentKind::Tensor => {
                let part = self.part(vector, from, tangent.vector);
                let slot = part.slot(0);
                let number = match part.r.first() {
                    Some(Ref::Tensor(tensor)) => opaque_vector::keep_tensor(Rc::clone(tensor), slot),
                    _ => 0.0,
                };
                show(number, Slot::NONE);
            }
            TangentKind::Opaque(of) => {
                let part = self.part(vector, from, tangent.vector);
                let number = if self.is_zero(*of, &part)? { 0.0 } else { opaque_vector::keep(*of, part) };
                show(number, Slot::NONE);
            }
            TangentKind::Fields(fields) => {
                let of_value = if self.is_class(tangent.value) { instance(value, at) } else { None };
                let inside = of_value.as_ref().map(|b| b.cells.borrow());
                let (value, at) = inside.as_deref().map_or((value, at), |cells| (cells, Offset::default()));
                let of_vector = if self.is_class(tangent.vector) { instance(vector, from) } else { None };
                let inside_vector = of_vector.as_ref().map(|b| b.cells.borrow());
                let (vector, from) =
                    inside_vector.as_deref().map_or((vector, from), |cells| (cells, Offset::default()));
                for (field, vector_field, of) in fields {
                    let at = at.plus(self.field(tangent.value, *field));
                    let from = from.plus(self.field(tangent.vector, *vector_field));
                    self.read_at(*of, (value, at), (vector, from), show, depth + 1)?;
                }
            }
            TangentKind::Array(of) => {
                let (Some(elements), Some(vectors)) = (cells(value, at), cells(vector, from)) else {
                    return self.zeros(id, value, at, show);
                };
                self.read_elements(*of, elements, vectors, show, depth)?;
            }
            TangentKind::Dictionary(of) => {
                let (Some(d), Some(vectors)) = (dictionary(value, at), dictionary(vector, from)) else {
                    return self.zeros(id, value, at, show);
                };
                self.read_values((*of, tangent.value), d, vectors, show, depth)?;
            }
            TangentKind::Optional(of) => match (tag(value, at), tag(vector, from)) {
                (0, _) => {}
                (_, 0) => self.zeros(*of, value, at.after_tag(), show)?,
                _ => {
                    let (value, vector) = ((value, at.after_tag()), (vector, from.after_tag()));
                    self.read_at(*of, value, vector, show, depth + 1)?;
                }
            },
            TangentKind::Enum(cases) => {
                let tag_of_value = tag(value, at);
                // The zero case of an enum that is its own vector has no differentiable parts.
                let is_zero =
                    tangent.value == tangent.vector && tag_of_value == 0 && varied_fields(cases, 0).is_empty();
                match tag(vector, from) {
                    tag if tag == Walk::case_of_vector(tangent, tag_of_value) => {}
                    0 => return self.zeros(id, value, at, show),
                    _ if is_zero => return Ok(()),
                    _ => return Err(Mismatch::Case),
                }
                for (of, place, vector_place) in self.parts(tangent, cases, tag_of_value) {
                    let (value, vector) = ((value, at.plus(place)), (vector, from.plus(vector_place)));
                    self.read_at(of, value, vector, show, depth + 1)?;
                }
            }
            TangentKind::Beside(of) => {
                let at = at.plus(self.field(tangent.value, BESIDE));
                self.read_at(*of, (value, at), (vector, from), show, depth + 1)?;
            }
            TangentKind::Boxed(of) => {
                let value = self.opened(tangent.value, value, at);
                let vector = self.opened(tangent.vector, vector, from);
                self.read_at(*of, value, vector, show, depth + 1)?;
            }
        }
        Ok(())
    }

    /// Returns the cells that hold a value: those of its own object if its type is boxed.
    fn opened<'c>(&self, shape: ShapeId, holder: &'c Cells, at: Offset) -> (&'c Cells, Offset) {
        match cells(holder, at) {
            Some(record) if self.is_boxed(shape) => (record, Offset::default()),
            _ => (holder, at),
        }
    }

    fn read_elements(
        &self,
        of: TangentId,
        elements: &Cells,
        vectors: &Cells,
        show: &mut dyn FnMut(f64, Slot),
        depth: usize,
    ) -> Result<(), Mismatch> {
        let tangent = self.tangent(of);
        let (layout, vector_layout) = (self.shapes.layout(tangent.value), self.shapes.layout(tangent.vector));
        for k in 0..elements.len {
            let (at, from) = (Offset::element(k, layout), Offset::element(k, vector_layout));
            if k < vectors.len {
                self.read_at(of, (elements, at), (vectors, from), show, depth + 1)?;
            } else {
                self.zeros(of, elements, at, show)?;
            }
        }
        Ok(())
    }

    /// Whether a vector that may contain numbers contains only zeros.
    fn is_zero(&self, of: TangentId, vector: &Cells) -> Result<bool, Mismatch> {
        let mut is_zero = self.tangents.has_numbers(of);
        self.leaves(of, vector, Offset::default(), &mut |x, slot| is_zero &= x == 0.0 && slot == Slot::NONE)?;
        Ok(is_zero)
    }

    fn read_values(
        &self,
        (of, shape): (TangentId, ShapeId),
        d: &Dictionary,
        vectors: &Dictionary,
        show: &mut dyn FnMut(f64, Slot),
        depth: usize,
    ) -> Result<(), Mismatch> {
        let Shape::Dictionary(key_shape, _) = self.shapes.get(shape) else { return Ok(()) };
        let tangent = self.tangent(of);
        let (layout, vector_layout) = (self.shapes.layout(tangent.value), self.shapes.layout(tangent.vector));
        let keys = self.shapes.layout(*key_shape);
        for k in 0..d.len() {
            let at = Offset::element(k, layout);
            match vectors.find(self.shapes, *key_shape, d.keys().element(k, keys)) {
                Some(j) => {
                    let from = Offset::element(j, vector_layout);
                    self.read_at(of, (d.values(), at), (vectors.values_there(), from), show, depth + 1)?;
                }
                None => self.zeros(of, d.values(), at, show)?,
            }
        }
        Ok(())
    }

    /// Calls `show` with a zero for every leaf.
    fn zeros(&self, id: TangentId, value: &Cells, at: Offset, show: &mut dyn FnMut(f64, Slot)) -> Result<(), Mismatch> {
        self.leaves(id, value, at, &mut |_, _| show(0.0, Slot::NONE))
    }
}
