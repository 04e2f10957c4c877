//! Foreign syntax: words and notations of other languages and of mathematics on paper, with their equivalents in
//! dscript.
//!
//! In: a text with an error, and the span of the error. Out: possible replacements of the code at this span, the most
//! likely one first. The session offers a replacement only after it has compiled the text with it.

mod block_function;
mod bounded_operators;
mod bracket_notation;
mod calculus_notation;
mod call;
mod elementwise_formula;
mod false_friend;
mod function_argument;
mod juxtaposed_factors;
mod method_call;
mod pattern;
mod replacement;
mod spelling;
mod statement_ranges;
mod string_literal;
mod tables;
mod tensor_subscripts;
mod token;
mod true_division;
mod word_classes;

pub(crate) use call::{WrittenCall, calls};
pub(crate) use false_friend::{groups_of_digits, interpolations, quotients};
pub(crate) use function_argument::functions_of_formulas;
use pattern::Code;
use replacement::member_of;
pub(crate) use replacement::{Replacement, ReplacementKind};
pub(crate) use spelling::{distance, is_keyword};
pub(crate) use statement_ranges::{is_assignment_or_import, statement_ranges};
use std::ops::Range;
use tables::{Row, TABLES, calculus_functions, functions, mathematical_notation, members, statements};
use token::{Kind, text_of};

/// The part of the tables that applies to an error.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Scope {
    /// All tables: the code has a syntax error.
    Everything,
    /// All tables, methods, and functions of a variable: the code contains an unknown name.
    Name,
    /// The tables of expressions: the code has a meaning, but its types do not fit.
    Expressions,
    /// The tables of expressions, of calls and of operations on arrays: the types of an operation on an array do not fit.
    Arrays,
    /// The table of calls whose arguments are converted to the wrong types.
    Conversions,
    /// No table: a bracket is missing, perhaps because `//` was meant as a division.
    Comments,
}

impl Scope {
    /// Returns the tables that apply to a failed conversion: functions of numbers are applied to the elements of arrays and
    /// ranges in other languages.
    pub(crate) fn of_conversion(message: &str) -> Scope {
        let collections = ["'[", "'ClosedRange<", "'Range<", "'StrideTo<", "'StrideThrough<"];
        let of = message.strip_prefix("cannot convert value of type ").unwrap_or_default();
        let is_array = collections.iter().any(|collection| of.starts_with(collection));
        if is_array && message.ends_with("to expected type 'Double'") { Scope::Arrays } else { Scope::Conversions }
    }

    /// Whether the tables for another scope apply.
    fn includes(self, of: Scope) -> bool {
        match self {
            Scope::Everything | Scope::Name => of != Scope::Arrays,
            Scope::Arrays => matches!(of, Scope::Arrays | Scope::Conversions | Scope::Expressions),
            Scope::Expressions | Scope::Conversions => of == self,
            Scope::Comments => false,
        }
    }
}

/// The number of bytes after the beginning of the line that are searched.
const REACH: usize = 2_000;
/// The maximum number of replacements for one error.
const MOST: usize = 24;
/// The maximum number of matches of one row.
const MATCHES: usize = 2;

/// The sentence about a comma that is followed by three digits.
const GROUPED_OR_DECIMAL: &str = "digits are grouped with '_', as in '1_500', and decimals follow a point, as in '1.5'";
/// The sentence about commas between groups of digits.
const GROUPED: &str = "digits are grouped with '_'";

/// Returns the replacements of the foreign code at a range of a text, the most likely one first.
pub(crate) fn replacements(text: &str, at: Range<usize>, scope: Scope) -> Vec<Replacement> {
    let search = Search::at(text, at);
    if scope == Scope::Comments {
        return search.comment().into_iter().collect();
    }
    let mut found = if scope == Scope::Conversions { vec![] } else { search.literals() };
    found.extend(search.formatted_text());
    if scope == Scope::Everything {
        found.extend(search.numbers());
    }
    if scope.includes(Scope::Everything) {
        found.extend(search.bounded_operators());
        found.extend(search.keywords());
        search.rows(statements::TYPED, true, &mut found);
        found.extend(search.matrices());
        found.extend(search.tensor_subscripts());
    }
    let rows = found.len();
    for (_, table) in TABLES.iter().filter(|(of, _)| scope.includes(*of)) {
        search.rows(table, false, &mut found);
    }
    if scope.includes(Scope::Everything) {
        // A sentence without an edit follows the edits.
        let at =
            found[rows..].iter().position(|replacement| replacement.code.is_none()).map_or(found.len(), |n| rows + n);
        found.splice(at..at, search.block_functions());
    }
    if scope == Scope::Conversions {
        return found;
    }
    if scope == Scope::Name {
        // An equivalent in the tables is more specific than a method with the same name.
        let first_guess = found.iter().position(|replacement| replacement.code.is_none()).unwrap_or(found.len());
        let more = [search.method_calls(), search.functions_of_variable()].concat();
        found.splice(first_guess..first_guess, more);
    }
    if scope == Scope::Arrays {
        // An equivalent in the tables is more specific than a formula of the elements.
        let end = found.iter().rposition(|replacement| replacement.code.is_some()).map_or(0, |last| last + 1);
        found.splice(end..end, search.elementwise_formulas());
    }
    found.extend(search.absolute_values());
    if scope.includes(Scope::Everything) {
        found.extend(search.juxtaposed_factors());
    }
    search.rows(mathematical_notation::PRODUCTS, true, &mut found);
    found.extend(search.type_name());
    found.extend(search.split_word());
    found.truncate(MOST);
    found
}

