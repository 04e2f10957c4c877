//! Common functions of the tests that run the binary.

pub mod folder;

use std::fmt::Write as _;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError, RwLock, RwLockWriteGuard};
use std::time::Duration;
use wait4::Wait4;

/// The time limit of a program.
pub const DEADLINE: Duration = Duration::from_secs(120);

/// The result of a run of the binary.
#[derive(Debug)]
pub struct Finished {
    pub stdout: String,
    pub stderr: String,
    /// The exit status; `None` when a signal ended the process.
    pub status: Option<i32>,
    /// The processor time. Unlike wall-clock time, it does not include the time of other processes.
    pub processor_time: Duration,
}

/// Returns the binary that was built for the tests, with an environment that does not affect color and width, and without a cache.
pub fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dscript"));
    command.env_remove("COLUMNS").env_remove("NO_COLOR").env("DSCRIPT_CACHE", "off");
    command
}

/// Runs the binary in a folder, with a text on standard input.
pub fn dscript(arguments: &[&str], stdin: &[u8], folder: &Path) -> Finished {
    dscript_within(DEADLINE, arguments, stdin, folder)
}

/// Runs the binary like [`dscript`], with another time limit.
pub fn dscript_within(deadline: Duration, arguments: &[&str], stdin: &[u8], folder: &Path) -> Finished {
    let mut child = command()
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let (mut to, mut out, mut err) =
        (child.stdin.take().unwrap(), child.stdout.take().unwrap(), child.stderr.take().unwrap());
    // Three threads, because a child whose output is not read blocks, and one that does not read its input blocks this process.
    std::thread::scope(|scope| {
        // A program may ignore a part of its input.
        scope.spawn(move || drop(to.write_all(stdin)));
        let stdout = scope.spawn(move || text_of(&mut out));
        let stderr = scope.spawn(move || text_of(&mut err));
        // Only the sleeping times are added, so that a pause of the whole machine does not count.
        let mut waited = Duration::ZERO;
        let mut pause = Duration::from_micros(500);
        let mut late = "";
        let ended = loop {
            if let Some(ended) = child.try_wait4().expect("the child can be waited for") {
                break ended;
            }
            if waited > deadline && late.is_empty() {
                drop(child.kill());
                late = "\n(it hung and was killed)\n";
            }
            std::thread::sleep(pause);
            waited += pause;
            pause = (pause * 2).min(Duration::from_millis(20));
        };
        Finished {
            stdout: stdout.join().unwrap(),
            stderr: stderr.join().unwrap() + late,
            status: ended.status.code(),
            processor_time: ended.rusage.utime + ended.rusage.stime,
        }
    })
}

fn text_of(stream: &mut impl Read) -> String {
    let mut bytes = Vec::new();
    drop(stream.read_to_end(&mut bytes));
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Returns the root of the package.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns a path relative to the root, for messages.
pub fn short(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}

/// Returns all files in a folder with one of these extensions, recursively and sorted; none if the folder does not exist.
pub fn files(folder: &Path, extensions: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| extensions.iter().any(|x| e == *x)) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Whether expected results are rewritten instead of compared.
pub fn blessing() -> bool {
    std::env::var_os("DSCRIPT_BLESS").is_some_and(|v| v == "1")
}

/// The lock of the processors: shared by tests that run in parallel, exclusive for tests that measure wall-clock time.
static PROCESSORS: RwLock<()> = RwLock::new(());

/// Waits until no parallel test runs, and prevents new ones while the guard lives.
pub fn alone() -> RwLockWriteGuard<'static, ()> {
    PROCESSORS.write().unwrap_or_else(PoisonError::into_inner)
}

/// Tests all items on all processors, and reports every failure.
pub fn all<T: Sync>(items: &[T], test: impl Fn(&T) -> Result<(), String> + Sync) {
    // A second test that uses all processors would only slow down the first one.
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let next = AtomicUsize::new(0);
    let failures = Mutex::new(Vec::new());
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let _shared = PROCESSORS.read().unwrap_or_else(PoisonError::into_inner);
                    if let Err(failure) = test(item) {
                        failures.lock().unwrap().push(failure);
                    }
                }
            });
        }
    });
    let mut failures = failures.into_inner().unwrap();
    failures.sort();
    assert!(failures.is_empty(), "{} of {} failed:\n\n{}\n", failures.len(), items.len(), failures.join("\n\n"));
}

/// Returns the first difference of two texts, with some lines of context.
pub fn difference(expected: &str, got: &str) -> String {
    let (left, right): (Vec<_>, Vec<_>) = (expected.split('\n').collect(), got.split('\n').collect());
    let same = left.iter().zip(&right).take_while(|(a, b)| a == b).count();
    let mut out = format!("  they part in line {}\n", same + 1);
    for line in &left[same.saturating_sub(2)..same.min(left.len())] {
        let _ = writeln!(out, "    {line}");
    }
    for (sign, lines) in [('-', &left), ('+', &right)] {
        for line in lines.iter().skip(same).take(12) {
            let _ = writeln!(out, "  {sign} {line}");
        }
    }
    out
}

/// Returns the fenced blocks of a page with that info string: the line of the fence (from 1) and the text.
pub fn blocks(page: &str, info: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut open: Option<(usize, bool, String)> = None;
    for (number, line) in page.lines().enumerate() {
        match (&mut open, line.trim_start().strip_prefix("```")) {
            (None, Some(word)) => open = Some((number + 1, word.trim() == info, String::new())),
            (Some(_), Some(_)) => {
                if let Some((line, true, text)) = open.take() {
                    found.push((line, text));
                }
            }
            (Some((_, _, text)), None) => {
                text.push_str(line);
                text.push('\n');
            }
            (None, None) => {}
        }
    }
    found
}

/// Returns the output that the `// prints:` comments of a program specify.
pub fn promised(program: &str) -> String {
    let mut out = String::new();
    for line in program.lines() {
        if let Some((_, text)) = line.split_once("// prints:") {
            out.push_str(text.strip_prefix(' ').unwrap_or(text));
            out.push('\n');
        }
    }
    out
}
