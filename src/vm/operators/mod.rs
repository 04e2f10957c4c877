//! Differential operators, calls of linear maps, registered derivatives.
//!
//! In: arguments in the window of the machine. Out: results there, or a call that must come first: each operator is a
//! [`Task`](super::task::Task), so that nothing here recurses, however operators, sweeps and rules nest.
//!
//! Promises: a body runs exactly once; what outlives a level is rebased before it is closed; no level stays open when
//! the program stops. Not here: what is recorded and swept (`tape`), how a value is taken apart (`value::walk`).

mod at_once;
mod broken;
mod check_rule;
mod compiled;
mod cut;
pub mod difference;
mod differential;
mod inherited_rule;
mod kink;
mod linear;
mod not_finite;
mod origins;
mod recompute;
mod recorded;
mod rule;
mod rule_forward;
mod rule_reverse;
mod rule_thrown;
mod series;
mod shown;
mod sized;
mod snapshot;
mod sweep;
mod tangent;
mod watched;
mod whole;
mod writes;
mod wrong_rule;

pub use broken::BrokenChains;
pub use check_rule::Checks;
pub use kink::Kink;
pub(super) use kink::with_kink;
pub(super) use not_finite::with_first;
pub(super) use rule::Ruled;
pub use shown::{Count, Did, Row, Trace};
pub use watched::Places;
pub(super) use writes::Writes;

use super::fault::Fault;
use super::functions::Compiler;
use super::machine::Machine;
use super::task::Next;
use crate::bytecode::{Operator, OperatorSite, RuleSite};
use crate::diagnostic::Code as Number;
use crate::tape::{Num, RecordError, Template};
use crate::value::shape::{Layout, TangentId};
use crate::value::walk::{At, Mismatch, Walk};
use crate::value::{Cells, Ref, Slot, ending};
use std::any::Any;
use std::rc::Rc;

/// Applies an operator. Its arguments stand in the window. `derivative`: the caller is derivative code.
pub fn operate(
    machine: &mut Machine,
    compiler: &mut dyn Compiler,
    site: &OperatorSite,
    derivative: bool,
) -> Result<Next, Box<Fault>> {
    let mut arguments = machine.take_window(site.params.map(usize::from), derivative);
    machine.levels.watch_steps(!machine.host.pending_explanations.is_empty());
    match site.operator {
        Operator::ValueWithDifferential { at, result, throws } => {
            let body = last_reference(&mut arguments)?;
            differential::begin(machine, compiler, (at, arguments), (result, throws), body)
        }
        Operator::ValueWithTangent { at, result, throws } => {
            let body = last_reference(&mut arguments)?;
            tangent::begin(machine, compiler, (at, arguments), (result, throws), body)
        }
        Operator::Gradient { at, value, throws } => {
            let body = last_reference(&mut arguments)?;
            compiled::gradient(machine, compiler, (at, &arguments), (value, throws), &body)
        }
        Operator::Transpose { at, result } => {
            let function = last_reference(&mut arguments)?;
            linear::transpose(machine, compiler, function, at, result)
        }
        Operator::Broken { of } => broken::mark(machine, compiler, of, &arguments),
        Operator::NoDerivative { is_property } => broken::left_out(machine, compiler, is_property, arguments),
        Operator::SendBreak { result } => origins::send(machine, result, &arguments),
        Operator::ReceiveBreak { result } => origins::receive(machine, result),
        Operator::GiveBreak { argument } => origins::give(machine, argument, &arguments),
        Operator::TakeBreak { argument } => origins::take(machine, argument),
        Operator::JoinBreaks => origins::join(machine, &mut arguments),
        Operator::KeepBreak { inside, component, replaces } => {
            origins::keep(machine, (inside, component, replaces), arguments)
        }
        Operator::KeptBreak { inside, component } => origins::kept(machine, (inside, component), &arguments),
        Operator::ForgetBreaks => {
            machine.broken.transfers.forget();
            Ok(Next::Return)
        }
        Operator::Threshold { comparison } => {
            kink::compared(machine, comparison, &arguments)?;
            Ok(Next::Return)
        }
        Operator::Series { result, throws } => series::begin(machine, arguments, (result, throws)),
        Operator::ApplyAtOnce => at_once::apply(machine, compiler, &arguments),
        Operator::Recompute { traced } => {
            let body = last_reference(&mut arguments)?;
            recompute::begin(machine, body, (site.results[1] > 0, traced), derivative)
        }
        Operator::Coordinates { of } => coordinates(machine, walk(compiler), of, &arguments),
        Operator::WithoutDerivative { .. } => {
            cut::without_derivative(machine, arguments);
            Ok(Next::Return)
        }
        Operator::WithDerivative { of } => {
            let edit = last_reference(&mut arguments)?;
            cut::with_derivative(machine, compiler, (of, arguments), &edit)
        }
    }
}

