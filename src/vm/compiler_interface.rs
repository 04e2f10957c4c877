//! Compiler: the machine's interface to the session, which is a source of code and a reporter.

use crate::native::library::ExplainRequest;
use crate::value::shape::DescriptionId;
use crate::vm::diagnosis::kink::Kink;
use crate::vm::diagnosis::trace::Trace;
use crate::vm::fault::Fault;
use crate::vm::function_table::CodeSource;

/// Renders output that the machine cannot render itself: names, positions and types are known to the session only.
pub trait Reporter {
    /// Renders an explanation that a program requested, as the shapes of a picture. The list is empty when no names are
    /// known.
    fn explain(&mut self, trace: &Trace, kinks: &[Kink], request: &ExplainRequest) -> Vec<String> {
        let _ = (trace, kinks, request);
        vec![]
    }

    /// Renders the derivative of a function as a formula, as the shapes of a picture. `name` is the function's
    /// notation, `order` the order of the derivative.
    fn formula(&mut self, function: u32, name: &str, order: i64) -> Vec<String> {
        let _ = (function, name, order);
        vec![]
    }

    /// Returns the function that computes the description declared by a type; `inside` selects its form inside another value.
    ///
    /// # Errors
    /// When there is none, which is a bug.
    fn custom_description(&mut self, own: DescriptionId, inside: bool) -> Result<u32, Box<Fault>> {
        let _ = (own, inside);
        Err(Fault::internal("a type whose description was never compiled"))
    }
}

/// The services of the session that the machine uses.
pub trait Compiler: CodeSource + Reporter {}

impl<T: CodeSource + Reporter> Compiler for T {}
