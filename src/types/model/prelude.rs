//! Prelude index: lists the declarations of the standard library that were not entered yet.

use crate::syntax::{Piece, PieceKind};
use hashbrown::HashMap;

/// The file number of all declarations of the prelude.
pub(crate) const PRELUDE_FILE: u32 = u32::MAX;

/// The declarations of the library that have not been entered yet. Each table is queried before it is changed, because
/// a change copies the tables where the prompt holds another copy of them.
#[derive(Clone, Default)]
pub(crate) struct Prelude {
    /// The declarations, by name.
    pub(crate) declarations: HashMap<&'static str, Vec<Piece<'static>>>,
    pub(crate) extensions: HashMap<&'static str, Vec<Piece<'static>>>,
    /// The extensions that add no conformance, by the name of the extended type: each extension is entered when one of
    /// its members is first looked up.
    pub(crate) members: HashMap<&'static str, Vec<Piece<'static>>>,
    /// The declarations in modules that have to be imported, with the name of the module.
    pub(crate) waiting: Vec<(&'static str, Piece<'static>)>,
}

impl Prelude {
    /// Adds a declaration to the index under its name.
    pub(crate) fn list(&mut self, piece: Piece<'static>) {
        let index = match piece.kind {
            PieceKind::Declaration => &mut self.declarations,
            PieceKind::Conformance => &mut self.extensions,
            PieceKind::Members => &mut self.members,
        };
        index.entry(piece.name).or_default().push(piece);
    }
}
