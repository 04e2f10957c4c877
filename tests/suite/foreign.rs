//! Foreign code: what happens when a program is written in the words and notations of other languages, or of mathematics on
//! paper, and what newcomers try first. Each input works, or one sentence shows what to write.
//!
//! `tests/foreign/*.txt` and `tests/newcomer/*.txt` have cases, separated by blank lines. Lines with `@` at the beginning of a file are declarations that
//! precede each case. In a case, `>` is a line of the input; the others are what happens:
//!
//! | sign | content |
//! | --- | --- |
//! | `=` | a line of output, or the value of the last expression |
//! | `~` | a warning |
//! | `!` | an error: the code at which it points, and the sentence |
//! | `?` | a suggestion |
//! | `+` | a line of the input after the edit of the suggestion before it; `=` is the output of the first such program |
//!
//! A picture is listed as `(a picture)`, and the current time as `(a time)`.
//!
//! Every program that an edit creates must compile. `DSCRIPT_BLESS=1 cargo test --test suite foreign` rewrites what happens.

use crate::harness::{all, blessing, difference, files, root, short};
use crate::sink::Sink;
use dscript::diagnostic::{Diagnostic, Help};
use dscript::session::{Options, Session, Status};
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

/// The number of diagnostics that are listed for a case.
const SHOWN: usize = 3;

/// The number of lines of output that are listed.
const LINES: usize = 12;

/// A case: the lines before the input, the input, and what should happen.
struct Case {
    file: PathBuf,
    line: usize,
    comments: String,
    setup: String,
    input: String,
    expected: String,
}

/// The files of cases.
fn texts() -> Vec<PathBuf> {
    ["tests/foreign", "tests/newcomer"].iter().flat_map(|folder| files(&root().join(folder), &["txt"])).collect()
}

fn cases() -> Vec<Case> {
    let mut cases = vec![];
    for file in texts() {
        let text = fs::read_to_string(&file).expect("a file of cases is UTF-8");
        let setup: String =
            text.lines().filter_map(|line| line.strip_prefix("@ ")).map(|l| l.to_owned() + "\n").collect();
        let mut line = 1;
        for block in text.split("\n\n") {
            let (mut comments, mut input, mut expected) = (String::new(), String::new(), String::new());
            for text in block.lines() {
                let to = match text.strip_prefix("> ") {
                    Some(code) => {
                        input.extend([code, "\n"]);
                        continue;
                    }
                    None if text.starts_with(['#', '@']) => &mut comments,
                    None => &mut expected,
                };
                to.extend([text, "\n"]);
            }
            let input = input.trim_end().to_owned();
            cases.push(Case { file: file.clone(), line, comments, setup: setup.clone(), input, expected });
            line += block.matches('\n').count() + 2;
        }
    }
    cases
}

/// Compiles and runs a program; returns the session for the positions of its diagnostics.
fn run(text: &str) -> (Session, String, Vec<Diagnostic>, Status) {
    let printed = Sink::default();
    let timeout = Some(Duration::from_secs(20));
    let options = Options { timeout, max_steps: Some(10_000_000), ..Options::default() };
    let mut session = Session::new(options, Box::new(printed.clone()));
    let outcome = session.eval("case", text);
    let mut output = String::from_utf8_lossy(&printed.0.borrow()).into_owned();
    if let Some(value) = &outcome.value {
        output.extend([value, "\n"]);
    }
    (session, output, outcome.diagnostics, outcome.status)
}

fn edited(text: &str, start: u32, help: &Help) -> String {
    let mut edits = help.edits.clone();
    edits.sort_by_key(|(span, _)| span.start);
    let mut out = text.to_owned();
    for (span, code) in edits.iter().rev() {
        out.replace_range((span.start - start) as usize..(span.end - start) as usize, code);
    }
    out
}

/// Whether a line of output is probably the current time (`2026-11-27 20:22:19 +0000`), and not a date, whose time is
/// midnight.
fn is_time(line: &str) -> bool {
    let digits = |pattern: char, c: char| if pattern == '0' { c.is_ascii_digit() } else { pattern == c };
    let pattern = "0000-00-00 00:00:00 +0000";
    line.len() == pattern.len()
        && !line.ends_with(" 00:00:00 +0000")
        && pattern.chars().zip(line.chars()).all(|(p, c)| digits(p, c))
}

fn lines(out: &mut String, sign: char, text: &str) {
    let text = if text.contains('┤') { "(a picture)" } else { text };
    for line in text.lines().take(LINES) {
        let line = if is_time(line) { "(a time)" } else { line };
        let _ = writeln!(out, "{}", format!("{sign} {line}").trim_end());
    }
}

