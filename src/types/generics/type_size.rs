//! Type size: limits the number of components of a type and its depth.

use crate::diagnostic::{Code as DiagnosticCode, Diagnostic};
use crate::source::Span;
use crate::types::model::ty::Type;
use crate::types::model::type_context::TypeContext;

/// The maximum number of parts of a type. A type that is built by repeated doubling shares its parts in memory, but a
/// traversal of all parts would take exponential time.
pub(crate) const LARGEST: usize = 65_535;

/// The maximum nesting depth of a type. The limit bounds the recursion of traversals.
pub(crate) const DEEPEST: usize = 2_000;

/// The limit that a type exceeds: its size or its depth.
pub(crate) enum ExceededLimit {
    Parts,
    Depth,
}

/// Reports a type with too many parts or too deep nesting; returns whether an error was reported.
pub(crate) fn refuse_large(cx: &mut TypeContext, ty: &Type, span: Span) -> bool {
    let (message, help) = match parts(cx, ty, LARGEST, DEEPEST) {
        Ok(_) => return false,
        Err(ExceededLimit::Parts) => (
            format!("type has more than {LARGEST} parts"),
            "use an array for many values of one type, or a class, which is stored as a reference",
        ),
        Err(ExceededLimit::Depth) => {
            (format!("type is nested more than {DEEPEST} deep"), "wrap the inner type in a struct or class")
        }
    };
    cx.sink.report(Diagnostic::error(DiagnosticCode::TooLarge, span, message).help(help));
    true
}

/// Subtracts the number of parts of a type from `left`, and returns the difference; `depth` is the permitted nesting
/// depth.
pub(crate) fn parts(cx: &TypeContext, ty: &Type, left: usize, depth: usize) -> Result<usize, ExceededLimit> {
    let left = left.checked_sub(1).ok_or(ExceededLimit::Parts)?;
    let inner = depth.checked_sub(1).ok_or(ExceededLimit::Depth)?;
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
