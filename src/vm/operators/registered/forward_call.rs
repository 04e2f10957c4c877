//! Forward call: calls a registered derivative in a forward level.
//!
//! A differential is called on the tangents. A pullback is recorded once, and transposed.

use crate::bytecode::RegisteredKind;
use crate::native::tensor::TensorValue;
use crate::tape::{Template, tensor_vector, vector_number};
use crate::value::{Cells, Ref};
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

/// The state of a call while a differential, which returns the tangent of the result, is running.
struct Tangent {
    level: usize,
    y: Template,
    delivery: ResultDelivery,
}

/// Applies a registered derivative in a forward level, after the registered function has returned `result`.
pub(crate) fn apply(
    machine: &mut Machine,
    compiler: &mut dyn Compiler,
    result: RuleResult,
) -> Result<Next, Box<Fault>> {
    let RuleResult { rule, y, function } = result;
    let (level, delivery) = (rule.level, rule.delivery.clone());
    if rule.returns != RegisteredKind::Pullback {
        let task = Tangent { level, y, delivery };
        return call_differential(
            machine,
            compiler,
            &rule,
            function,
            &mut |levels, x| {
                let tangent = levels.tangent(level, x);
                levels.plain_tangent(tangent)
            },
            task,
        );
    }
    let walk = walk(compiler);
    let (mut tangents, mut codomain) = (Cells::empty(), vec![]);
    for argument in &rule.by {
        let mut numbers = vec![];
        for x in &argument.numbers {
            let tangent = machine.levels.tangent(level, *x);
            numbers.push(machine.levels.plain_tangent(tangent)?);
        }
        let (tangent, template) = opaque_vector::counted(walk, &argument.template, &numbers)?;
        tangents.push(tangent.all());
        codomain.push(template);
    }
    linear_recording::record(
        machine,
        compiler,
        function,
        vec![y.clone()],
        Codomain::Vectors(codomain),
        Box::new(move |machine, _, map| {
            machine.set_window(tangents.all());
            Ok(Next::call(Ref::Machine(Rc::new(map.transpose())), true, Tangent { level, y, delivery }))
        }),
    )
}

impl Task for Tangent {
    fn resume(self: Box<Self>, machine: &mut Machine, compiler: &mut dyn Compiler) -> Result<Next, Box<Fault>> {
        let Tangent { level, y, delivery } = *self;
        let walk = walk(compiler);
        let result = machine.take_window(counts(vector_layout(walk, &y)), true);
        let mut tangents = read(walk, &y, (&result, Offset::default()))?;
        // A tangent that the differential reads from an instance may still vary in the level.
        tangents.iter_mut().for_each(|dy| {
            *dy = match tensor_vector(*dy) {
                Some(vector) => {
                    let slot = machine.levels.strip_slot(level, vector.slot);
                    vector_number(TensorValue { slot, ..vector })
                }
                None => machine.levels.strip(level, *dy),
            };
        });
        let values = leaves(walk, y.tangent, &y.cells, Offset::default())?;
        let mut numbers = vec![];
        for (y, dy) in values.into_iter().zip(tangents) {
            numbers.push(machine.levels.dual_at(level, y, dy)?);
        }
        deliver(machine, compiler, y, &numbers, delivery)
    }
}
