//! Extended types: updates the state of the lowering after an input has extended types of earlier inputs. A conformance that
//! such an extension declares decides whether the type is differentiable, how its values are described, and which casts
//! succeed.

use super::Lowering;
use crate::ir::Program;
use crate::types::model::declaration_info::Declarations;
use crate::types::model::ty::{NominalId, Type};

impl Lowering {
    /// Discards what depends on the conformances of the given types: functions are lowered again when they are requested, and
    /// dispatched methods are resolved again. Existing function values retain their graphs.
    pub fn update_extended_types(&mut self, d: &mut dyn Declarations, program: &mut Program, extended: &[NominalId]) {
        self.forget_functions();
        self.layouts.forget_tangents();
        self.layouts.add_descriptions(d, &mut program.shapes);
        program.custom_descriptions.clear();
        self.find_methods_of(d, program, &mut |ty| mentions(ty, extended));
    }
}

/// Whether a type is one of the given nominal types, or has one of them as an argument.
fn mentions(ty: &Type, nominals: &[NominalId]) -> bool {
    ty.any(&mut |part| matches!(part, Type::Nominal(n, _) if nominals.contains(n)))
}
