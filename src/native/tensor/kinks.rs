//! Kinks: the scalars at which an operation has no derivative, and its partial is a convention.

use super::evaluator::{PlainEvaluator, TensorValue};
use super::operation::{Axes, Evaluation, Operation};
use super::scalars::{pack, unpack};
use super::unary_rule::{SELU_FACTOR, SELU_SCALE};
use super::view_rule::kept_shape;
use crate::native::OneSidedPartials;
use crate::native::library::Failure;
use crate::tensor::{Binary, Comparison, Fold, ScalarKind, Shape, Tensor, Unary};
use crate::value::Slot;
use std::borrow::Cow;
use std::rc::Rc;

/// Scalars of tensors at a kink of an operation.
#[derive(Clone, PartialEq, Debug)]
pub struct TensorKink {
    /// The name of the operation.
    pub name: &'static str,
    /// The scalars of the operands.
    pub operands: Vec<f64>,
    /// The indices of the scalar in the result, or of equal scalars in the operand.
    pub indices: Vec<Vec<usize>>,
    /// The partials on the left and on the right, and the one that is used; `None` for the comparison of a mask.
    pub partials: Option<[f64; 3]>,
}

/// Returns the partials of an elementwise function on both sides of its kinks.
fn one_sided(operation: &Operation) -> Option<OneSidedPartials> {
    let of_primitive = |name| crate::native::primitive(name).and_then(|id| id.info().one_sided);
    match operation {
        Operation::Unary(function) => match function {
            Unary::Abs => of_primitive("double.abs"),
            Unary::Sign => of_primitive("double.sign"),
            Unary::Floor => of_primitive("double.floor"),
            Unary::Ceil => of_primitive("double.ceil"),
            Unary::Round => of_primitive("double.rint"),
            Unary::Sqrt => of_primitive("double.sqrt"),
            Unary::Asin => of_primitive("double.asin"),
            Unary::Acos => of_primitive("double.acos"),
            Unary::Acosh => of_primitive("double.acosh"),
            Unary::Relu => of_primitive("double.relu"),
            Unary::Relu6 => Some(|_, x| at(x, &[(0.0, [0.0, 1.0]), (6.0, [1.0, 0.0])])),
            Unary::HardSigmoid => Some(|_, x| at(x, &[(-3.0, [0.0, 1.0 / 6.0]), (3.0, [1.0 / 6.0, 0.0])])),
            Unary::HardSwish => Some(|_, x| at(x, &[(-3.0, [0.0, -0.5]), (3.0, [1.5, 1.0])])),
            Unary::Selu => Some(|_, x| at(x, &[(0.0, [SELU_FACTOR, SELU_SCALE])])),
            _ => None,
        },
        Operation::Binary(function) => match function {
            Binary::Max => of_primitive("double.max"),
            Binary::Min => of_primitive("double.min"),
            Binary::Hypot => of_primitive("double.hypot"),
            Binary::Pow => of_primitive("double.pow"),
            Binary::Remainder => of_primitive("double.fmod"),
            Binary::Root => Some(root),
            Binary::LeakyRelu => Some(|k, x| if k == 0 { at(x, &[(0.0, [x[1], 1.0])]) } else { None }),
            _ => None,
        },
        Operation::Clip => Some(clip),
        _ => None,
    }
}

/// Returns the partials beside the first operand, if it is one of some points.
fn at(x: &[f64], points: &[(f64, [f64; 2])]) -> Option<[f64; 2]> {
    points.iter().find(|(point, _)| x[0] == *point).map(|(_, sides)| *sides)
}

/// The partials of the `x[1]`-th root of `x[0]`.
fn root(k: usize, x: &[f64]) -> Option<[f64; 2]> {
    let is_odd = x[1].rem_euclid(2.0) == 1.0;
    let left = if is_odd { f64::INFINITY } else { f64::NAN };
    if k == 0 && x[1] > 1.0 { at(x, &[(0.0, [left, f64::INFINITY])]) } else { None }
}

