//! A possible replacement of foreign code, and the errors that it may explain.

use super::spelling::is_keyword;
use super::{token, true_division};
use crate::diagnostic::{Code as ErrorCode, Diagnostic};
use std::ops::Range;

/// The kinds of replacements, which decide the errors that a replacement may explain.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ReplacementKind {
    /// A replacement without further conditions.
    General,
    /// An array of arrays is converted to a matrix.
    Matrix,
    /// A string is converted to an array of its characters.
    Characters,
    /// An element is appended to a tensor.
    Appended,
    /// A function is mapped over the elements of an array.
    MappedFunction,
    /// A formula is mapped over the elements of an array.
    MappedFormula,
    /// An unknown name is split into factors.
    Product,
    /// Functions that are operands of an operator are called.
    FunctionOperands,
    /// The module before a name is removed.
    ModuleQualifier,
}

/// A possible replacement of foreign code.
#[derive(Clone, Debug)]
pub(crate) struct Replacement {
    /// The range of the foreign code in the text.
    pub range: Range<usize>,
    /// The code of the replacement; `None` if there is no equivalent that an edit can produce.
    pub code: Option<String>,
    /// The sentence that explains the replacement.
    pub message: String,
    /// The kind of the replacement.
    pub kind: ReplacementKind,
    /// Whether the matched pattern resembles almost all code, so that only type checking can confirm the replacement.
    pub is_guess: bool,
    /// Whether the replacement changes what a name denotes, so that it may cause errors elsewhere.
    pub declares: bool,
    /// The foreign function that the replaced code calls, if the row names it.
    pub function: Option<String>,
    /// The member that the row names, if it has only a sentence.
    pub member: Option<&'static str>,
}

/// The modifiers of declarations that are also words of other languages.
const MODIFIERS: [&str; 5] = ["final", "open", "private", "public", "static"];

impl Replacement {
    /// Creates a replacement of code that has one meaning; the caller adds the sentence.
    pub(crate) fn certain(range: Range<usize>, code: String) -> Replacement {
        Replacement {
            range,
            code: Some(code),
            message: String::new(),
            kind: ReplacementKind::General,
            is_guess: false,
            declares: false,
            function: None,
            member: None,
        }
    }

    /// Whether the replaced code begins with a modifier or a `where` clause. If a text can be parsed, such code is part of
    /// a declaration of the language.
    pub(crate) fn is_of_declaration(&self, text: &str) -> bool {
        let word: &str = text[self.range.clone()].split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
        word == "where" || MODIFIERS.contains(&word)
    }

    /// Whether the replacement may explain an error: one about matrices explains the types of matrices, and one of a word
    /// explains that the word is unknown.
    pub(crate) fn explains(&self, text: &str, error: &Diagnostic) -> bool {
        let word = &text[self.range.clone()];
        let is_word = word.chars().all(token::is_word) && !word.starts_with(|c: char| c.is_ascii_digit());
        let is_about_member = self.member.is_none_or(|member| concerns_member(word, member, error));
        match self.kind {
            ReplacementKind::Matrix => error.message.contains("[["),
            // A label before an argument of a subscript resembles a slice.
            ReplacementKind::Characters if error.message.starts_with("no subscript of '") => {
                error.message.contains("String'")
            }
            ReplacementKind::Appended => error.message.contains("type 'Tensor<"),
            _ if !is_about_member => false,
            ReplacementKind::MappedFunction => concerns_collection(error),
            _ => {
                !is_word
                    || error.code <= ErrorCode::ExpectedBrace
                    || error.message.contains(&format!("'{word}' in scope"))
            }
        }
    }

    /// Whether the replacement splits an unknown name of two letters into the factors of a product.
    pub(crate) fn is_split(&self, text: &str) -> bool {
        let mut letters = text[self.range.clone()].chars();
        let (first, second, more) = (letters.next(), letters.next(), letters.next());
        let is_called = text[self.range.end..].starts_with('(');
        self.is_product() && first != second && more.is_none() && !is_called
    }

    /// Whether the replacement splits an unknown name into the factors of a product.
    pub(crate) fn is_product(&self) -> bool {
        self.kind == ReplacementKind::Product
    }

    /// Whether an unknown name of two letters is a coefficient and a usual name of a variable, `ax`, and is an operand in
    /// its line, so that a product is likely although both factors are unknown. `dx` is a name of its own.
    pub(crate) fn is_product_with_variable(&self, text: &str) -> bool {
        let word = &text[self.range.clone()];
        let is_named = word.ends_with(['x', 'y', 'z']) && !word.starts_with(['d', 'D']);
        let before = text[..self.range.start].trim_end_matches(' ');
        let after = text[self.range.end..].trim_start_matches(' ');
        let is_operand =
            before.ends_with(['+', '-', '*', '/']) || after.starts_with(['+', '-', '*', '/', '^', '²', '³']);
        self.is_split(text) && is_named && is_operand
    }

    /// Whether the replacement removes the module before a name: `np.`.
    pub(crate) fn removes_module(&self) -> bool {
        self.kind == ReplacementKind::ModuleQualifier
    }

    /// Whether the replacement applies a function to each element of an array.
    pub(crate) fn is_applied_to_elements(&self) -> bool {
        self.kind == ReplacementKind::MappedFunction
    }

    /// Whether the replacement maps a function or a formula over the elements of an array.
    pub(crate) fn is_mapped(&self) -> bool {
        matches!(self.kind, ReplacementKind::MappedFunction | ReplacementKind::MappedFormula)
    }

    /// Writes quotients in a formula of elements so that they keep their fractions if the elements are integers.
    pub(crate) fn keep_fractions_of_elements(&mut self) {
        if self.kind == ReplacementKind::MappedFormula {
            self.code = self.code.take().map(|code| true_division::with_fractions(&code));
        }
    }

    /// Whether the replacement calls what the replaced code combines with an operator. It is wrong if these are not
    /// functions, whatever else replaces the calls.
    pub(crate) fn calls_operands(&self) -> bool {
        self.kind == ReplacementKind::FunctionOperands
    }

    /// Whether the replaced word is taken for a misspelled keyword.
    pub(crate) fn is_keyword(&self) -> bool {
        self.is_guess && self.code.as_deref().is_some_and(is_keyword)
    }
}

/// Whether an error is about the type of an array or a range.
fn concerns_collection(error: &Diagnostic) -> bool {
    ["type '[", "types ([", "type 'ClosedRange<", "type 'Range<", "type 'Stride"]
        .iter()
        .any(|part| error.message.contains(part))
}

/// Whether an error is about a member of the code, rather than about an argument: the member or the value before it is
/// unknown, or the code has a syntax error.
fn concerns_member(code: &str, member: &str, error: &Diagnostic) -> bool {
    let receiver = code.split(|c| !token::is_word(c)).next().unwrap_or_default();
    let names = |name: &str| error.message.contains(&format!("'{name}'"));
    error.code <= ErrorCode::ExpectedBrace || names(member) || names(receiver)
}

/// Returns the member that a pattern of a row names after a part.
pub(super) fn member_of(pattern: &'static str) -> Option<&'static str> {
    let (part, rest) = pattern.split_once(" . ")?;
    let name = rest.split(' ').next()?;
    (part.starts_with('$') && !part.contains(' ') && name.chars().all(token::is_word)).then_some(name)
}
