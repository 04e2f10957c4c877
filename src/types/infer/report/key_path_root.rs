//! Roots of key paths: reports a key path of one type that is applied to a value of another type.

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::types::infer::Infer;
use crate::types::infer::call::arguments::ArgNode;
use crate::types::infer::call::candidates::{Candidate, Target};
use crate::types::model::display::show;
use crate::types::model::ty::Type;
use crate::types::model::typed_tree::Expr;
use crate::types::names::name_lookup;

impl Infer<'_> {
    /// Reports a key path of a known root that only the subscript for key paths of unknown roots accepts: the result would
    /// always be `nil`.
    pub(crate) fn refused_key_path(&mut self, candidate: &Candidate, args: &[ArgNode], span: Span) -> Option<Expr> {
        let (Target::Function(f), [arg]) = (&candidate.target, args) else { return None };
        let data = self.cx.defs.function_data(*f);
        if !data.is_prelude || arg.label.as_ref().is_none_or(|label| &**label != "keyPath") {
            return None;
        }
        let any = name_lookup::applied(self.cx, "AnyKeyPath", &[]);
        let params = self.candidate_params(candidate);
        if params.first().is_none_or(|param| param.ty != any) {
            return None;
        }
        let given = self.known(&arg.ready.as_ref()?.ty)?;
        let Type::Nominal(_, generics) = &given else { return None };
        let root = generics.first()?;
        let base = candidate.receiver.as_ref()?.ty.clone();
        let (root, base) = (show(self.cx, root), show(self.cx, &base));
        let message = format!("a key path of '{root}' cannot be applied to a value of type '{base}'");
        self.error(Diagnostic::error(Code::NoOverload, span, message));
        Some(self.error_expr(span))
    }
}
