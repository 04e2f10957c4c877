//! Statements: lowering of all statements except loops and `switch`, and the storage of local variables.

use crate::ir::graph::{BlockId, Op, Reg};
use crate::ir::lower::builder::{Builder, Slot, Use, Value};
use crate::ir::lower::control::exits::Scope;
use crate::ir::lower::control::pattern::bound_by;
use crate::ir::lower::place::Location;
use crate::types::model::typed_tree::Ownership;
use crate::types::model::typed_tree::{Case, Condition, Expr, ExprKind, LocalId, Stmt, StmtKind};
use crate::value::Bank;
use crate::value::shape::Shape;

impl Builder<'_> {
    /// Lowers a statement.
    pub fn statement(&mut self, s: &Stmt) {
        self.span = s.span;
        match &s.kind {
            StmtKind::Expr(e) => {
                self.expr(e);
            }
            StmtKind::Let { pattern, value: Some(value) } => {
                let value = self.expr(value);
                self.bind_all(pattern, value);
                self.hold_to_exit(&pattern.bound());
            }
            StmtKind::Let { pattern, value: None } => {
                self.declare_all(pattern);
                self.hold_to_exit(&pattern.bound());
            }
            StmtKind::InitGlobal { global, value } => {
                let value = self.expr(value);
                self.init_global(*global, value);
            }
            StmtKind::Assign { place, value } => self.assign_place(place, value),
            StmtKind::If { conditions, then, otherwise } => self.if_else(conditions, then, otherwise),
            StmtKind::Guard { conditions, otherwise, .. } => {
                self.if_else(conditions, &[], otherwise);
                self.hold_to_exit(&bound_by(conditions));
            }
            StmtKind::While { label, conditions, body } => self.while_loop(*label, conditions, body),
            StmtKind::Repeat { label, body, condition } => self.repeat_loop(*label, body, condition),
            StmtKind::For { label, pattern, sequence, iteration, filter, body } => {
                let parts = crate::ir::lower::control::loops::ForParts { pattern, filter: filter.as_ref(), body };
                self.for_loop(*label, sequence, iteration, &parts);
            }
            StmtKind::Switch { label, local, subject, cases } => self.switch(*label, *local, subject, cases),
            StmtKind::Block { label, body } => {
                let after = self.block();
                self.scopes.push(Scope::Labeled { label: *label, after, next: None });
                self.block_of(body);
                self.scopes.pop();
                self.jump(after);
                self.switch_to_block(after);
            }
            StmtKind::Return(value) => {
                let value = value.as_ref().map_or_else(Vec::new, |e| self.expr(e));
                self.span = s.span;
                self.return_value(value);
            }
            StmtKind::Break(label) => self.leave(*label, false),
            StmtKind::Continue(label) => self.leave(*label, true),
            StmtKind::Throw(error) => {
                let error = self.expr(error);
                self.span = s.span;
                self.throw(error[0]);
            }
            StmtKind::Defer(statements) => self.defer(statements),
            StmtKind::Catch { body, local, cases } => self.catch(body, *local, cases),
            // Local functions are declared at the start of the body by `local_functions`.
            StmtKind::LocalFunction(_) => {}
        }
    }

    /// Declares the local functions of a body: they may call each other in any order.
    pub fn local_functions(&mut self, statements: &[Stmt]) {
        for s in statements {
            match &s.kind {
                StmtKind::LocalFunction(function) => {
                    self.lowering.parents.insert(*function, self.owner);
                }
                StmtKind::If { then, otherwise, .. } => {
                    self.local_functions(then);
                    self.local_functions(otherwise);
                }
                StmtKind::Guard { otherwise: body, .. }
                | StmtKind::While { body, .. }
                | StmtKind::Repeat { body, .. }
                | StmtKind::For { body, .. }
                | StmtKind::Block { body, .. }
                | StmtKind::Defer(body) => self.local_functions(body),
                StmtKind::Switch { cases, .. } => cases.iter().for_each(|c| self.local_functions(&c.body)),
                StmtKind::Catch { body, cases, .. } => {
                    self.local_functions(body);
                    cases.iter().for_each(|c| self.local_functions(&c.body));
                }
                StmtKind::Expr(e) => self.local_functions_of(e),
                StmtKind::Let { value, .. } => value.iter().for_each(|e| self.local_functions_of(e)),
                StmtKind::Return(value) => value.iter().for_each(|e| self.local_functions_of(e)),
                StmtKind::InitGlobal { value, .. } | StmtKind::Assign { value, .. } => self.local_functions_of(value),
                StmtKind::Break(_) | StmtKind::Continue(_) | StmtKind::Throw(_) => {}
            }
        }
    }

    fn local_functions_of(&mut self, e: &Expr) {
        if let ExprKind::Statements { statements, .. } = &e.kind {
            self.local_functions(statements);
        }
    }

    fn if_else(&mut self, conditions: &[Condition], then: &[Stmt], otherwise: &[Stmt]) {
        let (no, after) = (self.block(), self.block());
        self.conditions(conditions, no);
        self.block_with(&bound_by(conditions), then);
        self.jump(after);
        self.switch_to_block(no);
        self.block_of(otherwise);
        self.jump(after);
        self.switch_to_block(after);
    }

    /// Lowers a list of conditions: control continues if all conditions hold, and in the block `fail` otherwise.
    pub fn conditions(&mut self, conditions: &[Condition], fail: BlockId) {
        for condition in conditions {
            match condition {
                Condition::Bool(e) => {
                    let next = self.block();
                    self.condition(e, next, fail);
                    self.switch_to_block(next);
                }
                Condition::Match { pattern, value } => {
                    let value = self.expr(value);
                    let value = self.keep(value);
                    self.make_permanent(&value);
                    self.matches(pattern, &value, fail);
                }
            }
        }
    }

    fn catch(&mut self, body: &[Stmt], local: LocalId, cases: &[Case]) {
        let (handler, after) = (self.block(), self.block());
        let error = self.reg(Bank::R);
        self.dedicate(&[error], "error", Use::Constant);
        self.scopes.push(Scope::Catch { handler, error });
        self.block_of(body);
        self.scopes.pop();
        self.jump(after);
        self.switch_to_block(handler);
        self.bind(local, &[error]);
        let value = self.local_location(local);
        let value = self.load(&value);
        let unhandled = self.cases(&value, cases, after);
        self.switch_to_block(unhandled);
        self.throw(error);
        self.switch_to_block(after);
    }

    // Variables

    /// Returns the storage of a local variable. A variable that was not encountered before is initialized with zeros.
    pub fn slot(&mut self, local: LocalId) -> Slot {
        if let Slot::Absent = self.locals[local.0 as usize] {
            let banks = self.banks_of_local(local);
            let regs = self.regs(&banks);
            self.zero_local_at_entry(local, &regs);
            let name = self.body.locals[local.0 as usize].name.clone();
            self.dedicate(&regs, &name, Use::Variable);
            self.locals[local.0 as usize] = Slot::Registers(regs);
            if self.is_boxed(local) {
                self.declare(local);
            }
        }
        self.locals[local.0 as usize].clone()
    }

    /// Sets registers to default values at the entry of the function, so that they have a value on every path.
    pub fn zero_at_entry(&mut self, regs: &[Reg]) {
        for reg in regs {
            let op = match self.bank(*reg) {
                Bank::F => Op::ConstF(0.0),
                Bank::I => Op::ConstI(0),
                Bank::R => Op::Null,
            };
            let span = self.out.span;
            let instruction = crate::ir::graph::Instruction { op, outs: vec![*reg], ins: vec![], span, active: false };
            self.out.blocks[0].instructions.insert(0, instruction);
        }
    }

    /// Sets a variable to its default value at the entry of the function. A variable that is stored in a record and
    /// initialized property by property starts with a record.
    fn zero_local_at_entry(&mut self, local: LocalId, regs: &[Reg]) {
        let Some(inner) = self.banks_in_record(local) else { return self.zero_at_entry(regs) };
        let zeros = self.regs(&inner);
        let span = self.out.span;
        let (outs, ins) = (regs.to_vec(), zeros.clone());
        let record = crate::ir::graph::Instruction { op: Op::NewRecord, outs, ins, span, active: false };
        self.out.blocks[0].instructions.insert(0, record);
        self.zero_at_entry(&zeros);
    }

    /// Returns the default value of a variable.
    fn zero_initialized(&mut self, local: LocalId) -> Value {
        match self.banks_in_record(local) {
            Some(inner) => {
                let zeros = self.zeros(&inner);
                vec![self.value(Op::NewRecord, Bank::R, &zeros)]
            }
            None => {
                let banks = self.banks_of_local(local);
                self.zeros(&banks)
            }
        }
    }

    /// Returns the banks of the components of a struct that is stored in a record, if the type of a variable is such a
    /// struct.
    fn banks_in_record(&mut self, local: LocalId) -> Option<std::rc::Rc<[Bank]>> {
        let ty = self.body.locals[local.0 as usize].ty.clone();
        let shape = self.shape(&ty);
        let inner = self.inner(shape);
        let is_struct = matches!(self.program.shapes.get(inner), Shape::Struct { .. });
        (inner != shape && is_struct).then(|| self.banks_of(inner))
    }

    fn banks_of_local(&mut self, local: LocalId) -> std::rc::Rc<[Bank]> {
        let ty = self.body.locals[local.0 as usize].ty.clone();
        self.banks(&ty)
    }

    /// Whether a variable is stored in a box, because a closure captures it.
    pub fn is_boxed(&self, local: LocalId) -> bool {
        let local = &self.body.locals[local.0 as usize];
        local.mutable && local.captured
    }

    /// Allocates the registers of a variable, set to default values.
    pub fn declare(&mut self, local: LocalId) {
        let zeros = self.zero_initialized(local);
        if self.is_boxed(local) {
            self.bind_box(local, &zeros);
            return;
        }
        let banks = self.banks_of_local(local);
        let regs = match &self.locals[local.0 as usize] {
            Slot::Registers(regs) => regs.clone(),
            Slot::Absent | Slot::Box(_) | Slot::Place(_) => self.regs(&banks),
        };
        let name = self.body.locals[local.0 as usize].name.clone();
        self.dedicate(&regs, &name, Use::Variable);
        self.assign(&regs, &zeros);
        self.locals[local.0 as usize] = Slot::Registers(regs);
    }

    /// Binds a variable to a value that other code may continue to use.
    pub fn bind(&mut self, local: LocalId, value: &[Reg]) {
        self.bind_value(local, value, false);
    }

    /// Binds a variable to a value; the registers of an intermediate value are taken over without a copy.
    pub fn bind_value(&mut self, local: LocalId, value: &[Reg], owned: bool) {
        let ownership = self.body.locals[local.0 as usize].ownership;
        if ownership != Ownership::Strong {
            let weak = self.weak_reference(value.to_vec(), ownership);
            return self.bind_unchanged(local, &weak, true);
        }
        self.bind_unchanged(local, value, owned);
    }

    fn bind_unchanged(&mut self, local: LocalId, value: &[Reg], owned: bool) {
        if self.is_boxed(local) {
            self.bind_box(local, value);
            return;
        }
        let is_mutable = self.body.locals[local.0 as usize].mutable;
        let name = self.body.locals[local.0 as usize].name.clone();
        let how = if is_mutable { Use::Variable } else { Use::Constant };
        if self.pinned.contains(&local)
            && let Slot::Registers(regs) = self.locals[local.0 as usize].clone()
        {
            self.copy_to(&regs, value);
            return;
        }
        let all = |b: &Self, how| value.iter().all(|reg| b.use_of(*reg) == how);
        let distinct = (1..value.len()).all(|i| !value[..i].contains(&value[i]));
        if !is_mutable && all(self, Use::Constant) {
            self.locals[local.0 as usize] = Slot::Registers(value.to_vec());
            return;
        }
        let regs: Value = if owned && all(self, Use::Temporary) && distinct {
            value.to_vec()
        } else if owned {
            let banks: Vec<Bank> = value.iter().map(|reg| self.bank(*reg)).collect();
            let regs = self.regs(&banks);
            self.assign(&regs, value);
            regs
        } else {
            self.copy(value)
        };
        self.dedicate(&regs, &name, how);
        self.locals[local.0 as usize] = Slot::Registers(regs);
    }

    fn copy_to(&mut self, to: &[Reg], from: &[Reg]) {
        for (to, from) in to.iter().zip(from) {
            self.emit(Op::Copy, &[*to], &[*from]);
        }
    }

    /// Creates the box of a captured variable, each time that the declaration of the variable is executed.
    pub fn bind_box(&mut self, local: LocalId, value: &[Reg]) {
        let object = match self.locals[local.0 as usize] {
            Slot::Box(object) => object,
            Slot::Registers(_) | Slot::Place(_) | Slot::Absent => self.reg(Bank::R),
        };
        let name = self.body.locals[local.0 as usize].name.clone();
        self.dedicate(&[object], &name, Use::Constant);
        self.emit(Op::NewBox, &[object], value);
        self.locals[local.0 as usize] = Slot::Box(object);
    }

    /// Reserves the registers of a variable that several patterns bind.
    pub fn pin(&mut self, local: LocalId) {
        if self.pinned.contains(&local) || self.is_boxed(local) {
            return;
        }
        let banks = self.banks_of_local(local);
        let regs = self.regs(&banks);
        let name = self.body.locals[local.0 as usize].name.clone();
        let is_mutable = self.body.locals[local.0 as usize].mutable;
        self.dedicate(&regs, &name, if is_mutable { Use::Variable } else { Use::Constant });
        self.locals[local.0 as usize] = Slot::Registers(regs);
        self.pinned.push(local);
    }

    /// Initializes a global variable with a value.
    fn init_global(&mut self, global: crate::types::model::typed_tree::GlobalId, value: Value) {
        let ownership = self.d.global(global).ownership;
        let value = self.weak_reference(value, ownership);
        if !self.lives_in_script(global) {
            let at = self.global_storage(global);
            self.store(&at, &value);
            return;
        }
        if let Some(regs) = self.script_globals.get(&global).cloned() {
            self.store(&Location::Registers(regs), &value);
            return;
        }
        let declared = self.d.global(global);
        let own = value.iter().all(|reg| self.use_of(*reg) == Use::Temporary);
        let regs = if own { value } else { self.copy(&value) };
        self.dedicate(&regs, &declared.name, if declared.is_let { Use::Constant } else { Use::Variable });
        self.script_globals.insert(global, regs);
    }
}
