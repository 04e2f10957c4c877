//! Linearity: determines whether the results of a function are linear in some of its arguments.
//!
//! In: a function and the arguments that vary. Out: a [`Linearity`] for each result, with the step that makes it
//! nonlinear.
//!
//! Promises: "not linear" is reported for certain steps only (`sin` of a varied value, a product of two such values); a
//! value that comes from dynamic calls, boxes or global variables is unknown and accepted. A selection by a condition
//! that depends on a varied value is not linear, unless the condition tests for zero or one branch stops the program.

use super::activity::covered_by_rule;
use crate::diff::dependence_transfer;
use crate::diff::dependence_transfer::DependenceTransfer;
use crate::ir::analysis::data_flow::{self, Fact};
use crate::ir::{BlockId, Function, FunctionId, Instruction, Op, Operator, Program, Reg, RuleKind, Terminator};
use crate::native::{Partial, PrimitiveId};
use crate::source::Span;
use crate::value::{Bank, Constants};
use hashbrown::HashMap;
use std::rc::Rc;

/// The kind of dependence of a value on the arguments that vary.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Kind {
    /// No value has reached the register yet.
    #[default]
    Nothing,
    /// The value is 0.
    Zero,
    /// The value does not vary.
    Constant,
    /// The value is a constant on one path and a linear function on another.
    Either,
    /// The value is a linear function of the arguments that vary.
    Linear,
    /// The value is the sum of a linear function and a constant that is not 0.
    Affine,
    /// The value depends on the arguments in another, nonlinear way.
    NotLinear,
    /// The dependence of the value is not known.
    Unknown,
}

/// The kind of dependence of a value, and the step that made the value affine or not linear.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Linearity {
    /// The kind of dependence.
    pub kind: Kind,
    /// The step that caused the kind, if it is `Affine` or `NotLinear`.
    pub step: Option<Rc<NonlinearStep>>,
}

/// A step whose result is not linear in its operands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NonlinearStep {
    /// The name of the step in a sentence: `sin`, `*`.
    pub name: Rc<str>,
    /// The source location of the step, in the program's own code.
    pub span: Span,
}

impl From<Kind> for Linearity {
    fn from(kind: Kind) -> Linearity {
        Linearity { kind, step: None }
    }
}

impl Linearity {
    fn at(kind: Kind, name: &str, span: Span) -> Linearity {
        Linearity { kind, step: Some(Rc::new(NonlinearStep { name: name.into(), span })) }
    }

    fn varies(&self) -> bool {
        matches!(self.kind, Kind::Either | Kind::Linear | Kind::Affine | Kind::NotLinear)
    }

    /// Returns the linearity of the sum of two values.
    fn plus(&self, other: &Linearity, span: Span) -> Linearity {
        use Kind::{Affine, Constant, Either, Linear, NotLinear, Nothing, Unknown, Zero};
        match (self.kind, other.kind) {
            (NotLinear, _) => self.clone(),
            (_, NotLinear) => other.clone(),
            (Unknown, _) | (_, Unknown) => Unknown.into(),
            (Nothing, _) | (_, Nothing) => Nothing.into(),
            (Zero, _) => other.clone(),
            (_, Zero) | (Affine, _) => self.clone(),
            (_, Affine) => other.clone(),
            (Either, _) | (_, Either) => Either.into(),
            (Constant, Linear) | (Linear, Constant) => Linearity::at(Affine, "+", span),
            (Constant, Constant) => Constant.into(),
            (Linear, Linear) => Linear.into(),
        }
    }

    /// Returns the linearity of the product of two values.
    fn times(&self, other: &Linearity, name: &str, span: Span) -> Linearity {
        use Kind::{Constant, Nothing, Unknown, Zero};
        match (self.kind, other.kind) {
            (Nothing, _) | (_, Nothing) => Nothing.into(),
            (Zero, _) | (_, Zero) => Zero.into(),
            (Unknown, _) | (_, Unknown) => Unknown.into(),
            (Constant, _) => other.clone(),
            (_, Constant) => self.clone(),
            _ => Linearity::at(Kind::NotLinear, name, span),
        }
    }

