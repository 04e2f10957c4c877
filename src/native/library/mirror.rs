//! Mirror: native functions that measure the size that a value has in Swift.

use super::NativeFunction;
use super::context::{Failure, NativeContext};
use crate::value::shape::{Shape, ShapeId, Shapes, visible_fields};

type Call<'a, 'b> = &'a mut NativeContext<'b>;

pub(super) const TABLE: &[NativeFunction] = &[
    NativeFunction { name: "type.size", call: |c| measure(c, |space| space.size) },
    NativeFunction { name: "type.stride", call: |c| measure(c, Space::stride) },
    NativeFunction { name: "type.alignment", call: |c| measure(c, |space| space.alignment) },
];

/// The depth of nesting below which parts are omitted, because the Rust stack is finite.
const MAX_DEPTH: usize = 200;

/// The size and alignment of a value in bytes.
#[derive(Clone, Copy)]
struct Space {
    size: i64,
    alignment: i64,
}

impl Space {
    const fn of(size: i64, alignment: i64) -> Space {
        Space { size, alignment }
    }

    fn stride(self) -> i64 {
        round_up(self.size, self.alignment).max(1)
    }

    /// Appends the space of another value, after the padding that the other value needs.
    fn then(self, next: Space) -> Space {
        let start = round_up(self.size, next.alignment);
        Space::of(start + next.size, self.alignment.max(next.alignment))
    }
}

fn round_up(size: i64, alignment: i64) -> i64 {
    (size + alignment - 1) / alignment * alignment
}

fn space(shapes: &Shapes, shape: ShapeId, depth: usize) -> Space {
    const POINTER: Space = Space::of(8, 8);
    if depth > MAX_DEPTH {
        return POINTER;
    }
    let all = |parts: &mut dyn Iterator<Item = ShapeId>| {
        parts.fold(Space::of(0, 1), |sum, part| sum.then(space(shapes, part, depth + 1)))
    };
    match shapes.get(shape) {
        Shape::Double => Space::of(8, 8),
        Shape::Float => Space::of(4, 4),
        Shape::Int { bits, .. } => Space::of(i64::from(*bits) / 8, i64::from(*bits) / 8),
        Shape::Bool => Space::of(1, 1),
        Shape::String | Shape::Character | Shape::Function { .. } => Space::of(16, 8),
        Shape::Tensor => Space::of(8, 8),
        Shape::Tuple(fields) => all(&mut fields.iter().map(|(_, shape)| *shape)),
        Shape::Struct { fields, style, .. } => all(&mut visible_fields(fields, *style).iter().map(|(_, shape)| *shape)),
        Shape::Enum { cases, .. } => {
            let payloads = cases.iter().map(|case| all(&mut case.payload.iter().map(|(_, shape)| *shape)));
            let largest = payloads
                .fold(Space::of(0, 1), |most, p| Space::of(most.size.max(p.size), most.alignment.max(p.alignment)));
            Space::of(largest.size + i64::from(cases.len() > 1), largest.alignment)
        }
        Shape::Optional(of) => match shapes.get(*of) {
            // The listed types have unused bit patterns, one of which represents `nil`.
            Shape::Bool
            | Shape::String
            | Shape::Character
            | Shape::Function { .. }
            | Shape::Array(_)
            | Shape::Dictionary(..)
            | Shape::Set(_)
            | Shape::Class { .. }
            | Shape::Any => space(shapes, *of, depth + 1),
            _ => {
                let of = space(shapes, *of, depth + 1);
                Space::of(of.size + 1, of.alignment)
            }
        },
        Shape::Array(_) | Shape::Dictionary(..) | Shape::Set(_) | Shape::Class { .. } => POINTER,
        Shape::Boxed(of) => space(shapes, *of, depth + 1),
        Shape::Any => Space::of(32, 8),
        Shape::Metatype { .. } => Space::of(0, 1),
    }
}

/// Measures the type of an argument by `by`; the argument is passed as an optional.
fn measure(c: Call<'_, '_>, by: fn(Space) -> i64) -> Result<(), Failure> {
    let found = space(c.shapes, c.type_at(0)?, 0);
    c.return_integer(by(found))
}
