//! dscript: a differentiable programming language for scripts.
//!
//! Text comes in at the top ([`session`]) and numbers come out at the bottom ([`vm`]); `ARCHITECTURE.md` draws the
//! house, and `tests/architecture.rs` keeps the drawing true.

pub mod diagnostic;
pub mod ir;
pub mod native;
pub mod source;
pub mod syntax;
pub mod types;
pub mod value;

