//! Differentiability check: whether a function that is converted to a differentiable or linear one is differentiable or linear.
//!
//! In: a function of the user's. Out: diagnostics about the functions that are converted in it and known there.
//!
//! Promises: every place is complained about once; a function value that is not known in the same body is accepted, the
//! checker of types has refused it already or it carries its own derivative.
//! Not here: the analyses (`activity`, `linear`), the words (`report`).

use super::activity::{Activity, CAPTURED};
use super::dependence::{Break, BreakReason, Dependence, Summary};
use super::linear::{Kind, Linearities};
use super::report;
use super::wrt::{self, Moves, moving};
use crate::diagnostic::{Code, Diagnostic};
use crate::ir::{ClosureOrigin, Function, FunctionId, Instruction, Op, Program, RuleKind, Terminator, Writers};
use crate::source::Span;
use crate::value::Bank;
use std::collections::{BTreeMap, HashSet};
use std::rc::Rc;

/// Checks what is promised in one function. For many functions keep a [`Checker`], which remembers what it found out.
pub fn check(program: &Program, function: FunctionId, out: &mut Vec<Diagnostic>) {
    Checker::new(program).check(function, out);
}

/// Checks promises, and remembers what it found out about functions and what it has said.
pub struct Checker<'p> {
    program: &'p Program,
    activity: Activity<'p>,
    linearities: Linearities<'p>,
    linearities_of_rules: Linearities<'p>,
    said: HashSet<(Code, Span)>,
}

/// What is done with a pullback that is not linear.
const PULLBACK_AS_IT_IS: &str = "reverse mode calls it unchanged; forward mode needs its transpose and stops the \
                                 program if it has none, unless a differential is registered as well";
/// What is done with a differential beside a pullback that is not linear.
const DIFFERENTIAL_AS_IT_IS: &str = "forward mode calls it unchanged; reverse mode calls the pullback";

/// A function that was promised to be differentiable or linear.
pub struct Promised<'a> {
    /// The function.
    pub function: &'a Rc<Function>,
    /// With respect to which of its parameters.
    pub wrt: &'a [bool],
    /// Where.
    pub at: Span,
    /// Whether the function itself is written there.
    pub is_literal: bool,
}

