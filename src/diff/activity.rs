//! Activity: determines which results of a function certainly depend on which of its arguments, as data and with
//! partials, and where the tangent is lost on a path from an argument to a result.
//!
//! In: functions as they are written. Out: a [`Summary`] of each, with a [`Dependence`] for each result.
//!
//! Promises: a statement about a path holds for the code as written, branch by branch; a selection (a condition, an
//! index, the length of a loop) is not a path. Values that go through dynamic calls or mutable storage are marked, so
//! that no diagnostic is reported about them.
//! Not here: which registers carry slots in derivative code (`active_registers`), the wording (`diagnostics`).

mod containers;

use self::containers::{appended, contained, filled, loaded, replaced};
use super::dependence::{Dependence, Effects, LossReason, MAX_LOSSES, SharedDependence, StepId, Summary, TangentLoss};
use super::differentiation_parameters::can_vary;
use crate::diff::dependence_transfer;
use crate::diff::dependence_transfer::{DependenceTransfer, NativeTransfer};
use crate::diff::lost_tangent::carried;
use crate::ir::analysis::data_flow::{self, Fact};
use crate::ir::{ClosureOrigin, Function, FunctionId, Instruction, Op, Operator, Program, Reg, Writers};
use crate::source::Span;
use crate::value::Bank;
use crate::value::shape::ShapeId;
use hashbrown::{HashMap, HashSet};
use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// The summaries of functions, which are computed on the first query.
pub struct Activity<'p> {
    program: &'p Program,
    done: HashMap<FunctionId, Rc<Summary>>,
    given: RefCell<HashMap<Call, Rc<Summary>>>,
}

/// A call of a function with function arguments that are known: the function, and each known argument with the number
/// of its component among the arguments.
type Call = (FunctionId, Vec<(u32, FunctionId)>);

/// The number of the first captured component of a function object, counted after the components of its arguments.
pub const CAPTURED: u32 = 1 << 16;

/// The maximum number of calls through which function arguments are followed.
const MAX_FUNCTION_ARGUMENT_DEPTH: usize = 4;

