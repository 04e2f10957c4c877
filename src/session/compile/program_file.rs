//! Program file: the file extensions by which programs are recognized.

use std::path::Path;

/// The file extensions of programs.
pub(super) const EXTENSIONS: [&str; 2] = ["dscript", "swift"];

/// Whether a path is that of a program.
pub fn is_program_file(path: &Path) -> bool {
    path.extension().is_some_and(|extension| EXTENSIONS.iter().any(|known| extension == *known))
}
