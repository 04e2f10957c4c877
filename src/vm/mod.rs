//! Register banks, frames, calls, the dispatch loop, limits, interruption.
//!
//! In: verified code ([`crate::bytecode`]), asked for function by function through [`Compiler`]; arguments as components.
//! Out: the components of the result, or a [`Fault`] in terms of the program's text.
//!
//! **Frames** lie in four parallel stacks (numbers, slots, integers, references). A callee's first registers are its
//! caller's window, so arguments and results are not copied. Nothing uses the Rust stack: operators and sweeps that call
//! functions of the program are [tasks](task).
//!
//! Promises: no run-time error, limit or interruption leaves the machine unusable; plain code never touches slots; the
//! machine never sees a type, only components, and shapes where a value is printed or compared.
//! Not here: what is recorded (`tape`), what values look like (`value`), how code is made (`emit`).

mod dispatch;
mod ending;
mod exclusive;
mod fault;
mod functions;
mod joined;
mod limits;
mod loops;
mod machine;
mod native;
mod objects;
mod onlooker;
mod operators;
mod record;
mod record_joined;
mod registers;
mod run;
mod stacks;
pub mod task;
mod threaded;
mod trial;
mod window;

pub use fault::{Fault, Kind, Remark, Running, bytes};
pub use functions::{Compiler, Swept};
pub use limits::{Limits, share_of_machine};
pub use machine::Machine;
pub use onlooker::{Onlooker, Passage};
pub use operators::{Count, Did, Kink, Row, Trace, difference};
pub use task::{Next, Target, Task};

#[cfg(test)]
mod tests;