/// Calls a function object of the machine's own: a differential or pullback. Its arguments stand in the window.
pub fn call_object(
    machine: &mut Machine,
    compiler: &mut dyn Compiler,
    object: &Rc<dyn Any>,
    derivative: bool,
) -> Result<Next, Box<Fault>> {
    linear::call(machine, compiler, object, derivative)
}

/// Calls a function with registered derivatives from derivative code. Its arguments stand in the window.
pub fn call_rule(machine: &mut Machine, compiler: &mut dyn Compiler, site: &RuleSite) -> Result<Next, Box<Fault>> {
    rule::call(machine, compiler, site)
}

/// The program stops: all levels end, and their slots mean constants from then on.
pub fn unwind(machine: &mut Machine) {
    machine.levels.abandon();
    machine.ruled.clear();
}

/// The tables that say what values look like.
fn walk(compiler: &dyn Compiler) -> Walk<'_> {
    Walk { shapes: compiler.shapes(), tangents: compiler.tangents() }
}

/// The function, which stands behind the other arguments.
fn last_reference(arguments: &mut Cells) -> Result<Ref, Box<Fault>> {
    arguments.r.pop().ok_or_else(|| Fault::internal("an operator without a function"))
}

/// The numbers of a value that can move.
fn leaves(walk: Walk<'_>, id: TangentId, value: &Cells, at: At) -> Result<Vec<Num>, Box<Fault>> {
    let mut numbers = vec![];
    walk.leaves(id, value, at, &mut |value, slot| numbers.push(Num { value, slot })).map_err(mismatch)?;
    Ok(numbers)
}

/// The numbers of a value that can move, as an array.
fn coordinates(machine: &mut Machine, walk: Walk<'_>, of: TangentId, value: &Cells) -> Result<Next, Box<Fault>> {
    let array = array_of(&leaves(walk, of, value, At::default())?);
    machine.set_reference(0, array);
    Ok(Next::Return)
}

/// An array of these numbers.
fn array_of(numbers: &[Num]) -> Ref {
    let mut array = Cells::empty();
    for number in numbers {
        array.push_num(number.value, number.slot);
        array.len += 1;
    }
    Ref::Cells(Rc::new(array))
}

/// The numbers that a tangent vector has for the numbers of a value.
fn read(walk: Walk<'_>, template: &Template, vector: (&Cells, At)) -> Result<Vec<Num>, Box<Fault>> {
    let mut numbers = vec![];
    let value = (&template.cells, At::default());
    walk.read(template.tangent, value, vector, &mut |value, slot| numbers.push(Num { value, slot }))
        .map_err(mismatch)?;
    Ok(numbers)
}

/// The same for the vectors of several values, one behind the other.
fn read_all(walk: Walk<'_>, templates: &[Template], vectors: &Cells) -> Result<Vec<Num>, Box<Fault>> {
    let mut at = At::default();
    let mut numbers = vec![];
    for template in templates {
        numbers.append(&mut read(walk, template, (vectors, at))?);
        at = at.behind(vector_layout(walk, template));
    }
    Ok(numbers)
}

/// The tangent vector of a value that is made of these numbers.
fn vector(walk: Walk<'_>, template: &Template, numbers: &[Num]) -> Result<Cells, Box<Fault>> {
    let mut next = numbers.iter();
    let mut next = || next.next().map_or((0.0, Slot::NONE), |x| (x.value, x.slot));
    walk.vector(template.tangent, &template.cells, At::default(), &mut next).map_err(mismatch)
}

/// Gives the numbers of a value other slots.
fn set_leaves(walk: Walk<'_>, id: TangentId, (value, at): (&mut Cells, At), to: &[Num]) -> Result<(), Box<Fault>> {
    let mut next = to.iter();
    walk.change(id, value, at, &mut |_, slot| next.next().map_or(slot, |x| x.slot)).map_err(mismatch)
}

fn vector_layout(walk: Walk<'_>, template: &Template) -> Layout {
    walk.shapes.layout(walk.tangents.get(template.tangent).vector)
}

