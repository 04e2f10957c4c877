//! Random tensors from a counter-based generator: each scalar depends only on the seed and its number, so any number of threads
//! gives the same tensor. The numbers of a seed never change: the tests pin them.

use super::error::{Result, TensorError};
use super::parallel::fill_blocks;
use super::scalar::{Scalar, ScalarKind, with_kind};
use super::shape::Shape;
use super::strided::Tensor;

/// A pair of numbers that determines a random tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seed(pub i32, pub i32);

/// Returns four random words for a counter: Philox 4×32 with ten rounds (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3").
fn philox(seed: Seed, counter: u64, stream: u64) -> [u32; 4] {
    let mut key = [seed.0 as u32, seed.1 as u32];
    let mut words = [counter as u32, (counter >> 32) as u32, stream as u32, (stream >> 32) as u32];
    for _ in 0..10 {
        let first = u64::from(words[0]) * 0xd251_1f53;
        let second = u64::from(words[2]) * 0xcd9e_8d57;
        words = [
            (second >> 32) as u32 ^ words[1] ^ key[0],
            second as u32,
            (first >> 32) as u32 ^ words[3] ^ key[1],
            first as u32,
        ];
        key = [key[0].wrapping_add(0x9e37_79b9), key[1].wrapping_add(0xbb67_ae85)];
    }
    words
}

/// Returns a number in 0..<1 with all 53 bits random.
fn unit_double(high: u32, low: u32) -> f64 {
    ((u64::from(high) << 32 | u64::from(low)) >> 11) as f64 / 9_007_199_254_740_992.0
}

/// Returns two independent normal numbers from the words of a counter (the transform by Box and Muller). The functions are those of
/// `libm`, which give the same numbers on every machine.
fn normal_pair(words: [u32; 4]) -> [f64; 2] {
    let radius = (-2.0 * libm::log(1.0 - unit_double(words[0], words[1]))).sqrt();
    let angle = std::f64::consts::TAU * unit_double(words[2], words[3]);
    [radius * libm::cos(angle), radius * libm::sin(angle)]
}

/// Returns a normal number within two deviations: the first such number of the counter's streams.
fn truncated_normal(seed: Seed, counter: u64) -> f64 {
    let streams = (1..1000).flat_map(|stream| normal_pair(philox(seed, counter, stream)));
    streams.into_iter().find(|x| x.abs() <= 2.0).unwrap_or(0.0)
}

impl Tensor {
    /// Fills a tensor of real numbers by a function of the number of each scalar.
    fn random_reals(kind: ScalarKind, shape: Shape, number: impl Fn(u64) -> f64 + Sync) -> Result<Tensor> {
        let operation = "random numbers";
        let count = shape.checked_count(operation, kind.size())?;
        with_kind!(operation, real kind, T => {
            let scalars = fill_blocks(count, 32, |start, block: &mut [T]| {
                block.iter_mut().enumerate().for_each(|(at, x)| *x = T::from_f64(number((start + at) as u64)));
            });
            Ok(Tensor::from_scalars(shape, scalars))
        })
    }

    /// Returns random numbers from 0 up to, but not including, 1.
    pub fn random_uniform(kind: ScalarKind, shape: Shape, seed: Seed) -> Result<Tensor> {
        Tensor::random_reals(kind, shape, |number| {
            let words = philox(seed, number, 0);
            // A Float has 24 random bits, so that rounding cannot give 1.
            if kind == ScalarKind::F32 {
                f64::from(words[0] >> 8) / 16_777_216.0
            } else {
                unit_double(words[0], words[1])
            }
        })
    }

