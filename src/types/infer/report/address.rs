//! Addresses: `&variable` as an argument for a parameter that is not `inout`.

use crate::diagnostic::{Code, Diagnostic};
use crate::syntax::ast::ExprKind as Ast;
use crate::types::generics::unification;
use crate::types::infer::Infer;
use crate::types::infer::call::arguments::ArgNode;
use crate::types::model::ty::Type;
use crate::types::model::typed_tree::Expr;

impl Infer<'_> {
    /// Reports `&` before an argument for a parameter that is not `inout`; says how to pass a pointer if it is one.
    pub(crate) fn refuse_address(&mut self, arg: &ArgNode, wanted: &Type) -> Expr {
        let error = Diagnostic::error(Code::Mismatch, arg.span, "'&' is only allowed for an 'inout' parameter");
        let wanted = unification::shallow(self.cx, wanted);
        let function = match &wanted {
            Type::Nominal(n, _) => match &*self.cx.defs.nominal_data(*n).name {
                "UnsafeMutablePointer" => "withUnsafeMutablePointer",
                "UnsafePointer" => "withUnsafePointer",
                _ => "",
            },
            _ => "",
        };
        let operand = match &arg.ast.kind {
            Ast::InOut(operand) => self.cx.sink.source_text(operand.span).to_owned(),
            _ => String::new(),
        };
        let error = if function.is_empty() {
            error
        } else {
            let place = if function == "withUnsafePointer" { operand } else { format!("&{operand}") };
            error
                .help(format!("call the function with a pointer: '{function}(to: {place}) {{ p in … }}', and pass 'p'"))
        };
        self.error(error);
        self.error_expr(arg.span)
    }
}
