//! Probe: the derivatives of a function at a point by forward mode and by finite differences, and the function at other
//! points.

use crate::diagnostic::Diagnostic;
use crate::session::explain::point;
use crate::session::explain::point::Point;
use crate::session::{Explanation, Quantity, Session};
use crate::value::opaque_vector;
use crate::vm::operators::check::finite_difference;
use crate::vm::operators::check::finite_difference::{Estimate, unit};

/// The number of step sizes of the central differences, each a tenth of the previous one.
pub const STEPS: usize = 12;

/// The derivatives of a function with respect to one number.
#[derive(Clone, PartialEq, Debug)]
pub struct Probe {
    /// The derivative by forward mode.
    pub forward: f64,
    /// The central difference for each step size.
    pub central: Vec<f64>,
    /// The derivative by extrapolated differences; `None` where the differences are inconclusive.
    pub limit: Option<Estimate>,
}

impl Session {
    /// Returns the derivatives with respect to each of the numbers that an explanation of the point has as inputs.
    ///
    /// # Errors
    /// Returns the diagnostics when the function or the arguments do not compile, or the run fails.
    pub fn probe(&mut self, point: &Point<'_>, inputs: &[Quantity]) -> Result<Vec<Probe>, Vec<Diagnostic>> {
        let function = self.function_at(point)?;
        let joined = point::joined(point, &function);
        let limit_steps: Vec<f64> =
            std::iter::once(0.0).chain(finite_difference::steps().flat_map(|h| [h, -h])).collect();
        let central_steps = (1..=STEPS).flat_map(|n| {
            let h = 10_f64.powi(-(n as i32));
            [h, -h]
        });
        let central_steps: Vec<f64> = central_steps.collect();
        let offsets = inputs.iter().map(|input| {
            let size = unit(input.value);
            let all = central_steps.iter().copied().chain(limit_steps.iter().map(|t| t * size));
            format!("[{}]", all.map(|x| format!("{x:?}")).collect::<Vec<_>>().join(", "))
        });
        let offsets = offsets.collect::<Vec<_>>().join(", ");
        let text = joined.argument.empty().code("_probed(").append(&joined.argument).code(&format!(", [{offsets}], "));
        let numbers = self.numbers_of(point::NAME, &text.append(&joined.function).code(")"))?;
        let all = numbers.chunks(1 + central_steps.len() + limit_steps.len());
        let probe = |(input, numbers): (&Quantity, &[f64])| {
            let (forward, rest) = numbers.split_first()?;
            let (central, rest) = rest.split_at_checked(central_steps.len())?;
            let central = central.chunks(2).zip(central_steps.chunks(2)).map(|(y, h)| (y[0] - y[1]) / (2.0 * h[0]));
            Some(Probe {
                forward: *forward,
                central: central.collect(),
                limit: extrapolated(&limit_steps, rest, unit(input.value)),
            })
        };
        Ok(inputs.iter().zip(all).filter_map(probe).collect())
    }

    /// Returns the inputs of an explanation of the point with the scalars of a tensor instead of the tensor.
    ///
    /// # Errors
    /// Returns the diagnostics when the function or the arguments do not compile, or the run fails.
    pub fn scalar_inputs(&mut self, point: &Point<'_>, inputs: &[Quantity]) -> Result<Vec<Quantity>, Vec<Diagnostic>> {
        let is_tensor = |input: &Quantity| opaque_vector::is(input.value);
        if !inputs.iter().any(is_tensor) {
            return Ok(inputs.to_vec());
        }
        let function = self.function_at(point)?;
        let joined = point::joined(point, &function);
        let start = joined.argument.empty().code("_numbersAndGradient(").append(&joined.argument).code(", ");
        let numbers = self.numbers_of(point::NAME, &start.append(&joined.function).code(")"))?;
        let (values, adjoints) = numbers.split_at(numbers.len() / 2);
        let names = inputs.iter().flat_map(|input| match &input.tensors.value {
            Some(tensor) => {
                let count: usize = tensor.shape.iter().product();
                (0..count).map(|k| format!("{}.scalars[{k}]", input.name)).collect()
            }
            None => vec![input.name.clone()],
        });
        let quantity = |((name, value), adjoint): ((String, &f64), &f64)| Quantity {
            name,
            value: *value,
            adjoint: *adjoint,
            ..Quantity::default()
        };
        Ok(names.zip(values).zip(adjoints).map(quantity).collect())
    }

    /// Explains the derivative at a point whose numbers are changed by `steps`: a list of expressions, one for each
    /// number.
    ///
    /// # Errors
    /// Returns the diagnostics when the function, the arguments or the steps do not compile, or the run fails.
    pub fn explain_moved(&mut self, point: &Point<'_>, steps: &str) -> Result<Explanation, Vec<Diagnostic>> {
        let function = self.function_at(point)?;
        let joined = point::joined(point, &function);
        let moved =
            joined.argument.empty().code("_nudged(").append(&joined.argument).code(", [").part(steps).code("])");
        self.explain_at(point.function, &moved, &joined.function, &function.names)
    }
}

/// Estimates the derivative from the values of a function at some multiples of `size` beside a point.
fn extrapolated(steps: &[f64], values: &[f64], size: f64) -> Option<Estimate> {
    let at = |t: f64| steps.iter().position(|step| *step == t).and_then(|i| values.get(i)).copied();
    let middle = at(0.0).unwrap_or(f64::NAN);
    let mut value = |t: f64| Ok::<_, ()>(at(t).filter(|y| y.is_finite()));
    let found = finite_difference::derivative((middle, middle.abs()), &mut value).ok().flatten()?;
    Some(Estimate { derivative: found.derivative / size, error_bound: found.error_bound / size })
}
