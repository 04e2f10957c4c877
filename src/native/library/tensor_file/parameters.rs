//! The parameters of a model: the tensors and numbers in a value of any type, with the paths by which source code refers to them.

use super::{Call, named_tensors};
use crate::native::library::context::{Failure, internal};
use crate::native::library::string::texts;
use crate::native::tensor::TensorValue;
use crate::tensor::{ScalarKind, Tensor};
use crate::value::printing::{Form, describe_with};
use crate::value::shape::{BESIDE, Shape, ShapeId, Shapes, Style};
use crate::value::walk::Offset;
use crate::value::{BoxCells, Cells, Ref, Slot};
use std::rc::Rc;

/// The depth of nesting below which parts are omitted, because the Rust stack is finite.
const MAX_DEPTH: usize = 200;

/// The names of properties that types of the library use for their storage, which have no name in paths.
const STORAGE: [&str; 2] = ["_storage", "_value"];

/// The beginning of the name of the library's class of shared tensors, whose only property has no name in paths.
const PARAMETER: &str = "Parameter<";

/// A reference that leads from some components to others, by its index among the references of the former.
#[derive(Clone, Copy, Debug)]
enum Hop {
    /// A record, or the elements of an array.
    Cells(usize),
    /// The values of a dictionary.
    Values(usize),
    /// The properties of an instance of a class.
    Instance(usize),
    /// The value of an existential.
    Any(usize),
}

/// The content of a parameter.
#[derive(Clone, Debug)]
enum Content {
    Tensor(Rc<Tensor>),
    Number(f64, ScalarKind),
}

/// A parameter, and its place in the value.
#[derive(Clone, Debug)]
struct Parameter {
    path: String,
    content: Content,
    hops: Vec<Hop>,
    /// The index of the number, or of the reference to the tensor.
    at: usize,
}

struct Search<'s> {
    shapes: &'s Shapes,
    path: String,
    hops: Vec<Hop>,
    /// The kind of scalars of the tensor type whose storage is visited.
    scalars: ScalarKind,
    /// The instances that were visited: an instance that is shared is listed once.
    instances: Vec<Rc<BoxCells>>,
    found: Vec<Parameter>,
}

