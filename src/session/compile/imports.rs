//! Imports: reads the files of a module, each once, imported files first.

use super::{package_module, program_file};
use crate::diagnostic::{Code, Diagnostic};
use crate::native::library;
use crate::session::{Folders, Input, Session};
use crate::source::Span;
use crate::syntax;
use crate::syntax::ast::{DeclKind, File, StmtKind};
use crate::syntax::is_library_module;
use crate::syntax::{RegexText, asynchronous_extensions, declared_tests, remaining_tasks};
use crate::types::names::module_name::is_in_module_folder;
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

/// The maximum nesting of imports.
const MAX_CHAIN: usize = 64;

/// The function that reads imported files: maps a path to the text of the file, or to the reason why the file cannot be
/// read. Files are opened only in the folders to which the program has read access.
pub type Loader = fn(&Path, &Folders) -> Result<String, String>;

/// The files of a module after parsing.
#[derive(Default)]
pub(crate) struct ModuleFiles {
    pub files: Vec<File>,
    /// The offset and the text of each file of the module.
    pub texts: Vec<(u32, Rc<str>)>,
    /// Whether each file is imported by another one.
    pub are_imported: Vec<bool>,
    pub diagnostics: Vec<Diagnostic>,
    /// The paths of the files of the module.
    pub paths: Vec<PathBuf>,
    /// Whether the space of source offsets is exhausted.
    pub is_full: bool,
    /// Whether a file lists tests, which run after the statements of all files.
    pub lists_tests: bool,
}

/// A failed `import` of a file: its source location and the message.
type Problem = (Span, String);

impl Session {
    /// Returns the names of the files that a text imports, as written in the text.
    pub fn imports(text: &str) -> Vec<String> {
        imports(text).into_iter().map(|(_, file)| file).collect()
    }

    /// Reads the files of a module, and all files that they import.
    pub(crate) fn load_files(&mut self, inputs: &[Input]) -> ModuleFiles {
        let mut loaded = ModuleFiles::default();
        for input in inputs {
            self.read(input, inputs, &mut vec![], &mut loaded);
        }
        self.select_declared_tests(&mut loaded);
        if loaded.lists_tests
            && let Some(last) = loaded.files.last_mut()
        {
            declared_tests::run_tests(last, !self.context.module.is_interactive);
        }
        if self.creates_tasks
            && let Some(last) = loaded.files.last_mut()
        {
            remaining_tasks::run_remaining_tasks(last);
        }
        loaded
    }

    fn read(&mut self, input: &Input, given: &[Input], importing: &mut Vec<PathBuf>, loaded: &mut ModuleFiles) {
        let path = plain(Path::new(input.name));
        if given.len() > 1 && loaded.paths.contains(&path) {
            return;
        }
        importing.push(path.clone());
        let mut problems: Vec<Problem> = vec![];
        for (span, file) in imports(input.text) {
            if let Err(problem) = self.import(&path, &file, given, importing, loaded) {
                problems.push((span, problem));
            }
        }
        for module in modules(input.text) {
            self.import_module(&path, &module, given, importing, loaded);
        }
        importing.pop();
        loaded.paths.push(path);
        let Some(id) = self.sources.add(input.name, input.text.to_owned()) else {
            loaded.is_full = true;
            return;
        };
        let start = self.sources.get(id).start;
        self.context.sink.name_text(start, input.name);
        let mut parsed = syntax::parse(input.text, start);
        self.creates_tasks |= remaining_tasks::may_create_tasks(input.text);
        asynchronous_extensions::split_rethrowing_methods(&mut parsed.file);
        self.select_test_blocks(&mut parsed.file, !importing.is_empty());
        let place = |span: Span| Span::new(span.start + start, span.end + start);
        let problems =
            problems.into_iter().map(|(span, problem)| Diagnostic::error(Code::Import, place(span), problem));
        loaded.diagnostics.extend(problems);
        loaded.diagnostics.extend(parsed.diagnostics);
        loaded.diagnostics.extend(parsed.regex_literals.iter().filter_map(invalid_regex));
        loaded.files.push(parsed.file);
        loaded.texts.push((start, Rc::from(input.text)));
        loaded.are_imported.push(!importing.is_empty());
    }

