//! Notebook progress: displays a loop over `progress(…)` as one output that is updated.

use crate::front::kernel::iopub_channel::IoPub;
use crate::front::loop_progress::{LoopTracker, ProgressEvent, words};
use crate::session::{Display, ProgressReport, Screen};
use std::cell::RefCell;
use std::time::{Duration, Instant};

/// The interval between two updates of a progress bar.
const UPDATE_INTERVAL: Duration = Duration::from_millis(100);

thread_local! {
    static BARS: RefCell<Option<Bars>> = const { RefCell::new(None) };
}

/// The progress bars of a session.
struct Bars {
    iopub: IoPub,
    tracker: LoopTracker,
    /// The number of progress bars so far, from which their identifiers are derived.
    count: u64,
}

/// Starts to display the progress of the loops of this thread.
pub(super) fn begin(iopub: IoPub) {
    BARS.set(Some(Bars { iopub, tracker: LoopTracker::with_interval(UPDATE_INTERVAL), count: 0 }));
}

/// Discards the progress of a loop that an error has ended, before the next cell.
pub(super) fn forget() {
    BARS.with_borrow_mut(|bars| bars.iter_mut().for_each(|bars| bars.tracker.forget()));
}

/// Receives the progress of every iteration of a loop.
pub(super) fn step(step: &ProgressReport) {
    BARS.with_borrow_mut(|bars| bars.iter_mut().for_each(|bars| bars.step(step)));
}

impl Bars {
    fn step(&mut self, step: &ProgressReport) {
        let Some(event) = self.tracker.update(step, Instant::now()) else { return };
        let rate = if let ProgressEvent::Update(_, rate) = event { rate } else { None };
        self.count += u64::from(event == ProgressEvent::Begin);
        let forms = vec![("text/plain".to_owned(), text(step, rate)), ("text/html".to_owned(), html(step, rate))];
        let id = Some(format!("progress-{}", self.count));
        self.iopub.show(&Display { forms, id, is_update: event != ProgressEvent::Begin });
    }
}

fn text(step: &ProgressReport, rate: Option<f64>) -> String {
    format!("{} {}", step.label, words(step, rate))
}

fn html(step: &ProgressReport, rate: Option<f64>) -> String {
    let text = text(step, rate).replace('&', "&amp;").replace('<', "&lt;");
    let bar = match (step.done, step.total) {
        (Some(done), Some(total)) => format!("<progress value=\"{done}\" max=\"{}\"></progress> ", total.max(1)),
        (Some(_), None) => "<progress></progress> ".to_owned(),
        (None, _) => "<progress value=\"1\" max=\"1\"></progress> ".to_owned(),
    };
    format!("{bar}{text}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_has_words() {
        let step = ProgressReport { label: "a<b", done: Some(3), total: Some(7) };
        assert_eq!(text(&step, None), "a<b 3 / 7");
        assert_eq!(html(&step, None), "<progress value=\"3\" max=\"7\"></progress> a&lt;b 3 / 7");
        assert_eq!(text(&ProgressReport { done: None, ..step }, None), "a<b done");
    }
}
