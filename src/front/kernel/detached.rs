//! Detached kernel: a kernel without sockets, for tests and fuzzing of the messages.

use super::mailbox::{self, Boxes};
use super::message::{Frames, Wire};
use super::requests::Kernel;
use super::sockets::Arrival;
use crate::diagnostic::Form;
use crate::front::render_style::RenderStyle;
use crate::session::Options;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};

/// A kernel without sockets. Only its answers can be seen, not what it tells everybody.
pub struct Detached {
    kernel: Kernel,
    wire: Arc<Wire>,
    boxes: Boxes,
    arrivals: Receiver<Arrival>,
    /// Kept, so that the kernel waits for requests.
    _more: Sender<Arrival>,
}

impl Detached {
    /// A kernel whose messages are signed with a key, or not when that is empty.
    pub fn new(key: &str, options: Options) -> Detached {
        let wire = Arc::new(Wire::new(key));
        let (mailbox, mut boxes) = mailbox::mailbox();
        boxes.close_all_but_shell();
        let (more, arrivals) = mpsc::channel();
        // Nobody answers questions.
        let (_, answers) = mpsc::channel();
        let render_style = RenderStyle { form: Form::Full, is_colored: false, width: 100 };
        let (kernel, _) = super::kernel(options, render_style, (&wire, &mailbox), answers);
        Detached { kernel, wire, boxes, arrivals, _more: more }
    }

    /// Does what a message says, and gives the answers.
    ///
    /// # Errors
    /// Why the message is refused.
    pub fn take(&mut self, frames: Frames) -> Result<Vec<Frames>, &'static str> {
        let request = self.wire.decode(frames).map_err(|refused| refused.reason())?;
        self.kernel.handle(&request, &self.arrivals);
        Ok(self.boxes.answers())
    }
}
