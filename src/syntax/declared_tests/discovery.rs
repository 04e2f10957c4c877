//! Test discovery: finds the functions of a file that are tests, and the types that are suites.

use super::test_attribute::{self, TestAttribute};
use super::test_cases::{TestCases, declarations, declared_tests};
use super::{TestFunction, TestLibrary, TestSuite, calls_main, imports, initializer_throws};
use crate::diagnostic::Diagnostic;
use crate::syntax::ast::{Attribute, Decl, DeclKind, File, FunctionDecl, TypeExpr, TypeExprKind};

/// Returns the suites of a file that have tests, in source order. `source` is the text of the file and its offset, `cases`
/// are the test cases of the module.
pub(super) fn suites(
    file: &File,
    source: (&str, u32),
    cases: &TestCases,
    is_imported: &dyn Fn(&str) -> bool,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<TestSuite> {
    let mut found = Discovery { source, diagnostics, suites: vec![], cases };
    if imports(file, "Testing") || is_imported("Testing") {
        for decl in declarations(file) {
            found.tests(decl, "", &[]);
        }
    }
    if (cases.is_imported || is_imported("XCTest")) && !calls_main(file) {
        for decl in declarations(file) {
            found.test_cases(decl);
        }
    }
    found.suites.retain(|suite| !suite.tests.is_empty());
    // The tests outside of any type come first, because they have no heading.
    found.suites.sort_by_key(|suite| !suite.path.is_empty());
    found.suites
}

struct Discovery<'s> {
    /// The text of the file and its offset.
    source: (&'s str, u32),
    diagnostics: &'s mut Vec<Diagnostic>,
    suites: Vec<TestSuite>,
    /// The test cases of the module.
    cases: &'s TestCases,
}

impl Discovery<'_> {
    /// Returns the suite of a type, which is added if it is new.
    fn suite(&mut self, path: &str, library: TestLibrary) -> &mut TestSuite {
        let known = self.suites.iter().position(|suite| suite.path == path && suite.library == library);
        let at = known.unwrap_or(self.suites.len());
        if known.is_none() {
            let path = path.to_owned();
            self.suites.push(TestSuite { path, library, attributes: vec![], throws: false, tests: vec![] });
        }
        &mut self.suites[at]
    }

    /// Adds the functions marked `@Test` in a declaration, which lies in the type `path`. `around` are the arguments of
    /// the attributes of the types around it.
    fn tests(&mut self, decl: &Decl, path: &str, around: &[TestAttribute]) {
        match &decl.kind {
            DeclKind::Function(function) => {
                if let Some(attribute) = decl.attribute("Test") {
                    let attribute = self.read(attribute);
                    let test = TestFunction { attribute, ..test_function(decl, function) };
                    self.suite(path, TestLibrary::Testing).tests.push(test);
                }
            }
            DeclKind::Nominal(nominal) => {
                let path = qualified(path, &nominal.name.name);
                let mut attributes = around.to_vec();
                attributes.extend(decl.attribute("Suite").map(|attribute| self.read(attribute)));
                let suite = self.suite(&path, TestLibrary::Testing);
                suite.attributes.clone_from(&attributes);
                suite.throws = initializer_throws(nominal);
                for member in &nominal.members {
                    self.tests(member, &path, &attributes);
                }
            }
            DeclKind::Extension(extension) => {
                let Some(path) = type_path(&extension.target) else { return };
                for member in &extension.members {
                    self.tests(member, &path, &[]);
                }
            }
            _ => {}
        }
    }

    fn read(&mut self, attribute: &Attribute) -> TestAttribute {
        let (text, start) = self.source;
        // The arguments lie in parentheses after the name.
        let from = attribute.name.span.end + 1;
        let range = (from - start) as usize..(attribute.span.end - start) as usize;
        match text.get(range).and_then(|text| text.strip_suffix(')')) {
            Some(arguments) => test_attribute::read(arguments, from, self.diagnostics),
            None => TestAttribute::default(),
        }
    }

    /// Adds the tests of a test case: the methods whose names begin with `test`, and the inherited ones, which are reported
    /// at the class.
    fn test_cases(&mut self, decl: &Decl) {
        let (path, inherited) = match &decl.kind {
            DeclKind::Nominal(nominal) => {
                let name = &nominal.name;
                let mut tests = self.cases.inherited_tests(&name.name);
                for test in &mut tests {
                    (test.name.span, test.span) = (name.span, decl.span);
                }
                (name.name.to_string(), tests)
            }
            DeclKind::Extension(extension) => (type_path(&extension.target).unwrap_or_default(), vec![]),
            _ => return,
        };
        if self.cases.runs(&path) {
            let tests = &mut self.suite(&path, TestLibrary::XCTest).tests;
            tests.extend(inherited);
            tests.extend(declared_tests(decl));
        }
    }
}

pub(super) fn test_function(decl: &Decl, function: &FunctionDecl) -> TestFunction {
    TestFunction {
        name: function.name.clone(),
        labels: function.params.iter().map(|param| param.label.clone()).collect(),
        is_static: decl.has("static") || decl.has("class"),
        is_mutating: decl.has("mutating"),
        throws: function.throws,
        attribute: TestAttribute::default(),
        span: decl.span,
    }
}

fn qualified(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

pub(super) fn type_path(ty: &TypeExpr) -> Option<String> {
    match &ty.kind {
        TypeExprKind::Named(path) => {
            Some(path.iter().map(|(name, _)| name.name.to_string()).collect::<Vec<_>>().join("."))
        }
        _ => None,
    }
}
