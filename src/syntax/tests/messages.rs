use super::*;

/// Code, the text that is pointed at, and the message.
fn first(text: &str) -> (&'static str, String, String) {
    let parsed = read(text);
    let d = parsed.diagnostics.first().unwrap_or_else(|| panic!("{text} has no errors"));
    let place = text.get(d.primary.span.start as usize..d.primary.span.end as usize);
    (d.code.number(), place.unwrap_or("outside").to_owned(), d.message.clone())
}

fn says(cases: &[(&str, &str, &str, &str)]) {
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
    says(&[
        ("print(\"x = \\(x)\"", "E0101", "", "expected ')' to close '('"),
        ("f(a]", "E0101", "]", "expected ')' to close '('"),
        ("f(a))", "E0101", ")", "')' closes nothing"),
        ("func f() {\n  x\n", "E0101", "", "expected '}' to close '{'"),
        ("let s = \"abc\nlet y = 1", "E0102", "", "expected '\"' to end the string"),
        ("let s = \"\"\"\nabc", "E0102", "", "expected '\"\"\"' to end the string"),
        ("if x > 0 : return x", "E0107", ":", "expected '{' after the condition"),
        ("while x\n", "E0107", "", "expected '{' after the condition"),
        ("a +++ b", "E0105", "+++", "there is no operator '+++'"),
        ("x++", "E0105", "++", "there is no postfix operator '++'"),
        ("1/2x", "E0106", "2x", "brackets are needed to say what '/' divides by"),
        ("let = 3", "E0100", "=", "expected a name after 'let', found '='"),
        ("let x 3", "E0100", "3", "found '3' where a new line, ';' or an operator is expected"),
        ("x = )", "E0101", ")", "')' closes nothing"),
        ("x = * 3", "E0100", "*", "expected a value after '=', found '*'"),
        ("f(1, , 2)", "E0100", ",", "expected a value here, found ','"),
        ("a < b < c", "E0100", "<", "'<' and '<' side by side need brackets"),
        ("let x = .5", "E0104", ".5", "a number starts with a digit"),
        ("\"\\q\"", "E0104", "\\q", "'\\q' means nothing in a string"),
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
fn habits_of_other_languages_are_known() {
    let cases = [
        ("def f(x): return x", "functions are declared with 'func': func f(x) { … }"),
        ("fn f() {}", "functions are declared with 'func': func f(x) { … }"),
        ("const speed = 3", "write 'let' for a constant, 'var' for a variable"),
        ("double speed = 3.5", "the type stands behind the name: 'let x: Double = 1'"),
        ("var x = 1\nx++", "write 'x += 1'"),
        ("for i = 0; i < 3; i++ { print(i) }", "write 'for i in 0..<n { … }'"),
        ("for (i in 1...3) { print(i) }", "no brackets around it: 'for x in xs { … }'"),
        ("if a and b { print(1) }", "'and' is written '&&'"),
        ("while a or b { print(1) }", "'or' is written '||'"),
        ("print('hello')", "texts stand in double quotes: \"…\""),
        ("print \"hello\"", "a call has brackets: 'print(…)'"),
        ("# a comment", "comments begin with '//'"),
        ("var x := 3", "write 'let x = …', or 'x = …' for a variable that is there"),
        ("let x == 3", "'=' gives a value, '==' compares"),
        ("func f(x) -> Double: return x", "put the body in braces"),
        ("case 1: print(1)", "'case' and 'default' can only appear inside a 'switch' statement"),
        ("let xs: Int[] = []", "the type of an array is written '[Element]'"),
        ("if true { print(1) }\nelif false { print(2) }", "write 'else if'"),
    ];
    for (text, help) in cases {
        let diagnostic = read(text).diagnostics.remove(0);
        let helps: Vec<&str> = diagnostic.helps.iter().map(|h| h.text.as_str()).collect();
        assert!(helps.contains(&help), "{text}\n{helps:?}");
    }
}
