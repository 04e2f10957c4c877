//! Loop progress: selects the loop that is reported, the interval of reports, and their wording.

use crate::session::ProgressReport;
use std::time::{Duration, Instant};

/// The time after which a loop without reports counts as ended, so that another loop may be reported.
const LOOP_TIMEOUT: Duration = Duration::from_secs(3);
/// The time after which the rate of a loop is known.
const RATE_DELAY: Duration = Duration::from_millis(500);

/// The outermost of the loops that report their progress.
pub(crate) struct LoopTracker {
    /// The minimum interval between two updates of the display.
    interval: Duration,
    now: Option<Loop>,
}

struct Loop {
    /// The name of the loop, which is the part of the label before a colon; the text after it may change.
    name: String,
    began: Instant,
    /// The number of iterations that were completed when the measurement of the rate began.
    from: u64,
    last_report: Instant,
    last_update: Instant,
}

/// A change of the display.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum ProgressEvent {
    /// A loop begins, and any previous loop ends.
    Begin,
    /// The loop continues: the time in seconds since its beginning, and the iterations per second if they are known.
    Update(f64, Option<f64>),
    /// The loop is complete.
    End,
}

impl LoopTracker {
    pub(crate) const fn with_interval(interval: Duration) -> LoopTracker {
        LoopTracker { interval, now: None }
    }

    /// Discards the loop that is being tracked.
    pub(crate) fn forget(&mut self) {
        self.now = None;
    }

    /// Processes a progress report; returns the change of the display, if any.
    pub(crate) fn update(&mut self, step: &ProgressReport, now: Instant) -> Option<ProgressEvent> {
        let name = name(step.label);
        let is_other = |current: &Loop| current.name != name;
        if self.now.as_ref().is_some_and(|current| is_other(current) && now - current.last_report < LOOP_TIMEOUT) {
            return None;
        }
        let Some(done) = step.done else { return self.now.take().map(|_| ProgressEvent::End) };
        self.now.take_if(|current| is_other(current) || done == 0);
        let Some(current) = &mut self.now else {
            let name = name.to_owned();
            self.now = Some(Loop { name, began: now, from: done, last_report: now, last_update: now });
            return Some(ProgressEvent::Begin);
        };
        current.last_report = now;
        if now - current.last_update < self.interval {
            return None;
        }
        current.last_update = now;
        let time = now - current.began;
        let rate =
            (time >= RATE_DELAY && done > current.from).then(|| (done - current.from) as f64 / time.as_secs_f64());
        Some(ProgressEvent::Update(time.as_secs_f64(), rate))
    }
}

/// Returns the part of a label by which its loop is recognized.
fn name(label: &str) -> &str {
    label.split_once(": ").map_or(label, |(name, _)| name)
}

/// Formats the progress of a loop: `3412 / 10000   34 %   1.2 M steps/s   about 6 s left`.
pub(crate) fn words(step: &ProgressReport, rate: Option<f64>) -> String {
    let Some(done) = step.done else { return "done".to_owned() };
    let mut words = vec![match step.total {
        Some(total) => format!("{done} / {total}"),
        None => done.to_string(),
    }];
    let left = step.total.map(|total| total.saturating_sub(done));
    if let (Some(total), Some(rate)) = (step.total.filter(|total| *total > 0), rate) {
        words.push(format!("{} %", (done as f64 / total as f64 * 100.0).floor().min(100.0)));
        words.push(rate_text(rate));
    } else {
        words.extend(rate.map(rate_text));
    }
    if let (Some(left), Some(rate)) = (left, rate) {
        words.push(format!("about {} left", time(left as f64 / rate)));
    }
    words.join("   ")
}

fn rate_text(rate: f64) -> String {
    match rate {
        r if r >= 1e6 => format!("{:.1} M steps/s", r / 1e6),
        r if r >= 1e3 => format!("{:.1} k steps/s", r / 1e3),
        r if r >= 10.0 => format!("{r:.0} steps/s"),
        r => format!("{r:.1} steps/s"),
    }
}

fn time(seconds: f64) -> String {
    const MINUTE: f64 = 60.0;
    match seconds {
        s if s < 2.0 * MINUTE => format!("{:.0} s", s.ceil()),
        s if s < 120.0 * MINUTE => format!("{:.0} min", (s / MINUTE).ceil()),
        s => format!("{:.0} h", (s / MINUTE / 60.0).ceil()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(label: &str, done: Option<u64>) -> ProgressReport<'_> {
        ProgressReport { label, done, total: Some(10_000) }
    }

    #[test]
    fn the_outermost_loop_is_reported_at_intervals() {
        let start = Instant::now();
        let at = |ms: u64| start + Duration::from_millis(ms);
        let mut tracker = LoopTracker::with_interval(Duration::from_millis(100));
        assert_eq!(tracker.update(&step("outer", Some(0)), at(0)), Some(ProgressEvent::Begin));
        assert_eq!(tracker.update(&step("inner", Some(0)), at(1)), None);
        assert_eq!(tracker.update(&step("outer", Some(1)), at(50)), None);
        assert_eq!(tracker.update(&step("outer", Some(2)), at(100)), Some(ProgressEvent::Update(0.1, None)));
        assert_eq!(tracker.update(&step("outer", Some(10)), at(1000)), Some(ProgressEvent::Update(1.0, Some(10.0))));
        assert_eq!(tracker.update(&step("outer", None), at(1001)), Some(ProgressEvent::End));
        assert_eq!(tracker.update(&step("outer", None), at(1002)), None);
    }

    #[test]
    fn the_text_after_a_colon_may_change() {
        let start = Instant::now();
        let mut tracker = LoopTracker::with_interval(Duration::ZERO);
        assert_eq!(tracker.update(&step("training: loss 2", Some(0)), start), Some(ProgressEvent::Begin));
        let event = tracker.update(&step("training: loss 1", Some(1)), start + LOOP_TIMEOUT / 2);
        assert_eq!(event, Some(ProgressEvent::Update(1.5, Some(1.0 / 1.5))));
    }

    #[test]
    fn a_loop_that_was_left_makes_room() {
        let start = Instant::now();
        let mut tracker = LoopTracker::with_interval(Duration::ZERO);
        assert_eq!(tracker.update(&step("left", Some(0)), start), Some(ProgressEvent::Begin));
        assert_eq!(tracker.update(&step("next", Some(0)), start), None);
        assert_eq!(tracker.update(&step("next", Some(1)), start + LOOP_TIMEOUT), Some(ProgressEvent::Begin));
        // The loop starts again.
        assert_eq!(tracker.update(&step("next", Some(0)), start + LOOP_TIMEOUT), Some(ProgressEvent::Begin));
    }

    #[test]
    fn rounds_have_words() {
        assert_eq!(words(&step("", Some(3412)), Some(1100.0)), "3412 / 10000   34 %   1.1 k steps/s   about 6 s left");
        assert_eq!(words(&step("", Some(3)), None), "3 / 10000");
        assert_eq!(words(&ProgressReport { total: None, ..step("", Some(3)) }, Some(2.5e6)), "3   2.5 M steps/s");
        assert_eq!(words(&step("", None), None), "done");
        assert_eq!([1.0, 150.0, 1e5].map(time), ["1 s", "3 min", "28 h"]);
    }
}
