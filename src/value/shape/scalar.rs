//! Scalar kinds: the types whose values are a single string, integer or number, for which native functions have fast
//! paths.

use super::{Shape, ShapeId, Shapes};
use serde::{Deserialize, Serialize};

/// The kind of a type, if its values are a single component with the standard description, equality and hash.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum ScalarKind {
    /// A string or a character.
    Text,
    /// An integer, except for one that is stored as the bits of an unsigned integer.
    Int,
    /// A number with double precision.
    Double,
    /// Any other type.
    Other,
}

impl Shapes {
    /// Returns the scalar kind of a shape.
    pub fn scalar_kind(&self, id: ShapeId) -> ScalarKind {
        match self.get(id) {
            _ if self.own(id).is_some() => ScalarKind::Other,
            Shape::String | Shape::Character => ScalarKind::Text,
            Shape::Int { bits: 64, signed: false } => ScalarKind::Other,
            Shape::Int { .. } => ScalarKind::Int,
            Shape::Double => ScalarKind::Double,
            _ => ScalarKind::Other,
        }
    }
}
