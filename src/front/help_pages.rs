//! Help pages: formats the pages of diagnostic codes and names.

use crate::diagnostic::{CODES, Code};
use crate::session::Topic;

/// Parses a diagnostic code.
pub(super) fn code(word: &str) -> Result<Code, String> {
    let info = CODES.iter().find(|info| info.number.eq_ignore_ascii_case(word));
    info.map(|info| info.code).ok_or_else(|| "there is no such code; 'dscript explain' lists all codes".to_owned())
}

/// Returns the page of a diagnostic code.
pub(super) fn of_code(code: Code) -> String {
    plain(code.page())
}

/// Returns the page on kinks and singular points.
pub(super) fn of_kinks() -> String {
    plain(include_str!("../../docs/kinks.md"))
}

/// Returns the pages of topics, line by line.
pub(super) fn of_topics(topics: &[Topic]) -> Vec<String> {
    let mut lines = vec![];
    for topic in topics {
        lines.extend((!lines.is_empty()).then(String::new));
        lines.push(topic.declaration.clone());
        lines.extend(topic.text.lines().map(|line| format!("    {line}").trim_end().to_owned()));
    }
    lines
}

/// Converts Markdown to text for a terminal: examples are indented.
fn plain(page: &str) -> String {
    let mut fenced = false;
    let mut text = String::new();
    for line in page.lines() {
        if line.starts_with("```") {
            fenced = !fenced;
            continue;
        }
        if fenced && !line.is_empty() {
            text.push_str("    ");
        }
        text.push_str(line);
        text.push('\n');
    }
    text
}
