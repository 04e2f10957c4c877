//! Leaf update: the modification of the numbers and slots of the leaves of a value.

use super::{MAX_DEPTH, Mismatch, Offset, Walk, instance, tag, varied_fields};
use crate::value::shape::{BESIDE, TangentId, TangentKind};
use crate::value::{Cells, Ref, Slot};
use std::rc::Rc;

impl Walk<'_> {
    /// Sets the slot of every leaf to the result of `change`, which may also modify its number. Instances of classes
    /// are changed in place.
    ///
    /// # Errors
    /// [`Mismatch::TooDeep`], [`Mismatch::Cyclic`]
    pub fn change(
        &self,
        id: TangentId,
        value: &mut Cells,
        at: Offset,
        change: &mut dyn FnMut(&mut f64, Slot) -> Slot,
    ) -> Result<(), Mismatch> {
        self.change_at(id, value, at, &mut |number, _, slot| change(number, slot), 0)
    }

    /// Sets the slot of every leaf to the result of `change`, which may also modify its number, or the reference to the
    /// tensor if the leaf is that of a tensor.
    ///
    /// # Errors
    /// [`Mismatch::TooDeep`], [`Mismatch::Cyclic`]
    pub fn change_with_tensors(
        &self,
        id: TangentId,
        value: &mut Cells,
        at: Offset,
        change: &mut dyn FnMut(&mut f64, Option<&mut Ref>, Slot) -> Slot,
    ) -> Result<(), Mismatch> {
        self.change_at(id, value, at, &mut |number, tensor, slot| change(number, tensor, slot), 0)
    }

    fn change_at<Change: FnMut(&mut f64, Option<&mut Ref>, Slot) -> Slot>(
        &self,
        id: TangentId,
        value: &mut Cells,
        at: Offset,
        change: &mut Change,
        depth: usize,
    ) -> Result<(), Mismatch> {
        if depth > MAX_DEPTH {
            return Err(Mismatch::TooDeep);
        }
        let tangent = self.tangent(id);
        match &tangent.kind {
            TangentKind::Nothing => {}
            TangentKind::Number | TangentKind::Tensor | TangentKind::Opaque(_) => {
                let slot = value.slot(at.f);
                let is_tensor = tangent.kind == TangentKind::Tensor;
                let tensor = if is_tensor { value.r.get_mut(at.r) } else { None };
                if let Some(x) = value.f.get_mut(at.f) {
                    let slot = change(x, tensor, slot);
                    value.set_slot(at.f, slot);
                }
            }
            TangentKind::Fields(fields) => {
                let instance = if self.is_class(tangent.value) { instance(value, at) } else { None };
                // An instance that is already borrowed contains itself, which is an error.
                let inside = instance.as_ref().map(|b| b.cells.try_borrow_mut()).transpose();
                let mut inside = inside.map_err(|_| Mismatch::Cyclic)?;
                let (value, at) = match inside.as_deref_mut() {
                    Some(cells) => (cells, Offset::default()),
                    None => (value, at),
                };
                for (field, _, of) in fields {
                    self.change_at(*of, value, at.plus(self.field(tangent.value, *field)), change, depth + 1)?;
                }
            }
            TangentKind::Array(of) => {
                let Some(Ref::Cells(elements)) = value.r.get_mut(at.r) else { return Ok(()) };
                let elements = Rc::make_mut(elements);
                if self.tangent(*of).kind == TangentKind::Number {
                    elements.make_slots();
                    for (x, slot) in elements.f.iter_mut().zip(&mut elements.slots) {
                        *slot = change(x, None, *slot);
                    }
                    return Ok(());
                }
                self.change_elements(*of, elements, change, depth)?;
            }
            TangentKind::Dictionary(of) => {
                if let Some(Ref::Dictionary(d)) = value.r.get_mut(at.r) {
                    self.change_elements(*of, Rc::make_mut(d).values_mut(), change, depth)?;
                }
            }
            TangentKind::Optional(of) => {
                if tag(value, at) != 0 {
                    self.change_at(*of, value, at.after_tag(), change, depth + 1)?;
                }
            }
            TangentKind::Enum(cases) => {
                let tag = tag(value, at);
                let places = self.payload(tangent.value, tag);
                for (field, of) in varied_fields(cases, tag) {
                    if let Some(place) = places.get(*field as usize) {
                        self.change_at(*of, value, at.plus(*place), change, depth + 1)?;
                    }
                }
            }
            TangentKind::Beside(of) => {
                self.change_at(*of, value, at.plus(self.field(tangent.value, BESIDE)), change, depth + 1)?;
            }
            TangentKind::Boxed(of) => {
                if !self.is_boxed(tangent.value) {
                    return self.change_at(*of, value, at, change, depth + 1);
                }
                if let Some(Ref::Cells(record)) = value.r.get_mut(at.r) {
                    self.change_at(*of, Rc::make_mut(record), Offset::default(), change, depth + 1)?;
                }
            }
        }
        Ok(())
    }

    fn change_elements<Change: FnMut(&mut f64, Option<&mut Ref>, Slot) -> Slot>(
        &self,
        of: TangentId,
        elements: &mut Cells,
        change: &mut Change,
        depth: usize,
    ) -> Result<(), Mismatch> {
        let layout = self.shapes.layout(self.tangent(of).value);
        for k in 0..elements.len {
            self.change_at(of, elements, Offset::element(k, layout), change, depth + 1)?;
        }
        Ok(())
    }
}
