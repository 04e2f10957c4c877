//! Primitive: evaluates an applied primitive with formulas as operands.

use super::{Evaluator, NoFormula, Value};
use crate::native::field::{OrderOffset, Test};
use crate::native::formula::Formula;
use crate::native::{PrimitiveId, primitive_ids};
use crate::value::Bank;

impl Evaluator<'_> {
    pub(super) fn primitive(&mut self, id: PrimitiveId, operands: Vec<Value>) -> Result<Value, NoFormula> {
        let primitive = id.info();
        match (&operands[..], primitive.result) {
            ([Value::IntegerVariable(name)], _) if id == primitive_ids::FROM_INT => self.named(name),
            ([Value::Number(x), Value::IntegerVariable(name)], _) if id == primitive_ids::POWI => {
                let Value::Number(exponent) = self.named(name)? else { return Err(self.no("it uses an integer")) };
                self.number(Formula::Apply(primitive_ids::POW, vec![x.clone(), exponent], OrderOffset(0)))
            }
            (all, _) if all.iter().any(|value| matches!(value, Value::IntegerVariable(_))) => {
                let names = all.iter().find_map(|value| match value {
                    Value::IntegerVariable(name) => Some(name),
                    _ => None,
                });
                Err(self.no(format!("it depends on the variable '{}'", names.map_or("", |name| name))))
            }
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
                let formula = match <[Formula; 2]>::try_from(numbers) {
                    Ok([a, b]) if id == primitive_ids::ADD => self.added(a, b)?,
                    Ok(pair) => Formula::Apply(id, pair.into(), OrderOffset(n)),
                    Err(numbers) => Formula::Apply(id, numbers, OrderOffset(n)),
                };
                self.number(formula)
            }
            ([Value::Number(a), Value::Number(b)], _) => match test(id, a, b) {
                Some((test, is_opposite)) => Ok(Value::Truth(test, is_opposite)),
                None => Err(self.no(format!("it uses '{}'", primitive.symbol))),
            },
            ([Value::Integer(a)], _) => self.known_integer(primitive.integer(&[*a])),
            ([Value::Integer(a), Value::Integer(b)], _) => self.known_integer(primitive.integer(&[*a, *b])),
            ([Value::Truth(test, is_opposite), Value::Integer(0)], _) if id == primitive_ids::INT_EQ => {
                Ok(Value::Truth(test.clone(), !is_opposite))
            }
            ([Value::Truth(test, is_opposite)], _) if primitive.symbol == "not" => {
                Ok(Value::Truth(test.clone(), !is_opposite))
            }
            _ => Err(self.no(format!("it uses '{}'", primitive.symbol))),
        }
    }

    fn known_integer(&self, n: Option<i64>) -> Result<Value, NoFormula> {
        n.map(Value::Integer).ok_or_else(|| self.no("it uses an integer whose value is not known"))
    }
}

fn as_number(value: Value) -> Option<Formula> {
    if let Value::Number(formula) = value { Some(formula) } else { None }
}

/// Returns the condition that a comparison computes, and whether the comparison is the negation of this condition.
fn test(id: PrimitiveId, a: &Formula, b: &Formula) -> Option<(Test<Formula>, bool)> {
    let (a, b) = (a.clone(), b.clone());
    Some(match id {
        primitive_ids::EQ => (Test::Equal(a, b), false),
        primitive_ids::NE => (Test::Equal(a, b), true),
        primitive_ids::LT => (Test::Less(a, b), false),
        primitive_ids::LE => (Test::AtMost(a, b), false),
        primitive_ids::GT => (Test::Less(b, a), false),
        primitive_ids::GE => (Test::AtMost(b, a), false),
        _ => return None,
    })
}
