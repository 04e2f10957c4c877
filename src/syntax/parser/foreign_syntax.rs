//! Foreign syntax: recognizes constructs of other languages, and suggests their equivalents in dscript.

use crate::diagnostic::{Code, Diagnostic};
use crate::syntax::parser::failure_context::Context;

/// The words that begin declarations in other languages, with the equivalent in dscript, and the explanation.
const OPENERS: &[(&[&str], &str, &str)] = &[
    (&["def", "function", "fn", "fun", "proc"], "func", "functions are declared with 'func'"),
    (&["const", "val", "final"], "let", "constants are declared with 'let'"),
    (
        &["int", "double", "float", "string", "bool", "long", "char", "auto"],
        "var",
        "variables are declared with 'var', constants with 'let'",
    ),
];

/// The words that are operators in other languages, with the equivalent in dscript.
const OPERATORS: &[(&str, &str)] = &[("and", "&&"), ("or", "||"), ("mod", "%")];

type Recognizer = fn(&Context) -> Option<Diagnostic>;

const RECOGNIZERS: &[Recognizer] = &[
    opener,
    print_without_parentheses,
    operator_word,
    not_word,
    lambda,
    else_if,
    choice,
    single_quotes,
    equals_twice,
    counting_loop,
    result_after_colon,
    slice,
    dictionary_in_braces,
    let_before_function,
    colon_equals,
    typed_throws,
];

/// Returns the diagnostic for a construct of another language, if the error is such a construct.
pub(crate) fn explain(c: &Context) -> Option<Diagnostic> {
    RECOGNIZERS.iter().find_map(|recognize| recognize(c))
}

fn error(c: &Context, from: usize, to: usize, message: impl Into<String>) -> Diagnostic {
    Diagnostic::error(Code::Syntax, c.place(from, to), message)
}

/// Recognizes a declaration of another language: `def f(x)`, `const x = 3` or `int x = 3`.
fn opener(c: &Context) -> Option<Diagnostic> {
    let line = c.line_before();
    let (_, word, rule) = OPENERS.iter().find(|(words, ..)| words.contains(&&*line))?;
    if !c.starts_operand() {
        return None;
    }
    let end = c.end_before();
    let (from, to) = (end - line.len(), end);
    Some(error(c, from, to, format!("{rule}, not '{line}'")).fix(format!("write '{word}'"), c.place(from, to), *word))
}

/// Recognizes a call of `print` without parentheses: `print "text"`.
fn print_without_parentheses(c: &Context) -> Option<Diagnostic> {
    if c.line_before() != "print" || !c.starts_operand() {
        return None;
    }
    let mut d = error(c, c.at, c.at + c.found.len(), "'print' needs parentheses");
    let (open, close) = (c.place(c.end_before(), c.at), c.rest_of_line().after());
    d.helps.push(crate::diagnostic::Help {
        text: "enclose it in parentheses".into(),
        edits: vec![(open, "(".into()), (close, ")".into())],
    });
    Some(d)
}

/// Recognizes an operator that is a word: `a and b`.
fn operator_word(c: &Context) -> Option<Diagnostic> {
    let (word, operator) = OPERATORS.iter().find(|(word, _)| *word == c.found)?;
    let place = c.span;
    Some(error(c, c.at, c.at + word.len(), format!("'{word}' is written '{operator}'")).fix(
        format!("write '{operator}'"),
        place,
        *operator,
    ))
}

/// Recognizes the negation `not a`.
fn not_word(c: &Context) -> Option<Diagnostic> {
    if c.last_word() != "not" || !c.starts_operand() {
        return None;
    }
    let from = c.end_before() - 3;
    Some(error(c, from, from + 3, "'not' is written '!'").fix("write '!'", c.place(from, c.at), "!"))
}

/// Recognizes a closure of another language: `lambda x: …`.
fn lambda(c: &Context) -> Option<Diagnostic> {
    if c.last_word() != "lambda" {
        return None;
    }
    let from = c.end_before() - "lambda".len();
    Some(error(c, from, c.end_before(), "a closure is written in braces: '{ x in … }'"))
}

/// Recognizes an else-if branch of another language: `} elif …`.
fn else_if(c: &Context) -> Option<Diagnostic> {
    if !matches!(c.found, "elif" | "elsif" | "elseif") {
        return None;
    }
    let message = format!("'{}' is written 'else if'", c.found);
    Some(error(c, c.at, c.at + c.found.len(), message).fix("write 'else if'", c.span, "else if"))
}

/// Recognizes a conditional expression of another language: `a if condition else b`.
fn choice(c: &Context) -> Option<Diagnostic> {
    if c.found != "if" || c.line_before().is_empty() || !c.rest().contains(" else ") {
        return None;
    }
    Some(error(c, c.at, c.at + 2, "a conditional expression is written 'condition ? a : b'"))
}

