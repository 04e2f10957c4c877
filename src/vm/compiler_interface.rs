//! Compiler interface: the services of the session for the machine, which are the compilation of code and the rendering
//! of explanations.

use crate::native::library::ExplainRequest;
use crate::value::shape::DescriptionId;
use crate::vm::diagnosis::kink::Kink;
use crate::vm::diagnosis::trace::Trace;
use crate::vm::fault::Fault;
use crate::vm::function_table::CodeSource;

/// The renderer of output that needs names, source locations and types, which only the session knows.
pub trait Reporter {
    /// Renders an explanation that a program requested, as the forms of a picture. The list is empty when no names are
    /// known.
    fn explain(&mut self, trace: &Trace, kinks: &[Kink], request: &ExplainRequest) -> Vec<String> {
        let _ = (trace, kinks, request);
        vec![]
    }

    /// Renders the derivative of a function as a formula, as the forms of a picture. `name` is the function's notation,
    /// `order` the order of the derivative.
    fn formula(&mut self, function: u32, name: &str, order: i64) -> Vec<String> {
        let _ = (function, name, order);
        vec![]
    }

    /// Returns the function that computes the description declared by a type; `inside` selects the form inside another
    /// value.
    ///
    /// # Errors
    /// Fails when there is no such function, which is a bug.
    fn custom_description(&mut self, own: DescriptionId, inside: bool) -> Result<u32, Box<Fault>> {
        let _ = (own, inside);
        Err(Fault::internal("a type whose description was never compiled"))
    }
}

/// The services of the session that the machine uses.
pub trait Compiler: CodeSource + Reporter {}

impl<T: CodeSource + Reporter> Compiler for T {}
