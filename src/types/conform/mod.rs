//! Conformances: determines which types conform to which protocols, and by which witnesses.

mod asynchronous_sequence;
pub(crate) mod conformances;
pub(crate) mod failable_witness;
pub(crate) mod global_operator;
pub(crate) mod rethrowing_function;
pub(crate) mod stopping_version;
pub(crate) mod superclass;
pub(crate) mod witness;
