//! Operand beside an `Int`: an operand such as `sqrt(2)` or `xs.reduce(0, +)` has a type of its own, which the other
//! operand must not decide.
//!
//! The operand is then inferred as if it stood alone, so that the `Int` is converted to `Double` where that is needed.

use crate::types::generics::unification;
use crate::types::infer::Infer;
use crate::types::infer::call::arguments::ArgNode;
use crate::types::infer::solver::pending_expression::{Pending, PendingKind};
use crate::types::names::name_lookup;

impl Infer<'_> {
    /// Infers an operand whose type is not known beside an `Int`, unless it can be an `Int`. The operands were inferred
    /// since the pending entry `from` and the type variable `vars`.
    pub(crate) fn resolve_beside_int(&mut self, args: &[ArgNode], from: usize, vars: u32) {
        let [Some(left), Some(right)] = [args.first(), args.get(1)].map(|arg| arg.and_then(|arg| arg.ready.clone()))
        else {
            return;
        };
        let is_resolved = match (self.known(&left.ty), self.known(&right.ty)) {
            (Some(_), None) => !self.is_int(&left.ty),
            (None, Some(_)) => !self.is_int(&right.ty),
            _ => true,
        };
        if is_resolved || !self.has_type_of_its_own(from) {
            return;
        }
        self.resolve_pending(from, vars);
    }

    /// Infers an operand whose type is not known as if it stood alone, if it is the result of a call. The operand was
    /// inferred since the pending entry `from` and the type variable `vars`.
    pub(crate) fn resolve_operand(&mut self, operand: &ArgNode, from: usize, vars: u32) {
        let is_open = operand.ready.clone().is_some_and(|ready| self.known(&ready.ty).is_none());
        if is_open && self.waiting.range(from..).next().is_some() {
            self.resolve_pending(from, vars);
        }
    }

    /// Whether the pending entries since `from` decide a type other than `Int`.
    fn has_type_of_its_own(&mut self, from: usize) -> bool {
        let int = name_lookup::simple(self.cx, "Int");
        let waiting: Vec<usize> = self.waiting.range(from..).copied().collect();
        waiting.into_iter().any(|i| match self.pending[i].clone() {
            Some(Pending { kind: PendingKind::Overload { candidates, args, .. }, result, span, .. }) => {
                let result = unification::shallow(self.cx, &result);
                // The payload of an optional is an operand, too, as in `Double(text)! / n`.
                let payload = name_lookup::optional_payload(self.cx, &result);
                let int = match &payload {
                    Some(_) => name_lookup::applied(self.cx, "Optional", std::slice::from_ref(&int)),
                    None => int.clone(),
                };
                let is_open = self.known(&payload.unwrap_or(result)).is_none();
                // Functions among the arguments decide the result.
                let takes_function = args.iter().any(|arg| arg.ready.is_none());
                is_open
                    && (takes_function
                        || !candidates.iter().any(|c| self.try_candidate(c, &args, Some(&int), span).is_some()))
            }
            Some(pending) => matches!(
                pending.kind,
                PendingKind::Reference { .. } | PendingKind::Closure { .. } | PendingKind::Coerce { .. }
            ),
            None => false,
        })
    }
}
