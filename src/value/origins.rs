//! Origins: the numbers that integers and strings in storage were computed from, while derivative code runs.
//!
//! An object has a table of origins, allocated when the first one is stored. Its keys are component and content, so
//! that two integers of one array are distinguished by their values wherever they are moved. Objects that share no
//! storage share no table, and a copy has a separate one.
//! Not here: the meaning of the numbers' slots (`tape`).

use super::{Bank, Ref, Slot};
use hashbrown::HashMap;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;
use std::hash::{DefaultHasher, Hash, Hasher};

/// The storage that contains the integer or string to which an operator refers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Storage {
    /// The global variables.
    Global,
    /// An array, a record, a box, an existential, or the captures of a function object.
    Object,
    /// The keys of a dictionary or set.
    Keys,
    /// The values of a dictionary.
    Values,
    /// The captures of the running function object.
    Captured,
    /// All components of an object, whatever its kind.
    Whole,
}

impl Storage {
    /// Whether an operator on this storage has the object as an operand.
    pub fn has_object(self) -> bool {
        !matches!(self, Storage::Global | Storage::Captured)
    }

    /// Whether the operands of an operator on this storage also specify the content of the component.
    pub fn is_content(self, banks: &[Bank]) -> bool {
        match self {
            Storage::Whole => banks.is_empty(),
            _ => banks == [Bank::I] || banks == [Bank::R],
        }
    }
}

/// The content of a component, which is a part of the key in a table of origins.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Content {
    /// The component is this integer.
    Integer(i64),
    /// The component is a string with this hash.
    Text(u64),
    /// The component has any content, and its index does not matter.
    Any,
}

/// A number from which an integer or string was computed: an origin of the integer or string.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Origin {
    /// The value of the number.
    pub value: f64,
    /// The tangent slot of the number.
    pub slot: Slot,
}

/// The origins of one integer or string: the numbers from which it was computed.
pub type Numbers = SmallVec<[Origin; 1]>;

type Table = HashMap<(u32, Content), Numbers>;

/// The origins of the integers and strings of an object.
#[derive(Clone, Debug, Default)]
pub struct Origins(Option<Box<Table>>);

impl Content {
    /// Returns the content of a reference component. Only strings are distinguished from each other.
    pub fn of(reference: &Ref) -> Option<Content> {
        let Ref::Text(text) = reference else { return None };
        let mut hasher = DefaultHasher::new();
        text[..].hash(&mut hasher);
        Some(Content::Text(hasher.finish()))
    }

    fn is_text(self) -> bool {
        matches!(self, Content::Text(_))
    }
}

impl Origins {
    /// Creates an empty table of origins.
    pub const fn new() -> Origins {
        Origins(None)
    }

    /// Whether no origin was ever stored in the table.
    #[inline]
    pub fn is_unused(&self) -> bool {
        self.0.is_none()
    }

    /// Returns the origins of the component `component` with the content `content`.
    pub fn get(&self, component: u32, content: Content) -> Numbers {
        let Some(table) = &self.0 else { return Numbers::new() };
        let kept = |component, content| table.get(&(component, content)).into_iter().flatten();
        kept(component, content).chain(kept(0, Content::Any)).copied().collect()
    }

    /// Returns all origins in the table.
    pub fn all(&self) -> Vec<Origin> {
        self.0.as_ref().map_or(vec![], |table| table.values().flatten().copied().collect())
    }

    /// Replaces the origins of the component `component` with the content `content`.
    pub fn set(&mut self, component: u32, content: Content, numbers: Numbers) {
        self.0.get_or_insert_default().insert((component, content), numbers);
    }

    /// Removes the origins of one integer or string: those of the component `component` with the content `content`.
    pub fn forget(&mut self, component: u32, content: Content) {
        if let Some(table) = &mut self.0 {
            table.retain(|(of, was), _| *of != component || was.is_text() != content.is_text());
        }
    }

    /// Removes all origins from the table.
    pub fn clear(&mut self) {
        self.0 = None;
    }

    /// Returns the number of pairs of component and content that have origins.
    pub fn count(&self) -> usize {
        self.0.as_ref().map_or(0, |table| table.len())
    }

    /// Retains the origins that satisfy a predicate, which may modify them.
    pub fn retain(&mut self, mut is_kept: impl FnMut(&mut Origin) -> bool) {
        if let Some(table) = &mut self.0 {
            table.retain(|_, numbers| {
                numbers.retain(|number| is_kept(number));
                !numbers.is_empty()
            });
        }
    }

    /// Adds the origins of some components from another table.
    pub fn merge(&mut self, from: &Origins, components: impl Iterator<Item = (u32, Content)>) {
        let Some(others) = &from.0 else { return };
        for item in components.chain([(0, Content::Any)]) {
            let Some(numbers) = others.get(&item) else { continue };
            let known = self.0.get_or_insert_default().entry(item).or_default();
            for number in numbers {
                if !known.iter().any(|other| other.slot == number.slot) {
                    known.push(*number);
                }
            }
        }
    }

    /// Replaces the slots of all origins; origins that become constant in every level are removed.
    pub fn change_slots(&mut self, mut change: impl FnMut(Slot) -> Slot) {
        self.retain(|number| {
            number.slot = change(number.slot);
            number.slot != Slot::NONE
        });
    }

    /// Whether the slot of some origin satisfies a predicate.
    pub fn any_slot(&self, mut is_wanted: impl FnMut(Slot) -> bool) -> bool {
        self.0.as_ref().is_some_and(|table| table.values().flatten().any(|number| is_wanted(number.slot)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: Slot = Slot { epoch: 1, payload: 1 };

    fn number(slot: Slot) -> Numbers {
        Numbers::from_elem(Origin { value: 2.0, slot }, 1)
    }

    #[test]
    fn origins_are_distinguished_by_component_and_content() {
        let mut origins = Origins::new();
        assert!(origins.is_unused());
        origins.set(0, Content::Integer(2), number(ONE));
        assert_eq!(origins.get(0, Content::Integer(2)).len(), 1);
        assert!(origins.get(0, Content::Integer(3)).is_empty() && origins.get(1, Content::Integer(2)).is_empty());
        let copy = origins.clone();
        origins.forget(0, Content::Integer(7));
        assert_eq!((origins.count(), copy.count()), (0, 1));
    }

    #[test]
    fn what_is_constant_is_forgotten() {
        let (mut origins, mut others) = (Origins::new(), Origins::new());
        origins.set(0, Content::Integer(2), number(ONE));
        others.merge(&origins, [(0, Content::Integer(2))].into_iter());
        assert!(others.any_slot(|slot| slot == ONE));
        others.change_slots(|_| Slot::NONE);
        assert_eq!((origins.count(), others.count()), (1, 0));
    }
}
