//! Derivative check: compares registered derivatives with finite differences (`--check-derivatives`).
//!
//! The first calls of each registered derivative in a run are checked. Original and derivative are run on copies of
//! everything reachable, without output, so that the program cannot observe these runs. No error is reported where
//! finite differences are unreliable: at kinks, outside the domain, where a function fails.

use crate::bytecode::{Registered, RegisteredKind, RuleSite};
use crate::native::library::Random;
use crate::tape::Template;
use crate::value::{Cells, Ref, Slot};
use crate::vm::compiler_interface::Compiler;
use crate::vm::fault::Fault;
use crate::vm::operators::apply::linear_map::all_vectors;
use crate::vm::operators::check::derivative_mismatch::{self, Coordinate, Discrepancy, point};
use crate::vm::operators::check::finite_difference::{Estimate, SECOND_SCALE, derivative, unit as size};
use crate::vm::operators::check::scalars::{
    scalars, scalars_of_vectors, set_scalars, vector_of_scalars, vectors_of_scalars,
};
use crate::vm::operators::checkpoint::snapshot::{Copier, Environment, parts, state};
use crate::vm::operators::registered::RuleCall;
use crate::vm::operators::registered::{Argument, layout};
use crate::vm::operators::{Offset, counts, value_layout, vector_layout, walk};
use crate::vm::run::protected_call::call_protected;
use crate::vm::state::machine::Machine;
use crate::vm::state::task::Callee;
use std::rc::Rc;

/// The number of calls of each derivative that are checked.
const MAX_CHECKED_CALLS: u32 = 3;
/// The maximum number of results times parameters for which the partial derivatives are compared one by one; if there
/// are more, the derivative along one direction is reported.
const MAX_SEPARATE: usize = 24;
/// The relative difference of two values that is attributed to rounding.
const ROUNDED: f64 = 1e-5;

/// Checks a call of a function with registered derivatives. The slots of the level that decides were stripped from the
/// arguments.
///
/// # Errors
/// Fails when the registered derivative is wrong, or the program must stop.
pub(crate) fn check(
    machine: &mut Machine,
    compiler: &mut dyn Compiler,
    call: RuleCall<'_>,
    arguments: &Cells,
    by: &[Argument],
) -> Result<(), Box<Fault>> {
    let rule = call.rule;
    if rule.differs {
        return Ok(());
    }
    let Some(mut checks) = machine.diagnosis.rule_checks.take() else { return Ok(()) };
    let calls = checks.count(rule.function);
    // The number of the function depends on the size of the library, on which the checked points should not depend.
    let seed = u64::from(calls);
    let is_due = calls <= MAX_CHECKED_CALLS && is_checkable(compiler, call, by);
    let outcome = if is_due { compare_with_differences(machine, compiler, call, arguments, by, seed) } else { Ok(()) };
    machine.diagnosis.rule_checks = Some(checks);
    outcome
}

/// Whether finite differences can be computed for a call: its arguments contain numbers whose paths in the arguments
/// are known.
fn is_checkable(compiler: &mut dyn Compiler, call: RuleCall<'_>, by: &[Argument]) -> bool {
    let RuleCall { site, rule } = call;
    let tangents = compiler.tangents();
    let by_rule = rule.wrt.iter().enumerate().filter(|(_, wrt)| **wrt).map(|(k, _)| mover(rule, k).is_some());
    let beside = by.iter().zip(by_rule).any(|(a, varies)| !varies && tangents.varies_beside(a.template.tangent))
        || by.iter().any(|a| tangents.has_uncounted_vector(a.template.tangent))
        || tangents.varies_beside(rule.result);
    let results = counts(value_layout(walk(compiler), rule.result));
    let error = if site.throws { [0, 1, 1] } else { [0; 3] };
    let fits = [0, 1, 2].iter().all(|b| results[*b] + error[*b] == usize::from(site.results[*b]));
    let varies = by.iter().any(|a| !a.numbers.is_empty());
    !beside && fits && varies
}

fn compare_with_differences(
    machine: &mut Machine,
    compiler: &mut dyn Compiler,
    call: RuleCall<'_>,
    arguments: &Cells,
    by: &[Argument],
    seed: u64,
) -> Result<(), Box<Fault>> {
    let RuleCall { site, rule } = call;
    let mut numbers: Vec<Vec<f64>> = vec![];
    for argument in by {
        numbers.push(scalars(walk(compiler), &argument.template)?);
    }
    let (counts, x) = (numbers.iter().map(Vec::len).collect(), numbers.concat());
    let start = state(Ref::Cells(Rc::new(arguments.clone())), &mut machine.globals);
    if let Some((_, globals)) = parts(&start) {
        machine.globals = Cells::clone(&globals);
    }
    let random = machine.host.random.clone();
    let environment = Environment::replace(machine, Cells::empty(), random.clone());
    let (watch, tapes) = (machine.levels.set_observer(None), machine.diagnosis.tape_listings.take());
    let mut checker = RuleChecker { machine, compiler, site, rule, counts, start, random, x };
    let found = checker.examine(seed);
    machine.levels.set_observer(watch);
    machine.diagnosis.tape_listings = tapes;
    environment.restore(machine);
    match found? {
        None => Ok(()),
        Some(wrong) => Err(derivative_mismatch::fault(machine, compiler, call, wrong)?),
    }
}

