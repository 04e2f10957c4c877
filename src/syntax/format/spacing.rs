//! Spacing: decides between which tokens of a line there is a space.

use crate::syntax::format::token::{Kind, Token};

/// The words that are always followed by a space.
const APART: &[&str] = &[
    "if", "while", "for", "in", "switch", "guard", "return", "where", "else", "case", "throw", "is", "let", "var",
    "catch",
];

/// Whether a space separates two adjacent tokens of a line. `last` is the token before the two tokens.
pub(crate) fn is_apart(last: Option<&Token<'_>>, a: &Token<'_>, b: &Token<'_>) -> bool {
    use Kind::{
        AngleClose, AngleOpen, Atom, Body, Brace, Close, Colon, Comma, Comment, EndBrace, Implicit, Infix, Line,
        LineComment, Member, Open, Operator, Other, Postfix, Prefix, Semicolon, Tight, Word,
    };
    match (a.kind, b.kind) {
        (LineComment | Line, _) | (_, Line) => true,
        (Comment, _) | (_, Comment) => b.is_apart,
        (_, LineComment) => true,
        (Open, _) | (_, Close) => false,
        (Brace | Body(_), EndBrace) => false,
        (Brace | Body(_), _) | (_, EndBrace) => true,
        (_, Comma | Semicolon) => false,
        (Comma, AngleClose) => false,
        (Comma | Semicolon, _) => true,
        (_, Colon) => false,
        (Colon, _) => true,
        (Tight, _) | (_, Tight) => false,
        (Prefix | Implicit | Member, _) => false,
        (Infix, _) | (_, Infix) => true,
        (_, Postfix | Member) => false,
        // An operator function may be generic, as in `func + <T>(`.
        (Operator, AngleOpen) => true,
        (AngleOpen, _) | (_, AngleOpen | AngleClose) => false,
        (_, Body(_)) => true,
        (Word | Atom, Brace) => b.is_apart || !a.text.ends_with(['∇', '√', '∛']),
        (Close | EndBrace | AngleClose | Postfix, Brace) => true,
        (EndBrace, Word) => true,
        (Word, Open | Implicit | Prefix) => b.is_apart || begins_statement(last, a),
        (Word | Atom | Operator | Close | EndBrace | AngleClose | Postfix | Other, _) => b.is_apart,
    }
}

/// Whether a word is a keyword, as opposed to a name after a dot or in a declaration.
fn begins_statement(last: Option<&Token<'_>>, word: &Token<'_>) -> bool {
    let is_name =
        last.is_some_and(|t| matches!(t.kind, Kind::Member | Kind::Implicit) || t.text == "func" || t.text == "#");
    APART.contains(&word.text) && !is_name
}
