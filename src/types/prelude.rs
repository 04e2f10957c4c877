//! The standard library, entered piece by piece: a declaration is parsed when its name is first looked up, so that
//! starting does not take longer when the library grows.

use super::store::{Entry, Group, GroupId, Owner, World};
use crate::source::{SourceMap, Span};
use crate::syntax;
use crate::syntax::ast::{DeclKind, Stmt, StmtKind};
use crate::syntax::{Chunk, ChunkKind};
use hashbrown::HashMap;

/// The texts of the library: name of the file, its text, and the module that has to be imported to see it.
const FILES: &[(&str, &str, Option<&str>)] = &[
    ("prelude/core.dscript", include_str!("../../prelude/core.dscript"), None),
    ("prelude/integers.dscript", include_str!("../../prelude/integers.dscript"), None),
    ("prelude/narrow.dscript", include_str!("../../prelude/narrow.dscript"), None),
    ("prelude/sequence.dscript", include_str!("../../prelude/sequence.dscript"), None),
    ("prelude/keypath.dscript", include_str!("../../prelude/keypath.dscript"), None),
    ("prelude/collection.dscript", include_str!("../../prelude/collection.dscript"), None),
    ("prelude/operators.dscript", include_str!("../../prelude/operators.dscript"), None),
    ("prelude/numbers.dscript", include_str!("../../prelude/numbers.dscript"), None),
    ("prelude/text.dscript", include_str!("../../prelude/text.dscript"), None),
    ("prelude/string.dscript", include_str!("../../prelude/string.dscript"), None),
    ("prelude/character.dscript", include_str!("../../prelude/character.dscript"), None),
    ("prelude/format.dscript", include_str!("../../prelude/format.dscript"), None),
    ("prelude/optional.dscript", include_str!("../../prelude/optional.dscript"), None),
    ("prelude/array.dscript", include_str!("../../prelude/array.dscript"), None),
    ("prelude/slice.dscript", include_str!("../../prelude/slice.dscript"), None),
    ("prelude/dictionary.dscript", include_str!("../../prelude/dictionary.dscript"), None),
    ("prelude/set.dscript", include_str!("../../prelude/set.dscript"), None),
    ("prelude/random.dscript", include_str!("../../prelude/random.dscript"), None),
    ("prelude/range.dscript", include_str!("../../prelude/range.dscript"), None),
    ("prelude/lazy.dscript", include_str!("../../prelude/lazy.dscript"), None),
    ("prelude/complex.dscript", include_str!("../../prelude/complex.dscript"), None),
    ("prelude/result.dscript", include_str!("../../prelude/result.dscript"), None),
    ("prelude/math.dscript", include_str!("../../prelude/math.dscript"), None),
    ("prelude/differentiation.dscript", include_str!("../../prelude/differentiation.dscript"), None),
    ("prelude/simd.dscript", include_str!("../../prelude/simd.dscript"), None),
    ("prelude/tuples.dscript", include_str!("../../prelude/tuples.dscript"), None),
    ("prelude/io.dscript", include_str!("../../prelude/io.dscript"), None),
    ("prelude/glibc.dscript", include_str!("../../prelude/glibc.dscript"), Some("Glibc")),
];

/// File number of everything in the prelude.
pub(super) const PRELUDE_FILE: u32 = u32::MAX;

/// An extension, with the names of what it declares as soon as one of them was asked for.
struct Waiting {
    file: usize,
    chunk: Chunk,
    names: Option<Vec<&'static str>>,
}

