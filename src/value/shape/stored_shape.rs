//! Stored shapes: the serialized form of shapes and tangents, from which the derived tables are computed.

use super::{DescriptionId, Layout, Shape, ShapeId, Shapes, Tangent, TangentId, TangentKind, Tangents};
use hashbrown::HashMap;
use serde::{Deserialize, Serialize};

/// All shapes in the order of their indices, each with its type if that has a custom description.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct StoredShapes(Vec<(Shape, Option<DescriptionId>)>);

/// All tangent types in the order of their indices.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct StoredTangents(Vec<Tangent>);

impl Shape {
    /// Whether a value of the shape is one reference, so that the shape may refer to shapes that are defined later.
    fn is_reference(&self) -> bool {
        matches!(self, Shape::Array(_) | Shape::Dictionary(..) | Shape::Set(_) | Shape::Boxed(_) | Shape::Class { .. })
    }
}

impl Shapes {
    /// Returns the serialized form of all shapes.
    pub fn stored(&self) -> StoredShapes {
        StoredShapes(self.shapes.iter().cloned().zip(self.own.iter().copied()).collect())
    }

    /// Reconstructs the shapes from their serialized form; `None` when they are not valid.
    pub fn restored(stored: StoredShapes) -> Option<Shapes> {
        let StoredShapes(list) = stored;
        let count = list.len();
        let reference = Layout { f: 0, i: 0, r: 1 };
        // Shapes that are one reference come first: they may precede the shapes to which they refer.
        let layouts = list.iter().map(|(s, _)| if s.is_reference() { reference } else { Layout::default() }).collect();
        let mut shapes = Shapes { layouts, ..Shapes::default() };
        for (k, (shape, own)) in list.iter().enumerate() {
            let known = |part: &ShapeId| {
                let at = part.0 as usize;
                at < k || shape.is_reference() && at < count || at < count && list[at].0.is_reference()
            };
            if !shape.parts().iter().all(known) {
                return None;
            }
            if !ends(&list, k) {
                return None;
            }
            let layout = shapes.checked_layout(shape)?;
            shapes.layouts[k] = layout;
            shapes.numbers.entry((shape.clone(), *own)).or_insert(ShapeId(k as u32));
        }
        (shapes.shapes, shapes.own) = list.into_iter().unzip();
        // A shape that refers to a later shape may contain a custom description.
        shapes.described = vec![true; count];
        for k in 0..count {
            let is_described = shapes.own[k].is_some() || shapes.has_part_with_description(&shapes.shapes[k]);
            shapes.described[k] = is_described;
            shapes.starts.push(shapes.compute_starts(ShapeId(k as u32)));
        }
        Some(shapes)
    }

    /// Returns the layout of a shape, unless it has so many components that counting them overflows.
    fn checked_layout(&self, shape: &Shape) -> Option<Layout> {
        /// The maximum number of components of a value: the limit of register numbers.
        const MAX_COMPONENTS: u64 = u16::MAX as u64;
        let mut total = 0u64;
        for part in shape.parts() {
            let layout = self.layouts.get(part.0 as usize)?;
            total += u64::from(layout.f) + u64::from(layout.i) + u64::from(layout.r);
        }
        let counts = !shape.is_reference() || matches!(shape, Shape::Class { .. });
        (!counts || total <= MAX_COMPONENTS).then(|| self.compute_layout(shape))
    }
}

/// Whether the superclasses of a class are classes, and do not form a cycle.
fn ends(list: &[(Shape, Option<DescriptionId>)], class: usize) -> bool {
    let mut at = class;
    for _ in 0..list.len() {
        match &list[at].0 {
            Shape::Class { base: Some(base), .. } => at = base.0 as usize,
            Shape::Class { base: None, .. } => return true,
            _ => return at == class,
        }
    }
    false
}

impl Tangents {
    /// Returns the serialized form of all tangent types.
    pub fn stored(&self) -> StoredTangents {
        StoredTangents(self.tangents.clone())
    }

    /// Reconstructs the tangent types from their serialized form; `None` when they do not match the given shapes.
    pub fn restored(stored: StoredTangents, shapes: &Shapes) -> Option<Tangents> {
        let StoredTangents(tangents) = stored;
        let known = |id: &TangentId| (id.0 as usize) < tangents.len();
        for tangent in &tangents {
            if !shapes.contains(tangent.value) || !shapes.contains(tangent.vector) {
                return None;
            }
            let (value, vector) = (shapes.get(tangent.value).parts(), shapes.get(tangent.vector).parts());
            let fits = match &tangent.kind {
                TangentKind::Number | TangentKind::Tensor | TangentKind::Nothing => true,
                TangentKind::Fields(fields) => fields
                    .iter()
                    .all(|(a, b, of)| (*a as usize) < value.len() && (*b as usize) < vector.len() && known(of)),
                TangentKind::Array(of)
                | TangentKind::Dictionary(of)
                | TangentKind::Optional(of)
                | TangentKind::Opaque(of)
                | TangentKind::Boxed(of) => known(of),
                TangentKind::Beside(of) => value.len() == 2 && known(of),
                TangentKind::Enum(cases) => cases.iter().flatten().all(|(_, of)| known(of)),
            };
            if !fits {
                return None;
            }
        }
        let mut numbers = HashMap::new();
        for (k, tangent) in tangents.iter().enumerate() {
            numbers.entry(tangent.clone()).or_insert(TangentId(k as u32));
        }
        Some(Tangents { tangents, numbers, ..Tangents::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::rc::Rc;

    #[test]
    fn what_is_restored_is_what_was_stored() {
        let mut shapes = Shapes::default();
        let number = shapes.add(Shape::Double);
        let list = shapes.reserve();
        let rest = shapes.add(Shape::Optional(list));
        let name: Rc<str> = "List".into();
        let node = shapes.add(Shape::Struct {
            name,
            fields: vec![("value".into(), number), ("rest".into(), rest)],
            style: super::super::Style::Fields,
        });
        shapes.define(list, Shape::Boxed(node), None);
        let again = Shapes::restored(shapes.stored()).expect("they come from a program");
        for k in 0..4 {
            let id = ShapeId(k);
            assert_eq!(again.get(id), shapes.get(id));
            assert_eq!(again.layout(id), shapes.layout(id));
            assert_eq!(again.before_field(id, 1), shapes.before_field(id, 1));
        }
    }

    #[test]
    fn shapes_that_contain_themselves_are_refused() {
        let itself = StoredShapes(vec![(Shape::Tuple(vec![(None, ShapeId(0))]), None)]);
        assert!(Shapes::restored(itself).is_none());
        let nowhere = StoredShapes(vec![(Shape::Array(ShapeId(7)), None)]);
        assert!(Shapes::restored(nowhere).is_none());
    }
}
