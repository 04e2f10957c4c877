//! Views, slices, joining, gathering and padding.

use super::*;
use std::rc::Rc;

#[test]
fn a_view_has_the_scalars_of_its_definition() {
    let mut random = Random(1);
    for _ in 0..500 {
        let rank = random.below(5);
        let shape = random.shape(rank);
        let x = random.tensor(&shape);
        assert_eq!(x.shape, shape);
        assert_eq!(x.to_vec::<f64>().unwrap(), dense(&x));
        assert_eq!(dense(&x.contiguous()), dense(&x));
        let reversed: Vec<isize> = (0..rank as isize).filter(|_| random.flag()).collect();
        let y = x.reverse(&reversed).unwrap();
        assert_eq!(y.to_vec::<f64>().unwrap(), dense(&y));
        assert!(y.reverse(&reversed).unwrap().is_equal(&x).unwrap());
        let y = x.transpose(&[]).unwrap();
        for index in indices(&y.shape) {
            let original: Vec<usize> = index.iter().rev().copied().collect();
            assert_eq!(at(&y, &index), at(&x, &original));
        }
        assert_eq!(dense(&x.flattened()), dense(&x));
        let lifted = x.expand_axes(&[0, -1]).unwrap();
        assert_eq!(lifted.rank(), rank + 2);
        assert_eq!(dense(&lifted.squeeze(&[0, -1]).unwrap()), dense(&x));
        assert!(x.squeeze(&[]).unwrap().shape.iter().all(|&size| size != 1));
    }
}

#[test]
fn storage_is_shared_until_it_is_changed() {
    let x = vector(&[1.0, 2.0, 3.0]);
    let mut y = x.clone();
    assert!(Rc::ptr_eq(&x.data, &y.data));
    y.assign(&[Index::At(-1)], &Tensor::scalar(9.0)).unwrap();
    assert_eq!((dense(&x), dense(&y)), (vec![1.0, 2.0, 3.0], vec![1.0, 2.0, 9.0]));
    let before = Rc::as_ptr(&y.data);
    let z = y.unary(Unary::Negate).unwrap().binary(Binary::Add, x.clone()).unwrap();
    assert_eq!(before, Rc::as_ptr(&z.data));
    assert_eq!(dense(&z), [0.0, 0.0, -6.0]);
    assert_eq!(dense(&x), [1.0, 2.0, 3.0]);
}

#[test]
fn an_assignment_changes_the_part_only() {
    let mut random = Random(2);
    for _ in 0..500 {
        let shape = random.shape(3);
        let x = random.tensor(&shape);
        let range = |random: &mut Random, size: usize| {
            let bound =
                |random: &mut Random| random.flag().then(|| random.below(2 * size + 3) as isize - size as isize - 1);
            Index::Range { start: bound(random), end: bound(random), step: [1, 2, -1, -2][random.below(4)] }
        };
        let parts: Vec<Index> = shape.iter().map(|&size| range(&mut random, size)).collect();
        let part = x.index(&parts).unwrap();
        let values = random.tensor(&part.shape);
        let mut y = x.clone();
        y.assign(&parts, &values).unwrap();
        assert_eq!(dense(&y.index(&parts).unwrap()), dense(&values));
        // Where a tensor of ones has its part replaced by zeros, the rest is unchanged.
        let mut mask = Tensor::ones(ScalarKind::F64, shape.clone()).unwrap();
        mask.assign(&parts, &Tensor::scalar(0.0)).unwrap();
        let rest = |t: &Tensor| {
            dense(t).iter().zip(dense(&mask)).filter(|(_, m)| *m == 1.0).map(|(t, _)| *t).collect::<Vec<_>>()
        };
        assert_eq!(rest(&x), rest(&y));
        let adjoint = values.index_adjoint(&shape, &parts).unwrap();
        assert_adjoint(inner(&part, &values), inner(&x.contiguous(), &adjoint));
    }
}

