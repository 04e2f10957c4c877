//! Prelude: the standard library, entered incrementally. The tree of a declaration is decoded when its name is first
//! looked up, so the startup time does not depend on the size of the library.

use crate::source::{SourceMap, Span};
use crate::syntax;
use crate::syntax::ast::{Decl, Stmt};
use crate::syntax::{Indexed, Piece};
use crate::types::model::declaration_tables::Entry;
use crate::types::model::prelude_index;
use crate::types::model::prelude_index::{LIBRARY, PRELUDE_FILE};
use crate::types::model::queries;
use crate::types::model::type_context::TypeContext;
use crate::types::names::module_name;
use std::rc::Rc;

/// The serialized syntax trees of the library's declarations.
const TREES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/library.trees"));

/// Lists the files of the library in an empty context; they are the first files of a session.
pub(in crate::types) fn list_prelude(cx: &mut TypeContext, sources: &mut SourceMap) {
    cx.defs.operators = syntax::OperatorTable::standard();
    for file in LIBRARY.files {
        sources.add(file.name, file.text, true);
    }
}

/// Makes the names of a module visible; returns `false` if the module does not exist.
pub(crate) fn import_module(cx: &mut TypeContext, name: &str) -> bool {
    let module = if name == "Darwin" { "Glibc" } else { name };
    let declares = |(_, pieces): &Indexed| pieces.iter().find_map(|piece| piece.module.filter(|own| *own == module));
    if let Some(module) = LIBRARY.declarations.iter().find_map(declares) {
        cx.defs.prelude.import(module);
    }
    module_name::is_library_module(name)
}

/// Returns the entries of the library under a name, and enters them if necessary.
pub(crate) fn library_entries(cx: &mut TypeContext, name: &str) -> Vec<Entry> {
    enter(cx, prelude_index::declaring(name));
    cx.defs.library.get(name).cloned().unwrap_or_default()
}

/// Enters the library's extensions of a type or protocol that declare a given member.
pub(crate) fn load_members(cx: &mut TypeContext, of: &str, member: &str) {
    enter(cx, prelude_index::declaring_member(of, member));
}

/// Enters all extensions of the library for a type or protocol.
pub(crate) fn load_all_members(cx: &mut TypeContext, of: &str) {
    load_extensions(cx, of);
    enter(cx, &prelude_index::adding_members(of));
}

/// Enters the library's extensions of a type or protocol that declare conformances.
pub(crate) fn load_extensions(cx: &mut TypeContext, name: &str) {
    enter(cx, prelude_index::conforming(name));
}

/// Enters the pieces that were not entered yet. All pieces are marked first, because entering a piece may look up names
/// in other pieces.
fn enter(cx: &mut TypeContext, pieces: &[Piece]) {
    let waiting = cx.defs.prelude.waiting(pieces);
    if waiting.is_empty() {
        return;
    }
    cx.defs.prelude.mark(&waiting);
    for piece in waiting {
        let tree = &TREES[piece.start as usize..piece.end as usize];
        let declaration: Rc<Decl> = rmp_serde::from_slice(tree).expect("a tree built with this code");
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
    let is_visible = |(_, pieces): &&Indexed| pieces.iter().any(|piece| piece.module.is_none());
    let mut names: Vec<String> =
        LIBRARY.declarations.iter().filter(is_visible).map(|(name, _)| (*name).to_owned()).collect();
    names.extend(cx.defs.library.keys().map(ToString::to_string));
    names.retain(|n| !n.starts_with('_'));
    names.sort();
    names.dedup();
    names
}

/// Returns a function of the library by its name.
pub(crate) fn library_function(
    cx: &mut TypeContext,
    name: &str,
) -> Option<crate::types::model::typed_tree::FunctionId> {
    library_entries(cx, name).into_iter().find_map(|e| match e.what {
        crate::types::model::declaration_tables::Named::Function(f) => Some(f),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::Library;

    #[test]
    fn every_declaration_of_the_library_can_be_read() {
        let Library { files, declarations, conformances, members } = LIBRARY;
        assert!(files.len() > 20 && declarations.len() > 200 && conformances.len() > 20);
        let of_types = members.iter().flat_map(|(_, members)| *members);
        for (name, pieces) in declarations.iter().chain(conformances).chain(of_types) {
            for piece in *pieces {
                let tree: Result<Decl, _> = rmp_serde::from_slice(&TREES[piece.start as usize..piece.end as usize]);
                assert!(tree.is_ok(), "{name}: {tree:?}");
            }
        }
    }

    #[test]
    fn the_tables_of_the_library_are_sorted() {
        assert!(LIBRARY.declarations.is_sorted_by_key(|(name, _)| name));
        assert!(LIBRARY.conformances.is_sorted_by_key(|(name, _)| name));
        assert!(LIBRARY.members.is_sorted_by_key(|(name, _)| name));
        assert!(LIBRARY.members.iter().all(|(_, members)| members.is_sorted_by_key(|(name, _)| name)));
    }
}
