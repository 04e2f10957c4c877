//! Reflection: a native function that takes a value apart into its children.

use super::NativeFunction;
use super::context::{Failure, NativeContext};
use super::string::texts;
use crate::value::printing::{self, Form};
use crate::value::shape::{Shape, ShapeId, Shapes, visible_fields};
use crate::value::{AnyValue, Cells, Components, Ref};
use std::rc::Rc;

pub(super) const TABLE: &[NativeFunction] = &[NativeFunction { name: "value.children", call: children }];

/// The number that represents the absence of a superclass at the requested level.
const NO_SUPERCLASS: i64 = -1;

/// The children of a value: their labels, empty if there is none, and their values.
#[derive(Default)]
struct Children {
    labels: Vec<String>,
    values: Vec<Ref>,
}

impl Children {
    fn push(&mut self, label: &str, shape: ShapeId, value: Components<'_>) {
        // A value of type `Any` is already boxed.
        let boxed = match value.r {
            [boxed @ Ref::Any(_)] => boxed.clone(),
            _ => Ref::Any(Rc::new(AnyValue { shape, cells: Cells::record(value) })),
        };
        self.labels.push(label.to_owned());
        self.values.push(boxed);
    }

    fn push_fields(&mut self, shapes: &Shapes, fields: &[(Rc<str>, ShapeId)], value: &mut Components<'_>) {
        for (name, shape) in fields {
            self.push(name, *shape, value.take(shapes.layout(*shape)));
        }
    }

    /// Adds the payload of a case: a single value, or a tuple. If the program has no such tuple type, its text stands for
    /// the tuple.
    fn push_payload(
        &mut self,
        shapes: &Shapes,
        case: &str,
        payload: &[(Option<Rc<str>>, ShapeId)],
        mut value: Components<'_>,
    ) {
        match payload {
            [] => {}
            [(None, shape)] => self.push(case, *shape, value.take(shapes.layout(*shape))),
            several => match shapes.find(&Shape::Tuple(several.to_vec())) {
                Some(tuple) => self.push(case, tuple, value.take(shapes.layout(tuple))),
                None => {
                    let parts = several.iter().map(|(label, shape)| {
                        let label = label.as_ref().map_or_else(String::new, |label| format!("{label}: "));
                        let part = value.take(shapes.layout(*shape));
                        label + &printing::describe_with(shapes, *shape, part, Form::Part, &[])
                    });
                    let text = format!("({})", parts.collect::<Vec<_>>().join(", "));
                    self.labels.push(case.to_owned());
                    self.values.push(match shapes.find(&Shape::String) {
                        Some(string) => {
                            let cells = Cells::references(vec![Ref::Text(text.into())]);
                            Ref::Any(Rc::new(AnyValue { shape: string, cells }))
                        }
                        None => Ref::Null,
                    });
                }
            },
        }
    }
}

/// Returns the children of a value, and the number of its style. For instances, the second argument is the number of
/// superclasses to go up.
fn children(c: &mut NativeContext<'_>) -> Result<(), Failure> {
    let shape = c.type_at(0)?;
    let value = c.value(c.shapes.layout(shape))?;
    let level = c.integer();
    let mut found = Children::default();
    let style = take_apart(c.shapes, shape, &mut c.components(value), level, &mut found);
    c.return_reference(texts(found.labels))?;
    c.return_reference(Ref::Cells(Rc::new(Cells::references(found.values))))?;
    c.return_integer(style)
}

fn take_apart(shapes: &Shapes, shape: ShapeId, value: &mut Components<'_>, level: i64, found: &mut Children) -> i64 {
    match shapes.get(shape) {
        Shape::Struct { fields, style, .. } => {
            found.push_fields(shapes, visible_fields(fields, *style), value);
            1
        }
        Shape::Class { .. } => instance(shapes, value.reference(), level, found),
        Shape::Enum { cases, .. } => {
            let case = usize::try_from(value.integer()).ok().and_then(|tag| cases.get(tag));
            if let Some(case) = case {
                found.push_payload(shapes, &case.name, &case.payload, *value);
            }
            3
        }
        Shape::Tuple(fields) => {
            for (k, (label, shape)) in fields.iter().enumerate() {
                let label = label.as_deref().map_or_else(|| format!(".{k}"), str::to_owned);
                found.push(&label, *shape, value.take(shapes.layout(*shape)));
            }
            4
        }
        Shape::Optional(of) => {
            if value.integer() == 1 {
                found.push("some", *of, value.take(shapes.layout(*of)));
            }
            5
        }
        Shape::Array(of) => {
            if let Ref::Cells(cells) = value.reference() {
                (0..cells.len).for_each(|k| found.push("", *of, cells.element(k, shapes.layout(*of))));
            }
            6
        }
        Shape::Dictionary(..) => 7,
        Shape::Set(of) => {
            if let Ref::Dictionary(set) = value.reference() {
                (0..set.len()).for_each(|k| found.push("", *of, set.keys().element(k, shapes.layout(*of))));
            }
            8
        }
        Shape::Boxed(of) => match value.reference() {
            Ref::Cells(cells) => take_apart(shapes, *of, &mut cells.all(), level, found),
            _ => 0,
        },
        Shape::Any => match value.reference() {
            Ref::Any(any) => take_apart(shapes, any.shape, &mut any.cells.all(), level, found),
            _ => 0,
        },
        _ => 0,
    }
}

/// Finds the properties that a class of an instance declares, and returns the number of the style.
fn instance(shapes: &Shapes, instance: &Ref, level: i64, found: &mut Children) -> i64 {
    let Ref::Box(instance) = instance else { return 0 };
    let (Some(mut class), Ok(inside)) = (instance.shape, instance.cells.try_borrow()) else { return 0 };
    let base_of = |class| match shapes.get(class) {
        Shape::Class { base, .. } => *base,
        _ => None,
    };
    for _ in 0..level {
        match base_of(class) {
            Some(base) => class = base,
            None => return NO_SUPERCLASS,
        }
    }
    let count = |class| match shapes.get(class) {
        Shape::Class { fields, .. } => fields.len(),
        _ => 0,
    };
    let inherited = base_of(class).map_or(0, count);
    if let Shape::Class { fields, .. } = shapes.get(class) {
        // The properties of the superclass come first.
        let mut value = inside.all();
        for (k, (name, shape)) in fields.iter().enumerate() {
            let part = value.take(shapes.layout(*shape));
            if k >= inherited {
                found.push(name, *shape, part);
            }
        }
    }
    2
}
