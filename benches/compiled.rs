//! Running times of complete processes in machine code, next to the interpreter, and to the same programs in LuaJIT.
//!
//! The processes run alternately, so that a busy machine affects all of them, and the median of several runs is reported.
//! Arguments after `--` select programs by name: `cargo bench --bench compiled -- fib`. Without `luajit` its column is empty.
#![allow(clippy::print_stdout, reason = "a benchmark prints its table")]

use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

/// The programs in `benches/lua/`, the programs in Lua that do the same, and the times of LuaJIT that each may take at
/// most.
const PROGRAMS: [(&str, &str, f64); 5] = [
    ("fib", "fib", 1.3),
    ("bodies", "nbody", 0.8),
    ("mandelbrot", "mandelbrot", 1.15),
    ("spectral_norm", "spectral_norm", 1.5),
    ("nbody", "nbody", 1.5),
];

/// The number of runs of each program; odd, so that there is a median.
const ROUNDS: usize = 5;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/lua");
    let has_luajit = Command::new("luajit").arg("-v").output().is_ok();
    println!("{:<16} {:>12} {:>12} {:>12} {:>8} {:>8}", "", "compiled", "interpreted", "LuaJIT", "times", "at most");
    for (program, peer, most) in PROGRAMS {
        if !words.is_empty() && !words.iter().any(|word| program.contains(word.as_str())) {
            continue;
        }
        let own = folder.join(program).with_extension("dscript");
        let ours = |mode| run(Command::new(env!("CARGO_BIN_EXE_dscript")).args(["--jit", mode]).arg(&own));
        let theirs = || run(Command::new("luajit").arg(folder.join(peer).with_extension("lua")));
        assert_eq!(ours("on").0, ours("off").0, "{program}: machine code prints something else");
        let mut taken: [Vec<Duration>; 3] = Default::default();
        for _ in 0..ROUNDS {
            taken[0].push(ours("on").1);
            taken[1].push(ours("off").1);
            if has_luajit {
                taken[2].push(theirs().1);
            }
        }
        let [compiled, interpreted, luajit] = taken.map(median);
        let times = compiled.as_secs_f64() / luajit.as_secs_f64();
        println!("{program:<16} {compiled:>12.3?} {interpreted:>12.3?} {luajit:>12.3?} {times:>8.2} {most:>8.2}");
    }
}

/// Returns the output and the running time of a program.
fn run(command: &mut Command) -> (Vec<u8>, Duration) {
    let begin = Instant::now();
    let output = command.output();
    let taken = begin.elapsed();
    match output {
        Ok(Output { status, stdout, .. }) if status.success() => (stdout, taken),
        other => panic!("{command:?}: {other:?}"),
    }
}

fn median(mut taken: Vec<Duration>) -> Duration {
    taken.sort_unstable();
    taken.get(taken.len() / 2).copied().unwrap_or_default()
}
