//! Prelude: the standard library, entered incrementally. The tree of a declaration is decoded when its name is first
//! looked up, so the startup time does not depend on the size of the library.

use crate::source::{SourceMap, Span};
use crate::syntax;
use crate::syntax::ast::{Decl, Stmt};
use crate::syntax::{Library, Piece};
use crate::types::model::context::TypeContext;
use crate::types::model::prelude::PRELUDE_FILE;
use crate::types::model::queries;
use crate::types::model::tables::Entry;
use crate::types::names::module_name;
use std::rc::Rc;

/// The serialized syntax trees of the library's declarations.
const TREES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/library.trees"));
/// The serialized index of [`TREES`].
const INDEX: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/library.index"));

/// Lists the declarations of the library in an empty type context; the files of the library are the first files of a
/// session.
pub(in crate::types) fn list_prelude(cx: &mut TypeContext, sources: &mut SourceMap) {
    cx.defs.operators = syntax::OperatorTable::standard();
    let library: Library<'static> = rmp_serde::from_slice(INDEX).expect("an index built with this code");
    for file in &library.files {
        sources.add(file.name, file.text, true);
    }
    for piece in library.pieces {
        match library.files.get(piece.file as usize).and_then(|file| file.module) {
            Some(module) => cx.defs.prelude.waiting.push((module, piece)),
            None => cx.defs.prelude.list(piece),
        }
    }
}

/// Makes the names of a module visible; returns `false` if there is no such module.
pub(crate) fn import_module(cx: &mut TypeContext, name: &str) -> bool {
    let belongs = |module: &str| module == name || (module == "Glibc" && name == "Darwin");
    let pieces: Vec<_> = cx.defs.prelude.waiting.extract_if(.., |(module, _)| belongs(module)).collect();
    pieces.into_iter().for_each(|(_, piece)| cx.defs.prelude.list(piece));
    module_name::is_library_module(name)
}

/// Returns the entries of the library under a name, which are entered now if they were not entered before.
pub(crate) fn library_entries(cx: &mut TypeContext, name: &str) -> Vec<Entry> {
    if cx.defs.prelude.declarations.contains_key(name)
        && let Some(pieces) = cx.defs.prelude.declarations.remove(name)
    {
        enter_pieces(cx, pieces);
    }
    cx.defs.library.get(name).cloned().unwrap_or_default()
}

/// Enters the library's extensions of a type or protocol that declare a given member.
pub(crate) fn load_members(cx: &mut TypeContext, of: &str, member: &str) {
    let declares = |piece: &Piece<'static>| piece.members.contains(&member);
    if cx.defs.prelude.members.get(of).is_some_and(|waiting| waiting.iter().any(declares))
        && let Some(waiting) = cx.defs.prelude.members.get_mut(of)
    {
        let now = waiting.extract_if(.., |piece| declares(piece)).collect();
        enter_pieces(cx, now);
    }
}

/// Enters all extensions of the library for a type or protocol.
pub(crate) fn load_all_members(cx: &mut TypeContext, of: &str) {
    load_extensions(cx, of);
    if cx.defs.prelude.members.contains_key(of)
        && let Some(all) = cx.defs.prelude.members.remove(of)
    {
        enter_pieces(cx, all);
    }
}

/// Enters the library's extensions of a type or protocol that declare conformances.
pub(crate) fn load_extensions(cx: &mut TypeContext, name: &str) {
    if cx.defs.prelude.extensions.contains_key(name)
        && let Some(pieces) = cx.defs.prelude.extensions.remove(name)
    {
        enter_pieces(cx, pieces);
    }
}

fn enter_pieces(cx: &mut TypeContext, pieces: Vec<Piece<'static>>) {
    for piece in pieces {
        let (from, to) = (piece.tree.0 as usize, piece.tree.1 as usize);
        let declaration: Rc<Decl> = rmp_serde::from_slice(&TREES[from..to]).expect("a tree built with this code");
        queries::declare_top(cx, &declaration, PRELUDE_FILE, true);
    }
}

/// Parses synthesized statements and declarations, with `place` as the source location of their tokens.
pub(crate) fn written_items(cx: &TypeContext, text: &str, place: Span) -> Vec<Stmt> {
    let mut parsed = syntax::parse_at(text, place);
    let _ = syntax::fold_file(&mut parsed, &cx.defs.operators);
    parsed.items
}

/// Returns the names that the library declares at the top level, whether they were entered or not.
pub(crate) fn library_names(cx: &TypeContext) -> Vec<String> {
    let mut names: Vec<String> = cx.defs.prelude.declarations.keys().map(ToString::to_string).collect();
    names.extend(cx.defs.library.keys().map(ToString::to_string));
    names.retain(|n| !n.starts_with('_'));
    names.sort();
    names
}

/// Returns a function of the library by its name.
pub(crate) fn library_function(cx: &mut TypeContext, name: &str) -> Option<crate::types::model::tree::FunctionId> {
    library_entries(cx, name).into_iter().find_map(|e| match e.what {
        crate::types::model::tables::Named::Function(f) => Some(f),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_declaration_of_the_library_can_be_read() {
        let library: Library<'_> = rmp_serde::from_slice(INDEX).unwrap();
        assert!(library.files.len() > 20 && library.pieces.len() > 200);
        for piece in &library.pieces {
            assert!((piece.file as usize) < library.files.len(), "{piece:?}");
            let tree: Result<Decl, _> = rmp_serde::from_slice(&TREES[piece.tree.0 as usize..piece.tree.1 as usize]);
            assert!(tree.is_ok(), "{piece:?}: {tree:?}");
        }
    }
}
