//! The tensor: a strided view of a buffer that several tensors may share.

use super::deferred::Storage;
use super::error::{Result, TensorError};
use super::parallel::{change_blocks, fill_blocks};
use super::reader::{Positions, Reader};
use super::scalar::{Scalar, ScalarKind, with_kind};
use super::shape::{Shape, Strides};
use std::borrow::Cow;
use std::rc::Rc;

/// A tensor with value semantics: a buffer is shared until one of its tensors is changed.
#[derive(Debug)]
pub struct Tensor {
    pub(super) shape: Shape,
    pub(super) strides: Strides,
    pub(super) offset: usize,
    pub(super) data: Rc<Storage>,
}

impl Clone for Tensor {
    fn clone(&self) -> Tensor {
        let strides = Strides::from_slice(&self.strides);
        Tensor { shape: self.shape.clone(), strides, offset: self.offset, data: Rc::clone(&self.data) }
    }
}

impl Tensor {
    /// Creates a tensor from its scalars in row-major order; their number is checked.
    pub fn new<T: Scalar>(shape: Shape, scalars: Vec<T>) -> Result<Tensor> {
        let count = shape.checked_count("Tensor(shape:scalars:)", size_of::<T>())?;
        if count != scalars.len() {
            let problem = format!("cannot make a tensor of shape {shape} from {} scalars", scalars.len());
            return Err(TensorError::shape(
                "Tensor(shape:scalars:)",
                None,
                &[&shape],
                problem,
                format!("needs {count}"),
            ));
        }
        Ok(Tensor::from_scalars(shape, scalars))
    }

    /// Creates a tensor of which the number of scalars is right by construction.
    pub(super) fn from_scalars<T: Scalar>(shape: Shape, scalars: Vec<T>) -> Tensor {
        debug_assert_eq!(shape.scalar_count(), scalars.len());
        Tensor { strides: shape.strides(), shape, offset: 0, data: Rc::new(Storage::from(T::buffer(scalars))) }
    }

    /// Creates a tensor of rank 0.
    pub fn scalar<T: Scalar>(value: T) -> Tensor {
        Tensor::from_scalars(Shape::default(), vec![value])
    }

    /// Creates a tensor in which all scalars are the same. It takes no more memory than one scalar until it is changed.
    pub fn repeating<T: Scalar>(value: T, shape: Shape) -> Result<Tensor> {
        shape.checked_count("Tensor(repeating:shape:)", size_of::<T>())?;
        let strides = shape.iter().map(|_| 0).collect();
        Ok(Tensor { shape, strides, offset: 0, data: Rc::new(Storage::from(T::buffer(vec![value]))) })
    }

    /// Creates a tensor of zeros (or of `false`).
    pub fn zeros(kind: ScalarKind, shape: Shape) -> Result<Tensor> {
        with_kind!(kind, T => Tensor::repeating(T::default(), shape))
    }

    /// Creates a tensor of ones (or of `true`).
    pub fn ones(kind: ScalarKind, shape: Shape) -> Result<Tensor> {
        with_kind!(kind, T => Tensor::repeating(T::ONE, shape))
    }

    /// Returns the shape.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Returns the distances between neighbors along each axis.
    pub fn strides(&self) -> &Strides {
        &self.strides
    }

    /// Returns the number of axes.
    pub fn rank(&self) -> usize {
        self.shape.rank()
    }

    /// Returns the number of scalars.
    pub fn scalar_count(&self) -> usize {
        self.shape.scalar_count()
    }

    /// Returns the kind of the scalars.
    pub fn kind(&self) -> ScalarKind {
        self.data.kind()
    }

    /// Returns the number of bytes of the buffer, which other tensors may share.
    pub fn buffer_size(&self) -> usize {
        self.data.bytes()
    }

    /// Creates a tensor of integers or Booleans; 0 stands for false.
    ///
    /// # Errors
    /// Fails if the number of integers does not match the shape.
    pub fn of_integers(kind: ScalarKind, shape: Shape, integers: &[i64]) -> Result<Tensor> {
        with_kind!(kind, T => Tensor::new(shape, integers.iter().map(|n| T::from_i128(i128::from(*n))).collect::<Vec<T>>()))
    }

    /// Returns the scalars as integers of 64 bits, in row-major order.
    ///
    /// # Errors
    /// Fails if the scalars cannot be read.
    pub fn integers(&self) -> Result<Vec<i64>> {
        with_kind!(self.kind(), T => Ok(self.scalars::<T>()?.iter().map(|x| x.to_i128() as i64).collect()))
    }

