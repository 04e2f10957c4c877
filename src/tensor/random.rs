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
fn philox(mut words: [u32; 4], mut key: [u32; 2]) -> [u32; 4] {
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

/// The random words of a seed. A seed determines a key and the upper half of all counters in the way of TensorFlow's stateless
/// generators, so equal seeds give equal tensors there and here.
#[derive(Clone, Copy)]
struct Words {
    key: [u32; 2],
    upper: [u32; 2],
}

impl Words {
    fn new(seed: Seed) -> Words {
        let [graph, operation] = [seed.0, seed.1].map(|part| i64::from(part) as u64);
        let halves = [graph as u32, (graph >> 32) as u32, operation as u32, (operation >> 32) as u32];
        let [key_low, key_high, low, high] = philox(halves, [0x3ec8_f720, 0x0246_1e29]);
        Words { key: [key_low, key_high], upper: [low, high] }
    }

    /// Returns the four words with this number.
    fn at(self, number: u64) -> [u32; 4] {
        let [low, high] = self.upper;
        philox([number as u32, (number >> 32) as u32, low, high], self.key)
    }
}

/// Returns a number in 0..<1 from 23 bits of a word.
fn unit_float(word: u32) -> f32 {
    f32::from_bits(0x3f80_0000 | word & 0x007f_ffff) - 1.0
}

/// Returns a number in 0..<1 from 52 bits of two words.
fn unit_double(high: u32, low: u32) -> f64 {
    f64::from_bits(0x3ff0_0000_0000_0000 | u64::from(high & 0x000f_ffff) << 32 | u64::from(low)) - 1.0
}

/// Returns two independent normal numbers in single precision (the transform by Box and Muller). The functions are those of `libm`,
/// which give the same numbers on every machine.
fn normal_floats(first: u32, second: u32) -> [f64; 2] {
    let angle = (std::f64::consts::TAU * f64::from(unit_float(second))) as f32;
    let radius = (-2.0 * libm::logf(unit_float(first).max(1e-7))).sqrt();
    [radius * libm::sinf(angle), radius * libm::cosf(angle)].map(f64::from)
}

/// Returns two independent normal numbers from four words.
fn normal_doubles([first, second, third, fourth]: [u32; 4]) -> [f64; 2] {
    let angle = std::f64::consts::TAU * unit_double(third, fourth);
    let radius = (-2.0 * libm::log(unit_double(first, second).max(1e-7))).sqrt();
    [radius * libm::sin(angle), radius * libm::cos(angle)]
}

/// Returns the normal numbers that four words give: four in single precision, otherwise two.
fn normal_group(kind: ScalarKind, words: [u32; 4]) -> Group {
    if kind == ScalarKind::F32 {
        normal_floats(words[0], words[1]).into_iter().chain(normal_floats(words[2], words[3])).collect()
    } else {
        normal_doubles(words).into_iter().collect()
    }
}

/// The numbers that are computed together: as many as four words give.
type Group = smallvec::SmallVec<[f64; 4]>;

/// Returns how many numbers of a kind are computed together.
fn group_size(kind: ScalarKind) -> usize {
    if kind == ScalarKind::F32 { 4 } else { 2 }
}

impl Tensor {
    /// Fills a tensor of real numbers by a function of the number of each group of scalars.
    fn random_reals(kind: ScalarKind, shape: Shape, group: impl Fn(u64) -> Group + Sync) -> Result<Tensor> {
        let operation = "random numbers";
        let count = shape.checked_count(operation, kind.size())?;
        let size = group_size(kind);
        with_kind!(operation, real kind, T => {
            // The size of a block is a multiple of that of a group.
            let scalars = fill_blocks(count, 32, |start, block: &mut [T]| {
                for (at, part) in block.chunks_mut(size).enumerate() {
                    part.iter_mut().zip(group((start / size + at) as u64)).for_each(|(x, number)| *x = T::from_f64(number));
                }
            });
            Ok(Tensor::from_scalars(shape, scalars))
        })
    }

    /// Returns random numbers from 0 up to, but not including, 1.
    pub fn random_uniform(kind: ScalarKind, shape: Shape, seed: Seed) -> Result<Tensor> {
        let words = Words::new(seed);
        Tensor::random_reals(kind, shape, |number| {
            let words = words.at(number);
            if kind == ScalarKind::F32 {
                words.into_iter().map(|word| f64::from(unit_float(word))).collect()
            } else {
                words.chunks(2).map(|pair| unit_double(pair[0], pair[1])).collect()
            }
        })
    }

    /// Returns normally distributed random numbers with mean 0 and deviation 1.
    pub fn random_normal(kind: ScalarKind, shape: Shape, seed: Seed) -> Result<Tensor> {
        let words = Words::new(seed);
        Tensor::random_reals(kind, shape, |number| normal_group(kind, words.at(number)))
    }

    /// Returns normally distributed random numbers with mean 0 and deviation 1, without those beyond two deviations. The numbers of a
    /// group are the first such numbers of its range of words, which is so long that it always suffices.
    pub fn random_truncated_normal(kind: ScalarKind, shape: Shape, seed: Seed) -> Result<Tensor> {
        const RESERVED: u64 = 64;
        let words = Words::new(seed);
        let size = group_size(kind);
        let range = RESERVED * size as u64;
        Tensor::random_reals(kind, shape, |number| {
            let candidates = (range * number..range * (number + 1)).flat_map(|at| normal_group(kind, words.at(at)));
            candidates.filter(|x| x.abs() < 2.0).take(size).collect()
        })
    }

    /// Returns random integers from `low` up to, but not including, `high`, which are equally probable up to a bias as small as their number beside that of
    /// the words.
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
        let words = Words::new(seed);
        with_kind!(operation, integer kind, T => {
            let scalars = fill_blocks(count, 32, |start, block: &mut [T]| {
                for (at, x) in block.iter_mut().enumerate() {
                    let number = start + at;
                    let bits = if kind.size() == 8 {
                        let words = words.at(number as u64 / 2);
                        let low = number % 2 * 2;
                        u64::from(words[low + 1]) << 32 | u64::from(words[low])
                    } else {
                        u64::from(words.at(number as u64 / 4)[number % 4])
                    };
                    *x = T::from_i128(i128::from(low) + i128::from(bits % span));
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
        let words = Words::new(seed);
        let class = |number: usize| {
            let words = words.at(number as u64);
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
