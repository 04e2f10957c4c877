//! Matrix products, with batches that broadcast.

use super::elementwise::{Binary, Chain, Integer, Steps};
use super::error::{Result, TensorError};
use super::memory::spare::unspecified;
use super::parallel::for_each_chunk;
use super::scalar::{Scalar, ScalarKind, with_kind};
use super::shape::Shape;
use super::strided::Tensor;
use faer::linalg::matmul::matmul as multiply;
use faer::{Accum, MatMut, MatRef, Par};

/// The largest number of rows of the result that are computed at a time, whatever the number of threads.
const PANEL: usize = 256;

/// The largest number of rows of a result that is divided into groups of columns.
const FEW_ROWS: usize = 128;

/// The least number of multiplications for a group of columns.
const LEAST_WORK_OF_GROUP: usize = 1 << 17;

/// The least number of columns of a group.
const LEAST_COLUMNS_OF_GROUP: usize = 32;

/// The largest number of groups of columns.
const MOST_GROUPS: usize = 8;

/// A group has a multiple of this number of columns, except the last one: the product is computed in tiles of this width.
const COLUMNS_OF_TILE: usize = 16;

/// The number of multiplications below which a plain loop is faster.
const SMALLEST_BLOCKED: usize = 512;

/// A type with matrix products.
pub trait MatrixScalar: Scalar {
    /// Writes the product of two matrices to `result`, or adds it: `(m × k) · (k × n)`.
    fn product(left: &Matrix<'_, Self>, right: &Matrix<'_, Self>, result: &mut [Self], adds: bool);
}

/// A matrix in a slice: its elements lie in rows or in columns.
#[derive(Clone, Copy, Debug)]
pub struct Matrix<'a, T> {
    /// The elements from the first one on.
    pub scalars: &'a [T],
    /// The number of rows.
    pub rows: usize,
    /// The number of columns.
    pub columns: usize,
    /// The distance between neighbors along the axis that is not contiguous.
    pub stride: usize,
    /// Whether the columns are contiguous, and not the rows.
    pub is_transposed: bool,
}

impl<'a, T> Matrix<'a, T> {
    /// Creates a matrix of which the rows follow each other without gaps.
    pub fn rows(scalars: &'a [T], rows: usize, columns: usize) -> Matrix<'a, T> {
        Matrix { scalars, rows, columns, stride: columns, is_transposed: false }
    }

    /// Returns the matrix with rows and columns exchanged.
    pub fn transposed(self) -> Matrix<'a, T> {
        Matrix { rows: self.columns, columns: self.rows, is_transposed: !self.is_transposed, ..self }
    }

    /// Returns a range of rows.
    fn panel(self, start: usize, rows: usize) -> Matrix<'a, T> {
        let skipped = if self.is_transposed { start } else { start * self.stride };
        Matrix { scalars: &self.scalars[skipped..], rows, ..self }
    }

    /// Returns a range of columns, which ends with the matrix.
    fn group_of_columns(self, start: usize, columns: usize) -> Matrix<'a, T> {
        let count = columns.min(self.columns - start);
        self.transposed().panel(start, count).transposed()
    }

    fn steps(&self) -> (usize, usize) {
        if self.is_transposed { (1, self.stride) } else { (self.stride, 1) }
    }
}

/// The product by a plain loop.
fn plain<T: Copy>(a: &Matrix<'_, T>, b: &Matrix<'_, T>, result: &mut [T], add_product: impl Fn(T, T, T) -> T) {
    let ((a_row, a_column), (b_row, b_column)) = (a.steps(), b.steps());
    for (row, result) in result.chunks_mut(b.columns.max(1)).enumerate() {
        for k in 0..a.columns {
            let factor = a.scalars[row * a_row + k * a_column];
            for (column, result) in result.iter_mut().enumerate() {
                *result = add_product(*result, factor, b.scalars[k * b_row + column * b_column]);
            }
        }
    }
}

