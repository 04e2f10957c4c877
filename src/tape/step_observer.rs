//! Step observer: searches for numbers that are not finite and for kinks, and stores the steps of watched levels.
//!
//! A watched level takes the general rule and stores its steps beside the tape; other levels pay nothing for it.

use super::Num;
use super::flat_results::FlatResults;
use super::levels::Levels;
use super::node::RecordError;
use super::observer::{NonFiniteScalar, ObservedStep, Observer, ObserverOptions, Operation};
use super::tied_masks::TiedMasks;
use crate::native::PrimitiveId;
use crate::native::tensor::TensorKink;
use crate::tensor::Tensor;
use crate::value::Slot;
use hashbrown::HashMap;
use std::rc::Rc;

/// The first value in a run that became infinite or NaN.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum NonFinite {
    /// The result of a step with finite operands is not finite.
    Value(ObservedStep),
    /// The tangent of a step whose operands have finite tangents is not finite.
    Tangent(ObservedStep, f64),
    /// A number that an operation of tensors has computed is not finite.
    Scalar(NonFiniteScalar),
}

/// An operation at a kink.
#[derive(Clone, PartialEq, Debug)]
pub struct KinkOccurrence {
    /// The operation.
    pub operation: KinkOperation,
    /// The partial derivatives of the operation at the kink; `None` for a comparison on which a branch depends.
    pub partials: Option<KinkPartials>,
}

/// An operation that is at a kink.
#[derive(Clone, PartialEq, Debug)]
pub enum KinkOperation {
    /// A primitive of numbers, as an observed step.
    Step(ObservedStep),
    /// An operation of tensors.
    Tensor {
        /// The scalars at the kink.
        kink: Box<TensorKink>,
        /// The number that the machine assigns to the source location of the operation.
        place: u32,
        /// The number of the operation among the operations at this source location since the outermost level was opened.
        time: u32,
    },
}

impl KinkOperation {
    /// Returns the number of the source location of the operation.
    pub fn place(&self) -> u32 {
        match self {
            KinkOperation::Step(step) => step.place,
            KinkOperation::Tensor { place, .. } => *place,
        }
    }

    /// Returns the number of the operation among the operations at its source location.
    pub fn time(&self) -> u32 {
        match self {
            KinkOperation::Step(step) => step.time,
            KinkOperation::Tensor { time, .. } => *time,
        }
    }

    /// Returns the name of the operation.
    fn name(&self) -> &'static str {
        match self {
            KinkOperation::Step(step) => step.id.info().symbol,
            KinkOperation::Tensor { kink, .. } => kink.name,
        }
    }
}

/// The partial derivatives of an operation at a kink.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct KinkPartials {
    /// The partial derivative on the left of the kink; NaN where there is no value.
    pub left: f64,
    /// The partial derivative on the right of the kink; NaN where there is no value.
    pub right: f64,
    /// The partial derivative that is used.
    pub taken: f64,
}

/// The observer that searches for non-finite numbers and kinks, and stores steps.
#[derive(Debug, Default)]
pub struct Watch {
    options: ObserverOptions,
    /// The options before the program itself requested the steps for an explanation.
    previous: Option<ObserverOptions>,
    /// The number of the current source location.
    place: u32,
    times: HashMap<u32, u32>,
    /// The number of steps that were observed.
    step_count: u32,
    first: Option<NonFinite>,
    kinks: Vec<KinkOccurrence>,
    tied_masks: TiedMasks,
    flat_results: FlatResults,
}

/// The number of steps after which a brief observation ends.
const BRIEF_STEPS: u32 = 20_000;

/// The maximum number of recorded kinks. One kink is recorded for each source location.
const MAX_KINKS: usize = 1000;

impl Levels {
    /// Starts the observation of steps, if `options` request any.
    pub fn watch(&mut self, options: ObserverOptions) {
        let is_needed = options.not_finite || options.kinks || options.steps;
        self.set_observer(is_needed.then(|| Box::new(Watch { options, ..Watch::default() }) as Box<dyn Observer>));
    }

    /// Starts or ends the observation of every step, as the program requests.
    pub fn watch_steps(&mut self, is_requested: bool) {
        match self.watch_mut() {
            None if is_requested => {
                let options = ObserverOptions { steps: true, kinks: true, ..ObserverOptions::default() };
                let previous = Some(ObserverOptions::default());
                self.set_observer(Some(Box::new(Watch { options, previous, ..Watch::default() })));
            }
            Some(watch) if is_requested && !watch.options.steps => {
                watch.previous = Some(watch.options);
                (watch.options.steps, watch.options.kinks) = (true, true);
            }
            Some(watch) if !is_requested => match watch.previous.take() {
                Some(previous) if previous == ObserverOptions::default() => {
                    self.set_observer(None);
                }
                Some(previous) => watch.options = previous,
                None => {}
            },
            _ => {}
        }
    }

