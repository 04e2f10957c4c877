//! Inherited derivatives: checks that an inherited derivative computes the value of the overriding function.
//!
//! Such a derivative was registered for a method that the function overrides, or for a requirement that it satisfies,
//! and may compute another value. So the function itself runs first, without output and on copies of everything
//! reachable. When the derivative has run as well, the two values are compared.

use crate::diagnostic::Code as Number;
use crate::source::Span;
use crate::tape::Observer;
use crate::tape::Template;
use crate::value::finalizer;
use crate::value::finalizer::PendingFinalizer;
use crate::value::number_format::in_formula;
use crate::value::{Cells, Ref, Slot};
use crate::vm::compiler_interface::Compiler;
use crate::vm::fault::{Fault, Remark};
use crate::vm::operators::check::derivative_mismatch::point;
use crate::vm::operators::checkpoint::snapshot::{Copier, Environment, parts, state};
use crate::vm::operators::registered::RuleCall;
use crate::vm::operators::registered::{RuleTask, start};
use crate::vm::operators::{Offset, counts, leaves, value_layout, walk};
use crate::vm::state::machine::Machine;
use crate::vm::state::task::{Callee, Next, Task};
use std::collections::VecDeque;
use std::rc::Rc;

/// The relative difference of two values of `Double`, and of `Float`, that is attributed to rounding.
const ROUNDED: [f64; 2] = [1e-9, 1e-5];
/// The part of the tolerance that does not depend on the size of the value, for values near zero.
const NEAR_ZERO: f64 = 1e-3;

/// The value that the overriding function has returned.
pub(crate) struct PrimalValue {
    numbers: Vec<f64>,
    integers: Vec<i64>,
    /// The arguments with respect to which the overriding function is differentiated, as text.
    point: String,
    name: Rc<str>,
    /// The declaration for which the inherited derivative was registered.
    inherited: Rc<str>,
    place: Span,
}

/// The state of the check while the overriding function is running.
struct InheritedRuleTask {
    environment: Environment,
    watch: Option<Box<dyn Observer>>,
    tapes: Option<Vec<String>>,
    /// Instances whose finalizers are pending.
    waiting: VecDeque<PendingFinalizer>,
    /// The copies on which the overriding function runs.
    copies: Ref,
    /// The arguments of the registered function, which runs afterwards.
    arguments: Cells,
    running: RuleTask,
    primal: PrimalValue,
}

/// Runs the overriding function, and then the registered function.
pub(crate) fn begin(
    machine: &mut Machine,
    compiler: &mut dyn Compiler,
    call: RuleCall<'_>,
    arguments: Cells,
    running: RuleTask,
) -> Result<Next, Box<Fault>> {
    let RuleCall { site, rule } = call;
    let now = state(Ref::Cells(Rc::new(arguments.clone())), &mut machine.globals);
    if let Some((_, globals)) = parts(&now) {
        machine.globals = Cells::clone(&globals);
    }
    let copies = Copier::new(|_| Slot::NONE).copy(&now);
    drop(now);
    let Some((Ref::Cells(copied), globals)) = parts(&copies) else {
        return Err(Fault::internal("a call has no arguments"));
    };
    let at: Vec<f64> = running.by_rule.by.iter().flat_map(|a| &a.numbers).map(|x| x.value).collect();
    let primal = PrimalValue {
        numbers: vec![],
        integers: vec![],
        point: point(&at),
        name: machine.original(compiler, site.function)?.name.clone(),
        inherited: rule.inherited.clone().unwrap_or_default(),
        place: rule.place,
    };
    let random = machine.host.random.clone();
    let environment = Environment::replace(machine, Cells::clone(&globals), random);
    let (watch, tapes) = (machine.levels.set_observer(None), machine.diagnosis.tape_listings.take());
    let waiting = finalizer::take();
    machine.set_window(copied.all());
    let original = InheritedRuleTask { environment, watch, tapes, waiting, copies, arguments, running, primal };
    let callee = Callee::Function(site.function);
    Ok(Next::Call { callee, derivative: false, then: Some(Box::new(original)) })
}

impl InheritedRuleTask {
    /// Restores the state of the program from before the overriding function ran.
    fn restore(self, machine: &mut Machine) -> (Cells, RuleTask, PrimalValue) {
        let InheritedRuleTask { environment, watch, tapes, waiting, copies, arguments, running, primal } = self;
        environment.restore(machine);
        machine.levels.set_observer(watch);
        machine.diagnosis.tape_listings = tapes;
        drop(copies);
        finalizer::forget();
        finalizer::requeue(waiting);
        (arguments, running, primal)
    }
}

