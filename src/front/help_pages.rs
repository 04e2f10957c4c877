//! Help pages: the pages of codes, names and topics of the library.

use crate::diagnostic::{CODES, Code};
use crate::front::language_pages;
use crate::session::{Catalog, CatalogEntry, EntryKind, Session, TOPICS, Topic, rank_of_member};
use unicode_width::UnicodeWidthStr;

/// The maximum number of overloads of a name that are explained.
const MAX_OVERLOADS: usize = 8;

/// The width of the lists of names.
const WIDTH: usize = 100;

/// The maximum width of the names before their descriptions.
const MAX_NAME_WIDTH: usize = 44;

/// Parses a diagnostic code: `E0209`, `e209` or `209`.
pub(super) fn code(word: &str) -> Result<Code, String> {
    let digits = word.trim_start_matches(['E', 'e', 'W', 'w']);
    let number = format!("{:0>4}", digits);
    let is_number = !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit());
    let info = CODES.iter().find(|info| is_number && info.number[1..] == number);
    info.map(|info| info.code).ok_or_else(|| "there is no such code; 'dscript explain' lists all codes".to_owned())
}

/// Returns the page of a diagnostic code.
pub(super) fn of_code(code: Code) -> String {
    plain(code.page())
}

/// Returns the page on kinks and singular points.
pub(super) fn of_kinks() -> String {
    plain(include_str!("../../docs/kinks.md"))
}

/// Returns the documentation of a name with its members, the section about a keyword, the declarations of a topic, or the
/// declarations that contain some words; without words, the list of topics. `None` when nothing is found.
pub(super) fn documentation(session: &mut Session, words: &str) -> Option<Vec<String>> {
    let catalog = session.catalog();
    if words.is_empty() {
        return Some(index(&catalog));
    }
    let name = words.strip_suffix("()").unwrap_or(words);
    let topics = session.topics(name);
    if !topics.is_empty() {
        let mut lines = of_topics(&topics);
        lines.extend(members(&catalog, name));
        return Some(lines);
    }
    // A nested type, or a protocol's member, has no entry under the full name in the session.
    let entries: Vec<&CatalogEntry> =
        catalog.entries.iter().filter(|entry| entry.full_label() == name || full_name(entry) == name).collect();
    if !entries.is_empty() {
        let topics = entries
            .iter()
            .map(|entry| Topic { declaration: entry.declaration.clone(), text: entry.documentation.clone() });
        let mut lines = of_topics(&topics.collect::<Vec<_>>());
        lines.extend(members(&catalog, name));
        return Some(lines);
    }
    let lines = |section: &str| plain(section).lines().map(str::to_owned).collect();
    if let Some(section) = language_pages::of_keyword(words) {
        return Some(lines(&section));
    }
    let lower = words.to_lowercase();
    if let Some(number) = TOPICS.iter().position(|topic| topic.title.to_lowercase().starts_with(&lower)) {
        return Some(of_library_topic(&catalog, number));
    }
    if let Some(section) = language_pages::titled(words) {
        return Some(lines(&section));
    }
    let found = session.search_library(words);
    if found.is_empty() {
        return None;
    }
    let mut lines = vec![format!("nothing is named '{words}'; these declarations of the library mention it:")];
    lines.extend(described(&found.iter().map(|entry| (entry.full_label(), entry.summary())).collect::<Vec<_>>()));
    Some(lines)
}

fn full_name(entry: &CatalogEntry) -> String {
    entry.owner.as_ref().map_or_else(|| entry.name.clone(), |owner| format!("{owner}.{}", entry.name))
}

/// Returns the topics of the library with the names that belong to them.
fn index(catalog: &Catalog) -> Vec<String> {
    let mut lines =
        vec!["The library by topic. A name or a topic shows more, and other words are searched for.".to_owned()];
    for (number, topic) in TOPICS.iter().enumerate() {
        let mut names: Vec<&str> = vec![];
        let of_topic = || catalog.entries.iter().filter(|entry| entry.topic == number && entry.owner.is_none());
        let is_type = |entry: &&CatalogEntry| entry.name.starts_with(char::is_uppercase);
        for entry in of_topic().filter(|entry| !is_type(entry)).chain(of_topic().filter(is_type)) {
            if !names.contains(&entry.name.as_str()) {
                names.push(&entry.name);
            }
        }
        if !names.is_empty() {
            lines.extend([String::new(), topic.title.to_owned()]);
            lines.extend(wrapped(&names));
        }
    }
    lines
}

