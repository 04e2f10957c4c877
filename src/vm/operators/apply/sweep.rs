//! Sweep: applies a linear map by sweeping its tape, with calls of the user's functions in between.

use crate::tape::{CallKind, Direction, LinearMap, Num, Progress, Sweep, Template};
use crate::value::Ref;
use crate::value::walk::Walk;
use crate::vm::compiler_interface::Compiler;
use crate::vm::fault::Fault;
use crate::vm::operators::apply::linear_map::all_vectors;
use crate::vm::operators::apply::linear_recording;
use crate::vm::operators::apply::linear_recording::Codomain;
use crate::vm::operators::apply::opaque_vector;
use crate::vm::operators::check::{non_finite_value, trace_recorder};
use crate::vm::operators::checkpoint;
use crate::vm::operators::{Cells, Offset, counts, read, read_all, take_tuple, vector, vector_layout, walk};
use crate::vm::state::machine::Machine;
use crate::vm::state::task::{Next, Task};
use std::rc::Rc;

/// A linear map that is being applied by a sweep.
pub(crate) struct Application {
    /// The sweep over the map's tape, and its progress.
    pub(crate) sweep: Sweep,
    /// The linear map that is applied.
    pub(crate) map: Rc<LinearMap>,
    /// The action on the results of the map.
    pub(crate) then: Destination,
    /// The fault for an adjoint that became infinite or NaN outside of the map's own tape, if non-finite adjoints are
    /// detected.
    pub(crate) suspect: Option<Box<Fault>>,
    /// The adjoints that calls and checkpoints have propagated, by the node of the first result; collected while the
    /// sweep is observed for an explanation.
    pub(crate) shares: Vec<(u32, Vec<f64>)>,
}

impl Application {
    /// Creates the application of a linear map whose arguments are in the sweep.
    pub(crate) fn new(sweep: Sweep, map: Rc<LinearMap>, then: Destination) -> Application {
        Application { sweep, map, then, suspect: None, shares: vec![] }
    }

    /// Stores the adjoints that were propagated to the operands of a wide node, if the sweep is observed for an
    /// explanation.
    fn share(&mut self, machine: &Machine, first: u32, given: &[Num]) {
        if machine.levels.observes_steps() {
            self.shares.push((first, given.iter().map(|x| x.value).collect()));
        }
    }
}

/// The action on the results of a linear map after it has been applied.
pub(crate) enum Destination {
    /// The results of the linear map are moved to the window.
    Window,
    /// The linear map belongs to a checkpoint that was run again: the sweep that requested the map continues. The
    /// results are added to the adjoints of `nodes`; `block` is the first result of the checkpoint.
    Block { outer: Box<Application>, block: u32, nodes: Vec<u32> },
}

/// Runs the sweep of a linear map to its end, or to a node where a function must be called.
pub(crate) fn run_sweep(
    machine: &mut Machine,
    compiler: &mut dyn Compiler,
    mut application: Application,
) -> Result<Next, Box<Fault>> {
    loop {
        match application.sweep.run(&mut machine.levels, &|| true)? {
            Progress::Interrupted => machine.check_interrupt()?,
            Progress::Done => match application.then {
                Destination::Window => {
                    return finish(machine, compiler, application);
                }
                Destination::Block { mut outer, block, nodes } => {
                    let Application { sweep, map, mut suspect, .. } = application;
                    let numbers = sweep.numbers(&map.read());
                    let checked =
                        non_finite_value::check_sweep(machine, walk(compiler), &sweep, &mut suspect, &map, &numbers);
                    outer.share(machine, block, &numbers);
                    outer.suspect = outer.suspect.or(suspect).or(checked.err());
                    sweep.finish(&mut machine.levels);
                    application = *outer;
                    for (node, number) in nodes.into_iter().zip(numbers) {
                        opaque_vector::add(machine, walk(compiler), &mut application.sweep, node, number)?;
                    }
                }
            },
            Progress::Call(index) if application.sweep.block(index).is_some() => {
                return checkpoint::recompute(machine, application, index);
            }
            Progress::Call(index) => {
                return match application.map.direction() {
                    Direction::Reverse => call_pullback(machine, compiler, application, index),
                    Direction::Forward => call_pushforward(machine, compiler, application, index),
                };
            }
        }
    }
}

