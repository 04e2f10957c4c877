//! Documentation runs: the blocks of the pages and of the prelude's comments that promise what they print.

#[allow(dead_code, reason = "each test uses a part of it")]
mod harness;

use harness::{all, blocks, difference, dscript, files, promised, root, short};
use std::fs;
use std::path::PathBuf;

/// A program in a page.
struct Example {
    place: String,
    text: String,
}

/// The blocks of a page that promise something.
fn examples(place: &str, page: &str) -> Vec<Example> {
    blocks(page, "swift")
        .into_iter()
        .filter(|(_, text)| text.contains("// prints:"))
        .map(|(line, text)| Example { place: format!("{place}:{line}"), text })
        .collect()
}

fn run(example: &Example) -> Result<(), String> {
    let finished = dscript(&["run", "--color=never", "-"], example.text.as_bytes(), root());
    let expected = promised(&example.text);
    if finished.status == Some(0) && finished.stdout == expected {
        return Ok(());
    }
    let difference = difference(&expected, &finished.stdout);
    Err(format!("{}: exit status {:?}\n{difference}{}", example.place, finished.status, finished.stderr))
}

#[test]
fn the_pages_run() {
    let mut pages: Vec<PathBuf> = files(&root().join("docs"), &["md"]);
    pages.push(root().join("README.md"));
    let mut found = Vec::new();
    for page in pages {
        let text = fs::read_to_string(&page).unwrap_or_else(|e| panic!("{}: {e}", short(&page)));
        found.extend(examples(&short(&page), &text));
    }
    assert!(!found.is_empty(), "the README has programs that promise what they print");
    all(&found, run);
}

#[test]
fn the_comments_of_the_prelude_run() {
    let mut found = Vec::new();
    for path in files(&root().join("prelude"), &["dscript"]) {
        let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", short(&path)));
        // Lines keep their numbers; what is no documentation becomes empty.
        let comments: Vec<&str> = text
            .lines()
            .map(|line| line.trim_start().strip_prefix("///").map_or("", |c| c.strip_prefix(' ').unwrap_or(c)))
            .collect();
        found.extend(examples(&short(&path), &comments.join("\n")));
    }
    all(&found, run);
}

#[test]
fn the_scripts_run() {
    // They read their data from where the README starts them: the root.
    let scripts = files(&root().join("scripts"), &["dscript"]);
    all(&scripts, |path| {
        let text = fs::read_to_string(path).map_err(|e| format!("{}: {e}", short(path)))?;
        let finished = dscript(&["run", "--color=never", "--timeout=100", &short(path)], b"", root());
        let expected = promised(&text);
        if finished.status != Some(0) || !(expected.is_empty() || expected == finished.stdout) {
            let difference = difference(&expected, &finished.stdout);
            return Err(format!("{}: exit status {:?}\n{difference}{}", short(path), finished.status, finished.stderr));
        }
        Ok(())
    });
}
