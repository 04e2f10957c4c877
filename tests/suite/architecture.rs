//! Keeps the drawing in `ARCHITECTURE.md` true: which folder of `src/` may name which.

use crate::harness::{files, root, short};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Each folder, and the folders that it may name.
const MAY_NAME: &[(&str, &[&str])] = &[
    ("source", &[]),
    ("stop", &[]),
    ("diagnostic", &["source"]),
    ("value", &["stop"]),
    ("native", &["value", "plot", "stop"]),
    ("plot", &[]),
    ("syntax", &["source", "diagnostic", "stop"]),
    ("types", &["syntax", "source", "diagnostic", "stop"]),
    ("ir", &["types", "native", "value", "source", "stop"]),
    ("diff", &["ir", "native", "value", "source", "diagnostic", "stop"]),
    ("bytecode", &["native", "value", "source"]),
    ("emit", &["ir", "bytecode", "native", "value", "source", "stop"]),
    ("tape", &["native", "value", "stop"]),
    ("vm", &["bytecode", "tape", "native", "value", "source", "diagnostic", "stop"]),
    (
        "session",
        &[
            "vm",
            "tape",
            "native",
            "value",
            "emit",
            "bytecode",
            "diff",
            "ir",
            "types",
            "syntax",
            "diagnostic",
            "source",
            "plot",
            "stop",
        ],
    ),
    // Diagnostics and sources are the plain data that `session` hands out.
    ("front", &["session", "diagnostic", "source"]),
];

/// Whether a file is a test: those may make what they need with the stages above.
fn is_test(path: &Path) -> bool {
    path.iter().any(|part| part == "tests" || part == "tests.rs")
}

/// The words that follow `crate::` in a text, with their lines; comments aside.
fn named(text: &str) -> Vec<(usize, String)> {
    let mut words = Vec::new();
    for (number, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("//") {
            continue;
        }
        for (at, _) in line.match_indices("crate::") {
            // `$crate::` in a macro is followed by the same folders; `mycrate::` is something else.
            if line[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_') {
                continue;
            }
            let rest = &line[at + "crate::".len()..];
            let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            words.push((number + 1, rest[..end].to_owned()));
        }
    }
    words
}

#[test]
fn folders_name_only_what_is_below_them() {
    let mut wrong = Vec::new();
    for (folder, allowed) in MAY_NAME {
        for path in files(&root().join("src").join(folder), &["rs"]) {
            if is_test(path.strip_prefix(root()).unwrap_or(&path).strip_prefix("src").unwrap_or(&path)) {
                continue;
            }
            let text = fs::read_to_string(&path).expect("a source file is UTF-8");
            for (line, word) in named(&text) {
                let place = format!("{}:{line}", short(&path));
                if word.is_empty() {
                    wrong.push(format!("{place}: one folder a line, no `crate::{{…}}`"));
                } else if word != *folder && !allowed.contains(&word.as_str()) {
                    wrong.push(format!("{place}: `{folder}` may not name `{word}`"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "arrows that are not in the drawing:\n{}", wrong.join("\n"));
}

#[test]
fn every_folder_is_in_the_drawing() {
    let known: BTreeSet<String> = MAY_NAME.iter().map(|(folder, _)| (*folder).to_owned()).collect();
    let there: BTreeSet<String> = fs::read_dir(root().join("src"))
        .expect("there is a src folder")
        .flatten()
        .filter(|entry| entry.path().is_dir())
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    assert_eq!(known, there, "the table above and the folders of src/");

    let page = fs::read_to_string(root().join("ARCHITECTURE.md")).expect("there is an ARCHITECTURE.md");
    for (folder, allowed) in MAY_NAME {
        let row = page.lines().find(|line| line.starts_with(&format!("| `{folder}/`")));
        let row = row.unwrap_or_else(|| panic!("ARCHITECTURE.md has no row for `{folder}/`"));
        let last = row.trim_end_matches(" |").rsplit("| ").next().unwrap_or_default();
        let said: BTreeSet<&str> = last.split(", ").filter(|word| *word != "–").collect();
        let meant: BTreeSet<&str> = allowed.iter().copied().collect();
        assert!(said == meant || last == "all of the above", "ARCHITECTURE.md says that `{folder}` may name {last}");
    }
}

#[test]
fn the_binary_is_thin() {
    let text = fs::read_to_string(root().join("src/main.rs")).expect("there is a main.rs");
    assert!(text.lines().count() < 20, "src/main.rs only calls the front end");
}
