//! Derivative code: the original graph, in which steps that operate on numbers also move and combine tangent slots.
//!
//! In: a function. Out: its derivative code, the same for every mode (forward, reverse) and every nesting; the machine
//! decides by the live levels.
//!
//! The behavior that [`Instruction::active`](crate::ir::Instruction::active) requires of each step:
//! - arithmetic combines the slots of its operands by the rule of the primitive; an inactive operand is a constant; a flat
//!   primitive clears the slot of its result;
//! - a constant clears the slot, a copy copies it, a load reads it from storage, a store writes it there or clears it;
//! - a call runs the callee's derivative code, with slots in and out; a call that is *not* active runs the original.
//!
//! Promises: a number register that is a parameter, or that an active step writes, is written by active steps only. So
//! registers of the two kinds can be separated, and the slots of inactive registers stay clear.
//! Not here: which registers are active (`active_registers`).

use crate::diff::active_registers::ActiveRegisters;
use crate::ir::{Block, Function, FunctionId, Instruction, Obstacle, Op, Program, Reg, Register, Terminator};
use crate::value::Bank;

/// Returns the derivative code of a function.
pub fn derivative(program: &Program, f: &Function) -> Function {
    let active = ActiveRegisters::of(program, f);
    let mut out = f.clone();
    for block in &mut out.blocks {
        crate::cancel::check();
        let steps = std::mem::take(&mut block.instructions);
        block.instructions = steps.into_iter().flat_map(|step| in_derivative(program, f, &active, step)).collect();
    }
    out
}

/// Returns the steps that replace a step in derivative code.
fn in_derivative(program: &Program, f: &Function, active: &ActiveRegisters, mut step: Instruction) -> Vec<Instruction> {
    step.active = active.is_active_step(program, f, &step);
    if let Op::Call(id) = step.op
        && step.active
        && let Some(callee) = program.function(id).filter(|callee| has_rule_entry(callee))
    {
        if is_only_read(active, callee, &step) {
            return value_of(&step);
        }
        step.op = Op::CallRule(id);
    }
    vec![step]
}

/// Returns the steps that copy the property's value; the operands of the value follow those of the tangent vector and
/// of the owner.
fn value_of(read: &Instruction) -> Vec<Instruction> {
    let first = read.ins.len() - read.outs.len();
    let copy = |(out, value): (&Reg, &Reg)| Instruction {
        op: Op::Copy,
        outs: vec![*out],
        ins: vec![*value],
        span: read.span,
        active: true,
    };
    read.outs.iter().zip(&read.ins[first..]).map(copy).collect()
}

/// Returns the derivative code under which a function *object* is called, if its function has registered derivatives or
/// an unknown body: one call by a registered derivative. `None` for all other functions, whose objects run their
/// [`derivative`] directly.
pub fn entry(id: FunctionId, f: &Function) -> Option<Function> {
    if !has_rule_entry(f) {
        return None;
    }
    let span = f.span;
    let params: Vec<Reg> = (0..f.params.len() as u32).map(Reg).collect();
    let results: Vec<Reg> = (0..f.results.len() as u32).map(|k| Reg(params.len() as u32 + k)).collect();
    let param_banks = f.params.iter().map(|r| f.registers[r.0 as usize].bank);
    let registers = param_banks.chain(f.results.iter().copied()).map(|bank| Register { bank, name: None }).collect();
    let call = Instruction { op: Op::CallRule(id), outs: results.clone(), ins: params.clone(), span, active: true };
    let block = Block { instructions: vec![call], end: Some(Terminator::Return(results)), end_span: span };
    Some(Function { params, registers, blocks: vec![block], ..f.clone() })
}

/// Whether a step reads a stored property that has no declared derivative, and only inspects its value (`if point.angle
/// > 0`).
fn is_only_read(active: &ActiveRegisters, callee: &Function, step: &Instruction) -> bool {
    let is_read_only = |r: &Reg| callee.results.iter().all(|bank| *bank == Bank::F) && !active.is_useful(*r);
    matches!(callee.obstacle, Some(Obstacle::Property { is_read: true, .. })) && step.outs.iter().all(is_read_only)
}