/// The partials of `x[0]`, limited to the range from `x[1]` to `x[2]`.
fn clip(k: usize, x: &[f64]) -> Option<[f64; 2]> {
    let number = |condition: bool| if condition { 1.0 } else { 0.0 };
    match k {
        0 if x[0] == x[1] || x[0] == x[2] => Some([number(x[0] != x[1]), number(x[0] != x[2])]),
        1 if x[0] == x[1] => Some([0.0, 1.0]),
        2 if x[0] == x[2] => Some([1.0, 0.0]),
        _ => None,
    }
}

impl Operation {
    /// Whether the partials of the operation are zero wherever they exist.
    pub fn is_flat(&self) -> bool {
        matches!(self, Operation::Unary(Unary::Sign | Unary::Floor | Unary::Ceil | Unary::Round))
    }

    /// Returns the first scalars at a kink of the operation, in an operand that varies.
    ///
    /// # Errors
    /// Fails if the operands do not fit the operation, or if the work is canceled.
    pub fn kink(&self, of: Evaluation<'_>, varies: &dyn Fn(usize) -> bool) -> Result<Option<TensorKink>, Failure> {
        match self {
            _ if of.operands.iter().any(|operand| !operand.tensor.kind().is_real()) => Ok(None),
            Operation::Reduce(Fold::Max | Fold::Min, axes) => tie_of_axes(self, axes, of),
            Operation::MaxPool(size, to) => {
                let x = &of.operand(0)?.tensor;
                Ok(x.max_pool_tie(size, &to.window())?.map(|tie| equal_scalars(self.name(), x, tie, 1.0)))
            }
            _ => match one_sided(self) {
                Some(sides) => elementwise_kink(self, sides, of, varies),
                None => Ok(None),
            },
        }
    }
}

/// The scalars of a tensor in row-major order, which are copied only if the tensor stores them in another order.
enum Column<'t> {
    Single(Cow<'t, [f32]>),
    Double(Cow<'t, [f64]>),
}

impl Column<'_> {
    fn of(tensor: &Tensor) -> Result<Column<'_>, Failure> {
        Ok(match tensor.kind() {
            ScalarKind::F32 => Column::Single(tensor.scalars::<f32>()?),
            _ => Column::Double(tensor.scalars::<f64>()?),
        })
    }

    fn number(&self, position: usize) -> f64 {
        match self {
            Column::Single(scalars) => f64::from(scalars[position]),
            Column::Double(scalars) => scalars[position],
        }
    }
}

fn elementwise_kink(
    operation: &Operation,
    sides: OneSidedPartials,
    of: Evaluation<'_>,
    varies: &dyn Fn(usize) -> bool,
) -> Result<Option<TensorKink>, Failure> {
    // The result of `max(x, x)` varies as `x` does, so it is not at a kink.
    if matches!(of.operands, [a, b] if a.slot == b.slot && a.slot != Slot::NONE) {
        return Ok(None);
    }
    let shape = of.result.tensor.shape();
    let mut operands = Vec::with_capacity(of.operands.len());
    for operand in of.operands {
        operands.push(operand.tensor.broadcast_to(shape)?);
    }
    let columns = operands.iter().map(Column::of).collect::<Result<Vec<_>, _>>()?;
    let varied: Vec<usize> = (0..columns.len()).filter(|k| varies(*k)).collect();
    let mut scalars = vec![0.0; columns.len()];
    for position in 0..shape.scalar_count() {
        scalars.iter_mut().zip(&columns).for_each(|(scalar, column)| *scalar = column.number(position));
        let Some((k, [left, right])) = varied.iter().find_map(|k| Some((*k, sides(*k, &scalars)?))) else { continue };
        let partial = partial(operation, k, &scalars, of.result.tensor.kind())?;
        return Ok(Some(TensorKink {
            name: operation.name(),
            operands: scalars,
            indices: vec![index(shape, position)],
            partials: Some([left, right, partial]),
        }));
    }
    Ok(None)
}

