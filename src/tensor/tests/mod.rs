//! Tests of the operations against naive loops, over random shapes and strides.

mod convolutions;
mod deferred;
mod elementwise;
mod matrices;
mod random_and_text;
mod reductions;
mod views;

use super::*;

/// A source of random shapes and tensors; the same ones in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0 * 16807 % 2_147_483_647;
        (self.0 / 16) as usize % bound
    }

    fn flag(&mut self) -> bool {
        self.below(2) == 0
    }

    fn number(&mut self) -> f64 {
        self.below(4001) as f64 / 1000.0 - 2.0
    }

    /// A shape, in which sizes 0 and 1 are frequent.
    fn shape(&mut self, rank: usize) -> Shape {
        (0..rank).map(|_| [0, 1, 1, 2, 3, 4, 5, 7][self.below(8).max(usize::from(self.below(4) > 0))]).collect()
    }

    /// A tensor of a shape with random strides: transposed, with steps, reversed, and with repeated axes.
    fn tensor(&mut self, shape: &Shape) -> Tensor {
        let rank = shape.rank();
        let mut order: Vec<usize> = (0..rank).collect();
        for at in 0..rank {
            order.swap(at, self.below(rank));
        }
        let mut sizes = vec![0; rank];
        let mut indices = vec![Index::ALL; rank];
        for (axis, &at) in order.iter().enumerate() {
            let step: isize = [1, 1, 1, 2, 3, -1, -2][self.below(7)];
            let repeats = self.below(6) == 0;
            let count = if repeats { shape[axis].min(1) } else { shape[axis] };
            sizes[at] = count * step.unsigned_abs() + self.below(2);
            if sizes[at] == 0 {
                continue;
            }
            indices[at] = match (step > 0, count) {
                (_, 0) => Index::Range { start: Some(0), end: Some(0), step: 1 },
                (true, _) => Index::Range { start: Some(0), end: Some((count as isize - 1) * step + 1), step },
                (false, _) => {
                    let start = sizes[at] as isize - 1;
                    let end = start + (count as isize - 1) * step;
                    Index::Range { start: Some(start), end: (end > 0).then(|| end - 1), step }
                }
            };
        }
        let base = Shape::from(sizes.as_slice());
        let scalars = (0..base.scalar_count()).map(|_| self.number()).collect();
        let tensor = Tensor::new::<f64>(base, scalars).unwrap().index(&indices).unwrap();
        tensor.permuted(&order).broadcast_to(shape).unwrap()
    }
}

/// All indices of a shape in row-major order.
fn indices(shape: &Shape) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for &size in shape.iter() {
        all = all.into_iter().flat_map(|index| (0..size).map(move |at| [index.as_slice(), &[at]].concat())).collect();
    }
    all
}

/// The scalar at an index, read by the definition of strides.
fn at(tensor: &Tensor, index: &[usize]) -> f64 {
    let steps = index.iter().zip(&tensor.strides).map(|(&at, &stride)| at as isize * stride);
    let position = (tensor.offset as isize + steps.sum::<isize>()) as usize;
    scalar::with_kind!(tensor.kind(), T => tensor.typed::<T>("test").unwrap()[position].to_f64())
}

/// The scalar at the index of a tensor that broadcasts.
fn at_broadcast(tensor: &Tensor, index: &[usize]) -> f64 {
    let own = &index[index.len() - tensor.rank()..];
    let own: Vec<usize> =
        own.iter().zip(tensor.shape.iter()).map(|(&at, &size)| if size == 1 { 0 } else { at }).collect();
    at(tensor, &own)
}

/// All scalars in row-major order, read by the definition of strides.
fn dense(tensor: &Tensor) -> Vec<f64> {
    indices(&tensor.shape).iter().map(|index| at(tensor, index)).collect()
}

#[track_caller]
fn assert_close(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        let is_close = found == expected || (found - expected).abs() <= 1e-12 * expected.abs().max(1.0);
        assert!(is_close || (found.is_nan() && expected.is_nan()), "{found} is not {expected}");
    }
}

fn vector(scalars: &[f64]) -> Tensor {
    Tensor::new(Shape::from([scalars.len()]), scalars.to_vec()).unwrap()
}

fn tensor(shape: &[usize], scalars: &[f64]) -> Tensor {
    Tensor::new(Shape::from(shape), scalars.to_vec()).unwrap()
}

/// The sum of the products of the scalars of two tensors.
fn inner(a: &Tensor, b: &Tensor) -> f64 {
    assert_eq!(a.shape, b.shape);
    dense(a).iter().zip(dense(b)).map(|(a, b)| a * b).sum()
}

#[track_caller]
fn assert_adjoint(forward: f64, backward: f64) {
    assert!((forward - backward).abs() <= 1e-10 * forward.abs().max(1.0), "{forward} is not {backward}");
}
