//! The values of operations.

use super::evaluator::{Operands, TensorValue};
use super::operation::{Channels, Operation};
use crate::native::library::{Failure, internal};
use crate::tensor::{Fold, Tensor};
use std::rc::Rc;

impl Operation {
    /// Returns the name of the operation, as it is in programs.
    pub fn name(&self) -> &'static str {
        match self {
            Operation::Unary(function) => function.name(),
            Operation::Binary(function) => function.name(),
            Operation::Clip => "clipped",
            Operation::Select(_) => "replacing",
            Operation::Cast(_) => "cast",
            Operation::Broadcast(_) => "broadcasted",
            Operation::Unbroadcast(_) => "unbroadcasted",
            Operation::Reshape(_) => "reshaped",
            Operation::ExpandAxes(_) => "expandingShape",
            Operation::Squeeze(_) => "squeezingShape",
            Operation::Transpose(_) => "transposed",
            Operation::Reverse(_) => "reversed",
            Operation::Tile(_) => "tiled",
            Operation::Pad(..) => "padded",
            Operation::SpaceToDepth(_) => "spaceToDepth",
            Operation::DepthToSpace(_) => "depthToSpace",
            Operation::Slice(..) | Operation::SliceAdjoint(..) => "slice",
            Operation::Index(_) | Operation::IndexAdjoint(..) => "subscript",
            Operation::Assign(_) => "assignment",
            Operation::Concatenate(_) => "concatenated",
            Operation::Stack(_) => "stacked",
            Operation::Gather(..) | Operation::GatherFlat(_) => "gathering",
            Operation::ScatterAdd(..) | Operation::ScatterAddFlat(..) => "scatterAdd",
            Operation::Reduce(fold, _) => fold.name(),
            Operation::Mean(_) => "mean",
            Operation::Variance(_) => "variance",
            Operation::LogSumExp(_) => "logSumExp",
            Operation::CumulativeSum(_) => "cumulativeSum",
            Operation::CumulativeProduct(_) => "cumulativeProduct",
            Operation::Recurrence(..) => "recurrence",
            Operation::Matmul(..) => "matmul",
            Operation::Dot => "dot",
            Operation::Diagonal => "diagonal",
            Operation::DiagonalPart => "diagonalPart",
            Operation::WithDiagonal => "withDiagonal",
            Operation::BandPart(..) => "bandPart",
            Operation::Cholesky => "cholesky",
            Operation::TriangularSolve(..) => "triangularSolve",
            Operation::Solve => "solve",
            Operation::Inverse => "inverse",
            Operation::Determinant => "det",
            Operation::LogDeterminant => "logdet",
            Operation::Convolution(Channels::Joined, _) => "convolution",
            Operation::Convolution(Channels::Separate, _) => "depthwiseConvolution",
            Operation::ConvolutionInput(..) => "transposedConvolution",
            Operation::ConvolutionFilter(..) => "convolutionFilter",
            Operation::MaxPool(..) => "maxPool",
            Operation::AveragePool(..) | Operation::AveragePoolAdjoint(..) => "avgPool",
            Operation::Resize(..) | Operation::ResizeAdjoint(..) => "resize",
            Operation::Softmax => "softmax",
            Operation::LogSoftmax => "logSoftmax",
            Operation::CrossEntropy(_) | Operation::CrossEntropyOfProbabilities => "softmaxCrossEntropy",
        }
    }

    /// Computes the result of the operation.
    ///
    /// # Errors
    /// Fails if the operands do not fit the operation.
    pub fn evaluate(&self, operands: impl IntoIterator<Item = Rc<Tensor>>) -> Result<Tensor, Failure> {
        let operands = operands.into_iter().map(|operand| Rc::try_unwrap(operand).unwrap_or_else(|o| (*o).clone()));
        self.evaluate_owned(&mut { operands })
    }

    /// Returns the result of the operation as a constant; the memory of operands that nothing else uses may be used again.
    ///
    /// # Errors
    /// Fails if the operands do not fit the operation.
    pub fn evaluate_constant(&self, operands: Operands) -> Result<TensorValue, Failure> {
        let result = match self.evaluate_small(&operands) {
            Some(result) => result,
            None => self.evaluate(operands.into_iter().map(|operand| operand.tensor))?,
        };
        Ok(TensorValue::constant(result))
    }

    /// Computes the result of an elementwise operation on small tensors; `None` for others.
    fn evaluate_small(&self, operands: &[TensorValue]) -> Option<Tensor> {
        match (self, operands) {
            (Operation::Unary(function), [x]) => x.tensor.small_unary(*function),
            (Operation::Binary(function), [x, y]) => x.tensor.small_binary(*function, &y.tensor),
            _ => None,
        }
    }

    /// Returns the result of the operation on operands that others use as well, as a constant.
    ///
    /// # Errors
    /// Fails if the operands do not fit the operation.
    pub fn evaluate_shared(&self, operands: &[TensorValue]) -> Result<TensorValue, Failure> {
        let result = match self.evaluate_small(operands) {
            Some(result) => result,
            None => self.evaluate(operands.iter().map(|operand| Rc::clone(&operand.tensor)))?,
        };
        Ok(TensorValue::constant(result))
    }

    /// Computes the result of the operation for operands that belong to it.
    fn evaluate_owned(&self, operands: &mut dyn Iterator<Item = Tensor>) -> Result<Tensor, Failure> {
        let mut next = || operands.next().ok_or_else(internal);
        Ok(match self {
            Operation::Unary(function) => next()?.unary(*function)?,
            Operation::Binary(function) => next()?.binary(*function, next()?)?,
            Operation::Clip => next()?.clipped(next()?, next()?)?,
            Operation::Select(mask) => next()?.replacing(&next()?, mask)?,
            Operation::Cast(kind) => next()?.cast(*kind)?,

            Operation::Broadcast(shape) => next()?.broadcast_to(shape)?,
            Operation::Unbroadcast(shape) => next()?.unbroadcast_to(shape)?,
            Operation::Reshape(sizes) => next()?.reshape(sizes)?,
            Operation::ExpandAxes(axes) => next()?.expand_axes(axes)?,
            Operation::Squeeze(axes) => next()?.squeeze(axes)?,
            Operation::Transpose(permutation) => next()?.transpose(permutation)?,
            Operation::Reverse(axes) => next()?.reverse(axes)?,
            Operation::Tile(multiples) => next()?.tile(multiples)?,
            Operation::Pad(sizes, mode) => next()?.pad(sizes, *mode)?,
            Operation::SpaceToDepth(block) => next()?.space_to_depth(*block)?,
            Operation::DepthToSpace(block) => next()?.depth_to_space(*block)?,

            Operation::Slice(lower, sizes) => next()?.slice(lower, sizes)?,
            Operation::SliceAdjoint(shape, lower) => next()?.slice_adjoint(shape, lower)?,
            Operation::Index(indices) => next()?.index(indices)?,
            Operation::IndexAdjoint(shape, indices) => next()?.index_adjoint(shape, indices)?,
            Operation::Assign(indices) => {
                let mut target = next()?;
                target.assign(indices, &next()?)?;
                target
            }
            Operation::Concatenate(axis) => Tensor::concatenate(&operands.collect::<Vec<_>>(), *axis)?,
            Operation::Stack(axis) => Tensor::stack(&operands.collect::<Vec<_>>(), *axis)?,
            Operation::Gather(indices, axis, batches) => next()?.gather_batches(indices, *axis, *batches)?,
            Operation::ScatterAdd(shape, indices, axis, batches) => {
                next()?.scatter_add(shape, indices, *axis, *batches)?
            }
            Operation::GatherFlat(positions) => next()?.gather_flat(positions)?,
            Operation::ScatterAddFlat(shape, positions) => next()?.scatter_add_flat(shape, positions)?,

            Operation::Reduce(fold, axes) => next()?.fold(*fold, axes.axes.as_deref(), axes.keeps)?,
            Operation::Mean(axes) => next()?.mean(axes.axes.as_deref(), axes.keeps)?,
            Operation::Variance(axes) => next()?.variance(axes.axes.as_deref(), axes.keeps)?,
            Operation::LogSumExp(axes) => next()?.log_sum_exp(axes.axes.as_deref(), axes.keeps)?,
            Operation::CumulativeSum(to) => next()?.cumulative(Fold::Sum, to.axis, to.is_exclusive, to.is_reversed)?,
            Operation::CumulativeProduct(to) => {
                next()?.cumulative(Fold::Product, to.axis, to.is_exclusive, to.is_reversed)?
            }
            Operation::Recurrence(axis, is_reversed) => next()?.recurrence(&next()?, *axis, *is_reversed)?,

            Operation::Softmax => next()?.softmax()?,
            Operation::LogSoftmax => next()?.log_softmax()?,
            Operation::CrossEntropy(labels) => next()?.softmax_cross_entropy(labels)?.0,
            Operation::CrossEntropyOfProbabilities => next()?.softmax_cross_entropy_of_probabilities(&next()?)?.0,
            _ => return self.evaluate_matrix_or_window(&mut next),
        })
    }

    fn evaluate_matrix_or_window(&self, next: &mut dyn FnMut() -> Result<Tensor, Failure>) -> Result<Tensor, Failure> {
        Ok(match self {
            Operation::Matmul(left, right) => next()?.matmul(*left, &next()?, *right)?,
            Operation::Dot => next()?.dot(&next()?)?,
            Operation::Diagonal => next()?.diagonal()?,
            Operation::DiagonalPart => next()?.diagonal_part()?,
            Operation::WithDiagonal => next()?.with_diagonal(&next()?)?,
            Operation::BandPart(below, above) => next()?.band_part(*below, *above)?,
            Operation::Cholesky => next()?.cholesky()?,
            Operation::TriangularSolve(is_lower, adjoint) => next()?.triangular_solve(&next()?, *is_lower, *adjoint)?,
            Operation::Solve => next()?.solve(&next()?)?,
            Operation::Inverse => next()?.inverse()?,
            Operation::Determinant => next()?.determinant()?,
            Operation::LogDeterminant => next()?.sign_and_log_determinant()?.1,

            Operation::Convolution(Channels::Joined, to) => next()?.convolution(&next()?, &to.window())?,
            Operation::Convolution(Channels::Separate, to) => next()?.depthwise_convolution(&next()?, &to.window())?,
            Operation::ConvolutionInput(Channels::Joined, to, shape) => {
                next()?.convolution_input_adjoint(&next()?, shape, &to.window())?
            }
            Operation::ConvolutionInput(Channels::Separate, to, shape) => {
                next()?.depthwise_input_adjoint(&next()?, shape, &to.window())?
            }
            Operation::ConvolutionFilter(Channels::Joined, to, shape) => {
                next()?.convolution_filter_adjoint(&next()?, shape, &to.window())?
            }
            Operation::ConvolutionFilter(Channels::Separate, to, shape) => {
                next()?.depthwise_filter_adjoint(&next()?, shape, &to.window())?
            }
            Operation::MaxPool(size, to) => next()?.max_pool(size, &to.window())?.0,
            Operation::AveragePool(size, to) => next()?.average_pool(size, &to.window())?,
            Operation::AveragePoolAdjoint(size, to, shape) => {
                next()?.average_pool_adjoint(shape, size, &to.window())?
            }
            Operation::Resize(height, width, method) => next()?.resize(*height, *width, *method)?,
            Operation::ResizeAdjoint(shape, method) => next()?.resize_adjoint(shape, *method)?,
            _ => return Err(internal()),
        })
    }
}
