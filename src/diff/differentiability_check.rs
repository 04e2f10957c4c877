//! Differentiability check: whether a function that is converted to a differentiable or linear function type is
//! differentiable or linear.
//!
//! In: a function of the user's. Out: diagnostics about the conversions in this function whose operands are known
//! statically.
//!
//! Promises: every source location is reported once; a function value that is not known in the same body is accepted,
//! because the type checker has rejected it or it carries a derivative.
//! Not here: the analyses (`activity`, `linearity`), the wording (`diagnostics`).

use super::activity::{Activity, CAPTURED};
use super::dependence::{Dependence, LossReason, Summary, TangentLoss};
use super::diagnostics;
use super::differentiation_parameters::{self, Variation, varied_components};
use super::linearity::{Kind, Linearities};
use crate::diagnostic::{Code, Diagnostic};
use crate::ir::{ClosureOrigin, Function, FunctionId, Instruction, Op, Program, RuleKind, Terminator, Writers};
use crate::source::Span;
use crate::value::Bank;
use hashbrown::HashSet;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Checks the assertions in one function. To check many functions, use one [`Checker`], which memoizes its results.
pub fn check(program: &Program, function: FunctionId, out: &mut Vec<Diagnostic>) {
    Checker::new(program).check(function, out);
}

/// A checker of assertions, which memoizes the analyses of functions and the diagnostics already reported.
pub struct Checker<'p> {
    program: &'p Program,
    activity: Activity<'p>,
    linearities: Linearities<'p>,
    linearities_of_rules: Linearities<'p>,
    rejects_unknown_linearity: bool,
    reported: HashSet<(Code, Span)>,
}

/// The sentence about the treatment of a pullback that is not linear.
const PULLBACK_AS_IT_IS: &str = "reverse mode calls it unchanged; forward mode needs its transpose and stops the \
                                 program if it has none, unless a differential is registered as well";
/// The sentence about the treatment of a nonlinear differential that is registered beside a pullback.
const DIFFERENTIAL_AS_IT_IS: &str = "forward mode calls it unchanged; reverse mode calls the pullback";

/// An assertion that a function is differentiable or linear.
pub struct DifferentiabilityAssertion<'a> {
    /// The function that the assertion is about.
    pub function: &'a Rc<Function>,
    /// The parameters with respect to which the function is asserted to be differentiable, one flag each.
    pub wrt: &'a [bool],
    /// The source location of the assertion.
    pub at: Span,
    /// Whether the function itself, as a closure, is written at the location of the assertion.
    pub is_literal: bool,
}

impl<'p> Checker<'p> {
    /// Creates a checker of the functions of a program.
    pub fn new(program: &'p Program) -> Checker<'p> {
        let activity = Activity::new(program);
        Checker {
            program,
            activity,
            linearities: Linearities::new(program),
            linearities_of_rules: Linearities::of_rules(program),
            rejects_unknown_linearity: false,
            reported: HashSet::new(),
        }
    }

    /// Rejects functions of which it is unknown whether they are linear where linear ones are required, if `rejects`.
    pub fn rejecting_unknown_linearity(self, rejects: bool) -> Checker<'p> {
        Checker { rejects_unknown_linearity: rejects, ..self }
    }

    /// Checks the assertions in a function of the program.
    pub fn check(&mut self, function: FunctionId, out: &mut Vec<Diagnostic>) {
        let Some(f) = self.program.function(function).filter(|f| !f.is_prelude) else { return };
        let mut writers = None;
        for step in f.blocks.iter().flat_map(|b| &b.instructions) {
            if let Op::AssertDifferentiable { linear, wrt } = &step.op
                && let Some(known) = known_function(writers.get_or_insert_with(|| Writers::of(f)), step)
                && let Some(target) = self.program.function(known)
            {
                let is_literal = step.span.contains(target.span);
                let assertion = DifferentiabilityAssertion { function: target, wrt, at: step.span, is_literal };
                self.keep(known, &assertion, *linear, out);
            }
        }
        for rule in f.rules.iter().filter(|rule| rule.kind != RuleKind::Transpose) {
            let is_recorded = f.rules.iter().all(|rule| rule.kind == RuleKind::Differential);
            self.check_rule(rule.registered, rule.kind, is_recorded.then_some(function), out);
        }
    }

