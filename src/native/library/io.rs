//! Input and output: native functions for files, the standard streams, and arguments.

use super::NativeFunction;
use super::context::{Failure, FailureKind, NativeContext};
use super::host::ProgressReport;
use super::text::texts;
use crate::cancel;
use crate::value::{Cells, Ref};
use std::fs::File;
use std::io::{BufRead, Read, Write};
use std::path::Path;
use std::rc::Rc;

type Call<'a, 'b> = &'a mut NativeContext<'b>;

/// The number of bytes that are read or written between two checks for cancellation.
const PIECE: usize = 1 << 20;

pub(super) const TABLE: &[NativeFunction] = &[
    NativeFunction { name: "io.print", call: print },
    NativeFunction { name: "io.printError", call: print_error },
    NativeFunction { name: "io.readLine", call: read_line },
    NativeFunction { name: "io.readLines", call: read_lines },
    NativeFunction { name: "io.readCSV", call: read_csv },
    NativeFunction { name: "io.writeFile", call: write_file },
    NativeFunction { name: "io.progress", call: progress },
    NativeFunction { name: "io.arguments", call: arguments },
    NativeFunction { name: "io.exit", call: exit },
];

/// Returns the message of a system error, without its number.
fn reason(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_owned()
}

pub(super) fn failure(what: &str, error: &std::io::Error) -> Failure {
    Failure::new(FailureKind::Input, format!("{what}: {}", reason(error)))
}

fn print(c: Call<'_, '_>) -> Result<(), Failure> {
    let text = c.text()?;
    for piece in text.as_bytes().chunks(PIECE) {
        cancel::check();
        c.host.streams.output.write_all(piece).map_err(|e| failure("cannot write to standard output", &e))?;
    }
    Ok(())
}

fn print_error(c: Call<'_, '_>) -> Result<(), Failure> {
    let text = c.text()?;
    // Standard output is flushed first, so that earlier output appears first.
    let flushed = c.host.streams.output.flush();
    let written = flushed
        .and_then(|()| c.host.streams.error.write_all(text.as_bytes()))
        .and_then(|()| c.host.streams.error.flush());
    written.map_err(|e| failure("cannot write to standard error", &e))
}

fn read_line(c: Call<'_, '_>) -> Result<(), Failure> {
    // A prompt must be visible before its answer is read.
    c.host.streams.output.flush().map_err(|e| failure("cannot write to standard output", &e))?;
    let mut line = vec![];
    let count =
        c.host.streams.input.read_until(b'\n', &mut line).map_err(|e| failure("cannot read standard input", &e))?;
    c.return_integer(i64::from(count > 0))?;
    let line =
        String::from_utf8(line).map_err(|_| Failure::new(FailureKind::Input, "standard input is not valid UTF-8"))?;
    let line = line.strip_suffix('\n').unwrap_or(&line);
    c.return_text(line.strip_suffix('\r').unwrap_or(line))
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

/// Reads the next bytes of a file; returns whether there were any.
fn read_piece(file: &mut File, bytes: &mut Vec<u8>) -> std::io::Result<bool> {
    Ok(Read::by_ref(file).take(PIECE as u64).read_to_end(bytes)? > 0)
}

/// Reads a file as a string.
fn read(c: Call<'_, '_>, path: &str) -> Result<String, Failure> {
    let access = &c.host.access.read;
    let opened = access.open(Path::new(path));
    let bytes = opened.and_then(|file| {
        let is_file = file.metadata()?.is_file();
        Ok(if is_file { contents(file) } else { contents_of_pipe(file) }?)
    });
    let bytes = bytes.map_err(|why| access.failure(why, path, "read", "--allow-read"))?;
    decode(path, &bytes).map(ToOwned::to_owned)
}

fn decode<'b>(path: &str, bytes: &'b [u8]) -> Result<&'b str, Failure> {
    std::str::from_utf8(bytes).map_err(|e| {
        let before = String::from_utf8_lossy(&bytes[..e.valid_up_to()]);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        let message = format!("cannot read '{path}': line {line}, column {column} is not valid UTF-8");
        Failure::new(FailureKind::Input, message).with("line", line).with("column", column)
    })
}