    /// Returns the linearity of a value loaded from storage that holds several values: if the kinds of the values
    /// differ, the kind of the loaded value is not certain.
    fn element(&self) -> Linearity {
        match self.kind {
            Kind::Either | Kind::Affine | Kind::NotLinear => Kind::Unknown.into(),
            _ => self.clone(),
        }
    }
}

impl Fact for Linearity {
    fn join(&mut self, other: &Linearity) -> bool {
        let joined = joined(self, other);
        let changed = joined.kind != self.kind;
        if changed {
            *self = joined;
        }
        changed
    }
}

/// Returns the linearity of a register at the end of two paths, which holds on both paths.
fn joined(a: &Linearity, b: &Linearity) -> Linearity {
    use Kind::{Affine, Constant, Either, Linear, NotLinear, Nothing, Unknown, Zero};
    match (a.kind, b.kind) {
        (Nothing, _) => b.clone(),
        (_, Nothing) => a.clone(),
        (NotLinear, _) => a.clone(),
        (_, NotLinear) => b.clone(),
        (Unknown, _) | (_, Unknown) => Unknown.into(),
        (Zero, _) => b.clone(),
        (_, Zero) => a.clone(),
        (Constant, Constant) => Constant.into(),
        (Linear, Linear) => Linear.into(),
        // The function is piecewise: constant on one side, linear on the other.
        (Affine, _) => a.clone(),
        (_, Affine) => b.clone(),
        (Either | Constant, Linear | Either | Constant) | (Linear, Constant | Either) => Either.into(),
    }
}

/// The linearities of functions, computed for given kinds of arguments.
pub struct Linearities<'p> {
    program: &'p Program,
    done: HashMap<(FunctionId, Vec<Kind>), Rc<[Linearity]>>,
    /// The calls that are being examined, with the results so far.
    open: Vec<Open>,
    /// Whether even a test of an argument for zero is rejected.
    zero_matters: bool,
    /// Whether the linearity of a function with a registered derivative is determined from its body.
    ignores_rules: bool,
    /// A function for which `ignores_rules` does not apply.
    hidden: Option<FunctionId>,
}

struct Open {
    call: (FunctionId, Vec<Kind>),
    results: Rc<[Linearity]>,
    is_reentered: bool,
}

/// The maximum depth of chains of calls that are followed.
const MAX_DEPTH: usize = 100;

