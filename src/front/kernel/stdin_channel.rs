//! Stdin channel: sends the requests of `readLine()` to the front end.

use super::connection_file::Channel;
use super::mailbox::Mailbox;
use super::message::{Codec, Parent, Request};
use serde_json::{Value, json};
use std::cell::RefCell;
use std::io::{BufRead, Error, Read, Result};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

/// The interval of the checks for an interrupt while the kernel waits for input.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// The connection to the front end that replies to input requests.
#[derive(Clone, Default)]
pub(super) struct Stdin {
    /// The current request, if its front end supports input.
    pub(super) current_request: Rc<RefCell<Option<Parent>>>,
}

/// A standard input that requests each line from the user.
#[derive(Clone)]
pub(super) struct InputReader {
    pub(super) stdin: Stdin,
    pub(super) codec: Arc<Codec>,
    pub(super) mailbox: Mailbox,
    pub(super) answers: Rc<Receiver<Request>>,
    pub(super) interrupt: Arc<AtomicBool>,
    /// The part of the last line that was not read yet.
    pub(super) line: Vec<u8>,
}

impl InputReader {
    fn request_line(&mut self) -> Result<()> {
        let parent = self.stdin.current_request.borrow().clone();
        let parent = parent.ok_or_else(|| Error::other("this front end does not support input"))?;
        // Replies to earlier requests that were interrupted are discarded.
        while self.answers.try_recv().is_ok() {}
        let prompt = json!({ "prompt": "", "password": false });
        self.mailbox.post(Channel::Stdin, self.codec.answer(&parent, "input_request", &prompt));
        loop {
            match self.answers.recv_timeout(POLL_INTERVAL) {
                Ok(answer) => {
                    let text = answer.content.get("value").and_then(Value::as_str).unwrap_or_default();
                    self.line = format!("{text}\n").into_bytes();
                    return Ok(());
                }
                Err(RecvTimeoutError::Timeout) if self.interrupt.load(Ordering::Relaxed) => {
                    return Err(Error::other("the input was interrupted"));
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(Error::other("the front end has disconnected")),
            }
        }
    }
}

impl Read for InputReader {
    fn read(&mut self, into: &mut [u8]) -> Result<usize> {
        let count = self.fill_buf()?.read(into)?;
        self.consume(count);
        Ok(count)
    }
}

impl BufRead for InputReader {
    fn fill_buf(&mut self) -> Result<&[u8]> {
        if self.line.is_empty() {
            self.request_line()?;
        }
        Ok(&self.line)
    }

    fn consume(&mut self, count: usize) {
        self.line.drain(..count.min(self.line.len()));
    }
}
