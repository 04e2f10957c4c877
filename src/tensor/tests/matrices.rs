//! Products and factorizations of matrices.

use super::*;

/// The product by the definition, with batches that broadcast.
fn naive(a: &Tensor, b: &Tensor) -> Vec<f64> {
    let (ra, rb) = (a.rank(), b.rank());
    let batch = Shape::from(&a.shape[..ra - 2]).broadcast("test", &Shape::from(&b.shape[..rb - 2])).unwrap();
    let shape: Shape = batch.iter().copied().chain([a.shape[ra - 2], b.shape[rb - 1]]).collect();
    let rank = shape.rank();
    let element = |index: &Vec<usize>| {
        (0..a.shape[ra - 1])
            .map(|k| {
                let left = [&index[..rank - 2], &[index[rank - 2], k]].concat();
                let right = [&index[..rank - 2], &[k, index[rank - 1]]].concat();
                at_broadcast(a, &left) * at_broadcast(b, &right)
            })
            .sum()
    };
    indices(&shape).iter().map(element).collect()
}

#[test]
fn products_equal_loops() {
    let mut random = Random(31);
    for _ in 0..400 {
        let (rows, inner, columns) = (random.below(7), random.below(7), random.below(7));
        let batches = random.below(3);
        let common: Vec<usize> = (0..batches).map(|_| random.below(3) + usize::from(random.below(8) > 0)).collect();
        let operand = |random: &mut Random, rows: usize, columns: usize| {
            let dropped = random.below(batches + 1);
            let own = common[dropped..].iter().map(|&size| if random.below(3) == 0 { 1 } else { size });
            let shape: Shape = own.chain([rows, columns]).collect();
            random.tensor(&shape)
        };
        let (a, b) = (operand(&mut random, rows, inner), operand(&mut random, inner, columns));
        let expected = naive(&a, &b);
        assert_close(&dense(&a.matmul(false, &b, false).unwrap()), &expected);
        let (at, bt) = (a.with_last_axes_exchanged(), b.with_last_axes_exchanged());
        assert_close(&dense(&at.matmul(true, &b, false).unwrap()), &expected);
        assert_close(&dense(&a.matmul(false, &bt, true).unwrap()), &expected);
        let integers = |t: &Tensor| t.cast(ScalarKind::I32).unwrap();
        let (a, b) = (integers(&a), integers(&b));
        assert_close(&dense(&a.matmul(false, &b, false).unwrap()), &naive(&a, &b));
    }
    let few_rows = [1, 2, 15, 127].into_iter().flat_map(|rows| [128, 129, 200, 330].map(|columns| (rows, 9, columns)));
    for (rows, inner, columns) in few_rows.chain([(300, 40, 30), (17, 300, 5), (600, 9, 9), (257, 3, 130)]) {
        let (a, b) = (random.tensor(&Shape::from([rows, inner])), random.tensor(&Shape::from([inner, columns])));
        let expected = naive(&a, &b);
        assert_close(&dense(&a.matmul(false, &b, false).unwrap()), &expected);
        let (at, bt) = (a.with_last_axes_exchanged(), b.with_last_axes_exchanged());
        assert_close(&dense(&at.matmul(true, &bt, true).unwrap()), &expected);
    }
}

#[test]
fn a_mismatch_is_explained() {
    let x = Tensor::zeros(ScalarKind::F64, Shape::from([2, 3])).unwrap();
    let error = x.matmul(false, &x, false).unwrap_err();
    assert_eq!(
        error.to_string(),
        "cannot multiply a 2×3 matrix by a 2×3 matrix: matmul needs columns of the first (3) = rows of the second (2)"
    );
    assert!(vector(&[1.0]).matmul(false, &x, false).is_err());
    assert!(x.matmul(false, &x.cast(ScalarKind::F32).unwrap(), true).is_err());
    assert_eq!(dense(&vector(&[1.0, 2.0]).dot(&vector(&[3.0, 4.0])).unwrap()), [11.0]);
    assert_eq!(dense(&vector(&[1.0, 2.0]).outer(&vector(&[3.0, 4.0])).unwrap()), [3.0, 4.0, 6.0, 8.0]);
    assert!(vector(&[1.0]).dot(&vector(&[3.0, 4.0])).is_err());
}