/// Returns the replacements that make functions of an unknown variable at a range of a text.
pub(crate) fn functions_of_variable(text: &str, at: Range<usize>) -> Vec<Replacement> {
    Search::at(text, at).functions_of_variable()
}

/// Whether a name has a meaning in another language or in mathematics, so that the name is not a misspelling of a
/// similar name.
pub(crate) fn is_known(name: &str) -> bool {
    let mentions = |(pattern, ..): &Row| pattern.split(' ').any(|item| item == name);
    word_classes::is_known(name)
        || [functions::ROWS, calculus_functions::ROWS, members::ROWS].into_iter().flatten().any(mentions)
}

/// Whether a word occurs in a pattern or in one of its classes.
fn is_in_patterns(word: &str) -> bool {
    let rows = TABLES.iter().flat_map(|(_, rows)| rows.iter());
    word_classes::is_in_class(word) || rows.into_iter().any(|(pattern, ..)| pattern.split(' ').any(|item| item == word))
}

/// Returns the beginning of some lines before an offset: the construct that an error belongs to may begin there.
fn lines_before(text: &str, at: usize) -> usize {
    const LINES: usize = 3;
    text[..at].char_indices().rev().filter(|(_, c)| *c == '\n').nth(LINES).map_or(0, |(n, _)| n + 1)
}

/// The code around an error.
struct Search<'t> {
    code: Code<'t>,
    /// The offset at which the searched code begins.
    line: usize,
    /// The index of the token at the error.
    focus: usize,
}

