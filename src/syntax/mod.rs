//! Syntax: turns text into a tree.
//!
//! In: the text of a source and its first position. Out: an [`ast::File`], or diagnostics, or the answer that the text
//! is the beginning of something longer ([`Parsed::incomplete`]).
//!
//! The way: `scan` looks at every byte once (brackets, strings, comments, `#if`), `grammar.pest` reads what it leaves,
//! `parser` builds the tree, and [`fold_file`] puts operators in their order once all files have declared theirs.
//!
//! Promises: parsing never panics and never overflows the stack, whatever the text; names are in NFC; every
//! operator sequence is folded by the operators that are declared.
//! Not here: what a name means (`types`).

pub mod ast;
mod dump;
mod flow_sensitive;
mod fold;
pub(crate) mod format;
mod library;
mod operators;
pub(crate) mod parser;
mod scan;
mod visit;

#[cfg(test)]
mod tests;

pub use crate::syntax::format::formatted;
pub use dump::dump;
pub use fold::{MAX_DEPTH, fold_file};
pub use library::{Library, LibraryFile, Piece, PieceKind};
pub use operators::OperatorTable;
pub use parser::{parse, parse_at};

use crate::diagnostic::Diagnostic;

/// What became of a text.
#[derive(Clone, Debug, Default)]
pub struct Parsed {
    /// The tree, with operators not folded yet; empty when there are errors that left nothing to read.
    pub file: ast::File,
    /// What was wrong.
    pub diagnostics: Vec<Diagnostic>,
    /// Whether the text is the beginning of something longer, so that a prompt should ask for more.
    pub incomplete: bool,
}
