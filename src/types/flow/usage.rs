//! Usage: collects the reads and writes of the variables of a body, regardless of order.

use crate::source::Span;
use crate::types::model::typed_tree::{Body, GlobalId, LocalId, Pattern, PatternKind, Stmt};
use hashbrown::HashSet;

/// The form of a variable's declaration.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Declared {
    /// The declaration has an initial value: `let x = value`.
    WithValue { statement: Span, value: Span },
    /// The declaration has no initial value: `let x: Int`.
    WithoutValue,
    /// The variable is the element of a loop: `for x in …`.
    Element,
    /// The variable is bound to an unwrapped optional: `if let x = …`.
    Unwrapped,
    /// The variable is a part of another pattern.
    Matched,
}

/// The uses of one variable of a body.
#[derive(Clone, Default)]
pub(super) struct Uses {
    pub(super) declared: Option<Declared>,
    pub(super) read: bool,
    pub(super) written: bool,
}

/// The uses of each variable of a body.
#[derive(Default)]
pub(super) struct Usage {
    pub(super) of: Vec<Uses>,
    /// The global variables that the body reads.
    pub(super) globals: HashSet<GlobalId>,
    /// The `defer` blocks that were visited already.
    pub(super) deferred: HashSet<*const Stmt>,
}

impl Usage {
    pub(super) fn of(body: &Body) -> Usage {
        Usage { of: vec![Uses::default(); body.locals.len()], ..Usage::default() }
    }

    pub(super) fn read(&mut self, local: LocalId) {
        self.of[local.0 as usize].read = true;
    }

    pub(super) fn write(&mut self, local: LocalId) {
        self.of[local.0 as usize].written = true;
    }

    /// Adds the uses of a captured variable inside a closure.
    pub(super) fn include(&mut self, outer: LocalId, closure: &Usage, inner: LocalId) {
        let (own, other) = (&mut self.of[outer.0 as usize], &closure.of[inner.0 as usize]);
        own.read |= other.read;
        own.written |= other.written;
    }

    /// Records the declarations of the variables that a pattern binds.
    pub(super) fn declare(&mut self, pattern: &Pattern, how: Declared) {
        match &pattern.kind {
            PatternKind::Bind(local) => self.of[local.0 as usize].declared = Some(how),
            PatternKind::Some(inner) if how == Declared::Unwrapped => self.declare(inner, how),
            PatternKind::Some(inner) | PatternKind::Is { pattern: inner, .. } => self.declare(inner, Declared::Matched),
            PatternKind::Tuple(parts) | PatternKind::Case { payload: parts, .. } => {
                parts.iter().for_each(|p| self.declare(p, Declared::Matched));
            }
            PatternKind::Wildcard | PatternKind::Nil | PatternKind::Test { .. } => {}
        }
    }
}