macro_rules! real_product {
    ($type:ident) => {
        impl MatrixScalar for $type {
            fn product(left: &Matrix<'_, $type>, right: &Matrix<'_, $type>, result: &mut [$type], adds: bool) {
                if left.rows * left.columns * right.columns <= SMALLEST_BLOCKED {
                    if !adds {
                        result.fill(0.0);
                    }
                    return plain(left, right, result, |sum, a, b| sum + a * b);
                }
                fn view<'a>(matrix: &Matrix<'a, $type>) -> MatRef<'a, $type> {
                    let Matrix { scalars, rows, columns, stride, is_transposed } = *matrix;
                    if is_transposed {
                        let count = (columns - 1) * stride + rows;
                        MatRef::from_column_major_slice_with_stride(&scalars[..count], rows, columns, stride)
                    } else {
                        let count = (rows - 1) * stride + columns;
                        MatRef::from_row_major_slice_with_stride(&scalars[..count], rows, columns, stride)
                    }
                }
                let target = MatMut::from_row_major_slice_mut(result, left.rows, right.columns);
                let accumulation = if adds { Accum::Add } else { Accum::Replace };
                multiply(target, accumulation, view(left), view(right), 1.0, Par::Seq);
            }
        }
    };
}

real_product!(f32);
real_product!(f64);

macro_rules! integer_product {
    ($($type:ident)*) => {$(
        impl MatrixScalar for $type {
            fn product(left: &Matrix<'_, $type>, right: &Matrix<'_, $type>, result: &mut [$type], adds: bool) {
                if !adds {
                    result.fill(0);
                }
                plain(left, right, result, |sum, a, b| sum.wrapping_sum(a.wrapping_product(b)));
            }
        }
    )*};
}

integer_product!(i8 i16 i32 i64 u8 u16 u32 u64);

/// Writes the product of two matrices to `result`, or adds it, on several threads if it is large.
pub(super) fn product<T: MatrixScalar>(left: Matrix<'_, T>, right: Matrix<'_, T>, result: &mut [T], adds: bool) {
    if result.is_empty() {
        return;
    }
    if left.columns == 0 {
        if !adds {
            result.fill(T::default());
        }
        return;
    }
    let width = right.columns;
    let groups = column_groups(&left, &right);
    if groups > 1 && !adds {
        return product_by_columns(&left, &right, groups, result);
    }
    let rows = left.rows.div_ceil(left.rows.div_ceil(PANEL));
    for_each_chunk(result, rows * width, rows * width * left.columns, |number, part| {
        T::product(&left.panel(number * rows, part.len() / width), &right, part, adds);
    });
}

/// Returns the number of groups of columns into which a product is divided: several, if it is large and has few rows. Each group of
/// rows would rearrange the whole right matrix.
fn column_groups<T>(left: &Matrix<'_, T>, right: &Matrix<'_, T>) -> usize {
    if left.rows > FEW_ROWS {
        return 1;
    }
    let work = left.rows.saturating_mul(left.columns).saturating_mul(right.columns);
    (work / LEAST_WORK_OF_GROUP).min(right.columns / LEAST_COLUMNS_OF_GROUP).min(MOST_GROUPS)
}

/// Writes the product of two matrices to `result`, of which groups of columns are computed by several threads.
fn product_by_columns<T: MatrixScalar>(left: &Matrix<'_, T>, right: &Matrix<'_, T>, groups: usize, result: &mut [T]) {
    let width = right.columns.div_ceil(groups).next_multiple_of(COLUMNS_OF_TILE);
    let mut parts = vec![vec![]; right.columns.div_ceil(width)];
    for_each_chunk(&mut parts, 1, left.rows * left.columns * width, |number, part| {
        let columns = (*right).group_of_columns(number * width, width);
        part[0] = vec![T::default(); left.rows * columns.columns];
        T::product(left, &columns, &mut part[0], false);
    });
    for (row, result) in result.chunks_mut(right.columns).enumerate() {
        for (part, result) in parts.iter().zip(result.chunks_mut(width)) {
            result.copy_from_slice(&part[row * result.len()..][..result.len()]);
        }
    }
}