#[test]
fn indices_follow_the_rules() {
    let x = Tensor::range(0.0, 24.0, 1.0).unwrap().reshape(&[2, 3, -1]).unwrap();
    let range = |start, end| Index::Range { start: Some(start), end: Some(end), step: 1 };
    assert_eq!(dense(&x.index(&[Index::At(1), Index::At(-1)]).unwrap()), [20.0, 21.0, 22.0, 23.0]);
    assert_eq!(*x.index(&[Index::Ellipsis, range(1, 9)]).unwrap().shape, [2, 3, 3]);
    assert_eq!(*x.index(&[Index::NewAxis, Index::At(0), Index::Ellipsis, Index::At(0)]).unwrap().shape, [1, 3]);
    assert!(x.index(&[Index::At(2)]).is_err());
    assert!(x.index(&[Index::SqueezeAxis]).is_err());
    assert!(x.index(&[Index::At(0); 4]).is_err());
    assert!(x.index(&[Index::Range { start: None, end: None, step: 0 }]).is_err());
    assert_eq!(dense(&x.slice(&[1, 0, 2], &[1, 2, -1]).unwrap()), [14.0, 15.0, 18.0, 19.0]);
    assert!(x.slice(&[0, 0, 3], &[1, 1, 2]).is_err());
    let parts = x.split(&[1, 2], 1).unwrap();
    assert!(Tensor::concatenate(&parts, 1).unwrap().is_equal(&x).unwrap());
    assert!(Tensor::stack(&x.unstack(-1).unwrap(), -1).unwrap().is_equal(&x).unwrap());
    assert_eq!(x.split_evenly(3, 1).unwrap().len(), 3);
    assert!(x.split_evenly(2, 1).is_err());
}

#[test]
fn joining_and_tiling_keep_all_scalars() {
    let mut random = Random(3);
    for _ in 0..200 {
        let rank = random.below(3) + 1;
        let shape = random.shape(rank);
        let axis = random.below(rank);
        let parts: Vec<Tensor> = (0..random.below(3) + 1)
            .map(|_| {
                let size = random.below(4);
                random.tensor(&shape.with_size(axis, size))
            })
            .collect();
        let joined = Tensor::concatenate(&parts, axis as isize).unwrap();
        let sizes: Vec<usize> = parts.iter().map(|part| part.shape[axis]).collect();
        for (part, again) in parts.iter().zip(joined.split(&sizes, axis as isize).unwrap()) {
            assert_eq!(dense(part), dense(&again));
        }
        let multiples: Vec<usize> = (0..rank).map(|_| random.below(3)).collect();
        let tiled = parts[0].tile(&multiples).unwrap();
        for index in indices(&tiled.shape) {
            let own: Vec<usize> = index.iter().zip(parts[0].shape.iter()).map(|(at, size)| at % size).collect();
            assert_eq!(at(&tiled, &index), at(&parts[0], &own));
        }
    }
}

#[test]
fn padding_repeats_or_mirrors() {
    let x = vector(&[1.0, 2.0, 3.0]);
    let padded = |mode| dense(&x.pad(&[(2, 1)], mode).unwrap());
    assert_eq!(padded(PaddingMode::Constant(7.0)), [7.0, 7.0, 1.0, 2.0, 3.0, 7.0]);
    assert_eq!(padded(PaddingMode::Reflect), [3.0, 2.0, 1.0, 2.0, 3.0, 2.0]);
    assert_eq!(padded(PaddingMode::Symmetric), [2.0, 1.0, 1.0, 2.0, 3.0, 3.0]);
    assert!(x.pad(&[(3, 0)], PaddingMode::Reflect).is_err());
    assert!(x.pad(&[(usize::MAX, 1)], PaddingMode::Constant(0.0)).is_err());
}

