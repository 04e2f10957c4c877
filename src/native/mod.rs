//! The table of primitives: value, partial derivatives, transpose, domain, kink, documentation; and the native library.
//!
//! In: the name of a primitive as the prelude writes it (`double.sin`). Out: its number, and its entry: how the result
//! is computed, how it differentiates, what is said about it.
//!
//! Promises: a partial derivative is written once and is both machine code and a formula that differentiates again;
//! every entry is documented and tested by a walk over the table; both modes use the same partial derivatives, so they
//! agree at kinks too. Not here: functions on texts, arrays and files (`library`), what a level of differentiation does
//! with a partial derivative (`tape`).

mod arithmetic;
mod comparison;
pub mod field;
pub mod formula;
mod functions;
pub mod ids;
mod integer;
pub mod library;
pub mod partial;
pub mod primitive;
mod special;
pub mod table;
mod values;

pub use partial::{Expression, Partial};
pub use primitive::{Cost, Kink, OneSidedPartials, Primitive, PrimitiveId, Rule, Single, Trap, Value};
pub use table::{primitive, with_precision};

#[cfg(test)]
mod tests;
