//! Running times of derivatives in dscript next to the same derivatives in hand-written Rust, in JAX, and on a minimal tape
//! in Rust.
//!
//! The environment variable `PEERS_PYTHON` names a Python interpreter with JAX; `benches/install_peers.sh` installs one.
//! Without it, the column of JAX is empty. All use one thread. They run alternately, and the best of several runs is
//! reported, because other programs on the machine only make a run slower. Arguments after `--` select rows by name:
//! `cargo bench --bench gradients -- mixture`; `--json` prints one line per row.
#![allow(clippy::print_stdout, reason = "a benchmark prints its table")]

#[allow(dead_code, reason = "each benchmark uses a part of it")]
mod workloads;

use std::fmt::Display;
use std::hint::black_box;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;
use workloads::gradients::{GRADIENTS, Row};

/// The allocator of the binary.
#[global_allocator]
static ALLOCATOR: dscript::allocator::Allocator = dscript::allocator::Allocator;

/// The number of rounds, in each of which all sides run.
const ROUNDS: usize = 5;

/// The number of repetitions in a round. They are short, so that some of them are not interrupted by other programs.
const REPETITIONS: usize = 20;

/// The number of units of work whose results are compared.
const CHECKED: usize = 20;

/// The largest relative difference of the results: sums depend on their order.
const TOLERANCE: f64 = 1e-8;

/// The stack size of the binary: the compiler walks trees by recursion.
const STACK: usize = 256 << 20;

fn main() {
    let run = std::thread::Builder::new().stack_size(STACK).spawn(table).map(std::thread::JoinHandle::join);
    assert!(matches!(run, Ok(Ok(()))), "a program failed");
}

fn table() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let is_json = arguments.iter().any(|argument| argument == "--json");
    let words: Vec<&String> = arguments.iter().filter(|argument| !argument.starts_with('-')).collect();
    if std::env::var_os("PEERS_PYTHON").is_none() {
        eprintln!("PEERS_PYTHON does not name a Python interpreter with JAX (see benches/install_peers.sh)");
    }
    if !is_json {
        println!(
            "{:<26} {:>11} {:>11} {:>11} {:>11} {:>14} {:>14} {:>14}",
            "", "dscript", "Rust", "JAX", "tape", "× Rust, most", "× JAX, most", "× tape, most"
        );
    }
    for row in GRADIENTS {
        if words.is_empty() || words.iter().any(|word| row.workload.name.contains(word.as_str())) {
            print(row, &best(row), is_json);
        }
    }
}

/// The seconds for one unit of work.
struct Times {
    dscript: f64,
    rust: f64,
    jax: Option<f64>,
    tape: Option<f64>,
}

fn best(row: &Row) -> Times {
    let Row { workload, tape, .. } = row;
    let mut jax = Jax::start(row);
    let ours = workload.measure(CHECKED).result;
    let theirs = [
        ("Rust", Some(workload.by_hand(CHECKED))),
        ("JAX", jax.as_mut().map(|jax| jax.ask("check", CHECKED))),
        ("the tape", tape.map(|tape| tape(CHECKED))),
    ];
    for (peer, result) in theirs {
        if let Some(result) = result {
            let difference = (ours - result).abs();
            assert!(difference <= TOLERANCE * result.abs(), "{workload}: dscript has {ours}, {peer} {result}");
        }
    }
    let mut best = Times { dscript: f64::INFINITY, rust: f64::INFINITY, jax: None, tape: None };
    let smaller = |old: Option<f64>, new: Option<f64>| new.map(|new| old.map_or(new, |old| old.min(new)));
    for _ in 0..ROUNDS {
        best.dscript = best.dscript.min(workload.measure_best(workload.count, REPETITIONS).seconds);
        best.rust = best.rust.min(seconds(|count| workload.by_hand(count), workload.count_by_hand));
        best.jax = smaller(best.jax, jax.as_mut().map(|jax| jax.best(row.count_in_jax)));
        best.tape = smaller(best.tape, tape.map(|tape| seconds(tape, workload.count_by_hand)));
    }
    best
}

/// Returns the seconds for one unit of work, without the preparation of the inputs, which is the whole of no work.
fn seconds(work: impl Fn(usize) -> f64, count: usize) -> f64 {
    let best = |count: usize| {
        let repeated = (0..REPETITIONS).map(|_| {
            let begin = Instant::now();
            black_box(work(black_box(count)));
            begin.elapsed().as_secs_f64()
        });
        repeated.fold(f64::INFINITY, f64::min)
    };
    (best(count) - best(0)) / count as f64
}

fn print(row: &Row, times: &Times, is_json: bool) {
    let Times { dscript, rust, jax, tape } = *times;
    let name = row.workload.name;
    if is_json {
        let other = |x: Option<f64>| x.map_or("null".into(), |x| format!("{x:e}"));
        let (jax, tape) = (other(jax), other(tape));
        println!(r#"{{"row": "{name}", "dscript": {dscript:e}, "rust": {rust:e}, "jax": {jax}, "tape": {tape}}}"#);
        return;
    }
    let time = |x: Option<f64>| x.map_or(String::new(), |x| format!("{:.2} µs", x * 1e6));
    let ratio = |peer: Option<f64>, most: Option<f64>| {
        let times = peer.map_or(String::new(), |peer| format!("{:.2}", dscript / peer));
        format!("{times:>7} {:>6}", most.map_or(String::new(), |most| format!("{most:.2}")))
    };
    let columns: [&dyn Display; 7] = [
        &time(Some(dscript)),
        &time(Some(rust)),
        &time(jax),
        &time(tape),
        &ratio(Some(rust), row.workload.target),
        &ratio(jax, row.at_most_jax),
        &ratio(tape, row.at_most_tape),
    ];
    let [dscript, rust, jax, tape, by_rust, by_jax, by_tape] = columns;
    println!("{name:<26} {dscript:>11} {rust:>11} {jax:>11} {tape:>11} {by_rust} {by_jax} {by_tape}");
}

/// A running program of JAX, which answers one line after another.
struct Jax {
    process: Child,
    commands: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Jax {
    fn start(row: &Row) -> Option<Jax> {
        let python = std::env::var_os("PEERS_PYTHON")?;
        let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/gradients/peers.py");
        let mut command = Command::new(python);
        command.arg(program).arg(row.peer).args(row.workload.arguments.split_whitespace());
        let started = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut process = started.unwrap_or_else(|error| panic!("{command:?}: {error}"));
        let (Some(commands), Some(answers)) = (process.stdin.take(), process.stdout.take()) else {
            unreachable!("both are pipes");
        };
        Some(Jax { process, commands, answers: BufReader::new(answers) })
    }

    fn best(&mut self, count: usize) -> f64 {
        (0..REPETITIONS).map(|_| self.ask("time", count)).fold(f64::INFINITY, f64::min)
    }

    fn ask(&mut self, command: &str, count: usize) -> f64 {
        let mut answer = String::new();
        let asked = writeln!(self.commands, "{command} {count}").and_then(|()| self.answers.read_line(&mut answer));
        match (asked, answer.trim().parse()) {
            (Ok(_), Ok(number)) => number,
            other => panic!("JAX answered {answer:?}: {other:?}"),
        }
    }
}

impl Drop for Jax {
    fn drop(&mut self) {
        // It waits for a command, and has nothing to save.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
