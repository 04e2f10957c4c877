//! Spelling: keywords, misspelled keywords, and the distance between words.

use super::token::{Kind, Token, text_of};
use super::{Replacement, Search, is_in_patterns, is_known};

/// The keywords of the language.
const KEYWORDS: &[&str] = &[
    "as",
    "break",
    "case",
    "catch",
    "class",
    "continue",
    "default",
    "defer",
    "do",
    "else",
    "enum",
    "extension",
    "for",
    "func",
    "guard",
    "if",
    "import",
    "in",
    "is",
    "let",
    "operator",
    "protocol",
    "repeat",
    "return",
    "static",
    "struct",
    "switch",
    "throw",
    "throws",
    "try",
    "var",
    "where",
    "while",
];

/// The minimum length of a word in which two letters may be wrong.
const LONG: usize = 6;
/// The number of letters from which on one may be missing or wrong; those of shorter words may be swapped.
const SHORT: usize = 3;
/// The number of tokens before an error among which the misspelled keyword is.
const REACH: usize = 3;

/// Whether a word is a keyword.
pub(crate) fn is_keyword(word: &str) -> bool {
    KEYWORDS.contains(&word)
}

/// Computes the number of letters that must be inserted, deleted, replaced or swapped to change one word into another.
pub(crate) fn distance(a: &[char], b: &[char]) -> usize {
    let mut rows = vec![vec![0usize; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            rows[i][j] = if i == 0 || j == 0 {
                i + j
            } else {
                let change = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
                let swap = if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                    rows[i - 2][j - 2] + 1
                } else {
                    usize::MAX
                };
                change.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1).min(swap)
            };
        }
    }
    rows[a.len()][b.len()]
}

/// Returns the keywords that a word resembles, the most similar one first.
fn similar(word: &str) -> Vec<&'static str> {
    let letters: Vec<char> = word.to_lowercase().chars().collect();
    let edits = if letters.len() >= LONG { 2 } else { 1 };
    let by_distance = |keyword: &&'static str| {
        let keyword_letters: Vec<char> = keyword.chars().collect();
        let is_swapped = || letters.iter().eq(keyword_letters.iter().rev());
        if letters.len() < SHORT && !is_swapped() || letters.len().abs_diff(keyword_letters.len()) > edits {
            return None;
        }
        let needed = distance(&letters, &keyword_letters);
        // The first letter is rarely wrong.
        let begins_otherwise = letters.first() != keyword_letters.first();
        (needed <= edits).then_some((needed, begins_otherwise, *keyword))
    };
    let mut found: Vec<(usize, bool, &str)> = KEYWORDS.iter().filter_map(by_distance).collect();
    found.sort_unstable();
    found.into_iter().map(|(.., keyword)| keyword).collect()
}

impl Search<'_> {
    /// Returns the keywords that the words before the error could mean: `fucn f()`, `} esle {`.
    pub(super) fn keywords(&self) -> Vec<Replacement> {
        let tokens = &self.code.tokens;
        let is_near = |(i, _): &(usize, &Token)| *i + REACH >= self.focus || self.code.begins_statement(*i);
        let near = tokens.iter().enumerate().take(self.focus + 1).filter(is_near);
        let is_candidate = |(i, token): &(usize, &Token)| {
            let word = text_of(self.code.text, **token);
            let is_member = *i > 0 && text_of(self.code.text, tokens[*i - 1]) == ".";
            token.kind == Kind::Word && !(is_member || is_keyword(word) || is_known(word) || is_in_patterns(word))
        };
        let mut found = vec![];
        for (_, token) in near.filter(is_candidate) {
            let word = text_of(self.code.text, *token);
            found.extend(similar(word).into_iter().map(|keyword| Replacement {
                message: format!("'{word}' is a misspelling of '{keyword}'"),
                is_guess: true,
                ..Replacement::certain(token.from..token.to, keyword.to_owned())
            }));
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::similar;

    #[test]
    fn misspelled_keywords_are_recognized() {
        for (word, keyword) in [
            ("fucn", "func"),
            ("retrun", "return"),
            ("whlie", "while"),
            ("esle", "else"),
            ("strcut", "struct"),
            ("improt", "import"),
            ("swich", "switch"),
            ("cas", "case"),
            ("gaurd", "guard"),
            ("vra", "var"),
            ("lte", "let"),
            ("ni", "in"),
        ] {
            assert_eq!(similar(word).first(), Some(&keyword), "{word}");
        }
        assert!(similar("values").is_empty() && similar("print").is_empty() && similar("xs").is_empty());
    }
}
