//! Vector components: the types whose tangent vectors have the same components as their values.

use super::{Shape, Shapes, TangentId, TangentKind, Tangents};
use crate::value::Bank;
use std::cell::RefCell;
use std::rc::Rc;

/// The results of [`Tangents::components_in_order`], by type: every call of adjoint code asks for them.
#[derive(Clone, Default, Debug)]
pub(super) struct SameComponents {
    known: RefCell<Vec<Option<Components>>>,
}

/// The banks of the components, in order; `None` for a type whose tangent vectors have other components.
type Components = Option<Rc<[Bank]>>;

impl SameComponents {
    fn get(&self, id: TangentId) -> Option<Components> {
        self.known.borrow().get(id.0 as usize).cloned().flatten()
    }

    fn set(&self, id: TangentId, components: Components) {
        let (mut known, index) = (self.known.borrow_mut(), id.0 as usize);
        if known.len() <= index {
            known.resize(index + 1, None);
        }
        known[index] = Some(components);
    }
}

/// Counts the components in each bank.
fn counted(components: &[Bank]) -> [usize; 3] {
    let mut counts = [0; 3];
    components.iter().for_each(|bank| counts[*bank as usize] += 1);
    counts
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

    /// Whether a type is an array of numbers of full precision, or an array of such arrays.
    fn is_nested_array_of_numbers(&self, shapes: &Shapes, id: TangentId) -> bool {
        match self.get(id).kind {
            TangentKind::Array(element) => {
                self.is_number(shapes, element) || self.is_nested_array_of_numbers(shapes, element)
            }
            _ => false,
        }
    }

    /// Returns the banks of the components of a type that consists of numbers, arrays of numbers and arrays of these, and
    /// whose tangent vectors have the same components in the same order; `None` for other types.
    pub fn components_in_order(&self, shapes: &Shapes, id: TangentId) -> Option<Rc<[Bank]>> {
        if let Some(known) = self.same_components.get(id) {
            return known;
        }
        let found = self.find_components(shapes, id);
        self.same_components.set(id, found.clone());
        found
    }

    /// Returns the numbers of these components in each bank.
    pub fn same_components(&self, shapes: &Shapes, id: TangentId) -> Option<[usize; 3]> {
        self.components_in_order(shapes, id).map(|components| counted(&components))
    }

    /// Returns the same numbers for a type that contains no arrays of arrays; `None` for other types.
    pub fn same_flat_components(&self, shapes: &Shapes, id: TangentId) -> Option<[usize; 3]> {
        self.append_components(shapes, id, &|id| self.is_array_of_numbers(shapes, id), &mut vec![])?;
        self.same_components(shapes, id)
    }

    fn find_components(&self, shapes: &Shapes, id: TangentId) -> Components {
        let mut found = vec![];
        self.append_components(shapes, id, &|id| self.is_nested_array_of_numbers(shapes, id), &mut found)?;
        let counts = counted(&found);
        let has_layout = |shape| {
            let layout = shapes.layout(shape);
            [layout.f, layout.i, layout.r].map(|n| n as usize) == counts
        };
        let tangent = self.get(id);
        (has_layout(tangent.value) && has_layout(tangent.vector)).then(|| found.into())
    }

    /// Appends the numbers and arrays in a type, as long as the fields of its tangent vectors correspond to its own.
    fn append_components(
        &self,
        shapes: &Shapes,
        id: TangentId,
        is_array: &dyn Fn(TangentId) -> bool,
        to: &mut Vec<Bank>,
    ) -> Option<()> {
        match &self.get(id).kind {
            TangentKind::Fields(fields) => fields.iter().enumerate().try_for_each(|(k, field)| {
                let (of_value, of_vector, of) = *field;
                self.append_components(shapes, of, is_array, to).filter(|()| [of_value, of_vector] == [k as u32; 2])
            }),
            _ if is_array(id) => {
                to.push(Bank::R);
                Some(())
            }
            _ if self.is_number(shapes, id) => {
                to.push(Bank::F);
                Some(())
            }
            _ => None,
        }
    }
}
