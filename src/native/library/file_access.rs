//! File access: the files that a program may read and write.

use super::context::{Failure, FailureKind};
use crate::cancel;
use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};
use std::sync::OnceLock;

/// The access of a program to files: the folders in which it may read files, and those in which it may write files.
#[derive(Clone, Debug, Default)]
pub struct Access {
    /// The folders in which the program may read files.
    pub read: Folders,
    /// The folders in which the program may write files.
    pub write: Folders,
}

/// The folders in which files may be accessed.
#[derive(Clone, Debug, Default)]
pub enum Folders {
    /// Files in all folders may be accessed.
    #[default]
    All,
    /// Only files in these folders and in the folders inside them may be accessed.
    Only(AllowedFolders),
}

/// Folders in which files may be accessed. Their links are resolved at the first access: most programs access no files.
#[derive(Clone, Debug)]
pub struct AllowedFolders {
    /// Absolute paths, as the user wrote them.
    written: Vec<PathBuf>,
    resolved: OnceLock<Vec<PathBuf>>,
}

impl AllowedFolders {
    /// Returns the folders without links.
    fn resolved(&self) -> &[PathBuf] {
        self.resolved.get_or_init(|| self.written.iter().map(|folder| real(folder)).collect())
    }
}

impl Folders {
    /// Allows access to the given folders only, with links resolved. Relative paths refer to the current working folder.
    pub fn only(folders: impl IntoIterator<Item = PathBuf>) -> Folders {
        let written = folders.into_iter().map(absolute).collect();
        Folders::Only(AllowedFolders { written, resolved: OnceLock::new() })
    }

    /// Whether a file may be accessed; links are followed.
    pub fn has(&self, file: &Path) -> bool {
        match self {
            Folders::All => true,
            Folders::Only(_) => resolve(file).is_some_and(|resolved| self.contain(&resolved)),
        }
    }

    fn contain(&self, resolved: &Resolved) -> bool {
        match self {
            Folders::All => true,
            Folders::Only(folders) => folders.resolved().iter().any(|folder| resolved.path.starts_with(folder)),
        }
    }

    /// Opens a file for reading.
    ///
    /// # Errors
    /// Fails if the access is not allowed, or with the error of the system.
    pub fn open(&self, file: &Path) -> Result<File, AccessError> {
        match self {
            Folders::All => Ok(open(file)?),
            Folders::Only(_) => {
                let path = self.resolved(file)?;
                self.verified(open(&path)?, &path)
            }
        }
    }

    /// Opens a file for writing and truncates it, or creates it if it does not exist.
    ///
    /// # Errors
    /// Fails if the access is not allowed, or with the error of the system.
    pub fn create(&self, file: &Path) -> Result<File, AccessError> {
        if matches!(self, Folders::All) {
            return Ok(opened(file, |file| File::create(file))?);
        }
        let opened = self.writable(file, |path| OpenOptions::new().write(true).open(path))?;
        // The file is truncated only after it is verified to be the intended one; devices and pipes cannot be
        // truncated.
        if opened.metadata()?.is_file() {
            opened.set_len(0)?;
        }
        Ok(opened)
    }

    /// Opens a file for writing at its end, or creates it if it does not exist.
    ///
    /// # Errors
    /// Fails if the access is not allowed, or with the error of the system.
    pub fn append(&self, file: &Path) -> Result<File, AccessError> {
        if matches!(self, Folders::All) {
            return Ok(opened(file, |file| OpenOptions::new().append(true).create(true).open(file))?);
        }
        self.writable(file, |path| OpenOptions::new().append(true).open(path))
    }

    /// Opens a file in one of the folders, or creates it.
    fn writable(&self, file: &Path, open: fn(&Path) -> std::io::Result<File>) -> Result<File, AccessError> {
        let path = self.resolved(file)?;
        let opened = match opened(&path, open) {
            // A file is created only if there is not even a link at its path.
            Err(error) if error.kind() == ErrorKind::NotFound => File::create_new(&path)?,
            opened => opened?,
        };
        self.verified(opened, &path)
    }

