//! Two objectives of the benchmark suite ADBench in Rust, with adjoints written by hand.

use std::hint::black_box;

/// The generator of Park and Miller, which is exact in doubles, so that every language has the same numbers.
struct Generator(u64);

impl Generator {
    fn uniform(&mut self) -> f64 {
        self.0 = 16807 * self.0 % 2_147_483_647;
        self.0 as f64 / 2_147_483_647.0
    }

    fn take(&mut self, count: usize) -> Vec<f64> {
        (0..count).map(|_| self.uniform()).collect()
    }
}

/// The parameters of a mixture of Gaussian distributions, and likewise the partials with respect to them.
#[derive(Clone)]
pub struct Mixture {
    pub alphas: Vec<f64>,
    pub means: Vec<f64>,
    /// Of each component, the logarithms of the diagonal of a matrix, and then the numbers below it, column by column.
    pub icf: Vec<f64>,
}

/// The data of a fit of a mixture.
pub struct MixtureData {
    pub dimension: usize,
    pub components: usize,
    pub points: Vec<f64>,
}

impl MixtureData {
    pub fn new(dimension: usize, components: usize, count: usize) -> (MixtureData, Mixture) {
        let mut generator = Generator(1);
        let alphas = generator.take(components);
        let means = generator.take(components * dimension);
        let mut icf = generator.take(components * dimension * (dimension + 1) / 2);
        icf.iter_mut().for_each(|x| *x -= 0.5);
        let points = generator.take(count * dimension).into_iter().map(|x| 2.0 * x - 0.5).collect();
        (MixtureData { dimension, components, points }, Mixture { alphas, means, icf })
    }

    pub fn width(&self) -> usize {
        self.dimension * (self.dimension + 1) / 2
    }

    pub fn constant(&self) -> f64 {
        -0.5 * self.points.len() as f64 * f64::ln(std::f64::consts::TAU)
    }
}

/// Returns the sum of some numbers of a result.
pub fn mixture_checksum(i: usize, value: f64, slope: &Mixture) -> f64 {
    let pick = |xs: &[f64]| xs[i % xs.len()];
    value + pick(&slope.alphas) + pick(&slope.means) + pick(&slope.icf)
}

pub fn mixture_gradient<const DIMENSION: usize>(count: usize) -> f64 {
    let (data, mixture) = MixtureData::new(black_box(DIMENSION), 5, 1000);
    let mut sum = 0.0;
    for i in 0..count {
        let (value, slope) = black_box(log_likelihood(&data, black_box(&mixture)));
        sum += mixture_checksum(i, value, &slope);
    }
    sum
}

/// Returns the logarithm of the sum of the exponentials, and replaces the numbers by its partials.
fn log_sum_exp(xs: &mut [f64]) -> f64 {
    let largest = xs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut sum = 0.0;
    for x in &mut *xs {
        *x = (*x - largest).exp();
        sum += *x;
    }
    for x in xs {
        *x /= sum;
    }
    sum.ln() + largest
}

/// Returns the log-likelihood and its gradient. The adjoint of a point follows its value, so nothing is stored for all points.
fn log_likelihood(data: &MixtureData, mixture: &Mixture) -> (f64, Mixture) {
    let MixtureData { dimension, components, points } = data;
    let (dimension, components, width) = (*dimension, *components, data.width());
    let count = (points.len() / dimension) as f64;
    let below = width - dimension;

    let mut diagonals = vec![0.0; components * dimension];
    let mut traces = vec![0.0; components];
    for k in 0..components {
        for i in 0..dimension {
            let logarithm = mixture.icf[k * width + i];
            diagonals[k * dimension + i] = logarithm.exp();
            traces[k] += logarithm;
        }
    }
    let mut slope = Mixture {
        alphas: vec![0.0; components],
        means: vec![0.0; components * dimension],
        icf: vec![0.0; components * width],
    };
    let mut back_diagonals = vec![0.0; components * dimension];
    let mut centered = vec![0.0; components * dimension];
    let mut transformed = vec![0.0; components * dimension];
    let mut terms = vec![0.0; components];
    let mut back = vec![0.0; dimension];
    let mut total = data.constant();
    for point in points.chunks_exact(dimension) {
        for k in 0..components {
            let centered = &mut centered[k * dimension..][..dimension];
            let transformed = &mut transformed[k * dimension..][..dimension];
            let (means, diagonals) = (&mixture.means[k * dimension..], &diagonals[k * dimension..]);
            for i in 0..dimension {
                centered[i] = point[i] - means[i];
                transformed[i] = diagonals[i] * centered[i];
            }
            let mut factors = &mixture.icf[k * width + dimension..][..below];
            for i in 0..dimension {
                let (column, rest) = factors.split_at(dimension - 1 - i);
                for (result, factor) in transformed[i + 1..].iter_mut().zip(column) {
                    *result += factor * centered[i];
                }
                factors = rest;
            }
            let distance: f64 = transformed.iter().map(|x| x * x).sum();
            terms[k] = mixture.alphas[k] + traces[k] - 0.5 * distance;
        }
        total += log_sum_exp(&mut terms);
        for (k, share) in terms.iter().enumerate() {
            let centered = &centered[k * dimension..][..dimension];
            let transformed = &mut transformed[k * dimension..][..dimension];
            slope.alphas[k] += share;
            for x in &mut *transformed {
                *x *= -share;
            }
            let mut factors = &mixture.icf[k * width + dimension..][..below];
            let mut back_factors = &mut slope.icf[k * width + dimension..][..below];
            for i in 0..dimension {
                back_diagonals[k * dimension + i] += transformed[i] * centered[i];
                back[i] = diagonals[k * dimension + i] * transformed[i];
                let (column, rest) = factors.split_at(dimension - 1 - i);
                let (back_column, back_rest) = back_factors.split_at_mut(dimension - 1 - i);
                for ((x, factor), back_factor) in transformed[i + 1..].iter().zip(column).zip(back_column) {
                    back[i] += factor * x;
                    *back_factor += x * centered[i];
                }
                (factors, back_factors) = (rest, back_rest);
            }
            for (slope, back) in slope.means[k * dimension..].iter_mut().zip(&back) {
                *slope -= back;
            }
        }
    }

    // The prior, and what depends on all points.
    let mut prior = 0.0;
    for k in 0..components {
        for i in 0..dimension {
            let diagonal = diagonals[k * dimension + i];
            prior += 0.5 * diagonal * diagonal;
            slope.icf[k * width + i] = slope.alphas[k] + (back_diagonals[k * dimension + i] + diagonal) * diagonal;
        }
        for i in k * width + dimension..(k + 1) * width {
            prior += 0.5 * mixture.icf[i] * mixture.icf[i];
            slope.icf[i] += mixture.icf[i];
        }
    }
    terms.copy_from_slice(&mixture.alphas);
    total -= count * log_sum_exp(&mut terms);
    for (slope, share) in slope.alphas.iter_mut().zip(&terms) {
        *slope -= count * share;
    }
    (total + prior, slope)
}