impl Task for InheritedRuleTask {
    fn resume(mut self: Box<Self>, machine: &mut Machine, compiler: &mut dyn Compiler) -> Result<Next, Box<Fault>> {
        let result = self.running.by_rule.result;
        let results = counts(value_layout(walk(compiler), result));
        let throws = self.running.by_rule.delivery.throws;
        let has_thrown = throws && machine.integer(0) != 0;
        let value = match throws {
            true => machine.after_error(|machine| machine.take_window(results, false)),
            false => machine.take_window(results, false),
        };
        if throws {
            machine.take_reference(0);
        }
        if !has_thrown {
            let numbers = leaves(walk(compiler), result, &value, Offset::default())?;
            self.primal.numbers = numbers.iter().map(|y| y.value).collect();
            self.primal.integers = value.i.to_vec();
        }
        drop(value);
        let (arguments, mut running, primal) = self.restore(machine);
        running.primal = Some(primal).filter(|_| !has_thrown);
        Ok(start(machine, &arguments, running))
    }

    fn abandon(self: Box<Self>, machine: &mut Machine) {
        self.restore(machine);
    }
}

impl PrimalValue {
    /// Compares the value of the overriding function with the value that the inherited derivative returned.
    pub(crate) fn compare(&self, compiler: &dyn Compiler, actual: &Template) -> Result<(), Box<Fault>> {
        let numbers = leaves(walk(compiler), actual.tangent, &actual.cells, Offset::default())?;
        let numbers: Vec<f64> = numbers.iter().map(|y| y.value).collect();
        if numbers.len() != self.numbers.len() {
            let plural = if numbers.len() == 1 { "" } else { "s" };
            return Err(self.differs(&format!("{} number{plural} instead of {}", numbers.len(), self.numbers.len())));
        }
        let several = numbers.len() > 1;
        for (k, (actual, primal)) in numbers.iter().zip(&self.numbers).enumerate() {
            if !is_same(*actual, *primal) {
                let which = if several { format!("number {} is ", k + 1) } else { String::new() };
                return Err(self.differs(&format!(
                    "{which}{} instead of {}",
                    in_formula(*actual),
                    in_formula(*primal)
                )));
            }
        }
        if let Some((actual, primal)) =
            actual.cells.i.iter().zip(&self.integers).find(|(actual, primal)| actual != primal)
        {
            return Err(self.differs(&format!("{actual} instead of {primal}")));
        }
        Ok(())
    }

    fn differs(&self, how: &str) -> Box<Fault> {
        let PrimalValue { name, inherited, point, place, .. } = self;
        let message = format!(
            "the derivative that '{name}' inherits from '{inherited}' returns a different value than '{name}' itself"
        );
        Fault::new(Number::WrongDerivative, message)
            .remark(Remark::Here(format!("at {point}: {how}")))
            .remark(Remark::There(*place, format!("registered here as the derivative of '{inherited}'")))
            .remark(Remark::Help(format!("mark '{name}' with '@differentiable' to differentiate it")))
    }
}

/// Whether two numbers are equal up to rounding errors.
fn is_same(a: f64, b: f64) -> bool {
    if a == b || a.is_nan() && b.is_nan() {
        return true;
    }
    if !a.is_finite() || !b.is_finite() {
        return false;
    }
    let is_single = |x: f64| f64::from(x as f32) == x;
    let rounded = ROUNDED[usize::from(is_single(a) && is_single(b))];
    (a - b).abs() <= rounded * a.abs().max(b.abs()).max(NEAR_ZERO)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_the_same_but_for_rounding() {
        assert!(is_same(0.1 + 0.2, 0.3));
        assert!(is_same(1.224_646_8e-16, 0.0));
        assert!(is_same(f64::NAN, f64::NAN));
        assert!(is_same(f64::from(0.1f32 + 0.2f32), f64::from(0.3f32)));
        assert!(!is_same(1.0, 1.0 + 1e-7));
        assert!(!is_same(2.0, 3.0));
        assert!(!is_same(f64::INFINITY, 1.0));
        assert!(!is_same(f64::NAN, 1.0));
    }
}
