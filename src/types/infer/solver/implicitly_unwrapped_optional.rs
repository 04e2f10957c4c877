//! Implicitly unwrapped optionals: `T!`, which is unwrapped where a value of type `T` is required.

use crate::types::conform::superclass;
use crate::types::generics::unification;
use crate::types::infer::Infer;
use crate::types::model::syntax_query;
use crate::types::model::ty::Type;
use crate::types::model::typed_tree::{Callee, Expr, ExprKind, FunctionId};
use crate::types::names::name_lookup;

impl Infer<'_> {
    /// Unwraps a value declared as `T!`; returns other values unchanged.
    pub(crate) fn unwrapped(&mut self, value: Expr) -> Expr {
        match self.inside_unwrapped(&value) {
            Some(ty) => {
                let span = value.span;
                Expr { kind: ExprKind::Force(Box::new(value)), ty, span }
            }
            None => value,
        }
    }

    /// Returns the payload type of a value declared as `T!`.
    pub(crate) fn inside_unwrapped(&mut self, value: &Expr) -> Option<Type> {
        let payload = name_lookup::optional_payload(self.cx, &value.ty)?;
        match value.kind {
            ExprKind::Pending(_) => {
                let value = self.decided(value.clone());
                self.unwraps(&value).then_some(payload)
            }
            _ => self.unwraps(value).then_some(payload),
        }
    }

    fn unwraps(&mut self, value: &Expr) -> bool {
        match &value.kind {
            ExprKind::Local(local) => {
                let declared = self.frame().locals[local.0 as usize].span;
                self.cx.defs.unwrapping.contains(&declared)
            }
            ExprKind::Global(global) => {
                syntax_query::is_implicitly_unwrapped(self.cx.defs.globals[global.0 as usize].ty_expr.as_deref())
            }
            ExprKind::Field { base, index } => {
                let Type::Nominal(n, _) = unification::shallow(self.cx, &base.ty) else { return false };
                let (owner, own) = superclass::stored_owner(self.cx, n, *index);
                let stored = self.cx.defs.nominal_data(owner).stored.get(own);
                syntax_query::is_implicitly_unwrapped(stored.and_then(|s| s.ty.as_deref()))
            }
            ExprKind::Call { callee, .. } => {
                let f = self.called_function(callee);
                syntax_query::is_implicitly_unwrapped(self.cx.defs.function_data(f).ast_result.as_deref())
            }
            _ => false,
        }
    }

    fn called_function(&self, callee: &Callee) -> FunctionId {
        match callee {
            Callee::Static(f) | Callee::Class { function: f, .. } | Callee::Opened { function: f, .. } => f.function,
            Callee::Requirement { protocol, requirement, .. } => {
                self.cx.defs.protocol_data(*protocol).requirements[*requirement as usize].function
            }
        }
    }
}
