//! Files: native functions that read, write, list and remove files, and the failures that a program can catch.
//!
//! In: paths, whose access [`Access`](super::Access) checks. Out: results, each with a list of strings that describes
//! the failure and is empty on success: the kind, the message, the reason alone, the advice, the line and the column.
//! The prelude converts the description to an error.

use super::NativeFunction;
use super::array;
use super::context::{Failure, FailureKind, NativeContext};
use super::file_access::AccessError;
use super::string::texts;
use crate::cancel;
use crate::value::shape::Layout;
use crate::value::{Cells, Ref, Text};
use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use std::rc::Rc;

type Call<'a, 'b> = &'a mut NativeContext<'b>;

/// The number of bytes that are read or written at once.
pub(super) const PIECE: usize = 1 << 20;

pub(super) const TABLE: &[NativeFunction] = &[
    NativeFunction { name: "file.text", call: read_text },
    NativeFunction { name: "file.lines", call: read_lines },
    NativeFunction { name: "file.bytes", call: read_data },
    NativeFunction { name: "file.write", call: |c| write_text(c, Mode::Replace) },
    NativeFunction { name: "file.append", call: |c| write_text(c, Mode::Append) },
    NativeFunction { name: "file.writeBytes", call: |c| write_data(c, Mode::Replace) },
    NativeFunction { name: "file.appendBytes", call: |c| write_data(c, Mode::Append) },
    NativeFunction { name: "file.list", call: list },
    NativeFunction { name: "file.exists", call: exists },
    NativeFunction { name: "file.createFolder", call: |c| change(c, Change::CreateFolder) },
    NativeFunction { name: "file.remove", call: |c| change(c, Change::Remove) },
    NativeFunction { name: "file.stop", call: stop },
];

/// The kinds of failures that a program can catch, with their names in the prelude.
const KINDS: [(&str, FailureKind); 3] =
    [("input", FailureKind::Input), ("row", FailureKind::BadRow), ("forbidden", FailureKind::Forbidden)];

/// Returns the result of a file operation, and the description of its failure. Failures that a program cannot catch end
/// the call.
pub(super) fn outcome<T: Default>(
    c: Call<'_, '_>,
    path: &str,
    result: Result<T, Failure>,
    give: impl FnOnce(&mut NativeContext<'_>, T) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let (value, failed) = match result {
        Ok(value) => (value, vec![]),
        Err(failure) => (T::default(), described(path, failure)?),
    };
    give(c, value)?;
    c.return_reference(texts(failed))
}

/// Describes a failure in strings, if a program can catch it.
fn described(path: &str, failure: Failure) -> Result<Vec<String>, Failure> {
    let Some((kind, _)) = KINDS.iter().find(|(_, kind)| *kind == failure.kind) else { return Err(failure) };
    let value = |name: &str| {
        let found = failure.values.iter().find(|(known, _)| known == name);
        found.map_or(String::new(), |(_, value)| value.clone())
    };
    let (line, column) = (value("line"), value("column"));
    let prefixes = [format!("'{path}': "), format!("{path}:{line}: "), format!("{path}:{line}:{column}: ")];
    let reason = prefixes.iter().find_map(|prefix| Some(failure.message.split_once(prefix.as_str())?.1));
    let reason = reason.unwrap_or(&failure.message).to_owned();
    let help = failure.helps.first().cloned().unwrap_or_default();
    Ok(vec![(*kind).to_owned(), failure.message.clone(), reason, help, line, column])
}

/// Stops the program with a failure that it did not catch.
fn stop(c: Call<'_, '_>) -> Result<(), Failure> {
    let [kind, message, path, help] = [c.text()?, c.text()?, c.text()?, c.text()?];
    let (line, column) = (c.integer(), c.integer());
    let kind = KINDS.iter().find(|(name, _)| *name == &*kind).map_or(FailureKind::Input, |(_, kind)| *kind);
    let mut failure = Failure::new(kind, &*message);
    if kind == FailureKind::BadRow {
        failure = failure.with("file", &*path);
    }
    for (name, value) in [("line", line), ("column", column)] {
        if value > 0 {
            failure = failure.with(name, value);
        }
    }
    failure.helps.extend(Some(help.to_string()).filter(|help| !help.is_empty()));
    Err(failure)
}

