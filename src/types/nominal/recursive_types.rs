//! Types that have no values: structs that would contain themselves, and what is too large.

use crate::diagnostic::{Code as DiagnosticCode, Diagnostic};
use crate::source::Span;
use crate::types::conform::conformances;
use crate::types::model::context::TypeContext;
use crate::types::model::ty::{NominalId, Type};
use crate::types::nominal::stored_property;

/// Of how many parts a type may be made. One that is made of itself twice is shared in memory, but whoever looks at all of
/// it would never end.
const LARGEST: usize = 65_535;

/// How deep the parts of a type may be nested. Every look at a type goes to its innermost part.
const DEEPEST: usize = 2_000;

/// What a type has too much of.
enum Excess {
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
fn parts(cx: &TypeContext, ty: &Type, left: usize, depth: usize) -> Result<usize, Excess> {
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

/// A struct that contains itself has no values.
pub(crate) fn check_size(cx: &mut TypeContext, n: NominalId) {
    for i in 0..cx.defs.nominal_data(n).stored.len() as u32 {
        let ty = stored_property::stored_type(cx, n, i);
        let mut on_the_way = vec![];
        if contains_struct(cx, &ty, n, &mut on_the_way) {
            let (name, span) = (cx.defs.nominal_data(n).name.clone(), cx.defs.nominal_data(n).stored[i as usize].span);
            let message = format!("value type '{name}' cannot have a stored property that recursively contains it");
            cx.sink.report(
                Diagnostic::error(DiagnosticCode::Types, span, message)
                    .help("make the property optional or an array, so that the type has a finite size"),
            );
            return;
        }
    }
}

fn contains_struct(cx: &mut TypeContext, ty: &Type, n: NominalId, on_the_way: &mut Vec<NominalId>) -> bool {
    match ty {
        Type::Nominal(m, _) if *m == n => true,
        Type::Nominal(m, args) => {
            let data = cx.defs.nominal_data(*m);
            let is_plain = data.builtin.is_none() && data.kind == crate::syntax::ast::NominalKind::Struct;
            if !is_plain || on_the_way.contains(m) {
                return false;
            }
            on_the_way.push(*m);
            let (m, args) = (*m, args.clone());
            (0..cx.defs.nominal_data(m).stored.len() as u32).any(|i| {
                let ty = stored_property::stored_type(cx, m, i);
                let ty = conformances::substitute_nominal(cx, m, &args, &ty);
                contains_struct(cx, &ty, n, on_the_way)
            })
        }
        Type::Tuple(parts) => parts.iter().any(|(_, t)| contains_struct(cx, t, n, on_the_way)),
        _ => false,
    }
}
