//! Golden tests: programs with their expected output.
//!
//! - `tests/run/<topic>/NAME.dscript`: the expected output is in `// prints:` comments, on the line that prints or, if there
//!   are several lines, on the following ones. A folder `tests/run/<topic>/NAME/` is one program of several files.
//!   Comments at the start of a line specify other requirements: `// args: a b`, `// stdin: a line`, `// options: --seed 1`,
//!   `// status: 1`. The expected diagnostics are in `NAME.stderr`.
//! - `tests/errors/<stage>/NAME.dscript`: rejected programs, with the diagnostics in `NAME.stderr`.
//! - `tests/stages/*.md`: one program with the listing of each stage of the compiler.
//!
//! `tests/known-failures.txt` lists known failures: `PATH reason`. Such a program must fail, so that the line is removed
//! when the failure is fixed.
//!
//! `DSCRIPT_BLESS=1 cargo test --test suite golden` rewrites the expected output; check the differences.
//! `DSCRIPT_ONLY=derivative-custom` runs only the programs whose paths contain this string.

use crate::harness::{Finished, all, blessing, blocks, difference, dscript_within, files, promised, root, short};
use dscript::diagnostic::{CODES, Code};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The time limit of a golden program.
const LIMIT: Duration = Duration::from_secs(60);

/// A program and the location of its expected output.
struct Program {
    /// The folder in which it runs, so that names in messages are short and data files are found.
    folder: PathBuf,
    /// The file names relative to it.
    names: Vec<String>,
    /// The concatenated sources.
    text: String,
    stderr: PathBuf,
}

/// Returns the programs in `tests/<kind>`: single files of a topic, and folders of a topic.
fn programs(kind: &str) -> Vec<Program> {
    let base = root().join("tests").join(kind);
    let mut programs: Vec<Program> = Vec::new();
    for path in files(&base, &["dscript"]) {
        let text = fs::read_to_string(&path).expect("a golden file is UTF-8");
        let folder = path.parent().unwrap_or(&base).to_path_buf();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let depth = folder.strip_prefix(&base).map_or(0, |p| p.components().count());
        match programs.last_mut() {
            Some(last) if depth > 1 && last.folder == folder => {
                last.names.push(name);
                last.text.push_str(&text);
            }
            _ => {
                let stderr = if depth > 1 { folder.with_extension("stderr") } else { path.with_extension("stderr") };
                programs.push(Program { folder, names: vec![name], text, stderr });
            }
        }
    }
    programs
}

/// Returns the programs that `DSCRIPT_ONLY` selects.
fn selected(kind: &str) -> Vec<Program> {
    let mut programs = programs(kind);
    if let Ok(only) = std::env::var("DSCRIPT_ONLY") {
        programs.retain(|program| program.title().contains(&only));
    }
    programs
}

impl Program {
    fn title(&self) -> String {
        short(&self.folder.join(&self.names[0]))
    }

    /// Returns the values of the comments `// word: …` at the start of a line.
    fn says<'a>(&'a self, word: &'a str) -> impl Iterator<Item = &'a str> {
        self.text.lines().filter_map(move |line| {
            let rest = line.strip_prefix("// ")?.strip_prefix(word)?.strip_prefix(':')?;
            Some(rest.strip_prefix(' ').unwrap_or(rest))
        })
    }

    fn finish(&self) -> Finished {
        let mut arguments = vec!["run", "--color=never", "--width=100"];
        arguments.extend(self.says("options").flat_map(str::split_whitespace));
        arguments.extend(self.names.iter().map(String::as_str));
        arguments.push("--");
        arguments.extend(self.says("args").flat_map(str::split_whitespace));
        let mut stdin = self.says("stdin").collect::<Vec<_>>().join("\n");
        if !stdin.is_empty() {
            stdin.push('\n');
        }
        dscript_within(LIMIT, &arguments, stdin.as_bytes(), &self.folder)
    }

    /// Compares the diagnostics with the stored ones, or stores them.
    fn compare_stderr(&self, got: &str) -> Result<(), String> {
        let kept = fs::read_to_string(&self.stderr).unwrap_or_default();
        if kept == got {
            return Ok(());
        }
        if blessing() {
            let done = if got.is_empty() { fs::remove_file(&self.stderr) } else { fs::write(&self.stderr, got) };
            return done.map_err(|e| format!("{}: {e}", short(&self.stderr)));
        }
        Err(format!(
            "{}: the diagnostics differ from {}\n{}",
            self.title(),
            short(&self.stderr),
            difference(&kept, got)
        ))
    }

