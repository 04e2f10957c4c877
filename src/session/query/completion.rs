//! Completion: possible continuations of a word and signatures of a call, in text that need not compile.

use crate::session::query::inspection::{WORDS, char_at, is_part_of_name, receiver_of};
use crate::session::query::library_catalog::EntryKind;
use crate::session::query::ranking;
use crate::session::{Class, Input, Session};
use crate::types::declare::interactive_session;
use crate::types::names::completion_members;
use crate::types::names::completion_members::{CompletionKind, CompletionMember};
use crate::types::signature_help;
use crate::types::signature_help::{Callable, Parameter};

/// The possible continuations of a word.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Completion {
    /// The byte offset at which the completed word begins.
    pub start: usize,
    /// The words that can replace the completed word.
    pub words: Vec<String>,
}

/// A possible continuation with a rank; candidates are ordered by rank, then by text.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Candidate {
    rank: (usize, usize, usize),
    text: String,
}

/// A call whose parentheses are not closed yet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Call<'t> {
    /// The text of the callee: `f`, `xs.map`, `Point`.
    callee: &'t str,
    /// The text of the arguments so far, which follows the parenthesis.
    arguments: &'t str,
}

/// The words that precede a declared name.
const DECLARATION_WORDS: &[&str] = &["let", "var", "func", "struct", "class", "enum", "protocol", "typealias", "for"];

impl Session {
    /// Returns the possible continuations of the word before an offset of a text.
    pub fn complete(&mut self, text: &str, at: usize) -> Completion {
        let Some(before) = text.get(..at) else { return Completion::default() };
        let (above, line) = before.split_at(last_statement(before));
        let start = before.rfind(|c: char| !is_part_of_name(c)).map_or(0, |n| n + char_at(before, n));
        let word = &before[start..];
        let mut candidates = self.with_declarations(above, |session| match before[..start].strip_suffix('.') {
            Some(receiver) => session.members(receiver_of(receiver)),
            None => session.words(line, word),
        });
        candidates.retain(|candidate| candidate.text.starts_with(word));
        candidates.sort();
        let mut words: Vec<String> = vec![];
        for Candidate { text, .. } in candidates {
            if !words.contains(&text) {
                words.push(text);
            }
        }
        Completion { start, words }
    }

    /// Returns the signature of the innermost call around an offset: `newton(f, from: Double, steps: Int = …) ->
    /// Trace`.
    pub fn signature(&mut self, text: &str, at: usize) -> Option<String> {
        let before = text.get(..at)?;
        let (above, line) = before.split_at(last_statement(before));
        let call = open_call(line)?;
        let callables = self.with_declarations(above, |session| session.callables(call.callee));
        let (used, count) = (labels_of(call.arguments), parts(call.arguments).len());
        let takes = |callable: &&Callable| {
            let has = |label: &&str| callable.parameters.iter().any(|p| p.label.as_deref() == Some(*label));
            count <= callable.parameters.len().max(1) && used.iter().all(has)
        };
        let callable = callables.iter().find(takes).or_else(|| callables.first())?;
        Some(described(call.callee.rsplit('.').next().unwrap_or_default(), callable))
    }

    /// Returns the callee of the innermost call around an offset of a text.
    pub fn called_around(text: &str, at: usize) -> Option<&str> {
        let before = text.get(..at)?;
        open_call(&before[last_statement(before)..]).map(|call| call.callee)
    }

    /// Runs a query with the declarations of a text in scope. The session is unchanged afterwards.
    fn with_declarations<A>(&mut self, text: &str, query: impl FnOnce(&mut Session) -> A) -> A {
        let snapshot = self.snapshot();
        if !text.trim().is_empty() {
            // If the text has errors, its valid declarations are in scope nevertheless.
            let _ = self.compile(&[Input { name: "‹above›", text }], true);
        }
        let answer = query(self);
        self.restore(snapshot);
        answer
    }

    /// Returns the members of a value: the most frequently used members, then the members of the type in the order of
    /// declaration, then all others.
    fn members(&mut self, receiver: &str) -> Vec<Candidate> {
        let found = self.of_type(receiver, completion_members::completion_members).ok().flatten().unwrap_or_default();
        let candidate = |member: CompletionMember| Candidate {
            rank: (ranking::rank_of_member(&member.name), member.distance.min(1), member.position as usize),
            text: called(&member.name, member.kind),
        };
        found.into_iter().map(candidate).collect()
    }

