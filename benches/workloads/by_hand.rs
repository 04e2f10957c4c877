//! The computations of the workloads in Rust, with derivatives written by hand.

use std::hint::black_box;

fn start(i: usize) -> f64 {
    0.3 + 0.001 * (i % 100) as f64
}

pub fn logistic(count: usize) -> f64 {
    let mut sum = 0.0;
    for i in 0..count {
        let (r, mut x) = black_box((3.7, start(i)));
        for _ in 0..1000 {
            x = r * x * (1.0 - x);
        }
        sum += x;
    }
    sum
}

pub fn logistic_gradient(count: usize) -> f64 {
    let mut sum = 0.0;
    let mut xs = vec![0.0; 1000];
    for i in 0..count {
        let (r, mut x) = black_box((3.0, start(i)));
        for saved in &mut xs {
            *saved = x;
            x = r * x * (1.0 - x);
        }
        black_box(x);
        let (mut by_rate, mut by_x) = (0.0, 1.0);
        for x in xs.iter().rev() {
            by_rate += by_x * x * (1.0 - x);
            by_x *= r * (1.0 - 2.0 * x);
        }
        sum += f64::abs(by_rate) + f64::abs(by_x);
    }
    sum
}

#[derive(Clone, Copy)]
struct Body {
    x: f64,
    y: f64,
    z: f64,
    vx: f64,
    vy: f64,
    vz: f64,
    mass: f64,
}

const YEAR: f64 = 365.24;
const SUN: f64 = 4.0 * std::f64::consts::PI * std::f64::consts::PI;

/// Positions in astronomical units, speeds in astronomical units per day, masses in solar masses.
const PLANETS: [[f64; 7]; 5] = [
    [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0],
    [
        4.841_431_442_464_721,
        -1.160_320_044_027_428_4,
        -0.103_622_044_471_123_11,
        0.001_660_076_642_744_037,
        0.007_699_011_184_197_404,
        -0.000_069_046_001_697_206_3,
        0.000_954_791_938_424_326_6,
    ],
    [
        8.343_366_718_244_58,
        4.124_798_564_124_305,
        -0.403_523_417_114_321_4,
        -0.002_767_425_107_264_110_5,
        0.004_998_528_012_349_172,
        0.000_023_041_729_757_376_393,
        0.000_285_885_980_666_130_8,
    ],
    [
        12.894_369_562_139_13,
        -15.111_151_401_698_631,
        -0.223_307_578_892_655_73,
        0.002_964_601_375_647_616,
        0.002_378_471_739_594_809_5,
        -0.000_029_658_956_854_023_756,
        0.000_043_662_440_433_515_63,
    ],
    [
        15.379_697_114_850_917,
        -25.919_314_609_987_964,
        0.179_258_772_950_371_18,
        0.002_680_677_724_903_893_2,
        0.001_628_241_700_382_423,
        -0.000_095_159_225_451_971_59,
        0.000_051_513_890_204_661_145,
    ],
];

pub fn nbody(count: usize) -> f64 {
    let mut bodies: Vec<Body> = black_box(PLANETS)
        .iter()
        .map(|&[x, y, z, vx, vy, vz, mass]| Body {
            x,
            y,
            z,
            vx: vx * YEAR,
            vy: vy * YEAR,
            vz: vz * YEAR,
            mass: mass * SUN,
        })
        .collect();
    for _ in 0..100 * count {
        advance(&mut bodies, 0.01);
    }
    bodies[1].x
}

fn advance(bodies: &mut [Body], time: f64) {
    for i in 0..bodies.len() {
        let (left, right) = bodies.split_at_mut(i + 1);
        let a = &mut left[i];
        for b in right {
            let (dx, dy, dz) = (a.x - b.x, a.y - b.y, a.z - b.z);
            let square = dx * dx + dy * dy + dz * dz;
            let pull = time / (square * square.sqrt());
            let (mine, other) = (a.mass * pull, b.mass * pull);
            a.vx -= dx * other;
            a.vy -= dy * other;
            a.vz -= dz * other;
            b.vx += dx * mine;
            b.vy += dy * mine;
            b.vz += dz * mine;
        }
    }
    for body in bodies {
        body.x += time * body.vx;
        body.y += time * body.vy;
        body.z += time * body.vz;
    }
}

pub fn fib(count: usize) -> f64 {
    fn fib(n: i64) -> i64 {
        if n < 2 { n } else { fib(n - 1) + fib(n - 2) }
    }
    let mut sum = 0;
    for _ in 0..count {
        sum += fib(black_box(27));
    }
    sum as f64
}

