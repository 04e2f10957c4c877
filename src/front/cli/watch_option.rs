//! Watch option: repeats a command in a new process whenever one of its files is saved, `--watch`.

use super::super::exit_status;
use super::super::output::report;
use super::args::Settings;
use super::program_input;
use crate::session::{Folders, Session};
use notify::{Event, RecommendedWatcher, RecursiveMode, Watcher};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// The time without further events after which a change counts as complete: editors save in several steps.
const DEBOUNCE: Duration = Duration::from_millis(60);
/// The interval of checks whether the program has ended.
const POLL_INTERVAL: Duration = Duration::from_millis(30);

/// Runs the command of this process, without `--watch`, repeatedly. `files` returns the source files that the command
/// currently reads.
pub(super) fn watch(files: impl Fn() -> Vec<PathBuf>, is_json: bool) -> i32 {
    let (send, changes) = channel();
    let watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
        if let Ok(event) = event
            && !event.kind.is_access()
        {
            // Sending the changed paths fails only when the receiver no longer exists.
            let _ = send.send(event.paths);
        }
    });
    let watched = watcher.map(|watcher| WatchedFiles { watcher, folders: BTreeSet::new(), files: BTreeSet::new() });
    let result = watched.and_then(|mut watched| {
        loop {
            watched.set(&files())?;
            run_until_change(&changes, &watched, is_json)?;
        }
    });
    let error: notify::Error = match result {
        Ok(never) => never,
        Err(error) => error,
    };
    report(&format!("dscript: cannot watch the files: {error}\n"));
    exit_status::USAGE
}

/// The files whose changes are watched.
struct WatchedFiles {
    watcher: RecommendedWatcher,
    /// The folders of the files, which are watched because editors replace files by new ones.
    folders: BTreeSet<PathBuf>,
    files: BTreeSet<PathBuf>,
}

impl WatchedFiles {
    fn set(&mut self, files: &[PathBuf]) -> notify::Result<()> {
        self.files = files.iter().filter_map(|file| std::path::absolute(file).ok()).map(|file| plain(&file)).collect();
        for folder in self.files.iter().filter_map(|file| file.parent()) {
            if !self.folders.contains(folder) && folder.is_dir() {
                self.watcher.watch(folder, RecursiveMode::NonRecursive)?;
                self.folders.insert(folder.to_path_buf());
            }
        }
        Ok(())
    }

    fn has(&self, paths: &[PathBuf]) -> bool {
        paths.iter().any(|path| self.files.contains(&plain(path)))
    }
}

/// Returns a path whose folder contains no links and no `..`.
fn plain(file: &Path) -> PathBuf {
    match (file.parent().and_then(|folder| folder.canonicalize().ok()), file.file_name()) {
        (Some(folder), Some(name)) => folder.join(name),
        _ => file.to_path_buf(),
    }
}

fn run_until_change(changes: &Receiver<Vec<PathBuf>>, watched: &WatchedFiles, is_json: bool) -> notify::Result<()> {
    if !is_json && std::io::stdout().is_terminal() {
        // Clears the screen and its scrollback.
        let _ = std::io::stdout().write_all(b"\x1b[2J\x1b[3J\x1b[H").and_then(|()| std::io::stdout().flush());
    }
    let mut child = ChildGuard(Command::new(std::env::current_exe()?).args(words()).spawn()?);
    let mut is_running = true;
    loop {
        match changes.recv_timeout(POLL_INTERVAL) {
            Ok(paths) if watched.has(&paths) => break,
            Ok(_) => {}
            Err(RecvTimeoutError::Disconnected) => {
                return Err(notify::Error::generic("the system stopped reporting changes"));
            }
            Err(RecvTimeoutError::Timeout) if is_running => {
                if let Some(ended) = child.0.try_wait()? {
                    is_running = false;
                    if ended.code() == Some(exit_status::INTERRUPTED) {
                        std::process::exit(exit_status::INTERRUPTED);
                    }
                    let status = ended
                        .code()
                        .map_or_else(|| "was ended by a signal".to_owned(), |code| format!("exited with {code}"));
                    if !is_json {
                        report(&format!(
                            "dscript: the program {status}; waiting for a file to be saved, press Ctrl-C to \
                                         quit\n"
                        ));
                    }
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
    while changes.recv_timeout(DEBOUNCE).is_ok() {}
    Ok(())
}

/// A child process that is killed when it is dropped.
struct ChildGuard(Child);

impl Drop for ChildGuard {
    fn drop(&mut self) {
        // The child process may have ended before.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Returns the arguments of this process for one run of the command.
fn words() -> Vec<OsString> {
    let given: Vec<OsString> = std::env::args_os().skip(1).collect();
    let options = given.iter().position(|word| word == "--").unwrap_or(given.len());
    let kept = given.iter().enumerate().filter(|(at, word)| *at >= options || *word != "--watch");
    std::iter::once(OsString::from("--first-error")).chain(kept.map(|(_, word)| word.clone())).collect()
}

/// Returns files with all their imports from folders that programs may read.
pub(super) fn with_imports(files: &[PathBuf], settings: &Settings) -> Vec<PathBuf> {
    let folders = settings.access(&files.first().map_or_else(String::new, |file| file.display().to_string())).read;
    let mut found: Vec<PathBuf> = files.to_vec();
    let mut at = 0;
    while let Some(file) = found.get(at).cloned() {
        let folders = if at < files.len() { &Folders::All } else { &folders };
        at += 1;
        let Ok(text) = program_input::import(&file, folders) else { continue };
        for import in Session::imports(&text) {
            let path = file.parent().unwrap_or(Path::new("")).join(import);
            if !found.contains(&path) {
                found.push(path);
            }
        }
    }
    found
}
