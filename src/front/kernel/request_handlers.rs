//! Request handlers: executes cells, and handles completion, inspection, and the other requests of the shell channel.

use super::super::help_pages;
use super::super::output::Output;
use super::super::prompt::{Flow, Prompt, matrix};
use super::connection_file::Channel;
use super::constant_replies;
use super::directives;
use super::history::History;
use super::html_table;
use super::mailbox::Mailbox;
use super::message::{Codec, Request};
use super::sockets::KernelEvent;
use super::stdin_channel::Stdin;
use crate::diagnostic::{Diagnostic, Severity};
use crate::front::kernel::iopub_channel::IoPub;
use crate::front::render_style::RenderStyle;
use crate::session::explain::derivation;
use crate::session::{Answer, Completeness, DisplayItem, Session, Status, Topic};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Receiver;

/// The kernel: the session, and the handlers of its requests, which run on the thread that computes.
pub(super) struct Kernel {
    pub(super) prompt: Prompt,
    pub(super) render_style: RenderStyle,
    pub(super) codec: Arc<Codec>,
    pub(super) mailbox: Mailbox,
    pub(super) iopub: IoPub,
    pub(super) stdin: Stdin,
    pub(super) interrupt: Arc<AtomicBool>,
    pub(super) history: History,
    /// The number of executed cells.
    pub(super) count: u64,
}

/// The result of an executed cell.
struct CellResult {
    /// The value of the cell as a string.
    value: Option<String>,
    /// The value as HTML, if the value is a matrix.
    html: Option<String>,
    /// The text to show in the pager of the front end.
    page: Option<String>,
    /// The name, the message and the lines of the error with which the cell failed.
    failure: Option<(String, String, Vec<String>)>,
}

impl CellResult {
    fn ok(value: Option<String>, page: Option<String>) -> CellResult {
        CellResult { value, html: None, page, failure: None }
    }

    fn error(name: &str, message: String, lines: Vec<String>) -> CellResult {
        CellResult { value: None, html: None, page: None, failure: Some((name.to_owned(), message, lines)) }
    }
}

impl Kernel {
    /// Handles requests until the shutdown.
    pub(super) fn run(&mut self, events: &Receiver<KernelEvent>) {
        while let Ok(KernelEvent::Request(request)) = events.recv() {
            if self.handle(&request, events) {
                break;
            }
        }
    }

    /// Handles a request; returns whether the kernel must shut down.
    pub(super) fn handle(&mut self, request: &Request, events: &Receiver<KernelEvent>) -> bool {
        let is_silent = flag(&request.content, "silent", false) && request.kind == "execute_request";
        self.iopub.begin(&request.parent, is_silent);
        self.iopub.status("busy");
        let content = &request.content;
        let answer = match request.kind.as_str() {
            "execute_request" => self.execute(request, is_silent),
            "complete_request" => self.complete(content),
            "inspect_request" => self.inspect(content),
            "is_complete_request" => is_complete(text(content, "code")),
            "history_request" => self.history.answer(content),
            "kernel_info_request" => constant_replies::kernel(),
            "comm_info_request" => json!({ "status": "ok", "comms": {} }),
            "shutdown_request" => constant_replies::shutdown(content),
            "comm_open" | "comm_msg" | "comm_close" => return self.comm(request),
            other => constant_replies::unknown(other),
        };
        let has_failed = answer.get("status").and_then(Value::as_str) == Some("error");
        let stops = request.kind == "execute_request" && has_failed && flag(content, "stop_on_error", true);
        // Only requests that were sent before this reply are aborted.
        let waiting: Vec<KernelEvent> = if stops { events.try_iter().collect() } else { vec![] };
        self.answer(request, &answer);
        self.iopub.status("idle");
        self.abort(waiting, events) || request.kind == "shutdown_request"
    }

    fn answer(&self, request: &Request, content: &Value) {
        let frames = self.codec.answer(&request.parent, &constant_replies::reply(&request.kind), content);
        self.mailbox.post(Channel::Shell, frames);
    }

