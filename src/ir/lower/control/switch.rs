//! Switches: lowering of `switch` and of the cases of `catch` to chains of tests in source order.

use crate::ir::graph::{BlockId, Reg, Trap};
use crate::ir::lower::builder::Builder;
use crate::ir::lower::control::exits::Scope;
use crate::types::model::typed_tree::{Case, Expr, LabelId, LocalId};

impl Builder<'_> {
    pub(crate) fn switch(&mut self, label: LabelId, local: LocalId, subject: &Expr, cases: &[Case]) {
        let value = self.expr(subject);
        self.bind_value(local, &value, true);
        let at = self.local_location(local);
        let value = self.load(&at);
        let after = self.block();
        self.scopes.push(Scope::Labeled { label, after, next: None });
        let unhandled = self.cases(&value, cases, after);
        self.scopes.pop();
        self.switch_to_block(unhandled);
        self.trap(Trap::Unreachable);
        self.switch_to_block(after);
    }

    /// Lowers the cases of a `switch`: the first case that matches the value runs, then control continues at `after`.
    /// Returns the block that is reached if no case matches.
    pub fn cases(&mut self, value: &[Reg], cases: &[Case], after: BlockId) -> BlockId {
        let bodies: Vec<BlockId> = cases.iter().map(|_| self.block()).collect();
        for (case, body) in cases.iter().zip(&bodies) {
            if case.patterns.len() > 1 {
                for local in case.patterns.iter().flat_map(|(p, _)| p.bound()) {
                    self.pin(local);
                }
            }
            for (pattern, filter) in &case.patterns {
                let next = self.block();
                self.matches(pattern, value, next);
                if let Some(filter) = filter {
                    let chosen = self.block();
                    self.condition(filter, chosen, next);
                    self.switch_to_block(chosen);
                }
                self.jump(*body);
                self.switch_to_block(next);
            }
            if case.patterns.is_empty() {
                self.span = case.span;
                self.jump(*body);
                let next = self.block();
                self.switch_to_block(next);
            }
        }
        let unhandled = self.at;
        for (i, case) in cases.iter().enumerate() {
            self.switch_to_block(bodies[i]);
            let bound = case.patterns.first().map_or_else(Vec::new, |(pattern, _)| pattern.bound());
            self.block_with(&bound, &case.body);
            let next = bodies.get(i + 1).copied().filter(|_| case.falls_through);
            self.jump(next.unwrap_or(after));
        }
        unhandled
    }
}
