//! Shapes: errors about shapes of tensors that are known before the program runs, and the origins of the shapes in
//! messages.
//!
//! In: the graphs of a program, and faults. Out: diagnostics with the source locations at which the operands were created.
//!
//! Promises: an error is reported only for an operation that fails whenever it is reached; an operation whose operands
//! are not known is not reported.
//! Not here: the rules that the shapes must obey (`crate::native::tensor`, which executes the operations).

mod fitting_product;
mod origin;
mod post_dominator;
mod symbolic_execution;
mod symbolic_frame;
mod symbolic_value;

use crate::diagnostic::{Code, Diagnostic};
use crate::ir::{FunctionId, Op};
use crate::session::Session;
use crate::source::Span;
use crate::vm::Fault;
use symbolic_execution::{Mismatch, SymbolicExecution};

impl Session {
    /// Returns the errors in operations whose operands are known to have shapes that do not fit, in the script and in the
    /// functions from `first` on.
    pub(in crate::session) fn check_shapes(&self, script: FunctionId, first: usize) -> Vec<Diagnostic> {
        let functions = self.program.functions.get(first..).unwrap_or_default().iter().flatten();
        let steps = functions.flat_map(|function| &function.blocks).flat_map(|block| &block.instructions);
        if !steps.into_iter().any(|step| matches!(step.op, Op::Native { name, .. } if name.starts_with("tensor."))) {
            return vec![];
        }
        let mut execution = SymbolicExecution::new(&self.program);
        let own = (first..self.program.functions.len())
            .map(|id| FunctionId(id as u32))
            .filter(|id| *id != script && self.program.function(*id).is_some_and(|function| !function.is_prelude));
        let mut found: Vec<Diagnostic> = vec![];
        for id in std::iter::once(script).chain(own) {
            let Err(mismatch) = execution.run(id) else { continue };
            let Mismatch { span, failure, origins } = *mismatch;
            if found.iter().all(|diagnostic| diagnostic.primary.span != span) && !self.sources.is_prelude(span) {
                let diagnostic = Diagnostic::error(Code::KnownShapes, span, failure.message);
                found.push(self.with_origins(diagnostic, &failure.shapes, &origins));
            }
        }
        found
    }

    /// Adds the shapes of the operands of a failed operation to its diagnostic, at the locations where the operands were
    /// created.
    pub(in crate::session) fn with_origins_of(&self, diagnostic: Diagnostic, fault: &Fault) -> Diagnostic {
        let Some(site) = origin::failed_step(&self.program, fault.span) else { return diagnostic };
        let spans: Vec<Span> = fault.backtrace.iter().skip(1).map(|call| call.span).collect();
        let calls = origin::call_sites(&self.program, site.0, &spans);
        let origins = origin::origins(&self.program, site, &calls);
        self.with_origins(diagnostic, &fault.shapes, &origins)
    }

    fn with_origins(&self, diagnostic: Diagnostic, shapes: &[String], origins: &[Span]) -> Diagnostic {
        // Other operands than tensors have references, too.
        if shapes.len() != origins.len() {
            return diagnostic;
        }
        let at = diagnostic.primary.span;
        let fitting = fitting_product::fitting_products(self.sources.text(at), shapes);
        let diagnostic = match fitting.as_slice() {
            [] => diagnostic,
            [one] => diagnostic.help(format!("this fits: {one}")),
            several => diagnostic.help(format!("one of these fits: {}", several.join(", or "))),
        };
        shapes.iter().zip(origins).fold(diagnostic, |diagnostic, (shape, origin)| {
            let is_informative = *origin != Span::default() && *origin != at && !self.sources.is_prelude(*origin);
            let is_new = diagnostic.secondary.iter().all(|label| label.span != *origin);
            if is_informative && is_new { diagnostic.also(*origin, shape.clone()) } else { diagnostic }
        })
    }
}
