//! Calls: evaluates calls of function values, and derivatives inside formulas.

use super::{Evaluator, NoFormula, Value};
use crate::native::formula::{Formula, folded};

impl Evaluator<'_> {
    /// Evaluates the call of a function value; `all` holds the function and its arguments.
    pub(super) fn call(&mut self, all: &[Value]) -> Result<Vec<Value>, NoFormula> {
        match all.split_first() {
            Some((Value::Function(id, captures), arguments)) => self.run(*id, arguments.to_vec(), captures),
            _ => Err(self.no("it uses values other than numbers")),
        }
    }

    /// Differentiates a function: `all` holds a number, its tangent and the function; the results are the value and its
    /// tangent.
    pub(super) fn tangent(&mut self, all: &[Value]) -> Result<Vec<Value>, NoFormula> {
        let [Value::Number(x), Value::Number(dx), body] = all else {
            return Err(self.no("it differentiates with respect to several numbers"));
        };
        let k = self.variable(&format!("·{}", self.names.len()))?;
        let results = self.call(&[body.clone(), Value::Number(Formula::Operand(k))])?;
        let [Value::Number(y)] = &results[..] else {
            return Err(self.no("it differentiates a function with several results"));
        };
        let partial =
            y.derivative(k).map_err(|primitive| self.no(format!("'{}' has no derivative", primitive.symbol)))?;
        let there =
            |formula: &Formula| formula.with_operands(&|own| if own == k { x.clone() } else { Formula::Operand(own) });
        let tangent = folded(&(there(&partial) * dx.clone()));
        Ok(vec![self.number(there(y))?, self.number(tangent)?])
    }
}
