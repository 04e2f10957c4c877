//! Vector components: the types whose tangent vectors have the same components as their values.

use super::{Shape, Shapes, TangentId, TangentKind, Tangents};

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