impl<'p> Activity<'p> {
    /// Creates the summaries for the functions of a program.
    pub fn new(program: &'p Program) -> Activity<'p> {
        Activity { program, done: HashMap::new(), given: RefCell::default() }
    }

    /// Returns the summary of a function. All callees of the function are examined first; mutually recursive functions
    /// are examined until their summaries do not change.
    pub fn summary(&mut self, id: FunctionId) -> Rc<Summary> {
        if let Some(known) = self.done.get(&id) {
            return known.clone();
        }
        let (order, is_cyclic) = self.callees_first(id);
        for id in &order {
            self.done.insert(*id, Rc::default());
        }
        let mut changed = true;
        while changed {
            changed = false;
            self.given.borrow_mut().clear();
            for id in &order {
                let summary = self.summarize(*id, &[], 0);
                if !self.done[id].covers(&summary) {
                    self.done.insert(*id, Rc::new(summary));
                    changed = is_cyclic;
                }
            }
        }
        self.done[&id].clone()
    }

    /// Returns the functions that a function calls or creates and that have no summary yet, callees first, the function
    /// itself last, and whether any of these functions is recursive.
    fn callees_first(&self, id: FunctionId) -> (Vec<FunctionId>, bool) {
        let mut order = vec![];
        let mut finished = HashSet::new();
        let mut seen: HashSet<FunctionId> = HashSet::from([id]);
        let mut is_cyclic = false;
        let mut open = vec![(id, self.calls(id))];
        while let Some((at, rest)) = open.last_mut() {
            match rest.pop() {
                Some(next) if seen.insert(next) => open.push((next, self.calls(next))),
                Some(next) => is_cyclic |= !finished.contains(&next),
                None => {
                    finished.insert(*at);
                    order.push(*at);
                    open.pop();
                }
            }
        }
        (order, is_cyclic)
    }

    fn calls(&self, id: FunctionId) -> Vec<FunctionId> {
        let Some(f) = self.program.function(id).filter(|f| !f.is_opaque) else { return vec![] };
        let steps = f.blocks.iter().flat_map(|b| &b.instructions);
        let callees = steps
            .filter_map(|s| if let Op::Call(f) | Op::CallRule(f) | Op::Closure(f) = s.op { Some(f) } else { None });
        callees.filter(|callee| !self.done.contains_key(callee)).collect()
    }

    /// Returns the summary of a function for a call with function arguments that are known.
    fn summary_given(&self, callee: FunctionId, given: Vec<(u32, FunctionId)>, depth: usize) -> Rc<Summary> {
        let call = (callee, given);
        if let Some(known) = self.given.borrow().get(&call) {
            return known.clone();
        }
        let summary = Rc::new(self.summarize(callee, &call.1, depth));
        self.given.borrow_mut().insert(call, summary.clone());
        summary
    }

    fn summarize(&self, id: FunctionId, given: &[(u32, FunctionId)], depth: usize) -> Summary {
        let Some(f) = self.program.function(id) else {
            return Summary {
                results: vec![],
                effects: Effects { unknown: true, boxes: true, globals: true },
                returns: true,
            };
        };
        if f.is_opaque {
            return opaque(id, f);
        }
        let mut entry = vec![SharedDependence::default(); f.registers.len()];
        for (k, param) in f.params.iter().enumerate() {
            entry[param.0 as usize] =
                SharedDependence::of(Dependence { on: BTreeSet::from([k as u32]), ..Dependence::default() });
        }
        let (mut effects, mut returns) = (Effects::default(), false);
        let mut results = vec![SharedDependence::default(); f.results.len()];
        let walk = FunctionAnalysis { activity: self, f, id, given, depth, writers: OnceCell::new() };
        let step = |block: usize, facts: &mut [SharedDependence]| walk.block(block, facts, &mut effects);
        data_flow::forward(f, entry, step, |regs, facts| {
            returns = true;
            for (result, reg) in results.iter_mut().zip(regs) {
                result.join(&facts[reg.0 as usize]);
            }
        });
        Summary { results, effects, returns }
    }
}

/// Returns the summary of a function whose body is unknown: the tangent of every number among the arguments is lost on
/// the path to every result.
fn opaque(id: FunctionId, f: &Function) -> Summary {
    let reason = match &f.obstacle {
        Some(obstacle) => LossReason::Obstacle(obstacle.clone()),
        None => LossReason::Opaque(f.name.clone()),
    };
    let found = Rc::new(TangentLoss { reason, span: f.span, calls: vec![], is_given: false });
    let losses: BTreeMap<_, _> = (0..f.params.len() as u32).map(|k| ((k, (id, 0, 0)), found.clone())).collect();
    let result = SharedDependence::of(Dependence { losses, ..Dependence::default() });
    Summary { results: vec![result; f.results.len()], effects: Effects::default(), returns: true }
}

/// The analysis of one function.
struct FunctionAnalysis<'a, 'p> {
    activity: &'a Activity<'p>,
    f: &'a Function,
    id: FunctionId,
    /// The function arguments of the analyzed function, as far as they are known.
    given: &'a [(u32, FunctionId)],
    /// The number of calls through which the known function arguments were passed.
    depth: usize,
    writers: OnceCell<Writers<'a>>,
}

impl FunctionAnalysis<'_, '_> {
    fn block(&self, block: usize, facts: &mut [SharedDependence], effects: &mut Effects) {
        for (at, step) in self.f.blocks[block].instructions.iter().enumerate() {
            crate::cancel::check();
            let outs = self.step((self.id, block as u32, at as u32), step, facts, effects);
            for (out, known) in step.outs.iter().zip(outs) {
                facts[out.0 as usize] = filled(self.f, step, *out, known);
            }
        }
    }

