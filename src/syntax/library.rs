//! Library: the compiled form of the standard library, an index of its top-level declarations with one encoded tree
//! ([`Decl`](super::ast::Decl)) for each declaration. Index and trees are written when dscript is built
//! (`prelude/build.rs`). The index consists of static tables that a session searches in place; a tree is decoded when a
//! program needs the declaration.

/// The index of the standard library.
#[derive(Debug)]
pub struct Library {
    /// The files of the library, in the order of their source offsets.
    pub files: &'static [LibraryFile],
    /// The declarations with their names, sorted by name.
    pub declarations: &'static [Indexed],
    /// The extensions that declare conformances, with the names of the extended types, sorted by name.
    pub conformances: &'static [Indexed],
    /// The extensions that only add members, with the names of the extended types and of the members, sorted by both.
    pub members: &'static [(&'static str, &'static [Indexed])],
}

/// A source file of the library.
#[derive(Debug)]
pub struct LibraryFile {
    /// The name of the file in diagnostics.
    pub name: &'static str,
    /// The source text of the file.
    pub text: &'static str,
}

/// A name, and the top-level declarations that are listed under this name, in the order of the files.
pub type Indexed = (&'static str, &'static [Piece]);

/// A top-level declaration.
#[derive(Clone, Copy, Debug)]
pub struct Piece {
    /// The start of the declaration's tree in the encoded trees of the library.
    pub start: u32,
    /// The end of the declaration's tree.
    pub end: u32,
    /// The module that must be imported to use the declaration; `None` when the declaration is always in scope.
    pub module: Option<&'static str>,
}

/// Returns the entry of a name in a table that is sorted by name.
pub fn listed<T: Copy>(table: &[(&'static str, T)], name: &str) -> Option<T> {
    let found = table.binary_search_by(|(known, _)| (*known).cmp(name)).ok()?;
    table.get(found).map(|(_, listed)| *listed)
}
