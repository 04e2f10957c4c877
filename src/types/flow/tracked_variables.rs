//! Tracked variables: the units of definite initialization. The analysis tracks variables declared without a value, the
//! `self` of an initializer by its stored properties, tuples by their elements, and the variables of the script.

use super::Flow;
use crate::source::Span;
use crate::syntax::ast::{Name, NominalKind};
use crate::types::conform::superclass;
use crate::types::model::declaration_tables::{FunctionKind, StoredData};
use crate::types::model::ty::{NominalId, Type};
use crate::types::model::typed_tree::{GlobalId, LocalId, Pattern, PatternKind, Projection, ProjectionKind};
use crate::types::nominal::stored_property;
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

/// The division of a variable into parts.
enum Division {
    /// The part is initialized as a whole.
    Whole(u32),
    /// The properties or elements are initialized one by one, the first of which has the given index: the properties
    /// before it are inherited.
    Split { parts: Range<u32>, first: u32, components: Vec<Division> },
}

impl Division {
    fn parts(&self) -> Range<u32> {
        match self {
            Division::Whole(part) => *part..*part + 1,
            Division::Split { parts, .. } => parts.clone(),
        }
    }
}

/// A local variable that the analysis tracks.
struct TrackedVariable {
    parts: Range<u32>,
    division: Division,
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

    /// Returns the parts that a place inside of a variable consists of, and whether the place contains all of them;
    /// `None` if the variable is not tracked by parts.
    pub(super) fn parts_at(&self, local: LocalId, path: &[Projection]) -> Option<(Range<u32>, bool)> {
        let component = |step: &Projection| match step.kind {
            ProjectionKind::Field(i) | ProjectionKind::Element(i) => Some(i),
            ProjectionKind::Accessor { .. } | ProjectionKind::Force => None,
        };
        self.parts_of(local, &mut path.iter().map_while(component)).map(|(parts, depth)| (parts, depth == path.len()))
    }

    /// Returns the parts that a component of a variable consists of, and the length of the path to the component, which
    /// is the longest prefix of `path` that is tracked; `None` if the variable is not tracked by parts.
    pub(super) fn parts_of(&self, local: LocalId, path: &mut dyn Iterator<Item = u32>) -> Option<(Range<u32>, usize)> {
        let mut at = &self.locals.get(&local)?.division;
        let mut depth = 0;
        while let Division::Split { first, components, .. } = at
            && let Some(index) = path.next()
        {
            at = components.get(index.checked_sub(*first)? as usize)?;
            depth += 1;
        }
        (depth > 0).then(|| (at.parts(), depth))
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
        let properties = match &variable.ty {
            Type::Nominal(n, _) if fills => self.properties(*n),
            _ => None,
        };
        let mut all = vec![];
        let start = self.variables.parts.len() as u32;
        let division = match properties {
            Some(properties) => divide(properties, 0, start, &mut all),
            None => divide_tuple(self.whole(local), &variable.ty, start, &mut all),
        };
        let parts = self.variables.add(all);
        self.variables.locals.insert(local, TrackedVariable { parts: parts.clone(), division });
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
        let mut properties = self.properties(n).unwrap_or_default();
        let is_convenience = superclass::is_convenience(self.cx, self.function);
        if is_convenience {
            properties.iter_mut().for_each(|(property, _)| property.has_value = false);
        }
        let leads_to = match (is_convenience, superclass::superclass(self.cx, n)) {
            (true, _) => Some("self.init"),
            (false, Some(_)) => Some("super.init"),
            (false, None) => None,
        };
        let mut parts = vec![];
        let first = superclass::inherited_count(self.cx, n);
        let division = divide(properties, first, self.variables.parts.len() as u32, &mut parts);
        let own = parts.len() as u32;
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
        self.variables.locals.insert(local, TrackedVariable { parts, division });
    }

    fn whole(&self, local: LocalId) -> Part {
        let variable = &self.body.locals[local.0 as usize];
        Part { name: variable.name.to_string(), declared: variable.span, once: variable.once, has_value: false }
    }

    /// Returns the properties of the `self` of an initializer with their types; `None` for a type that does not consist
    /// of stored properties.
    fn properties(&mut self, n: NominalId) -> Option<Vec<(Part, Type)>> {
        let data = self.cx.defs.nominal_data(n);
        if data.builtin.is_some() || data.kind == NominalKind::Enum {
            return None;
        }
        let of = |stored: &StoredData| Part {
            name: format!("self.{}", stored.name),
            declared: stored.span,
            once: stored.is_let,
            has_value: stored.value.is_some(),
        };
        let parts: Vec<Part> = data.stored.iter().map(of).collect();
        let typed = |(i, part)| (part, stored_property::stored_type(self.cx, n, i as u32));
        Some(parts.into_iter().enumerate().map(typed).collect())
    }
}

/// Divides a value into its properties, the first of which has the index `first`. Adds the parts, which are numbered
/// from `start`, to `all`.
fn divide(properties: Vec<(Part, Type)>, first: u32, start: u32, all: &mut Vec<Part>) -> Division {
    let begin = all.len() as u32;
    let components = properties.into_iter().map(|(part, ty)| divide_tuple(part, &ty, start, all)).collect();
    Division::Split { parts: start + begin..start + all.len() as u32, first, components }
}

/// Divides a variable or property without an initial value into the elements of its tuple type.
fn divide_tuple(part: Part, ty: &Type, start: u32, all: &mut Vec<Part>) -> Division {
    match ty {
        Type::Tuple(elements) if !part.has_value => {
            let of = |(i, (label, ty)): (usize, &(Option<Name>, Type))| {
                let element = label.as_ref().map_or_else(|| i.to_string(), ToString::to_string);
                (Part { name: format!("{}.{element}", part.name), ..part.clone() }, ty.clone())
            };
            divide(elements.iter().enumerate().map(of).collect(), 0, start, all)
        }
        _ => {
            all.push(part);
            Division::Whole(start + all.len() as u32 - 1)
        }
    }
}
