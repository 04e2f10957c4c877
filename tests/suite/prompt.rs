//! Tests of dialogues with the prompt: `tests/prompt/*.txt`, and those of the README.
//!
//! A line that begins with `› ` is an input, one with `· ` continues it, and all other lines are the output of the prompt.
//! `DSCRIPT_BLESS=1` rewrites the output.

use std::fs;
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// An input, and the output after it.
struct Turn {
    input: Vec<String>,
    answer: String,
}

fn turns(text: &str) -> Vec<Turn> {
    let mut turns: Vec<Turn> = vec![];
    for line in text.lines() {
        if let Some(input) = line.strip_prefix("› ") {
            turns.push(Turn { input: vec![input.to_owned()], answer: String::new() });
            continue;
        }
        let turn = turns.last_mut().expect("a dialogue begins with an input");
        match line.strip_prefix("· ") {
            Some(more) => turn.input.push(more.to_owned()),
            None => turn.answer += &format!("{line}\n"),
        }
    }
    turns
}

/// Returns the output of the prompt for some inputs, on standard output and standard error.
fn answers(turns: &[Turn]) -> String {
    let folder = std::env::temp_dir().join(format!("dscript-prompt-{}-{:p}", std::process::id(), turns));
    fs::create_dir_all(&folder).unwrap();
    let mut written = fs::File::options().create(true).append(true).read(true).open(folder.join("written")).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_dscript"))
        .current_dir(&folder)
        .stdin(Stdio::piped())
        .stdout(written.try_clone().unwrap())
        .stderr(written.try_clone().unwrap())
        .spawn()
        .unwrap();
    let inputs: String = turns.iter().flat_map(|turn| &turn.input).map(|line| format!("{line}\n")).collect();
    child.stdin.take().unwrap().write_all(inputs.as_bytes()).unwrap();
    child.wait().unwrap();
    let mut text = String::new();
    written.rewind().unwrap();
    written.read_to_string(&mut text).unwrap();
    fs::remove_dir_all(&folder).unwrap();
    text
}

/// Removes the blank lines that a dialogue may contain for readability.
fn dense(text: &str) -> String {
    text.lines().filter(|line| !line.trim().is_empty()).map(|line| format!("{}\n", line.trim_end())).collect()
}

fn bless(path: &Path, turns: &[Turn]) {
    let mut out = String::new();
    let mut before = String::new();
    for (i, turn) in turns.iter().enumerate() {
        let all = answers(&turns[..=i]);
        for (k, line) in turn.input.iter().enumerate() {
            out += &format!("{}{line}\n", if k == 0 { "› " } else { "· " });
        }
        out += &dense(all.strip_prefix(&before).expect("an input leaves earlier output unchanged"));
        before = all;
    }
    fs::write(path, out).unwrap();
}

/// Returns the dialogues of a page: fenced blocks that begin with an input.
fn dialogues(page: &str) -> Vec<&str> {
    let blocks = page.split("```text\n").skip(1).filter_map(|rest| rest.split("```").next());
    blocks.filter(|block| block.starts_with("› ")).collect()
}

#[test]
fn the_dialogues_of_the_readme_match_the_prompt() {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).unwrap();
    let dialogues = dialogues(&page);
    assert!(!dialogues.is_empty());
    for dialogue in dialogues {
        let turns = turns(dialogue);
        let expected: String = turns.iter().map(|turn| dense(&turn.answer)).collect();
        let written = dense(&answers(&turns));
        assert!(written == expected, "--- written\n{written}\n--- expected\n{expected}");
    }
}

#[test]
fn dialogues_match_the_prompt() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/prompt");
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty());
    for file in files {
        let turns = turns(&fs::read_to_string(&file).unwrap());
        if std::env::var_os("DSCRIPT_BLESS").is_some() {
            bless(&file, &turns);
            continue;
        }
        let expected: String = turns.iter().map(|turn| dense(&turn.answer)).collect();
        let written = dense(&answers(&turns));
        assert!(written == expected, "{}:\n--- written\n{written}\n--- expected\n{expected}", file.display());
    }
}

#[test]
fn an_interrupt_returns_to_the_prompt() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_dscript"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(b"var n = 0\nprintError(\"begun\"); while true { n += 1 }\nn > 0\n").unwrap();
    // The first line on standard error shows that the loop runs.
    let mut error = child.stderr.take().unwrap();
    let mut first = [0; 5];
    error.read_exact(&mut first).unwrap();
    assert_eq!(&first, b"begun");
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", id.as_str()]).status().unwrap().success());
    drop(input);
    let mut rest = String::new();
    error.read_to_string(&mut rest).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(rest.contains("E0650"), "{rest}");
    assert!(String::from_utf8_lossy(&output.stdout).ends_with("\ntrue\n"), "{output:?}");
    assert_eq!(output.status.code(), Some(130));
}
