//! Tests of the parser: deeply nested, very long, incomplete and random inputs.

use super::*;
use proptest::prelude::*;
use std::time::{Duration, Instant};

/// Parses a text in bounded time; returns whether it has no errors.
fn quickly(text: String) -> bool {
    let from = Instant::now();
    let start: String = text.chars().take(30).collect();
    let fine = roomy(move || read(&text).diagnostics.is_empty());
    assert!(from.elapsed() < Duration::from_secs(20), "{start:?} took {:?}", from.elapsed());
    fine
}

#[test]
fn nested_brackets_neither_overflow_nor_take_for_ever() {
    let patterns = [
        "(",
        "[",
        "{",
        "a<",
        "(a: ",
        "[a: ",
        "{ x in ",
        "{ [a = ",
        "f(x: ",
        "if a { ",
        "switch a { case .a(",
        "\"\\(",
        "a ? ",
        "- ",
        "!",
        "√",
        "∇",
        "try ",
        "let ",
        "a.",
        "a?",
        "x = ",
        "a + ",
        "func f() { ",
        "struct S { ",
        "@a(",
        "@a ",
        "/*",
        "#if x\n",
        "(a<",
        "{ (a: ",
        "var x: Int { get { ",
        "return\nf({ ",
        "if let x = { ",
        "if if ",
        "else if ",
        "a' ",
        "\\.a",
        "() -> ",
        "let x: A<",
        "let x: [",
        "let x: (",
        "let x: some ",
        "case .a(",
        "a as ",
        "a is ",
        "f { } x: ",
        "{ @a ",
        "#a(",
        "`",
        "2(",
        "a\n.b",
        "a!",
        "T?",
        "let x: T??",
        "case let ",
        "for x in ",
        "while ",
        "do { ",
        "a: ",
        "a, ",
        "&",
        "0x",
        "1e",
        "é",
        "²",
        "'",
        "\\.a[",
        "f { } x: { ",
        "∇(",
        "∂(",
        "√(",
        "f(x)(",
        "a[",
        "@differentiable(",
        "a<b>(",
        "{ in ",
        "[: ",
        "a.b(",
        "x! ",
        "{ [weak a, b = ",
        "-(",
        "... ",
        "for x in [",
        "a ? (",
        "@a(b) ",
        "\\(",
        "let (a, ",
        "f (a) { ",
        "catch .a({ ",
    ];
    for pattern in patterns {
        for count in [300, 20_000] {
            quickly(pattern.repeat(count));
        }
        // The brackets are nested to the limit, with an error at the innermost level: no level may be parsed twice.
        quickly(format!("{}§", pattern.repeat(120)));
        let closers: String = pattern
            .repeat(120)
            .chars()
            .rev()
            .filter_map(|c| match c {
                '(' => Some(')'),
                '[' => Some(']'),
                '{' => Some('}'),
                _ => None,
            })
            .collect();
        quickly(format!("{}1 2{closers}", pattern.repeat(120)));
        quickly(format!("{}1{closers}", pattern.repeat(120)));
    }
}

#[test]
fn a_long_sum_is_folded() {
    let sum = format!("let x = {}", vec!["x"; 10_000].join(" + "));
    assert!(quickly(sum), "ten thousand terms are fine");
    let sum = vec!["x"; 50_000].join(" + ");
    assert!(!quickly(sum), "fifty thousand are not");
}

#[test]
fn long_lines_end() {
    for text in [
        vec!["x"; 250_000].join(" + "),
        format!("\"{}\"", "a".repeat(1 << 20)),
        format!("[{}]", vec!["1"; 300_000].join(", ")),
        format!("x = {}", "/[".repeat(120)),
        format!("x = {}", "\\/".repeat(20_000)),
        format!("x = {}", "#/ ".repeat(20_000)),
        format!("x = {}", "(/\\".repeat(100)),
    ] {
        quickly(text);
    }
}

#[test]
fn prefixes_of_programs() {
    roomy(|| {
        for (_, text) in programs() {
            for (end, _) in text.char_indices().step_by(7) {
                let parsed = read(&text[..end]);
                let _ = dump(&parsed.file);
            }
        }
    });
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_soup_of_tokens(words in proptest::collection::vec(proptest::sample::select(vec![
        "let ", "var ", "func ", "f", "x", "(", ")", "[", "]", "{", "}", "<", ">", "=", "==", " + ", "-", "*", "/", "^", "²", "'", "\\.a[", "f { } x: { ", "∇(", "∂(", "√(", "a[", "@differentiable(", "a<b>(", "(a: [", "f(\n", "a.b(", "∇", "∂",
        "√", "1", "2.5", "0x", "\"", "\\(", "\"\"\"", "#", "if ", "else ", "switch ", "case ", "default", ":", ";", "\n", ",", ".", "?", "!",
        "in ", "where ", "struct ", "enum ", "protocol ", "extension ", "init", "subscript", "@differentiable", "@derivative(of: ", "wrt: ",
        "->", " ", "&", "_", "$0", "`", "try ", "as ", "is ", "return ", "for ", "while ", "guard ", "get ", "set ", "é", "//", "/*", "*/",
        "#if ", "#endif", "true", "nil", "\\.", "...", "..<", "operator ", "infix ", "some ", "any ", "\u{1}", "\u{2}", "\u{0}", "\r", "\u{301}",
    ]), 0..40)) {
        let text: String = words.concat();
        roomy(move || {
            let parsed = read(&text);
            let _ = dump(&parsed.file);
            for d in &parsed.diagnostics {
                assert!(d.primary.span.start <= d.primary.span.end && d.primary.span.end as usize <= text.len(), "{text:?} {d:?}");
            }
        });
    }

    #[test]
    fn any_text(text in "\\PC{0,60}") {
        roomy(move || {
            let _ = read(&text);
        });
    }
}

/// Measures the speed of the parser. The measurement is run by hand: `cargo test --release speed -- --ignored
/// --nocapture`.
#[test]
#[ignore = "a measurement"]
#[allow(clippy::print_stdout)]
fn speed() {
    roomy(|| {
        let text: String = programs().map(|p| p.1).filter(|p| !p.starts_with("#!")).collect::<String>().repeat(30);
        let from = Instant::now();
        let mut parsed = parse(&text, 0);
        let parsing = from.elapsed();
        fold_file(&mut parsed.file, &OperatorTable::standard());
        let all = from.elapsed();
        println!(
            "{} bytes: {:.2} MB/s parsing, {:.2} with folding; {:?}",
            text.len(),
            text.len() as f64 / parsing.as_secs_f64() / 1e6,
            text.len() as f64 / all.as_secs_f64() / 1e6,
            parsed.diagnostics.first()
        );
    });
}
