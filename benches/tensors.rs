//! Running times of programs with tensors next to the same programs in PyTorch, JAX and NumPy.
//!
//! The environment variable `PEERS_PYTHON` names a Python interpreter with these packages; `benches/install_peers.sh` installs
//! one. All use one thread. Both sides run alternately, and the best of several runs is reported, because other
//! programs on the machine only make a run slower. Arguments after `--` select programs by name: `cargo bench --bench tensors --
//! lenet`; `--json` prints one line per row.
#![allow(clippy::print_stdout, reason = "a benchmark prints its table")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A program in `benches/tensors/`, and how its time compares with a library.
struct Row {
    program: &'static str,
    peer: &'static str,
    /// The number of measured steps in a run.
    steps: usize,
    /// The largest ratio of the times that is aimed at.
    at_most: f64,
}

const ROWS: [Row; 8] = [
    Row { program: "perceptron", peer: "jax", steps: 500, at_most: 1.0 },
    Row { program: "perceptron", peer: "torch", steps: 500, at_most: 0.6 },
    Row { program: "lenet", peer: "torch", steps: 100, at_most: 0.9 },
    Row { program: "lstm", peer: "torch", steps: 30, at_most: 1.0 },
    Row { program: "chain", peer: "jax", steps: 30, at_most: 1.0 },
    Row { program: "product_double", peer: "numpy", steps: 50, at_most: 1.05 },
    Row { program: "product_float", peer: "numpy", steps: 50, at_most: 1.05 },
    Row { program: "small_operations", peer: "torch", steps: 1000, at_most: 0.1 },
];

/// The number of runs of each program.
const ROUNDS: usize = 5;

/// The largest relative difference of the last values: sums of `Float`s depend on their order.
const TOLERANCE: f64 = 1e-3;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let is_json = arguments.iter().any(|argument| argument == "--json");
    let words: Vec<&String> = arguments.iter().filter(|argument| !argument.starts_with('-')).collect();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/tensors");
    let Some(python) = std::env::var_os("PEERS_PYTHON").map(PathBuf::from) else {
        println!("PEERS_PYTHON does not name a Python interpreter to compare with (see benches/install_peers.sh)");
        return;
    };
    if !is_json {
        println!("{:<20} {:<8} {:>12} {:>12} {:>8} {:>8}", "", "", "dscript", "peer", "times", "at most");
    }
    for row in
        ROWS.iter().filter(|row| words.is_empty() || words.iter().any(|word| row.program.contains(word.as_str())))
    {
        let steps = row.steps.to_string();
        let program = folder.join(row.program).with_extension("dscript");
        let mut ours = Command::new(env!("CARGO_BIN_EXE_dscript"));
        ours.arg("--threads=1").arg(program).args(["--", &steps]);
        let mut theirs = Command::new(&python);
        theirs.arg(folder.join("peers.py")).args([row.peer, row.program, &steps]);
        let (mut left, mut right) = (f64::INFINITY, f64::INFINITY);
        for _ in 0..ROUNDS {
            let ((a, x), (b, y)) = (run(&mut ours), run(&mut theirs));
            assert!((x - y).abs() <= TOLERANCE * y.abs(), "{}: dscript has {x}, {} has {y}", row.program, row.peer);
            (left, right) = (left.min(a), right.min(b));
        }
        let Row { program, peer, at_most, .. } = row;
        let times = left / right;
        if is_json {
            println!(r#"{{"program": "{program}", "peer": "{peer}", "seconds": {left:e}, "peer_seconds": {right:e}}}"#);
        } else {
            let (left, right) = (left * 1e6, right * 1e6);
            println!("{program:<20} {peer:<8} {left:>9.1} µs {right:>9.1} µs {times:>8.2} {at_most:>8.2}");
        }
    }
}

/// Returns the seconds for a step and the last value, which a program prints.
fn run(command: &mut Command) -> (f64, f64) {
    let output = match command.output() {
        Ok(Output { status, stdout, .. }) if status.success() => String::from_utf8_lossy(&stdout).into_owned(),
        other => panic!("{command:?}: {other:?}"),
    };
    let mut numbers = output.split_whitespace().map(str::parse);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(seconds)), Some(Ok(value))) => (seconds, value),
        _ => panic!("{command:?} printed {output}"),
    }
}
