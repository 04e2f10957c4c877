//! Checks of the module structure in `ARCHITECTURE.md`: the allowed dependencies between the folders of `src/`.

use crate::harness::{files, root, short};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Each folder, and the folders that it may name.
const MAY_NAME: &[(&str, &[&str])] = &[
    ("allocator", &[]),
    ("source", &[]),
    ("cancel", &[]),
    ("diagnostic", &["source"]),
    ("value", &["tensor", "cancel"]),
    ("native", &["value", "tensor", "plot", "cancel"]),
    ("plot", &[]),
    ("syntax", &["source", "diagnostic", "cancel"]),
    ("types", &["syntax", "source", "diagnostic", "cancel"]),
    ("ir", &["types", "native", "value", "source", "cancel"]),
    ("diff", &["ir", "native", "value", "source", "diagnostic", "cancel"]),
    ("bytecode", &["native", "value", "source"]),
    ("jit", &["bytecode", "native", "tape", "value"]),
    ("emit", &["ir", "bytecode", "native", "value", "source", "cancel"]),
    ("tape", &["native", "value", "tensor", "cancel"]),
    ("tensor", &["cancel"]),
    ("vm", &["bytecode", "jit", "tape", "native", "value", "tensor", "source", "diagnostic", "cancel"]),
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
            "cancel",
        ],
    ),
    // Diagnostics and sources are the plain data in the interface of `session`.
    ("front", &["session", "diagnostic", "source"]),
];

/// Whether a file contains tests, which may use higher stages.
fn is_test(path: &Path) -> bool {
    path.iter().any(|part| part == "tests" || part == "tests.rs")
}

