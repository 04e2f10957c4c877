//! Native library tests: native functions, called as the machine calls them.

use super::*;
use crate::native::tensor::PlainEvaluator;
use crate::value::shape::{Layout, Shape, Shapes};
use crate::value::{Cells, Ref, Slot};
use std::rc::Rc;

struct Registers {
    f: Vec<f64>,
    slots: Vec<Slot>,
    i: Vec<i64>,
    r: Vec<Ref>,
}

fn registers(f: &[f64], i: &[i64], r: Vec<Ref>) -> Registers {
    let mut registers = Registers { f: f.to_vec(), slots: vec![], i: i.to_vec(), r };
    registers.f.resize(8, 0.0);
    registers.i.resize(8, 0);
    registers.r.resize(8, Ref::Null);
    registers
}

fn call(
    name: &str,
    shapes: &Shapes,
    types: &[crate::value::shape::ShapeId],
    to: &mut Registers,
) -> Result<(), Failure> {
    let function = match get(find(name).unwrap()).unwrap() {
        Native::Function(function) | Native::Step(function) => function,
        Native::Pure(native) => {
            match native.operation {
                PureOperation::Query(query) => {
                    let seen = query(&to.r, &to.i).ok_or_else(internal)?;
                    to.i.splice(..1.min(to.i.len()), [seen]);
                }
                PureOperation::Advance(advance) => {
                    let (r, i) = (to.r.first_mut().ok_or_else(internal)?, to.i.first_mut().ok_or_else(internal)?);
                    advance(r, i).ok_or_else(internal)?;
                }
            }
            return Ok(());
        }
        Native::Derive | Native::Coroutine(_) => return Err(internal()),
    };
    let mut host = Host::silent();
    let registers = NativeRegisters { f: &mut to.f, slots: &mut to.slots, i: &mut to.i, r: &mut to.r };
    (function.call)(&mut NativeContext::new(shapes, types, (&mut host, &mut PlainEvaluator), registers))
}

fn numbers(f: &[f64], slots: &[Slot]) -> Ref {
    let mut cells = Cells::numbers(f.to_vec());
    cells.slots = slots.to_vec();
    Ref::Cells(Rc::new(cells))
}

fn cells(r: &Ref) -> &Cells {
    match r {
        Ref::Cells(cells) => cells,
        other => panic!("{other:?}"),
    }
}

fn text(value: &str) -> Ref {
    Ref::Text(value.into())
}

const SLOT: Slot = Slot { epoch: 1, payload: 5 };

#[test]
fn arrays_keep_their_slots() {
    let mut shapes = Shapes::default();
    let double = [shapes.add(Shape::Double)];
    let mut r = registers(&[], &[], vec![numbers(&[1.0, 2.0], &[Slot::NONE, SLOT]), numbers(&[3.0], &[])]);
    call("array.concat", &shapes, &double, &mut r).unwrap();
    assert_eq!(
        (&cells(&r.r[0]).f[..], cells(&r.r[0]).slot(1), cells(&r.r[0]).slot(2)),
        (&[1.0, 2.0, 3.0][..], SLOT, Slot::NONE)
    );
    call("array.reversed", &shapes, &double, &mut r).unwrap();
    call("array.removeLast", &shapes, &double, &mut r).unwrap();
    assert_eq!((&cells(&r.r[0]).f[..], r.f[0], cells(&r.r[0]).slot(1)), (&[3.0, 2.0][..], 1.0, SLOT));
    r.i[0] = 5;
    let failure = call("array.remove", &shapes, &double, &mut r).unwrap_err();
    assert_eq!(failure.message, "index 5 is out of range for an array of 2 elements (valid: 0 to 1)");
}

#[test]
fn sorted_numbers_keep_their_slots() {
    let mut shapes = Shapes::default();
    let double = [shapes.add(Shape::Double)];
    for (descending, numbers_in_order, place) in [(0, [1.0, 2.0, 3.0], 1), (1, [3.0, 2.0, 1.0], 1)] {
        let array = numbers(&[3.0, 1.0, 2.0], &[Slot::NONE, Slot::NONE, SLOT]);
        let mut r = registers(&[], &[descending], vec![array]);
        call("array.sorted", &shapes, &double, &mut r).unwrap();
        assert_eq!((&cells(&r.r[0]).f[..], cells(&r.r[0]).slot(place), r.i[0]), (&numbers_in_order[..], SLOT, 1));
    }
    let mut r = registers(&[], &[0], vec![numbers(&[2.0, 2.0], &[SLOT, Slot::NONE])]);
    call("array.sorted", &shapes, &double, &mut r).unwrap();
    assert_eq!((cells(&r.r[0]).slot(0), r.i[0]), (SLOT, 2));
}