    /// Compares the output with the comments, or rewrites the comments if their number equals that of the lines.
    fn compare_stdout(&self, finished: &Finished) -> Result<(), String> {
        let expected = promised(&self.text);
        if expected == finished.stdout {
            return Ok(());
        }
        let lines = expected.lines().count() == finished.stdout.lines().count();
        if blessing() && lines && self.names.len() == 1 && finished.stdout.ends_with('\n') {
            let mut printed = finished.stdout.lines();
            let mut text = String::new();
            for line in self.text.lines() {
                match line.split_once("// prints:") {
                    Some((code, _)) => {
                        let answer = printed.next().unwrap_or_default();
                        text.push_str(format!("{code}// prints: {answer}").trim_end());
                    }
                    None => text.push_str(line),
                }
                text.push('\n');
            }
            let path = self.folder.join(&self.names[0]);
            return fs::write(&path, text).map_err(|e| format!("{}: {e}", short(&path)));
        }
        let said = if finished.stderr.is_empty() { String::new() } else { format!("  stderr:\n{}", finished.stderr) };
        Err(format!(
            "{}: it does not print what its comments say\n{}{said}",
            self.title(),
            difference(&expected, &finished.stdout)
        ))
    }
}

/// Returns the known failures with their reasons.
fn known_failures() -> BTreeMap<String, String> {
    let text = fs::read_to_string(root().join("tests/known-failures.txt")).expect("there is a list of known failures");
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| {
            let (path, reason) = line.split_once(' ').unwrap_or_else(|| panic!("`{line}` gives no reason"));
            (path.to_owned(), reason.trim().to_owned())
        })
        .collect()
}

/// Tests all items; known failures must fail.
fn all_but_known<T: Sync>(
    items: &[T],
    title: impl Fn(&T) -> String + Sync,
    test: impl Fn(&T) -> Result<(), String> + Sync,
) {
    let known = known_failures();
    all(items, |item| {
        let title = title(item);
        let Some(reason) = known.get(&title) else { return test(item) };
        if blessing() {
            // The current output is not the expected one.
            return Ok(());
        }
        match test(item) {
            Ok(()) => Err(format!("{title}: it works; remove it from the list of known failures ({reason})")),
            Err(_) => {
                eprintln!("known: {title}: {reason}");
                Ok(())
            }
        }
    });
}

#[test]
fn known_failures_exist() {
    for path in known_failures().keys() {
        assert!(root().join(path).is_file(), "{path} is listed as a known failure, but does not exist");
    }
}

#[test]
fn programs_print_the_expected_output() {
    all_but_known(&selected("run"), Program::title, |program| {
        let finished = program.finish();
        let expected: i32 = program.says("status").next().map_or(0, |s| s.trim().parse().unwrap_or(-1));
        if finished.status != Some(expected) {
            let Finished { stdout, stderr, status, .. } = &finished;
            return Err(format!(
                "{}: exit status {status:?}, expected {expected}\n  stdout:\n{stdout}  stderr:\n{stderr}",
                program.title()
            ));
        }
        program.compare_stdout(&finished)?;
        program.compare_stderr(&finished.stderr)
    });
}

#[test]
fn rejected_programs_have_the_expected_diagnostics() {
    all_but_known(&selected("errors"), Program::title, |program| {
        let finished = program.finish();
        if finished.status != Some(3) {
            let Finished { stdout, stderr, status, .. } = &finished;
            return Err(format!(
                "{}: exit status {status:?}, and a program that is rejected ends with 3\n  stdout:\n{stdout}  stderr:\n{stderr}",
                program.title()
            ));
        }
        if !finished.stdout.is_empty() {
            return Err(format!("{}: it was rejected and yet printed {:?}", program.title(), finished.stdout));
        }
        program.compare_stderr(&finished.stderr)
    });
}

#[test]
fn stages_match_their_listings() {
    all_but_known(&files(&root().join("tests/stages"), &["md"]), |path| short(path), |path| compare_stages(path));
}

