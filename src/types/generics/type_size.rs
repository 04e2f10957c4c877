//! Type size: the limit on the number of components of a type and on its depth.

use crate::diagnostic::{Code as DiagnosticCode, Diagnostic};
use crate::source::Span;
use crate::types::model::context::TypeContext;
use crate::types::model::ty::Type;

/// Of how many parts a type may be made. One that is made of itself twice is shared in memory, but whoever looks at all of
/// it would never end.
pub(crate) const LARGEST: usize = 65_535;

/// How deep the parts of a type may be nested. Every look at a type goes to its innermost part.
pub(crate) const DEEPEST: usize = 2_000;

/// What a type has too much of.
pub(crate) enum Excess {
    Parts,
    Depth,
}

/// Complains of a type that is made of too many parts, or nested too deep; it is none then.
pub(crate) fn refuse_large(cx: &mut TypeContext, ty: &Type, span: Span) -> bool {
    let (message, help) = match parts(cx, ty, LARGEST, DEEPEST) {
        Ok(_) => return false,
        Err(Excess::Parts) => (
            format!("type has more than {LARGEST} parts"),
            "use an array for many values of one type, or a class, which is stored as a reference",
        ),
        Err(Excess::Depth) => {
            (format!("type is nested more than {DEEPEST} deep"), "wrap the inner type in a struct or class")
        }
    };
    cx.sink.report(Diagnostic::error(DiagnosticCode::TooLarge, span, message).help(help));
    true
}

/// How many parts are left of an allowance for a type, which may be nested so deep.
pub(crate) fn parts(cx: &TypeContext, ty: &Type, left: usize, depth: usize) -> Result<usize, Excess> {
    let left = left.checked_sub(1).ok_or(Excess::Parts)?;
    let inner = depth.checked_sub(1).ok_or(Excess::Depth)?;
    let each = |left: usize, t: &Type| parts(cx, t, left, inner);
    match ty {
        Type::Var(v) => cx.vars.var(*v).bound.as_ref().map_or(Ok(left), |bound| parts(cx, bound, left, depth)),
        Type::Nominal(_, args) | Type::Opaque(_, args) => args.iter().try_fold(left, each),
        Type::Tuple(fields) => fields.iter().map(|(_, t)| t).try_fold(left, each),
        Type::Function(f) => f.params.iter().map(|p| &p.ty).chain([&f.result]).try_fold(left, each),
        Type::Associated(of, ..) | Type::Metatype(of) => parts(cx, of, left, inner),
        Type::Param(_) | Type::Existential(_) | Type::Never | Type::Error => Ok(left),
    }
}
