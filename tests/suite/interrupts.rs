//! Tests of interrupts: all work stops soon after an interrupt, and the session continues.
//!
//! `cargo test --release --test suite interrupts:: -- --nocapture` prints the times; the goal is 50 ms. The limits in these tests
//! allow for unoptimized builds on busy machines: code without checks takes far longer.

use crate::harness::alone;
use dscript::Session;
use dscript::session::{Options, Status};
use std::fmt::Write;
use std::io::sink;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The number of attempts; the median counts.
const TRIES: usize = 3;
/// The time before the interrupt.
const BEFORE: Duration = Duration::from_millis(120);
const LIMIT: Duration = Duration::from_millis(400);
/// The size of the compiler's stack.
const STACK: usize = 256 << 20;

/// Creates a session that discards its output.
fn session(interrupt: &Arc<AtomicBool>) -> Session {
    let options = Options { interactive: true, interrupt: Arc::clone(interrupt), ..Options::default() };
    Session::new(options, Box::new(sink()))
}

/// Returns the time from an interrupt to the end of the run, as the median of several attempts.
fn stops(what: &str, setup: &str, text: &str) -> Duration {
    let interrupt = Arc::new(AtomicBool::new(false));
    let mut session = session(&interrupt);
    let made = session.enter("‹setup›", setup);
    assert_eq!(made.status, Status::Done, "{what}: {:?}", made.diagnostics);
    let mut times: Vec<Duration> = (0..TRIES).map(|_| stopped(&mut session, &interrupt, what, text)).collect();
    times.sort();
    let median = times[TRIES / 2];
    eprintln!("{what}: {:.1} ms", median.as_secs_f64() * 1e3);
    median
}

fn stopped(session: &mut Session, interrupt: &Arc<AtomicBool>, what: &str, text: &str) -> Duration {
    let flag = Arc::clone(interrupt);
    let asked = std::thread::spawn(move || {
        std::thread::sleep(BEFORE);
        flag.store(true, Ordering::Relaxed);
        Instant::now()
    });
    let answer = session.enter("‹endless›", text);
    let ended = Instant::now();
    let asked = asked.join().unwrap();
    assert_eq!(answer.status, Status::Interrupted, "{what}: {:?}", answer.diagnostics);
    interrupt.store(false, Ordering::Relaxed);
    let after = session.enter("‹after›", "1 + 1");
    assert_eq!(after.shown[0].value.as_deref(), Some("2"), "{what}: the session continues");
    ended.saturating_duration_since(asked)
}

fn all_stop(cases: &[(&str, &str, &str)]) {
    let _alone = alone();
    let slow: Vec<String> = cases
        .iter()
        .map(|(what, setup, text)| (what, stops(what, setup, text)))
        .filter(|(_, time)| *time > LIMIT)
        .map(|(what, time)| format!("{what}: {time:?}"))
        .collect();
    assert!(slow.is_empty(), "too late: {slow:?}");
}

#[test]
fn loops_and_sweeps_stop() {
    all_stop(&[
        ("a loop", "var n = 0", "while true { n += 1 }"),
        ("recursion", "func f(_ n: Int) -> Int { n < 2 ? n : f(n - 1) + f(n - 2) }", "f(70)"),
        (
            "a reverse sweep",
            "let back = pullback(at: 1.0) { (x: Double) -> Double in
                 var s = x
                 for _ in 0..<400_000 { s = sin(s) + x }
                 return s
             }",
            "while true { _ = back(1.0) }",
        ),
        (
            "a matrix product",
            "let n = 200
             let a = (0..<n).map { i in (0..<n).map { j in Double(i + j) } }
             func product(_ a: [[Double]], _ b: [[Double]]) -> [[Double]] {
                 var c = Array(repeating: Array(repeating: 0.0, count: b[0].count), count: a.count)
                 for i in 0..<a.count { for j in 0..<b[0].count {
                     for k in 0..<b.count { c[i][j] += a[i][k] * b[k][j] }
                 } }
                 return c
             }",
            "while true { _ = product(a, a) }",
        ),
        ("nested derivatives", "f(x) = sin(x) * x", "while true { _ = f''(2.0) }"),
        (
            "the gradient of a matrix product",
            "let n = 40
             let a = (0..<n).map { i in (0..<n).map { j in Double(i + j) } }
             func total(_ a: [[Double]]) -> Double {
                 var s = 0.0
                 for i in 0..<n { for j in 0..<n { for k in 0..<n { s += a[i][k] * a[k][j] } } }
                 return s
             }",
            "while true { _ = gradient(at: a, of: total) }",
        ),
    ]);
}

