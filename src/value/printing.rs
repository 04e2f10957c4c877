//! Printing: a value as a string, by its shape, in the format of Swift.

use super::number_format::{write_double, write_float};
use super::shape::{Case, DescriptionId, Shape, ShapeId, Shapes, Style};
use super::{Cells, Components, Ref, Text};
use crate::tensor::{DescriptionStyle, Tensor};
use std::fmt::Write;
use std::rc::Rc;

/// The maximum nesting depth of printed values. Deeper parts of a value are written as `…`, because the Rust stack is
/// finite.
const MAX_DEPTH: usize = 500;

/// The form of a description.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// The output of `print`: a string has no quotes.
    Plain,
    /// As a part of another value: strings have quotes, and a range is enclosed by the name of the range's type.
    Part,
    /// The display of an interactive session: strings have quotes, and ranges are as they are written. Long strings and
    /// collections are abbreviated.
    Session,
    /// The display of an interactive session, without abbreviations.
    FullSession,
}

impl Form {
    /// Whether a string has quotes.
    fn has_quotes(self) -> bool {
        self != Form::Plain
    }

    fn is_session(self) -> bool {
        matches!(self, Form::Session | Form::FullSession)
    }
}

/// The numbers of elements that are displayed of a long collection: at its beginning, and at its end.
const ENDS: (usize, usize) = (20, 5);

/// The numbers of displayed elements at the beginning and at the end of a long collection inside another collection.
const INNER_ENDS: (usize, usize) = (10, 3);

/// The maximum number of elements of a collection that is displayed in full.
const LONG: usize = 40;

/// The maximum number of elements of a collection inside another collection that is displayed in full.
const INNER_LONG: usize = 20;

/// The maximum number of parts of a value that are displayed.
const MAX_PARTS: usize = 600;

/// The maximum numbers of characters that are displayed of a string: outside of collections, and inside of a
/// collection.
const MAX_TEXT: (usize, usize) = (1000, 200);

/// A part of a value whose type has a custom description.
#[derive(Clone, Debug)]
pub struct CustomPart {
    /// The type that has the custom description.
    pub own: DescriptionId,
    /// Whether the part is inside another value, where strings have quotes.
    pub inside: bool,
    /// The value of the part.
    pub value: Cells,
}

/// Returns the output of `print` for a value: strings without quotes.
pub fn describe(shapes: &Shapes, shape: ShapeId, value: Components<'_>) -> String {
    describe_with(shapes, shape, value, Form::Plain, &[])
}

/// Returns the description of a value in a form. `own` contains the custom descriptions of the parts that
/// [`custom_parts`] finds.
pub fn describe_with(shapes: &Shapes, shape: ShapeId, mut value: Components<'_>, form: Form, own: &[Text]) -> String {
    let mut printer = Printer::new(shapes, form, own);
    printer.value(shape, &mut value, form.has_quotes());
    printer.out
}

/// Returns the parts of a value whose types have a custom description, in the order of the output.
pub fn custom_parts(shapes: &Shapes, shape: ShapeId, mut value: Components<'_>, form: Form) -> Vec<CustomPart> {
    if !shapes.has_custom_description(shape) {
        return vec![];
    }
    let mut printer = Printer::new(shapes, form, &[]);
    printer.value(shape, &mut value, form.has_quotes());
    printer.parts
}

/// The values that a call of `print` writes, with the strings between and after them.
#[derive(Clone, Copy, Debug)]
pub struct Line<'a> {
    /// The shape of each value.
    pub of: ShapeId,
    /// The values.
    pub values: &'a Cells,
    /// The string between two values.
    pub separator: &'a str,
    /// The string after the last value.
    pub terminator: &'a str,
}

/// Returns the text of a line. Parts with a custom description take their texts from `own`.
///
/// # Errors
/// Returns the parts whose custom descriptions are not in `own`, in the order of the output.
pub fn describe_line(shapes: &Shapes, line: Line<'_>, form: Form, own: &[Text]) -> Result<String, Vec<CustomPart>> {
    let mut printer = Printer::new(shapes, form, own);
    let layout = shapes.layout(line.of);
    for k in 0..line.values.len {
        printer.out.push_str(if k == 0 { "" } else { line.separator });
        printer.value(line.of, &mut line.values.element(k, layout), form.has_quotes());
    }
    printer.out.push_str(line.terminator);
    if printer.parts.is_empty() { Ok(printer.out) } else { Err(printer.parts) }
}

