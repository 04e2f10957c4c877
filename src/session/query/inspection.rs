//! Inspection: the type of an expression, the declared names, and the documentation of a name.

use crate::diagnostic::Diagnostic;
use crate::native::{self, Primitive};
use crate::session::run::interactive_input::DisplayItem;
use crate::session::{Input, Outcome, Session};
use crate::source::Span;
use crate::types::TypeContext;
use crate::types::declare::interactive_session;
use crate::types::declare::interactive_session::Names;
use crate::types::model::display;
use crate::types::model::ty::Type;

/// The declaration and the documentation of a name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Topic {
    /// The declaration of the name, on one line.
    pub declaration: String,
    /// The documentation comment of the declaration, or the description in the table of primitives.
    pub text: String,
}

/// The number of lines to which longer declarations are truncated.
const MAX_DECLARATION_LINES: usize = 12;

/// Keywords that begin a statement, declaration or expression.
pub(crate) const WORDS: &[&str] = &[
    "break",
    "case",
    "catch",
    "checkpoint",
    "class",
    "continue",
    "default",
    "defer",
    "else",
    "enum",
    "extension",
    "false",
    "for",
    "func",
    "guard",
    "if",
    "import",
    "in",
    "let",
    "nil",
    "protocol",
    "repeat",
    "return",
    "self",
    "static",
    "struct",
    "switch",
    "throw",
    "true",
    "try",
    "typealias",
    "var",
    "where",
    "while",
];

impl Session {
    /// Returns the type of an expression without running it; `None` for a text without a value.
    ///
    /// # Errors
    /// Returns the diagnostics when the text does not compile.
    pub fn type_of(&mut self, text: &str) -> Result<Option<String>, Vec<Diagnostic>> {
        self.of_type(text, |cx, ty| display::show(cx, ty))
    }

    /// Applies `describe` to the type of an expression. The session is unchanged afterwards, so it may no longer
    /// contain this type.
    pub(crate) fn of_type<A>(
        &mut self,
        text: &str,
        describe: impl FnOnce(&mut TypeContext, &Type) -> A,
    ) -> Result<Option<A>, Vec<Diagnostic>> {
        let snapshot = self.snapshot();
        let compiled = self.compile(&[Input { name: "‹type›", text }], true);
        let answer = match compiled {
            Ok(compiled) => Ok(compiled.checked.value.map(|ty| describe(&mut self.context, &ty))),
            Err(Outcome { diagnostics, .. }) => Err(diagnostics),
        };
        self.restore(snapshot);
        answer
    }

    /// Returns all declared names that can be referenced, in the order of declaration.
    pub fn declared(&mut self) -> Vec<DisplayItem> {
        let all = interactive_session::declared_since(&mut self.context, &Names::default());
        all.into_iter().map(|declared| self.shown(declared)).collect()
    }

    /// Whether the program or the library declares a name.
    pub fn declares(&self, name: &str) -> bool {
        interactive_session::is_declared(&self.context, name)
    }

    /// Returns the declarations of a name, which may have the form `Type.member`.
    pub fn topics(&mut self, name: &str) -> Vec<Topic> {
        let places = interactive_session::places_of(&mut self.context, name);
        let mut topics: Vec<Topic> = places.into_iter().filter_map(|span| self.topic(span)).collect();
        topics.dedup();
        topics
    }

    /// Returns the declaration at a source location, and the comment above it.
    fn topic(&self, span: Span) -> Option<Topic> {
        if span == Span::default() {
            return None;
        }
        let source = self.sources.get(self.sources.source_of(span)?);
        let at = (span.start - source.start) as usize;
        let text = &*source.text;
        let line_start = text.get(..at)?.rfind('\n').map_or(0, |n| n + 1);
        let declaration = declaration_at(text.get(line_start..)?);
        let declaration =
            if self.sources.is_prelude(span) { without_internal_protocols(&declaration) } else { declaration };
        let above = text.get(..line_start)?.lines().rev().map(str::trim);
        let is_attribute = |line: &str| line.starts_with('@') && without_attributes(line).is_empty();
        let comment = above.take_while(|line| line.starts_with("///") || is_attribute(line));
        let mut lines: Vec<&str> = comment.filter_map(|line| line.strip_prefix("///")).collect();
        lines.reverse();
        let lines: Vec<&str> = lines.iter().map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
        let documentation = match &lines[..] {
            [] => primitive_at(text.get(line_start..)?).map_or("", |primitive| primitive.doc).to_owned(),
            lines => lines.join("\n"),
        };
        Some(Topic { declaration, text: documentation })
    }
}

