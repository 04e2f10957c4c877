//! stub
use super::NativeFunction;
pub(super) const TABLE: &[NativeFunction] = &[];
