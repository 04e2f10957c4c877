//! Tests of the traversal of values by their tangent types.

use super::*;
use crate::value::Components;
use crate::value::shape::{Case, Style};

/// The shapes and tangent types that the tests use.
struct Types {
    shapes: Shapes,
    tangents: Tangents,
}

impl Types {
    fn new() -> Types {
        Types { shapes: Shapes::default(), tangents: Tangents::default() }
    }

    fn walk(&self) -> Walk<'_> {
        Walk { shapes: &self.shapes, tangents: &self.tangents }
    }

    fn number(&mut self) -> TangentId {
        let double = self.shapes.add(Shape::Double);
        self.tangents.add(Tangent { value: double, vector: double, kind: TangentKind::Number })
    }

    fn wrapped(&mut self, of: TangentId, shape: fn(ShapeId) -> Shape, kind: fn(TangentId) -> TangentKind) -> TangentId {
        let Tangent { value, vector, .. } = *self.tangents.get(of);
        let value = self.shapes.add(shape(value));
        let inside = self.shapes.add(shape(vector));
        let vector = self.structure(&[inside]);
        self.tangents.add(Tangent { value, vector, kind: kind(of) })
    }

    fn array(&mut self, of: TangentId) -> TangentId {
        self.wrapped(of, Shape::Array, TangentKind::Array)
    }

    fn structure(&mut self, fields: &[ShapeId]) -> ShapeId {
        let fields = fields.iter().enumerate().map(|(k, s)| (Rc::from(format!("f{k}")), *s)).collect();
        self.shapes.add(Shape::Struct { name: Rc::from("S"), fields, style: Style::Fields })
    }
}

fn collect(walk: Walk<'_>, id: TangentId, value: &Cells) -> Vec<f64> {
    let mut all = vec![];
    walk.leaves(id, value, Offset::default(), &mut |x, _| all.push(x)).unwrap();
    all
}

fn array(numbers: &[f64]) -> Ref {
    let mut cells = Cells::default();
    numbers.iter().for_each(|x| cells.push(Components { f: &[*x], ..Components::default() }));
    Ref::Cells(Rc::new(cells))
}

/// Returns `struct { var a: Double; let n: Int; var xs: [Double]; var o: Double? }`, whose vector has `xs` before `a`,
/// and an additional field.
fn model(types: &mut Types) -> (TangentId, Cells) {
    let number = types.number();
    let xs = types.array(number);
    let o = types.wrapped(number, Shape::Optional, TangentKind::Optional);
    let double = types.shapes.add(Shape::Double);
    let int = types.shapes.add(Shape::Int { bits: 64, signed: true });
    let (xs_tangent, o_tangent) = (types.tangents.get(xs).clone(), types.tangents.get(o).clone());
    let value = types.structure(&[double, int, xs_tangent.value, o_tangent.value]);
    let vector = types.structure(&[xs_tangent.vector, double, double, o_tangent.vector]);
    let kind = TangentKind::Fields(vec![(0, 2, number), (2, 0, xs), (3, 3, o)]);
    let id = types.tangents.add(Tangent { value, vector, kind });
    let cells = Cells::record(Components { f: &[5.0, 8.0], slots: &[], i: &[42, 1], r: &[array(&[1.0, 2.0])] });
    (id, cells)
}

#[test]
fn leaves_vectors_and_reading_share_one_order() {
    let mut types = Types::new();
    let (id, value) = model(&mut types);
    let walk = types.walk();
    assert_eq!(collect(walk, id, &value), [5.0, 1.0, 2.0, 8.0]);
    let mut next = 0.0;
    let vector = walk
        .vector(id, &value, Offset::default(), &mut || {
            next += 1.0;
            (next, Slot::NONE)
        })
        .unwrap();
    // The array is the first field of the vector; the second field has no counterpart and is zero.
    assert_eq!((vector.f.as_slice(), vector.i.as_slice()), (&[0.0, 1.0, 4.0][..], &[1][..]));
    assert!(matches!(&vector.r[0], Ref::Cells(c) if c.f[..] == [2.0, 3.0]));
    let mut read = vec![];
    walk.read(id, (&value, Offset::default()), (&vector, Offset::default()), &mut |x, _| read.push(x)).unwrap();
    assert_eq!(read, [1.0, 2.0, 3.0, 4.0]);
}

#[test]
fn what_is_missing_in_a_vector_is_zero_and_what_is_too_much_is_not_read() {
    let mut types = Types::new();
    let (id, value) = model(&mut types);
    let walk = types.walk();
    let mut zero = walk.zero(walk.tangent(id).vector);
    let mut read = vec![];
    walk.read(id, (&value, Offset::default()), (&zero, Offset::default()), &mut |x, _| read.push(x)).unwrap();
    assert_eq!(read, [0.0; 4]);
    for (vector, sum) in [(array(&[1.0, 2.0, 3.0]), 3.0), (array(&[1.0]), 1.0)] {
        zero.r[0] = vector;
        let mut read = vec![];
        walk.read(id, (&value, Offset::default()), (&zero, Offset::default()), &mut |x, _| read.push(x)).unwrap();
        assert_eq!((read.len(), read.iter().sum::<f64>()), (4, sum));
    }
}

