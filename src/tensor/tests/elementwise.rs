//! Elementwise operations and chains.

use super::*;
use std::num::NonZeroUsize;

/// A function of the standard library.
type Exact = fn(f64) -> f64;

#[test]
fn operations_broadcast() {
    let mut random = Random(11);
    for number in 0..600 {
        let rank = random.below(5);
        let shape = random.shape(rank);
        let operand = |random: &mut Random| {
            let dropped = random.below(rank + 1);
            let own: Shape = shape[dropped..].iter().map(|&size| if random.below(4) == 0 { 1 } else { size }).collect();
            random.tensor(&own)
        };
        let (a, b) = (operand(&mut random), operand(&mut random));
        let common = a.shape.broadcast("test", &b.shape).unwrap();
        let operation =
            [Binary::Add, Binary::Subtract, Binary::Multiply, Binary::Divide, Binary::Max, Binary::Atan2][number % 6];
        let expected = |f: &dyn Fn(f64, f64) -> f64| -> Vec<f64> {
            indices(&common).iter().map(|index| f(at_broadcast(&a, index), at_broadcast(&b, index))).collect()
        };
        let value = |x: f64, y: f64| match operation {
            Binary::Add => x + y,
            Binary::Subtract => x - y,
            Binary::Multiply => x * y,
            Binary::Divide => x / y,
            Binary::Max => x.max(y),
            _ => x.atan2(y),
        };
        assert_close(&dense(&a.clone().binary(operation, b.clone()).unwrap()), &expected(&value));
        // In place in one operand or the other.
        assert_close(&dense(&a.contiguous().binary(operation, b.clone()).unwrap()), &expected(&value));
        let fresh = Tensor::new(b.shape.clone(), b.to_vec::<f64>().unwrap()).unwrap();
        assert_close(&dense(&a.clone().binary(operation, fresh).unwrap()), &expected(&value));
        let holds = a.compare(Comparison::Less, &b).unwrap();
        assert_eq!(dense(&holds), expected(&|x, y| f64::from(u8::from(x < y))));
        let full = a.broadcast_to(&common).unwrap();
        let summed = full.unbroadcast_to(&a.shape).unwrap();
        assert_eq!(summed.shape, a.shape);
        let other = random.tensor(&a.shape);
        assert_adjoint(inner(&other.broadcast_to(&common).unwrap(), &full), inner(&other, &summed));
    }
}

#[test]
fn small_tensors_are_added_in_place() {
    let mut sum = vector(&[1.0, 2.0]);
    let shared = sum.clone();
    assert!(!sum.add_small(&vector(&[3.0, 4.0])));
    assert_eq!(dense(&shared), [1.0, 2.0]);
    drop(shared);
    assert!(sum.add_small(&vector(&[3.0, 4.0])) && sum.add_small(&Tensor::scalar(0.5)));
    assert_eq!(dense(&sum), [4.5, 6.5]);
    // The sum would have another shape or kind, or the memory holds other scalars, too.
    assert!(!sum.add_small(&tensor(&[1, 2], &[1.0, 2.0])));
    assert!(!sum.add_small(&Tensor::scalar(1.0f32)));
    assert!(!Tensor::scalar(1i64).add_small(&Tensor::scalar(1i64)));
    let mut part = vector(&[1.0, 2.0, 3.0]).slice(&[1], &[2]).unwrap();
    assert!(!part.add_small(&vector(&[3.0, 4.0])));
    assert_eq!(dense(&sum), [4.5, 6.5]);
}