/// Returns the identifiers after `crate::` in a source, with their lines; comments are ignored.
fn named(text: &str) -> Vec<(usize, String)> {
    let mut words = Vec::new();
    for (number, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("//") {
            continue;
        }
        for (at, _) in line.match_indices("crate::") {
            // `$crate::` in a macro counts too; `mycrate::` does not.
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
fn folders_name_only_lower_folders() {
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
                    wrong.push(format!("{place}: import one folder per line, without `crate::{{…}}`"));
                } else if word != *folder && !allowed.contains(&word.as_str()) {
                    wrong.push(format!("{place}: `{folder}` may not name `{word}`"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "dependencies that ARCHITECTURE.md does not allow:\n{}", wrong.join("\n"));
}

#[test]
fn the_table_lists_every_folder() {
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
        let stated: BTreeSet<&str> = last.split(", ").filter(|word| *word != "–").collect();
        let expected: BTreeSet<&str> = allowed.iter().copied().collect();
        assert!(
            stated == expected || last == "all of the above",
            "ARCHITECTURE.md states that `{folder}` may name {last}"
        );
    }
}

#[test]
fn the_binary_is_thin() {
    let text = fs::read_to_string(root().join("src/main.rs")).expect("there is a main.rs");
    assert!(text.lines().count() < 20, "src/main.rs only calls the front end");
}

/// The folders of `src/types/`, from the lowest to the highest: a folder may name itself and those before it. A request for the
/// result of a higher folder is a query (`types/model/queries.rs`).
const TYPES: &[&str] = &[
    "model",
    "names",
    "generics",
    "conform",
    "declare",
    "nominal",
    "resolved_declarations",
    "synthesize",
    "flow",
    "derivative",
    "infer",
    "check",
    "module_check",
    "signature_help",
];

/// Name lookup, generic types and conformances depend on each other.
const MUTUALLY_RECURSIVE: &[&str] = &["names", "generics", "conform"];

/// The folder or file directly below `src/types/` that a path after `crate::types::` leads to.
fn folder_of_types(path: &str) -> Option<usize> {
    let end = path.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(path.len());
    TYPES.iter().position(|known| *known == &path[..end])
}

/// The functions of the checker receive its tables as an argument, so every call of another folder is a path that names it.
#[test]
fn folders_of_the_checker_name_only_lower_folders() {
    let mut wrong = Vec::new();
    for (at, folder) in TYPES.iter().enumerate() {
        for path in files(&root().join("src/types").join(folder), &["rs"]) {
            let text = fs::read_to_string(&path).expect("a source file is UTF-8");
            for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//")) {
                let names = line.match_indices("crate::types::").map(|(at, path)| &line[at + path.len()..]);
                for name in names {
                    let place = format!("{}:{}", short(&path), number + 1);
                    match folder_of_types(name) {
                        Some(to) if to <= at => {}
                        Some(to) if [*folder, TYPES[to]].iter().all(|one| MUTUALLY_RECURSIVE.contains(one)) => {}
                        Some(to) => wrong.push(format!("{place}: `{folder}` may not name `{}`", TYPES[to])),
                        None => wrong.push(format!("{place}: `crate::types::{name}` is not the path of a folder")),
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "dependencies on higher folders:\n{}", wrong.join("\n"));

    let there: BTreeSet<String> = fs::read_dir(root().join("src/types"))
        .expect("there is a folder of the checker")
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().trim_end_matches(".rs").to_owned())
        .filter(|name| name != "mod" && name != "tests")
        .collect();
    let known: BTreeSet<String> = TYPES.iter().map(|name| (*name).to_owned()).collect();
    assert_eq!(known, there, "the list above and the folders of the checker");
}

/// The files and folders of `src/vm/`, from the lowest to the highest: a module may name itself and those before it.
const MACHINE: &[&str] = &[
    "fault",
    "objects",
    "fused",
    "recorder",
    "threaded",
    "machine_code",
    "transformed_code",
    "operator_cache",
    "function_table",
    "diagnosis",
    "compiler_interface",
    "state",
    "compiled",
    "exclusivity",
    "native_call",
    "operators",
    "dispatch",
    "run",
];

/// An exception: checks of registered derivatives run functions of the program inside an operator, and these may fail.
const MACHINE_UPWARD: &[(&str, &str)] = &[("operators", "run")];

/// The files of `src/tape/`, in the same order.
const TAPE: &[&str] = &[
    "column",
    "node",
    "value_stack",
    "wide_node",
    "tied_masks",
    "observer",
    "recording",
    "levels",
    "flat_results",
    "general_rule",
    "scalar_product",
    "calls",
    "taylor_series",
    "step_observer",
    "deferred_factors",
    "sweep",
    "tensor",
    "live_sweep",
    "linear_map",
    "escape",
    "lanes",
    "listing",
];

/// An exception: the factors of infinite adjoints are a part of the sweep in a separate file.
const TAPE_UPWARD: &[(&str, &str)] = &[("deferred_factors", "sweep")];

/// Returns the modules of `crate::folder` that a file names, with their lines. `at` is the path of the file in that folder.
fn named_in(folder: &str, at: &[String], text: &str) -> Vec<(usize, String)> {
    let root = format!("crate::{folder}::");
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//")) {
        let mut rest = line;
        while let Some(start) = rest.find("super::").into_iter().chain(rest.find(&root)).min() {
            let is_whole = !rest[..start].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':');
            rest = &rest[start..];
            let mut ups = 0;
            while let Some(after) = rest.strip_prefix("super::") {
                (rest, ups) = (after, ups + 1);
            }
            rest = rest.strip_prefix(&*root).unwrap_or(rest);
            if is_whole && (ups == 0 || ups == at.len()) {
                let ends = |c: char| !c.is_alphanumeric() && c != '_';
                // One module, or several in braces.
                let list = rest.strip_prefix('{').map_or(&rest[..rest.find(ends).unwrap_or(rest.len())], |list| {
                    &list[..list.find('}').unwrap_or(list.len())]
                });
                let words = list.split(',').map(|word| word.trim().split(ends).next().unwrap_or_default());
                found.extend(words.map(|word| (number + 1, word.to_owned())));
            }
        }
    }
    found
}

/// Checks that the modules of a folder of `src/` depend only on lower ones.
fn assert_order(folder: &str, order: &[&str], upward: &[(&str, &str)]) {
    let place = |module: &str| order.iter().position(|known| *known == module);
    let mut wrong = Vec::new();
    let mut unused: BTreeSet<(&str, &str)> = upward.iter().copied().collect();
    let folder_path = root().join("src").join(folder);
    for path in files(&folder_path, &["rs"]) {
        let inside = path.strip_prefix(&folder_path).expect("a file of the folder");
        let mut at: Vec<String> = inside.with_extension("").iter().map(|p| p.to_string_lossy().into_owned()).collect();
        at.retain(|part| part != "mod");
        // The `mod.rs` of the folder is its interface, and may name all modules.
        let Some(own) = at.first().filter(|_| !is_test(inside)) else { continue };
        let Some(from) = place(own) else {
            wrong.push(format!("`{own}` is missing in the order of `src/{folder}`"));
            continue;
        };
        let text = fs::read_to_string(&path).expect("a source file is UTF-8");
        let text = text.split("#[cfg(test)]").next().unwrap_or_default();
        for (line, word) in named_in(folder, &at, text) {
            let Some(to) = place(&word) else {
                // `Num` is declared in `mod.rs`; everything else must be named by its file.
                if word != "Num" {
                    wrong.push(format!("{}:{line}: name the file of `{word}`", short(&path)));
                }
                continue;
            };
            if to > from && !unused.remove(&(order[from], order[to])) && !upward.contains(&(order[from], order[to])) {
                wrong.push(format!("{}:{line}: `{own}` may not name `{word}`", short(&path)));
            }
        }
    }
    assert!(wrong.is_empty(), "dependencies on higher modules in `src/{folder}`:\n{}", wrong.join("\n"));
    assert!(unused.is_empty(), "dependencies that no longer exist and can be removed from the list: {unused:?}");
}

#[test]
fn modules_of_the_machine_name_only_lower_modules() {
    assert_order("vm", MACHINE, MACHINE_UPWARD);
}

#[test]
fn modules_of_the_tape_name_only_lower_modules() {
    assert_order("tape", TAPE, TAPE_UPWARD);
}

/// The dispatch loop calls operators in one file.
#[test]
fn operators_are_called_from_one_file() {
    let entering = files(&root().join("src/vm/dispatch"), &["rs"]).into_iter().filter(|path| {
        let text = fs::read_to_string(path).expect("a source file is UTF-8");
        named_in("vm", &[], &text).iter().any(|(_, word)| word == "operators")
    });
    assert_eq!(entering.map(|path| short(&path)).collect::<Vec<_>>(), ["src/vm/dispatch/calls.rs"]);
}

#[test]
fn no_folder_has_too_many_files_and_no_file_too_many_lines() {
    let mut wrong = Vec::new();
    let mut count = std::collections::BTreeMap::new();
    for path in files(&root().join("src"), &["rs"]) {
        let lines = fs::read_to_string(&path).expect("a source file is UTF-8").lines().count();
        if lines > 600 {
            wrong.push(format!("{} has {lines} lines", short(&path)));
        }
        *count.entry(path.parent().map(Path::to_path_buf)).or_insert(0) += 1;
    }
    wrong.extend(count.iter().filter(|(_, n)| **n > 20).map(|(folder, n)| format!("{folder:?} has {n} files")));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
