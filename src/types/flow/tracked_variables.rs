//! Tracked variables: the units of definite initialization. The analysis tracks variables declared without a value, the
//! `self` of an initializer by its stored properties, tuples by their elements, and the variables of the script.

use super::Flow;
use crate::source::Span;
use crate::syntax::ast::{Name, NominalKind};
use crate::types::conform::superclass;
use crate::types::model::declaration_tables::{FunctionKind, StoredData};
use crate::types::model::ty::{NominalId, Type};
use crate::types::model::typed_tree::{GlobalId, LocalId, Pattern, PatternKind, Projection, ProjectionKind};
use hashbrown::HashMap;
use std::ops::Range;

/// A unit of initialization: a variable, a stored property or a tuple element.
#[derive(Clone, Debug)]
pub(super) struct Part {
    /// The name of the part in messages: `x`, `self.x`, `pair.0`.
    pub(super) name: String,
    /// The source location of the part's declaration.
    pub(super) declared: Span,
    /// Whether the part is a constant, declared with `let`.
    pub(super) once: bool,
    /// Whether the declaration of the part has an initial value.
    pub(super) has_value: bool,
}

/// A local variable that the analysis tracks.
struct TrackedVariable {
    parts: Range<u32>,
    /// The index of the first tracked property; the properties before it are inherited.
    first: u32,
    /// Whether the tracked parts are properties or elements of the variable's value; otherwise the only part is the
    /// variable itself.
    is_split: bool,
}

/// The tracked parts of variables, by number.
#[derive(Default)]
pub(super) struct Variables {
    parts: Vec<Part>,
    locals: HashMap<LocalId, TrackedVariable>,
    globals: HashMap<GlobalId, u32>,
    /// The parts in the order in which their declarations were reached.
    pub(super) declared: Vec<u32>,
}

impl Variables {
    /// Returns the parts of a local variable; `None` if the variable is not tracked.
    pub(super) fn local(&self, local: LocalId) -> Option<Range<u32>> {
        self.locals.get(&local).map(|f| f.parts.clone())
    }

    pub(super) fn global(&self, global: GlobalId) -> Option<u32> {
        self.globals.get(&global).copied()
    }

    /// Whether the variables of the script are tracked.
    pub(super) fn has_globals(&self) -> bool {
        !self.globals.is_empty()
    }

    pub(super) fn part(&self, number: u32) -> &Part {
        &self.parts[number as usize]
    }

    /// Returns the part of a variable that is selected by a projection.
    pub(super) fn part_at(&self, local: LocalId, step: &Projection) -> Option<u32> {
        match step.kind {
            ProjectionKind::Field(i) | ProjectionKind::Element(i) => self.part_of(local, i),
            ProjectionKind::Accessor { .. } | ProjectionKind::Force => None,
        }
    }

    /// Returns the part of a variable with the given index, if the variable is tracked by parts.
    pub(super) fn part_of(&self, local: LocalId, index: u32) -> Option<u32> {
        let tracked = self.locals.get(&local)?;
        let own = index.checked_sub(tracked.first)?;
        (tracked.is_split && own < tracked.parts.len() as u32).then(|| tracked.parts.start + own)
    }

    fn add(&mut self, parts: Vec<Part>) -> Range<u32> {
        let start = self.parts.len() as u32;
        self.parts.extend(parts);
        start..self.parts.len() as u32
    }
}

impl Flow<'_, '_> {
    /// Tracks a global variable of the script, which has a value after its declaration.
    pub(super) fn follow_global(&mut self, global: GlobalId) {
        let data = &self.cx.defs.globals[global.0 as usize];
        if data.is_lazy {
            return;
        }
        let part = Part {
            name: data.name.to_string(),
            declared: data.span,
            once: data.is_let && !data.has_value,
            has_value: data.has_value,
        };
        let number = self.variables.add(vec![part]).start;
        self.variables.globals.insert(global, number);
        self.state.unset.put(number, true);
    }