    /// Checks that the map that a registered derivative returns besides the value is linear, whatever its type
    /// declares: a nonlinear differential without a pullback is an error, and a nonlinear differential or pullback
    /// otherwise is a warning. A constant is accepted: it is a tangent, although it has no transpose. `recorded` is the
    /// function whose differential is recorded when its pullback is requested.
    fn check_rule(
        &mut self,
        registered: FunctionId,
        kind: RuleKind,
        recorded: Option<FunctionId>,
        out: &mut Vec<Diagnostic>,
    ) {
        let Some(f) = self.program.function(registered).filter(|f| !f.is_prelude) else { return };
        let writers = Writers::of(f);
        for block in &f.blocks {
            let Some(Terminator::Return(results)) = &block.end else { continue };
            if let Some(map) = results.get(f.result_len.wrapping_sub(1)).and_then(|reg| writers.made_by(*reg, None))
                && let Some(function) = self.program.function(map)
            {
                let wrt = vec![true; function.parameters.len()];
                let assertion = DifferentiabilityAssertion { function, wrt: &wrt, at: function.span, is_literal: true };
                let variations = varied_components(self.program, function, &wrt);
                let mut of_recorded;
                let linearities = match (kind, recorded) {
                    (RuleKind::Differential, Some(original)) => {
                        of_recorded = Linearities::of_differential(self.program, original);
                        &mut of_recorded
                    }
                    _ => &mut self.linearities_of_rules,
                };
                let problem = not_linear(linearities, map, &assertion, &variations);
                // A pullback may be nonlinear on purpose, and the transpose of a differential that is beside a pullback
                // is not needed.
                let problem = match (kind, recorded) {
                    (RuleKind::Pullback, _) => {
                        problem.map(|problem| diagnostics::as_warning(problem, PULLBACK_AS_IT_IS))
                    }
                    (RuleKind::Differential, None) => {
                        problem.map(|problem| diagnostics::as_warning(problem, DIFFERENTIAL_AS_IT_IS))
                    }
                    (RuleKind::Differential, Some(_)) | (RuleKind::Transpose, _) => problem,
                };
                if let Some(problem) = problem
                    && self.reported.insert((problem.code, problem.primary.span))
                {
                    out.push(problem);
                }
            }
        }
    }

    /// Checks the assertion made by the declaration of a function, or by the requirement that the function satisfies.
    pub fn check_declaration(
        &mut self,
        id: FunctionId,
        linear: bool,
        wrt: &[bool],
        requirement: Option<Span>,
        out: &mut Vec<Diagnostic>,
    ) {
        if let Some(function) = self.program.function(id) {
            let assertion = DifferentiabilityAssertion { function, wrt, at: function.span, is_literal: true };
            let before = out.len();
            self.keep(id, &assertion, linear, out);
            if let Some(requirement) = requirement {
                // The witness of a requirement need not vary with every argument.
                let mut new = out.split_off(before);
                new.retain(Diagnostic::is_error);
                out.extend(
                    new.into_iter()
                        .map(|d| d.note_at(requirement, "the requirement that it satisfies is '@differentiable'")),
                );
            }
        }
    }

    fn keep(
        &mut self,
        id: FunctionId,
        assertion: &DifferentiabilityAssertion,
        linear: bool,
        out: &mut Vec<Diagnostic>,
    ) {
        let diagnostics = self.failed_assertion(id, assertion, linear);
        for diagnostic in diagnostics {
            if self.reported.insert((diagnostic.code, diagnostic.primary.span)) {
                out.push(diagnostic);
            }
        }
    }

