//! Running times of complete processes next to the same programs in Lua.
//!
//! Both run alternately, so that a busy machine affects both, and the median of several runs is reported. Arguments after `--`
//! select programs by name: `cargo bench --bench lua -- trees`. Without `lua5.4` the benchmark ends with a message.
#![allow(clippy::print_stdout, reason = "a benchmark prints its table")]

use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

/// The programs in `benches/lua/`, each in both languages with the same output.
const PROGRAMS: [&str; 5] = ["nbody", "spectral_norm", "word_count", "string_counts", "binary_trees"];

/// The number of runs of each program; odd, so that there is a median.
const ROUNDS: usize = 7;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/lua");
    if Command::new("lua5.4").arg("-v").output().is_err() {
        println!("there is no lua5.4 to compare with");
        return;
    }
    println!("{:<20} {:>12} {:>12} {:>8} {:>8}", "", "dscript", "Lua 5.4", "times", "at most");
    for program in PROGRAMS {
        if !words.is_empty() && !words.iter().any(|word| program.contains(word.as_str())) {
            continue;
        }
        let ours = || run(env!("CARGO_BIN_EXE_dscript"), &folder.join(program).with_extension("dscript"));
        let theirs = || run("lua5.4", &folder.join(program).with_extension("lua"));
        assert_eq!(ours().0, theirs().0, "{program}: they print something else");
        let (mut left, mut right) = (vec![], vec![]);
        for _ in 0..ROUNDS {
            left.push(ours().1);
            right.push(theirs().1);
        }
        let (left, right) = (median(left), median(right));
        let times = left.as_secs_f64() / right.as_secs_f64();
        println!("{program:<20} {left:>12.3?} {right:>12.3?} {times:>8.2} {:>8.1}", 1.0);
    }
}

/// Returns the output and the running time of a program.
fn run(interpreter: &str, program: &Path) -> (Vec<u8>, Duration) {
    let begin = Instant::now();
    let output = Command::new(interpreter).arg(program).output();
    let taken = begin.elapsed();
    match output {
        Ok(Output { status, stdout, .. }) if status.success() => (stdout, taken),
        other => panic!("{interpreter} {}: {other:?}", program.display()),
    }
}

fn median(mut taken: Vec<Duration>) -> Duration {
    taken.sort_unstable();
    taken[taken.len() / 2]
}
