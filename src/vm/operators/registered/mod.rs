//! Registered derivatives: calls functions with registered derivatives.
//!
//! The innermost live level among the arguments decides: the most specific rule that covers the arguments that vary
//! there is chosen. The slots of this level are stripped from the arguments of the registered function, which runs in
//! derivative code because the arguments may vary in the outer levels; the result that it returns besides the value is
//! the derivative of the value in the level.

pub(crate) mod forward_call;
pub(crate) mod inherited_derivative;
pub(crate) mod reverse_call;
pub(crate) mod side_effects;
pub(crate) mod thrown_error;

use crate::bytecode::{Registered, RegisteredKind, RuleSite};
use crate::diagnostic::Code as Number;
use crate::tape::{Direction, Levels, Num, RecordError, Template};
use crate::value::shape::{Layout, TangentId};
use crate::value::slot_rewrite::{SlotChange, change_slots, visit_slots};
use crate::value::walk::Walk;
use crate::value::{Bank, Cells, Ref, Slot};
use crate::vm::compiler_interface::Compiler;
use crate::vm::fault::Fault;
use crate::vm::operators::check::derivative_check;
use crate::vm::operators::registered::inherited_derivative::PrimalValue;
use crate::vm::operators::registered::thrown_error::CallSnapshot;
use crate::vm::operators::{Offset, counts, leaves, take_tuple, value_layout, walk};
use crate::vm::state::machine::Machine;
use crate::vm::state::running_derivative::RunningDerivative;
use crate::vm::state::task::{Callee, Next, Task};
use std::rc::Rc;

/// A call of a function with registered derivatives, and the registered derivative that is chosen.
#[derive(Clone, Copy)]
pub(crate) struct RuleCall<'a> {
    pub(crate) site: &'a RuleSite,
    pub(crate) rule: &'a Registered,
}

/// A parameter with respect to which the registered derivative differentiates.
pub(crate) struct Argument {
    /// The template of the argument: its structure and its numbers in the outer levels.
    pub(crate) template: Template,
    /// The numbers of the argument before the slots of the level were stripped.
    pub(crate) numbers: Vec<Num>,
}

/// A call that is differentiated by a rule.
pub(crate) struct ByRule {
    /// The level that decides which registered derivative is chosen.
    pub(crate) level: usize,
    /// The name of the original function, while steps are shown.
    pub(crate) name: Option<Rc<str>>,
    /// The parameters with respect to which the registered derivative differentiates.
    pub(crate) by: Vec<Argument>,
    /// The tangent type of the result of the original function.
    pub(crate) result: TangentId,
    /// The kind of derivative that the called function returns besides the value.
    pub(crate) returns: RegisteredKind,
    /// The way in which the results of the call are delivered.
    pub(crate) delivery: ResultDelivery,
    /// The state before the call, if the function may throw after modifying some of its arguments.
    pub(crate) before: Option<CallSnapshot>,
}

/// The result of a registered function.
pub(crate) struct RuleResult {
    /// The call that returned the result.
    pub(crate) rule: ByRule,
    /// The value that the registered function returned.
    pub(crate) y: Template,
    /// The differential or pullback that the registered function returned.
    pub(crate) function: Ref,
}

/// The way in which the results of a call by a registered derivative are delivered.
#[derive(Clone)]
pub(crate) struct ResultDelivery {
    /// Whether the original function may throw.
    pub(crate) throws: bool,
    /// The results of the registered function, if it ran on varied arguments: the parts of the results that the
    /// registered derivative does not cover vary as in these results.
    pub(crate) varied_results: Option<Cells>,
}

/// The state of a call while a registered function is running.
pub(crate) struct RuleTask {
    pub(crate) by_rule: ByRule,
    function: u32,
    /// Whether the registered function may throw.
    throws: bool,
    /// The levels whose slots were stripped from the arguments.
    strip: StrippedLevels,
    /// The original function, if slots were stripped from its arguments for the registered derivative only.
    original: Option<u32>,
    /// The value that an inherited derivative must return.
    pub(crate) primal: Option<PrimalValue>,
}

/// A list of levels whose slots are stripped from values, the innermost level first.
struct StrippedLevels(Vec<usize>);

impl StrippedLevels {
    /// Creates the list of levels. The innermost level comes first, because stripping an inner level may yield a slot
    /// of an outer level.
    fn inner_first(mut levels: Vec<usize>) -> StrippedLevels {
        levels.sort_unstable_by(|a, b| b.cmp(a));
        StrippedLevels(levels)
    }