/// Moves the result of a linear map to the window.
fn finish(machine: &mut Machine, compiler: &mut dyn Compiler, application: Application) -> Result<Next, Box<Fault>> {
    let Application { sweep, map, mut suspect, shares, .. } = application;
    let walk = walk(compiler);
    let to = if map.transposed { &map.x } else { &map.y };
    let mut numbers = sweep.numbers(&map.read());
    if !map.transposed {
        plain_tangents(machine, &mut numbers)?;
    }
    non_finite_value::check_sweep(machine, walk, &sweep, &mut suspect, &map, &numbers)?;
    trace_recorder::store_trace(machine, walk, &sweep, &shares, &map)?;
    trace_recorder::report_trace(machine, compiler);
    sweep.finish(&mut machine.levels);
    let vectors = vectors(crate::vm::operators::apply::sweep::walk(compiler), to, &numbers)?;
    opaque_vector::prune(machine);
    machine.set_window(vectors.all());
    Ok(Next::Return)
}

/// Replaces tangents by those that a program may see.
fn plain_tangents(machine: &mut Machine, tangents: &mut [Num]) -> Result<(), Box<Fault>> {
    for tangent in tangents {
        *tangent = machine.levels.plain_tangent(*tangent)?;
    }
    Ok(())
}

/// Builds the tangent vectors of several values from their numbers, one vector after the other.
pub(crate) fn vectors(walk: Walk<'_>, templates: &[Template], mut numbers: &[Num]) -> Result<Cells, Box<Fault>> {
    if let [only] = templates {
        return vector(walk, only, numbers);
    }
    let mut all = Cells::empty();
    for template in templates {
        let count =
            walk.count(template.tangent, &template.cells, Offset::default()).map_err(crate::vm::operators::mismatch)?;
        let (here, rest) = numbers.split_at(count.min(numbers.len()));
        numbers = rest;
        all.push(vector(walk, template, here)?.all());
    }
    Ok(all)
}

/// The task of the function of a wide node in the reverse sweep, which takes the adjoint of the results and returns the
/// adjoints of the operands.
struct PullbackTask {
    application: Application,
    index: usize,
}

fn call_pullback(
    machine: &mut Machine,
    compiler: &mut dyn Compiler,
    application: Application,
    index: usize,
) -> Result<Next, Box<Fault>> {
    let Some((call, first)) = application.sweep.call(index) else { return Err(no_call()) };
    let walk = walk(compiler);
    let count = walk.count(call.y.tangent, &call.y.cells, Offset::default()).map_err(crate::vm::operators::mismatch)?;
    let adjoints: Vec<Num> = (first..).take(count).map(|node| application.sweep.number(node)).collect();
    let argument = vector(walk, &call.y, &adjoints)?;
    let function = call.function.clone();
    match call.kind {
        CallKind::Constant => return Err(linear_recording::constant()),
        CallKind::Forwards => {
            let (domain, codomain) = (call.x.clone(), Codomain::Vector(call.y.clone()));
            let task = PullbackTask { application, index };
            return call_transpose(machine, compiler, function, (domain, codomain), argument, task);
        }
        CallKind::Pullback | CallKind::Edit => {}
    }
    machine.set_window(argument.all());
    let derivative = machine.levels.depth() > 0;
    Ok(Next::call(function, derivative, PullbackTask { application, index }))
}

