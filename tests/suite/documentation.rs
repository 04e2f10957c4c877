//! Tests of the documentation: the examples in the pages and in the comments of the prelude produce the stated output.

use crate::harness::{Finished, all, blessing, blocks, difference, dscript, files, promised, root, short};
use dscript::diagnostic::{CODES, Code};
use std::fs;
use std::path::{Path, PathBuf};

/// An example program in a page.
struct Example {
    place: String,
    text: String,
    /// The folder in which it runs.
    folder: PathBuf,
}

/// Returns those examples of a page that state their output.
fn examples(place: &str, page: &str) -> Vec<Example> {
    blocks(page, "swift")
        .into_iter()
        .filter(|(_, text)| text.contains("// prints:"))
        .map(|(line, text)| Example { place: format!("{place}:{line}"), text, folder: root().to_path_buf() })
        .collect()
}

/// Returns the programs of a page of the reference. Those that begin with `// file: NAME` are files that the others import;
/// all others are run.
fn programs(page: &Path) -> Vec<Example> {
    let name = short(page);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name.replace(['/', '.'], "-"));
    fs::create_dir_all(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut found = Vec::new();
    for (line, text) in blocks(&read(page), "dscript") {
        match text.lines().next().and_then(|l| l.strip_prefix("// file: ")) {
            Some(file) => fs::write(folder.join(file), &text).unwrap_or_else(|e| panic!("{file}: {e}")),
            None => found.push(Example { place: format!("{name}:{line}"), text, folder: folder.clone() }),
        }
    }
    found
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", short(path)))
}

/// Returns the lines of a program whose comments announce an error or a warning, with its code.
fn announced(program: &str) -> Vec<(u64, String)> {
    let mut all = Vec::new();
    for (number, line) in (1..).zip(program.lines()) {
        let rests = ["// error: ", "// warning: "].iter().filter_map(|word| Some(line.split_once(word)?.1));
        all.extend(rests.filter_map(|rest| Some((number, rest.split_whitespace().next()?.to_owned()))));
    }
    all.sort();
    all
}

/// Returns the lines of the primary labels of diagnostics, with their codes, from the JSON form.
fn reported(stderr: &str) -> Vec<(u64, String)> {
    let objects = stderr.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let mut all: Vec<(u64, String)> =
        objects.filter_map(|o| Some((o["line"].as_u64()?, o["code"].as_str()?.to_owned()))).collect();
    all.sort();
    all
}

/// Runs a program; its output must match its comments, and its diagnostics those that they announce.
fn run(example: &Example) -> Result<(), String> {
    let mut arguments = vec!["run", "--diagnostics=json", "-"];
    let options = example.text.lines().filter_map(|line| line.strip_prefix("// options: "));
    arguments.extend(options.flat_map(str::split_whitespace));
    let finished = dscript(&arguments, example.text.as_bytes(), &example.folder);
    let (said, announced) = (reported(&finished.stderr), announced(&example.text));
    if said != announced {
        let Finished { status, stderr, .. } = &finished;
        let place = &example.place;
        return Err(format!("{place}: exit status {status:?}, expected {announced:?}, got {said:?}\n{stderr}"));
    }
    // A rejected program prints nothing, whatever its comments state.
    let expected = if finished.status == Some(3) { String::new() } else { promised(&example.text) };
    if finished.stdout != expected {
        return Err(format!("{}:\n{}", example.place, difference(&expected, &finished.stdout)));
    }
    Ok(())
}

#[test]
fn the_pages_run() {
    let readme = root().join("README.md");
    let mut found = examples("README.md", &read(&readme));
    assert!(!found.is_empty(), "the README has programs that state their output");
    for page in files(&root().join("docs"), &["md"]) {
        let programs = programs(&page);
        assert!(!programs.is_empty(), "{} has programs", short(&page));
        found.extend(programs);
    }
    all(&found, run);
}

