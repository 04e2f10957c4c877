//! Display statements: expression statements whose value is a picture, such as `plot(f, 0...1)` on a separate line, are
//! converted to calls that display the picture.

use crate::types::conform::conformances;
use crate::types::generics::unification;
use crate::types::infer::Infer;
use crate::types::model::ty::Type;
use crate::types::model::typed_tree::{Argument, Callee, Expr, ExprKind, FunctionRef, Stmt, StmtKind};
use crate::types::names::name_lookup;
use crate::types::names::prelude;

impl Infer<'_> {
    /// Replaces a statement that is a picture by a call that displays it.
    pub(crate) fn show_picture(&mut self, statement: &mut Stmt) {
        let StmtKind::Expr(value) = &statement.kind else { return };
        let ty = unification::resolved(self.cx, &value.ty);
        let displayable = match &ty {
            Type::Nominal(..) if !ty.is_unit() => name_lookup::protocol(self.cx, "Displayable"),
            _ => return,
        };
        if !conformances::conforms_to(self.cx, &ty, displayable) {
            return;
        }
        let Some(function) = prelude::library_function(self.cx, "_display") else { return };
        let callee = Callee::Static(FunctionRef { function, generics: vec![ty] });
        let (args, span) = (vec![Argument::Value(value.clone())], value.span);
        statement.kind = StmtKind::Expr(Expr { kind: ExprKind::Call { callee, args }, ty: Type::unit(), span });
    }
}
