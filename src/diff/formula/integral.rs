//! Integrals: a call of the library's `integral` stays an integral in the formula.

use super::{Evaluator, NoFormula, Value, static_properties};
use crate::ir::FunctionId;
use crate::native::formula::{Bound, BoundKind, Formula};
use crate::value::Bank;

impl Evaluator<'_> {
    /// Returns the results of a call of `_integral` (`prelude/integral.dscript`): success, with the integral as the
    /// first number. `None` for other functions.
    pub(super) fn integral(&mut self, id: FunctionId, arguments: &[Value]) -> Result<Option<Vec<Value>>, NoFormula> {
        let Some(function) = self.program.function(id).filter(|f| f.is_prelude).cloned() else { return Ok(None) };
        if !matches!(static_properties::called(&function), "_integral" | "integral") {
            return Ok(None);
        }
        let [integrand @ Value::Function(inner, _), Value::Number(from), Value::Number(to), ..] = arguments else {
            return Ok(None);
        };
        let name = self.program.function(*inner).and_then(|f| f.parameters.first()).map(|p| p.name.to_string());
        let variable = self.variable(name.as_deref().unwrap_or("t"))?;
        let results = self.call(&[integrand.clone(), Value::Number(Formula::Operand(variable))])?;
        let [Value::Number(body)] = &results[..] else { return Err(self.no("the integrand is not a number")) };
        let (body, from, to) = (body.clone(), from.clone(), to.clone());
        let bound = Bound { kind: BoundKind::Integral, variable, body, from, to };
        let mut integral = Some(self.number(Formula::Bound(Box::new(bound)))?);
        let results = function.results.iter().map(|bank| match bank {
            Bank::F => integral.take().unwrap_or(Value::Unread(Bank::F)),
            // The first case of the result means success.
            Bank::I => Value::Integer(0),
            Bank::R => Value::Unread(Bank::R),
        });
        Ok(Some(results.collect()))
    }
}
