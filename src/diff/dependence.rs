//! Dependence: describes the arguments that a value depends on, and the steps where tangents are lost on the way.

use crate::ir::analysis::data_flow::Fact;
use crate::ir::{FunctionId, Obstacle};
use crate::source::Span;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// The dependence of the content of a register on the arguments of the function.
#[derive(Clone, Default, PartialEq, Debug)]
pub struct Dependence {
    /// The components of the arguments on which the content depends.
    pub on: BTreeSet<u32>,
    /// The arguments that reach the content through a step that loses the tangent.
    pub losses: BTreeMap<(u32, StepId), Rc<TangentLoss>>,
    /// Whether the content comes from code that is unknown.
    pub unknown: bool,
    /// Whether the content was read from a box that the function did not fill itself.
    pub from_boxes: bool,
    /// Whether the content was read from a global variable.
    pub from_globals: bool,
    /// Whether the content went through `withoutDerivative`.
    pub cut: bool,
    /// Whether the content is an array of which some elements did not pass through a step that loses the tangent.
    pub mixed: bool,
}

/// The location of a step: the function, the block, and the index of the step in the block.
pub type StepId = (FunctionId, u32, u32);

/// A step that loses the tangent on the path from an argument to the result.
#[derive(PartialEq, Debug)]
pub struct TangentLoss {
    /// The reason why the tangent is lost.
    pub reason: LossReason,
    /// The source location of the step, in the program's own code if possible.
    pub span: Span,
    /// The calls that lead to the step, from the outermost: the name of the called function, and the location of the
    /// call.
    pub calls: Vec<(Rc<str>, Span)>,
    /// Whether the step is in a function that was passed to the called function as an argument.
    pub is_given: bool,
}

/// The reason why a tangent is lost.
#[derive(Clone, PartialEq, Debug)]
pub enum LossReason {
    /// A number becomes something that is not a number, by the primitive of that name.
    Conversion(&'static str),
    /// The value is passed to a parameter that is marked `@noDerivative`.
    Argument,
    /// The value is stored in a property that is marked `@noDerivative`.
    Property,
    /// The value is passed to a function without a derivative whose body is unknown.
    Opaque(Rc<str>),
    /// The value is passed to a function whose derivative has an obstacle.
    Obstacle(Obstacle),
}

/// The possible effects of a function, including its calls, on storage outside of it.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Effects {
    /// Whether the function calls code that is unknown.
    pub unknown: bool,
    /// Whether the function writes boxes.
    pub boxes: bool,
    /// Whether the function writes global variables.
    pub globals: bool,
}

impl Effects {
    pub(super) fn add(&mut self, other: Effects) {
        self.unknown |= other.unknown;
        self.boxes |= other.boxes;
        self.globals |= other.globals;
    }
}

/// The result of the analysis of a function, including its calls.
#[derive(Clone, Default, PartialEq, Debug)]
pub struct Summary {
    /// The dependence of each component of the function's results.
    pub results: Vec<SharedDependence>,
    /// The effects of the function.
    pub effects: Effects,
    /// Whether the function ever returns.
    pub returns: bool,
}

impl Summary {
    /// Whether another iteration of the analysis has added nothing. Equality would not terminate: around a recursion,
    /// the path to a loss can always be extended by one call.
    pub(super) fn covers(&self, new: &Summary) -> bool {
        self.results.len() == new.results.len()
            && self.effects == new.effects
            && self.returns == new.returns
            && self.results.iter().zip(&new.results).all(|(old, new)| !old.clone().join(new))
    }
}

/// A shared dependence; `None` for a constant.
#[derive(Clone, Default, PartialEq, Debug)]
pub struct SharedDependence(pub Option<Rc<Dependence>>);

/// The maximum number of losses on one path. Further losses are dropped, because no diagnostic lists more.
pub(super) const MAX_LOSSES: usize = 16;

impl Dependence {
    pub(super) fn merge(&mut self, other: &Dependence) {
        self.on.extend(&other.on);
        for (key, found) in &other.losses {
            if self.losses.len() >= MAX_LOSSES {
                break;
            }
            self.losses.entry(*key).or_insert_with(|| found.clone());
        }
        self.merge_flags(other);
    }

    /// Returns the dependence of a part that is extracted from the value with this dependence.
    pub(super) fn part(&self) -> Dependence {
        let mut part = self.clone();
        if part.mixed {
            part.losses.clear();
            part.mixed = false;
        }
        part
    }

    pub(super) fn merge_flags(&mut self, other: &Dependence) {
        self.unknown |= other.unknown;
        self.from_boxes |= other.from_boxes;
        self.from_globals |= other.from_globals;
        self.cut |= other.cut;
        self.mixed |= other.mixed;
    }

    pub(super) fn covers(&self, other: &Dependence) -> bool {
        self.on.is_superset(&other.on)
            && (self.losses.len() >= MAX_LOSSES || other.losses.keys().all(|k| self.losses.contains_key(k)))
            && self.unknown >= other.unknown
            && self.from_boxes >= other.from_boxes
            && self.from_globals >= other.from_globals
            && self.cut >= other.cut
            && self.mixed >= other.mixed
    }
}

impl SharedDependence {
    pub(super) fn of(dependence: Dependence) -> SharedDependence {
        if dependence == Dependence::default() {
            SharedDependence(None)
        } else {
            SharedDependence(Some(Rc::new(dependence)))
        }
    }

    pub(super) fn unknown() -> SharedDependence {
        SharedDependence::of(Dependence { unknown: true, ..Dependence::default() })
    }

    pub(super) fn union<'a>(all: impl Iterator<Item = &'a SharedDependence>) -> SharedDependence {
        let mut sum = SharedDependence::default();
        for known in all {
            sum.join(known);
        }
        sum
    }

    /// Returns a copy of the dependence with one change.
    pub(super) fn with(&self, change: impl FnOnce(&mut Dependence)) -> SharedDependence {
        let mut dependence = self.0.as_deref().cloned().unwrap_or_default();
        change(&mut dependence);
        SharedDependence::of(dependence)
    }

    /// Returns the dependence of a value that is loaded from storage of several elements, so that it is not certain
    /// which element the value was.
    pub(super) fn element(&self) -> SharedDependence {
        if self.0.as_ref().is_some_and(|d| !d.losses.is_empty() || d.mixed) {
            return self.with(|d| {
                d.losses.clear();
                d.mixed = false;
            });
        }
        self.clone()
    }

    /// Returns the dependence of a value that is loaded from an array: either the tangent of every element is lost, or
    /// it is not certain which element was loaded.
    pub(super) fn array_element(&self) -> SharedDependence {
        if self.0.as_ref().is_some_and(|d| d.mixed || !d.on.is_empty()) { self.element() } else { self.clone() }
    }

    /// Whether the value comes from arguments, and from nothing else.
    pub(super) fn is_from_arguments(&self) -> bool {
        let only = |d: &Dependence| !d.unknown && !d.from_boxes && !d.from_globals && !d.cut;
        self.0.as_ref().is_some_and(|d| only(d) && !(d.on.is_empty() && d.losses.is_empty()))
    }
}

impl Fact for SharedDependence {
    fn join(&mut self, other: &SharedDependence) -> bool {
        match (&mut self.0, &other.0) {
            (_, None) => false,
            (mine @ None, Some(_)) => {
                mine.clone_from(&other.0);
                true
            }
            (Some(a), Some(b)) => {
                if Rc::ptr_eq(a, b) || a.covers(b) {
                    return false;
                }
                Rc::make_mut(a).merge(b);
                true
            }
        }
    }
}