    /// Handles a comm message. The kernel does not support comms, so a comm that is opened is closed.
    fn comm(&mut self, request: &Request) -> bool {
        if request.kind == "comm_open" {
            let id = text(&request.content, "comm_id");
            self.iopub.publish("comm_close", &json!({ "comm_id": id, "data": {} }));
        }
        self.iopub.status("idle");
        false
    }

    /// Aborts the cells that wait after a cell that failed.
    fn abort(&mut self, waiting: Vec<KernelEvent>, events: &Receiver<KernelEvent>) -> bool {
        for event in waiting {
            let ends = match event {
                KernelEvent::End => true,
                KernelEvent::Request(request) if request.kind == "execute_request" => {
                    self.iopub.begin(&request.parent, false);
                    self.iopub.status("busy");
                    self.answer(&request, &json!({ "status": "aborted" }));
                    self.iopub.status("idle");
                    false
                }
                KernelEvent::Request(request) => self.handle(&request, events),
            };
            if ends {
                return true;
            }
        }
        false
    }

    fn execute(&mut self, request: &Request, is_silent: bool) -> Value {
        let content = &request.content;
        let code = text(content, "code");
        let is_kept = !is_silent && flag(content, "store_history", true) && !code.trim().is_empty();
        self.count += u64::from(is_kept);
        if !is_silent {
            self.iopub.publish("execute_input", &json!({ "code": code, "execution_count": self.count }));
        }
        let may_ask = flag(content, "allow_stdin", true);
        *self.stdin.current_request.borrow_mut() = may_ask.then(|| request.parent.clone());
        // An interrupt between cells does not apply to the next cell.
        self.interrupt.store(false, Ordering::Relaxed);
        super::progress::forget();
        let done = self.evaluate(code);
        self.interrupt.store(false, Ordering::Relaxed);
        if is_kept {
            self.history.add(self.count, code, done.value.clone());
        }
        if let Some((name, message, lines)) = done.failure {
            self.iopub.publish("error", &json!({ "ename": name, "evalue": message, "traceback": lines }));
            let mut answer = constant_replies::failure(&name, &message, &lines);
            answer["execution_count"] = json!(self.count);
            return answer;
        }
        if let Some(value) = done.value {
            let mut data = json!({ "text/plain": value });
            if let Some(html) = done.html {
                data["text/html"] = Value::from(html);
            }
            let result = json!({ "execution_count": self.count, "data": data, "metadata": {} });
            self.iopub.publish("execute_result", &result);
        }
        let page = done.page.map(|page| json!({ "source": "page", "data": { "text/plain": page }, "start": 0 }));
        json!({
            "status": "ok",
            "execution_count": self.count,
            "payload": page.into_iter().collect::<Vec<_>>(),
            "user_expressions": self.expressions(content),
        })
    }

    fn evaluate(&mut self, code: &str) -> CellResult {
        let (code, notes) = directives::without_directives(code);
        if !notes.is_empty() {
            self.iopub.publish("stream", &json!({ "name": "stderr", "text": notes }));
        }
        let code = &*code;
        let trimmed = code.trim();
        if trimmed.is_empty() {
            return CellResult::ok(None, None);
        }
        match trimmed.strip_prefix('?') {
            Some(topic) => self.page(topic.trim()),
            None if trimmed.starts_with(':') => self.command(trimmed),
            None => {
                if let Some(command) = self.prompt.command_of_word(trimmed) {
                    return self.command(command);
                }
                let answer = self.prompt.session.enter(&format!("cell {}", self.count), code);
                self.done(answer)
            }
        }
    }