fn read_text(c: Call<'_, '_>) -> Result<(), Failure> {
    let path = c.text()?;
    let result = read(c, &path);
    outcome(c, &path, result, |c, text| c.return_text(text))
}

fn read_lines(c: Call<'_, '_>) -> Result<(), Failure> {
    let path = c.text()?;
    let result = read(c, &path).map(|text| lines(&text));
    outcome(c, &path, result, |c, lines| c.return_reference(texts(lines)))
}

fn read_data(c: Call<'_, '_>) -> Result<(), Failure> {
    let path = c.text()?;
    let result = read_bytes(c, &path);
    array::affordable(c.host, result.as_ref().map_or(0, Vec::len), size_of::<i64>())?;
    outcome(c, &path, result, |c, bytes| {
        let integers = bytes.into_iter().map(i64::from).collect::<Vec<_>>();
        c.return_reference(Ref::Cells(Rc::new(Cells::integers(integers))))
    })
}

fn write_data(c: Call<'_, '_>, mode: Mode) -> Result<(), Failure> {
    let (bytes, path) = (c.array(Layout { f: 0, i: 1, r: 0 })?, c.text()?);
    let bytes: Vec<u8> = bytes.i.iter().map(|byte| *byte as u8).collect();
    not_rehearsed(c, &path)?;
    let result = write_as(c, &bytes, &path, mode);
    outcome(c, &path, result, |_, ()| Ok(()))
}

fn lines(text: &str) -> Vec<Rc<str>> {
    cancel::checking(text.lines()).map(Into::into).collect()
}

/// Splits the bytes of a file into lines, as `readLines` returns them.
///
/// # Errors
/// Fails if the file is not UTF-8.
pub fn lines_of(path: &str, bytes: &[u8]) -> Result<Vec<Rc<str>>, Failure> {
    decode(path, bytes).map(lines)
}

fn list(c: Call<'_, '_>) -> Result<(), Failure> {
    let path = c.text()?;
    let access = &c.host.access.read;
    let result = access.list(Path::new(&*path)).map_err(|why| access.failure(why, &path, "read", "--allow-read"));
    outcome(c, &path, result, |c, names| c.return_reference(texts(names)))
}

/// Determines what exists at a path that the program may read: 0 for nothing, 1 for a file, 2 for a folder.
fn exists(c: Call<'_, '_>) -> Result<(), Failure> {
    let path = c.text()?;
    let path = Path::new(&*path);
    let found = if c.host.access.read.has(path) { std::fs::metadata(path).ok() } else { None };
    c.return_integer(found.map_or(0, |found| if found.is_dir() { 2 } else { 1 }))
}

/// The effect of writing to a file that exists.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Replace,
    Append,
}

fn write_text(c: Call<'_, '_>, mode: Mode) -> Result<(), Failure> {
    let (text, path): (Text, Text) = (c.text()?, c.text()?);
    not_rehearsed(c, &path)?;
    let result = write_as(c, text.as_bytes(), &path, mode);
    outcome(c, &path, result, |_, ()| Ok(()))
}

/// Writes a file, if that is allowed.
pub(super) fn write(c: Call<'_, '_>, bytes: &[u8], path: &str) -> Result<(), Failure> {
    not_rehearsed(c, path)?;
    write_as(c, bytes, path, Mode::Replace)
}

/// Fails if the running code is run an additional time; a program cannot catch this.
fn not_rehearsed(c: Call<'_, '_>, path: &str) -> Result<(), Failure> {
    match c.host.is_rehearsal {
        true => Err(Failure::new(FailureKind::Input, format!("'{path}' is not written again"))),
        false => Ok(()),
    }
}

fn write_as(c: Call<'_, '_>, bytes: &[u8], path: &str, mode: Mode) -> Result<(), Failure> {
    let access = &c.host.access.write;
    let opened = match mode {
        Mode::Replace => access.create(Path::new(path)),
        Mode::Append => access.append(Path::new(path)),
    };
    let written = opened.and_then(|mut file| {
        if file.metadata()?.is_file() {
            return Ok(file.write_all(bytes)?);
        }
        let bytes = bytes.to_vec();
        Ok(cancel::waiting(move || file.write_all(&bytes))?)
    });
    written.map_err(|why| access.failure(why, path, "write", "--allow-write"))
}

