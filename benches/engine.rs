//! Running times of complete programs, from source text to result, next to the same computation in Rust.
//!
//! `ratios.rs` measures only the machine; these times include parsing, compilation and the first derivative.

#[allow(dead_code, reason = "each benchmark uses a part of it")]
mod workloads;

use divan::Bencher;
use workloads::{WORKLOADS, Workload};

fn main() {
    divan::main();
}

#[divan::bench(args = WORKLOADS)]
fn dscript(bencher: Bencher<'_, '_>, workload: &Workload) {
    let text = workload.text();
    bencher.bench_local(|| workload.run(&text));
}

#[divan::bench(args = WORKLOADS)]
fn by_hand(bencher: Bencher<'_, '_>, workload: &Workload) {
    bencher.bench_local(|| workload.by_hand(1));
}