#[test]
fn real_functions_are_accurate() {
    let cases: &[(Unary, Exact, f64, f64, f64)] = &[
        (Unary::Exp, f64::exp, -740.0, 709.0, 2.0),
        (Unary::Expm1, f64::exp_m1, -5.0, 5.0, 3.0),
        (Unary::Log, f64::ln, 1e-9, 1e3, 2.0),
        (Unary::Log1p, f64::ln_1p, -0.99, 9.0, 3.0),
        (Unary::Sin, f64::sin, -1e4, 1e4, 2.0),
        (Unary::Cos, f64::cos, -1e4, 1e4, 2.0),
        (Unary::Sin, f64::sin, -1e12, 1e12, 2.0),
        (Unary::Tanh, f64::tanh, -25.0, 25.0, 5.0),
        (Unary::Tan, f64::tan, -2.0, 2.0, 1.0),
        (Unary::Exp2, f64::exp2, -2.0, 2.0, 1.0),
    ];
    let mut random = Random(12);
    for &(operation, exact, low, high, units) in cases {
        let points: Vec<f64> = (0..5000).map(|_| low + (high - low) * (random.number() + 2.0) / 4.0).collect();
        let found = vector(&points).unary(operation).unwrap().to_vec::<f64>().unwrap();
        for (&x, y) in points.iter().zip(found) {
            let exact = exact(x);
            let unit = exact.abs().next_up() - exact.abs();
            assert!((y - exact).abs() <= units * unit, "{} at {x}: {y} instead of {exact}", operation.name());
        }
        // Float: a unit is 2^-23 of the value.
        let narrow: Vec<f32> = points.iter().map(|&x| x.clamp(-80.0, 80.0) as f32).collect();
        let found = Tensor::new(Shape::from([narrow.len()]), narrow.clone()).unwrap().unary(operation).unwrap();
        for (&x, y) in narrow.iter().zip(found.to_vec::<f32>().unwrap()) {
            let exact = cases.iter().find(|case| case.0 == operation).map_or(0.0, |case| case.1(f64::from(x)));
            let is_close = (f64::from(y) - exact).abs() <= units * exact.abs() / 8_388_608.0 + 1e-44;
            assert!(is_close, "{} at {x}: {y} instead of {exact}", operation.name());
        }
    }
}

#[test]
fn special_values_are_those_of_the_standard() {
    let special = [0.0, -0.0, f64::INFINITY, -f64::INFINITY, f64::NAN, 5e-324, -1e-310, 1e300, -1e300, 800.0, -800.0];
    let cases: &[(Unary, Exact)] = &[
        (Unary::Exp, f64::exp),
        (Unary::Expm1, f64::exp_m1),
        (Unary::Log, f64::ln),
        (Unary::Log1p, f64::ln_1p),
        (Unary::Sin, f64::sin),
        (Unary::Cos, f64::cos),
        (Unary::Tanh, f64::tanh),
        (Unary::Sqrt, f64::sqrt),
        (Unary::Round, f64::round_ties_even),
        (Unary::Sinh, f64::sinh),
    ];
    for (operation, exact) in cases {
        let found = vector(&special).unary(*operation).unwrap().to_vec::<f64>().unwrap();
        for (&x, y) in special.iter().zip(found) {
            let exact = exact(x);
            let is_same = y == exact && y.is_sign_negative() == exact.is_sign_negative();
            let is_close = (y - exact).abs() <= 4.0 * f64::EPSILON * exact.abs();
            assert!(is_same || is_close || (y.is_nan() && exact.is_nan()), "{} at {x}: {y}", operation.name());
        }
    }
}

