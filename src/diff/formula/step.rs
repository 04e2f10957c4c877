//! Step: evaluates one step of a graph with formulas in the registers.

use super::arrays::is_on_arrays;
use super::{Evaluator, NoFormula, Registers, Value, static_properties};
use crate::ir::{Function, Instruction, Op, Operator, Reg};
use crate::native::formula::Formula;
use crate::value::Bank;
use std::rc::Rc;

impl Evaluator<'_> {
    /// Evaluates one step of a graph. A result other than a number, integer or function leaves its register empty,
    /// which fails only when the register is read.
    pub(super) fn step(
        &mut self,
        function: &Function,
        captures: &[Value],
        step: &Instruction,
        registers: &mut Registers,
    ) -> Result<(), NoFormula> {
        let given = match &step.op {
            Op::ConstF(c) => vec![Value::Number(Formula::Constant(*c))],
            Op::ConstI(n) => vec![Value::Integer(*n)],
            Op::Copy
            | Op::Take
            | Op::AssertDifferentiable { .. }
            | Op::Operator(Operator::WithoutDerivative { .. })
                if step.ins.len() == step.outs.len() =>
            {
                if matches!(step.op, Op::Operator(_)) {
                    return Err(self.no("it uses 'withoutDerivative'"));
                }
                self.values(registers, &step.ins)?
            }
            Op::Primitive(id) => {
                let operands = self.values(registers, &step.ins)?;
                vec![self.primitive(*id, operands)?]
            }
            Op::Call(id) => {
                let arguments = self.values(registers, &step.ins)?;
                match self.integral(*id, &arguments)? {
                    Some(results) => results,
                    None => self.run(*id, arguments, &[])?,
                }
            }
            Op::CallValue => {
                let all = self.values(registers, &step.ins)?;
                self.call(&all)?
            }
            Op::Closure(id) => vec![Value::Function(*id, self.values(registers, &step.ins)?)],
            Op::Capture { bank, index } => {
                vec![self.capture(function, captures, (*bank, *index), step.outs.first())?]
            }
            Op::LoadGlobal { bank, index } => vec![self.global(*bank, *index)?],
            Op::Operator(Operator::ValueWithTangent { throws: false, .. }) => {
                let all = self.values(registers, &step.ins)?;
                self.tangent(&all)?
            }
            Op::Hold | Op::Access { .. } => vec![],
            op if is_on_arrays(op) => self.array_step(op, &step.ins, registers)?,
            op => return Err(self.no(unreadable(op))),
        };
        for (reg, value) in step.outs.iter().zip(given) {
            static_properties::put(registers, *reg, value);
        }
        Ok(())
    }

    pub(super) fn values(&self, registers: &Registers, regs: &[Reg]) -> Result<Vec<Value>, NoFormula> {
        regs.iter().map(|reg| self.value(registers, *reg)).collect()
    }

    fn capture(
        &mut self,
        function: &Function,
        captures: &[Value],
        (bank, index): (Bank, u16),
        out: Option<&Reg>,
    ) -> Result<Value, NoFormula> {
        let in_bank = captures.iter().filter(|value| bank_of(value) == bank);
        if let Some(value) = in_bank.clone().nth(usize::from(index)) {
            return Ok(value.clone());
        }
        let register = out.and_then(|reg| function.registers.get(reg.0 as usize));
        match (bank, register.and_then(|register| register.name.clone())) {
            (Bank::F, Some(name)) => self.named(&name),
            _ => Err(self.no("the function value is only known at run time")),
        }
    }

    fn global(&mut self, bank: Bank, index: u32) -> Result<Value, NoFormula> {
        let program = self.program;
        match (bank, program.global_names.get(&(bank, index))) {
            (Bank::F, Some(name)) => self.named(name),
            (Bank::R, Some(name)) => match program.function_in_global(index) {
                Some(id) => Ok(Value::Function(id, vec![])),
                None => Err(self.no(format!("it depends on the variable '{name}'"))),
            },
            // The global integer is the flag that states whether a lazy variable was computed.
            (Bank::I, None) => Ok(Value::Integer(1)),
            (Bank::I, Some(name)) => Ok(Value::IntegerVariable(Rc::clone(name))),
            (_, None) => Err(self.no("it uses values other than numbers")),
        }
    }
}

pub(super) fn bank_of(value: &Value) -> Bank {
    match value {
        Value::Number(_) => Bank::F,
        Value::Integer(_) | Value::IntegerVariable(_) | Value::Truth(..) => Bank::I,
        Value::Function(..) | Value::Array(_) | Value::Elements(_) => Bank::R,
        Value::Unread(bank) => *bank,
    }
}

/// Describes a step that no formula can express.
fn unreadable(op: &Op) -> &'static str {
    match op {
        Op::NewBox | Op::LoadBox { .. } | Op::StoreBox { .. } | Op::TakeBox { .. } => "it uses a captured variable",
        Op::StoreGlobal { .. } => "it modifies a global variable",
        Op::Operator(_) => "it uses a differential operator",
        _ => "it uses values other than numbers",
    }
}
