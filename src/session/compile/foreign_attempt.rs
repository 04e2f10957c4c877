//! Attempts: a text in which foreign code was replaced, and whether the replacement removes the error.

use crate::diagnostic::{Code, Diagnostic};
use crate::syntax::foreign::Replacement;
use std::ops::RangeInclusive;

/// A text in which foreign code was replaced, and the errors that remain.
pub(super) struct Attempt {
    pub(super) text: String,
    pub(super) errors: Vec<Diagnostic>,
    /// The further errors, which follow from other statements: variables without declarations.
    pub(super) others: Vec<Diagnostic>,
    /// The offset of the text in the space of all sources.
    pub(super) start: u32,
    /// The range of offsets of the replaced lines.
    pub(super) lines: RangeInclusive<u32>,
    /// Whether the text could be parsed, so that its types were checked.
    pub(super) is_checked: bool,
    /// Whether a whole block was replaced, whose notation is certain although it contains unknown names.
    pub(super) is_block: bool,
}

impl Attempt {
    /// Whether the first error in the lines of a replacement lies after the beginning of the replacement, so that the
    /// replacement has removed `error`.
    pub(super) fn is_further(&self, replacement: &Replacement, error: &Diagnostic) -> bool {
        if !self.is_checked && error.code > Code::ExpectedBrace {
            return false;
        }
        // A syntax error hides the errors of the types in the code before it.
        if self.is_checked && error.code <= Code::ExpectedBrace {
            return true;
        }
        let begins = self.start + replacement.range.start as u32;
        let end = begins + replacement.code.as_ref().map_or(0, String::len) as u32;
        self.errors_in_lines().next().is_some_and(|next| {
            let span = next.primary.span;
            if replacement.is_guess && next.code == Code::UnknownMember && span.start < end {
                return false;
            }
            // A call of a member of the replacement begins where the replacement begins.
            let is_call = matches!(next.code, Code::NoOverload | Code::WrongArguments);
            let is_other = span.start == begins && next.message != error.message;
            // A name without its module may be written otherwise as well.
            let is_name = next.code == Code::UnknownName && replacement.removes_module();
            // A removed statement may precede another one in its line.
            let is_rest = replacement.code.as_deref() == Some("");
            span.start > begins || is_other && (is_call && span.end > end || is_name || is_rest)
        })
    }

    /// Adds the lines of the attempt that this one continues: they must be correct as well.
    pub(super) fn include(&mut self, before: &Attempt) {
        let begin = (before.lines.start() - before.start).min(self.lines.start() - self.start);
        let end = (before.lines.end() - before.start) as usize + self.text.len();
        let end = end.saturating_sub(before.text.len()).max((self.lines.end() - self.start) as usize);
        self.lines = self.start + begin..=self.start + end as u32;
        self.is_block |= before.is_block;
    }

    /// Whether the first error in the lines of a replacement lies after the replacement, which is therefore correct.
    pub(super) fn is_beyond(&self, replacement: &Replacement) -> bool {
        let length = replacement.code.as_ref().map_or(0, String::len);
        let end = self.start + (replacement.range.start + length) as u32;
        self.errors_in_lines().next().is_none_or(|error| error.primary.span.start >= end)
    }

    /// Returns the errors in the lines of the replacement.
    pub(super) fn errors_in_lines(&self) -> impl Iterator<Item = &Diagnostic> {
        self.errors.iter().filter(|error| self.lines.contains(&error.primary.span.start))
    }

    /// Whether no error lies in the lines of a replacement, and the text can be parsed as far as before. A replacement
    /// that is a guess must also pass type checking.
    pub(super) fn is_clean(&self, replacement: &Replacement, before: &[Diagnostic]) -> bool {
        let is_known = |error: &Diagnostic| before.iter().any(|d| d.code == error.code && d.message == error.message);
        let is_new = |error: &Diagnostic| error.code <= Code::ExpectedBrace && !is_known(error);
        if replacement.is_guess && !self.is_checked {
            // The keyword is plausible if the text can be parsed beyond its line.
            return replacement.is_keyword()
                && self.errors.iter().all(|error| error.primary.span.start > *self.lines.end());
        }
        // Without the declarations that were left out, only the notation of a block is certain. Types cannot confirm a guess.
        let is_hidden = |error: &Diagnostic| {
            let is_assigned = before.iter().any(|d| assigns(d) && d.message == error.message);
            let is_uncertain = replacement.is_guess && !replacement.is_product();
            self.lines.contains(&error.primary.span.start) && (is_uncertain || !is_assigned)
        };
        if !self.is_block && self.others.iter().any(is_hidden) {
            return false;
        }
        if replacement.declares && !self.errors.iter().all(is_known) {
            return false;
        }
        self.errors.iter().all(|error| !self.lines.contains(&error.primary.span.start) && !is_new(error))
    }
}

/// Whether an error is about an assignment to a name that is not declared.
pub(super) fn assigns(error: &Diagnostic) -> bool {
    error.code == Code::UnknownName && error.helps.iter().any(|help| help.text.starts_with("declare it as a"))
}
