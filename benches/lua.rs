//! Running times of complete processes next to the same programs in Lua.
//!
//! Both run alternately, so that a busy machine affects both, and the median of several runs is reported. Arguments after `--`
//! select programs by name: `cargo bench --bench lua -- trees`. Without `lua5.4` the benchmark ends with a message. The first rows are
//! programs that do almost nothing, next to such a program in Lua.
#![allow(clippy::print_stdout, reason = "a benchmark prints its table")]

mod processes;

use processes::{dscript, median, run};
use std::path::Path;
use std::process::Command;

/// The programs in `benches/lua/`, each in both languages with the same output.
const PROGRAMS: [&str; 5] = ["nbody", "spectral_norm", "word_count", "string_counts", "binary_trees"];

/// The programs in `benches/lua/` whose running time is that of their start.
const STARTS: [&str; 2] = ["hello", "first_derivative"];

/// The number of runs of each program; odd, so that there is a median.
const ROUNDS: usize = 7;

/// The number of runs of each program that takes few milliseconds.
const STARTS_ROUNDS: usize = 101;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/lua");
    if Command::new("lua5.4").arg("-v").output().is_err() {
        println!("there is no lua5.4 to compare with");
        return;
    }
    let is_selected = |program: &str| words.is_empty() || words.iter().any(|word| program.contains(word.as_str()));
    println!("{:<20} {:>12} {:>12} {:>12} {:>8} {:>8}", "", "compiled", "cached", "Lua 5.4", "times", "at most");
    for program in STARTS.into_iter().filter(|program| is_selected(program)) {
        compare(&folder.join(program), &folder.join("hello.lua"), STARTS_ROUNDS, 2.0);
    }
    for program in PROGRAMS.into_iter().filter(|program| is_selected(program)) {
        let lua = folder.join(program).with_extension("lua");
        let same = run(Command::new("lua5.4").arg(&lua)).0
            == run(dscript(&[]).arg(folder.join(program).with_extension("dscript"))).0;
        assert!(same, "{program}: they print something else");
        compare(&folder.join(program), &lua, ROUNDS, 1.0);
    }
}

/// Prints the running times of a program that is compiled in each run, of one that is in the cache, and of one in Lua, and the ratio of the
/// last two.
fn compare(program: &Path, lua: &Path, rounds: usize, at_most: f64) {
    let source = program.with_extension("dscript");
    run(dscript(&[]).arg(&source));
    let mut taken = [vec![], vec![], vec![]];
    for _ in 0..rounds {
        let commands = [dscript(&["--no-cache"]), dscript(&[]), Command::new("lua5.4")];
        for ((mut command, file), taken) in
            commands.into_iter().zip([source.as_path(), source.as_path(), lua]).zip(&mut taken)
        {
            taken.push(run(command.arg(file)).1);
        }
    }
    let [compiled, cached, theirs] = taken.map(median);
    let times = cached.as_secs_f64() / theirs.as_secs_f64();
    let name = program.file_name().unwrap_or_default().display();
    println!("{name:<20} {compiled:>12.3?} {cached:>12.3?} {theirs:>12.3?} {times:>8.2} {at_most:>8.1}");
}
