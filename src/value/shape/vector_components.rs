//! Vector components: the types whose tangent vectors have the same components as their values.

use super::{Shape, Shapes, TangentId, TangentKind, Tangents};
use std::cell::RefCell;

/// The results of [`Tangents::same_components`], by type: every call of adjoint code asks for them.
#[derive(Clone, Default, Debug)]
pub(super) struct SameComponents {
    known: RefCell<Vec<Option<Components>>>,
}

/// The numbers of components in each bank; `None` for a type whose tangent vectors have other components.
type Components = Option<[usize; 3]>;

impl SameComponents {
    fn get(&self, id: TangentId) -> Option<Components> {
        self.known.borrow().get(id.0 as usize).copied().flatten()
    }

    fn set(&self, id: TangentId, components: Components) {
        let (mut known, index) = (self.known.borrow_mut(), id.0 as usize);
        if known.len() <= index {
            known.resize(index + 1, None);
        }
        known[index] = Some(components);
    }
}

impl Tangents {
    /// Whether a type is a single number of full precision.
    pub fn is_number(&self, shapes: &Shapes, id: TangentId) -> bool {
        let tangent = self.get(id);
        tangent.kind == TangentKind::Number && *shapes.get(tangent.vector) == Shape::Double
    }

    /// Whether a type is an array of numbers of full precision.
    pub fn is_array_of_numbers(&self, shapes: &Shapes, id: TangentId) -> bool {
        matches!(self.get(id).kind, TangentKind::Array(element) if self.is_number(shapes, element))
    }

    /// Returns the numbers of components in each bank of a type that consists of numbers and arrays of numbers, and whose
    /// tangent vectors have the same components in the same order; `None` for other types.
    pub fn same_components(&self, shapes: &Shapes, id: TangentId) -> Option<[usize; 3]> {
        if let Some(known) = self.same_components.get(id) {
            return known;
        }
        let found = self.count_same_components(shapes, id);
        self.same_components.set(id, found);
        found
    }

    fn count_same_components(&self, shapes: &Shapes, id: TangentId) -> Components {
        let found = self.counted_components(shapes, id)?;
        let has_layout = |shape| {
            let layout = shapes.layout(shape);
            [layout.f, layout.i, layout.r].map(|n| n as usize) == found
        };
        let tangent = self.get(id);
        (has_layout(tangent.value) && has_layout(tangent.vector)).then_some(found)
    }

    /// Counts the numbers and arrays in a type, as long as the fields of its tangent vectors correspond to its own.
    fn counted_components(&self, shapes: &Shapes, id: TangentId) -> Option<[usize; 3]> {
        match &self.get(id).kind {
            TangentKind::Fields(fields) => fields.iter().enumerate().try_fold([0; 3], |sum, (k, field)| {
                let (of_value, of_vector, of) = *field;
                let more = self.counted_components(shapes, of).filter(|_| [of_value, of_vector] == [k as u32; 2])?;
                Some([0, 1, 2].map(|bank| sum[bank] + more[bank]))
            }),
            _ if self.is_array_of_numbers(shapes, id) => Some([0, 0, 1]),
            _ => self.is_number(shapes, id).then_some([1, 0, 0]),
        }
    }
}
