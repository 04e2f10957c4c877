//! Reductions over axes, and functions of rows.

use super::*;

/// Reduces by the definition: groups the scalars by the index along the kept axes.
fn naive(x: &Tensor, axes: &[usize], identity: f64, combine: impl Fn(f64, f64) -> f64) -> Vec<f64> {
    let kept = |index: &[usize]| -> Vec<usize> {
        (0..x.rank()).filter(|axis| !axes.contains(axis)).map(|axis| index[axis]).collect()
    };
    let shape: Shape = kept(&x.shape).into_iter().collect();
    let targets = indices(&shape);
    let mut result = vec![identity; targets.len()];
    for index in indices(&x.shape) {
        let target = kept(&index);
        let place = targets.iter().position(|other| *other == target).unwrap();
        result[place] = combine(result[place], at(x, &index));
    }
    result
}

#[test]
fn reductions_equal_loops() {
    let mut random = Random(21);
    for _ in 0..400 {
        let rank = random.below(5);
        let shape = random.shape(rank);
        let x = random.tensor(&shape);
        let axes: Vec<usize> = (0..rank).filter(|_| random.flag()).collect();
        let given: Vec<isize> = axes
            .iter()
            .map(|&axis| if random.flag() { axis as isize } else { axis as isize - rank as isize })
            .collect();
        let count: usize = axes.iter().map(|&axis| shape[axis]).product();
        assert_close(&dense(&x.sum(Some(&given), false).unwrap()), &naive(&x, &axes, 0.0, |a, b| a + b));
        assert_close(&dense(&x.fold(Fold::Product, Some(&given), true).unwrap()), &naive(&x, &axes, 1.0, |a, b| a * b));
        let largest = naive(&x, &axes, f64::NEG_INFINITY, f64::max);
        assert_eq!(dense(&x.fold(Fold::Max, Some(&given), false).unwrap()), largest);
        assert_eq!(dense(&x.fold(Fold::Min, Some(&given), false).unwrap()), naive(&x, &axes, f64::INFINITY, f64::min));
        let means: Vec<f64> = naive(&x, &axes, 0.0, |a, b| a + b).iter().map(|sum| sum / count as f64).collect();
        assert_close(&dense(&x.mean(Some(&given), false).unwrap()), &means);
        let exponentials = naive(&x, &axes, 0.0, |sum, x| sum + x.exp());
        let logarithms: Vec<f64> = exponentials.iter().map(|sum| sum.ln()).collect();
        assert_close(&dense(&x.log_sum_exp(Some(&given), false).unwrap()), &logarithms);
        let kept = x.sum(Some(&given), true).unwrap();
        assert_eq!(kept.rank(), rank);
        let squares = x.clone().unary(Unary::Squared).unwrap().mean(Some(&given), true).unwrap();
        let mean = x.mean(Some(&given), true).unwrap().unary(Unary::Squared).unwrap();
        assert_close(
            &dense(&x.variance(Some(&given), true).unwrap()),
            &dense(&squares.binary(Binary::Subtract, mean).unwrap()),
        );
    }
    let x = vector(&[1.0, 2.0]);
    assert!(x.sum(Some(&[1]), false).is_err());
    assert!(x.sum(Some(&[0, -1]), false).is_err());
}

#[test]
fn large_sums_are_accurate() {
    let x = Tensor::repeating(0.1f32, Shape::from([1_000_003])).unwrap();
    let sum = x.sum(None, false).unwrap().scalarized::<f32>().unwrap();
    assert!((sum - 100_000.3).abs() < 0.1, "{sum}");
    let mut random = Random(22);
    for sizes in [[5000, 3], [300, 257], [2, 40_000], [70_000, 1], [1, 5]] {
        let x = random.tensor(&Shape::from(sizes)).contiguous();
        let columns = x.sum(Some(&[0]), false).unwrap();
        for (column, sum) in dense(&columns).into_iter().enumerate() {
            let part = x.index(&[Index::ALL, Index::At(column as isize)]).unwrap();
            assert!((dense(&part).iter().sum::<f64>() - sum).abs() < 1e-9);
            if column > 10 {
                break;
            }
        }
        let rows = x.sum(Some(&[1]), false).unwrap();
        let total: f64 = dense(&rows).iter().sum();
        assert!((total - x.sum(None, false).unwrap().scalarized::<f64>().unwrap()).abs() < 1e-8);
    }
}

