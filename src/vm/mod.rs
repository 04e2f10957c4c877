//! Machine: register banks, frames, calls, the dispatch loop, limits, interruption.
//!
//! In: verified code ([`crate::bytecode`]), requested function by function through [`CodeSource`]; arguments as
//! components. Out: the components of the result, or a [`Fault`] in terms of the source text.
//!
//! **Frames** lie in four parallel stacks (numbers, slots, integers, references). A callee's first registers are its
//! caller's window, so arguments and results are not copied. Nothing uses the Rust stack: operators and sweeps that call
//! functions of the program are tasks (`state::task`).
//!
//! Promises: no run-time error, limit or interruption leaves the machine unusable; plain code never touches slots; the
//! machine never sees a type, only components, and shapes where a value is printed or compared. The modules of the
//! machine depend on each other in one direction only; `tests/suite/architecture.rs` has their order. The records to
//! explain and check derivatives are in `diagnosis`; the session renders them as a [`Reporter`].
//! Not here: recording (`tape`), the representation of values (`value`), the generation of code (`emit`).

mod compiled;
mod compiler_interface;
pub(crate) mod diagnosis;
mod dispatch;
pub(crate) mod exclusivity;
pub(crate) mod fault;
mod function_table;
mod fused;
mod machine_code;
mod native_call;
mod objects;
mod operator_cache;
pub(crate) mod operators;
mod recorder;
pub(crate) mod run;
pub(crate) mod state;
mod threaded;
mod transformed_code;

pub use crate::vm::fault::{BacktraceEntry, Fault, FaultKind, Remark};
pub use crate::vm::operators::check::finite_difference;
pub use crate::vm::state::limits::{Limits, share_of_machine};
pub use crate::vm::state::machine::Machine;
pub use crate::vm::state::task::{Callee, Next, Task};
pub use crate::vm::state::tier::CompileMode;
pub use compiler_interface::{Compiler, Reporter};
pub use diagnosis::kink::Kink;
pub use diagnosis::progress_reporter::{LoopProgress, ProgressReporter};
pub use diagnosis::trace::{Count, NodeTensors, Trace, TraceOperation, TraceRow, TracedTensor};
pub use function_table::CodeSource;
pub(crate) use threaded::translate;
pub use transformed_code::TransformKind;

#[cfg(test)]
mod tests;