const GRAVITY: f64 = 9.81;
const STEP: f64 = 0.05;

fn change([angle, speed]: [f64; 2], friction: f64) -> [f64; 2] {
    [speed, -GRAVITY * angle.sin() - friction * speed]
}

fn moved(state: [f64; 2], change: [f64; 2], time: f64) -> [f64; 2] {
    [state[0] + time * change[0], state[1] + time * change[1]]
}

/// Returns the adjoints of the state and the friction of [`change`], given the adjoint of its result.
fn change_back([angle, speed]: [f64; 2], friction: f64, back: [f64; 2]) -> ([f64; 2], f64) {
    ([-GRAVITY * angle.cos() * back[1], back[0] - friction * back[1]], -speed * back[1])
}

pub fn pendulum_gradient(count: usize) -> f64 {
    let mut sum = 0.0;
    for i in 0..count {
        let gradient = pendulum(black_box([0.5 + 0.001 * (i % 100) as f64, 0.1]), black_box(0.2));
        sum += gradient.iter().map(|g| g.abs()).sum::<f64>();
    }
    sum
}

/// Returns the partials of the final angle with respect to the initial angle, the initial speed and the friction.
fn pendulum(start: [f64; 2], friction: f64) -> [f64; 3] {
    let h = STEP;
    let mut state = start;
    let mut saved = [[[0.0; 2]; 4]; 20];
    for stages in &mut saved {
        let s1 = state;
        let k1 = change(s1, friction);
        let s2 = moved(state, k1, h / 2.0);
        let k2 = change(s2, friction);
        let s3 = moved(state, k2, h / 2.0);
        let k3 = change(s3, friction);
        let s4 = moved(state, k3, h);
        let k4 = change(s4, friction);
        *stages = [s1, s2, s3, s4];
        for n in 0..2 {
            state[n] += h / 6.0 * (k1[n] + 2.0 * k2[n] + 2.0 * k3[n] + k4[n]);
        }
    }
    black_box(state);
    let (mut back, mut by_friction) = ([1.0, 0.0], 0.0);
    for [s1, s2, s3, s4] in saved.into_iter().rev() {
        // The adjoint of a stage: its weight in the step, and its contribution to the next stage.
        let share = |weight: f64, next: [f64; 2], time: f64| {
            [h / 6.0 * weight * back[0] + time * next[0], h / 6.0 * weight * back[1] + time * next[1]]
        };
        let (b4, f4) = change_back(s4, friction, share(1.0, [0.0; 2], 0.0));
        let (b3, f3) = change_back(s3, friction, share(2.0, b4, h));
        let (b2, f2) = change_back(s2, friction, share(2.0, b3, h / 2.0));
        let (b1, f1) = change_back(s1, friction, share(1.0, b2, h / 2.0));
        back = [back[0] + b1[0] + b2[0] + b3[0] + b4[0], back[1] + b1[1] + b2[1] + b3[1] + b4[1]];
        by_friction += f1 + f2 + f3 + f4;
    }
    [back[0], back[1], by_friction]
}

pub fn squares_gradient<const SIZE: usize>(count: usize) -> f64 {
    let numbers: Vec<f64> = (0..SIZE).map(|i| 0.5 + 0.25 * (i % 7) as f64).collect();
    let mut sum = 0.0;
    for i in 0..count {
        let xs = black_box(numbers.as_slice());
        black_box(xs.iter().map(|x| x * x).sum::<f64>());
        let slope: Vec<f64> = xs.iter().map(|x| x + x).collect();
        sum += black_box(slope)[i % SIZE];
    }
    sum
}

pub fn rosenbrock_gradient(count: usize) -> f64 {
    let start: Vec<f64> = (0..100).map(|i| -1.2 + 0.02 * f64::from(i)).collect();
    let mut sum = 0.0;
    for i in 0..count {
        let xs = black_box(start.as_slice());
        let (mut value, mut slope) = (0.0, vec![0.0; xs.len()]);
        for (pair, slope) in xs.chunks_exact(2).zip(slope.chunks_exact_mut(2)) {
            let (valley, ahead) = (pair[1] - pair[0] * pair[0], 1.0 - pair[0]);
            value += 100.0 * valley * valley + ahead * ahead;
            slope[1] = 200.0 * valley;
            slope[0] = -400.0 * valley * pair[0] - 2.0 * ahead;
        }
        sum += value + black_box(slope)[i % 100];
    }
    sum
}

