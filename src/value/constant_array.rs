//! Constant arrays: the elements of an array literal of constants.

use super::Cells;
use serde::{Deserialize, Serialize};

/// The elements of a constant array literal. Each element has one component.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Constants {
    /// The elements are numbers.
    Numbers(Vec<f64>),
    /// The elements are integers or Booleans.
    Integers(Vec<i64>),
}

impl Constants {
    /// Returns the number of elements in the literal.
    pub fn len(&self) -> usize {
        match self {
            Constants::Numbers(all) => all.len(),
            Constants::Integers(all) => all.len(),
        }
    }

    /// Whether the literal has no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Creates an array that contains the elements of the literal.
    pub fn cells(&self) -> Cells {
        let mut cells = Cells::empty();
        cells.len = self.len();
        match self {
            Constants::Numbers(all) => cells.f.extend_from_slice(all),
            Constants::Integers(all) => cells.i.extend_from_slice(all),
        }
        cells
    }
}

/// Formats the first few elements of the literal, as in a listing.
impl std::fmt::Display for Constants {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        const MAX_SHOWN: usize = 8;
        let some: Vec<String> = match self {
            Constants::Numbers(all) => all.iter().take(MAX_SHOWN).map(|x| format!("{x:?}")).collect(),
            Constants::Integers(all) => all.iter().take(MAX_SHOWN).map(ToString::to_string).collect(),
        };
        let more = if self.len() > MAX_SHOWN { ", …" } else { "" };
        write!(f, "[{}{more}]", some.join(", "))
    }
}
