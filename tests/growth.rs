//! How long it takes to build something piece by piece: twice as much takes twice as long, because what has one owner is
//! changed where it is.

#[allow(dead_code, reason = "each test uses a part of it")]
mod harness;

use harness::folder::Folder;
use harness::{dscript, root};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// What four times the size may take: between the 4 of linear and the 16 of quadratic growth, since caches and other
/// processes shift a ratio of times by half.
const FOUR_TIMES: f64 = 8.0;

/// One measurement at a time; the others of this file would share its processor.
fn alone() -> MutexGuard<'static, ()> {
    static MEASURING: Mutex<()> = Mutex::new(());
    MEASURING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Each piece of work is done in two sizes, one four times the other, in turn; the fastest times are compared.
const PROGRAM: &str = r#"
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

func seconds(_ n: Int, _ work: (Int) -> Void) -> Double {
    let start = clock()
    work(n)
    return clock() - start
}

func report(_ name: String, _ n: Int, _ work: (Int) -> Void) {
    var (small, large) = (Double.infinity, Double.infinity)
    // Others may have kept the processor busy meanwhile.
    for attempt in 0..<12 {
        small = min(small, seconds(n, work))
        large = min(large, seconds(4 * n, work))
        if attempt > 0 && large < 5 * small { break }
    }
    print(name, large / small)
}

report("text", 40000, text)
report("characters", 40000, characters)
report("written", 10000, written)
report("property", 40000, property)
report("nested", 10000, nested)
report("field", 10000, field)
report("counts", 2500, counts)
report("defaults", 5000, defaults)
report("forced", 5000, forced)
report("chained", 5000, chained)
report("deep", 5000, deep)
report("values", 5000, values)
// While a tape is recorded, the derivative code of the same functions runs.
_ = valueWithGradient(at: 1.0) { (x: Double) -> Double in
    report("text, taped", 40000, text)
    report("nested, taped", 10000, nested)
    report("defaults, taped", 5000, defaults)
    report("forced, taped", 5000, forced)
    return x * x
}
"#;

#[test]
fn twice_as_much_takes_twice_as_long() {
    let _alone = alone();
    let finished = dscript(&["-e", PROGRAM], b"", root());
    let ratios: Vec<(&str, f64)> = finished
        .stdout
        .lines()
        .filter_map(|line| line.rsplit_once(' ').and_then(|(name, ratio)| Some((name, ratio.parse().ok()?))))
        .collect();
    assert_eq!(ratios.len(), 16, "{}{}", finished.stdout, finished.stderr);
    let slow: Vec<_> = ratios.iter().filter(|(_, ratio)| *ratio > FOUR_TIMES).collect();
    assert!(slow.is_empty(), "{slow:?}");
}

/// Prints the fastest times of several pieces of work, in the order in which they are given.
const TIMES: &str = "
func fastest(_ work: () -> Void) -> Double {
    var best = Double.infinity
    for _ in 0..<7 { let start = clock(); work(); best = min(best, clock() - start) }
    return best
}
";

/// What a program that begins with [`TIMES`] has printed: numbers.
fn times(program: &str) -> Vec<f64> {
    let finished = dscript(&["-e", &format!("{TIMES}{program}")], b"", root());
    let numbers = finished.stdout.split_whitespace().map(str::parse).collect::<Result<Vec<f64>, _>>();
    numbers.unwrap_or_else(|_| panic!("{}{}", finished.stdout, finished.stderr))
}

#[test]
fn elements_that_are_written_cost_no_copies_of_the_array() {
    let _alone = alone();
    let times = times(
        "func f(_ x: Double, _ n: Int) -> Double {
             var a = [Double](repeating: x, count: n)
             for i in 1..<n { a[i] = a[i - 1] * 0.5 + a[i] * x }
             return a[n - 1]
         }
         for n in [1000, 16000] {
             print(fastest { _ = gradient(at: 0.3) { x in f(x, n) } }, fastest { _ = derivative(at: 0.3) { x in f(x, n) } })
         }",
    );
    for (small, large) in times.iter().zip(&times[2..]) {
        assert!(large / small < FOUR_TIMES * FOUR_TIMES, "{times:?}");
    }
}

