//! Operators: implements differential operators, calls of linear maps, and registered derivatives.
//!
//! In: arguments in the window of the machine. Out: results there, or a call that must be made first: each operator is
//! a [`Task`](crate::vm::state::task::Task), so that nothing in this module recurses, however operators, sweeps and
//! rules nest.
//!
//! Promises: a body runs exactly once; storage that outlives a level is rebased before the level is closed; no level
//! stays open when the program stops.
//! Not here: recording and sweeping (`tape`), the decomposition of values (`value::walk`).

pub(crate) mod apply;
pub(crate) mod check;
pub(crate) mod checkpoint;
pub(crate) mod registered;

pub(super) use crate::vm::operators::check::kink::with_kink;
pub(super) use crate::vm::operators::check::non_finite_value::with_first;

use crate::bytecode::{Operator, OperatorSite, RuleSite};
use crate::diagnostic::Code as Number;
use crate::native::tensor::TensorValue;
use crate::tape::{Num, RecordError, Template};
use crate::value::shape::{Layout, TangentId};
use crate::value::walk::{Mismatch, Offset, Walk};
use crate::value::{Cells, JacobianForm, Ref, Slot, finalizer};
use crate::vm::compiler_interface::Compiler;
use crate::vm::fault::Fault;
use crate::vm::operator_cache::OperatorCache;
use crate::vm::operators::apply::window_call::WindowArguments;
use crate::vm::state::machine::Machine;
use crate::vm::state::task::Next;
use std::any::Any;
use std::rc::Rc;

/// Applies a differential operator. The arguments of the operator are in the window. `derivative` states that the
/// caller is derivative code.
pub fn operate(
    machine: &mut Machine,
    compiler: &mut dyn Compiler,
    (site, cache): (&OperatorSite, &OperatorCache),
    derivative: bool,
) -> Result<Next, Box<Fault>> {
    machine.levels.watch_steps(!machine.host.pending_explanations.is_empty());
    if !derivative && apply_in_window(machine, compiler, (site, cache), true)? {
        return Ok(Next::Return);
    }
    let mut arguments = machine.take_window(site.params.map(usize::from), derivative);
    match site.operator {
        Operator::ValueWithDifferential { at, result, throws } => {
            let body = last_reference(&mut arguments)?;
            crate::vm::operators::apply::differential::begin(
                machine,
                compiler,
                at,
                arguments,
                BodyResult { of: result, throws },
                body,
            )
        }
        Operator::ValueWithTangent { at, result, throws } => {
            let body = last_reference(&mut arguments)?;
            crate::vm::operators::apply::directional_derivative::begin(
                machine,
                compiler,
                at,
                arguments,
                BodyResult { of: result, throws },
                body,
            )
        }
        Operator::Gradient { at, value, throws } => {
            let body = last_reference(&mut arguments)?;
            crate::vm::operators::apply::adjoint_code::gradient(machine, compiler, at, &arguments, value, throws, &body)
        }
        Operator::Transpose { at, result } => {
            let function = last_reference(&mut arguments)?;
            crate::vm::operators::apply::linear_map::transpose(machine, compiler, function, at, result)
        }
        Operator::LoseTangent { of } => {
            crate::vm::operators::check::lost_tangent::mark(machine, compiler, of, &arguments)
        }
        Operator::NoDerivative { is_property } => {
            crate::vm::operators::check::lost_tangent::mark_no_derivative(machine, compiler, is_property, arguments)
        }
        Operator::SendResultOrigin { result } => {
            crate::vm::operators::check::origins::send_result(machine, result, &arguments)
        }
        Operator::ReceiveResultOrigin { result } => {
            crate::vm::operators::check::origins::receive_result(machine, result)
        }
        Operator::SendArgumentOrigin { argument } => {
            crate::vm::operators::check::origins::send_argument(machine, argument, &arguments)
        }
        Operator::ReceiveArgumentOrigin { argument } => {
            crate::vm::operators::check::origins::receive_argument(machine, argument)
        }
        Operator::JoinOrigins => crate::vm::operators::check::origins::join(machine, &mut arguments),
        Operator::StoreOrigin { inside, component, replaces } => {
            crate::vm::operators::check::origins::store(machine, inside, component, replaces, arguments)
        }
        Operator::LoadOrigin { inside, component } => {
            crate::vm::operators::check::origins::load(machine, inside, component, &arguments)
        }
        Operator::ForgetOrigins => {
            machine.diagnosis.lost_tangents.transfers.clear();
            Ok(Next::Return)
        }
        Operator::Threshold { comparison } => {
            crate::vm::operators::check::kink::compared(machine, comparison, &arguments)?;
            Ok(Next::Return)
        }
        Operator::Series { result, throws } => {
            crate::vm::operators::apply::taylor_polynomial::begin(machine, arguments, BodyResult { of: result, throws })
        }
        Operator::ApplyAtOnce => crate::vm::operators::apply::batch::apply(machine, compiler, &arguments),
        Operator::Matrix { sparse } => crate::vm::operators::apply::matrix::compute(machine, sparse, &arguments),
        Operator::Jacobian { form: JacobianForm::Small, .. } => {
            machine.set_integer(0, 0);
            machine.set_reference(0, Ref::Null);
            Ok(Next::Return)
        }
        Operator::Jacobian { at, result, form } => {
            let body = last_reference(&mut arguments)?;
            let x = (at, &arguments);
            crate::vm::operators::apply::matrix::of_function(machine, compiler, x, (result, form), &body)
        }
        Operator::Recompute { traced } => {
            let body = last_reference(&mut arguments)?;
            crate::vm::operators::checkpoint::begin(machine, body, site.results[1] > 0, traced, derivative)
        }
        Operator::Coordinates { of } => coordinates(machine, walk(compiler), of, &arguments),
        Operator::WithoutDerivative { .. } => {
            crate::vm::operators::apply::stop_gradient::without_derivative(machine, arguments);
            Ok(Next::Return)
        }
        Operator::WithDerivative { of } => {
            let edit = last_reference(&mut arguments)?;
            crate::vm::operators::apply::stop_gradient::with_derivative(machine, compiler, of, arguments, &edit)
        }
    }
}

