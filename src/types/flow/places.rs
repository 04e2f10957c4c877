//! Places: reads and assignments of variables and their parts.

use super::Flow;
use crate::source::Span;
use crate::types::conform::superclass;
use crate::types::model::typed_tree::{
    Expr, ExprKind, FunctionId, GlobalId, LocalId, Place, Projection, ProjectionKind, Root,
};
use std::ops::Range;

/// The kind of use of a variable, for messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Use {
    /// The value of the variable is read.
    Value,
    /// A closure captures the variable.
    Captured,
    /// A local function that is called captures the variable.
    InFunction(FunctionId),
    /// The variable is passed as an `inout` argument.
    ByReference,
    /// A part of the variable is assigned.
    Part,
    /// The variable is the receiver of a method or property.
    Receiver(FunctionId),
    /// The variable is returned by an initializer.
    Returned,
}

impl<'b> Flow<'b, '_> {
    /// Records a read of a local variable.
    pub(super) fn read(&mut self, local: LocalId, span: Span, how: Use) {
        self.usage.read(local);
        self.must_be_set(local, span, how);
    }

    /// Reports a variable that may be uninitialized.
    pub(super) fn must_be_set(&mut self, local: LocalId, span: Span, how: Use) {
        let Some(parts) = self.variables.local(local) else { return };
        let missing: Vec<u32> = parts.filter(|p| self.is_unset(*p)).collect();
        if !missing.is_empty() {
            self.uninitialized(Some(local), &missing, span, how);
        }
    }

    /// Records a read of an element or stored property; returns whether it belongs to a local variable, by elements and
    /// properties alone.
    pub(super) fn read_part(&mut self, e: &Expr) -> bool {
        let mut path = vec![];
        let mut at = e;
        while let ExprKind::Field { base, index } | ExprKind::Element { base, index } = &at.kind {
            path.push(*index);
            at = base;
        }
        let ExprKind::Local(local) = at.kind else { return false };
        match self.variables.parts_of(local, &mut path.into_iter().rev()) {
            Some((parts, _)) => {
                self.usage.read(local);
                self.parts_must_be_set(parts, e.span, Use::Value);
            }
            None => self.read(local, e.span, Use::Value),
        }
        true
    }

    fn parts_must_be_set(&mut self, parts: Range<u32>, span: Span, how: Use) {
        let missing: Vec<u32> = parts.filter(|part| self.is_unset(*part)).collect();
        if !missing.is_empty() {
            self.uninitialized(None, &missing, span, how);
        }
    }

    fn part_must_be_set(&mut self, part: u32, span: Span, how: Use) {
        self.parts_must_be_set(part..part + 1, span, how);
    }

    pub(super) fn read_global(&mut self, global: GlobalId, span: Span, how: Use) {
        if let Some(part) = self.variables.global(global) {
            self.part_must_be_set(part, span, how);
        }
    }

    /// Records that a closure reads a variable of the script. Only a variable that was declared earlier without a value
    /// must be initialized: other variables may be initialized before the closure is called.
    pub(super) fn capture_global(&mut self, global: GlobalId, span: Span) {
        if let Some(number) = self.variables.global(global) {
            let part = self.variables.part(number);
            if !part.has_value && part.declared.start < span.start {
                self.part_must_be_set(number, span, Use::Captured);
            }
        }
    }

    fn is_unset(&self, part: u32) -> bool {
        self.state.reachable && self.state.unset.has(part)
    }

    /// Records an assignment `place = value`.
    pub(super) fn assign(&mut self, place: &'b Place, value: &'b Expr) {
        self.place_arguments(place);
        self.expr(value);
        self.note_access(place.clone());
        match (&place.root, place.path.as_slice()) {
            (Root::Local(local), []) => {
                self.usage.write(*local);
                let is_self = self.filled == Some(*local);
                let parts = self.variables.local(*local).unwrap_or_default();
                // An assignment to `self` may replace initialized constants.
                self.set(parts, place.span, !is_self);
            }
            (Root::Local(local), path @ [first, ..]) => {
                self.usage.write(*local);
                self.assign_part(*local, first, path, place.span);
            }
            (Root::Value(base), path @ [first, ..]) => match base.kind {
                ExprKind::Local(local) if self.variables.parts_at(local, path).is_some() => {
                    self.assign_part(local, first, path, place.span);
                }
                _ => self.expr(base),
            },
            (Root::Global(global), []) => {
                if let Some(part) = self.variables.global(*global) {
                    self.set(part..part + 1, place.span, true);
                }
            }
            (Root::Global(global), _) => self.read_global(*global, place.span, Use::Part),
            (Root::Value(base), []) => self.expr(base),
            (Root::Discard, _) => {}
        }
    }

    fn assign_part(&mut self, local: LocalId, first: &Projection, path: &[Projection], span: Span) {
        match self.variables.parts_at(local, path) {
            Some((parts, true)) => {
                self.must_be_led_on(local, span);
                self.set(parts, span, true);
            }
            Some((parts, false)) => self.parts_must_be_set(parts, span, Use::Part),
            None => {
                let how = match &first.kind {
                    ProjectionKind::Field(_) => Use::Part,
                    _ => Use::Value,
                };
                self.must_be_set(local, span, how);
            }
        }
    }

    /// Reports a convenience initializer that assigns a property before it calls another initializer.
    fn must_be_led_on(&mut self, local: LocalId, span: Span) {
        let Some(call) = self.led_to else { return };
        if self.filled == Some(local) && self.is_unset(call) && superclass::is_convenience(self.cx, self.function) {
            self.uninitialized(Some(local), &[call], span, Use::Part);
        }
    }

    /// Records that a place is read and written, as an `inout` argument is.
    pub(super) fn change(&mut self, place: &'b Place, how: Use) {
        self.note_access(place.clone());
        match &place.root {
            Root::Local(local) => {
                self.usage.write(*local);
                self.usage.read(*local);
                match self.variables.parts_at(*local, &place.path) {
                    Some((parts, _)) => self.parts_must_be_set(parts, place.span, how),
                    None => self.must_be_set(*local, place.span, how),
                }
            }
            Root::Global(global) => self.read_global(*global, place.span, how),
            Root::Value(base) => match base.kind {
                // A stored property of the instance that is being initialized.
                ExprKind::Local(local) => match self.variables.parts_at(local, &place.path) {
                    Some((parts, _)) => {
                        self.usage.read(local);
                        self.parts_must_be_set(parts, place.span, how);
                    }
                    None => self.expr(base),
                },
                _ => self.expr(base),
            },
            Root::Discard => {}
        }
    }

    /// Visits the expressions that are evaluated to reach a place.
    pub(super) fn place_arguments(&mut self, place: &'b Place) {
        for step in &place.path {
            if let ProjectionKind::Accessor { args, .. } = &step.kind {
                self.exprs(args);
            }
        }
    }

    /// Visits the value of a `return`; in an initializer it is `self`.
    pub(super) fn returned(&mut self, value: &'b Expr) {
        let mut inner = value;
        while let ExprKind::Some(e) | ExprKind::Upcast(e) = &inner.kind {
            inner = e;
        }
        match inner.kind {
            ExprKind::Local(local) if self.filled == Some(local) => self.read(local, value.span, Use::Returned),
            _ => self.expr(value),
        }
    }

    /// Marks a variable of the script as initialized after its declaration.
    pub(super) fn set_global(&mut self, global: GlobalId) {
        if let Some(part) = self.variables.global(global) {
            self.state.unset.put(part, false);
            self.state.set.put(part, true);
        }
    }

    /// Marks parts of a variable as initialized. With `first`, constants must have been uninitialized.
    fn set(&mut self, parts: Range<u32>, span: Span, first: bool) {
        let mut again = None;
        for part in parts {
            if self.variables.part(part).once && first {
                self.settings.push((part, span));
                again = again.or((self.state.reachable && self.state.set.has(part)).then_some(part));
            }
            self.state.unset.put(part, false);
            self.state.set.put(part, true);
        }
        if let Some(part) = again {
            self.set_again(part, span);
        }
    }

    /// Marks parts of a variable as initialized after an error about them was reported, so that no further error is
    /// reported.
    pub(super) fn assume_set(&mut self, parts: &[u32]) {
        parts.iter().for_each(|p| self.state.unset.put(*p, false));
    }
}
