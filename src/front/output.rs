//! Output: implements buffered standard output, standard error, and captured output.

use super::exit_status;
use crate::front::stdout_state;
use std::cell::{Cell, RefCell};
use std::io::{BufWriter, Error, ErrorKind, IsTerminal, Result, Write};
use std::rc::Rc;

/// A function that prepares the screen for a write, performs the write, and restores the screen.
pub(super) type WriteHook = fn(&mut dyn FnMut());

thread_local! {
    static HOOK: Cell<Option<WriteHook>> = const { Cell::new(None) };
}

/// Installs the function through which every write passes from now on.
pub(super) fn set_write_hook(hook: WriteHook) {
    HOOK.set(Some(hook));
}

/// Writes through the hook, if one is installed.
fn around_write(mut write: impl FnMut() -> Result<usize>) -> Result<usize> {
    let Some(hook) = HOOK.get() else { return write() };
    let mut written = Ok(0);
    hook(&mut || written = write());
    written
}

/// Standard output, buffered, shared by the session (which prints) and the command (which flushes).
///
/// A write that fails ends the process: the output has no reader, and a loop that prints would otherwise run without
/// purpose.
#[derive(Clone)]
pub(super) struct Output {
    sink: Rc<RefCell<Box<dyn Write>>>,
}

impl Output {
    /// Returns standard output, with a line buffer on a terminal and a large buffer elsewhere.
    pub(super) fn stdout() -> Output {
        if stdout_state::stdout_was_closed() {
            return Output::to(Box::new(ClosedOutput));
        }
        let stdout = std::io::stdout();
        // The standard library flushes at every line, even into a pipe or a file, where this would cost a system
        // call for each `print`.
        let sink: Box<dyn Write> =
            if stdout.is_terminal() { Box::new(stdout) } else { Box::new(BufWriter::with_capacity(1 << 16, stdout)) };
        Output::to(sink)
    }

    /// Returns standard error, unbuffered.
    pub(super) fn stderr() -> Output {
        Output::to(Box::new(std::io::stderr()))
    }

    /// Returns an output that writes to `sink`.
    pub(super) fn to(sink: Box<dyn Write>) -> Output {
        Output { sink: Rc::new(RefCell::new(sink)) }
    }

    /// Returns an output that captures all text, and the captured text.
    pub(super) fn kept() -> (Output, CaptureBuffer) {
        let kept = CaptureBuffer::up_to(usize::MAX);
        (Output::to(Box::new(kept.clone())), kept)
    }

    /// Flushes the buffer of the output, or ends the process if flushing fails.
    pub(super) fn flush_or_end(&self) {
        ended(self.sink.borrow_mut().flush());
    }

    /// Writes a text to the output, or ends the process if writing fails.
    pub(super) fn write_or_end(&self, text: &str) {
        ended(self.sink.borrow_mut().write_all(text.as_bytes()));
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        let written = around_write(|| self.sink.borrow_mut().write(bytes));
        match written {
            // The caller retries a write that a signal interrupted.
            Err(error) if error.kind() != ErrorKind::Interrupted => {
                ended(Err(error));
                Ok(bytes.len())
            }
            other => other,
        }
    }

    fn flush(&mut self) -> Result<()> {
        self.flush_or_end();
        Ok(())
    }
}

/// The standard output of a process that was started without standard output.
struct ClosedOutput;

impl Write for ClosedOutput {
    fn write(&mut self, _: &[u8]) -> Result<usize> {
        Err(Error::other("standard output is closed"))
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
}

/// A buffer that captures output up to a limited size; clones share the buffer.
#[derive(Clone)]
pub(super) struct CaptureBuffer {
    bytes: Rc<RefCell<Vec<u8>>>,
    most: usize,
}

impl CaptureBuffer {
    /// Creates a buffer that captures at most `most` bytes, and discards the rest.
    pub(super) fn up_to(most: usize) -> CaptureBuffer {
        CaptureBuffer { bytes: Rc::default(), most }
    }

    /// Returns the captured text.
    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes.borrow()).into_owned()
    }
}

impl Write for CaptureBuffer {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        let mut kept = self.bytes.borrow_mut();
        let room = self.most.saturating_sub(kept.len()).min(bytes.len());
        kept.extend_from_slice(&bytes[..room]);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
}

/// Ends the process if a write failed: silently after a broken pipe (`dscript a | head`).
fn ended(result: Result<()>) {
    match result {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::BrokenPipe => std::process::exit(exit_status::DONE),
        Err(error) => {
            report(&format!("dscript: cannot write the output: {error}\n"));
            std::process::exit(exit_status::FAILED)
        }
    }
}

/// Writes to standard error.
pub(super) fn report(text: &str) {
    // `eprint!` would panic if standard error is closed, and there is no other output for the error.
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}
