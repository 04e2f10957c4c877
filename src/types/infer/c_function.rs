//! `@convention(c)`: a C function pointer has no room for what a closure captures.

use super::Infer;
use crate::diagnostic::{Code, Diagnostic};
use crate::syntax::ast::TypeExpr;
use crate::types::store::{BodyState, FunctionKind};
use crate::types::tree::{Expr, ExprKind};
use crate::types::written::is_c_function;

impl Infer<'_> {
    /// Remembers a value that is given where the type is written as that of a C function, until it is known what the value
    /// captures.
    pub(super) fn note_c_function(&mut self, ty: Option<&TypeExpr>, value: &Expr) {
        if ty.is_some_and(is_c_function) {
            self.c_functions.push(value.clone());
        }
    }

    /// The same for what a function gives.
    pub(super) fn note_c_result(&mut self, value: &Expr) {
        let Some(function) = self.frame().function else { return };
        let written = self.world.function_data(function).ast_result.clone();
        self.note_c_function(written.as_deref(), value);
    }

    /// Reports the closures and local functions among the C functions that capture something.
    pub(super) fn check_c_functions(&mut self) {
        for value in std::mem::take(&mut self.c_functions) {
            let mut value = self.decided(value);
            while let ExprKind::ConvertFunction { value: inner, .. } | ExprKind::Some(inner) | ExprKind::Quiet(inner) =
                value.kind
            {
                value = self.decided(*inner);
            }
            let function = match &value.kind {
                ExprKind::Closure { function } => *function,
                ExprKind::Function(f) => f.function,
                _ => continue,
            };
            let data = self.world.function_data(function);
            let what = if data.kind == FunctionKind::Closure { "closure" } else { "local function" };
            if matches!(&data.body, BodyState::Checked(body) if !body.captures.is_empty()) {
                let message = format!("a C function pointer cannot be formed from a {what} that captures context");
                self.error(Diagnostic::error(Code::Mismatch, value.span, message));
            }
        }
    }
}
