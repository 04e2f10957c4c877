//! Dependence: the arguments that a value depends on, and the steps where the path from them breaks.

use crate::ir::analysis::data_flow::Fact;
use crate::ir::{FunctionId, Obstacle};
use crate::source::Span;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// How the content of a register came about.
#[derive(Clone, Default, PartialEq, Debug)]
pub struct Dependence {
    /// The components of the arguments that it varies with.
    pub on: BTreeSet<u32>,
    /// Arguments that reach it over a step that breaks the path.
    pub breaks: BTreeMap<(u32, StepId), Rc<Break>>,
    /// It came out of code that is unknown.
    pub unknown: bool,
    /// It was read from a box that the function did not fill itself.
    pub from_boxes: bool,
    /// It was read from a global variable.
    pub from_globals: bool,
    /// It went through `withoutDerivative`.
    pub cut: bool,
    /// It is an array in which some elements did not come over a step that breaks the path.
    pub mixed: bool,
}

/// A step, in any function: function, block, place in the block.
pub type StepId = (FunctionId, u32, u32);

/// A step that breaks the path from an argument to the result.
#[derive(PartialEq, Debug)]
pub struct Break {
    /// Why.
    pub why: BreakReason,
    /// Where, in the user's code if there is a place there.
    pub span: Span,
    /// The calls that lead there, from the outermost: name of the called function, place of the call.
    pub calls: Vec<(Rc<str>, Span)>,
    /// Whether it is in a function that the called one was given.
    pub is_given: bool,
}

/// Why a path breaks.
#[derive(Clone, PartialEq, Debug)]
pub enum BreakReason {
    /// A number becomes something that is not a number, by the primitive of that name.
    Conversion(&'static str),
    /// The argument of a parameter that is marked `@noDerivative`.
    Argument,
    /// What is stored in a property that is marked `@noDerivative`.
    Property,
    /// A function without a derivative whose body is unknown.
    Opaque(Rc<str>),
    /// A function, and what is in the way of its derivative.
    Obstacle(Obstacle),
}

/// What a function may do to what is stored outside of it, calls included.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Effects {
    /// It calls code that is unknown.
    pub unknown: bool,
    /// It writes boxes.
    pub boxes: bool,
    /// It writes global variables.
    pub globals: bool,
}

impl Effects {
    pub(super) fn add(&mut self, other: Effects) {
        self.unknown |= other.unknown;
        self.boxes |= other.boxes;
        self.globals |= other.globals;
    }
}

/// What is known of a function, its calls included.
#[derive(Clone, Default, PartialEq, Debug)]
pub struct Summary {
    /// One for each component of the results.
    pub results: Vec<Known>,
    /// What it writes.
    pub effects: Effects,
    /// Whether it ever returns.
    pub returns: bool,
}

impl Summary {
    /// Whether another look has brought nothing new. (Not the same as equality: round a recursion the way to a break can
    /// always be told as one call longer.)
    pub(super) fn covers(&self, new: &Summary) -> bool {
        self.results.len() == new.results.len()
            && self.effects == new.effects
            && self.returns == new.returns
            && self.results.iter().zip(&new.results).all(|(old, new)| !old.clone().join(new))
    }
}

/// A dependence, shared; `None` for a constant.
#[derive(Clone, Default, PartialEq, Debug)]
pub struct Known(pub Option<Rc<Dependence>>);

/// More breaks than this on one path are dropped: no reader reads more.
pub(super) const MOST_BREAKS: usize = 16;

impl Dependence {
    pub(super) fn absorb(&mut self, other: &Dependence) {
        self.on.extend(&other.on);
        for (key, found) in &other.breaks {
            if self.breaks.len() >= MOST_BREAKS {
                break;
            }
            self.breaks.entry(*key).or_insert_with(|| found.clone());
        }
        self.absorb_marks(other);
    }

    /// What is known of something that was taken out of it.
    pub(super) fn part(&self) -> Dependence {
        let mut part = self.clone();
        if part.mixed {
            part.breaks.clear();
            part.mixed = false;
        }
        part
    }

    pub(super) fn absorb_marks(&mut self, other: &Dependence) {
        self.unknown |= other.unknown;
        self.from_boxes |= other.from_boxes;
        self.from_globals |= other.from_globals;
        self.cut |= other.cut;
        self.mixed |= other.mixed;
    }

    pub(super) fn covers(&self, other: &Dependence) -> bool {
        self.on.is_superset(&other.on)
            && (self.breaks.len() >= MOST_BREAKS || other.breaks.keys().all(|k| self.breaks.contains_key(k)))
            && self.unknown >= other.unknown
            && self.from_boxes >= other.from_boxes
            && self.from_globals >= other.from_globals
            && self.cut >= other.cut
            && self.mixed >= other.mixed
    }
}

impl Known {
    pub(super) fn of(dependence: Dependence) -> Known {
        if dependence == Dependence::default() { Known(None) } else { Known(Some(Rc::new(dependence))) }
    }

    pub(super) fn unknown() -> Known {
        Known::of(Dependence { unknown: true, ..Dependence::default() })
    }

    pub(super) fn union<'a>(all: impl Iterator<Item = &'a Known>) -> Known {
        let mut sum = Known::default();
        for known in all {
            sum.join(known);
        }
        sum
    }

    /// The same with one thing changed.
    pub(super) fn with(&self, change: impl FnOnce(&mut Dependence)) -> Known {
        let mut dependence = self.0.as_deref().cloned().unwrap_or_default();
        change(&mut dependence);
        Known::of(dependence)
    }

    /// What comes out of storage: one element of several, so that it is not certain which one.
    pub(super) fn element(&self) -> Known {
        if self.0.as_ref().is_some_and(|d| !d.breaks.is_empty() || d.mixed) {
            return self.with(|d| {
                d.breaks.clear();
                d.mixed = false;
            });
        }
        self.clone()
    }

    /// What comes out of an array: the path to every element is broken, or it is not certain that it was that one.
    pub(super) fn array_element(&self) -> Known {
        if self.0.as_ref().is_some_and(|d| d.mixed || !d.on.is_empty()) { self.element() } else { self.clone() }
    }

    /// Whether it comes from arguments, and from nothing else.
    pub(super) fn is_from_arguments(&self) -> bool {
        let only = |d: &Dependence| !d.unknown && !d.from_boxes && !d.from_globals && !d.cut;
        self.0.as_ref().is_some_and(|d| only(d) && !(d.on.is_empty() && d.breaks.is_empty()))
    }
}

impl Fact for Known {
    fn join(&mut self, other: &Known) -> bool {
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
                Rc::make_mut(a).absorb(b);
                true
            }
        }
    }
}