fn read_lines(c: Call<'_, '_>) -> Result<(), Failure> {
    let path = c.text()?;
    let text = read(c, &path)?;
    c.return_reference(texts(lines(&text)))
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

/// Parses the bytes of a file into column names and columns, as `readCSV` returns them.
///
/// # Errors
/// Fails if the file is not UTF-8, or not a table of numbers.
pub fn table_of(path: &str, bytes: &[u8]) -> Result<Table, Failure> {
    table(path, decode(path, bytes)?)
}

fn write_file(c: Call<'_, '_>) -> Result<(), Failure> {
    let (text, path) = (c.text()?, c.text()?);
    write(c, text.as_bytes(), &path)
}

/// Writes bytes to a file, if the program has access to it.
pub(super) fn write(c: Call<'_, '_>, bytes: &[u8], path: &str) -> Result<(), Failure> {
    if c.host.is_rehearsal {
        return Err(Failure::new(FailureKind::Input, format!("'{path}' is not written again")));
    }
    let access = &c.host.access.write;
    let opened = access.create(Path::new(path));
    let written = opened.and_then(|mut file| {
        if file.metadata()?.is_file() {
            return Ok(file.write_all(bytes)?);
        }
        let bytes = bytes.to_vec();
        Ok(cancel::waiting(move || file.write_all(&bytes))?)
    });
    written.map_err(|why| access.failure(why, path, "write", "--allow-write"))
}

fn progress(c: Call<'_, '_>) -> Result<(), Failure> {
    let (label, done, total) = (c.text()?, c.integer(), c.integer());
    if let Some(report) = c.host.progress
        && !c.host.is_rehearsal
    {
        report(&ProgressReport { label: &label, done: u64::try_from(done).ok(), total: u64::try_from(total).ok() });
    }
    Ok(())
}

fn arguments(c: Call<'_, '_>) -> Result<(), Failure> {
    let all = c.host.arguments.iter().map(String::as_str).collect();
    c.return_reference(texts(all))
}

/// Exits the program; the caller that ends the process flushes its output.
fn exit(c: Call<'_, '_>) -> Result<(), Failure> {
    Err(Failure::new(FailureKind::Exit(c.integer() as i32), "the program called 'exit'"))
}

/// Reads a file whose first line names the columns, and whose other lines are numbers.
fn read_csv(c: Call<'_, '_>) -> Result<(), Failure> {
    let path = c.text()?;
    let text = read(c, &path)?;
    let (names, columns) = table(&path, &text)?;
    let columns: Vec<Ref> = columns.into_iter().map(|f| Ref::Cells(Rc::new(Cells::numbers(f)))).collect();
    c.return_reference(texts(names))?;
    c.return_reference(Ref::Cells(Rc::new(Cells::references(columns))))
}

/// The names of the columns of a table, and the numbers in each column.
pub type Table = (Vec<Rc<str>>, Vec<Vec<f64>>);

fn table(path: &str, text: &str) -> Result<Table, Failure> {
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(text.as_bytes());
    let names: Vec<Rc<str>> = match reader.headers() {
        Ok(header) if !header.is_empty() => header.iter().map(Into::into).collect(),
        Ok(_) => {
            let message = format!("{path}:1: the file is empty; its first line must name the columns");
            return Err(bad_row(path, 1, message));
        }
        Err(error) => return Err(malformed(path, &error)),
    };
    let mut columns = vec![vec![]; names.len()];
    for row in cancel::checking(reader.records()) {
        let row = row.map_err(|error| malformed(path, &error))?;
        let line = row.position().map_or(0, csv::Position::line);
        for (k, (field, column)) in row.iter().zip(&mut columns).enumerate() {
            let number = field.parse::<f64>().map_err(|_| {
                let what = if field.is_empty() { "nothing".into() } else { format!("\"{}\"", shortened(field)) };
                let (number, name) = (k + 1, shortened(&names[k]));
                let message = format!("{path}:{line}: column {number} (\"{name}\"): {what} is not a number");
                bad_row(path, line, message).with("column", k + 1)
            })?;
            column.push(number);
        }
    }
    Ok((names, columns))
}

fn bad_row(path: &str, line: u64, message: String) -> Failure {
    Failure::new(FailureKind::BadRow, message).with("file", path).with("line", line)
}

fn malformed(path: &str, error: &csv::Error) -> Failure {
    match error.kind() {
        csv::ErrorKind::UnequalLengths { pos, expected_len, len } => {
            let line = pos.as_ref().map_or(0, csv::Position::line);
            let columns = if *len == 1 { "column" } else { "columns" };
            let message =
                format!("{path}:{line}: the row has {len} {columns}, but the first line names {expected_len}");
            bad_row(path, line, message)
        }
        _ => {
            let line = error.position().map_or(0, csv::Position::line);
            bad_row(path, line, format!("{path}:{line}: the row is malformed"))
        }
    }
}

/// Shortens a field, so that a message remains one line whatever the file contains.
fn shortened(field: &str) -> String {
    const MAX_LENGTH: usize = 40;
    let line: String = field.chars().take(MAX_LENGTH).map(|c| if c.is_control() { '␤' } else { c }).collect();
    if field.chars().count() > MAX_LENGTH { line + "…" } else { line }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_read_by_columns() {
        let (names, columns) = table("t.csv", "x, y\n1,2.5\n-3,4e2\n").unwrap();
        assert_eq!(names.iter().map(|n| &**n).collect::<Vec<_>>(), ["x", "y"]);
        assert_eq!(columns, [[1.0, -3.0], [2.5, 400.0]]);
    }

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
    fn a_bad_row_is_named() {
        let message = |text: &str| table("t.csv", text).unwrap_err().message;
        assert_eq!(message("x,y\n1,2\n3\n"), "t.csv:3: the row has 1 column, but the first line names 2");
        assert_eq!(message("x,y\n1,a b\n"), "t.csv:2: column 2 (\"y\"): \"a b\" is not a number");
        assert_eq!(message("x,y\n1,\n"), "t.csv:2: column 2 (\"y\"): nothing is not a number");
        assert_eq!(message("x,\"y\nz\"\n1,\n"), "t.csv:3: column 2 (\"y␤z\"): nothing is not a number");
        assert_eq!(message(""), "t.csv:1: the file is empty; its first line must name the columns");
    }
}
