//! Directives: scans `#if` and related lines, and replaces inactive branches by spaces.

use super::{Quote, Scanner, conditional_compilation};
use crate::diagnostic::{Code, Diagnostic};

impl Scanner<'_> {
    /// Scans `#if` and related directives, a raw string, or any other use of `#`.
    pub(super) fn hash(&mut self) -> bool {
        let hashes = self.bytes[self.at..].iter().take_while(|b| **b == b'#').count();
        let after = &self.text[self.at + hashes..];
        if after.starts_with('"') {
            let long = after.starts_with("\"\"\"");
            let quote = Quote { start: self.at, hashes, long, curly: false };
            self.at += hashes + if long { 3 } else { 1 };
            return self.string(quote);
        }
        if after.starts_with('/') && self.delimited_regex_literal(hashes) {
            return true;
        }
        let line_start = self.bytes[..self.at].iter().rposition(|b| *b == b'\n').map_or(0, |n| n + 1);
        let first_on_line = self.at - line_start < 1000 && self.out[line_start..self.at].iter().all(|b| *b == b' ');
        if let Some(directive) = conditional_compilation::directive(after)
            && first_on_line
        {
            return self.directive(directive);
        }
        (self.last, self.after_name) = (b'#', false);
        self.at += hashes;
        true
    }

    fn directive(&mut self, directive: conditional_compilation::Directive<'_>) -> bool {
        use conditional_compilation::Directive::{Else, ElseIf, End, If};
        let (from, position) = (self.at, self.branches.len());
        self.skip_line();
        match directive {
            If(condition) => {
                let active = conditional_compilation::holds(condition);
                self.branches.push((from, active));
                if !active {
                    return self.skip_branches();
                }
            }
            // The active branch ends at this line: the remaining branches are skipped.
            Else | ElseIf(_) if position > 0 => return self.skip_branches(),
            End if position > 0 => drop(self.branches.pop()),
            Else | ElseIf(_) | End => {
                let place = self.span(from, self.at);
                self.diagnostics.push(Diagnostic::error(Code::Syntax, place, "this directive has no matching '#if'"));
                return false;
            }
        }
        true
    }

    /// Replaces lines by spaces up to the active branch, or up to the `#endif`.
    fn skip_branches(&mut self) -> bool {
        use conditional_compilation::Directive::{Else, ElseIf, End, If};
        let mut inner = 0;
        while self.at < self.bytes.len() {
            self.at += 1;
            let line = self.text[self.at..].split('\n').next().unwrap_or("");
            let found = line.trim_start().strip_prefix('#').and_then(conditional_compilation::directive);
            let taken = self.branches.last().is_none_or(|b| b.1);
            self.blank(self.at, self.at + line.len());
            self.at += line.len();
            match found {
                Some(If(_)) => inner += 1,
                Some(End) if inner > 0 => inner -= 1,
                Some(End) => {
                    self.branches.pop();
                    return true;
                }
                Some(Else) if inner == 0 && !taken => return self.take_branch(),
                Some(ElseIf(condition)) if inner == 0 && !taken && conditional_compilation::holds(condition) => {
                    return self.take_branch();
                }
                Some(Else | ElseIf(_)) | None => {}
            }
        }
        true
    }

    fn take_branch(&mut self) -> bool {
        if let Some(branch) = self.branches.last_mut() {
            branch.1 = true;
        }
        true
    }
}