/// The check of one call of a function with registered derivatives.
struct RuleChecker<'a> {
    machine: &'a mut Machine,
    compiler: &'a mut dyn Compiler,
    site: &'a RuleSite,
    rule: &'a Registered,
    /// The numbers of scalars in the parameters with respect to which the registered derivative differentiates.
    counts: Vec<usize>,
    /// The arguments and the global variables at the start of the checked call.
    start: Ref,
    random: Random,
    /// The numbers with respect to which the registered derivative differentiates.
    x: Vec<f64>,
}

/// The result of a function with a registered derivative at a point.
struct RuleEvaluation {
    y: Template,
    numbers: Vec<f64>,
    function: Ref,
    domain: Vec<Template>,
}

type Answer<T> = Result<Option<T>, Box<Fault>>;

impl RuleChecker<'_> {
    fn examine(&mut self, seed: u64) -> Answer<Discrepancy> {
        let x = self.x.clone();
        let Some(evaluation) = self.registered(&x)? else { return Ok(None) };
        let Some(value) = self.original(&x)? else { return Ok(None) };
        if value.len() != evaluation.numbers.len() || value.iter().any(|y| !y.is_finite()) {
            return Ok(None);
        }
        for (value, other) in value.iter().zip(&evaluation.numbers) {
            if (value - other).abs() > ROUNDED * value.abs().max(other.abs()) || other.is_nan() {
                return Ok(Some(Discrepancy::Value(point(&x), *other, *value)));
            }
        }
        let mut random = Random::seeded(seed);
        let mut some = |count: usize| -> Vec<f64> {
            if count == 1 {
                return vec![1.0];
            }
            (0..count).map(|_| [1.0, -1.25, 1.5, -1.75][(random.bits() >> 62) as usize]).collect()
        };
        let (along, weights) = (some(x.len()), some(value.len()));
        for scales in [x.iter().map(|x| size(*x)).collect::<Vec<_>>(), vec![1.0; x.len()]] {
            let along: Vec<f64> = along.iter().zip(&scales).map(|(d, scale)| d * scale).collect();
            let Some((claimed, estimate)) = self.compare(&x, &evaluation, &along, &weights)? else { continue };
            let again: Vec<f64> = along.iter().map(|d| d * SECOND_SCALE).collect();
            if estimate.excludes(claimed)
                && let Some((claimed, estimate)) = self.compare(&x, &evaluation, &again, &weights)?
                && estimate.excludes(claimed)
            {
                return self.explained(&evaluation, &along, &weights).map(Some);
            }
            if !estimate.is_uncertain(claimed) {
                break;
            }
        }
        Ok(None)
    }

    /// Describes the difference between a registered derivative and the finite differences, if possible for one result
    /// and one number, and at three points.
    fn explained(
        &mut self,
        evaluation: &RuleEvaluation,
        along: &[f64],
        weights: &[f64],
    ) -> Result<Discrepancy, Box<Fault>> {
        let unit = |count: usize, k: usize| (0..count).map(|j| f64::from(u8::from(j == k))).collect::<Vec<f64>>();
        let pairs = (0..weights.len()).flat_map(|j| (0..along.len()).map(move |i| (j, i)));
        let is_small = weights.len() * along.len() <= MAX_SEPARATE;
        for (j, i) in pairs.filter(|_| is_small) {
            let scale = along[i].abs();
            let direction: Vec<f64> = unit(along.len(), i).iter().map(|d| d * scale).collect();
            let only = unit(weights.len(), j);
            let found = self.compare(&self.x.clone(), evaluation, &direction, &only)?;
            if found.is_some_and(|(claimed, estimate)| estimate.excludes(claimed)) {
                let result = Coordinate { parameter: 0, number: j, of: weights.len() };
                let alone = self.part(i).map(|part| (result, part));
                return Ok(Discrepancy::Partial { alone, points: self.three_points(&direction, &only, scale)? });
            }
        }
        Ok(Discrepancy::Partial { alone: None, points: self.three_points(along, weights, 1.0)? })
    }

    /// Returns the registered derivative and the finite difference at the point and on both sides of it, where these
    /// exist.
    fn three_points(
        &mut self,
        direction: &[f64],
        weights: &[f64],
        scale: f64,
    ) -> Result<Vec<(String, f64, f64)>, Box<Fault>> {
        let mut points = vec![];
        for by in [0.0, 0.25, -0.25] {
            let x: Vec<f64> = self.x.iter().zip(direction).map(|(x, d)| x + by * d).collect();
            let Some(evaluation) = self.registered(&x)? else { continue };
            if let Some((claimed, estimate)) = self.compare(&x, &evaluation, direction, weights)? {
                points.push((point(&x), claimed / scale, estimate.derivative / scale));
            }
        }
        Ok(points)
    }

    /// Returns the parameter to which a number belongs, among the parameters with respect to which the registered
    /// derivative differentiates.
    fn part(&self, mut number: usize) -> Option<Coordinate> {
        for (parameter, of) in self.counts.iter().copied().enumerate() {
            if number < of {
                return Some(Coordinate { parameter, number, of });
            }
            number -= of;
        }
        None
    }

    /// Returns the directional derivatives of a weighted sum of the results: by the registered derivative, and by
    /// finite differences.
    fn compare(
        &mut self,
        x: &[f64],
        evaluation: &RuleEvaluation,
        along: &[f64],
        weights: &[f64],
    ) -> Answer<(f64, Estimate)> {
        let Some(claimed) = self.claimed(evaluation, along, weights)?.filter(|claimed| claimed.is_finite()) else {
            return Ok(None);
        };
        let sum = |y: &[f64]| y.iter().zip(weights).map(|(y, w)| y * w).sum::<f64>();
        let Some(y) = self.original(x)? else { return Ok(None) };
        let size: f64 = y.iter().zip(weights).map(|(y, w)| (y * w).abs()).sum();
        let estimate = derivative((sum(&y), size), &mut |t| {
            let x: Vec<f64> = x.iter().zip(along).map(|(x, d)| rounded(x + t * d, *x)).collect();
            let values = self.original(&x)?.filter(|values| values.len() == weights.len());
            Ok::<_, Box<Fault>>(values.map(|values| sum(&values)).filter(|sum| sum.is_finite()))
        })?;
        Ok(estimate.map(|estimate| (claimed, estimate)))
    }

    /// Returns the directional derivative that the registered derivative computes.
    fn claimed(&mut self, evaluation: &RuleEvaluation, along: &[f64], weights: &[f64]) -> Answer<f64> {
        let walk = walk(self.compiler);
        let is_pullback = self.rule.kind == RegisteredKind::Pullback;
        let (arguments, results) = match is_pullback {
            true => (vector_of_scalars(walk, &evaluation.y, weights)?, counts(all_vectors(walk, &evaluation.domain))),
            false => (vectors_of_scalars(walk, &evaluation.domain, along)?, counts(vector_layout(walk, &evaluation.y))),
        };
        let callee = Callee::Object(evaluation.function.clone());
        let as_tuple = if is_pullback { packed(results) } else { results };
        let Some(result) = call_protected(self.machine, self.compiler, callee, &arguments, as_tuple)? else {
            return Ok(None);
        };
        let walk = crate::vm::operators::walk(self.compiler);
        let (numbers, others) = match is_pullback {
            true => (scalars_of_vectors(walk, &evaluation.domain, &unpacked(result, results)), along),
            false => (scalars_of_vectors(walk, std::slice::from_ref(&evaluation.y), &result), weights),
        };
        Ok(numbers.ok().map(|numbers| numbers.iter().zip(others).map(|(x, other)| x * other).sum()))
    }

    /// Returns the result of the registered function at the point `x`.
    fn registered(&mut self, x: &[f64]) -> Answer<RuleEvaluation> {
        let Some((arguments, domain)) = self.at(x)? else { return Ok(None) };
        let mut results = counts(value_layout(walk(self.compiler), self.rule.result));
        results[2] += 1;
        let callee = Callee::Function(self.rule.function);
        let Some(result) = self.call_protected(callee, &arguments, packed(results), self.rule.throws)? else {
            return Ok(None);
        };
        let mut cells = unpacked(result, results);
        let Some(function) = cells.r.pop() else { return Ok(None) };
        let y = Template { tangent: self.rule.result, cells };
        let numbers = scalars(walk(self.compiler), &y)?;
        Ok(Some(RuleEvaluation { y, numbers, function, domain }))
    }

    /// Returns the result of the original function at the point `x`.
    fn original(&mut self, x: &[f64]) -> Answer<Vec<f64>> {
        let Some((arguments, _)) = self.at(x)? else { return Ok(None) };
        let results = counts(value_layout(walk(self.compiler), self.rule.result));
        let callee = Callee::Function(self.site.function);
        let Some(result) = self.call_protected(callee, &arguments, results, self.site.throws)? else { return Ok(None) };
        scalars(walk(self.compiler), &Template { tangent: self.rule.result, cells: result }).map(Some)
    }

    /// Calls a function that may throw; a thrown error counts as a failure of the check.
    fn call_protected(
        &mut self,
        callee: Callee,
        arguments: &Cells,
        mut results: [usize; 3],
        throws: bool,
    ) -> Answer<Cells> {
        if throws {
            results = [results[0], results[1] + 1, results[2] + 1];
        }
        let Some(mut result) = call_protected(self.machine, self.compiler, callee, arguments, results)? else {
            return Ok(None);
        };
        if throws {
            if result.i.first() != Some(&0) {
                return Ok(None);
            }
            result.i.remove(0);
            result.r.remove(0);
        }
        Ok(Some(result))
    }

    /// Returns a copy of the arguments in which the differentiated numbers have the values `x`, and a copy of the
    /// differentiated parameters; restores the global variables. `None` if the numbers cannot take these values,
    /// because some of them are stored in one location.
    fn at(&mut self, x: &[f64]) -> Answer<(Cells, Vec<Template>)> {
        let copy = Copier::new(|_| Slot::NONE).copy(&self.start);
        let Some((Ref::Cells(arguments), globals)) = parts(&copy) else { return Ok(None) };
        drop(copy);
        self.machine.globals = Rc::unwrap_or_clone(globals);
        self.machine.host.random = self.random.clone();
        let (mut at, mut moved, mut domain) = (Offset::default(), Cells::empty(), vec![]);
        let (mut rest, mut placed) = (x, vec![]);
        for (k, (counts, tangent)) in self.site.params.iter().enumerate() {
            let mut parts = arguments.all();
            parts.take(crate::vm::operators::Layout { f: at.f as u32, i: at.i as u32, r: at.r as u32 });
            let mut value = Cells::record(parts.take(layout(*counts)));
            at = at.after(layout(*counts));
            if let (Some(tangent), Some(true)) = (tangent, self.rule.wrt.get(k)) {
                let template = Template { tangent: *tangent, cells: value };
                let count = scalars(walk(self.compiler), &template)?.len();
                let (numbers, after) = rest.split_at(count.min(rest.len()));
                rest = after;
                let Some(new) = self.moved(template, mover(self.rule, k), numbers)? else { return Ok(None) };
                value = new.clone();
                domain.push(Template { tangent: *tangent, cells: new });
                placed.extend(mover(self.rule, k).is_none().then_some((domain.len() - 1, numbers)));
            }
            moved.push(value.all());
        }
        // An instance that occurs twice in the arguments retains the numbers that were assigned last.
        for (k, numbers) in placed {
            if scalars(walk(self.compiler), &domain[k])? != numbers {
                return Ok(None);
            }
        }
        Ok(Some((moved, domain)))
    }

    /// Returns a copy of a value that has the given numbers; for a type with a custom tangent vector, the value is
    /// moved along that vector.
    fn moved(&mut self, mut value: Template, mover: Option<u32>, numbers: &[f64]) -> Answer<Cells> {
        let walk = walk(self.compiler);
        if let Some(mover) = mover {
            let direction = vector_of_scalars(walk, &value, numbers)?;
            let results = counts(value_layout(walk, value.tangent));
            let mut arguments = value.cells;
            arguments.push(direction.all());
            return call_protected(self.machine, self.compiler, Callee::Function(mover), &arguments, results);
        }
        set_scalars(walk, &mut value, numbers)?;
        Ok(Some(value.cells))
    }
}

/// Returns the function that moves a parameter whose differentiated numbers are not parts of its value.
fn mover(rule: &Registered, parameter: usize) -> Option<u32> {
    rule.movers.get(parameter).copied().flatten()
}

/// Returns the component counts of the result of a function that returns several values with these counts in one tuple.
fn packed(counts: [usize; 3]) -> [usize; 3] {
    if counts.iter().sum::<usize>() <= crate::vm::operators::MAX_INLINE_COMPONENTS { counts } else { [0, 0, 1] }
}

/// Returns the components of several values from the result of a function that returns these values in one tuple.
fn unpacked(result: Cells, counts: [usize; 3]) -> Cells {
    match result.r.first() {
        Some(Ref::Cells(record)) if packed(counts) != counts => Cells::clone(record),
        _ => result,
    }
}

/// Returns `x`, rounded to `Float` if `origin` is representable as a `Float`.
fn rounded(x: f64, origin: f64) -> f64 {
    let single = f64::from(x as f32);
    if f64::from(origin as f32) == origin && single.is_finite() { single } else { x }
}
