//! What is remembered of each step while somebody looks for numbers that are not finite.
//!
//! Otherwise nothing of this exists: a watched level takes the general rule, and keeps its steps beside the tape.

use super::Num;
use super::levels::Levels;
use super::node::TapeFull;
use crate::native::PrimitiveId;
use hashbrown::HashMap;

/// One operation on numbers that move.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Step {
    /// Where in the program, as the machine counts places.
    pub place: u32,
    /// Its number among the operations at that place since the outermost level was opened.
    pub time: u32,
    /// The operation.
    pub id: PrimitiveId,
    /// Its operands.
    pub x: [f64; 3],
    /// How many there are.
    pub operands: u8,
    /// Its result.
    pub result: f64,
}

/// What became infinite or NaN first.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Wrong {
    /// The result of a step with finite operands.
    Value(Step),
    /// The tangent of a step, those of whose operands are finite.
    Tangent(Step, f64),
}

/// A look at every number.
#[derive(Debug, Default)]
pub struct Watch {
    always: bool,
    /// Where the program is.
    place: u32,
    times: HashMap<u32, u32>,
    first: Option<Wrong>,
}

impl Levels {
    /// Begins to watch. `always`: the program is to stop at the first number, and not where it spoils a derivative.
    pub fn watch(&mut self, always: bool) {
        self.watch = Some(Box::new(Watch { always, ..Watch::default() }));
    }

    /// Whether somebody looks for numbers that are not finite.
    #[inline(always)]
    pub fn is_watched(&self) -> bool {
        self.watch.is_some()
    }

    /// Whether the program is to stop at the first of them.
    pub fn stops_at_once(&self) -> bool {
        self.watch.as_ref().is_some_and(|watch| watch.always)
    }

    /// Where the program is from now on.
    pub fn set_place(&mut self, place: u32) {
        if let Some(watch) = &mut self.watch {
            watch.place = place;
        }
    }

    /// What was the first.
    pub fn first_wrong(&self) -> Option<Wrong> {
        self.watch.as_ref()?.first
    }

    /// Forgets what was met: a new outermost level opens.
    pub(super) fn watch_anew(&mut self) {
        if let Some(watch) = &mut self.watch {
            watch.times.clear();
            watch.first = None;
        }
    }

    /// Looks at an operation; gives it as a step.
    pub(super) fn look(&mut self, id: PrimitiveId, x: &[Num], result: f64) -> Result<Option<Step>, TapeFull> {
        let Some(watch) = &mut self.watch else { return Ok(None) };
        let time = watch.times.entry(watch.place).or_default();
        *time += 1;
        let mut step = Step { place: watch.place, time: *time, id, x: [0.0; 3], operands: x.len() as u8, result };
        for (to, from) in step.x.iter_mut().zip(x) {
            *to = from.value;
        }
        if !result.is_finite() && x.iter().all(|x| x.value.is_finite()) {
            watch.found(Wrong::Value(step))?;
        }
        Ok(Some(step))
    }

    /// Looks at the tangent of a step.
    pub(super) fn look_at_tangent(&mut self, step: Option<Step>, of: &[f64], tangent: f64) -> Result<(), TapeFull> {
        match (&mut self.watch, step) {
            (Some(watch), Some(step)) if !tangent.is_finite() && of.iter().all(|t| t.is_finite()) => {
                watch.found(Wrong::Tangent(step, tangent))
            }
            _ => Ok(()),
        }
    }
}

impl Watch {
    fn found(&mut self, wrong: Wrong) -> Result<(), TapeFull> {
        self.first.get_or_insert(wrong);
        if self.always { Err(TapeFull::NotFinite) } else { Ok(()) }
    }
}