    /// Whether the program is to stop at the first number that is not finite.
    pub fn stops_at_once(&self) -> bool {
        self.options().stops_at_first
    }

    /// Takes the kinks that were observed, in the order of observation.
    pub fn take_kinks(&mut self) -> Vec<KinkOccurrence> {
        self.watch_mut().map(|watch| std::mem::take(&mut watch.kinks)).unwrap_or_default()
    }

    /// Sets the number of the current source location. Returns the observed kinks when a brief observation ends.
    pub fn set_place(&mut self, place: u32) -> Vec<KinkOccurrence> {
        let Some(watch) = self.watch_mut() else { return vec![] };
        watch.place = place;
        watch.step_count = watch.step_count.saturating_add(1);
        if watch.step_count > BRIEF_STEPS
            && watch.options == (ObserverOptions { kinks: true, is_brief: true, ..ObserverOptions::default() })
        {
            let kinks = std::mem::take(&mut watch.kinks);
            self.set_observer(None);
            return kinks;
        }
        vec![]
    }

    /// Returns the first value that became infinite or NaN.
    pub fn first_non_finite(&self) -> Option<NonFinite> {
        self.observer.as_ref()?.of::<Watch>()?.first
    }

    fn watch_mut(&mut self) -> Option<&mut Watch> {
        self.observer.as_mut()?.of_mut()
    }

    /// Observes a comparison of two numbers on which a branch depends. Where the numbers are equal and one of them
    /// varies, the branch is taken exactly at its threshold.
    ///
    /// # Errors
    /// [`RecordError::Kink`] when the program is to stop there.
    pub fn compared(&mut self, id: PrimitiveId, x: [Num; 2]) -> Result<(), RecordError> {
        let varies = x[0].slot != x[1].slot && self.innermost(&x).is_some_and(|k| !self.is_paused(k));
        let Some(watch) = self.watch_mut().filter(|watch| watch.options.kinks) else { return Ok(()) };
        if !varies || x[0].value != x[1].value {
            return Ok(());
        }
        let step = watch.step(id, &x.map(|x| x.value), f64::NAN);
        watch.add_kink(KinkOccurrence { operation: KinkOperation::Step(step), partials: None })
    }

    /// Observes a step whose partial derivative is 0 wherever it exists: the step may be at a jump.
    ///
    /// # Errors
    /// [`RecordError::Kink`] when the program is to stop there.
    pub fn flat(&mut self, id: PrimitiveId, x: Num) -> Result<(), RecordError> {
        let Some(k) = self.innermost(&[x]).filter(|k| !self.is_paused(*k)) else { return Ok(()) };
        let result = id.info().number(&[x.value], 0).unwrap_or(f64::NAN);
        let epoch = self.epoch_at(k).unwrap_or_default();
        let Some(partials) = kink(epoch, id, &[x], result) else { return Ok(()) };
        let Some(watch) = self.watch_mut().filter(|watch| watch.options.kinks) else { return Ok(()) };
        let step = watch.step(id, &[x.value], result);
        watch.add_kink(KinkOccurrence { operation: KinkOperation::Step(step), partials: Some(partials) })
    }
}

impl Observer for Watch {
    fn options(&self) -> ObserverOptions {
        self.options
    }

    fn place(&self) -> u32 {
        self.place
    }

    fn opened(&mut self) {
        self.times.clear();
        self.first = None;
        self.flat_results.clear();
    }

    fn computed(&mut self, operation: &Operation<'_>) -> Result<Option<ObservedStep>, RecordError> {
        let Operation { id, x, nodes, n, result, epoch } = *operation;
        if self.options.kinks {
            x.iter().try_for_each(|x| self.used(x.slot))?;
        }
        let kink = kink(epoch, id, x, result);
        let mut values = [0.0; 3];
        for (to, from) in values.iter_mut().zip(x) {
            *to = from.value;
        }
        let step = ObservedStep { nodes, n, ..self.step(id, &values[..x.len().min(3)], result) };
        if kink.is_some() && self.options.kinks {
            self.add_kink(KinkOccurrence { operation: KinkOperation::Step(step), partials: kink })?;
        }
        if !self.options.not_finite {
            return Ok(self.options.steps.then_some(step));
        }
        if !result.is_finite() && x.iter().all(|x| x.value.is_finite()) {
            self.add_non_finite(NonFinite::Value(step))?;
        }
        Ok(Some(step))
    }

