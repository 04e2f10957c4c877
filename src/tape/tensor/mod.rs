//! Tensors on tapes: the recording of operations of tensors, and the propagation of their adjoints and tangents.

mod kinks;
mod non_finite;
mod recording;
mod sweep;

pub use non_finite::non_finite;
pub use recording::{tangent_seed, tensor_vector, vector_number};