/// Applies an operator of plain code to arguments in the window by code that computes without slots, which looks at no frames.
/// Returns `false`, with the arguments unchanged, where that is not possible.
pub fn apply_in_window(
    machine: &mut Machine,
    compiler: &mut dyn Compiler,
    (site, cache): (&OperatorSite, &OperatorCache),
    stacks_may_move: bool,
) -> Result<bool, Box<Fault>> {
    let arguments = WindowArguments { counts: site.params.map(usize::from), cache, stacks_may_move };
    match site.operator {
        Operator::Gradient { at, value, throws: false } => {
            apply::window_call::gradient(machine, compiler, (at, value), arguments)
        }
        Operator::ValueWithTangent { at, result, throws: false } => {
            apply::window_call::tangent(machine, compiler, (at, result), arguments)
        }
        Operator::Jacobian { at, result, form: JacobianForm::Small } => {
            apply::small_jacobian::jacobian(machine, compiler, (at, result), arguments)
        }
        Operator::Jacobian { at, result, form } => {
            apply::window_jacobian::jacobian(machine, compiler, (at, result, form), arguments)
        }
        _ => Ok(false),
    }
}

/// Calls a function object that the machine has created: a differential or pullback. The arguments of the call are in
/// the window.
pub fn call_object(
    machine: &mut Machine,
    compiler: &mut dyn Compiler,
    object: &Rc<dyn Any>,
    derivative: bool,
) -> Result<Next, Box<Fault>> {
    crate::vm::operators::apply::linear_map::call(machine, compiler, object, derivative)
}

