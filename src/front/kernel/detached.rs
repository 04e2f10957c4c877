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

/// A kernel without sockets. Only the replies on the shell channel are available.
pub struct Detached {
    kernel: Kernel,
    wire: Arc<Wire>,
    boxes: Boxes,
    arrivals: Receiver<Arrival>,
    /// The sender of requests, which keeps the channel open.
    _more: Sender<Arrival>,
}

impl Detached {
    /// Creates a kernel whose messages are signed with `key`, or unsigned if it is empty.
    pub fn new(key: &str, options: Options) -> Detached {
        let wire = Arc::new(Wire::new(key));
        let (mailbox, mut boxes) = mailbox::mailbox();
        boxes.close_all_but_shell();
        let (more, arrivals) = mpsc::channel();
        // Input requests are not answered.
        let (_, answers) = mpsc::channel();
        let render_style = RenderStyle { form: Form::Full, is_colored: false, width: 100 };
        let (kernel, _) = super::kernel(options, render_style, (&wire, &mailbox), answers);
        Detached { kernel, wire, boxes, arrivals, _more: more }
    }

    /// Handles a message, and returns the replies.
    ///
    /// # Errors
    /// Returns the reason why the message is rejected.
    pub fn take(&mut self, frames: Frames) -> Result<Vec<Frames>, &'static str> {
        let request = self.wire.decode(frames).map_err(|refused| refused.reason())?;
        self.kernel.handle(&request, &self.arrivals);
        Ok(self.boxes.answers())
    }
}
