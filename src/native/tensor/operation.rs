//! Operation: the table of differentiable operations of tensors, with their values and their derivatives.

use super::builder::Builder;
use super::evaluator::{Evaluator, Operands, TensorValue};
use super::propagation::Propagation;
use super::{elementwise_rule, indexing_rule, matrix_rule, reduction_rule, row_rule, view_rule, window_rule};
use crate::native::library::{Failure, FailureKind};
use crate::tensor::{
    Binary, Fold, Index, Padding, PaddingMode, Resizing, ScalarKind, Shape, Tensor, TensorError, Unary, Window,
};
use std::rc::Rc;

/// The axes of a reduction.
#[derive(Clone, Debug)]
pub struct Axes {
    /// The axes, which may count from the end; `None` stands for all axes.
    pub axes: Option<Vec<isize>>,
    /// Whether the result keeps the reduced axes with size 1.
    pub keeps: bool,
}

/// The axis and the direction of a cumulative operation.
#[derive(Clone, Copy, Debug)]
pub struct Direction {
    /// The axis, which may count from the end.
    pub axis: isize,
    /// Whether the scalar itself does not count.
    pub is_exclusive: bool,
    /// Whether the operation runs from the last scalar to the first one.
    pub is_reversed: bool,
}

/// The way in which a window moves over an image.
#[derive(Clone, Debug)]
pub struct Movement {
    /// The distances between neighboring windows; an empty list stands for ones.
    pub strides: Vec<usize>,
    /// The distances between neighboring scalars of a window; an empty list stands for ones.
    pub dilations: Vec<usize>,
    /// What happens at the edges.
    pub padding: Padding,
}

impl Movement {
    /// Returns the movement in the form that the kernels take.
    pub fn window(&self) -> Window<'_> {
        Window { strides: &self.strides, dilations: &self.dilations, padding: self.padding }
    }
}

/// The way in which a convolution combines channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channels {
    /// Each channel of the result depends on all channels of the image.
    Joined,
    /// Each channel of the image has filters of its own.
    Separate,
}

/// An operation of tensors, with the arguments that are not tensors. Tensors among the arguments are constant.
#[derive(Clone, Debug)]
pub enum Operation {
    /// An elementwise function of one tensor.
    Unary(Unary),
    /// An elementwise function of two tensors, which are broadcast.
    Binary(Binary),
    /// The numbers of the first tensor, limited to the range from the second to the third one.
    Clip,
    /// The first tensor, with the scalars of the second one where the mask is true; all three are broadcast.
    Select(Rc<Tensor>),
    /// The conversion to another kind of scalars.
    Cast(ScalarKind),

    /// The repetition along new axes and axes of size 1.
    Broadcast(Shape),
    /// The sum over the axes along which a shape is broadcast to that of the operand.
    Unbroadcast(Shape),
    /// Another shape, in which one size may be -1.
    Reshape(Vec<isize>),
    /// Additional axes of size 1, which count in the result.
    ExpandAxes(Vec<isize>),
    /// The removal of axes of size 1; of all of them if there are none in the list.
    Squeeze(Vec<isize>),
    /// Another order of the axes; an empty list reverses them.
    Transpose(Vec<isize>),
    /// The opposite order of the scalars along axes.
    Reverse(Vec<isize>),
    /// The repetition of the whole tensor along each axis.
    Tile(Vec<usize>),
    /// Additional scalars before and after along each axis.
    Pad(Vec<(usize, usize)>, PaddingMode),
    /// Blocks of the image in the last axis.
    SpaceToDepth(usize),
    /// Blocks of the last axis in the image.
    DepthToSpace(usize),

    /// A part by its lower bounds and sizes.
    Slice(Vec<isize>, Vec<isize>),
    /// A tensor of a shape with the operand at lower bounds, and zeros elsewhere: the adjoint of `Slice`.
    SliceAdjoint(Shape, Vec<isize>),
    /// A part by an index expression.
    Index(Vec<Index>),
    /// A tensor of a shape with the operand in a part, and zeros elsewhere: the adjoint of `Index`.
    IndexAdjoint(Shape, Vec<Index>),
    /// The first tensor, with a part replaced by the second one, which is broadcast.
    Assign(Vec<Index>),
    /// Several tensors, joined along an axis.
    Concatenate(isize),
    /// Several tensors of one shape, joined along a new axis, which counts in the result.
    Stack(isize),
    /// The parts at indices along an axis.
    Gather(Rc<Tensor>, isize, usize),
    /// Zeros of a shape to which parts are added at indices along an axis: the adjoint of `Gather`.
    ScatterAdd(Shape, Rc<Tensor>, isize, usize),
    /// The scalars at positions of the flat tensor.
    GatherFlat(Rc<Tensor>),
    /// Zeros of a shape to which scalars are added at positions of the flat tensor: the adjoint of `GatherFlat`.
    ScatterAddFlat(Shape, Rc<Tensor>),

