//! Convolutions with few output channels, which matrix products cannot use well: a window is multiplied by one vector of weights at a
//! time, without a matrix of patches.

use super::super::elementwise::Real;
use super::super::memory::scratch::with_scratch;
use super::super::memory::spare::unspecified;
use super::super::parallel::for_each_chunk;
use super::Geometry;
use multiversion::multiversion;
use multiversion::target::match_target;
use smallvec::SmallVec;

/// The number of bytes of the output channels of a window, to which weights are padded: one or two vectors of most processors.
/// Eight to twelve vectors of sums are computed together, because the processor starts several additions before the first one ends;
/// then there are registers left for the weights and the scalars.
const SMALL: usize = 32;
const LARGE: usize = 64;

/// The parts of the image that consecutive windows of one line need: where they start, and the lines of the kernel that are inside.
struct Lines {
    /// For each line of the kernel inside of the image: its number, and the start of the line in the example.
    lines: SmallVec<[(usize, usize); 8]>,
    /// The windows of which all columns are inside.
    inside: std::ops::Range<usize>,
}

/// Whether the windows can be computed here.
pub(super) fn is_narrow<T>(geometry: &Geometry, outputs: usize) -> bool {
    outputs * size_of::<T>() <= LARGE && geometry.channels * geometry.kernel[2] <= 64 && geometry.dilations[2] == 1
}

/// Whether the adjoint of the filter can be computed here. With more output channels, a product of matrices is faster.
pub(super) fn has_narrow_filter<T>(geometry: &Geometry, outputs: usize) -> bool {
    outputs * size_of::<T>() <= SMALL && is_narrow::<T>(geometry, outputs)
}

/// Returns the lines that the windows with the same `z` and `y` need.
fn lines(geometry: &Geometry, z: usize, y: usize) -> Lines {
    let [_, height, width] = geometry.input;
    let index = |axis: usize, output: usize, place: usize| {
        output * geometry.strides[axis] + place * geometry.dilations[axis] - geometry.before[axis]
    };
    let rows = geometry.inside(1, y);
    let mut lines = SmallVec::new();
    for a in geometry.inside(0, z) {
        for b in rows.clone() {
            let start = (index(0, z, a) * height + index(1, y, b)) * width * geometry.channels;
            lines.push((a * geometry.kernel[1] + b, start));
        }
    }
    let (stride, before) = (geometry.strides[2], geometry.before[2]);
    let first = before.div_ceil(stride);
    let end = (width + before).checked_sub(geometry.kernel[2]).map_or(0, |last| last / stride + 1);
    Lines { lines, inside: first..end.min(geometry.output[2]).max(first) }
}

/// Adds the products of the windows from `x` on: `sums[window] += scalars of the window · weights`.
#[inline(always)]
fn add_windows<T: Real, const LANES: usize, const WINDOWS: usize, const FUSED: bool>(
    geometry: &Geometry,
    example: &[T],
    lines: &Lines,
    x: usize,
    weights: &[[T; LANES]],
) -> [[T; LANES]; WINDOWS] {
    let channels = geometry.channels;
    let run = geometry.kernel[2] * channels;
    let step = geometry.strides[2] * channels;
    let left = (x * geometry.strides[2] - geometry.before[2]) * channels;
    let mut sums = [[T::default(); LANES]; WINDOWS];
    for &(line, start) in &lines.lines {
        let source = &example[start + left..start + left + (WINDOWS - 1) * step + run];
        // The slices have one length, so that an index is compared with it once for all of them.
        let sources: [&[T]; WINDOWS] = std::array::from_fn(|window| &source[window * step..][..run]);
        for (c, weights) in weights[line * run..][..run].iter().enumerate() {
            for (sums, source) in sums.iter_mut().zip(&sources) {
                let scalar = source[c];
                for (sum, &weight) in sums.iter_mut().zip(weights) {
                    *sum = scalar.multiply_add::<FUSED>(weight, *sum);
                }
            }
        }
    }
    sums
}

/// The part of a window that is inside of the lines of the image.
struct Part {
    /// The number of the first scalar in a line of the window.
    first: usize,
    /// The number of the first scalar in a line of the image.
    left: usize,
    /// The number of scalars in a line.
    count: usize,
}

/// Returns the part of the window `x` that is inside of the image.
#[inline(always)]
fn part(geometry: &Geometry, x: usize) -> Part {
    let channels = geometry.channels;
    let columns = geometry.inside(2, x);
    let left = (x * geometry.strides[2] + columns.start).saturating_sub(geometry.before[2]);
    Part { first: columns.start * channels, left: left * channels, count: columns.len() * channels }
}

