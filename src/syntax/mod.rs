//! Syntax: the conversion of source text into a tree.
//!
//! In: the text of a source and the offset of its first byte. Out: an [`ast::File`], or diagnostics, or the information
//! that the text is incomplete ([`Parsed::incomplete`]).
//!
//! Stages: `scan` reads every byte once (brackets, strings, comments, `#if`), `grammar.pest` reads the result,
//! `parser` builds the tree, and [`fold_file`] folds operator sequences once all files have declared their operators.
//!
//! Promises: parsing never panics and never overflows the stack, whatever the text; names are in NFC; every
//! operator sequence is folded according to the declared operators.
//! Not here: name resolution (`types`).

pub mod ast;
pub(crate) mod asynchronous_extensions;
pub(crate) mod declared_tests;
mod dump;
mod flow_sensitive;
pub(crate) mod foreign;
pub(crate) mod format;
mod library;
mod library_module;
mod operator_folding;
mod operator_table;
pub(crate) mod parser;
pub(crate) mod remaining_tasks;
mod scan;
mod variable_words;
mod visitor;

#[cfg(test)]
mod tests;

pub use crate::syntax::format::formatted;
pub use dump::dump;
pub use library::{Indexed, Library, Parameter, Piece, PieceKind, listed, may_accept};
pub(crate) use library_module::is_library_module;
pub use operator_folding::{MAX_DEPTH, fold_file};
pub use operator_table::OperatorTable;
pub use parser::{RegexText, parse, parse_at};
pub use variable_words::variable_words;

use crate::diagnostic::Diagnostic;

/// The result of parsing a text.
#[derive(Clone, Debug, Default)]
pub struct Parsed {
    /// The syntax tree, with unfolded operators; empty when errors prevented the parsing.
    pub file: ast::File,
    /// The errors that were found.
    pub diagnostics: Vec<Diagnostic>,
    /// Whether the text is incomplete, so that a prompt should read more lines.
    pub incomplete: bool,
    /// The literals of regular expressions, which the session checks.
    pub regex_literals: Vec<RegexText>,
}
