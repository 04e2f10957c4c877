//! Standard library: the compiled form, an index of its top-level declarations with one encoded tree
//! ([`Decl`](super::ast::Decl)) for each of them. Both are written when dscript is built (`prelude/build.rs`); the trees that a
//! program needs are decoded while it is compiled.

use serde::{Deserialize, Serialize};

/// The index of the library.
#[derive(Debug, Serialize, Deserialize)]
pub struct Library<'a> {
    /// Its files, in the order of their source positions.
    #[serde(borrow)]
    pub files: Vec<LibraryFile<'a>>,
    /// Its top-level declarations, in the order of the files.
    #[serde(borrow)]
    pub pieces: Vec<Piece<'a>>,
}

/// A source file of the library.
#[derive(Debug, Serialize, Deserialize)]
pub struct LibraryFile<'a> {
    /// The name of the file in diagnostics.
    pub name: &'a str,
    /// The source text.
    pub text: &'a str,
    /// The module that must be imported to use its declarations; `None` when they are always in scope.
    pub module: Option<&'a str>,
}

/// The kind of a top-level declaration.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum PieceKind {
    /// A declaration of a name, with everything inside it.
    Declaration,
    /// An extension that declares conformances.
    Conformance,
    /// An extension that only adds members.
    Members,
}

/// The location and the name of a top-level declaration.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Piece<'a> {
    /// The index of its file in [`Library::files`].
    pub file: u32,
    /// Its kind.
    pub kind: PieceKind,
    /// The declared name; for an extension the name of the extended type.
    pub name: &'a str,
    /// The names of the members of an extension.
    #[serde(borrow)]
    pub members: Vec<&'a str>,
    /// The range of bytes of its tree in the encoded trees of the library.
    pub tree: (u32, u32),
}
