//! Test cases: the classes of a module that derive from `XCTestCase`, and the test methods that they inherit.

use super::discovery::{test_function, type_path};
use super::{TestFunction, imports, members};
use crate::syntax::ast::{Decl, DeclKind, File, FunctionDecl, Name, NominalKind, StmtKind};
use std::rc::Rc;

/// The superclass of the test cases of `XCTest`.
const TEST_CASE: &str = "XCTestCase";

/// The test cases of a module, and of earlier inputs of a session.
#[derive(Clone, Default)]
pub struct TestCases {
    /// The classes that derive from `XCTestCase`.
    cases: Vec<TestCase>,
    /// Whether a file imports `XCTest`.
    pub(super) is_imported: bool,
}

#[derive(Clone)]
struct TestCase {
    name: String,
    superclass: String,
    /// Whether the class has generic parameters, so that only its subclasses run its tests.
    is_generic: bool,
    tests: Vec<TestFunction>,
}

impl TestCases {
    /// Adds the test cases of the files of a module, in whichever order they are declared.
    pub fn add(&mut self, files: &[File]) {
        self.is_imported |= files.iter().any(|file| imports(file, "XCTest"));
        let declarations: Vec<&Decl> = files.iter().flat_map(declarations).map(|decl| &**decl).collect();
        // A later input may declare a type again.
        self.cases.retain(|case| !declarations.iter().any(|decl| type_name(decl) == Some(&case.name)));
        loop {
            let before = self.cases.len();
            for decl in &declarations {
                self.add_class(decl);
            }
            if self.cases.len() == before {
                break;
            }
        }
        for decl in declarations {
            let DeclKind::Extension(extension) = &decl.kind else { continue };
            let Some(name) = type_path(&extension.target) else { continue };
            if let Some(case) = self.cases.iter_mut().find(|case| case.name == name) {
                let known: Vec<Name> = case.tests.iter().map(|test| test.name.name.clone()).collect();
                case.tests.extend(declared_tests(decl).filter(|test| !known.contains(&test.name.name)));
            }
        }
    }

    fn add_class(&mut self, decl: &Decl) {
        let DeclKind::Nominal(nominal) = &decl.kind else { return };
        let (name, superclass) = (nominal.name.name.to_string(), nominal.inherits.first().and_then(type_path));
        if let Some(superclass) = superclass
            && nominal.kind == NominalKind::Class
            && !self.contains(&name)
            && (superclass == TEST_CASE || self.contains(&superclass))
        {
            let is_generic = !nominal.generics.params.is_empty();
            self.cases.push(TestCase { name, superclass, is_generic, tests: declared_tests(decl).collect() });
        }
    }

    /// Whether there are no test cases.
    pub fn is_empty(&self) -> bool {
        self.cases.is_empty()
    }

    /// Whether a class is a test case.
    fn contains(&self, name: &str) -> bool {
        self.cases.iter().any(|case| case.name == name)
    }

    /// Whether a class is a test case of which instances can be created, so that its tests are run.
    pub(super) fn runs(&self, name: &str) -> bool {
        self.cases.iter().any(|case| case.name == name && !case.is_generic)
    }

    /// Returns the tests that a test case inherits and does not override.
    pub(super) fn inherited_tests(&self, name: &str) -> Vec<TestFunction> {
        let find = |name: &str| self.cases.iter().find(|case| case.name == name);
        let mut tests: Vec<TestFunction> = vec![];
        let Some(own) = find(name) else { return tests };
        let mut case = find(&own.superclass);
        while let Some(superclass) = case {
            let is_new =
                |test: &&TestFunction| own.tests.iter().chain(&tests).all(|known| known.name.name != test.name.name);
            let new: Vec<TestFunction> = superclass.tests.iter().filter(is_new).cloned().collect();
            tests.splice(0..0, new);
            case = find(&superclass.superclass);
        }
        tests
    }
}

fn type_name(decl: &Decl) -> Option<&str> {
    match &decl.kind {
        DeclKind::Nominal(nominal) => Some(&nominal.name.name),
        _ => None,
    }
}

/// Returns the declarations at the top level of a file.
pub(super) fn declarations(file: &File) -> impl Iterator<Item = &Rc<Decl>> {
    file.items.iter().filter_map(|item| match &item.kind {
        StmtKind::Decl(decl) => Some(decl),
        _ => None,
    })
}

/// Returns the methods whose names begin with `test` in the declaration or extension of a test case.
pub(super) fn declared_tests(decl: &Decl) -> impl Iterator<Item = TestFunction> {
    members(&decl.kind).iter().filter_map(|member| match &member.kind {
        DeclKind::Function(function) if is_test(member, function) => Some(test_function(member, function)),
        _ => None,
    })
}

fn is_test(member: &Decl, function: &FunctionDecl) -> bool {
    function.name.name.starts_with("test")
        && function.params.is_empty()
        && function.result.is_none()
        && !["static", "class", "private"].iter().any(|modifier| member.has(modifier))
}