    /// Returns the names of the files in a folder, in alphabetical order.
    ///
    /// # Errors
    /// Fails if the access is not allowed, or with the error of the system.
    pub fn list(&self, folder: &Path) -> Result<Vec<String>, AccessError> {
        let path = self.path(folder)?;
        let mut names = vec![];
        for entry in cancel::checking(std::fs::read_dir(path)?) {
            names.push(entry?.file_name().to_string_lossy().into_owned());
        }
        names.sort();
        Ok(names)
    }

    /// Creates a folder, and those that contain it.
    ///
    /// # Errors
    /// Fails if the access is not allowed, or with the error of the system.
    pub fn create_folder(&self, folder: &Path) -> Result<(), AccessError> {
        let path = self.path(folder)?;
        Ok(std::fs::create_dir_all(path)?)
    }

    /// Removes a file or an empty folder. Of a link, the link is removed and not its target.
    ///
    /// # Errors
    /// Fails if the access is not allowed, or with the error of the system.
    pub fn remove(&self, file: &Path) -> Result<(), AccessError> {
        let Some(name) = file.file_name() else {
            return Err(std::io::Error::from(ErrorKind::InvalidInput).into());
        };
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let path = self.path(folder)?.join(name);
        let is_folder = path.symlink_metadata()?.is_dir();
        Ok(if is_folder { std::fs::remove_dir(path) } else { std::fs::remove_file(path) }?)
    }

    /// Returns the path at which a file is accessed, if that is allowed.
    fn path(&self, file: &Path) -> Result<PathBuf, AccessError> {
        match self {
            Folders::All => Ok(file.to_path_buf()),
            Folders::Only(_) => self.resolved(file),
        }
    }

    /// Resolves a path, if the result is in one of the folders.
    fn resolved(&self, file: &Path) -> Result<PathBuf, AccessError> {
        let resolved = resolve(file).ok_or_else(|| std::io::Error::other("too many levels of symbolic links"))?;
        if !self.contain(&resolved) {
            return Err(AccessError::Outside);
        }
        if resolved.is_unreachable {
            return Err(std::io::Error::from(ErrorKind::NotFound).into());
        }
        Ok(resolved.path)
    }

    /// Verifies that a file opened at a resolved path is the file at that path: another process may have put a link at
    /// the path in the meantime.
    fn verified(&self, opened: File, path: &Path) -> Result<File, AccessError> {
        let is_resolved = resolve(path).is_some_and(|again| again.path == path);
        if is_resolved && is_at(&opened, path) { Ok(opened) } else { Err(AccessError::Outside) }
    }

    /// Creates the failure that reports a file that could not be opened.
    pub(super) fn failure(&self, why: AccessError, file: &str, doing: &str, option: &str) -> Failure {
        match why {
            AccessError::System(error) => super::file::failure(&format!("cannot {doing} '{file}'"), &error),
            AccessError::Outside => {
                let message =
                    format!("cannot {doing} '{file}': it is outside the folders where this program may {doing} files");
                let mut failure = Failure::new(FailureKind::Forbidden, message);
                failure.helps.push(access_help(Path::new(file), option));
                failure
            }
        }
    }
}

fn open(file: &Path) -> std::io::Result<File> {
    opened(file, |file| File::open(file))
}

/// Opens a file. Opening a named pipe waits for another process, and can be interrupted.
fn opened(file: &Path, open: fn(&Path) -> std::io::Result<File>) -> std::io::Result<File> {
    if std::fs::metadata(file).is_ok_and(|found| !found.is_file() && !found.is_dir()) {
        let file = file.to_owned();
        return cancel::waiting(move || open(&file));
    }
    open(file)
}

/// The reason why a file was not opened.
#[derive(Debug)]
pub enum AccessError {
    /// The file is outside of the folders to which the program has access.
    Outside,
    /// The operating system refuses the access.
    System(std::io::Error),
}

impl From<std::io::Error> for AccessError {
    fn from(error: std::io::Error) -> AccessError {
        AccessError::System(error)
    }
}

