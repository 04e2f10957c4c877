//! Extended types: updates the state of the lowering after an input has extended types of earlier inputs. A conformance that
//! such an extension declares decides whether the type is differentiable, how its values are described, and which casts
//! succeed.

use super::Lowering;
use crate::ir::Program;
use crate::types::model::declaration_info::Declarations;
use crate::types::model::ty::Type;

impl Lowering {
    /// Discards what depends on the conformances of types: functions are lowered again when they are requested, and dispatched
    /// methods are resolved again. Existing function values retain their graphs. Returns the types with values that have
    /// no space for the tangent vectors which the extension defines.
    pub fn update_extended_types(&mut self, d: &mut dyn Declarations, program: &mut Program) -> Vec<Type> {
        self.forget_functions();
        self.layouts.forget_tangents();
        self.layouts.add_descriptions(d, &mut program.shapes);
        program.custom_descriptions.clear();
        self.described.is_everything = true;
        self.forget_methods();
        self.layouts.without_own_vectors(d, &program.shapes)
    }
}