    /// Whether the scalars lie in the buffer in row-major order without gaps.
    pub fn is_contiguous(&self) -> bool {
        let mut step = 1;
        for (&size, &stride) in self.shape.iter().zip(&self.strides).rev() {
            if size == 0 {
                return true;
            }
            if size != 1 && stride != step {
                return false;
            }
            step *= size as isize;
        }
        true
    }

    /// Whether the tensor repeats one scalar.
    pub(super) fn is_repeated_number(&self) -> bool {
        self.shape.iter().zip(&self.strides).all(|(&size, &stride)| size == 1 || stride == 0)
    }

    /// Returns all scalars of the storage, which must be of the type that the operation expects.
    pub(super) fn typed<T: Scalar>(&self, operation: &'static str) -> Result<&[T]> {
        Storage::buffer(&self.data).typed(operation)
    }

    /// Returns the vector of the scalars, if the tensor consists of all of them, and nothing shares them.
    pub(super) fn whole_mut<T: Scalar>(&mut self) -> Option<&mut Vec<T>> {
        if !self.is_whole() {
            return None;
        }
        Storage::buffer_mut(&mut self.data).and_then(T::scalars_mut)
    }

    /// Whether the tensor consists of all scalars of its storage in their order.
    pub(super) fn is_whole(&self) -> bool {
        self.offset == 0 && self.scalar_count() == self.data.len() && self.is_contiguous()
    }

