//! Tests of the documentation of the library: the page `docs/library.md` is current (`DSCRIPT_BLESS=1` rewrites it), and names are
//! found.

use crate::harness::{blessing, difference, root};
use dscript::session::{Options, Session};

fn session() -> Session {
    Session::new(Options::default(), Box::new(std::io::sink()))
}

#[test]
fn the_page_of_the_library_is_current() {
    let path = root().join("docs/library.md");
    let page = session().library_reference();
    if blessing() {
        std::fs::write(&path, &page).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(written == page, "docs/library.md:\n{}", difference(&written, &page));
}

#[test]
fn a_search_finds_names_parts_of_names_and_descriptions() {
    for (query, expected) in [
        ("csv", "readCSV(_:delimiter:hasHeader:missing:types:)"),
        ("sum", "sum()"),
        ("root", "solve(_:near:)"),
        ("definite integral", "integral(_:_:)"),
        ("random number", "random(in:)"),
        ("uppercase", "String.uppercased()"),
    ] {
        let found: Vec<String> = session().search_library(query).iter().map(|entry| entry.full_label()).collect();
        assert!(found.iter().any(|label| label.ends_with(expected)), "{query}: {found:?}");
    }
    assert_eq!(session().search_library("qwertz"), vec![]);
    assert_eq!(session().similar_name("gradent").as_deref(), Some("gradient"));
}

#[test]
fn members_of_types_are_listed() {
    let catalog = session().catalog();
    let labels: Vec<&str> = catalog.members("Array").map(|entry| entry.label.as_str()).collect();
    for label in ["count", "append(_:)", "init(repeating:count:)"] {
        assert!(labels.contains(&label), "{label}: {labels:?}");
    }
    assert!(catalog.protocols("Array").contains(&"Collection".to_owned()), "{:?}", catalog.protocols("Array"));
    assert!(!catalog.entries.iter().any(|entry| entry.full_label().split('.').any(|part| part.starts_with('_'))));
}
