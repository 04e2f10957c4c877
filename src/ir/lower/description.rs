//! Descriptions: requests the functions that describe values with custom descriptions, for the types whose values the program may
//! describe.

use super::{Lowering, Origin};
use crate::ir::{Function, Op, Program};
use crate::types::model::declaration_info::{Declarations, NominalKind};
use crate::types::model::ty::Type;
use crate::value::shape::{DescriptionId, ShapeId, Shapes};
use hashbrown::HashSet;

/// The types whose values the program may describe.
#[derive(Clone, Default)]
pub(super) struct Described {
    /// Whether values of all types may be described, by functions that were lowered before, or by later inputs.
    pub(super) is_everything: bool,
    shapes: HashSet<ShapeId>,
    descriptions: HashSet<DescriptionId>,
}

impl Described {
    /// Adds the types of the values that the steps of a function may describe, or store in an existential.
    pub(super) fn add_of(&mut self, shapes: &Shapes, function: &Function) {
        for step in function.blocks.iter().flat_map(|block| &block.instructions) {
            if let Op::Native { name, shapes: of } = &step.op
                && may_describe(name)
            {
                of.iter().for_each(|shape| self.add(shapes, *shape));
            }
        }
    }

    fn add(&mut self, shapes: &Shapes, shape: ShapeId) {
        let mut work = vec![shape];
        while let Some(shape) = work.pop() {
            if shapes.has_custom_description(shape) && self.shapes.insert(shape) {
                self.descriptions.extend(shapes.own(shape));
                work.extend(shapes.get(shape).parts());
            }
        }
    }

    /// Whether values of a type may be described. The instances of a class may be described as those of a superclass.
    fn contains(&self, d: &mut dyn Declarations, id: DescriptionId, ty: &Type) -> bool {
        let is_class = matches!(ty, Type::Nominal(n, _) if d.nominal(*n).kind == NominalKind::Class);
        is_class || self.is_everything || self.descriptions.contains(&id)
    }
}

/// Whether a native function may describe values of the types of its generic arguments, or make them existentials.
fn may_describe(name: &str) -> bool {
    const STORAGE: [&str; 5] = ["array.", "dictionary.", "set.", "instance.", "type."];
    !STORAGE.iter().any(|prefix| name.starts_with(prefix))
}

impl Lowering {
    /// Requests the functions that describe values with custom descriptions, for the types whose values may be described.
    pub(super) fn request_descriptions(&mut self, d: &mut dyn Declarations, program: &mut Program) {
        for at in 0..self.layouts.own.len() {
            if at == program.custom_descriptions.len() {
                program.custom_descriptions.push(None);
            }
            let ty = self.layouts.own[at].clone();
            if program.custom_descriptions[at].is_some() || !self.described.contains(d, DescriptionId(at as u32), &ty) {
                continue;
            }
            let texts =
                d.custom_descriptions(&ty).unwrap_or_else(|| unreachable!("queried before its number was assigned"));
            let texts = texts.map(|f| self.request(program, Origin::Function(f.function), f.generics, None));
            program.custom_descriptions[at] = Some(texts);
        }
    }
}