    /// Returns the levels whose slots a call by a registered derivative strips: the level that decides, and the levels
    /// for which an outer call of a derivative of the same function runs on varied arguments.
    fn of_call(machine: &Machine, function: u32, level: usize) -> StrippedLevels {
        let active = machine.running_derivatives.iter().filter(|active| active.original == Some(function));
        StrippedLevels::inner_first(active.map(|active| active.level).chain([level]).collect())
    }

    /// Strips the slots of these levels from all numbers of a value, except those in boxes, which are shared.
    fn off(&self, machine: &Machine, cells: &mut Cells) {
        change_slots(cells, &mut StripLevels { levels: &machine.levels, strip: self });
    }

    fn slot(&self, levels: &Levels, slot: Slot) -> Slot {
        self.0.iter().fold(slot, |slot, level| levels.strip_slot(*level, slot))
    }
}

struct StripLevels<'a> {
    levels: &'a Levels,
    strip: &'a StrippedLevels,
}

impl SlotChange for StripLevels<'_> {
    fn slot(&mut self, slot: Slot) -> Slot {
        self.strip.slot(self.levels, slot)
    }

    fn enters_boxes(&self) -> bool {
        false
    }
}

/// Calls a function with registered derivatives. The arguments of the call are in the window.
pub(crate) fn call(machine: &mut Machine, compiler: &mut dyn Compiler, site: &RuleSite) -> Result<Next, Box<Fault>> {
    if site.is_entry {
        machine.diagnosis.lost_tangents.transfers.forward_origins(machine.frames.len());
    }
    let all = site.params.iter().fold([0; 3], |sum, (c, _)| [0, 1, 2].map(|b| sum[b] + usize::from(c[b])));
    let mut arguments = machine.take_window(all, true);
    let mut numbers = vec![];
    let mut at = Offset::default();
    for (counts, tangent) in &site.params {
        numbers.push(match tangent {
            Some(id) => without_running_levels(machine, site.function, leaves(walk(compiler), *id, &arguments, at)?),
            None => vec![],
        });
        at = at.after(layout(*counts));
    }
    let level = numbers.iter().filter_map(|x| machine.levels.innermost(x)).max();
    let Some(level) = level else {
        // No argument varies, but other values that the function reads may vary.
        machine.set_window(arguments.all());
        return Ok(Next::tail_call(Callee::BodyDerivative(site.function), true));
    };
    let rule = choose(machine, site, &numbers, level).filter(|_| !varies_elsewhere(machine, site, &arguments, level));
    let Some(rule) = rule else {
        if let Some(refusal) = &site.refusal {
            return Err(Fault::new(Number::NoDerivative, refusal.to_string()));
        }
        machine.set_window(arguments.all());
        return Ok(Next::tail_call(Callee::BodyDerivative(site.function), true));
    };
    if rule.has_own_tangent && is_forward(machine, level) && machine.diagnosis.rule_checks.is_none() {
        machine.set_window(arguments.all());
        return Ok(Next::tail_call(Callee::BodyDerivative(site.function), true));
    }
    let call = RuleCall { site, rule };
    let before = (site.throws && site.changes).then(|| CallSnapshot::new(machine, site.function, &arguments));
    let varied_arguments = side_effects::any(machine, compiler, call, &arguments).then(|| arguments.clone());
    let strip = StrippedLevels::of_call(machine, site.function, level);
    strip.off(machine, &mut arguments);
    let by = differentiated(walk(compiler), site, rule, &arguments, numbers);
    if machine.diagnosis.rule_checks.is_some() {
        derivative_check::check(machine, compiler, call, &arguments, &by)?;
    }
    let observes_steps = machine.levels.observes_steps();
    let name = if observes_steps { Some(short_name(&machine.original(compiler, site.function)?.name)) } else { None };
    let delivery = ResultDelivery { throws: site.throws, varied_results: None };
    let by_rule = ByRule { level, name, by, result: rule.result, returns: rule.kind, delivery, before };
    let original = varied_arguments.is_some().then_some(site.function);
    let running = RuleTask { by_rule, function: rule.function, throws: rule.throws, strip, original, primal: None };
    let arguments = varied_arguments.unwrap_or(arguments);
    if rule.inherited.is_some() {
        return inherited_derivative::begin(machine, compiler, call, arguments, running);
    }
    Ok(start(machine, &arguments, running))
}

