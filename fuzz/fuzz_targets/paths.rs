//! Fuzz target: whatever links and paths a program uses, no file outside the allowed folders is read or written.
#![no_main]

use dscript::session::Folders;
use libfuzzer_sys::fuzz_target;
use std::ffi::OsStr;
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// The contents of the inaccessible file, and the written contents.
const SECRET: &[u8] = b"secret";
const WRITTEN: &[u8] = b"written";

/// The separator of the steps of an execution.
const STEP: u8 = b'\n';

fuzz_target!(|bytes: &[u8]| {
    let root = std::env::temp_dir().join(format!("dscript-fuzz-{}", std::process::id()));
    drop(std::fs::remove_dir_all(&root));
    for folder in ["in/a/b", "out/a", "beside"] {
        std::fs::create_dir_all(root.join(folder)).expect("a folder can be created");
    }
    for file in ["out/s", "out/a/s", "beside/s"] {
        std::fs::write(root.join(file), SECRET).expect("a file can be written");
    }
    std::fs::write(root.join("in/own"), b"own").expect("a file can be written");
    let folders = Folders::only([root.join("in")]);
    for step in bytes.split(|byte| *byte == STEP) {
        do_step(&root, &folders, step);
    }
    let outside = files(&root.join("out")).into_iter().chain(files(&root.join("beside")));
    let outside: Vec<PathBuf> = outside.map(|file| file.strip_prefix(&root).expect("below").to_path_buf()).collect();
    assert_eq!(outside, ["out/a/s", "out/s", "beside/s"].map(PathBuf::from));
    for file in &outside {
        assert_eq!(std::fs::read(root.join(file)).expect("it is there"), SECRET, "{}", file.display());
    }
    let mut here: Vec<_> = std::fs::read_dir(&root).expect("it is there").flatten().map(|e| e.file_name()).collect();
    here.sort();
    assert_eq!(here, ["beside", "in", "out"]);
});

/// Executes a step: `l<name>=<target>` creates a link in the folder, `r<path>` reads and `w<path>` writes; paths are relative to
/// the folder unless they begin with `/`, which refers to the enclosing folder.
fn do_step(root: &Path, folders: &Folders, step: &[u8]) {
    let Some((what, rest)) = step.split_first() else { return };
    match what {
        b'l' => {
            let at = rest.iter().position(|byte| *byte == b'=').unwrap_or(rest.len());
            let (name, target) = (&rest[..at], rest.get(at + 1..).unwrap_or_default());
            let inside = !name.contains(&b'/') && name != b"..";
            if inside {
                drop(symlink(absolute(root, target).unwrap_or_else(|| path(target)), root.join("in").join(path(name))));
            }
        }
        b'r' => {
            if let Ok(mut file) = folders.open(&place(root, rest)) {
                let mut bytes = vec![];
                drop(file.read_to_end(&mut bytes));
                assert_ne!(bytes, SECRET, "{step:?}");
            }
        }
        b'w' => {
            if let Ok(mut file) = folders.create(&place(root, rest)) {
                drop(file.write_all(WRITTEN));
            }
        }
        _ => {}
    }
}

fn path(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(bytes))
}

/// Resolves a path that begins with `/` relative to the enclosing folder.
fn absolute(root: &Path, bytes: &[u8]) -> Option<PathBuf> {
    let start = bytes.iter().position(|byte| *byte != b'/').unwrap_or(bytes.len());
    (start > 0).then(|| root.join(path(&bytes[start..])))
}

fn place(root: &Path, bytes: &[u8]) -> PathBuf {
    absolute(root, bytes).unwrap_or_else(|| root.join("in").join(path(bytes)))
}

/// Returns the files in a folder, recursively and in order.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut all = vec![];
    let mut entries: Vec<_> = std::fs::read_dir(folder).expect("it is there").flatten().map(|e| e.path()).collect();
    entries.sort();
    for entry in entries {
        if entry.is_dir() && !entry.is_symlink() { all.extend(files(&entry)) } else { all.push(entry) }
    }
    all
}
