//! Library search: the declarations of the library whose names or documentation contain some words.

use crate::session::Session;
use crate::session::query::library_catalog::{Catalog, CatalogEntry, EntryKind};
use crate::session::query::library_topics::TOPICS;
use crate::types::closest;
use hashbrown::HashSet;

/// The maximum number of declarations that a search finds.
const MAX_FOUND: usize = 15;

/// The weights of the parts of an entry in which a word may occur.
mod weight {
    /// The weight of a name that equals the word.
    pub const NAME: u32 = 100;
    /// The weight of a name that begins with the word.
    pub const NAME_START: u32 = 60;
    /// The weight of a name that contains the word as a part: `readCSV`.
    pub const NAME_PART: u32 = 45;
    /// The weight of an argument label or type name that equals the word.
    pub const LABEL: u32 = 25;
    /// The weight of a first sentence of the documentation that contains the word.
    pub const SUMMARY: u32 = 30;
    /// The weight of a topic whose title contains the word.
    pub const TOPIC: u32 = 12;
    /// The weight of a documentation that contains the word.
    pub const TEXT: u32 = 8;
}

impl Session {
    /// Returns the declarations that contain all given words, or if there are none, some of the words; the best matches
    /// come first.
    pub fn search_library(&mut self, query: &str) -> Vec<CatalogEntry> {
        let words: Vec<String> = query
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .map(str::to_lowercase)
            .collect();
        let catalog = self.catalog();
        if words.is_empty() {
            return vec![];
        }
        let found = ranked(&catalog, &words, true);
        if found.is_empty() && words.len() > 1 { ranked(&catalog, &words, false) } else { found }
    }

    /// Returns the name in the library or in the session that is most similar to a word.
    pub fn similar_name(&mut self, word: &str) -> Option<String> {
        let catalog = self.catalog();
        let names: Vec<String> =
            catalog.entries.iter().filter(|entry| entry.owner.is_none()).map(|entry| entry.name.clone()).collect();
        let own: Vec<String> = self.declared().into_iter().filter_map(|item| item.name).collect();
        closest(word, own.iter().chain(&names).map(String::as_str))
    }
}

fn ranked(catalog: &Catalog, words: &[String], needs_all: bool) -> Vec<CatalogEntry> {
    let mut found = vec![];
    for entry in &catalog.entries {
        let weights: Vec<u32> = words.iter().map(|word| weight_of(entry, word)).collect();
        let is_found = if needs_all { weights.iter().all(|w| *w > 0) } else { weights.iter().any(|w| *w > 0) };
        if is_found {
            // A top-level declaration is more useful than a member that contains the same words.
            let is_member = entry.owner.is_some() || entry.kind == EntryKind::Alias;
            found.push((weights.iter().sum::<u32>() * 4 - u32::from(is_member), entry));
        }
    }
    found.sort_by_key(|(weight, entry)| (std::cmp::Reverse(*weight), entry.label.len()));
    // Members of several types may have a common name, which is listed once.
    let mut known = HashSet::new();
    found.retain(|(_, entry)| known.insert(&entry.label));
    found.into_iter().take(MAX_FOUND).map(|(_, entry)| entry.clone()).collect()
}

/// Returns the weight of an entry for a lowercase word; 0 if the entry does not contain the word.
fn weight_of(entry: &CatalogEntry, word: &str) -> u32 {
    let name = entry.name.to_lowercase();
    let contains =
        |text: &str| text.to_lowercase().split(|c: char| !c.is_alphanumeric()).any(|own| is_form_of(own, word));
    let is_part = parts_of_name(&entry.name).iter().any(|part| is_form_of(part, word));
    match () {
        () if name == word => weight::NAME,
        () if name.starts_with(word) && word.len() > 1 => weight::NAME_START,
        () if is_part => weight::NAME_PART,
        () if contains(&entry.summary()) => weight::SUMMARY,
        () if contains(&entry.label) || entry.owner.as_deref().is_some_and(&contains) => weight::LABEL,
        () if TOPICS.get(entry.topic).is_some_and(|topic| contains(topic.title)) => weight::TOPIC,
        () if contains(&entry.documentation) => weight::TEXT,
        () => 0,
    }
}

/// Whether a lowercase word begins with the searched word, or equals it up to the plural ending.
fn is_form_of(own: &str, word: &str) -> bool {
    let stem = |text: &str| text.strip_suffix('s').filter(|stem| stem.len() > 2).unwrap_or(text).to_owned();
    stem(own) == stem(word) || word.len() >= 4 && own.starts_with(word)
}

/// Splits a name at its capitals, in lowercase: `readCSVLines` into `read`, `csv`, `lines`.
fn parts_of_name(name: &str) -> Vec<String> {
    let letters: Vec<char> = name.chars().collect();
    let mut parts: Vec<String> = vec![];
    for (k, c) in letters.iter().enumerate() {
        let before = k.checked_sub(1).map(|n| letters[n]);
        let after = letters.get(k + 1);
        let begins = match before {
            None => true,
            Some(before) if !before.is_uppercase() => c.is_uppercase(),
            Some(_) => c.is_uppercase() && after.is_some_and(|after| after.is_lowercase()),
        };
        if begins {
            parts.push(String::new());
        }
        if let Some(part) = parts.last_mut() {
            part.extend(c.to_lowercase());
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::parts_of_name;

    #[test]
    fn names_have_parts() {
        assert_eq!(parts_of_name("readCSVLines"), ["read", "csv", "lines"]);
        assert_eq!(parts_of_name("popLast"), ["pop", "last"]);
    }
}
