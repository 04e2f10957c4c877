//! Structs that would contain themselves.

use super::store::World;
use super::ty::{NominalId, Type};
use crate::diagnostic::{Code as DiagnosticCode, Diagnostic};

impl World {
    /// A struct that contains itself has no values.
    pub(super) fn check_size(&mut self, n: NominalId) {
        for i in 0..self.nominal_data(n).stored.len() as u32 {
            let ty = self.stored_type(n, i);
            let mut on_the_way = vec![];
            if self.contains_struct(&ty, n, &mut on_the_way) {
                let (name, span) = (self.nominal_data(n).name.clone(), self.nominal_data(n).stored[i as usize].span);
                let message = format!("value type '{name}' cannot have a stored property that recursively contains it");
                self.report(
                    Diagnostic::error(DiagnosticCode::Types, span, message)
                        .help("make it optional, or an array, so that there is an end"),
                );
                return;
            }
        }
    }

    fn contains_struct(&mut self, ty: &Type, n: NominalId, on_the_way: &mut Vec<NominalId>) -> bool {
        match ty {
            Type::Nominal(m, _) if *m == n => true,
            Type::Nominal(m, args) => {
                let data = self.nominal_data(*m);
                let is_plain = data.builtin.is_none() && data.kind == crate::syntax::ast::NominalKind::Struct;
                if !is_plain || on_the_way.contains(m) {
                    return false;
                }
                on_the_way.push(*m);
                let (m, args) = (*m, args.clone());
                (0..self.nominal_data(m).stored.len() as u32).any(|i| {
                    let ty = self.stored_type(m, i);
                    let ty = self.substitute_nominal(m, &args, &ty);
                    self.contains_struct(&ty, n, on_the_way)
                })
            }
            Type::Tuple(parts) => parts.iter().any(|(_, t)| self.contains_struct(t, n, on_the_way)),
            _ => false,
        }
    }
}
