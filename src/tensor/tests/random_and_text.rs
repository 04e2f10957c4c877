//! Random tensors, and the printed form of tensors.

use super::*;

#[test]
fn the_numbers_of_a_seed_never_change() {
    let shape = || Shape::from([4]);
    let words = Tensor::random_integers(ScalarKind::I64, shape(), 0, 1 << 62, Seed(1, 2)).unwrap();
    let uniform = Tensor::random_uniform(ScalarKind::F64, shape(), Seed(1, 2)).unwrap();
    assert_eq!(words.to_vec::<i64>().unwrap(), WORDS);
    assert_eq!(dense(&uniform), UNIFORM);
    assert_close(&dense(&Tensor::random_normal(ScalarKind::F64, shape(), Seed(1, 2)).unwrap()), &NORMAL);
    let floats = Tensor::random_uniform(ScalarKind::F32, shape(), Seed(1, 2)).unwrap();
    assert_eq!(floats.to_vec::<f32>().unwrap(), FLOATS);
}

const WORDS: [i64; 4] = [2853194127853226540, 1591045637757961278, 3554217262881886355, 2524363516007002203];
const UNIFORM: [f64; 4] = [0.7524837538451801, 0.9697857725627486, 0.17592233912897481, 0.8555556648693279];
const NORMAL: [f64; 4] = [-0.1423118100189212, 0.7406072461585091, -1.469047669443883, 1.147747453689489];
const FLOATS: [f32; 4] = [0.844_060_4, 0.192_045_33, 0.996_223_2, 0.160_387_4];

#[test]
fn random_numbers_have_their_distributions() {
    let shape = Shape::from([100_000]);
    let moments = |x: &Tensor| {
        let value = |t: Tensor| t.cast(ScalarKind::F64).unwrap().scalarized::<f64>().unwrap();
        (value(x.mean(None, false).unwrap()), value(x.variance(None, false).unwrap()))
    };
    for kind in [ScalarKind::F32, ScalarKind::F64] {
        let uniform = Tensor::random_uniform(kind, shape.clone(), Seed(3, 4)).unwrap();
        let (mean, variance) = moments(&uniform);
        assert!((mean - 0.5).abs() < 0.005 && (variance - 1.0 / 12.0).abs() < 0.002);
        assert!(dense(&uniform).iter().all(|x| (0.0..1.0).contains(x)));
        let (mean, variance) = moments(&Tensor::random_normal(kind, shape.clone(), Seed(3, 4)).unwrap());
        assert!(mean.abs() < 0.02 && (variance - 1.0).abs() < 0.02);
        let truncated = Tensor::random_truncated_normal(kind, shape.clone(), Seed(3, 4)).unwrap();
        let (mean, variance) = moments(&truncated);
        assert!(mean.abs() < 0.02 && (variance - 0.774).abs() < 0.02);
        assert!(dense(&truncated).iter().all(|x| x.abs() <= 2.0));
    }
    let dice = Tensor::random_integers(ScalarKind::I32, shape.clone(), -1, 5, Seed(0, 0)).unwrap();
    for face in -1..5 {
        let count = dense(&dice).iter().filter(|x| **x == f64::from(face)).count();
        assert!((16_000..17_400).contains(&count));
    }
    assert!(Tensor::random_integers(ScalarKind::I32, shape, 5, 5, Seed(0, 0)).is_err());
    assert!(Tensor::random_uniform(ScalarKind::I32, Shape::from([1]), Seed(0, 0)).is_err());
    assert!(Tensor::random_uniform(ScalarKind::F32, Shape::from([1 << 50]), Seed(0, 0)).is_err());
}

fn text(tensor: &Tensor) -> String {
    tensor.description(DescriptionStyle::usual(tensor.scalar_count()), &|x, _| format!("{x:?}")).unwrap()
}

#[test]
fn tensors_are_printed_as_nested_brackets() {
    assert_eq!(text(&Tensor::scalar(1.5)), "1.5");
    assert_eq!(text(&tensor(&[2, 2], &[1.0, 2.0, 3.0, 10.0])), "[[ 1.0,  2.0],\n [ 3.0, 10.0]]");
    assert_eq!(text(&tensor(&[2, 1, 1], &[1.0, 2.0])), "[[[1.0]],\n [[2.0]]]");
    assert_eq!(text(&tensor(&[0], &[])), "[]");
    assert_eq!(text(&tensor(&[2, 0], &[])), "[[],\n []]");
    assert_eq!(text(&Tensor::new(Shape::from([2]), vec![true, false]).unwrap()), "[ true, false]");
    let long = Tensor::range(0i32, 30, 1).unwrap();
    assert_eq!(text(&long).lines().count(), 1);
    assert_eq!(text(&Tensor::range(0i32, 41, 1).unwrap()).lines().count(), 2);
    let wide = Tensor::range(0i32, 2000, 1).unwrap().reshape(&[2, 1000]).unwrap();
    assert_eq!(text(&wide), "[[   0,    1,    2, ...,  997,  998,  999],\n [1000, 1001, 1002, ..., 1997, 1998, 1999]]");
    let inline = DescriptionStyle { edge: None, is_inline: true, ..DescriptionStyle::usual(0) };
    let x = tensor(&[2, 2], &[1.0, 2.0, 3.0, 10.0]);
    assert_eq!(x.description(inline, &|x, _| format!("{x:?}")).unwrap(), "[[1.0, 2.0], [3.0, 10.0]]");
}

#[test]
fn classes_have_their_probabilities() {
    let logits = tensor(&[2, 3], &[0.0, 2f64.ln(), f64::NEG_INFINITY, 1.0, 1.0, 1.0]);
    let classes = logits.random_categorical(30_000, Seed(5, 6)).unwrap();
    assert_eq!(classes.shape()[..], [2, 30_000]);
    let classes = classes.to_vec::<i32>().unwrap();
    let share = |row: usize, class: i32| {
        classes[row * 30_000..][..30_000].iter().filter(|found| **found == class).count() as f64 / 30_000.0
    };
    for (row, expected) in [[1.0 / 3.0, 2.0 / 3.0, 0.0], [1.0 / 3.0; 3]].into_iter().enumerate() {
        for (class, expected) in expected.into_iter().enumerate() {
            assert!((share(row, class as i32) - expected).abs() < 0.01);
        }
    }
    assert!(vector(&[1.0]).random_categorical(1, Seed(0, 0)).is_err());
    assert!(tensor(&[1, 1], &[f64::NAN]).random_categorical(1, Seed(0, 0)).is_err());
    assert!(tensor(&[1, 0], &[]).random_categorical(1, Seed(0, 0)).is_err());
}
