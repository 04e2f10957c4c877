//! Tape: manages levels of differentiation, their recordings, and the sweeps.
//!
//! In: numbers with their slots ([`Num`]), and the primitives that are applied to them. Out: numbers whose slots
//! describe how they vary, tapes, and the linear maps that tapes represent.
//!
//! A level in reverse mode records a Wengert tape: one [`Node`] per operation, with the partial derivatives of its
//! result. `y = x · sin x` at `x = 2` has three nodes, a leaf and two records:
//!
//! | node | operation | operands | partial derivatives |
//! | --- | --- | --- | --- |
//! | 1 | `x`, a leaf | | |
//! | 2 | `s = sin x` | 1 | `cos 2` |
//! | 3 | `y = x · s` | 1, 2 | `sin 2`, `2` |
//!
//! In reverse, with the adjoint 1 for `y`: `s̄ = 2`, `x̄ = sin 2 + 2 · cos 2`. Forward, with the tangent 1 for `x`: `ṡ
//! = cos 2`, `ẏ = sin 2 + 2 · cos 2`.
//!
//! ```
//! use dscript::native::primitive;
//! use dscript::tape::{Direction, Levels, LinearMap, Num};
//!
//! let (sin, mul) = (primitive("double.sin").unwrap(), primitive("double.mul").unwrap());
//! let mut levels = Levels::new(1 << 30);
//! levels.open(Direction::Reverse).unwrap();
//! let x = levels.leaf(Num::constant(2.0)).unwrap();
//! let s = levels.record(sin, &[x]).unwrap();
//! let y = levels.record(mul, &[x, s]).unwrap();
//! let map = LinearMap::close(&mut levels, &mut [y]);
//!
//! let expected = 2f64.sin() + 2.0 * 2f64.cos();
//! let adjoints = map.pull_back(&mut levels, &[Num::constant(1.0)]).unwrap();
//! assert_eq!(adjoints[0].value, expected);
//! let tangents = map.push_forward(&mut levels, &[Num::constant(1.0)]).unwrap();
//! assert_eq!(tangents[0].value, expected);
//! ```
//!
//! Promises: derivatives nest in any mix, because an operation belongs to the innermost live level among its operands
//! and its partial derivatives are numbers of the outer levels; a tape is written once, and swept any number of times;
//! nothing recurses over a tape; a zero adjoint is not propagated.
//! Not here: partial derivatives (`native`), the decomposition of values into numbers (`value::walk`), calls of the
//! user's own functions (`vm`): a sweep that needs such a call stops and requests it.

mod calls;
mod column;
mod deferred_factors;
pub mod escape;
mod flat_results;
mod general_rule;
pub mod levels;
pub mod linear_map;
mod listing;
mod live_sweep;
pub mod node;
pub mod observer;
pub mod recording;
mod scalar_product;
pub mod step_observer;
pub mod sweep;
mod taylor_series;
mod tensor;
mod tied_masks;
mod value_stack;
pub mod wide_node;

#[cfg(test)]
mod tests;

pub use levels::{Direction, Levels, Mode};
pub use linear_map::{LinearMap, UnsizedTranspose};
pub use node::{Node, RecordError};
pub use observer::{NonFiniteScalar, ObservedStep, Observer, ObserverOptions, TensorPart};
pub use recording::Tape;
pub use sweep::{Progress, Sweep};
pub use tensor::{non_finite, tangent_seed, tensor_vector, vector_number};
pub use value_stack::ValueStack;
pub use wide_node::{Block, Call, CallKind, Template, Wide, WideKind};

use crate::value::Slot;

/// A number with its slot.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Num {
    /// The value of the number.
    pub value: f64,
    /// The tangent slot of the number.
    pub slot: Slot,
}

impl Num {
    /// Returns a number that is constant in every level.
    #[inline]
    pub const fn constant(value: f64) -> Num {
        Num { value, slot: Slot::NONE }
    }
}
