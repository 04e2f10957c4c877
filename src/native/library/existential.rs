//! Existentials: values of any type (`Any`), which are boxed, cast, described and compared.

use super::NativeFunction;
use super::context::{Failure, FailureKind, NativeContext, internal};
use crate::value::finalizer::WeakReference;
use crate::value::printing::{Form, Line};
use crate::value::shape::{Layout, Shape, ShapeId};
use crate::value::{AnyValue, Cells, Components, Ref, comparison, hashing, printing};
use std::cmp::Ordering;
use std::rc::Rc;

type Call<'a, 'b> = &'a mut NativeContext<'b>;

pub(super) const TABLE: &[NativeFunction] = &[
    NativeFunction { name: "any.box", call: wrap },
    NativeFunction { name: "any.as", call: unwrap },
    NativeFunction { name: "instance.atEnd", call: at_end },
    NativeFunction { name: "instance.born", call: born },
    NativeFunction { name: "instance.loosen", call: loosen },
    NativeFunction { name: "instance.find", call: find },
    NativeFunction { name: "instance.isUnique", call: is_unique },
    NativeFunction { name: "describe", call: |c| describe(c, Form::Plain) },
    NativeFunction { name: "debugDescribe", call: |c| describe(c, Form::Part) },
    NativeFunction { name: "describeLine", call: |c| describe_line(c, Form::Plain) },
    NativeFunction { name: "debugDescribeLine", call: |c| describe_line(c, Form::Part) },
    NativeFunction { name: "describeInSession", call: |c| describe(c, Form::Session) },
    NativeFunction { name: "describeInFull", call: |c| describe(c, Form::FullSession) },
    NativeFunction { name: "value.equal", call: equal },
    NativeFunction { name: "value.missing", call: missing },
    NativeFunction { name: "value.less", call: less },
    NativeFunction { name: "value.hash", call: hash },
];

/// Converts a strong reference to a reference that does not retain its instance; the tag of an optional comes first.
fn loosen(c: Call<'_, '_>) -> Result<(), Failure> {
    let (tag, object) = (c.tag(), c.reference());
    if let Some(tag) = tag {
        c.return_integer(tag)?;
    }
    c.return_reference(WeakReference::of(object))
}

/// Returns the instance of a weak or unowned reference, if it still exists.
fn find(c: Call<'_, '_>) -> Result<(), Failure> {
    let (tag, object) = (c.tag(), c.reference());
    let found = WeakReference::find(&object);
    match (tag, found) {
        (Some(_), found) => {
            c.return_integer(i64::from(found.is_some()))?;
            c.return_reference(found.unwrap_or_default())
        }
        (None, Some(found)) => c.return_reference(found),
        (None, None) => {
            let message = "an unowned reference was read after its instance was deallocated";
            Err(Failure::new(FailureKind::Precondition, message))
        }
    }
}

/// Returns whether the reference is the only one to its instance, and the reference.
fn is_unique(c: Call<'_, '_>) -> Result<(), Failure> {
    let object = c.reference();
    let Ref::Box(instance) = &object else { return Err(internal()) };
    c.return_integer(i64::from(Rc::strong_count(instance) == 1))?;
    c.return_reference(object)
}

/// Adds a finalizer to an instance, after the finalizers that are already registered.
fn at_end(c: Call<'_, '_>) -> Result<(), Failure> {
    let (Ref::Box(instance), Ref::Closure(what)) = (c.reference(), c.reference()) else { return Err(internal()) };
    instance.finalizer.add(what);
    Ok(())
}

/// Marks an instance as initialized, after its initializer has run; a failed initializer leaves no instance.
fn born(c: Call<'_, '_>) -> Result<(), Failure> {
    match c.reference() {
        Ref::Box(instance) => instance.finalizer.mark_initialized(),
        Ref::Null => {}
        _ => return Err(internal()),
    }
    Ok(())
}

fn wrap(c: Call<'_, '_>) -> Result<(), Failure> {
    let shape = c.type_at(0)?;
    let value = c.value(c.shapes.layout(shape))?;
    // A value of type `Any` is already boxed.
    if let (Shape::Any, [boxed]) = (c.shapes.get(shape), c.components(value).r) {
        let boxed = boxed.clone();
        return c.return_reference(boxed);
    }
    // An instance is boxed with its dynamic class.
    let shape = match c.components(value).r {
        [Ref::Box(instance)] if matches!(c.shapes.get(shape), Shape::Class { .. }) => instance.shape.unwrap_or(shape),
        _ => shape,
    };
    let cells = Cells::record(c.components(value));
    c.return_reference(Ref::Any(Rc::new(AnyValue { shape, cells })))
}