pub fn rosenbrock_hessian(count: usize) -> f64 {
    let start: Vec<f64> = (0..100).map(|i| -1.2 + 0.02 * f64::from(i)).collect();
    let mut sum = 0.0;
    for i in 0..count {
        let xs = black_box(start.as_slice());
        // Only the components of a pair are in one term.
        let mut matrix = vec![0.0; xs.len() * xs.len()];
        for (n, pair) in xs.chunks_exact(2).enumerate() {
            let (first, second) = (2 * n * xs.len() + 2 * n, (2 * n + 1) * xs.len() + 2 * n);
            matrix[first] = 1200.0 * pair[0] * pair[0] - 400.0 * pair[1] + 2.0;
            matrix[first + 1] = -400.0 * pair[0];
            matrix[second] = -400.0 * pair[0];
            matrix[second + 1] = 200.0;
        }
        let matrix = black_box(matrix);
        sum += matrix[i % 100 * 101] + matrix[i % 99 * 101 + 1];
    }
    sum
}

pub fn third_derivative(count: usize) -> f64 {
    let mut sum = 0.0;
    for i in 0..count {
        let x = black_box(1.5 + 0.01 * (i % 100) as f64);
        // The Taylor coefficients of y, and of the quotient q of x and y.
        let mut y = [x, 1.0, 0.0, 0.0];
        for _ in 0..10 {
            let inverse = 1.0 / y[0];
            let mut q = [x * inverse, 0.0, 0.0, 0.0];
            q[1] = (1.0 - q[0] * y[1]) * inverse;
            q[2] = -(q[0] * y[2] + q[1] * y[1]) * inverse;
            q[3] = -(q[0] * y[3] + q[1] * y[2] + q[2] * y[1]) * inverse;
            y = std::array::from_fn(|k| (y[k] + q[k]) / 2.0);
        }
        sum += 6.0 * black_box(y)[3];
    }
    sum
}

pub fn logistic_tangent(count: usize) -> f64 {
    let mut sum = 0.0;
    for i in 0..count {
        let (r, mut x) = black_box((3.7, start(i)));
        let mut along = 1.0;
        for _ in 0..1000 {
            along = x * (1.0 - x) + r * (1.0 - 2.0 * x) * along;
            x = r * x * (1.0 - x);
        }
        black_box(x);
        sum += along;
    }
    sum
}

/// A number and its tangent.
type Dual = [f64; 2];

pub fn pendulum_tangent(count: usize) -> f64 {
    let change = |[angle, speed]: [Dual; 2], friction: Dual| -> [Dual; 2] {
        let pull = -GRAVITY * angle[0].sin() - friction[0] * speed[0];
        let along = -GRAVITY * angle[0].cos() * angle[1] - friction[1] * speed[0] - friction[0] * speed[1];
        [speed, [pull, along]]
    };
    let moved = |state: [Dual; 2], change: [Dual; 2], time: f64| -> [Dual; 2] {
        std::array::from_fn(|n| std::array::from_fn(|k| state[n][k] + time * change[n][k]))
    };
    let mut sum = 0.0;
    for i in 0..count {
        let mut state: [Dual; 2] = black_box([[0.5 + 0.001 * (i % 100) as f64, 1.0], [0.1, 1.0]]);
        let (friction, h): (Dual, f64) = black_box(([0.2, 1.0], STEP));
        for _ in 0..20 {
            let k1 = change(state, friction);
            let k2 = change(moved(state, k1, h / 2.0), friction);
            let k3 = change(moved(state, k2, h / 2.0), friction);
            let k4 = change(moved(state, k3, h), friction);
            for (n, number) in state.iter_mut().enumerate() {
                for (k, part) in number.iter_mut().enumerate() {
                    *part += h / 6.0 * (k1[n][k] + 2.0 * k2[n][k] + 2.0 * k3[n][k] + k4[n][k]);
                }
            }
        }
        sum += black_box(state)[0][1];
    }
    sum
}

pub fn squares_tangent<const SIZE: usize>(count: usize) -> f64 {
    let numbers: Vec<f64> = (0..SIZE).map(|i| 0.5 + 0.25 * (i % 7) as f64).collect();
    let ones = vec![1.0; SIZE];
    let mut sum = 0.0;
    for _ in 0..count {
        let (xs, along) = black_box((numbers.as_slice(), ones.as_slice()));
        black_box(xs.iter().map(|x| x * x).sum::<f64>());
        sum += xs.iter().zip(along).map(|(x, v)| 2.0 * x * v).sum::<f64>();
    }
    sum
}
