//! Library reference: the page `docs/library.md`, with the declarations of the library by topic.

use crate::session::Session;
use crate::session::query::library_catalog::{Catalog, CatalogEntry, EntryKind};
use crate::session::query::library_topics::TOPICS;
use std::fmt::Write;

const INTRODUCTION: &str = "\
# The library

This page lists the documented declarations of the library by topic. It is generated from the comments in `prelude/`. `dscript doc NAME`
prints the complete documentation of a name with its examples, and `dscript doc WORDS` searches; at the prompt, `?NAME` does the same.

Nearly all of it is available without an import:

```dscript
print([3, 1, 2].sorted(), sqrt(2 * 8))   // prints: [1, 2, 3] 4.0
```

";

impl Session {
    /// Returns the library reference in Markdown.
    pub fn library_reference(&mut self) -> String {
        let catalog = self.catalog();
        let mut page = INTRODUCTION.to_owned();
        for topic in TOPICS {
            // Writing into a `String` cannot fail.
            let _ = writeln!(page, "- [{}](#{})", topic.title, anchor(topic.title));
        }
        for (number, topic) in TOPICS.iter().enumerate() {
            let _ = write!(page, "\n## {}\n", topic.title);
            write_topic(&mut page, &catalog, number);
        }
        page
    }
}

/// Returns the target of a link to a heading.
fn anchor(title: &str) -> String {
    let letters = title.to_lowercase();
    letters
        .chars()
        .filter(|c| c.is_alphanumeric() || " -".contains(*c))
        .map(|c| if c == ' ' { '-' } else { c })
        .collect()
}

fn write_topic(page: &mut String, catalog: &Catalog, number: usize) {
    let of_topic = || catalog.entries.iter().filter(|entry| entry.topic == number && !entry.documentation.is_empty());
    let is_type = |entry: &&CatalogEntry| matches!(entry.kind, EntryKind::Type | EntryKind::Protocol);
    let functions: Vec<&CatalogEntry> = of_topic().filter(|entry| entry.owner.is_none() && !is_type(entry)).collect();
    table(page, &functions);
    // Members may be declared in another file than their type.
    let mut owners: Vec<String> = vec![];
    for entry in of_topic() {
        let owner = if is_type(&entry) { Some(entry.full_label()) } else { entry.owner.clone() };
        owners.extend(owner.filter(|owner| !owners.contains(owner)));
    }
    for owner in owners {
        let of_owner = of_topic().filter(|entry| entry.owner.as_deref() == Some(&owner) && !is_type(entry));
        let members: Vec<&CatalogEntry> = of_owner.collect();
        let declared = of_topic().filter(is_type).find(|entry| entry.full_label() == owner);
        let _ = write!(page, "\n### {owner}\n");
        if let Some(declared) = declared {
            let _ = write!(page, "\n`{}`\n\n{}\n", declared.declaration, declared.summary());
        }
        table(page, &members);
    }
}

fn table(page: &mut String, entries: &[&CatalogEntry]) {
    if entries.is_empty() {
        return;
    }
    page.push_str("\n| declaration | purpose |\n| --- | --- |\n");
    for entry in entries {
        let is_static = if entry.is_static { "static " } else { "" };
        let _ = writeln!(page, "| `{is_static}{}` | {} |", escaped(&entry.label), escaped(&entry.summary()));
    }
}

fn escaped(text: &str) -> String {
    text.replace('|', "\\|")
}