#[test]
fn extrema_are_the_first_of_equals() {
    let x = tensor(&[2, 3], &[1.0, 3.0, 3.0, 0.0, -1.0, -1.0]);
    let result = |fold, axis| x.arg_extremum(fold, axis).unwrap().to_vec::<i32>().unwrap();
    assert_eq!(result(Fold::Max, None), [1]);
    assert_eq!(result(Fold::Min, None), [4]);
    assert_eq!(result(Fold::Max, Some(1)), [1, 0]);
    assert_eq!(result(Fold::Min, Some(0)), [1, 1, 1]);
    assert!(tensor(&[0], &[]).arg_extremum(Fold::Max, None).is_err());
    let with_nan = vector(&[1.0, f64::NAN, 3.0]);
    assert_eq!(with_nan.arg_extremum(Fold::Max, None).unwrap().to_vec::<i32>().unwrap(), [1]);
    assert!(with_nan.fold(Fold::Max, None, false).unwrap().scalarized::<f64>().unwrap().is_nan());
    let mut random = Random(23);
    for _ in 0..100 {
        let shape = random.shape(3);
        let x = random.tensor(&shape);
        if shape.contains(&0) {
            continue;
        }
        let largest = x.arg_extremum(Fold::Max, Some(1)).unwrap();
        let expected = x.fold(Fold::Max, Some(&[1]), false).unwrap();
        for index in indices(&expected.shape) {
            let own = [index[0], at(&largest, &index) as usize, index[1]];
            assert_eq!(at(&x, &own), at(&expected, &index));
        }
    }
}

