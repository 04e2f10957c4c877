//! Expression: how the scalars of a storage are computed, and which operations are deferred.

use super::super::elementwise::{Binary, Chain, Steps, Unary};
use super::super::parallel::BLOCK;
use super::super::scalar::ScalarKind;
use super::super::shape::Shape;
use super::super::strided::Tensor;
use super::recent_sums;
use super::storage::Storage;
use smallvec::{SmallVec, smallvec};
use std::rc::Rc;

/// The number of scalars from which operations are deferred. The blocks of smaller tensors stay in the cache anyway.
pub(super) const LEAST_DEFERRED: usize = 16 * BLOCK;

/// The largest number of operations of an expression and those that it reads.
pub(super) const MAX_OPERATIONS: usize = 48;

/// The largest number of tensors that an expression and those that it reads may have. More tensors would take more memory than the
/// results that are not stored.
pub(super) const MAX_SOURCES: usize = 6;

/// The scalars of an elementwise chain, or their sum.
#[derive(Debug)]
pub(in crate::tensor) struct Expression {
    pub(super) chain: Chain,
    /// The inputs of the chain; `None` for those that it does not read.
    pub(super) inputs: SmallVec<[Option<Tensor>; 3]>,
    /// The shape to which the inputs are repeated.
    pub(super) shape: Shape,
    pub(super) is_sum: bool,
}

impl Expression {
    /// Returns the kind of the scalars.
    pub(super) fn kind(&self) -> ScalarKind {
        self.tensors().next().map_or(ScalarKind::F64, Tensor::kind)
    }

    /// Returns the number of scalars.
    pub(super) fn count(&self) -> usize {
        if self.is_sum { 1 } else { self.shape.scalar_count() }
    }

    /// Returns the kind and the number of the scalars that the chain computes. They are the same for all expressions of a pass.
    pub(super) fn domain(&self) -> (ScalarKind, usize) {
        (self.kind(), self.shape.scalar_count())
    }

    /// Whether the scalars are computed from few ones.
    pub(super) fn is_small(&self) -> bool {
        !self.is_sum && self.shape.scalar_count() < LEAST_DEFERRED
    }

    /// Returns the tensors that the chain reads.
    pub(super) fn tensors(&self) -> impl Iterator<Item = &Tensor> {
        self.inputs.iter().flatten()
    }

    /// Returns the storages that the chain reads; those of several inputs are repeated.
    pub(in crate::tensor) fn sources(&self) -> impl Iterator<Item = &Rc<Storage>> {
        self.tensors().map(|tensor| &tensor.data)
    }
}

/// The storages that some tensors are computed from.
#[derive(Default)]
pub(super) struct Extent {
    seen: Vec<*const Storage>,
    /// The number of operations of the expressions.
    pub(super) operations: usize,
    /// The number of large storages that are computed already.
    pub(super) sources: usize,
}

impl Extent {
    fn add(&mut self, storage: &Rc<Storage>) {
        if self.seen.contains(&Rc::as_ptr(storage)) {
            return;
        }
        self.seen.push(Rc::as_ptr(storage));
        if !storage.is_deferred() {
            self.sources += usize::from(storage.len() >= LEAST_DEFERRED);
            return;
        }
        storage.expression(|expression| {
            self.operations += expression.chain.operations();
            expression.sources().for_each(|source| self.add(source));
        });
    }

    /// Returns the extent of some storages.
    pub(super) fn of<'a>(storages: impl IntoIterator<Item = &'a Rc<Storage>>) -> Extent {
        let mut extent = Extent::default();
        storages.into_iter().for_each(|storage| extent.add(storage));
        extent
    }
}

/// Whether the result of an operation on some tensors is deferred, of which the number of scalars is given.
fn is_deferrable<'a>(tensors: impl Iterator<Item = &'a Tensor> + Clone, count: usize) -> bool {
    if count < LEAST_DEFERRED {
        // A number that is computed from a deferred sum.
        return count == 1 && tensors.clone().any(|tensor| tensor.data.is_deferred()) && are_real(tensors);
    }
    // A deferred result must not keep a much larger tensor alive of which it reads a part. Repeated numbers need not be deferred.
    let is_part = |tensor: &Tensor| tensor.data.len() / 4 > count;
    are_real(tensors.clone())
        && !tensors.clone().any(is_part)
        && tensors.clone().any(|tensor| !tensor.is_repeated_number())
}

