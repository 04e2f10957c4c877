//! In-process kernel: runs a kernel without sockets, for tests and fuzzing of the messages.

use super::mailbox::{self, Outboxes};
use super::message::{Codec, Frames};
use super::request_handlers::Kernel;
use super::sockets::KernelEvent;
use crate::diagnostic::Form;
use crate::front::render_style::RenderStyle;
use crate::session::Options;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};

/// A kernel without sockets. Only the replies on the shell channel can be read.
pub struct InProcessKernel {
    kernel: Kernel,
    codec: Arc<Codec>,
    boxes: Outboxes,
    events: Receiver<KernelEvent>,
    /// The sender of requests. The sender is never used, but keeps the channel open.
    _more: Sender<KernelEvent>,
}

impl InProcessKernel {
    /// Creates a kernel whose messages are signed with `key`, or unsigned if `key` is empty.
    pub fn new(key: &str, options: Options) -> InProcessKernel {
        let codec = Arc::new(Codec::new(key));
        let (mailbox, mut boxes) = mailbox::mailbox();
        boxes.close_all_but_shell();
        let (more, events) = mpsc::channel();
        // Input requests are not answered.
        let (_, answers) = mpsc::channel();
        let render_style = RenderStyle { form: Form::Full, is_colored: false, width: 100, wraps: false };
        let (kernel, _) = super::kernel(options, render_style, (&codec, &mailbox), answers);
        InProcessKernel { kernel, codec, boxes, events, _more: more }
    }

    /// Handles a message, and returns the replies.
    ///
    /// # Errors
    /// Returns the reason why the message is rejected.
    pub fn take(&mut self, frames: Frames) -> Result<Vec<Frames>, &'static str> {
        let request = self.codec.decode(frames).map_err(|refused| refused.reason())?;
        self.kernel.handle(&request, &self.events);
        Ok(self.boxes.answers())
    }
}
