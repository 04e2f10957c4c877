//! Edits of quotients: removes the edits of warnings about integer quotients that do not compile, and finds the quotients
//! of an entered text that must be integers.

use super::foreign_code::{Effort, Search};
use super::foreign_edit::edited;
use crate::diagnostic::{Code, Diagnostic, Help};
use crate::session::run::implicit_declaration;
use crate::session::{Input, Session};
use crate::source::Span;
use crate::types::TypeContext;

/// The maximum size of a module, in bytes, that is compiled again to check edits.
const MAX_BYTES: usize = 1 << 16;
/// The maximum number of quotients of an entered text of which notes are printed.
const MAX_NOTED: usize = 8;

impl Session {
    /// Removes the edits of warnings about integer quotients after which the module does not compile, such as
    /// `a[1.0/2]`. `before` is the context before the module was entered.
    pub(super) fn check_quotient_edits(
        &mut self,
        before: &TypeContext,
        inputs: &[Input],
        wants_value: bool,
        diagnostics: &mut [Diagnostic],
    ) {
        let bytes = inputs.iter().map(|input| input.text.len()).sum::<usize>();
        if bytes > MAX_BYTES {
            return;
        }
        let mut effort = Effort::new(inputs);
        for diagnostic in diagnostics.iter_mut().filter(|d| d.code == Code::TruncatedQuotient) {
            let Some((input, start)) = self.input_of(inputs, diagnostic.primary.span) else { continue };
            let search = Search::new(before, inputs, input, wants_value);
            let is_right = |help: &Help| !effort.use_attempt() || self.compiles_with(&search, start, &help.edits);
            diagnostic.helps.retain(is_right);
        }
    }

    /// Returns the offsets of the quotients of an entered text that must be integers: the text does not compile if such a
    /// quotient is a `Double`. `before` is the context before the text was entered.
    pub(crate) fn integer_quotients(&mut self, before: &TypeContext, input: Input) -> Vec<u32> {
        let noted = std::mem::take(&mut self.context.module.noted_quotients);
        let inputs = [input];
        let mut integers = vec![];
        for (index, quotient) in noted.iter().enumerate() {
            let start = quotient.span.start - quotient.offset;
            let edit = [(quotient.span, quotient.edit.clone())];
            let search = Search::new(before, &inputs, 0, true);
            let check = |session: &mut Session| {
                Ok(session.compiles_with(&search, start, &edit) || session.redeclares_with(&search, start, &edit))
            };
            let is_right = index < MAX_NOTED && self.stoppable("compiling", check).is_ok_and(|compiles| compiles);
            if !is_right {
                integers.push(quotient.offset);
            }
        }
        integers
    }

    /// Whether an entered text that assigns to a variable which an assignment declared compiles with sorted edits.
    fn redeclares_with(&mut self, search: &Search, start: u32, edits: &[(Span, String)]) -> bool {
        if !implicit_declaration::assigns_one_of(search.inputs[search.input].text, &self.assigned) {
            return false;
        }
        let outer = std::mem::replace(&mut self.redeclares_assigned, true);
        let compiles = self.compiles_with(search, start, edits);
        self.redeclares_assigned = outer;
        compiles
    }

    /// Whether an input, which begins at the offset `start`, compiles with sorted edits.
    fn compiles_with(&mut self, search: &Search, start: u32, edits: &[(Span, String)]) -> bool {
        let Some(text) = edited(search.inputs[search.input].text, start, edits) else { return true };
        self.compiled_again(search, &text).is_some_and(|(errors, ..)| errors.is_empty())
    }
}