/// Writes sums to the windows of a line. The unused lanes are written as well where another window follows, which replaces them.
#[inline(always)]
fn store<T: Copy, const LANES: usize>(sums: &[T; LANES], outputs: usize, target: &mut [T]) {
    match target.first_chunk_mut::<LANES>() {
        Some(target) => *target = *sums,
        None => copy_few(&sums[..outputs], target),
    }
}

/// Copies scalars to the start of a slice. As a call of its own, it keeps the compiler from joining it with copies of all lanes, which
/// are one instruction.
#[cold]
#[inline(never)]
fn copy_few<T: Copy>(source: &[T], target: &mut [T]) {
    target[..source.len()].copy_from_slice(source);
}

/// Computes all windows of an example.
#[multiversion(targets("x86_64+avx2+fma"))]
fn convolve_example<T: Real, const LANES: usize, const GROUP: usize>(
    geometry: &Geometry,
    example: &[T],
    weights: &[[T; LANES]],
    outputs: usize,
    result: &mut [T],
) {
    match_target! {
        "x86_64+avx2+fma" => convolve_windows::<T, LANES, GROUP, true>(geometry, example, weights, outputs, result),
        "aarch64" => convolve_windows::<T, LANES, GROUP, true>(geometry, example, weights, outputs, result),
        _ => convolve_windows::<T, LANES, GROUP, false>(geometry, example, weights, outputs, result),
    }
}

#[inline(always)]
fn convolve_windows<T: Real, const LANES: usize, const GROUP: usize, const FUSED: bool>(
    geometry: &Geometry,
    example: &[T],
    weights: &[[T; LANES]],
    outputs: usize,
    result: &mut [T],
) {
    let [_, height, width] = geometry.output;
    let run = geometry.kernel[2] * geometry.channels;
    for (number, result) in result.chunks_exact_mut(width * outputs).enumerate() {
        let lines = lines(geometry, number / height, number % height);
        let mut x = 0;
        while x < width {
            if lines.inside.contains(&x) && lines.inside.len() >= GROUP {
                // The last group starts earlier if it would be smaller: its first windows are computed twice.
                x = x.min(lines.inside.end - GROUP);
                let sums = add_windows::<T, LANES, GROUP, FUSED>(geometry, example, &lines, x, weights);
                for sums in &sums {
                    store(sums, outputs, &mut result[x * outputs..]);
                    x += 1;
                }
            } else {
                let mut sums = [T::default(); LANES];
                let part = part(geometry, x);
                for &(line, start) in &lines.lines {
                    let source = &example[start + part.left..][..part.count];
                    for (&scalar, weights) in source.iter().zip(&weights[line * run + part.first..]) {
                        for (sum, &weight) in sums.iter_mut().zip(weights) {
                            *sum = scalar.multiply_add::<FUSED>(weight, *sum);
                        }
                    }
                }
                store(&sums, outputs, &mut result[x * outputs..]);
                x += 1;
            }
        }
    }
}

/// Pads rows to a number of lanes. The lanes that a row does not have are unspecified: nothing reads what is computed from them.
fn pad<T: Copy, const LANES: usize>(rows: &[T], outputs: usize, padded: &mut [[T; LANES]]) {
    for (number, lanes) in padded.iter_mut().enumerate() {
        let row = &rows[number * outputs..];
        // Such a copy is one instruction. It includes the start of the next row, unless this is the last one.
        match row.first_chunk() {
            Some(chunk) => *lanes = *chunk,
            None => copy_few(&row[..outputs], lanes),
        }
    }
}

/// Returns the convolution of all examples.
pub(super) fn convolution<T: Real>(geometry: &Geometry, input: &[T], filter: &[T], outputs: usize) -> Vec<T> {
    match (size_of::<T>(), outputs * size_of::<T>() <= SMALL) {
        (4, true) => convolve_in_groups::<T, 8, 8, 12, 4>(geometry, input, filter, outputs),
        (4, false) => convolve_in_groups::<T, 16, 6, 5, 4>(geometry, input, filter, outputs),
        (_, true) => convolve_in_groups::<T, 4, 8, 12, 4>(geometry, input, filter, outputs),
        (_, false) => convolve_in_groups::<T, 8, 6, 5, 4>(geometry, input, filter, outputs),
    }
}