/// Returns the help that names the option which allows access to a file's folder. For a link, this is the folder of its
/// target.
pub fn access_help(file: &Path, option: &str) -> String {
    let target = resolve(file).filter(|_| file.symlink_metadata().is_ok_and(|found| found.is_symlink()));
    let file = target.as_ref().map_or(file, |target| &target.path);
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    format!(
        "a program may only access files in its own folder and in the working folder; to allow more, use {option}={}",
        folder.display()
    )
}

/// Returns an absolute path without links and without `..`; a path that cannot be resolved is returned unchanged.
fn real(path: &Path) -> PathBuf {
    resolve(path).map_or_else(|| path.to_path_buf(), |resolved| resolved.path)
}

/// The target of a path.
struct Resolved {
    /// The absolute path, without links and without `..`.
    path: PathBuf,
    /// Whether the path continues with `..` after a component that is not a folder, which the system refuses.
    is_unreachable: bool,
}

/// The maximum number of links that are followed, as in Linux.
const MAX_LINKS: usize = 40;

/// Follows every link in a path, including links to a file that does not exist (yet); `None` if there are too many
/// links.
fn resolve(path: &Path) -> Option<Resolved> {
    // `..` applies to the target of a link, so the components must not be normalized before links are resolved.
    let absolute = absolute(path.to_path_buf());
    if absolute.is_relative() {
        return None;
    }
    let mut rest: Vec<OsString> = reversed(&absolute);
    let (mut out, mut links, mut is_unreachable) = (PathBuf::new(), 0, false);
    while let Some(part) = rest.pop() {
        match Path::new(&part).components().next() {
            Some(Component::ParentDir) => {
                is_unreachable |= !out.is_dir();
                out.pop();
            }
            Some(Component::Normal(name)) => {
                out.push(name);
                let Ok(target) = std::fs::read_link(&out) else { continue };
                links += 1;
                if links > MAX_LINKS {
                    return None;
                }
                out.pop();
                rest.extend(reversed(&target));
            }
            Some(Component::CurDir) | None => {}
            // A link with an absolute target restarts at the root.
            Some(Component::RootDir | Component::Prefix(_)) => out.push(&part),
        }
    }
    // Names are replaced by those of the file system, which may differ in case.
    let known = out.ancestors().find_map(|folder| Some((folder, folder.canonicalize().ok()?)));
    let path = match known {
        Some((folder, real)) => match out.strip_prefix(folder) {
            Ok(rest) if !rest.as_os_str().is_empty() => real.join(rest),
            _ => real,
        },
        None => out,
    };
    Some(Resolved { path, is_unreachable })
}

/// Returns an absolute path; a relative one is returned unchanged if there is no working folder.
fn absolute(path: PathBuf) -> PathBuf {
    if path.is_absolute() {
        return path;
    }
    std::env::current_dir().map(|folder| folder.join(&path)).unwrap_or(path)
}

/// Returns the components of a path, the last component first.
fn reversed(path: &Path) -> Vec<OsString> {
    path.components().rev().map(|part| part.as_os_str().to_owned()).collect()
}

/// Whether an open file is the file at a path, which must not be a link.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (file.metadata(), path.symlink_metadata()) {
        (Ok(open), Ok(found)) => (open.dev(), open.ino()) == (found.dev(), found.ino()),
        _ => false,
    }
}

