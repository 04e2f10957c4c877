//! Library: the compiled form of the standard library, an index of its top-level declarations with one encoded tree
//! ([`Decl`](super::ast::Decl)) for each declaration. Index and trees are written when dscript is built
//! (`prelude/build.rs`). The index consists of static tables that a session searches in place; a tree is decoded when a
//! program needs the declaration.

use crate::source::LibraryFile;

/// The index of the standard library.
#[derive(Debug)]
pub struct Library {
    /// The files of the library, in the order of their source offsets.
    pub files: &'static [LibraryFile],
    /// The declarations with their names, sorted by name.
    pub declarations: &'static [Indexed],
    /// The extensions that declare conformances, with the names of the extended types, sorted by name.
    pub conformances: &'static [Indexed],
    /// The protocols to which the types in `conformances` may conform, some of them under conditions: their names, sorted.
    pub protocols: &'static [(&'static str, &'static [&'static str])],
    /// The extensions that only add members, with the names of the extended types and of the members, sorted by both.
    pub members: &'static [(&'static str, &'static [Indexed])],
    /// The checksum of the texts of all files.
    pub checksum: u32,
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
    /// The kind of the declaration.
    pub kind: PieceKind,
}

/// The kind of a top-level declaration. A lookup enters only the pieces that it can use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PieceKind {
    /// A function, with its parameters.
    Function(&'static [Parameter]),
    /// A type, a variable, an extension, or a derivative that is registered for a function of the listed name.
    Other,
}

/// A parameter of a function, as far as it decides which arguments a call must have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Parameter {
    /// The argument label; `None` for `_`.
    pub label: Option<&'static str>,
    /// Whether a call must have an argument for the parameter.
    pub is_required: bool,
}

/// Whether a function with the given parameters may accept arguments with the given labels: there is an argument for
/// each required parameter, and a parameter for each label. A parameter is given by its label and whether it is
/// required.
pub fn may_accept<'a>(
    parameters: impl Iterator<Item = (Option<&'a str>, bool)> + Clone,
    labels: &[Option<&str>],
) -> bool {
    let required = parameters.clone().filter(|(_, is_required)| *is_required).count();
    let is_known = |label: &Option<&str>| label.is_none() || parameters.clone().any(|(known, _)| known == *label);
    required <= labels.len() && labels.iter().all(is_known)
}

/// Returns the entry of a name in a table that is sorted by name.
pub fn listed<T: Copy>(table: &[(&'static str, T)], name: &str) -> Option<T> {
    let found = table.binary_search_by(|(known, _)| (*known).cmp(name)).ok()?;
    table.get(found).map(|(_, listed)| *listed)
}

#[cfg(test)]
mod tests {
    use super::may_accept;

    #[test]
    fn labels_and_required_parameters_decide_which_calls_may_fit() {
        let gradient = [(Some("at"), true), (None, true), (Some("in"), true)];
        let plot = [(None, false), (Some("from"), false)];
        let accepts = |parameters: &[(Option<&'static str>, bool)], labels: &[Option<&str>]| {
            may_accept(parameters.iter().copied(), labels)
        };
        assert!(accepts(&gradient, &[Some("at"), None, Some("in")]));
        assert!(accepts(&gradient, &[Some("at"), None, None]), "a trailing closure has no label");
        assert!(!accepts(&gradient, &[Some("at"), Some("in")]), "an argument is missing");
        assert!(!accepts(&gradient, &[Some("at"), None, Some("of")]), "there is no such label");
        assert!(accepts(&plot, &[]) && accepts(&plot, &[None, None, None]) && !accepts(&plot, &[Some("to")]));
    }
}
