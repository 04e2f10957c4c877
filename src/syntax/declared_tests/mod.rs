//! Declared tests: the tests that a file declares with Swift's libraries `Testing` (`@Test`) and `XCTest` (subclasses of
//! `XCTestCase`), and the calls of the library that run them.

mod discovery;
mod test_attribute;
mod test_call;
mod test_cases;

pub use self::test_cases::TestCases;

use self::test_attribute::TestAttribute;
use super::ast::{Decl, DeclKind, ExprKind, File, Ident, NominalDecl, Stmt, StmtKind};
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use std::rc::Rc;

/// The tests that belong to one type, or the tests outside of any type.
struct TestSuite {
    /// The name of the type, qualified by the types in which it is nested; empty for tests outside of any type.
    path: String,
    library: TestLibrary,
    /// The arguments of the attributes `@Suite` of the type and of the types around it, the innermost last.
    attributes: Vec<TestAttribute>,
    /// Whether creating an instance may throw an error.
    throws: bool,
    tests: Vec<TestFunction>,
}

/// The library with which a test is declared.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TestLibrary {
    Testing,
    XCTest,
}

/// A function that is a test.
#[derive(Clone)]
struct TestFunction {
    name: Ident,
    /// The argument labels of the parameters.
    labels: Vec<Option<Ident>>,
    is_static: bool,
    is_mutating: bool,
    throws: bool,
    /// The arguments of the attribute `@Test`.
    attribute: TestAttribute,
    /// The span of the declaration.
    span: Span,
}

/// Adds a statement to a file that lists the tests of the file; returns whether there are any. The text of the file has
/// the offset `start`; `cases` are the test cases of the module. `is_imported` states which modules earlier inputs of a session
/// have imported.
pub fn list_tests(
    file: &mut File,
    (text, start): (&str, u32),
    cases: &TestCases,
    is_imported: &dyn Fn(&str) -> bool,
    diagnostics: &mut Vec<Diagnostic>,
) -> bool {
    let suites = discovery::suites(file, (text, start), cases, is_imported, diagnostics);
    let statements: Vec<Stmt> = suites.iter().map(test_call::listing).collect();
    let any = !statements.is_empty();
    file.items.extend(statements);
    any
}

/// Adds the statement that runs the listed tests to a file. After a failed test it ends the program, if `exits` is set.
pub fn run_tests(file: &mut File, exits: bool) {
    let place = file.items.last().map_or(Span::default(), |last| last.span);
    file.items.extend(super::parse_at(&format!("_runListedTests(exits: {exits})"), place).items);
}

/// Replaces the tests of a file by test blocks, which `dscript test` runs. `cases` are the test cases of the module.
pub fn convert_tests(
    file: &mut File,
    (text, start): (&str, u32),
    cases: &TestCases,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let suites = discovery::suites(file, (text, start), cases, &|_| false, diagnostics);
    let mut blocks: Vec<Stmt> = vec![];
    for suite in &suites {
        for test in &suite.tests {
            blocks.push(test_call::block(suite, test, &blocks));
        }
    }
    file.items.extend(blocks);
}

/// Whether a text may declare tests: a quick check, because most files declare none.
pub fn may_declare_tests(text: &str) -> bool {
    text.contains("@Test") || text.contains("XCTest")
}

/// Completes the declarations of tags: `@Tag static var critical: Self` has the name of the variable as its value.
pub fn complete_tags(file: &mut File) {
    for item in &mut file.items {
        let StmtKind::Decl(decl) = &mut item.kind else { continue };
        if has_tag(decl) {
            complete_tags_in(Rc::make_mut(decl));
        }
    }
}

fn has_tag(decl: &Decl) -> bool {
    decl.attribute("Tag").is_some() || members(&decl.kind).iter().any(|member| has_tag(member))
}

fn members(kind: &DeclKind) -> &[Rc<Decl>] {
    match kind {
        DeclKind::Extension(extension) => &extension.members,
        DeclKind::Nominal(nominal) => &nominal.members,
        _ => &[],
    }
}

fn complete_tags_in(decl: &mut Decl) {
    match &mut decl.kind {
        DeclKind::Extension(extension) => extension.members.iter_mut().for_each(|m| complete_tags_in(Rc::make_mut(m))),
        DeclKind::Nominal(nominal) => nominal.members.iter_mut().for_each(|m| complete_tags_in(Rc::make_mut(m))),
        DeclKind::Variable { bindings, .. } if decl.attributes.iter().any(|a| &*a.name.name == "Tag") => {
            decl.attributes.retain(|attribute| &*attribute.name.name != "Tag");
            for binding in bindings.iter_mut().filter(|b| b.value.is_none() && b.accessors.is_none()) {
                binding.value = super::parse_at("Tag()", decl.span).items.pop().and_then(|item| match item.kind {
                    StmtKind::Expr(value) => Some(value),
                    _ => None,
                });
            }
        }
        _ => {}
    }
}

/// Whether a file calls `XCTMain`, which runs the tests that its argument lists.
fn calls_main(file: &File) -> bool {
    let callee = |stmt: &Stmt| match &stmt.kind {
        StmtKind::Expr(e) => match &e.kind {
            ExprKind::Call { callee, .. } => {
                matches!(&callee.kind, ExprKind::Ident { name, .. } if &**name == "XCTMain")
            }
            _ => false,
        },
        _ => false,
    };
    file.items.iter().any(callee)
}

/// Whether a file imports a module.
fn imports(file: &File, module: &str) -> bool {
    file.items.iter().any(|item| match &item.kind {
        StmtKind::Decl(decl) => match &decl.kind {
            DeclKind::Import { path, .. } => path.first().is_some_and(|first| &*first.name == module),
            _ => false,
        },
        _ => false,
    })
}

/// Whether creating an instance of a type may throw an error.
fn initializer_throws(nominal: &NominalDecl) -> bool {
    nominal.members.iter().any(|member| matches!(&member.kind, DeclKind::Init { function, .. } if function.throws))
}
