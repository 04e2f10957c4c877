//! Statements: visits statements in the order of execution.

use super::Flow;
use super::flow_state::{Bits, State};
use super::usage::Declared;
use crate::types::model::ty::Type;
use crate::types::model::typed_tree::{Case, Condition, Expr, ExprKind, LabelId, Pattern, PatternKind, Stmt, StmtKind};

/// The state at the beginning of a loop.
struct LoopStart {
    settings: usize,
    declared: usize,
    set: Bits,
}

impl<'b> Flow<'b, '_> {
    /// Visits the statements of a block.
    pub(super) fn block(&mut self, statements: &'b [Stmt]) {
        self.enter_functions(statements);
        self.scopes.push(super::exits::Scope::Block { defers: vec![] });
        let depth = self.scopes.len();
        for (i, s) in statements.iter().enumerate() {
            let was_reachable = self.state.reachable;
            self.statement(s);
            if was_reachable
                && !self.state.reachable
                && let Some(next) = statements.get(i + 1)
            {
                self.warn_of_unreachable(s, next);
            }
        }
        if self.state.reachable {
            self.run_defers(depth - 1);
        } else {
            self.skip_defers();
        }
        self.scopes.truncate(depth - 1);
    }

    fn statement(&mut self, s: &'b Stmt) {
        match &s.kind {
            StmtKind::Expr(e) => {
                self.expr(e);
                self.warn_of_unused_result(e);
            }
            StmtKind::Let { pattern, value: Some(value) } => {
                self.expr(value);
                self.reach_declaration(pattern);
                // The variable of a `consuming` parameter is not declared by a statement of its own.
                if s.span != pattern.span {
                    self.usage.declare(pattern, Declared::WithValue { statement: s.span, value: value.span });
                }
                self.pattern(pattern);
            }
            StmtKind::Let { pattern, value: None } => {
                self.reach_declaration(pattern);
                self.usage.declare(pattern, Declared::WithoutValue);
                self.declare(pattern);
            }
            StmtKind::InitGlobal { global, value } => {
                self.expr(value);
                self.set_global(*global);
            }
            StmtKind::Assign { place, value } => self.assign(place, value),
            StmtKind::If { conditions, then, otherwise } => {
                let failed = self.conditions(conditions);
                self.block(then);
                let then = std::mem::replace(&mut self.state, failed);
                self.block(otherwise);
                self.state.join(&then);
            }
            StmtKind::Guard { conditions, otherwise, end } => {
                let failed = self.conditions(conditions);
                let held = std::mem::replace(&mut self.state, failed);
                self.block(otherwise);
                if self.state.reachable {
                    self.guard_falls_through(*end);
                }
                self.state = held;
            }
            StmtKind::While { label, conditions, body } => self.while_loop(*label, conditions, body),
            StmtKind::Repeat { label, body, condition } => self.repeat_loop(*label, body, condition),
            StmtKind::For { label, pattern, sequence, filter, body, .. } => {
                self.expr(sequence);
                self.usage.declare(pattern, Declared::Element);
                self.for_loop(*label, pattern, filter.as_ref(), body);
            }
            StmtKind::Switch { label, subject, cases, .. } => {
                self.expr(subject);
                let (after, _) = self.labeled(*label, |flow| flow.cases(cases));
                self.state.join(&after);
            }
            StmtKind::Block { label, body } => {
                let (after, _) = self.labeled(*label, |flow| flow.block(body));
                self.state.join(&after);
            }
            StmtKind::Return(value) => {
                if let Some(value) = value {
                    self.returned(value);
                }
                self.give_back();
            }
            StmtKind::Break(label) => self.leave(*label, false),
            StmtKind::Continue(label) => self.leave(*label, true),
            StmtKind::Throw(error) => {
                self.expr(error);
                self.thrown += 1;
                if !self.is_never_caught {
                    self.must_be_handled(s.span);
                }
                self.may_throw();
                self.state = State::dead();
            }
            StmtKind::Defer(statements) => self.defer(statements),
            StmtKind::Catch { body, cases, .. } => self.catch(body, cases),
            StmtKind::LocalFunction(function) => {
                self.inner(*function);
            }
        }
    }

    /// Visits a list of conditions and continues in the state in which all of them hold; returns the state in which a
    /// condition does not hold.
    fn conditions(&mut self, conditions: &'b [Condition]) -> State {
        let mut failed = State::dead();
        for condition in conditions {
            match condition {
                Condition::Bool(e) => self.expr(e),
                Condition::Match { pattern, value } => {
                    self.expr(value);
                    self.usage
                        .declare(pattern, if is_unwrapping(pattern) { Declared::Unwrapped } else { Declared::Matched });
                    self.pattern(pattern);
                }
            }
            failed.join(&self.state);
        }
        failed
    }

    /// Visits the expressions that are evaluated while a pattern is matched.
    fn pattern(&mut self, p: &'b Pattern) {
        match &p.kind {
            PatternKind::Tuple(parts) | PatternKind::Case { payload: parts, .. } => {
                parts.iter().for_each(|p| self.pattern(p));
            }
            PatternKind::Some(inner) | PatternKind::Is { pattern: inner, .. } => self.pattern(inner),
            PatternKind::Test { test, .. } => self.expr(test),
            PatternKind::Wildcard | PatternKind::Bind(_) | PatternKind::Nil => {}
        }
    }

    fn while_loop(&mut self, label: LabelId, conditions: &'b [Condition], body: &'b [Stmt]) {
        let start = self.begin_loop();
        let is_endless = conditions.iter().all(|c| matches!(c, Condition::Bool(e) if is_true(e)));
        let mut failed = State::dead();
        let (after, next) = self.labeled(label, |flow| {
            failed = flow.conditions(conditions);
            flow.block(body);
        });
        self.state.join(&next);
        let added = self.end_loop(&start, is_endless);
        self.state = if is_endless { State::dead() } else { failed };
        self.state.join(&after);
        self.state.set.add(&added);
    }

    fn repeat_loop(&mut self, label: LabelId, body: &'b [Stmt], condition: &'b Expr) {
        let start = self.begin_loop();
        let (after, next) = self.labeled(label, |flow| flow.block(body));
        self.state.join(&next);
        self.expr(condition);
        let is_endless = is_true(condition);
        let added = self.end_loop(&start, is_endless);
        if is_endless {
            self.state = State::dead();
        }
        self.state.join(&after);
        self.state.set.add(&added);
    }

    fn for_loop(&mut self, label: LabelId, pattern: &'b Pattern, filter: Option<&'b Expr>, body: &'b [Stmt]) {
        let start = self.begin_loop();
        let mut exit = self.state.clone();
        let (after, next) = self.labeled(label, |flow| {
            flow.pattern(pattern);
            if let Some(filter) = filter {
                flow.expr(filter);
                exit.join(&flow.state);
            }
            flow.block(body);
        });
        self.state.join(&next);
        let added = self.end_loop(&start, false);
        // Unlike other loops, a `for` loop may end before any iteration.
        self.state.join(&exit);
        self.state.join(&after);
        self.state.set.add(&added);
    }

    fn begin_loop(&mut self) -> LoopStart {
        LoopStart {
            settings: self.settings.len(),
            declared: self.variables.declared.len(),
            set: self.state.set.clone(),
        }
    }

    /// Processes the back edge of a loop. Reports the constants declared outside the loop that the body would set again
    /// in the next iteration, and returns the constants that were not set when the loop began.
    fn end_loop(&mut self, start: &LoopStart, is_endless: bool) -> Bits {
        if is_endless {
            self.escape();
        }
        let mut added = Bits::default();
        if !self.state.reachable {
            return added;
        }
        let settings = self.settings[start.settings..].to_vec();
        for (part, span) in settings {
            let is_inner = self.variables.declared[start.declared..].contains(&part);
            if !is_inner && self.state.set.has(part) && !start.set.has(part) {
                added.put(part, true);
                self.set_again(part, span);
            }
        }
        added
    }

    /// Visits the cases of a `switch` or `catch` and continues in the joined state after the cases. The paths that
    /// match no case are not followed.
    fn cases(&mut self, cases: &'b [Case]) {
        let subject = self.state.take();
        let mut after = State::dead();
        let mut fallen = State::dead();
        for case in cases {
            let mut matched = if case.patterns.is_empty() { subject.clone() } else { State::dead() };
            for (pattern, guard) in &case.patterns {
                self.state = subject.clone();
                self.usage.declare(pattern, Declared::Matched);
                self.pattern(pattern);
                if let Some(guard) = guard {
                    self.expr(guard);
                }
                matched.join(&self.state);
            }
            self.state = matched;
            self.state.join(&fallen.take());
            self.block(&case.body);
            let end = self.state.take();
            if case.falls_through { &mut fallen } else { &mut after }.join(&end);
        }
        self.state = after;
    }

    fn catch(&mut self, body: &'b [Stmt], cases: &'b [Case]) {
        let before = self.state.clone();
        let takes_all = crate::types::flow::error_handling::takes_all(cases);
        let seen = self.thrown;
        let mut caught = self.catching(takes_all, |flow| flow.block(body));
        let throws = self.thrown > seen;
        self.warn_of_needless_catch(cases, throws);
        let finished = self.state.take();
        // The body may throw before any of its effects.
        caught.join(&before);
        self.state = caught;
        if !takes_all {
            self.may_throw();
        }
        // In the version of a rethrowing function in which the body does not throw, a `throw` in the cases is not
        // reached.
        let outer = self.is_never_caught;
        self.is_never_caught |= self.throws_elsewhere && !throws;
        self.cases(cases);
        self.is_never_caught = outer;
        self.state.join(&finished);
    }
}

fn is_true(e: &Expr) -> bool {
    matches!(e.kind, ExprKind::Bool(true)) && e.ty != Type::Error
}

/// Whether a pattern is the pattern of `if let x = optional`.
fn is_unwrapping(p: &Pattern) -> bool {
    matches!(&p.kind, PatternKind::Some(inner) if matches!(inner.kind, PatternKind::Bind(_)))
}
