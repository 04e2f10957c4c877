//! Observer: what is remembered of each step while a check looks for numbers that are not finite, or for kinks.
//!
//! Otherwise nothing of this exists: a watched level takes the general rule, and keeps its steps beside the tape.

use super::Num;
use super::levels::Levels;
use super::node::RecordError;
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
    /// Their nodes; 0 for one that does not move.
    pub nodes: [u32; 3],
    /// The integer operand of an operation that has one.
    pub n: i64,
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

/// An operation at a kink.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Met {
    /// The operation.
    pub step: Step,
    /// Its partial derivatives; nothing for a comparison on which a branch depends.
    pub partials: Option<Sides>,
}

/// The partial derivatives of an operation at a kink.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Sides {
    /// On the left of the operand that moves; NaN where there is no value.
    pub left: f64,
    /// On the right; NaN where there is no value.
    pub right: f64,
    /// The partial derivative that is taken.
    pub taken: f64,
}

/// What an observer looks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Wanted {
    /// Numbers that are not finite.
    pub not_finite: bool,
    /// The program is to stop at the first of them, and not where it spoils a derivative.
    pub at_once: bool,
    /// Kinks.
    pub kinks: bool,
    /// The program is to stop at the first of those.
    pub no_kinks: bool,
    /// Kinks of the first steps only: those of a long run are not needed.
    pub briefly: bool,
    /// Every step, for an explanation of the derivative.
    pub steps: bool,
}

/// A look at every number.
#[derive(Debug, Default)]
pub struct Watch {
    wanted: Wanted,
    /// What was wanted before the program itself asked for the steps.
    before: Option<Wanted>,
    /// Where the program is.
    place: u32,
    times: HashMap<u32, u32>,
    /// How many steps were looked at.
    looks: u32,
    first: Option<Wrong>,
    kinks: Vec<Met>,
}

/// After so many steps a brief look ends.
const BRIEF: u32 = 20_000;

/// Kinks that are remembered; one for each place.
const KINKS: usize = 1000;

impl Levels {
    /// Begins to watch, if anything is wanted.
    pub fn watch(&mut self, wanted: Wanted) {
        let is_wanted = wanted.not_finite || wanted.kinks || wanted.steps;
        self.set_watch(is_wanted.then(|| Box::new(Watch { wanted, ..Watch::default() })));
    }

    /// Begins or ends to watch every step, as the program asks.
    pub fn watch_steps(&mut self, wants: bool) {
        match &mut self.watch {
            None if wants => {
                let wanted = Wanted { steps: true, kinks: true, ..Wanted::default() };
                let before = Some(Wanted::default());
                self.set_watch(Some(Box::new(Watch { wanted, before, ..Watch::default() })));
            }
            Some(watch) if wants && !watch.wanted.steps => {
                watch.before = Some(watch.wanted);
                (watch.wanted.steps, watch.wanted.kinks) = (true, true);
            }
            Some(watch) if !wants => match watch.before.take() {
                Some(before) if before == Wanted::default() => {
                    self.set_watch(None);
                }
                Some(before) => watch.wanted = before,
                None => {}
            },
            _ => {}
        }
    }

    /// Whether an observer is active.
    #[inline(always)]
    pub fn is_watched(&self) -> bool {
        self.watch.is_some()
    }

    /// Whether the observer looks for numbers that are not finite.
    #[inline(always)]
    pub fn is_searched(&self) -> bool {
        self.watch.as_ref().is_some_and(|watch| watch.wanted.not_finite)
    }

    /// Whether sweeps are shown step by step.
    #[inline(always)]
    pub fn is_shown(&self) -> bool {
        self.watch.as_ref().is_some_and(|watch| watch.wanted.steps)
    }

    /// Where the program is, while sweeps are shown step by step.
    pub(super) fn place_shown(&self) -> Option<u32> {
        self.watch.as_ref().filter(|watch| watch.wanted.steps).map(|watch| watch.place)
    }

    /// Whether the program is to stop at a kink.
    pub(super) fn refuses_kinks(&self) -> bool {
        self.watch.as_ref().is_some_and(|watch| watch.wanted.no_kinks)
    }

    /// Whether the program is to stop at the first of them.
    pub fn stops_at_once(&self) -> bool {
        self.watch.as_ref().is_some_and(|watch| watch.wanted.at_once)
    }

    /// The kinks that were met, in order, and forgets them.
    pub fn take_kinks(&mut self) -> Vec<Met> {
        let mut met = std::mem::take(&mut self.kinks_met);
        if let Some(watch) = &mut self.watch {
            met.append(&mut watch.kinks);
        }
        met
    }

