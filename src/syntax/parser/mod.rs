//! Parser: converts grammar pairs into the syntax tree, in one file per construct.

mod attribute;
mod awaiting_loop;
mod checkpoint;
mod closure;
mod decl;
mod expr;
mod failure_context;
mod function;
mod key_path;
mod literal;
mod pattern;
mod piecewise_parsing;
mod postfix;
mod regex_literal;
mod stmt;
mod syntax_error;
mod syntax_roles;
mod type_conversion;
mod types;

pub(super) use syntax_roles::{Mark, Role, marks};

pub use self::regex_literal::RegexText;

use super::Parsed;
use super::ast::{File, Ident, Name, TypeExpr, TypeExprKind};
use super::foreign;
use super::scan::{List, scan};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use hashbrown::HashMap;
use pest::Parser;
use pest::error::Error;
use pest::iterators::Pair;
use std::ops::Range;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use unicode_normalization::UnicodeNormalization;

// The derived items of the grammar have no documentation.
#[allow(missing_docs)]
mod grammar {
    #[derive(pest_derive::Parser)]
    #[grammar = "syntax/grammar.pest"]
    pub(super) struct Grammar;
}
use grammar::{Grammar, Rule};

type Node<'t> = Pair<'t, Rule>;

/// The maximum depth of the tree before folding, which else-if chains, chains of members, and nested expressions can
/// reach. Every later stage recurses to this depth.
const MAX_CHAIN: u32 = 2_000;

/// Parses a text whose first byte has the offset `start`. Operators are not folded.
pub fn parse(text: &str, start: u32) -> Parsed {
    let scanned = scan(text, start);
    if !scanned.diagnostics.is_empty() {
        let (diagnostics, incomplete) = (scanned.diagnostics, scanned.incomplete);
        return Parsed { diagnostics, incomplete, ..Parsed::default() };
    }
    bound_work(text.len());
    // If the content of a long list is not a list, the text is parsed again as a whole, for its diagnostics.
    let lists = scanned.lists.iter().flat_map(List::all).map(|list| (list.open, list)).collect();
    let by_lists = Builder { lists, ..Builder::new(text, start) };
    let parsed = by_lists.texts(&scanned).or_else(|| Builder::new(text, start).texts(&scanned));
    let mut parsed = parsed.unwrap_or_default();
    parsed.diagnostics.extend(foreign::quotients(text, &scanned.text, start));
    parsed
}

/// Parses generated text: all nodes get the span `place`.
pub fn parse_at(text: &str, place: Span) -> File {
    let scanned = scan(text, 0);
    let mut builder = Builder { place: Some(place), ..Builder::new(text, 0) };
    let mut file = File::default();
    match Grammar::parse(Rule::file, &scanned.text) {
        Ok(pairs) => builder.items(pairs, 0, &mut file),
        Err(error) => builder.fail(error, &scanned.text, 0..scanned.text.len()),
    }
    debug_assert!(builder.diagnostics.is_empty(), "{text}\n{:?}", builder.diagnostics);
    file
}

/// Whether a type is `Never`.
fn is_never(ty: &TypeExpr) -> bool {
    matches!(&ty.kind, TypeExprKind::Named(path) if matches!(&path[..], [(name, _)] if &*name.name == "Never"))
}

/// The name of the implicit parameter of a setter that is written as `_modify`.
const YIELDED: &str = "yielded value";
/// The maximum number of calls of the grammar for each byte, as a protection against input that takes exponential time:
/// valid texts need fewer calls.
const CALLS_PER_BYTE: usize = 2_000;

/// Sets a call limit that suits a text. The limit is shared by the whole process, so it is only increased: another
/// thread may be about to parse a longer text.
fn bound_work(bytes: usize) {
    static LIMIT: AtomicUsize = AtomicUsize::new(50_000_000);
    let needed = bytes.saturating_mul(CALLS_PER_BYTE);
    let limit = LIMIT.fetch_max(needed, Ordering::Relaxed).max(needed);
    pest::set_call_limit(std::num::NonZeroUsize::new(limit));
}

/// The builder of the syntax tree of one text.
struct Builder<'t> {
    text: &'t str,
    start: u32,
    /// The offset in the text of the piece that is being parsed.
    base: usize,
    names: HashMap<String, Name>,
    diagnostics: Vec<Diagnostic>,
    incomplete: bool,
    /// The span that all nodes of a generated text get.
    place: Option<Span>,
    /// The number of nested expressions, blocks and types under construction.
    depth: u32,
    /// Whether the builder is inside the parentheses of `#name(…)`, where `.0` refers to a parameter.
    in_hash: bool,
    /// Whether a `throw` or `try` was built whose error leaves the current closure.
    throwing: bool,
    /// The kind of the accessor that is being built, if it yields the accessed value.
    yielding: Option<YieldingAccessor>,
    /// The copy of the text that the grammar reads.
    copy: &'t str,
    /// The long lists that are parsed in groups, by their start offsets.
    lists: HashMap<usize, &'t List>,
    /// The number of the long lists that have been parsed.
    lists_read: usize,
    /// The literals of regular expressions.
    regex_literals: Vec<RegexText>,
}