    /// Returns the possible labels of an argument, the names of the session, the names of the library, and keywords.
    fn words(&mut self, line: &str, word: &str) -> Vec<Candidate> {
        let mut words = ranked(0, self.labels(line, word));
        if !word.is_empty() {
            words.extend(ranked(1, declared_in(&line[..line.len() - word.len()])));
            let own =
                interactive_session::declared_names(&self.context).into_iter().map(|(name, kind)| called(&name, kind));
            words.extend(ranked(1, own.collect()));
            let catalog = self.catalog();
            for entry in catalog.entries.iter().filter(|entry| entry.owner.is_none() && entry.name.starts_with(word)) {
                let kind = match entry.kind {
                    EntryKind::Function if entry.label.ends_with("()") => CompletionKind::Call,
                    EntryKind::Function => CompletionKind::CallWithArguments,
                    EntryKind::Property => CompletionKind::Property,
                    _ => CompletionKind::Type,
                };
                let rank = (2, ranking::rank_of_name(&entry.name), 0);
                words.push(Candidate { rank, text: called(&entry.name, kind) });
            }
            words.extend(ranked(3, WORDS.iter().map(ToString::to_string).collect()));
        }
        words
    }

    fn labels(&mut self, line: &str, word: &str) -> Vec<String> {
        let Some(call) = open_call(line) else { return vec![] };
        // A label is the first word of an argument.
        if parts(call.arguments).last().is_some_and(|part| part.trim() != word) {
            return vec![];
        }
        let used = labels_of(call.arguments);
        let labels = self.callables(call.callee).into_iter().flat_map(|callable| callable.parameters);
        let labels = labels.filter_map(|p| p.label).filter(|label| !used.contains(&label.as_str()));
        labels.map(|label| format!("{label}:")).collect()
    }

    fn callables(&mut self, callee: &str) -> Vec<Callable> {
        let Some((receiver, member)) = callee.rsplit_once('.') else {
            return signature_help::callables(&mut self.context, callee);
        };
        let own = signature_help::callable_members_of(&mut self.context, receiver, member);
        if !own.is_empty() {
            return own;
        }
        let found = self.of_type(receiver, |cx, ty| signature_help::callable_members(cx, ty, member));
        found.ok().flatten().unwrap_or_default()
    }
}

/// Returns candidates with one rank.
fn ranked(rank: usize, words: Vec<String>) -> Vec<Candidate> {
    words.into_iter().map(|text| Candidate { rank: (rank, 0, 0), text }).collect()
}

/// Returns a name, with parentheses for a function: `count`, `sorted()`, `append(`.
fn called(name: &str, kind: CompletionKind) -> String {
    match kind {
        CompletionKind::Property | CompletionKind::Type => name.to_owned(),
        CompletionKind::Call => format!("{name}()"),
        CompletionKind::CallWithArguments => format!("{name}("),
    }
}

/// Returns the offset of the last statement of a text: the offset of its first line, if brackets join several lines.
fn last_statement(text: &str) -> usize {
    let (mut depth, mut start) = (0_usize, 0);
    for (at, c) in signs(text) {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            '\n' if depth == 0 => start = at + 1,
            _ => {}
        }
    }
    start
}

/// Returns the characters of a text outside comments and string literals.
fn signs(text: &str) -> impl Iterator<Item = (usize, char)> {
    let pieces = Session::highlight(text).into_iter();
    let mut hidden = pieces.filter(|(_, class)| matches!(class, Class::Text | Class::Comment)).peekable();
    text.char_indices().filter(move |(at, _)| {
        while hidden.next_if(|(range, _)| range.end <= *at).is_some() {}
        hidden.peek().is_none_or(|(range, _)| !range.contains(at))
    })
}

/// Returns the innermost call that is open at the end of a text; `None` inside a closure.
fn open_call(text: &str) -> Option<Call<'_>> {
    let mut open: Vec<(usize, char)> = vec![];
    for (at, c) in signs(text) {
        match c {
            '(' | '[' | '{' => open.push((at, c)),
            ')' | ']' | '}' => drop(open.pop()),
            _ => {}
        }
    }
    let around = open.iter().rev().take_while(|(_, c)| *c != '{').filter(|(_, c)| *c == '(');
    let mut calls = around.map(|(at, _)| Call { callee: receiver_of(&text[..*at]), arguments: &text[at + 1..] });
    calls.find(|call| call.callee.starts_with(|c: char| c.is_alphabetic() || c == '_' || c == '['))
}