/// What of the library was not entered yet.
#[derive(Default)]
pub(super) struct Prelude {
    /// First position and text of each file.
    texts: Vec<(u32, &'static str)>,
    /// Pieces by name: declarations and extensions apart.
    declarations: HashMap<String, Vec<(usize, Chunk)>>,
    extensions: HashMap<String, Vec<(usize, Chunk)>>,
    /// Extensions that add no conformance, by the name of what they extend: each waits until one of its members is asked
    /// for.
    members: HashMap<String, Vec<Waiting>>,
    /// Modules that have to be imported, with the pieces that wait for it.
    waiting: Vec<(&'static str, usize)>,
}

impl World {
    /// A world in which the library can be found.
    pub fn new(sources: &mut SourceMap) -> World {
        let mut world = World { operators: syntax::OperatorTable::standard(), ..World::default() };
        for (name, text, module) in FILES {
            let start = sources.add(name, text, true).map_or(0, |id| sources.get(id).start);
            world.prelude.texts.push((start, text));
            let file = world.prelude.texts.len() - 1;
            match module {
                Some(module) => world.prelude.waiting.push((module, file)),
                None => world.index_file(file),
            }
        }
        world
    }

    /// Makes the names of a module visible; `false` when there is no such module.
    pub(super) fn import_module(&mut self, name: &str) -> bool {
        let waiting = std::mem::take(&mut self.prelude.waiting);
        for (module, file) in waiting {
            if module == name || (module == "Glibc" && name == "Darwin") {
                self.index_file(file);
            } else {
                self.prelude.waiting.push((module, file));
            }
        }
        matches!(name, "Glibc" | "Darwin" | "Foundation" | "_Differentiation" | "TensorFlow" | "Swift")
    }

    fn index_file(&mut self, file: usize) {
        let (_, text) = self.prelude.texts[file];
        for chunk in syntax::split(text) {
            let piece = &text[chunk.range.clone()];
            if chunk.kind == ChunkKind::Extension && !adds_conformance(piece) {
                let waiting = Waiting { file, chunk, names: None };
                self.prelude.members.entry(waiting.chunk.name.clone()).or_default().push(waiting);
                continue;
            }
            let index = match chunk.kind {
                ChunkKind::Extension => &mut self.prelude.extensions,
                _ => &mut self.prelude.declarations,
            };
            index.entry(chunk.name.clone()).or_default().push((file, chunk));
        }
    }

    /// What the library declares under a name.
    pub(super) fn library_entries(&mut self, name: &str) -> Vec<Entry> {
        if let Some(pieces) = self.prelude.declarations.remove(name) {
            self.enter_pieces(pieces);
        }
        self.library.get(name).cloned().unwrap_or_default()
    }

    /// Enters the library's extensions of a type or protocol that declare a member.
    pub(super) fn load_members(&mut self, of: &str, member: &str) {
        let Some(mut waiting) = self.prelude.members.remove(of) else { return };
        let texts = &self.prelude.texts;
        let declares = |w: &mut Waiting| {
            let names = w.names.get_or_insert_with(|| declared_names(&texts[w.file].1[w.chunk.range.clone()]));
            names.contains(&member)
        };
        let now: Vec<Waiting> = waiting.extract_if(.., |w| declares(w)).collect();
        if !waiting.is_empty() {
            self.prelude.members.insert(of.to_owned(), waiting);
        }
        self.enter_pieces(now.into_iter().map(|w| (w.file, w.chunk)).collect());
    }

    /// Enters all of the library's extensions of a type or protocol.
    pub(super) fn load_all_members(&mut self, of: &str) {
        self.load_extensions(of);
        let all = self.prelude.members.remove(of).unwrap_or_default();
        self.enter_pieces(all.into_iter().map(|w| (w.file, w.chunk)).collect());
    }

    /// Enters the library's extensions of a type or protocol that say what it conforms to.
    pub(super) fn load_extensions(&mut self, name: &str) {
        if let Some(pieces) = self.prelude.extensions.remove(name) {
            self.enter_pieces(pieces);
        }
    }

    fn enter_pieces(&mut self, pieces: Vec<(usize, Chunk)>) {
        for (file, chunk) in pieces {
            let (start, text) = self.prelude.texts[file];
            let mut parsed = syntax::parse(&text[chunk.range.clone()], start + chunk.range.start as u32);
            self.diagnostics.append(&mut parsed.diagnostics);
            let mut problems = syntax::fold_file(&mut parsed.file, &self.operators);
            self.diagnostics.append(&mut problems);
            for item in &parsed.file.items {
                match &item.kind {
                    StmtKind::Decl(decl) if matches!(decl.kind, DeclKind::Import { .. }) => {}
                    StmtKind::Decl(decl) => self.declare_top(decl, PRELUDE_FILE, true),
                    _ => {}
                }
            }
        }
    }

    /// Enters members that nobody wrote, under the conditions of the group that asks for them, as if they stood at a place.
    pub(super) fn declare_synthesized(&mut self, text: &str, asks: GroupId, place: Span) {
        let Group { owner, file, .. } = self.groups[asks.0 as usize];
        if owner == Owner::Module {
            return;
        }
        let items = self.written_items(text, place);
        let requirements = self.groups[asks.0 as usize].requirements.clone();
        // Like the library's: nobody has written it, so nothing is said about places in it.
        let group = self.new_group(owner, requirements, vec![], file, true);
        for item in &items {
            if let StmtKind::Decl(decl) = &item.kind {
                self.declare_member(decl, group);
            }
        }
    }

    /// Statements and declarations that nobody wrote, as if they stood at a place.
    pub(super) fn written_items(&self, text: &str, place: Span) -> Vec<Stmt> {
        let mut parsed = syntax::parse_at(text, place);
        let _ = syntax::fold_file(&mut parsed, &self.operators);
        parsed.items
    }

    /// The names that the library declares at the top level, loaded or not.
    pub(super) fn library_names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.prelude.declarations.keys().cloned().collect();
        names.extend(self.library.keys().map(ToString::to_string));
        names.retain(|n| !n.starts_with('_'));
        names.sort();
        names
    }

    /// A function of the library by its name.
    pub(super) fn library_function(&mut self, name: &str) -> Option<super::tree::FunctionId> {
        self.library_entries(name).into_iter().find_map(|e| match e.what {
            super::store::Named::Function(f) => Some(f),
            _ => None,
        })
    }
}

/// Whether an extension says that its type conforms to something: `extension Name: …`.
fn adds_conformance(extension: &str) -> bool {
    let head = extension.split('{').next().unwrap_or_default();
    head.split(" where ").next().unwrap_or_default().contains(':')
}

/// The names that an extension declares, and perhaps a few that are declared inside of these.
fn declared_names(extension: &'static str) -> Vec<&'static str> {
    let mut names = vec![];
    for (at, _) in extension.match_indices(['f', 'v', 'i', 's', 't', 'e']) {
        if at > 0 && is_part_of_name(extension.as_bytes()[at - 1]) {
            continue;
        }
        let rest = &extension[at..];
        let word = rest.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
        let name = match word {
            "init" | "subscript" => word,
            "func" | "var" | "typealias" | "struct" | "enum" => first_name(rest[word.len()..].trim_start()),
            _ => continue,
        };
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

fn is_part_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// The name or operator at the beginning of a text.
fn first_name(text: &str) -> &str {
    let is_word = text.bytes().next().is_some_and(is_part_of_name);
    let end = text.find(|c: char| if is_word { !(c.is_alphanumeric() || c == '_') } else { c == ' ' || c == '(' });
    &text[..end.unwrap_or(text.len())]
}