/// Returns the convolution of all examples, of which the given number of windows are computed together: the number that takes the
/// shortest time for a line.
fn convolve_in_groups<T: Real, const LANES: usize, const A: usize, const B: usize, const C: usize>(
    geometry: &Geometry,
    input: &[T],
    filter: &[T],
    outputs: usize,
) -> Vec<T> {
    let windows = lines(geometry, 0, 0).inside.len();
    // Eight vectors of sums take as long as fewer.
    let vectors = LANES * size_of::<T>() / SMALL;
    let time = |group: &usize| windows.div_ceil(*group) * (group * vectors).max(8);
    let group = [A, B, C].into_iter().filter(|&group| group <= windows).min_by_key(time);
    if group == Some(A) {
        convolve::<T, LANES, A>(geometry, input, filter, outputs)
    } else if group == Some(B) {
        convolve::<T, LANES, B>(geometry, input, filter, outputs)
    } else {
        convolve::<T, LANES, C>(geometry, input, filter, outputs)
    }
}

fn convolve<T: Real, const LANES: usize, const GROUP: usize>(
    geometry: &Geometry,
    input: &[T],
    filter: &[T],
    outputs: usize,
) -> Vec<T> {
    let mut weights = vec![[T::default(); LANES]; filter.len() / outputs];
    pad(filter, outputs, &mut weights);
    let size = geometry.windows() * outputs;
    let mut result = unspecified(geometry.examples * size);
    for_each_chunk(&mut result, size, size * weights.len(), |number, result| {
        let example = &input[number * geometry.example_size()..(number + 1) * geometry.example_size()];
        convolve_example::<T, LANES, GROUP>(geometry, example, &weights, outputs, result);
    });
    result
}

/// Adds the products of each scalar of each window of an example with the adjoints of the window.
#[multiversion(targets("x86_64+avx2+fma"))]
fn add_filter_adjoint<T: Real, const LANES: usize>(
    geometry: &Geometry,
    example: &[T],
    adjoints: &[[T; LANES]],
    sums: &mut [[T; LANES]],
) {
    match_target! {
        "x86_64+avx2+fma" => add_products::<T, LANES, true>(geometry, example, adjoints, sums),
        "aarch64" => add_products::<T, LANES, true>(geometry, example, adjoints, sums),
        _ => add_products::<T, LANES, false>(geometry, example, adjoints, sums),
    }
}

/// Adds the products of scalars with the adjoints of a window.
#[inline(always)]
fn add_scalars<T: Real, const LANES: usize, const COLUMNS: usize, const FUSED: bool>(
    totals: &mut [[T; LANES]; COLUMNS],
    scalars: &[T; COLUMNS],
    adjoints: &[T; LANES],
) {
    for (totals, &scalar) in totals.iter_mut().zip(scalars) {
        for (total, &adjoint) in totals.iter_mut().zip(adjoints) {
            *total = scalar.multiply_add::<FUSED>(adjoint, *total);
        }
    }
}

/// Adds the products of `COLUMNS` neighboring scalars of windows with the adjoints of the windows, for two lines of the windows. The
/// sums do not depend on each other, so the processor computes them at the same time. `places` are those of the sums of the lines.
#[inline(always)]
fn add_columns<T: Real, const LANES: usize, const COLUMNS: usize, const FUSED: bool>(
    sources: [&[T]; 2],
    step: usize,
    adjoints: &[[T; LANES]],
    sums: &mut [[T; LANES]],
    places: [usize; 2],
) {
    let chunk = |sums: &[[T; LANES]], place: usize| sums[place..].first_chunk::<COLUMNS>().copied();
    let (Some(mut first), Some(mut second)) = (chunk(sums, places[0]), chunk(sums, places[1])) else { return };
    for (window, adjoints) in adjoints.iter().enumerate() {
        let scalars = |source: &'_ [T]| source.get(window * step..).and_then(<[T]>::first_chunk::<COLUMNS>).copied();
        let (Some(scalars), Some(others)) = (scalars(sources[0]), scalars(sources[1])) else { break };
        add_scalars::<T, LANES, COLUMNS, FUSED>(&mut first, &scalars, adjoints);
        add_scalars::<T, LANES, COLUMNS, FUSED>(&mut second, &others, adjoints);
    }
    sums[places[0]..][..COLUMNS].copy_from_slice(&first);
    sums[places[1]..][..COLUMNS].copy_from_slice(&second);
}

