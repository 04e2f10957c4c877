//! Prelude index: the declarations of the standard library that were not entered yet.

use crate::syntax::{Piece, PieceKind};
use hashbrown::HashMap;

/// File number of everything in the prelude.
pub(crate) const PRELUDE_FILE: u32 = u32::MAX;

/// What of the library was not entered yet. It is looked at before it is changed: to change it copies it, where the prompt
/// keeps another copy.
#[derive(Clone, Default)]
pub(crate) struct Prelude {
    /// Pieces by name: declarations and extensions apart.
    pub(crate) declarations: HashMap<&'static str, Vec<Piece<'static>>>,
    pub(crate) extensions: HashMap<&'static str, Vec<Piece<'static>>>,
    /// Extensions that add no conformance, by the name of what they extend: each waits until one of its members is asked
    /// for.
    pub(crate) members: HashMap<&'static str, Vec<Piece<'static>>>,
    /// Pieces of modules that have to be imported.
    pub(crate) waiting: Vec<(&'static str, Piece<'static>)>,
}

impl Prelude {
    /// Lists a piece under its name.
    pub(crate) fn list(&mut self, piece: Piece<'static>) {
        let index = match piece.kind {
            PieceKind::Declaration => &mut self.declarations,
            PieceKind::Conformance => &mut self.extensions,
            PieceKind::Members => &mut self.members,
        };
        index.entry(piece.name).or_default().push(piece);
    }
}
