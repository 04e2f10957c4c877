//! Tests of the renderer of diagnostics.

use super::{Form, render};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::{LibraryFile, SourceMap, Span};

const PROGRAM: &str = "let n = 3\nlet x = 2.0\nlet y = x * n\nprint(y)\n";

fn sources(text: &str) -> SourceMap {
    const LIBRARY: &[LibraryFile] =
        &[LibraryFile { name: "<prelude>/math", text: "func sin(_ x: Double) -> Double\n" }];
    let mut map = SourceMap::of_library(LIBRARY);
    map.add("fall.dscript", text.to_owned());
    map
}

/// Returns the span of the `n`th occurrence of a word in the second source.
fn span(map: &SourceMap, word: &str, n: usize) -> Span {
    let source = map.get(crate::source::SourceId(1));
    let at = source.text.match_indices(word).nth(n).map_or(0, |m| m.0) as u32 + source.start;
    Span::new(at, at + word.len() as u32)
}

fn mismatch(map: &SourceMap) -> Diagnostic {
    let n = span(map, "n", 1);
    Diagnostic::error(Code::Mismatch, span(map, "x * n", 0), "cannot multiply 'Double' by 'Int'")
        .label("these do not fit")
        .also(span(map, "3", 0), "'n' is 'Int' because of this literal")
        .note("there is no product of the two")
        .note_at(span(map, "2.0", 0), "'x' gets its type here")
        .fix("convert 'n' here", n, "Double(n)")
}

fn plain(diagnostics: &[Diagnostic], map: &SourceMap, form: Form) -> String {
    render(diagnostics, map, form, false, 100, false)
}

#[test]
fn the_full_form_shows_places_notes_and_edits() {
    let map = sources(PROGRAM);
    let expected = "\
error[E0201]: cannot multiply 'Double' by 'Int'
 --> fall.dscript:3:9
  |
1 | let n = 3
  |         - 'n' is 'Int' because of this literal
2 | let x = 2.0
3 | let y = x * n
  |         ^^^^^ these do not fit
  |
  = note: there is no product of the two
note: 'x' gets its type here
 --> fall.dscript:2:9
  |
2 | let x = 2.0
  |         ^^^
help: convert 'n' here
  |
3 - let y = x * n
3 + let y = x * Double(n)
  |

";
    assert_eq!(plain(&[mismatch(&map)], &map, Form::Full), expected);
}

#[test]
fn the_short_form_is_one_line_each() {
    let map = sources(PROGRAM);
    let expected = "\
fall.dscript:3:9: error: cannot multiply 'Double' by 'Int'
fall.dscript:3:9: note: there is no product of the two
fall.dscript:2:9: note: 'x' gets its type here
";
    assert_eq!(plain(&[mismatch(&map)], &map, Form::Short), expected);
}

#[test]
fn the_json_form_is_one_object_a_line() {
    let map = sources(PROGRAM);
    let text = plain(&[mismatch(&map), mismatch(&map)], &map, Form::Json);
    assert_eq!(text.lines().count(), 1, "a repetition is left out");
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value["kind"], "diagnostic");
    assert_eq!(value["code"], "E0201");
    assert_eq!((value["line"].as_u64(), value["endColumn"].as_u64()), (Some(3), Some(14)));
    assert_eq!(value["labels"][1]["line"], 1);
    assert_eq!(value["notes"][0]["line"], serde_json::Value::Null);
    assert_eq!(value["helps"][0]["edits"][0]["replacement"], "Double(n)");
}

#[test]
fn the_order_is_that_of_places_and_the_library_comes_last() {
    let map = sources(PROGRAM);
    let at = |word: &str, text: &str| Diagnostic::error(Code::Types, span(&map, word, 0), text);
    let all = [
        Diagnostic::error(Code::Types, Span::new(0, 4), "library"),
        at("print", "third"),
        Diagnostic::warning(Code::Unused, span(&map, "let", 0), "second"),
        at("let", "first"),
    ];
    let text = plain(&all, &map, Form::Short);
    let words: Vec<&str> = text.lines().filter_map(|l| l.rsplit(' ').next()).collect();
    assert_eq!(words, ["first", "second", "third", "library"]);
    assert!(plain(&all[..1], &map, Form::Full).contains("--> <prelude>/math:1:1"));
}