/// Returns names in lines of limited width.
fn wrapped(names: &[&str]) -> Vec<String> {
    let mut lines = vec![];
    let mut line = String::from("   ");
    for name in names {
        if line.width() + 1 + name.width() > WIDTH {
            lines.push(std::mem::replace(&mut line, String::from("   ")));
        }
        line.push(' ');
        line.push_str(name);
    }
    lines.push(line);
    lines
}

/// Returns the declarations of a topic with their descriptions.
fn of_library_topic(catalog: &Catalog, number: usize) -> Vec<String> {
    let entries = catalog.entries.iter().filter(|entry| entry.topic == number && entry.owner.is_none());
    let rows: Vec<(String, String)> = entries.map(|entry| (entry.label.clone(), entry.summary())).collect();
    let mut lines = vec![TOPICS[number].title.to_owned()];
    lines.extend(described(&rows));
    lines
}

/// Returns the members of a type or protocol with their descriptions: the declared members by kind, then the members of
/// its protocols.
fn members(catalog: &Catalog, owner: &str) -> Vec<String> {
    const GROUPS: &[(&str, &[EntryKind])] = &[
        ("cases", &[EntryKind::Case]),
        ("properties", &[EntryKind::Property]),
        ("methods", &[EntryKind::Function, EntryKind::Subscript]),
        ("initializers", &[EntryKind::Initializer]),
        ("types", &[EntryKind::Type, EntryKind::Protocol]),
    ];
    if catalog.type_named(owner).is_none() {
        return vec![];
    }
    let label = |entry: &CatalogEntry| format!("{}{}", if entry.is_static { "static " } else { "" }, entry.label);
    let mut known: Vec<String> = vec![];
    let mut lines = vec![];
    for (title, kinds) in GROUPS {
        let mut own: Vec<&CatalogEntry> = catalog.members(owner).filter(|entry| kinds.contains(&entry.kind)).collect();
        own.sort_by_key(|entry| rank_of_member(&entry.name));
        let rows: Vec<(String, String)> = own.into_iter().map(|entry| (label(entry), entry.summary())).collect();
        known.extend(rows.iter().map(|(label, _)| label.clone()));
        if !rows.is_empty() {
            lines.extend([String::new(), (*title).to_owned()]);
            lines.extend(described(&rows));
        }
    }
    for protocol in catalog.protocols(owner) {
        let is_shown = |entry: &&CatalogEntry| {
            !entry.documentation.is_empty()
                && matches!(entry.kind, EntryKind::Property | EntryKind::Function)
                && !known.contains(&label(entry))
        };
        let rows: Vec<(String, String)> =
            catalog.members(&protocol).filter(is_shown).map(|entry| (label(entry), entry.summary())).collect();
        known.extend(rows.iter().map(|(label, _)| label.clone()));
        if !rows.is_empty() {
            lines.extend([String::new(), format!("from {protocol}")]);
            lines.extend(described(&rows));
        }
    }
    lines
}

/// Formats names with their descriptions in two columns.
fn described(rows: &[(String, String)]) -> Vec<String> {
    let width =
        rows.iter().map(|(name, _)| name.width()).filter(|w| *w <= MAX_NAME_WIDTH).max().unwrap_or(MAX_NAME_WIDTH);
    let line = |(name, text): &(String, String)| {
        let padding = " ".repeat(width.saturating_sub(name.width()));
        format!("    {name}{padding}   {text}").trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

/// Returns the pages of topics, line by line; if there are many overloads, only the first ones are included.
pub(super) fn of_topics(topics: &[Topic]) -> Vec<String> {
    let mut lines = vec![];
    let left_out = topics.len().saturating_sub(MAX_OVERLOADS);
    for topic in topics.iter().take(MAX_OVERLOADS) {
        lines.extend((!lines.is_empty()).then(String::new));
        lines.push(topic.declaration.clone());
        lines.extend(topic.text.lines().map(|line| format!("    {line}").trim_end().to_owned()));
    }
    if left_out > 0 {
        lines.extend([String::new(), format!("… {left_out} more overloads")]);
    }
    lines
}

/// Converts Markdown to text for a terminal: examples are indented.
fn plain(page: &str) -> String {
    let mut fenced = false;
    let mut text = String::new();
    for line in page.lines() {
        if line.starts_with("```") {
            fenced = !fenced;
            continue;
        }
        if fenced && !line.is_empty() {
            text.push_str("    ");
        }
        text.push_str(line);
        text.push('\n');
    }
    text
}

/// Returns how a message about an unknown name goes on before it says where names are listed: with a similar name, if there is one.
pub(super) fn suggestion(similar: Option<String>) -> String {
    similar.map_or("; ".to_owned(), |name| format!("; did you mean '{name}'? "))
}
