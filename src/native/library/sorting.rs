//! Sorting: arrays of numbers, integers or strings by their natural order.

use super::NativeFunction;
use super::context::{Failure, NativeContext};
use crate::cancel;
use crate::value::shape::Shape;
use crate::value::{Cells, Ref, Slot, string};
use std::cmp::Ordering;
use std::rc::Rc;

pub(super) const TABLE: &[NativeFunction] = &[NativeFunction { name: "array.sorted", call: sorted }];

/// The properties of an array after sorting; the numbers are part of the interface to the prelude.
#[derive(Clone, Copy)]
enum Outcome {
    /// The elements have no natural order; the array is unchanged.
    Unsorted = 0,
    Sorted = 1,
    /// Numbers, of which at least two are equal.
    Tied = 2,
    /// Numbers, at least one of which is NaN.
    Partial = 3,
}

/// Sorts an array, descending if the flag is set; equal elements keep their order.
fn sorted(c: &mut NativeContext<'_>) -> Result<(), Failure> {
    let element = c.type_at(0)?;
    let (mut array, descends) = (c.array(c.shapes.layout(element))?, c.integer() != 0);
    let outcome = match c.shapes.get(element) {
        Shape::Double | Shape::Float => sort_numbers(Rc::make_mut(&mut array), descends),
        Shape::Int { .. } => {
            sort(&mut Rc::make_mut(&mut array).i, |a, b| in_direction(a.cmp(b), descends));
            Outcome::Sorted
        }
        Shape::String | Shape::Character => {
            sort_texts(&mut Rc::make_mut(&mut array).r, descends);
            Outcome::Sorted
        }
        _ => Outcome::Unsorted,
    };
    c.return_integer(outcome as i64)?;
    c.return_reference(Ref::Cells(array))
}

fn in_direction(order: Ordering, descends: bool) -> Ordering {
    if descends { order.reverse() } else { order }
}

fn string(r: &Ref) -> &str {
    match r {
        Ref::Text(text) => text,
        _ => "",
    }
}

/// Sorts items by a total order. Long slices are sorted in pieces first, to be interruptible; the stable sort of the
/// standard library merges sorted runs.
fn sort<T>(items: &mut [T], order: impl Fn(&T, &T) -> Ordering + Copy) {
    if items.len() > cancel::CHECK_INTERVAL {
        cancel::in_pieces(items.len(), |piece| items[piece].sort_by(order));
        cancel::check();
    }
    items.sort_by(order);
}

/// Sorts strings. Most comparisons only read the beginnings of the strings, which are stored beside their places.
fn sort_texts(texts: &mut [Ref], descends: bool) {
    let mut places: Vec<_> = texts.iter().map(|text| string::leading_bytes(string(text))).enumerate().collect();
    sort(&mut places, |(a, start_a), (b, start_b)| {
        let order = match (start_a, start_b) {
            (Some(start_a), Some(start_b)) if start_a != start_b => start_a.cmp(start_b),
            _ => string::order(string(&texts[*a]), string(&texts[*b])),
        };
        in_direction(order, descends)
    });
    let sorted: Vec<Ref> = places.iter().map(|(place, _)| std::mem::take(&mut texts[*place])).collect();
    texts.iter_mut().zip(sorted).for_each(|(text, next)| *text = next);
}

/// Sorts numbers with their slots.
fn sort_numbers(cells: &mut Cells, descends: bool) -> Outcome {
    let is_partial = cells.f.iter().any(|x| x.is_nan());
    order_numbers(cells, descends, is_partial);
    match cells.f.windows(2).any(|pair| pair[0] == pair[1]) {
        _ if is_partial => Outcome::Partial,
        true => Outcome::Tied,
        false => Outcome::Sorted,
    }
}

fn order_numbers(cells: &mut Cells, descends: bool, is_partial: bool) {
    let numbers = &cells.f;
    let precedes = |a: f64, b: f64| if descends { a > b } else { a < b };
    let order = |a: f64, b: f64| in_direction(a.partial_cmp(&b).unwrap_or(Ordering::Equal), descends);
    let places = if is_partial {
        merged(numbers.len(), |a, b| precedes(numbers[a], numbers[b]))
    } else if cells.slots.is_empty() {
        return sort(&mut cells.f, |a, b| order(*a, *b));
    } else {
        let mut places: Vec<usize> = (0..numbers.len()).collect();
        sort(&mut places, |a, b| order(numbers[*a], numbers[*b]));
        places
    };
    let numbers = places.iter().map(|k| cells.f[*k]).collect();
    let slots: Vec<Slot> = match cells.slots.is_empty() {
        true => vec![],
        false => places.iter().map(|k| cells.slot(*k)).collect(),
    };
    (cells.f, cells.slots) = (numbers, slots);
}

/// Returns the order of `0..count` by a merge of runs of 1, 2, 4 … elements, as the sort of the library with a
/// comparison function: NaN, which precedes nothing and follows nothing, makes the result depend on the algorithm.
fn merged(count: usize, precedes: impl Fn(usize, usize) -> bool) -> Vec<usize> {
    let mut from: Vec<usize> = (0..count).collect();
    let mut width = 1;
    while width < count {
        let mut to = Vec::with_capacity(count);
        for start in (0..count).step_by(2 * width) {
            cancel::check();
            let (middle, end) = (count.min(start + width), count.min(start + 2 * width));
            let (mut left, mut right) = (start, middle);
            while left < middle || right < end {
                let takes_left = left < middle && (right == end || !precedes(from[right], from[left]));
                let next = if takes_left { &mut left } else { &mut right };
                to.push(from[*next]);
                *next += 1;
            }
        }
        from = to;
        width *= 2;
    }
    from
}
