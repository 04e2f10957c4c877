//! Which files a program may touch.

use super::context::{Failure, FailureKind};
use std::path::{Component, Path, PathBuf};

/// What a program may read, and what it may write.
#[derive(Clone, Debug, Default)]
pub struct Access {
    /// Where it may read files.
    pub read: Folders,
    /// Where it may write files.
    pub write: Folders,
}

/// Where files may be touched.
#[derive(Clone, Debug, Default)]
pub enum Folders {
    /// Everywhere.
    #[default]
    All,
    /// In these folders and below them.
    Only(Vec<PathBuf>),
}

impl Folders {
    /// These folders.
    pub fn only(folders: impl IntoIterator<Item = PathBuf>) -> Folders {
        Folders::Only(folders.into_iter().map(|folder| real(&folder)).collect())
    }

    /// Whether a file may be touched, wherever links lead.
    pub fn has(&self, file: &Path) -> bool {
        match self {
            Folders::All => true,
            Folders::Only(folders) => {
                let file = real(file);
                folders.iter().any(|folder| file.starts_with(folder))
            }
        }
    }

    /// What is wrong with a file that may not be touched.
    pub(super) fn require(&self, file: &str, doing: &str, option: &str) -> Result<(), Failure> {
        if self.has(Path::new(file)) {
            return Ok(());
        }
        let message =
            format!("cannot {doing} '{file}': it is outside of the folders where this program may {doing} files");
        let mut failure = Failure::new(FailureKind::Forbidden, message);
        failure.helps.push(way_out(Path::new(file), option));
        Err(failure)
    }
}

/// How a file can be allowed to be touched.
pub fn way_out(file: &Path, option: &str) -> String {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    format!(
        "files are touched in the program's own folder and in the working folder only; \
         allow it with {option}={}",
        folder.display()
    )
}

/// A path from the root, without links and without `..`.
fn real(path: &Path) -> PathBuf {
    if let Ok(real) = path.canonicalize() {
        return real;
    }
    // A file that is to be written is not there yet.
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    if let (Some(folder), Some(name)) =
        (absolute.parent().and_then(|folder| folder.canonicalize().ok()), absolute.file_name())
    {
        return folder.join(name);
    }
    let mut out = PathBuf::new();
    for part in absolute.components() {
        match part {
            Component::ParentDir => drop(out.pop()),
            Component::CurDir => {}
            _ => out.push(part),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_looked_for_where_it_really_is() {
        let here = Folders::only([PathBuf::from("src")]);
        for inside in ["src/lib.rs", "src/../src/lib.rs", "./src/new", "src/none/none", "src/vm/../lib.rs"] {
            assert!(here.has(Path::new(inside)), "{inside}");
        }
        for outside in ["Cargo.toml", "src/../Cargo.toml", "/etc/passwd", "src/../../x", "srcs", "src/none/../../x/y"] {
            assert!(!here.has(Path::new(outside)), "{outside}");
        }
        assert!(Folders::All.has(Path::new("/etc/passwd")));
        assert!(!Folders::only([]).has(Path::new("src/lib.rs")));
    }
}
