//! Function arguments: an expression in an unknown variable where a function is expected, `integral(x^2, 0...1)`, and a
//! constant that is meant as a function, `y = x^2`.

use super::pattern::is_operand;
use super::token::Kind;
use super::{Replacement, Search};

/// Functions that accept any value, so that a function as their argument compiles but is not meant.
const UNIVERSAL: &[&str] = &["print", "debugPrint", "dump", "String", "type", "display"];
/// Functions whose first argument is the point and not the function.
const POINT_FIRST: &[&str] = &["derivative", "gradient", "valueWithDerivative", "valueWithGradient"];
/// The maximum number of variables.
const VARIABLES: usize = 3;

impl Search<'_> {
    /// Returns the functions of the unknown variable at the error that the code could mean.
    pub(super) fn functions_of_variable(&self) -> Vec<Replacement> {
        let code = &self.code;
        let Some(variable) = code.word(self.focus).filter(|word| is_variable(word)) else { return vec![] };
        let is_called = code.word(self.focus + 1) == Some("(") && code.adjacent(self.focus + 1);
        if !code.is(self.focus, Kind::Word) || is_called {
            return vec![];
        }
        let mut found = vec![];
        for open in code.brackets_around(self.focus) {
            match code.word(open) {
                Some("{") => found.extend(self.closure(open, variable)),
                Some("(") => found.extend(self.argument(open, variable)),
                _ => {}
            }
        }
        found.extend(self.definition(variable));
        found.extend(self.equation(variable));
        found
    }

    /// Returns the calls around the error with an argument that is a formula as a function of its variable, which may be
    /// declared: `plot(x^2, -1...1)`.
    fn functions_of_formulas(&mut self) -> Vec<Replacement> {
        let mut found = vec![];
        for call in self.code.calls_around(self.focus) {
            let arguments: Vec<_> = call.arguments.iter().map(|argument| argument.value.clone()).collect();
            for value in arguments {
                let is_variable =
                    |at: &usize| self.code.is(*at, Kind::Word) && self.code.word(*at).is_some_and(is_variable);
                let Some(at) = value.clone().find(is_variable).filter(|_| value.len() > 1) else { continue };
                let is_closure = self.code.word(value.start) == Some("{");
                let Some(variable) = self.code.word(at).filter(|_| !is_closure) else { continue };
                self.focus = at;
                found.extend(self.argument(call.name + 1, variable));
            }
        }
        found
    }

    /// Returns the closure that opens at a token with a declaration of its parameters.
    fn closure(&self, open: usize, variable: &str) -> Vec<Replacement> {
        let code = &self.code;
        let Some(end) = code.closed(open) else { return vec![] };
        // A bar describes the elements of a set: `{x | x > 0}`.
        if (open..end).any(|at| code.word(at) == Some("in")) || code.word(open + 2) == Some("|") {
            return vec![];
        }
        let body = code.slice(open + 1, end - 1);
        let range = code.tokens[open].from..code.tokens[end - 1].to;
        let with = |variables: String| Replacement {
            message: format!("the parameter of a function without a name is declared: '{{ {variables} in … }}'"),
            is_guess: true,
            ..Replacement::certain(range.clone(), format!("{{ {variables} in {body} }}"))
        };
        self.variables(open, end, variable).into_iter().map(with).collect()
    }

    /// Returns the call that opens at a token with its argument around the error as a function.
    fn argument(&self, open: usize, variable: &str) -> Vec<Replacement> {
        let code = &self.code;
        let Some(call) = code.call(open) else { return vec![] };
        let name = code.word(call.name).unwrap_or_default();
        let Some(own) = call.arguments.iter().position(|argument| argument.value.contains(&self.focus)) else {
            return vec![];
        };
        let value = call.arguments[own].value.clone();
        // A letter alone is rather a misspelled name than the identity function.
        let is_alone = value.len() == 1 && !matches!(variable, "x" | "t");
        if UNIVERSAL.contains(&name) || is_alone {
            return vec![];
        }
        let written = code.slice(value.start, value.end);
        let mut found = vec![];
        for variables in self.variables(value.start, value.end, variable) {
            let closure = format!("{{ {variables} in {written} }}");
            let message = format!("'{name}' takes a function: '{{ {variables} in … }}'");
            let range = code.tokens[value.start].from..code.tokens[value.end - 1].to;
            let replacement = Replacement { message, is_guess: true, ..Replacement::certain(range, closure.clone()) };
            found.push(replacement.clone());
            if let (true, [first, second]) = (POINT_FIRST.contains(&name), call.arguments.as_slice()) {
                let point = if own == 0 { second } else { first };
                let point = code.slice(point.value.start, point.value.end);
                let range = code.tokens[call.name].from..code.tokens[call.end - 1].to;
                let code = Some(format!("{name}(at: {point}) {closure}"));
                found.push(Replacement { range, code, ..replacement });
            }
        }
        found
    }

    /// Returns the definition of a function for a constant or variable whose value contains the unknown variable.
    fn definition(&self, variable: &str) -> Vec<Replacement> {
        let code = &self.code;
        let Some(first) = (0..=self.focus).rev().find(|at| code.begins_statement(*at)) else { return vec![] };
        let name = if matches!(code.word(first), Some("let" | "var")) { first + 1 } else { first };
        let value = name + 2;
        let end = code.line_end(value);
        let is_definition = code.is(name, Kind::Word) && code.word(name + 1) == Some("=");
        let is_own = (value..end).any(|at| code.word(at) == code.word(name));
        if !is_definition || is_own || !(value..end).contains(&self.focus) || end == value + 1 {
            return vec![];
        }
        let (name, body) = (code.slice(name, name + 1), code.slice(value, end));
        let range = code.tokens[first].from..code.tokens[end - 1].to;
        let with = |variables: String| Replacement {
            message: format!("'{name}' is a function of '{variables}': '{name}({variables}) = …'"),
            is_guess: true,
            declares: true,
            ..Replacement::certain(range.clone(), format!("{name}({variables}) = {body}"))
        };
        self.variables(value, end, variable).into_iter().map(with).collect()
    }

    /// Returns the call that solves the equation at the error, whose left side is a formula: `x^2 - 5x + 6 = 0`.
    fn equation(&self, variable: &str) -> Option<Replacement> {
        let code = &self.code;
        let first = (0..=self.focus).rev().find(|at| code.begins_statement(*at))?;
        let end = code.line_end(first);
        let sign = (first..end).find(|at| matches!(code.word(*at), Some("=" | "==")))?;
        // A name, an element and a call may be assigned to or defined.
        if code.operand(first) == Some(sign) || sign + 1 == end {
            return None;
        }
        let (left, right) = (code.slice(first, sign), code.slice(sign + 1, end));
        let difference = match right {
            "0" => left.to_owned(),
            _ if is_operand(right) => format!("{left} - {right}"),
            _ => format!("{left} - ({right})"),
        };
        let range = code.tokens[first].from..code.tokens[end - 1].to;
        let message = format!("an equation is solved near a point: 'solve({{ {variable} in … }}, near: 1)'");
        let call = format!("solve({{ {variable} in {difference} }}, near: 1)");
        Some(Replacement { message, is_guess: true, ..Replacement::certain(range, call) })
    }

    /// Returns lists of variables in a part of the code that could be parameters: the unknown variable, and all
    /// variables.
    fn variables(&self, from: usize, to: usize, unknown: &str) -> Vec<String> {
        let code = &self.code;
        let mut all: Vec<&str> = vec![];
        for at in from..to {
            let is_called = code.word(at + 1) == Some("(") && code.adjacent(at + 1);
            let is_member = at > 0 && code.word(at - 1) == Some(".");
            match code.word(at).filter(|word| is_variable(word) && code.is(at, Kind::Word)) {
                Some(word) if !is_called && !is_member && !all.contains(&word) => all.push(word),
                _ => {}
            }
        }
        let mut found = vec![unknown.to_owned()];
        if (2..=VARIABLES).contains(&all.len()) {
            found.push(all.join(", "));
        }
        found
    }
}

/// Returns the replacements that make a function of a formula that is an argument near a range of a text.
pub(crate) fn functions_of_formulas(text: &str, at: std::ops::Range<usize>) -> Vec<Replacement> {
    Search::at(text, at).functions_of_formulas()
}

/// Whether a word is the name of a variable of formulas: one letter that is no constant.
fn is_variable(word: &str) -> bool {
    let mut letters = word.chars();
    letters.next().is_some_and(char::is_alphabetic)
        && letters.next().is_none()
        && !matches!(word, "e" | "E" | "π" | "τ")
}
