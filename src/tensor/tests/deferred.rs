//! Deferred elementwise operations: their results are those of the operations one after another.

use super::*;
use std::num::NonZeroUsize;
use std::rc::Rc;

const SIZE: usize = 20_000;

/// The size of a tensor that does not stay in the cache.
const LARGE: usize = 140_000;

fn numbers(random: &mut Random, kind: ScalarKind, shape: &[usize]) -> Tensor {
    let shape = Shape::from(shape);
    let scalars: Vec<f64> = (0..shape.scalar_count()).map(|_| random.number()).collect();
    Tensor::new(shape, scalars).unwrap().cast(kind).unwrap()
}

fn bits(tensor: &Tensor) -> Vec<u64> {
    let all = tensor.cast(ScalarKind::F64).unwrap().to_vec::<f64>().unwrap();
    all.into_iter().map(|x| if x.is_nan() { f64::NAN.to_bits() } else { x.to_bits() }).collect()
}

/// The same tensor after its scalars are computed.
fn computed(tensor: Tensor) -> Tensor {
    bits(&tensor);
    tensor
}

const UNARY: [Unary; 8] =
    [Unary::Sin, Unary::Exp, Unary::Negate, Unary::Tanh, Unary::Squared, Unary::Sqrt, Unary::Relu, Unary::Sigmoid];
const BINARY: [Binary; 7] = [
    Binary::Add,
    Binary::Subtract,
    Binary::Multiply,
    Binary::Divide,
    Binary::Max,
    Binary::Pow,
    Binary::SquaredDifference,
];

/// Applies random operations to tensors, some of which are views and broadcast; `finish` is called with each result.
fn random_results(seed: u64, kind: ScalarKind, finish: &dyn Fn(Tensor) -> Tensor) -> Vec<Tensor> {
    let mut random = Random(seed);
    let mut all = vec![
        numbers(&mut random, kind, &[100, 200]),
        numbers(&mut random, kind, &[200, 100]).transpose(&[]).unwrap(),
        numbers(&mut random, kind, &[200]),
        numbers(&mut random, kind, &[100, 1]),
        numbers(&mut random, kind, &[200, 400])
            .index(&[
                Index::Range { start: Some(1), end: None, step: 2 },
                Index::Range { start: None, end: None, step: 2 },
            ])
            .unwrap(),
        Tensor::scalar(0.5).cast(kind).unwrap(),
    ];
    for _ in 0..25 {
        let operand = |random: &mut Random, all: &[Tensor]| {
            // Recent results are chosen more often, so that expressions become deep.
            let recent = all.len().saturating_sub(6);
            all[if random.flag() { random.below(all.len()) } else { recent + random.below(all.len() - recent) }].clone()
        };
        let x = operand(&mut random, &all);
        let result = match random.below(12) {
            0..4 => x.unary(UNARY[random.below(UNARY.len())]),
            4..8 => x.binary(BINARY[random.below(BINARY.len())], operand(&mut random, &all)),
            8 => x.sum(None, false),
            9 => x.mean(None, true),
            10 => {
                let mut chain = Chain::new();
                let (a, b, _unread) = (chain.input(), chain.input(), chain.input());
                let is_less = chain.compare(Comparison::Less, a, b);
                let two = chain.constant(2.0);
                let double = chain.binary(Binary::Multiply, b, two);
                let chosen = chain.select(is_less, double, a);
                let kept = chain.keep_zero(chosen, b);
                chain.give(kept);
                chain.apply(x, &[&operand(&mut random, &all), &operand(&mut random, &all)])
            }
            _ => {
                let other = operand(&mut random, &all);
                x.reshape(&[-1]).map(|flat| if flat.scalar_count() == SIZE { flat } else { other }).and_then(|x| {
                    if x.rank() == 1 && x.scalar_count() == SIZE { x.reshape(&[100, 200]) } else { Ok(x) }
                })
            }
        };
        all.push(finish(result.unwrap()));
        // Some results are not used any more.
        if random.below(4) == 0 && all.len() > 8 {
            all.remove(6 + random.below(all.len() - 6));
        }
    }
    all
}

#[test]
fn deferred_results_have_the_bits_of_computed_ones() {
    for seed in 1..60 {
        for kind in [ScalarKind::F64, ScalarKind::F32] {
            let expected: Vec<Vec<u64>> = random_results(seed * 31, kind, &computed).iter().map(bits).collect();
            let found = random_results(seed * 31, kind, &|x| x);
            assert!(found.iter().map(bits).collect::<Vec<_>>() == expected, "{seed} {kind:?}");
            // In the opposite order, without what was computed before.
            let found = random_results(seed * 31, kind, &|x| x);
            let mut reversed: Vec<_> = found.into_iter().rev().map(|tensor| bits(&tensor)).collect();
            reversed.reverse();
            assert!(reversed == expected, "{seed} {kind:?}");
        }
    }
}

