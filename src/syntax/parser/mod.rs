//! From the pairs that the grammar finds to the tree, in a file by construct.

mod attribute;
mod convert;
mod decl;
mod expr;
mod failure;
mod function;
mod literal;
mod pattern;
mod postfix;
mod stmt;
mod types;

use super::Parsed;
use super::ast::{File, Ident, Name};
use super::scan::scan;
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use hashbrown::HashMap;
use pest::Parser;
use pest::iterators::Pair;
use std::rc::Rc;
use unicode_normalization::UnicodeNormalization;

// The derive leaves its items undocumented.
#[allow(missing_docs)]
mod grammar {
    #[derive(pest_derive::Parser)]
    #[grammar = "syntax/grammar.pest"]
    pub(super) struct Grammar;
}
use grammar::{Grammar, Rule};

type Node<'t> = Pair<'t, Rule>;

/// How deep the tree may get before folding: else-if chains, chains of members, nested expressions. Every stage behind
/// recurses that deep.
const MAX_CHAIN: u32 = 2_000;
/// Text beyond this is not read a second time for a better message.
const MAX_SECOND_LOOK: usize = 1 << 20;

/// Reads a text whose first byte has the position `start`. Operators are not folded yet.
pub fn parse(text: &str, start: u32) -> Parsed {
    let scanned = scan(text, start);
    if !scanned.diagnostics.is_empty() {
        return Parsed { file: File::default(), diagnostics: scanned.diagnostics, incomplete: scanned.incomplete };
    }
    let mut builder = Builder::new(text, start);
    match Grammar::parse(Rule::file, &scanned.text) {
        Ok(pairs) => {
            let mut items = vec![];
            for pair in pairs {
                builder.statement(pair, &mut items);
            }
            let incomplete = builder.incomplete;
            Parsed { file: File { items }, diagnostics: builder.diagnostics, incomplete }
        }
        Err(error) => {
            let (diagnostic, incomplete) = failure::explain(error, &scanned.text, text, start, MAX_SECOND_LOOK);
            Parsed { file: File::default(), diagnostics: vec![diagnostic], incomplete }
        }
    }
}

/// Builds the tree of one text.
struct Builder<'t> {
    text: &'t str,
    start: u32,
    names: HashMap<String, Name>,
    diagnostics: Vec<Diagnostic>,
    incomplete: bool,
    /// How many expressions, blocks and types are being built inside each other.
    depth: u32,
    /// Inside the brackets of `#name(…)`, where `.0` names a parameter.
    in_hash: bool,
}

impl<'t> Builder<'t> {
    fn new(text: &'t str, start: u32) -> Builder<'t> {
        Builder { text, start, names: HashMap::new(), diagnostics: vec![], incomplete: false, depth: 0, in_hash: false }
    }

    fn span(&self, node: &Node<'_>) -> Span {
        let span = node.as_span();
        self.at(span.start(), span.end())
    }

    /// A span of the text; the copy that the grammar reads is one newline longer.
    fn at(&self, from: usize, to: usize) -> Span {
        let end = self.text.len();
        Span::new(self.start + from.min(end) as u32, self.start + to.min(end) as u32)
    }

    /// The text as written; the copy has marks for angle brackets and blanks for comments.
    fn written(&self, span: Span) -> &'t str {
        self.text.get((span.start - self.start) as usize..(span.end - self.start) as usize).unwrap_or("")
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

    /// The ASCII name of an operator.
    fn operator(&mut self, node: &Node<'_>) -> Ident {
        let name = match node.as_str() {
            "·" | "×" => "*",
            "**" => "^",
            "≤" => "<=",
            "≥" => ">=",
            "≠" => "!=",
            other => other,
        };
        Ident { name: self.name(name), span: self.span(node) }
    }

    fn error(&mut self, code: Code, span: Span, message: impl Into<String>) -> &mut Diagnostic {
        self.diagnostics.push(Diagnostic::error(code, span, message));
        let last = self.diagnostics.len() - 1;
        &mut self.diagnostics[last]
    }

    /// Runs `build` one level deeper; false from it, and an error, when that is too deep.
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
        // One word about it is enough: whatever holds this is too deep as well.
        if !self.diagnostics.iter().any(|d| d.code == Code::TooDeep) {
            self.error(Code::TooDeep, span, format!("this is nested more than {MAX_CHAIN} deep"));
        }
    }

    fn text_name(&mut self, text: &str) -> Rc<str> {
        self.name(text)
    }
}
