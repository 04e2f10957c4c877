//! Library catalog: the public declarations of the library with their documentation, extracted from its source texts.
//!
//! The prelude is formatted by `dscript fmt`, so the members of a type are indented by one step.

use crate::session::query::inspection::{
    declaration_at, first_paragraph, is_part_of_name, primitive_at, without_attributes, without_internal_protocols,
};
use crate::session::query::library_topics::topic_of;
use crate::source::SourceMap;
use hashbrown::{HashMap, HashSet};

/// The number of blanks in one step of indentation.
const STEP: usize = 4;

/// The kind of a declaration of the library.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum EntryKind {
    /// A struct, class or enum.
    Type,
    /// A protocol.
    Protocol,
    /// A type alias or an associated type.
    Alias,
    /// A case of an enum.
    Case,
    /// A variable or a property.
    Property,
    /// An initializer.
    Initializer,
    /// A function or a method.
    Function,
    /// A subscript.
    Subscript,
}

/// An entry of the catalog: a declaration of the library.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CatalogEntry {
    /// The type or protocol of which the declaration is a member.
    pub owner: Option<String>,
    /// The declared name.
    pub name: String,
    /// The declared name with argument labels: `append(_:)`.
    pub label: String,
    /// The source text of the declaration, on one line.
    pub declaration: String,
    /// The documentation of the declaration.
    pub documentation: String,
    /// The kind of the declaration.
    pub kind: EntryKind,
    /// Whether the declaration is a static member.
    pub is_static: bool,
    /// The index of the declaration's topic in [`TOPICS`](super::library_topics::TOPICS).
    pub topic: usize,
}

impl CatalogEntry {
    /// Returns the first sentence of the documentation.
    pub fn summary(&self) -> String {
        first_paragraph(&self.documentation)
    }

    /// Returns the label with the type to which it belongs: `Array.append(_:)`.
    pub fn full_label(&self) -> String {
        match &self.owner {
            Some(owner) => format!("{owner}.{}", self.label),
            None => self.label.clone(),
        }
    }
}

/// All public declarations of the library.
#[derive(Clone, Default, Debug)]
pub struct Catalog {
    /// The declarations, in the order of the files.
    pub entries: Vec<CatalogEntry>,
    /// The protocols that each type or protocol names in its declarations.
    conformances: HashMap<String, Vec<String>>,
}

impl Catalog {
    /// Reads the declarations of the library.
    pub(crate) fn of(sources: &SourceMap) -> Catalog {
        let mut catalog = Catalog::default();
        for source in sources.prelude() {
            let file = source.name.rsplit('/').next().and_then(|name| name.split('.').next()).unwrap_or_default();
            catalog.read(&source.text, topic_of(file));
        }
        catalog.entries.retain(|entry| !entry.documentation.starts_with("An overload"));
        let mut known = HashSet::new();
        // Overloads with equal declarations are listed once, preferably with documentation.
        let mut documented: Vec<bool> = catalog.entries.iter().map(|entry| entry.documentation.is_empty()).collect();
        let mut order: Vec<usize> = (0..catalog.entries.len()).collect();
        order.sort_by_key(|k| documented[*k]);
        for k in order {
            let CatalogEntry { owner, label, .. } = &catalog.entries[k];
            documented[k] = known.insert((owner.clone(), label.clone()));
        }
        let mut is_kept = documented.into_iter();
        catalog.entries.retain(|_| is_kept.next().unwrap_or(false));
        catalog
    }

    /// Returns the members that a type or protocol declares.
    pub fn members<'c>(&'c self, owner: &'c str) -> impl Iterator<Item = &'c CatalogEntry> {
        self.entries.iter().filter(move |entry| entry.owner.as_deref() == Some(owner))
    }

    /// Returns the protocols to which a type conforms, the nearest first.
    pub fn protocols(&self, of: &str) -> Vec<String> {
        let mut found: Vec<String> = vec![];
        let mut open = vec![of.to_owned()];
        while let Some(name) = (!open.is_empty()).then(|| open.remove(0)) {
            for protocol in self.conformances.get(&name).into_iter().flatten() {
                if !found.contains(protocol) && protocol != of {
                    found.push(protocol.clone());
                    open.push(protocol.clone());
                }
            }
        }
        found
    }

    /// Returns the declaration of a type or protocol.
    pub fn type_named(&self, name: &str) -> Option<&CatalogEntry> {
        let is_type = |entry: &&CatalogEntry| matches!(entry.kind, EntryKind::Type | EntryKind::Protocol);
        self.entries.iter().filter(is_type).find(|entry| entry.full_label() == name)
    }

