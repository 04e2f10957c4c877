//! Vector components: the types whose tangent vectors have the same components as their values.

use super::{Shape, Shapes, TangentId, TangentKind, Tangents};
use crate::value::Bank;
use std::cell::RefCell;
use std::rc::Rc;

/// The components of a type whose tangent vectors have the same components in the same order.
#[derive(Debug)]
pub struct SameComponents {
    /// The banks of the components: numbers, and arrays of numbers.
    pub order: Box<[Bank]>,
    /// The number of components that are numbers.
    pub numbers: usize,
    /// The number of components that are arrays.
    pub references: usize,
}

/// The results of [`Tangents::same_components`], by type: every call of adjoint code asks for them.
#[derive(Clone, Default, Debug)]
pub(super) struct KnownComponents {
    known: RefCell<Vec<Option<Found>>>,
}

/// The components of a type; `None` for a type whose tangent vectors have other components.
type Found = Option<Rc<SameComponents>>;

impl KnownComponents {
    fn get(&self, id: TangentId) -> Option<Found> {
        self.known.borrow().get(id.0 as usize).cloned().flatten()
    }

    /// Whether a type has such components; `None` if it was not requested before.
    fn has(&self, id: TangentId) -> Option<bool> {
        self.known.borrow().get(id.0 as usize)?.as_ref().map(Option::is_some)
    }

    fn set(&self, id: TangentId, components: Found) {
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

    /// Whether a type is an array of numbers of full precision, or an array of such arrays.
    fn is_nested_array_of_numbers(&self, shapes: &Shapes, id: TangentId) -> bool {
        match self.get(id).kind {
            TangentKind::Array(element) => {
                self.is_number(shapes, element) || self.is_nested_array_of_numbers(shapes, element)
            }
            _ => false,
        }
    }

    /// Returns the components of a type that consists of numbers, arrays of numbers and arrays of these, and whose tangent vectors
    /// have the same components in the same order; `None` for other types.
    pub fn same_components(&self, shapes: &Shapes, id: TangentId) -> Option<Rc<SameComponents>> {
        if let Some(known) = self.same_components.get(id) {
            return known;
        }
        let found = self.find_components(shapes, id).map(Rc::new);
        self.same_components.set(id, found.clone());
        found
    }

    /// Whether a type consists of numbers, arrays of numbers and arrays of these, and its tangent vectors have the same components.
    pub fn has_same_components(&self, shapes: &Shapes, id: TangentId) -> bool {
        self.same_components.has(id).unwrap_or_else(|| self.same_components(shapes, id).is_some())
    }

    /// Returns the same components for a type that contains no arrays of arrays; `None` for other types.
    pub fn same_flat_components(&self, shapes: &Shapes, id: TangentId) -> Option<Rc<SameComponents>> {
        self.append_components(shapes, id, &|id| self.is_array_of_numbers(shapes, id), &mut vec![])?;
        self.same_components(shapes, id)
    }

    fn find_components(&self, shapes: &Shapes, id: TangentId) -> Option<SameComponents> {
        let mut order = vec![];
        self.append_components(shapes, id, &|id| self.is_nested_array_of_numbers(shapes, id), &mut order)?;
        let references = order.iter().filter(|bank| **bank == Bank::R).count();
        let numbers = order.len() - references;
        let has_layout = |shape| {
            let layout = shapes.layout(shape);
            [layout.f, layout.i, layout.r].map(|n| n as usize) == [numbers, 0, references]
        };
        let tangent = self.get(id);
        let is_same = has_layout(tangent.value) && has_layout(tangent.vector);
        is_same.then(|| SameComponents { order: order.into(), numbers, references })
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