/// Returns a tensor in which the last two axes form matrices that [`Matrix`] can describe.
fn with_matrices(tensor: &Tensor) -> Tensor {
    let rank = tensor.rank();
    let (rows, columns) = (tensor.shape[rank - 2], tensor.shape[rank - 1]);
    let (down, right) = (tensor.strides[rank - 2], tensor.strides[rank - 1]);
    let is_usable = |step: isize, stride: isize, length: usize| step == 1 && stride >= length.max(1) as isize;
    if is_usable(right, down, columns) || is_usable(down, right, rows) { tensor.clone() } else { tensor.contiguous() }
}

/// Returns the matrix that starts at a position of a tensor from [`with_matrices`].
fn matrix_at<'a, T>(tensor: &Tensor, scalars: &'a [T], start: usize) -> Matrix<'a, T> {
    let rank = tensor.rank();
    let (rows, columns) = (tensor.shape[rank - 2], tensor.shape[rank - 1]);
    let (down, right) = (tensor.strides[rank - 2], tensor.strides[rank - 1]);
    let is_transposed = !(right == 1 && down >= columns.max(1) as isize);
    let stride = if is_transposed { right } else { down } as usize;
    Matrix { scalars: scalars.get(start..).unwrap_or(&[]), rows, columns, stride, is_transposed }
}

/// Returns the positions of the first scalars of all matrices of a tensor whose leading axes broadcast to a shape.
pub(super) fn matrix_starts(tensor: &Tensor, batch: &[usize]) -> Vec<usize> {
    let leading = tensor.rank() - 2;
    let mut starts = vec![tensor.offset as isize];
    for (axis, &size) in batch.iter().enumerate() {
        let own = (axis + leading).checked_sub(batch.len());
        let stride = own.filter(|&own| tensor.shape[own] != 1).map_or(0, |own| tensor.strides[own]);
        starts = starts.iter().flat_map(|&start| (0..size as isize).map(move |at| start + at * stride)).collect();
    }
    starts.into_iter().map(|start| start as usize).collect()
}

impl Tensor {
    /// Returns the products of the matrices in the last two axes; the other axes broadcast. The flags transpose the matrices first.
    pub fn matmul(&self, transposes_self: bool, other: &Tensor, transposes_other: bool) -> Result<Tensor> {
        let operation = "matmul";
        let shape = self.shape_of_product(transposes_self, other, transposes_other)?;
        let left = if transposes_self { self.with_last_axes_exchanged() } else { self.clone() };
        let right = if transposes_other { other.with_last_axes_exchanged() } else { other.clone() };
        let batch: Shape = shape[..shape.rank() - 2].iter().copied().collect();
        let (rows, columns) = (shape[shape.rank() - 2], shape[shape.rank() - 1]);
        let inner = left.shape[left.rank() - 1];
        let count = shape.checked_count(operation, self.kind().size())?;
        if self.kind() == ScalarKind::Bool || self.kind() != other.kind() {
            return Err(TensorError::Kind { operation, kind: other.kind() });
        }
        let (mut left, right) = (with_matrices(&left), with_matrices(&right));
        // Batches of a tensor with one matrix are a single product of more rows.
        if right.shape[..right.rank() - 2].iter().all(|&size| size == 1) && batch.scalar_count() > 1 && rows > 0 {
            left = left.contiguous().with_shape(Shape::from([batch.scalar_count() * rows, inner]));
            let flat = right.with_shape_of_matrix();
            return Ok(left.matmul(false, &flat, false)?.with_shape(shape));
        }
        with_kind!(operation, number self.kind(), T => {
            let (a, b) = (left.typed::<T>(operation)?, right.typed::<T>(operation)?);
            let mut result = if inner == 0 { vec![T::default(); count] } else { unspecified(count) };
            let (left_starts, right_starts) = (matrix_starts(&left, &batch), matrix_starts(&right, &batch));
            let size = rows * columns;
            let starts = left_starts.into_iter().zip(right_starts);
            let pairs: Vec<_> =
                starts.map(|(at, other)| (matrix_at(&left, a, at), matrix_at(&right, b, other))).collect();
            if let [(a, b)] = pairs[..] {
                product(a, b, &mut result, false);
            } else if size > 0 && inner > 0 {
                for_each_chunk(&mut result, size, size * inner, |number, part| {
                    let (a, b) = &pairs[number];
                    T::product(a, b, part, false);
                });
            }
            Ok(Tensor::from_scalars(shape, result))
        })
    }

