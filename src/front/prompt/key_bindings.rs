//! Key bindings: keys that begin a line of an input, and change its indentation.

use super::{indentation, needs_more};
use rustyline::history::History;
use rustyline::{
    Cmd, ConditionalEventHandler, Editor, Event, EventContext, EventHandler, Helper, KeyCode, KeyEvent, Modifiers,
    Movement, RepeatCount,
};

/// Binds the keys that begin a line, and the key that removes its indentation.
pub(super) fn bind<H: Helper, I: History>(editor: &mut Editor<H, I>) {
    let handler = |handler: Box<dyn ConditionalEventHandler>| EventHandler::Conditional(handler);
    editor.bind_sequence(KeyEvent(KeyCode::Enter, Modifiers::NONE), handler(Box::new(Enter)));
    editor.bind_sequence(KeyEvent(KeyCode::Enter, Modifiers::ALT), handler(Box::new(AltEnter)));
    editor.bind_sequence(KeyEvent(KeyCode::Backspace, Modifiers::NONE), handler(Box::new(Backspace)));
}

/// Begins a line in an incomplete input; a complete one is run.
struct Enter;

impl ConditionalEventHandler for Enter {
    fn handle(&self, _: &Event, _: RepeatCount, _: bool, context: &EventContext<'_>) -> Option<Cmd> {
        needs_more(context.line()).then(|| line_break(context))
    }
}

/// Begins a line in any input.
struct AltEnter;

impl ConditionalEventHandler for AltEnter {
    fn handle(&self, _: &Event, _: RepeatCount, _: bool, context: &EventContext<'_>) -> Option<Cmd> {
        Some(line_break(context))
    }
}

fn line_break(context: &EventContext<'_>) -> Cmd {
    Cmd::Insert(1, indentation::line_break(before(context)))
}

/// Removes the indentation of a block at once.
struct Backspace;

impl ConditionalEventHandler for Backspace {
    fn handle(&self, _: &Event, _: RepeatCount, _: bool, context: &EventContext<'_>) -> Option<Cmd> {
        let is_indentation = indentation::is_indentation(before(context));
        is_indentation.then_some(Cmd::Dedent(Movement::WholeLine))
    }
}

fn before<'c>(context: &'c EventContext<'_>) -> &'c str {
    context.line().get(..context.pos()).unwrap_or_default()
}