impl Task for PullbackTask {
    fn resume(self: Box<Self>, machine: &mut Machine, compiler: &mut dyn Compiler) -> Result<Next, Box<Fault>> {
        let PullbackTask { mut application, index } = *self;
        let Some((call, first)) = application.sweep.call(index) else { return Err(no_call()) };
        let walk = walk(compiler);
        let counted =
            walk.count(call.y.tangent, &call.y.cells, Offset::default()).map_err(crate::vm::operators::mismatch)?;
        let slots = machine.levels.depth() > 0;
        let counts = counts(all_vectors(walk, &call.x));
        let result = match call.kind {
            CallKind::Pullback => take_tuple(machine, counts, slots),
            // The result of a call of these kinds is the final value of the only parameter.
            CallKind::Edit | CallKind::Constant | CallKind::Forwards => machine.take_window(counts, slots),
        };
        let adjoints = read_all(walk, &call.x, &result)?;
        let adjoints = opaque_vector::fitted(machine, walk, &call.x, adjoints)?;
        let operands = call.operands.clone();
        let is_registered = call.kind == CallKind::Pullback;
        if machine.levels.checks_not_finite() && application.suspect.is_none() {
            let function = call.function.clone();
            let given = (first..).take(counted).map(|node| application.sweep.number(node).value).collect::<Vec<_>>();
            application.suspect =
                non_finite_value::check_pullback(machine, compiler, &function, is_registered, &given, &adjoints)?;
        }
        application.share(machine, first, &adjoints);
        for (node, adjoint) in operands.into_iter().zip(adjoints) {
            opaque_vector::add(machine, crate::vm::operators::walk(compiler), &mut application.sweep, node, adjoint)?;
        }
        run_sweep(machine, compiler, application)
    }
}

/// The task of the function of a wide node in the forward sweep, which applies the transpose of the node's linear map
/// to the tangents of the operands.
struct PushforwardTask {
    application: Application,
    index: usize,
}

fn call_pushforward(
    machine: &mut Machine,
    compiler: &mut dyn Compiler,
    application: Application,
    index: usize,
) -> Result<Next, Box<Fault>> {
    let Some((call, _)) = application.sweep.call(index) else { return Err(no_call()) };
    let (function, domain) = (call.function.clone(), call.y.clone());
    let mut tangents: Vec<Num> = call.operands.iter().map(|node| application.sweep.number(*node)).collect();
    plain_tangents(machine, &mut tangents)?;
    if matches!(call.kind, CallKind::Constant | CallKind::Forwards) {
        let argument = vectors(walk(compiler), &call.x, &tangents)?;
        machine.set_window(argument.all());
        let derivative = machine.levels.depth() > 0;
        return Ok(Next::call(function, derivative, PushforwardTask { application, index }));
    }
    let walk = walk(compiler);
    let (mut argument, mut codomain, mut tangents) = (Cells::empty(), vec![], &tangents[..]);
    for template in &call.x {
        let count =
            walk.count(template.tangent, &template.cells, Offset::default()).map_err(crate::vm::operators::mismatch)?;
        let (here, rest) = tangents.split_at(count.min(tangents.len()));
        tangents = rest;
        let (vector, template) = opaque_vector::counted(walk, template, here)?;
        argument.push(vector.all());
        codomain.push(template);
    }
    let task = PushforwardTask { application, index };
    call_transpose(machine, compiler, function, (vec![domain], Codomain::Vectors(codomain)), argument, task)
}

/// Records a linear function and calls its transpose.
fn call_transpose(
    machine: &mut Machine,
    compiler: &mut dyn Compiler,
    function: Ref,
    (domain, codomain): (Vec<Template>, Codomain),
    argument: Cells,
    task: impl Task + 'static,
) -> Result<Next, Box<Fault>> {
    linear_recording::record(
        machine,
        compiler,
        function,
        domain,
        codomain,
        Box::new(move |machine, _, map| {
            machine.set_window(argument.all());
            let derivative = machine.levels.depth() > 0;
            let map = Ref::Machine(Rc::new(map.transpose()));
            Ok(Next::call(map, derivative, task))
        }),
    )
}

impl Task for PushforwardTask {
    fn resume(self: Box<Self>, machine: &mut Machine, compiler: &mut dyn Compiler) -> Result<Next, Box<Fault>> {
        let PushforwardTask { mut application, index } = *self;
        let Some((call, first)) = application.sweep.call(index) else { return Err(no_call()) };
        let walk = walk(compiler);
        let slots = machine.levels.depth() > 0;
        let result = machine.take_window(counts(vector_layout(walk, &call.y)), slots);
        let tangents = read(walk, &call.y, (&result, Offset::default()))?;
        for (node, tangent) in (first..).zip(tangents) {
            opaque_vector::add(machine, crate::vm::operators::walk(compiler), &mut application.sweep, node, tangent)?;
        }
        run_sweep(machine, compiler, application)
    }
}

fn no_call() -> Box<Fault> {
    Fault::internal("a sweep requested a function that is not on its tape")
}