    /// Returns the dependence of the results of a step.
    fn step(
        &self,
        at: StepId,
        step: &Instruction,
        facts: &[SharedDependence],
        effects: &mut Effects,
    ) -> Vec<SharedDependence> {
        let operand =
            |k: usize| step.ins.get(k).map_or_else(SharedDependence::default, |r| facts[r.0 as usize].clone());
        let all = || SharedDependence::union(step.ins.iter().map(|r| &facts[r.0 as usize]));
        let each = |known: SharedDependence| vec![known; step.outs.len()];
        match &step.op {
            Op::ConstF(_)
            | Op::ConstI(_)
            | Op::Text(_)
            | Op::Constants(_)
            | Op::Null
            | Op::NewArray(_)
            | Op::Hold
            | Op::Access { .. }
            | Op::FindMethod(_)
            | Op::AppendText
            | Op::Count
            | Op::CheckIndex
            | Op::Transformed(_)
            | Op::Operator(
                Operator::ApplyAtOnce | Operator::Matrix { .. } | Operator::Jacobian { .. } | Operator::Gradient { .. },
            ) => each(SharedDependence::default()),
            Op::Capture { bank, index } => each(self.captured(*bank, *index)),
            Op::Copy | Op::Take | Op::AssertDifferentiable { .. } => each(operand(0)),
            Op::Primitive(id) => each(match dependence_transfer::primitive(*id) {
                DependenceTransfer::Smooth | DependenceTransfer::Carry => all(),
                DependenceTransfer::Flat => SharedDependence::default(),
                DependenceTransfer::Lose => lost(&all(), at, LossReason::Conversion(id.info().name), step.span),
            }),
            Op::Call(callee) | Op::CallRule(callee) => self.call(*callee, &step.ins, &[], step, facts, effects),
            Op::CallValue => self.call_value(at, step, facts, effects),
            Op::Closure(_) => each(all().with(|d| d.unknown = true)),
            // The new instance may be filled after it is created.
            Op::NewInstance(_) => each(SharedDependence::default().with(|d| d.from_boxes = true)),
            Op::NewBox | Op::NewRecord => each(contained(&step.ins, all())),
            Op::Append(_) => each(appended(&operand(0), &step.ins[1..], facts)),
            Op::StoreElement { .. } => each(replaced(step, facts)),
            Op::StoreRecord { .. } => each(all().element()),
            Op::StoreBox { .. } => {
                effects.boxes = true;
                vec![]
            }
            Op::StoreGlobal { .. } => {
                effects.globals = true;
                vec![]
            }
            Op::LoadBox { bank, .. } => each(loaded(*bank, operand(0).element().with(|d| d.from_boxes = true))),
            Op::TakeBox { .. } => each(operand(0).element().with(|d| d.from_boxes = true)),
            Op::LoadRecord { bank, .. } => each(loaded(*bank, operand(0).element())),
            // The origin of the elements is certain only for an array of integers.
            Op::LoadElement { bank: Bank::I, stride, .. } if stride.f + stride.r == 0 => {
                each(operand(0).array_element())
            }
            Op::LoadElement { bank, .. } => each(loaded(*bank, operand(0).array_element())),
            Op::TakeRecord { .. } | Op::TakeElement { .. } => vec![operand(0).element(), operand(0)],
            Op::LoadGlobal { bank, .. } => {
                each(loaded(*bank, SharedDependence::default().with(|d| d.from_globals = true)))
            }
            Op::TakeGlobal { .. } => each(SharedDependence::default().with(|d| d.from_globals = true)),
            Op::Native { name, shapes } => containers::integer(self.activity.program, name, shapes, step, facts)
                .unwrap_or_else(|| self.native((name, shapes), at, step, facts)),
            Op::Operator(Operator::Coordinates { .. }) => each(all()),
            Op::Operator(Operator::WithoutDerivative { .. }) => {
                each(SharedDependence::default().with(|d| d.cut = true))
            }
            Op::Operator(Operator::WithDerivative { .. }) => (0..step.outs.len()).map(operand).collect(),
            Op::Operator(Operator::NoDerivative { is_property }) => {
                let reason = if *is_property { LossReason::Property } else { LossReason::Argument };
                let of = |k| lost(&operand(k), at, reason.clone(), step.span);
                (0..step.outs.len()).map(of).collect()
            }
            Op::Operator(_) => {
                effects.unknown = true;
                each(SharedDependence::unknown())
            }
        }
    }

    /// Returns the dependence of a captured value. Captured values count as arguments after the other arguments.
    fn captured(&self, bank: Bank, index: u16) -> SharedDependence {
        let in_bank = self.f.captures.iter().enumerate().filter(|(_, b)| **b == bank).map(|(k, _)| k);
        let place = in_bank.clone().nth(index.into());
        let on = place.filter(|_| can_vary(bank)).map(|k| CAPTURED + k as u32).into_iter().collect();
        SharedDependence::of(Dependence { on, ..Dependence::default() })
    }

