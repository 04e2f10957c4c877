//! Tangent vector builder: the construction of tangent vectors from numbers.

use super::{MAX_DEPTH, Mismatch, Offset, Walk, cells, dictionary, instance, tag};
use crate::tensor::{Shape as TensorShape, Tensor};
use crate::value::finalizer::Finalizer;
use crate::value::opaque_vector::{self, OpaqueVector};
use crate::value::shape::{BESIDE, Shape, ShapeId, TangentId, TangentKind};
use crate::value::{BoxCells, Cells, Ref, Slot};
use std::cell::RefCell;
use std::rc::Rc;

impl Walk<'_> {
    /// Returns the tangent vector of `value` whose numbers, leaf by leaf, are the results of `next`.
    ///
    /// # Errors
    /// [`Mismatch::TooDeep`]
    pub fn vector(
        &self,
        id: TangentId,
        value: &Cells,
        at: Offset,
        next: &mut dyn FnMut() -> (f64, Slot),
    ) -> Result<Cells, Mismatch> {
        let mut out = self.zero(self.tangent(id).vector);
        self.fill(id, (value, at), (&mut out, Offset::default()), next, 0)?;
        Ok(out)
    }

    /// Returns the zero vector of a type of tangent vectors, as a single element. Optional parts are absent.
    pub fn zero(&self, shape: ShapeId) -> Cells {
        let mut out = Cells::default();
        out.len = 1;
        self.push_zero(shape, &mut out);
        out
    }

    fn push_zero(&self, shape: ShapeId, out: &mut Cells) {
        match self.shapes.get(shape) {
            Shape::Tuple(fields) => fields.iter().for_each(|(_, s)| self.push_zero(*s, out)),
            Shape::Struct { fields, .. } => fields.iter().for_each(|(_, s)| self.push_zero(*s, out)),
            Shape::Array(_) => out.r.push(Ref::Cells(Rc::default())),
            Shape::Dictionary(..) | Shape::Set(_) => out.r.push(Ref::Dictionary(Rc::default())),
            Shape::String | Shape::Character => out.r.push(Ref::Text("".into())),
            Shape::Boxed(inner) => out.r.push(Ref::Cells(Rc::new(self.zero(*inner)))),
            Shape::Double
            | Shape::Float
            | Shape::Int { .. }
            | Shape::Bool
            | Shape::Enum { .. }
            | Shape::Optional(_)
            | Shape::Function { .. }
            | Shape::Class { .. }
            | Shape::Any
            | Shape::Tensor
            | Shape::Metatype { .. } => {
                let layout = self.shapes.layout(shape);
                out.f.resize(out.f.len() + layout.f as usize, 0.0);
                out.i.resize(out.i.len() + layout.i as usize, 0);
                out.r.resize(out.r.len() + layout.r as usize, Ref::Null);
            }
        }
    }

    /// Stores numbers in a zero vector, leaf by leaf.
    fn fill(
        &self,
        id: TangentId,
        (value, at): (&Cells, Offset),
        (out, to): (&mut Cells, Offset),
        next: &mut dyn FnMut() -> (f64, Slot),
        depth: usize,
    ) -> Result<(), Mismatch> {
        if depth > MAX_DEPTH {
            return Err(Mismatch::TooDeep);
        }
        let tangent = self.tangent(id);
        match &tangent.kind {
            TangentKind::Nothing => {}
            TangentKind::Number => {
                let (x, slot) = next();
                let x = if *self.shapes.get(tangent.vector) == Shape::Float { f64::from(x as f32) } else { x };
                // The components always match if the tables of shapes are consistent.
                let _ = out.set_num(to.f, x, slot);
            }
            TangentKind::Opaque(_) | TangentKind::Tensor => match opaque_vector::find(next().0) {
                Some(OpaqueVector::Cells { cells, .. }) => self.put_part(out, to, cells.all()),
                Some(OpaqueVector::Tensor(tensor, slot)) => {
                    let _ = out.set_num(to.f, 0.0, slot);
                    put(out, to, Ref::Tensor(tensor));
                }
                None if tangent.kind == TangentKind::Tensor => {
                    if let Some(zeros) = value.r.get(at.r).and_then(zeros_like) {
                        put(out, to, zeros);
                    }
                }
                None => {}
            },
            TangentKind::Fields(fields) => {
                let instance = if self.is_class(tangent.value) { instance(value, at) } else { None };
                let inside = instance.as_ref().map(|b| b.cells.borrow());
                let (value, at) = inside.as_deref().map_or((value, at), |cells| (cells, Offset::default()));
                if let Shape::Class { fields: own, .. } = self.shapes.get(tangent.vector) {
                    // The tangent vector of an instance is also an instance.
                    let mut made = Cells::default();
                    made.len = 1;
                    own.iter().for_each(|(_, shape)| self.push_zero(*shape, &mut made));
                    for (field, vector_field, of) in fields {
                        let from = at.plus(self.field(tangent.value, *field));
                        let to = self.field(tangent.vector, *vector_field);
                        self.fill(*of, (value, from), (&mut made, to), next, depth + 1)?;
                    }
                    let (cells, shape) = (RefCell::new(made), Some(tangent.vector));
                    put(out, to, Ref::Box(Rc::new(BoxCells { cells, shape, finalizer: Finalizer::default() })));
                    return Ok(());
                }
                if tangent.value == tangent.vector {
                    self.keep_data(tangent.value, fields, (value, at), (out, to));
                }
                for (field, vector_field, of) in fields {
                    let from = at.plus(self.field(tangent.value, *field));
                    let to = to.plus(self.field(tangent.vector, *vector_field));
                    self.fill(*of, (value, from), (out, to), next, depth + 1)?;
                }
            }
            TangentKind::Array(of) => {
                if let Some(elements) = cells(value, at) {
                    let vectors = self.vectors(*of, elements, next, depth)?;
                    put(out, to, Ref::Cells(Rc::new(vectors)));
                }
            }
            TangentKind::Dictionary(of) => {
                if let Some(d) = dictionary(value, at) {
                    let values = self.vectors(*of, d.values(), next, depth)?;
                    put(out, to, Ref::Dictionary(Rc::new(d.with_values(values))));
                }
            }
            TangentKind::Optional(of) => {
                if tag(value, at) != 0 {
                    self.set_tag(out, to, 1, self.tangent(*of).vector, to.after_tag());
                    self.fill(*of, (value, at.after_tag()), (out, to.after_tag()), next, depth + 1)?;
                }
            }
            TangentKind::Enum(cases) => {
                let tag = tag(value, at);
                if let Some(place) = out.i.get_mut(to.i) {
                    *place = Walk::case_of_vector(tangent, tag);
                }
                for (of, place, vector_place) in self.parts(tangent, cases, tag) {
                    let place_of_vector = to.plus(vector_place);
                    self.overwrite_zero(out, place_of_vector, self.tangent(of).vector);
                    self.fill(of, (value, at.plus(place)), (out, place_of_vector), next, depth + 1)?;
                }
            }
            TangentKind::Beside(of) => {
                let at = at.plus(self.field(tangent.value, BESIDE));
                self.fill(*of, (value, at), (out, to), next, depth + 1)?;
            }
            TangentKind::Boxed(of) => self.fill_boxed(*of, id, (value, at), (out, to), next, depth)?,
        }
        Ok(())
    }

    /// Copies the constant data of a value that is its own tangent vector (such as the shape of a matrix): its vectors
    /// must have the same data to be compatible.
    fn keep_data(
        &self,
        shape: ShapeId,
        varied_fields: &[(u32, u32, TangentId)],
        (value, at): (&Cells, Offset),
        (out, to): (&mut Cells, Offset),
    ) {
        let Shape::Struct { fields, .. } = self.shapes.get(shape) else { return };
        for (k, (_, field)) in fields.iter().enumerate() {
            let k = k as u32;
            if varied_fields.iter().any(|(of, ..)| *of == k) {
                continue;
            }
            let (from, to, layout) =
                (at.plus(self.field(shape, k)), to.plus(self.field(shape, k)), self.shapes.layout(*field));
            for j in 0..layout.f as usize {
                let _ = out.set_num(to.f + j, value.f.get(from.f + j).copied().unwrap_or(0.0), Slot::NONE);
            }
            for j in 0..layout.i as usize {
                if let (Some(place), Some(x)) = (out.i.get_mut(to.i + j), value.i.get(from.i + j)) {
                    *place = *x;
                }
            }
            for j in 0..layout.r as usize {
                if let Some(reference) = value.r.get(from.r + j) {
                    put(out, Offset { r: to.r + j, ..to }, reference.clone());
                }
            }
        }
    }

    fn fill_boxed(
        &self,
        of: TangentId,
        id: TangentId,
        (value, at): (&Cells, Offset),
        (out, to): (&mut Cells, Offset),
        next: &mut dyn FnMut() -> (f64, Slot),
        depth: usize,
    ) -> Result<(), Mismatch> {
        let tangent = self.tangent(id);
        let from = match (self.is_boxed(tangent.value), cells(value, at)) {
            (true, Some(record)) => (record, Offset::default()),
            (true, None) => return Ok(()),
            (false, _) => (value, at),
        };
        if !self.is_boxed(tangent.vector) {
            return self.fill(of, from, (out, to), next, depth + 1);
        }
        let mut inside = self.zero(self.tangent(of).vector);
        self.fill(of, from, (&mut inside, Offset::default()), next, depth + 1)?;
        put(out, to, Ref::Cells(Rc::new(inside)));
        Ok(())
    }

    /// Returns the tangent vectors of all elements of an array.
    fn vectors(
        &self,
        of: TangentId,
        elements: &Cells,
        next: &mut dyn FnMut() -> (f64, Slot),
        depth: usize,
    ) -> Result<Cells, Mismatch> {
        let tangent = self.tangent(of);
        let (layout, vector_layout) = (self.shapes.layout(tangent.value), self.shapes.layout(tangent.vector));
        let mut out = Cells::default();
        if *self.shapes.get(tangent.vector) == Shape::Double && tangent.kind == TangentKind::Number {
            return Ok(numbers(elements.len, next));
        }
        let zero = self.zero(tangent.vector);
        for k in 0..elements.len {
            out.push(zero.all());
            let (from, to) = (Offset::element(k, layout), Offset::element(k, vector_layout));
            self.fill(of, (elements, from), (&mut out, to), next, depth + 1)?;
        }
        Ok(out)
    }

    /// Stores the tag of an optional, and sets the value of the optional to zero.
    fn set_tag(&self, out: &mut Cells, at: Offset, tag: i64, inside: ShapeId, place: Offset) {
        if let Some(to) = out.i.get_mut(at.i) {
            *to = tag;
        }
        self.overwrite_zero(out, place, inside);
    }

    fn overwrite_zero(&self, out: &mut Cells, at: Offset, shape: ShapeId) {
        let zero = self.zero(shape);
        for (k, r) in zero.r.iter().enumerate() {
            put(out, Offset { r: at.r + k, ..at }, r.clone());
        }
    }
}

/// Creates an array of numbers with slots. Most numbers are constant, so slots are stored only from the first number on
/// that is not constant.
fn numbers(count: usize, next: &mut dyn FnMut() -> (f64, Slot)) -> Cells {
    let mut slots = vec![];
    let values = (0..count).map(|k| {
        let (x, slot) = next();
        if slot != Slot::NONE {
            slots.resize(k, Slot::NONE);
            slots.push(slot);
        }
        x
    });
    let mut out = Cells::numbers(values.collect());
    if !slots.is_empty() {
        slots.resize(count, Slot::NONE);
    }
    out.slots = slots;
    out
}

/// Returns the zero vector of a tensor; `None` for other objects.
fn zeros_like(value: &Ref) -> Option<Ref> {
    let Ref::Tensor(tensor) = value else { return None };
    // One scalar that is repeated takes the place of all zeros.
    let zero = Tensor::zeros(tensor.kind(), TensorShape::default()).and_then(|zero| zero.broadcast_to(tensor.shape()));
    zero.ok().map(|zeros| Ref::Tensor(Rc::new(zeros)))
}

fn put(out: &mut Cells, at: Offset, reference: Ref) {
    if let Some(place) = out.r.get_mut(at.r) {
        *place = reference;
    }
}
