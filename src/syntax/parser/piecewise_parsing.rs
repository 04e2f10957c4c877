//! Piecewise parsing: the division of long texts into pieces, which bounds memory and allows cancellation between
//! pieces.
//!
//! A piece ends before a line that begins a declaration. If a piece is still long, its statements are parsed one by
//! one, and the elements of a long list in groups; in the text around a long list, the list is empty.

use super::grammar::{Grammar, Rule};
use super::{Builder, Node};
use crate::cancel;
use crate::syntax::Parsed;
use crate::syntax::ast::File;
use crate::syntax::scan::{List, Scanned};
use pest::Parser;
use pest::error::Error;
use pest::iterators::Pairs;
use std::borrow::Cow;
use std::ops::Range;

/// The minimum size of a piece in bytes.
pub(super) const PIECE: usize = 1 << 16;
/// The size in bytes from which on the statements of a piece are parsed one by one.
const LONG: usize = 4 * PIECE;
/// The maximum number of syntax errors reported for one text.
const MAX_ERRORS: usize = 20;
const DECLARING: &[&str] = &[
    "let",
    "var",
    "func",
    "struct",
    "enum",
    "class",
    "protocol",
    "extension",
    "typealias",
    "import",
    "operator",
    "precedencegroup",
];
const MODIFIERS: &[&str] = &[
    "public",
    "private",
    "fileprivate",
    "internal",
    "open",
    "final",
    "indirect",
    "prefix",
    "postfix",
    "infix",
    "static",
    "mutating",
];

/// The failure to parse a piece: the error, and the offset of the first unparsed byte.
type ParseFailure = Box<(Error<Rule>, usize)>;

impl<'t> Builder<'t> {
    /// Parses a text piece by piece; returns nothing when a long list could not be parsed in groups.
    pub(super) fn texts(mut self, scanned: &'t Scanned) -> Option<Parsed> {
        let is_by_lists = !self.lists.is_empty();
        let wanted = self.lists.len();
        let outside = self.without_lists(&scanned.text, 0..scanned.text.len(), &scanned.lists);
        self.copy = &scanned.text;
        let mut file = File::default();
        let size = if outside.len() > PIECE { PIECE } else { usize::MAX };
        for cut in pieces(&outside, &scanned.lines, 0, size) {
            cancel::check();
            if let Err(unread) = self.piece(&outside, cut, &mut file) {
                if is_by_lists {
                    return None;
                }
                let (error, at) = *unread;
                let rest = pieces(&outside, &scanned.lines, at, 1);
                self.recover(error, &outside, rest, &mut file);
                break;
            }
        }
        let is_read = self.lists_read == wanted;
        let Builder { diagnostics, incomplete, regex_literals, .. } = self;
        is_read.then_some(Parsed { file, diagnostics, incomplete, regex_literals })
    }

    /// Parses a piece of a text; on failure, returns the error and the offset of the first unparsed byte.
    fn piece(&mut self, copy: &str, cut: Range<usize>, file: &mut File) -> Result<(), ParseFailure> {
        let mut at = cut.start;
        if cut.len() > LONG {
            while let Ok(mut pairs) = Grammar::parse(Rule::item, &copy[at..cut.end])
                && let Some(item) = pairs.next()
            {
                cancel::check();
                let end = at + item.as_span().end();
                self.items(item.into_inner(), at, file);
                at = end;
            }
        }
        match Grammar::parse(Rule::file, &copy[at..cut.end]) {
            Ok(pairs) => self.items(pairs, at, file),
            Err(error) => return Err(Box::new((error, at))),
        }
        Ok(())
    }

    /// Adds the statements of a piece that begins at the offset `base`.
    pub(super) fn items(&mut self, pairs: Pairs<'_, Rule>, base: usize, file: &mut File) {
        self.base = base;
        for pair in pairs {
            self.statement(pair, &mut file.items);
        }
    }

    /// Parses the text after an error piece by piece, so that an error can be reported for each declaration.
    fn recover(&mut self, first: Error<Rule>, copy: &str, pieces: Vec<Range<usize>>, file: &mut File) {
        let from = pieces.first().map_or(0, |p| p.start);
        let errors = self.diagnostics.len();
        for piece in pieces {
            cancel::check();
            match Grammar::parse(Rule::file, &copy[piece.clone()]) {
                Ok(pairs) => self.items(pairs, piece.start, file),
                Err(error) => self.fail(error, copy, piece),
            }
            if self.diagnostics.len() - errors >= MAX_ERRORS {
                return;
            }
        }
        if self.diagnostics.len() == errors {
            self.fail(first, copy, from..copy.len());
        }
    }

    /// Returns a part of the copy in which the long lists in `lists` are empty.
    fn without_lists<'c>(&self, copy: &'c str, part: Range<usize>, lists: &[List]) -> Cow<'c, str> {
        if self.lists.is_empty() || lists.is_empty() {
            return Cow::Borrowed(&copy[part]);
        }
        let mut outside = String::with_capacity(part.len());
        let mut at = part.start;
        for list in lists.iter().filter(|list| part.contains(&list.open)) {
            outside.push_str(&copy[at..=list.open]);
            outside.extend(std::iter::repeat_n(' ', list.close - list.open - 1));
            at = list.close;
        }
        outside.push_str(&copy[at..part.end]);
        Cow::Owned(outside)
    }

    /// Calls `found` with the elements of a bracketed list; a long list is parsed in groups.
    pub(super) fn parts_of_list(&mut self, node: Node<'_>, mut found: impl FnMut(&mut Self, Node<'_>)) {
        let Some(list) = self.lists.get(&(self.base + node.as_span().start())).copied() else {
            return node.into_inner().for_each(|part| found(self, part));
        };
        let (base, copy) = (self.base, self.copy);
        let mut from = list.open;
        let mut is_read = true;
        for end in list.cuts.iter().copied().chain([list.close]) {
            cancel::check();
            // The commas before and after the group become the brackets of a list.
            let group = format!("[{}]", self.without_lists(copy, from + 1..end, &list.inner));
            is_read &= end == list.close || !group[..group.len() - 1].trim_end().ends_with(['[', ',']);
            match Grammar::parse(Rule::array, &group) {
                Ok(mut pairs) => {
                    self.base = from;
                    let mut parts = pairs.next().into_iter().flat_map(Node::into_inner).peekable();
                    is_read &= parts.peek().is_none_or(|first| first.as_rule() != Rule::colon);
                    parts.for_each(|part| found(self, part));
                }
                Err(_) => is_read = false,
            }
            from = end;
        }
        self.base = base;
        self.lists_read += usize::from(is_read);
    }
}