    /// Returns normally distributed random numbers with mean 0 and deviation 1.
    pub fn random_normal(kind: ScalarKind, shape: Shape, seed: Seed) -> Result<Tensor> {
        let operation = "random numbers";
        let count = shape.checked_count(operation, kind.size())?;
        with_kind!(operation, real kind, T => {
            // Blocks start at even numbers.
            let scalars = fill_blocks(count, 32, |start, block: &mut [T]| {
                for (at, pair) in block.chunks_mut(2).enumerate() {
                    let numbers = normal_pair(philox(seed, (start / 2 + at) as u64, 0));
                    pair.iter_mut().zip(numbers).for_each(|(x, number)| *x = T::from_f64(number));
                }
            });
            Ok(Tensor::from_scalars(shape, scalars))
        })
    }

    /// Returns normally distributed random numbers with mean 0 and deviation 1, without those beyond two deviations.
    pub fn random_truncated_normal(kind: ScalarKind, shape: Shape, seed: Seed) -> Result<Tensor> {
        Tensor::random_reals(kind, shape, |number| truncated_normal(seed, number))
    }

    /// Returns random integers from `low` up to, but not including, `high`, which are all equally probable.
    pub fn random_integers(kind: ScalarKind, shape: Shape, low: i64, high: i64, seed: Seed) -> Result<Tensor> {
        let operation = "Tensor(randomUniform:lowerBound:upperBound:seed:)";
        let count = shape.checked_count(operation, kind.size())?;
        if low >= high {
            return Err(TensorError::value(
                operation,
                format!("needs a lower bound ({low}) below the upper bound ({high})"),
            ));
        }
        let span = (i128::from(high) - i128::from(low)) as u64;
        with_kind!(operation, integer kind, T => {
            let scalars = fill_blocks(count, 32, |start, block: &mut [T]| {
                for (at, x) in block.iter_mut().enumerate() {
                    *x = T::from_i128(i128::from(low) + i128::from(below(span, seed, (start + at) as u64)));
                }
            });
            Ok(Tensor::from_scalars(shape, scalars))
        })
    }
}

impl Tensor {
    /// Returns random classes (`Int32`) of the shape `[rows, count]`; the probabilities of each row are the softmax of a row of
    /// this matrix.
    pub fn random_categorical(&self, count: usize, seed: Seed) -> Result<Tensor> {
        let operation = "Tensor(randomCategorialLogits:sampleCount:)";
        let &[rows, classes] = &self.shape[..] else {
            let problem = format!("a tensor of shape {} has no rows of logits", self.shape);
            return Err(TensorError::shape(operation, None, &[&self.shape], problem, "needs rank 2"));
        };
        let shape = Shape::from([rows, count]);
        let total = shape.checked_count(operation, size_of::<i32>())?;
        let probabilities = self.clone().softmax()?.cast(ScalarKind::F64)?.to_vec::<f64>()?;
        if total > 0 && (classes == 0 || probabilities.iter().any(|x| x.is_nan())) {
            return Err(TensorError::value(operation, "the logits of a row give no probabilities"));
        }
        let class = |number: usize| {
            let words = philox(seed, number as u64, 0);
            let mut rest = unit_double(words[0], words[1]);
            let row = &probabilities[number / count * classes..][..classes];
            let is_found = |x: &f64| {
                rest -= x;
                rest < 0.0
            };
            // Rounding may leave a rest after the last class, which then is the last possible one.
            let last = || row.iter().rposition(|x| *x > 0.0).unwrap_or(0);
            row.iter().position(is_found).unwrap_or_else(last) as i32
        };
        Ok(Tensor::from_scalars(shape, (0..total).map(class).collect()))
    }
}

/// Returns a random integer below a bound, without bias: products that fall into the incomplete part are drawn again (Lemire).
fn below(bound: u64, seed: Seed, counter: u64) -> u64 {
    let incomplete = bound.wrapping_neg() % bound;
    let mut result = 0;
    for stream in 0..64 {
        let [high, low, ..] = philox(seed, counter, stream);
        let product = u128::from(u64::from(high) << 32 | u64::from(low)) * u128::from(bound);
        result = (product >> 64) as u64;
        if product as u64 >= incomplete {
            break;
        }
    }
    result
}
