//! Operators by tangent and adjoint code: where no level is live and nobody watches, a function that does nothing but
//! arithmetic is differentiated without slots and without a tape.
//!
//! Promises: what has happened when it turns out that it cannot be done (the code gives up, a number is not finite) is as
//! if nothing had: the operator goes on under a level, and whatever is to be said is said there.

use super::super::fault::Fault;
use super::super::functions::{Compiler, Sweep};
use super::super::machine::Machine;
use super::super::task::Next;
use super::super::threaded;
use super::{At, behind_no_error, counts, leaves, mismatch, read, value_layout, vector, walk};
use crate::tape::{Direction, Num, Template};
use crate::value::shape::{Shape, TangentId, TangentKind};
use crate::value::walk::Walk;
use crate::value::{Cells, Closure, Components, Ref};
use std::rc::Rc;

/// `x…, body → whether it was done, value, gradient…`
pub(super) fn value_with_gradient(
    machine: &mut Machine,
    compiler: &mut dyn Compiler,
    (at, x): (TangentId, Cells),
    throws: bool,
    body: &Ref,
) -> Result<Next, Box<Fault>> {
    let found = if throws { None } else { gradient(machine, compiler, at, &x, body)? };
    let done = found.is_some();
    let walk = walk(compiler);
    let (value, gradient) = found.unwrap_or_else(|| (0.0, walk.zero(walk.tangents.get(at).vector)));
    behind_no_error(machine, throws, |machine| {
        machine.set_integer(0, i64::from(done));
        machine.set_number(0, value);
        machine.set_window_from([1, 1, 0], gradient.all());
    });
    Ok(Next::Return)
}

/// The value and the gradient, if there is adjoint code that gives them.
fn gradient(
    machine: &mut Machine,
    compiler: &mut dyn Compiler,
    at: TangentId,
    x: &Cells,
    body: &Ref,
) -> Result<Option<(f64, Cells)>, Box<Fault>> {
    let Some((sweep, closure)) = code(machine, compiler, body, Direction::Reverse)? else { return Ok(None) };
    let Some(objects) = x.r.iter().map(zeros).collect::<Option<Vec<_>>>() else { return Ok(None) };
    let mut arguments = x.clone();
    arguments.r.extend(objects);
    let results = [1 + x.f.len(), 0, x.r.len()];
    let Some(mut given) = run(machine, (&sweep, closure, Direction::Reverse), arguments, results)? else {
        return Ok(None);
    };
    let value = given.f.remove(0);
    given.i.clone_from(&x.i);
    let walk = walk(compiler);
    let gradient = vector_of(walk, at, x, given)?;
    Ok(gradient.filter(|_| value.is_finite()).map(|gradient| (value, gradient)))
}

/// A value and its tangent along another one, as the components of both; nothing where there is no tangent code that gives
/// them.
pub(super) fn value_with_tangent(
    machine: &mut Machine,
    compiler: &mut dyn Compiler,
    (at, x, direction): (TangentId, &Cells, &Cells),
    result: TangentId,
    body: &Ref,
) -> Result<Option<(Cells, Cells)>, Box<Fault>> {
    let Some((sweep, closure)) = code(machine, compiler, body, Direction::Forward)? else { return Ok(None) };
    let layout = counts(value_layout(walk(compiler), result));
    if layout[1] + layout[2] > 0 {
        return Ok(None);
    }
    let Some(vectors) = spread(walk(compiler), at, x, direction)? else { return Ok(None) };
    let mut arguments = x.clone();
    arguments.f.extend_from_slice(&vectors.f);
    arguments.r.extend(vectors.r.iter().cloned());
    drop(vectors);
    let results = [2 * layout[0], 0, 0];
    let Some(given) = run(machine, (&sweep, closure, Direction::Forward), arguments, results)? else {
        return Ok(None);
    };
    if given.f.iter().any(|x| !x.is_finite()) {
        return Ok(None);
    }
    let (value, tangent) = given.f.split_at(layout[0]);
    let part = |numbers: &[f64]| Cells::record(Components { f: numbers, ..Components::default() });
    // Adding 0 makes an ordinary zero of that of the other sign, as a sweep does.
    let tangents = part(&tangent.iter().map(|x| x + 0.0).collect::<Vec<_>>());
    let walk = walk(compiler);
    let numbers = leaves(walk, result, &tangents, At::default())?;
    let template = Template { tangent: result, cells: part(value) };
    let tangent = vector(walk, &template, &numbers)?;
    Ok(Some((template.cells, tangent)))
}

/// Tangent or adjoint code for a function, if there is any and it may be used now.
fn code(
    machine: &mut Machine,
    compiler: &mut dyn Compiler,
    body: &Ref,
    direction: Direction,
) -> Result<Option<(Rc<Sweep>, Rc<Closure>)>, Box<Fault>> {
    let Ref::Closure(closure) = body else { return Ok(None) };
    let is_seen = machine.levels.depth() > 0 || machine.levels.is_watched() || machine.tapes.is_some();
    if is_seen || !machine.host.wishes.is_empty() {
        return Ok(None);
    }
    let sweep = machine.functions.sweep(compiler, closure, direction)?;
    Ok(sweep.map(|sweep| (sweep, Rc::clone(closure))))
}