    /// Returns the shape of [`matmul`](Tensor::matmul).
    ///
    /// # Errors
    /// Fails if the shapes of the operands do not fit.
    pub fn shape_of_product(&self, transposes_self: bool, other: &Tensor, transposes_other: bool) -> Result<Shape> {
        let operation = "matmul";
        let shapes = [&self.shape, &other.shape];
        let split = |tensor: &Tensor, transposes: bool| match *tensor.shape {
            [ref batch @ .., rows, columns] => {
                let sizes = if transposes { (columns, rows) } else { (rows, columns) };
                Ok((Shape::from(batch), sizes))
            }
            _ => {
                let problem = format!("cannot multiply a tensor of shape {} as a matrix", tensor.shape);
                Err(TensorError::shape(operation, None, &shapes, problem, "needs rank 2 or more"))
            }
        };
        let (left_batch, (rows, inner)) = split(self, transposes_self)?;
        let (right_batch, (other_inner, columns)) = split(other, transposes_other)?;
        if inner != other_inner {
            return Err(TensorError::shape(
                operation,
                Some(self.rank() - 1),
                &shapes,
                format!("cannot multiply a {rows}×{inner} matrix by a {other_inner}×{columns} matrix"),
                format!("needs columns of the first ({inner}) = rows of the second ({other_inner})"),
            ));
        }
        let batch = left_batch.broadcast(operation, &right_batch)?;
        Ok(batch.iter().copied().chain([rows, columns]).collect())
    }

    /// Returns the only matrix of a tensor without its leading axes of size 1.
    fn with_shape_of_matrix(&self) -> Tensor {
        let leading = self.rank() - 2;
        let shape = self.shape[leading..].iter().copied().collect();
        self.view(shape, self.strides[leading..].iter().copied().collect(), self.offset)
    }

    /// Returns the sum of the products of two vectors.
    pub fn dot(&self, other: &Tensor) -> Result<Tensor> {
        if self.rank() != 1 || self.shape != other.shape {
            return Err(TensorError::shape(
                "dot",
                None,
                &[&self.shape, &other.shape],
                format!("cannot multiply shapes {} and {} as vectors", self.shape, other.shape),
                "needs two vectors of the same size",
            ));
        }
        if !self.kind().is_real() {
            return self.clone().binary(Binary::Multiply, other.clone())?.sum(None, false);
        }
        let mut chain = Chain::new();
        let (a, b) = (chain.input(), chain.input());
        let product = chain.binary(Binary::Multiply, a, b);
        chain.give(product);
        chain.sum(&[self, other])
    }

    /// Returns the products of all pairs of scalars of two vectors.
    pub fn outer(&self, other: &Tensor) -> Result<Tensor> {
        if self.rank() != 1 || other.rank() != 1 {
            let problem = format!("cannot multiply shapes {} and {} as vectors", self.shape, other.shape);
            return Err(TensorError::shape("outer", None, &[&self.shape, &other.shape], problem, "needs two vectors"));
        }
        self.expand_axes(&[1])?.binary(Binary::Multiply, other.clone())
    }
}
