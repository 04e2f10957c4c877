//! Tests of machine code: a program prints the same and fails in the same way in every mode of `--jit`, also where the system
//! refuses executable memory.

use crate::harness::command;
use crate::harness::folder::Folder;
use crate::statements;
use dscript::session::{CompileMode, Options, Status};
use proptest::prelude::Rng;
use proptest::test_runner::{RngAlgorithm, TestRng};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::time::Duration;

/// Programs, some of which fail.
const PROGRAMS: &[(&str, &str)] = &[
    ("a loop of numbers", "var x = 0.5\nfor _ in 0..<30_000 { x = 3.9 * x * (1 - x) }\nprint(x)\n"),
    ("recursion", "func fib(_ n: Int) -> Int { n < 2 ? n : fib(n - 1) + fib(n - 2) }\nprint(fib(21))\n"),
    (
        "deep recursion",
        "func depth(_ n: Int) -> Int { n == 0 ? 0 : 1 + depth(n - 1) }\nprint(depth(90_000), depth(90_000))\n",
    ),
    ("too deep recursion", "func depth(_ n: Int) -> Int { n == 0 ? 0 : 1 + depth(n - 1) }\nprint(depth(200_000))\n"),
    (
        "an overflow in a loop in a call",
        "func product(_ n: Int) -> Int {\n    var p = 1\n    for i in 1...n { p *= i }\n    return p\n}\nfunc \
         sum(_ n: Int) -> Int {\n    var s = 0\n    for i in 1...n { s += product(i) % 1000 }\n    return s\n}\nfor _ \
         in 0..<3000 { _ = sum(15) }\nprint(sum(20))\nprint(sum(21))\n",
    ),
    (
        "an index out of range",
        "func total(_ xs: [Double], _ n: Int) -> Double {\n    var t = 0.0\n    for i in 0..<n { t += xs[i] }\n    \
         return t\n}\nlet xs = [1.0, 2.0, 3.0]\nvar t = 0.0\nfor _ in 0..<20_000 { t += total(xs, 3) \
         }\nprint(t)\nprint(total(xs, 4))\n",
    ),
    (
        "an index that is the sum of the two smallest integers",
        "func f(_ x: [Double], _ a: Int, _ b: Int) -> Double {\n    var s = 0.0, k = b\n    for i in a..<a + 3 { s += x[i + \
         k]; k -= 1 }\n    return s\n}\nlet x = [1.0, 2.0, 3.0]\nvar t = 0.0\nfor _ in 0..<20_000 { t += f(x, 0, 2) \
         }\nprint(t)\nprint(f(x, Int.min, Int.min))\n",
    ),
    (
        "an array that is shared when it is modified",
        "var a = [1, 2, 3]\nvar kept: [[Int]] = []\nfor i in 0..<30_000 {\n    a[i % 3] += i\n    if i % 10_000 == 0 { \
         kept.append(a) }\n}\nprint(a, kept)\n",
    ),
    (
        "instances that end in a loop",
        "final class Noted {\n    let n: Int\n    init(_ n: Int) { self.n = n }\n    deinit { if n % 10_000 == 0 { \
         print(\"end of\", n) } }\n}\nfunc make(_ n: Int) -> Int { Noted(n).n }\nvar s = 0\nfor i in 0..<30_000 { s += \
         make(i) }\nprint(s)\n",
    ),
    (
        "a gradient in a loop",
        "func f(_ x: Double) -> Double {\n    var y = x\n    for _ in 0..<50 { y = sin(y) * x + 0.1 }\n    return \
         y\n}\nvar s = 0.0\nfor k in 0..<200 { s += gradient(at: Double(k) * 0.01, in: f) }\nprint(s)\n",
    ),
];