impl Search<'_> {
    fn value(&mut self, shape: ShapeId, cells: &Cells, at: Offset) {
        let depth = self.hops.len() + self.path.matches(['.', '[']).count();
        if depth > MAX_DEPTH {
            return;
        }
        match self.shapes.get(shape) {
            Shape::Double | Shape::Float => {
                let kind = if *self.shapes.get(shape) == Shape::Float { ScalarKind::F32 } else { ScalarKind::F64 };
                if let Some(number) = cells.f.get(at.f) {
                    self.found(Content::Number(*number, kind), at.f);
                }
            }
            Shape::Tensor => self.tensor(cells, at),
            Shape::Tuple(fields) => {
                for (k, (label, field)) in fields.iter().enumerate() {
                    let name = label.as_deref().map_or_else(|| k.to_string(), str::to_owned);
                    self.field(&name, *field, cells, at.after(self.shapes.before_field(shape, k)));
                }
            }
            Shape::Struct { fields, style: Style::Beside, .. } => {
                let beside = BESIDE as usize;
                for (k, (_, field)) in fields.iter().enumerate().filter(|(k, _)| *k != beside) {
                    self.value(*field, cells, at.after(self.shapes.before_field(shape, k)));
                }
            }
            Shape::Struct { name, fields, .. } => {
                if let Some(scalars) = name.strip_prefix("Tensor<").and_then(|rest| rest.strip_suffix('>')) {
                    self.scalars = if scalars == ScalarKind::F32.name() { ScalarKind::F32 } else { ScalarKind::F64 };
                }
                for (k, (name, field)) in fields.iter().enumerate() {
                    self.field(name, *field, cells, at.after(self.shapes.before_field(shape, k)));
                }
            }
            Shape::Enum { cases, .. } => {
                let tag = cells.i.get(at.i).and_then(|tag| usize::try_from(*tag).ok());
                let Some(case) = tag.and_then(|tag| cases.get(tag)) else { return };
                let mut place = at.after_tag();
                for (k, (label, payload)) in case.payload.iter().enumerate() {
                    let name = label.as_deref().map_or_else(|| k.to_string(), str::to_owned);
                    self.field(&format!("{}.{name}", case.name), *payload, cells, place);
                    place = place.after(self.shapes.layout(*payload));
                }
            }
            Shape::Optional(of) => {
                if cells.i.get(at.i) == Some(&1) {
                    self.value(*of, cells, at.after_tag());
                }
            }
            _ => self.reference(shape, cells, at.r),
        }
    }

    /// Visits the parts of a value that is stored as a reference.
    fn reference(&mut self, shape: ShapeId, cells: &Cells, at: usize) {
        let shapes = self.shapes;
        match (shapes.get(shape), cells.r.get(at)) {
            (Shape::Array(of), Some(Ref::Cells(elements))) => {
                let layout = shapes.layout(*of);
                // Arrays of numbers are data; parameters are tensors.
                if layout.r > 0 || !matches!(shapes.get(*of), Shape::Double | Shape::Float | Shape::Int { .. }) {
                    for k in 0..elements.len {
                        self.part(&format!("[{k}]"), Hop::Cells(at), *of, elements, Offset::element(k, layout));
                    }
                }
            }
            (Shape::Dictionary(key, of), Some(Ref::Dictionary(d))) => {
                for k in 0..d.len() {
                    let name = d.keys().element(k, shapes.layout(*key));
                    let name = format!("[{}]", describe_with(shapes, *key, name, Form::Part, &[]));
                    self.part(&name, Hop::Values(at), *of, d.values(), Offset::element(k, shapes.layout(*of)));
                }
            }
            (Shape::Boxed(of), Some(Ref::Cells(record))) => {
                self.part("", Hop::Cells(at), *of, record, Offset::default());
            }
            (Shape::Class { .. }, Some(Ref::Box(instance))) => {
                if self.instances.iter().any(|visited| Rc::ptr_eq(visited, instance)) {
                    return;
                }
                self.instances.push(Rc::clone(instance));
                // The fields are those of the class of the instance, which may be a subclass.
                let shape = instance.shape.unwrap_or(shape);
                let (Shape::Class { name, fields, .. }, Ok(inside)) = (shapes.get(shape), instance.cells.try_borrow())
                else {
                    return;
                };
                let is_parameter = name.starts_with(PARAMETER);
                self.hops.push(Hop::Instance(at));
                for (k, (name, field)) in fields.iter().enumerate() {
                    let name = if is_parameter { STORAGE[0] } else { name };
                    self.field(name, *field, &inside, Offset::default().after(shapes.before_field(shape, k)));
                }
                self.hops.pop();
            }
            (Shape::Any, Some(Ref::Any(any))) => self.part("", Hop::Any(at), any.shape, &any.cells, Offset::default()),
            _ => {}
        }
    }

    fn tensor(&mut self, cells: &Cells, at: Offset) {
        match cells.r.get(at.r) {
            Some(Ref::Tensor(tensor)) if tensor.kind().is_real() => {
                self.found(Content::Tensor(Rc::clone(tensor)), at.r);
            }
            // The null reference is zero.
            Some(Ref::Null) => {
                let zero = if self.scalars == ScalarKind::F32 { Tensor::scalar(0f32) } else { Tensor::scalar(0f64) };
                self.found(Content::Tensor(Rc::new(zero)), at.r);
            }
            _ => {}
        }
    }

    fn found(&mut self, content: Content, at: usize) {
        let path = self.path.trim_start_matches('.').to_owned();
        self.found.push(Parameter { path, content, hops: self.hops.clone(), at });
    }

    /// Visits a part with a name, in the same components.
    fn field(&mut self, name: &str, shape: ShapeId, cells: &Cells, at: Offset) {
        let length = self.path.len();
        if !STORAGE.contains(&name) {
            self.path.push('.');
            self.path.push_str(name.trim_start_matches('_'));
        }
        self.value(shape, cells, at);
        self.path.truncate(length);
    }

    /// Visits a part that is stored in other components.
    fn part(&mut self, name: &str, hop: Hop, shape: ShapeId, cells: &Cells, at: Offset) {
        let length = self.path.len();
        self.path.push_str(name);
        self.hops.push(hop);
        self.value(shape, cells, at);
        self.hops.pop();
        self.path.truncate(length);
    }
}

