//! Uncountable ranges: uses of a range of `Double`s as a sequence.

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::types::infer::Infer;
use crate::types::model::ty::Type;
use crate::types::names::name_lookup;

impl Infer<'_> {
    /// Returns the diagnostic of a range of floating-point numbers that is used as a sequence.
    pub(crate) fn uncountable_range(&mut self, ty: &Type, protocol: &str, span: Span) -> Option<Diagnostic> {
        let Type::Nominal(n, args) = ty else { return None };
        let is_range = ["ClosedRange", "Range"].iter().any(|name| *n == name_lookup::library_nominal(self.cx, name));
        let bound = self.show(args.first()?);
        if !is_range || !matches!(&*bound, "Double" | "Float") || !matches!(protocol, "Sequence" | "Collection") {
            return None;
        }
        let shown = self.show(ty);
        let message = format!("a '{shown}' has no elements: between two numbers, there are always others");
        let diagnostic = Diagnostic::error(Code::NotConforming, span, message);
        Some(diagnostic.help("numbers at equal distances are 'stride(from: 0.0, through: 3.0, by: 0.5)'"))
    }
}