    pub(super) fn reader<T: Scalar>(&self, operation: &'static str) -> Result<Reader<'_, T>> {
        let data = self.typed(operation)?;
        let count = self.scalar_count();
        if count > 1 && self.is_contiguous() {
            return Ok(Reader::Contiguous(&data[self.offset..self.offset + count]));
        }
        Ok(Reader::new(data, &self.shape, &self.strides, self.offset))
    }

    /// Returns a reader of the tensor repeated to a shape.
    pub(super) fn reader_in<T: Scalar>(&self, operation: &'static str, shape: &Shape) -> Result<Reader<'_, T>> {
        if &self.shape == shape {
            return self.reader(operation);
        }
        Ok(Reader::new(self.typed(operation)?, shape, &self.strides_in(shape)?, self.offset))
    }

    /// Returns the scalars in row-major order, without a copy if they lie so in the buffer.
    pub fn scalars<T: Scalar>(&self) -> Result<Cow<'_, [T]>> {
        if self.is_contiguous() {
            let scalars = self.typed("scalars")?;
            let count = self.scalar_count();
            return Ok(Cow::Borrowed(if count == 0 { &[] } else { &scalars[self.offset..self.offset + count] }));
        }
        let reader = self.reader::<T>("scalars")?;
        Ok(Cow::Owned(change_blocks(&reader, self.scalar_count(), 1, |_, _| ())))
    }

    /// Returns a copy of the scalars in row-major order.
    pub fn to_vec<T: Scalar>(&self) -> Result<Vec<T>> {
        Ok(self.scalars::<T>()?.into_owned())
    }

    /// Returns the only scalar of a tensor of any rank.
    pub fn scalarized<T: Scalar>(&self) -> Result<T> {
        let scalars = self.typed::<T>("scalarized()")?;
        if self.scalar_count() != 1 {
            let problem = format!("cannot convert a tensor of shape {} to a single scalar", self.shape);
            let requirement = format!("needs exactly one scalar ({})", self.scalar_count());
            return Err(TensorError::shape("scalarized()", None, &[&self.shape], problem, requirement));
        }
        Ok(scalars[self.offset])
    }

    /// Returns a tensor with the same scalars in row-major order without gaps.
    pub fn contiguous(&self) -> Tensor {
        if self.is_contiguous() {
            return self.clone();
        }
        with_kind!(self.kind(), T => {
            let reader = self.reader::<T>("contiguous").unwrap_or(Reader::Contiguous(&[]));
            let scalars = change_blocks(&reader, self.scalar_count(), 1, |_, _| ());
            Tensor::from_scalars(self.shape.clone(), scalars)
        })
    }

    /// Returns the scalars for modification; they are copied first if other tensors share them or they have gaps.
    pub fn scalars_mut<T: Scalar>(&mut self) -> Result<&mut [T]> {
        self.typed::<T>("scalars")?;
        if !self.is_contiguous() || Storage::buffer_mut(&mut self.data).is_none() {
            *self = Tensor::from_scalars(self.shape.clone(), self.to_vec::<T>()?);
        }
        let (offset, count) = (if self.shape.contains(&0) { 0 } else { self.offset }, self.scalar_count());
        match Storage::buffer_mut(&mut self.data).and_then(T::scalars_mut) {
            Some(scalars) => Ok(&mut scalars[offset..offset + count]),
            None => unreachable!("the buffer is of this kind, and nothing shares it any more"),
        }
    }

    /// Whether the scalars can be changed in place.
    pub(super) fn is_unique(&mut self) -> bool {
        self.is_contiguous() && Storage::buffer_mut(&mut self.data).is_some()
    }

    /// Replaces the scalars of a view of this tensor by those of another tensor of the shape of the view. `view` returns the
    /// view from a tensor; it must only move scalars, and must not repeat any.
    pub fn assign_view(&mut self, view: impl Fn(&Tensor) -> Result<Tensor>, values: &Tensor) -> Result<()> {
        let operation = "assignment";
        let target = view(self)?;
        let values = values.broadcast_to(&target.shape)?;
        with_kind!(self.kind(), T => {
            values.typed::<T>(operation)?;
            drop(target);
            self.scalars_mut::<T>()?;
            let Tensor { shape, strides, offset, .. } = view(self)?;
            let positions = Positions::new(&shape, &strides, offset);
            let whole = match Storage::buffer_mut(&mut self.data).and_then(T::scalars_mut) {
                Some(scalars) => scalars,
                None => unreachable!("the scalars were copied if anything shared them"),
            };
            write(&positions, &values.reader::<T>(operation)?, shape.scalar_count(), whole);
            Ok(())
        })
    }

    /// Whether both tensors have the same shape and equal scalars (as `==` of the scalars: NaN differs from itself).
    pub fn is_equal(&self, other: &Tensor) -> Result<bool> {
        with_kind!(self.kind(), T => {
            if self.shape != other.shape {
                return Ok(false);
            }
            Ok(self.scalars::<T>()? == other.scalars::<T>()?)
        })
    }

    /// Checks that the tensor has a shape.
    pub(super) fn require_shape(&self, operation: &'static str, shape: &Shape) -> Result<()> {
        if &self.shape == shape {
            return Ok(());
        }
        Err(TensorError::shape(
            operation,
            None,
            &[&self.shape, shape],
            format!("the tensor of shape {} does not fit", self.shape),
            format!("needs shape {shape}"),
        ))
    }

    /// Converts the scalars to another kind. Fractions are cut; a number that the kind cannot represent is an error, as in a
    /// conversion of single numbers. Between integers the low bits are kept.
    pub fn cast(&self, kind: ScalarKind) -> Result<Tensor> {
        if kind == self.kind() {
            return Ok(self.clone());
        }
        with_kind!(self.kind(), S => with_kind!(kind, T => {
            let source = self.scalars::<S>()?;
            if S::KIND.is_real() && !T::KIND.is_real() && T::KIND != ScalarKind::Bool {
                check_range::<S, T>(&source)?;
            }
            let is_exact = S::KIND.is_real() || T::KIND.is_real();
            let convert = |scalar: S| if is_exact { T::from_f64(scalar.to_f64()) } else { T::from_i128(scalar.to_i128()) };
            let scalars = fill_blocks(source.len(), 1, |start, block: &mut [T]| {
                block.iter_mut().zip(&source[start..]).for_each(|(target, &scalar)| *target = convert(scalar));
            });
            Ok(Tensor::from_scalars(self.shape.clone(), scalars))
        }))
    }
}

/// Writes the scalars of a reader to the positions of a view.
pub(super) fn write<T: Scalar>(positions: &Positions, values: &Reader<'_, T>, count: usize, target: &mut [T]) {
    let mut scratch = Vec::new();
    positions.runs(0, count, |done, at, stride, length| {
        if stride == 1 {
            return values.fill(done, &mut target[at..at + length]);
        }
        scratch.resize(length, T::default());
        values.fill(done, &mut scratch);
        for (number, &scalar) in scratch.iter().enumerate() {
            target[(at as isize + number as isize * stride) as usize] = scalar;
        }
    });
}

/// Checks that the integers of a kind can represent all numbers.
fn check_range<S: Scalar, T: Scalar>(source: &[S]) -> Result<()> {
    let bits = T::KIND.size() as i32 * 8;
    let is_signed = matches!(T::KIND, ScalarKind::I8 | ScalarKind::I16 | ScalarKind::I32 | ScalarKind::I64);
    let (low, high) = if is_signed { (-(2f64.powi(bits - 1)), 2f64.powi(bits - 1)) } else { (0.0, 2f64.powi(bits)) };
    let fits = |value: f64| value.trunc() >= low && value.trunc() < high;
    match source.iter().find(|scalar| !fits(scalar.to_f64())) {
        None => Ok(()),
        Some(scalar) => {
            Err(TensorError::value("Tensor(_:)", format!("cannot convert {} to {}", scalar.to_f64(), T::KIND.name())))
        }
    }
}
