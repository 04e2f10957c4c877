//! Jupyter kernel: connects the session of the prompt to Jupyter's messages.
//!
//! In: requests on the sockets of a connection file. Out: replies, and messages to all front ends: prints, pictures,
//! values.
//!
//! Promises: one thread computes and another serves the sockets, so interrupts are always received; a message that is
//! not addressed to this kernel or cannot be decoded is rejected; an error in a cell preserves earlier definitions.
//! Not here: the evaluation of cells (`session`), commands (`prompt`).

mod connection_file;
mod constant_replies;
mod control_channel;
mod directives;
mod history;
mod html_table;
mod in_process;
mod installation;
pub(crate) mod iopub_channel;
mod mailbox;
mod message;
mod progress;
mod request_handlers;
mod sockets;
mod stdin_channel;
mod timestamp;

pub use in_process::InProcessKernel;
pub(super) use installation::{install, remove};

use super::exit_status;
use super::output::{Output, report};
use super::prompt::Prompt;
use crate::front::kernel::iopub_channel::{IoPub, Stream};
use crate::front::render_style::RenderStyle;
use crate::session::{Options, Session, Streams};
use connection_file::Connection;
use control_channel::Control;
use history::History;
use mailbox::Mailbox;
use message::{Codec, Request};
use request_handlers::Kernel;
use sockets::{Inboxes, KernelEvent};
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver};
use std::thread::JoinHandle;
use stdin_channel::{InputReader, Stdin};

/// Serves the front end that wrote a connection file, until the front end requests the shutdown.
pub(super) fn run(file: &Path, options: Options, render_style: RenderStyle) -> i32 {
    let connection = match Connection::read(file) {
        Ok(connection) => connection,
        Err(why) => {
            report(&format!("dscript: {why}\n"));
            return exit_status::USAGE;
        }
    };
    match open(&connection, options, render_style) {
        Ok((mut kernel, events, sockets)) => {
            kernel.iopub.status("starting");
            kernel.run(&events);
            // Closing the senders makes the thread of the sockets send the remaining messages and end the process.
            drop(kernel);
            let _ = sockets.join();
            exit_status::DONE
        }
        Err(why) => {
            report(&format!("dscript: cannot open the sockets: {why}\n"));
            exit_status::FAILED
        }
    }
}

/// A kernel that is running: the kernel, the receiver of requests, and the thread of the sockets.
type RunningKernel = (Kernel, Receiver<KernelEvent>, JoinHandle<()>);

/// Opens the sockets, and creates a session that serves them.
fn open(connection: &Connection, options: Options, render_style: RenderStyle) -> Result<RunningKernel, String> {
    let codec = Arc::new(Codec::new(&connection.key));
    let (mailbox, boxes) = mailbox::mailbox();
    let (to_kernel, events) = mpsc::channel();
    let (to_stdin, answers) = mpsc::channel();
    let interrupt = Arc::clone(&options.interrupt);
    let control = Control { codec: Arc::clone(&codec), mailbox: mailbox.clone(), interrupt: Arc::clone(&interrupt) };
    let inboxes = Inboxes { events: to_kernel, answers: to_stdin };
    let (is_bound, bound) = mpsc::channel();
    let (address, served) = (connection.clone(), Arc::clone(&codec));
    let serve = move || {
        sockets::serve(&address, &served, boxes, (inboxes, control), &is_bound);
        // A computation that is still running is abandoned.
        std::process::exit(exit_status::DONE);
    };
    let thread = std::thread::Builder::new().name("sockets".into()).spawn(serve);
    let thread = thread.map_err(|error| error.to_string())?;
    bound.recv().map_err(|error| error.to_string())??;
    let options = Options { progress: Some(progress::step), reports_loops: false, text_style: None, ..options };
    let (kernel, iopub) = kernel(options, render_style, (&codec, &mailbox), answers);
    progress::begin(iopub);
    Ok((kernel, events, thread))
}

/// Creates a kernel that sends its messages to `mailbox`, and its channel to all front ends; `answers` receives the
/// user's input.
fn kernel(
    options: Options,
    render_style: RenderStyle,
    (codec, mailbox): (&Arc<Codec>, &Mailbox),
    answers: Receiver<Request>,
) -> (Kernel, IoPub) {
    let interrupt = Arc::clone(&options.interrupt);
    let iopub = IoPub::new(Arc::clone(codec), mailbox.clone());
    let stdin = Stdin::default();
    let input = InputReader {
        stdin: stdin.clone(),
        codec: Arc::clone(codec),
        mailbox: mailbox.clone(),
        answers: Rc::new(answers),
        interrupt: Arc::clone(&interrupt),
        line: vec![],
    };
    let make = {
        let iopub = iopub.clone();
        move |options: &Options| {
            let streams = Streams {
                output: iopub.stream(Stream::Output),
                error: iopub.stream(Stream::Error),
                input: Box::new(input.clone()),
                screen: Box::new(iopub.clone()),
            };
            Session::with(options.clone(), streams)
        }
    };
    let outputs = [Stream::Output, Stream::Error].map(|stream| Output::to(iopub.stream(stream)));
    let prompt = Prompt::new(options, RenderStyle { is_colored: false, ..render_style }, outputs, Box::new(make));
    let history = History::default();
    let render_style = RenderStyle { is_colored: true, ..render_style };
    let (codec, mailbox, feed) = (Arc::clone(codec), mailbox.clone(), iopub.clone());
    (Kernel { prompt, render_style, codec, mailbox, iopub, stdin, interrupt, history, count: 0 }, feed)
}