    fn failed_assertion(
        &mut self,
        id: FunctionId,
        assertion: &DifferentiabilityAssertion,
        linear: bool,
    ) -> Vec<Diagnostic> {
        let f = assertion.function;
        let wanted = |k: usize| assertion.wrt.get(k) == Some(&true);
        let covers =
            |rule: &&crate::ir::Rule| (0..f.parameters.len()).all(|k| !wanted(k) || rule.wrt.get(k) == Some(&true));
        let kinds = || f.rules.iter().filter(covers).map(|rule| rule.kind);
        if kinds().any(|kind| !linear || kind == RuleKind::Transpose) {
            return vec![];
        }
        if f.is_opaque {
            if let Some(obstacle) = &f.obstacle {
                return vec![diagnostics::obstacle_reference(assertion, obstacle)];
            }
            let has_derivative = kinds().next().is_some();
            return vec![if has_derivative {
                diagnostics::not_linear(assertion, None)
            } else {
                diagnostics::other_module(assertion)
            }];
        }
        let variations = varied_components(self.program, f, assertion.wrt);
        if variations.iter().all(|m| *m == Variation::No) {
            return vec![];
        }
        let summary = self.activity.summary(id);
        let carries = differentiation_parameters::carrying(self.program, f);
        let mut losses = certain_losses(f, &summary, &variations, &carries);
        losses.extend(self.losses_in_results(f, &variations));
        if !losses.is_empty() {
            return report_losses(assertion, &losses);
        }
        if linear {
            let found = not_linear(&mut self.linearities, id, assertion, &variations);
            let found = found.or_else(|| self.unknown_linearity(id, assertion, &variations));
            return found.into_iter().collect();
        }
        if is_always_zero(&summary, &variations, &carries) {
            vec![diagnostics::zero_derivative(assertion)]
        } else {
            vec![]
        }
    }
}

impl Checker<'_> {
    /// Returns the diagnostic for a function of which it is unknown whether it is linear, if such functions are rejected.
    fn unknown_linearity(
        &mut self,
        id: FunctionId,
        assertion: &DifferentiabilityAssertion,
        variations: &[Variation],
    ) -> Option<Diagnostic> {
        if !self.rejects_unknown_linearity {
            return None;
        }
        let results = self.linearities.results(id, arguments_of(variations));
        let is_unknown = results.iter().any(|r| r.kind == Kind::Unknown);
        is_unknown.then(|| diagnostics::not_linear(assertion, None))
    }

    /// Returns the losses inside closures that a function returns, on paths from arguments that they capture.
    fn losses_in_results(
        &mut self,
        f: &Function,
        variations: &[Variation],
    ) -> BTreeMap<(Span, usize), Rc<TangentLoss>> {
        let mut found = BTreeMap::new();
        if !f.results.contains(&Bank::R) {
            return found;
        }
        let writers = Writers::of(f);
        let returned = f.blocks.iter().filter_map(|block| match &block.end {
            Some(Terminator::Return(results)) => Some(results),
            _ => None,
        });
        for closure in returned.flatten().filter_map(|reg| writers.made_by(*reg, None)) {
            let makes_it = |step: &&Instruction| step.op == Op::Closure(closure);
            let mut makers = f.blocks.iter().flat_map(|b| &b.instructions).filter(makes_it);
            let (Some(maker), None) = (makers.next(), makers.next()) else { continue };
            let inside = self.activity.summary(closure);
            let losses = inside.results.iter().filter_map(|known| known.0.as_deref()).flat_map(|known| &known.losses);
            for ((component, _), at) in losses {
                let captured = component.checked_sub(CAPTURED).and_then(|k| maker.ins.get(k as usize));
                let Some(ClosureOrigin::Elsewhere(origin)) = captured.and_then(|reg| writers.origin(*reg, None)) else {
                    continue;
                };
                let Some(argument) = f.params.iter().position(|param| *param == origin) else { continue };
                if variations.get(argument) == Some(&Variation::Yes) {
                    found.entry((at.span, parameter_of(f, argument))).or_insert_with(|| at.clone());
                }
            }
        }
        found
    }
}

/// Returns the parameter that a component of the arguments belongs to.
fn parameter_of(f: &Function, component: usize) -> usize {
    f.parameters.iter().position(|p| (p.first..p.first + p.len).contains(&component)).unwrap_or(0)
}

