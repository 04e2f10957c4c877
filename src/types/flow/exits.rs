//! Exits of blocks: `break`, `continue`, `return`, `throw`, and the `defer` blocks that run on these paths.

use super::Flow;
use super::flow_state::State;
use crate::types::model::typed_tree::{LabelId, Stmt};

/// A scope that encloses a statement.
pub(super) enum Scope<'b> {
    /// A block, with the `defer` blocks that run when it is left.
    Block { defers: Vec<&'b [Stmt]> },
    /// A target of `break` and `continue`, with the joined states of the paths that left by `break` and by `continue`.
    Labeled { label: LabelId, after: State, next: State },
    /// A handler of errors, with the joined state of the paths on which an error is thrown.
    Catch { caught: State, takes_all: bool },
}

impl<'b> Flow<'b, '_> {
    /// Visits the `defer` blocks of the scopes from `depth` on, the innermost and latest block first. The scopes are
    /// retained, because other exits may follow.
    pub(super) fn run_defers(&mut self, depth: usize) {
        let has_any = self.scopes[depth..].iter().any(|s| matches!(s, Scope::Block { defers } if !defers.is_empty()));
        if !has_any {
            return;
        }
        let mut aside = vec![];
        while self.scopes.len() > depth {
            let Some(scope) = self.scopes.pop() else { break };
            if let Scope::Block { defers } = &scope {
                for statements in defers.iter().rev().copied().collect::<Vec<&'b [Stmt]>>() {
                    self.deferred(statements);
                }
            }
            aside.push(scope);
        }
        self.scopes.extend(aside.into_iter().rev());
    }

    fn deferred(&mut self, statements: &'b [Stmt]) {
        self.usage.deferred.insert(statements.as_ptr());
        self.block(statements);
    }

    /// Visits the `defer` blocks of a block that no path leaves normally.
    pub(super) fn skip_defers(&mut self) {
        if let Some(Scope::Block { defers }) = self.scopes.last() {
            for statements in defers.clone() {
                if !self.usage.deferred.contains(&statements.as_ptr()) {
                    self.deferred(statements);
                }
            }
        }
    }

    /// Adds a `defer` block to the innermost enclosing block.
    pub(super) fn defer(&mut self, statements: &'b [Stmt]) {
        let block = self.scopes.iter_mut().rev().find_map(|scope| match scope {
            Scope::Block { defers } => Some(defers),
            Scope::Labeled { .. } | Scope::Catch { .. } => None,
        });
        if let Some(defers) = block {
            defers.push(statements);
        }
    }

    /// Visits a target of `break` and `continue`; returns the joined states of the paths that left by `break` and by
    /// `continue`.
    pub(super) fn labeled(&mut self, label: LabelId, run: impl FnOnce(&mut Self)) -> (State, State) {
        self.scopes.push(Scope::Labeled { label, after: State::dead(), next: State::dead() });
        run(self);
        match self.scopes.pop() {
            Some(Scope::Labeled { after, next, .. }) => (after, next),
            _ => unreachable!("scopes are left in the order in which they were entered"),
        }
    }

    /// Visits code whose errors are caught; returns the joined state of the paths on which an error is thrown.
    pub(super) fn catching(&mut self, takes_all: bool, run: impl FnOnce(&mut Self)) -> State {
        self.scopes.push(Scope::Catch { caught: State::dead(), takes_all });
        run(self);
        match self.scopes.pop() {
            Some(Scope::Catch { caught, .. }) => caught,
            _ => unreachable!("scopes are left in the order in which they were entered"),
        }
    }

    /// Follows a path through a `break` or `continue`.
    pub(super) fn leave(&mut self, label: LabelId, continues: bool) {
        let is_target = |scope: &Scope| matches!(scope, Scope::Labeled { label: l, .. } if *l == label);
        let Some(depth) = self.scopes.iter().rposition(is_target) else { return };
        self.run_defers(depth + 1);
        let state = self.state.take();
        if let Scope::Labeled { after, next, .. } = &mut self.scopes[depth] {
            if continues { next } else { after }.join(&state);
        }
    }

    /// Ends the path with a return from the function.
    pub(super) fn give_back(&mut self) {
        self.run_defers(0);
        self.escape();
        self.state = State::dead();
    }

    /// Adds a path on which an error is thrown at this point.
    pub(super) fn may_throw(&mut self) {
        let state = self.state.clone();
        match self.scopes.iter().rposition(|s| matches!(s, Scope::Catch { .. })) {
            Some(depth) => {
                self.run_defers(depth + 1);
                if let Scope::Catch { caught, .. } = &mut self.scopes[depth] {
                    caught.join(&self.state);
                }
            }
            None => {
                self.run_defers(0);
                self.escape();
            }
        }
        self.state = state;
    }

    /// Records the end of a path, which escapes infinite recursion if the path contains no call of the function itself.
    pub(super) fn escape(&mut self) {
        self.escapes |= self.state.reachable && self.state.free;
    }
}
