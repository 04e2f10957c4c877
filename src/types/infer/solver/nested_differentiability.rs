//! Nested differentiability: compares the differentiability of function types nested in other types. A conversion may
//! not require stronger differentiability than the value provides.

use crate::diagnostic::Code;
use crate::source::Span;
use crate::types::infer::Infer;
use crate::types::model::ty::{FunctionType, Strength, Type};
use crate::types::model::type_vars;
use crate::types::model::typed_tree::{Expr, ExprKind};

impl Infer<'_> {
    /// Converts a function to a C function pointer, which must be the name of a function or a closure without captures.
    pub(crate) fn c_function(&mut self, value: Expr, wanted: &Type, span: Span) -> Expr {
        match &value.kind {
            ExprKind::Closure { function } => self.cx.module.c_functions.push((*function, span)),
            ExprKind::Function(f) => self.cx.module.c_functions.push((f.function, span)),
            _ => {
                let message =
                    "a C function pointer can only be formed from a reference to a 'func' or a literal closure";
                return self.fail(Code::Mismatch, span, message);
            }
        }
        let kind = ExprKind::ConvertFunction { value: Box::new(value), differentiability: None };
        Expr { kind, ty: wanted.clone(), span }
    }

    /// Whether the type `to` requires stronger differentiability of nested function types than `from`, an otherwise
    /// equal type, provides. For function types, only the parameters and the results are compared.
    pub(crate) fn requires_more(&mut self, from: &Type, to: &Type) -> bool {
        let (from, to) = (type_vars::zonk(self.cx, from), type_vars::zonk(self.cx, to));
        match (&from, &to) {
            (Type::Function(f), Type::Function(g)) => is_stronger_inside(f, g),
            _ => is_stronger(&from, &to),
        }
    }

    /// Whether the type `to` requires stronger differentiability than `from` provides, like [`Infer::requires_more`],
    /// and also compares function types themselves.
    pub(crate) fn states_less(&mut self, from: &Type, to: &Type) -> bool {
        let (from, to) = (type_vars::zonk(self.cx, from), type_vars::zonk(self.cx, to));
        is_stronger(&from, &to)
    }
}

/// Whether `g` is differentiated with respect to a parameter that is `@noDerivative` in `f`.
pub(crate) fn takes_back_marks(f: &FunctionType, g: &FunctionType) -> bool {
    f.params.iter().zip(&g.params).any(|(from, to)| from.no_derivative && !to.no_derivative)
}

fn is_stronger(from: &Type, to: &Type) -> bool {
    match (from, to) {
        (Type::Nominal(_, xs), Type::Nominal(_, ys)) => xs.iter().zip(ys.iter()).any(|(x, y)| is_stronger(x, y)),
        (Type::Tuple(xs), Type::Tuple(ys)) => xs.iter().zip(ys.iter()).any(|((_, x), (_, y))| is_stronger(x, y)),
        (Type::Function(f), Type::Function(g)) => {
            let is_known = f.strength != Strength::Open && g.strength > Strength::Open;
            is_known && (f.strength < g.strength || takes_back_marks(f, g)) || is_stronger_inside(f, g)
        }
        _ => false,
    }
}

/// Compares the differentiability of the parameters, which are contravariant, and of the results.
fn is_stronger_inside(f: &FunctionType, g: &FunctionType) -> bool {
    f.params.iter().zip(&g.params).any(|(from, to)| is_stronger(&to.ty, &from.ty)) || is_stronger(&f.result, &g.result)
}
