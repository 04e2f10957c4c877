//! Symbolic value: what the check of shapes knows about the contents of a register.

use crate::ir::FunctionId;
use crate::value::{Bank, Cells, Ref};
use std::rc::Rc;

/// The contents of a register, as far as they are known before the program runs. A tensor has the right shape, and zeros
/// as scalars.
#[derive(Clone, Debug, Default)]
pub(super) enum SymbolicValue {
    /// The contents are not known.
    #[default]
    Unknown,
    /// A number.
    Number(f64),
    /// An integer or a Boolean.
    Integer(i64),
    /// A tensor, or no object.
    Reference(Ref),
    /// An array or a record.
    Object(Rc<SymbolicObject>),
    /// A function with the values that it captured.
    Closure(FunctionId, Rc<SymbolicObject>),
}

/// The components of an array or a record, as [`Cells`] have them.
#[derive(Clone, Debug, Default)]
pub(super) struct SymbolicObject {
    /// The number of elements.
    pub(super) len: usize,
    banks: [Vec<SymbolicValue>; 3],
}

impl SymbolicObject {
    /// Creates an object with the contents of cells.
    pub(super) fn of(cells: &Cells) -> SymbolicObject {
        let banks = [
            cells.f.iter().map(|number| SymbolicValue::Number(*number)).collect(),
            cells.i.iter().map(|integer| SymbolicValue::Integer(*integer)).collect(),
            cells.r.iter().map(|reference| SymbolicValue::of(reference.clone())).collect(),
        ];
        SymbolicObject { len: cells.len, banks }
    }

    /// Appends the components of an element, each with its bank.
    pub(super) fn append(&mut self, components: impl IntoIterator<Item = (Bank, SymbolicValue)>) {
        self.len += 1;
        for (bank, value) in components {
            self.banks[bank as usize].push(value);
        }
    }

    /// Returns a component.
    pub(super) fn component(&self, bank: Bank, index: usize) -> SymbolicValue {
        self.banks[bank as usize].get(index).cloned().unwrap_or_default()
    }

    /// Replaces a component.
    pub(super) fn set(&mut self, bank: Bank, index: usize, value: SymbolicValue) {
        if let Some(component) = self.banks[bank as usize].get_mut(index) {
            *component = value;
        }
    }

    /// Returns the cells, if all components are known.
    fn cells(&self) -> Option<Cells> {
        let [f, i, r] = &self.banks;
        let mut cells = Cells::empty();
        cells.len = self.len;
        for number in f {
            cells.f.push(number.number()?);
        }
        for integer in i {
            cells.i.push(integer.integer()?);
        }
        for reference in r {
            cells.r.push(reference.reference()?);
        }
        Some(cells)
    }
}

impl SymbolicValue {
    /// Creates the value for a reference.
    pub(super) fn of(reference: Ref) -> SymbolicValue {
        match reference {
            Ref::Cells(cells) => SymbolicValue::Object(Rc::new(SymbolicObject::of(&cells))),
            Ref::Null | Ref::Tensor(_) => SymbolicValue::Reference(reference),
            _ => SymbolicValue::Unknown,
        }
    }

    /// Returns the number, if it is known.
    pub(super) fn number(&self) -> Option<f64> {
        match self {
            SymbolicValue::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// Returns the integer, if it is known.
    pub(super) fn integer(&self) -> Option<i64> {
        match self {
            SymbolicValue::Integer(integer) => Some(*integer),
            _ => None,
        }
    }

    /// Returns the reference, if it is known with everything to which it refers.
    pub(super) fn reference(&self) -> Option<Ref> {
        match self {
            SymbolicValue::Reference(reference) => Some(reference.clone()),
            SymbolicValue::Object(object) => Some(Ref::Cells(Rc::new(object.cells()?))),
            _ => None,
        }
    }
}