/// Returns the stage listings of a page: the last program before a line `<!-- show: STAGE -->`, the stage, and the
/// block after that line.
fn shown_stages(page: &str) -> Vec<(String, String, String)> {
    let mut found = vec![];
    let mut program = String::new();
    for part in page.split("\n```").collect::<Vec<_>>().chunks(2) {
        let [before, block] = part else { break };
        let (info, text) = block.split_once('\n').unwrap_or((block, ""));
        let stage = before.trim_end().rsplit('\n').next().unwrap_or_default();
        match stage.strip_prefix("<!-- show: ").and_then(|rest| rest.strip_suffix(" -->")) {
            Some(stage) => found.push((program.clone(), stage.to_owned(), format!("{text}\n"))),
            None if info == "dscript" => program = format!("{text}\n"),
            None => {}
        }
    }
    found
}

#[test]
fn stage_listings_of_the_pages_are_current() {
    let page = root().join("docs/internals/derivatives.md");
    let stages = shown_stages(&read(&page));
    assert!(!stages.is_empty(), "{} shows stages", short(&page));
    all(&stages, |(program, stage, text)| {
        let finished = dscript(&["show", "--color=never", "--stage", stage, "-"], program.as_bytes(), root());
        if finished.stdout.contains(text.as_str()) {
            return Ok(());
        }
        Err(format!("the stage {stage} has no such part:\n{text}{}{}", finished.stdout, finished.stderr))
    });
}

/// Returns the lines of a page that are not in a code block.
fn prose(page: &str) -> impl Iterator<Item = &str> {
    let mut fenced = false;
    page.lines().filter(move |line| {
        let is_fence = line.starts_with("```");
        fenced ^= is_fence;
        !fenced && !is_fence
    })
}

/// A heading: its text, and its anchor.
struct Heading {
    title: String,
    anchor: String,
}

/// Returns the headings of a page, except its title.
fn headings(page: &str) -> Vec<Heading> {
    let titles = prose(page).filter(|l| l.starts_with("##")).map(|l| l.trim_start_matches('#').trim_start());
    titles
        .map(|title| {
            let kept = title.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
            let anchor = kept.collect::<String>().to_lowercase().replace(' ', "-");
            Heading { title: title.to_owned(), anchor }
        })
        .collect()
}

/// Codes whose section has no example, and the reasons.
const NO_EXAMPLE: &[(Code, &str)] = &[
    (Code::TooDeep, "needs a text that nobody would write or read"),
    (Code::BadRow, "needs a data file"),
    (Code::Interrupted, "needs a signal"),
    (Code::Internal, "is a bug of dscript itself, and no program is known that shows one"),
];

#[test]
fn every_code_has_a_section_with_an_example() {
    for info in CODES {
        let (number, page) = (info.number, info.code.page());
        assert!(page.starts_with(&format!("{number}: {}\n\n", info.summary)), "{number} has no section of that title");
        let examples = blocks(page, "dscript");
        let shows = examples.iter().any(|(_, text)| announced(text).iter().any(|(_, code)| code == number));
        let excused = NO_EXAMPLE.iter().any(|(code, _)| *code == info.code);
        assert!(shows != excused, "{number}: an example that causes it, or a reason why there is none");
        let said = dscript(&["explain", number], b"", root());
        assert!(said.status == Some(0) && said.stdout.starts_with(number), "{number}: {}", said.stderr);
    }
}

#[test]
fn the_table_of_contents_matches_the_headings() {
    let page = read(&root().join("docs/language.md"));
    let listed: Vec<&str> = prose(&page).map(str::trim_start).filter(|l| l.starts_with("- [")).collect();
    let expected: Vec<String> = headings(&page)
        .iter()
        .filter(|h| h.title != "Contents")
        .map(|h| format!("- [{}](#{})", h.title, h.anchor))
        .collect();
    assert_eq!(listed, expected, "the table of contents lists every heading, in order");
}

