//! Prelude: the standard library, entered incrementally. The tree of a declaration is decoded when its name is first
//! looked up, so the startup time does not depend on the size of the library.

use crate::source::Span;
use crate::syntax;
use crate::syntax::ast::{Decl, Name, Param, Stmt};
use crate::syntax::{Indexed, Piece, PieceKind, is_library_module, may_accept};
use crate::types::model::declaration_tables::{Entry, Named, Owner};
use crate::types::model::prelude_index;
use crate::types::model::prelude_index::{LIBRARY, PRELUDE_FILE};
use crate::types::model::queries;
use crate::types::model::ty::NominalId;
use crate::types::model::type_context::TypeContext;
use std::rc::Rc;

/// The serialized syntax trees of the library's declarations.
const TREES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/library.trees"));

/// Makes the names of a module visible; returns `false` if the module does not exist.
pub(crate) fn import_module(cx: &mut TypeContext, name: &str) -> bool {
    // Foundation and TensorFlow re-export the functions of the C library.
    let modules: &[&str] = match name {
        "CoreFoundation" | "CoreGraphics" | "Darwin" | "Foundation" | "FoundationEssentials" => &["Glibc"],
        // The module 'Tensor' is the part of TensorFlow that does not compute with tensors.
        "Tensor" | "TensorFlow" => &["Glibc", "TensorFlow"],
        "CollectionsDifferentiable"
        | "DequeModule"
        | "HeapModule"
        | "OrderedCollections"
        | "OrderedCollectionsDifferentiable" => &["Collections"],
        "ComplexModule"
        | "ComplexModuleDifferentiable"
        | "IntegerUtilities"
        | "NumericsDifferentiable"
        | "RealModule"
        | "RealModuleDifferentiable" => &["Numerics"],
        _ => &[name],
    };
    for module in modules {
        let declares = |(_, pieces): &Indexed| pieces.iter().find_map(|piece| piece.module.filter(|own| own == module));
        if let Some(module) = LIBRARY.declarations.iter().find_map(declares) {
            cx.defs.prelude.import(module);
        }
    }
    is_library_module(name) || name == "Tensor"
}

/// Returns the advice for an unknown name that a module of the library declares, if the module is not imported.
pub(crate) fn import_advice(cx: &TypeContext, name: &str) -> Option<String> {
    let module = prelude_index::declaring(name).iter().find_map(|piece| piece.module)?;
    let is_hidden = !name.starts_with('_') && !cx.defs.prelude.has_imported(module);
    is_hidden.then(|| format!("it is declared in a module: write 'import {module}' first"))
}

/// Returns the entries of the library under a name, and enters them if necessary.
pub(crate) fn library_entries(cx: &mut TypeContext, name: &str) -> Vec<Entry> {
    enter(cx, prelude_index::declaring(name));
    entered(cx, name)
}

/// Returns the entries under a name that were entered.
fn entered(cx: &TypeContext, name: &str) -> Vec<Entry> {
    cx.defs.library.get(name).cloned().unwrap_or_default()
}

/// Returns the entries of the library under a name that are not functions.
pub(crate) fn library_types(cx: &mut TypeContext, name: &str) -> Vec<Entry> {
    let others: Vec<Piece> =
        prelude_index::declaring(name).iter().filter(|piece| piece.kind == PieceKind::Other).copied().collect();
    enter(cx, &others);
    let mut entries = entered(cx, name);
    entries.retain(|entry| !matches!(entry.what, Named::Function(_)));
    entries
}

