//! Exits: ways out of blocks with `break`, `continue`, `return`, `throw`, and what `defer` put on the way.

use crate::ir::graph::{BlockId, Op, Reg, Terminator, Trap};
use crate::ir::lower::build::{Builder, Slot, Value};
use crate::types::model::tree::{LabelId, LocalId, Stmt};
use crate::types::model::ty::Type;
use crate::value::Bank;
use std::rc::Rc;

/// What surrounds a statement.
#[derive(Clone)]
pub(crate) enum Scope {
    /// A block in braces, with what is to be done when it is left, the last first.
    Block { exits: Vec<AtExit> },
    /// Something that `break` and `continue` name.
    Labelled { label: LabelId, after: BlockId, next: Option<BlockId> },
    /// Errors go to `handler`, in the register.
    Catch { handler: BlockId, error: Reg },
}

/// What is to be done when a block is left.
#[derive(Clone)]
pub(crate) enum AtExit {
    /// What was deferred.
    Do(Rc<[Stmt]>),
    /// The end of what a variable holds.
    LetGo(Vec<Reg>),
}

impl Builder<'_> {
    /// Lowers statements as a block of their own.
    pub fn block_of(&mut self, statements: &[Stmt]) {
        self.block_with(&[], statements);
    }

    /// The same for a block that variables belong to which patterns in front of it have bound.
    pub fn block_with(&mut self, bound: &[LocalId], statements: &[Stmt]) {
        self.scopes.push(Scope::Block { exits: vec![] });
        self.hold_to_exit(bound);
        let depth = self.scopes.len();
        for statement in statements {
            self.statement(statement);
        }
        if !self.has_ended() {
            self.run_exits(depth - 1);
        }
        self.scopes.truncate(depth - 1);
    }

    /// Remembers a `defer`.
    pub fn defer(&mut self, statements: &[Stmt]) {
        self.at_exit(AtExit::Do(Rc::from(statements)));
    }

    fn at_exit(&mut self, exit: AtExit) {
        if let Some(exits) = self.innermost_exits() {
            exits.push(exit);
        }
    }

    fn innermost_exits(&mut self) -> Option<&mut Vec<AtExit>> {
        self.scopes.iter_mut().rev().find_map(|scope| match scope {
            Scope::Block { exits } => Some(exits),
            Scope::Labelled { .. } | Scope::Catch { .. } => None,
        })
    }

    /// What these variables hold, they hold until the innermost block is left, where the program sees the difference.
    pub fn hold_to_exit(&mut self, locals: &[LocalId]) {
        if !self.d.sees_ends() {
            return;
        }
        for local in locals {
            let regs = match &self.locals[local.0 as usize] {
                Slot::Registers(regs) => regs.clone(),
                Slot::Box(object) => vec![*object],
                Slot::Place(_) | Slot::Absent => vec![],
            };
            self.hold_registers_to_exit(&regs);
        }
    }

    /// The same for registers that belong to a variable.
    pub fn hold_registers_to_exit(&mut self, regs: &[Reg]) {
        let held = self.references(regs);
        if !held.is_empty() && self.d.sees_ends() {
            self.at_exit(AtExit::LetGo(held));
        }
    }

    /// A variable is about to get another value: what it holds, it held until here.
    pub fn hold(&mut self, regs: &[Reg]) {
        let held = self.references(regs);
        if !held.is_empty() && self.d.sees_ends() {
            self.emit(Op::Hold, &[], &held);
        }
    }

    fn references(&self, regs: &[Reg]) -> Vec<Reg> {
        regs.iter().copied().filter(|reg| self.bank(*reg) == Bank::R).collect()
    }

    /// Does what is to be done when the scopes beyond `depth` are left, innermost and latest first. The scopes stay: other
    /// ways out may follow.
    fn run_exits(&mut self, depth: usize) {
        if !self.has_exits(depth) {
            return;
        }
        let all = self.scopes.clone();
        while self.scopes.len() > depth {
            if let Some(Scope::Block { exits }) = self.scopes.pop() {
                for exit in exits.iter().rev() {
                    match exit {
                        AtExit::Do(statements) => self.block_of(statements),
                        AtExit::LetGo(held) => self.emit(Op::Hold, &[], held),
                    }
                }
            }
        }
        self.scopes = all;
    }

    fn has_exits(&self, depth: usize) -> bool {
        self.scopes[depth..].iter().any(|s| matches!(s, Scope::Block { exits } if !exits.is_empty()))
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
                self.run_exits(depth + 1);
                self.jump(block);
            }
            None => self.refuse("a jump leaves a statement that does not enclose it"),
        }
    }

    /// `return value`
    pub fn give_back(&mut self, value: Value) {
        let value = if self.has_exits(0) { self.keep(value) } else { value };
        self.run_exits(0);
        self.born(&value);
        self.finish(None, value);
    }

    /// An initializer has filled an instance: from now on that does what its class does when it is destroyed. It is after
    /// a tag where the initializer may fail, and then there may be none.
    fn born(&mut self, value: &[Reg]) {
        if self.fills_instance && self.d.sees_ends() {
            let instance = self.references(value);
            self.emit(Op::Native { name: "instance.born", shapes: vec![] }, &[], &instance);
        }
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
                Slot::Place(_) | Slot::Absent => {}
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
            self.run_exits(depth + 1);
            self.assign(&[caught], &[error]);
            self.jump(handler);
        } else if self.throws {
            self.run_exits(0);
            let result = self.result.clone();
            let nothing = self.nothing(&result);
            self.finish(Some(error), nothing);
        } else {
            self.run_exits(0);
            self.uncaught(error);
        }
    }

    /// Stops the program at an error that is not caught.
    pub fn uncaught(&mut self, error: Reg) {
        let text = self.text_of(error);
        self.trap(Trap::Uncaught(text));
    }

    /// Stops the program at an error of what `try!` promises never throws.
    pub fn unexpected(&mut self, error: Reg) {
        let text = self.text_of(error);
        self.trap(Trap::Failed { what: "try", message: Some(text) });
    }

    fn text_of(&mut self, error: Reg) -> Reg {
        let any = self.shape(&Type::any_value());
        self.value(Op::Native { name: "describe", shapes: vec![any] }, Bank::R, &[error])
    }

    /// After a call that may throw: goes on only when it did not.
    pub fn propagate(&mut self, flag: Reg, error: Reg) {
        let (threw, fine) = (self.block(), self.block());
        self.branch(flag, threw, fine);
        self.go_on_in(threw);
        self.throw(error);
        self.go_on_in(fine);
    }
}
