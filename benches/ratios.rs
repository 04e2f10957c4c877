//! Running times of dscript, and their ratios to those of Rust for the same computation.
//!
//! Both sides run alternately, so that a busy machine affects both, and the median of several runs is reported. Arguments
//! after `--` select programs by name: `cargo bench --bench ratios -- gradient`.
#![allow(clippy::print_stdout, reason = "a benchmark prints its table")]

#[allow(dead_code, reason = "each benchmark uses a part of it")]
mod workloads;

use std::time::Duration;
use workloads::{Measured, WORKLOADS, Workload};

/// The allocator of the binary.
#[global_allocator]
static ALLOCATOR: dscript::allocator::Allocator = dscript::allocator::Allocator;

/// The number of runs of each program; odd, so that there is a median.
const ROUNDS: usize = 9;

/// The number of active operations in one gradient of the logistic map: three per step.
const ACTIVE: f64 = 3000.0;

/// The stack size of the binary: the compiler walks trees by recursion.
const STACK: usize = 256 << 20;

fn main() {
    let run = std::thread::Builder::new().stack_size(STACK).spawn(table).map(std::thread::JoinHandle::join);
    assert!(matches!(run, Ok(Ok(()))), "a program failed");
}

fn table() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    println!("{:<42} {:>12} {:>12} {:>8} {:>8}", "", "dscript", "Rust", "ratio", "at most");
    let (mut seconds, mut ratios) = (Vec::new(), Vec::new());
    for workload in WORKLOADS {
        if !words.is_empty() && !words.iter().any(|word| workload.name.contains(word.as_str())) {
            continue;
        }
        let (ours, theirs) = medians(workload);
        let target = workload.target.map_or_else(String::new, |t| format!("{t:.1}"));
        println!("{:<42} {:>12} {:>12} {:>8.2} {target:>8}", workload.name, shown(ours), shown(theirs), ours / theirs);
        seconds.push((workload.name, ours));
        ratios.push((workload.name, ours / theirs));
    }
    println!();
    for (kind, target) in [("gradient", 7.0), ("tangent", 6.0)] {
        let of_kind: Vec<f64> = ratios.iter().filter(|(name, _)| name.starts_with(kind)).map(|(_, r)| r.ln()).collect();
        if !of_kind.is_empty() {
            let mean = (of_kind.iter().sum::<f64>() / of_kind.len() as f64).exp();
            println!("{kind}s, geometric mean: {mean:.2} times the hand-written derivative (at most {target})");
        }
    }
    let of = |name: &str| seconds.iter().find(|(n, _)| *n == name).map(|(_, s)| *s);
    if let Some(gradient) = of("gradient of the logistic map") {
        println!("adjoint code, per active operation: {:.2} ns (at most 9)", gradient / ACTIVE * 1e9);
    }
    if let (Some(few), Some(many)) = (of("gradient over an array of 100"), of("gradient over an array of 10,000")) {
        println!(
            "gradient over an array, per element: {:.2} ns for 100, {:.2} ns for 10,000, ratio {:.2} (at most 1.3)",
            few / 1e2 * 1e9,
            many / 1e4 * 1e9,
            many / few / 100.0
        );
    }
}

/// Returns the seconds for one unit of work, in dscript and in Rust.
fn medians(workload: &Workload) -> (f64, f64) {
    // The first run fills the caches and checks that the results of both sides agree.
    let count = workload.count.div_ceil(20);
    let (ours, theirs) = (workload.measure(count).result, workload.by_hand(count));
    assert!((ours - theirs).abs() <= 1e-9 * theirs.abs(), "{workload}: dscript has {ours}, Rust {theirs}");
    let (mut left, mut right) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        left.push(workload.measure(workload.count));
        right.push(workload.measure_by_hand(workload.count_by_hand));
    }
    (median(left), median(right))
}

fn median(measured: Vec<Measured>) -> f64 {
    let mut seconds: Vec<f64> = measured.into_iter().map(|m| m.seconds).collect();
    seconds.sort_by(f64::total_cmp);
    seconds[seconds.len() / 2]
}

fn shown(seconds: f64) -> String {
    format!("{:.3?}", Duration::from_secs_f64(seconds))
}
