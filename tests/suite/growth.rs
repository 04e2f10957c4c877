//! Tests of complexity: running times are linear, because values with one owner are changed in place, and because the
//! compiler passes over a program a fixed number of times.

use crate::harness::folder::Folder;
use crate::harness::{Finished, dscript, files, root};

/// The maximum factor for four times the size: between the 4 of linear and the 16 of quadratic growth.
const FOUR_TIMES: f64 = 10.0;

/// The maximum number of measurements before a program counts as slow.
const ROUNDS: usize = 20;

/// Measures the minimum processor time of each of several runs, in seconds, and repeats the measurement while the times are
/// not as expected: noise only increases times, so that slow programs remain slow.
fn fastest<const N: usize>(
    run: impl Fn(usize) -> Finished,
    is_right: impl Fn(&[f64; N]) -> bool,
) -> Result<(), [f64; N]> {
    let mut times = [f64::INFINITY; N];
    for _ in 0..ROUNDS {
        for (number, time) in times.iter_mut().enumerate() {
            *time = time.min(run(number).processor_time.as_secs_f64());
        }
        if is_right(&times) {
            return Ok(());
        }
    }
    Err(times)
}

/// Checks the relation of the times of two programs with a common beginning, from which the time of the beginning alone is
/// subtracted. The programs are `[small, large]`.
fn compare(beginning: &str, [small, large]: [&str; 2], is_right: impl Fn(f64, f64) -> bool) -> Result<(), [f64; 3]> {
    let work = ["", small, large];
    let run = |number: usize| {
        let program = format!("{beginning}\n{}", work[number]);
        let finished = dscript(&["-e", &program], b"", root());
        assert_eq!(finished.status, Some(0), "{program}\n{}", finished.stderr);
        finished
    };
    fastest(run, |[start, small, large]| is_right(small - start, large - start))
}

const BUILDING: &str = r#"
struct Notes { var texts: [String] = [] }
class Journal { var days: [String: [Int]] = [:]; var text = ""; var notes = Notes() }

func text(_ n: Int) { var s = ""; for _ in 0..<n { s += "x" } }
func characters(_ n: Int) { var s = ""; for _ in 0..<n { s.append("é" as Character) } }
func written(_ n: Int) { var s = ""; for i in 0..<n { print(i, terminator: "", to: &s) } }
func property(_ n: Int) { let j = Journal(); for _ in 0..<n { j.text += "x" } }
func nested(_ n: Int) { var a = [[0], [1]]; for i in 0..<n { a[i % 2].append(i); a[0][i / 2] = i } }
func field(_ n: Int) { let j = Journal(); for _ in 0..<n { j.notes.texts.append("x") } }
func counts(_ n: Int) { var d: [Int: Int] = [:]; for i in 0..<n { d[i, default: 0] += 1; d[i]! += 1 } }
func defaults(_ n: Int) { var d: [Int: [Int]] = [:]; for i in 0..<n { d[0, default: []].append(i) } }
func forced(_ n: Int) { var d = [0: [0]]; for i in 0..<n { d[0]!.append(i); d[0]![i] = 1 } }
func chained(_ n: Int) { let j = Journal(); j.days[""] = []; for i in 0..<n { j.days[""]?.append(i) } }
func deep(_ n: Int) { var d: [Int: [Int: [Int]]] = [:]; for i in 0..<n { d[0, default: [:]][1, default: []].append(i) } }
func values(_ n: Int) {
    var d: [Int: [Int]] = [0: []]
    for i in 0..<n { d.values[d.values.startIndex].append(i) }
}
/// While a tape is recorded, the derivative code of the same functions runs.
func taped(_ n: Int, _ work: @escaping (Int) -> Void) {
    _ = valueWithGradient(at: 1.0) { (x: Double) -> Double in work(n); return x * x }
}
"#;

