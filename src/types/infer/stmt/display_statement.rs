//! Pictures that stand as statements are shown: `plot(f, 0...1)` on a line of its own.

use crate::types::infer::Infer;
use crate::types::model::tree::{Argument, Callee, Expr, ExprKind, FunctionRef, Stmt, StmtKind};
use crate::types::model::ty::Type;

impl Infer<'_> {
    /// Makes a statement that is a picture show it.
    pub(crate) fn show_picture(&mut self, statement: &mut Stmt) {
        let StmtKind::Expr(value) = &statement.kind else { return };
        let ty = self.world.resolved(&value.ty);
        let displayable = match &ty {
            Type::Nominal(..) if !ty.is_unit() => self.world.protocol("Displayable"),
            _ => return,
        };
        if !self.world.conforms_to(&ty, displayable) {
            return;
        }
        let Some(function) = self.world.library_function("_display") else { return };
        let callee = Callee::Static(FunctionRef { function, generics: vec![ty] });
        let (args, span) = (vec![Argument::Value(value.clone())], value.span);
        statement.kind = StmtKind::Expr(Expr { kind: ExprKind::Call { callee, args }, ty: Type::unit(), span });
    }
}
