//! dscript: a differentiable programming language for scripts.
//!
//! Text comes in at the top ([`session`]) and numbers come out at the bottom ([`vm`]); `ARCHITECTURE.md` draws the
//! house, and `tests/suite/architecture.rs` keeps the drawing true.

pub mod bytecode;
pub mod diagnostic;
pub mod diff;
pub mod emit;
pub mod front;
pub mod ir;
pub mod native;
pub mod plot;
pub mod session;
pub mod source;
pub mod stop;
pub mod syntax;
pub mod tape;
pub mod types;
pub mod value;
pub mod vm;

pub use session::Session;
