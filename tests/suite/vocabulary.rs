//! Vocabulary: words that have a standard term of the field, which is used instead.
//!
//! The glossary of `CONTRIBUTING.md` has one term for each concept. This test finds the words that these terms replaced, in
//! the names and comments of the sources and in the pages, and the spellings that differ from American English.

use crate::harness::{files, root, short};
use std::fs;
use std::path::{Path, PathBuf};

/// Words and phrases that sources and pages do not use, and what they say instead.
const RETIRED: &[(&str, &str)] = &[
    ("behind", "after"),
    ("nobody", "no function, no program, …"),
    ("somebody", "the caller, the user, …"),
    ("anybody", "any caller, any user, …"),
    ("whoever", "the caller, the user, …"),
    ("likewise", "a sentence with a subject"),
    ("onlooker", "observer"),
    ("beneath", "body derivative"),
    ("hand on", "pass, propagate"),
    ("hands on", "passes, propagates"),
    ("handed on", "passed, propagated"),
    ("look on", "observe"),
    ("swept back", "run adjoint code"),
    ("sweep up", "eliminate dead code"),
];

/// Words that only the sources avoid: pages, lessons and the library use them in their everyday sense.
const RETIRED_IN_SOURCES: &[(&str, &str)] = &[
    ("surroundings", "generic environment"),
    ("settled", "rebased, defaulted, resolved"),
    ("settle", "rebase, default, resolve"),
    ("whole numbers", "integers"),
    ("whole number", "integer"),
    ("wish", "constraint, request"),
    ("slope", "partial"),
    ("slopes", "partials"),
    ("corner", "kink"),
    ("corners", "kinks"),
    ("house", "project"),
    ("speaks", "describes itself"),
    ("told", "reported"),
    ("asked", "requested, required"),
];

/// British spellings, and the American ones.
const SPELLINGS: &[(&str, &str)] = &[
    ("initialiser", "initializer"),
    ("initialise", "initialize"),
    ("initialised", "initialized"),
    ("colour", "color"),
    ("colours", "colors"),
    ("coloured", "colored"),
    ("behaviour", "behavior"),
    ("labelled", "labeled"),
    ("unlabelled", "unlabeled"),
    ("neighbour", "neighbor"),
    ("neighbours", "neighbors"),
    ("centre", "center"),
    ("normalise", "normalize"),
    ("normalised", "normalized"),
    ("optimise", "optimize"),
    ("optimised", "optimized"),
    ("recognise", "recognize"),
    ("recognised", "recognized"),
    ("synthesise", "synthesize"),
    ("synthesised", "synthesized"),
    ("specialised", "specialized"),
];

/// Retired names of files, which did not name what the file defines by a noun, or were too general for its contents.
const RETIRED_FILES: &[&str] = &[
    "kept",
    "private",
    "entered",
    "written",
    "surroundings",
    "unmarked",
    "fulfilled",
    "unmet",
    "promise",
    "undecided",
    "finish",
    "hash",
    "here",
    "observed",
    "shown",
    "told",
    "asked",
    "look",
    "needless",
    "keep",
    "entries",
    "possible",
    "broken",
    "settle",
    "compiled",
    "onlooker",
    "ending",
    "backwards",
    "functional",
    "sealed",
    "outline",
    "reach_out",
    "manner",
    "feed",
    "habits",
    "watched",
    "recorded",
    "listed",
    "implied",
    "required",
    "opened",
    "own_vector",
    "world",
    "active_rule",
    "answer",
    "any",
    "build",
    "check_rule",
    "compare",
    "conditional",
    "convert",
    "detached",
    "explain",
    "forward",
    "grid",
    "guard",
    "heap_visit",
    "highlight",
    "ids",
    "info",
    "inherited",
    "inline",
    "inline_all",
    "inspect",
    "install",
    "interactive",
    "interpreter",
    "join",
    "joined",
    "lazy",
    "linear",
    "mechanism",
    "new",
    "not_finite",
    "opaque",
    "pending",
    "piecewise",
    "prepare",
    "print",
    "recompute",
    "record_linear",
    "render",
    "rethrows",
    "reverse",
    "select",
    "show",
    "sort",
    "special",
    "stored",
    "sweep_live",
    "synthesized",
    "testing",
    "throws",
    "translate",
    "typeset",
    "unused",
    "untyped_parameter",
    "varied",
    "verify",
    "visit",
    "watch",
    "wide",
    "words",
];

