//! Array parameters: suggests the type of an array for a parameter without a type annotation, which is a number by
//! default, if the function uses the parameter as an array.

use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::types::infer::Infer;

impl Infer<'_> {
    /// Adds the edit that declares a parameter without a type annotation as an array, if the expression at `place`
    /// names such a parameter.
    pub(crate) fn with_array_parameter(&mut self, diagnostic: Diagnostic, place: Span) -> Diagnostic {
        let name = self.cx.sink.source_text(place);
        let mut functions = self.frames.iter().rev().filter_map(|frame| frame.function);
        let found = functions.find_map(|f| {
            let params = &self.cx.defs.function_data(f).ast_params;
            params.iter().find(|p| *p.name.name == *name && p.ty.is_none()).map(|p| p.name.span)
        });
        match found {
            Some(at) => diagnostic.fix(
                format!(
                    "the type of '{name}' is not written, so it is a number; for an array of numbers, write the type"
                ),
                at.after(),
                ": [Double]",
            ),
            None => diagnostic,
        }
    }
}
