//! The compiled form of the standard library: an index of its top-level declarations, each of which has a tree of its own
//! ([`Decl`](super::ast::Decl)) beside it. Both are written when dscript is built (`prelude/build.rs`); what a program
//! needs is read while it is compiled.

use serde::{Deserialize, Serialize};

/// What the library consists of.
#[derive(Debug, Serialize, Deserialize)]
pub struct Library<'a> {
    /// Its files, in the order in which they lie in the space of positions, from the beginning of it.
    #[serde(borrow)]
    pub files: Vec<LibraryFile<'a>>,
    /// Its declarations, in the order of the files.
    #[serde(borrow)]
    pub pieces: Vec<Piece<'a>>,
}

/// A file of the library.
#[derive(Debug, Serialize, Deserialize)]
pub struct LibraryFile<'a> {
    /// What it is called in diagnostics.
    pub name: &'a str,
    /// What a person reads.
    pub text: &'a str,
    /// The module that has to be imported to see it.
    pub module: Option<&'a str>,
}

/// A top-level declaration.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum PieceKind {
    /// A name, with all that belongs to it.
    Declaration,
    /// An extension that says what its type conforms to.
    Conformance,
    /// An extension that only adds members.
    Members,
}

/// Where a top-level declaration is, and what it declares.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Piece<'a> {
    /// Which of the files it stands in.
    pub file: u32,
    /// What kind it is of.
    pub kind: PieceKind,
    /// The name that it declares; of an extension the name of what it extends.
    pub name: &'a str,
    /// The names of an extension's members.
    #[serde(borrow)]
    pub members: Vec<&'a str>,
    /// The bytes of its tree among those of all trees.
    pub tree: (u32, u32),
}