/// Identifiers and prose as words: `HandOn`, `hand_on` and "hand on" are the same.
fn words(text: &str) -> String {
    let mut out = String::from(" ");
    let mut before = ' ';
    for c in text.chars() {
        if c.is_alphabetic() {
            if c.is_uppercase() && before.is_lowercase() {
                out.push(' ');
            }
            out.extend(c.to_lowercase());
        } else if !matches!(c, '_' | ' ') {
            // Punctuation separates phrases.
            out.push_str(" . ");
        } else if !out.ends_with(' ') {
            out.push(' ');
        }
        before = c;
    }
    out.push(' ');
    out
}

/// The retired words in a file, with their lines.
fn retired_in(path: &Path, lists: &[&[(&str, &str)]], wrong: &mut Vec<String>) {
    let text = fs::read_to_string(path).expect("a source file is UTF-8");
    // A pattern of foreign code consists of the words of others.
    let has_patterns = path.to_string_lossy().contains("syntax/foreign/tables");
    for (number, line) in text.lines().enumerate() {
        if has_patterns && line.trim_start().starts_with("(\"") {
            continue;
        }
        let found = words(line);
        for (word, instead) in lists.iter().copied().flatten() {
            if found.contains(&format!(" {word} ")) {
                wrong.push(format!("{}:{}: '{word}': {instead}", short(path), number + 1));
            }
        }
    }
}

/// The pages, which are written for users and contributors.
fn pages() -> Vec<PathBuf> {
    let top = ["README.md", "ARCHITECTURE.md", "CHANGELOG.md", "fuzz/README.md"].map(|page| root().join(page));
    top.into_iter().chain(files(&root().join("docs"), &["md"])).collect()
}

#[test]
fn sources_and_pages_use_the_terms_of_the_glossary() {
    let mut wrong = vec![];
    for path in files(&root().join("src"), &["rs", "pest"]) {
        retired_in(&path, &[RETIRED, RETIRED_IN_SOURCES, SPELLINGS], &mut wrong);
    }
    for path in files(&root().join("prelude"), &["rs", "dscript"]).into_iter().chain(pages()) {
        retired_in(&path, &[RETIRED, SPELLINGS], &mut wrong);
    }
    assert!(wrong.is_empty(), "{} retired words:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn files_are_named_for_what_they_define() {
    let of_words = |path: &PathBuf| {
        let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        RETIRED_FILES.contains(&&*name).then(|| short(path))
    };
    let wrong: Vec<String> = files(&root().join("src"), &["rs"]).iter().filter_map(of_words).collect();
    assert!(wrong.is_empty(), "retired file names: {wrong:?}");
}

#[test]
fn the_glossary_has_one_row_for_each_term() {
    let page = fs::read_to_string(root().join("CONTRIBUTING.md")).expect("the guide exists");
    let glossary = page.split("## Glossary").nth(1).and_then(|rest| rest.split("\n## ").next()).unwrap_or_default();
    let rows = glossary.lines().filter(|line| line.starts_with("| ")).skip(2);
    let mut terms: Vec<&str> = rows.filter_map(|row| row.split('|').nth(1)).map(str::trim).collect();
    assert!(terms.len() >= 60, "the glossary has {} terms", terms.len());
    terms.sort_unstable();
    let repeated: Vec<&[&str]> = terms.windows(2).filter(|pair| pair[0] == pair[1]).collect();
    assert!(repeated.is_empty(), "terms with several rows: {repeated:?}");
}

#[test]
fn identifiers_and_prose_have_the_same_words() {
    assert_eq!(words("fn hand_on(HandOn) // hand on"), " fn hand on . hand on .  .  . hand on ");
    assert!(!words("whole, number").contains(" whole number "));
}
