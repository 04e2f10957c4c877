//! Throwing conversion: converts values that contain functions which do not throw to types of functions which throw. A call of
//! a throwing function also returns an error, so such a function is wrapped wherever it is stored.

use crate::source::Span;
use crate::syntax::ast;
use crate::types::generics::unification;
use crate::types::infer::Infer;
use crate::types::model::declaration_info::Builtin;
use crate::types::model::ty::Type;
use crate::types::model::typed_tree::Expr;
use std::rc::Rc;

/// The parameter of the closure that converts an element.
const ELEMENT: &str = "$element";

impl Infer<'_> {
    /// Whether a function in a value of the first type does not throw, and may throw in the second type.
    pub(crate) fn begins_to_throw(&mut self, from: &Type, to: &Type) -> bool {
        match (unification::shallow(self.cx, from), unification::shallow(self.cx, to)) {
            (Type::Function(f), Type::Function(g)) => {
                !f.throws && g.throws
                    || self.begins_to_throw(&f.result, &g.result)
                    || f.params.len() == g.params.len()
                        && f.params.iter().zip(&g.params).any(|(x, y)| self.begins_to_throw(&y.ty, &x.ty))
            }
            (Type::Tuple(xs), Type::Tuple(ys)) => {
                xs.len() == ys.len() && xs.iter().zip(ys.iter()).any(|((_, x), (_, y))| self.begins_to_throw(x, y))
            }
            (Type::Nominal(n, xs), Type::Nominal(m, ys)) => {
                let holds = self.cx.defs.nominal_data(n).builtin;
                n == m
                    && matches!(holds, Some(Builtin::Optional | Builtin::Array | Builtin::Dictionary))
                    && xs.last().zip(ys.last()).is_some_and(|(x, y)| self.begins_to_throw(x, y))
            }
            _ => false,
        }
    }

    /// Converts the elements of an array, the values of a dictionary, or the value in an optional.
    pub(crate) fn convert_contained(&mut self, value: Expr, wanted: &Type, span: Span) -> Expr {
        let method = match unification::shallow(self.cx, wanted) {
            Type::Nominal(n, _) if self.cx.defs.nominal_data(n).builtin == Some(Builtin::Dictionary) => "mapValues",
            _ => "map",
        };
        let ident = |name: &str| ast::Expr { kind: ast::ExprKind::Ident { name: name.into(), generics: vec![] }, span };
        let names = [ELEMENT.to_owned()];
        let closure =
            crate::types::infer::expr::calculus_notation::closure_of_call(&names, ident(ELEMENT), false, span);
        let container = format!("$container{}", self.frame().locals.len());
        let name = ast::Ident { name: method.into(), span };
        let member = ast::ExprKind::Member { base: Rc::new(ident(&container)), name, generics: vec![] };
        let callee = Rc::new(ast::Expr { kind: member, span });
        let args = vec![ast::Arg { label: None, value: Rc::new(closure), trailing: false }];
        let call = ast::Expr { kind: ast::ExprKind::Call { callee, args }, span };
        self.with_temporary(value, |infer, local| {
            infer.in_scope(|infer| {
                infer.bind(&container.as_str().into(), local);
                let value = infer.expr(&call, Some(wanted));
                infer.coerce(value, wanted)
            })
        })
    }
}