#[test]
fn links_in_the_pages_resolve() {
    let mut pages = files(&root().join("docs"), &["md"]);
    pages.push(root().join("README.md"));
    let mut broken = Vec::new();
    for page in &pages {
        let text = prose(&read(page)).collect::<Vec<_>>().join("\n");
        for (at, _) in text.match_indices("](") {
            let Some(target) = text[at + 2..].split(')').next().filter(|t| !t.contains("://")) else { continue };
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            let to = if file.is_empty() { page.clone() } else { page.parent().unwrap_or(root()).join(file) };
            let leads = match anchor {
                "" => to.exists(),
                anchor => to.is_file() && headings(&read(&to)).iter().any(|h| h.anchor == anchor),
            };
            if !leads {
                broken.push(format!("{}: {target}", short(page)));
            }
        }
    }
    assert!(broken.is_empty(), "broken links: {broken:#?}");
}

#[test]
fn the_examples_of_the_prelude_run() {
    let mut found = Vec::new();
    for path in files(&root().join("prelude"), &["dscript"]) {
        let text = read(&path);
        // Other lines become empty, so that line numbers do not change.
        let comments: Vec<&str> = text
            .lines()
            .map(|line| line.trim_start().strip_prefix("///").map_or("", |c| c.strip_prefix(' ').unwrap_or(c)))
            .collect();
        found.extend(examples(&short(&path), &comments.join("\n")));
    }
    all(&found, run);
}

/// `scripts/picture.dscript` prints the picture at the top of the README. `DSCRIPT_BLESS=1` rewrites the file.
#[test]
fn the_picture_of_the_readme_is_current() {
    let (script, file) = ("scripts/picture.dscript", "docs/picture.svg");
    let finished = dscript(&["run", script], b"", root());
    assert_eq!((finished.status, finished.stderr.as_str()), (Some(0), ""), "{script} draws the picture");
    let picture = root().join(file);
    if blessing() {
        fs::write(&picture, &finished.stdout).expect("the picture can be written");
    }
    assert_eq!(read(&picture), finished.stdout, "dscript {script} > {file}");
    assert!(read(&root().join("README.md")).contains(&format!("]({file})")), "the README shows {file}");
}

/// `scripts/gallery.dscript` prints the pictures of `docs/plots.md`. `DSCRIPT_BLESS=1` rewrites the files.
#[test]
fn the_pictures_of_plots_are_current() {
    let (script, page) = ("scripts/gallery.dscript", read(&root().join("docs/plots.md")));
    let names = dscript(&["run", script], b"", root()).stdout;
    assert!(names.lines().count() >= 10, "{names}");
    for name in names.lines() {
        let finished = dscript(&["run", script, "--", name], b"", root());
        assert_eq!((finished.status, finished.stderr.as_str()), (Some(0), ""), "{script} draws {name}");
        let picture = root().join(format!("docs/plots/{name}.svg"));
        if blessing() {
            fs::write(&picture, &finished.stdout).expect("the picture can be written");
        }
        assert_eq!(read(&picture), finished.stdout, "dscript {script} -- {name} > docs/plots/{name}.svg");
        assert!(page.contains(&format!("](plots/{name}.svg)")), "docs/plots.md shows {name}");
    }
}

#[test]
fn the_scripts_run() {
    // The scripts read their data relative to the root, as in the README.
    let scripts = files(&root().join("scripts"), &["dscript"]);
    all(&scripts, |path| {
        let text = fs::read_to_string(path).map_err(|e| format!("{}: {e}", short(path)))?;
        let short = short(path);
        let mut arguments = vec!["run", "--color=never", "--timeout=100", &short];
        // A script that trains a model for a number of epochs does so for one.
        if text.contains("-- EPOCHS") {
            arguments.extend(["--", "1"]);
        }
        let finished = dscript(&arguments, b"", root());
        let expected = promised(&text);
        // The output of a long search may depend on the machine, but a program about the language states its output.
        let may_be_silent = !short.starts_with("scripts/language/");
        if finished.status != Some(0) || !(may_be_silent && expected.is_empty() || expected == finished.stdout) {
            let difference = difference(&expected, &finished.stdout);
            return Err(format!("{short}: exit status {:?}\n{difference}{}", finished.status, finished.stderr));
        }
        Ok(())
    });
}