    /// The sum, product, maximum or minimum over axes.
    Reduce(Fold, Axes),
    /// The mean over axes.
    Mean(Axes),
    /// The mean of the squared differences from the mean over axes.
    Variance(Axes),
    /// The logarithm of the sum of the exponentials over axes.
    LogSumExp(Axes),
    /// The sums up to each scalar along an axis.
    CumulativeSum(Direction),
    /// The products up to each scalar along an axis.
    CumulativeProduct(Direction),
    /// The sequence `s[i] = b[i] + a[i] · s[i - 1]` along an axis for the operands `a` and `b`, which starts with
    /// `b[0]`. The axis counts from the start; the flag reverses the direction.
    Recurrence(usize, bool),

    /// The product of matrices, which may be transposed.
    Matmul(bool, bool),
    /// The sum of the products of two vectors.
    Dot,
    /// Matrices with the last axis on their diagonals.
    Diagonal,
    /// The diagonals of matrices.
    DiagonalPart,
    /// The matrices of the first tensor, with the diagonals of the second one.
    WithDiagonal,
    /// Matrices with zeros outside of a band; a negative number keeps all diagonals of a side.
    BandPart(isize, isize),
    /// The lower triangular factors of symmetric, positive definite matrices.
    Cholesky,
    /// The solutions for triangular matrices and right sides. The flags: whether the matrix is a lower one, and whether
    /// its transpose is meant.
    TriangularSolve(bool, bool),
    /// The solutions for matrices and right sides.
    Solve,
    /// The inverse matrices.
    Inverse,
    /// The determinants.
    Determinant,
    /// The logarithms of the absolute values of the determinants.
    LogDeterminant,

    /// The convolution of an image with a filter.
    Convolution(Channels, Movement),
    /// The adjoint of a convolution in an image of a shape, for the operands adjoint and filter.
    ConvolutionInput(Channels, Movement, Shape),
    /// The adjoint of a convolution in a filter of a shape, for the operands image and adjoint.
    ConvolutionFilter(Channels, Movement, Shape),
    /// The maxima of windows of a size.
    MaxPool(Vec<usize>, Movement),
    /// The means of windows of a size.
    AveragePool(Vec<usize>, Movement),
    /// The adjoint of `AveragePool` for an image of a shape.
    AveragePoolAdjoint(Vec<usize>, Movement, Shape),
    /// Images in another height and width.
    Resize(usize, usize, Resizing),
    /// The adjoint of `Resize` for images of a shape.
    ResizeAdjoint(Shape, Resizing),

    /// The exponentials along the last axis, divided by their sum.
    Softmax,
    /// The logarithms of `Softmax`.
    LogSoftmax,
    /// The cross entropies of rows of logits and labels, which are constant.
    CrossEntropy(Rc<Tensor>),
    /// The cross entropies of rows of logits and rows of probabilities.
    CrossEntropyOfProbabilities,
}

impl From<TensorError> for Failure {
    fn from(error: TensorError) -> Failure {
        let message = error.to_string();
        match error {
            TensorError::TooLarge { .. } => Failure::new(FailureKind::Memory, message),
            TensorError::Shape(error) => {
                let shapes = error.shapes.iter().map(ToString::to_string).collect();
                Failure { shapes, ..Failure::new(FailureKind::Shapes, message) }
            }
            _ => Failure::new(FailureKind::Precondition, message),
        }
    }
}

/// The operands of an operation and its result.
#[derive(Clone, Copy, Debug)]
pub struct Evaluation<'a> {
    /// The operands of the operation.
    pub operands: &'a [TensorValue],
    /// The result of the operation.
    pub result: &'a TensorValue,
}

impl<'a> Evaluation<'a> {
    /// Returns an operand.
    pub(super) fn operand(&self, k: usize) -> Result<&'a TensorValue, Failure> {
        self.operands.get(k).ok_or_else(crate::native::library::internal)
    }
}

/// How the result of an operation depends on its operands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Dependence {
    /// It is linear in all operands together.
    Linear,
    /// It is linear in each of two operands.
    Bilinear,
    /// Another dependence.
    Other,
}