#[test]
fn a_huge_array_is_refused() {
    let mut shapes = Shapes::default();
    let double = [shapes.add(Shape::Double)];
    for count in [-1, i64::MAX, 1 << 45] {
        assert!(call("array.repeating", &shapes, &double, &mut registers(&[1.0], &[count], vec![])).is_err());
    }
}

#[test]
fn dictionaries_are_set_and_read() {
    let mut shapes = Shapes::default();
    let types = [shapes.add(Shape::String), shapes.add(Shape::Double)];
    let mut r = registers(&[], &[], vec![]);
    call("dictionary.new", &shapes, &types, &mut r).unwrap();
    for (key, value) in [("b", 1.0), ("a", 2.0), ("b", 3.0)] {
        (r.r[1], r.i[0], r.f[0]) = (text(key), 1, value);
        call("dictionary.set", &shapes, &types, &mut r).unwrap();
    }
    let dictionary = r.r[0].clone();
    let mut r = registers(&[], &[], vec![dictionary.clone(), text("b")]);
    call("dictionary.get", &shapes, &types, &mut r).unwrap();
    assert_eq!((r.i[0], r.f[0]), (1, 3.0));
    let mut r = registers(&[], &[], vec![dictionary.clone(), text("z")]);
    call("dictionary.get", &shapes, &types, &mut r).unwrap();
    assert_eq!(r.i[0], 0);
    let shape = [shapes.add(Shape::Dictionary(types[0], types[1]))];
    let mut r = registers(&[], &[], vec![dictionary]);
    call("describe", &shapes, &shape, &mut r).unwrap();
    assert!(matches!(&r.r[0], Ref::Text(t) if &**t == "[\"b\": 3.0, \"a\": 2.0]"));
}

#[test]
fn any_value_knows_its_type() {
    let mut shapes = Shapes::default();
    let (double, int) = (shapes.add(Shape::Double), shapes.add(Shape::Int { bits: 64, signed: true }));
    let mut r = registers(&[2.5], &[], vec![]);
    call("any.box", &shapes, &[double], &mut r).unwrap();
    let boxed = r.r[0].clone();
    for (shape, expected) in [(double, 1), (int, 0)] {
        let mut r = registers(&[], &[7, 7], vec![boxed.clone()]);
        call("any.as", &shapes, &[shape], &mut r).unwrap();
        assert_eq!((r.i[0], r.f[0]), (expected, if expected == 1 { 2.5 } else { 0.0 }));
    }
}

#[test]
fn texts_are_taken_apart() {
    let shapes = Shapes::default();
    let show = |r: &Ref| cells(r).r.iter().map(|t| super::string::text(t).to_owned()).collect::<Vec<_>>();
    let mut r = registers(&[], &[2, 4], vec![text("a,,b"), text(",")]);
    call("text.find", &shapes, &[], &mut r).unwrap();
    assert_eq!(r.i[0], 2);
    let mut r = registers(&[], &[], vec![text("a,,b"), text(",")]);
    call("text.components", &shapes, &[], &mut r).unwrap();
    assert_eq!(show(&r.r[0]), ["a", "", "b"]);
    let mut r = registers(&[], &[], vec![text("ŷe\u{301}🇨🇭")]);
    call("text.count", &shapes, &[], &mut r).unwrap();
    assert_eq!(r.i[0], 3);
    let mut r = registers(&[], &[-255, 16], vec![]);
    call("text.ofInt", &shapes, &[], &mut r).unwrap();
    assert!(matches!(&r.r[0], Ref::Text(t) if &**t == "-ff"));
}

/// No function panics, whatever the registers hold.
#[test]
fn arguments_of_other_types_are_refused() {
    let mut shapes = Shapes::default();
    let types = [shapes.add(Shape::Double), shapes.add(Shape::String)];
    let objects = [Ref::Null, text("t"), numbers(&[1.0], &[]), Ref::Dictionary(Rc::default())];
    for number in 0.. {
        let Some(function) = get(number) else { break };
        // These functions would write a file into the working folder of the tests.
        if ["io.writeFile", "tensors.write"].contains(&function.name()) {
            continue;
        }
        for object in &objects {
            for other in &objects {
                for n in [-1, 0, 1, i64::MAX] {
                    let mut r = registers(&[f64::NAN], &[n, n], vec![object.clone(), other.clone()]);
                    let _ = call(function.name(), &shapes, &types, &mut r);
                    let mut r = registers(&[], &[], vec![object.clone()]);
                    r.f.clear();
                    r.i.clear();
                    r.r.truncate(1);
                    let _ = call(function.name(), &shapes, &[], &mut r);
                }
            }
        }
    }
    assert_eq!(shapes.layout(types[0]), Layout { f: 1, i: 0, r: 0 });
}
