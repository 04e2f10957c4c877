//! Whole programs beside the same programs in Lua: processes, from start to end.
//!
//! Both run alternately, so that a busy machine slows both, and the middle one of several runs counts. Words behind `--`
//! choose programs by name: `cargo bench --bench lua -- trees`. Where there is no `lua5.4`, this says so and ends.
#![allow(clippy::print_stdout, reason = "a benchmark prints its table")]

use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

/// The programs, in `benches/lua/`, once for each language. Both print the same.
const PROGRAMS: [&str; 4] = ["nbody", "spectral_norm", "word_count", "binary_trees"];

/// Rounds of each program; odd, so that there is a middle one.
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

/// What a program prints, and how long it takes.
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