    fn read(&mut self, text: &str, topic: usize) {
        let mut owners: Vec<(usize, String)> = vec![];
        let mut comment: Vec<&str> = vec![];
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            let start = at;
            at += line.len();
            let trimmed = line.trim();
            if let Some(documentation) = trimmed.strip_prefix("///") {
                comment.push(documentation.strip_prefix(' ').unwrap_or(documentation));
                continue;
            }
            if trimmed.is_empty() || trimmed.starts_with("//") {
                comment.clear();
                continue;
            }
            // The line has only attributes, of the declaration on the next line.
            if trimmed.starts_with('@') && without_attributes(trimmed).is_empty() {
                continue;
            }
            let indent = line.len() - line.trim_start().len();
            while owners.last().is_some_and(|(outer, _)| *outer >= indent) {
                owners.pop();
            }
            let documentation = std::mem::take(&mut comment).join("\n");
            let is_member = owners.last().map_or(indent == 0, |(outer, _)| indent == outer + STEP);
            if !is_member {
                continue;
            }
            let declaration = declaration_at(&text[start..]);
            let Some(head) = Head::of(&declaration) else { continue };
            let owner = owners.last().map(|(_, name)| name.clone());
            if head.opens && !trimmed.ends_with('}') {
                let inside = owner.as_ref().map_or(head.name.to_owned(), |owner| format!("{owner}.{}", head.name));
                owners.push((indent, inside));
            }
            if let Some(protocols) = head.protocols(&declaration) {
                let name = owner.as_ref().map_or(head.name.to_owned(), |owner| format!("{owner}.{}", head.name));
                self.conformances.entry(name).or_default().extend(protocols);
            }
            let is_internal = |name: &str| name.split('.').any(|part| part.starts_with('_'));
            let Some(kind) = head.kind.filter(|_| !head.is_private) else { continue };
            let has_internal_label = head
                .label(&declaration)
                .split_once('(')
                .is_some_and(|(_, labels)| labels.starts_with('_') && !labels.starts_with("_:"));
            if is_internal(head.name) || has_internal_label || owner.as_deref().is_some_and(is_internal) {
                continue;
            }
            let documentation = match documentation.is_empty() {
                true => primitive_at(&text[start..]).map_or(String::new(), |primitive| primitive.doc.to_owned()),
                false => documentation,
            };
            self.entries.push(CatalogEntry {
                owner,
                name: head.name.to_owned(),
                label: head.label(&declaration),
                documentation,
                kind,
                is_static: head.is_static,
                topic,
                declaration: without_internal_protocols(&declaration),
            });
        }
    }
}

/// The beginning of a declaration.
struct Head<'t> {
    name: &'t str,
    /// The kind of the declaration; `None` for an extension.
    kind: Option<EntryKind>,
    is_static: bool,
    is_private: bool,
    /// Whether the following lines are members of the declaration.
    opens: bool,
}

