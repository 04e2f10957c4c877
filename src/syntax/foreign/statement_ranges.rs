//! Statement ranges: the division of foreign code into statements at the top level, by indentation and brackets.

use super::pattern::Code;
use super::token::{Kind, text_of, tokens};
use std::ops::Range;

/// Words at the beginning of a line that continue a statement.
const CONTINUING: &[&str] = &[
    "else", "elif", "elsif", "elseif", "except", "catch", "finally", "end", "endif", "and", "or", "fi", "done", "until",
];

/// Divides a text into statements. A statement begins in the first column, outside of brackets.
pub(crate) fn statement_ranges(text: &str) -> Vec<Range<usize>> {
    let code = Code { text, tokens: tokens(text, 0, text.len()) };
    let tokens = &code.tokens;
    let mut starts = vec![0];
    let mut at = 0;
    while at < tokens.len() {
        let token = tokens[at];
        let is_first = at > 0 && tokens[at - 1].kind == Kind::LineBreak && text[..token.from].ends_with('\n');
        let continues = matches!(token.kind, Kind::LineBreak | Kind::Close)
            || CONTINUING.contains(&text_of(text, token))
            || matches!(text_of(text, token), "." | "{" | "|>");
        if is_first && !continues {
            starts.push(token.from);
        }
        at = if token.kind == Kind::Open { code.closed(at).unwrap_or(at + 1) } else { at + 1 };
    }
    let ends = starts.iter().copied().skip(1).chain([text.len()]);
    starts.iter().copied().zip(ends).map(|(from, to)| from..to).filter(|range| !range.is_empty()).collect()
}

/// Whether a statement assigns a value to a name, or imports a module.
pub(crate) fn is_assignment_or_import(statement: &str) -> bool {
    let tokens = tokens(statement, 0, statement.len());
    match tokens.as_slice() {
        [name, sign, ..] if name.kind == Kind::Word => {
            text_of(statement, *sign) == "=" || text_of(statement, *name) == "import"
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::statement_ranges;

    #[test]
    fn statements_begin_in_the_first_column() {
        let text =
            "import numpy as np\n\ndef f(x):\n    y = x\n    return y\nif a:\n    b()\nelse:\n    c()\nfoo(1,\n2)\n";
        let found: Vec<&str> =
            statement_ranges(text).into_iter().map(|range| text[range].lines().next().unwrap_or_default()).collect();
        assert_eq!(found, ["import numpy as np", "def f(x):", "if a:", "foo(1,"]);
    }
}
