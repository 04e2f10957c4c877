//! The tree as text.
use super::ast::File;

/// The tree as text.
pub fn dump(file: &File) -> String {
    format!("{:#?}", file)
}