/// Returns a declaration of the library; that of a type or protocol has no internal protocols.
pub(crate) fn without_internal_protocols(declaration: &str) -> String {
    const KEYWORDS: [&str; 4] = ["struct", "class", "enum", "protocol"];
    let mut out = declaration.to_owned();
    if !declaration.split(' ').take(2).any(|word| KEYWORDS.contains(&word)) {
        return out;
    }
    while let Some(at) = out.find(", _").or_else(|| out.find(": _")) {
        let name = at + 2;
        let end = out[name..].find(|c| !is_part_of_name(c)).map_or(out.len(), |length| name + length);
        let is_first_of_several = out[at..].starts_with(':') && out[end..].starts_with(", ");
        out.replace_range(if is_first_of_several { name..end + 2 } else { at..end }, "");
    }
    out
}

/// Returns the declaration at the beginning of a text, without its body, on one line.
pub(crate) fn declaration_at(text: &str) -> String {
    let mut depth = 0i32;
    let mut out = String::new();
    for line in text.lines().take(MAX_DECLARATION_LINES) {
        depth +=
            line.chars().map(|c| i32::from(matches!(c, '(' | '[')) - i32::from(matches!(c, ')' | ']'))).sum::<i32>();
        let is_inside = out.is_empty() || out.ends_with('(') || line.trim_start().starts_with(')');
        out.push_str(if is_inside { "" } else { " " });
        out.push_str(line.trim());
        if depth <= 0 {
            break;
        }
    }
    let declaration = without_attributes(&out);
    declaration.split(" {").next().unwrap_or_default().trim().to_owned()
}

/// Returns the first sentence of a documentation comment, or the first line if the comment is a list.
pub(crate) fn first_paragraph(documentation: &str) -> String {
    let lines = documentation.lines().map(str::trim).take_while(|line| !line.is_empty() && !line.starts_with("```"));
    let paragraph = lines.collect::<Vec<_>>().join(" ");
    let ends = |at: &usize| {
        let after = paragraph[at + 1..].trim_start();
        after.starts_with(|c: char| c.is_uppercase() || c == '`') && paragraph[at + 1..].starts_with(' ')
    };
    match paragraph.match_indices('.').map(|(at, _)| at).find(ends) {
        Some(at) => paragraph[..=at].to_owned(),
        None => paragraph,
    }
}

/// Returns the entry of the table of primitives that the declaration at the beginning of a text names.
pub(crate) fn primitive_at(text: &str) -> Option<&'static Primitive> {
    let name = text.lines().next()?.trim_start().strip_prefix("@primitive(\"")?.split('"').next()?;
    native::with_precision(name).map(|(id, _)| id.info())
}

/// Removes the attributes of a declaration: `@primitive("…") func` becomes `func`.
pub(crate) fn without_attributes(line: &str) -> &str {
    let mut rest = line;
    while let Some(attribute) = rest.strip_prefix('@') {
        let name_end = attribute.find(|c: char| !is_part_of_name(c)).unwrap_or(attribute.len());
        rest = &attribute[name_end..];
        if rest.starts_with('(') {
            rest = rest.find(')').map_or("", |close| &rest[close + 1..]);
        }
        rest = rest.trim_start();
    }
    rest
}

pub(crate) fn is_part_of_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

pub(crate) fn char_at(text: &str, at: usize) -> usize {
    text[at..].chars().next().map_or(0, char::len_utf8)
}

/// Returns the suffix of a text that is the expression before a dot: names, dots, and matching brackets.
pub(crate) fn receiver_of(text: &str) -> &str {
    let mut depth = 0usize;
    let mut start = text.len();
    for (at, c) in text.char_indices().rev() {
        match c {
            ')' | ']' => depth += 1,
            '(' | '[' if depth == 0 => break,
            '(' | '[' => depth -= 1,
            c if depth == 0 && !is_part_of_name(c) && c != '.' && c != '"' => break,
            _ => {}
        }
        start = at;
    }
    &text[start..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_receiver_ends_at_its_dot() {
        for (text, receiver) in [("let y = xs", "xs"), ("f(xs[1].a)", "f(xs[1].a)"), ("g(p", "p"), ("1 + a.b", "a.b")] {
            assert_eq!(receiver_of(text), receiver);
        }
    }

    #[test]
    fn attributes_are_left_out() {
        assert_eq!(without_attributes("@primitive(\"double.sin\") func sin(_ x: Double)"), "func sin(_ x: Double)");
        assert_eq!(without_attributes("@inlinable @discardableResult func f()"), "func f()");
    }

    #[test]
    fn internal_protocols_are_left_out() {
        for (declaration, shown) in [
            ("struct A: _B", "struct A"),
            ("struct A<T: P>: _B, C, _D where T: E", "struct A<T: P>: C where T: E"),
            ("struct A: B, C", "struct A: B, C"),
            ("func f(_ x: Int, _ y: Int)", "func f(_ x: Int, _ y: Int)"),
        ] {
            assert_eq!(without_internal_protocols(declaration), shown);
        }
    }
}