/// A change of a folder.
#[derive(Clone, Copy)]
enum Change {
    CreateFolder,
    Remove,
}

fn change(c: Call<'_, '_>, change: Change) -> Result<(), Failure> {
    let path = c.text()?;
    not_rehearsed(c, &path)?;
    let (access, file) = (&c.host.access.write, Path::new(&*path));
    let result: Result<(), (AccessError, &str)> = match change {
        Change::CreateFolder => access.create_folder(file).map_err(|why| (why, "create")),
        Change::Remove => access.remove(file).map_err(|why| (why, "remove")),
    };
    let result = result.map_err(|(why, doing)| access.failure(why, &path, doing, "--allow-write"));
    outcome(c, &path, result, |_, ()| Ok(()))
}

/// Reads a file, which may be large.
fn contents(mut file: File) -> std::io::Result<Vec<u8>> {
    let mut bytes = vec![];
    while read_piece(&mut file, &mut bytes)? {
        cancel::check();
    }
    Ok(bytes)
}

/// Reads a pipe or a device, which may end late or never.
fn contents_of_pipe(mut file: File) -> std::io::Result<Vec<u8>> {
    let mut bytes = vec![];
    loop {
        let (rest, piece) = cancel::waiting(move || {
            let mut piece = vec![];
            read_piece(&mut file, &mut piece).map(|_| (file, piece))
        })?;
        if piece.is_empty() {
            return Ok(bytes);
        }
        bytes.extend(piece);
        file = rest;
    }
}

/// Reads the next bytes of a file. Returns whether any bytes were read.
fn read_piece(file: &mut File, bytes: &mut Vec<u8>) -> std::io::Result<bool> {
    Ok(Read::by_ref(file).take(PIECE as u64).read_to_end(bytes)? > 0)
}

/// Reads a file as a string.
fn read(c: Call<'_, '_>, path: &str) -> Result<String, Failure> {
    let bytes = read_bytes(c, path)?;
    decode(path, &bytes).map(ToOwned::to_owned)
}

/// Reads the bytes of a file, if that is allowed.
pub(super) fn read_bytes(c: Call<'_, '_>, path: &str) -> Result<Vec<u8>, Failure> {
    let access = &c.host.access.read;
    let opened = access.open(Path::new(path));
    let bytes = opened.and_then(|file| {
        let is_file = file.metadata()?.is_file();
        Ok(if is_file { contents(file) } else { contents_of_pipe(file) }?)
    });
    bytes.map_err(|why| access.failure(why, path, "read", "--allow-read"))
}

pub(super) fn decode<'b>(path: &str, bytes: &'b [u8]) -> Result<&'b str, Failure> {
    std::str::from_utf8(bytes).map_err(|e| {
        let before = String::from_utf8_lossy(&bytes[..e.valid_up_to()]);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        let message = format!("cannot read '{path}': line {line}, column {column} is not valid UTF-8");
        Failure::new(FailureKind::Input, message).with("line", line).with("column", column)
    })
}

/// Returns the message of a system error, without its number.
fn reason(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_owned()
}

pub(super) fn failure(what: &str, error: &std::io::Error) -> Failure {
    Failure::new(FailureKind::Input, format!("{what}: {}", reason(error)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_text_is_named() {
        let message = |bytes: &[u8]| lines_of("t.txt", bytes).unwrap_err().message;
        assert_eq!(message(b"\xff"), "cannot read 't.txt': line 1, column 1 is not valid UTF-8");
        assert_eq!(
            message("x\nü\u{e9}".as_bytes().split_last().unwrap().1),
            "cannot read 't.txt': line 2, column 2 is not valid UTF-8"
        );
    }

    #[test]
    fn a_failure_is_described_by_its_parts() {
        let failure = decode("a.txt", b"x\n\xff").unwrap_err();
        let expected = [
            "input",
            "cannot read 'a.txt': line 2, column 1 is not valid UTF-8",
            "line 2, column 1 is not valid UTF-8",
        ];
        let described = described("a.txt", failure).unwrap();
        assert_eq!(described[..3], expected);
        assert_eq!(described[3..], ["", "2", "1"]);
        assert!(super::described("", Failure::new(FailureKind::Exit(1), "")).is_err());
    }
}