/// Whether a value that no registered derivative can cover varies in the level: numbers in values of types that are not
/// differentiable, captures of functions, global variables.
fn varies_elsewhere(machine: &Machine, site: &RuleSite, arguments: &Cells, level: usize) -> bool {
    let Some(epoch) = machine.levels.epoch_at(level) else { return false };
    let mut varies = false;
    let mut visit = |cells: &mut Cells| visit_slots(cells, true, &mut |slot| varies |= slot.epoch == epoch);
    let mut parts = arguments.all();
    for (counts, tangent) in &site.params {
        let part = parts.take(layout(*counts));
        if tangent.is_none() && (counts[0] > 0 || counts[2] > 0) {
            visit(&mut Cells::record(part));
        }
    }
    let mut is_global = false;
    for (bank, index) in &site.globals {
        let index = *index as usize;
        match (bank, machine.globals.r.get(index)) {
            (Bank::F, _) => is_global |= machine.globals.slot(index).epoch == epoch,
            (Bank::R, Some(object)) => visit(&mut Cells::references(vec![object.clone()])),
            _ => {}
        }
    }
    varies || is_global || has_lost_tangent(machine, level)
}

/// Whether an integer or a string among the arguments was computed from a number that varies in the level. The body of
/// the function then determines the derivative.
fn has_lost_tangent(machine: &Machine, level: usize) -> bool {
    let mut given = machine.diagnosis.lost_tangents.transfers.argument_origins(machine.frames.len());
    given.any(|number| machine.levels.innermost(&[number]) >= Some(level))
}

/// Whether a level and all levels that enclose it are forward levels.
fn is_forward(machine: &Machine, level: usize) -> bool {
    (0..=level).all(|k| machine.levels.direction_at(k) == Some(Direction::Forward))
}

/// Calls the registered function of a derivative.
pub(crate) fn start(machine: &mut Machine, arguments: &Cells, running: RuleTask) -> Next {
    machine.set_window(arguments.all());
    machine.running_derivatives.push(RunningDerivative { level: running.by_rule.level, original: running.original });
    // The frame that continues with the result of the registered function lies between the caller and the registered
    // function.
    machine.diagnosis.lost_tangents.transfers.forward_origins(machine.frames.len() + 1);
    let callee = Callee::Function(running.function);
    Next::Call { callee, derivative: true, then: Some(Box::new(running)) }
}

/// Returns the name of a function without labels: `square` for `square(_:)`.
fn short_name(name: &str) -> Rc<str> {
    name.split('(').next().unwrap_or(name).into()
}

/// Returns numbers without their slots in the levels for which registered derivatives are running: these slots were
/// stripped from arguments, but not from instances, which are shared.
fn without_running_levels(machine: &Machine, function: u32, mut numbers: Vec<Num>) -> Vec<Num> {
    let active =
        machine.running_derivatives.iter().filter(|active| active.original.is_none_or(|original| original == function));
    let strip = StrippedLevels::inner_first(active.map(|active| active.level).collect());
    numbers.iter_mut().for_each(|x| x.slot = strip.slot(&machine.levels, x.slot));
    numbers
}

/// Returns the most specific rule that covers the arguments that vary in the level. Among rules for the same
/// parameters, the rule for the level's mode is chosen.
fn choose<'s>(machine: &Machine, site: &'s RuleSite, numbers: &[Vec<Num>], level: usize) -> Option<&'s Registered> {
    let epoch = machine.levels.epoch_at(level)?;
    let varies: Vec<bool> = numbers.iter().map(|x| x.iter().any(|x| x.slot.epoch == epoch)).collect();
    let wrt = |rule: &Registered, k: usize| rule.wrt.get(k).copied().unwrap_or(false);
    let covers = |rule: &Registered| varies.iter().enumerate().all(|(k, varies)| !varies || wrt(rule, k));
    let is_forward = machine.levels.direction_at(level) == Some(Direction::Forward);
    let is_for_mode = |rule: &Registered| !rule.is_transpose && is_forward == (rule.kind != RegisteredKind::Pullback);
    let order = |rule: &&Registered| (rule.wrt.iter().filter(|w| **w).count(), !is_for_mode(rule));
    site.rules.iter().filter(|rule| covers(rule)).min_by_key(order)
}

