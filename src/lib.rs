//! dscript: a differentiable programming language for scripts.
//!
//! Source text enters through [`session`], and [`vm`] runs the compiled program; `ARCHITECTURE.md` describes the
//! modules and their dependencies, and `tests/suite/architecture.rs` checks this description.

pub mod allocator;
pub mod bytecode;
pub mod cancel;
pub mod diagnostic;
pub mod diff;
pub mod emit;
pub mod front;
pub mod ir;
pub mod jit;
pub mod native;
pub mod plot;
pub mod session;
pub mod source;
pub mod syntax;
pub mod tape;
pub mod tensor;
pub mod types;
pub mod value;
pub mod vm;

pub use session::Session;