/// Lists a suggestion and the program after its edit, and the output of this program if `shows_output`. Returns why the edit is wrong
/// if the program does not compile and has not fewer errors than before.
fn suggested(
    out: &mut String,
    case: &Case,
    (text, start): (&str, u32),
    help: &Help,
    shows_output: bool,
    errors: &[&Diagnostic],
) -> Option<String> {
    lines(out, '?', &help.text);
    let program = edited(text, start, help);
    lines(out, '+', program.strip_prefix(&case.setup).unwrap_or(&program));
    let (_, output, diagnostics, status) = run(&program);
    if matches!(status, Status::Rejected | Status::Internal) {
        let first = diagnostics.iter().find(|d| d.is_error()).map_or("", |d| d.message.as_str());
        lines(out, '=', &format!("(does not compile: {first})"));
        // The other errors of the program remain.
        if diagnostics.iter().filter(|d| d.is_error()).count() < errors.len() {
            return None;
        }
        return Some(format!("the edit '{}' does not compile: {first}", help.text));
    }
    if shows_output {
        lines(out, '=', &output);
    }
    None
}

/// Returns what happens, and the edits whose programs do not compile.
fn happens(case: &Case) -> (String, Vec<String>) {
    let text = format!("{}{}", case.setup, case.input);
    let (session, output, diagnostics, status) = run(&text);
    let mut out = String::new();
    let mut broken = vec![];
    let source = session.sources().written().find(|source| &*source.name == "case");
    let start = source.map_or(0, |source| source.start);
    if !matches!(status, Status::Rejected | Status::Internal) {
        for warning in diagnostics.iter().filter(|d| !d.is_error()) {
            lines(&mut out, '~', &warning.message);
            let edits = warning.helps.iter().filter(|help| !help.edits.is_empty());
            broken.extend(edits.filter_map(|help| suggested(&mut out, case, (&text, start), help, false, &[])));
        }
        lines(&mut out, '=', &output);
        for error in diagnostics.iter().filter(|d| d.is_error()) {
            lines(&mut out, '!', &format!("at run time: {}", error.message));
        }
        return (out, broken);
    }
    let errors: Vec<&Diagnostic> = diagnostics.iter().filter(|d| d.is_error()).collect();
    let mut ran = false;
    for error in errors.iter().take(SHOWN) {
        let at = error.primary.span;
        let code = text
            .get((at.start - start) as usize..(at.end - start) as usize)
            .unwrap_or("(in the middle of a character)");
        let _ = writeln!(out, "! ‹{}› {}", code.replace('\n', "⏎"), error.message);
        for help in &error.helps {
            if help.edits.is_empty() {
                lines(&mut out, '?', &help.text);
                continue;
            }
            let failed = suggested(&mut out, case, (&text, start), help, !ran, &errors);
            ran |= failed.is_none();
            broken.extend(failed);
        }
    }
    if errors.len() > SHOWN {
        let _ = writeln!(out, "! … and {} more", errors.len() - SHOWN);
    }
    (out, broken)
}

#[test]
fn foreign_code_works_or_is_explained() {
    let only = std::env::var("DSCRIPT_ONLY").unwrap_or_default();
    let cases: Vec<Case> = cases().into_iter().filter(|case| case.file.to_string_lossy().contains(&only)).collect();
    assert!(!only.is_empty() || cases.len() >= 300, "there are {} cases", cases.len());
    let results: Vec<std::sync::OnceLock<String>> = cases.iter().map(|_| std::sync::OnceLock::new()).collect();
    let indices: Vec<usize> = (0..cases.len()).collect();
    let test = |index: &usize| {
        let case = &cases[*index];
        if case.input.is_empty() {
            return Ok(());
        }
        let (got, broken) = happens(case);
        let place = format!("{}:{}: {}", short(&case.file), case.line, case.input);
        let differs = got != case.expected && !blessing();
        let _ = results[*index].set(got.clone());
        match (differs, broken.is_empty()) {
            (true, _) => Err(format!("{place}\n{}", difference(&case.expected, &got))),
            (false, false) => Err(format!("{place}\n  {}", broken.join("\n  "))),
            (false, true) => Ok(()),
        }
    };
    if !blessing() {
        return all(&indices, test);
    }
    let tested = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| all(&indices, test)));
    for file in texts() {
        let blocks = cases.iter().zip(&results).filter(|(case, _)| case.file == file).map(|(case, got)| {
            let mut block = case.comments.clone();
            lines(&mut block, '>', &case.input);
            block + got.get().map_or(case.expected.as_str(), String::as_str)
        });
        let text = blocks.map(|block| block.trim_end().to_owned()).collect::<Vec<_>>().join("\n\n");
        if !text.is_empty() {
            fs::write(&file, text + "\n").expect("the file of cases can be written");
        }
    }
    if let Err(panic) = tested {
        std::panic::resume_unwind(panic);
    }
}