#[test]
fn running_times_are_linear() {
    let work = [
        ("text", 40_000),
        ("characters", 40_000),
        ("written", 10_000),
        ("property", 40_000),
        ("nested", 10_000),
        ("field", 10_000),
        ("counts", 10_000),
        ("defaults", 10_000),
        ("forced", 10_000),
        ("chained", 10_000),
        ("deep", 10_000),
        ("values", 10_000),
    ];
    // The total number of steps is the same.
    let slow = |call: &dyn Fn(&str, usize) -> String, (name, size): &(&str, usize)| {
        let rounds = |n, size| format!("for _ in 0..<{n} {{ {} }}", call(name, size));
        let is_right = |small, large| 4.0 * large < FOUR_TIMES * small;
        let times = compare(BUILDING, [&rounds(8, *size), &rounds(2, 4 * size)], is_right).err()?;
        Some((call(name, *size), times))
    };
    let plain: Vec<_> = work.iter().filter_map(|work| slow(&|name, n| format!("{name}({n})"), work)).collect();
    let while_taped = work.iter().filter(|(name, _)| ["text", "nested", "defaults", "forced"].contains(name));
    let taped: Vec<_> = while_taped.filter_map(|work| slow(&|name, n| format!("taped({n}, {name})"), work)).collect();
    assert!(plain.is_empty() && taped.is_empty(), "{plain:?} {taped:?}");
}

#[test]
fn writing_elements_does_not_copy_the_array() {
    let program = "func f(_ x: Double, _ n: Int) -> Double {
        var a = [Double](repeating: x, count: n)
        for i in 1..<n { a[i] = a[i - 1] * 0.5 + a[i] * x }
        return a[n - 1]
    }";
    for mode in ["gradient", "derivative"] {
        // The total number of elements is the same.
        let work = |n, rounds| format!("for _ in 0..<{rounds} {{ _ = {mode}(at: 0.3) {{ x in f(x, {n}) }} }}");
        let compared = compare(program, [&work(1_000, 160), &work(16_000, 10)], |small, large| large < 4.0 * small);
        assert_eq!(compared, Ok(()), "{mode}");
    }
}

#[test]
fn a_jacobian_costs_few_pullbacks() {
    let program = "let w = (0..<50).map { i in (0..<50).map { j in sin(Double(i * 7 + j)) } }
        func layer(_ x: [Double]) -> [Double] {
            w.map { row in var s = 0.0; for j in 0..<50 { s += row[j] * x[j] }; return tanh(s) }
        }
        let x = (0..<50).map { Double($0) / 50 }
        let seed = [Double].TangentVector(x)";
    let pullbacks = "for _ in 0..<20 { _ = pullback(at: x, in: layer)(seed) }";
    let jacobians = "for _ in 0..<20 { _ = jacobian(at: x, in: layer) }";
    // Fifty pullbacks would take fifty times as long.
    let compared = compare(program, [pullbacks, jacobians], |pullbacks, jacobians| jacobians < 20.0 * pullbacks);
    assert_eq!(compared, Ok(()));
}

#[test]
fn the_time_for_a_hessian_is_proportional_to_its_size() {
    let program = "func rosenbrock(_ x: [Double]) -> Double {
        var sum = 0.0
        for i in stride(from: 0, to: x.count, by: 2) {
            let (a, b) = (x[i + 1] - x[i] * x[i], 1 - x[i])
            sum += 100 * a * a + b * b
        }
        return sum
    }";
    // The total number of results is the same.
    let work = |n, rounds| {
        format!(
            "let x = (0..<{n}).map {{ sin(Double($0)) }}
             for _ in 0..<{rounds} {{ _ = hessian(at: x, in: rosenbrock) }}"
        )
    };
    let compared = compare(program, [&work(50, 16), &work(200, 1)], |small, large| large < 2.0 * small);
    assert_eq!(compared, Ok(()));
}

/// Computes second derivatives of a long loop, with that memory limit for tapes and tangents.
fn second(outer: &str, inner: &str, limit: &str) -> String {
    let program = format!(
        "func f(_ x: Double) -> Double {{ var y = x; for _ in 0..<20_000 {{ y = y + 1e-6 * sin(y) * x }}; return y }}
         print(abs({outer}(at: 0.5) {{ x in {inner}(at: x, in: f) }} - 0.0305) < 0.001)"
    );
    let finished = dscript(&["--max-tape", limit, "-e", &program], b"", root());
    finished.stdout + &finished.stderr
}

#[test]
fn nested_levels_store_little_per_step() {
    // With 10⁶ steps the process takes 130 MB forward over forward, and 290 MB forward over reverse. Four operations per
    // step: a tangent of 24 bytes each, or a node of 24 bytes and 24 bytes for its slots.
    assert_eq!(second("derivative", "derivative", "2200KiB"), "true\n");
    assert_eq!(second("derivative", "gradient", "5000KiB"), "true\n");
}

