//! Step: evaluates one step of a graph.

use super::{Evaluator, NoFormula, Registers, Value, static_properties};
use crate::ir::{Function, Instruction, Op, Operator, Reg};
use crate::native::field::{OrderOffset, Test};
use crate::native::formula::Formula;
use crate::native::{PrimitiveId, ids};
use crate::value::Bank;

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
            Op::Primitive(id) => vec![self.primitive(*id, self.values(registers, &step.ins)?)?],
            Op::Call(id) => {
                let arguments = self.values(registers, &step.ins)?;
                self.run(*id, arguments, &[])?
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
            op => return Err(self.no(unreadable(op))),
        };
        for (reg, value) in step.outs.iter().zip(given) {
            static_properties::put(registers, *reg, value);
        }
        Ok(())
    }

    fn values(&self, registers: &Registers, regs: &[Reg]) -> Result<Vec<Value>, NoFormula> {
        regs.iter().map(|reg| self.value(registers, *reg)).collect()
    }

    fn primitive(&self, id: PrimitiveId, operands: Vec<Value>) -> Result<Value, NoFormula> {
        let primitive = id.info();
        match (&operands[..], primitive.result) {
            ([Value::Integer(n)], Bank::F) => {
                self.number(Formula::Constant(primitive.number(&[], *n).unwrap_or(f64::NAN)))
            }
            (_, Bank::F) => {
                let n = if let Some(Value::Integer(n)) = operands.last() { *n } else { 0 };
                let are_numbers = operands.len() - usize::from(matches!(operands.last(), Some(Value::Integer(_))));
                let numbers: Vec<Formula> = operands.into_iter().filter_map(as_number).collect();
                if numbers.len() != primitive.numbers() || numbers.len() != are_numbers {
                    return Err(self.no("it uses an integer whose value is not known"));
                }
                self.number(Formula::Apply(id, numbers, OrderOffset(n)))
            }
            ([Value::Number(a), Value::Number(b)], _) => match test(id, a, b) {
                Some((test, is_opposite)) => Ok(Value::Truth(test, is_opposite)),
                None => Err(self.no(format!("it uses '{}'", primitive.symbol))),
            },
            ([Value::Integer(a)], _) => self.known_integer(primitive.integer(&[*a])),
            ([Value::Integer(a), Value::Integer(b)], _) => self.known_integer(primitive.integer(&[*a, *b])),
            ([Value::Truth(test, is_opposite), Value::Integer(0)], _) if id == ids::INT_EQ => {
                Ok(Value::Truth(test.clone(), !is_opposite))
            }
            _ => Err(self.no(format!("it uses '{}'", primitive.symbol))),
        }
    }

    fn known_integer(&self, n: Option<i64>) -> Result<Value, NoFormula> {
        n.map(Value::Integer).ok_or_else(|| self.no("it uses an integer whose value is not known"))
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
            (Bank::I, Some(name)) => Err(self.no(format!("it depends on the variable '{name}'"))),
            (_, None) => Err(self.no("it uses values other than numbers")),
        }
    }
}

fn as_number(value: Value) -> Option<Formula> {
    if let Value::Number(formula) = value { Some(formula) } else { None }
}

fn bank_of(value: &Value) -> Bank {
    match value {
        Value::Number(_) => Bank::F,
        Value::Integer(_) | Value::Truth(..) => Bank::I,
        Value::Function(..) => Bank::R,
    }
}

/// Returns the test of a comparison, and whether the comparison is the negation of the test.
fn test(id: PrimitiveId, a: &Formula, b: &Formula) -> Option<(Test<Formula>, bool)> {
    let (a, b) = (a.clone(), b.clone());
    Some(match id {
        ids::EQ => (Test::Equal(a, b), false),
        ids::NE => (Test::Equal(a, b), true),
        ids::LT => (Test::Less(a, b), false),
        ids::LE => (Test::AtMost(a, b), false),
        ids::GT => (Test::Less(b, a), false),
        ids::GE => (Test::AtMost(b, a), false),
        _ => return None,
    })
}

/// Describes a step that no formula can express.
fn unreadable(op: &Op) -> &'static str {
    match op {
        Op::NewArray(_)
        | Op::Append(_)
        | Op::Count
        | Op::CheckIndex
        | Op::LoadElement { .. }
        | Op::StoreElement { .. }
        | Op::TakeElement { .. }
        | Op::Constants(_) => "it uses an array",
        Op::NewBox | Op::LoadBox { .. } | Op::StoreBox { .. } | Op::TakeBox { .. } => "it uses a captured variable",
        Op::StoreGlobal { .. } => "it modifies a global variable",
        Op::Operator(_) => "it uses a differential operator",
        _ => "it uses values other than numbers",
    }
}
