//! Operations on matrices.

use super::super::NativeFunction;
use super::super::context::Failure;
use super::{Call, alike, constant, flag, one, pair, require_constant, returned, two};
use crate::native::tensor::{Axes, Operation};
use crate::tensor::{Binary, Fold};
use smallvec::smallvec;

pub(in super::super) const TABLE: &[NativeFunction] = &[
    NativeFunction { name: "tensor.matmul", call: matmul },
    NativeFunction { name: "tensor.dot", call: |c| two(c, Operation::Dot) },
    NativeFunction { name: "tensor.outer", call: outer },
    NativeFunction { name: "tensor.diagonal", call: |c| one(c, Operation::Diagonal) },
    NativeFunction { name: "tensor.diagonalPart", call: |c| one(c, Operation::DiagonalPart) },
    NativeFunction { name: "tensor.withDiagonal", call: |c| two(c, Operation::WithDiagonal) },
    NativeFunction { name: "tensor.bandPart", call: band_part },
    NativeFunction { name: "tensor.trace", call: trace },
    NativeFunction { name: "tensor.cholesky", call: |c| one(c, Operation::Cholesky) },
    NativeFunction { name: "tensor.triangularSolve", call: triangular_solve },
    NativeFunction { name: "tensor.solve", call: |c| two(c, Operation::Solve) },
    NativeFunction { name: "tensor.inverse", call: |c| one(c, Operation::Inverse) },
    NativeFunction { name: "tensor.determinant", call: |c| one(c, Operation::Determinant) },
    NativeFunction { name: "tensor.logDeterminant", call: |c| one(c, Operation::LogDeterminant) },
    NativeFunction { name: "tensor.signOfDeterminant", call: sign_of_determinant },
    NativeFunction { name: "tensor.qr", call: qr },
    NativeFunction { name: "tensor.svd", call: svd },
    NativeFunction { name: "tensor.eigh", call: eigh },
];

fn matmul(c: Call<'_, '_>) -> Result<(), Failure> {
    let (a, left, b, right) = (c.tensor()?, flag(c), c.tensor()?, flag(c));
    let (a, b) = alike(c, a, b)?;
    returned(c, Operation::Matmul(left, right), smallvec![a, b])
}

/// Returns the products of all pairs of scalars of two vectors.
fn outer(c: Call<'_, '_>) -> Result<(), Failure> {
    let (a, b) = pair(c)?;
    if a.tensor.rank() != 1 || b.tensor.rank() != 1 {
        // The kernel reports the shapes.
        let result = a.tensor.outer(&b.tensor)?;
        return constant(c, result);
    }
    let column = c.apply(Operation::ExpandAxes(vec![1]), smallvec![a])?;
    returned(c, Operation::Binary(Binary::Multiply), smallvec![column, b])
}

fn band_part(c: Call<'_, '_>) -> Result<(), Failure> {
    let (below, above) = (c.integer() as isize, c.integer() as isize);
    one(c, Operation::BandPart(below, above))
}

fn trace(c: Call<'_, '_>) -> Result<(), Failure> {
    let x = c.tensor()?;
    let diagonal = c.apply(Operation::DiagonalPart, smallvec![x])?;
    let last = Axes { axes: Some(vec![-1]), keeps: false };
    returned(c, Operation::Reduce(Fold::Sum, last), smallvec![diagonal])
}

fn triangular_solve(c: Call<'_, '_>) -> Result<(), Failure> {
    let (is_lower, adjoint) = (flag(c), flag(c));
    two(c, Operation::TriangularSolve(is_lower, adjoint))
}

fn sign_of_determinant(c: Call<'_, '_>) -> Result<(), Failure> {
    let (sign, _) = c.tensor()?.tensor.sign_and_log_determinant()?;
    constant(c, sign)
}

fn qr(c: Call<'_, '_>) -> Result<(), Failure> {
    let (x, is_full) = (c.tensor()?, flag(c));
    require_constant("qrDecomposition", &x)?;
    let (q, r) = x.tensor.qr(is_full)?;
    constant(c, q)?;
    constant(c, r)
}

fn svd(c: Call<'_, '_>) -> Result<(), Failure> {
    let (x, is_full) = (c.tensor()?, flag(c));
    require_constant("svd", &x)?;
    let (s, u, v) = x.tensor.svd(is_full)?;
    constant(c, s)?;
    constant(c, u)?;
    constant(c, v)
}

fn eigh(c: Call<'_, '_>) -> Result<(), Failure> {
    let x = c.tensor()?;
    require_constant("eigh", &x)?;
    let (values, vectors) = x.tensor.symmetric_eigen()?;
    constant(c, values)?;
    constant(c, vectors)
}