#[test]
fn gathering_and_its_adjoint_agree() {
    let mut random = Random(4);
    for _ in 0..300 {
        let rank = random.below(3) + 1;
        let shape = random.shape(rank);
        let (axis, count) = (random.below(rank), random.below(5));
        let batches = random.below(axis + 1);
        if shape[axis] == 0 {
            continue;
        }
        let x = random.tensor(&shape);
        let sizes: Shape = shape[..batches].iter().copied().chain([count]).collect();
        let numbers = (0..sizes.scalar_count()).map(|_| random.below(shape[axis]) as i32).collect();
        let places = Tensor::new::<i32>(sizes, numbers).unwrap();
        let y = x.gather_batches(&places, axis as isize, batches).unwrap();
        for index in indices(&y.shape) {
            let mut own = index.clone();
            let place = [&index[..batches], &index[axis..=axis]].concat();
            own[axis] = at(&places, &place) as usize;
            assert_eq!(at(&y, &index), at(&x, &own));
        }
        let adjoint = random.tensor(&y.shape);
        let back = adjoint.scatter_add(&shape, &places, axis as isize, batches).unwrap();
        assert_adjoint(inner(&y, &adjoint), inner(&x, &back));
    }
    let x = vector(&[1.0, 2.0, 3.0]);
    let places = Tensor::new(Shape::from([2, 1]), vec![-1i64, 0]).unwrap();
    assert_eq!(dense(&x.gather(&places, 0).unwrap()), [3.0, 1.0]);
    assert!(x.gather(&Tensor::scalar(3i32), 0).is_err());
}

#[test]
fn masks_choose() {
    let x = tensor(&[2, 3], &[1.0, 0.0, 3.0, 4.0, 5.0, 0.0]);
    let mask = Tensor::new(Shape::from([3]), vec![true, false, true]).unwrap();
    assert_eq!(dense(&x.gather_where(&mask, 1).unwrap()), [1.0, 3.0, 4.0, 0.0]);
    let positive = x.compare(Comparison::Greater, &Tensor::scalar(2.0)).unwrap();
    assert_eq!(dense(&x.gather_where(&positive, 0).unwrap()), [3.0, 4.0, 5.0]);
    assert_eq!(x.non_zero_indices().unwrap().to_vec::<i64>().unwrap(), [0, 0, 0, 2, 1, 0, 1, 1]);
    assert_eq!(dense(&Tensor::scalar(0.0).replacing(&x, &positive).unwrap()), [0.0, 0.0, 3.0, 4.0, 5.0, 0.0]);
}

