//! Test calls: the calls of the library that list and run a declared test.

use super::{TestFunction, TestLibrary, TestSuite};
use crate::source::Span;
use crate::syntax::ast::{Arg, Block, Decl, DeclKind, Expr, ExprKind, Ident, Stmt, StmtKind, StringPart};
use crate::syntax::parse_at;
use std::rc::Rc;

/// Returns the statement that lists the tests of a suite: `_listTests(_TestSuite(…))`.
pub(super) fn listing(suite: &TestSuite) -> Stmt {
    let place = suite.tests.first().map_or(Span::default(), |test| test.name.span);
    let tests = suite.tests.iter().map(|test| entry(suite, test)).collect();
    let argument = Arg { label: None, value: Rc::new(suite_value(suite, tests, place)), trailing: false };
    statement(call("_listTests", vec![argument], place))
}

/// Returns the test block that runs a test: `test "name" { try _runAlone(_TestSuite(…)) }`. The names of the tests in
/// `before` are not used again.
pub(super) fn block(suite: &TestSuite, test: &TestFunction, before: &[Stmt]) -> Stmt {
    let place = test.name.span;
    let (title, shown) = (test_title(test), suite_title(suite));
    let title = if shown.is_empty() { title } else { format!("{shown}: {title}") };
    let name = |title: &str| format!("test \"{title}\"");
    let is_known = |title: &str| {
        before.iter().any(|stmt| match &stmt.kind {
            StmtKind::Decl(decl) => {
                matches!(&decl.kind, DeclKind::Test { name: known, .. } if *known.name == name(title))
            }
            _ => false,
        })
    };
    let function = &test.name.name;
    let longer = [title.clone(), format!("{title} ({function})"), format!("{title} ({}.{function})", suite.path)];
    let title = longer.into_iter().find(|title| !is_known(title)).unwrap_or(title);
    let argument = suite_value(suite, vec![entry(suite, test)], place);
    let argument = Arg { label: None, value: Rc::new(argument), trailing: false };
    let run = tried(call("_runAlone", vec![argument], place), true);
    let name = Ident { name: name(&title).into(), span: place };
    let body = Block { items: vec![statement(run)], span: place };
    let kind = DeclKind::Test { name, body };
    let decl = Decl { kind, attributes: vec![], modifiers: vec![], span: test.span, documentation: None };
    Stmt { kind: StmtKind::Decl(Rc::new(decl)), span: test.span }
}

/// Returns a suite with the given entries: `_TestSuite("name", [entries])`.
fn suite_value(suite: &TestSuite, entries: Vec<Expr>, place: Span) -> Expr {
    let mut args = vec![unlabeled(text(&suite_title(suite), place))];
    args.push(unlabeled(Expr { kind: ExprKind::Array(entries), span: place }));
    if suite.library == TestLibrary::XCTest {
        for name in ["setUp", "tearDown"] {
            let value = generated(&format!("{{ {}.{name}() }}", suite.path), place);
            let label = Some(Ident { name: name.into(), span: place });
            args.push(Arg { label, value: Rc::new(value), trailing: false });
        }
    }
    call("_TestSuite", args, place)
}

/// Returns the name of a suite as it is displayed.
fn suite_title(suite: &TestSuite) -> String {
    let own = suite.attributes.last().and_then(|attribute| attribute.title.clone());
    own.unwrap_or_else(|| suite.path.clone())
}

/// Returns the name of a test as it is displayed.
fn test_title(test: &TestFunction) -> String {
    test.attribute.title.clone().unwrap_or_else(|| test.name.name.to_string())
}

/// Returns the entry of a test in its suite: `_DeclaredTest("name", [traits]) { … }`.
fn entry(suite: &TestSuite, test: &TestFunction) -> Expr {
    let place = test.name.span;
    let attributes = suite.attributes.iter().chain([&test.attribute]);
    let traits = attributes.flat_map(|attribute| attribute.traits.clone()).collect();
    let args = vec![
        unlabeled(text(&test_title(test), place)),
        unlabeled(Expr { kind: ExprKind::Array(traits), span: place }),
        Arg { label: None, value: Rc::new(run(suite, test)), trailing: true },
    ];
    call("_DeclaredTest", args, place)
}

