//! JSON records: writes the lines of `--json` to standard output, one object each. `docs/json.md` specifies these
//! objects.

use super::super::output::Output;
use crate::session::{Display, Screen};
use serde::Serialize;
use std::io::Write;

/// The version of the contract of `docs/json.md`: it increases when members or kinds are removed or changed, but not
/// when members or kinds are added.
const SCHEMA: u32 = 1;

/// A line of the output. Diagnostics are also lines, of the kind `diagnostic`, which the renderer writes.
#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(super) enum Record<'a> {
    /// The first line of the output.
    Start { schema: u32, version: &'a str },
    /// Printed output of the program.
    Output { text: &'a str },
    /// A picture that the program displays.
    Display {
        forms: serde_json::Map<String, serde_json::Value>,
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<&'a str>,
        update: bool,
    },
    /// The value of the last expression of a program.
    Value {
        #[serde(rename = "type")]
        ty: &'a str,
        text: &'a str,
    },
    /// The result of a test; its diagnostics precede it.
    Test { name: &'a str, file: &'a str, line: u32, passed: bool, skipped: bool, seconds: f64, output: &'a str },
    /// The numbers of tests by result.
    Summary {
        passed: usize,
        failed: usize,
        skipped: usize,
        #[serde(rename = "leftOut")]
        left_out: usize,
    },
    /// The last line of the output, with the exit status.
    Exit { code: i32 },
}

impl Record<'_> {
    /// Returns the first line of the output.
    pub(super) fn start() -> Record<'static> {
        Record::Start { schema: SCHEMA, version: env!("CARGO_PKG_VERSION") }
    }

    /// Writes the record as a line to standard output.
    pub(super) fn write(&self, output: &Output) {
        let mut line =
            serde_json::to_string(self).unwrap_or_else(|_| unreachable!("strings and numbers have a JSON form"));
        line.push('\n');
        output.write_or_end(&line);
    }
}

/// The standard output of a program, which writes prints and pictures as lines.
#[derive(Clone)]
pub(super) struct Printed(pub(super) Output);

impl Write for Printed {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        Record::Output { text: &String::from_utf8_lossy(bytes) }.write(&self.0);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.0.flush()
    }
}

impl Screen for Printed {
    fn show(&mut self, display: &Display) {
        let form = |(media, text): &(String, String)| (media.clone(), text.as_str().into());
        let forms = display.forms.iter().map(form).collect();
        Record::Display { forms, id: display.id.as_deref(), update: display.is_update }.write(&self.0);
    }

    /// Does nothing, because lines that were written remain.
    fn clear(&mut self, _: bool) {}
}
