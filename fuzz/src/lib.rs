//! Common parts of the fuzz targets: a thread with a large stack, and limits that bound each execution.

use dscript::session::Options;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

/// The stack size of the binary: the compiler walks trees by recursion.
const STACK: usize = 256 << 20;

/// Returns limits that do not affect a short program, and within which no program takes long.
pub fn limits() -> Options {
    Options {
        max_depth: 500,
        max_tape: 8 << 20,
        max_steps: Some(20_000),
        max_memory: Some(2 << 30),
        timeout: Some(Duration::from_secs(5)),
        ..Options::default()
    }
}

/// A separate thread that processes inputs one by one. All executions share it, because AddressSanitizer clears the whole
/// stack of a thread that ends.
pub struct Worker(Mutex<(SyncSender<Vec<u8>>, Receiver<()>)>);

impl Worker {
    /// Starts the thread, on which `prepare` creates the function that processes inputs.
    pub fn start<F: FnMut(&[u8])>(prepare: impl FnOnce() -> F + Send + 'static) -> Worker {
        let (inputs, next) = sync_channel::<Vec<u8>>(1);
        let (done, finished) = sync_channel(1);
        let work = move || {
            let mut run = prepare();
            for input in next {
                run(&input);
                done.send(()).expect("somebody waits");
            }
        };
        std::thread::Builder::new().stack_size(STACK).spawn(work).expect("a thread can be started");
        Worker(Mutex::new((inputs, finished)))
    }

    /// Processes one input. A panic on the thread ends the process before this function returns.
    pub fn run(&self, input: &[u8]) {
        let channels = self.0.lock().expect("one execution at a time");
        channels.0.send(input.to_vec()).expect("the thread runs");
        channels.1.recv().expect("the thread runs");
    }
}