struct Printer<'s> {
    shapes: &'s Shapes,
    out: String,
    depth: usize,
    own: std::slice::Iter<'s, Text>,
    /// The parts with a custom type whose descriptions were not in `own`.
    parts: Vec<CustomPart>,
    form: Form,
    /// The number of collections around the current part.
    lists: usize,
    /// The number of parts that may still be displayed. It does not depend on their text, so that the parts with custom
    /// descriptions are the same before and after these are known.
    remaining: usize,
}

impl<'s> Printer<'s> {
    fn new(shapes: &'s Shapes, form: Form, own: &'s [Text]) -> Printer<'s> {
        let remaining = if form == Form::Session { MAX_PARTS } else { usize::MAX };
        Printer { shapes, out: String::new(), depth: 0, own: own.iter(), parts: vec![], form, lists: 0, remaining }
    }

    /// Writes the value at the front of `from` and removes it.
    fn value(&mut self, shape: ShapeId, from: &mut Components<'_>, quoted: bool) {
        crate::cancel::check();
        let mut value = from.take(self.shapes.layout(shape));
        self.remaining = self.remaining.saturating_sub(1);
        if self.depth == MAX_DEPTH {
            self.out.push('…');
            return;
        }
        if let Some(own) = self.shapes.own(shape) {
            match self.own.next() {
                Some(text) => self.out.push_str(text),
                None => self.parts.push(CustomPart { own, inside: quoted, value: Cells::record(value) }),
            }
            return;
        }
        self.depth += 1;
        self.plain(self.shapes.get(shape), &mut value, quoted);
        self.depth -= 1;
    }

    fn plain(&mut self, shape: &Shape, value: &mut Components<'_>, quoted: bool) {
        match shape {
            Shape::Double => write_double(&mut self.out, value.number()),
            Shape::Float => write_float(&mut self.out, value.number()),
            Shape::Int { bits: 64, signed: false } => self.display(value.integer() as u64),
            Shape::Int { .. } => self.display(value.integer()),
            Shape::Bool => self.display(value.integer() != 0),
            Shape::String | Shape::Character => match value.reference() {
                Ref::Text(text) if quoted => self.text(text),
                Ref::Text(text) => self.out.push_str(text),
                _ if quoted => self.out.push_str("\"\""),
                _ => {}
            },
            Shape::Tuple(fields) => self.fields("", fields, value),
            Shape::Struct { name, fields, style } => self.structure(name, fields, *style, value, quoted),
            Shape::Enum { cases, .. } => {
                let tag = value.integer();
                self.case(usize::try_from(tag).ok().and_then(|t| cases.get(t)), value);
            }
            Shape::Optional(of) => match value.integer() {
                0 => self.out.push_str("nil"),
                _ => {
                    self.out.push_str("Optional(");
                    self.value(*of, value, true);
                    self.out.push(')');
                }
            },
            Shape::Array(of) => self.array(*of, value.reference()),
            Shape::Dictionary(key, of) => self.dictionary(*key, Some(*of), value.reference()),
            Shape::Set(key) => self.dictionary(*key, None, value.reference()),
            Shape::Function { .. } => self.out.push_str("(Function)"),
            Shape::Boxed(of) => match value.reference() {
                Ref::Cells(cells) => self.value(*of, &mut cells.all(), quoted),
                _ => self.out.push('…'),
            },
            Shape::Class { name, .. } => self.instance(name, value.reference()),
            Shape::Any => match value.reference() {
                Ref::Any(any) => self.value(any.shape, &mut any.cells.all(), quoted),
                _ => self.out.push('…'),
            },
            Shape::Metatype { name, .. } => self.out.push_str(name),
            Shape::Tensor => {
                value.number();
                self.tensor(value.reference());
            }
        }
    }

    fn tensor(&mut self, reference: &Ref) {
        match reference {
            Ref::Tensor(tensor) => self.out.push_str(&tensor_description(tensor)),
            _ => self.out.push_str("0.0"),
        }
    }

    fn display(&mut self, value: impl std::fmt::Display) {
        // Writing to a String cannot fail.
        let _ = write!(self.out, "{value}");
    }

    fn fields(&mut self, name: &str, fields: &[(Option<Rc<str>>, ShapeId)], value: &mut Components<'_>) {
        self.out.push_str(name);
        self.out.push('(');
        for (k, (label, shape)) in fields.iter().enumerate() {
            if k > 0 {
                self.out.push_str(", ");
            }
            if let Some(label) = label {
                self.out.push_str(label);
                self.out.push_str(": ");
            }
            self.value(*shape, value, true);
        }
        self.out.push(')');
    }

    fn structure(
        &mut self,
        name: &str,
        fields: &[(Rc<str>, ShapeId)],
        style: Style,
        value: &mut Components<'_>,
        quoted: bool,
    ) {
        match style {
            Style::Range => self.ends("Range", "..<", fields, value, quoted),
            Style::ClosedRange => self.ends("ClosedRange", "...", fields, value, quoted),
            Style::Transparent => {
                if let Some((_, shape)) = fields.first() {
                    self.value(*shape, value, quoted);
                }
            }
            Style::Beside => {
                if let [(_, shape), rest @ ..] = fields {
                    self.value(*shape, value, quoted);
                    for (_, beside) in rest {
                        value.take(self.shapes.layout(*beside));
                    }
                }
            }
            Style::Fields if self.form.is_session() && open_range(name).is_some() => {
                let [before, after] = open_range(name).unwrap_or_default();
                self.out.push_str(before);
                if let Some((_, shape)) = fields.first() {
                    self.value(*shape, value, quoted);
                }
                self.out.push_str(after);
            }
            Style::Fields | Style::Vector => {
                let label = |name: &Rc<str>| (style == Style::Fields).then(|| name.clone());
                let fields: Vec<_> = fields.iter().map(|(name, shape)| (label(name), *shape)).collect();
                self.fields(name, &fields, value);
            }
        }
    }

    /// Writes the bounds of a range. Inside another value, the name of the range's type encloses the bounds, except in
    /// a session.
    fn ends(
        &mut self,
        name: &str,
        between: &str,
        fields: &[(Rc<str>, ShapeId)],
        value: &mut Components<'_>,
        quoted: bool,
    ) {
        let has_name = quoted && matches!(self.form, Form::Plain | Form::Part);
        if has_name {
            let _ = write!(self.out, "{name}(");
        }
        for (k, (_, shape)) in fields.iter().take(2).enumerate() {
            if k > 0 {
                self.out.push_str(between);
            }
            self.value(*shape, value, quoted);
        }
        if has_name {
            self.out.push(')');
        }
    }

    fn case(&mut self, case: Option<&Case>, value: &mut Components<'_>) {
        match case {
            Some(case) if case.payload.is_empty() => self.out.push_str(&case.name),
            Some(case) => self.fields(&case.name, &case.payload, value),
            None => self.out.push('…'),
        }
    }

    fn array(&mut self, of: ShapeId, array: &Ref) {
        self.out.push('[');
        if let Ref::Cells(cells) = array {
            let layout = self.shapes.layout(of);
            self.elements(cells.len, |printer, k| printer.value(of, &mut cells.element(k, layout), true));
        }
        self.out.push(']');
    }

    /// Writes a dictionary, or a set, which has no values.
    fn dictionary(&mut self, key: ShapeId, of: Option<ShapeId>, dictionary: &Ref) {
        let Ref::Dictionary(dictionary) = dictionary else {
            self.out.push_str(if of.is_some() { "[:]" } else { "[]" });
            return;
        };
        if dictionary.is_empty() && of.is_some() {
            self.out.push_str("[:]");
            return;
        }
        self.out.push('[');
        let key_layout = self.shapes.layout(key);
        self.elements(dictionary.len(), |printer, k| {
            printer.value(key, &mut dictionary.keys().element(k, key_layout), true);
            if let Some(of) = of {
                printer.out.push_str(": ");
                printer.value(of, &mut dictionary.values().element(k, printer.shapes.layout(of)), true);
            }
        });
        self.out.push(']');
    }

    /// Writes the elements of a collection, or those at its ends, with commas.
    fn elements(&mut self, count: usize, element: impl Fn(&mut Self, usize)) {
        let (long, ends) = if self.lists == 0 { (LONG, ENDS) } else { (INNER_LONG, INNER_ENDS) };
        let is_abbreviated = self.form == Form::Session && count > long;
        let (first, last) = if is_abbreviated { ends } else { (count, 0) };
        self.lists += 1;
        let mut k = 0;
        while k < count {
            if k > 0 {
                self.out.push_str(", ");
            }
            let next = match k {
                _ if self.remaining == 0 => count,
                k if k == first => count - last,
                k => k,
            };
            if next > k {
                let _ = write!(self.out, "… {} more", next - k);
                k = next;
                continue;
            }
            element(self, k);
            k += 1;
        }
        self.lists -= 1;
    }

    /// Writes a string in quotes, or its beginning.
    fn text(&mut self, text: &str) {
        let most = if self.lists == 0 { MAX_TEXT.0 } else { MAX_TEXT.1 };
        match text.char_indices().nth(most).filter(|_| self.form == Form::Session) {
            None => write_quoted(&mut self.out, text),
            Some((end, _)) => {
                write_quoted(&mut self.out, &text[..end]);
                let _ = write!(self.out, " … {} more characters", text[end..].chars().count());
            }
        }
    }

    /// Writes an instance, with the name of its dynamic class.
    fn instance(&mut self, name: &str, instance: &Ref) {
        let own = match instance {
            Ref::Box(object) => object.shape.map(|shape| self.shapes.get(shape)),
            _ => None,
        };
        match own {
            Some(Shape::Class { name, .. }) => self.out.push_str(name),
            _ => self.out.push_str(name),
        }
    }
}

