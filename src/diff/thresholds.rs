//! Thresholds: marks comparisons on which branches depend. Where two varied numbers are equal, a branch is taken
//! exactly at its threshold, and the derivative is that of the branch, by convention.
//!
//! In: a function. Out: the same function with an [`Operator::Threshold`] before each such comparison, and before each
//! step whose partial is 0 wherever the partial exists (`floor`), since such a step may be at a jump.
//!
//! Promises: only comparisons that decide how the program continues are marked: `if`, `while`, `guard`, `switch`,
//! `where`, `?:`, `&&` and `||`, and the result of a closure or a function by which another function decides. A
//! condition that stops the program otherwise (`precondition`) is not marked. Comparisons of the library are marked
//! where they have been inlined into the program's own code, and in functions that consist of a condition (`contains`
//! of a range, the comparisons of `sorted()` and masks) or that round. A rounding that only selects (`Int(floor(x))`,
//! `withoutDerivative(at: floor(x))`) is not marked.

use crate::diff::active_registers::ActiveRegisters;
use crate::ir::{BlockId, Function, FunctionId, Instruction, Op, Operator, Program, Reg, Terminator};
use crate::native::{Primitive, Rule, Value};
use crate::value::Bank;

/// The prefix of the names that lowering generates for closures.
const CLOSURE: &str = "closure";

/// Returns the function with its thresholds marked; `None` when it has none.
pub fn marked(program: &Program, id: FunctionId, f: &Function) -> Option<Function> {
    let compares = (!f.is_prelude || is_condition(f)) && steps(f).any(is_comparison);
    let rounds = (!f.is_prelude || is_rounding(f)) && steps(f).any(may_jump);
    if !compares && !rounds {
        return None;
    }
    let marks = |are_wanted: bool, marks: &dyn Fn() -> Vec<bool>| if are_wanted { marks() } else { vec![] };
    let controlling = marks(compares, &|| ControlDependence::new(program).of(id, f, result_controls(program, id)));
    let counting = marks(rounds, &|| counting(program, f));
    let active = ActiveRegisters::of(program, f);
    let is_threshold = |step: &Instruction| {
        let is_in = |marks: &[bool]| step.outs.iter().any(|r| marks.get(r.0 as usize) == Some(&true));
        let varies = step.ins.iter().any(|r| active.is_varied(*r));
        varies && (is_comparison(step) && is_in(&controlling) || may_jump(step) && is_in(&counting))
    };
    if !steps(f).any(is_threshold) {
        return None;
    }
    let mut out = f.clone();
    for block in &mut out.blocks {
        crate::cancel::check();
        let mut all = Vec::with_capacity(block.instructions.len());
        for step in std::mem::take(&mut block.instructions) {
            if let (Op::Primitive(comparison), true) = (&step.op, is_threshold(&step)) {
                let op = Op::Operator(Operator::Threshold { comparison: *comparison });
                all.push(Instruction { op, outs: vec![], ins: step.ins.clone(), span: step.span, active: false });
            }
            all.push(step);
        }
        block.instructions = all;
    }
    Some(out)
}

fn steps(f: &Function) -> impl Iterator<Item = &Instruction> {
    f.blocks.iter().flat_map(|block| &block.instructions)
}

/// Whether a step compares two numbers.
fn is_comparison(step: &Instruction) -> bool {
    matches!(step.op, Op::Primitive(id) if matches!(id.info().value, Value::Test2(_)))
}

/// Whether a step is a rounding or a similar operation: its partial is 0, except where it jumps.
fn may_jump(step: &Instruction) -> bool {
    let jumps = |info: &Primitive| matches!(info.rule, Rule::Flat) && info.one_sided.is_some();
    matches!(step.op, Op::Primitive(id) if jumps(id.info()))
}

/// Whether a step only computes a number or a Boolean: it calls nothing and stores nothing.
fn is_computation(step: &Instruction) -> bool {
    matches!(step.op, Op::Primitive(_) | Op::Copy | Op::ConstF(_) | Op::ConstI(_) | Op::LoadRecord { .. })
}

/// Whether a function of the library does nothing but round a number.
fn is_rounding(f: &Function) -> bool {
    f.results == [Bank::F] && steps(f).all(is_computation)
}