/// Returns the closure that runs a test, once for each of its arguments.
fn run(suite: &TestSuite, test: &TestFunction) -> Expr {
    let (place, collections) = (test.name.span, &test.attribute.collections);
    let throws = test.throws || suite.throws;
    let body = generated(&format!("{{ () throws -> Void in {} }}", test_body(suite, test, collections.len())), place);
    collections.iter().enumerate().rev().fold(body, |body, (number, collection)| {
        let inner = if number == 0 { "() throws -> Void in " } else { "" };
        // A closure that contains `try` may throw.
        let try_word = if throws { "try " } else { "" };
        let shape = format!("{{ {inner}{try_word}_eachArgument(0) {{ $x{number} in {try_word}0 }} }}");
        with_collection(generated(&shape, place), collection.clone(), closure_body(&body))
    })
}

/// Replaces the collection and the body of the closure in `{ _eachArgument(0) { $x in 0 } }`.
fn with_collection(mut outer: Expr, collection: Expr, body: Vec<Stmt>) -> Expr {
    let ExprKind::Closure(closure) = &mut outer.kind else { return outer };
    for item in &mut Rc::make_mut(closure).body.items {
        let StmtKind::Expr(value) = &mut item.kind else { continue };
        let value = match &mut value.kind {
            ExprKind::Try { value, .. } => Rc::make_mut(value),
            _ => value,
        };
        let ExprKind::Call { args, .. } = &mut value.kind else { continue };
        let [argument, each] = args.as_mut_slice() else { continue };
        argument.value = Rc::new(collection);
        if let ExprKind::Closure(each) = &mut Rc::make_mut(&mut each.value).kind {
            Rc::make_mut(each).body.items = body;
        }
        break;
    }
    outer
}

fn closure_body(closure: &Expr) -> Vec<Stmt> {
    match &closure.kind {
        ExprKind::Closure(closure) => closure.body.items.clone(),
        _ => vec![],
    }
}

/// Returns the source text that calls a test with the current elements of `collections` collections.
fn test_body(suite: &TestSuite, test: &TestFunction, collections: usize) -> String {
    let try_word = |throws: bool| if throws { "try " } else { "" };
    let (path, name) = (&suite.path, &test.name.name);
    if suite.library == TestLibrary::XCTest {
        let run = format!("{}$test.`{name}`()", try_word(test.throws));
        return format!("try _runTestCase({path}()) {{ ($test: {path}) throws -> Void in {run} }}");
    }
    let values: Vec<String> = match (collections, test.labels.len()) {
        // The elements of one collection are tuples if the test has several parameters.
        (1, count) if count > 1 => (0..count).map(|k| format!("$x0.{k}")).collect(),
        _ => (0..collections).map(|k| format!("$x{k}")).collect(),
    };
    let label = |label: &Option<Ident>| label.as_ref().map_or(String::new(), |l| format!("`{}`: ", l.name));
    let labels = test.labels.iter().map(label).chain(std::iter::repeat(String::new()));
    let arguments: Vec<String> = labels.zip(values).map(|(label, value)| label + &value).collect();
    let call = format!("`{name}`({})", arguments.join(", "));
    let (create, throws) = (format!("{}{path}()", try_word(suite.throws)), test.throws);
    match (path.is_empty(), test.is_static, test.is_mutating) {
        (true, ..) => format!("{}{call}", try_word(throws)),
        (false, true, _) => format!("{}{path}.{call}", try_word(throws)),
        (false, false, true) => format!("var $suite = {create}; {}$suite.{call}", try_word(throws)),
        (false, false, false) => format!("{}{path}().{call}", try_word(throws || suite.throws)),
    }
}

fn generated(text: &str, place: Span) -> Expr {
    match parse_at(text, place).items.pop().map(|item| item.kind) {
        Some(StmtKind::Expr(value)) => value,
        _ => Expr { kind: ExprKind::Error, span: place },
    }
}

fn statement(value: Expr) -> Stmt {
    let span = value.span;
    Stmt { kind: StmtKind::Expr(value), span }
}

fn tried(value: Expr, throws: bool) -> Expr {
    let span = value.span;
    match throws {
        true => {
            Expr { kind: ExprKind::Try { kind: crate::syntax::ast::TryKind::Propagate, value: Rc::new(value) }, span }
        }
        false => value,
    }
}

fn call(name: &str, args: Vec<Arg>, span: Span) -> Expr {
    let callee = Expr { kind: ExprKind::Ident { name: name.into(), generics: vec![] }, span };
    Expr { kind: ExprKind::Call { callee: Rc::new(callee), args }, span }
}

fn unlabeled(value: Expr) -> Arg {
    Arg { label: None, value: Rc::new(value), trailing: false }
}

fn text(text: &str, span: Span) -> Expr {
    Expr { kind: ExprKind::String(vec![StringPart::Text(text.into())]), span }
}
