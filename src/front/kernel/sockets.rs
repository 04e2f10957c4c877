//! Sockets: serves all channels on a separate thread, so that they respond while a cell runs.

use super::connection_file::{Channel, Connection};
use super::control_channel::Control;
use super::mailbox::Outboxes;
use super::message::{Codec, Frames, Request};
use crate::front::output::report;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::Duration;
use tokio::sync::mpsc::Receiver;
use zeromq::{PubSocket, RepSocket, RouterSocket, Socket, SocketRecv, SocketSend, ZmqError, ZmqMessage};

/// The time limit for sending a message.
const SEND_TIMEOUT: Duration = Duration::from_secs(10);

/// The time that the last messages have to leave the process.
const LINGER: Duration = Duration::from_millis(50);

/// An event for the thread that computes.
#[derive(Debug)]
pub(super) enum KernelEvent {
    /// A request on the shell channel.
    Request(Request),
    /// The kernel must shut down, or the parent process has ended.
    End,
}

/// The senders to the thread that computes.
pub(super) struct Inboxes {
    /// The sender of requests.
    pub(super) events: Sender<KernelEvent>,
    /// The sender of the user's input.
    pub(super) answers: Sender<Request>,
}

/// Binds all sockets and serves them; `bound` receives whether binding succeeded.
pub(super) fn serve(
    connection: &Connection,
    codec: &Arc<Codec>,
    boxes: Outboxes,
    (inboxes, control): (Inboxes, Control),
    bound: &Sender<Result<(), String>>,
) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => {
            let _ = bound.send(Err(error.to_string()));
            return;
        }
    };
    runtime.block_on(async {
        match bind(connection).await {
            Ok(sockets) => {
                let _ = bound.send(Ok(()));
                sockets.run(codec, boxes, inboxes, control).await;
            }
            Err(error) => {
                let _ = bound.send(Err(error.to_string()));
            }
        }
    });
}

struct Sockets {
    shell: RouterSocket,
    control: RouterSocket,
    stdin: RouterSocket,
    iopub: PubSocket,
    heartbeat: RepSocket,
}

async fn bind(connection: &Connection) -> Result<Sockets, ZmqError> {
    let mut sockets = Sockets {
        shell: RouterSocket::new(),
        control: RouterSocket::new(),
        stdin: RouterSocket::new(),
        iopub: PubSocket::new(),
        heartbeat: RepSocket::new(),
    };
    sockets.shell.bind(&connection.address(Channel::Shell)).await?;
    sockets.control.bind(&connection.address(Channel::Control)).await?;
    sockets.stdin.bind(&connection.address(Channel::Stdin)).await?;
    sockets.iopub.bind(&connection.address(Channel::Iopub)).await?;
    sockets.heartbeat.bind(&connection.address(Channel::Heartbeat)).await?;
    Ok(sockets)
}

impl Sockets {
    /// Serves the sockets until the shutdown.
    async fn run(self, codec: &Arc<Codec>, boxes: Outboxes, inboxes: Inboxes, control: Control) {
        let (shell_out, mut shell_in) = self.shell.split();
        let (control_out, mut control_in) = self.control.split();
        let (stdin_out, mut stdin_in) = self.stdin.split();
        let writers = [
            tokio::spawn(write(shell_out, boxes.shell)),
            tokio::spawn(write(control_out, boxes.control)),
            tokio::spawn(write(stdin_out, boxes.stdin)),
            tokio::spawn(write(self.iopub, boxes.iopub)),
        ];
        tokio::spawn(echo(self.heartbeat));
        let requests = async {
            loop {
                if let Some(request) = read(&mut shell_in, codec).await {
                    // Sending the request fails only when the receiver no longer exists.
                    let _ = inboxes.events.send(KernelEvent::Request(request));
                }
            }
        };
        let answers = async {
            loop {
                if let Some(answer) = read(&mut stdin_in, codec).await {
                    let _ = inboxes.answers.send(answer);
                }
            }
        };
        let urgent = async {
            loop {
                if let Some(request) = read(&mut control_in, codec).await
                    && control.handle(&request).await
                {
                    break;
                }
            }
        };
        tokio::select! {
            () = requests => {}
            () = answers => {}
            () = urgent => {}
            () = control.orphaned() => {}
        }
        let _ = inboxes.events.send(KernelEvent::End);
        drop(control);
        // The queues close when the thread that computes has ended; until then, its last messages are sent.
        for writer in writers {
            let _ = tokio::time::timeout(super::control_channel::SHUTDOWN_GRACE, writer).await;
        }
        // Sent messages still have to leave the process.
        tokio::time::sleep(LINGER).await;
    }
}

/// Receives the next message of a socket; `None` when it is rejected.
async fn read(socket: &mut impl SocketRecv, codec: &Codec) -> Option<Request> {
    match socket.recv().await {
        Ok(message) => match codec.decode(message.into_vec().iter().map(|frame| frame.to_vec()).collect()) {
            Ok(request) => Some(request),
            Err(refused) => {
                report(&format!("dscript: a message was rejected: {}\n", refused.reason()));
                None
            }
        },
        Err(_) => {
            pause().await;
            None
        }
    }
}

/// Sends the messages of a queue to a socket.
async fn write(mut socket: impl SocketSend, mut messages: Receiver<Frames>) {
    while let Some(frames) = messages.recv().await {
        let mut frames = frames.into_iter();
        let mut message = ZmqMessage::from(frames.next().unwrap_or_default());
        frames.for_each(|frame| message.push_back(frame.into()));
        // A front end that does not receive must not block the others.
        let _ = tokio::time::timeout(SEND_TIMEOUT, socket.send(message)).await;
    }
}

/// Echoes the messages of the heartbeat channel.
async fn echo(mut heartbeat: RepSocket) {
    loop {
        match heartbeat.recv().await {
            Ok(beat) => {
                let _ = heartbeat.send(beat).await;
            }
            Err(_) => pause().await,
        }
    }
}

/// Waits briefly, so that a socket that fails repeatedly does not use the whole processor.
async fn pause() {
    tokio::time::sleep(Duration::from_millis(10)).await;
}