    /// Converts the result of an input to the result of a cell.
    fn done(&mut self, answer: Answer) -> CellResult {
        let notes: Vec<String> = answer.outdated_notes().collect();
        let Answer { diagnostics, status, shown, .. } = answer;
        let lines = self.lines(&diagnostics);
        let error = diagnostics.iter().find(|diagnostic| diagnostic.severity == Severity::Error);
        match (status, error) {
            (Status::Done | Status::Exited(_), _) => {
                if !lines.is_empty() {
                    self.print_lines(&lines);
                }
                if !notes.is_empty() {
                    self.print_lines(&notes);
                }
                if let Some(note) = derivation::observed_kinks(&self.prompt.session.take_kinks()) {
                    self.print_lines(&[note]);
                }
                if let Status::Exited(status) = status {
                    self.print_lines(&[format!("the cell exited with status {status}; the kernel keeps running")]);
                }
                let html = shown
                    .iter()
                    .filter(|item| item.name.is_none())
                    .find_map(|item| item.value.as_deref().and_then(|text| html_table::matrix(&item.ty, text)));
                CellResult {
                    html,
                    ..CellResult::ok(shown.iter().find_map(|item| value(&self.prompt.displayed(item))), None)
                }
            }
            (_, Some(error)) => CellResult::error(error.code.number(), error.message.clone(), lines),
            (_, None) => CellResult::error("dscript", "the cell was not run".to_owned(), lines),
        }
    }

    /// Writes lines to the standard error.
    fn print_lines(&self, lines: &[String]) {
        let text = lines.join("\n") + "\n";
        self.iopub.publish("stream", &json!({ "name": "stderr", "text": text }));
    }

    fn lines(&self, diagnostics: &[Diagnostic]) -> Vec<String> {
        self.render_style.text(diagnostics, &self.prompt.session).trim_end().lines().map(str::to_owned).collect()
    }

    /// Returns the help page of a name, a diagnostic code or a command.
    fn page(&mut self, topic: &str) -> CellResult {
        let (output, text) = Output::kept();
        let before = std::mem::replace(&mut self.prompt.output, output);
        let done = self.command(&format!(":help {topic}"));
        self.prompt.output = before;
        let page = text.text();
        if done.failure.is_some() { done } else { CellResult::ok(None, Some(page)) }
    }

    /// Runs a command of the prompt.
    fn command(&mut self, line: &str) -> CellResult {
        let (errors, text) = Output::kept();
        let before = std::mem::replace(&mut self.prompt.errors, errors);
        self.prompt.failed = None;
        let flow = self.prompt.enter(line);
        self.prompt.errors = before;
        let message = text.text().trim_end().to_owned();
        let lines: Vec<String> = message.lines().map(str::to_owned).collect();
        match (self.prompt.failed.take(), flow) {
            (_, Flow::Leave(_)) => {
                let message = "':quit' is not available in a notebook; stop the kernel instead".to_owned();
                CellResult::error("command", message.clone(), vec![message])
            }
            (Some(_), Flow::Next) => CellResult::error("command", lines.first().cloned().unwrap_or_default(), lines),
            (None, Flow::Next) => {
                if !lines.is_empty() {
                    self.print_lines(&lines);
                }
                CellResult::ok(None, None)
            }
        }
    }

    /// Evaluates the user expressions of an execution request.
    fn expressions(&mut self, content: &Value) -> Value {
        let current_request = content.get("user_expressions").and_then(Value::as_object);
        let mut values = Map::new();
        for (name, expression) in current_request.into_iter().flatten() {
            let answer = self.prompt.session.enter("‹expression›", expression.as_str().unwrap_or_default());
            let done = self.done(answer);
            let value = match done.failure {
                Some((name, message, lines)) => constant_replies::failure(&name, &message, &lines),
                None => {
                    json!({ "status": "ok", "data": { "text/plain": done.value.unwrap_or_default() }, "metadata": {} })
                }
            };
            values.insert(name.clone(), value);
        }
        Value::Object(values)
    }

    fn complete(&mut self, content: &Value) -> Value {
        let code = text(content, "code");
        let at = byte_at(code, content);
        let completion = self.prompt.complete(code, at);
        let (start, end) = (code[..completion.start.min(at)].chars().count(), code[..at].chars().count());
        json!({
            "status": "ok",
            "matches": completion.words,
            "cursor_start": start,
            "cursor_end": end,
            "metadata": {},
        })
    }

