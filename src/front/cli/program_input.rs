//! Program input: reads programs from files and from standard input.

use crate::session::{AccessError, Folders, Session};
use std::io::{ErrorKind, Read};
use std::path::Path;

/// A program file that was read.
pub(super) struct Program {
    /// The displayed name of the file.
    pub(super) name: String,
    /// The content of the file.
    pub(super) content: Content,
}

/// The content of a program file.
pub(super) enum Content {
    /// The source text of a program.
    Text(String),
    /// A compiled program, the output of `dscript build`.
    Compiled(Vec<u8>),
}

/// The extension of compiled programs.
pub(super) const COMPILED: &str = "dsc";

/// The byte order mark, with which some editors begin a file.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// Reads a program file, or returns a message that states why the file cannot be read.
pub(super) fn read(file: &Path) -> Result<Program, String> {
    let is_stdin = file.as_os_str() == "-";
    let name = if is_stdin { "<stdin>".to_owned() } else { file.display().to_string() };
    let content = bytes(file, is_stdin).and_then(|bytes| match is_compiled(file, &bytes) {
        true => Ok(Content::Compiled(bytes)),
        false => text(bytes).map(Content::Text),
    });
    match content {
        Ok(content) => Ok(Program { name, content }),
        Err(reason) => Err(format!("dscript: cannot read '{}': {reason}\n", printable(&name))),
    }
}

/// Whether a file is a compiled program, by its extension or its first bytes: a damaged compiled program can be
/// recognized by the extension alone.
fn is_compiled(file: &Path, bytes: &[u8]) -> bool {
    file.extension().is_some_and(|extension| extension == COMPILED) || Session::is_compiled(bytes)
}

/// Reads the text of an imported file, or returns the reason why the file cannot be read.
pub(super) fn import(file: &Path, folders: &Folders) -> Result<String, String> {
    let mut bytes = vec![];
    let read = folders.open(file).and_then(|mut opened| Ok(opened.read_to_end(&mut bytes)?));
    match read {
        Ok(_) => text(bytes),
        Err(AccessError::Outside) => Err("it is outside the program's folders".to_owned()),
        Err(AccessError::System(error)) => Err(reason(&error)),
    }
}

fn bytes(file: &Path, is_stdin: bool) -> Result<Vec<u8>, String> {
    let bytes = if is_stdin {
        let mut bytes = Vec::new();
        std::io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes)
    } else {
        std::fs::read(file)
    };
    bytes.map_err(|error| reason(&error))
}

/// Describes an error of the operating system.
fn reason(error: &std::io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "there is no such file".to_owned(),
        ErrorKind::IsADirectory => "it is a directory".to_owned(),
        ErrorKind::PermissionDenied => "permission denied".to_owned(),
        _ => error.to_string(),
    }
}

fn text(bytes: Vec<u8>) -> Result<String, String> {
    match String::from_utf8(bytes) {
        // Some editors begin a file with a byte order mark, which is not part of the program.
        Ok(text) => Ok(text.strip_prefix(BYTE_ORDER_MARK).map(str::to_owned).unwrap_or(text)),
        Err(error) => {
            let at = error.utf8_error().valid_up_to();
            let line = error.as_bytes()[..at].iter().filter(|b| **b == b'\n').count() + 1;
            Err(format!("it is not valid UTF-8 at byte {at} (in line {line})"))
        }
    }
}

fn printable(name: &str) -> String {
    name.chars().map(|c| if c.is_control() { '\u{FFFD}' } else { c }).collect()
}
