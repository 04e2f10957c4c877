//! Input and output: the standard streams, arguments, progress, and the exit of a program.

use super::NativeFunction;
use super::context::{Failure, FailureKind, NativeContext};
use super::file::{PIECE, failure};
use super::host::ProgressReport;
use super::string::texts;
use crate::cancel;
use std::io::{BufRead, Write};

type Call<'a, 'b> = &'a mut NativeContext<'b>;

pub(super) const TABLE: &[NativeFunction] = &[
    NativeFunction { name: "io.print", call: print },
    NativeFunction { name: "io.printError", call: print_error },
    NativeFunction { name: "io.readLine", call: read_line },
    NativeFunction { name: "io.progress", call: progress },
    NativeFunction { name: "io.arguments", call: arguments },
    NativeFunction { name: "io.environment", call: environment },
    NativeFunction { name: "io.exit", call: exit },
    NativeFunction { name: "io.skipTest", call: skip_test },
];

/// Notes why the running test is skipped.
fn skip_test(c: Call<'_, '_>) -> Result<(), Failure> {
    let reason = c.text()?;
    c.host.skip_reason = Some(reason.to_string());
    Ok(())
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
    // A prompt must be visible before the reply is read.
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

/// Returns the environment variables of the process, as `name=value`.
fn environment(c: Call<'_, '_>) -> Result<(), Failure> {
    let all: Vec<String> = std::env::vars_os()
        .map(|(name, value)| format!("{}={}", name.to_string_lossy(), value.to_string_lossy()))
        .collect();
    c.return_reference(texts(all.iter().map(String::as_str).collect()))
}

/// Exits the program; the caller that ends the process flushes its output.
fn exit(c: Call<'_, '_>) -> Result<(), Failure> {
    Err(Failure::new(FailureKind::Exit(c.integer() as i32), "the program called 'exit'"))
}
