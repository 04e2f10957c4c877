//! Standard library: defines the compiled form of the library, an index of its top-level declarations with one encoded
//! tree ([`Decl`](super::ast::Decl)) for each of them. Both are written when dscript is built (`prelude/build.rs`); the
//! trees that a program needs are decoded while it is compiled.

use serde::{Deserialize, Serialize};

/// The index of the standard library.
#[derive(Debug, Serialize, Deserialize)]
pub struct Library<'a> {
    /// The files of the library, in the order of their source positions.
    #[serde(borrow)]
    pub files: Vec<LibraryFile<'a>>,
    /// The top-level declarations of the library, in the order of the files.
    #[serde(borrow)]
    pub pieces: Vec<Piece<'a>>,
}

/// A source file of the library.
#[derive(Debug, Serialize, Deserialize)]
pub struct LibraryFile<'a> {
    /// The name of the file in diagnostics.
    pub name: &'a str,
    /// The source text of the file.
    pub text: &'a str,
    /// The module that must be imported to use the declarations of the file; `None` when they are always in scope.
    pub module: Option<&'a str>,
}

/// The kind of a top-level declaration.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum PieceKind {
    /// A declaration of a name, with all declarations inside it.
    Declaration,
    /// An extension that declares conformances.
    Conformance,
    /// An extension that only adds members.
    Members,
}

/// A top-level declaration: its location and its name.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Piece<'a> {
    /// The index of the declaration's file in [`Library::files`].
    pub file: u32,
    /// The kind of the declaration.
    pub kind: PieceKind,
    /// The declared name; for an extension the name of the extended type.
    pub name: &'a str,
    /// The names of the members, if the declaration is an extension.
    #[serde(borrow)]
    pub members: Vec<&'a str>,
    /// The range of bytes of the declaration's tree in the encoded trees of the library.
    pub tree: (u32, u32),
}
