//! Rendering of the templates of the kinds.

use super::super::kinds::variable::{ARITHMETIC as STEPS, EFFECTS};
use super::super::kinds::{ARITHMETIC, KINDS};
use super::super::{Expr, Filling, Pick, Stmt};
use super::{Writer, chosen, chosen_of_both};

impl Writer {
    pub(super) fn make(&mut self, kind: u8, how: u8, filling: &Filling) {
        let kinds = if self.is_arithmetic { ARITHMETIC } else { KINDS };
        let Some(kind) = chosen(kinds, kind).copied() else { return };
        let Some(template) = chosen(kind.makes, how) else { return };
        let name = self.fresh(kind.prefix);
        let (text, _) = self.fill(template, &name, filling);
        self.line(&text);
        self.scope.things.push((name, kind));
    }

    pub(super) fn alter(&mut self, pick: Pick, how: u8, filling: &Filling) {
        match chosen(&self.scope.things, pick).cloned() {
            Some((name, kind)) => {
                if let Some(template) = chosen(kind.changes, how) {
                    self.change_by(template, &name, filling);
                }
            }
            None => self.make(pick, how, filling),
        }
    }

    pub(super) fn alter_variable(&mut self, pick: Pick, how: u8, filling: &Filling) {
        match chosen(&self.scope.variables, pick).cloned() {
            Some(name) => {
                let all = [STEPS, if self.is_arithmetic { &[] } else { EFFECTS }];
                if let Some(template) = chosen_of_both(all, how) {
                    self.change_by(template, &name, filling);
                }
            }
            None => self.number("var", "0.5"),
        }
    }

    fn change_by(&mut self, template: &str, name: &str, filling: &Filling) {
        let (text, _) = self.fill(template, name, filling);
        self.line(&text);
    }

    pub(super) fn open(&mut self, pick: Pick, how: u8, filling: &Filling, bodies: [&[Stmt]; 2]) {
        let Some((name, kind)) = chosen(&self.scope.things, pick).cloned() else { return };
        let Some([first, second, end]) = chosen(kind.opens, how) else { return };
        let is_switch = first.starts_with("switch");
        let (head, part) = self.fill(first, &name, filling);
        let (next, _) = self.fill(second, &name, filling);
        for (head, names, body) in [(head, vec![part], bodies[0]), (next, vec![], bodies[1])] {
            self.block(&head, body, |scope| {
                scope.numbers.extend(names);
                // A `break` in a case would leave the switch instead of the loop.
                scope.is_in_loop &= !is_switch;
            });
            if is_switch {
                // A case must not be empty.
                self.line("    break");
            }
        }
        self.line(end);
    }

    pub(super) fn read(&mut self, pick: Pick, how: u8, x: &Expr) -> String {
        let x = self.expr(x);
        match chosen(&self.scope.things, pick).and_then(|(name, kind)| Some((name, chosen(kind.reads, how)?))) {
            Some((name, template)) => template.replace('$', name).replace("#1", &x),
            None => format!("sin({x})"),
        }
    }

    /// Fills in a template; returns the text and the first of its fresh names.
    fn fill(&mut self, template: &str, name: &str, Filling(condition, first, second): &Filling) -> (String, String) {
        let mut text = template.replace('$', name);
        let fresh = ["@1", "@2", "@3"].map(|mark| {
            let name = self.fresh("c");
            text = text.replace(mark, &name);
            name
        });
        if text.contains("?1") {
            text = text.replace("?1", &format!("({})", self.condition(condition)));
        }
        for (mark, number) in [("#1", first), ("#2", second)] {
            if text.contains(mark) {
                text = text.replace(mark, &self.bounded(number));
            }
        }
        let [part, ..] = fresh;
        (text, part)
    }
}
