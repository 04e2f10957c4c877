//! Block headers of other languages: the lines of their blocks belong to the same input, so that the body of a block is
//! not run when its header is rejected.

/// Words at the beginning of a block in Python.
const HEADERS: &[&str] = &["if", "for", "while", "def", "class", "else", "elif", "try", "except", "finally", "with"];
/// Words that continue a block in Python, at the indentation of its header.
const CONTINUING: &[&str] = &["else", "elif", "except", "finally"];

/// Words at the beginning of a block that ends with `end`.
const NESTED: &[&str] = &["if", "for", "while", "function", "begin", "try", "switch", "do"];

/// Whether an input begins with the header of a block in another language, and the block may continue.
pub(super) fn awaits_more(input: &str) -> bool {
    let header = input.trim_start().lines().next().unwrap_or_default();
    is_indented_block(header) || is_block_with_end(header) && !has_ended(input)
}

/// Whether an input is nothing but the header of a block in another language.
pub(super) fn begins_block(input: &str) -> bool {
    is_indented_block(input) || is_block_with_end(input.trim_start()) && !input.trim_end().contains('\n')
}

/// Whether a line belongs to the block that an input begins.
pub(super) fn continues(input: &str, line: &str) -> bool {
    let header = input.trim_start().lines().next().unwrap_or_default();
    if is_block_with_end(header) {
        return true;
    }
    line.trim().is_empty() || line.starts_with([' ', '\t']) || CONTINUING.contains(&first_word(line))
}

/// Whether a line is a header as in Python: `if x > 5:`.
fn is_indented_block(header: &str) -> bool {
    HEADERS.contains(&first_word(header)) && header.trim_end().ends_with(':')
}

/// Whether a line is the header of a function or of a counting loop that ends with `end`, as in Julia and MATLAB.
fn is_block_with_end(header: &str) -> bool {
    let counts = || first_word(header) == "for" && header.contains(':') && !header.trim_end().ends_with(':');
    (first_word(header) == "function" || counts() && !has_body(header))
        && !header.contains('{')
        && !header.trim_end().ends_with("end")
}

/// Whether a statement follows the header of a loop in its line: `for x in xs: print(x)`, `for (i in 1:3) print(i)`.
fn has_body(header: &str) -> bool {
    if let Some(parenthesized) = header.trim_start().strip_prefix("for").map(str::trim_start)
        && parenthesized.starts_with('(')
    {
        let mut depth = 0usize;
        let end = parenthesized.find(|c| {
            depth = if c == '(' { depth + 1 } else { depth - usize::from(c == ')') };
            depth == 0
        });
        return end.is_some_and(|end| !parenthesized[end + 1..].trim().is_empty());
    }
    // A range as in Julia has a blank on both sides of the colon, or on neither, and ends with an operand.
    let words: Vec<&str> = header.rsplit(':').next().unwrap_or_default().split_whitespace().collect();
    let follows = |pair: &[&str]| {
        pair[0].ends_with(|c: char| c.is_alphanumeric() || c == ')') && pair[1].starts_with(char::is_alphabetic)
    };
    words.windows(2).any(follows) || header.rmatch_indices(": ").any(|(at, _)| !header[..at].ends_with(' '))
}

/// Whether as many lines `end` follow as blocks begin, which may be nested.
fn has_ended(input: &str) -> bool {
    let mut depth = 1usize;
    for line in input.trim_start().lines().skip(1) {
        let code = line.trim().trim_end_matches(';');
        if code == "end" {
            depth -= 1;
        } else if NESTED.contains(&first_word(code)) && !code.ends_with("end") {
            depth += 1;
        }
        if depth == 0 {
            return true;
        }
    }
    false
}

fn first_word(line: &str) -> &str {
    line.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{awaits_more, continues};

    #[test]
    fn blocks_of_other_languages_are_one_input() {
        assert!(
            awaits_more("if x > 5:") && awaits_more("function f(x)\n    2x") && awaits_more("def f(x):\n    y = x\n")
        );
        assert!(awaits_more("for i = 1:3\n    if i > 1\n    end\n") && awaits_more("function f(x)\n if x\n end\n 2x"));
        assert!(!awaits_more("for i in 1:3\n    if i > 1\n    end\nend") && !awaits_more("for x in xs { a(b: x) }"));
        assert!(!awaits_more("function f(x)\n    2x\nend") && !awaits_more("def f(x): return x") && !awaits_more("x"));
        assert!(!awaits_more("for x in xs: print(x)") && !awaits_more("for (i in 1:n) print(i)"));
        assert!(!awaits_more("for i, x in enumerate(xs): a(x)") && awaits_more("for (i in 1:f(3))"));
        assert!(!awaits_more("for i = 1:3 print(i)"));
        assert!(awaits_more("for i = 1 : 3") && awaits_more("for i in a:b(2)"));
        assert!(continues("if a:", "    b()") && continues("if a:\n    b()\n", "else:") && !continues("if a:", "b()"));
    }
}
