//! Mailbox: the queues between the kernel and its sockets.

use super::connection::Channel;
use super::message::Frames;
use tokio::sync::mpsc::{self, Receiver};

/// How many messages may wait at a socket until who sends them has to wait.
const QUEUE: usize = 256;

/// Where messages to a front end are put.
#[derive(Clone)]
pub(crate) struct Mailbox {
    shell: mpsc::Sender<Frames>,
    control: mpsc::Sender<Frames>,
    stdin: mpsc::Sender<Frames>,
    iopub: mpsc::Sender<Frames>,
}

impl Mailbox {
    fn of(&self, channel: Channel) -> Option<&mpsc::Sender<Frames>> {
        match channel {
            Channel::Shell => Some(&self.shell),
            Channel::Control => Some(&self.control),
            Channel::Stdin => Some(&self.stdin),
            Channel::Iopub => Some(&self.iopub),
            Channel::Heartbeat => None,
        }
    }

    /// Puts a message down, and waits where too many are waiting. Not for the thread of the sockets.
    pub(super) fn post(&self, channel: Channel, frames: Frames) {
        if let Some(sender) = self.of(channel) {
            // It fails when the sockets are gone, and then nobody listens.
            let _ = sender.blocking_send(frames);
        }
    }

    /// The same on the thread of the sockets.
    pub(super) async fn put(&self, channel: Channel, frames: Frames) {
        if let Some(sender) = self.of(channel) {
            let _ = sender.send(frames).await;
        }
    }
}

/// What is read from the mailbox.
pub(super) struct Boxes {
    pub(super) shell: Receiver<Frames>,
    pub(super) control: Receiver<Frames>,
    pub(super) stdin: Receiver<Frames>,
    pub(super) iopub: Receiver<Frames>,
}

impl Boxes {
    /// From now on only answers are kept; what is put elsewhere is lost.
    pub(super) fn close_all_but_shell(&mut self) {
        [&mut self.control, &mut self.stdin, &mut self.iopub].into_iter().for_each(Receiver::close);
    }

    /// The answers that wait.
    pub(super) fn answers(&mut self) -> Vec<Frames> {
        std::iter::from_fn(|| self.shell.try_recv().ok()).collect()
    }
}

/// A mailbox and its other end.
pub(super) fn mailbox() -> (Mailbox, Boxes) {
    let (shell, shell_box) = mpsc::channel(QUEUE);
    let (control, control_box) = mpsc::channel(QUEUE);
    let (stdin, stdin_box) = mpsc::channel(QUEUE);
    let (iopub, iopub_box) = mpsc::channel(QUEUE);
    let boxes = Boxes { shell: shell_box, control: control_box, stdin: stdin_box, iopub: iopub_box };
    (Mailbox { shell, control, stdin, iopub }, boxes)
}
