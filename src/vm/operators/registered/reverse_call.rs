//! Reverse call: calls a registered derivative in a reverse level.
//!
//! A differential is linear, so it is run once, on zeros that represent the nodes of the arguments; the recording is
//! swept in reverse. A differential whose linearity was not checked may compare its arguments with zero, and is
//! recorded separately. A pullback is stored on the tape, and called by the sweep.

use crate::bytecode::RegisteredKind;
use crate::tape::{Call, CallKind, Num};
use crate::value::Ref;
use crate::vm::compiler_interface::Compiler;
use crate::vm::fault::Fault;
use crate::vm::operators::apply::linear_recording;
use crate::vm::operators::apply::linear_recording::Codomain;
use crate::vm::operators::apply::opaque_vector;
use crate::vm::operators::registered::{ResultDelivery, RuleResult, call_differential, deliver};
use crate::vm::operators::{Offset, counts, leaves, read, vector_layout, walk};
use crate::vm::state::machine::Machine;
use crate::vm::state::task::{Next, Task};
use std::rc::Rc;

/// Applies a registered derivative in a reverse level, after the registered function has returned `result`.
pub(crate) fn apply(
    machine: &mut Machine,
    compiler: &mut dyn Compiler,
    result: RuleResult,
) -> Result<Next, Box<Fault>> {
    let RuleResult { rule, y, function } = result;
    let is_whole = opaque_vector::any(walk(compiler), rule.by.iter().map(|a| &a.template).chain([&y]));
    match rule.returns {
        RegisteredKind::Pullback => return keep_pullback(machine, compiler, RuleResult { rule, y, function }),
        RegisteredKind::UnseenDifferential if !is_whole => {
            return keep_transpose(machine, compiler, RuleResult { rule, y, function });
        }
        RegisteredKind::UnseenDifferential | RegisteredKind::Differential => {}
    }
    let (level, delivery) = (rule.level, rule.delivery.clone());
    let operands = rule.by.iter().flat_map(|a| &a.numbers).map(|x| machine.levels.node(level, *x)).collect();
    let x = rule.by.iter().map(|a| a.template.clone()).collect();
    let call = Call { kind: CallKind::Constant, function: function.clone(), name: rule.name.clone(), operands, x, y };
    let walk = walk(compiler);
    if is_whole {
        let call = Call { kind: CallKind::Forwards, ..call };
        let values = leaves(walk, call.y.tangent, &call.y.cells, Offset::default())?;
        let y = call.y.clone();
        let numbers = machine.levels.push_call(level, call, &values)?;
        return deliver(machine, compiler, y, &numbers, delivery);
    }
    // The slots of the level were stripped from the arguments of the registered function, so the factors by which the
    // derivative multiplies are constants of the level.
    machine.levels.lose_partials(level);
    let task = Differential { level, call, delivery };
    call_differential(
        machine,
        compiler,
        &rule,
        function,
        &mut |levels, x| levels.varied_like(level, x, Num::default()),
        task,
    )
}

fn keep_transpose(machine: &mut Machine, compiler: &mut dyn Compiler, result: RuleResult) -> Result<Next, Box<Fault>> {
    let RuleResult { rule, y, function } = result;
    let domain = rule.by.iter().map(|a| a.template.clone()).collect();
    linear_recording::record(
        machine,
        compiler,
        function,
        domain,
        Codomain::Vector(y.clone()),
        Box::new(move |machine, compiler, map| {
            let pullback = Ref::Machine(Rc::new(map.transpose()));
            keep_pullback(machine, compiler, RuleResult { rule, y, function: pullback })
        }),
    )
}

fn keep_pullback(machine: &mut Machine, compiler: &mut dyn Compiler, result: RuleResult) -> Result<Next, Box<Fault>> {
    let RuleResult { rule, y, function } = result;
    let results = leaves(walk(compiler), y.tangent, &y.cells, Offset::default())?;
    let numbers = rule.by.iter().flat_map(|a| &a.numbers);
    let call = Call {
        kind: CallKind::Pullback,
        function,
        name: rule.name,
        operands: numbers.map(|x| machine.levels.node(rule.level, *x)).collect(),
        x: rule.by.into_iter().map(|a| a.template).collect(),
        y: y.clone(),
    };
    if machine.levels.observes_steps() {
        machine.note_place();
    }
    let numbers = machine.levels.push_call(rule.level, call, &results)?;
    deliver(machine, compiler, y, &numbers, rule.delivery)
}

/// The state of a call while a registered differential is running.
struct Differential {
    level: usize,
    /// The call that is recorded on the tape if the differential cannot be recorded.
    call: Call,
    delivery: ResultDelivery,
}

impl Task for Differential {
    fn resume(self: Box<Self>, machine: &mut Machine, compiler: &mut dyn Compiler) -> Result<Next, Box<Fault>> {
        let Differential { level, call, delivery } = *self;
        let y = call.y.clone();
        let walk = walk(compiler);
        let result = machine.take_window(counts(vector_layout(walk, &y)), true);
        let tangents = read(walk, &y, (&result, Offset::default()))?;
        let values = leaves(walk, y.tangent, &y.cells, Offset::default())?;
        let still = tangents.iter().all(|dy| machine.levels.node(level, *dy) == 0);
        if still && tangents.iter().any(|dy| dy.value != 0.0) {
            let numbers = machine.levels.push_call(level, call, &values)?;
            return deliver(machine, compiler, y, &numbers, delivery);
        }
        let mut numbers = vec![];
        for (y, dy) in values.into_iter().zip(tangents) {
            numbers.push(machine.levels.varied_like(level, dy, y)?);
        }
        deliver(machine, compiler, y, &numbers, delivery)
    }
}
