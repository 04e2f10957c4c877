//! Ways out of blocks: `break`, `continue`, `return`, `throw`, and what `defer` put on the way.

use super::build::{Builder, Slot, Value};
use crate::ir::graph::{BlockId, Op, Reg, Terminator, Trap};
use crate::types::tree::{LabelId, Stmt};
use crate::types::ty::Type;
use crate::value::Bank;
use std::rc::Rc;

/// What surrounds a statement.
#[derive(Clone)]
pub(super) enum Scope {
    /// A block in braces, with what is to be done when it is left.
    Block { defers: Vec<Rc<[Stmt]>> },
    /// Something that `break` and `continue` name.
    Labelled { label: LabelId, after: BlockId, next: Option<BlockId> },
    /// Errors go to `handler`, in the register.
    Catch { handler: BlockId, error: Reg },
}

impl Builder<'_> {
    /// Lowers statements as a block of their own.
    pub fn block_of(&mut self, statements: &[Stmt]) {
        self.scopes.push(Scope::Block { defers: vec![] });
        let depth = self.scopes.len();
        for statement in statements {
            self.statement(statement);
        }
        if !self.has_ended() {
            self.run_defers(depth - 1);
        }
        self.scopes.truncate(depth - 1);
    }

    /// Remembers a `defer`.
    pub fn defer(&mut self, statements: &[Stmt]) {
        let statements: Rc<[Stmt]> = Rc::from(statements);
        let block = self.scopes.iter_mut().rev().find_map(|scope| match scope {
            Scope::Block { defers } => Some(defers),
            Scope::Labelled { .. } | Scope::Catch { .. } => None,
        });
        if let Some(defers) = block {
            defers.push(statements);
        }
    }

    /// Does what was deferred in the scopes beyond `depth`, innermost and latest first. The scopes stay: other ways out
    /// may follow.
    fn run_defers(&mut self, depth: usize) {
        if !self.has_defers(depth) {
            return;
        }
        let all = self.scopes.clone();
        while self.scopes.len() > depth {
            if let Some(Scope::Block { defers }) = self.scopes.pop() {
                for statements in defers.iter().rev() {
                    self.block_of(statements);
                }
            }
        }
        self.scopes = all;
    }

    fn has_defers(&self, depth: usize) -> bool {
        self.scopes[depth..].iter().any(|s| matches!(s, Scope::Block { defers } if !defers.is_empty()))
    }

    /// `break` or `continue`.
    pub fn leave(&mut self, label: LabelId, continues: bool) {
        let target = self.scopes.iter().enumerate().rev().find_map(|(depth, scope)| match scope {
            Scope::Labelled { label: l, after, next } if *l == label => {
                Some((depth, if continues { next.unwrap_or(*after) } else { *after }))
            }
            _ => None,
        });
        match target {
            Some((depth, block)) => {
                self.run_defers(depth + 1);
                self.jump(block);
            }
            None => self.refuse("a jump out of nowhere"),
        }
    }

    /// `return value`
    pub fn give_back(&mut self, value: Value) {
        let value = if self.has_defers(0) { self.keep(value) } else { value };
        self.run_defers(0);
        self.finish(None, value);
    }

    /// Ends the function: with an error or a value, and the parameters that go back to the caller.
    fn finish(&mut self, error: Option<Reg>, value: Value) {
        let mut results = vec![];
        if self.throws {
            results.push(self.int(i64::from(error.is_some())));
            results.push(match error {
                Some(error) => error,
                None => self.zero(Bank::R),
            });
        }
        results.extend(value);
        for local in self.inouts.clone() {
            match self.locals[local.0 as usize].clone() {
                Slot::Registers(regs) => results.extend(regs),
                // What a closure changed goes back, too.
                Slot::Box(object) => {
                    let ty = self.body.locals[local.0 as usize].ty.clone();
                    results.extend(self.load_box(object, &ty));
                }
                Slot::Absent => {}
            }
        }
        self.end(Terminator::Return(results));
    }

    /// `throw error`: to the innermost `catch`, or out of the function.
    pub fn throw(&mut self, error: Reg) {
        let target = self.scopes.iter().enumerate().rev().find_map(|(depth, scope)| match scope {
            Scope::Catch { handler, error } => Some((depth, *handler, *error)),
            Scope::Block { .. } | Scope::Labelled { .. } => None,
        });
        if let Some((depth, handler, caught)) = target {
            self.run_defers(depth + 1);
            self.assign(&[caught], &[error]);
            self.jump(handler);
        } else if self.throws {
            self.run_defers(0);
            let result = self.result.clone();
            let nothing = self.nothing(&result);
            self.finish(Some(error), nothing);
        } else {
            self.run_defers(0);
            self.uncaught(error);
        }
    }

    /// Stops the program at an error that nobody takes.
    pub fn uncaught(&mut self, error: Reg) {
        let any = self.shape(&Type::Existential(Rc::from([])));
        let text = self.value(Op::Native { name: "describe", shapes: vec![any] }, Bank::R, &[error]);
        self.trap(Trap::Uncaught(text));
    }

    /// Behind a call that may throw: goes on only when it did not.
    pub fn propagate(&mut self, flag: Reg, error: Reg) {
        let (threw, fine) = (self.block(), self.block());
        self.branch(flag, threw, fine);
        self.go_on_in(threw);
        self.throw(error);
        self.go_on_in(fine);
    }
}