    /// Marks the variables of a declaration without a value as uninitialized.
    pub(super) fn declare(&mut self, pattern: &Pattern) {
        match &pattern.kind {
            PatternKind::Bind(local) => {
                let range = match self.variables.local(*local) {
                    Some(known) => known,
                    None => self.follow(*local),
                };
                for part in range {
                    self.variables.declared.push(part);
                    self.state.unset.put(part, true);
                    self.state.set.put(part, false);
                }
            }
            PatternKind::Tuple(parts) => parts.iter().for_each(|p| self.declare(p)),
            _ => {}
        }
    }

    fn follow(&mut self, local: LocalId) -> Range<u32> {
        let variable = &self.body.locals[local.0 as usize];
        let is_init = matches!(self.cx.defs.function_data(self.function).kind, FunctionKind::Init { .. });
        let fills = is_init && self.filled.is_none() && &*variable.name == "self";
        if fills {
            self.filled = Some(local);
        }
        let split = match &variable.ty {
            Type::Nominal(n, _) if fills => self.properties(*n),
            Type::Tuple(_) => self.elements(local),
            _ => None,
        };
        let is_split = split.is_some();
        let parts = split.unwrap_or_else(|| vec![self.whole(local)]);
        let parts = self.variables.add(parts);
        self.variables.locals.insert(local, TrackedVariable { parts: parts.clone(), first: 0, is_split });
        parts
    }

    /// Tracks the properties of the instance in an initializer of a class, and the required call of another
    /// initializer.
    pub(super) fn begin_instance(&mut self) {
        if !superclass::fills_instance(self.cx, self.function) {
            return;
        }
        let local = LocalId(0);
        let Some(Type::Nominal(n, _)) = self.body.locals.first().map(|l| l.ty.clone()) else { return };
        let mut parts = self.properties(n).unwrap_or_default();
        let is_convenience = superclass::is_convenience(self.cx, self.function);
        if is_convenience {
            parts.iter_mut().for_each(|p| p.has_value = false);
        }
        let leads_to = match (is_convenience, superclass::superclass(self.cx, n)) {
            (true, _) => Some("self.init"),
            (false, Some(_)) => Some("super.init"),
            (false, None) => None,
        };
        let (own, first) = (parts.len() as u32, superclass::inherited_count(self.cx, n));
        parts.extend(leads_to.map(|name| Part {
            name: name.into(),
            declared: Span::default(),
            once: false,
            has_value: false,
        }));
        let parts = self.variables.add(parts);
        self.filled = Some(local);
        self.led_to = leads_to.map(|_| parts.start + own);
        for part in parts.clone() {
            self.state.unset.put(part, true);
        }
        self.variables.locals.insert(local, TrackedVariable { parts, first, is_split: true });
    }

    fn whole(&self, local: LocalId) -> Part {
        let variable = &self.body.locals[local.0 as usize];
        Part { name: variable.name.to_string(), declared: variable.span, once: variable.once, has_value: false }
    }

    /// Returns the parts of the `self` of an initializer; `None` for a type that does not consist of stored properties.
    fn properties(&self, n: NominalId) -> Option<Vec<Part>> {
        let data = self.cx.defs.nominal_data(n);
        let of = |stored: &StoredData| Part {
            name: format!("self.{}", stored.name),
            declared: stored.span,
            once: stored.is_let,
            has_value: stored.value.is_some(),
        };
        (data.builtin.is_none() && data.kind != NominalKind::Enum).then(|| data.stored.iter().map(of).collect())
    }

    fn elements(&self, local: LocalId) -> Option<Vec<Part>> {
        let whole = self.whole(local);
        let Type::Tuple(elements) = &self.body.locals[local.0 as usize].ty else { return None };
        let of = |(i, label): (usize, &Option<Name>)| {
            let element = label.as_ref().map_or_else(|| i.to_string(), ToString::to_string);
            Part { name: format!("{}.{element}", whole.name), ..whole.clone() }
        };
        Some(elements.iter().map(|(label, _)| label).enumerate().map(of).collect())
    }
}