#[test]
fn threads_do_not_change_deferred_results() {
    let compute = || {
        let mut random = Random(5);
        let x = numbers(&mut random, ScalarKind::F64, &[300, 1000]);
        let y = numbers(&mut random, ScalarKind::F64, &[1000]);
        let product = x.unary(Unary::Sin).unwrap().binary(Binary::Multiply, y).unwrap();
        let sum = product.sum(None, false).unwrap();
        let result = product.clone().unary(Unary::Tanh).unwrap();
        [bits(&sum), bits(&result), bits(&product)]
    };
    set_threads(NonZeroUsize::new(1));
    let one = compute();
    set_threads(NonZeroUsize::new(3));
    let three = compute();
    set_threads(None);
    assert!(one == three);
}

#[test]
fn a_result_is_that_of_the_tensor_before_a_change() {
    let mut random = Random(6);
    let mut x = numbers(&mut random, ScalarKind::F64, &[SIZE]);
    let before = x.to_vec::<f64>().unwrap();
    let address = x.scalars::<f64>().unwrap().as_ptr();
    let square = x.clone().unary(Unary::Squared).unwrap();
    let part = x.index(&[Index::Range { start: None, end: None, step: -1 }]).unwrap().unary(Unary::Negate).unwrap();
    x.assign(&[Index::At(0)], &Tensor::scalar(7.0)).unwrap();
    assert!(!square.data.is_deferred() && !part.data.is_deferred());
    // The results are computed instead of a copy of the tensor.
    assert_eq!(address, x.scalars::<f64>().unwrap().as_ptr());
    assert_eq!(x.scalars::<f64>().unwrap()[0], 7.0);
    assert!(square.to_vec::<f64>().unwrap().iter().zip(&before).all(|(y, x)| *y == x * x));
    assert!(part.to_vec::<f64>().unwrap().iter().zip(before.iter().rev()).all(|(y, x)| *y == -x));
    // Another tensor shares the storage, which is copied.
    let shared = x.clone();
    let square = x.clone().unary(Unary::Squared).unwrap();
    x.assign(&[Index::At(0)], &Tensor::scalar(8.0)).unwrap();
    assert!(square.data.is_deferred());
    assert_eq!((shared.scalars::<f64>().unwrap()[0], square.scalars::<f64>().unwrap()[0]), (7.0, 49.0));
    // A deferred tensor can be changed itself.
    let mut sum = shared.clone().binary(Binary::Add, shared).unwrap();
    sum.assign(&[Index::At(-1)], &Tensor::scalar(1.0)).unwrap();
    assert_eq!(sum.scalars::<f64>().unwrap()[SIZE - 1], 1.0);
}

#[test]
fn a_result_takes_over_memory_that_nothing_else_reads() {
    let mut random = Random(7);
    let mut w = numbers(&mut random, ScalarKind::F64, &[SIZE]);
    for _ in 0..3 {
        let gradient = numbers(&mut random, ScalarKind::F64, &[SIZE]);
        let addresses = [&w, &gradient].map(|tensor| tensor.scalars::<f64>().unwrap().as_ptr());
        let scaled = gradient.binary_scalar(Binary::Multiply, 0.1, false).unwrap();
        w = w.binary(Binary::Subtract, scaled).unwrap();
        assert!(w.data.is_deferred());
        assert!(addresses.contains(&w.scalars::<f64>().unwrap().as_ptr()));
    }
    let address = w.scalars::<f64>().unwrap().as_ptr();
    let kept = w.clone();
    let negative = w.unary(Unary::Negate).unwrap();
    assert_ne!(negative.scalars::<f64>().unwrap().as_ptr(), address);
    assert_eq!(kept.scalars::<f64>().unwrap().as_ptr(), address);
    // Two results of one pass, of which neither may overwrite what the other reads.
    let (sine, square) = (kept.clone().unary(Unary::Sin).unwrap(), kept.clone().unary(Unary::Squared).unwrap());
    let (sum, product) = (
        sine.clone().binary(Binary::Add, square.clone()).unwrap(),
        sine.clone().binary(Binary::Multiply, square.clone()).unwrap(),
    );
    let expected: Vec<(f64, f64)> = kept.to_vec::<f64>().unwrap().iter().map(|x| (x * x, -x)).collect();
    drop((kept, sine));
    assert!(bits(&sum).len() == SIZE && !product.data.is_deferred() && square.data.is_deferred());
    let squares = square.to_vec::<f64>().unwrap();
    assert!(squares.iter().zip(&expected).all(|(found, (square, _))| found == square));
    assert!(negative.to_vec::<f64>().unwrap().iter().zip(&expected).all(|(found, (_, negative))| found == negative));
}

