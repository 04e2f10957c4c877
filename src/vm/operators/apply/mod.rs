//! Application: applies differential operators and linear maps, by sweeps or by adjoint code.

pub(crate) mod adjoint_code;
pub(crate) mod batch;
pub(crate) mod differential;
pub(crate) mod directional_derivative;
pub(crate) mod linear_map;
pub(crate) mod linear_recording;
pub(crate) mod linearization;
pub(crate) mod matrix;
pub(crate) mod opaque_vector;
pub(crate) mod sized_transpose;
pub(crate) mod small_jacobian;
pub(crate) mod stop_gradient;
pub(crate) mod sweep;
pub(crate) mod taylor_polynomial;
pub(crate) mod window_call;
pub(crate) mod window_jacobian;
