//! Program search: finds the programs in files and folders.

use crate::session::is_program_file;
use std::path::{Path, PathBuf};

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

/// The files of one module with tests.
pub(super) struct TestModule {
    /// The files whose tests run.
    pub tested: Vec<PathBuf>,
    /// The other files of the module.
    pub others: Vec<PathBuf>,
}

/// Returns the modules of files with tests. Each file is a module, except that the files in a folder `Tests/Name` of a package
/// are one module.
pub(super) fn test_modules(files: Vec<PathBuf>) -> Vec<TestModule> {
    let mut modules: Vec<(Option<PathBuf>, TestModule)> = vec![];
    for file in files {
        if is_superseded(&file) {
            continue;
        }
        let target = test_target(&file);
        match modules.iter_mut().find(|(known, _)| target.is_some() && *known == target) {
            Some((_, module)) => module.tested.push(file),
            None => modules.push((target, TestModule { tested: vec![file], others: vec![] })),
        }
    }
    for (target, module) in &mut modules {
        // A folder that cannot be read contributes nothing, and the files given still run.
        if let Some(target) = target
            && below(target, &mut module.others).is_ok()
        {
            module.others.retain(|file| !module.tested.contains(file));
        }
    }
    modules.into_iter().map(|(_, module)| module).collect()
}

/// Returns the folder `Tests/Name` of a package in which a file lies.
fn test_target(file: &Path) -> Option<PathBuf> {
    let target = file.ancestors().skip(1).find(|folder| {
        let tests = folder.parent().filter(|tests| tests.file_name().is_some_and(|name| name == "Tests"));
        tests.is_some_and(is_in_package)
    })?;
    Some(target.to_path_buf())
}

/// Whether a folder lies directly in a package.
fn is_in_package(folder: &Path) -> bool {
    folder.parent().is_some_and(|package| package.join("Package.swift").is_file())
}

/// Whether a file is the list of a package's tests, which Swift has not needed since it finds tests.
fn is_superseded(file: &Path) -> bool {
    file.file_name().is_some_and(|name| name == "LinuxMain.swift") && file.parent().is_some_and(is_in_package)
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
                Ok(_) if path.is_file() && is_program_file(&path) => here.push(path),
                _ => {}
            }
        }
        files.extend(here.into_iter().rev());
    }
    Ok(())
}