#[test]
fn activations_follow_their_formulas() {
    let sigmoid = |x: f64| 1.0 / (1.0 + (-x).exp());
    let softplus = |x: f64| x.max(0.0) + (-x.abs()).exp().ln_1p();
    let points: Vec<f64> = (-80..80).map(|at| f64::from(at) / 8.0 + 0.01).collect();
    let check = |operation: Unary, formula: &dyn Fn(f64) -> f64| {
        let expected: Vec<f64> = points.iter().map(|&x| formula(x)).collect();
        assert_close(&vector(&points).unary(operation).unwrap().to_vec::<f64>().unwrap(), &expected);
    };
    check(Unary::Sigmoid, &sigmoid);
    check(Unary::Softplus, &softplus);
    check(Unary::LogSigmoid, &|x| -softplus(-x));
    check(Unary::Softsign, &|x| x / (1.0 + x.abs()));
    check(Unary::Relu6, &|x| x.clamp(0.0, 6.0));
    check(Unary::Elu, &|x| if x < 0.0 { x.exp_m1() } else { x });
    check(Unary::Swish, &|x| x * sigmoid(x));
    check(Unary::Mish, &|x| x * softplus(x).tanh());
    check(Unary::HardSwish, &|x| x * (x + 3.0).clamp(0.0, 6.0) / 6.0);
    check(Unary::Gelu, &|x| {
        0.5 * x * (1.0 + ((2.0 / std::f64::consts::PI).sqrt() * (x + 0.044715 * x.powi(3))).tanh())
    });
    check(Unary::Rsqrt, &|x| 1.0 / x.sqrt());
    let below: Vec<f64> = points.iter().map(|x| -x.abs()).collect();
    let expected: Vec<f64> = below.iter().map(|x| (-x.exp_m1()).ln()).collect();
    assert_close(&vector(&below).unary(Unary::Log1mexp).unwrap().to_vec::<f64>().unwrap(), &expected);
    assert_eq!(dense(&vector(&[-0.5, 0.5, 1.5, 2.5]).unary(Unary::Round).unwrap()), [-0.0, 0.0, 2.0, 2.0]);
    let sign = vector(&[-3.0, 0.0, 2.0, f64::NAN]).unary(Unary::Sign).unwrap();
    assert_close(&dense(&sign), &[-1.0, 0.0, 1.0, f64::NAN]);
    let roots = vector(&[-8.0, 27.0]).binary_scalar(Binary::Root, 3.0, false).unwrap();
    assert_close(&dense(&roots), &[-2.0, 3.0]);
    let clipped = vector(&[-3.0, 0.5, 2.0]).clipped(Tensor::scalar(0.0), Tensor::scalar(1.0)).unwrap();
    assert_eq!(dense(&clipped), [0.0, 0.5, 1.0]);
}

#[test]
fn a_chain_equals_its_operations() {
    let mut random = Random(13);
    let mut chain = Chain::new();
    let (x, y) = (chain.input(), chain.input());
    let half = chain.constant(0.5);
    let sine = chain.unary(Unary::Sin, x);
    let product = chain.binary(Binary::Multiply, sine, y);
    let square = chain.binary(Binary::Multiply, product, product);
    let scaled = chain.binary(Binary::Multiply, half, square);
    let mask = chain.compare(Comparison::Greater, sine, y);
    let chosen = chain.select(mask, scaled, y);
    let last = chain.binary(Binary::Subtract, y, chosen);
    chain.give(last);
    chain.give(sine);
    for shapes in [[&[4000][..], &[4000]], [&[3, 1500], &[1500]], [&[70, 1], &[1, 60]], [&[], &[5]], [&[0, 3], &[3]]] {
        let [a, b] = shapes.map(|shape| random.tensor(&Shape::from(shape)));
        let results = chain.evaluate(&[&a, &b]).unwrap();
        let sine = a.clone().unary(Unary::Sin).unwrap();
        let product = sine.clone().binary(Binary::Multiply, b.clone()).unwrap();
        let square = product.clone().binary(Binary::Multiply, product).unwrap();
        let scaled = square.binary_scalar(Binary::Multiply, 0.5, true).unwrap();
        let chosen = b.replacing(&scaled, &sine.compare(Comparison::Greater, &b).unwrap()).unwrap();
        let last = b.clone().binary(Binary::Subtract, chosen).unwrap();
        assert_eq!(dense(&results[0]), dense(&last));
        assert_eq!(dense(&results[1]), dense(&sine.broadcast_to(&results[1].shape).unwrap()));
        let sum = chain.sum(&[&a, &b]).unwrap().scalarized::<f64>().unwrap();
        assert_eq!(sum.to_bits(), last.sum(None, false).unwrap().scalarized::<f64>().unwrap().to_bits());
    }
    assert!(chain.evaluate(&[&vector(&[1.0])]).is_err());
    assert!(chain.evaluate(&[&vector(&[1.0, 2.0]), &vector(&[1.0, 2.0, 3.0])]).is_err());
    assert!(chain.evaluate(&[&Tensor::scalar(1i32), &Tensor::scalar(1i32)]).is_err());
}