/// Determines the registers whose numbers are used as data: they are not only compared, detached from derivatives or
/// converted to integers.
fn counting(program: &Program, f: &Function) -> Vec<bool> {
    let mut counting = vec![false; f.registers.len()];
    let is_number = |r: &&Reg| f.registers[r.0 as usize].bank == Bank::F;
    let returned = f.blocks.iter().filter_map(|block| match &block.end {
        Some(Terminator::Return(values)) => Some(values),
        _ => None,
    });
    for r in returned.flatten().filter(is_number) {
        counting[r.0 as usize] = true;
    }
    let mut changed = true;
    while changed {
        changed = false;
        crate::cancel::check();
        for step in steps(f) {
            let counts = match &step.op {
                Op::Operator(Operator::WithoutDerivative { .. }) => false,
                Op::Call(callee) => !program.function(*callee).is_some_and(|callee| cuts(callee)),
                Op::Primitive(id) if id.info().result == Bank::I => false,
                Op::Primitive(_) | Op::Copy => step.outs.iter().any(|r| counting[r.0 as usize]),
                _ => true,
            };
            for r in step.ins.iter().filter(is_number).filter(|_| counts) {
                changed |= !std::mem::replace(&mut counting[r.0 as usize], true);
            }
        }
    }
    counting
}

/// Whether a function does nothing but detach its arguments from derivatives.
fn cuts(f: &Function) -> bool {
    let is_cut = |step: &Instruction| {
        matches!(step.op, Op::Copy | Op::Operator(Operator::WithoutDerivative { .. } | Operator::NoDerivative { .. }))
    };
    f.is_prelude && steps(f).all(is_cut) && steps(f).any(|step| step.op != Op::Copy)
}

/// Whether a function of the library consists of a condition: it has several comparisons, or is a closure that
/// compares. A function of one comparison (`<`) has been inlined.
fn is_condition(f: &Function) -> bool {
    let least = if f.name.starts_with(CLOSURE) { 1 } else { 2 };
    f.results == [Bank::I]
        && steps(f).all(is_computation)
        && steps(f).filter(|step| is_comparison(step)).count() >= least
}

/// Whether a caller may decide by the result of a function; the condition of a `precondition` does not count.
fn result_controls(program: &Program, id: FunctionId) -> bool {
    let mut is_made = false;
    for block in program.functions.iter().flatten().flat_map(|f| &f.blocks) {
        for (i, step) in block.instructions.iter().enumerate().filter(|(_, step)| step.op == Op::Closure(id)) {
            is_made = true;
            let uses = block.instructions[i + 1..].iter().filter(|user| user.ins.contains(&step.outs[0]));
            if uses.clone().next().is_none() || uses.into_iter().any(|user| branches_on(program, user, step.outs[0])) {
                return true;
            }
        }
    }
    !is_made
}

/// Whether a step may branch on the result of the function in a register.
fn branches_on(program: &Program, step: &Instruction, function: Reg) -> bool {
    let Op::Call(callee) = step.op else { return !matches!(step.op, Op::Hold | Op::Access { .. }) };
    let Some(f) = program.function(callee) else { return true };
    let controlling = ControlDependence::new(program).of(callee, f, true);
    let given = step.ins.iter().zip(&f.params).filter(|(argument, _)| **argument == function);
    given.into_iter().any(|(_, param)| {
        steps(f).filter(|step| step.ins.contains(param)).any(|step| match step.op {
            Op::CallValue if step.ins[0] == *param && !step.ins[1..].contains(param) => {
                step.outs.iter().any(|r| controlling[r.0 as usize])
            }
            Op::Hold | Op::Access { .. } => false,
            _ => true,
        })
    })
}

/// An analysis that determines the registers that decide how the program continues, in this function or in a caller
/// that receives the result.
struct ControlDependence<'p> {
    program: &'p Program,
    /// Functions that are being examined, from the outermost call to the innermost.
    open: Vec<FunctionId>,
}

/// The maximum number of calls through which conditions are followed.
const MAX_CALL_DEPTH: usize = 4;

