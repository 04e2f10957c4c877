//! Native functions: the table of primitives (value, partial derivatives, domain, kinks, documentation), and the
//! library.
//!
//! In: the name of a primitive as the prelude writes it (`double.sin`). Out: the id of the primitive, and its entry:
//! how its result is computed, its partial derivatives, its documentation.
//!
//! Promises: a partial derivative is written once, and serves as machine code and as a formula that can be
//! differentiated again; every entry is documented and tested by a loop over the table; both modes use the same partial
//! derivatives, so they agree at kinks too.
//! Not here: functions on strings, arrays and files (`library`), and how a level of differentiation uses a partial
//! derivative (`tape`).

mod arithmetic;
mod comparison;
mod elementary_functions;
pub mod field;
pub mod formula;
mod integer;
pub mod library;
mod math;
pub mod partial;
pub mod primitive;
pub mod primitive_ids;
pub mod primitive_table;
mod special_functions;
pub mod tensor;

pub use partial::{Expression, Partial};
pub use primitive::{Cost, Kink, OneSidedPartials, Primitive, PrimitiveId, Rule, Single, Trap, Value};
pub use primitive_table::{primitive, with_precision};

#[cfg(test)]
mod tests;
