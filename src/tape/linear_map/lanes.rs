//! Lanes: applies a linear map to several seeds in one sweep. A Jacobian needs many seeds, and the nodes of the tape
//! are read once for all of them.
//!
//! A sweep with lanes is used only where sweeps are plain arithmetic: no level is live in which partial derivatives or
//! seeds could vary, and the tape contains no function of the user's own. Each lane computes what a
//! [`Sweep`](crate::tape::Sweep) with one seed computes.

use super::LinearMap;
use crate::tape::levels::Direction;
use crate::tape::node::Node;
use crate::tape::sweep::{NO_TANGENT, POLL, along};
use crate::tape::wide_node::WideKind;

/// The maximum number of seeds that are swept at once.
pub const LANES: usize = 8;

/// One adjoint or tangent for each seed that is swept.
type Lanes<const N: usize> = [f64; N];

/// Whether a linear map can be applied to several seeds at once where no level is live.
pub fn is_plain(map: &LinearMap) -> bool {
    map.tape.wide().iter().all(|wide| matches!(wide.kind, WideKind::Sum(_)))
}

/// Returns the results of a linear map for at most [`LANES`] seeds, each as the numbers of a vector; an empty list when
/// `stop` reports that the user cancels. No level may be live.
pub fn apply(map: &LinearMap, seeds: &[Vec<f64>], stop: &dyn Fn() -> bool) -> Vec<Vec<f64>> {
    match seeds.len() {
        0 | 1 => apply_lanes::<1>(map, seeds, stop),
        2 => apply_lanes::<2>(map, seeds, stop),
        3 | 4 => apply_lanes::<4>(map, seeds, stop),
        _ => apply_lanes::<LANES>(map, seeds, stop),
    }
}

/// Returns the results of a linear map for at most `N` seeds.
fn apply_lanes<const N: usize>(map: &LinearMap, seeds: &[Vec<f64>], stop: &dyn Fn() -> bool) -> Vec<Vec<f64>> {
    let fill = if map.direction() == Direction::Reverse { 0.0 } else { NO_TANGENT };
    let mut numbers: Vec<Lanes<N>> = vec![[fill; N]; map.tape.len() + 1];
    let seeded = map.seeded();
    for (lane, seed) in seeds.iter().take(N).enumerate() {
        for (node, value) in seeded.iter().zip(seed).filter(|(node, value)| **node != 0 && **value != 0.0) {
            numbers[*node as usize][lane] += value;
        }
    }
    let done = match map.direction() {
        Direction::Reverse => run_backwards(map, &mut numbers, stop),
        Direction::Forward => run_forwards(map, &mut numbers, stop),
    };
    if !done {
        return vec![];
    }
    let read = map.read();
    // Adding 0 turns the tangent of a constant into an ordinary zero.
    let number = |lane: usize, node: u32| if node == 0 { 0.0 } else { numbers[node as usize][lane] + 0.0 };
    (0..seeds.len().min(N)).map(|lane| read.iter().map(|node| number(lane, *node)).collect()).collect()
}

/// Returns the rows of a Jacobian with at most [`LANES`] rows, given the nodes that follow the leaves, and the nodes of the
/// results; `None` if a partial derivative or an entry is not finite, or if a node is missing.
pub fn rows(leaves: u32, nodes: &[Node], outputs: &[u32]) -> Option<Vec<Vec<f64>>> {
    match outputs.len() {
        0 | 1 => rows_of_lanes::<1>(leaves, nodes, outputs),
        2 => rows_of_lanes::<2>(leaves, nodes, outputs),
        3 | 4 => rows_of_lanes::<4>(leaves, nodes, outputs),
        _ => rows_of_lanes::<LANES>(leaves, nodes, outputs),
    }
}

fn rows_of_lanes<const N: usize>(leaves: u32, nodes: &[Node], outputs: &[u32]) -> Option<Vec<Vec<f64>>> {
    let first = leaves as usize + 1;
    let mut adjoints: Vec<Lanes<N>> = vec![[0.0; N]; first + nodes.len()];
    for (lane, node) in outputs.iter().enumerate().take(N).filter(|(_, node)| **node != 0) {
        adjoints.get_mut(*node as usize)?[lane] += 1.0;
    }
    for (k, node) in nodes.iter().enumerate().rev() {
        let number = first + k;
        if node.a.max(node.b) as usize > number || !node.pa.is_finite() || !node.pb.is_finite() {
            return None;
        }
        let adjoint = adjoints[number];
        add(&mut adjoints[node.a as usize], adjoint, node.pa);
        // A missing operand is represented by the node itself, which is already processed.
        add(&mut adjoints[node.b as usize], adjoint, node.pb);
    }
    // Adding 0 turns a negative zero into an ordinary zero.
    let row = |lane: usize| adjoints[1..first].iter().map(|adjoint| adjoint[lane] + 0.0).collect();
    let rows: Vec<Vec<f64>> = (0..outputs.len().min(N)).map(row).collect();
    rows.iter().flatten().all(|x| x.is_finite()).then_some(rows)
}