    fn propagated(&mut self, step: &ObservedStep, of: &[f64], tangent: f64) -> Result<(), RecordError> {
        if tangent.is_finite() || !of.iter().all(|t| t.is_finite()) {
            return Ok(());
        }
        self.add_non_finite(NonFinite::Tangent(*step, tangent))
    }

    fn lost(&mut self, scalar: NonFiniteScalar) -> Result<(), RecordError> {
        if self.options.not_finite { self.add_non_finite(NonFinite::Scalar(scalar)) } else { Ok(()) }
    }

    fn met_kink(&mut self, kink: TensorKink, place: u32) -> Result<(), RecordError> {
        let partials = kink.partials.map(|[left, right, taken]| KinkPartials { left, right, taken });
        let time = self.count_at(place);
        self.add_kink(KinkOccurrence {
            operation: KinkOperation::Tensor { kink: Box::new(kink), place, time },
            partials,
        })
    }

    fn compared_tensors(&mut self, mask: &Rc<Tensor>, kink: TensorKink, place: u32) {
        self.tied_masks.add(mask, kink, place);
    }

    fn derived_mask(&mut self, from: &Rc<Tensor>, mask: &Rc<Tensor>) {
        if let Some((kink, place)) = self.tied_masks.find(from) {
            self.tied_masks.add(mask, kink, place);
        }
    }

    fn computed_flat(&mut self, slot: Slot, kink: TensorKink, place: u32) {
        self.flat_results.add(slot, (kink, place));
    }

    fn flat_result(&self, slot: Slot) -> Option<(TensorKink, u32)> {
        self.flat_results.find(slot)
    }

    fn used_mask(&mut self, mask: &Rc<Tensor>) -> Result<(), RecordError> {
        match self.tied_masks.find(mask) {
            Some((kink, place)) => self.met_kink(kink, place),
            None => Ok(()),
        }
    }
}

/// Returns the partial derivatives on both sides of the first operand that varies in the level `epoch` and is at a
/// kink, and the partial derivative that is taken.
fn kink(epoch: u64, id: PrimitiveId, x: &[Num], result: f64) -> Option<KinkPartials> {
    let one_sided = id.info().one_sided?;
    // The result of `max(x, x)` varies as `x` does, so it is not at a kink.
    if matches!(x, [a, b] if a.slot == b.slot) {
        return None;
    }
    let values: Vec<f64> = x.iter().map(|x| x.value).collect();
    let sides = |i: usize| {
        let [left, right] = one_sided(i, &values)?;
        Some(KinkPartials { left, right, taken: id.info().partial_at(i, &values, 0, result)? })
    };
    x.iter().enumerate().filter(|(_, x)| x.slot.epoch == epoch).find_map(|(i, _)| sides(i))
}

impl Watch {
    /// Returns an observed step at the current source location, without a node.
    fn step(&mut self, id: PrimitiveId, of: &[f64], result: f64) -> ObservedStep {
        let time = self.count_at(self.place);
        let mut x = [0.0; 3];
        x.iter_mut().zip(of).for_each(|(to, from)| *to = *from);
        ObservedStep { place: self.place, time, id, x, operands: of.len() as u8, nodes: [0; 3], n: 0, result }
    }

    /// Counts an operation at a source location; returns its number among the operations there.
    fn count_at(&mut self, place: u32) -> u32 {
        let time = self.times.entry(place).or_default();
        *time += 1;
        *time
    }

    fn add_non_finite(&mut self, non_finite: NonFinite) -> Result<(), RecordError> {
        self.first.get_or_insert(non_finite);
        if self.options.stops_at_first { Err(RecordError::NotFinite) } else { Ok(()) }
    }

    fn add_kink(&mut self, kink: KinkOccurrence) -> Result<(), RecordError> {
        let name = kink.operation.name();
        let key = |k: &KinkOccurrence| (k.operation.place(), k.operation.name());
        if self.kinks.len() < MAX_KINKS && !self.kinks.iter().any(|known| key(known) == key(&kink)) {
            self.kinks.push(kink);
        }
        if self.options.stops_at_kinks { Err(RecordError::Kink(name)) } else { Ok(()) }
    }
}