impl Operation {
    fn dependence(&self) -> Dependence {
        use Operation::*;
        match self {
            Select(_) | Cast(_) | Broadcast(_) | Unbroadcast(_) | Reshape(_) | ExpandAxes(_) | Squeeze(_) => {
                Dependence::Linear
            }
            Transpose(_) | Reverse(_) | Tile(_) | SpaceToDepth(_) | DepthToSpace(_) => Dependence::Linear,
            Slice(..) | SliceAdjoint(..) | Index(_) | IndexAdjoint(..) | Assign(_) => Dependence::Linear,
            Concatenate(_) | Stack(_) | Gather(..) | ScatterAdd(..) => Dependence::Linear,
            GatherFlat(_) | ScatterAddFlat(..) => Dependence::Linear,
            Reduce(Fold::Sum, _) | Mean(_) | CumulativeSum(_) => Dependence::Linear,
            Diagonal | DiagonalPart | WithDiagonal | BandPart(..) => Dependence::Linear,
            AveragePool(..) | AveragePoolAdjoint(..) | Resize(..) | ResizeAdjoint(..) => Dependence::Linear,
            Matmul(..) | Dot | Convolution(..) | ConvolutionInput(..) | ConvolutionFilter(..) => Dependence::Bilinear,
            _ => Dependence::Other,
        }
    }

    /// Whether scalars of the result of a linear operation are sums of scalars of the operands.
    pub(super) fn adds(&self) -> bool {
        use Operation::*;
        let adds =
            matches!(self, Reduce(..) | Mean(_) | CumulativeSum(_) | Unbroadcast(_) | AveragePool(..) | Resize(..));
        adds || self.fills()
    }

    /// Whether scalars of the result of a linear operation are zeros that come from no operand.
    pub(super) fn fills(&self) -> bool {
        use Operation::*;
        match self {
            CumulativeSum(direction) => direction.is_exclusive,
            Pad(..) | SliceAdjoint(..) | IndexAdjoint(..) | ScatterAdd(..) | ScatterAddFlat(..) => true,
            Diagonal | BandPart(..) | AveragePoolAdjoint(..) | ResizeAdjoint(..) => true,
            _ => false,
        }
    }

    /// Whether the operation is linear in those operands that vary, all together.
    pub fn is_linear(&self, varies: &dyn Fn(usize) -> bool) -> bool {
        use Operation::{Pad, Recurrence, Solve, TriangularSolve};
        match self {
            _ if self.dependence() == Dependence::Linear => true,
            _ if self.dependence() == Dependence::Bilinear => !(varies(0) && varies(1)),
            Pad(..) | Operation::Unary(Unary::Negate) | Operation::Binary(Binary::Add | Binary::Subtract) => true,
            Operation::Binary(Binary::Multiply) => !(varies(0) && varies(1)),
            Operation::Binary(Binary::Divide) => !varies(1),
            Recurrence(..) | Solve | TriangularSolve(..) | Operation::CrossEntropyOfProbabilities => !varies(0),
            _ => false,
        }
    }

    /// Returns the tangent of the result, given those of the operands; `None` stands for a zero tangent.
    ///
    /// # Errors
    /// Fails if a tangent does not fit its operand.
    pub fn tangent(
        &self,
        of: Evaluation<'_>,
        tangents: &[Option<TensorValue>],
        evaluator: &mut dyn Evaluator,
    ) -> Result<Option<TensorValue>, Failure> {
        let mut b = Builder::new(evaluator, Propagation::Tangent);
        if !of.result.tensor.kind().is_real() {
            return Ok(None);
        }
        let mut fitted = Vec::with_capacity(of.operands.len());
        for (k, operand) in of.operands.iter().enumerate() {
            fitted.push(match tangents.get(k) {
                Some(Some(tangent)) if operand.tensor.kind().is_real() => Some(b.fitted(tangent.clone(), operand)?),
                _ => None,
            });
        }
        if fitted.iter().all(Option::is_none) {
            return Ok(None);
        }
        let tangent = match self.dependence() {
            Dependence::Linear => self.linear_tangent(of, fitted, &mut b).map(Some),
            Dependence::Bilinear => self.bilinear_tangent(of, &fitted, &mut b),
            Dependence::Other => self.other_tangent(of, &fitted, &mut b),
        }?;
        tangent.map(|tangent| b.fitted(tangent, of.result)).transpose()
    }

    fn linear_tangent(
        &self,
        of: Evaluation<'_>,
        tangents: Vec<Option<TensorValue>>,
        b: &mut Builder<'_>,
    ) -> Result<TensorValue, Failure> {
        let mut all = Operands::with_capacity(tangents.len());
        for (tangent, operand) in tangents.into_iter().zip(of.operands) {
            all.push(match tangent {
                Some(tangent) => tangent,
                None => b.zeros_like(operand)?,
            });
        }
        b.linear(self.clone(), all)
    }

    fn bilinear_tangent(
        &self,
        of: Evaluation<'_>,
        tangents: &[Option<TensorValue>],
        b: &mut Builder<'_>,
    ) -> Result<Option<TensorValue>, Failure> {
        let mut sum = None;
        for (k, tangent) in tangents.iter().enumerate() {
            let Some(tangent) = tangent else { continue };
            let other = of.operand(1 - k)?.clone();
            let operands = if k == 0 { [tangent.clone(), other] } else { [other, tangent.clone()] };
            let part = b.bilinear(self.clone(), operands, k)?;
            sum = b.sum_of(sum, Some(part))?;
        }
        Ok(sum)
    }

