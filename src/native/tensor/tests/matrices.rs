//! Derivatives of operations on matrices.

use super::*;

/// Well-conditioned square matrices: the unit matrix with random additions.
fn regular(random: &mut Random, batch: &[usize], size: usize) -> Tensor {
    let shape: Vec<usize> = [batch, &[size, size]].concat();
    let eye = Tensor::eye(crate::tensor::ScalarKind::F64, size, size, batch).unwrap();
    moved(&eye, 0.3, &random.tensor(&shape, -1.0, 1.0))
}

fn symmetric(matrix: &Tensor) -> Tensor {
    let rank = matrix.rank() as isize;
    let order: Vec<isize> = (0..rank - 2).chain([rank - 1, rank - 2]).collect();
    let transposed = matrix.transpose(&order).unwrap().contiguous();
    moved(matrix, 1.0, &transposed)
}

#[test]
fn products() {
    let mut random = Random(14);
    for (left, right) in [(false, false), (true, false), (false, true), (true, true)] {
        for (a, b) in [(&[][..], &[][..]), (&[2], &[2]), (&[2], &[]), (&[], &[2]), (&[2, 1], &[3]), (&[0], &[])] {
            let a = [a, if left { &[3, 2] } else { &[2, 3] }].concat();
            let b = [b, if right { &[4, 3] } else { &[3, 4] }].concat();
            let operands = [random.tensor(&a, -1.0, 1.0), random.tensor(&b, -1.0, 1.0)];
            check(Operation::Matmul(left, right), &operands);
        }
    }
    check(Operation::Dot, &[random.tensor(&[4], -1.0, 1.0), random.tensor(&[4], -1.0, 1.0)]);
}

#[test]
fn parts_of_matrices() {
    let mut random = Random(15);
    check(Operation::Diagonal, &[random.tensor(&[2, 3], -1.0, 1.0)]);
    for shape in [&[3, 3][..], &[2, 3, 4], &[2, 4, 3]] {
        let x = random.tensor(shape, -1.0, 1.0);
        check(Operation::DiagonalPart, std::slice::from_ref(&x));
        let diagonal = random.like(&x.diagonal_part().unwrap());
        check(Operation::WithDiagonal, &[x.clone(), diagonal]);
        for (below, above) in [(0, 1), (-1, 0), (1, -1)] {
            check(Operation::BandPart(below, above), std::slice::from_ref(&x));
        }
    }
}

#[test]
fn factorizations_and_solutions() {
    let mut random = Random(16);
    for batch in [&[][..], &[2]] {
        let x = regular(&mut random, batch, 3);
        check(Operation::Inverse, std::slice::from_ref(&x));
        check(Operation::Determinant, std::slice::from_ref(&x));
        check(Operation::LogDeterminant, std::slice::from_ref(&x));
        for columns in [1, 2] {
            for batch_of_right in [&[][..], &[2]] {
                let shape = [batch_of_right, &[3, columns]].concat();
                let right = random.tensor(&shape, -1.0, 1.0);
                check(Operation::Solve, &[x.clone(), right.clone()]);
                for (is_lower, adjoint) in [(true, false), (true, true), (false, false), (false, true)] {
                    check(Operation::TriangularSolve(is_lower, adjoint), &[x.clone(), right.clone()]);
                }
            }
        }
        let positive = symmetric(&x);
        let tangent = symmetric(&random.like(&x));
        check_along(Operation::Cholesky, &[positive], &[tangent]);
    }
}

#[test]
fn determinants_of_singular_matrices() {
    let singular = [1.0, 2.0, 3.0, 2.0, 4.0, 6.0, 0.5, -1.0, 2.0, 0.0, 0.0, 0.0, 0.0, 1.0, 2.0, 0.0, 3.0, 4.0];
    check(Operation::Determinant, &[Tensor::new(Shape::from([2, 3, 3]), singular.to_vec()).unwrap()]);
    check(Operation::Determinant, &[Tensor::new(Shape::from([1, 1]), vec![0.0]).unwrap()]);
    check(Operation::Determinant, &[Tensor::new(Shape::from([3, 3]), vec![0.0; 9]).unwrap()]);
}