#[test]
fn the_library_stops() {
    all_stop(&[
        ("a fill", "", "while true { _ = Array(repeating: 1.5, count: 40_000_000) }"),
        (
            "a fill with texts",
            "",
            "while true { _ = Array(repeating: \"a long text that is shared\", count: 4_000_000) }",
        ),
        ("sorting", "let a = (0..<40_000).map { i in sin(Double(i)) }", "while true { _ = a.sorted() }"),
        ("a text many times", "", "while true { _ = String(repeating: \"abc\", count: 60_000_000) }"),
        (
            "joining",
            "let parts = Array(repeating: \"part\", count: 500_000)",
            "while true { _ = parts.joined(separator: \", \") }",
        ),
        (
            "replacing",
            "let text = String(repeating: \"ab\", count: 1_000_000)",
            "while true { _ = text._replace(\"a\", \"cd\") }",
        ),
        ("characters", "let text = String(repeating: \"é\", count: 400_000)", "while true { _ = Array(text) }"),
        (
            "reversing",
            "let a = Array(repeating: 1.5, count: 20_000_000)",
            "while true { _ = a.reversed() as [Double] }",
        ),
        ("a copy", "let a = Array(repeating: 1, count: 20_000_000)", "while true { _ = a + [1] }"),
        ("a description", "let a = Array(repeating: 0.1, count: 400_000)", "while true { _ = \"\\(a)\" }"),
        (
            "comparing",
            "struct P: Equatable { var x = 0.1; var y = 0.2 }
             let a = Array(repeating: P(), count: 200_000)",
            "while true { _ = a == a }",
        ),
    ]);
}

#[test]
fn the_compiler_stops() {
    let _alone = alone();
    // The grammar parses pieces of 64 KiB, and there is no check inside a piece.
    const SLOW: Duration = Duration::from_secs(3);
    let mut text = String::from("f(x) = x * x\n");
    for n in 0..60_000 {
        writeln!(text, "let a{n} = [f({n}), max(f(1), {n}.5 + 1)]").unwrap();
    }
    let lines =
        |count: usize, line: &dyn Fn(usize) -> String| -> String { (0..count).map(|k| line(k) + "\n").collect() };
    let list: Vec<String> = (0..200_000).map(|k| format!("[{k}.5]")).collect();
    let cases = [
        ("many declarations", text),
        ("a long list", format!("let a = [{}]", list.join(", "))),
        ("a long line", "print(1); ".repeat(200_000)),
        ("lines of statements", "print(1)\n".repeat(200_000)),
        (
            "constants that need the next one",
            lines(40, &|s| {
                let constants = lines(1900, &|k| format!("static let a{k} = a{} + 1", k + 1));
                format!("struct S{s} {{\n{constants}static let a1900 = 1 }}")
            }),
        ),
        (
            "protocols that refine each other",
            format!(
                "protocol P0 {{}}\n{}struct S: P3000 {{}}",
                lines(3000, &|k| format!(
                    "protocol P{}: P{k} {{ func m{k}() }}\nextension P{0} {{ func m{k}() {{}} }}",
                    k + 1
                ))
            ),
        ),
        (
            "extensions",
            format!("struct S {{}}\n{}", lines(20_000, &|k| format!("extension S {{ func m{k}() -> Int {{ {k} }} }}"))),
        ),
        (
            "a function of many variables and loops",
            format!(
                "func f(_ x: Double) -> Double {{\n{}{}return y1 }}",
                lines(3000, &|k| format!("var y{k} = x * {k}")),
                lines(3000, &|k| format!("for _ in 0..<2 {{ y{k} = y{k} * x + y{} }}", k * 7 % 3000))
            ),
        ),
    ];
    // The binary also compiles on a thread with a large stack.
    let compile = move || {
        for (what, text) in cases {
            let time = stops(what, "", &text);
            assert!(time < SLOW, "{what}: {time:?}");
        }
    };
    std::thread::Builder::new().stack_size(STACK).spawn(compile).unwrap().join().unwrap();
}
