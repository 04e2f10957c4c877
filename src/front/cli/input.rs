//! Reading programs.

use std::io::{ErrorKind, Read};
use std::path::Path;

/// Some editors begin a file with it.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// Name and text of a file, or the line that says why it cannot be read.
pub(super) fn read(file: &Path) -> Result<(String, String), String> {
    let is_stdin = file.as_os_str() == "-";
    let name = if is_stdin { "<stdin>".to_owned() } else { file.display().to_string() };
    match text(file, is_stdin) {
        Ok(text) => Ok((name, text)),
        Err(reason) => Err(format!("dscript: cannot read '{}': {reason}\n", printable(&name))),
    }
}

/// The text of a file that a program imports, or why it cannot be read.
pub(super) fn import(file: &Path) -> Result<String, String> {
    text(file, false)
}

fn text(file: &Path, is_stdin: bool) -> Result<String, String> {
    let bytes = if is_stdin {
        let mut bytes = Vec::new();
        std::io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes)
    } else {
        std::fs::read(file)
    };
    let bytes = bytes.map_err(|error| match error.kind() {
        ErrorKind::NotFound => "there is no such file".to_owned(),
        ErrorKind::IsADirectory => "it is a directory".to_owned(),
        ErrorKind::PermissionDenied => "permission denied".to_owned(),
        _ => error.to_string(),
    })?;
    match String::from_utf8(bytes) {
        // Some editors begin a file with a byte order mark, which is no part of the program.
        Ok(text) => Ok(text.strip_prefix(BYTE_ORDER_MARK).map(str::to_owned).unwrap_or(text)),
        Err(error) => {
            let at = error.utf8_error().valid_up_to();
            let line = error.as_bytes()[..at].iter().filter(|b| **b == b'\n').count() + 1;
            Err(format!("it is not UTF-8 text: byte {at} (in line {line}) belongs to no character"))
        }
    }
}

fn printable(name: &str) -> String {
    name.chars().map(|c| if c.is_control() { '\u{FFFD}' } else { c }).collect()
}
