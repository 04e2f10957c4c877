//! Running times of complete processes in machine code, next to the interpreter, and to the same programs in LuaJIT.
//!
//! The processes run alternately, so that a busy machine affects all of them, and the median of several runs is reported. The work
//! of a program is what it takes more than the same program with a size that leaves almost nothing to do: without the start of
//! the process and the compilation of the source.
//!
//! Arguments after `--` select programs by name: `cargo bench --bench compiled -- fib`. Without `luajit` its columns are empty.
#![allow(clippy::print_stdout, reason = "a benchmark prints its table")]

mod processes;

use processes::{dscript, median, run};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// A program in `benches/lua/`.
struct Program {
    name: &'static str,
    /// The program in Lua that does the same.
    peer: &'static str,
    /// The text of the size in both programs, and that of a size with almost no work.
    size: (&'static str, &'static str),
    /// How many times as long as LuaJIT the work may take.
    most: f64,
}

const PROGRAMS: [Program; 5] = [
    Program { name: "fib", peer: "fib", size: ("fib(34)", "fib(4)"), most: 1.3 },
    Program { name: "bodies", peer: "nbody", size: ("200000", "1"), most: 0.8 },
    Program { name: "mandelbrot", peer: "mandelbrot", size: ("(1024)", "(4)"), most: 1.15 },
    Program { name: "spectral_norm", peer: "spectral_norm", size: ("500", "4"), most: 1.5 },
    Program { name: "nbody", peer: "nbody", size: ("200000", "1"), most: 1.5 },
];

/// The number of runs of each program; odd, so that there is a median.
const ROUNDS: usize = 7;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let has_luajit = Command::new("luajit").arg("-v").output().is_ok();
    println!(
        "{:<16} {:>12} {:>12} {:>12} {:>8} {:>8} {:>8}",
        "", "compiled", "interpreted", "LuaJIT", "times", "work", "at most"
    );
    for program in &PROGRAMS {
        if words.is_empty() || words.iter().any(|word| program.name.contains(word.as_str())) {
            report(program, has_luajit);
        }
    }
}

/// Measures a program and prints its row.
fn report(program: &Program, has_luajit: bool) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/lua");
    let own = folder.join(program.name).with_extension("dscript");
    let peer = folder.join(program.peer).with_extension("lua");
    let (small, small_peer) = (with_size(&own, program.size), with_size(&peer, program.size));
    let ours = |mode, file: &Path| run(dscript(&["--jit", mode]).arg(file));
    let theirs = |file: &Path| run(Command::new("luajit").arg(file));
    assert_eq!(ours("on", &own).0, ours("off", &own).0, "{}: machine code prints something else", program.name);
    let mut taken: [Vec<Duration>; 5] = Default::default();
    for _ in 0..ROUNDS {
        taken[0].push(ours("on", &own).1);
        taken[1].push(ours("off", &own).1);
        taken[2].push(ours("on", &small).1);
        if has_luajit {
            taken[3].push(theirs(&peer).1);
            taken[4].push(theirs(&small_peer).1);
        }
    }
    for file in [small, small_peer] {
        // A file that remains is harmless.
        let _ = std::fs::remove_file(file);
    }
    let [compiled, interpreted, start, luajit, start_of_luajit] = taken.map(median);
    let times = compiled.as_secs_f64() / luajit.as_secs_f64();
    let work = compiled.saturating_sub(start).as_secs_f64() / luajit.saturating_sub(start_of_luajit).as_secs_f64();
    let (name, most) = (program.name, program.most);
    println!("{name:<16} {compiled:>12.3?} {interpreted:>12.3?} {luajit:>12.3?} {times:>8.2} {work:>8.2} {most:>8.2}");
}

/// Writes a program with another size to a temporary file; returns its path.
fn with_size(file: &Path, (from, to): (&str, &str)) -> PathBuf {
    let text = std::fs::read_to_string(file).unwrap_or_else(|why| panic!("{}: {why}", file.display()));
    assert!(text.contains(from), "{} has no size {from}", file.display());
    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let small = std::env::temp_dir().join(format!("small-{}-{name}", std::process::id()));
    std::fs::write(&small, text.replace(from, to)).unwrap_or_else(|why| panic!("{}: {why}", small.display()));
    small
}