/// Calls a function with registered derivatives from derivative code. The arguments of the call are in the window.
pub fn call_rule(machine: &mut Machine, compiler: &mut dyn Compiler, site: &RuleSite) -> Result<Next, Box<Fault>> {
    crate::vm::operators::registered::call(machine, compiler, site)
}

/// Ends all levels when the program stops; the slots of these levels represent constants from then on.
pub fn unwind(machine: &mut Machine) {
    machine.levels.abandon();
    machine.running_derivatives.clear();
}

/// Returns the tables that describe the structure of values.
fn walk(compiler: &dyn Compiler) -> Walk<'_> {
    Walk { shapes: compiler.shapes(), tangents: compiler.tangents() }
}

/// Returns the function to which an operator is applied, which is the last argument of the operator.
fn last_reference(arguments: &mut Cells) -> Result<Ref, Box<Fault>> {
    arguments.r.pop().ok_or_else(|| Fault::internal("an operator has no function"))
}

/// Returns the numbers of a value that can vary.
fn leaves(walk: Walk<'_>, id: TangentId, value: &Cells, at: Offset) -> Result<Vec<Num>, Box<Fault>> {
    let mut numbers = vec![];
    walk.leaves(id, value, at, &mut |value, slot| numbers.push(Num { value, slot })).map_err(mismatch)?;
    Ok(numbers)
}

/// Returns the numbers of a value that can vary, as an array: those of a tensor are its scalars.
fn coordinates(machine: &mut Machine, walk: Walk<'_>, of: TangentId, value: &Cells) -> Result<Next, Box<Fault>> {
    let mut leaves = vec![];
    walk.leaves_with_tensors(of, value, &mut |value, slot, tensor| leaves.push((Num { value, slot }, tensor.cloned())))
        .map_err(mismatch)?;
    let mut numbers = vec![];
    for (leaf, tensor) in leaves {
        match tensor {
            Some(Ref::Tensor(tensor)) => {
                numbers.append(&mut machine.levels.unpack(&TensorValue { tensor, slot: leaf.slot })?);
            }
            _ => numbers.push(leaf),
        }
    }
    machine.set_reference(0, array_of(&numbers));
    Ok(Next::Return)
}

/// Returns an array object with the given numbers.
fn array_of(numbers: &[Num]) -> Ref {
    let mut array = Cells::empty();
    for number in numbers {
        array.push_num(number.value, number.slot);
        array.len += 1;
    }
    Ref::Cells(Rc::new(array))
}

/// Returns the numbers of a tangent vector that correspond to the numbers of a value.
fn read(walk: Walk<'_>, template: &Template, vector: (&Cells, Offset)) -> Result<Vec<Num>, Box<Fault>> {
    let mut numbers = vec![];
    let value = (&template.cells, Offset::default());
    walk.read(template.tangent, value, vector, &mut |value, slot| numbers.push(Num { value, slot }))
        .map_err(mismatch)?;
    Ok(numbers)
}

/// Returns the numbers of the tangent vectors of several values, one after the other.
fn read_all(walk: Walk<'_>, templates: &[Template], vectors: &Cells) -> Result<Vec<Num>, Box<Fault>> {
    let mut at = Offset::default();
    let mut numbers = vec![];
    for template in templates {
        numbers.append(&mut read(walk, template, (vectors, at))?);
        at = at.after(vector_layout(walk, template));
    }
    Ok(numbers)
}

/// Returns the tangent vector of a value that has the given numbers.
fn vector(walk: Walk<'_>, template: &Template, numbers: &[Num]) -> Result<Cells, Box<Fault>> {
    let mut next = numbers.iter();
    let mut next = || next.next().map_or((0.0, Slot::NONE), |x| (x.value, x.slot));
    walk.vector(template.tangent, &template.cells, Offset::default(), &mut next).map_err(mismatch)
}