    fn inspect(&mut self, content: &Value) -> Value {
        let code = text(content, "code");
        let at = byte_at(code, content);
        let session = &mut self.prompt.session;
        let mut topics = session.topics(word_at(code, at));
        // Between the parentheses of a call the topic is the callee, and its signature comes first.
        let signature = if topics.is_empty() { session.signature(code, at) } else { None };
        if let Some(callee) = Session::called_around(code, at).filter(|_| topics.is_empty()) {
            topics = session.topics(callee);
        }
        if topics.is_empty() && signature.is_none() {
            return json!({ "status": "ok", "found": false, "data": {}, "metadata": {} });
        }
        let heading = signature.into_iter().map(|text| Topic { declaration: text, text: String::new() });
        let topics: Vec<Topic> = heading.chain(topics).collect();
        let plain = help_pages::of_topics(&topics).join("\n");
        let pages = topics.iter().map(|topic| format!("```swift\n{}\n```\n\n{}", topic.declaration, topic.text));
        let data = json!({ "text/plain": plain, "text/markdown": pages.collect::<Vec<_>>().join("\n\n") });
        json!({ "status": "ok", "found": true, "data": data, "metadata": {} })
    }
}

/// Returns the value of an expression as a string; for a function, its type.
fn value(shown: &DisplayItem) -> Option<String> {
    match shown.name {
        None => {
            let text = |value: &String| matrix::of(&shown.ty, value).unwrap_or_else(|| value.clone());
            Some(shown.value.as_ref().map_or_else(|| shown.ty.clone(), text))
        }
        Some(_) => None,
    }
}

fn text<'v>(content: &'v Value, name: &str) -> &'v str {
    content.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn flag(content: &Value, name: &str, default: bool) -> bool {
    content.get(name).and_then(Value::as_bool).unwrap_or(default)
}

/// Returns the byte offset of the cursor in the code of a request; the end of the code if the request contains no
/// cursor.
fn byte_at(code: &str, content: &Value) -> usize {
    let characters = content.get("cursor_pos").and_then(Value::as_u64);
    let at = characters.and_then(|n| code.char_indices().nth(usize::try_from(n).unwrap_or(usize::MAX)));
    at.map_or(code.len(), |(at, _)| at)
}

/// Returns the name at an offset of a text, such as `Type.member`; directly after an opening parenthesis, the callee.
fn word_at(code: &str, at: usize) -> &str {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    let before = match code[..at].strip_suffix('(') {
        Some(before) => before,
        None => &code[..code[at..].find(|c| !is_part(c)).map_or(code.len(), |n| at + n)],
    };
    let start = before.char_indices().rev().take_while(|(_, c)| is_part(*c)).last().map_or(before.len(), |(n, _)| n);
    before[start..].trim_matches('.')
}

/// Returns the reply to a request that asks whether a cell is complete.
fn is_complete(code: &str) -> Value {
    match Session::completeness(code) {
        Completeness::Complete => json!({ "status": "complete" }),
        Completeness::Invalid => json!({ "status": "invalid" }),
        Completeness::Incomplete => {
            let depth = code.chars().fold(0_usize, |depth, c| match c {
                '{' | '(' | '[' => depth + 1,
                '}' | ')' | ']' => depth.saturating_sub(1),
                _ => depth,
            });
            json!({ "status": "incomplete", "indent": "    ".repeat(depth.min(20)) })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_at_the_cursor() {
        for (code, at, word) in [
            ("sin(x)", 2, "sin"),
            ("sin(x)", 4, "sin"),
            ("a + Array.map", 13, "Array.map"),
            ("", 0, ""),
            ("xs.", 3, "xs"),
        ] {
            assert_eq!(word_at(code, at), word, "{code}");
        }
    }

    #[test]
    fn cursors_count_characters() {
        assert_eq!(byte_at("∇f", &json!({"cursor_pos": 1})), 3);
        assert_eq!(byte_at("∇f", &json!({"cursor_pos": 99})), 4);
        assert_eq!(byte_at("∇f", &json!({})), 4);
    }

    #[test]
    fn incomplete_input_is_distinguished_from_errors() {
        let status = |code: &str| is_complete(code)["status"].as_str().unwrap_or_default().to_owned();
        assert_eq!(["1 + 1", "func f() {", "let = 3)"].map(status), ["complete", "incomplete", "invalid"]);
        assert_eq!(is_complete("func f() {")["indent"], "    ");
    }
}
