//! Conformances: which type conforms to which protocol, by which witnesses.

pub(crate) mod check;
pub(crate) mod conformances;
pub(crate) mod failable_witness;
pub(crate) mod rethrows;
pub(crate) mod witness;