/// Returns the parameters of a value.
fn parameters(shapes: &Shapes, shape: ShapeId, value: &Cells) -> Vec<Parameter> {
    let mut search = Search {
        shapes,
        path: String::new(),
        hops: vec![],
        scalars: ScalarKind::F64,
        instances: vec![],
        found: vec![],
    };
    search.value(shape, value, Offset::default());
    search.found
}

/// Changes the components to which references lead. Components that are shared are copied, except those of instances.
fn change(cells: &mut Cells, hops: &[Hop], apply: &mut dyn FnMut(&mut Cells)) {
    let Some((hop, rest)) = hops.split_first() else { return apply(cells) };
    match *hop {
        Hop::Cells(at) => {
            if let Some(Ref::Cells(inside)) = cells.r.get_mut(at) {
                change(Rc::make_mut(inside), rest, apply);
            }
        }
        Hop::Values(at) => {
            if let Some(Ref::Dictionary(inside)) = cells.r.get_mut(at) {
                change(Rc::make_mut(inside).values_mut(), rest, apply);
            }
        }
        Hop::Instance(at) => {
            if let Some(Ref::Box(inside)) = cells.r.get(at).cloned()
                && let Ok(mut inside) = inside.cells.try_borrow_mut()
            {
                change(&mut inside, rest, apply);
            }
        }
        Hop::Any(at) => {
            if let Some(Ref::Any(inside)) = cells.r.get_mut(at) {
                let mut copy = inside.cells.clone();
                change(&mut copy, rest, apply);
                *inside = Rc::new(crate::value::AnyValue { shape: inside.shape, cells: copy });
            }
        }
    }
}

/// Reads the argument, a value of the type of the generic argument.
fn argument(c: Call<'_, '_>) -> Result<(ShapeId, Cells), Failure> {
    let shape = c.type_at(0)?;
    let value = c.value(c.shapes.layout(shape))?;
    Ok((shape, Cells::record(c.components(value))))
}

/// Returns the paths of the parameters, their values as tensors, and for each 1 if it is a number and 0 if it is a tensor.
pub(super) fn find(c: Call<'_, '_>) -> Result<(), Failure> {
    let (shape, value) = argument(c)?;
    let found = parameters(c.shapes, shape, &value);
    let tensors = found.iter().map(|parameter| match &parameter.content {
        Content::Tensor(tensor) => TensorValue { tensor: Rc::clone(tensor), slot: Slot::NONE },
        Content::Number(number, ScalarKind::F32) => TensorValue::constant(Tensor::scalar(*number as f32)),
        Content::Number(number, _) => TensorValue::constant(Tensor::scalar(*number)),
    });
    let tensors = tensors.collect();
    let kinds = found.iter().map(|parameter| i64::from(matches!(parameter.content, Content::Number(..)))).collect();
    c.return_reference(texts(found.into_iter().map(|parameter| parameter.path).collect()))?;
    c.return_tensors(tensors)?;
    c.return_integers(kinds)
}

/// Returns the value with other parameters, which have the paths and the kinds of the present ones.
pub(super) fn replace(c: Call<'_, '_>) -> Result<(), Failure> {
    let (shape, mut value) = argument(c)?;
    let (paths, tensors) = named_tensors(c)?;
    for parameter in parameters(c.shapes, shape, &value) {
        let Some(k) = paths.iter().position(|path| *path == parameter.path) else { continue };
        let tensor = Rc::clone(tensors.get(k).ok_or_else(internal)?);
        match parameter.content {
            Content::Tensor(_) => change(&mut value, &parameter.hops, &mut |cells| {
                if let Some(place) = cells.r.get_mut(parameter.at) {
                    *place = Ref::Tensor(Rc::clone(&tensor));
                }
            }),
            Content::Number(..) => {
                let number = tensor.cast(ScalarKind::F64).and_then(|tensor| tensor.scalarized::<f64>())?;
                change(&mut value, &parameter.hops, &mut |cells| {
                    let _ = cells.set_num(parameter.at, number, Slot::NONE);
                });
            }
        }
    }
    c.return_components(value.all())
}
