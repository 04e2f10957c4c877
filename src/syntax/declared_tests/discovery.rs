//! Test discovery: finds the functions of a file that are tests, and the types that are suites.

use super::test_attribute::{self, TestAttribute};
use super::{TestFunction, TestLibrary, TestSuite, calls_main, imports, initializer_throws, members};
use crate::diagnostic::Diagnostic;
use crate::syntax::ast::{
    Attribute, Decl, DeclKind, File, FunctionDecl, NominalKind, StmtKind, TypeExpr, TypeExprKind,
};
use std::rc::Rc;

/// The superclass of the test cases of `XCTest`.
const TEST_CASE: &str = "XCTestCase";

/// Returns the suites of a file that have tests, in source order. `source` is the text of the file and its offset.
pub(super) fn suites(
    file: &File,
    source: (&str, u32),
    is_imported: &dyn Fn(&str) -> bool,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<TestSuite> {
    let mut found = Discovery { source, diagnostics, suites: vec![], cases: vec![TEST_CASE.to_owned()] };
    let declarations: Vec<&Rc<Decl>> = file
        .items
        .iter()
        .filter_map(|item| match &item.kind {
            StmtKind::Decl(decl) => Some(decl),
            _ => None,
        })
        .collect();
    if imports(file, "Testing") || is_imported("Testing") {
        for decl in &declarations {
            found.tests(decl, "", &[]);
        }
    }
    if (imports(file, "XCTest") || is_imported("XCTest")) && !calls_main(file) {
        found.note_cases(&declarations);
        for decl in &declarations {
            found.test_cases(decl, "");
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
    /// The names of the classes that are test cases of `XCTest`.
    cases: Vec<String>,
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

    /// Notes the classes that derive from test cases, in whichever order they are declared.
    fn note_cases(&mut self, declarations: &[&Rc<Decl>]) {
        loop {
            let before = self.cases.len();
            for decl in declarations {
                let DeclKind::Nominal(nominal) = &decl.kind else { continue };
                let is_case = |ty: &TypeExpr| type_path(ty).is_some_and(|name| self.cases.contains(&name));
                let name = nominal.name.name.to_string();
                if nominal.kind == NominalKind::Class
                    && !self.cases.contains(&name)
                    && nominal.inherits.first().is_some_and(is_case)
                {
                    self.cases.push(name);
                }
            }
            if self.cases.len() == before {
                return;
            }
        }
    }

    /// Adds the methods of test cases whose names begin with `test`.
    fn test_cases(&mut self, decl: &Decl, path: &str) {
        let path = match &decl.kind {
            DeclKind::Nominal(nominal) => qualified(path, &nominal.name.name),
            DeclKind::Extension(extension) => type_path(&extension.target).unwrap_or_default(),
            _ => return,
        };
        if !self.cases.contains(&path) || path == TEST_CASE {
            return;
        }
        for member in members(&decl.kind) {
            if let DeclKind::Function(function) = &member.kind
                && function.name.name.starts_with("test")
                && function.params.is_empty()
                && function.result.is_none()
                && !member.has("static")
                && !member.has("class")
            {
                self.suite(&path, TestLibrary::XCTest).tests.push(test_function(member, function));
            }
        }
    }
}

fn test_function(decl: &Decl, function: &FunctionDecl) -> TestFunction {
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

fn type_path(ty: &TypeExpr) -> Option<String> {
    match &ty.kind {
        TypeExprKind::Named(path) => {
            Some(path.iter().map(|(name, _)| name.name.to_string()).collect::<Vec<_>>().join("."))
        }
        _ => None,
    }
}
