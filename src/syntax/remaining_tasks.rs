//! Remaining tasks: the statement of a program that runs the tasks that have not ended at its end.

use super::ast::File;
use crate::source::Span;

/// The words of which one occurs in every text that creates a task.
const WORDS: &[&str] = &["Task", "Dispatch", "RunLoop"];

/// Whether a text may create tasks: a quick check, because most programs create none.
pub fn may_create_tasks(text: &str) -> bool {
    WORDS.iter().any(|word| text.contains(word))
}

/// Adds the statement that runs the remaining tasks at the end to a file.
pub fn run_remaining_tasks(file: &mut File) {
    let place = file.items.first().map_or(Span::default(), |first| first.span);
    file.items.splice(0..0, super::parse_at("defer { _finishTasks() }", place).items);
}