/// Adds the products of the scalars of two lines of windows with the adjoints of the windows.
#[inline(always)]
fn add_lines<T: Real, const LANES: usize, const FUSED: bool>(
    sources: [&[T]; 2],
    (run, step): (usize, usize),
    adjoints: &[[T; LANES]],
    sums: &mut [[T; LANES]],
    places: [usize; 2],
) {
    let mut c = 0;
    while c < run {
        let (sources, places) = (sources.map(|source| &source[c..]), places.map(|place| place + c));
        // The calls are direct, so that they are inlined: only then does the code use the vector instructions.
        if run - c >= 5 {
            add_columns::<T, LANES, 5, FUSED>(sources, step, adjoints, sums, places);
            c += 5;
        } else if run - c >= 3 {
            add_columns::<T, LANES, 3, FUSED>(sources, step, adjoints, sums, places);
            c += 3;
        } else {
            add_columns::<T, LANES, 1, FUSED>(sources, step, adjoints, sums, places);
            c += 1;
        }
    }
}

#[inline(always)]
fn add_products<T: Real, const LANES: usize, const FUSED: bool>(
    geometry: &Geometry,
    example: &[T],
    adjoints: &[[T; LANES]],
    sums: &mut [[T; LANES]],
) {
    let [_, height, width] = geometry.output;
    let channels = geometry.channels;
    let run = geometry.kernel[2] * channels;
    for (number, adjoints) in adjoints.chunks_exact(width).enumerate() {
        let lines = lines(geometry, number / height, number % height);
        let inside = adjoints.get(lines.inside.clone()).unwrap_or(&[]);
        if !inside.is_empty() {
            let left = (lines.inside.start * geometry.strides[2] - geometry.before[2]) * channels;
            let steps = (run, geometry.strides[2] * channels);
            for pair in lines.lines.chunks(2) {
                // A line without another one is computed twice, with equal results; that takes no longer than once.
                let pair = [pair[0], pair[pair.len() - 1]];
                let sources = pair.map(|(_, start)| &example[start + left..]);
                add_lines::<T, LANES, FUSED>(sources, steps, inside, sums, pair.map(|(line, _)| line * run));
            }
        }
        for (x, adjoints) in adjoints.iter().enumerate().filter(|(x, _)| !lines.inside.contains(x)) {
            let part = part(geometry, x);
            for &(line, start) in &lines.lines {
                let source = &example[start + part.left..][..part.count];
                for (sums, &scalar) in sums[line * run + part.first..].iter_mut().zip(source) {
                    for (sum, &adjoint) in sums.iter_mut().zip(adjoints) {
                        *sum = scalar.multiply_add::<FUSED>(adjoint, *sum);
                    }
                }
            }
        }
    }
}

/// Returns the adjoint of the filter: the sum over all examples, in a fixed number of parts.
pub(super) fn filter_adjoint<T: Real>(geometry: &Geometry, input: &[T], adjoint: &[T], outputs: usize) -> Vec<T> {
    match size_of::<T>() {
        4 => sum_filter_adjoint::<T, 8>(geometry, input, adjoint, outputs),
        _ => sum_filter_adjoint::<T, 4>(geometry, input, adjoint, outputs),
    }
}

fn sum_filter_adjoint<T: Real, const LANES: usize>(
    geometry: &Geometry,
    input: &[T],
    adjoint: &[T],
    outputs: usize,
) -> Vec<T> {
    let size = geometry.kernel_size() * geometry.channels;
    let windows = geometry.windows();
    let share = geometry.examples.div_ceil(8).max(1);
    let mut sums = vec![[T::default(); LANES]; geometry.examples.div_ceil(share).max(1) * size];
    for_each_chunk(&mut sums, size, share * windows * size * LANES, |number, sums| {
        with_scratch(windows * LANES, |padded| {
            let (padded, _) = padded.as_chunks_mut::<LANES>();
            for example in number * share..((number + 1) * share).min(geometry.examples) {
                pad(&adjoint[example * windows * outputs..], outputs, padded);
                let scalars = &input[example * geometry.example_size()..(example + 1) * geometry.example_size()];
                add_filter_adjoint::<T, LANES>(geometry, scalars, padded, sums);
            }
        });
    });
    let (first, rest) = sums.split_at_mut(size);
    for part in rest.chunks_exact(size) {
        for (sums, part) in first.iter_mut().zip(part) {
            sums.iter_mut().zip(part).for_each(|(sum, &part)| *sum += part);
        }
    }
    first.iter().flat_map(|sums| &sums[..outputs]).copied().collect()
}
