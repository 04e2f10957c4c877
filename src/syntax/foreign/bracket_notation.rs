//! Bracket notation: matrix literals of MATLAB and Julia, `[1, 2; 3, 4]` and `[1 2; 3 4]`, and nested absolute values.

use super::token::{Kind, is_word};
use super::{Replacement, Search};
use std::ops::Range;

impl Search<'_> {
    /// Returns the array of rows for the bracketed list around the error, if its rows are separated by semicolons.
    pub(super) fn matrices(&self) -> Vec<Replacement> {
        let code = &self.code;
        let mut found = vec![];
        for open in code.brackets_around(self.focus + 1).filter(|open| code.word(*open) == Some("[")) {
            let Some(end) = code.closed(open) else { continue };
            let mut rows = vec![];
            let mut first = open + 1;
            for at in open + 1..end {
                if code.word(at) == Some(";") || at == end - 1 {
                    rows.push(first..at);
                    first = at + 1;
                }
            }
            // A semicolon may end the last row.
            rows.pop_if(|row| row.start == row.end);
            let written: Option<Vec<String>> = rows.iter().map(|row| self.row(row)).collect();
            let has_rows = (open..end).any(|at| code.word(at) == Some(";"));
            let (Some(written), true) = (written, has_rows && !rows.is_empty()) else { continue };
            let here = format!("[{}]", written.join(", "));
            let message = "a matrix is an array of rows: '[[1, 2], [3, 4]]'".to_owned();
            let range = code.tokens[open].from..code.tokens[end - 1].to;
            found.push(Replacement { message, ..Replacement::certain(range, here) });
        }
        found
    }

    /// Returns the statement at the error with calls of `abs` in the place of bars, which may be nested: `||x| - 1|`.
    pub(super) fn absolute_values(&self) -> Option<Replacement> {
        let code = &self.code;
        let begins = (0..=self.focus).rev().find(|at| code.begins_statement(*at))?;
        let last = code.line_end(begins).checked_sub(1).filter(|last| *last >= begins)?;
        let range = code.tokens[begins].from..code.tokens.get(last)?.to;
        if !code.text[range.clone()].contains('|') {
            return None;
        }
        let mut here = String::new();
        let mut open = 0usize;
        let mut follows_operand = false;
        for c in code.text[range.clone()].chars() {
            match c {
                '|' if follows_operand && open > 0 => {
                    open -= 1;
                    here.push(')');
                }
                '|' => {
                    open += 1;
                    here.push_str(if follows_operand { " * abs(" } else { "abs(" });
                    follows_operand = false;
                }
                _ => {
                    here.push(c);
                    if !c.is_whitespace() {
                        follows_operand = is_word(c) || matches!(c, ')' | ']' | '.' | '\'');
                    }
                }
            }
        }
        let message = format!("an absolute value is a function: '{}'", here.trim());
        (open == 0).then(|| Replacement { message, ..Replacement::certain(range, here) })
    }

    /// Writes a row, whose elements are separated by commas or blanks.
    fn row(&self, row: &Range<usize>) -> Option<String> {
        let code = &self.code;
        if row.clone().any(|at| code.word(at) == Some(",")) {
            return Some(format!("[{}]", code.slice(row.start, row.end)));
        }
        let mut elements = vec![];
        let mut at = row.start;
        while at < row.end {
            while code.is(at, Kind::LineBreak) {
                at += 1;
            }
            let end = code.operand(at).filter(|end| *end <= row.end)?;
            elements.push(code.slice(at, end));
            at = end;
        }
        (!elements.is_empty()).then(|| format!("[{}]", elements.join(", ")))
    }
}