#[test]
fn shared_arrays_are_copied_before_their_slots_change() {
    let mut types = Types::new();
    let (id, mut value) = model(&mut types);
    let before = value.r[0].clone();
    let mut payload = 0;
    types
        .walk()
        .change(id, &mut value, Offset::default(), &mut |_, _| {
            payload += 1;
            Slot { epoch: 1, payload }
        })
        .unwrap();
    assert!(matches!(&before, Ref::Cells(c) if c.slots.is_empty()));
    assert!(matches!(&value.r[0], Ref::Cells(c) if c.slot(1) == Slot { epoch: 1, payload: 3 }));
    assert_eq!((value.slot(0).payload, value.slot(1).payload), (1, 4));
}

#[test]
fn the_vector_of_an_enum_has_a_case_more() {
    let mut types = Types::new();
    let number = types.number();
    let double = types.shapes.add(Shape::Double);
    let int = types.shapes.add(Shape::Int { bits: 64, signed: true });
    let case = |name: &str, payload: &[ShapeId]| Case {
        name: Rc::from(name),
        payload: payload.iter().map(|s| (None, *s)).collect(),
    };
    let value = types.shapes.add(Shape::Enum {
        name: Rc::from("E"),
        cases: vec![case("empty", &[]), case("pair", &[int, double, double])],
    });
    let vector = types.shapes.add(Shape::Enum {
        name: Rc::from("E.TangentVector"),
        cases: vec![case("zero", &[]), case("empty", &[]), case("pair", &[double, double])],
    });
    let kind = TangentKind::Enum(vec![vec![], vec![(1, number), (2, number)]]);
    let id = types.tangents.add(Tangent { value, vector, kind });
    let pair = Cells::record(Components { f: &[3.0, 4.0], slots: &[], i: &[1, 7], r: &[] });
    let walk = types.walk();
    assert_eq!(collect(walk, id, &pair), [3.0, 4.0]);
    let made = walk.vector(id, &pair, Offset::default(), &mut || (9.0, Slot::NONE)).unwrap();
    assert_eq!((made.f.as_slice(), made.i[0]), (&[9.0, 9.0][..], 2));
    let empty = Cells::record(Components { f: &[0.0, 0.0], slots: &[], i: &[0, 0], r: &[] });
    let wrong = walk.read(id, (&empty, Offset::default()), (&made, Offset::default()), &mut |_, _| {});
    assert_eq!(wrong, Err(Mismatch::Case));
}

#[test]
fn dictionaries_are_read_by_key() {
    let mut types = Types::new();
    let number = types.number();
    let text = types.shapes.add(Shape::String);
    let double = types.shapes.add(Shape::Double);
    let value = types.shapes.add(Shape::Dictionary(text, double));
    let vector = types.structure(&[value]);
    let id = types.tangents.add(Tangent { value, vector, kind: TangentKind::Dictionary(number) });
    let one = Layout { f: 1, i: 0, r: 0 };
    let make = |entries: &[(&str, f64)]| {
        let mut d = Dictionary::default();
        for (key, x) in entries {
            let key = [Ref::Text((*key).into())];
            let key = Components { r: &key, ..Components::default() };
            d.set(&types.shapes, (text, key), (one, Components { f: &[*x], ..Components::default() }));
        }
        Cells::record(Components { r: &[Ref::Dictionary(Rc::new(d))], ..Components::default() })
    };
    let (value, vector) = (make(&[("a", 1.0), ("b", 2.0)]), make(&[("b", 20.0)]));
    let mut read = vec![];
    let walk = types.walk();
    walk.read(id, (&value, Offset::default()), (&vector, Offset::default()), &mut |x, _| read.push(x)).unwrap();
    assert_eq!(read, [0.0, 20.0]);
    assert_eq!(collect(walk, id, &value), [1.0, 2.0]);
}

/// Returns the number of leaves of a linked list.
fn count_links(links: usize) -> Result<usize, Mismatch> {
    let mut types = Types::new();
    let double = types.shapes.add(Shape::Double);
    let list = types.shapes.reserve();
    let optional = types.shapes.add(Shape::Optional(list));
    let fields = types.structure(&[double, optional]);
    types.shapes.define(list, Shape::Boxed(fields), None);
    let number = types.number();
    let boxed = types.tangents.reserve(list, list);
    let rest = types.tangents.add(Tangent { value: optional, vector: optional, kind: TangentKind::Optional(boxed) });
    let kind = TangentKind::Fields(vec![(0, 0, number), (1, 1, rest)]);
    let inside = types.tangents.add(Tangent { value: fields, vector: fields, kind });
    types.tangents.define(boxed, Tangent { value: list, vector: list, kind: TangentKind::Boxed(inside) });
    let chain = (0..links).fold(Ref::Null, |next, k| {
        let parts = Components { f: &[1.0], slots: &[], i: &[i64::from(k > 0)], r: &[next] };
        Ref::Cells(Rc::new(Cells::record(parts)))
    });
    let root = Cells::record(Components { r: &[chain], ..Components::default() });
    types.walk().count(boxed, &root, Offset::default())
}

#[test]
fn a_deep_value_is_an_error_and_not_a_crash() {
    assert_eq!(count_links(100), Ok(100));
    // The machine runs on a large stack, but tests do not.
    let thread = std::thread::Builder::new().stack_size(128 << 20);
    let answer = thread.spawn(|| count_links(100_000)).unwrap().join();
    assert_eq!(answer.unwrap(), Err(Mismatch::TooDeep));
}
