//! The partials of elementwise functions of one operand.

use super::builder::{Builder, Built, compared, constant};
use super::evaluator::TensorValue;
use crate::native::library::Failure;
use crate::tensor::{Binary, Comparison, Logical, Unary};
use std::f64::consts::{LN_2, LN_10, PI};

/// The constants of `selu`: the scale, and the scale times the factor of the exponential part.
const SELU_SCALE: f64 = 1.050_700_987_355_480_5;
const SELU_FACTOR: f64 = 1.758_099_340_847_376_6;

/// The constants of `gelu`.
const GELU_SCALE: f64 = 0.797_884_560_802_865_4;
const GELU_CUBE: f64 = 0.044715;

/// Returns `g` times the partial of a function at `x` with the value `y`; `None` if the partial is zero everywhere.
pub(super) fn apply(
    function: Unary,
    g: TensorValue,
    x: &TensorValue,
    y: &TensorValue,
    b: &mut Builder<'_>,
) -> Result<Option<TensorValue>, Failure> {
    let (x, y) = (x.clone(), y.clone());
    Ok(Some(match function {
        Unary::Sign | Unary::Floor | Unary::Ceil | Unary::Round => return Ok(None),
        Unary::Negate => b.negate(g)?,
        Unary::Abs => {
            let sign = b.unary(Unary::Sign, x)?;
            b.multiply(g, sign)?
        }
        Unary::Squared => {
            let twice = b.scaled(x, 2.0)?;
            b.product(g, twice)?
        }
        Unary::Relu => b.select(compared(&x.tensor, Comparison::LessEqual, 0.0)?, g, 0.0)?,
        Unary::Relu6 => within(g, &x, 0.0, 6.0, b)?,
        Unary::HardSigmoid => {
            let inside = within(g, &x, -3.0, 3.0, b)?;
            b.scaled(inside, 1.0 / 6.0)?
        }
        Unary::Log
        | Unary::Log2
        | Unary::Log10
        | Unary::Log1p
        | Unary::Asin
        | Unary::Acos
        | Unary::Atan
        | Unary::Asinh
        | Unary::Acosh
        | Unary::Atanh
        | Unary::Sqrt
        | Unary::Softsign
        | Unary::Log1mexp => {
            let divisor = divisor(function, x, y, b)?;
            b.quotient(g, divisor)?
        }
        _ => {
            let partial = partial(function, x, y, b)?;
            b.product(g, partial)?
        }
    }))
}

/// Returns the numbers of `g` where `x` lies between two bounds, and zeros elsewhere.
fn within(g: TensorValue, x: &TensorValue, low: f64, high: f64, b: &mut Builder<'_>) -> Built {
    let below = compared(&x.tensor, Comparison::LessEqual, low)?;
    let above = compared(&x.tensor, Comparison::GreaterEqual, high)?;
    b.select(below.logical(Logical::Or, &above)?, g, 0.0)
}

/// Returns the reciprocal of the partial of a function.
fn divisor(function: Unary, x: TensorValue, y: TensorValue, b: &mut Builder<'_>) -> Built {
    match function {
        Unary::Log => Ok(x),
        Unary::Log2 => b.scaled(x, LN_2),
        Unary::Log10 => b.scaled(x, LN_10),
        Unary::Log1p => b.plus(x, 1.0),
        Unary::Sqrt => b.scaled(y, 2.0),
        Unary::Softsign => {
            let size = b.unary(Unary::Abs, x)?;
            let size = b.plus(size, 1.0)?;
            b.unary(Unary::Squared, size)
        }
        Unary::Log1mexp => {
            let negative = b.negate(x)?;
            let difference = b.unary(Unary::Expm1, negative)?;
            b.negate(difference)
        }
        _ => {
            let square = b.unary(Unary::Squared, x)?;
            let inner = match function {
                Unary::Asin | Unary::Acos | Unary::Atanh => b.minus_from(1.0, square)?,
                Unary::Acosh => b.plus(square, -1.0)?,
                _ => b.plus(square, 1.0)?,
            };
            match function {
                Unary::Asin | Unary::Asinh | Unary::Acosh => b.unary(Unary::Sqrt, inner),
                Unary::Acos => {
                    let root = b.unary(Unary::Sqrt, inner)?;
                    b.negate(root)
                }
                _ => Ok(inner),
            }
        }
    }
}