#[test]
fn a_value_and_what_shares_its_steps_are_one_pass() {
    let mut random = Random(8);
    let x = numbers(&mut random, ScalarKind::F64, &[LARGE]);
    let sine = x.clone().unary(Unary::Sin).unwrap();
    let mean = sine.mean(None, false).unwrap();
    let gradient = sine.clone().binary_scalar(Binary::Multiply, 2.0, false).unwrap();
    let sum = mean.data.expression(|mean| Rc::clone(mean.sources().next().unwrap())).unwrap();
    bits(&gradient);
    // The mean is computed from the sum when it is read.
    assert!(mean.data.is_deferred() && !sum.is_deferred() && sine.data.is_deferred());
    let expected = sine.to_vec::<f64>().unwrap();
    assert_eq!(bits(&mean), bits(&vector(&expected).mean(None, false).unwrap()));
}

#[test]
fn what_is_read_again_is_stored_if_that_takes_less_time() {
    let mut random = Random(8);
    let is_deferred_after_passes = |x: Tensor, passes: usize| {
        for _ in 0..passes {
            bits(&x.clone().unary(Unary::Negate).unwrap());
        }
        x.data.is_deferred()
    };
    let [small, large] = [SIZE, LARGE].map(|size| numbers(&mut random, ScalarKind::F64, &[size]));
    assert!(!is_deferred_after_passes(small.clone().unary(Unary::Sin).unwrap(), 1));
    assert!(is_deferred_after_passes(large.clone().unary(Unary::Sin).unwrap(), 1));
    assert!(!is_deferred_after_passes(large.clone().unary(Unary::Sin).unwrap(), 2));
    for x in [small, large] {
        assert!(is_deferred_after_passes(x.clone().unary(Unary::Squared).unwrap(), 5));
        let other = Tensor::new(x.shape.clone(), x.to_vec::<f64>().unwrap()).unwrap();
        assert!(!is_deferred_after_passes(x.binary(Binary::Add, other).unwrap(), 1));
    }
}

#[test]
fn few_sums_are_deferred_at_a_time() {
    let mut random = Random(9);
    let x = numbers(&mut random, ScalarKind::F64, &[SIZE]);
    let sums: Vec<Tensor> = (0..10)
        .map(|n| x.clone().binary_scalar(Binary::Add, f64::from(n), false).unwrap().sum(None, false).unwrap())
        .collect();
    assert!(sums.iter().filter(|sum| sum.data.is_deferred()).count() <= 4);
    let total: f64 = x.sum(None, false).unwrap().scalarized().unwrap();
    for (n, sum) in sums.iter().enumerate() {
        let expected = total + (n * SIZE) as f64;
        assert!((sum.scalarized::<f64>().unwrap() - expected).abs() < 1e-6);
    }
}

#[test]
fn small_tensors_parts_and_integers_are_computed_at_once() {
    let mut random = Random(10);
    let small = numbers(&mut random, ScalarKind::F64, &[1000]).unary(Unary::Sin).unwrap();
    assert!(!small.data.is_deferred());
    let part = numbers(&mut random, ScalarKind::F64, &[100 * SIZE]);
    let part = part.index(&[Index::Range { start: None, end: Some(SIZE as isize), step: 1 }]).unwrap();
    assert!(!part.unary(Unary::Sin).unwrap().data.is_deferred());
    let integers = Tensor::range(0, SIZE as i32, 1).unwrap();
    assert!(!integers.unary(Unary::Negate).unwrap().data.is_deferred());
    let ones = Tensor::ones(ScalarKind::F64, Shape::from([SIZE])).unwrap();
    assert!(!ones.unary(Unary::Negate).unwrap().data.is_deferred());
    let x = numbers(&mut random, ScalarKind::F64, &[SIZE]);
    assert!(x.clone().binary(Binary::Add, Tensor::scalar(1.0f32)).is_err());
    assert!(x.clone().binary(Binary::Add, vector(&[1.0, 2.0])).is_err());
    // The size of a deferred tensor is that of its scalars.
    assert_eq!(x.clone().unary(Unary::Exp).unwrap().buffer_size(), 8 * SIZE);
    let view = x.unary(Unary::Exp).unwrap().transpose(&[]).unwrap();
    assert!(view.data.is_deferred() && Rc::strong_count(&view.data) == 1);
}

#[test]
fn long_chains_are_computed_in_parts() {
    let mut random = Random(11);
    let x = numbers(&mut random, ScalarKind::F64, &[SIZE]);
    let (mut y, mut expected) = (x.clone(), x.to_vec::<f64>().unwrap());
    let mut all = vec![];
    for _ in 0..300 {
        y = y.binary(Binary::Multiply, x.clone()).unwrap().binary_scalar(Binary::Add, 0.25, false).unwrap();
        all.push(y.clone());
        expected.iter_mut().zip(x.to_vec::<f64>().unwrap()).for_each(|(y, x)| *y = *y * x + 0.25);
    }
    assert!(bits(&y) == bits(&vector(&expected)));
    assert!(bits(&all[150]).len() == SIZE && all.iter().all(|y| bits(y).len() == SIZE));
}