/// Returns the text before and after the bound of a range with one bound, given the name of the range's type.
fn open_range(name: &str) -> Option<[&'static str; 2]> {
    match name.split('<').next()? {
        "PartialRangeFrom" => Some(["", "..."]),
        "PartialRangeUpTo" => Some(["..<", ""]),
        "PartialRangeThrough" => Some(["...", ""]),
        _ => None,
    }
}

/// Writes a string in quotes, with escapes.
pub fn write_quoted(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\'' => out.push_str("\\'"),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\0' => out.push_str("\\0"),
            c if c.is_control() => {
                let _ = write!(out, "\\u{{{:X}}}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

/// Returns the printed form of a tensor, abbreviated if it has many scalars.
pub fn tensor_description(tensor: &Tensor) -> String {
    describe_tensor(tensor, DescriptionStyle::usual(tensor.scalar_count()))
}

/// Returns the printed form of a tensor with all scalars, or with some elements at both ends of each axis, in lines of a
/// width.
pub fn styled_tensor_description(tensor: &Tensor, edge: Option<usize>, line_width: usize) -> String {
    describe_tensor(tensor, DescriptionStyle { edge, line_width, ..DescriptionStyle::usual(0) })
}

fn describe_tensor(tensor: &Tensor, style: DescriptionStyle) -> String {
    let number = |x: f64, is_single: bool| {
        let mut text = String::new();
        if is_single {
            write_float(&mut text, x)
        } else {
            write_double(&mut text, x)
        }
        text
    };
    tensor.description(style, &number).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Cells;

    fn strings(shapes: &mut Shapes) -> ShapeId {
        shapes.add(Shape::String)
    }

    fn show(shapes: &Shapes, shape: ShapeId, f: &[f64], i: &[i64], r: &[Ref]) -> String {
        describe(shapes, shape, Components { f, slots: &[], i, r })
    }

    #[test]
    fn structs_tuples_and_optionals() {
        let mut shapes = Shapes::default();
        let double = shapes.add(Shape::Double);
        let int = shapes.add(Shape::Int { bits: 64, signed: true });
        let string = strings(&mut shapes);
        let fields = vec![("x".into(), double), ("name".into(), string)];
        let point = shapes.add(Shape::Struct { name: "Point".into(), fields, style: Style::Fields });
        let text = Ref::Text("a\"b".into());
        assert_eq!(show(&shapes, point, &[1.0], &[], std::slice::from_ref(&text)), "Point(x: 1.0, name: \"a\\\"b\")");
        let tuple = shapes.add(Shape::Tuple(vec![(Some("value".into()), int), (Some("n".into()), int)]));
        assert_eq!(show(&shapes, tuple, &[], &[1, 2], &[]), "(value: 1, n: 2)");
        let optional = shapes.add(Shape::Optional(string));
        assert_eq!(show(&shapes, optional, &[], &[1], &[text]), "Optional(\"a\\\"b\")");
        assert_eq!(show(&shapes, optional, &[], &[0], &[Ref::Null]), "nil");
        let range = vec![("lowerBound".into(), int), ("upperBound".into(), int)];
        let range = shapes.add(Shape::Struct { name: "Range<Int>".into(), fields: range, style: Style::Range });
        assert_eq!(show(&shapes, range, &[], &[0, 5], &[]), "0..<5");
    }

    #[test]
    fn cases_share_components() {
        let mut shapes = Shapes::default();
        let double = shapes.add(Shape::Double);
        let unit = Case { name: "north".into(), payload: vec![] };
        let circle = Case { name: "circle".into(), payload: vec![(Some("radius".into()), double)] };
        let pair = Case { name: "pair".into(), payload: vec![(None, double), (None, double)] };
        let shape = shapes.add(Shape::Enum { name: "E".into(), cases: vec![unit, circle, pair] });
        let both = shapes.add(Shape::Tuple(vec![(None, shape), (None, double)]));
        assert_eq!(show(&shapes, both, &[7.0, 0.0, 9.0], &[1], &[]), "(circle(radius: 7.0), 9.0)");
        assert_eq!(show(&shapes, both, &[7.0, 8.0, 9.0], &[2], &[]), "(pair(7.0, 8.0), 9.0)");
        assert_eq!(show(&shapes, shape, &[7.0, 8.0], &[0], &[]), "north");
    }

    #[test]
    fn arrays_of_arrays() {
        let mut shapes = Shapes::default();
        let double = shapes.add(Shape::Double);
        let row = shapes.add(Shape::Array(double));
        let matrix = shapes.add(Shape::Array(row));
        let array = |f: &[f64]| Ref::Cells(Rc::new(Cells::numbers(f.to_vec())));
        let rows = Cells::references(vec![array(&[1.0, 2.0]), array(&[])]);
        assert_eq!(show(&shapes, matrix, &[], &[], &[Ref::Cells(Rc::new(rows))]), "[[1.0, 2.0], []]");
    }

    #[test]
    fn a_session_abbreviates_long_values() {
        let mut shapes = Shapes::default();
        let double = shapes.add(Shape::Double);
        let row = shapes.add(Shape::Array(double));
        let matrix = shapes.add(Shape::Array(row));
        let array = |n: usize| Ref::Cells(Rc::new(Cells::numbers(vec![1.0; n])));
        let show = |shape, value: &Ref, form| {
            let value = std::slice::from_ref(value);
            describe_with(&shapes, shape, Components { f: &[], slots: &[], i: &[], r: value }, form, &[])
        };
        assert!(!show(row, &array(40), Form::Session).contains('…'));
        let long = show(row, &array(1000), Form::Session);
        assert!(long.contains(", 1.0, … 975 more, 1.0, "), "{long}");
        assert_eq!(long.matches("1.0").count(), 25);
        assert_eq!(show(row, &array(1000), Form::FullSession).matches("1.0").count(), 1000);
        let rows = Ref::Cells(Rc::new(Cells::references(vec![array(1000); 1000])));
        let long = show(matrix, &rows, Form::Session);
        assert!(long.len() < 4000 && long.ends_with(']'), "{long}");
        let mut shapes = Shapes::default();
        let string = shapes.add(Shape::String);
        let text = [Ref::Text("x".repeat(3000).as_str().into())];
        let text =
            describe_with(&shapes, string, Components { f: &[], slots: &[], i: &[], r: &text }, Form::Session, &[]);
        assert!(text.ends_with("x\" … 2000 more characters"), "{text}");
    }

    #[test]
    fn a_session_shows_ranges_as_they_are_written() {
        let mut shapes = Shapes::default();
        let int = shapes.add(Shape::Int { bits: 64, signed: true });
        let fields = vec![("lowerBound".into(), int), ("upperBound".into(), int)];
        let range = shapes.add(Shape::Struct { name: "ClosedRange<Int>".into(), fields, style: Style::ClosedRange });
        let pair = shapes.add(Shape::Tuple(vec![(None, range), (None, int)]));
        let show =
            |form| describe_with(&shapes, pair, Components { f: &[], slots: &[], i: &[1, 5, 2], r: &[] }, form, &[]);
        assert_eq!(show(Form::Part), "(ClosedRange(1...5), 2)");
        assert_eq!(show(Form::Session), "(1...5, 2)");
    }

    #[test]
    fn depth_is_bounded() {
        let mut shapes = Shapes::default();
        let list = shapes.reserve();
        let link = shapes.add(Shape::Optional(list));
        shapes.define(list, Shape::Boxed(link), None);
        let mut chain = Ref::Null;
        for k in 0..10_000 {
            let mut cells = Cells::integers(vec![i64::from(k > 0)]);
            cells.r.push(chain);
            chain = Ref::Cells(Rc::new(cells));
        }
        assert!(show(&shapes, list, &[], &[], &[chain]).contains("Optional(…)"));
    }
}