    fn native(
        &self,
        (name, shapes): (&'static str, &[ShapeId]),
        at: StepId,
        step: &Instruction,
        facts: &[SharedDependence],
    ) -> Vec<SharedDependence> {
        let carried = carried(self.activity.program, self.f, (name, shapes), &step.ins);
        let all = SharedDependence::union(carried.iter().map(|r| &facts[r.0 as usize]));
        let known = match dependence_transfer::native(name) {
            NativeTransfer::Container => all.element(),
            NativeTransfer::Lose => lost(&all, at, LossReason::Conversion(name), step.span),
            NativeTransfer::Carry if dependence_transfer::selects(name) => SharedDependence::default(),
            NativeTransfer::Carry => all,
            NativeTransfer::Nothing => SharedDependence::default(),
            NativeTransfer::Unknown => SharedDependence::unknown(),
        };
        let carries = matches!(dependence_transfer::native(name), NativeTransfer::Carry | NativeTransfer::Lose);
        let out = |r: &crate::ir::Reg| {
            if carries { known.clone() } else { loaded(self.f.registers[r.0 as usize].bank, known.clone()) }
        };
        step.outs.iter().map(out).collect()
    }

    /// Analyzes the call of a function value. A function that is known is treated like any other function, with its
    /// captured values.
    fn call_value(
        &self,
        at: StepId,
        step: &Instruction,
        facts: &[SharedDependence],
        effects: &mut Effects,
    ) -> Vec<SharedDependence> {
        let known = step.ins.first().and_then(|function| Some((function, self.known_function(*function)?)));
        let Some((function, callee)) = known else {
            effects.unknown = true;
            return vec![self.refused_arguments(at, step, facts).with(|d| d.unknown = true); step.outs.len()];
        };
        let mut outs = self.call(callee, &step.ins[1..], self.captured_by(*function), step, facts, effects);
        if self.activity.program.function(callee).is_none_or(|f| !f.captures.is_empty()) {
            for out in &mut outs {
                out.join(&facts[function.0 as usize]);
            }
        }
        outs
    }

    /// Returns the dependence on those arguments of an unknown function value with respect to which it is not
    /// differentiated: however the function uses them, its result has no derivative with respect to the values from
    /// which the arguments were computed.
    fn refused_arguments(&self, at: StepId, step: &Instruction, facts: &[SharedDependence]) -> SharedDependence {
        let before = &self.f.blocks[at.1 as usize].instructions[..at.2 as usize];
        let mut refused = Dependence::default();
        for argument in &step.ins {
            let Some(made) = before.iter().rposition(|s| s.outs.contains(argument)) else { continue };
            let Some(known) = facts[argument.0 as usize].0.as_deref() else { continue };
            if before[made].op == Op::Operator(Operator::NoDerivative { is_property: false }) {
                let there = (at.0, at.1, made as u32);
                let losses = known.losses.iter().filter(|((_, at), _)| *at == there);
                refused.losses.extend(losses.map(|(key, found)| (*key, found.clone())));
            }
        }
        SharedDependence::of(refused)
    }

    /// Returns the steps that write each register of the analyzed function.
    fn writers(&self) -> &Writers<'_> {
        self.writers.get_or_init(|| Writers::of(self.f))
    }

    /// Returns the function that a register holds, if it was created in this function or is one of the given functions.
    fn known_function(&self, reg: Reg) -> Option<FunctionId> {
        match self.writers().origin(reg, None)? {
            ClosureOrigin::Closure(function) => Some(function),
            ClosureOrigin::Elsewhere(reg) => {
                let place = self.f.params.iter().position(|p| *p == reg)?;
                self.given.iter().find(|(k, _)| *k as usize == place).map(|(_, function)| *function)
            }
        }
    }

    /// Returns the captured values of the function in a register, if it was created in this function from registers
    /// that have not changed since.
    fn captured_by(&self, function: Reg) -> &[Reg] {
        let writers = self.writers();
        let captured = writers.captured_by(function).unwrap_or_default();
        let is_constant = |r: &Reg| writers.count(*r) + usize::from(self.f.params.contains(r)) == 1;
        if captured.iter().all(is_constant) { captured } else { &[] }
    }

    /// Returns the summary of a called function, with its function arguments.
    fn summary_of(&self, callee: FunctionId, args: &[Reg]) -> Rc<Summary> {
        let is_open = |f: &Rc<Function>| !f.is_opaque && self.depth < MAX_FUNCTION_ARGUMENT_DEPTH;
        if self.activity.program.function(callee).is_some_and(is_open) {
            let references = (0..).zip(args).filter(|(_, r)| self.f.registers[r.0 as usize].bank == Bank::R);
            let given: Vec<_> = references.filter_map(|(k, r)| Some((k, self.known_function(*r)?))).collect();
            if !given.is_empty() {
                return self.activity.summary_given(callee, given, self.depth + 1);
            }
        }
        self.activity.done.get(&callee).cloned().unwrap_or_default()
    }