impl<'p> Checker<'p> {
    /// A checker of the functions of a program.
    pub fn new(program: &'p Program) -> Checker<'p> {
        let activity = Activity::new(program);
        Checker {
            program,
            activity,
            linearities: Linearities::new(program),
            linearities_of_rules: Linearities::of_rules(program),
            said: HashSet::new(),
        }
    }

    /// Checks what is promised in a function of the user's.
    pub fn check(&mut self, function: FunctionId, out: &mut Vec<Diagnostic>) {
        let Some(f) = self.program.function(function).filter(|f| !f.is_prelude) else { return };
        let mut writers = None;
        for step in f.blocks.iter().flat_map(|b| &b.instructions) {
            if let Op::AssertDifferentiable { linear, wrt } = &step.op
                && let Some(known) = known_function(writers.get_or_insert_with(|| Writers::of(f)), step)
                && let Some(target) = self.program.function(known)
            {
                let is_literal = step.span.start <= target.span.start && target.span.end <= step.span.end;
                let promised = Promised { function: target, wrt, at: step.span, is_literal };
                self.keep(known, &promised, *linear, out);
            }
        }
        for rule in f.rules.iter().filter(|rule| rule.kind != RuleKind::Transpose) {
            let is_recorded = f.rules.iter().all(|rule| rule.kind == RuleKind::Differential);
            self.check_rule(rule.registered, rule.kind, is_recorded.then_some(function), out);
        }
    }

    /// What a registered derivative gives beside the value is to be linear, whatever its type says: it is an error if a
    /// differential without a pullback is not, and others that are not are warned of. A constant is let pass: it is a
    /// tangent, though it has no transpose. `recorded` is the function whose differential is recorded when its pullback is wanted.
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
                let promised = Promised { function, wrt: &wrt, at: function.span, is_literal: true };
                let moves = moving(self.program, function, &wrt);
                let mut of_recorded;
                let linearities = match (kind, recorded) {
                    (RuleKind::Differential, Some(original)) => {
                        of_recorded = Linearities::of_differential(self.program, original);
                        &mut of_recorded
                    }
                    _ => &mut self.linearities_of_rules,
                };
                let problem = not_linear(linearities, map, &promised, &moves);
                // A pullback may do something else with an adjoint on purpose, and there is no need for the transpose of a
                // differential that is beside a pullback.
                let problem = match (kind, recorded) {
                    (RuleKind::Pullback, _) => problem.map(|problem| report::as_warning(problem, PULLBACK_AS_IT_IS)),
                    (RuleKind::Differential, None) => {
                        problem.map(|problem| report::as_warning(problem, DIFFERENTIAL_AS_IT_IS))
                    }
                    (RuleKind::Differential, Some(_)) | (RuleKind::Transpose, _) => problem,
                };
                if let Some(problem) = problem
                    && self.said.insert((problem.code, problem.primary.span))
                {
                    out.push(problem);
                }
            }
        }
    }

    /// Checks a promise that was made where a function is declared, or by the requirement that it fulfils.
    pub fn check_declaration(
        &mut self,
        id: FunctionId,
        linear: bool,
        wrt: &[bool],
        requirement: Option<Span>,
        out: &mut Vec<Diagnostic>,
    ) {
        if let Some(function) = self.program.function(id) {
            let promised = Promised { function, wrt, at: function.span, is_literal: true };
            let before = out.len();
            self.keep(id, &promised, linear, out);
            if let Some(requirement) = requirement {
                // Who fulfils a requirement need not move with everything.
                let mut new = out.split_off(before);
                new.retain(Diagnostic::is_error);
                out.extend(
                    new.into_iter()
                        .map(|d| d.note_at(requirement, "the requirement that it satisfies is '@differentiable'")),
                );
            }
        }
    }

    fn keep(&mut self, id: FunctionId, promised: &Promised, linear: bool, out: &mut Vec<Diagnostic>) {
        let first = self.broken_promise(id, promised, linear);
        for diagnostic in first {
            if self.said.insert((diagnostic.code, diagnostic.primary.span)) {
                out.push(diagnostic);
            }
        }
    }

    fn broken_promise(&mut self, id: FunctionId, promised: &Promised, linear: bool) -> Vec<Diagnostic> {
        let f = promised.function;
        let wanted = |k: usize| promised.wrt.get(k) == Some(&true);
        let covers =
            |rule: &&crate::ir::Rule| (0..f.parameters.len()).all(|k| !wanted(k) || rule.wrt.get(k) == Some(&true));
        let kinds = || f.rules.iter().filter(covers).map(|rule| rule.kind);
        if kinds().any(|kind| !linear || kind == RuleKind::Transpose) {
            return vec![];
        }
        if f.is_opaque {
            if let Some(obstacle) = &f.obstacle {
                return vec![report::obstacle_reference(promised, obstacle)];
            }
            let has_derivative = kinds().next().is_some();
            return vec![if has_derivative {
                report::not_linear(promised, None)
            } else {
                report::other_module(promised)
            }];
        }
        let moves = moving(self.program, f, promised.wrt);
        if moves.iter().all(|m| *m == Moves::No) {
            return vec![];
        }
        let summary = self.activity.summary(id);
        let carries = wrt::carrying(self.program, f);
        let mut breaks = certain_breaks(f, &summary, &moves, &carries);
        breaks.extend(self.breaks_in_results(f, &moves));
        if !breaks.is_empty() {
            return report_breaks(promised, &breaks);
        }
        if linear {
            return not_linear(&mut self.linearities, id, promised, &moves).into_iter().collect();
        }
        if is_always_zero(&summary, &moves, &carries) { vec![report::zero_derivative(promised)] } else { vec![] }
    }
}

impl Checker<'_> {
    /// The breaks inside of closures that a function returns, of paths from arguments that they have captured.
    fn breaks_in_results(&mut self, f: &Function, moves: &[Moves]) -> BTreeMap<(Span, usize), Rc<Break>> {
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
            let breaks = inside.results.iter().filter_map(|known| known.0.as_deref()).flat_map(|known| &known.breaks);
            for ((component, _), at) in breaks {
                let captured = component.checked_sub(CAPTURED).and_then(|k| maker.ins.get(k as usize));
                let Some(ClosureOrigin::Elsewhere(origin)) = captured.and_then(|reg| writers.origin(*reg, None)) else {
                    continue;
                };
                let Some(argument) = f.params.iter().position(|param| *param == origin) else { continue };
                if moves.get(argument) == Some(&Moves::Yes) {
                    found.entry((at.span, parameter_of(f, argument))).or_insert_with(|| at.clone());
                }
            }
        }
        found
    }
}