    fn other_tangent(
        &self,
        of: Evaluation<'_>,
        tangents: &[Option<TensorValue>],
        b: &mut Builder<'_>,
    ) -> Result<Option<TensorValue>, Failure> {
        use Operation::*;
        match self {
            Unary(_) | Binary(_) | Clip => elementwise_rule::tangent(self, of, tangents, b),
            Pad(..) => view_rule::tangent(self, of, tangents, b),
            Reduce(..) | Variance(_) | LogSumExp(_) | CumulativeProduct(_) | Recurrence(..) => {
                reduction_rule::tangent(self, of, tangents, b)
            }
            Cholesky | TriangularSolve(..) | Solve | Inverse | Determinant | LogDeterminant => {
                matrix_rule::tangent(self, of, tangents, b)
            }
            MaxPool(..) => window_rule::tangent(self, of, tangents, b),
            Softmax | LogSoftmax | CrossEntropy(_) | CrossEntropyOfProbabilities => {
                row_rule::tangent(self, of, tangents, b)
            }
            _ => unreachable!("the other operations are linear or bilinear"),
        }
    }

    /// Returns the adjoint of the operand with the index `k`, given that of the result; `None` stands for a zero
    /// adjoint. The shape of the given adjoint broadcasts to that of the result.
    ///
    /// # Errors
    /// Fails if the adjoint does not fit the result.
    pub fn adjoint(
        &self,
        k: usize,
        of: Evaluation<'_>,
        adjoint: TensorValue,
        evaluator: &mut dyn Evaluator,
    ) -> Result<Option<TensorValue>, Failure> {
        use Operation::*;
        let mut b = Builder::new(evaluator, Propagation::Adjoint);
        let operand = of.operand(k)?;
        if !of.result.tensor.kind().is_real() || !operand.tensor.kind().is_real() {
            return Ok(None);
        }
        let (from, to) = (operand.tensor.shape(), adjoint.tensor.shape());
        match self {
            // Seeds of other shapes than that of the result: a seed with the axes of the operand is summed as it is.
            Broadcast(_) if from.rank() > 0 && from.broadcast("pullback", to).is_ok_and(|both| &both == to) => {
                return b.unbroadcast(adjoint, from).map(Some);
            }
            Unbroadcast(_) if from == to => return Ok(Some(adjoint)),
            SpaceToDepth(_) | DepthToSpace(_) if to.scalar_count() == 0 => {
                return view_rule::adjoint(self, of, adjoint, &mut b);
            }
            _ => {}
        }
        let adjoint = if adjoint.is_like(of.result) { adjoint } else { b.fitted(adjoint, of.result)? };
        let found = match self {
            Unary(_) | Binary(_) | Clip | Select(_) | Cast(_) => {
                elementwise_rule::adjoint(self, k, of, adjoint, &mut b)
            }
            Broadcast(_) | Unbroadcast(_) | Reshape(_) | ExpandAxes(_) | Squeeze(_) | Transpose(_) | Reverse(_)
            | Tile(_) | Pad(..) | SpaceToDepth(_) | DepthToSpace(_) => view_rule::adjoint(self, of, adjoint, &mut b),
            Slice(..) | SliceAdjoint(..) | Index(_) | IndexAdjoint(..) | Assign(_) | Concatenate(_) | Stack(_)
            | Gather(..) | ScatterAdd(..) | GatherFlat(_) | ScatterAddFlat(..) => {
                indexing_rule::adjoint(self, k, of, adjoint, &mut b)
            }
            Reduce(..) | Mean(_) | Variance(_) | LogSumExp(_) | CumulativeSum(_) | CumulativeProduct(_)
            | Recurrence(..) => reduction_rule::adjoint(self, k, of, adjoint, &mut b),
            Matmul(..) | Dot | Diagonal | DiagonalPart | WithDiagonal | BandPart(..) | Cholesky
            | TriangularSolve(..) | Solve | Inverse | Determinant | LogDeterminant => {
                matrix_rule::adjoint(self, k, of, adjoint, &mut b)
            }
            Convolution(..)
            | ConvolutionInput(..)
            | ConvolutionFilter(..)
            | MaxPool(..)
            | AveragePool(..)
            | AveragePoolAdjoint(..)
            | Resize(..)
            | ResizeAdjoint(..) => window_rule::adjoint(self, k, of, adjoint, &mut b),
            Softmax | LogSoftmax | CrossEntropy(_) | CrossEntropyOfProbabilities => {
                row_rule::adjoint(self, k, of, adjoint, &mut b)
            }
        }?;
        match found {
            Some(found) if found.tensor.shape() != from => b.unbroadcast(found, from).map(Some),
            found => Ok(found),
        }
    }
}