#[test]
fn a_chain_takes_the_memory_of_its_first_input() {
    let mut random = Random(15);
    let mut chain = Chain::new();
    let (x, y) = (chain.input(), chain.input());
    let product = chain.binary(Binary::Multiply, x, y);
    let kept = chain.keep_zero(product, x);
    chain.give(kept);
    for shapes in
        [[&[5000][..], &[5000]], [&[3, 1500], &[1500]], [&[3, 1500], &[]], [&[1500], &[3, 1500]], [&[4], &[4]]]
    {
        let [a, b] = shapes.map(|shape| random.tensor(&Shape::from(shape)));
        let expected = dense(&chain.evaluate(&[&a, &b]).unwrap()[0]);
        let shared = chain.apply(a.clone(), &[&b]).unwrap();
        assert_eq!(dense(&shared), expected);
        let own = Tensor::new(a.shape.clone(), a.to_vec::<f64>().unwrap()).unwrap();
        let address = own.scalars::<f64>().unwrap().as_ptr();
        let found = chain.apply(own, &[&b]).unwrap();
        assert_eq!(dense(&found), expected);
        let is_same = found.scalars::<f64>().unwrap().as_ptr() == address;
        assert_eq!(is_same, a.scalar_count() > 1024 && found.shape == a.shape);
    }
    assert!(chain.apply(random.tensor(&Shape::from([2000])), &[&vector(&[1.0, 2.0])]).is_err());
}

#[test]
fn rows_are_repeated_from_any_position() {
    let row = vector(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]);
    let ones = Tensor::new(Shape::from([900, 7]), vec![1.0; 6300]).unwrap();
    let sum = dense(&ones.clone().binary(Binary::Add, row.clone()).unwrap());
    assert!(sum.iter().enumerate().all(|(at, &x)| x == (at % 7 + 2) as f64));
    let largest = dense(&ones.binary(Binary::Max, row).unwrap());
    assert!(largest.iter().enumerate().all(|(at, &x)| x == (at % 7 + 1) as f64));
}

#[test]
fn integers_wrap_and_do_not_divide_by_zero() {
    let x = Tensor::new(Shape::from([3]), vec![i8::MIN, 100, -7]).unwrap();
    let by = |operation, y: i8| x.clone().binary_scalar(operation, y, false).map(|result| dense(&result));
    assert_eq!(by(Binary::Add, 100).unwrap(), [-28.0, -56.0, 93.0]);
    assert_eq!(by(Binary::Divide, -1).unwrap(), [-128.0, -100.0, 7.0]);
    assert_eq!(by(Binary::Remainder, 4).unwrap(), [0.0, 0.0, -3.0]);
    assert!(by(Binary::Divide, 0).is_err());
    assert!(by(Binary::Atan2, 1).is_err());
    assert!(x.clone().unary(Unary::Sin).is_err());
    let powers = Tensor::range(0, 4, 1).unwrap().binary_scalar(Binary::Pow, 3, true).unwrap();
    assert_eq!(dense(&powers), [1.0, 3.0, 9.0, 27.0]);
    let empty = Tensor::new::<i32>(Shape::from([0]), vec![]).unwrap();
    assert_eq!(empty.binary_scalar(Binary::Divide, 0, false).unwrap().scalar_count(), 0);
    assert!(vector(&[1.0]).binary(Binary::Add, Tensor::scalar(1i32)).is_err());
}

