//! Progress bar: displays a loop over `progress(…)` on a terminal, or as lines of `--json`.

use super::output::{Output, set_write_hook};
use crate::front::loop_progress::{LoopTracker, ProgressEvent, words};
use crate::session::ProgressReport;
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;
use std::cell::RefCell;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// The interval between two updates of the progress bar.
const BAR_INTERVAL: Duration = Duration::from_millis(80);
/// The interval between two lines of progress.
const LINE_INTERVAL: Duration = Duration::from_secs(1);

thread_local! {
    static DISPLAY: RefCell<ProgressDisplay> = const { RefCell::new(ProgressDisplay::with_interval(BAR_INTERVAL)) };
}

struct ProgressDisplay {
    json: Option<Output>,
    tracker: LoopTracker,
    bar: Option<ProgressBar>,
}

/// Writes progress as lines to `output` from now on.
pub(super) fn write_lines(output: Output) {
    DISPLAY.with_borrow_mut(|shown| {
        shown.json = Some(output);
        shown.tracker = LoopTracker::with_interval(LINE_INTERVAL);
    });
}

/// Receives the progress of every iteration of a loop.
pub(super) fn step(step: &ProgressReport) {
    DISPLAY.with_borrow_mut(|shown| shown.step(step));
}

/// Removes the progress bar from the screen.
pub(super) fn end() {
    DISPLAY.with_borrow_mut(|shown| shown.end());
}

/// Writes to the screen while the progress bar is hidden.
fn without_bar(work: &mut dyn FnMut()) {
    let bar = DISPLAY.with_borrow(|shown| shown.bar.clone());
    match bar {
        Some(bar) => bar.suspend(work),
        None => work(),
    }
}

impl ProgressDisplay {
    const fn with_interval(interval: Duration) -> ProgressDisplay {
        ProgressDisplay { json: None, tracker: LoopTracker::with_interval(interval), bar: None }
    }

    fn step(&mut self, step: &ProgressReport) {
        match self.tracker.update(step, Instant::now()) {
            None => {}
            Some(ProgressEvent::Begin) => {
                self.clear();
                set_write_hook(without_bar);
                self.bar = (self.json.is_none() && std::io::stderr().is_terminal()).then(|| bar(step));
            }
            Some(ProgressEvent::Update(seconds, rate)) => self.show(step, seconds, rate),
            Some(ProgressEvent::End) => self.clear(),
        }
    }

    fn show(&self, step: &ProgressReport, seconds: f64, rate: Option<f64>) {
        let done = step.done.unwrap_or_default();
        if let Some(bar) = &self.bar {
            bar.set_prefix(step.label.to_owned());
            bar.set_message(words(step, rate));
            bar.set_position(done);
        }
        if let Some(output) = &self.json {
            let line = Line { kind: "progress", label: step.label, done, total: step.total, seconds };
            let mut line =
                serde_json::to_string(&line).unwrap_or_else(|_| unreachable!("strings and numbers have a JSON form"));
            line.push('\n');
            output.write_or_end(&line);
            output.flush_or_end();
        }
    }

    fn end(&mut self) {
        self.tracker.forget();
        self.clear();
    }

    fn clear(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

fn bar(step: &ProgressReport) -> ProgressBar {
    let (bar, template) = match step.total {
        Some(total) => (ProgressBar::new(total), "{prefix} {wide_bar} {msg}"),
        None => (ProgressBar::new_spinner(), "{prefix} {spinner} {msg}"),
    };
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar.with_prefix(step.label.to_owned()).with_message(words(step, None))
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
