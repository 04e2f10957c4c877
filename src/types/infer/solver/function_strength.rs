//! Function types inside of other types: a conversion may ask for less than they promise, and never for more.

use crate::diagnostic::Code;
use crate::source::Span;
use crate::types::infer::Infer;
use crate::types::model::tree::{Expr, ExprKind};
use crate::types::model::ty::{FunctionType, Strength, Type};
use crate::types::model::type_vars;

impl Infer<'_> {
    /// A function as one of C's: the name of a function, or a closure that captures nothing.
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
        let kind = ExprKind::ConvertFunction { value: Box::new(value), promise: None };
        Expr { kind, ty: wanted.clone(), span }
    }

    /// Whether values of a type would have to promise more about derivatives than they do, to be values of a type that is
    /// the same but for that. Of functions themselves only the parameters and the result are looked at.
    pub(crate) fn asks_for_more(&mut self, from: &Type, to: &Type) -> bool {
        let (from, to) = (type_vars::zonk(self.cx, from), type_vars::zonk(self.cx, to));
        match (&from, &to) {
            (Type::Function(f), Type::Function(g)) => is_stronger_inside(f, g),
            _ => is_stronger(&from, &to),
        }
    }

    /// Whether a value of a type, which is bound or passed as it is, would have to promise more than it does.
    pub(crate) fn promises_less(&mut self, from: &Type, to: &Type) -> bool {
        let (from, to) = (type_vars::zonk(self.cx, from), type_vars::zonk(self.cx, to));
        is_stronger(&from, &to)
    }
}

/// Whether a parameter that one function is not differentiated by is one that another type differentiates by.
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

/// What a function takes is converted the other way round.
fn is_stronger_inside(f: &FunctionType, g: &FunctionType) -> bool {
    f.params.iter().zip(&g.params).any(|(from, to)| is_stronger(&to.ty, &from.ty)) || is_stronger(&f.result, &g.result)
}