#[test]
fn after_twenty_errors_the_rest_is_counted() {
    let map = sources(PROGRAM);
    let all: Vec<Diagnostic> =
        (0..23).map(|i| Diagnostic::error(Code::Types, span(&map, "let", 0), format!("number {i}"))).collect();
    let text = plain(&all, &map, Form::Short);
    assert_eq!(text.lines().count(), 21);
    assert_eq!(text.lines().last(), Some("… and 3 more errors"));
}

#[test]
fn a_long_line_is_cut_and_its_column_is_right() {
    let text = format!("let é = [{}oops]\n", "1, ".repeat(3_000_000));
    let map = sources(&text);
    let oops = span(&map, "oops", 0);
    let error = Diagnostic::error(Code::UnknownName, oops, "no 'oops' in scope").fix("use 'o'", oops, "o");
    let out = plain(&[error], &map, Form::Full);
    assert!(out.contains("fall.dscript:1:9000010\n"), "{out}");
    assert!(out.contains("oops]") && out.len() < 2000, "{out}");
}

#[test]
fn a_long_stretch_shows_its_first_line() {
    let text = format!("func f() {{\n{}}}\n", "  print(1)\n".repeat(100_000));
    let map = sources(&text);
    let source = map.get(crate::source::SourceId(1));
    let whole = Span::new(source.start, source.start + source.text.len() as u32);
    let out = plain(&[Diagnostic::warning(Code::Unused, whole, "'f' is never called")], &map, Form::Full);
    assert!(out.contains("func f() {") && out.lines().count() < 8, "{out}");
}

#[test]
fn distant_places_get_a_snippet_each() {
    let text = format!("let a = 1\n{}a = 2\n", "\n".repeat(500));
    let map = sources(&text);
    let error = Diagnostic::error(Code::Immutable, span(&map, "a = 2", 0), "cannot assign to 'a'")
        .also(span(&map, "a", 0), "'a' is a constant");
    let out = plain(&[error], &map, Form::Full);
    let (first, second) = (out.find("fall.dscript:502:1"), out.find("fall.dscript:1:5"));
    assert!(first.is_some() && first < second, "{out}");
}

#[test]
fn odd_spans_and_odd_texts_do_no_harm() {
    for text in ["", "é", "\n", "\u{1b}[31m\t\r\n\u{202e}x"] {
        let map = sources(text);
        let start = map.get(crate::source::SourceId(1)).start;
        for (from, to) in [(0, 0), (0, 1), (1, 1), (1, 9), (3, 2), (900, 1000)] {
            let span = Span { start: start + from, end: start + to };
            let error = Diagnostic::error(Code::Syntax, span, "a\u{1b}[31m\nb")
                .label("l\u{7}")
                .also(span, "m")
                .note_at(span, "n")
                .fix("f", span, "x\u{1b}");
            for form in [Form::Full, Form::Short, Form::Json] {
                let out = plain(std::slice::from_ref(&error), &map, form);
                assert!(!out.contains('\u{1b}'), "{out:?}");
            }
        }
    }
    let nowhere = SourceMap::default();
    let error = Diagnostic::error(Code::Internal, Span::default(), "lost");
    assert_eq!(plain(std::slice::from_ref(&error), &nowhere, Form::Full), "error[E0999]: lost\n\n");
    assert_eq!(plain(&[error], &nowhere, Form::Short), "error: lost\n");
}

#[test]
fn color_is_only_written_on_request() {
    let map = sources(PROGRAM);
    let (with, without) = (
        render(&[mismatch(&map)], &map, Form::Full, true, 100, false),
        render(&[mismatch(&map)], &map, Form::Full, false, 100, false),
    );
    assert!(with.contains('\u{1b}') && !without.contains('\u{1b}'));
}

#[test]
fn messages_are_wrapped_between_words_on_request() {
    let map = sources(PROGRAM);
    let message = "these operands do not fit, because one of them is an integer and the other one is not";
    let error = Diagnostic::error(Code::Mismatch, span(&map, "x * n", 0), message)
        .help("convert the integer to a number with a fraction before the numbers are multiplied");
    let shown = render(std::slice::from_ref(&error), &map, Form::Full, false, 50, true);
    assert!(shown.lines().all(|line| line.chars().count() <= 50), "{shown}");
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words(&shown).contains(message), "{shown}");
    let whole = render(&[error], &map, Form::Full, false, 50, false);
    assert!(whole.contains(message), "{whole}");
}