/// Returns the parts of a tape in order: either nodes from a number on, few enough to be processed between two checks
/// for cancellation, or a wide node.
pub(super) fn parts(map: &LinearMap) -> Vec<(u32, &[Node], Option<usize>)> {
    let tape = &map.tape;
    let (mut parts, mut first, mut wide) = (vec![], tape.leaves() + 1, 0);
    for chunk in tape.chunks() {
        let mut rest = &chunk[..];
        while !rest.is_empty() {
            match tape.wide().get(wide) {
                Some(next) if next.first == first => {
                    parts.push((first, &[][..], Some(wide)));
                    let results = next.results as usize;
                    (first, rest, wide) = (first + next.results, rest.get(results..).unwrap_or(&[]), wide + 1);
                }
                next => {
                    let room = next.map_or(usize::MAX, |next| (next.first - first) as usize);
                    let (now, later) = rest.split_at(room.min(rest.len()).min(POLL as usize));
                    parts.push((first, now, None));
                    (first, rest) = (first + now.len() as u32, later);
                }
            }
        }
    }
    parts
}

fn run_backwards<const N: usize>(map: &LinearMap, adjoints: &mut [Lanes<N>], stop: &dyn Fn() -> bool) -> bool {
    for (first, nodes, wide) in parts(map).into_iter().rev() {
        for (k, node) in nodes.iter().enumerate().rev() {
            let adjoint = adjoints[first as usize + k];
            if adjoint.iter().all(|lane| is_nothing(*lane)) {
                continue;
            }
            add(&mut adjoints[node.a as usize], adjoint, node.pa);
            // A missing operand is represented by the node itself, which is already processed.
            add(&mut adjoints[node.b as usize], adjoint, node.pb);
        }
        if let Some(WideKind::Sum(operands)) = wide.map(|k| &map.tape.wide()[k].kind) {
            let adjoint = adjoints[first as usize];
            operands.iter().filter(|(node, ..)| *node != 0).for_each(|(node, partial, _)| {
                add(&mut adjoints[*node as usize], adjoint, *partial);
            });
        }
        if stop() {
            return false;
        }
    }
    true
}

/// Adds the contribution of a result to the adjoint of an operand; a lane without an adjoint contributes nothing.
#[inline(always)]
fn add<const N: usize>(to: &mut Lanes<N>, adjoint: Lanes<N>, partial: f64) {
    for (to, adjoint) in to.iter_mut().zip(adjoint) {
        *to += if is_nothing(adjoint) { 0.0 } else { adjoint * partial };
    }
}

/// Whether an adjoint counts as zero. Subnormal numbers count as zero, as in a sweep of one seed. The comparison has
/// this form so that NaN is propagated.
#[inline(always)]
fn is_nothing(adjoint: f64) -> bool {
    adjoint.abs() < f64::MIN_POSITIVE
}

fn run_forwards<const N: usize>(map: &LinearMap, tangents: &mut [Lanes<N>], stop: &dyn Fn() -> bool) -> bool {
    for (first, nodes, wide) in parts(map) {
        for (k, node) in nodes.iter().enumerate() {
            let (a, b) = (tangents[node.a as usize], tangents[node.b as usize]);
            tangents[first as usize + k] =
                std::array::from_fn(|lane| along(node.pa, a[lane]) + along(node.pb, b[lane]));
        }
        if let Some(WideKind::Sum(operands)) = wide.map(|k| &map.tape.wide()[k].kind) {
            let mut sum = [NO_TANGENT; N];
            for (node, partial, _) in operands.iter().filter(|(node, ..)| *node != 0) {
                let tangent = tangents[*node as usize];
                sum.iter_mut().zip(tangent).for_each(|(sum, tangent)| *sum += along(*partial, tangent));
            }
            tangents[first as usize] = sum;
        }
        if stop() {
            return false;
        }
    }
    true
}