/// Returns the partial of a function.
fn partial(function: Unary, x: TensorValue, y: TensorValue, b: &mut Builder<'_>) -> Built {
    match function {
        Unary::Reciprocal => {
            let square = b.unary(Unary::Squared, y)?;
            b.negate(square)
        }
        Unary::Rsqrt => {
            let square = b.unary(Unary::Squared, y.clone())?;
            let cube = b.multiply(square, y)?;
            b.scaled(cube, -0.5)
        }
        Unary::Exp => Ok(y),
        Unary::Exp2 => b.scaled(y, LN_2),
        Unary::Exp10 => b.scaled(y, LN_10),
        Unary::Expm1 => b.plus(y, 1.0),
        Unary::Sin => b.unary(Unary::Cos, x),
        Unary::Cos => {
            let sine = b.unary(Unary::Sin, x)?;
            b.negate(sine)
        }
        Unary::Tan => {
            let square = b.unary(Unary::Squared, y)?;
            b.plus(square, 1.0)
        }
        Unary::Sinh => b.unary(Unary::Cosh, x),
        Unary::Cosh => b.unary(Unary::Sinh, x),
        Unary::Tanh => {
            let square = b.unary(Unary::Squared, y)?;
            b.minus_from(1.0, square)
        }
        Unary::Erf => {
            let square = b.unary(Unary::Squared, x)?;
            let negative = b.negate(square)?;
            let bell = b.unary(Unary::Exp, negative)?;
            b.scaled(bell, 2.0 / PI.sqrt())
        }
        Unary::Sigmoid => {
            let square = b.unary(Unary::Squared, y.clone())?;
            b.subtract(y, square)
        }
        Unary::LogSigmoid => {
            let negative = b.negate(x)?;
            b.unary(Unary::Sigmoid, negative)
        }
        Unary::Softplus => b.unary(Unary::Sigmoid, x),
        Unary::Elu => {
            let positive = compared(&x.tensor, Comparison::GreaterEqual, 0.0)?;
            let exponential = b.plus(y, 1.0)?;
            b.select(positive, exponential, 1.0)
        }
        Unary::Selu => {
            let positive = compared(&x.tensor, Comparison::GreaterEqual, 0.0)?;
            let exponential = b.plus(y, SELU_FACTOR)?;
            b.select(positive, exponential, SELU_SCALE)
        }
        Unary::Gelu => gelu(x, b),
        Unary::Swish => {
            // σ(x) + y · (1 - σ(x))
            let sigmoid = b.unary(Unary::Sigmoid, x)?;
            let rest = b.minus_from(1.0, sigmoid.clone())?;
            let product = b.multiply(rest, y)?;
            b.add(product, sigmoid)
        }
        Unary::Mish => {
            // t + x · (1 - t²) · σ(x) for t = tanh(softplus(x))
            let soft = b.unary(Unary::Softplus, x.clone())?;
            let t = b.unary(Unary::Tanh, soft)?;
            let square = b.unary(Unary::Squared, t.clone())?;
            let inner = b.minus_from(1.0, square)?;
            let sigmoid = b.unary(Unary::Sigmoid, x.clone())?;
            let product = b.multiply(inner, sigmoid)?;
            let product = b.multiply(product, x)?;
            b.add(product, t)
        }
        Unary::HardSwish => {
            // relu6(x + 3) / 6 + x · [-3 < x < 3] / 6
            let moved = b.plus(x.clone(), 3.0)?;
            let gate = b.unary(Unary::Relu6, moved)?;
            let inside = within(x.clone(), &x, -3.0, 3.0, b)?;
            let sum = b.add(gate, inside)?;
            b.scaled(sum, 1.0 / 6.0)
        }
        _ => unreachable!("the other functions have a divisor, or a rule of their own"),
    }
}

/// Returns `0.5(1 + t) + 0.5x(1 - t²) · c(1 + 3dx²)` for `t = tanh(c(x + dx³))`.
fn gelu(x: TensorValue, b: &mut Builder<'_>) -> Built {
    let kind = x.tensor.kind();
    let square = b.unary(Unary::Squared, x.clone())?;
    let inner = b.scaled(square.clone(), GELU_CUBE * GELU_SCALE)?;
    let inner = b.plus(inner, GELU_SCALE)?;
    let inner = b.multiply(inner, x.clone())?;
    let t = b.unary(Unary::Tanh, inner)?;
    let slope = b.scaled(square, 3.0 * GELU_CUBE * GELU_SCALE)?;
    let slope = b.plus(slope, GELU_SCALE)?;
    let slope = b.multiply(slope, x)?;
    let squared = b.unary(Unary::Squared, t.clone())?;
    let rest = b.minus_from(1.0, squared)?;
    let product = b.multiply(rest, slope)?;
    let sum = b.add(product, t)?;
    let sum = b.plus(sum, 1.0)?;
    b.binary(Binary::Multiply, sum, constant(kind, 0.5))
}