type Vector = [f64; 3];

fn dot(a: Vector, b: Vector) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn cross(a: Vector, b: Vector) -> Vector {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// Returns `a + factor * b`.
fn along(a: Vector, factor: f64, b: Vector) -> Vector {
    [a[0] + factor * b[0], a[1] + factor * b[1], a[2] + factor * b[2]]
}

pub fn adjustment_jacobians(count: usize) -> f64 {
    let mut generator = Generator(1);
    let cameras: Vec<[f64; 11]> = (0..20).map(|_| std::array::from_fn(|_| generator.uniform())).collect();
    let mut points: Vec<Vector> = (0..100).map(|_| std::array::from_fn(|_| generator.uniform())).collect();
    points.iter_mut().for_each(|p| p[2] += 5.0);
    let weights = generator.take(1000);
    let features: Vec<[f64; 2]> = (0..1000).map(|_| std::array::from_fn(|_| generator.uniform())).collect();
    let mut sum = 0.0;
    for _ in 0..count {
        for i in 0..1000 {
            let (camera, point) = black_box((&cameras[i % 20], &points[i % 100]));
            let matrix = black_box(reprojection_jacobian(camera, *point, weights[i], features[i]));
            sum += matrix[0][i % 15] + matrix[1][(i + 7) % 15];
        }
    }
    sum
}

/// Returns the partials of a reprojection error with respect to camera, point and weight.
fn reprojection_jacobian(camera: &[f64; 11], point: Vector, weight: f64, feature: [f64; 2]) -> [[f64; 15]; 2] {
    let &[r0, r1, r2, c0, c1, c2, focal, u, v, k1, k2] = camera;
    let offset = along(point, -1.0, [c0, c1, c2]);
    let angle = dot([r0, r1, r2], [r0, r1, r2]).sqrt();
    let axis = [r0, r1, r2].map(|r| r / angle);
    let (sin, cos) = angle.sin_cos();
    let across = cross(axis, offset);
    let part = dot(axis, offset);
    let rotated = along(along(offset.map(|x| x * cos), sin, across), part * (1.0 - cos), axis);
    let (x, y) = (rotated[0] / rotated[2], rotated[1] / rotated[2]);
    let square = x * x + y * y;
    let distortion = 1.0 + k1 * square + k2 * square * square;
    let seen = [focal * distortion * x + u - feature[0], focal * distortion * y + v - feature[1]];

    let mut matrix = [[0.0; 15]; 2];
    for (n, row) in matrix.iter_mut().enumerate() {
        let back = [[weight, 0.0], [0.0, weight]][n];
        let back_scale = x * back[0] + y * back[1];
        let back_distortion = focal * back_scale;
        let back_square = back_distortion * (k1 + 2.0 * k2 * square);
        let back_x = focal * distortion * back[0] + 2.0 * x * back_square;
        let back_y = focal * distortion * back[1] + 2.0 * y * back_square;
        let back_rotated = [back_x / rotated[2], back_y / rotated[2], -(x * back_x + y * back_y) / rotated[2]];
        let back_along = dot(back_rotated, axis);
        let back_part = back_along * (1.0 - cos);
        let back_cos = dot(back_rotated, offset) - back_along * part;
        let back_sin = dot(back_rotated, across);
        let back_across = back_rotated.map(|b| sin * b);
        let back_offset = along(along(cross(back_across, axis), cos, back_rotated), back_part, axis);
        let back_axis = along(along(cross(offset, back_across), part * (1.0 - cos), back_rotated), back_part, offset);
        let back_angle = cos * back_sin - sin * back_cos - dot(back_axis, axis) / angle;
        let back_rotation = along(back_axis.map(|b| b / angle), back_angle, axis);
        *row = [
            back_rotation[0],
            back_rotation[1],
            back_rotation[2],
            -back_offset[0],
            -back_offset[1],
            -back_offset[2],
            distortion * back_scale,
            back[0],
            back[1],
            back_distortion * square,
            back_distortion * square * square,
            back_offset[0],
            back_offset[1],
            back_offset[2],
            seen[n],
        ];
    }
    matrix
}
