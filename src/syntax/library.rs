//! Standard library: the compiled form, an index of its top-level declarations with one encoded tree
//! ([`Decl`](super::ast::Decl)) for each of them. Both are written when dscript is built (`prelude/build.rs`), the index as
//! static tables that a session searches in place; the trees that a program needs are decoded while it is compiled.

/// The index of the library.
#[derive(Debug)]
pub struct Library {
    /// Its files, in the order of their source positions.
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
    /// The source text.
    pub text: &'static str,
}

/// A name with the top-level declarations that are found by it, in the order of the files.
pub type Indexed = (&'static str, &'static [Piece]);

/// A top-level declaration.
#[derive(Clone, Copy, Debug)]
pub struct Piece {
    /// The first byte of its tree in the encoded trees of the library.
    pub start: u32,
    /// The end of its tree.
    pub end: u32,
    /// The module that must be imported to use it; `None` when it is always in scope.
    pub module: Option<&'static str>,
}

/// Returns what is listed under a name in a table that is sorted by name.
pub fn listed<T: Copy>(table: &[(&'static str, T)], name: &str) -> Option<T> {
    let found = table.binary_search_by(|(known, _)| (*known).cmp(name)).ok()?;
    table.get(found).map(|(_, listed)| *listed)
}
