//! Prelude index: the declarations of the standard library, and the record of the entered declarations.

use crate::syntax::{Indexed, Library, LibraryFile, Parameter, Piece, PieceKind, listed};
use hashbrown::HashSet;

/// The file number of all declarations of the prelude.
pub(crate) const PRELUDE_FILE: u32 = u32::MAX;

include!(concat!(env!("OUT_DIR"), "/library_index.rs"));

/// The state of the library in a session.
#[derive(Clone, Default)]
pub(crate) struct Prelude {
    /// The pieces that were entered, by the starts of their trees.
    entered: HashSet<u32>,
    /// The modules that were imported.
    modules: Vec<&'static str>,
}

impl Prelude {
    /// Makes the declarations of a module visible.
    pub(crate) fn import(&mut self, module: &'static str) {
        self.modules.push(module);
    }

    /// Returns the visible pieces that are not entered yet. A caller marks the pieces with [`Prelude::mark`] and then
    /// enters them. If there are none, the caller does not change the state, because a change copies the state where
    /// the prompt holds another copy.
    pub(crate) fn waiting(&self, pieces: &[Piece]) -> Vec<Piece> {
        let is_visible = |piece: &Piece| piece.module.is_none_or(|module| self.modules.contains(&module));
        pieces.iter().filter(|piece| is_visible(piece) && !self.entered.contains(&piece.start)).copied().collect()
    }

    /// Marks pieces as entered.
    pub(crate) fn mark(&mut self, pieces: &[Piece]) {
        self.entered.extend(pieces.iter().map(|piece| piece.start));
    }
}

/// Returns the pieces that declare a name at the top level.
pub(crate) fn declaring(name: &str) -> &'static [Piece] {
    listed(LIBRARY.declarations, name).unwrap_or_default()
}

/// Returns the extensions of a type or protocol that declare conformances.
pub(crate) fn conforming(of: &str) -> &'static [Piece] {
    listed(LIBRARY.conformances, of).unwrap_or_default()
}

/// Returns the extensions of a type or protocol that declare a member.
pub(crate) fn declaring_member(of: &str, member: &str) -> &'static [Piece] {
    listed(LIBRARY.members, of).and_then(|members| listed(members, member)).unwrap_or_default()
}

/// Returns the extensions of a type or protocol that only add members, in the order of the files.
pub(crate) fn adding_members(of: &str) -> Vec<Piece> {
    let members: &[Indexed] = listed(LIBRARY.members, of).unwrap_or_default();
    let mut all: Vec<Piece> = members.iter().flat_map(|(_, pieces)| *pieces).copied().collect();
    all.sort_unstable_by_key(|piece| piece.start);
    all.dedup_by_key(|piece| piece.start);
    all
}