/// Runs it; nothing where it gives up.
fn run(
    machine: &mut Machine,
    (sweep, closure, direction): (&Sweep, Rc<Closure>, Direction),
    mut arguments: Cells,
    results: [usize; 3],
) -> Result<Option<Cells>, Box<Fault>> {
    let code = &sweep.code;
    let given = [arguments.f.len(), arguments.i.len(), arguments.r.len()];
    if code.params.map(usize::from) != given || code.results.map(usize::from) != results {
        return Ok(None);
    }
    let frame = code.frame();
    let end = [0, 1, 2].map(|bank| machine.window[bank] + frame[bank]);
    if !machine.stacks.has(end, false) {
        machine.make_room(end, false)?;
    }
    machine.set_window(Components { r: &[], ..arguments.all() });
    // Moved, so that objects that are changed have one owner.
    let references = std::mem::take(&mut arguments.r);
    references.into_iter().enumerate().for_each(|(k, reference)| machine.set_reference(k, reference));
    if frame[2] > given[2] {
        machine.set_reference(given[2], Ref::Closure(Rc::clone(&closure)));
    }
    machine.kept.begin();
    let is_done = threaded::run(machine, &sweep.threaded, frame[2])?;
    let found = is_done.then(|| machine.take_window(results, false));
    machine.stacks.r[machine.window[2]..end[2]].iter_mut().for_each(|reference| *reference = Ref::Null);
    if !is_done {
        machine.functions.give_up_sweep(&closure, direction);
    }
    Ok(found)
}

/// An object of the same form whose numbers are all zero; nothing for what is more than arrays and records.
fn zeros(object: &Ref) -> Option<Ref> {
    Some(match object {
        Ref::Null => Ref::Null,
        Ref::Text(text) => Ref::Text(text.clone()),
        Ref::Cells(cells) => {
            let r = cells.r.iter().map(zeros).collect::<Option<_>>()?;
            let f = std::iter::repeat_n(0.0, cells.f.len()).collect();
            Ref::Cells(Rc::new(Cells { len: cells.len, f, i: cells.i.clone(), r, slots: vec![] }))
        }
        _ => return None,
    })
}

/// A value of the same form as `x` whose numbers are the tangents of those of `x`.
fn spread(walk: Walk<'_>, at: TangentId, x: &Cells, direction: &Cells) -> Result<Option<Cells>, Box<Fault>> {
    let count = |of: &Cells| match of.r.first() {
        Some(Ref::Cells(array)) => Some(array.f.len()),
        _ => None,
    };
    if is_array_of_numbers(walk, at) && count(x) == count(direction) {
        return Ok(Some(direction.clone()));
    }
    let Some(r) = x.r.iter().map(zeros).collect::<Option<_>>() else { return Ok(None) };
    let f = std::iter::repeat_n(0.0, x.f.len()).collect();
    let mut vectors = Cells { len: 1, f, i: x.i.clone(), r, slots: vec![] };
    let template = Template { tangent: at, cells: x.clone() };
    let mut seeds = read(walk, &template, (direction, At::default()))?.into_iter();
    walk.change(at, &mut vectors, At::default(), &mut |number, slot| {
        *number = seeds.next().map_or(0.0, |seed| seed.value);
        slot
    })
    .map_err(mismatch)?;
    Ok(Some(vectors))
}

/// The tangent vector of `x` that is made of what stands at the places of its numbers; nothing where one is not finite.
fn vector_of(walk: Walk<'_>, at: TangentId, x: &Cells, mut given: Cells) -> Result<Option<Cells>, Box<Fault>> {
    if is_array_of_numbers(walk, at)
        && let Some(Ref::Cells(array)) = given.r.first_mut()
        && let Some(array) = Rc::get_mut(array)
    {
        // Adding 0 makes an ordinary zero of that of the other sign, as a sweep does.
        array.f.iter_mut().for_each(|x| *x += 0.0);
        let is_finite = array.f.iter().all(|x| x.is_finite());
        return Ok(is_finite.then_some(given));
    }
    let numbers: Vec<Num> = leaves(walk, at, &given, At::default())?;
    if numbers.iter().any(|x| !x.value.is_finite()) {
        return Ok(None);
    }
    let numbers: Vec<Num> = numbers.into_iter().map(|x| Num::constant(x.value + 0.0)).collect();
    let template = Template { tangent: at, cells: x.clone() };
    vector(walk, &template, &numbers).map(Some)
}

/// Whether a value is one array of numbers of full precision: by far the most frequent one that is large.
fn is_array_of_numbers(walk: Walk<'_>, at: TangentId) -> bool {
    let TangentKind::Array(of) = walk.tangents.get(at).kind else { return false };
    let of = walk.tangents.get(of);
    of.kind == TangentKind::Number && *walk.shapes.get(of.vector) == Shape::Double
}
