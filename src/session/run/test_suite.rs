//! Test suite: runs the test blocks of a file, `test "name" { … }`.

use crate::diagnostic::Diagnostic;
use crate::ir::FunctionId;
use crate::session::compile::imports::ModuleFiles;
use crate::session::run::lazy_compiler::LazyCompiler;
use crate::session::{Compiled, Input, Options, Outcome, Session, Status};
use crate::syntax::ast::{DeclKind, File, Stmt, StmtKind};
use crate::syntax::declared_tests;
use crate::types::declare::test_block;
use crate::types::model::typed_tree::FunctionRef;
use crate::value::Components;
use std::io::Write;
use std::rc::Rc;

/// The test suite of a compiled module.
#[derive(Debug)]
pub struct Suite {
    script: FunctionId,
    functions: Vec<FunctionId>,
    /// The tests of the module, in source order.
    pub tests: Vec<Test>,
    /// The warnings about the module.
    pub diagnostics: Vec<Diagnostic>,
}

/// A test block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Test {
    /// The name of the test, without quotation marks.
    pub name: String,
    /// The file that contains the test.
    pub file: String,
    /// The line on which the test begins, from 1.
    pub line: u32,
}

/// The result of a test.
#[derive(Clone, PartialEq, Debug)]
pub struct TestRun {
    /// The outcome of the test.
    pub outcome: Outcome,
    /// Whether the statements before the test failed, so that the test did not run.
    pub is_before: bool,
    /// The reason why the test was skipped, which may be empty; `None` if it was not skipped.
    pub skip_reason: Option<String>,
}

impl Session {
    /// Whether a text may declare tests with one of Swift's libraries for tests.
    pub fn may_declare_tests(text: &str) -> bool {
        declared_tests::may_declare_tests(text)
    }

    /// Compiles a module with its tests; returns an outcome when there are errors.
    pub fn suite(&mut self, inputs: &[Input]) -> Result<Suite, Outcome> {
        let compiled = self.compile_with_tests(inputs)?;
        let (mut functions, mut tests) = (vec![], vec![]);
        for (function, name, span) in test_block::tests(&self.context, &compiled.checked.functions) {
            let function = FunctionRef { function, generics: vec![] };
            functions.push(self.lowering.function(&mut self.context, &mut self.program, &function));
            let (file, line) =
                self.sources.place(span.start).map_or_else(Default::default, |p| (p.name.to_string(), p.line));
            tests.push(Test { name: title(&name), file, line });
        }
        Ok(Suite { script: compiled.script, functions, tests, diagnostics: compiled.diagnostics })
    }

    /// Compiles a module with its tests, which are checked like functions; returns an outcome when there are errors.
    pub(crate) fn compile_with_tests(&mut self, inputs: &[Input]) -> Result<Compiled, Outcome> {
        self.keeps_tests = true;
        let compiled = self.compile_written(inputs, false);
        self.keeps_tests = false;
        compiled
    }

    /// Runs the statements of a module and then one of its tests, on a new machine that prints to `output`.
    pub fn run_test(&mut self, suite: &Suite, number: usize, options: &Options, output: Box<dyn Write>) -> TestRun {
        self.machine = crate::session::run::machine(options, crate::session::printing_to(options, output));
        if let Err(fault) = self.computed(suite.script) {
            let outcome = self.concluded(Err(fault), vec![]);
            return TestRun { outcome, is_before: true, skip_reason: None };
        }
        let Some(function) = suite.functions.get(number) else {
            let outcome = Outcome { diagnostics: vec![], status: Status::Done, value: None };
            return TestRun { outcome, is_before: false, skip_reason: None };
        };
        let mut compiler = LazyCompiler::with_sources(&self.program, &mut self.context, &self.sources)
            .marking_thresholds(self.observer_options.kinks);
        let result = self.machine.run(&mut compiler, function.0, Components::default());
        let skip_reason = self.machine.host.skip_reason.take();
        TestRun { outcome: self.concluded(result.map(|_| None), vec![]), is_before: false, skip_reason }
    }

    /// Selects the test blocks of a file: a program runs without test blocks, an importer excludes the tests of imported
    /// files, and a test block that is entered at a prompt runs immediately.
    pub(crate) fn select_test_blocks(&self, file: &mut File, is_imported: bool) {
        if self.context.module.is_interactive {
            for item in &mut file.items {
                if let Some(body) = body(item).cloned() {
                    item.kind = StmtKind::Do { thrown: None, body, catches: vec![] };
                }
            }
        } else if is_imported || !self.keeps_tests {
            file.items.retain(|item| body(item).is_none());
        }
    }

    /// Selects the tests that the files of a module declare with Swift's libraries: a test becomes a test block, or is listed
    /// so that it runs after the program. A superclass of a test case may be declared in another file.
    pub(crate) fn select_declared_tests(&mut self, loaded: &mut ModuleFiles) {
        let may_declare_tests = |(_, text): &(u32, Rc<str>)| declared_tests::may_declare_tests(text);
        if self.test_cases.is_empty() && !loaded.texts.iter().any(may_declare_tests) {
            return;
        }
        self.test_cases.add(&loaded.files);
        let ModuleFiles { files, texts, are_imported, diagnostics, lists_tests, .. } = loaded;
        let prelude = &self.context.defs.prelude;
        let has_imported = |module: &str| self.context.module.is_interactive && prelude.has_imported(module);
        for ((file, (start, text)), is_imported) in files.iter_mut().zip(texts).zip(are_imported) {
            if *is_imported {
                continue;
            }
            declared_tests::complete_tags(file);
            if self.keeps_tests {
                declared_tests::convert_tests(file, (text, *start), &self.test_cases, diagnostics);
            } else {
                let source = (&**text, *start);
                *lists_tests |= declared_tests::list_tests(file, source, &self.test_cases, &has_imported, diagnostics);
            }
        }
    }
}

/// Returns the block of a test declaration.
fn body(item: &Stmt) -> Option<&crate::syntax::ast::Block> {
    match &item.kind {
        StmtKind::Decl(decl) => match &decl.kind {
            DeclKind::Test { body, .. } => Some(body),
            _ => None,
        },
        _ => None,
    }
}

/// Returns the name of a test without quotation marks.
fn title(name: &str) -> String {
    let quoted = name.strip_prefix("test ").unwrap_or(name);
    quoted.strip_prefix('"').and_then(|n| n.strip_suffix('"')).unwrap_or(quoted).to_owned()
}
