//! Functions of several lines in Python (`def f(n):`) and Julia (`function f(n) … end`): their declaration with types,
//! braces, and declared variables.

use super::pattern::Code;
use super::token::{Kind, tokens};
use super::word_classes::type_here;
use super::{Replacement, Search};
use std::fmt::Write as _;

const MESSAGE: &str = "a function is declared with 'func', and blocks are written in braces";

/// The type of the numbers of a function that does not state the types of its parameters.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Numbers {
    /// All numbers are of the type `Double`.
    Real,
    /// All numbers are of the type `Int`.
    Whole,
    /// Parameters are of the type `Double`; variables have the types of their initial values.
    Mixed,
    /// The parameters are texts.
    Texts,
}

/// A function in another language.
struct Function<'t> {
    name: &'t str,
    /// The code of the parameters.
    params: &'t str,
    result: Option<&'t str>,
    /// The lines of the body.
    lines: Vec<&'t str>,
    /// Whether blocks end with `end` instead of at the indentation.
    has_ends: bool,
}

impl Search<'_> {
    /// Returns the declarations that a function of several lines could mean.
    pub(super) fn block_functions(&self) -> Vec<Replacement> {
        let Some((function, from, to)) = self.block_function() else { return vec![] };
        let all = [Numbers::Real, Numbers::Whole, Numbers::Mixed, Numbers::Texts];
        let written = all.into_iter().filter(|n| function.divides_in(*n)).map(|n| function.written(n));
        let replacement = |code: String| Replacement {
            message: MESSAGE.to_owned(),
            is_guess: true,
            ..Replacement::certain(from..to, code)
        };
        written.map(replacement).collect()
    }

    /// Returns the function whose first line or body has the error, with its range.
    fn block_function(&self) -> Option<(Function<'_>, usize, usize)> {
        let code = &self.code;
        let is_head = |at: &usize| {
            code.begins_statement(*at)
                && matches!(code.word(*at), Some("def" | "function"))
                && code.is(at + 1, Kind::Word)
                && code.word(at + 2) == Some("(")
        };
        let head = (0..=self.focus).rev().find(is_head)?;
        let close = code.closed(head + 2)?;
        let has_ends = code.word(head) == Some("function");
        let params = code.slice(head + 3, close - 1);
        let name = code.word(head + 1)?;
        let (first, last, result) = if has_ends {
            (close, self.end_of_block(close)?, None)
        } else {
            let colon = (close..code.line_end(close)).rev().find(|at| code.word(*at) == Some(":"))?;
            let result = (code.word(close) == Some("->")).then(|| code.slice(close + 1, colon));
            let last = code.indented(head, colon + 1).or_else(|| code.end_of_quotient(colon + 1));
            (colon + 1, last?, result)
        };
        if last <= first {
            return None;
        }
        let body_end = if has_ends { code.tokens[last].from } else { code.tokens[last - 1].to };
        let is_block = code.is(first, Kind::LineBreak);
        let body = &code.text[if is_block { code.tokens[first].to } else { code.tokens[first].from }..body_end];
        let is_documentation = |line: &str| line.starts_with("\"\"\"") && line.len() > 3 && line.ends_with("\"\"\"");
        let is_code = |line: &&str| {
            let line = line.trim();
            !line.is_empty() && !line.starts_with('#') && !is_documentation(line)
        };
        let lines = body.lines().filter(is_code).collect();
        let to = if has_ends { code.tokens[last].to } else { body_end };
        Some((Function { name, params, result, lines, has_ends }, code.tokens[head].from, to))
    }

    /// Returns the index of the `end` that ends a block.
    fn end_of_block(&self, from: usize) -> Option<usize> {
        let code = &self.code;
        let mut depth = 1usize;
        for at in from..code.tokens.len() {
            match code.word(at)? {
                "while" | "if" | "for" | "function" | "begin" if code.begins_statement(at) => depth += 1,
                "end" => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return Some(at);
            }
        }
        None
    }
}

impl Code<'_> {
    /// Returns the end of a line that ends with a quotient of Python: `return n // 2`.
    fn end_of_quotient(&self, from: usize) -> Option<usize> {
        let at =
            (from..self.tokens.len()).find(|at| matches!(self.tokens[*at].kind, Kind::Comment | Kind::LineBreak))?;
        self.word(at)?.starts_with("//").then_some(at + 1)
    }
}