#[cfg(not(unix))]
fn is_at(_: &File, path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| !found.is_symlink())
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

    /// Creates a folder `in`, in which access is allowed, beside a folder `out`.
    #[cfg(unix)]
    fn folders(name: &str) -> (PathBuf, Folders) {
        let root = std::env::temp_dir().join(format!("dscript-access-{}-{name}", std::process::id()));
        drop(std::fs::remove_dir_all(&root));
        for folder in ["in/deep", "out"] {
            std::fs::create_dir_all(root.join(folder)).unwrap();
        }
        std::fs::write(root.join("out/secret"), "secret").unwrap();
        std::fs::write(root.join("in/own"), "own").unwrap();
        let access = Folders::only([root.join("in")]);
        (root, access)
    }

    #[test]
    #[cfg(unix)]
    fn links_that_lead_outside_are_refused() {
        let (root, access) = folders("outside");
        let links = [
            ("new", "../out/new"),
            ("chain", "new"),
            ("absolute", root.join("out/new").to_str().unwrap()),
            ("deep/new", "../../out/new"),
            ("folder", "../out"),
            ("missing", "../out/none"),
            ("there", "../out/secret"),
            ("up", "deep/../../out/new"),
            ("loop", "loop"),
            ("round", "about"),
            ("about", "round"),
        ]
        .map(|(link, target)| {
            std::os::unix::fs::symlink(target, root.join("in").join(link)).unwrap();
            link
        });
        let through = ["folder/new", "folder/secret", "missing/new", "deep/../new", "folder/../out/new", "../out/new"];
        for path in links.into_iter().chain(through) {
            let path = root.join("in").join(path);
            assert!(access.create(&path).is_err(), "{}", path.display());
            assert!(access.open(&path).is_err(), "{}", path.display());
            assert!(!access.has(&path), "{}", path.display());
        }
        let left: Vec<_> = std::fs::read_dir(root.join("out")).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(left, ["secret"]);
        assert_eq!(std::fs::read(root.join("out/secret")).unwrap(), b"secret");
        std::fs::remove_dir_all(&root).unwrap();
    }

    #[test]
    #[cfg(unix)]
    fn what_is_removed_listed_and_created_lies_inside() {
        let (root, access) = folders("removed");
        let inside = |path: &str| root.join("in").join(path);
        for (link, target) in [("out", "../out"), ("secret", "../out/secret"), ("up", "..")] {
            std::os::unix::fs::symlink(target, inside(link)).unwrap();
        }
        for path in ["../out/secret", "out/secret", "../in", "up/in", "deep/../..", ".."] {
            assert!(access.remove(&inside(path)).is_err(), "{path}");
        }
        for path in ["../out", "out", "up", "deep/../.."] {
            assert!(access.list(&inside(path)).is_err(), "{path}");
            assert!(access.create_folder(&inside(path).join("new")).is_err(), "{path}");
        }
        // A link is removed, its target is not.
        access.remove(&inside("secret")).unwrap();
        assert_eq!(std::fs::read(root.join("out/secret")).unwrap(), b"secret");
        access.create_folder(&inside("a/b")).unwrap();
        assert!(access.remove(&inside("a")).is_err(), "a folder that is not empty");
        access.remove(&inside("a/b")).unwrap();
        std::fs::write(inside("own"), "1").unwrap();
        std::io::Write::write_all(&mut access.append(&inside("own")).unwrap(), b"2").unwrap();
        assert_eq!(std::fs::read(inside("own")).unwrap(), b"12");
        assert_eq!(access.list(&inside("")).unwrap(), ["a", "deep", "out", "own", "up"]);
        std::fs::remove_dir_all(&root).unwrap();
    }

    #[test]
    #[cfg(unix)]
    fn links_that_stay_inside_are_followed() {
        let (root, access) = folders("inside");
        let links =
            [("new", "deep/new"), ("chain", "new"), ("folder", "../in/deep"), ("back", "../out/../in/deep/more")];
        for (link, target) in links {
            std::os::unix::fs::symlink(target, root.join("in").join(link)).unwrap();
        }
        for path in ["chain", "folder/file", "back", "folder/../own", "own"] {
            drop(access.create(&root.join("in").join(path)).unwrap());
            drop(access.open(&root.join("in").join(path)).unwrap());
        }
        for written in ["deep/new", "deep/file", "deep/more", "own"] {
            assert_eq!(std::fs::read(root.join("in").join(written)).unwrap(), b"", "{written}");
        }
        // The system does not apply `..` to a folder that does not exist, and access is refused.
        assert!(matches!(access.create(&root.join("in/none/../x")), Err(AccessError::System(_))));
        assert!(matches!(access.create(&root.join("in/own/../x")), Err(AccessError::System(_))));
        std::fs::remove_dir_all(&root).unwrap();
    }
}