fn not_linear(
    linearities: &mut Linearities<'_>,
    id: FunctionId,
    assertion: &DifferentiabilityAssertion,
    variations: &[Variation],
) -> Option<Diagnostic> {
    let results = linearities.results(id, arguments_of(variations));
    let of = |kind: Kind| results.iter().find(|r| r.kind == kind);
    if let Some(bad) = of(Kind::NotLinear) {
        return Some(diagnostics::not_linear(assertion, bad.step.as_deref()));
    }
    of(Kind::Affine).map(|affine| diagnostics::affine(assertion, affine.step.as_deref()))
}

/// Returns the kinds of the arguments of a function that is asserted to be linear in those that vary.
fn arguments_of(variations: &[Variation]) -> Vec<Kind> {
    variations.iter().map(|m| if *m == Variation::No { Kind::Constant } else { Kind::Linear }).collect()
}

/// Returns the function that a step asserts to be differentiable or linear, if only one step writes the register that
/// holds it and this assertion was not examined before.
fn known_function(writers: &Writers<'_>, assertion: &Instruction) -> Option<FunctionId> {
    writers.made_by(*assertion.ins.first()?, Some(&assertion.op))
}

/// Returns the dependence of those results that can carry a derivative.
fn carrying<'a>(carries: &[bool], summary: &'a Summary) -> impl Iterator<Item = Option<&'a Dependence>> {
    carries.iter().zip(&summary.results).filter(|(carries, _)| **carries).map(|(_, known)| known.0.as_deref())
}

/// Returns the losses on paths from varied arguments to a result, by location, with the varied component.
fn certain_losses(
    f: &Function,
    summary: &Summary,
    variations: &[Variation],
    carries: &[bool],
) -> BTreeMap<(Span, usize), Rc<TangentLoss>> {
    let mut found = BTreeMap::new();
    for dependence in carrying(carries, summary).flatten() {
        for ((component, _), at) in &dependence.losses {
            let component = *component as usize;
            if variations.get(component) == Some(&Variation::Yes) {
                found.entry((at.span, parameter_of(f, component))).or_insert_with(|| at.clone());
            }
        }
    }
    found
}

fn report_losses(
    assertion: &DifferentiabilityAssertion,
    losses: &BTreeMap<(Span, usize), Rc<TangentLoss>>,
) -> Vec<Diagnostic> {
    let mut conversions: Vec<(usize, Rc<TangentLoss>)> = vec![];
    let mut out = vec![];
    for ((span, parameter), found) in losses {
        match &found.reason {
            LossReason::Opaque(name) => {
                if !out.iter().any(|d: &Diagnostic| d.primary.span == *span) {
                    out.push(diagnostics::opaque(assertion, *parameter, found, name));
                }
            }
            LossReason::Obstacle(obstacle) => out.push(diagnostics::obstacle(assertion, *parameter, found, obstacle)),
            LossReason::Conversion(_) | LossReason::Argument | LossReason::Property => {
                conversions.push((*parameter, found.clone()))
            }
        }
    }
    if !conversions.is_empty() {
        out.push(diagnostics::not_differentiable(assertion, &conversions));
    }
    out
}

/// Whether no varied argument can reach any result.
fn is_always_zero(summary: &Summary, variations: &[Variation], carries: &[bool]) -> bool {
    let effects = summary.effects;
    let may_vary = |d: &Dependence| {
        d.cut
            || d.unknown
            || d.from_boxes && (effects.boxes || effects.unknown)
            || d.from_globals && (effects.globals || effects.unknown)
            || d.on.iter().any(|k| variations.get(*k as usize).is_some_and(|m| *m != Variation::No))
            // A loss on the path of a component that varies only in part is not reported as an error.
            || !d.losses.is_empty()
    };
    summary.returns
        && carrying(carries, summary).next().is_some()
        && carrying(carries, summary).all(|dependence| !dependence.is_some_and(may_vary))
}

#[cfg(test)]
mod tests;
