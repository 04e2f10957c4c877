//! Temporary folders for tests of the command line, and checks of the results.

use super::{Finished, dscript};
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A separate folder for each test, removed at the end.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new(name: &str) -> Folder {
        static MADE: AtomicUsize = AtomicUsize::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("dscript-{}-{number}-{name}", std::process::id()));
        fs::create_dir_all(&path).expect("a temporary folder can be made");
        Folder(path)
    }

    pub fn with(self, name: &str, content: impl AsRef<[u8]>) -> Folder {
        let path = self.0.join(name);
        path.parent().map(fs::create_dir_all).transpose().expect("the folder of a file can be made");
        fs::write(path, content).expect("a temporary file can be written");
        self
    }

    pub fn run(&self, arguments: &[&str]) -> Finished {
        dscript(arguments, b"", &self.0)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

#[track_caller]
pub fn ended(finished: &Finished, status: i32, stdout: &str) {
    assert_eq!((finished.status, finished.stdout.as_str()), (Some(status), stdout), "stderr: {}", finished.stderr);
}

#[track_caller]
pub fn said(finished: &Finished, words: &str) {
    assert!(finished.stderr.contains(words), "{words:?} is not in {:?}", finished.stderr);
    assert!(!finished.stderr.contains("panicked"), "{}", finished.stderr);
}
