//! Mirror: native functions that measure the size that a value has in Swift, and that outline its components.

use super::NativeFunction;
use super::context::{Failure, NativeContext};
use crate::value::shape::{Case, Shape, ShapeId, Shapes, Style, visible_fields};
use crate::value::{Components, Ref, printing};
use std::fmt::Write;
use std::rc::Rc;

type Call<'a, 'b> = &'a mut NativeContext<'b>;

pub(super) const TABLE: &[NativeFunction] = &[
    NativeFunction { name: "type.size", call: |c| measure(c, |space| space.size) },
    NativeFunction { name: "type.stride", call: |c| measure(c, Space::stride) },
    NativeFunction { name: "type.alignment", call: |c| measure(c, |space| space.alignment) },
    NativeFunction { name: "value.outline", call: outline },
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

fn outline(c: Call<'_, '_>) -> Result<(), Failure> {
    let shape = c.type_at(0)?;
    let value = c.value(c.shapes.layout(shape))?;
    let mut writer = Outline { shapes: c.shapes, out: String::new(), depth: 0 };
    writer.value("", shape, &mut c.components(value));
    let text = writer.out;
    c.return_text(text)
}

/// Names the elements of a tuple by their labels, or by their indices.
fn labeled(parts: &[(Option<Rc<str>>, ShapeId)]) -> Vec<(String, ShapeId)> {
    let name = |k: usize, label: &Option<Rc<str>>| label.as_deref().map_or_else(|| format!(".{k}"), str::to_owned);
    parts.iter().enumerate().map(|(k, (label, shape))| (name(k, label), *shape)).collect()
}

struct Outline<'s> {
    shapes: &'s Shapes,
    out: String,
    depth: usize,
}

impl Outline<'_> {
    /// Writes the first value of `from` on one line, and the parts of the value on the lines below.
    fn value(&mut self, label: &str, shape: ShapeId, from: &mut Components<'_>) {
        let whole = from.take(self.shapes.layout(shape));
        let mut value = whole;
        match self.shapes.get(shape) {
            Shape::Tuple(fields) => {
                self.line(true, label, &format!("({} elements)", fields.len()));
                self.parts(&labeled(fields), &mut value);
            }
            Shape::Struct { fields, style: Style::Beside, .. } => {
                if let Some((_, of)) = fields.first() {
                    self.value(label, *of, &mut value);
                }
            }
            Shape::Struct { name, fields, style: Style::Fields } => {
                self.line(!fields.is_empty(), label, name);
                let fields: Vec<_> = fields.iter().map(|(name, s)| (name.to_string(), *s)).collect();
                self.parts(&fields, &mut value);
            }
            Shape::Optional(of) if value.i.first() == Some(&1) => {
                let text = printing::describe(self.shapes, shape, whole);
                self.line(true, label, &text);
                value.integer();
                self.parts(&[("some".to_owned(), *of)], &mut value);
            }
            Shape::Enum { name, cases } => {
                let case = usize::try_from(value.integer()).ok().and_then(|tag| cases.get(tag));
                let Some(case) = case else { return };
                self.line(!case.payload.is_empty(), label, &format!("{name}.{}", case.name));
                self.payload(case, &mut value);
            }
            Shape::Array(of) => self.elements(label, *of, value.reference()),
            Shape::Dictionary(key, of) => self.pairs(label, *key, *of, value.reference()),
            Shape::Boxed(of) => match value.reference() {
                Ref::Cells(cells) => self.value(label, *of, &mut cells.all()),
                _ => self.line(false, label, "…"),
            },
            Shape::Any => match value.reference() {
                Ref::Any(any) => self.value(label, any.shape, &mut any.cells.all()),
                _ => self.line(false, label, "…"),
            },
            _ => {
                let text = printing::describe_with(self.shapes, shape, whole, printing::Form::Part, &[]);
                self.line(false, label, &text);
            }
        }
    }

    fn line(&mut self, has_parts: bool, label: &str, text: &str) {
        let (indent, mark) = ("  ".repeat(self.depth), if has_parts { "▿" } else { "-" });
        let colon = if label.is_empty() { "" } else { ": " };
        // Writing to a String cannot fail.
        let _ = writeln!(self.out, "{indent}{mark} {label}{colon}{text}");
    }

    fn parts(&mut self, fields: &[(String, ShapeId)], value: &mut Components<'_>) {
        if self.depth == MAX_DEPTH {
            return;
        }
        self.depth += 1;
        for (name, shape) in fields {
            self.value(name, *shape, value);
        }
        self.depth -= 1;
    }

    /// Writes the payload of a case: one value under the name of the case, several as a tuple with that name.
    fn payload(&mut self, case: &Case, value: &mut Components<'_>) {
        match case.payload.as_slice() {
            [] => {}
            [(label, shape)] => {
                let label = label.as_ref().unwrap_or(&case.name);
                self.parts(&[(label.to_string(), *shape)], value);
            }
            several if self.depth < MAX_DEPTH => {
                self.depth += 1;
                self.line(true, &case.name, &format!("({} elements)", several.len()));
                self.parts(&labeled(several), value);
                self.depth -= 1;
            }
            _ => {}
        }
    }

    fn elements(&mut self, label: &str, of: ShapeId, array: &Ref) {
        let Ref::Cells(cells) = array else { return self.line(false, label, "0 elements") };
        let plural = if cells.len == 1 { "" } else { "s" };
        self.line(cells.len > 0, label, &format!("{} element{plural}", cells.len));
        let layout = self.shapes.layout(of);
        for k in 0..cells.len {
            self.parts(&[(String::new(), of)], &mut cells.element(k, layout));
        }
    }

    fn pairs(&mut self, label: &str, key: ShapeId, of: ShapeId, dictionary: &Ref) {
        let Ref::Dictionary(d) = dictionary else { return self.line(false, label, "0 key/value pairs") };
        let plural = if d.len() == 1 { "" } else { "s" };
        self.line(!d.is_empty(), label, &format!("{} key/value pair{plural}", d.len()));
        if self.depth == MAX_DEPTH {
            return;
        }
        self.depth += 1;
        for k in 0..d.len() {
            self.line(true, "", "(2 elements)");
            self.parts(&[("key".to_owned(), key)], &mut d.keys().element(k, self.shapes.layout(key)));
            self.parts(&[("value".to_owned(), of)], &mut d.values().element(k, self.shapes.layout(of)));
        }
        self.depth -= 1;
    }
}
