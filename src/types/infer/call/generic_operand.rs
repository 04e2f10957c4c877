//! Generic operands: operands that are instances of a generic type whose arguments are not known yet.

use crate::types::generics::unification;
use crate::types::infer::Infer;
use crate::types::infer::solver::pending_expression::{Pending, PendingKind};
use crate::types::model::ty::Type;
use crate::types::model::typed_tree::{Expr, ExprKind};

impl Infer<'_> {
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
