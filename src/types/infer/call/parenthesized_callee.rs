//! Parenthesized callees: calls of names, members and operators in parentheses.

use crate::source::Span;
use crate::syntax::ast::{self, ExprKind as Ast, Ident};
use crate::types::infer::Infer;
use crate::types::infer::call::arguments::ArgNode;
use crate::types::model::ty::Type;
use crate::types::model::typed_tree::Expr;

impl Infer<'_> {
    /// Infers the call of an operator in parentheses: `(+)(a, b)` is `a + b`, and `(-)(a)` is `-a`.
    pub(super) fn call_operator(
        &mut self,
        operator: &ast::Expr,
        args: Vec<ArgNode>,
        expected: Option<&Type>,
        span: Span,
    ) -> Expr {
        let is_plain = |arg: &ArgNode| arg.label.is_none() && !arg.trailing && !matches!(arg.ast.kind, Ast::InOut(_));
        let op = |name: &ast::Name| Ident { name: name.clone(), span: operator.span };
        let kind = match (&operator.kind, args.as_slice()) {
            (Ast::Operator(name), [operand]) if is_plain(operand) => {
                Ast::Prefix { op: op(name), operand: operand.ast.clone() }
            }
            (Ast::Operator(name), [lhs, rhs]) if is_plain(lhs) && is_plain(rhs) => {
                Ast::Binary { op: op(name), lhs: lhs.ast.clone(), rhs: rhs.ast.clone(), juxtaposed: false }
            }
            _ => {
                let function = self.expr(operator, None);
                return self.call_value(function, args, expected, span);
            }
        };
        self.expr(&ast::Expr { kind, span }, expected)
    }
}

/// Returns the name, member or operator that is called: parentheses around it have no effect, and the arguments of
/// `(max)(1, 2)` select the overload.
pub(super) fn named_callee(callee: &ast::Expr) -> &ast::Expr {
    let Ast::Paren(inner) = &callee.kind else { return callee };
    let named = named_callee(inner);
    match named.kind {
        Ast::Ident { .. } | Ast::Member { .. } | Ast::Operator(_) => named,
        _ => callee,
    }
}
