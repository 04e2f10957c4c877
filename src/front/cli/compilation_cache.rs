//! Compilation cache: stores the compiled forms of programs in the user's folder for caches, so that a program that is run again
//! is not compiled again.

use std::ffi::OsStr;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
#[cfg(unix)]
use std::sync::Arc;
use std::time::SystemTime;
use std::{env, fs, io};

/// The environment variable with the folder of the cache, or `off`.
const VARIABLE: &str = "DSCRIPT_CACHE";

/// The maximum size of the cache in bytes. When it is exceeded, the older half of the entries is removed.
const MAX_SIZE: u64 = 64 << 20;

/// The entry of a program in the cache, whether it exists or not.
pub(super) struct Entry {
    path: PathBuf,
}

impl Entry {
    /// Returns the entry of a program, unless there is no cache. It depends on the text and on everything else that the compiled
    /// form may depend on: the path, and the executable of dscript.
    pub(super) fn of(file: &str, text: &str) -> Option<Entry> {
        let folder = folder()?;
        let executable = env::current_exe().and_then(fs::metadata).ok()?;
        let mut hash = DefaultHasher::new();
        (executable.len(), executable.modified().ok()?).hash(&mut hash);
        (env::current_dir().ok()?, file, text).hash(&mut hash);
        Some(Entry { path: folder.join(format!("{:016x}.dsc", hash.finish())) })
    }

    /// Returns the compiled form of the program, if it is in the cache.
    pub(super) fn read(&self) -> Option<Vec<u8>> {
        fs::read(&self.path).ok()
    }

    /// Stores the compiled form of the program. A cache that cannot be written stays as it is.
    pub(super) fn store(&self, bytes: &[u8]) {
        // Other processes read an entry completely or not at all.
        let part = self.path.with_extension(std::process::id().to_string());
        let Some(folder) = self.path.parent() else { return };
        // A write beyond the maximum size of files fails instead of ending the process, once the signal has a handler.
        #[cfg(unix)]
        let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::default());
        let written =
            create(folder).and_then(|()| fs::write(&part, bytes)).and_then(|()| fs::rename(&part, &self.path));
        if written.is_err() {
            let _ = fs::remove_file(&part);
        }
        trim(folder, MAX_SIZE);
    }
}

/// Returns the folder of the cache, if there is one.
fn folder() -> Option<PathBuf> {
    let value = |name| env::var_os(name).filter(|value| !value.is_empty());
    match value(VARIABLE) {
        Some(own) if own == "off" => None,
        Some(own) => Some(own.into()),
        None => {
            let caches = value("XDG_CACHE_HOME").or_else(|| value("LOCALAPPDATA")).map(PathBuf::from);
            let caches = caches.filter(|path| path.is_absolute());
            Some(caches.or_else(|| Some(PathBuf::from(value("HOME")?).join(".cache")))?.join("dscript"))
        }
    }
}

/// Creates the folder of the cache, which only its user can read: entries contain the texts of programs.
fn create(folder: &Path) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder)
}

/// Whether a file in the folder of the cache is an entry, or a part of one that another process writes: the folder may be one that
/// contains other files.
fn is_entry(path: &Path) -> bool {
    let stem = path.file_stem().and_then(OsStr::to_str).unwrap_or_default();
    let extension = path.extension().and_then(OsStr::to_str).unwrap_or_default();
    let is_name = stem.len() == 16 && stem.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_name && (extension == "dsc" || extension.parse::<u32>().is_ok())
}

/// Removes the older half of the entries, if their total size exceeds a maximum.
fn trim(folder: &Path, max_size: u64) {
    let mut entries: Vec<(SystemTime, u64, PathBuf)> = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten().filter(|entry| is_entry(&entry.path())) {
        if let Ok(data) = entry.metadata()
            && let Ok(time) = data.modified()
        {
            entries.push((time, data.len(), entry.path()));
        }
    }
    if entries.iter().map(|(_, size, _)| size).sum::<u64>() <= max_size {
        return;
    }
    entries.sort();
    for (_, _, path) in &entries[..entries.len().div_ceil(2)] {
        let _ = fs::remove_file(path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_older_half_is_removed_from_a_large_cache() {
        let folder = env::temp_dir().join(format!("dscript-cache-{}", std::process::id()));
        let count = || fs::read_dir(&folder).unwrap().count();
        for k in 0..5_u8 {
            let entry = Entry { path: folder.join(format!("{k:016x}.dsc")) };
            assert_eq!(entry.read(), None);
            entry.store(&[k; 10]);
            assert_eq!(entry.read(), Some(vec![k; 10]));
        }
        for other in ["notes.txt", "program.dsc", "0123456789abcdef.txt"] {
            fs::write(folder.join(other), [0; 100]).unwrap();
        }
        trim(&folder, 50);
        assert_eq!(count(), 8);
        trim(&folder, 49);
        assert_eq!(count(), 5, "the folder may contain other files, which remain");
        fs::remove_dir_all(&folder).unwrap();
    }
}