impl<'p> Linearities<'p> {
    /// Creates the analysis for the functions of a program.
    pub fn new(program: &'p Program) -> Linearities<'p> {
        Linearities {
            program,
            done: HashMap::new(),
            open: vec![],
            zero_matters: false,
            ignores_rules: false,
            hidden: None,
        }
    }

    /// Creates the analysis for the linear functions that registered derivatives return: their callees may have
    /// registered derivatives, too.
    pub fn of_rules(program: &'p Program) -> Linearities<'p> {
        Linearities { ignores_rules: true, ..Linearities::new(program) }
    }

    /// Creates the analysis for the differential of a function that has no pullback: the differential is recorded at
    /// zero, so it must not test its argument for zero, and it cannot be computed by a call of the original function.
    pub fn of_differential(program: &'p Program, original: FunctionId) -> Linearities<'p> {
        Linearities { hidden: Some(original), zero_matters: true, ..Linearities::of_rules(program) }
    }

    /// Returns the linearity of each component of a function's results, for arguments of the given kinds.
    pub fn results(&mut self, id: FunctionId, arguments: Vec<Kind>) -> Rc<[Linearity]> {
        let call = (id, arguments);
        if let Some(known) = self.done.get(&call) {
            return known.clone();
        }
        if let Some(open) = self.open.iter_mut().find(|open| open.call == call) {
            open.is_reentered = true;
            return open.results.clone();
        }
        let Some(f) = self.program.function(id).cloned() else { return Rc::default() };
        let all = |kind: Kind| -> Rc<[Linearity]> { vec![Linearity::from(kind); f.results.len()].into() };
        if self.open.len() >= MAX_DEPTH || f.is_opaque {
            return all(Kind::Unknown);
        }
        self.open.push(Open { call: call.clone(), results: all(Kind::Nothing), is_reentered: false });
        let place = self.open.len() - 1;
        let mut results = self.open[place].results.clone();
        // Each iteration moves the facts up in the lattice of kinds, which has few levels.
        for _ in 0..8 {
            results = self.analyze(&f, &call.1);
            let open = &mut self.open[place];
            let is_stable = !open.is_reentered || open.results == results;
            open.results = results.clone();
            if is_stable {
                break;
            }
        }
        self.open.truncate(place);
        // A result that was found while an outer call was still being examined may be preliminary.
        if !self.open.iter().any(|open| open.is_reentered) {
            self.done.insert(call, results.clone());
        }
        results
    }

    fn analyze(&mut self, f: &Function, arguments: &[Kind]) -> Rc<[Linearity]> {
        let mut entry = vec![Linearity::default(); f.registers.len()];
        for (param, kind) in f.params.iter().zip(arguments) {
            entry[param.0 as usize] = (*kind).into();
        }
        let mut results = vec![Linearity::default(); f.results.len()];
        // The linearity of a condition that depends on a varied value.
        let mut condition: Option<Linearity> = None;
        let step = |block: usize, facts: &mut [Linearity]| {
            self.block(f, block, facts);
            if let Some(on) = selecting(f, block) {
                let on = &facts[on.0 as usize];
                condition = condition.take().or_else(|| (on.kind == Kind::NotLinear).then(|| on.clone()));
            }
        };
        data_flow::forward(f, entry, step, |regs, facts| {
            for (result, reg) in results.iter_mut().zip(regs) {
                result.join(&facts[reg.0 as usize]);
            }
        });
        if let Some(condition) = condition {
            results.iter_mut().for_each(|result| *result = condition.clone());
        }
        results.into()
    }

    fn block(&mut self, f: &Function, block: usize, facts: &mut [Linearity]) {
        for step in &f.blocks[block].instructions {
            let outs = self.step(f, step, facts);
            for (out, known) in step.outs.iter().zip(outs) {
                facts[out.0 as usize] = known;
            }
        }
    }

    fn step(&mut self, f: &Function, step: &Instruction, facts: &[Linearity]) -> Vec<Linearity> {
        let operand = |k: usize| step.ins.get(k).map_or_else(Linearity::default, |r| facts[r.0 as usize].clone());
        let each = |known: Linearity| vec![known; step.outs.len()];
        // The contents are examined for references and numbers only, because integers do not vary.
        let contents = || {
            let carried = step.ins.iter().filter(|r| f.registers[r.0 as usize].bank != Bank::I);
            carried.fold(Linearity::default(), |sum, r| joined(&sum, &facts[r.0 as usize])).element()
        };
        match &step.op {
            Op::ConstF(0.0) => each(Kind::Zero.into()),
            Op::Constants(all) if matches!(&**all, Constants::Numbers(all) if all.iter().all(|x| *x == 0.0)) => {
                each(Kind::Zero.into())
            }
            // An empty collection, and a null reference, hold no varied value and no value that could be added.
            Op::Null | Op::NewArray(_) => each(Kind::Zero.into()),
            Op::ConstF(_)
            | Op::ConstI(_)
            | Op::Text(_)
            | Op::Constants(_)
            | Op::Capture { .. }
            | Op::AppendText
            | Op::Count
            | Op::CheckIndex => each(Kind::Constant.into()),
            Op::Copy | Op::Take | Op::AssertDifferentiable { .. } => each(operand(0)),
            Op::Primitive(id) => each(primitive(*id, step, facts, self.zero_matters)),
            Op::Call(callee) | Op::CallRule(callee) => self.call(*callee, step, facts),
            Op::NewBox | Op::NewRecord | Op::Append(_) | Op::StoreRecord { .. } | Op::StoreElement { .. } => {
                each(contents())
            }
            Op::LoadRecord { bank, .. } | Op::LoadElement { bank, .. } => {
                each(if *bank == Bank::I { Kind::Constant.into() } else { operand(0).element() })
            }
            Op::TakeRecord { .. } | Op::TakeElement { .. } => vec![operand(0).element(), operand(0)],
            Op::Operator(
                Operator::WithoutDerivative { .. }
                | Operator::ApplyAtOnce
                | Operator::Matrix { .. }
                | Operator::Jacobian { .. }
                | Operator::Gradient { .. },
            ) => each(Kind::Constant.into()),
            Op::Operator(Operator::NoDerivative { .. }) if matches!(contents().kind, Kind::Zero | Kind::Constant) => {
                each(Kind::Constant.into())
            }
            Op::Operator(Operator::WithDerivative { .. }) => (0..step.outs.len()).map(operand).collect(),
            Op::Operator(Operator::Coordinates { .. }) => each(contents()),
            Op::CallValue
            | Op::NewInstance(_)
            | Op::FindMethod(_)
            | Op::Closure(_)
            | Op::LoadBox { .. }
            | Op::Hold
            | Op::Access { .. }
            | Op::StoreBox { .. }
            | Op::TakeBox { .. }
            | Op::LoadGlobal { .. }
            | Op::StoreGlobal { .. }
            | Op::TakeGlobal { .. }
            | Op::Native { .. }
            | Op::Transformed(_)
            | Op::Operator(_) => each(Kind::Unknown.into()),
        }
    }

    fn call(&mut self, callee: FunctionId, step: &Instruction, facts: &[Linearity]) -> Vec<Linearity> {
        let unknown = || vec![Linearity::from(Kind::Unknown); step.outs.len()];
        let Some(f) = self.program.function(callee).cloned() else { return unknown() };
        let arguments: Vec<&Linearity> = step.ins.iter().map(|r| &facts[r.0 as usize]).collect();
        // A registered derivative hides the body; a transpose guarantees linearity, which is then not checked.
        let hidden = |k: usize| arguments[k].varies() && covered_by_rule(&f, k);
        let ignores_rules = self.ignores_rules && self.hidden != Some(callee);
        if !ignores_rules && (0..arguments.len()).any(hidden) {
            if f.rules.iter().any(|rule| rule.kind == RuleKind::Transpose) {
                return unknown();
            }
            return vec![Linearity::at(Kind::NotLinear, base_name(&f.name), step.span); step.outs.len()];
        }
        let results = self.results(callee, arguments.iter().map(|a| a.kind).collect());
        let mut results = results.to_vec();
        for result in &mut results {
            // A step inside the standard library is attributed to the call.
            if result.step.is_some() && f.is_prelude {
                *result = Linearity::at(result.kind, base_name(&f.name), step.span);
            }
            if result.step.is_none() && matches!(result.kind, Kind::NotLinear | Kind::Affine) {
                result.step = arguments.iter().find(|a| a.kind == result.kind).and_then(|a| a.step.clone());
            }
        }
        results.resize(step.outs.len(), Kind::Unknown.into());
        results
    }
}

/// Returns the register that determines how a block continues, if neither branch stops the program.
fn selecting(f: &Function, block: usize) -> Option<Reg> {
    let Some(Terminator::Branch { condition, then, otherwise }) = &f.blocks[block].end else { return None };
    let stops = |to: &BlockId| matches!(f.blocks[to.0 as usize].end, Some(Terminator::Trap(_)));
    (!stops(then) && !stops(otherwise)).then_some(*condition)
}

fn primitive(id: PrimitiveId, step: &Instruction, facts: &[Linearity], zero_matters: bool) -> Linearity {
    let info = id.info();
    let operand = |k: usize| step.ins.get(k).map_or_else(Linearity::default, |r| facts[r.0 as usize].clone());
    let operands = || step.ins.iter().map(|r| &facts[r.0 as usize]);
    let name = info.symbol;
    if operands().any(|o| o.kind == Kind::Nothing) {
        return Kind::Nothing.into();
    }
    if let Some(bad) = operands().find(|o| o.kind == Kind::NotLinear) {
        return bad.clone();
    }
    match dependence_transfer::primitive(id) {
        DependenceTransfer::Carry | DependenceTransfer::Flat if !operands().any(Linearity::varies) => {
            return Kind::Constant.into();
        }
        // A comparison selects a branch. A test for exactly zero does not count as a selection, because it holds at one
        // point only.
        DependenceTransfer::Flat if info.result == Bank::I => {
            let asks_for_zero = matches!(name, "==" | "!=") && operands().any(|o| o.kind == Kind::Zero);
            let is_accepted = asks_for_zero && !zero_matters;
            return if is_accepted { Kind::Constant.into() } else { Linearity::at(Kind::NotLinear, name, step.span) };
        }
        DependenceTransfer::Smooth
        | DependenceTransfer::Flat
        | DependenceTransfer::Lose
        | DependenceTransfer::Carry => {}
    }
    match info.partials() {
        _ if info.is_linear() => operands().skip(1).fold(operand(0), |sum, o| sum.plus(o, step.span)),
        [Partial::Factor(_), Partial::Factor(_)] => operand(0).times(&operand(1), name, step.span),
        // A division is linear in its dividend.
        [Partial::Reciprocal, Partial::Quotient] if !operand(1).varies() => {
            operand(0).times(&operand(1), name, step.span)
        }
        _ => {
            if operands().any(Linearity::varies) {
                Linearity::at(Kind::NotLinear, name, step.span)
            } else if operands().any(|o| o.kind == Kind::Unknown) {
                Kind::Unknown.into()
            } else {
                Kind::Constant.into()
            }
        }
    }
}

/// Returns the name of a function without its labels: `sin` for `sin(_:)`.
pub fn base_name(name: &str) -> &str {
    match name.find('(') {
        Some(at) if at > 0 => &name[..at],
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diff::test_graphs::{Builder, program};
    use crate::native::primitive_ids;
    use crate::value::Bank::F;

    fn kinds(b: Builder, arguments: &[Kind]) -> Vec<Kind> {
        let (program, id) = program(b);
        Linearities::new(&program).results(id, arguments.to_vec()).iter().map(|r| r.kind).collect()
    }

    #[test]
    fn sums_products_and_quotients() {
        let mut b = Builder::new("f");
        let (x, c) = (b.param("x", F), b.param("c", F));
        let two = b.constant(2.0);
        let scaled = b.primitive("double.mul", &[two, x]);
        let sum = b.primitive("double.add", &[scaled, x]);
        let quotient = b.apply(primitive_ids::DIV, &[sum, c]);
        let shifted = b.primitive("double.add", &[x, two]);
        let square = b.primitive("double.mul", &[x, x]);
        let reciprocal = b.apply(primitive_ids::DIV, &[c, x]);
        let sine = b.primitive("double.sin", &[x]);
        let other = b.primitive("double.sin", &[c]);
        b.ret(&[quotient, shifted, square, reciprocal, sine, other]);
        let expected = [Kind::Linear, Kind::Affine, Kind::NotLinear, Kind::NotLinear, Kind::NotLinear, Kind::Constant];
        assert_eq!(kinds(b, &[Kind::Linear, Kind::Constant]), expected);
    }

    #[test]
    fn an_accumulator_that_starts_at_zero_is_linear() {
        let mut b = Builder::new("f");
        let (x, c) = (b.param("x", F), b.param("c", F));
        let sum = b.reg(F);
        b.op_to(Op::ConstF(0.0), &[], &[sum]);
        let (head, done) = (b.block(), b.block());
        b.jump(head);
        b.at(head);
        b.op_to(Op::Primitive(crate::native::primitive("double.add").unwrap()), &[sum, x], &[sum]);
        let less = b.primitive("double.lt", &[c, c]);
        b.branch(less, head, done);
        b.at(done);
        b.ret(&[sum]);
        assert_eq!(kinds(b, &[Kind::Linear, Kind::Constant]), [Kind::Linear]);
    }

    #[test]
    fn through_calls_and_recursion() {
        // g(x, c) = c < 1 ? x : g(x / 2, c / 2) * 2, which is not linear in c.
        let mut program = Program::default();
        let mut g = Builder::new("g");
        let (x, c) = (g.param("x", F), g.param("c", F));
        let (rest, done) = (g.block(), g.block());
        let (one, two) = (g.constant(1.0), g.constant(2.0));
        let less = g.primitive("double.lt", &[c, one]);
        g.branch(less, done, rest);
        g.at(rest);
        let half = g.apply(primitive_ids::DIV, &[x, two]);
        let count = g.apply(primitive_ids::DIV, &[c, two]);
        let inner = g.op(Op::Call(FunctionId(0)), &[half, count], F);
        let twice = g.primitive("double.mul", &[inner, two]);
        g.ret(&[twice]);
        g.at(done);
        g.ret(&[x]);
        let id = g.add_to(&mut program);
        let kind = |arguments| Linearities::new(&program).results(id, arguments)[0].kind;
        assert_eq!(kind(vec![Kind::Linear, Kind::Constant]), Kind::Linear);
        assert_eq!(kind(vec![Kind::Linear, Kind::Linear]), Kind::NotLinear);
    }
}
