//! Places: reads and assignments of variables and their parts.

use super::Flow;
use crate::source::Span;
use crate::types::conform::superclass;
use crate::types::model::typed_tree::{
    Expr, ExprKind, FunctionId, GlobalId, LocalId, Place, Projection, ProjectionKind, Root,
};

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

    /// Records a read of an element or stored property of a local variable.
    pub(super) fn read_part(&mut self, local: LocalId, index: u32, span: Span) {
        match self.variables.part_of(local, index) {
            Some(part) => {
                self.usage.read(local);
                self.part_must_be_set(part, span, Use::Value);
            }
            None => self.read(local, span, Use::Value),
        }
    }

    fn part_must_be_set(&mut self, part: u32, span: Span, how: Use) {
        if self.is_unset(part) {
            self.uninitialized(None, &[part], span, how);
        }
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
                for part in self.variables.local(*local).into_iter().flatten() {
                    // An assignment to `self` may replace initialized constants.
                    self.set(part, place.span, !is_self);
                }
            }
            (Root::Local(local), [first, rest @ ..]) => {
                self.usage.write(*local);
                self.assign_part(*local, first, rest, place.span);
            }
            (Root::Value(base), [first, rest @ ..]) => match base.kind {
                ExprKind::Local(local) if self.variables.part_at(local, first).is_some() => {
                    self.assign_part(local, first, rest, place.span);
                }
                _ => self.expr(base),
            },
            (Root::Global(global), []) => {
                if let Some(part) = self.variables.global(*global) {
                    self.set(part, place.span, true);
                }
            }
            (Root::Global(global), _) => self.read_global(*global, place.span, Use::Part),
            (Root::Value(base), []) => self.expr(base),
            (Root::Discard, _) => {}
        }
    }

    fn assign_part(&mut self, local: LocalId, first: &Projection, rest: &[Projection], span: Span) {
        match (self.variables.part_at(local, first), rest) {
            (Some(part), []) => {
                self.must_be_led_on(local, span);
                self.set(part, span, true);
            }
            (Some(part), _) => self.part_must_be_set(part, span, Use::Part),
            (None, _) => {
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
                match place.path.first().and_then(|step| self.variables.part_at(*local, step)) {
                    Some(part) => self.part_must_be_set(part, place.span, how),
                    None => self.must_be_set(*local, place.span, how),
                }
            }
            Root::Global(global) => self.read_global(*global, place.span, how),
            Root::Value(base) => self.expr(base),
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

    /// Marks a part of a variable as initialized. With `first`, a constant must have been uninitialized.
    fn set(&mut self, part: u32, span: Span, first: bool) {
        if self.variables.part(part).once && first {
            self.settings.push((part, span));
            if self.state.reachable && self.state.set.has(part) {
                self.set_again(part, span);
            }
        }
        self.state.unset.put(part, false);
        self.state.set.put(part, true);
    }

    /// Marks parts of a variable as initialized after an error about them was reported, so that no further error is
    /// reported.
    pub(super) fn assume_set(&mut self, parts: &[u32]) {
        parts.iter().for_each(|p| self.state.unset.put(*p, false));
    }
}
