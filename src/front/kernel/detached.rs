//! A kernel without sockets: messages go in and answers come out, for tests of what a message may do.

use super::mailbox::{self, Boxes};
use super::message::{Frames, Wire};
use super::requests::Kernel;
use super::sockets::Arrival;
use crate::diagnostic::Form;
use crate::front::render_style::Manner;
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
        let manner = Manner { form: Form::Full, is_colored: false, width: 100 };
        let (kernel, _) = super::kernel(options, manner, (&wire, &mailbox), answers);
        Detached { kernel, wire, boxes, arrivals, _more: more }
    }

    /// Does what a message says, and gives the answers.
    ///
    /// # Errors
    /// Why the message is refused.
    pub fn take(&mut self, frames: Frames) -> Result<Vec<Frames>, &'static str> {
        let request = self.wire.decode(frames).map_err(|refused| refused.reason())?;
        self.kernel.does(&request, &self.arrivals);
        Ok(self.boxes.answers())
    }
}