/// Replaces the slots of the numbers of a value.
fn set_leaves(walk: Walk<'_>, id: TangentId, (value, at): (&mut Cells, Offset), to: &[Num]) -> Result<(), Box<Fault>> {
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

/// The number of components from which on a tuple that a function returns is one reference to a record. The limit is
/// set by the compiler, and affects the machine where a function of the program returns several values in one tuple.
const MAX_INLINE_COMPONENTS: usize = 24;

/// Takes the result of a function from the window: several values in one tuple. `counts` are the numbers of components
/// of all values.
fn take_tuple(machine: &mut Machine, counts: [usize; 3], slots: bool) -> Cells {
    if counts.iter().sum::<usize>() <= MAX_INLINE_COMPONENTS {
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
            format!("tangent vectors of {a} and {b} elements cannot be combined"),
        ),
        Mismatch::Case => {
            Fault::new(Number::PreconditionFailed, "a tangent vector belongs to a different case of the enum")
        }
        Mismatch::Cyclic => Fault::new(
            Number::DepthLimit,
            "an instance that refers to itself cannot be differentiated: its tangent vector would be infinitely large",
        ),
        Mismatch::TooDeep => Fault::new(Number::DepthLimit, "a value is nested too deeply to be differentiated"),
    }
}

/// The result of the function that an operator (`gradient`, `pullback`, …) differentiates.
#[derive(Clone, Copy)]
pub(crate) struct BodyResult {
    /// The tangent type of the result of the differentiated function.
    pub(crate) of: TangentId,
    /// Whether the differentiated function may throw.
    pub(crate) throws: bool,
}

/// Returns whether the body of an operator has thrown an error: in that case the level of the operator ends, and the
/// operator throws the error. `further` are the components that the operator would have returned after the value.
fn thrown(machine: &mut Machine, walk: Walk<'_>, result: BodyResult, x: &mut Cells, further: [usize; 3]) -> bool {
    if !result.throws || machine.integer(0) == 0 {
        return false;
    }
    let value = counts(value_layout(walk, result.of));
    let mut all = machine.take_window([value[0], value[1] + 1, value[2] + 1], true);
    rebase_escaping_slots(machine, &mut [&mut all, x]);
    machine.levels.close();
    machine.set_window(all.all());
    (0..further[0]).for_each(|k| machine.set_num(value[0] + k, Num::default()));
    (0..further[1]).for_each(|k| machine.set_integer(value[1] + 1 + k, 0));
    (0..further[2]).for_each(|k| machine.set_reference(value[2] + 1 + k, Ref::Null));
    true
}

/// Performs an action on the window without the flag and the error of a function that may throw and has not thrown.
fn after_no_error<T>(machine: &mut Machine, throws: bool, act: impl FnOnce(&mut Machine) -> T) -> T {
    if !throws {
        return act(machine);
    }
    let done = machine.after_error(act);
    machine.set_integer(0, 0);
    machine.set_reference(0, Ref::Null);
    done
}

/// The first failure in a walk whose steps cannot return errors.
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

/// Rebases storage that outlives the innermost level, before the level is closed, so that the storage retains its links
/// to the outer levels. `kept` are values that outlive the level, in addition to logged stores.
fn rebase_escaping_slots(machine: &mut Machine, kept: &mut [&mut Cells]) {
    let nested = machine.levels.depth() > 1;
    crate::vm::operators::check::origins::rebase_sent_origins(machine);
    if nested && finalizer::any() {
        finalizer::waiting().iter().for_each(|instance| machine.levels.log_store(instance));
    }
    if machine.levels.globals_may_escape() {
        machine.levels.rebase_escaping_slots(&mut machine.globals);
    }
    for cells in kept {
        if nested || !cells.r.is_empty() {
            machine.levels.rebase_escaping_slots(cells);
        } else {
            // When the only level ends, every slot becomes a constant.
            cells.slots.clear();
        }
    }
}

#[cfg(test)]
mod tests;