#[test]
fn cumulative_sums_and_products() {
    let x = tensor(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let sums = |axis, exclusive, reversed| dense(&x.cumulative(Fold::Sum, axis, exclusive, reversed).unwrap());
    assert_eq!(sums(1, false, false), [1.0, 3.0, 6.0, 4.0, 9.0, 15.0]);
    assert_eq!(sums(0, false, false), [1.0, 2.0, 3.0, 5.0, 7.0, 9.0]);
    assert_eq!(sums(1, true, false), [0.0, 1.0, 3.0, 0.0, 4.0, 9.0]);
    assert_eq!(sums(1, false, true), [6.0, 5.0, 3.0, 15.0, 11.0, 6.0]);
    assert_eq!(sums(1, true, true), [5.0, 3.0, 0.0, 11.0, 6.0, 0.0]);
    let products = x.cumulative(Fold::Product, -1, false, false).unwrap();
    assert_eq!(dense(&products), [1.0, 2.0, 6.0, 4.0, 20.0, 120.0]);
    let empty = tensor(&[0, 3], &[]);
    assert!(empty.cumulative(Fold::Sum, 0, true, false).is_ok() && empty.cumulative(Fold::Sum, 1, true, true).is_ok());
}

#[test]
fn booleans_reduce_to_all_and_any() {
    let mask = Tensor::new(Shape::from([2, 2]), vec![true, false, true, true]).unwrap();
    assert_eq!(dense(&mask.fold(Fold::Min, Some(&[1]), false).unwrap()), [0.0, 1.0]);
    assert_eq!(dense(&mask.fold(Fold::Max, None, false).unwrap()), [1.0]);
    assert!(mask.sum(None, false).is_err());
    let not = mask.clone().logical_not().unwrap();
    assert_eq!(dense(&not), [0.0, 1.0, 0.0, 0.0]);
    assert_eq!(dense(&mask.logical(Logical::ExclusiveOr, &not).unwrap()), [1.0; 4]);
}

#[test]
fn softmax_and_cross_entropy() {
    let x = tensor(&[2, 3], &[1.0, 2.0, 3.0, 1000.0, 0.0, 1000.0]);
    let soft = dense(&x.clone().softmax().unwrap());
    let total: f64 = (1..=3).map(|x| f64::from(x).exp()).sum();
    assert_close(&soft, &[1f64.exp() / total, 2f64.exp() / total, 3f64.exp() / total, 0.5, 0.0, 0.5]);
    let logarithms = dense(&x.clone().log_softmax().unwrap());
    assert_close(&logarithms[..3], &soft[..3].iter().map(|x| x.ln()).collect::<Vec<_>>());
    let labels = Tensor::new(Shape::from([2]), vec![2i32, 0]).unwrap();
    let (losses, derivative) = x.softmax_cross_entropy(&labels).unwrap();
    assert_close(&dense(&losses), &[-logarithms[2], 2f64.ln()]);
    assert_close(&dense(&derivative), &[soft[0], soft[1], soft[2] - 1.0, -0.5, 0.0, 0.5]);
    let weights = tensor(&[2, 3], &[0.0, 0.0, 1.0, 1.0, 0.0, 0.0]);
    let (same, partial) = x.softmax_cross_entropy_of_probabilities(&weights).unwrap();
    assert_close(&dense(&same), &dense(&losses));
    assert_close(&dense(&partial), &dense(&derivative));
    assert!(x.softmax_cross_entropy(&Tensor::new(Shape::from([2]), vec![3i32, 0]).unwrap()).is_err());
    assert!(tensor(&[0, 3], &[]).softmax().is_ok() && tensor(&[3, 0], &[]).softmax().is_ok());
    assert!(Tensor::scalar(1.0).softmax().is_err());
}

#[test]
fn sorted_scalars_are_those_of_a_plain_sort() {
    let mut random = Random(31);
    for _ in 0..200 {
        let rank = 1 + random.below(3);
        let shape = random.shape(rank);
        let x = random.tensor(&shape);
        let (axis, descends) = (random.below(rank), random.flag());
        let (positions, indices) = x.sorted_positions(axis as isize, descends).unwrap();
        let sorted = x.gather_flat(&positions).unwrap();
        for index in super::indices(&shape) {
            let mut row: Vec<f64> = (0..shape[axis])
                .map(|place| {
                    let mut index = index.clone();
                    index[axis] = place;
                    at(&x, &index)
                })
                .collect();
            let mut from = index.clone();
            from[axis] = at(&indices, &index) as usize;
            assert_eq!(at(&x, &from), at(&sorted, &index));
            row.sort_by(f64::total_cmp);
            if descends {
                row.reverse();
            }
            assert_eq!(at(&sorted, &index), row[index[axis]]);
        }
        let last = shape[rank - 1];
        let count = random.below(last + 1);
        let (top, _) = x.top_positions(count).unwrap();
        let (all, _) = x.sorted_positions(-1, true).unwrap();
        let first = Index::Range { start: Some(0), end: Some(count as isize), step: 1 };
        assert!(top.is_equal(&all.index(&[Index::Ellipsis, first]).unwrap()).unwrap());
    }
    let (_, indices) = vector(&[f64::NAN, 2.0, 1.0, 2.0]).sorted_positions(0, false).unwrap();
    assert_eq!(dense(&indices), [2.0, 1.0, 3.0, 0.0]);
}

#[test]
fn a_recurrence_is_its_loop() {
    let (a, b) = (tensor(&[2, 3], &[9.0, 2.0, 3.0, 9.0, 0.5, -1.0]), tensor(&[2, 3], &[1.0, 1.0, 1.0, 2.0, 0.0, 1.0]));
    assert_eq!(dense(&a.recurrence(&b, 1, false).unwrap()), [1.0, 3.0, 10.0, 2.0, 1.0, 0.0]);
    assert_eq!(dense(&a.recurrence(&b, 1, true).unwrap()), [28.0, 3.0, 1.0, 6.5, 0.5, 1.0]);
    assert!(a.recurrence(&b, 2, false).is_err());
    assert!(a.recurrence(&vector(&[1.0]), 0, false).is_err());
}