/// Compares each block ```` ```text ```` after a heading `## STAGE` with that stage of the page's program.
fn compare_stages(path: &Path) -> Result<(), String> {
    let page = fs::read_to_string(path).map_err(|e| format!("{}: {e}", short(path)))?;
    let Some((_, program)) = blocks(&page, "swift").into_iter().next() else {
        return Err(format!("{}: there is no program in it", short(path)));
    };
    let mut out = String::new();
    let mut wrong = Vec::new();
    let mut lines = page.lines();
    let mut stage = None;
    while let Some(line) = lines.next() {
        out.push_str(line);
        out.push('\n');
        if let Some(name) = line.strip_prefix("## ") {
            stage = Some(name.trim());
        }
        let Some(name) = stage.filter(|_| line == "```text") else { continue };
        let kept: String = lines.by_ref().take_while(|l| *l != "```").flat_map(|l| [l, "\n"]).collect();
        let arguments = ["show", "--color=never", "--stage", name, "-"];
        let finished = dscript_within(LIMIT, &arguments, program.as_bytes(), root());
        let mut got = finished.stdout;
        if finished.status != Some(0) {
            wrong.push(format!("{}: stage {name} was not shown\n{}", short(path), finished.stderr));
            got.clone_from(&kept);
        } else if got.trim_end() != kept.trim_end() && !blessing() {
            let difference = difference(kept.trim_end(), got.trim_end());
            wrong.push(format!("{}: stage {name} looks different\n{difference}", short(path)));
        }
        out.push_str(got.trim_end());
        out.push_str("\n```\n");
    }
    if blessing() && out != page {
        fs::write(path, out).map_err(|e| format!("{}: {e}", short(path)))?;
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

/// Codes without a golden file, and the reasons.
const NOT_GOLDEN: &[(Code, &str)] = &[
    (Code::Interrupted, "needs a signal: command_line.rs sends one"),
    (Code::Internal, "is a bug of dscript itself, and no program is known that shows one"),
    (Code::TimeLimit, "the place where time runs out is not the same twice: command_line.rs looks at the rest"),
];

/// The folders of the golden files by code: for rejected programs, for failing programs, and for warnings.
const STAGES: &[(&str, &[&str])] = &[
    ("errors/syntax", &["E01"]),
    ("errors/types", &["E02"]),
    ("errors/modules", &["E02"]),
    ("errors/differentiation", &["E03", "E0208"]),
    ("run/failures", &["E06", "E09"]),
    ("run/warnings", &["W07"]),
];

/// Returns the numbers of the codes in a golden file.
fn shown(path: &Path) -> BTreeSet<&'static str> {
    let text = fs::read_to_string(path).unwrap_or_default();
    CODES.iter().map(|info| info.number).filter(|number| text.contains(&format!("[{number}]"))).collect()
}

#[test]
fn every_code_has_a_golden_file_in_the_folder_of_its_stage() {
    let mut missing: BTreeSet<&str> = CODES.iter().map(|info| info.number).collect();
    for (folder, at_home) in STAGES {
        for path in files(&root().join("tests").join(folder), &["stderr"]) {
            let here = shown(&path).into_iter().filter(|number| at_home.iter().any(|start| number.starts_with(start)));
            here.for_each(|number| _ = missing.remove(number));
        }
    }
    for (code, reason) in NOT_GOLDEN {
        assert!(missing.remove(code.number()), "{} has a golden file, although it {reason}", code.number());
    }
    assert!(missing.is_empty(), "no golden file of its stage contains {missing:?}");
}

#[test]
fn rejected_programs_are_in_the_folder_of_their_stage() {
    let errors = root().join("tests/errors");
    let strangers: Vec<String> = files(&errors, &["stderr"])
        .iter()
        .filter(|path| {
            let stage = STAGES.iter().find(|(folder, _)| path.starts_with(root().join("tests").join(folder)));
            let at_home = stage.map_or(&[] as &[&str], |(_, starts)| starts);
            !shown(path).iter().any(|number| at_home.iter().any(|start| number.starts_with(start)))
        })
        .map(|path| short(path))
        .collect();
    assert!(strangers.is_empty(), "these programs have no diagnostic of the stage of their folder: {strangers:?}");
}

#[test]
fn every_expected_output_has_a_program() {
    for kind in ["run", "errors"] {
        let known: BTreeSet<PathBuf> = programs(kind).into_iter().map(|p| p.stderr).collect();
        let left: Vec<String> = files(&root().join("tests").join(kind), &["stderr"])
            .iter()
            .filter(|path| !known.contains(*path))
            .map(|path| short(path))
            .collect();
        assert!(left.is_empty(), "expected output without a program: {left:?}");
    }
}