fn value_layout(walk: Walk<'_>, id: TangentId) -> Layout {
    walk.shapes.layout(walk.tangents.get(id).value)
}

fn counts(layout: Layout) -> [usize; 3] {
    [layout.f as usize, layout.i as usize, layout.r as usize]
}

/// From how many components on a tuple that a function returns is one reference to a record. The compiler decides that;
/// the machine meets it where a function of the user's own returns several things in one.
const SPREAD: usize = 24;

/// Takes what a function has returned from the window: several values in one tuple. `counts` are the components of all.
fn take_tuple(machine: &mut Machine, counts: [usize; 3], slots: bool) -> Cells {
    if counts.iter().sum::<usize>() <= SPREAD {
        return machine.take_window(counts, slots);
    }
    match machine.take_reference(0) {
        Ref::Cells(record) => Rc::unwrap_or_clone(record),
        _ => Cells::empty(),
    }
}

fn mismatch(why: Mismatch) -> Box<Fault> {
    match why {
        Mismatch::Counts([a, b]) => Fault::new(
            Number::PreconditionFailed,
            format!("tangent vectors of {a} and of {b} elements do not go together"),
        ),
        Mismatch::Case => {
            Fault::new(Number::PreconditionFailed, "a tangent vector that belongs to another case of an enum")
        }
        Mismatch::Cyclic => Fault::new(
            Number::DepthLimit,
            "an instance that refers to itself cannot be differentiated: its tangent vector would be infinite",
        ),
        Mismatch::TooDeep => Fault::new(Number::DepthLimit, "a value is nested too deeply to be differentiated"),
    }
}

/// The body of an operator, whose result differentiates so, has thrown an error, if it may: its level ends, and the
/// error is the operator's. `further` are the components that the operator would have given behind the value.
fn thrown(
    machine: &mut Machine,
    walk: Walk<'_>,
    (result, throws): (TangentId, bool),
    x: &mut Cells,
    further: [usize; 3],
) -> bool {
    if !throws || machine.integer(0) == 0 {
        return false;
    }
    let value = counts(value_layout(walk, result));
    let mut all = machine.take_window([value[0], value[1] + 1, value[2] + 1], true);
    rebase_escaping_slots(machine, &mut [&mut all, x]);
    machine.levels.close();
    machine.set_window(all.all());
    (0..further[0]).for_each(|k| machine.set_num(value[0] + k, Num::default()));
    (0..further[1]).for_each(|k| machine.set_integer(value[1] + 1 + k, 0));
    (0..further[2]).for_each(|k| machine.set_reference(value[2] + 1 + k, Ref::Null));
    true
}

/// Acts on the window behind the flag and the error of a function that may throw and has not.
fn behind_no_error<T>(machine: &mut Machine, throws: bool, act: impl FnOnce(&mut Machine) -> T) -> T {
    if !throws {
        return act(machine);
    }
    let done = machine.behind_error(act);
    machine.set_integer(0, 0);
    machine.set_reference(0, Ref::Null);
    done
}

/// Keeps the first failure of a walk whose steps cannot fail.
#[derive(Default)]
struct Failure(Option<RecordError>);

impl Failure {
    fn slot(&mut self, number: Result<Num, RecordError>) -> Slot {
        match number {
            Ok(number) => number.slot,
            Err(full) => {
                self.0.get_or_insert(full);
                Slot::NONE
            }
        }
    }

    fn check(self) -> Result<(), Box<Fault>> {
        self.0.map_or(Ok(()), |full| Err(full.into()))
    }
}

/// Before the innermost level is closed: what outlives it keeps its links to the levels outside. `kept` are values that
/// do, besides what was stored.
fn rebase_escaping_slots(machine: &mut Machine, kept: &mut [&mut Cells]) {
    let nested = machine.levels.depth() > 1;
    origins::rebase_sent(machine);
    if nested && ending::any() {
        ending::waiting().iter().for_each(|instance| machine.levels.log_store(instance));
    }
    if machine.levels.globals_may_escape() {
        machine.levels.rebase_escaping_slots(&mut machine.globals);
    }
    for cells in kept {
        if nested || !cells.r.is_empty() {
            machine.levels.rebase_escaping_slots(cells);
        } else {
            // With one level all links end.
            cells.slots.clear();
        }
    }
}

#[cfg(test)]
mod tests;