/// Divides a text from `start` on before lines that begin a declaration, into pieces of at least `size` bytes.
pub(super) fn pieces(copy: &str, lines: &[usize], start: usize, size: usize) -> Vec<Range<usize>> {
    let (mut cuts, mut from) = (vec![], start);
    // Whether the previous line ended among the attributes and modifiers of a declaration.
    let mut inside = false;
    for line in std::iter::once(start).chain(lines.iter().copied().filter(|line| *line > start)) {
        let words = || copy[line..].split('\n').next().unwrap_or("").split([' ', '(', '<']);
        let word = words().next().unwrap_or("");
        let begins = word.starts_with('@') || DECLARING.contains(&word) || MODIFIERS.contains(&word);
        if begins && !inside && line > from && line - from >= size {
            cuts.push(from..line);
            from = line;
        }
        inside = begins && !words().any(|w| DECLARING.contains(&w));
    }
    cuts.push(from..copy.len());
    cuts
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;
    use crate::syntax::scan::scan;
    use crate::syntax::tests::roomy;

    /// Checks that parsing in pieces and parsing at once have equal results: the tree with its spans, or the
    /// diagnostics.
    fn reads_alike(text: String) {
        roomy(move || {
            let scanned = scan(&text, 0);
            assert!(text.len() > 2 * PIECE && scanned.diagnostics.is_empty());
            let mut whole = Builder::new(&text, 0);
            let mut file = File::default();
            match Grammar::parse(Rule::file, &scanned.text) {
                Ok(pairs) => whole.items(pairs, 0, &mut file),
                Err(error) => {
                    whole.recover(error, &scanned.text, pieces(&scanned.text, &scanned.lines, 0, 1), &mut file);
                }
            }
            let read = parse(&text, 0);
            let texts = |diagnostics: &[crate::diagnostic::Diagnostic]| format!("{diagnostics:?}");
            assert_eq!(texts(&read.diagnostics), texts(&whole.diagnostics), "{}", &text[..100]);
            // When there is an error, piecewise parsing retains more of the tree before the error.
            let is_same = || format!("{:?}", read.file) == format!("{file:?}");
            assert!(!read.diagnostics.is_empty() || is_same(), "{}", &text[..100]);
        });
    }

    /// Returns a program with a long list of elements between the given ends.
    fn list(before: &str, element: impl Fn(usize) -> String, after: &str) -> String {
        let elements: Vec<String> = (0..PIECE / 3).map(element).collect();
        format!("let before = 1\nlet a = {before}{}{after}\nlet after = [2, a[0]]\n", elements.join(", "))
    }

    #[test]
    fn long_lists_read_alike() {
        reads_alike(list("[", |k| format!("{k}.5"), "]"));
        reads_alike(list("[", |k| format!("{k}.5"), ",\n]"));
        reads_alike(list("[", |k| format!("\"k{k}, ]\": -{k} /* , [ */"), "]"));
        reads_alike(list("f(x: [", |k| format!("[{k}, g({k}, a < {k})]"), "].map { [$0, 1] }, [3])"));
        reads_alike(list("[[1], [", |k| format!("{{ x, y in x[{k}] }}"), "], [2]]"));
        reads_alike(list("b[", |k| format!("f<Int, [Int]>({k})"), "]"));
        reads_alike(list("[[[", |k| format!("é{k}"), "]], [[1]]]"));
    }

    #[test]
    fn long_lists_with_errors_read_alike() {
        reads_alike(list("[", |k| format!("{k}.5"), ", , ]"));
        reads_alike(list("[", |k| format!("{k}"), &format!(", {}, 1]", " ".repeat(2 * PIECE))));
        reads_alike(list("[", |k| format!("{k}"), &format!(", {}: 1]", " ".repeat(2 * PIECE))));
        reads_alike(list("[", |k| format!("{k}"), " 1]"));
        reads_alike(list("[", |k| format!("{k}"), "] = = 1"));
        reads_alike(list("{ [", |k| format!("a{k}"), "] in 1 }"));
    }

    #[test]
    fn long_lines_read_alike() {
        // The statements are slightly longer than the maximum length that is parsed at once.
        let line = |statement: &str| statement.repeat(LONG / statement.len() + 1);
        reads_alike(line("print(1); "));
        reads_alike(line("if a { b() } else { c() }; ") + "let x = 1");
        reads_alike(line("f(x) = x; ;; "));
        reads_alike(line("print(1)\n\n") + "print(2) +\n 3");
        reads_alike(line("a.b { $0 }\n  .c()\n"));
        reads_alike(line("x += 1\n") + "x = = 2\nlet y = 3\nlet z = = 4\n");
        reads_alike(format!("{}) = 1", line("x += 1\n").replacen("x", "(x", 1)));
    }
}
