//! Program search: finds the programs in files and folders.

use std::path::{Path, PathBuf};

/// The file extensions of programs.
const ENDINGS: [&str; 2] = ["dscript", "swift"];

/// Returns the given files and the programs in the given folders, recursively, in the order of their names; without
/// arguments, the programs in the working folder. On failure, returns the error message.
pub(super) fn found(paths: &[PathBuf]) -> Result<Vec<PathBuf>, String> {
    let here = [PathBuf::from(".")];
    let mut files = vec![];
    for path in if paths.is_empty() { &here } else { paths } {
        if path.is_dir() {
            below(path, &mut files)?;
        } else if path.exists() {
            files.push(path.clone());
        } else {
            return Err(format!("dscript: cannot read '{}': there is no such file\n", path.display()));
        }
    }
    Ok(files)
}

/// Collects the programs in a folder, without hidden folders and links to folders.
fn below(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), String> {
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let problem = |error: std::io::Error| format!("dscript: cannot read '{}': {error}\n", folder.display());
        let mut inside = vec![];
        for entry in std::fs::read_dir(&folder).map_err(problem)? {
            inside.push(entry.map_err(problem)?);
        }
        inside.sort_by_key(|entry| std::cmp::Reverse(entry.file_name()));
        let mut here = vec![];
        for entry in inside {
            let is_hidden = entry.file_name().to_string_lossy().starts_with('.');
            let path = entry.path();
            let path = path.strip_prefix("./").map(Path::to_path_buf).unwrap_or(path);
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && !is_hidden => folders.push(path),
                Ok(_) if path.is_file() && is_program(&path) => here.push(path),
                _ => {}
            }
        }
        files.extend(here.into_iter().rev());
    }
    Ok(())
}

fn is_program(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ENDINGS.iter().any(|e| ending == *e))
}