/// The largest absolute difference.
fn difference(a: &Tensor, b: &Tensor) -> f64 {
    assert_eq!(a.shape, b.shape);
    dense(a).iter().zip(dense(b)).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

#[test]
fn factors_multiply_to_the_matrix() {
    let mut random = Random(32);
    for size in [0usize, 1, 2, 3, 5, 20] {
        for batch in [&[][..], &[2], &[0, 3]] {
            let shape: Shape = batch.iter().copied().chain([size, size]).collect();
            let unit = Tensor::eye(ScalarKind::F64, size, size, batch).unwrap();
            let x = random
                .tensor(&shape)
                .binary(Binary::Add, unit.clone().binary_scalar(Binary::Multiply, 4.0, false).unwrap())
                .unwrap();
            let inverse = x.inverse().unwrap();
            assert!(difference(&x.matmul(false, &inverse, false).unwrap(), &unit) < 1e-9);
            let product = x.matmul(false, &x, true).unwrap().binary(Binary::Add, unit.clone()).unwrap();
            let factor = product.cholesky().unwrap();
            assert!(difference(&factor.matmul(false, &factor, true).unwrap(), &product) < 1e-9);
            let right = random.tensor(&batch.iter().copied().chain([size, 2]).collect());
            let solution = x.solve(&right).unwrap();
            assert!(difference(&x.matmul(false, &solution, false).unwrap(), &right) < 1e-9);
            for (is_lower, adjoint) in [(true, false), (true, true), (false, false), (false, true)] {
                let triangle = if is_lower { x.band_part(-1, 0) } else { x.band_part(0, -1) }.unwrap();
                let solution = x.triangular_solve(&right, is_lower, adjoint).unwrap();
                let scale = dense(&solution).iter().fold(1.0, |m: f64, x| m.max(x.abs()));
                assert!(difference(&triangle.matmul(adjoint, &solution, false).unwrap(), &right) < 1e-9 * scale);
            }
            let (sign, logarithm) = x.sign_and_log_determinant().unwrap();
            let determinant = sign.binary(Binary::Multiply, logarithm.unary(Unary::Exp).unwrap()).unwrap();
            let direct = x.determinant().unwrap();
            let scale = dense(&direct).iter().fold(1.0, |m: f64, x| m.max(x.abs()));
            assert!(difference(&determinant, &direct) <= 1e-9 * scale);
            let (values, vectors) = product.symmetric_eigen().unwrap();
            let scaled = vectors.clone().binary(Binary::Multiply, values.expand_axes(&[-2]).unwrap()).unwrap();
            assert!(difference(&scaled.matmul(false, &vectors, true).unwrap(), &product) < 1e-8);
        }
    }
}

#[test]
fn orthogonal_factors_of_rectangles() {
    let mut random = Random(33);
    for (rows, columns) in [(3, 3), (5, 2), (2, 5), (1, 4), (0, 3), (3, 0), (30, 20)] {
        let x = random.tensor(&Shape::from([2, rows, columns]));
        for is_full in [false, true] {
            let (q, r) = x.qr(is_full).unwrap();
            assert!(difference(&q.matmul(false, &r, false).unwrap(), &x) < 1e-9);
            let size = q.shape[2];
            let unit = Tensor::eye(ScalarKind::F64, size, size, &[2]).unwrap();
            assert!(difference(&q.matmul(true, &q, false).unwrap(), &unit) < 1e-9);
            let (s, u, v) = x.svd(is_full).unwrap();
            let count = rows.min(columns);
            let first = |t: &Tensor| {
                t.index(&[Index::Ellipsis, Index::Range { start: None, end: Some(count as isize), step: 1 }])
            };
            let scaled = first(&u).unwrap().binary(Binary::Multiply, s.expand_axes(&[-2]).unwrap()).unwrap();
            assert!(difference(&scaled.matmul(false, &first(&v).unwrap(), true).unwrap(), &x) < 1e-9);
            assert_eq!(*u.shape, [2, rows, if is_full { rows } else { count }]);
            assert_eq!(*v.shape, [2, columns, if is_full { columns } else { count }]);
        }
    }
}

#[test]
fn singular_and_foreign_matrices_are_errors() {
    let singular = tensor(&[2, 2], &[1.0, 2.0, 2.0, 4.0]);
    assert!(singular.inverse().is_err() && singular.solve(&singular).is_err());
    assert_eq!(dense(&singular.determinant().unwrap()), [0.0]);
    assert!(tensor(&[2, 2], &[0.0; 4]).triangular_solve(&singular, true, false).is_err());
    assert!(tensor(&[2, 2], &[-1.0, 0.0, 0.0, 1.0]).cholesky().is_err());
    let foreign = tensor(&[2, 2], &[f64::NAN, 1.0, 1.0, f64::INFINITY]);
    assert!(foreign.svd(false).is_err() && foreign.symmetric_eigen().is_err());
    let _ = (foreign.cholesky(), foreign.inverse(), foreign.qr(true), foreign.determinant());
    assert!(tensor(&[2, 3], &[0.0; 6]).inverse().is_err() && vector(&[1.0]).inverse().is_err());
    assert!(Tensor::eye(ScalarKind::I32, 2, 2, &[]).unwrap().inverse().is_err());
    let single = tensor(&[2, 2], &[4.0, 1.0, 1.0, 3.0]).cast(ScalarKind::F32).unwrap();
    assert_eq!(single.inverse().unwrap().kind(), ScalarKind::F32);
}

#[test]
fn singular_matrices_have_the_determinant_zero() {
    let dependent = [2.0, 4.0, 6.0, 1.0, 2.0, 3.0, 0.5, 1.0, 7.0];
    let x = tensor(&[2, 3, 3], &[dependent, [0.0; 9]].concat());
    assert_eq!(dense(&x.determinant().unwrap()), [0.0, 0.0]);
    let (signs, logarithms) = x.sign_and_log_determinant().unwrap();
    assert_eq!(dense(&signs), [0.0, 0.0]);
    assert_eq!(dense(&logarithms), [f64::NEG_INFINITY; 2]);
}
