//! The partials of elementwise functions of one operand.

use super::algebra::{Algebra, Constants, Varied};
use super::builder::{Builder, in_one_pass};
use super::evaluator::TensorValue;
use super::propagation::Propagation;
use crate::native::library::Failure;
use crate::tensor::{Binary, Comparison, Unary};
use crate::value::Slot;
use std::f64::consts::{FRAC_2_SQRT_PI, LN_2, LN_10};

/// The constants of `selu`: the scale, and the scale times the factor of the exponential part.
pub(super) const SELU_SCALE: f64 = 1.050_700_987_355_480_5;
pub(super) const SELU_FACTOR: f64 = 1.758_099_340_847_376_6;

/// The constants of `gelu`.
const GELU_SCALE: f64 = 0.797_884_560_802_865_4;
const GELU_CUBE: f64 = 0.044715;

/// How a tangent or an adjoint is combined with the partial of a function.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// The partial is zero everywhere.
    Zero,
    /// The partial is a factor of 1 or -1, or selects numbers; it is applied to the tangent itself.
    Direct,
    /// The tangent is multiplied by the partial.
    Factor,
    /// The tangent is divided by the reciprocal of the partial.
    Divisor,
}

fn form(function: Unary) -> Form {
    use Unary::*;
    match function {
        Sign | Floor | Ceil | Round => Form::Zero,
        Negate | Relu | Relu6 | HardSigmoid => Form::Direct,
        Log | Log2 | Log10 | Log1p | Asin | Acos | Atan | Asinh | Acosh | Atanh | Sqrt | Softsign | Log1mexp => {
            Form::Divisor
        }
        _ => Form::Factor,
    }
}

/// Returns `g` times the partial of a function at `x` with the value `y`; `None` if the partial is zero everywhere.
pub(super) fn apply(
    function: Unary,
    g: TensorValue,
    x: &TensorValue,
    y: &TensorValue,
    b: &mut Builder<'_>,
) -> Result<Option<TensorValue>, Failure> {
    if form(function) == Form::Zero {
        return Ok(None);
    }
    if function == Unary::Negate {
        return b.negative(g).map(Some);
    }
    // Values that are constant in every level need not be recorded, and are computed in one pass.
    if [&g, x, y].iter().all(|value| value.slot == Slot::NONE) {
        return of_constants(function, g, x, y, b.propagation).map(Some);
    }
    let nothing = b.propagation.nothing();
    let mut algebra = Varied { kind: g.tensor.kind(), builder: b };
    match form(function) {
        Form::Zero | Form::Direct => direct(function, g, (x, nothing), &mut algebra),
        Form::Factor => {
            let partial = partial(function, x.clone(), y.clone(), &mut algebra)?;
            b.product(g, partial)
        }
        Form::Divisor => {
            let divisor = divisor(function, x.clone(), y.clone(), &mut algebra)?;
            b.quotient(g, divisor)
        }
    }
    .map(Some)
}

/// Computes the formula of [`apply`] for values that are constant in every level.
fn of_constants(
    function: Unary,
    g: TensorValue,
    x: &TensorValue,
    y: &TensorValue,
    propagation: Propagation,
) -> Result<TensorValue, Failure> {
    in_one_pass(g, [x, y], |steps, g, [x, y]| {
        let mut algebra = Constants(steps);
        match form(function) {
            Form::Zero | Form::Direct => direct(function, g, (&x, propagation.nothing()), &mut algebra),
            Form::Factor => {
                let partial = partial(function, x, y, &mut algebra)?;
                Ok(propagation.product(steps, g, partial))
            }
            Form::Divisor => {
                let divisor = divisor(function, x, y, &mut algebra)?;
                Ok(propagation.quotient(steps, g, divisor))
            }
        }
    })
}

/// Returns `g` where a partial is 1, times a constant factor, and the number `nothing` elsewhere.
fn direct<A: Algebra>(
    function: Unary,
    g: A::Value,
    (x, nothing): (&A::Value, f64),
    a: &mut A,
) -> Result<A::Value, Failure> {
    match function {
        Unary::Relu => a.replaced(g, x, (Comparison::LessEqual, 0.0), nothing),
        Unary::Relu6 => a.within(g, (x, nothing), 0.0, 6.0),
        _ => {
            let inside = a.within(g, (x, nothing), -3.0, 3.0)?;
            a.scaled(inside, 1.0 / 6.0)
        }
    }
}

/// Returns the reciprocal of the partial of a function.
fn divisor<A: Algebra>(function: Unary, x: A::Value, y: A::Value, a: &mut A) -> Result<A::Value, Failure> {
    match function {
        Unary::Log => Ok(x),
        Unary::Log2 => a.scaled(x, LN_2),
        Unary::Log10 => a.scaled(x, LN_10),
        Unary::Log1p => a.plus(x, 1.0),
        Unary::Sqrt => a.scaled(y, 2.0),
        Unary::Softsign => {
            let size = a.unary(Unary::Abs, x)?;
            let size = a.plus(size, 1.0)?;
            a.squared(size)
        }
        Unary::Log1mexp => {
            let negative = a.negate(x)?;
            let difference = a.unary(Unary::Expm1, negative)?;
            a.negate(difference)
        }
        _ => {
            let square = a.squared(x)?;
            let inner = match function {
                Unary::Asin | Unary::Acos | Unary::Atanh => a.minus_from(1.0, square)?,
                Unary::Acosh => a.plus(square, -1.0)?,
                _ => a.plus(square, 1.0)?,
            };
            match function {
                Unary::Asin | Unary::Asinh | Unary::Acosh => a.unary(Unary::Sqrt, inner),
                Unary::Acos => {
                    let root = a.unary(Unary::Sqrt, inner)?;
                    a.negate(root)
                }
                _ => Ok(inner),
            }
        }
    }
}

