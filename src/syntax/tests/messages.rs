//! Tests of the parser: messages and their source locations.

use super::*;

/// Returns the code of the first diagnostic of a text, the text of its span, and the message.
fn first(text: &str) -> (&'static str, String, String) {
    let parsed = read(text);
    let d = parsed.diagnostics.first().unwrap_or_else(|| panic!("{text} has no errors"));
    let place = text.get(d.primary.span.start as usize..d.primary.span.end as usize);
    (d.code.number(), place.unwrap_or("outside").to_owned(), d.message.clone())
}

fn reports(cases: &[(&str, &str, &str, &str)]) {
    let mut wrong = vec![];
    for (text, code, place, message) in cases {
        let found = first(text);
        if (found.0, found.1.as_str(), found.2.as_str()) != (*code, *place, *message) {
            wrong.push(format!(
                "{text}\n  expected {code} {place:?} {message}\n  found    {} {:?} {}",
                found.0, found.1, found.2
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn errors_point_at_the_place() {
    reports(&[
        ("print(\"x = \\(x)\"", "E0101", "", "expected ')' to close '('"),
        ("f(a]", "E0101", "]", "expected ')' to close '('"),
        ("f(a))", "E0101", ")", "unmatched ')'"),
        ("func f() {\n  x\n", "E0101", "", "expected '}' to close '{'"),
        ("let s = \"abc\nlet y = 1", "E0102", "", "expected '\"' to end the string"),
        ("let s = \"\"\"\nabc", "E0102", "", "expected '\"\"\"' to end the string"),
        ("if x > 0 : return x", "E0107", ":", "expected '{' after the condition"),
        ("while x\n", "E0107", "", "expected '{' after the condition"),
        ("a +++ b", "E0105", "+++", "there is no operator '+++'"),
        ("x++", "E0105", "++", "there is no postfix operator '++'"),
        ("1/2x", "E0106", "2x", "the divisor of '/' is ambiguous without parentheses"),
        ("let = 3", "E0100", "=", "expected a name after 'let', found '='"),
        ("let x 3", "E0100", "3", "expected a new line, ';' or an operator, found '3'"),
        ("x = )", "E0101", ")", "unmatched ')'"),
        ("x = * 3", "E0100", "*", "expected a value after '=', found '*'"),
        ("f(1, , 2)", "E0100", ",", "expected a value here, found ','"),
        ("a < b < c", "E0100", "<", "'<' and '<' cannot be combined without parentheses"),
        ("let x = .5", "E0104", ".5", "number literal must start with a digit"),
        ("\"\\q\"", "E0104", "\\q", "invalid escape sequence '\\q' in a string"),
        ("for i in 0..3 {}", "E0105", "..", "there is no operator '..'"),
        ("let x = 1 +\nlet y = 2", "E0100", "", "expected a value after '+'"),
        ("func f { }", "E0100", "{", "expected '(' and the parameters of the function, found '{'"),
    ]);
}

#[test]
fn an_unclosed_bracket_shows_where_it_was_opened() {
    let d = read("print(\"x = \\(x)\"").diagnostics.remove(0);
    assert_eq!((d.secondary[0].span.start, d.secondary[0].text.as_str()), (5, "'(' opened here"));
    assert_eq!((d.primary.span.start, d.primary.text.as_str()), (16, "expected ')' here"));
}

#[test]
fn a_body_without_braces_is_repaired() {
    let d = read("if x > 0 : return x").diagnostics.remove(0);
    assert_eq!(d.helps[0].edits[0].1, "{ return x }");
    assert_eq!(d.helps[0].edits[0].0, crate::source::Span::new(9, 19));
}

#[test]
fn a_prompt_knows_when_to_wait() {
    for text in [
        "f(",
        "func f() {",
        "let s = \"\"\"\n a",
        "1 +",
        "1+",
        "x = ",
        "let x =",
        "if x",
        "struct S",
        "a ? b :",
        "x.",
        "[1,",
        "/* a",
        "#if DEBUG",
        "@differentiable",
        "for i in",
        "let x:",
        "a\n  &&",
        "func f() ->",
        "import",
        "f(x) =",
        "return {",
    ] {
        assert!(parse(text, 0).incomplete, "{text}");
    }
    for text in ["", "1", "f()", "x...", "let x", "}", "f(]", "\"abc", "let 3", "a b", "break", "return"] {
        assert!(!parse(text, 0).incomplete, "{text}");
    }
}

#[test]
fn every_declaration_can_have_its_error() {
    let parsed = read("func f() {\n  let 3\n}\nlet x = 1\n@a\nfunc g() { 1 2 }\nstruct S { let }\nprint(x)\n");
    let lines: Vec<_> = parsed.diagnostics.iter().map(|d| d.primary.span.start).collect();
    assert_eq!(lines, [17, 47, 66]);
    assert_eq!(read("@a\nfunc f(\n").diagnostics.len(), 1);
    assert_eq!(read("@a\nfunc f<\n").diagnostics.len(), 1);
    assert_eq!(parsed.file.items.len(), 1);
}

#[test]
fn a_bracket_is_missed_where_the_next_statement_begins() {
    let place = |text: &str| read(text).diagnostics.remove(0).primary.span.start;
    assert_eq!(place("print((1 + 2)\nprint(3)\n"), 13);
    assert_eq!(place("print(\n  1,\n  2\nlet y = 3\n"), 15);
    assert_eq!(place("func f() {\n  x\n\nfunc g() {}\n"), 14);
    // The body is not indented, so its end cannot be guessed.
    assert_eq!(place("func f() {\nx\n"), 12);
    // A continuation line does not begin a new statement.
    assert_eq!(place("f(a\n+ b"), 7);
}
