//! IOPub channel: sends output, pictures and the kernel's status to all front ends.
//!
//! Prints are joined: whatever was printed within a moment is one message. A thread of its own sends what waits, so that a
//! program that prints and then computes for long has been heard.

use crate::front::kernel::connection::Channel;
use crate::front::kernel::mailbox::Mailbox;
use crate::front::kernel::message::{Parent, Wire};
use crate::session::{Display, Screen};
use serde_json::{Map, Value, json};
use std::io::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long a print may wait for the next one.
const MOMENT: Duration = Duration::from_millis(30);

/// How many bytes of prints may wait.
const MOST: usize = 8 << 10;

/// The one who speaks to everybody. Copies speak with the same voice, in order.
#[derive(Clone)]
pub(crate) struct IoPub {
    state: Arc<Mutex<State>>,
}

struct State {
    wire: Arc<Wire>,
    mailbox: Mailbox,
    /// The request that is worked on.
    parent: Parent,
    /// What was printed and not sent.
    waiting: Vec<u8>,
    /// Where that goes.
    stream: Stream,
    /// Nobody wants to see what this request gives.
    is_silent: bool,
}

/// A stream of text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stream {
    /// The standard output.
    Output,
    /// The standard error output.
    Error,
}

impl IoPub {
    /// A channel that sends what waits every moment, for as long as somebody has it.
    pub(crate) fn new(wire: Arc<Wire>, mailbox: Mailbox) -> IoPub {
        let state = State {
            wire,
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
                std::thread::sleep(MOMENT);
            }
        };
        // Without the thread, prints come when the next one does, or at the end of the cell.
        drop(std::thread::Builder::new().name("prints".into()).spawn(sender));
        iopub
    }

    /// From now on, everything belongs to this request.
    pub(crate) fn begin(&self, parent: &Parent, is_silent: bool) {
        let mut state = locked(&self.state);
        state.flush();
        state.parent = parent.clone();
        state.is_silent = is_silent;
    }

    /// Says something to everybody, behind what was printed before. A silent request has nothing to say but how far it is.
    pub(crate) fn publish(&self, kind: &str, content: &Value) {
        let mut state = locked(&self.state);
        state.flush();
        if !state.is_silent || kind == "status" {
            state.publish(kind, content);
        }
    }

    /// Says how far the kernel is: `busy`, `idle`.
    pub(crate) fn status(&self, word: &str) {
        self.publish("status", &json!({ "execution_state": word }));
    }

    /// A stream of this channel.
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
        if state.waiting.len() >= MOST {
            state.flush();
        }
    }
}

fn locked(state: &Arc<Mutex<State>>) -> MutexGuard<'_, State> {
    // What a thread left behind that panicked is still a list of bytes.
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl State {
    fn publish(&self, kind: &str, content: &Value) {
        self.mailbox.post(Channel::Iopub, self.wire.broadcast(&self.parent, kind, content));
    }

    /// Sends what waits, up to the last whole character.
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

/// The forms of a picture, by their media types.
fn data(display: &Display) -> Value {
    let form = |(media, text): &(String, String)| {
        let is_json = media == "application/json";
        let value = if is_json { serde_json::from_str(text).ok() } else { None };
        (media.clone(), value.unwrap_or_else(|| Value::from(text.as_str())))
    };
    Value::Object(display.forms.iter().map(form).collect::<Map<_, _>>())
}
