//! Patterns: lowering to tests that jump to another block on failure, and to assignments of the bound variables.

use crate::ir::graph::{BlockId, Reg, Trap};
use crate::ir::lower::builder::{Builder, Value};
use crate::types::model::typed_tree::{Condition, LocalId, Pattern, PatternKind};

impl Builder<'_> {
    /// Adds the test of a pattern: control continues with the variables bound if the pattern matches the value, and in
    /// the block `fail` otherwise. The registers of the value are unchanged.
    pub fn matches(&mut self, pattern: &Pattern, value: &[Reg], fail: BlockId) {
        self.span = pattern.span;
        match &pattern.kind {
            PatternKind::Wildcard => {}
            PatternKind::Bind(local) => self.bind(*local, value),
            PatternKind::Tuple(parts) => {
                let parts: Vec<&Pattern> = parts.iter().collect();
                let fields = self.tuple_parts(pattern, value, parts.len());
                for (part, field) in parts.iter().zip(fields) {
                    self.matches(part, &field, fail);
                }
            }
            PatternKind::Case { case, payload } => self.matches_case(pattern, *case, payload, value, fail),
            PatternKind::Some(inner) => {
                self.require(value[0], fail);
                self.matches(inner, &value[1..], fail);
            }
            PatternKind::Nil => {
                let next = self.block();
                self.branch(value[0], fail, next);
                self.switch_to_block(next);
            }
            PatternKind::Test { local, test } => {
                self.bind(*local, value);
                let next = self.block();
                self.condition(test, next, fail);
                self.switch_to_block(next);
            }
            PatternKind::Is { ty, pattern: inner } => {
                let (from, to) = (self.concrete(&pattern.ty), self.concrete(ty));
                let optional = self.converted(&from, value.to_vec(), &to);
                self.make_permanent(&optional);
                self.require(optional[0], fail);
                self.matches(inner, &optional[1..], fail);
            }
        }
    }

    fn require(&mut self, flag: Reg, fail: BlockId) {
        let next = self.block();
        self.branch(flag, next, fail);
        self.switch_to_block(next);
    }

    fn matches_case(&mut self, pattern: &Pattern, case: u32, payload: &[Pattern], value: &[Reg], fail: BlockId) {
        let shape = self.shape(&pattern.ty);
        let is_optional = matches!(self.program.shapes.get(shape), crate::value::shape::Shape::Optional(_));
        if is_optional {
            let next = self.block();
            let (yes, no) = if case == 1 { (next, fail) } else { (fail, next) };
            self.branch(value[0], yes, no);
            self.switch_to_block(next);
            if let Some(inner) = payload.first() {
                self.matches(inner, &value[1..], fail);
            }
            return;
        }
        let components = self.unpack(&pattern.ty, value.to_vec());
        self.make_permanent(&components);
        let number = self.int(i64::from(case));
        let same = self.primitive("int.eq", &[components[0], number]);
        self.require(same, fail);
        let inner = self.inner(shape);
        let (value_shape, beside) = self.beside(inner);
        let places = self.lowering.layouts.payload(&self.program.shapes, value_shape, case as usize);
        for (k, (part, places)) in payload.iter().zip(places).enumerate() {
            let mut field: Value = places.iter().map(|i| components[*i]).collect();
            if let Some(beside) = beside.clone()
                && let Some(property) = self.opaque_payload_at(&pattern.ty, case, k)
            {
                field = self.read_opaque_property(&property, components[beside].to_vec(), field);
            }
            self.matches(part, &field, fail);
        }
    }

    /// Returns the elements of a tuple that a pattern destructures.
    fn tuple_parts(&mut self, pattern: &Pattern, value: &[Reg], count: usize) -> Vec<Value> {
        let shape = self.shape(&pattern.ty);
        let inner = self.inner(shape);
        let components = self.unpack(&pattern.ty, value.to_vec());
        (0..count)
            .map(|i| {
                let range = self.lowering.layouts.field(&self.program.shapes, inner, i);
                components[range].to_vec()
            })
            .collect()
    }

    /// Binds the variables of a pattern that always matches; the variables take over registers of intermediate values.
    pub fn bind_all(&mut self, pattern: &Pattern, value: Value) {
        match &pattern.kind {
            PatternKind::Wildcard => {}
            PatternKind::Bind(local) => self.bind_value(*local, &value, true),
            PatternKind::Tuple(parts) => {
                let fields = self.tuple_parts(pattern, &value, parts.len());
                for (part, field) in parts.iter().zip(fields) {
                    self.bind_all(part, field);
                }
            }
            PatternKind::Case { .. }
            | PatternKind::Some(_)
            | PatternKind::Nil
            | PatternKind::Test { .. }
            | PatternKind::Is { .. } => {
                let value = self.keep(value);
                self.make_permanent(&value);
                let (fail, next) = (self.block(), self.block());
                self.matches(pattern, &value, fail);
                self.jump(next);
                self.switch_to_block(fail);
                self.trap(Trap::Unreachable);
                self.switch_to_block(next);
            }
        }
    }

    /// Declares the variables of a pattern without an initial value.
    pub fn declare_all(&mut self, pattern: &Pattern) {
        for local in pattern.bound() {
            self.declare(local);
        }
    }
}

/// Returns the local variables that a list of conditions binds.
pub(crate) fn bound_by(conditions: &[Condition]) -> Vec<LocalId> {
    let patterns = conditions.iter().filter_map(|condition| match condition {
        Condition::Match { pattern, .. } => Some(pattern),
        Condition::Bool(_) => None,
    });
    patterns.flat_map(Pattern::bound).collect()
}