/// Returns the parameters with respect to which a registered derivative differentiates.
fn differentiated(
    walk: Walk<'_>,
    site: &RuleSite,
    rule: &Registered,
    arguments: &Cells,
    numbers: Vec<Vec<Num>>,
) -> Vec<Argument> {
    let mut parts = arguments.all();
    let mut by = vec![];
    for (k, (numbers, (counts, tangent))) in numbers.into_iter().zip(&site.params).enumerate() {
        let cells = Cells::record(parts.take(layout(*counts)));
        if let (Some(tangent), true) = (tangent, rule.wrt.get(k).copied().unwrap_or(false)) {
            debug_assert_eq!(value_layout(walk, *tangent), layout(*counts));
            by.push(Argument { template: Template { tangent: *tangent, cells }, numbers });
        }
    }
    by
}

pub(crate) fn layout(counts: [u16; 3]) -> Layout {
    Layout { f: counts[0].into(), i: counts[1].into(), r: counts[2].into() }
}

impl Task for RuleTask {
    fn resume(self: Box<Self>, machine: &mut Machine, compiler: &mut dyn Compiler) -> Result<Next, Box<Fault>> {
        let RuleTask { by_rule: mut rule, throws, strip, original, primal, .. } = *self;
        machine.running_derivatives.pop();
        let mut counts = counts(value_layout(walk(compiler), rule.result));
        counts[2] += 1;
        if throws && machine.integer(0) != 0 {
            // The flag and the error are the first components, as in the results of the original function, and the
            // modified values follow.
            machine.after_error(|machine| {
                let mut given = take_tuple(machine, counts, true);
                given.r.pop();
                if original.is_none() {
                    strip.off(machine, &mut given);
                }
                machine.set_window(given.all());
            });
            return match rule.before {
                Some(snapshot) => snapshot.rerun(machine, compiler, rule.result),
                None => Ok(Next::Return),
            };
        }
        let mut value = match throws {
            true => machine.after_error(|machine| take_tuple(machine, counts, true)),
            false => take_tuple(machine, counts, true),
        };
        let Some(function) = value.r.pop() else { return Err(Fault::internal("a rule has no function")) };
        let mut function = Cells::references(vec![function]);
        if original.is_some() {
            rule.delivery.varied_results = Some(value.clone());
            strip.off(machine, &mut function);
        }
        let function = function.r.pop().unwrap_or_default();
        strip.off(machine, &mut value);
        let y = Template { tangent: rule.result, cells: value };
        if let Some(primal) = primal {
            primal.compare(compiler, &y)?;
        }
        match machine.levels.direction_at(rule.level) {
            Some(Direction::Reverse) => reverse_call::apply(machine, compiler, RuleResult { rule, y, function }),
            Some(Direction::Forward) => forward_call::apply(machine, compiler, RuleResult { rule, y, function }),
            None => Err(Fault::internal("a level ended before a call in it")),
        }
    }
}

/// Moves the result of a call by a registered derivative to the window: the value `y` with the given numbers and, if
/// the function may throw, the flag that no error was thrown.
pub(crate) fn deliver(
    machine: &mut Machine,
    compiler: &dyn Compiler,
    y: Template,
    numbers: &[Num],
    delivery: ResultDelivery,
) -> Result<Next, Box<Fault>> {
    let mut value = delivery.varied_results.unwrap_or(y.cells);
    crate::vm::operators::set_leaves(walk(compiler), y.tangent, (&mut value, Offset::default()), numbers)?;
    if delivery.throws {
        machine.set_integer(0, 0);
        machine.set_reference(0, Ref::Null);
        machine.after_error(|machine| machine.set_window(value.all()));
        return Ok(Next::Return);
    }
    machine.set_window(value.all());
    Ok(Next::Return)
}

/// Moves a tangent vector for each parameter to the window, and calls the differential. `number` returns the component
/// of the vector for each number of the parameter.
pub(crate) fn call_differential(
    machine: &mut Machine,
    compiler: &dyn Compiler,
    rule: &ByRule,
    function: Ref,
    number: &mut dyn FnMut(&mut Levels, Num) -> Result<Num, RecordError>,
    then: impl Task + 'static,
) -> Result<Next, Box<Fault>> {
    let walk = walk(compiler);
    let mut arguments = Cells::empty();
    for argument in &rule.by {
        let mut numbers = vec![];
        for x in &argument.numbers {
            numbers.push(number(&mut machine.levels, *x)?);
        }
        arguments.push(crate::vm::operators::vector(walk, &argument.template, &numbers)?.all());
    }
    machine.set_window(arguments.all());
    Ok(Next::call(function, true, then))
}
