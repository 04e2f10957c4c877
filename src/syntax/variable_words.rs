//! Variable words: the words of an expression that may be variables, determined without parsing.

/// Returns the words of an expression that may be variables: words that are neither called nor members nor labels, and
/// that are outside of string literals.
pub fn variable_words(expression: &str) -> Vec<&str> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let mut words = vec![];
    let (mut before, mut is_quoted) = (' ', false);
    let mut rest = expression;
    while let Some(c) = rest.chars().next() {
        if is_quoted || !c.is_alphabetic() && c != '_' {
            is_quoted ^= c == '"' && before != '\\';
            (before, rest) = (c, &rest[c.len_utf8()..]);
            continue;
        }
        let end = rest.find(|c: char| !is_part(c)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        let is_plain = !matches!(before, '.' | '#' | '$' | '@') && !after.starts_with(['(', ':', '\'', '′', '{']);
        let is_exponent =
            before.is_ascii_digit() && word.starts_with(['e', 'E']) && word[1..].chars().all(|c| c.is_ascii_digit());
        words.extend((is_plain && !is_exponent).then_some(word));
        (before, rest) = (word.chars().last().unwrap_or(' '), after);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::variable_words;

    #[test]
    fn variables_are_words_that_are_not_called() {
        assert_eq!(variable_words("a * sin(x) + p.y - f' + 2e3 + 2t"), ["a", "x", "p", "t"]);
        assert_eq!(variable_words("expect(f(a, by: n), equals: \"b\" + c, #call)"), ["a", "n", "c"]);
    }
}
