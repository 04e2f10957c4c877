//! Elementwise functions, comparisons and logical operations.

use super::super::NativeFunction;
use super::super::context::Failure;
use super::{Call, alike, constant, flag, one, pair, returned, two};
use crate::native::tensor::{Operation, TensorValue};
use crate::tensor::{Binary, Comparison, Fold, Logical, Tensor, Test, Unary};
use smallvec::smallvec;

/// Creates a table of native functions.
macro_rules! table {
    ($($name:literal => $call:expr,)*) => {
        pub(in super::super) const TABLE: &[NativeFunction] = &[$(NativeFunction { name: $name, call: $call },)*];
    };
}

table! {
    "tensor.negate" => |c| one(c, Operation::Unary(Unary::Negate)),
    "tensor.abs" => |c| one(c, Operation::Unary(Unary::Abs)),
    "tensor.sign" => |c| one(c, Operation::Unary(Unary::Sign)),
    "tensor.squared" => |c| one(c, Operation::Unary(Unary::Squared)),
    "tensor.reciprocal" => |c| one(c, Operation::Unary(Unary::Reciprocal)),
    "tensor.sqrt" => |c| one(c, Operation::Unary(Unary::Sqrt)),
    "tensor.rsqrt" => |c| one(c, Operation::Unary(Unary::Rsqrt)),
    "tensor.floor" => |c| one(c, Operation::Unary(Unary::Floor)),
    "tensor.ceil" => |c| one(c, Operation::Unary(Unary::Ceil)),
    "tensor.round" => |c| one(c, Operation::Unary(Unary::Round)),
    "tensor.exp" => |c| one(c, Operation::Unary(Unary::Exp)),
    "tensor.exp2" => |c| one(c, Operation::Unary(Unary::Exp2)),
    "tensor.exp10" => |c| one(c, Operation::Unary(Unary::Exp10)),
    "tensor.expm1" => |c| one(c, Operation::Unary(Unary::Expm1)),
    "tensor.log" => |c| one(c, Operation::Unary(Unary::Log)),
    "tensor.log2" => |c| one(c, Operation::Unary(Unary::Log2)),
    "tensor.log10" => |c| one(c, Operation::Unary(Unary::Log10)),
    "tensor.log1p" => |c| one(c, Operation::Unary(Unary::Log1p)),
    "tensor.sin" => |c| one(c, Operation::Unary(Unary::Sin)),
    "tensor.cos" => |c| one(c, Operation::Unary(Unary::Cos)),
    "tensor.tan" => |c| one(c, Operation::Unary(Unary::Tan)),
    "tensor.asin" => |c| one(c, Operation::Unary(Unary::Asin)),
    "tensor.acos" => |c| one(c, Operation::Unary(Unary::Acos)),
    "tensor.atan" => |c| one(c, Operation::Unary(Unary::Atan)),
    "tensor.sinh" => |c| one(c, Operation::Unary(Unary::Sinh)),
    "tensor.cosh" => |c| one(c, Operation::Unary(Unary::Cosh)),
    "tensor.tanh" => |c| one(c, Operation::Unary(Unary::Tanh)),
    "tensor.asinh" => |c| one(c, Operation::Unary(Unary::Asinh)),
    "tensor.acosh" => |c| one(c, Operation::Unary(Unary::Acosh)),
    "tensor.atanh" => |c| one(c, Operation::Unary(Unary::Atanh)),
    "tensor.erf" => |c| one(c, Operation::Unary(Unary::Erf)),
    "tensor.erfc" => |c| one(c, Operation::Unary(Unary::Erfc)),
    "tensor.gamma" => |c| one(c, Operation::Unary(Unary::Gamma)),
    "tensor.logGamma" => |c| one(c, Operation::Unary(Unary::LogGamma)),
    "tensor.sigmoid" => |c| one(c, Operation::Unary(Unary::Sigmoid)),
    "tensor.logSigmoid" => |c| one(c, Operation::Unary(Unary::LogSigmoid)),
    "tensor.softplus" => |c| one(c, Operation::Unary(Unary::Softplus)),
    "tensor.softsign" => |c| one(c, Operation::Unary(Unary::Softsign)),
    "tensor.relu" => |c| one(c, Operation::Unary(Unary::Relu)),
    "tensor.relu6" => |c| one(c, Operation::Unary(Unary::Relu6)),
    "tensor.elu" => |c| one(c, Operation::Unary(Unary::Elu)),
    "tensor.selu" => |c| one(c, Operation::Unary(Unary::Selu)),
    "tensor.gelu" => |c| one(c, Operation::Unary(Unary::Gelu)),
    "tensor.swish" => |c| one(c, Operation::Unary(Unary::Swish)),
    "tensor.mish" => |c| one(c, Operation::Unary(Unary::Mish)),
    "tensor.hardSigmoid" => |c| one(c, Operation::Unary(Unary::HardSigmoid)),
    "tensor.hardSwish" => |c| one(c, Operation::Unary(Unary::HardSwish)),
    "tensor.log1mexp" => |c| one(c, Operation::Unary(Unary::Log1mexp)),
    "tensor.add" => |c| two(c, Operation::Binary(Binary::Add)),
    "tensor.subtract" => |c| two(c, Operation::Binary(Binary::Subtract)),
    "tensor.multiply" => |c| two(c, Operation::Binary(Binary::Multiply)),
    "tensor.divide" => |c| two(c, Operation::Binary(Binary::Divide)),
    "tensor.remainder" => |c| two(c, Operation::Binary(Binary::Remainder)),
    "tensor.pow" => |c| two(c, Operation::Binary(Binary::Pow)),
    "tensor.maximum" => |c| two(c, Operation::Binary(Binary::Max)),
    "tensor.minimum" => |c| two(c, Operation::Binary(Binary::Min)),
    "tensor.squaredDifference" => |c| two(c, Operation::Binary(Binary::SquaredDifference)),
    "tensor.atan2" => |c| two(c, Operation::Binary(Binary::Atan2)),
    "tensor.hypot" => |c| two(c, Operation::Binary(Binary::Hypot)),
    "tensor.root" => |c| two(c, Operation::Binary(Binary::Root)),
    "tensor.leakyRelu" => |c| two(c, Operation::Binary(Binary::LeakyRelu)),
    "tensor.equal" => |c| compared(c, Comparison::Equal),
    "tensor.notEqual" => |c| compared(c, Comparison::NotEqual),
    "tensor.less" => |c| compared(c, Comparison::Less),
    "tensor.lessEqual" => |c| compared(c, Comparison::LessEqual),
    "tensor.greater" => |c| compared(c, Comparison::Greater),
    "tensor.greaterEqual" => |c| compared(c, Comparison::GreaterEqual),
    "tensor.isNaN" => |c| tested(c, Test::IsNan),
    "tensor.isFinite" => |c| tested(c, Test::IsFinite),
    "tensor.isInfinite" => |c| tested(c, Test::IsInfinite),
    "tensor.and" => |c| combined(c, Logical::And),
    "tensor.or" => |c| combined(c, Logical::Or),
    "tensor.xor" => |c| combined(c, Logical::ExclusiveOr),
    "tensor.not" => negated,
    "tensor.clip" => clip,
    "tensor.replacing" => replacing,
    "tensor.cast" => cast,
    "tensor.isEqual" => is_equal,
    "tensor.all" => |c| quantified(c, Fold::Min),
    "tensor.any" => |c| quantified(c, Fold::Max),
    "tensor.allAlong" => |c| quantified_along(c, Fold::Min),
    "tensor.anyAlong" => |c| quantified_along(c, Fold::Max),
}