impl<'t> Search<'t> {
    /// Returns the code around a range of a text.
    fn at(text: &'t str, at: Range<usize>) -> Search<'t> {
        let at = text.floor_char_boundary(at.start.min(text.len()))..text.floor_char_boundary(at.end.min(text.len()));
        let line = lines_before(text, at.start);
        let tokens = token::tokens(text, line, REACH.max(at.end - line + 80).min(10 * REACH));
        // The token at the error, or the last token before the error.
        let focus = tokens.iter().rposition(|token| token.from <= at.start).unwrap_or(0);
        Search { code: Code { text, tokens }, line, focus }
    }

    /// Adds the replacements of a table.
    fn rows(&self, table: &[Row], is_guess: bool, found: &mut Vec<Replacement>) {
        let text = self.code.text;
        for (pattern, replacement, sentence) in table {
            if !could_match(&text[self.line..], pattern) {
                continue;
            }
            // A guess is most likely right next to the error.
            let starts = 0..self.code.tokens.len().min(self.focus + 2);
            let starts: Vec<usize> = if is_guess { starts.rev().collect() } else { starts.collect() };
            let mut count = 0;
            for first in starts {
                let Some(matched) = self.code.matches(pattern, first) else { continue };
                if matched.tokens.1 < self.focus || count == MATCHES || self.is_cut(&matched) {
                    continue;
                }
                // A statement is removed together with the semicolon after it.
                let follows = self
                    .code
                    .tokens
                    .get(matched.tokens.1 + 1)
                    .filter(|_| *replacement == "-" && self.code.word(matched.tokens.1) == Some(";"));
                let range = matched.from..follows.map_or(matched.to, |next| next.from);
                let foreign = &text[range.clone()];
                let here = match *replacement {
                    "" => None,
                    "-" => Some(String::new()),
                    replacement => Some(matched.write(replacement)),
                };
                if here.as_deref() == Some(foreign) {
                    continue;
                }
                let message = match (*sentence, &here) {
                    ("", Some(here)) => generic(foreign, here),
                    (sentence, _) => matched.write(sentence),
                };
                let function = self.code.word(matched.tokens.0).filter(|_| calls_function(pattern)).map(str::to_owned);
                let member = member_of(pattern).filter(|_| here.is_none());
                let kind = tables::kind_of(sentence);
                let declares = false;
                found.push(Replacement { range, code: here, message, kind, is_guess, declares, function, member });
                count += 1;
            }
        }
    }

    /// Whether a match ends before a quotient of Python, `//`, which the lexer takes for the beginning of a comment.
    fn is_cut(&self, matched: &pattern::Match) -> bool {
        let is_python = matches!(self.code.word(matched.tokens.0), Some("def" | "lambda"));
        is_python && self.code.word(matched.tokens.1).is_some_and(|word| word.starts_with("//"))
    }

    /// Returns the replacement of the string literals near the error, if their notation is foreign.
    fn literals(&self) -> Vec<Replacement> {
        let near = self.code.tokens.iter().enumerate().filter(|(i, _)| i.abs_diff(self.focus) <= 2);
        let texts = near.map(|(_, token)| token).filter(|token| token.kind == Kind::Text);
        let mut found = vec![];
        for token in texts {
            let foreign = text_of(self.code.text, *token);
            if let Some((code, message)) = string_literal::text_here(foreign) {
                let range = token.from..token.to;
                found.push(Replacement { message: message.to_owned(), ..Replacement::certain(range, code) });
            }
        }
        found
    }

    /// Returns the numbers that decimal commas, or commas between groups of digits, could mean.
    fn numbers(&self) -> Option<Replacement> {
        let code = &self.code;
        let begins = (0..=self.focus).rev().find(|at| code.begins_statement(*at))?;
        let is_group = |at: usize| code.is(at, Kind::Number) && code.adjacent(at);
        let is_continued = |at: usize| code.word(at) == Some(",") && code.adjacent(at) && is_group(at + 1);
        let (mut range, mut here): (Option<Range<usize>>, String) = (None, String::new());
        let mut message = "";
        let mut at = begins;
        while at < code.line_end(begins) {
            if !code.is(at, Kind::Number) || !is_continued(at + 1) {
                at = if code.is(at, Kind::Open) { code.closed(at).unwrap_or(at + 1) } else { at + 1 };
                continue;
            }
            let last = (at..).step_by(2).find(|at| !is_continued(at + 1))?;
            let groups: Vec<&str> = (at..=last).step_by(2).filter_map(|at| code.word(at)).collect();
            let are_thousands = groups[1..].iter().all(|group| group.len() == 3);
            let (number, sentence) = match groups.as_slice() {
                // `1,000` is a thousand, while `1,250` may be a decimal fraction.
                [_, group] if are_thousands && group.starts_with('0') => (Some(groups.join("_")), GROUPED),
                [_, _] if are_thousands => (None, GROUPED_OR_DECIMAL),
                [_, _] => (Some(groups.join(".")), "decimals follow a point"),
                _ if are_thousands => (Some(groups.join("_")), GROUPED),
                _ => return None,
            };
            let (from, to) = (code.tokens[at].from, code.tokens[last].to);
            let start = range.as_ref().map_or(from, |range| range.start);
            let Some(number) = number else {
                let certain = Replacement::certain(start..to, String::new());
                return Some(Replacement { code: None, message: sentence.to_owned(), ..certain });
            };
            here.push_str(&code.text[range.map_or(from, |range| range.end)..from]);
            here.push_str(&number);
            (range, message) = (Some(start..to), sentence);
            at = last + 1;
        }
        Some(Replacement { message: message.to_owned(), ..Replacement::certain(range?, here) })
    }

    /// Returns the quotient that `//` computes in Python.
    fn comment(&self) -> Option<Replacement> {
        let token = self.code.tokens.iter().find(|token| token.kind == Kind::Comment)?;
        let message = false_friend::NO_QUOTIENT.to_owned();
        let replacement = match false_friend::floor_of_quotient(self.code.text, self.code.text, token.from) {
            Some((from, to, code)) => Replacement::certain(from..to, code),
            None => Replacement::certain(token.from..token.from + 2, "/".to_owned()),
        };
        Some(Replacement { message, ..replacement })
    }

    /// Returns the counterpart of a type of another language.
    fn type_name(&self) -> Option<Replacement> {
        let token = self.code.tokens.get(self.focus).filter(|token| token.kind == Kind::Word)?;
        let foreign = text_of(self.code.text, *token);
        let here = word_classes::type_here(foreign);
        let message = format!("the type '{foreign}' is called '{here}'");
        let range = token.from..token.to;
        (here != foreign).then(|| Replacement { message, ..Replacement::certain(range, here) })
    }

    /// Returns the products that an unknown name could mean, `ax` is `a * x`, or its partial derivative: `f_x`.
    fn split_word(&self) -> Vec<Replacement> {
        const LONGEST: usize = 8;
        let Some(token) = self.code.tokens.get(self.focus).filter(|token| token.kind == Kind::Word) else {
            return vec![];
        };
        let word = text_of(self.code.text, *token);
        let count = word.chars().count();
        if let Some((function, parameter)) = word.split_once('_')
            && function.chars().count() == 1
            && parameter.chars().count() == 1
        {
            let partial = Replacement::certain(token.from..token.to, format!("∂({function}, {parameter})"));
            let message = format!("a partial derivative is written '∂({function}, {parameter})'");
            return vec![Replacement { message, is_guess: true, ..partial }];
        }
        if let Some(partial) = self.quotient_of_differentials(word) {
            return vec![partial];
        }
        if let Some(digits) = word.find(|c: char| c.is_ascii_digit())
            && word[digits..].ends_with(char::is_alphabetic)
        {
            let call = format!("{}({})", &word[..digits], &word[digits..]);
            let message = "the argument of a function is in parentheses".to_owned();
            let range = token.from..token.to;
            return vec![Replacement { message, is_guess: true, ..Replacement::certain(range, call) }];
        }
        if matches!(word, "nil" | "true" | "false" | "self")
            || !(2..=LONGEST).contains(&count)
            || !word.chars().all(char::is_alphabetic)
        {
            return vec![];
        }
        let product = |code: String| Replacement {
            message: format!("'{word}' is one name; a product is written with '*'"),
            kind: ReplacementKind::Product,
            is_guess: true,
            ..Replacement::certain(token.from..token.to, code)
        };
        let letters: Vec<String> = word.chars().map(String::from).collect();
        let mut found = vec![];
        if count <= 3 {
            found.push(product(letters.join(" * ")));
        }
        if count > 2 {
            found.push(product(format!("{} * {}", letters[0], letters[1..].concat())));
        }
        found
    }
}

impl Search<'_> {
    /// Returns the partial derivative of a function that the quotient of differentials at the error means: `dU/dx`.
    fn quotient_of_differentials(&self, word: &str) -> Option<Replacement> {
        let function = word.strip_prefix('d').filter(|function| !function.is_empty())?;
        let parameter = self.code.word(self.focus + 2)?.strip_prefix('d').filter(|name| name.chars().count() == 1)?;
        let range = self.code.tokens[self.focus].from..self.code.tokens[self.focus + 2].to;
        let message = format!("a partial derivative of '{function}' is the function '∂({function}, {parameter})'");
        let certain = Replacement::certain(range, String::new());
        let is_quotient = self.code.word(self.focus + 1) == Some("/");
        is_quotient.then_some(Replacement { code: None, message, is_guess: true, ..certain })
    }
}

