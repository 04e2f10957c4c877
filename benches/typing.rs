//! Latencies during input: completion, the signature of a call, and the reply to a line. The goals are 20 ms for completion
//! and 5 ms for a reply.
#![allow(clippy::print_stdout, reason = "a benchmark prints its table")]

use dscript::session::{Options, Session};
use std::time::{Duration, Instant};

/// The number of measurements; odd, so that there is a median.
const ROUNDS: usize = 51;

/// The stack size of the binary: the compiler walks trees by recursion.
const STACK: usize = 256 << 20;

/// Earlier inputs, so that the session contains some declarations.
const BEFORE: &[&str] = &[
    "f(x) = x * sin(x)",
    "g(x, y) = x^2 * y",
    "struct Point { var x = 0.0; var y = 0.0 }",
    "let xs = [1.0, 2.0, 3.0]",
    "func walk(_ p: Point, by step: Double, times: Int = 1) -> Point { p }",
];

/// A cell that is typed after other declarations.
const CELL: &str = "let speed = 2.0\nfunc faster(_ s: Double) -> Double { s * speed }\nlet p = Point(x: faster(1))\np.";

fn main() {
    let run = std::thread::Builder::new().stack_size(STACK).spawn(table).map(std::thread::JoinHandle::join);
    assert!(matches!(run, Ok(Ok(()))), "a measurement failed");
}

fn table() {
    let mut session = Session::new(Options { interactive: true, ..Options::default() }, Box::new(std::io::sink()));
    for text in BEFORE {
        session.enter("‹before›", text);
    }
    println!("{:<40} {:>12} {:>12}", "", "first", "median");
    for text in ["si", "xs.", "walk(p, ", "newton(f, fr", CELL] {
        let last = text.lines().next_back().unwrap_or_default();
        row(&format!("completion of '{last}'"), || assert!(!session.complete(text, text.len()).words.is_empty()));
    }
    for text in ["walk(p, ", "newton(f, ", "xs.map("] {
        row(&format!("signature of '{text}'"), || assert!(session.signature(text, text.len()).is_some()));
    }
    for text in ["1 + 1", "f'(2)", "let y = 3.5", "h(x) = f(x) + 1", "∇g(1, 2)"] {
        row(&format!("answer to '{text}'"), || assert!(session.enter("‹line›", text).diagnostics.is_empty()));
    }
}

fn row(what: &str, mut work: impl FnMut()) {
    let mut times: Vec<Duration> = (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            work();
            start.elapsed()
        })
        .collect();
    let first = times[0];
    times.sort();
    println!("{what:<40} {first:>12.2?} {:>12.2?}", times[ROUNDS / 2]);
}
