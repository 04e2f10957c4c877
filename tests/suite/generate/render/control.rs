//! Rendering of blocks, loops, and exits.

use super::super::Stmt;
use super::{Scope, Writer, chosen};

impl Writer {
    /// Renders a block with a nested scope.
    pub(super) fn block(&mut self, head: &str, body: &[Stmt], prepare: impl FnOnce(&mut Scope)) {
        self.line(head);
        let outer = self.scope.clone();
        prepare(&mut self.scope);
        self.depth += 1;
        for statement in body {
            self.stmt(statement);
        }
        self.depth -= 1;
        self.scope = outer;
    }

    /// Renders a labeled loop with at most `times` iterations.
    fn turns(&mut self, times: u8, body: impl FnOnce(&mut Writer, u8, &str)) {
        let outer = self.runs;
        let times = if outer * u32::from(times) > 8 { 1 } else { times };
        self.runs = outer * u32::from(times);
        self.labeled(true, |w, label| body(w, times, label));
        self.runs = outer;
    }

    /// Renders a labeled statement, and removes the label if it is not used.
    fn labeled(&mut self, is_loop: bool, write: impl FnOnce(&mut Writer, &str)) {
        let label = self.fresh("l");
        let start = self.text.len();
        self.scope.labels.push((label.clone(), is_loop));
        write(self, &label);
        self.scope.labels.pop();
        let uses = [format!("break {label} }}"), format!("continue {label} }}")];
        if !uses.iter().any(|exit| self.text[start..].contains(exit)) {
            let rest = self.text.split_off(start).replace(&format!("{label}: "), "");
            self.text += &rest;
        }
    }

    pub(super) fn control(&mut self, statement: &Stmt) {
        match statement {
            Stmt::If(condition, then, otherwise) => {
                let condition = self.condition(condition);
                self.block(&format!("if {condition} {{"), then, |_| {});
                self.block("} else {", otherwise, |_| {});
                self.line("}");
            }
            Stmt::For(times, body) => self.turns(*times, |w, times, label| {
                let i = w.fresh("i");
                w.block(&format!("{label}: for {i} in 0..<{times} {{"), body, |s| {
                    s.counters.push(i.clone());
                    s.is_in_loop = true;
                });
                w.line("}");
            }),
            Stmt::While(times, body) => self.turns(*times, |w, times, label| {
                let n = w.declare("var", "n", "0");
                w.line(&format!("{label}: while {n} < {times} {{"));
                w.block(&format!("    {n} += 1"), body, |s| {
                    s.counters.push(n.clone());
                    s.is_in_loop = true;
                });
                w.line("}");
            }),
            Stmt::Repeat(times, body) => self.turns(*times, |w, times, label| {
                let n = w.declare("var", "n", "0");
                w.line(&format!("{label}: repeat {{"));
                w.block(&format!("    {n} += 1"), body, |s| {
                    s.counters.push(n.clone());
                    s.is_in_loop = true;
                });
                w.line(&format!("}} while {n} < {times}"));
            }),
            Stmt::ForIn(pick, body) => {
                let Some((array, len)) = chosen(&self.scope.arrays, *pick).cloned() else { return };
                self.turns(len as u8, |w, times, label| {
                    let e = w.fresh("e");
                    w.block(&format!("{label}: for {e} in {array}.prefix({times}) {{"), body, |s| {
                        s.numbers.push(e.clone());
                        s.is_in_loop = true;
                    });
                    w.line("}");
                });
            }
            Stmt::Leave(condition, is_break, label) => {
                let condition = self.condition(condition);
                // A statement that is not a loop can be left, but not continued; without a label the innermost loop is affected.
                let labels = self.scope.labels.iter().filter(|(_, is_loop)| *is_loop || *is_break);
                let labels: Vec<String> = labels.map(|(label, _)| format!(" {label}")).collect();
                let label = if label % 2 == 0 || !self.scope.is_in_loop { chosen(&labels, label / 2) } else { None };
                if label.is_some() || self.scope.is_in_loop {
                    let (exit, label) =
                        (if *is_break { "break" } else { "continue" }, label.map_or("", String::as_str));
                    self.line(&format!("if {condition} {{ {exit}{label} }}"));
                }
            }
            Stmt::Return(condition, value) => {
                let (condition, value) = (self.condition(condition), self.expr(value));
                if self.scope.returns {
                    self.line(&format!("if {condition} {{ return {value} }}"));
                }
            }
            Stmt::Throw(condition, value) => {
                let (condition, value) = (self.condition(condition), self.bounded(value));
                if self.scope.throws {
                    self.line(&format!("if {condition} {{ throw Refusal.refused({value}) }}"));
                }
            }
            Stmt::Labeled(body) => self.labeled(false, |w, label| {
                w.block(&format!("{label}: do {{"), body, |_| {});
                w.line("}");
            }),
            Stmt::Catch(body, ..) | Stmt::Defer(body) | Stmt::Checkpoint(body) if self.is_arithmetic => {
                self.block("do {", body, |_| {});
                self.line("}");
            }
            Stmt::Catch(body, condition, value, handler) => {
                let (condition, value) = (self.condition(condition), self.bounded(value));
                let e = self.fresh("e");
                self.block("do {", body, |s| s.throws = true);
                self.line(&format!("    if {condition} {{ throw Refusal.refused({value}) }}"));
                self.block(&format!("}} catch Refusal.refused(let {e}) {{"), handler, |s| s.numbers.push(e.clone()));
                self.line("} catch {}");
            }
            Stmt::Defer(body) => {
                self.block("defer {", body, Scope::forget_exits);
                self.line("}");
            }
            Stmt::Checkpoint(body) => {
                let throws = self.scope.throws;
                self.block(if throws { "try checkpoint {" } else { "checkpoint {" }, body, |s| {
                    s.forget_exits();
                    s.forget_pullbacks();
                    s.throws = throws;
                });
                self.line("}");
            }
            Stmt::Switch(pick, zero, one, other) => {
                let Some(i) = chosen(&self.scope.counters, *pick).cloned() else {
                    return;
                };
                self.line(&format!("switch {i} % 3 {{"));
                for (head, body) in [("case 0:", zero), ("case 1, 5:", one), ("default:", other)] {
                    // A `break` in a case would leave the switch instead of the loop.
                    self.block(head, body, |s| s.is_in_loop = false);
                    // A case must not be empty.
                    self.line("    break");
                }
                self.line("}");
            }
            _ => unreachable!("only statements of control are sent here"),
        }
    }
}
