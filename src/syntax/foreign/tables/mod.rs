//! Tables: the words and notations of other languages, by the kind of code that they replace.

pub(super) mod array_functions;
pub(super) mod array_operations;
pub(super) mod calculus_functions;
pub(super) mod calculus_libraries;

pub(super) mod computer_algebra;
pub(super) mod declarations;
pub(super) mod expressions;
pub(super) mod functions;
pub(super) mod library_functions;
pub(super) mod mathematical_notation;
pub(super) mod matrix_notation;
pub(super) mod members;
pub(super) mod neural_networks;
pub(super) mod numerical_languages;
pub(super) mod phrases;
pub(super) mod scientific_phrases;
pub(super) mod statements;
pub(super) mod tensor_functions;
pub(super) mod tensors;

use super::{ReplacementKind, Scope};

/// A row of a table: the pattern, the replacement, and the sentence, in which `$` and a letter stand for parts as well.
/// The replacement `-` removes the code. A row without a replacement has only a sentence; the default sentence is
/// "'pattern' is written 'replacement'".
pub(super) type Row = (&'static str, &'static str, &'static str);

/// The tables, the more specific ones first.
pub(super) const TABLES: &[(Scope, &[Row])] = &[
    (Scope::Everything, numerical_languages::DECLARATIONS),
    (Scope::Everything, declarations::ROWS),
    (Scope::Everything, statements::ROWS),
    (Scope::Conversions, functions::CONVERTED),
    (Scope::Conversions, tensors::CONVERTED),
    (Scope::Conversions, library_functions::CONVERTED),
    (Scope::Arrays, array_operations::ROWS),
    (Scope::Arrays, numerical_languages::APPLIED),
    (Scope::Expressions, matrix_notation::ROWS),
    (Scope::Expressions, numerical_languages::ROWS),
    (Scope::Expressions, scientific_phrases::ROWS),
    (Scope::Expressions, phrases::REQUESTS),
    (Scope::Expressions, neural_networks::ROWS),
    (Scope::Expressions, tensor_functions::ROWS),
    (Scope::Expressions, computer_algebra::ROWS),
    (Scope::Expressions, library_functions::ROWS),
    (Scope::Expressions, calculus_libraries::ROWS),
    (Scope::Expressions, array_functions::ROWS),
    (Scope::Expressions, tensors::ROWS),
    (Scope::Expressions, members::ROWS),
    (Scope::Expressions, functions::ROWS),
    (Scope::Expressions, calculus_functions::ROWS),
    (Scope::Expressions, expressions::ROWS),
    (Scope::Expressions, phrases::ROWS),
    (Scope::Expressions, mathematical_notation::ROWS),
    (Scope::Expressions, library_functions::NAMED),
    (Scope::Expressions, tensor_functions::SHARED),
    (Scope::Expressions, array_functions::UNKNOWN),
];

/// The sentences of rows whose replacements have further conditions.
const KINDS: &[(&str, ReplacementKind)] = &[
    (array_operations::MATRIX, ReplacementKind::Matrix),
    (expressions::CHARACTERS, ReplacementKind::Characters),
    (tensor_functions::APPENDED, ReplacementKind::Appended),
    (library_functions::EACH, ReplacementKind::MappedFunction),
    (calculus_functions::OF_FUNCTIONS, ReplacementKind::FunctionOperands),
    (functions::WITHOUT_MODULE, ReplacementKind::ModuleQualifier),
    (functions::WITHOUT_MODULES, ReplacementKind::ModuleQualifier),
];

/// Returns the kind of the replacements of a row with a sentence.
pub(super) fn kind_of(sentence: &str) -> ReplacementKind {
    KINDS.iter().find(|(of, _)| *of == sentence).map_or(ReplacementKind::General, |(_, kind)| *kind)
}
