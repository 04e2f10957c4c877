//! Times of type inference for difficult expressions, and their growth with the size of the expression.
//!
//! The time for an empty program is subtracted from that for each program, which leaves the time for the expression.
#![allow(clippy::print_stdout, reason = "a benchmark prints its table")]

use dscript::session::{Input, Options, Session, Status};
use std::fmt::Write;
use std::time::{Duration, Instant};

/// The number of measurements of each program; odd, so that there is a median.
const ROUNDS: usize = 15;

/// The stack size of the binary: the compiler walks trees by recursion.
const STACK: usize = 256 << 20;

/// A family of programs: its name, the reported size, and the function that returns the program of a size.
type Family = (&'static str, usize, fn(usize) -> String);

const FAMILIES: [Family; 4] = [
    ("terms of mixed literals", 60, sum),
    ("elements of a nested literal", 200, nested),
    ("chained closures", 12, chain),
    ("nested closures", 6, closures),
];

fn main() {
    let run = std::thread::Builder::new().stack_size(STACK).spawn(table).map(std::thread::JoinHandle::join);
    assert!(matches!(run, Ok(Ok(()))), "a program was refused");
}

fn table() {
    println!("{:<32} {:>8} {:>12} {:>12} {:>8}", "", "size", "time", "of twice", "growth");
    for (name, size, program) in FAMILIES {
        let (once, twice) = (check(&program(size), &program(0)), check(&program(2 * size), &program(0)));
        let growth = twice.as_secs_f64() / once.as_secs_f64();
        println!("{name:<32} {size:>8} {once:>12.2?} {twice:>12.2?} {growth:>8.2}");
    }
}

/// Returns `1 + 2.5 * x - 3 / 4 …`: literals with several possible types, in one expression.
fn sum(terms: usize) -> String {
    let mut text = "let x = 0.5\nlet y: Double = 1".to_owned();
    for k in 0..terms {
        let operator = ["+", "*", "-", "/"][k % 4];
        let term = ["2", "2.5", "x", "(3 - 1)"][k % 4];
        let _ = write!(text, " {operator} {term}");
    }
    text + "\nprint(y)\n"
}

/// Returns arrays of dictionaries of tuples whose numbers are alternately integer and floating-point literals.
fn nested(elements: usize) -> String {
    let element = |k: usize| format!("[\"a{k}\": ({k}, [{k}, 0.5]), \"b\": (1.5, [2])]");
    let all: Vec<String> = (0..elements.max(1)).map(element).collect();
    format!("let all: [[String: (Double, [Double])]] = [{}]\nprint(all.count)\n", all.join(", "))
}

/// Returns `xs.map { … }.filter { … }…`: the type of each closure depends on the previous one.
fn chain(links: usize) -> String {
    let link = |k: usize| [".map { $0 * 2 + 1 }", ".filter { $0 > 1.5 }", ".map { x in x / 3 }"][k % 3];
    let links: String = (0..links).map(link).collect();
    format!("let xs = [1, 2.5, 3]{links}\nprint(xs)\n")
}

/// Returns nested closures.
fn closures(depth: usize) -> String {
    let (open, close): (String, String) = (0..depth).map(|_| (".map { x in [x, 1]", " }")).unzip();
    format!("let xs = [1, 2]{open}{close}\nprint(xs)\n")
}

/// Returns the time to check a program, minus the time for `without`.
fn check(program: &str, without: &str) -> Duration {
    let mut taken: Vec<Duration> = (0..ROUNDS).map(|_| once(program).saturating_sub(once(without))).collect();
    taken.sort_unstable();
    taken[taken.len() / 2]
}

fn once(text: &str) -> Duration {
    let mut session = Session::new(Options::default(), Box::new(std::io::sink()));
    let begin = Instant::now();
    let outcome = session.check(&[Input { name: "program", text }]);
    let taken = begin.elapsed();
    assert!(outcome.status == Status::Done, "refused: {text}");
    taken
}
