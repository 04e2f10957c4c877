//! Processes: runs programs of dscript and of other languages, and measures their times.

use std::process::{Command, Output};
use std::time::{Duration, Instant};

/// Returns a command that runs dscript. Programs that are run again are not compiled, as usual, but the cache is not the user's.
pub fn dscript(options: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dscript"));
    command.args(options).env("DSCRIPT_CACHE", concat!(env!("CARGO_TARGET_TMPDIR"), "/cache"));
    command
}

/// Returns the output and the running time of a command.
pub fn run(command: &mut Command) -> (Vec<u8>, Duration) {
    let begin = Instant::now();
    let output = command.output();
    let taken = begin.elapsed();
    match output {
        Ok(Output { status, stdout, .. }) if status.success() => (stdout, taken),
        other => panic!("{command:?}: {other:?}"),
    }
}

/// Returns the median of running times; zero if there are none.
pub fn median(mut taken: Vec<Duration>) -> Duration {
    taken.sort_unstable();
    taken.get(taken.len() / 2).copied().unwrap_or_default()
}
