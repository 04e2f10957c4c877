//! Which tables of foreign code may explain an error.

use crate::diagnostic::{Code, Diagnostic};
use crate::syntax::foreign::Scope;

/// Returns the tables that apply to an error; `None` if foreign code cannot be the cause of the error, or if the
/// message is specific.
pub(super) fn scope_of(diagnostic: &Diagnostic) -> Option<Scope> {
    if !diagnostic.is_error() {
        return None;
    }
    let message = diagnostic.message.as_str();
    // The type of an array is among the types that do not fit.
    let types = if message.contains('[') { Scope::Arrays } else { Scope::Expressions };
    match diagnostic.code {
        Code::UnclosedBracket => Some(Scope::Comments),
        Code::Syntax => is_general(message).then_some(Scope::Everything),
        Code::NotConforming if message.contains("has no elements") => None,
        Code::InvalidLiteral if message.starts_with("integer literal") => None,
        Code::InvalidLiteral
        | Code::UnknownOperator
        | Code::ExpectedBrace
        | Code::UnknownType
        | Code::NotConforming
        | Code::NotCallable
        | Code::Import => Some(Scope::Everything),
        Code::UnknownName => Some(Scope::Name),
        // A failed conversion is usually a type error of the program, not a foreign notation.
        Code::OptionalNotUnwrapped => Some(Scope::Conversions),
        Code::Mismatch if message.starts_with("cannot convert") => Some(Scope::of_conversion(message)),
        Code::Mismatch if message.starts_with("the values of a literal") => None,
        Code::Mismatch => Some(types),
        Code::WrongContext => message.starts_with("static member").then_some(Scope::Expressions),
        Code::UnknownMember
        | Code::WrongArguments
        | Code::NoOverload
        | Code::CannotInfer
        | Code::Ambiguous
        | Code::Immutable
        | Code::Types => Some(types),
        _ => None,
    }
}

/// Whether an error is the modification of a constant that can be declared as a variable.
pub(super) fn names_constant(diagnostic: &Diagnostic) -> bool {
    diagnostic.code == Code::Immutable && diagnostic.message.ends_with("is a 'let' constant")
}

/// Whether the message of a syntax error only states what the parser expected, or names the notation itself.
fn is_general(message: &str) -> bool {
    const BEGINNINGS: &[&str] = &["expected ", "unexpected "];
    const WORDS: &[&str] = &["cannot begin a program", "cannot be combined", "generic arguments are only allowed"];
    BEGINNINGS.iter().any(|beginning| message.starts_with(beginning)) || WORDS.iter().any(|word| message.contains(word))
}