/// Whether tensors have the same kind of real numbers.
fn are_real<'a>(mut tensors: impl Iterator<Item = &'a Tensor>) -> bool {
    let Some(kind) = tensors.next().map(Tensor::kind) else { return false };
    kind.is_real() && tensors.all(|tensor| tensor.kind() == kind)
}

/// Returns the result of a chain, of which the inputs broadcast to a shape, as a deferred tensor.
fn deferred(chain: Chain, inputs: SmallVec<[Option<Tensor>; 3]>, shape: Shape) -> Tensor {
    let count = shape.scalar_count();
    if count > 1 {
        for tensor in inputs.iter().flatten() {
            if tensor.data.len() != count || !tensor.is_whole() {
                Storage::buffer(&tensor.data);
            }
        }
    }
    loop {
        let storages = || inputs.iter().flatten().map(|tensor| &tensor.data);
        let extent = Extent::of(storages());
        if extent.operations + chain.operations() <= MAX_OPERATIONS && extent.sources <= MAX_SOURCES {
            break;
        }
        let largest = storages().filter(|storage| storage.is_deferred()).max_by_key(|s| Extent::of([*s]).operations);
        match largest {
            Some(largest) => _ = Storage::buffer(largest),
            None => break,
        }
    }
    let data = Storage::deferred(Expression { chain, inputs, shape: shape.clone(), is_sum: false });
    Tensor { strides: shape.strides(), shape, offset: 0, data }
}

/// Returns the result of a function of one tensor, if it is computed later.
pub(in crate::tensor) fn unary(operation: Unary, x: &Tensor) -> Option<Tensor> {
    if !is_deferrable(std::iter::once(x), x.scalar_count()) {
        return None;
    }
    let mut chain = Chain::new();
    let input = chain.input();
    let result = chain.unary(operation, input);
    chain.give(result);
    Some(deferred(chain, smallvec![Some(x.clone())], x.shape.clone()))
}

/// Returns the result of a function of two tensors, which broadcast to a shape, if it is computed later.
pub(in crate::tensor) fn binary(operation: Binary, [x, y]: [&Tensor; 2], shape: &Shape) -> Option<Tensor> {
    if !is_deferrable([x, y].into_iter(), shape.scalar_count()) {
        return None;
    }
    let mut chain = Chain::new();
    let (left, right) = (chain.input(), chain.input());
    let result = chain.binary(operation, left, right);
    chain.give(result);
    Some(deferred(chain, smallvec![Some(x.clone()), Some(y.clone())], shape.clone()))
}

/// Returns the only result of a chain, of which the inputs broadcast to a shape, if it is computed later.
pub(in crate::tensor) fn result(chain: &Chain, inputs: &[&Tensor], shape: &Shape) -> Option<Tensor> {
    let count = shape.scalar_count();
    let is_read = |(number, input): (usize, &&Tensor)| chain.reads(number).then(|| (*input).clone());
    if count < LEAST_DEFERRED && !is_deferrable(inputs.iter().copied(), count) {
        return None;
    }
    let inputs: SmallVec<[Option<Tensor>; 3]> = inputs.iter().enumerate().map(is_read).collect();
    is_deferrable(inputs.iter().flatten(), count).then(|| deferred(chain.clone(), inputs, shape.clone()))
}

/// Returns the sum of a tensor, of which the result has a shape, if it is computed later.
pub(in crate::tensor) fn sum(tensor: &Tensor, shape: &Shape) -> Option<Tensor> {
    if !tensor.data.is_deferred() || tensor.scalar_count() < LEAST_DEFERRED || !tensor.is_whole() {
        return None;
    }
    let mut chain = Chain::new();
    let input = chain.input();
    chain.give(input);
    let inputs = smallvec![Some(tensor.clone())];
    let data = Storage::deferred(Expression { chain, inputs, shape: tensor.shape.clone(), is_sum: true });
    recent_sums::add(&data);
    Some(Tensor { shape: shape.clone(), strides: shape.strides(), offset: 0, data })
}
