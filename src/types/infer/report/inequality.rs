//! Inequalities of other languages: a warning for `x ~= 4` of numbers, which is true for equal numbers here.

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::types::infer::Infer;
use crate::types::model::declaration_tables::Owner;
use crate::types::model::prelude_index::PRELUDE_FILE;
use crate::types::model::typed_tree::{Argument, Callee};

impl Infer<'_> {
    /// Warns about a number on the left side of `~=`, where a pattern is usually meant.
    pub(crate) fn check_inequality(&mut self, callee: &Callee, args: &[Argument]) {
        let ([Argument::Value(left), Argument::Value(right)], Callee::Static(function)) = (args, callee) else {
            return;
        };
        let data = self.cx.defs.function_data(function.function);
        let compares = data.is_prelude && data.owner == Owner::Module && &*data.base_name == "~=";
        if !compares || self.file == PRELUDE_FILE || !(self.is_int(&left.ty) || self.is_double(&left.ty)) {
            return;
        }
        let between = Span::new(left.span.end, right.span.start);
        let written = self.cx.sink.source_text(between);
        let Some(at) = written.find("~=") else { return };
        let place = Span::new(between.start + at as u32, between.start + at as u32 + 2);
        let message = "'~=' matches a pattern: it is true if the numbers are equal";
        let warning = Diagnostic::warning(Code::OtherMeaning, place, message)
            .fix("compare for inequality with '!='", place, "!=")
            .fix("compare up to rounding errors with '≈'", place, "≈");
        self.cx.sink.report(warning);
    }
}