#[test]
fn a_jacobian_costs_few_pullbacks() {
    let _alone = alone();
    let times = times(
        "let w = (0..<50).map { i in (0..<50).map { j in sin(Double(i * 7 + j)) } }
         func layer(_ x: [Double]) -> [Double] {
             w.map { row in var s = 0.0; for j in 0..<50 { s += row[j] * x[j] }; return tanh(s) }
         }
         let x = (0..<50).map { Double($0) / 50 }
         let seed = [Double].TangentVector(x)
         print(fastest { _ = pullback(at: x, in: layer)(seed) }, fastest { _ = jacobian(at: x, in: layer) })",
    );
    // Fifty pullbacks would take fifty times as long.
    assert!(times[1] / times[0] < 20.0, "{times:?}");
}

#[test]
fn a_hessian_takes_as_long_as_it_has_numbers() {
    let _alone = alone();
    let times = times(
        "func rosenbrock(_ x: [Double]) -> Double {
             var sum = 0.0
             for i in stride(from: 0, to: x.count, by: 2) {
                 let (a, b) = (x[i + 1] - x[i] * x[i], 1 - x[i])
                 sum += 100 * a * a + b * b
             }
             return sum
         }
         for n in [50, 200] {
             let x = (0..<n).map { sin(Double($0)) }
             print(fastest { _ = hessian(at: x, in: rosenbrock) })
         }",
    );
    // Sixteen times the numbers; a level for each of them and of its entries would take 64 times as long.
    assert!(times[1] / times[0] < 32.0, "{times:?}");
}

/// Second derivatives of a long loop, within that much memory for tapes and tangents.
fn second(outer: &str, inner: &str, limit: &str) -> String {
    let program = format!(
        "func f(_ x: Double) -> Double {{ var y = x; for _ in 0..<20_000 {{ y = y + 1e-6 * sin(y) * x }}; return y }}
         print(abs({outer}(at: 0.5) {{ x in {inner}(at: x, in: f) }} - 0.0305) < 0.001)"
    );
    let finished = dscript(&["--max-tape", limit, "-e", &program], b"", root());
    finished.stdout + &finished.stderr
}

#[test]
fn nested_levels_keep_little_beside_each_step() {
    let _alone = alone();
    // At 10⁶ steps the process takes 130 MB forward over forward, and 290 MB forward over reverse.
    // Four operations a step: a tangent of 24 bytes each, or a node of 24 and 24 for its slots.
    assert_eq!(second("derivative", "derivative", "2200KiB"), "true\n");
    assert_eq!(second("derivative", "gradient", "5000KiB"), "true\n");
}

/// How much longer it takes to check a program of the larger size than one of the smaller.
fn checking(sizes: [usize; 2], program: impl Fn(usize) -> String) -> f64 {
    let folder = Folder::new("growth");
    let mut times = [f64::INFINITY; 2];
    for (size, name) in sizes.iter().zip(["small.dscript", "large.dscript"]) {
        std::fs::write(folder.0.join(name), program(*size)).unwrap();
    }
    for attempt in 0..5 {
        for (time, name) in times.iter_mut().zip(["small.dscript", "large.dscript"]) {
            let start = Instant::now();
            let finished = folder.run(&["check", name]);
            assert_eq!(finished.status, Some(0), "{}", finished.stderr);
            *time = time.min(start.elapsed().as_secs_f64());
        }
        if attempt > 0 && times[1] < 5.0 * times[0] {
            break;
        }
    }
    times[1] / times[0]
}

fn lines(count: usize, line: impl Fn(usize) -> String) -> String {
    (0..count).map(|k| line(k) + "\n").collect()
}

#[test]
fn a_program_of_four_times_the_length_is_checked_in_four_times_the_time() {
    let _alone = alone();
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
    let ratios = [
        ("chains of calls", checking([200, 800], calls)),
        ("chains of properties", checking([400, 1600], properties)),
        ("chains of slices", checking([200, 800], slices)),
        ("extensions", checking([1000, 4000], extensions)),
        ("raw numbers", checking([1000, 4000], numbers)),
        ("raw texts", checking([1000, 4000], texts)),
        ("closures", checking([500, 2000], closures)),
        ("generic functions", checking([500, 2000], generics)),
        ("loops", checking([300, 1200], loops)),
    ];
    let slow: Vec<_> = ratios.iter().filter(|(_, ratio)| *ratio > FOUR_TIMES).collect();
    assert!(slow.is_empty(), "{slow:?}");
}
