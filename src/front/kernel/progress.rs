//! How far a loop over `progress(…)` has come: one picture that changes.

use super::feed::Feed;
use crate::session::{Display, Screen, Step};
use std::cell::RefCell;
use std::time::{Duration, Instant};

/// How often the picture changes.
const OFTEN: Duration = Duration::from_millis(100);

thread_local! {
    static BARS: RefCell<Option<Bars>> = const { RefCell::new(None) };
}

/// The loops of a session.
struct Bars {
    feed: Feed,
    /// The outermost loop, and when it was told.
    now: Option<(String, Instant)>,
    /// How many pictures there were; each has a name of its own.
    count: u64,
}

/// From now on, loops of this thread are told to everybody.
pub(super) fn begin(feed: Feed) {
    BARS.set(Some(Bars { feed, now: None, count: 0 }));
}

/// A loop that was left by an error says nothing any more: the next cell begins anew.
pub(super) fn forget() {
    BARS.with_borrow_mut(|bars| bars.iter_mut().for_each(|bars| bars.now = None));
}

/// What a session calls in every round.
pub(super) fn step(step: &Step) {
    BARS.with_borrow_mut(|bars| bars.iter_mut().for_each(|bars| bars.step(step)));
}

impl Bars {
    fn step(&mut self, step: &Step) {
        let is_new = match &self.now {
            Some((label, _)) if label != step.label => return,
            Some((_, told)) if step.done.is_some() && told.elapsed() < OFTEN => return,
            Some(_) => false,
            None => true,
        };
        self.count += u64::from(is_new);
        self.now = step.done.map(|_| (step.label.to_owned(), Instant::now()));
        let forms = vec![("text/plain".to_owned(), text(step)), ("text/html".to_owned(), html(step))];
        let id = Some(format!("progress-{}", self.count));
        self.feed.show(&Display { forms, id, is_update: !is_new });
    }
}

fn text(step: &Step) -> String {
    match (step.done, step.total) {
        (Some(done), Some(total)) => format!("{} {done} / {total}", step.label),
        (Some(done), None) => format!("{} {done}", step.label),
        (None, _) => format!("{} done", step.label),
    }
}

fn html(step: &Step) -> String {
    let text = text(step).replace('&', "&amp;").replace('<', "&lt;");
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
        let step = Step { label: "a<b", done: Some(3), total: Some(7) };
        assert_eq!(text(&step), "a<b 3 / 7");
        assert_eq!(html(&step), "<progress value=\"3\" max=\"7\"></progress> a&lt;b 3 / 7");
        assert_eq!(text(&Step { done: None, ..step }), "a<b done");
    }
}
