//! Comparison: the equality and order of values by shape, for synthesized conformances.

use super::shape::{Shape, ShapeId, Shapes, visible_fields};
use super::{Components, Ref};
use crate::tensor::Tensor;
use std::cmp::Ordering;
use std::rc::Rc;

/// Whether two values of one type are equal. The function uses a work list, so that chains of any length can be
/// compared.
pub fn equal(shapes: &Shapes, shape: ShapeId, a: Components<'_>, b: Components<'_>) -> bool {
    let mut work = vec![(shape, a, b)];
    while let Some((shape, mut a, mut b)) = work.pop() {
        crate::cancel::check();
        let same = match shapes.get(shape) {
            Shape::Double | Shape::Float => a.number() == b.number(),
            Shape::Tensor => {
                a.number();
                b.number();
                equal_tensors(a.reference(), b.reference())
            }
            Shape::Int { .. } | Shape::Bool => a.integer() == b.integer(),
            Shape::String | Shape::Character => super::string::same(text(a.reference()), text(b.reference())),
            Shape::Tuple(fields) => {
                push_fields(shapes, &mut work, fields.iter().map(|(_, s)| *s), a, b);
                true
            }
            Shape::Struct { fields, style, .. } => {
                push_fields(shapes, &mut work, visible_fields(fields, *style).iter().map(|(_, s)| *s), a, b);
                true
            }
            Shape::Enum { cases, .. } => {
                let (tag, other) = (a.integer(), b.integer());
                if let Some(case) = usize::try_from(tag).ok().and_then(|t| cases.get(t)).filter(|_| tag == other) {
                    push_fields(shapes, &mut work, case.payload.iter().map(|(_, s)| *s), a, b);
                }
                tag == other
            }
            Shape::Optional(of) => {
                let (tag, other) = (a.integer(), b.integer());
                if tag != 0 && other != 0 {
                    work.push((*of, a, b));
                }
                (tag != 0) == (other != 0)
            }
            Shape::Array(of) => equal_arrays(shapes, &mut work, *of, a.reference(), b.reference()),
            Shape::Dictionary(key, of) => {
                equal_dictionaries(shapes, &mut work, (*key, Some(*of)), a.reference(), b.reference())
            }
            Shape::Set(key) => equal_dictionaries(shapes, &mut work, (*key, None), a.reference(), b.reference()),
            Shape::Boxed(of) => match (a.reference(), b.reference()) {
                (Ref::Cells(x), Ref::Cells(y)) => {
                    // A record that both sides share is equal to itself only when it contains no NaN.
                    work.push((*of, x.all(), y.all()));
                    true
                }
                (x, y) => same_object(x, y),
            },
            Shape::Any => match (a.reference(), b.reference()) {
                (Ref::Any(x), Ref::Any(y)) if x.shape == y.shape => {
                    work.push((x.shape, x.cells.all(), y.cells.all()));
                    true
                }
                (x, y) => same_object(x, y),
            },
            Shape::Function { .. } | Shape::Class { .. } => same_object(a.reference(), b.reference()),
            Shape::Metatype { .. } => true,
        };
        if !same {
            return false;
        }
    }
    true
}

type WorkList<'a> = Vec<(ShapeId, Components<'a>, Components<'a>)>;

fn push_fields<'a>(
    shapes: &Shapes,
    work: &mut WorkList<'a>,
    fields: impl Iterator<Item = ShapeId>,
    mut a: Components<'a>,
    mut b: Components<'a>,
) {
    for shape in fields {
        let layout = shapes.layout(shape);
        work.push((shape, a.take(layout), b.take(layout)));
    }
}

fn equal_arrays<'a>(shapes: &Shapes, work: &mut WorkList<'a>, of: ShapeId, a: &'a Ref, b: &'a Ref) -> bool {
    let (Ref::Cells(x), Ref::Cells(y)) = (a, b) else { return count(a) == 0 && count(b) == 0 };
    if x.len != y.len {
        return false;
    }
    match shapes.get(of) {
        Shape::Double | Shape::Float => x.f == y.f,
        Shape::Int { .. } | Shape::Bool => x.i == y.i,
        _ => {
            let layout = shapes.layout(of);
            work.extend((0..x.len).map(|k| (of, x.element(k, layout), y.element(k, layout))));
            true
        }
    }
}

fn equal_dictionaries<'a>(
    shapes: &Shapes,
    work: &mut WorkList<'a>,
    (key, of): (ShapeId, Option<ShapeId>),
    a: &'a Ref,
    b: &'a Ref,
) -> bool {
    let (Ref::Dictionary(x), Ref::Dictionary(y)) = (a, b) else { return count(a) == 0 && count(b) == 0 };
    if x.len() != y.len() {
        return false;
    }
    let layout = shapes.layout(key);
    for k in 0..x.len() {
        let Some(at) = y.find(shapes, key, x.keys().element(k, layout)) else { return false };
        if let Some(of) = of {
            let layout = shapes.layout(of);
            work.push((of, x.values().element(k, layout), y.value_there(at, layout)));
        }
    }
    true
}

fn count(r: &Ref) -> usize {
    match r {
        Ref::Cells(cells) => cells.len,
        Ref::Dictionary(dictionary) => dictionary.len(),
        _ => 0,
    }
}

pub(super) fn text(r: &Ref) -> &str {
    match r {
        Ref::Text(text) => text,
        _ => "",
    }
}