impl<'t> Head<'t> {
    fn of(declaration: &'t str) -> Option<Head<'t>> {
        let (mut is_static, mut is_private) = (false, false);
        let mut rest = declaration;
        loop {
            let end = rest.find(|c: char| !is_part_of_name(c)).unwrap_or(rest.len());
            let (word, after) = rest.split_at(end);
            let (kind, opens) = match word {
                "static" => {
                    (is_static, rest) = (true, after.trim_start());
                    continue;
                }
                "private" | "fileprivate" => {
                    (is_private, rest) = (true, after.trim_start());
                    continue;
                }
                "mutating" | "nonmutating" | "prefix" | "postfix" | "infix" | "indirect" | "final" | "lazy"
                | "override" | "convenience" | "required" | "public" => {
                    rest = after.trim_start();
                    continue;
                }
                "struct" | "class" | "enum" => (Some(EntryKind::Type), true),
                "protocol" => (Some(EntryKind::Protocol), true),
                "extension" => (None, true),
                "func" => (Some(EntryKind::Function), false),
                "var" | "let" => (Some(EntryKind::Property), false),
                "case" => (Some(EntryKind::Case), false),
                "typealias" | "associatedtype" => (Some(EntryKind::Alias), false),
                "init" => {
                    return Some(Head {
                        name: "init",
                        kind: Some(EntryKind::Initializer),
                        is_static,
                        is_private,
                        opens: false,
                    });
                }
                "subscript" => {
                    return Some(Head {
                        name: "subscript",
                        kind: Some(EntryKind::Subscript),
                        is_static,
                        is_private,
                        opens: false,
                    });
                }
                _ => return None,
            };
            let after = after.trim_start();
            let end = after.find(|c: char| !(is_part_of_name(c) || kind.is_none() && c == '.')).unwrap_or(after.len());
            // An operator has no name in letters.
            return (end > 0).then(|| Head { name: &after[..end], kind, is_static, is_private, opens });
        }
    }

    /// Returns the name with the argument labels.
    fn label(&self, declaration: &str) -> String {
        let has_labels = matches!(
            self.kind,
            Some(EntryKind::Function | EntryKind::Initializer | EntryKind::Subscript | EntryKind::Case)
        );
        let Some(parameters) = parameters(declaration).filter(|_| has_labels) else { return self.name.to_owned() };
        let label = |parameter: &str| {
            let before = parameter.split(':').next().unwrap_or_default().trim();
            let words: Vec<&str> = before.split_whitespace().filter(|word| !word.starts_with('@')).collect();
            words.first().map_or(String::new(), |first| format!("{first}:"))
        };
        // A parameter whose default argument is a source location is never passed.
        let is_passed = |parameter: &&String| !parameter.contains("= #");
        let labels: Vec<String> = parameters.iter().filter(is_passed).map(|parameter| label(parameter)).collect();
        match self.kind {
            Some(EntryKind::Subscript) if labels.iter().all(|label| labels.len() == 1 && !label.is_empty()) => {
                "subscript".to_owned()
            }
            _ => format!("{}({})", self.name, labels.concat()),
        }
    }

    /// Returns the protocols after the colon of the declaration of a type or an extension.
    fn protocols(&self, declaration: &str) -> Option<Vec<String>> {
        let is_type = matches!(self.kind, None | Some(EntryKind::Type | EntryKind::Protocol));
        let head = declaration.split(" where ").next()?.split('{').next()?;
        let mut depth = 0;
        let colon = head.find(|c| {
            depth += i32::from(c == '<') - i32::from(c == '>');
            c == ':' && depth == 0
        })?;
        let names = head[colon + 1..].split([',', '&']).map(|name| name.trim().trim_start_matches("@memberwise "));
        is_type.then(|| names.map(|name| name.split('<').next().unwrap_or(name).trim().to_owned()).collect())
    }
}

/// Returns the parameters in the parentheses after the name of a declaration.
fn parameters(declaration: &str) -> Option<Vec<String>> {
    let open = declaration.find('(')?;
    let mut depth = 0;
    let mut parts = vec![String::new()];
    let mut is_text = false;
    for c in declaration[open..].chars() {
        is_text ^= c == '"';
        if is_text {
            parts.last_mut()?.push(c);
            continue;
        }
        match c {
            '(' | '[' | '<' => depth += 1,
            ')' | ']' => depth -= 1,
            '>' if !parts.last().is_some_and(|part| part.ends_with('-')) => depth -= 1,
            _ => {}
        }
        match c {
            ')' if depth == 0 => break,
            '(' if depth == 1 && parts.len() == 1 && parts[0].is_empty() => {}
            ',' if depth == 1 => parts.push(String::new()),
            c => parts.last_mut()?.push(c),
        }
    }
    parts.retain(|part| !part.trim().is_empty());
    Some(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Catalog {
        let mut catalog = Catalog::default();
        catalog.read(text, 0);
        catalog
    }

    #[test]
    fn members_belong_to_their_types() {
        let text = "/// A list.\n@primitive struct List<T>: Sequence {}\n\nextension List where T: Equatable {\n    \
                    /// Adds it. And more.\n    mutating func add(_ x: T, at n: Int = 0) {\n        let y = x\n    }\n    \
                    var count: Int { 0 }\n    static func make() -> List<T> { List() }\n}\n\nfunc _hidden() {}\n";
        let catalog = read(text);
        let labels: Vec<String> = catalog.entries.iter().map(CatalogEntry::full_label).collect();
        assert_eq!(labels, ["List", "List.add(_:at:)", "List.count", "List.make()"]);
        assert_eq!(catalog.entries[1].summary(), "Adds it.");
        assert_eq!(catalog.protocols("List"), ["Sequence"]);
        assert!(catalog.entries[3].is_static);
    }

    #[test]
    fn labels_are_the_first_words_of_parameters() {
        let text = "func newton(_ f: @differentiable (Double, Double) -> Double, from start: Double, steps: Int = 10) -> Trace {}\n";
        assert_eq!(read(text).entries[0].label, "newton(_:from:steps:)");
        assert_eq!(read("func pair<T: P, U>(a: [T: U], _ b: (T, U)) {}\n").entries[0].label, "pair(a:_:)");
    }
}