/// Returns the components of a boxed value if it has the type `wanted`; the value may be inside optionals.
fn found<'a>(c: &NativeContext<'_>, any: &'a AnyValue, wanted: ShapeId) -> Option<Components<'a>> {
    let (mut shape, mut value) = (any.shape, any.cells.all());
    loop {
        if c.shapes.is_subclass(shape, wanted) {
            return Some(value);
        }
        match (c.shapes.get(shape), value.i, value.r) {
            (Shape::Optional(of), [1, rest @ ..], _) => (shape, value.i) = (*of, rest),
            (Shape::Any, _, [Ref::Any(inner)]) => (shape, value) = (inner.shape, inner.cells.all()),
            (Shape::Class { .. }, _, [Ref::Box(instance)]) => {
                let own = instance.shape?;
                return c.shapes.is_subclass(own, wanted).then_some(value);
            }
            _ => return None,
        }
    }
}

fn unwrap(c: Call<'_, '_>) -> Result<(), Failure> {
    let (shape, boxed) = (c.type_at(0)?, c.reference());
    let Ref::Any(any) = &boxed else { return Err(internal()) };
    let layout = c.shapes.layout(shape);
    if matches!(c.shapes.get(shape), Shape::Any) {
        c.return_integer(1)?;
        return c.return_reference(boxed);
    }
    let value = found(c, any, shape);
    c.return_optional(layout, value)
}

/// Returns the description of a value. The descriptions of parts with custom implementations are requested first.
fn describe(c: Call<'_, '_>, form: Form) -> Result<(), Failure> {
    let shape = c.type_at(0)?;
    let value = c.value(c.shapes.layout(shape))?;
    let Some(own) = c.custom_descriptions else {
        let parts = printing::custom_parts(c.shapes, shape, c.components(value), form);
        if !parts.is_empty() {
            c.requested = parts;
            return Ok(());
        }
        let text = printing::describe_with(c.shapes, shape, c.components(value), form, &[]);
        return c.return_text(text);
    };
    let text = printing::describe_with(c.shapes, shape, c.components(value), form, own);
    c.return_text(text)
}

/// Returns the descriptions of the elements of an array, with a separator between them and a terminator. The
/// descriptions of parts with custom implementations are requested first; the arguments stay in their registers for the
/// call after that.
fn describe_line(c: Call<'_, '_>, form: Form) -> Result<(), Failure> {
    let of = c.type_at(0)?;
    let arguments = c.value(Layout { f: 0, i: 0, r: 3 })?;
    let empty = Cells::default();
    let [values, separator, terminator] = c.components(arguments).r else { return Err(internal()) };
    let values = match values {
        Ref::Cells(values) if values.fits(c.shapes.layout(of)) => values,
        Ref::Null => &empty,
        _ => return Err(internal()),
    };
    let line = Line { of, values, separator: text_of(separator)?, terminator: text_of(terminator)? };
    match printing::describe_line(c.shapes, line, form, c.custom_descriptions.unwrap_or_default()) {
        Ok(text) => c.return_text(text),
        Err(parts) if c.custom_descriptions.is_none() => {
            c.requested = parts;
            Ok(())
        }
        Err(_) => Err(internal()),
    }
}

/// Returns the text of a string; the null reference is the empty string.
fn text_of(reference: &Ref) -> Result<&str, Failure> {
    match reference {
        Ref::Text(text) => Ok(text),
        Ref::Null => Ok(""),
        _ => Err(internal()),
    }
}

/// Notes that an element was read that the tangent vector of the array does not have, and that is therefore zero.
fn missing(c: Call<'_, '_>) -> Result<(), Failure> {
    let index = usize::try_from(c.integer()).unwrap_or(0);
    c.host.read_count = c.host.read_count.max(index.saturating_add(1));
    Ok(())
}

fn equal(c: Call<'_, '_>) -> Result<(), Failure> {
    let shape = c.type_at(0)?;
    let layout = c.shapes.layout(shape);
    let (a, b) = (c.value(layout)?, c.value(layout)?);
    let holds = comparison::equal(c.shapes, shape, c.components(a), c.components(b));
    c.return_integer(i64::from(holds))
}

fn less(c: Call<'_, '_>) -> Result<(), Failure> {
    let shape = c.type_at(0)?;
    let layout = c.shapes.layout(shape);
    let (a, b) = (c.value(layout)?, c.value(layout)?);
    let order = comparison::compare(c.shapes, shape, c.components(a), c.components(b));
    c.return_integer(i64::from(order == Some(Ordering::Less)))
}

fn hash(c: Call<'_, '_>) -> Result<(), Failure> {
    let shape = c.type_at(0)?;
    let value = c.value(c.shapes.layout(shape))?;
    let hash = hashing::hash(c.shapes, shape, c.components(value));
    c.return_integer(hash as i64)
}