#[test]
fn errors_name_operation_and_shapes() {
    let error = vector(&[1.0, 2.0]).binary(Binary::Add, vector(&[1.0, 2.0, 3.0])).unwrap_err();
    assert_eq!(
        error.to_string(),
        "cannot combine shapes [2] and [3]: + needs equal sizes, or 1, along axis -1 (2 and 3)"
    );
    let TensorError::Shape(error) = error else { panic!("an error about shapes") };
    assert_eq!((error.operation, error.axis, error.shapes.len()), ("+", Some(0), 2));
}

#[test]
fn names_are_unique() {
    for operation in Unary::ALL {
        assert_eq!(Unary::named(operation.name()), Some(*operation));
    }
    for operation in Binary::ALL {
        assert_eq!(Binary::named(operation.name()), Some(*operation));
    }
}

#[test]
fn threads_do_not_change_results() {
    let mut random = Random(14);
    let x = random.tensor(&Shape::from([300, 1000]));
    let y = random.tensor(&Shape::from([1000]));
    let compute = || {
        let mut chain = Chain::new();
        let (a, b) = (chain.input(), chain.input());
        let exp = chain.unary(Unary::Exp, a);
        let sum = chain.binary(Binary::Add, exp, b);
        chain.give(sum);
        chain.give(exp);
        let mut results = chain.evaluate(&[&x, &y]).unwrap();
        results.push(chain.sum(&[&x, &y]).unwrap());
        let mut single = Chain::new();
        let (a, b) = (single.input(), single.input());
        let product = single.binary(Binary::Multiply, a, b);
        single.give(product);
        let own = Tensor::new(x.shape.clone(), x.to_vec::<f64>().unwrap()).unwrap();
        results.push(single.apply(own, &[&y]).unwrap());
        results.push(x.clone().binary(Binary::Divide, y.clone()).unwrap().unary(Unary::Tanh).unwrap());
        for axes in [None, Some(&[0isize][..]), Some(&[1])] {
            results.push(x.sum(axes, false).unwrap());
            results.push(x.variance(axes, false).unwrap());
        }
        results.push(x.matmul(false, &x, true).unwrap());
        let few = x.index(&[Index::Range { start: None, end: Some(20), step: 1 }]).unwrap();
        results.push(few.matmul(false, &x, true).unwrap());
        results.push(x.clone().softmax().unwrap());
        let images = x.reshape(&[10, 30, 100, 10]).unwrap();
        let filter = |outputs: isize| {
            let scalars = Index::Range { start: None, end: Some(90 * outputs), step: 1 };
            y.index(&[scalars]).unwrap().reshape(&[3, 3, 10, outputs]).unwrap()
        };
        let window = Window { strides: &[], dilations: &[], padding: Padding::Same };
        let narrow = images.convolution(&filter(6), &window).unwrap();
        results.push(images.convolution_filter_adjoint(&narrow, filter(6).shape(), &window).unwrap());
        results.push(narrow);
        let means = images.average_pool(&[3, 2], &window).unwrap();
        results.push(means.average_pool_adjoint(images.shape(), &[3, 2], &window).unwrap());
        results.push(means);
        let filter = filter(10);
        let convolved = images.convolution(&filter, &window).unwrap();
        results.push(convolved.convolution_input_adjoint(&filter, images.shape(), &window).unwrap());
        results.push(images.convolution_filter_adjoint(&convolved, filter.shape(), &window).unwrap());
        results.push(convolved);
        results.push(Tensor::random_normal(ScalarKind::F64, Shape::from([200_000]), Seed(1, 2)).unwrap());
        results
    };
    set_threads(NonZeroUsize::new(1));
    let one = compute();
    set_threads(NonZeroUsize::new(3));
    let three = compute();
    set_threads(None);
    for (a, b) in one.iter().zip(&three) {
        let bits = |t: &Tensor| t.to_vec::<f64>().unwrap().iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        assert!(bits(a) == bits(b));
    }
}
