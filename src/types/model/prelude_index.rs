//! Prelude index: the declarations of the standard library, and the record of the entered declarations.

use crate::source::LibraryFile;
use crate::syntax::{Indexed, Library, Parameter, Piece, PieceKind, listed};
use hashbrown::{Equivalent, HashMap, HashSet};
use std::cell::RefCell;

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

    /// Whether the declarations of a module are visible.
    pub(crate) fn has_imported(&self, module: &str) -> bool {
        self.modules.contains(&module)
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

/// Returns the checksum of the library's texts.
pub(crate) fn checksum() -> u32 {
    LIBRARY.checksum
}

/// Returns the pieces that declare a name at the top level.
pub(crate) fn declaring(name: &str) -> &'static [Piece] {
    listed(LIBRARY.declarations, name).unwrap_or_default()
}

/// Returns the extensions of a type or protocol that declare conformances.
pub(crate) fn conforming(of: &str) -> &'static [Piece] {
    found_before(Request { of, member: None }, || listed(LIBRARY.conformances, of))
}

/// Whether the library may declare that one of its types conforms to one of its protocols.
pub(crate) fn may_conform(of: &str, protocol: &str) -> bool {
    listed(LIBRARY.protocols, of).is_none_or(|protocols| protocols.binary_search(&protocol).is_ok())
}

/// Returns the extensions of a type or protocol that declare a member.
pub(crate) fn declaring_member(of: &str, member: &str) -> &'static [Piece] {
    let search = || listed(LIBRARY.members, of).and_then(|members| listed(members, member));
    found_before(Request { of, member: Some(member) }, search)
}

/// A search for the extensions of a type or protocol: those with a member, or those with conformances.
#[derive(Hash)]
struct Request<'a> {
    of: &'a str,
    member: Option<&'a str>,
}

/// The extensions that were found, by type or protocol and member.
type Found = HashMap<(Box<str>, Option<Box<str>>), &'static [Piece]>;

impl Equivalent<(Box<str>, Option<Box<str>>)> for Request<'_> {
    fn equivalent(&self, (of, member): &(Box<str>, Option<Box<str>>)) -> bool {
        *self.of == **of && self.member == member.as_deref()
    }
}

/// The maximum number of searches whose results are stored.
const MAX_FOUND: usize = 1 << 13;

thread_local! {
    static FOUND: RefCell<Found> = RefCell::default();
}

/// Returns the result of a search of the index, which is performed once for each request: the same few members are
/// looked up for every expression.
fn found_before(request: Request, search: impl FnOnce() -> Option<&'static [Piece]>) -> &'static [Piece] {
    let stored = FOUND.try_with(|found| found.try_borrow().ok()?.get(&request).copied()).ok().flatten();
    if let Some(pieces) = stored {
        return pieces;
    }
    let pieces = search().unwrap_or_default();
    let store = |found: &RefCell<Found>| {
        let Ok(mut found) = found.try_borrow_mut() else { return };
        if found.len() == MAX_FOUND {
            found.clear();
        }
        found.insert((request.of.into(), request.member.map(Into::into)), pieces);
    };
    // Without the store, at the end of the thread, the index is searched again.
    let _ = FOUND.try_with(store);
    pieces
}

/// Returns the extensions of a type or protocol that only add members, in the order of the files.
pub(crate) fn adding_members(of: &str) -> Vec<Piece> {
    let members: &[Indexed] = listed(LIBRARY.members, of).unwrap_or_default();
    let mut all: Vec<Piece> = members.iter().flat_map(|(_, pieces)| *pieces).copied().collect();
    all.sort_unstable_by_key(|piece| piece.start);
    all.dedup_by_key(|piece| piece.start);
    all
}