/// Runs a program in a mode; returns its exit status, output and messages.
fn run(folder: &Folder, mode: &str, refuses_memory: bool) -> (Option<i32>, String, String) {
    let mut command = command();
    command.args(["--jit", mode, "a.dscript"]).current_dir(&folder.0);
    if refuses_memory {
        // SAFETY: the system call affects only the new process, and allocates nothing.
        #[allow(unsafe_code)]
        unsafe {
            command.pre_exec(|| {
                const SET_MDWE: libc::c_int = 65;
                libc::prctl(SET_MDWE, 1, 0, 0, 0);
                Ok(())
            });
        }
    }
    let output = command.output().expect("dscript starts");
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn a_program_behaves_the_same_in_every_mode() {
    for (name, text) in PROGRAMS {
        let folder = Folder::new("machine-code").with("a.dscript", *text);
        let interpreted = run(&folder, "off", false);
        for mode in ["on", "force"] {
            assert_eq!(run(&folder, mode, false), interpreted, "{name}, --jit {mode}");
        }
        assert_eq!(run(&folder, "force", true), interpreted, "{name}, without executable memory");
    }
}

#[test]
fn the_golden_programs_of_machine_code_behave_the_same_in_every_mode() {
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/run/machine-code");
    let mut count = 0;
    for file in std::fs::read_dir(programs).expect("there are programs").flatten() {
        if file.path().extension().is_none_or(|extension| extension != "dscript") {
            continue;
        }
        count += 1;
        let text = std::fs::read_to_string(file.path()).expect("the program is text");
        let folder = Folder::new("machine-code-golden").with("a.dscript", &text);
        let interpreted = run(&folder, "off", false);
        for mode in ["on", "force"] {
            assert_eq!(run(&folder, mode, false), interpreted, "{}, --jit {mode}", file.path().display());
        }
    }
    assert!(count >= 5, "{count} programs");
}

/// The ranges of loops over an index `i`, and the statements in them. Some indices leave their ranges after some iterations.
const RANGES: &[&str] = &["0..<n", "0...n", "a..<n", "stride(from: n, to: a, by: -1)"];
const STATEMENTS: &[&str] = &[
    "s += x[i]",
    "s += x[i + 1] - x[i]",
    "s += x[i - 1]",
    "x[i] = s",
    "s += x[k]; k += 1",
    "s += x[k]; k -= 1",
    "k += 1; s += x[k]",
    "s += x[a + i]",
    "k = i + 2; s += x[k]",
    "s += x[a]",
    "if i % 2 == 0 { s += x[i] }",
    "if i == 7 { break }; s += x[i]",
    "s += x[i]; if i == 7 { break }",
    "s += x[Int.max - 1 + i]",
    "for j in 0..<3 { s += x[i] * x[j + a] }",
    "s += p[i].a; p[i].b += s",
    "s += r.a + x[i]",
    "y[i] += 1; s += Double(y[i])",
];

/// A program that executes a loop often with few iterations, and then with more.
fn program_of_loop(range: &str, statement: &str, [n, a, k]: [i64; 3]) -> String {
    format!(
        "struct P {{ var a = 1.0; var b = 2.0 }}\n\
         func f(_ n: Int, _ a: Int, _ start: Int, _ given: [Double]) -> Double {{\n    \
         var x = given, y = [Int](repeating: 1, count: 10), p = [P](repeating: P(), count: 10), r = P()\n    \
         var s = 0.5, k = start\n    r.a += s\n    for i in {range} {{ {statement} }}\n    \
         p[0].b += 1; y[0] += 1; x[0] += 1; k += 1\n    return s + x[0] + p[1].a + Double(y[1])\n}}\n\
         let given = (0..<10).map {{ Double($0) }}\nvar t = 0.0\nfor _ in 0..<500 {{ t += f(4, 1, 4, given) * 1e-3 }}\n\
         print(t)\nprint(f({n}, {a}, {k}, given))\n"
    )
}

#[test]
fn indices_leave_their_ranges_in_the_same_iteration_in_every_mode() {
    for (i, statement) in STATEMENTS.iter().enumerate() {
        for (j, numbers) in [[12, 0, 9], [9, 1, 1], [10, -1, 0], [5, 6, 5]].into_iter().enumerate() {
            let program = program_of_loop(RANGES[(i + j) % RANGES.len()], statement, numbers);
            let folder = Folder::new("ranges").with("a.dscript", &program);
            let interpreted = run(&folder, "off", false);
            for mode in ["on", "force"] {
                assert_eq!(run(&folder, mode, false), interpreted, "--jit {mode}\n{program}");
            }
        }
    }
}

#[test]
fn random_programs_behave_the_same_in_machine_code() {
    let cases = std::env::var("DSCRIPT_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(60);
    let mut random = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let mut failed = 0;
    for _ in 0..cases {
        let mut bytes = [0; 400];
        random.fill_bytes(&mut bytes);
        let text = statements::program(&bytes);
        let options = Options { timeout: Some(Duration::from_secs(20)), ..Options::default() };
        let interpreted = statements::run(&text, CompileMode::Never, options.clone());
        assert_eq!(statements::run(&text, CompileMode::Always, options), interpreted, "{text}");
        assert_ne!(interpreted.1, Status::Rejected, "{text}\n{}", interpreted.2);
        failed += usize::from(interpreted.1 == Status::Failed);
    }
    assert!(failed < cases / 2, "{failed} of {cases} programs fail");
}