    /// Where the program is from now on.
    pub fn set_place(&mut self, place: u32) {
        let Some(watch) = &mut self.watch else { return };
        watch.place = place;
        watch.looks = watch.looks.saturating_add(1);
        if watch.looks > BRIEF && watch.wanted == (Wanted { kinks: true, briefly: true, ..Wanted::default() }) {
            let kinks = std::mem::take(&mut watch.kinks);
            self.kinks_met.extend(kinks);
            self.set_watch(None);
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

    /// Looks at an operation of level `k`; gives it as a step, if those are to be kept.
    pub(super) fn observe(
        &mut self,
        k: usize,
        id: PrimitiveId,
        (x, n): (&[Num], i64),
        result: f64,
    ) -> Result<Option<Step>, RecordError> {
        if self.watch.is_none() {
            return Ok(None);
        }
        let kink = self.kink(k, id, x, result);
        let mut nodes = [0; 3];
        for (to, from) in nodes.iter_mut().zip(x) {
            *to = self.node(k, *from);
        }
        let Some(watch) = &mut self.watch else { return Ok(None) };
        let time = watch.times.entry(watch.place).or_default();
        *time += 1;
        let operands = x.len() as u8;
        let mut step = Step { place: watch.place, time: *time, id, x: [0.0; 3], operands, nodes, n, result };
        for (to, from) in step.x.iter_mut().zip(x) {
            *to = from.value;
        }
        if kink.is_some() && watch.wanted.kinks {
            watch.met(Met { step, partials: kink })?;
        }
        if !watch.wanted.not_finite {
            return Ok(watch.wanted.steps.then_some(step));
        }
        if !result.is_finite() && x.iter().all(|x| x.value.is_finite()) {
            watch.found(Wrong::Value(step))?;
        }
        Ok(Some(step))
    }

    /// The partial derivatives on both sides of the first operand that moves in level `k` and is at a kink, and the one
    /// that is taken.
    fn kink(&self, k: usize, id: PrimitiveId, x: &[Num], result: f64) -> Option<Sides> {
        let one_sided = id.info().one_sided?;
        // `max(x, x)` moves as `x` does.
        if matches!(x, [a, b] if a.slot == b.slot) {
            return None;
        }
        let values: Vec<f64> = x.iter().map(|x| x.value).collect();
        let moves = |x: &Num| Some(x.slot.epoch) == self.epoch_at(k);
        let sides = |i: usize| {
            let [left, right] = one_sided(i, &values)?;
            Some(Sides { left, right, taken: id.info().partial_at(i, &values, 0, result)? })
        };
        x.iter().enumerate().filter(|(_, x)| moves(x)).find_map(|(i, _)| sides(i))
    }

    /// Looks at a comparison of two numbers on which a branch depends. Where they are equal and one of them moves, the
    /// branch is taken exactly at its threshold.
    ///
    /// # Errors
    /// [`RecordError::Kink`] when the program is to stop there.
    pub fn compared(&mut self, id: PrimitiveId, x: [Num; 2]) -> Result<(), RecordError> {
        let moves = x[0].slot != x[1].slot && self.innermost(&x).is_some_and(|k| !self.is_paused(k));
        let Some(watch) = self.watch.as_mut().filter(|watch| watch.wanted.kinks) else { return Ok(()) };
        if !moves || x[0].value != x[1].value {
            return Ok(());
        }
        let step = watch.step(id, &x.map(|x| x.value), f64::NAN);
        watch.met(Met { step, partials: None })
    }

    /// Looks at a step whose partial derivative is 0 wherever it has one: it may be at a jump.
    ///
    /// # Errors
    /// [`RecordError::Kink`] when the program is to stop there.
    pub fn flat(&mut self, id: PrimitiveId, x: Num) -> Result<(), RecordError> {
        let Some(k) = self.innermost(&[x]).filter(|k| !self.is_paused(*k)) else { return Ok(()) };
        let result = id.info().number(&[x.value], 0).unwrap_or(f64::NAN);
        let Some(partials) = self.kink(k, id, &[x], result) else { return Ok(()) };
        let Some(watch) = self.watch.as_mut().filter(|watch| watch.wanted.kinks) else { return Ok(()) };
        let step = watch.step(id, &[x.value], result);
        watch.met(Met { step, partials: Some(partials) })
    }

    /// Looks at the tangent of a step.
    pub(super) fn observe_tangent(&mut self, step: Option<Step>, of: &[f64], tangent: f64) -> Result<(), RecordError> {
        match (&mut self.watch, step) {
            (Some(watch), Some(step)) if !tangent.is_finite() && of.iter().all(|t| t.is_finite()) => {
                watch.found(Wrong::Tangent(step, tangent))
            }
            _ => Ok(()),
        }
    }
}

impl Watch {
    /// A step at this place that has no node.
    fn step(&mut self, id: PrimitiveId, of: &[f64], result: f64) -> Step {
        let time = self.times.entry(self.place).or_default();
        *time += 1;
        let mut x = [0.0; 3];
        x.iter_mut().zip(of).for_each(|(to, from)| *to = *from);
        Step { place: self.place, time: *time, id, x, operands: of.len() as u8, nodes: [0; 3], n: 0, result }
    }

    fn found(&mut self, wrong: Wrong) -> Result<(), RecordError> {
        self.first.get_or_insert(wrong);
        if self.wanted.at_once { Err(RecordError::NotFinite) } else { Ok(()) }
    }

    fn met(&mut self, kink: Met) -> Result<(), RecordError> {
        let known = self.kinks.iter().any(|k| (k.step.place, k.step.id) == (kink.step.place, kink.step.id));
        if !known && self.kinks.len() < KINKS {
            self.kinks.push(kink);
        }
        if self.wanted.no_kinks { Err(RecordError::Kink(kink.step.id)) } else { Ok(()) }
    }
}