/// Splits arguments at the commas outside brackets.
fn parts(arguments: &str) -> Vec<&str> {
    let (mut parts, mut from, mut depth) = (vec![], 0, 0_usize);
    for (at, c) in signs(arguments) {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(&arguments[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&arguments[from..]);
    parts
}

/// Returns the labels of the arguments in a text.
fn labels_of(arguments: &str) -> Vec<&str> {
    let label = |part: &'_ str| -> Option<usize> {
        let end = part.find(|c| !is_part_of_name(c))?;
        (end > 0 && part[end..].starts_with(':')).then_some(end)
    };
    parts(arguments).into_iter().map(str::trim).filter_map(|part| Some(&part[..label(part)?])).collect()
}

/// Returns the names that the beginning of a statement declares: functions with their parameters, variables, and the
/// parameters of closures.
fn declared_in(text: &str) -> Vec<String> {
    let words = |text: &str| -> Vec<String> {
        let all = text.split(|c| !is_part_of_name(c)).filter(|word| word.starts_with(|c: char| c.is_alphabetic()));
        all.map(str::to_owned).collect()
    };
    let mut names = vec![];
    for line in text.lines() {
        let all = words(line);
        names.extend(
            all.windows(2).filter(|two| DECLARATION_WORDS.contains(&two[0].as_str())).map(|two| two[1].clone()),
        );
        let is_function = line.trim_start().starts_with("func ") || line.contains(" func ");
        if is_function || line.contains(") =") {
            let heading = line.split([')']).next().unwrap_or_default();
            names.extend(words(heading));
        }
        for (given, _) in line.match_indices(" in").map(|(at, _)| line.split_at(at)) {
            names.extend(words(given.rsplit('{').next().unwrap_or_default()));
        }
    }
    names
}

/// Formats the signature of a function on one line.
fn described(name: &str, callable: &Callable) -> String {
    let parameters: Vec<String> = callable.parameters.iter().map(parameter).collect();
    let result = callable.result.as_ref().map_or_else(String::new, |ty| format!(" -> {ty}"));
    format!("{name}({}){result}", parameters.join(", "))
}

fn parameter(p: &Parameter) -> String {
    let default = if p.has_default { " = …" } else { "" };
    match &p.label {
        Some(label) => format!("{label}: {}{default}", p.ty),
        None => format!("{}{default}", p.name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::Options;

    fn session() -> Session {
        let options = Options { interactive: true, ..Options::default() };
        let mut session = Session::new(options, Box::new(std::io::sink()));
        session.enter("‹1›", "struct Point { var x = 0.0; var y: Double }\nfunc walk(_ p: Point, by step: Double, times: Int = 1) -> Point { p }\nlet xs = [1.0, 2.0]");
        session
    }

    fn words(text: &str) -> Vec<String> {
        session().complete(text, text.len()).words
    }

    fn signature(text: &str) -> String {
        session().signature(text, text.len()).unwrap_or_default()
    }

    #[test]
    fn the_call_around_a_place() {
        for (text, callee) in [
            ("f(1, g(2), ", Some("f")),
            ("f(g(", Some("g")),
            ("xs.map(", Some("xs.map")),
            ("f((1 + ", Some("f")),
            ("f([a, ", Some("f")),
            ("f(\"(\" + ", Some("f")),
            ("f { x in ", None),
            ("f(at: 1) { x in ", None),
            ("f(1)", None),
            ("(1 + ", None),
        ] {
            assert_eq!(open_call(text).map(|call| call.callee), callee, "{text}");
        }
    }

    #[test]
    fn labels_are_offered_where_an_argument_begins() {
        assert_eq!(words("walk(p, b"), ["by:", "binomial(", "break"]);
        assert_eq!(words("walk(p, by: 1, "), ["times:"]);
        assert_eq!(words("walk(p, by: "), Vec::<String>::new());
        assert_eq!(words("Point("), ["x:", "y:"]);
        assert_eq!(words("xs.reduce("), ["into:"]);
        assert_eq!(words("derivative("), ["along:", "at:", "from:", "in:", "of:"]);
    }

    #[test]
    fn members_are_ordered_by_use() {
        let members = words("xs.");
        assert_eq!(members[..4], ["count", "map(", "append(", "isEmpty"]);
        assert!(members.contains(&"reversed()".to_owned()), "{members:?}");
        for internal in ["ArrayLiteralElement", "DifferentiableView", "SubSequence", "TangentVector"] {
            assert!(!members.contains(&internal.to_owned()), "{internal}");
        }
        // The properties of a type are in the order of their declarations, before the members of its protocols.
        assert_eq!(words("Point(y: 1).")[..2], ["x", "y"]);
    }

    #[test]
    fn functions_have_parentheses() {
        assert_eq!(words("wal"), ["walk("]);
        assert_eq!(words("si")[0], "sin(");
    }

    #[test]
    fn names_that_are_declared_above_are_offered() {
        assert_eq!(words("let speed = 1.0\nfunc faster() -> Double { 2 * spee"), ["speed"]);
        assert_eq!(words("let origin = Point(y: 1)\norigin.y"), ["y"]);
        assert_eq!(words("func twice(_ number: Double) -> Double {\n  let other = 2 * numbe"), ["number"]);
        assert_eq!(words("func g(_ a: Int, unit u: Int) -> Int { a }\ng(1, uni"), ["unit:"]);
        assert_eq!(words("xs.map { element in ele"), ["element"]);
        // The declarations of the completed text are discarded.
        let mut session = session();
        session.complete("let speed = 1.0\nspee", 19);
        assert_eq!(session.complete("spee", 4).words, Vec::<String>::new());
    }

    #[test]
    fn a_signature_is_shown_inside_of_a_call() {
        assert_eq!(signature("walk(a, "), "walk(p, by: Double, times: Int = …) -> Point");
        assert_eq!(signature("Point(x: 1, "), "Point(x: Double = …, y: Double) -> Point");
        assert_eq!(signature("sin("), "sin(x) -> Double");
        assert_eq!(signature("f(x) = x * x\nf("), "f(x) -> Double");
        assert_eq!(signature("1 + "), "");
    }
}
