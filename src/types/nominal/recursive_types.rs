//! Recursive types: reports structs that contain themselves, and types that are too large.

use crate::diagnostic::{Code as DiagnosticCode, Diagnostic};
use crate::types::conform::conformances;
use crate::types::model::ty::{NominalId, Type};
use crate::types::model::type_context::TypeContext;
use crate::types::nominal::stored_property;

/// Reports a struct that contains itself, so that its size would be infinite.
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