/// Compares the scalars of two tensors.
fn compared(c: Call<'_, '_>, comparison: Comparison) -> Result<(), Failure> {
    let (a, b) = pair(c)?;
    let mask = TensorValue::constant(a.tensor.compare(comparison, &b.tensor)?);
    c.recorder().compared(comparison, [&a, &b], &mask)?;
    c.return_tensor(mask)
}

/// Tests the scalars of a tensor.
fn tested(c: Call<'_, '_>, test: Test) -> Result<(), Failure> {
    let result = c.tensor()?.tensor.test(test)?;
    constant(c, result)
}

/// Combines the scalars of two tensors of Booleans.
fn combined(c: Call<'_, '_>, logical: Logical) -> Result<(), Failure> {
    let (a, b) = (c.tensor()?, c.tensor()?);
    let mask = TensorValue::constant(a.tensor.logical(logical, &b.tensor)?);
    c.recorder().derived_mask(&a.tensor, &mask);
    c.recorder().derived_mask(&b.tensor, &mask);
    c.return_tensor(mask)
}

/// Negates the scalars of a tensor of Booleans.
fn negated(c: Call<'_, '_>) -> Result<(), Failure> {
    let value = c.tensor()?;
    let mask = TensorValue::constant(Tensor::clone(&value.tensor).logical_not()?);
    c.recorder().derived_mask(&value.tensor, &mask);
    c.return_tensor(mask)
}

/// Limits the scalars of a tensor to a range.
fn clip(c: Call<'_, '_>) -> Result<(), Failure> {
    let (x, low, high) = (c.tensor()?, c.tensor()?, c.tensor()?);
    let (x, low) = alike(c, x, low)?;
    let (x, high) = alike(c, x, high)?;
    returned(c, Operation::Clip, smallvec![x, low, high])
}

/// Replaces the scalars of a tensor where a mask is true.
fn replacing(c: Call<'_, '_>) -> Result<(), Failure> {
    let ((a, b), mask) = (pair(c)?, c.tensor()?);
    returned(c, Operation::Select(mask.tensor), smallvec![a, b])
}

/// Converts the scalars of a tensor to the generic argument.
fn cast(c: Call<'_, '_>) -> Result<(), Failure> {
    let kind = c.scalar_kind(0)?;
    one(c, Operation::Cast(kind))
}

/// Whether two tensors have the same shape and equal scalars.
fn is_equal(c: Call<'_, '_>) -> Result<(), Failure> {
    let (a, b) = pair(c)?;
    let is_equal = a.tensor.is_equal(&b.tensor)?;
    c.return_integer(i64::from(is_equal))
}

/// Whether all or any scalars of a tensor of Booleans are true.
fn quantified(c: Call<'_, '_>, fold: Fold) -> Result<(), Failure> {
    let holds = c.tensor()?.tensor.fold(fold, None, false)?.scalarized::<bool>()?;
    c.return_integer(i64::from(holds))
}

/// Whether all or any scalars are true along axes.
fn quantified_along(c: Call<'_, '_>, fold: Fold) -> Result<(), Failure> {
    let (x, axes, keeps) = (c.tensor()?, super::axes(c)?, flag(c));
    let result = x.tensor.fold(fold, Some(&axes), keeps)?;
    constant(c, result)
}