/// Whether two references refer to the same object.
pub fn same_object(a: &Ref, b: &Ref) -> bool {
    match (a, b) {
        (Ref::Null, Ref::Null) => true,
        (Ref::Text(x), Ref::Text(y)) => super::string::same(x, y),
        (Ref::Cells(x), Ref::Cells(y)) => Rc::ptr_eq(x, y),
        (Ref::Box(x), Ref::Box(y)) => Rc::ptr_eq(x, y),
        (Ref::Dictionary(x), Ref::Dictionary(y)) => Rc::ptr_eq(x, y),
        (Ref::Closure(x), Ref::Closure(y)) => Rc::ptr_eq(x, y),
        (Ref::Machine(x), Ref::Machine(y)) => Rc::ptr_eq(x, y),
        (Ref::Any(x), Ref::Any(y)) => Rc::ptr_eq(x, y),
        (Ref::Tensor(x), Ref::Tensor(y)) => Rc::ptr_eq(x, y),
        _ => false,
    }
}

/// Whether two tensors have the same shape and equal scalars. The null reference is a zero of rank 0.
fn equal_tensors(a: &Ref, b: &Ref) -> bool {
    match (a, b) {
        (Ref::Null, Ref::Null) => true,
        (Ref::Tensor(a), Ref::Tensor(b)) => a.is_equal(b).unwrap_or(false),
        (Ref::Tensor(x), Ref::Null) | (Ref::Null, Ref::Tensor(x)) => {
            x.rank() == 0
                && Tensor::zeros(x.kind(), crate::tensor::Shape::default()).and_then(|zero| x.is_equal(&zero))
                    == Ok(true)
        }
        _ => false,
    }
}

/// Compares two values of one type lexicographically; `None` for unordered numbers and for types without an order.
pub fn compare(shapes: &Shapes, shape: ShapeId, mut a: Components<'_>, mut b: Components<'_>) -> Option<Ordering> {
    match shapes.get(shape) {
        Shape::Double | Shape::Float => a.number().partial_cmp(&b.number()),
        Shape::Int { bits: 64, signed: false } => Some((a.integer() as u64).cmp(&(b.integer() as u64))),
        Shape::Int { .. } | Shape::Bool => Some(a.integer().cmp(&b.integer())),
        Shape::String | Shape::Character => Some(super::string::order(text(a.reference()), text(b.reference()))),
        Shape::Tuple(fields) => compare_fields(shapes, fields.iter().map(|(_, s)| *s), a, b),
        Shape::Struct { fields, style, .. } => {
            compare_fields(shapes, visible_fields(fields, *style).iter().map(|(_, s)| *s), a, b)
        }
        Shape::Enum { cases, .. } => {
            let (tag, other) = (a.integer(), b.integer());
            let case = usize::try_from(tag).ok().and_then(|t| cases.get(t)).filter(|_| tag == other);
            match case {
                Some(case) => compare_fields(shapes, case.payload.iter().map(|(_, s)| *s), a, b),
                None => Some(tag.cmp(&other)),
            }
        }
        Shape::Boxed(of) => match (a.reference(), b.reference()) {
            (Ref::Cells(x), Ref::Cells(y)) => compare(shapes, *of, x.all(), y.all()),
            _ => None,
        },
        Shape::Optional(_)
        | Shape::Array(_)
        | Shape::Dictionary(..)
        | Shape::Set(_)
        | Shape::Function { .. }
        | Shape::Class { .. }
        | Shape::Any
        | Shape::Tensor
        | Shape::Metatype { .. } => None,
    }
}

fn compare_fields(
    shapes: &Shapes,
    fields: impl Iterator<Item = ShapeId>,
    mut a: Components<'_>,
    mut b: Components<'_>,
) -> Option<Ordering> {
    for shape in fields {
        let layout = shapes.layout(shape);
        match compare(shapes, shape, a.take(layout), b.take(layout)) {
            Some(Ordering::Equal) => {}
            other => return other,
        }
    }
    Some(Ordering::Equal)
}

#[cfg(test)]
mod tests {
    use super::super::hashing::hash;
    use super::*;

    #[test]
    fn zeros_are_equal_and_hash_alike() {
        let mut shapes = Shapes::default();
        let double = shapes.add(Shape::Double);
        let part = |x: &'static [f64]| Components { f: x, ..Components::default() };
        assert!(equal(&shapes, double, part(&[0.0]), part(&[-0.0])));
        assert_eq!(hash(&shapes, double, part(&[0.0])), hash(&shapes, double, part(&[-0.0])));
        assert!(!equal(&shapes, double, part(&[f64::NAN]), part(&[f64::NAN])));
    }

    #[test]
    fn tuples_compare_from_the_left() {
        let mut shapes = Shapes::default();
        let int = shapes.add(Shape::Int { bits: 64, signed: true });
        let string = shapes.add(Shape::String);
        let pair = shapes.add(Shape::Tuple(vec![(None, int), (None, string)]));
        let texts = [Ref::Text("b".into()), Ref::Text("a".into())];
        let at = |i: &'static [i64], r: usize| Components { i, r: &texts[r..=r], ..Components::default() };
        assert_eq!(compare(&shapes, pair, at(&[1], 0), at(&[2], 1)), Some(Ordering::Less));
        assert_eq!(compare(&shapes, pair, at(&[1], 0), at(&[1], 1)), Some(Ordering::Greater));
        assert!(equal(&shapes, pair, at(&[1], 0), at(&[1], 0)));
    }
}
