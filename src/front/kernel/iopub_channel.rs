//! IOPub channel: sends the output, the pictures and the status of the kernel to all front ends.
//!
//! Prints are batched: everything that is printed within a short interval becomes one message. A separate thread sends
//! the pending output, so that the output of a program that prints and then computes for long appears immediately.

use crate::front::kernel::connection_file::Channel;
use crate::front::kernel::mailbox::Mailbox;
use crate::front::kernel::message::{Codec, Parent};
use crate::session::{Display, Screen};
use serde_json::{Map, Value, json};
use std::io::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The maximum delay between a print and the message that contains it.
const FLUSH_INTERVAL: Duration = Duration::from_millis(30);

/// The maximum number of bytes of output that wait to be sent.
const MAX_PENDING_BYTES: usize = 8 << 10;

/// The sender of messages to all front ends. Clones share one queue, which preserves the order.
#[derive(Clone)]
pub(crate) struct IoPub {
    state: Arc<Mutex<State>>,
}

struct State {
    codec: Arc<Codec>,
    mailbox: Mailbox,
    /// The request that is being handled.
    parent: Parent,
    /// The printed output that has not been sent yet.
    waiting: Vec<u8>,
    /// The stream to which the unsent output belongs.
    stream: Stream,
    /// Whether the request that is being handled has no output.
    is_silent: bool,
}

/// A stream of text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stream {
    /// The standard output of the program.
    Output,
    /// The standard error output of the program.
    Error,
}

impl IoPub {
    /// Creates a channel that regularly sends the pending output, until all its clones are dropped.
    pub(crate) fn new(codec: Arc<Codec>, mailbox: Mailbox) -> IoPub {
        let state = State {
            codec,
            mailbox,
            parent: Parent::default(),
            waiting: vec![],
            stream: Stream::Output,
            is_silent: false,
        };
        let iopub = IoPub { state: Arc::new(Mutex::new(state)) };
        let weak = Arc::downgrade(&iopub.state);
        let sender = move || {
            while let Some(state) = weak.upgrade() {
                locked(&state).flush();
                drop(state);
                std::thread::sleep(FLUSH_INTERVAL);
            }
        };
        // Without the thread, output is sent with the next print or at the end of the cell.
        drop(std::thread::Builder::new().name("prints".into()).spawn(sender));
        iopub
    }

    /// Sets the request that is being handled.
    pub(crate) fn begin(&self, parent: &Parent, is_silent: bool) {
        let mut state = locked(&self.state);
        state.flush();
        state.parent = parent.clone();
        state.is_silent = is_silent;
    }

    /// Sends a message to all front ends, after pending output. For a silent request, only the status is sent.
    pub(crate) fn publish(&self, kind: &str, content: &Value) {
        let mut state = locked(&self.state);
        state.flush();
        if !state.is_silent || kind == "status" {
            state.publish(kind, content);
        }
    }

    /// Sends the status of the kernel: `busy`, `idle`.
    pub(crate) fn status(&self, word: &str) {
        self.publish("status", &json!({ "execution_state": word }));
    }

    /// Returns a writer to a stream of this channel.
    pub(crate) fn stream(&self, stream: Stream) -> Box<dyn Write> {
        Box::new(Printer { iopub: self.clone(), stream })
    }

    fn print(&self, stream: Stream, bytes: &[u8]) {
        let mut state = locked(&self.state);
        if state.stream != stream {
            state.flush();
            state.stream = stream;
        }
        state.waiting.extend_from_slice(bytes);
        if state.waiting.len() >= MAX_PENDING_BYTES {
            state.flush();
        }
    }
}

fn locked(state: &Arc<Mutex<State>>) -> MutexGuard<'_, State> {
    // The bytes are valid even if a thread panicked while it held the lock.
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl State {
    fn publish(&self, kind: &str, content: &Value) {
        self.mailbox.post(Channel::Iopub, self.codec.broadcast(&self.parent, kind, content));
    }

    /// Sends the waiting output, up to the last complete character.
    fn flush(&mut self) {
        let whole = match std::str::from_utf8(&self.waiting) {
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            _ => self.waiting.len(),
        };
        if whole == 0 {
            return;
        }
        let rest = self.waiting.split_off(whole);
        let text = String::from_utf8_lossy(&std::mem::replace(&mut self.waiting, rest)).into_owned();
        let name = match self.stream {
            Stream::Output => "stdout",
            Stream::Error => "stderr",
        };
        if !self.is_silent {
            self.publish("stream", &json!({ "name": name, "text": text }));
        }
    }
}

struct Printer {
    iopub: IoPub,
    stream: Stream,
}

impl Write for Printer {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.iopub.print(self.stream, bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Screen for IoPub {
    fn show(&mut self, display: &Display) {
        let transient = display.id.as_ref().map_or(json!({}), |id| json!({ "display_id": id }));
        let kind = if display.is_update { "update_display_data" } else { "display_data" };
        self.publish(kind, &json!({ "data": data(display), "metadata": {}, "transient": transient }));
    }

    fn clear(&mut self, wait: bool) {
        self.publish("clear_output", &json!({ "wait": wait }));
    }
}

/// Returns the forms of a picture by their media types.
fn data(display: &Display) -> Value {
    let form = |(media, text): &(String, String)| {
        let is_json = media == "application/json";
        let value = if is_json { serde_json::from_str(text).ok() } else { None };
        (media.clone(), value.unwrap_or_else(|| Value::from(text.as_str())))
    };
    Value::Object(display.forms.iter().map(form).collect::<Map<_, _>>())
}