/// Whether a pattern begins with the call of a function that it names.
fn calls_function(pattern: &str) -> bool {
    let mut items = pattern.split(' ').filter(|item| *item != "§");
    let is_word = |item: &str| item.starts_with(|c: char| token::is_word(c) || c == '<');
    items.next().is_some_and(is_word) && items.next() == Some("(")
}

/// Whether a text declares a name: with a keyword, as a parameter, or by a formula, `f(x) = …`.
pub(crate) fn declares(text: &str, name: &str) -> bool {
    const KEYWORDS: &[&str] = &["func", "let", "var", "struct", "class", "enum", "actor", "typealias", "case", "for"];
    if !text.contains(name) {
        return false;
    }
    let code = Code { text, tokens: token::tokens(text, 0, text.len()) };
    (0..code.tokens.len()).filter(|at| code.word(*at) == Some(name)).any(|at| {
        let before = at.checked_sub(1).and_then(|before| code.word(before)).unwrap_or_default();
        let is_formula = || {
            let is_assigned = code.call(at + 1).is_some_and(|call| code.word(call.end) == Some("="));
            code.begins_statement(at) && (is_assigned || code.word(at + 1) == Some("="))
        };
        let is_parameter = || code.word(at + 1) == Some(":") && code.begins_type(at + 2);
        // `let Some(x)` is a pattern.
        let is_pattern = matches!(before, "let" | "var" | "for") && code.word(at + 1) == Some("(");
        KEYWORDS.contains(&before) && !is_pattern || is_parameter() || is_formula()
    })
}

/// Whether all words of a pattern occur in a text.
fn could_match(text: &str, pattern: &str) -> bool {
    let is_literal = |item: &&str| {
        !item.starts_with('$') && !matches!(*item, "§" | "~" | "_" | "↵" | "#end" | "#last" | "#body" | "")
    };
    pattern.split(' ').filter(is_literal).all(|item| item.starts_with('<') && item.len() > 2 || text.contains(item))
}

/// Returns the default sentence for a short piece of foreign code.
fn generic(foreign: &str, here: &str) -> String {
    const SHORT: usize = 40;
    let first = |code: &str| {
        let line = code.lines().next().unwrap_or_default().trim_end();
        match line.chars().count() > SHORT || code.contains('\n') {
            true => format!("{}…", line.chars().take(SHORT).collect::<String>()),
            false => line.to_owned(),
        }
    };
    match here {
        "" => format!("'{}' is not needed", first(foreign)),
        _ => format!("'{}' is written '{}'", first(foreign), first(here)),
    }
}
