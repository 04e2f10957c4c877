//! Fuzz target: any message to the Jupyter kernel is rejected or answered, without a panic, a hang, or an internal error.
#![no_main]

use dscript::front::InProcessKernel;
use dscript_fuzz::{Worker, limits};
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

/// The requests that a front end sends, and an unknown one.
const KINDS: [&str; 10] = [
    "execute_request",
    "complete_request",
    "inspect_request",
    "is_complete_request",
    "history_request",
    "kernel_info_request",
    "comm_info_request",
    "comm_open",
    "shutdown_request",
    "another_request",
];

/// The separator of the frames of a message, and of messages.
const FRAME: u8 = 0xfe;
const MESSAGE: u8 = 0xff;

static WORKER: LazyLock<Worker> = LazyLock::new(|| Worker::start(|| run));

fuzz_target!(|bytes: &[u8]| WORKER.run(bytes));

/// Runs messages. The first byte of a message selects the form of the rest: all frames, or the content of a request.
fn run(bytes: &[u8]) {
    let mut kernel = InProcessKernel::new("", limits());
    for message in bytes.split(|byte| *byte == MESSAGE) {
        let Some((first, rest)) = message.split_first() else { continue };
        let kind = KINDS.get(usize::from(*first) % (KINDS.len() + 1));
        let frames = match kind {
            Some(kind) => {
                let header = format!("{{\"msg_type\":\"{kind}\"}}").into_bytes();
                let content = content(kind, rest);
                vec![b"id".to_vec(), b"<IDS|MSG>".to_vec(), vec![], header, b"{}".to_vec(), b"{}".to_vec(), content]
            }
            None => rest.split(|byte| *byte == FRAME).map(<[u8]>::to_vec).collect(),
        };
        match (kernel.take(frames), kind) {
            (Ok(answers), Some(kind)) => {
                let expected = usize::from(*kind != "comm_open");
                assert_eq!(answers.len(), expected, "{kind}");
                for answer in answers {
                    let content = answer.last().and_then(|content| serde_json::from_slice(content).ok());
                    let content: serde_json::Value = content.expect("the content of an answer is JSON");
                    assert!(content.is_object(), "{content}");
                    assert_ne!(content["ename"], "E0999", "{content}");
                }
            }
            (Ok(_) | Err(_), _) => {}
        }
    }
}

/// Returns the bytes as JSON, or as the code of a cell with a cursor.
fn content(kind: &str, bytes: &[u8]) -> Vec<u8> {
    match std::str::from_utf8(bytes) {
        Ok(code) if !code.starts_with('{') => {
            let cursor = code.len() / 2;
            let asked = if kind == "execute_request" { code } else { "" };
            serde_json::json!({ "code": code, "cursor_pos": cursor, "user_expressions": { "a": asked } })
                .to_string()
                .into_bytes()
        }
        _ => bytes.to_vec(),
    }
}
