//! Mailbox: connects the kernel to its sockets by queues.

use super::connection_file::Channel;
use super::message::Frames;
use tokio::sync::mpsc::{self, Receiver};

/// The number of messages in a queue from which on senders block.
const QUEUE: usize = 256;

/// The senders of the queues to the sockets.
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

    /// Sends a message to a socket, and blocks while the queue is full. The function must not be called on the thread
    /// of the sockets.
    pub(super) fn post(&self, channel: Channel, frames: Frames) {
        if let Some(sender) = self.of(channel) {
            // Sending fails only when the sockets are closed.
            let _ = sender.blocking_send(frames);
        }
    }

    /// Sends a message to a socket from the thread of the sockets.
    pub(super) async fn put(&self, channel: Channel, frames: Frames) {
        if let Some(sender) = self.of(channel) {
            let _ = sender.send(frames).await;
        }
    }
}

/// The receivers of the queues to the sockets.
pub(super) struct Outboxes {
    pub(super) shell: Receiver<Frames>,
    pub(super) control: Receiver<Frames>,
    pub(super) stdin: Receiver<Frames>,
    pub(super) iopub: Receiver<Frames>,
}

impl Outboxes {
    /// Closes all queues except the queue of the shell channel; messages to closed queues are discarded.
    pub(super) fn close_all_but_shell(&mut self) {
        [&mut self.control, &mut self.stdin, &mut self.iopub].into_iter().for_each(Receiver::close);
    }

    /// Returns the replies that wait in the queue of the shell channel.
    pub(super) fn answers(&mut self) -> Vec<Frames> {
        std::iter::from_fn(|| self.shell.try_recv().ok()).collect()
    }
}

/// Creates the senders and the receivers of the queues.
pub(super) fn mailbox() -> (Mailbox, Outboxes) {
    let (shell, shell_box) = mpsc::channel(QUEUE);
    let (control, control_box) = mpsc::channel(QUEUE);
    let (stdin, stdin_box) = mpsc::channel(QUEUE);
    let (iopub, iopub_box) = mpsc::channel(QUEUE);
    let boxes = Outboxes { shell: shell_box, control: control_box, stdin: stdin_box, iopub: iopub_box };
    (Mailbox { shell, control, stdin, iopub }, boxes)
}