/// The kind of an accessor that yields a value or place.
#[derive(Clone, Copy, PartialEq, Eq)]
enum YieldingAccessor {
    /// The accessor `_read`, which yields a value.
    Value,
    /// The accessor `_modify`, which yields a place.
    Place,
}

impl<'t> Builder<'t> {
    fn new(text: &'t str, start: u32) -> Builder<'t> {
        Builder {
            text,
            start,
            base: 0,
            names: HashMap::new(),
            diagnostics: vec![],
            incomplete: false,
            place: None,
            depth: 0,
            in_hash: false,
            throwing: false,
            yielding: None,
            copy: "",
            lists: HashMap::new(),
            lists_read: 0,
            regex_literals: vec![],
        }
    }

    fn fail(&mut self, error: Error<Rule>, copy: &str, piece: Range<usize>) {
        let (diagnostic, incomplete) = syntax_error::explain(error, copy, piece, self.text, self.start);
        self.incomplete = incomplete && self.diagnostics.is_empty();
        self.diagnostics.push(diagnostic);
    }

    fn span(&self, node: &Node<'_>) -> Span {
        let span = node.as_span();
        self.at(self.base + span.start(), self.base + span.end())
    }

    /// Returns a span of the text; offsets in the final newline, which only the copy has, are moved to the end.
    fn at(&self, from: usize, to: usize) -> Span {
        if let Some(place) = self.place {
            return place;
        }
        let end = self.text.len();
        Span::new(self.start + from.min(end) as u32, self.start + to.min(end) as u32)
    }

    /// Returns the source text of a span; the copy has marks for angle brackets and blanks for comments.
    fn written(&self, span: Span) -> &'t str {
        self.text.get((span.start - self.start) as usize..(span.end - self.start) as usize).unwrap_or("")
    }

    /// Returns the operator at the end of the line before a span, and the location after the operator, if only blanks
    /// separate them.
    fn operator_before(&self, span: Span) -> Option<(&'t str, Span)> {
        let before = self.text.get(..(span.start - self.start) as usize)?;
        let line = before.trim_end();
        let operator = &line[line.trim_end_matches(|c: char| "+-*/%^=<>&|".contains(c)).len()..];
        let end = self.start + line.len() as u32;
        (!operator.is_empty() && before[line.len()..].contains('\n')).then(|| (operator, Span::new(end, end)))
    }

    fn name(&mut self, text: &str) -> Name {
        if let Some(name) = self.names.get(text) {
            return name.clone();
        }
        let bare = text.trim_matches('`');
        let name: Name = if bare.is_ascii() { bare.into() } else { bare.nfc().collect::<String>().into() };
        self.names.insert(text.to_owned(), name.clone());
        name
    }

    fn ident(&mut self, node: &Node<'_>) -> Ident {
        Ident { name: self.name(node.as_str()), span: self.span(node) }
    }

    fn error(&mut self, code: Code, span: Span, message: impl Into<String>) -> &mut Diagnostic {
        self.diagnostics.push(Diagnostic::error(code, span, message));
        let last = self.diagnostics.len() - 1;
        &mut self.diagnostics[last]
    }

    /// Returns whether an effect of a function is that it throws. A function whose errors have the type `Never` does not.
    fn throws(&mut self, effect: &Node<'_>) -> bool {
        effect.as_str().starts_with("throws") && !matches!(self.thrown(effect), Some(ty) if is_never(&ty))
    }

    /// Returns the type of the errors that an effect names: `throws(E)`.
    fn thrown(&mut self, effect: &Node<'_>) -> Option<TypeExpr> {
        let ty = effect.clone().into_inner().find(|part| part.as_rule() == Rule::r#type)?;
        Some(self.ty(ty))
    }

    /// Runs `build` one level deeper in the tree; when that is too deep, reports an error and returns `fallback`.
    fn deeper<T>(&mut self, span: Span, fallback: T, build: impl FnOnce(&mut Self) -> T) -> T {
        if self.depth >= MAX_CHAIN {
            self.too_deep(span);
            return fallback;
        }
        self.depth += 1;
        let built = build(self);
        self.depth -= 1;
        built
    }

    fn too_deep(&mut self, span: Span) {
        // One diagnostic is enough: all enclosing constructs are too deep as well.
        if !self.diagnostics.iter().any(|d| d.code == Code::TooDeep) {
            let message = format!("this is nested more than {MAX_CHAIN} deep");
            self.diagnostics
                .push(Diagnostic::error(Code::TooDeep, span, message).help("store parts of it in constants"));
        }
    }

    fn text_name(&mut self, text: &str) -> Rc<str> {
        self.name(text)
    }
}
