//! Tensors on tapes: the recording of operations of tensors, and the propagation of their adjoints and tangents.

mod recording;
mod sweep;

pub use recording::{tangent_seed, tensor_vector, vector_number};
