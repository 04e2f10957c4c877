//! Explain command: prints the page of a diagnostic code, `dscript explain E0209`.

use super::super::output::Output;
use super::super::{exit_status, help_pages};
use crate::diagnostic::{CODES, Code};
use std::fmt::Write;

/// Prints the page of a code, or the list of all codes.
pub(super) fn explain(code: Option<Code>) -> i32 {
    let text = match code {
        Some(code) => help_pages::of_code(code),
        None => CODES.iter().fold(String::new(), |mut all, info| {
            // Writing into a `String` cannot fail.
            let _ = writeln!(all, "{}  {}", info.number, info.summary);
            all
        }),
    };
    let output = Output::stdout();
    output.write_or_end(&text);
    output.flush_or_end();
    exit_status::DONE
}