impl Function<'_> {
    /// Writes the function.
    fn written(&self, numbers: Numbers) -> String {
        let number = match numbers {
            Numbers::Real | Numbers::Mixed => "Double",
            Numbers::Whole => "Int",
            Numbers::Texts => "String",
        };
        let result = match self.result {
            Some(ty) => format!(" -> {}", type_here(ty.trim())),
            None if self.returns_value() => format!(" -> {number}"),
            None => String::new(),
        };
        let mut out = format!("func {}({}){result} {{\n", self.name, self.parameters(number));
        let names = self.parameter_names();
        for name in names.iter().filter(|name| self.assignments(name) > 0) {
            let _ = writeln!(out, "    var {name} = {name}");
        }
        self.body(&names, numbers, &mut out);
        out.push('}');
        out
    }

    /// Whether the divisions of the function have the same meaning with numbers of a type.
    fn divides_in(&self, numbers: Numbers) -> bool {
        let has = |operator: &str| {
            self.lines
                .iter()
                .any(|line| tokens(line, 0, line.len()).iter().any(|t| line[t.from..].starts_with(operator)))
        };
        let divides = |operator: &str| has(operator) && !has("//");
        match numbers {
            Numbers::Real => !has("//"),
            Numbers::Whole => !divides("/"),
            Numbers::Mixed | Numbers::Texts => !has("/"),
        }
    }

    /// Whether the function returns a value: after `return`, or in the last line of a function that ends with `end`.
    fn returns_value(&self) -> bool {
        let is_return = |line: &&str| line.trim().strip_prefix("return").is_some_and(|value| !value.trim().is_empty());
        self.lines.iter().any(is_return) || self.last_value().is_some()
    }

    /// Returns the last line of a function that ends with `end`, if it is the value of the function.
    fn last_value(&self) -> Option<usize> {
        let last = self.lines.last().filter(|_| self.has_ends)?.trim();
        let is_statement = last == "end" || last.starts_with("return") || last.starts_with("print");
        let is_value = !is_statement && assigned(last).is_none();
        is_value.then(|| self.lines.len() - 1)
    }

    /// Returns the parts of the parameters: whether a parameter has a label, its name, type and default value.
    fn parts(&self) -> Vec<(bool, &str, Option<&str>, Option<&str>)> {
        let mut found = vec![];
        for (group, part) in self.params.split(';').enumerate() {
            for param in part.split(',').filter(|param| !param.trim().is_empty()) {
                let (before, value) = match param.split_once('=') {
                    Some((before, value)) => (before, Some(value.trim())),
                    None => (param, None),
                };
                let (name, ty) = match before.split_once(':') {
                    Some((name, ty)) => (name, Some(ty.trim_start_matches(':').trim())),
                    None => (before, None),
                };
                found.push((group > 0, name.trim(), ty, value));
            }
        }
        found
    }

    fn parameters(&self, number: &str) -> String {
        let write = |(has_label, name, ty, value): (bool, &str, Option<&str>, Option<&str>)| {
            let label = if has_label { "" } else { "_ " };
            let ty = ty.map_or_else(|| number.to_owned(), type_here);
            let value = value.map(|value| format!(" = {}", expression(value))).unwrap_or_default();
            format!("{label}{name}: {ty}{value}")
        };
        self.parts().into_iter().map(write).collect::<Vec<_>>().join(", ")
    }

    fn parameter_names(&self) -> Vec<&str> {
        self.parts().into_iter().map(|(_, name, ..)| name).collect()
    }

    /// Returns the number of assignments to a name.
    fn assignments(&self, name: &str) -> usize {
        self.lines.iter().filter(|line| assigned(line.trim()).is_some_and(|(assigned, ..)| assigned == name)).count()
    }

    /// Writes the lines of the body.
    fn body(&self, params: &[&str], numbers: Numbers, out: &mut String) {
        let mut declared = params.to_vec();
        let mut columns: Vec<usize> = vec![];
        let mut depth = 1;
        let last_value = self.last_value();
        for (at, line) in self.lines.iter().enumerate() {
            let column = line.len() - line.trim_start().len();
            let line = line.trim().trim_end_matches(';');
            let continues = ["else", "elif ", "elseif "].iter().any(|word| line.starts_with(word));
            while !self.has_ends && columns.last().is_some_and(|own| column <= *own) {
                columns.pop();
                depth -= 1;
                if !(continues && columns.last().is_none_or(|own| column > *own)) {
                    let _ = writeln!(out, "{}}}", "    ".repeat(depth));
                }
            }
            if self.has_ends && (continues || line == "end") {
                depth = std::cmp::max(depth, 2) - 1;
            }
            let indentation = "    ".repeat(depth);
            if line == "end" {
                let _ = writeln!(out, "{indentation}}}");
            } else if let Some(head) = block_head(line, self.has_ends) {
                let close = if continues { "} " } else { "" };
                let _ = writeln!(out, "{indentation}{close}{head} {{");
                columns.push(column);
                depth += 1;
            } else if line != "pass" {
                let keyword = if last_value == Some(at) { "return " } else { "" };
                let _ = writeln!(out, "{indentation}{keyword}{}", self.statement(line, &mut declared, numbers));
            }
        }
        while !self.has_ends && !columns.is_empty() {
            columns.pop();
            depth -= 1;
            let _ = writeln!(out, "{}}}", "    ".repeat(depth));
        }
    }

    /// Writes a statement; the first assignment to a name declares the name.
    fn statement<'l>(&self, line: &'l str, declared: &mut Vec<&'l str>, numbers: Numbers) -> String
    where
        Self: 'l,
    {
        let Some((name, "=", value)) = assigned(line) else { return expression(line) };
        if declared.contains(&name) {
            return expression(line);
        }
        declared.push(name);
        let keyword = if self.assignments(name) > 1 { "var" } else { "let" };
        let is_whole = value.bytes().all(|c| c.is_ascii_digit());
        let ty = if is_whole && numbers == Numbers::Real { ": Double" } else { "" };
        format!("{keyword} {name}{ty} = {}", expression(value))
    }
}

