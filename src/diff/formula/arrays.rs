//! Arrays: evaluates the steps of a function on arrays, whose indices must be known.

use super::step::bank_of;
use super::{Evaluator, NoFormula, Registers, Value};
use crate::ir::{Op, Reg};
use crate::native::formula::Formula;
use crate::value::{Bank, Constants};
use std::rc::Rc;

/// Whether a step reads or makes an array.
pub(super) fn is_on_arrays(op: &Op) -> bool {
    matches!(
        op,
        Op::NewArray(_)
            | Op::Append(_)
            | Op::Count
            | Op::CheckIndex
            | Op::LoadElement { .. }
            | Op::StoreElement { .. }
            | Op::Constants(_)
            | Op::Native { name: "array.reserve", .. }
    )
}

impl Evaluator<'_> {
    /// Returns the results of a step on arrays.
    pub(super) fn array_step(&mut self, op: &Op, ins: &[Reg], registers: &Registers) -> Result<Vec<Value>, NoFormula> {
        let operands = self.values(registers, ins)?;
        match (op, operands.as_slice()) {
            (Op::NewArray(_), _) => Ok(vec![Value::Array(vec![])]),
            (Op::Append(_), [Value::Array(elements), components @ ..]) => {
                let mut elements = elements.clone();
                elements.push(components.to_vec());
                Ok(vec![Value::Array(elements)])
            }
            (Op::Count, [Value::Array(elements)]) => Ok(vec![Value::Integer(elements.len() as i64)]),
            (Op::Count, [Value::Elements(name)]) => {
                Err(self.no(format!("it depends on the number of elements of '{name}'")))
            }
            (Op::CheckIndex, _) => Ok(vec![]),
            (Op::Native { .. }, [array, ..]) => Ok(vec![array.clone()]),
            (Op::LoadElement { bank, offset, .. }, [array, index]) => {
                let Value::Integer(index) = index else {
                    return Err(self.no("it uses an index that depends on numbers"));
                };
                match array {
                    Value::Elements(name) if *bank == Bank::F => Ok(vec![self.element(name, *index)?]),
                    Value::Array(elements) => {
                        let element = usize::try_from(*index).ok().and_then(|index| elements.get(index));
                        let Some(element) = element else {
                            return Err(self.no("it reads an element that does not exist"));
                        };
                        let mut in_bank = element.iter().filter(|component| bank_of(component) == *bank);
                        let component = in_bank.nth(usize::from(*offset)).cloned();
                        Ok(vec![component.ok_or_else(|| self.no("it uses values other than numbers"))?])
                    }
                    _ => Err(self.no("it uses values other than numbers")),
                }
            }
            (Op::StoreElement { bank, offset, .. }, [Value::Array(elements), Value::Integer(index), value]) => {
                let mut elements = elements.clone();
                let element = usize::try_from(*index).ok().and_then(|index| elements.get_mut(index));
                let mut in_bank = element.into_iter().flatten().filter(|component| bank_of(component) == *bank);
                match in_bank.nth(usize::from(*offset)) {
                    Some(component) => *component = value.clone(),
                    None => return Err(self.no("it changes an element that does not exist")),
                }
                Ok(vec![Value::Array(elements)])
            }
            (Op::Constants(constants), _) => Ok(vec![Value::Array(match &**constants {
                Constants::Numbers(all) => all.iter().map(|c| vec![Value::Number(Formula::Constant(*c))]).collect(),
                Constants::Integers(all) => all.iter().map(|n| vec![Value::Integer(*n)]).collect(),
            })]),
            (Op::StoreElement { .. } | Op::Append(_), [Value::Elements(name), ..]) => {
                Err(self.no(format!("it changes the array '{name}'")))
            }
            _ => Err(self.no("it uses values other than numbers")),
        }
    }

    /// Returns an element of an array parameter.
    fn element(&mut self, name: &Rc<str>, index: i64) -> Result<Value, NoFormula> {
        let value = self.named(&format!("{name}[{index}]"))?;
        if let Value::Number(Formula::Operand(k)) = &value
            && !self.elements.iter().any(|(_, _, own)| own == k)
        {
            self.elements.push((name.clone(), index, *k));
        }
        Ok(value)
    }
}
