//! How far a loop over `progress(…)` has come: a bar on standard error when that is a terminal, or lines of `--json`.

use super::output::Output;
use crate::session::Step;
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;
use std::cell::RefCell;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// A loop that was left says nothing any more; after this time another one may have the bar.
const SILENCE: Duration = Duration::from_secs(3);
/// How often the bar moves.
const BAR: Duration = Duration::from_millis(80);
/// How often a line is written.
const LINE: Duration = Duration::from_secs(1);

thread_local! {
    static SHOWN: RefCell<Shown> = const { RefCell::new(Shown { json: None, now: None }) };
}

struct Shown {
    json: Option<Output>,
    now: Option<Loop>,
}

/// The loop that is shown: the outermost one.
struct Loop {
    label: String,
    bar: Option<ProgressBar>,
    began: Instant,
    heard: Instant,
    told: Instant,
}

/// From now on lines are written to this output.
pub(super) fn write_lines(output: Output) {
    SHOWN.with_borrow_mut(|shown| shown.json = Some(output));
}

/// What a session calls in every round.
pub(super) fn step(step: &Step) {
    SHOWN.with_borrow_mut(|shown| shown.step(step));
}

/// Takes the bar off the screen.
pub(super) fn end() {
    SHOWN.with_borrow_mut(|shown| shown.end());
}

/// Does something to the screen while no bar is there.
pub(super) fn beside<T>(work: impl FnOnce() -> T) -> T {
    let bar = SHOWN.with_borrow(|shown| shown.now.as_ref().and_then(|now| now.bar.clone()));
    match bar {
        Some(bar) => bar.suspend(work),
        None => work(),
    }
}

impl Shown {
    fn step(&mut self, step: &Step) {
        let now = Instant::now();
        let is_other = |shown: &Loop| shown.label != step.label;
        if self.now.as_ref().is_some_and(|shown| is_other(shown) && now - shown.heard < SILENCE) {
            return;
        }
        if self.now.as_ref().is_some_and(|shown| is_other(shown) || step.done == Some(0)) {
            self.end();
        }
        let Some(done) = step.done else { return self.end() };
        let is_json = self.json.is_some();
        let shown = self.now.get_or_insert_with(|| Loop::new(step, now, is_json));
        shown.heard = now;
        if now - shown.told < if is_json { LINE } else { BAR } {
            return;
        }
        shown.told = now;
        if let Some(bar) = &shown.bar {
            bar.set_position(done);
        }
        if let Some(output) = &self.json {
            let seconds = (now - shown.began).as_secs_f64();
            let line = Line { kind: "progress", label: step.label, done, total: step.total, seconds };
            let mut line =
                serde_json::to_string(&line).unwrap_or_else(|_| unreachable!("texts and numbers have a JSON form"));
            line.push('\n');
            output.write_or_end(&line);
            output.flush_or_end();
        }
    }

    fn end(&mut self) {
        if let Some(Loop { bar: Some(bar), .. }) = self.now.take() {
            bar.finish_and_clear();
        }
    }
}

impl Loop {
    fn new(step: &Step, now: Instant, is_json: bool) -> Loop {
        let bar = (!is_json && std::io::stderr().is_terminal()).then(|| bar(step));
        Loop { label: step.label.to_owned(), bar, began: now, heard: now, told: now }
    }
}

fn bar(step: &Step) -> ProgressBar {
    let (bar, template) = match step.total {
        Some(total) => (ProgressBar::new(total), "{msg} {wide_bar} {pos}/{len}  about {eta} left"),
        None => (ProgressBar::new_spinner(), "{msg} {spinner} {pos}  {elapsed}"),
    };
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar.with_message(step.label.to_owned())
}

#[derive(Serialize)]
struct Line<'a> {
    kind: &'a str,
    label: &'a str,
    done: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    total: Option<u64>,
    seconds: f64,
}