/// Returns the name, the operator and the value of an assignment to a name.
fn assigned(line: &str) -> Option<(&str, &str, &str)> {
    let tokens = tokens(line, 0, line.len());
    let [name, sign, value, ..] = tokens.as_slice() else { return None };
    let (sign_text, value) = (&line[sign.from..sign.to], &line[value.from..]);
    let assigns = matches!(sign_text, "=" | "+=" | "-=" | "*=" | "/=" | "^=");
    (name.kind == Kind::Word && assigns).then(|| (&line[name.from..name.to], sign_text, value))
}

/// Returns the head of a block without its braces, if a line is one.
fn block_head(line: &str, has_ends: bool) -> Option<String> {
    let line = if has_ends { line } else { line.strip_suffix(':')? };
    let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
    match word {
        "while" | "if" => Some(format!("{word} {}", expression(rest))),
        "elif" | "elseif" => Some(format!("else if {}", expression(rest))),
        "else" => Some("else".to_owned()),
        "for" => {
            let (name, sequence) = rest.split_once(" in ").or_else(|| rest.split_once('='))?;
            Some(format!("for {} in {}", name.trim(), range(sequence.trim(), has_ends)))
        }
        _ => None,
    }
}

/// Writes the sequence of a loop: `range(n)` and `1:n` are ranges.
fn range(sequence: &str, has_ends: bool) -> String {
    let arguments = sequence.strip_prefix("range(").and_then(|rest| rest.strip_suffix(')'));
    match arguments.map(|arguments| arguments.split(',').map(str::trim).collect::<Vec<_>>()).as_deref() {
        Some([end]) => return format!("0 ..< {end}"),
        Some([start, end]) => return format!("{start} ..< {end}"),
        _ => {}
    }
    match sequence.split_once(':') {
        Some((start, end)) if has_ends && !end.contains(':') => format!("{start}...{end}"),
        _ => expression(sequence),
    }
}

/// Writes an expression with the words of the language.
fn expression(code: &str) -> String {
    let mut out = String::new();
    let mut at = 0;
    let mut depth = 0usize;
    // The depths of brackets at which `not` was written: its operand extends to the next `and`, `or` or comma.
    let mut negations: Vec<usize> = vec![];
    for token in tokens(code, 0, code.len()) {
        let word = &code[token.from..token.to];
        let closes = token.kind == Kind::Close || matches!(word, "and" | "or" | "&&" | "||" | ",");
        while closes && negations.last() == Some(&depth) {
            negations.pop();
            out.push(')');
        }
        out.push_str(&code[at..token.from]);
        at = token.to;
        match token.kind {
            Kind::Open => depth += 1,
            Kind::Close => depth = depth.saturating_sub(1),
            _ => {}
        }
        if token.kind == Kind::Comment {
            // The lexer takes the quotient `//` of Python for the beginning of a comment.
            match word.strip_prefix("//") {
                Some(divisor) => out.extend(["/", &expression(divisor)]),
                None => out.truncate(out.trim_end().len()),
            }
            continue;
        }
        out.push_str(match word {
            "and" => "&&",
            "or" => "||",
            "True" => "true",
            "False" => "false",
            "None" | "nothing" => "nil",
            "**" => "^",
            "println" => "print",
            "not" => {
                negations.push(depth);
                at += usize::from(code[at..].starts_with(' '));
                "!("
            }
            _ => word,
        });
    }
    out.push_str(&code[at..]);
    out.push_str(&")".repeat(negations.len()));
    out
}