/// Checks that a program of four times the size is checked in about four times the time.
fn checking(size: usize, program: impl Fn(usize) -> String) -> Result<(), [f64; 2]> {
    let folder = Folder::new("growth");
    let names = ["small.dscript", "large.dscript"];
    for (size, name) in [size, 4 * size].iter().zip(names) {
        std::fs::write(folder.0.join(name), program(*size)).unwrap();
    }
    let run = |number: usize| {
        let finished = folder.run(&["check", names[number]]);
        assert_eq!(finished.status, Some(0), "{}", finished.stderr);
        finished
    };
    fastest(run, |[small, large]| *large < FOUR_TIMES * small)
}

fn lines(count: usize, line: impl Fn(usize) -> String) -> String {
    (0..count).map(|k| line(k) + "\n").collect()
}

#[test]
fn checking_time_is_linear_in_program_length() {
    let numbers = |n| format!("enum E: Int {{\n{}}}\nprint(E.c1.rawValue)", lines(n, |k| format!("case c{k} = {k}")));
    let texts = |n| format!("enum E: String {{\n{}}}\nprint(E.c1.rawValue)", lines(n, |k| format!("case c{k}")));
    let closures = |n| {
        let line = |k| format!("let f{} = {{ (x: Double) in f{k}(x) + 1 }}", k + 1);
        format!("let f0 = {{ (x: Double) in x }}\n{}", lines(n, line))
    };
    let generics = |n| {
        let line = |k| format!("func g{}<T: Numeric>(_ x: T, _ y: T) -> T {{ g{k}(x, y) * y + x }}", k + 1);
        format!("func g0<T: Numeric>(_ x: T, _ y: T) -> T {{ x }}\n{}", lines(n, line))
    };
    let loops = |n| {
        let line = |k| format!("for i in 0..<2 {{ y = y * x + {k}.5 * Double(i) }}");
        format!(
            "func f(_ x: Double) -> Double {{ var y = x\n{}return y }}\nprint(gradient(at: 0.1, in: f))",
            lines(n, line)
        )
    };
    let calls = |n| format!("let x = [1.0]\nprint(x{})", ".map { $0 + 1 }".repeat(n));
    let properties = |n| format!("struct S {{ var s: S {{ self }} }}\nprint(S(){})", ".s".repeat(n));
    let slices = |n| format!("let a = [1, 2, 3]\nprint(a{})", "[0...]".repeat(n));
    let extensions = |n| {
        format!(
            "struct S {{}}\n{}print(S().m1())",
            lines(n, |k| format!("extension S {{ func m{k}() -> Int {{ {k} }} }}"))
        )
    };
    let checked = [
        ("chains of calls", checking(200, calls)),
        ("chains of properties", checking(200, properties)),
        ("chains of slices", checking(100, slices)),
        ("extensions", checking(1000, extensions)),
        ("raw integers", checking(1000, numbers)),
        ("raw strings", checking(1000, texts)),
        ("closures", checking(500, closures)),
        ("generic functions", checking(500, generics)),
        ("loops", checking(300, loops)),
    ];
    let slow: Vec<_> = checked.iter().filter(|(_, compared)| compared.is_err()).collect();
    assert!(slow.is_empty(), "{slow:?}");
}

/// The common part of the names of the instructions that check for overlapping accesses, or begin or end them.
const ACCESS: &str = "Access";

#[test]
fn only_modifications_that_may_overlap_are_checked() {
    let code = |path: &str| {
        let finished = dscript(&["show", "--stage", "code", path], b"", root());
        assert_eq!(finished.status, Some(0), "{path}: {}", finished.stderr);
        finished.stdout
    };
    let programs = files(&root().join("benches/programs"), &["dscript"]);
    assert!(!programs.is_empty());
    for path in programs {
        let path = path.to_string_lossy();
        assert!(!code(&path).contains(ACCESS), "{path}");
    }
    let overlapped = "var n = 1\nfunc f(_ x: inout Int) { x += n }\nf(&n)\n";
    let plain = "var n = 1\nfunc f(_ x: inout Int) { x += 1 }\n\
        final class C { var xs = [1]; var k = 0; func step() { xs.append(k); f(&k); xs[0] += k } }\n\
        let c = C()\nc.step()\nprint(c.xs.map { $0 + c.k }, n)\n";
    let folder = Folder::new("accesses").with("overlapped.dscript", overlapped).with("plain.dscript", plain);
    for (name, is_watched) in [("overlapped.dscript", true), ("plain.dscript", false)] {
        let finished = folder.run(&["show", "--stage", "code", name]);
        assert_eq!(finished.stdout.contains(ACCESS), is_watched, "{}", finished.stdout);
    }
}
