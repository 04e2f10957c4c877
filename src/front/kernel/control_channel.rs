//! Control channel: handles the requests that do not wait for the running cell (interrupt, shutdown, kernel info).

use super::connection_file::Channel;
use super::constant_replies;
use super::mailbox::Mailbox;
use super::message::{Codec, Request};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The time that a running computation has to end when the kernel shuts down.
pub(super) const SHUTDOWN_GRACE: Duration = Duration::from_secs(2);

/// The interval of the checks whether the process that started the kernel still exists.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// The handler of control requests.
pub(super) struct Control {
    pub(super) codec: Arc<Codec>,
    pub(super) mailbox: Mailbox,
    /// The flag that cancels the running computation.
    pub(super) interrupt: Arc<AtomicBool>,
}

impl Control {
    /// Handles a request; returns whether the kernel must shut down.
    pub(super) async fn handle(&self, request: &Request) -> bool {
        self.status(request, "busy").await;
        let content = match request.kind.as_str() {
            "interrupt_request" => {
                self.interrupt.store(true, Ordering::Relaxed);
                json!({ "status": "ok" })
            }
            "shutdown_request" => constant_replies::shutdown(&request.content),
            "kernel_info_request" => constant_replies::kernel(),
            other => constant_replies::unknown(other),
        };
        let kind = constant_replies::reply(&request.kind);
        self.mailbox.put(Channel::Control, self.codec.answer(&request.parent, &kind, &content)).await;
        let ends = request.kind == "shutdown_request";
        if ends {
            self.mailbox.put(Channel::Iopub, self.codec.broadcast(&request.parent, &kind, &content)).await;
            self.interrupt.store(true, Ordering::Relaxed);
        }
        self.status(request, "idle").await;
        ends
    }

    async fn status(&self, request: &Request, word: &str) {
        let content = json!({ "execution_state": word });
        self.mailbox.put(Channel::Iopub, self.codec.broadcast(&request.parent, "status", &content)).await;
    }

    /// Waits until the process that started the kernel has ended, because no other process would stop the kernel.
    pub(super) fn orphaned(&self) -> impl Future<Output = ()> + use<> {
        let interrupt = Arc::clone(&self.interrupt);
        async move {
            let parent = parent();
            while parent == self::parent() {
                tokio::time::sleep(POLL_INTERVAL).await;
            }
            interrupt.store(true, Ordering::Relaxed);
        }
    }
}

#[cfg(unix)]
fn parent() -> u32 {
    std::os::unix::process::parent_id()
}

/// Returns a constant where the parent process is unknown, so that it never counts as ended.
#[cfg(not(unix))]
fn parent() -> u32 {
    0
}