impl<'p> ControlDependence<'p> {
    fn new(program: &'p Program) -> ControlDependence<'p> {
        ControlDependence { program, open: vec![] }
    }

    fn of(&mut self, id: FunctionId, f: &Function, result_controls: bool) -> Vec<bool> {
        self.open.push(id);
        let mut controlling = vec![false; f.registers.len()];
        let is_integer = |r: &Reg| f.registers[r.0 as usize].bank == Bank::I;
        for end in f.blocks.iter().filter_map(|block| block.end.as_ref()) {
            match end {
                Terminator::Branch { condition, then, otherwise } if !stops(f, *then) && !stops(f, *otherwise) => {
                    controlling[condition.0 as usize] = true;
                }
                Terminator::Return(values) if result_controls => {
                    values.iter().filter(|r| is_integer(r)).for_each(|r| controlling[r.0 as usize] = true);
                }
                Terminator::Branch { .. } | Terminator::Return(_) | Terminator::Jump(_) | Terminator::Trap(_) => {}
            }
        }
        let conditions = conditions(f, self.open.len() > 1);
        for step in steps(f) {
            for argument in self.controlling_arguments(&conditions, step) {
                controlling[argument.0 as usize] = true;
            }
        }
        let mut changed = true;
        while changed {
            changed = false;
            crate::cancel::check();
            for step in steps(f).filter(|step| matches!(step.op, Op::Copy | Op::Primitive(_))) {
                if step.outs.iter().any(|r| controlling[r.0 as usize]) {
                    for r in step.ins.iter().filter(|r| is_integer(r)) {
                        changed |= !std::mem::replace(&mut controlling[r.0 as usize], true);
                    }
                }
            }
        }
        self.open.pop();
        controlling
    }

    /// Returns the Booleans that are passed to a callee which branches on them (`select`).
    fn controlling_arguments(&mut self, conditions: &[bool], step: &Instruction) -> Vec<Reg> {
        let Op::Call(callee) = step.op else { return vec![] };
        let is_condition = |r: &Reg| conditions[r.0 as usize];
        if !step.ins.iter().any(is_condition) || self.open.len() > MAX_CALL_DEPTH || self.open.contains(&callee) {
            return vec![];
        }
        let Some(called) = self.program.function(callee).filter(|called| !called.is_opaque) else { return vec![] };
        let controlling = self.of(callee, called, false);
        let given = step.ins.iter().zip(&called.params).filter(|(_, param)| controlling[param.0 as usize]);
        given.map(|(argument, _)| *argument).collect()
    }
}

/// Returns the registers that hold the result of a comparison, or a value computed from such a result; with `given` the
/// arguments may be such results as well.
fn conditions(f: &Function, given: bool) -> Vec<bool> {
    let mut conditions = vec![false; f.registers.len()];
    let is_integer = |r: &Reg| f.registers[r.0 as usize].bank == Bank::I;
    let compared = steps(f).filter(|step| is_comparison(step)).flat_map(|step| &step.outs);
    for r in compared.chain(f.params.iter().filter(|r| given && is_integer(r))) {
        conditions[r.0 as usize] = true;
    }
    let mut changed = true;
    while changed {
        changed = false;
        for step in steps(f).filter(|step| matches!(step.op, Op::Copy | Op::Primitive(_))) {
            if step.ins.iter().any(|r| conditions[r.0 as usize]) {
                for r in step.outs.iter().filter(|r| is_integer(r)) {
                    changed |= !std::mem::replace(&mut conditions[r.0 as usize], true);
                }
            }
        }
    }
    conditions
}

/// Whether a block stops the program.
fn stops(f: &Function, block: BlockId) -> bool {
    matches!(f.blocks[block.0 as usize].end, Some(Terminator::Trap(_)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diff::test_graphs::{Builder, program};
    use crate::value::Bank::F;

    fn thresholds(b: Builder) -> usize {
        let (program, id) = program(b);
        let marked = marked(&program, id, program.function(id).unwrap());
        let is_mark = |s: &&Instruction| matches!(s.op, Op::Operator(Operator::Threshold { .. }));
        marked.map_or(0, |f| steps(&f).filter(is_mark).count())
    }

    /// Returns the number of marked comparisons in `x ↦ 0 < y ? x : 0`, where `y` is `x` or 0.
    fn controlling(compares_x: bool) -> usize {
        let mut b = Builder::new("f");
        let x = b.param("x", F);
        let zero = b.constant(0.0);
        let less = b.primitive("double.lt", &[zero, if compares_x { x } else { zero }]);
        let (then, otherwise) = (b.block(), b.block());
        b.branch(less, then, otherwise);
        b.at(then);
        b.ret(&[x]);
        b.at(otherwise);
        b.ret(&[zero]);
        thresholds(b)
    }

    #[test]
    fn a_comparison_that_decides_is_marked() {
        assert_eq!(controlling(true), 1);
    }

    #[test]
    fn a_comparison_of_constants_is_not_marked() {
        assert_eq!(controlling(false), 0);
    }
}