    /// Reads an imported file, unless it has been read before.
    fn import(
        &mut self,
        importer: &Path,
        file: &str,
        given: &[Input],
        importing: &mut Vec<PathBuf>,
        loaded: &mut ModuleFiles,
    ) -> Result<(), String> {
        let path = plain(&importer.parent().unwrap_or(Path::new("")).join(file));
        if let Some(at) = importing.iter().position(|p| *p == path) {
            let circle: Vec<String> =
                importing[at..].iter().chain([&path]).map(|p| format!("'{}'", p.display())).collect();
            return Err(match &circle[..] {
                [only, _] => format!("{only} imports itself"),
                _ => format!("these files import each other: {}", circle.join(" → ")),
            });
        }
        if loaded.paths.contains(&path) || self.imported.contains(&path) {
            return Ok(());
        }
        if importing.len() >= MAX_CHAIN {
            return Err(format!("imports are nested more than {MAX_CHAIN} deep"));
        }
        if let Some(input) = given.iter().find(|i| plain(Path::new(i.name)) == path) {
            self.read(input, given, importing, loaded);
            return Ok(());
        }
        let Some(load) = self.loader else { return Err("files cannot be imported here".to_owned()) };
        self.requests_files = true;
        let folders = &self.machine.host.access.read;
        if !folders.has(&path) {
            let access_help = crate::native::library::access_help(&path, "--allow-read");
            return Err(format!("cannot import '{file}': it is outside the program's folders; {access_help}"));
        }
        let text = load(&path, folders).map_err(|reason| format!("cannot import '{file}': {reason}"))?;
        let name = path.display().to_string();
        self.read(&Input { name: &name, text: &text }, given, importing, loaded);
        Ok(())
    }

    /// Reads the files of a module that is imported by name, if the module is neither a part of the library nor among the
    /// given files: a file of that name beside the importing file, or the files of a package.
    fn import_module(
        &mut self,
        importer: &Path,
        module: &str,
        given: &[Input],
        importing: &mut Vec<PathBuf>,
        loaded: &mut ModuleFiles,
    ) {
        let Some(load) = self.loader.filter(|_| !is_library_module(module)) else { return };
        self.requests_files = true;
        let given_paths = given.iter().map(|input| Path::new(input.name));
        let known: Vec<&Path> =
            given_paths.chain(loaded.paths.iter().chain(&*importing).map(PathBuf::as_path)).collect();
        if known.iter().any(|path| is_in_module_folder(path, module)) {
            return;
        }
        let is_loaded = known.iter().any(|path| path.file_stem().is_some_and(|stem| stem == module));
        let folder = importer.parent().unwrap_or(Path::new("")).to_owned();
        let allowed = self.machine.host.access.read.clone();
        let beside = program_file::EXTENSIONS.map(|extension| PathBuf::from(format!("{module}.{extension}")));
        let is_readable = |file: &&PathBuf| {
            let path = plain(&folder.join(file));
            !is_loaded && allowed.has(&path) && load(&path, &allowed).is_ok()
        };
        let files = match beside.iter().find(is_readable) {
            Some(file) => vec![file.clone()],
            // A file of another module may have the name of this one.
            None => package_module::files(&folder, module, &allowed),
        };
        for file in files {
            // A problem with the file leaves the module unknown, which is reported.
            let _ = self.import(importer, &file.display().to_string(), given, importing, loaded);
        }
    }
}

/// Returns the names of the modules that a text imports by name: of `Sorting` in `@testable import Sorting // all of it` and in
/// `import func Sorting.quick`.
fn modules(text: &str) -> Vec<String> {
    const KINDS: [&str; 8] = ["class", "enum", "func", "let", "protocol", "struct", "typealias", "var"];
    let module = |line: &str| {
        let line = line.split("//").next().unwrap_or_default();
        let mut words = line.split_whitespace().skip_while(|word| word.starts_with('@'));
        words.next().filter(|word| *word == "import")?;
        let path = words.find(|word| !KINDS.contains(word))?;
        path.split('.').next().map(str::to_owned)
    };
    let is_name = |word: &String| !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || c == '_');
    text.lines().filter_map(module).filter(is_name).collect()
}

/// Returns the names of the files that a text imports, with the source locations of the imports.
fn imports(text: &str) -> Vec<(Span, String)> {
    // Most files have no imports, and need no second parse.
    if !text.contains("import") {
        return vec![];
    }
    let decls = syntax::parse(text, 0).file.items.into_iter().filter_map(|s| match s.kind {
        StmtKind::Decl(decl) => Some(decl),
        _ => None,
    });
    let file = |decl: &DeclKind| match decl {
        DeclKind::Import { file, .. } => file.as_ref().map(ToString::to_string),
        _ => None,
    };
    decls.filter_map(|decl| file(&decl.kind).map(|file| (decl.span, file))).collect()
}

/// Simplifies a path: removes `.`, and `..` where possible.
fn plain(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if matches!(out.components().next_back(), Some(Component::Normal(_))) => {
                out.pop();
            }
            _ => out.push(part),
        }
    }
    out
}

/// Returns the diagnostic of a literal that is no regular expression.
fn invalid_regex(literal: &RegexText) -> Option<Diagnostic> {
    let (reason, column) = library::check_pattern(&literal.pattern).err()?;
    let has_lines = literal.pattern.contains('\n');
    let wrong = column.checked_sub(1).filter(|_| !has_lines).and_then(|at| literal.pattern.char_indices().nth(at));
    let place = wrong.map_or(literal.span, |(at, character)| {
        let start = literal.begin + at as u32;
        Span::new(start, start + character.len_utf8() as u32)
    });
    Some(Diagnostic::error(Code::Syntax, place, format!("cannot parse regular expression: {reason}")))
}