/// The parameter that a component of the arguments belongs to.
fn parameter_of(f: &Function, component: usize) -> usize {
    f.parameters.iter().position(|p| (p.first..p.first + p.len).contains(&component)).unwrap_or(0)
}

fn not_linear(
    linearities: &mut Linearities<'_>,
    id: FunctionId,
    promised: &Promised,
    moves: &[Moves],
) -> Option<Diagnostic> {
    let arguments = moves.iter().map(|m| if *m == Moves::No { Kind::Constant } else { Kind::Linear }).collect();
    let results = linearities.results(id, arguments);
    let of = |kind: Kind| results.iter().find(|r| r.kind == kind);
    if let Some(bad) = of(Kind::NotLinear) {
        return Some(report::not_linear(promised, bad.step.as_deref()));
    }
    of(Kind::Affine).map(|affine| report::affine(promised, affine.step.as_deref()))
}

/// The function whose strength a step promises, when only one step writes the register that holds it and the same was
/// not promised before.
fn known_function(writers: &Writers<'_>, promise: &Instruction) -> Option<FunctionId> {
    writers.made_by(*promise.ins.first()?, Some(&promise.op))
}

/// What is known of the results that can carry a derivative.
fn carrying<'a>(carries: &[bool], summary: &'a Summary) -> impl Iterator<Item = Option<&'a Dependence>> {
    carries.iter().zip(&summary.results).filter(|(carries, _)| **carries).map(|(_, known)| known.0.as_deref())
}

/// The breaks on paths from arguments that move to a result, by place, with the component that moves.
fn certain_breaks(
    f: &Function,
    summary: &Summary,
    moves: &[Moves],
    carries: &[bool],
) -> BTreeMap<(Span, usize), Rc<Break>> {
    let mut found = BTreeMap::new();
    for dependence in carrying(carries, summary).flatten() {
        for ((component, _), at) in &dependence.breaks {
            let component = *component as usize;
            if moves.get(component) == Some(&Moves::Yes) {
                found.entry((at.span, parameter_of(f, component))).or_insert_with(|| at.clone());
            }
        }
    }
    found
}

fn report_breaks(promised: &Promised, breaks: &BTreeMap<(Span, usize), Rc<Break>>) -> Vec<Diagnostic> {
    let mut conversions: Vec<(usize, Rc<Break>)> = vec![];
    let mut out = vec![];
    for ((span, parameter), found) in breaks {
        match &found.why {
            BreakReason::Opaque(name) => {
                if !out.iter().any(|d: &Diagnostic| d.primary.span == *span) {
                    out.push(report::opaque(promised, *parameter, found, name));
                }
            }
            BreakReason::Obstacle(obstacle) => out.push(report::obstacle(promised, *parameter, found, obstacle)),
            BreakReason::Conversion(_) | BreakReason::Argument | BreakReason::Property => {
                conversions.push((*parameter, found.clone()))
            }
        }
    }
    if !conversions.is_empty() {
        out.push(report::not_differentiable(promised, &conversions));
    }
    out
}

/// Whether no argument that moves can reach any result.
fn is_always_zero(summary: &Summary, moves: &[Moves], carries: &[bool]) -> bool {
    let effects = summary.effects;
    let may_move = |d: &Dependence| {
        d.cut
            || d.unknown
            || d.from_boxes && (effects.boxes || effects.unknown)
            || d.from_globals && (effects.globals || effects.unknown)
            || d.on.iter().any(|k| moves.get(*k as usize).is_some_and(|m| *m != Moves::No))
            // What is known to break the path of something that moves in part only.
            || !d.breaks.is_empty()
    };
    summary.returns
        && carrying(carries, summary).next().is_some()
        && carrying(carries, summary).all(|dependence| !dependence.is_some_and(may_move))
}

#[cfg(test)]
mod tests;