/// Returns the partial of an elementwise operation in an operand, by its rule.
fn partial(operation: &Operation, k: usize, scalars: &[f64], kind: ScalarKind) -> Result<f64, Failure> {
    let number = |x: f64| Ok::<_, Failure>(TensorValue::constant(pack(kind, Shape::default(), &[x])?));
    let operands = scalars.iter().map(|x| number(*x)).collect::<Result<Vec<_>, _>>()?;
    let result = operation.evaluate(operands.iter().map(|x| Rc::clone(&x.tensor)))?;
    let of = Evaluation { operands: &operands, result: &TensorValue::constant(result) };
    let found = operation.adjoint(k, of, number(1.0)?, &mut PlainEvaluator)?;
    Ok(match found {
        Some(found) => unpack(&found.tensor)?.first().copied().unwrap_or(0.0),
        None => 0.0,
    })
}

/// Returns two scalars that are both the maximum or the minimum over axes.
fn tie_of_axes(operation: &Operation, axes: &Axes, of: Evaluation<'_>) -> Result<Option<TensorKink>, Failure> {
    let x = &of.operand(0)?.tensor;
    let kept = kept_shape(x.shape(), axes)?;
    let sizes: Vec<isize> = kept.iter().map(|&size| size as isize).collect();
    let is_extremum = x.compare(Comparison::Equal, &of.result.tensor.reshape(&sizes)?)?.cast(ScalarKind::I64)?;
    let counts = is_extremum.sum(axes.axes.as_deref(), true)?.integers()?;
    let Some(number) = counts.iter().position(|count| *count > 1) else { return Ok(None) };
    let mut is_tied = vec![0; counts.len()];
    is_tied[number] = 1;
    let is_tied = Tensor::of_integers(ScalarKind::I64, kept, &is_tied)?;
    let equal = is_extremum.binary(Binary::Multiply, is_tied)?.integers()?;
    let mut positions = (0..equal.len()).filter(|position| equal[*position] == 1);
    let (Some(first), Some(second)) = (positions.next(), positions.next()) else { return Ok(None) };
    Ok(Some(equal_scalars(operation.name(), x, [first, second], 1.0 / counts[number] as f64)))
}

/// Returns a kink at two equal scalars of an operand, of which the first one has a partial.
fn equal_scalars(name: &'static str, x: &Tensor, positions: [usize; 2], partial: f64) -> TensorKink {
    let scalars = unpack(x).unwrap_or_default();
    let sides = if name == Fold::Min.name() { [1.0, 0.0] } else { [0.0, 1.0] };
    TensorKink {
        name,
        operands: positions.iter().map(|position| scalars.get(*position).copied().unwrap_or(f64::NAN)).collect(),
        indices: positions.iter().map(|position| index(x.shape(), *position)).collect(),
        partials: Some([sides[0], sides[1], partial]),
    }
}

/// Returns two equal scalars that a comparison of tensors compares: a mask that is computed from them changes there.
///
/// # Errors
/// Fails if the tensors cannot be broadcast, or if the work is canceled.
pub fn equal_operands(comparison: Comparison, a: &Tensor, b: &Tensor) -> Result<Option<TensorKink>, Failure> {
    let is_order = !matches!(comparison, Comparison::Equal | Comparison::NotEqual);
    if !is_order || !a.kind().is_real() {
        return Ok(None);
    }
    let equal = a.compare(Comparison::Equal, b)?;
    let Some(position) = equal.scalars::<bool>()?.iter().position(|is_equal| *is_equal) else { return Ok(None) };
    let mut operands = vec![];
    for operand in [a, b] {
        operands.extend(unpack(&operand.broadcast_to(equal.shape())?)?.get(position));
    }
    let indices = vec![index(equal.shape(), position)];
    Ok(Some(TensorKink { name: comparison.name(), operands, indices, partials: None }))
}

/// Returns the index of the scalar at a position in row-major order.
fn index(shape: &Shape, position: usize) -> Vec<usize> {
    let mut rest = position;
    let mut index: Vec<usize> = shape
        .iter()
        .rev()
        .map(|&size| {
            let at = rest % size.max(1);
            rest /= size.max(1);
            at
        })
        .collect();
    index.reverse();
    index
}
