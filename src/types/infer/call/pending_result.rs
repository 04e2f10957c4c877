//! The result type of a pending call: what all functions that may be called return.

use crate::types::conform::superclass;
use crate::types::generics::unification;
use crate::types::infer::Infer;
use crate::types::infer::call::candidates::Candidate;
use crate::types::infer::solver::pending_expression::{Pending, PendingKind};
use crate::types::model::ty::Type;
use crate::types::model::typed_tree::{Expr, ExprKind};
use crate::types::names::name_lookup;

impl Infer<'_> {
    /// Returns the type that all candidates return, if it is known: that of `Vector([k, 1])`, whichever initializer is called.
    pub(super) fn common_result(&mut self, candidates: &[Candidate]) -> Option<Type> {
        let (first, others) = candidates.split_first()?;
        let result = self.result_on_receiver(first);
        let is_open = |ty: &Type| matches!(ty, Type::Var(_) | Type::Param(_) | Type::Associated(..) | Type::Error);
        // An inherited initializer creates an instance of the subclass.
        let is_value = matches!(&result, Type::Nominal(n, _) if !superclass::is_class(self.cx, *n));
        let is_known = is_value && !result.any(&mut |ty| is_open(ty));
        (is_known && others.iter().all(|other| self.result_on_receiver(other) == result)).then_some(result)
    }

    /// Returns the type of an optional with an unknown payload, if all candidates return optionals.
    pub(super) fn common_optional(&mut self, candidates: &[Candidate]) -> Option<Type> {
        let is_optional = |infer: &mut Self, candidate| {
            let result = infer.result_on_receiver(candidate);
            name_lookup::is_optional(infer.cx, &result)
        };
        if !candidates.iter().all(|candidate| is_optional(self, candidate)) {
            return None;
        }
        let payload = self.cx.vars.fresh();
        Some(name_lookup::applied(self.cx, "Optional", &[payload]))
    }

    /// Unifies the type of a pending call with the generic type that all candidates return: `Tensor(max(x, 1))` is a
    /// tensor, of whatever scalars, so that `2 * Tensor(max(x, 1))` is not a product of numbers.
    pub(crate) fn take_generic_result(&mut self, value: &Expr) {
        let ExprKind::Pending(i) = value.kind else { return };
        let Some(Pending { kind: PendingKind::Overload { candidates, .. }, result, span, .. }) =
            &self.pending[i as usize]
        else {
            return;
        };
        let (candidates, result, span) = (candidates.clone(), result.clone(), *span);
        let Some((first, others)) = candidates.split_first() else { return };
        let common = self.result_on_receiver(first);
        let is_generic = matches!(&common, Type::Nominal(_, args) if !args.is_empty());
        let is_open = |ty: &Type| matches!(ty, Type::Param(_) | Type::Associated(..) | Type::Error);
        if is_generic
            && !common.any(&mut |ty| is_open(ty))
            && others.iter().all(|other| self.result_on_receiver(other) == common)
        {
            unification::unify(self.cx, &result, &common, span);
        }
    }
}