fn has_rule_entry(f: &Function) -> bool {
    f.is_opaque || !f.rules.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diff::test_graphs::{Builder, program};
    use crate::ir::{Rule, RuleKind};
    use crate::value::Bank::{F, I, R};
    use crate::value::shape::TangentId;

    fn active(f: &Function) -> Vec<bool> {
        f.blocks.iter().flat_map(|b| &b.instructions).map(|i| i.active).collect()
    }

    /// Asserts that every number register that is a parameter, or that an active step writes, is written by active
    /// steps only.
    fn assert_kinds_apart(program: &Program, f: &Function) {
        assert_eq!(crate::ir::verifier::verify(program, f), Vec::<String>::new());
        let steps = || f.blocks.iter().flat_map(|b| &b.instructions);
        for (k, _) in f.registers.iter().enumerate().filter(|(_, r)| r.bank == F) {
            let reg = Reg(k as u32);
            let mut writers = steps().filter(|s| s.outs.contains(&reg));
            if f.params.contains(&reg) || writers.clone().any(|s| s.active) {
                assert!(writers.all(|s| s.active), "register {k} is written by a step that is not active");
            }
        }
    }

    #[test]
    fn constants_and_conditions_stay_as_they_are() {
        // y = 1; while y < x*x { y = y + 2*x; z = 3 + 4 } return y
        let mut b = Builder::new("f");
        let x = b.param("x", F);
        let y = b.reg(F);
        b.op_to(Op::ConstF(1.0), &[], &[y]);
        let (head, body, done) = (b.block(), b.block(), b.block());
        b.jump(head);
        b.at(head);
        let square = b.primitive("double.mul", &[x, x]);
        let less = b.primitive("double.lt", &[y, square]);
        b.branch(less, body, done);
        b.at(body);
        let two = b.constant(2.0);
        let partial = b.primitive("double.mul", &[two, x]);
        b.op_to(Op::Primitive(crate::native::primitive("double.add").unwrap()), &[y, partial], &[y]);
        b.primitive("double.add", &[two, two]);
        b.jump(head);
        b.at(done);
        b.ret(&[y]);
        let (program, id) = program(b);
        let d = derivative(&program, program.function(id).unwrap());
        // The first constant must clear the slot of `y`; the square is only compared, and the constants are only
        // factors.
        assert_eq!(active(&d), [true, false, false, false, true, true, false]);
        assert_kinds_apart(&program, &d);
    }

    #[test]
    fn stores_clear_slots_and_new_objects_do_not() {
        let mut b = Builder::new("f");
        let x = b.param("x", F);
        let one = b.constant(1.0);
        let fresh = b.op(Op::NewBox, &[one], R);
        b.step(Op::StoreBox { bank: F, index: 0 }, &[fresh, one], &[]);
        let varied = b.op(Op::NewBox, &[x], R);
        let y = b.op(Op::LoadBox { bank: F, index: 0 }, &[varied], F);
        let n = b.op(Op::LoadBox { bank: I, index: 0 }, &[varied], I);
        b.primitive("int.add", &[n, n]);
        b.ret(&[y]);
        let (program, id) = program(b);
        let d = derivative(&program, program.function(id).unwrap());
        assert_eq!(active(&d), [false, false, true, true, true, false, false]);
        assert_kinds_apart(&program, &d);
    }

    #[test]
    fn a_call_with_constants_runs_the_original() {
        let mut g = Builder::new("g");
        let a = g.param("a", F);
        let y = g.primitive("double.sin", &[a]);
        g.ret(&[y]);
        let (mut program, callee) = program(g);
        let mut b = Builder::new("f");
        let x = b.param("x", F);
        let two = b.constant(2.0);
        let constant = b.op(Op::Call(callee), &[two], F);
        let varied = b.op(Op::Call(callee), &[x], F);
        let sum = b.primitive("double.add", &[constant, varied]);
        b.ret(&[sum]);
        let id = b.add_to(&mut program);
        let d = derivative(&program, program.function(id).unwrap());
        assert_eq!(active(&d), [false, false, true, true]);
        assert_kinds_apart(&program, &d);
    }

    #[test]
    fn a_function_with_rules_is_called_by_rule() {
        let mut g = Builder::new("g");
        let a = g.param("a", F);
        let y = g.primitive("double.sin", &[a]);
        g.ret(&[y]);
        let (mut program, callee) = program(g);
        let mut with_rule = (**program.function(callee).unwrap()).clone();
        let rule = Rule::new(vec![true], callee, RuleKind::Differential, TangentId(0));
        with_rule.rules.push(rule);
        let own = entry(callee, &with_rule).unwrap();
        assert_eq!(own.blocks[0].instructions[0].op, Op::CallRule(callee));
        program.functions[callee.0 as usize] = Some(with_rule.into());
        let mut b = Builder::new("f");
        let x = b.param("x", F);
        let y = b.op(Op::Call(callee), &[x], F);
        b.ret(&[y]);
        let id = b.add_to(&mut program);
        let d = derivative(&program, program.function(id).unwrap());
        assert_eq!(d.blocks[0].instructions[0].op, Op::CallRule(callee));
        assert!(entry(id, &d).is_none());
    }

    #[test]
    fn slots_left_by_a_call_are_cleared() {
        // y = g(x) is only compared; the same register then holds a constant.
        let mut b = Builder::new("f");
        let x = b.param("x", F);
        let function = b.param("g", R);
        let y = b.op(Op::CallValue, &[function, x], F);
        b.primitive("double.lt", &[y, y]);
        b.op_to(Op::ConstF(2.0), &[], &[y]);
        b.primitive("double.lt", &[y, y]);
        b.ret(&[x]);
        let (program, id) = program(b);
        let d = derivative(&program, program.function(id).unwrap());
        assert_eq!(active(&d), [true, false, true, false]);
        assert_kinds_apart(&program, &d);
    }
}