/// Recognizes a string in single quotes: `'text'`.
fn single_quotes(c: &Context) -> Option<Diagnostic> {
    let inner = c.rest().strip_prefix('\'')?;
    let length = inner.find('\'')?;
    let to = c.at + length + 2;
    let text = c.text(c.at + 1, to - 1).filter(|t| !t.contains(['"', '\\']))?;
    Some(error(c, c.at, to, "a string is written in double quotes").fix(
        "use double quotes",
        c.place(c.at, to),
        format!("\"{text}\""),
    ))
}

/// Recognizes a comparison instead of an initial value: `let x == 3`.
fn equals_twice(c: &Context) -> Option<Diagnostic> {
    let line = c.line_before();
    let declares = line.starts_with("let ") || line.starts_with("var ");
    if c.found != "=" || !declares || c.last_byte() != b'=' || c.end_before() != c.at {
        return None;
    }
    let (from, to) = (c.at - 1, c.at + 1);
    Some(error(c, from, to, "'=' assigns a value, '==' compares").fix("write '='", c.place(from, to), "="))
}

/// Recognizes a counting loop of another language: `for (var i = 0; i < n; i += 1)`.
fn counting_loop(c: &Context) -> Option<Diagnostic> {
    let line = c.line_before();
    let head = line.strip_prefix("for")?.trim_start().strip_prefix('(')?;
    if !["var", "let", "int", "auto"].iter().any(|word| head.trim_start().starts_with(word)) || !c.rest().contains(';')
    {
        return None;
    }
    let message = "a counting loop is written 'for i in 0 ..< n { … }'";
    let from = c.end_before() - line.len();
    Some(
        error(c, from, from + 3, message)
            .help("for another step, write 'for x in stride(from: 0, to: n, by: 2) { … }'"),
    )
}

/// Recognizes a result type after a colon: `func f(x: Double): Double`.
fn result_after_colon(c: &Context) -> Option<Diagnostic> {
    let line = c.line_before();
    if c.found != ":" || c.last_byte() != b')' || !(line.starts_with("func ") || line.contains(" func ")) {
        return None;
    }
    Some(error(c, c.at, c.at + 1, "the result type is written after '->'").fix("write '->'", c.span, " ->"))
}

/// Recognizes a slice of another language: `xs[0:2]`.
fn slice(c: &Context) -> Option<Diagnostic> {
    let line = c.line_before();
    let at = c.found.eq(":").then(|| open_bracket(&line, '[')).flatten()?;
    let is_subscript = line[..at].ends_with(|ch: char| ch.is_alphanumeric() || matches!(ch, ')' | ']'));
    if !is_subscript {
        return None;
    }
    Some(error(c, c.at, c.at + 1, "a slice is written with a range").fix(
        "write a range, which excludes its end",
        c.span,
        " ..< ",
    ))
}

/// Recognizes a dictionary in braces: `{"a": 1}`.
fn dictionary_in_braces(c: &Context) -> Option<Diagnostic> {
    let line = c.line_before();
    let at = c.found.eq(":").then(|| open_bracket(&line, '{')).flatten()?;
    if !line[at + 1..].trim_start().starts_with('"') {
        return None;
    }
    Some(error(c, c.at, c.at + 1, "a dictionary is written in square brackets: '[key: value]'"))
}

/// Returns the offset of the last open bracket of a line if it is the bracket `wanted`.
fn open_bracket(line: &str, wanted: char) -> Option<usize> {
    let mut depth = 0usize;
    for (at, ch) in line.char_indices().rev() {
        match ch {
            ')' | ']' | '}' => depth += 1,
            '(' | '[' | '{' if depth > 0 => depth -= 1,
            '(' | '[' | '{' => return (ch == wanted).then_some(at),
            _ => {}
        }
    }
    None
}

/// Recognizes a formula after `let`: `let f(x) = …`.
fn let_before_function(c: &Context) -> Option<Diagnostic> {
    let line = c.line_before();
    let name = line.strip_prefix("let ").or_else(|| line.strip_prefix("var "))?;
    if c.found != "(" || name.contains(' ') || !c.rest().contains(") =") {
        return None;
    }
    let from = c.end_before() - line.len();
    let word = c.place(from, from + 4);
    Some(error(c, from, from + 3, format!("a function is defined without 'let': '{name}(x) = …'")).fix(
        "remove the keyword",
        word,
        "",
    ))
}

/// Recognizes a definition by `:=`: `f(x) := …`.
fn colon_equals(c: &Context) -> Option<Diagnostic> {
    if !c.rest().starts_with(":=") {
        return None;
    }
    let place = c.place(c.at, c.at + 2);
    Some(error(c, c.at, c.at + 2, "a definition is written with '='").fix("write '='", place, "="))
}

/// Recognizes a function with typed errors: `func f() throws(E)`.
fn typed_throws(c: &Context) -> Option<Diagnostic> {
    let line = c.line_before();
    let open = open_bracket(&line, '(').filter(|at| line[..*at].trim_end().ends_with("throws"))?;
    let length = c.rest().find(')')? + 1;
    let from = c.end_before() - (line.len() - open);
    let message = "the type of the errors that a function throws cannot be declared";
    Some(error(c, from, c.at + length, message).fix("remove the type", c.place(from, c.at + length), ""))
}