    fn call(
        &self,
        callee: FunctionId,
        args: &[Reg],
        captured: &[Reg],
        step: &Instruction,
        facts: &[SharedDependence],
        effects: &mut Effects,
    ) -> Vec<SharedDependence> {
        let summary = self.summary_of(callee, args);
        effects.add(summary.effects);
        let Some(f) = self.activity.program.function(callee) else {
            return vec![SharedDependence::unknown(); step.outs.len()];
        };
        let operand = |k: u32| match k.checked_sub(CAPTURED) {
            Some(k) => captured.get(k as usize),
            None => args.get(k as usize),
        };
        let argument = |k: u32| operand(k).and_then(|r| facts[r.0 as usize].0.as_deref());
        let is_given = matches!(step.op, Op::CallValue);
        let covered = |k: u32| covered_by_rule(f, k as usize);
        (0..step.outs.len())
            .map(|out| {
                let mut sum = Dependence::default();
                // A registered derivative covers the parameters with respect to which it differentiates.
                for known in (0..args.len() as u32).filter(|k| covered(*k)).filter_map(argument) {
                    sum.merge(known);
                }
                if let Some(inside) = summary.results.get(out).and_then(|known| known.0.as_deref()) {
                    sum.merge_flags(inside);
                    // A number that is computed from an array may come from any element of the array.
                    let is_part = self.f.registers[step.outs[out].0 as usize].bank != Bank::R;
                    let part = |k: u32| argument(k).map(|known| if is_part { known.part() } else { known.clone() });
                    for known in inside.on.iter().filter_map(|k| part(*k)) {
                        sum.merge(&known);
                    }
                    for ((k, at), found) in inside.losses.iter().filter(|((k, _), _)| !covered(*k)) {
                        let Some(known) = part(*k) else { continue };
                        add_losses(&mut sum, &known, *at, &seen_from_caller(found, f, step.span, is_given));
                    }
                }
                SharedDependence::of(sum)
            })
            .collect()
    }
}

/// Whether some registered derivative differentiates with respect to the parameter that a component of the arguments
/// belongs to.
pub fn covered_by_rule(f: &Function, component: usize) -> bool {
    let parameter = f.parameters.iter().position(|p| (p.first..p.first + p.len).contains(&component));
    parameter.is_some_and(|p| f.rules.iter().any(|rule| rule.wrt.get(p) == Some(&true)))
}

/// Returns the result of a step that loses the tangents of its operands.
fn lost(ins: &SharedDependence, at: StepId, reason: LossReason, span: Span) -> SharedDependence {
    let Some(ins) = ins.0.as_deref() else { return SharedDependence::default() };
    let mut out = Dependence { losses: ins.losses.clone(), ..Dependence::default() };
    add_losses(&mut out, ins, at, &Rc::new(TangentLoss { reason, span, calls: vec![], is_given: false }));
    out.merge_flags(ins);
    SharedDependence::of(out)
}

/// Adds the losses on the paths to the operands of a step, and the loss of the step itself.
fn add_losses(out: &mut Dependence, ins: &Dependence, at: StepId, found: &Rc<TangentLoss>) {
    for (key, earlier) in &ins.losses {
        if out.losses.len() < MAX_LOSSES {
            out.losses.entry(*key).or_insert_with(|| earlier.clone());
        }
    }
    for argument in &ins.on {
        if out.losses.len() < MAX_LOSSES {
            out.losses.entry((*argument, at)).or_insert_with(|| found.clone());
        }
    }
}

/// Maps a loss inside a called function to the caller: a loss inside the standard library, or where the body is
/// unknown, is attributed to the call. `is_given`: the caller received the function as an argument.
fn seen_from_caller(found: &Rc<TangentLoss>, callee: &Function, call: Span, is_given: bool) -> Rc<TangentLoss> {
    let is_unwritten = found.calls.is_empty() && found.span == callee.span;
    let is_inside = callee.is_prelude && !found.is_given || callee.is_opaque || is_unwritten;
    let (span, calls) = match (is_inside, callee.is_prelude || is_given) {
        (true, _) => (call, vec![]),
        (false, true) => (found.span, found.calls.clone()),
        (false, false) => {
            let calls = std::iter::once((callee.name.clone(), call)).chain(found.calls.iter().cloned());
            (found.span, calls.take(8).collect())
        }
    };
    Rc::new(TangentLoss {
        reason: found.reason.clone(),
        span,
        calls,
        is_given: !is_inside && (is_given || found.is_given),
    })
}