/// Returns the functions of the library under a name that may accept arguments with the given labels, or all functions
/// if none of them may.
pub(crate) fn library_functions(cx: &mut TypeContext, name: &str, labels: &[Option<&str>]) -> Vec<Entry> {
    let is_useful = |piece: &Piece| match piece.kind {
        PieceKind::Function(parameters) => may_accept(parameters.iter().map(|p| (p.label, p.is_required)), labels),
        PieceKind::Other => true,
    };
    let pieces: Vec<Piece> = prelude_index::declaring(name).iter().copied().filter(is_useful).collect();
    if pieces.iter().all(|piece| piece.kind == PieceKind::Other) {
        return library_entries(cx, name);
    }
    enter(cx, &pieces);
    let mut entries = entered(cx, name);
    entries.retain(|entry| {
        let Named::Function(f) = entry.what else { return false };
        let parameters = cx.defs.function_data(f).ast_params.iter();
        let required = |p: &Param| p.default.is_none() && !p.variadic;
        may_accept(parameters.map(|p| (p.label.as_ref().map(|label| &*label.name), required(p))), labels)
    });
    entries
}

/// Enters the library's extensions of a type or protocol that declare a given member.
pub(crate) fn load_members(cx: &mut TypeContext, of: &str, member: &str) {
    enter(cx, prelude_index::declaring_member(of, member));
}

/// Enters the library's extensions of a nominal type that declare a member with this name.
pub(crate) fn load_own_members(cx: &mut TypeContext, n: NominalId, member: &str) {
    if cx.defs.nominal_data(n).is_prelude {
        let of = qualified_name(cx, n);
        load_members(cx, &of, member);
    }
}

/// Enters all extensions of the library for a nominal type.
pub(crate) fn load_all_own_members(cx: &mut TypeContext, n: NominalId) {
    let of = qualified_name(cx, n);
    load_all_members(cx, &of);
}

/// Returns the name of a nominal type as the index lists it: after the names of the types in which it is nested.
fn qualified_name(cx: &TypeContext, n: NominalId) -> Name {
    let data = cx.defs.nominal_data(n);
    match data.parent {
        Owner::Nominal(outer) => format!("{}.{}", qualified_name(cx, outer), data.name).into(),
        Owner::Protocol(_) | Owner::Module => data.name.clone(),
    }
}

/// Enters all extensions of the library for a type or protocol.
pub(crate) fn load_all_members(cx: &mut TypeContext, of: &str) {
    load_extensions(cx, of);
    enter(cx, &prelude_index::adding_members(of));
}

/// Enters the library's extensions of a nominal type that declare conformances.
pub(crate) fn load_conformances(cx: &mut TypeContext, n: NominalId) {
    let data = cx.defs.nominal_data(n);
    if data.is_prelude || data.parent == Owner::Module {
        let of = qualified_name(cx, n);
        load_extensions(cx, &of);
    }
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
        let declaration: Rc<Decl> = postcard::from_bytes(tree).expect("a tree built with this code");
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
        Named::Function(f) => Some(f),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::Library;

    #[test]
    fn every_declaration_of_the_library_can_be_read() {
        let Library { files, declarations, conformances, protocols, members, checksum: _ } = LIBRARY;
        assert!(files.len() > 20 && declarations.len() > 200 && conformances.len() > 20 && protocols.len() > 20);
        let of_types = members.iter().flat_map(|(_, members)| *members);
        for (name, pieces) in declarations.iter().chain(conformances).chain(of_types) {
            for piece in *pieces {
                let tree: Result<Decl, _> = postcard::from_bytes(&TREES[piece.start as usize..piece.end as usize]);
                assert!(tree.is_ok(), "{name}: {tree:?}");
            }
        }
    }

    #[test]
    fn the_tables_of_the_library_are_sorted() {
        assert!(LIBRARY.declarations.is_sorted_by_key(|(name, _)| name));
        assert!(LIBRARY.conformances.is_sorted_by_key(|(name, _)| name));
        assert!(LIBRARY.protocols.is_sorted_by_key(|(name, _)| name));
        assert!(LIBRARY.protocols.iter().all(|(_, protocols)| protocols.is_sorted()));
        assert!(LIBRARY.members.is_sorted_by_key(|(name, _)| name));
        assert!(LIBRARY.members.iter().all(|(_, members)| members.is_sorted_by_key(|(name, _)| name)));
    }
}
