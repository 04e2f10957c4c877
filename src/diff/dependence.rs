//! Dependence: describes the arguments that a value depends on, and the steps where tangents are lost on the way.

use crate::ir::analysis::data_flow::Fact;
use crate::ir::{FunctionId, Obstacle};
use crate::source::Span;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// The origin of the content of a register.
#[derive(Clone, Default, PartialEq, Debug)]
pub struct Dependence {
    /// The components of the arguments with which it varies.
    pub on: BTreeSet<u32>,
    /// The arguments that reach it through a step that loses the tangent.
    pub losses: BTreeMap<(u32, StepId), Rc<TangentLoss>>,
    /// Whether it comes from code that is unknown.
    pub unknown: bool,
    /// Whether it was read from a box that the function did not fill itself.
    pub from_boxes: bool,
    /// Whether it was read from a global variable.
    pub from_globals: bool,
    /// Whether it went through `withoutDerivative`.
    pub cut: bool,
    /// Whether it is an array of which some elements did not pass through a step that loses the tangent.
    pub mixed: bool,
}

/// The location of a step: function, block, place in the block.
pub type StepId = (FunctionId, u32, u32);

/// A step that loses the tangent on the path from an argument to the result.
#[derive(PartialEq, Debug)]
pub struct TangentLoss {
    /// The reason.
    pub reason: LossReason,
    /// The location, in the user's code if there is one.
    pub span: Span,
    /// The calls that lead to the step, from the outermost: the name of the called function, and the place of the call.
    pub calls: Vec<(Rc<str>, Span)>,
    /// Whether it is in a function that was passed to the called one as an argument.
    pub is_given: bool,
}

/// The reason why a tangent is lost.
#[derive(Clone, PartialEq, Debug)]
pub enum LossReason {
    /// A number becomes something that is not a number, by the primitive of that name.
    Conversion(&'static str),
    /// The argument of a parameter that is marked `@noDerivative`.
    Argument,
    /// A value stored in a property that is marked `@noDerivative`.
    Property,
    /// A function without a derivative whose body is unknown.
    Opaque(Rc<str>),
    /// A function, and the obstacle to its derivative.
    Obstacle(Obstacle),
}

/// The possible effects of a function on storage outside of it, calls included.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Effects {
    /// Whether it calls code that is unknown.
    pub unknown: bool,
    /// Whether it writes boxes.
    pub boxes: bool,
    /// Whether it writes global variables.
    pub globals: bool,
}

impl Effects {
    pub(super) fn add(&mut self, other: Effects) {
        self.unknown |= other.unknown;
        self.boxes |= other.boxes;
        self.globals |= other.globals;
    }
}

/// The analysis of a function, its calls included.
#[derive(Clone, Default, PartialEq, Debug)]
pub struct Summary {
    /// The dependence of each component of the results.
    pub results: Vec<SharedDependence>,
    /// The effects.
    pub effects: Effects,
    /// Whether it ever returns.
    pub returns: bool,
}

impl Summary {
    /// Whether another iteration has added nothing. (Not the same as equality: around a recursion the path to a loss can always
    /// be extended by one call.)
    pub(super) fn covers(&self, new: &Summary) -> bool {
        self.results.len() == new.results.len()
            && self.effects == new.effects
            && self.returns == new.returns
            && self.results.iter().zip(&new.results).all(|(old, new)| !old.clone().join(new))
    }
}

/// A dependence, shared; `None` for a constant.
#[derive(Clone, Default, PartialEq, Debug)]
pub struct SharedDependence(pub Option<Rc<Dependence>>);

/// The maximum number of losses on one path; others are dropped, because no reader reads more.
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

    /// Returns the dependence of a part that is extracted from this value.
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

    /// Returns a copy with one change.
    pub(super) fn with(&self, change: impl FnOnce(&mut Dependence)) -> SharedDependence {
        let mut dependence = self.0.as_deref().cloned().unwrap_or_default();
        change(&mut dependence);
        SharedDependence::of(dependence)
    }

    /// Returns the dependence of a value loaded from storage: one of several elements, so that it is not certain which one.
    pub(super) fn element(&self) -> SharedDependence {
        if self.0.as_ref().is_some_and(|d| !d.losses.is_empty() || d.mixed) {
            return self.with(|d| {
                d.losses.clear();
                d.mixed = false;
            });
        }
        self.clone()
    }

    /// Returns the dependence of a value loaded from an array: either the tangent of every element is lost, or it is not certain
    /// which element it was.
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
