//! Package modules: finds the source files of a module in the layout of Swift's packages, `Sources/NAME/`.

use super::program_file::is_program_file;
use crate::session::Folders;
use std::path::{Path, PathBuf};

/// How many folders above the importing file may contain `Sources`.
const MAX_LEVELS: usize = 4;
/// How deeply the folders of a module may nest.
const MAX_NESTING: usize = 8;

/// Returns the paths of the files of a module relative to the folder of the importing file: those in `Sources/NAME/`, in
/// the folder of the importing file or in one of the folders that contain it.
pub(super) fn files(importer_folder: &Path, module: &str, folders: &Folders) -> Vec<PathBuf> {
    let mut level = PathBuf::new();
    for _ in 0..=MAX_LEVELS {
        let mut found = vec![];
        let root = level.join("Sources").join(module);
        collect(importer_folder, &root, folders, MAX_NESTING, &mut found);
        if !found.is_empty() {
            return found;
        }
        level.push("..");
    }
    vec![]
}

/// Collects the programs in a folder and in the folders inside it, in the order of their names.
fn collect(base: &Path, folder: &Path, folders: &Folders, nesting: usize, found: &mut Vec<PathBuf>) {
    let Ok(names) = folders.list(&base.join(folder)) else { return };
    for name in names.into_iter().filter(|name| !name.starts_with('.')) {
        let path = folder.join(&name);
        if is_program_file(&path) {
            // `main.swift` is the program of an executable module.
            if path.file_stem().is_some_and(|stem| stem != "main") {
                found.push(path);
            }
        } else if path.extension().is_none() && nesting > 0 && !base.join(&path).is_symlink() {
            // A link to a folder may lead back to the folder that contains it, and is not followed.
            collect(base, &path, folders, nesting - 1, found);
        }
    }
}
