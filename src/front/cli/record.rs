//! JSON records: `--json` writes everything to standard output, one object per line. `docs/json.md` is the contract.

use super::super::output::Output;
use crate::session::{Display, Screen};
use serde::Serialize;
use std::io::Write;

/// The version of the contract: a higher one may leave out or change what a lower one had; members and kinds that are
/// added change nothing.
const SCHEMA: u32 = 1;

/// A line. Diagnostics are lines, too, of the kind `diagnostic`; those are written where they are rendered.
#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(super) enum Record<'a> {
    /// The first line.
    Start { schema: u32, version: &'a str },
    /// What the program printed.
    Output { text: &'a str },
    /// A picture.
    Display {
        forms: serde_json::Map<String, serde_json::Value>,
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<&'a str>,
        update: bool,
    },
    /// The value of the last expression of a text.
    Value {
        #[serde(rename = "type")]
        ty: &'a str,
        text: &'a str,
    },
    /// How a test went; its diagnostics come before it.
    Test { name: &'a str, file: &'a str, line: u32, passed: bool, seconds: f64, output: &'a str },
    /// How many tests went how.
    Summary {
        passed: usize,
        failed: usize,
        #[serde(rename = "leftOut")]
        left_out: usize,
    },
    /// The last line.
    Exit { code: i32 },
}

impl Record<'_> {
    /// The first line of all.
    pub(super) fn start() -> Record<'static> {
        Record::Start { schema: SCHEMA, version: env!("CARGO_PKG_VERSION") }
    }

    /// Writes it to standard output.
    pub(super) fn write(&self, output: &Output) {
        let mut line =
            serde_json::to_string(self).unwrap_or_else(|_| unreachable!("strings and numbers have a JSON form"));
        line.push('\n');
        output.write_or_end(&line);
    }
}

/// Standard output as a program sees it: what it prints and shows becomes lines.
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

    /// What was written stays.
    fn clear(&mut self, _: bool) {}
}
