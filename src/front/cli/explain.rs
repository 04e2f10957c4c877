//! `dscript explain E0209`: the page about a code.

use super::super::output::Output;
use super::super::status;
use crate::diagnostic::{CODES, Code};
use std::fmt::Write;

/// The code that a word of the command line names.
pub(super) fn code(word: &str) -> Result<Code, String> {
    let info = CODES.iter().find(|info| info.number.eq_ignore_ascii_case(word));
    info.map(|info| info.code).ok_or_else(|| "there is no such code; 'dscript explain' lists them all".to_owned())
}

/// Prints the page about a code, or the list of all codes.
pub(super) fn explain(code: Option<Code>) -> i32 {
    let text = match code {
        Some(code) => plain(code.page()),
        None => CODES.iter().fold(String::new(), |mut all, info| {
            // Writing into a `String` cannot fail.
            let _ = writeln!(all, "{}  {}", info.number, info.summary);
            all
        }),
    };
    let output = Output::stdout();
    output.write_or_end(&text);
    output.flush_or_end();
    status::DONE
}

/// Markdown for a terminal: examples are set in.
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
