//! The table of primitives: value, slopes, transpose, domain, kink, documentation; and the native library.
//!
//! In: the name of a primitive as the prelude writes it (`double.sin`). Out: its number, and its entry: how the result is
//! computed, how it differentiates, what is said about it.
//!
//! Promises: a slope is written once and is both machine code and a formula that differentiates again; every entry is
//! documented and tested by a walk over the table; both modes use the same slopes, so they agree at kinks too.
//! Not here: functions on texts, arrays and files (`library`), what a level of differentiation does with a slope
//! (`tape`).

mod arithmetic;
mod comparison;
pub mod field;
pub mod formula;
mod functions;
mod integer;
pub mod library;
pub mod primitive;
mod slopes;
mod special;
pub mod table;
mod values;

pub use primitive::{Corner, Kink, Primitive, PrimitiveId, Rule, Slopes, Trap, Value, product_slope};
pub use table::{Arithmetic, primitive};

#[cfg(test)]
mod tests;