/// Returns the partial of a function.
fn partial<A: Algebra>(function: Unary, x: A::Value, y: A::Value, a: &mut A) -> Result<A::Value, Failure> {
    match function {
        Unary::Abs => a.unary(Unary::Sign, x),
        Unary::Squared => a.scaled(x, 2.0),
        Unary::Reciprocal => {
            let square = a.squared(y)?;
            a.negate(square)
        }
        Unary::Rsqrt => {
            let square = a.squared(y.clone())?;
            let cube = a.multiply(square, y)?;
            a.scaled(cube, -0.5)
        }
        Unary::Exp => Ok(y),
        Unary::Exp2 => a.scaled(y, LN_2),
        Unary::Exp10 => a.scaled(y, LN_10),
        Unary::Expm1 => a.plus(y, 1.0),
        Unary::Sin => a.unary(Unary::Cos, x),
        Unary::Cos => {
            let sine = a.unary(Unary::Sin, x)?;
            a.negate(sine)
        }
        Unary::Tan => {
            let square = a.squared(y)?;
            a.plus(square, 1.0)
        }
        Unary::Sinh => a.unary(Unary::Cosh, x),
        Unary::Cosh => a.unary(Unary::Sinh, x),
        Unary::Tanh => {
            let square = a.squared(y)?;
            a.minus_from(1.0, square)
        }
        Unary::Erf | Unary::Erfc => {
            let square = a.squared(x)?;
            let negative = a.negate(square)?;
            let bell = a.unary(Unary::Exp, negative)?;
            a.scaled(bell, if function == Unary::Erf { FRAC_2_SQRT_PI } else { -FRAC_2_SQRT_PI })
        }
        Unary::Gamma => {
            let order = a.number(0.0);
            let digamma = a.binary(Binary::Polygamma, x, order)?;
            a.multiply(digamma, y)
        }
        Unary::LogGamma => {
            let order = a.number(0.0);
            a.binary(Binary::Polygamma, x, order)
        }
        Unary::Sigmoid => {
            let rest = a.minus_from(1.0, y.clone())?;
            a.multiply(rest, y)
        }
        Unary::LogSigmoid => {
            let negative = a.negate(x)?;
            a.unary(Unary::Sigmoid, negative)
        }
        Unary::Softplus => a.unary(Unary::Sigmoid, x),
        Unary::Elu => {
            let exponential = a.plus(y, 1.0)?;
            a.replaced(exponential, &x, (Comparison::GreaterEqual, 0.0), 1.0)
        }
        Unary::Selu => {
            let exponential = a.plus(y, SELU_FACTOR)?;
            a.replaced(exponential, &x, (Comparison::GreaterEqual, 0.0), SELU_SCALE)
        }
        Unary::Gelu => gelu(x, a),
        Unary::Swish => {
            // σ(x) + y · (1 - σ(x))
            let sigmoid = a.unary(Unary::Sigmoid, x)?;
            let rest = a.minus_from(1.0, sigmoid.clone())?;
            let product = a.multiply(rest, y)?;
            a.add(product, sigmoid)
        }
        Unary::Mish => {
            // t + x · (1 - t²) · σ(x) for t = tanh(softplus(x))
            let soft = a.unary(Unary::Softplus, x.clone())?;
            let t = a.unary(Unary::Tanh, soft)?;
            let square = a.squared(t.clone())?;
            let inner = a.minus_from(1.0, square)?;
            let sigmoid = a.unary(Unary::Sigmoid, x.clone())?;
            let product = a.multiply(inner, sigmoid)?;
            let product = a.multiply(product, x)?;
            a.add(product, t)
        }
        Unary::HardSwish => {
            // relu6(x + 3) / 6 + x · [-3 < x < 3] / 6
            let moved = a.plus(x.clone(), 3.0)?;
            let gate = a.unary(Unary::Relu6, moved)?;
            let inside = a.within(x.clone(), (&x, 0.0), -3.0, 3.0)?;
            let sum = a.add(gate, inside)?;
            a.scaled(sum, 1.0 / 6.0)
        }
        _ => unreachable!("the other functions have a divisor, or are applied to the tangent itself"),
    }
}

/// Returns `0.5(1 + t) + 0.5x(1 - t²) · c(1 + 3dx²)` for `t = tanh(c(x + dx³))`.
fn gelu<A: Algebra>(x: A::Value, a: &mut A) -> Result<A::Value, Failure> {
    let square = a.squared(x.clone())?;
    let inner = a.scaled(square.clone(), GELU_CUBE * GELU_SCALE)?;
    let inner = a.plus(inner, GELU_SCALE)?;
    let inner = a.multiply(inner, x.clone())?;
    let t = a.unary(Unary::Tanh, inner)?;
    let partial = a.scaled(square, 3.0 * GELU_CUBE * GELU_SCALE)?;
    let partial = a.plus(partial, GELU_SCALE)?;
    let partial = a.multiply(partial, x)?;
    let squared = a.squared(t.clone())?;
    let rest = a.minus_from(1.0, squared)?;
    let product = a.multiply(rest, partial)?;
    let sum = a.add(product, t)?;
    let sum = a.plus(sum, 1.0)?;
    a.scaled(sum, 0.5)
}
