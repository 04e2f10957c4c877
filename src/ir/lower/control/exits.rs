//! Exits: jumps out of scopes by `break`, `continue`, `return` and `throw`, and the `defer` statements that run on the
//! way.

use crate::ir::graph::{BlockId, Op, Reg, Terminator, Trap};
use crate::ir::lower::builder::{Builder, Slot, Value};
use crate::types::model::ty::Type;
use crate::types::model::typed_tree::{LabelId, LocalId, Stmt};
use crate::value::Bank;
use std::rc::Rc;

/// An enclosing scope of a statement.
#[derive(Clone)]
pub(crate) enum Scope {
    /// A block in braces, with the actions to perform when the block is left, the last action first.
    Block { exits: Vec<ExitAction> },
    /// A labeled statement, the target of `break` and `continue`.
    Labeled { label: LabelId, after: BlockId, next: Option<BlockId> },
    /// A `do` statement: errors are passed to `handler`, in the register `error`.
    Catch { handler: BlockId, error: Reg },
}

/// An action to perform when control leaves a block.
#[derive(Clone)]
pub(crate) enum ExitAction {
    /// The statements of a `defer` are executed.
    Defer(Rc<[Stmt]>),
    /// The lifetime of the references in a variable's registers ends.
    Release(Vec<Reg>),
}

impl Builder<'_> {
    /// Lowers statements as a new block scope.
    pub fn block_of(&mut self, statements: &[Stmt]) {
        self.block_with(&[], statements);
    }

    /// Lowers statements as a new block scope, to which variables belong that preceding patterns have bound.
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

    /// Registers a `defer` statement as an exit action of the innermost block.
    pub fn defer(&mut self, statements: &[Stmt]) {
        self.at_exit(ExitAction::Defer(Rc::from(statements)));
    }

    fn at_exit(&mut self, exit: ExitAction) {
        if let Some(exits) = self.innermost_exits() {
            exits.push(exit);
        }
    }

    fn innermost_exits(&mut self) -> Option<&mut Vec<ExitAction>> {
        self.scopes.iter_mut().rev().find_map(|scope| match scope {
            Scope::Block { exits } => Some(exits),
            Scope::Labeled { .. } | Scope::Catch { .. } => None,
        })
    }

    /// Extends the lifetimes of variables to the end of the innermost block, if this is observable in the program.
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

    /// Extends the lifetimes of the registers of a variable to the end of the innermost block.
    pub fn hold_registers_to_exit(&mut self, regs: &[Reg]) {
        let held = self.references(regs);
        if !held.is_empty() && self.d.sees_ends() {
            self.at_exit(ExitAction::Release(held));
        }
    }

    /// Extends the lifetime of a variable's references to this point, before the variable is assigned another value.
    pub fn hold(&mut self, regs: &[Reg]) {
        let held = self.references(regs);
        if !held.is_empty() && self.d.sees_ends() {
            self.emit(Op::Hold, &[], &held);
        }
    }

    fn references(&self, regs: &[Reg]) -> Vec<Reg> {
        regs.iter().copied().filter(|reg| self.bank(*reg) == Bank::R).collect()
    }

    /// Performs the exit actions of the scopes deeper than `depth`, the innermost and latest action first. The scopes
    /// remain on the stack, because other exits may follow.
    fn run_exits(&mut self, depth: usize) {
        if !self.has_exits(depth) {
            return;
        }
        let all = self.scopes.clone();
        while self.scopes.len() > depth {
            if let Some(Scope::Block { exits }) = self.scopes.pop() {
                for exit in exits.iter().rev() {
                    match exit {
                        ExitAction::Defer(statements) => self.block_of(statements),
                        ExitAction::Release(held) => self.emit(Op::Hold, &[], held),
                    }
                }
            }
        }
        self.scopes = all;
    }

    fn has_exits(&self, depth: usize) -> bool {
        self.scopes[depth..].iter().any(|s| matches!(s, Scope::Block { exits } if !exits.is_empty()))
    }

    /// Lowers a `break` or `continue` statement.
    pub fn leave(&mut self, label: LabelId, continues: bool) {
        let target = self.scopes.iter().enumerate().rev().find_map(|(depth, scope)| match scope {
            Scope::Labeled { label: l, after, next } if *l == label => {
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

    /// Lowers a `return` of a value.
    pub fn return_value(&mut self, value: Value) {
        let value = if self.has_exits(0) { self.keep(value) } else { value };
        self.run_exits(0);
        self.born(&value);
        self.finish(None, value);
    }

    /// Marks the instance that an initializer has filled as initialized: the finalizer of its class will run when the
    /// instance is destroyed. In a failable initializer, the instance follows a tag and may be absent.
    fn born(&mut self, value: &[Reg]) {
        if self.fills_instance && self.d.sees_ends() {
            let instance = self.references(value);
            self.emit(Op::Native { name: "instance.born", shapes: vec![] }, &[], &instance);
        }
    }

    /// Returns from the function with an error or a value, and the values of the `inout` parameters.
    pub fn finish(&mut self, error: Option<Reg>, value: Value) {
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
                // The value is in a box if a closure captured the `inout` parameter.
                Slot::Box(object) => {
                    let ty = self.body.locals[local.0 as usize].ty.clone();
                    results.extend(self.load_box(object, &ty));
                }
                Slot::Place(_) | Slot::Absent => {}
            }
        }
        self.end(Terminator::Return(results));
    }

    /// Lowers `throw error`: jumps to the innermost `catch`, or returns from the function.
    pub fn throw(&mut self, error: Reg) {
        let target = self.scopes.iter().enumerate().rev().find_map(|(depth, scope)| match scope {
            Scope::Catch { handler, error } => Some((depth, *handler, *error)),
            Scope::Block { .. } | Scope::Labeled { .. } => None,
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

    /// Stops the program at an error that the operand of `try!` has thrown.
    pub fn unexpected(&mut self, error: Reg) {
        let text = self.text_of(error);
        self.trap(Trap::Failed { what: "try", message: Some(text) });
    }

    fn text_of(&mut self, error: Reg) -> Reg {
        let any = self.shape(&Type::any_value());
        self.value(Op::Native { name: "describe", shapes: vec![any] }, Bank::R, &[error])
    }

    /// Propagates the error of a call that may throw, and continues if no error was thrown.
    pub fn propagate(&mut self, flag: Reg, error: Reg) {
        let (threw, fine) = (self.block(), self.block());
        self.branch(flag, threw, fine);
        self.switch_to_block(threw);
        self.throw(error);
        self.switch_to_block(fine);
    }
}