#[test]
fn diagonals_and_bands() {
    let x = Tensor::range(1.0, 13.0, 1.0).unwrap().reshape(&[2, 2, 3]).unwrap();
    assert_eq!(dense(&x.diagonal_part().unwrap()), [1.0, 5.0, 7.0, 11.0]);
    assert_eq!(dense(&x.trace().unwrap()), [6.0, 18.0]);
    assert_eq!(dense(&vector(&[1.0, 2.0]).diagonal().unwrap()), [1.0, 0.0, 0.0, 2.0]);
    let changed = x.index(&[Index::At(0)]).unwrap().with_diagonal(&vector(&[8.0, 9.0])).unwrap();
    assert_eq!(dense(&changed), [8.0, 2.0, 3.0, 4.0, 9.0, 6.0]);
    let square = Tensor::range(1.0, 10.0, 1.0).unwrap().reshape(&[3, 3]).unwrap();
    assert_eq!(dense(&square.band_part(0, -1).unwrap()), [1.0, 2.0, 3.0, 0.0, 5.0, 6.0, 0.0, 0.0, 9.0]);
    assert_eq!(dense(&square.band_part(1, 0).unwrap()), [1.0, 0.0, 0.0, 4.0, 5.0, 0.0, 0.0, 8.0, 9.0]);
    assert_eq!(dense(&Tensor::eye(ScalarKind::F32, 2, 3, &[]).unwrap()), [1.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
}

#[test]
fn blocks_move_between_depth_and_space() {
    let x = Tensor::range(0.0, 32.0, 1.0).unwrap().reshape(&[1, 4, 4, 2]).unwrap();
    let deep = x.space_to_depth(2).unwrap();
    assert_eq!(*deep.shape, [1, 2, 2, 8]);
    assert_eq!(dense(&deep)[..8], [0.0, 1.0, 2.0, 3.0, 8.0, 9.0, 10.0, 11.0]);
    assert!(deep.depth_to_space(2).unwrap().is_equal(&x).unwrap());
    assert!(x.depth_to_space(2).is_err() && x.space_to_depth(3).is_err() && x.space_to_depth(0).is_err());
}

#[test]
fn constructors_check_their_arguments() {
    assert_eq!(dense(&Tensor::range(0, 7, 3).unwrap()), [0.0, 3.0, 6.0]);
    assert!(dense(&Tensor::range(5u8, 0, 3).unwrap()).is_empty());
    assert_eq!(dense(&Tensor::range(3.0, 0.0, -1.5).unwrap()), [3.0, 1.5]);
    assert!(Tensor::range(0, 7, 0).is_err());
    assert!(Tensor::range(0.0, f64::INFINITY, 1.0).is_err());
    assert!(Tensor::range(0i64, i64::MAX, 1).is_err());
    assert_eq!(dense(&Tensor::linear_space(0.0, 1.0, 3).unwrap()), [0.0, 0.5, 1.0]);
    let indices = Tensor::new(Shape::from([3]), vec![1i32, 5, 0]).unwrap();
    assert_eq!(dense(&Tensor::one_hot(&indices, 2, 1.0, 0.0, -1).unwrap()), [0.0, 1.0, 0.0, 0.0, 1.0, 0.0]);
    assert_eq!(dense(&Tensor::one_hot(&indices, 2, 1.0, 0.0, 0).unwrap()), [0.0, 0.0, 1.0, 1.0, 0.0, 0.0]);
    assert!(Tensor::new(Shape::from([2, 2]), vec![1.0]).is_err());
    assert!(Tensor::zeros(ScalarKind::F64, Shape::from([1 << 40, 1 << 40])).is_err());
    assert!(Tensor::scalar(1.0).broadcast_to(&Shape::from([1 << 62])).is_err());
    assert!(vector(&[1.0]).tile(&[1 << 62]).is_err());
    let cut = vector(&[2.9, -2.9]).cast(ScalarKind::I8).unwrap();
    assert_eq!(dense(&cut), [2.0, -2.0]);
    assert!(vector(&[300.0]).cast(ScalarKind::I8).is_err());
    assert!(vector(&[f64::NAN]).cast(ScalarKind::I64).is_err());
    assert!(vector(&[-1.0]).cast(ScalarKind::U64).is_err());
    assert_eq!(dense(&vector(&[0.0, 2.0]).cast(ScalarKind::Bool).unwrap()), [0.0, 1.0]);
    assert!(vector(&[1.0, 2.0]).reshape(&[-1, -1]).is_err());
    assert!(vector(&[1.0, 2.0]).reshape(&[0, -1]).is_err());
}

#[test]
fn extreme_indices_do_not_overflow() {
    let x = tensor(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    for step in [isize::MAX, isize::MIN + 1, isize::MIN] {
        for bound in [None, Some(isize::MIN), Some(isize::MAX), Some(0), Some(-1)] {
            for end in [None, Some(isize::MIN), Some(isize::MAX), Some(1)] {
                let part = x.index(&[Index::ALL, Index::Range { start: bound, end, step }]).unwrap();
                assert!(part.shape()[1] <= 1);
                assert_eq!(dense(&part).len(), part.scalar_count());
            }
        }
    }
    for at in [isize::MIN, isize::MAX, -3, 2] {
        assert!(x.index(&[Index::At(at)]).is_err());
    }
}
