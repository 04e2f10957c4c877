//! Taylor series: computes truncated Taylor series along a recorded tape.
//!
//! A level that stores its steps retains the primitive of each of its nodes. When it ends, the polynomial of its one
//! leaf is propagated through these primitives in order. A primitive `y = f(x)` with the partial derivative `s = f'(x)`
//! maps a polynomial by `y' = s · x'`, so `k · yₖ = Σ j · xⱼ · sₖ₋ⱼ`: the coefficients of the partial derivative are
//! those of a formula, which consists of primitives, too, and the series of a partial derivative needs one coefficient
//! less than that of the result.
//!
//! Coefficients are numbers of the outer levels, so that they can be differentiated.
//! Not here: the recording (`general_rule`).

use super::Num;
use super::levels::{Direction, Levels};
use super::node::{Pool, RecordError};
use super::observer::{Observer, Recorded};
use crate::native::field::{OrderOffset, Test};
use crate::native::formula::{self, Formula};
use crate::native::{Partial, PrimitiveId, primitive_ids};
use hashbrown::HashMap;

/// The maximum number of operands of a primitive.
const OPERANDS: usize = 3;

/// The steps of a level, which are stored beside its nodes.
#[derive(Debug, Default)]
struct Steps {
    all: Vec<Recorded>,
    /// The number of nodes that the stored steps have recorded.
    nodes: usize,
    /// Whether some steps were recorded for their partials alone, by factors that are constants of the level although
    /// they vary with its leaf.
    lacks_partials: bool,
}

/// The number of bytes that a stored step takes, including its operands.
const STEP: u64 = (size_of::<Recorded>() + 2 * size_of::<(u32, Num)>()) as u64;

impl Observer for Steps {
    fn recorded(&mut self, step: Recorded, pool: &mut Pool) -> Result<(), RecordError> {
        pool.reserve(STEP)?;
        self.nodes += step.nodes;
        self.all.push(step);
        Ok(())
    }
}

impl Levels {
    /// Opens a reverse level that stores its steps, for one leaf.
    ///
    /// # Errors
    /// [`RecordError`] when too many levels are live.
    pub fn open_series(&mut self) -> Result<u64, RecordError> {
        let epoch = self.open(Direction::Reverse)?;
        self.set_level_observer(Some(Box::<Steps>::default()));
        Ok(epoch)
    }

    /// Notes that some steps of level `k` were recorded for their partials alone, and not by the primitives that
    /// computed their values.
    pub fn lose_partials(&mut self, k: usize) {
        let observer = self.stack.get_mut(k).and_then(|level| level.observer.as_mut());
        if let Some(steps) = observer.and_then(|observer| observer.of_mut::<Steps>()) {
            steps.lacks_partials = true;
        }
    }

    /// Ends the innermost level, one that stores its steps, and returns the coefficients of `y` around its leaf `x`, a
    /// number of the outer levels. `None` when an operation other than a primitive was recorded.
    ///
    /// # Errors
    /// [`RecordError`] when the coefficients are recorded in live levels and a limit is reached.
    pub fn close_series(&mut self, x: Num, y: Num, order: usize) -> Result<Option<Vec<Num>>, RecordError> {
        let Some(k) = self.depth().checked_sub(1) else { return Ok(None) };
        let (node, outside) = (self.node(k, y), self.strip(k, y));
        let mut observer = self.set_level_observer(None);
        let steps = observer.as_mut().and_then(|observer| observer.of_mut::<Steps>()).map(std::mem::take);
        let steps = steps.unwrap_or_default();
        let records = self.close().map_or(0, |tape| tape.records());
        let kept = STEP * steps.all.len() as u64;
        let is_known = records == steps.nodes && !steps.lacks_partials;
        let found = if is_known { self.series(&steps, (x, node, outside), order) } else { Ok(None) };
        self.pool().borrow_mut().release(kept);
        found
    }

    fn series(
        &mut self,
        steps: &Steps,
        (x, node, outside): (Num, u32, Num),
        order: usize,
    ) -> Result<Option<Vec<Num>>, RecordError> {
        if node == 0 {
            return Ok(Some(padded(vec![outside], order)));
        }
        let bytes = (steps.all.len() * (order + 1) * size_of::<Num>()) as u64;
        self.pool().borrow_mut().reserve(bytes)?;
        let mut known: HashMap<u32, Vec<Num>> = HashMap::from([(1, vec![x, Num::constant(1.0)])]);
        let mut done = Ok(());
        for step in &steps.all {
            let mut series = Series { levels: self, streams: vec![], made: HashMap::new() };
            match series.of_step(step, &known, order) {
                Ok(coefficients) => known.insert(step.node, coefficients),
                Err(full) => {
                    done = Err(full);
                    break;
                }
            };
        }
        self.pool().borrow_mut().release(bytes);
        done.map(|()| known.remove(&node).map(|found| padded(found, order)))
    }
}

fn padded(mut coefficients: Vec<Num>, order: usize) -> Vec<Num> {
    coefficients.resize(order + 1, Num::default());
    coefficients
}

/// Taylor series that depend on each other, each computed as far as it was needed.
struct Series<'l> {
    levels: &'l mut Levels,
    streams: Vec<Stream>,
    /// The series of primitives, by primitive and operands: each series is created once.
    made: HashMap<(PrimitiveId, i64, Vec<usize>), usize>,
}

struct Stream {
    /// The primitive with its integer and its operands; `None` for a series whose coefficients are all known, and are
    /// followed by zeros.
    of: Option<(PrimitiveId, i64, Vec<usize>)>,
    coefficients: Vec<Num>,
    /// The series of the partial derivatives, as far as they were needed.
    partials: [Option<usize>; OPERANDS],
}

impl Series<'_> {
    fn of_step(
        &mut self,
        step: &Recorded,
        known: &HashMap<u32, Vec<Num>>,
        order: usize,
    ) -> Result<Vec<Num>, RecordError> {
        let operands = step.operands.iter().map(|(node, constant)| match known.get(node) {
            Some(coefficients) => self.given(coefficients.clone()),
            None => self.given(vec![*constant]),
        });
        let operands = operands.collect();
        let result = self.apply(step.id, step.n, operands);
        self.coefficient(result, order)?;
        Ok(std::mem::take(&mut self.streams[result].coefficients))
    }

    fn given(&mut self, coefficients: Vec<Num>) -> usize {
        self.streams.push(Stream { of: None, coefficients, partials: [None; OPERANDS] });
        self.streams.len() - 1
    }

    fn apply(&mut self, id: PrimitiveId, n: i64, operands: Vec<usize>) -> usize {
        let key = (id, n, operands);
        if let Some(known) = self.made.get(&key) {
            return *known;
        }
        self.streams.push(Stream { of: Some(key.clone()), coefficients: vec![], partials: [None; OPERANDS] });
        self.made.insert(key, self.streams.len() - 1);
        self.streams.len() - 1
    }

    fn coefficient(&mut self, stream: usize, k: usize) -> Result<Num, RecordError> {
        loop {
            let this = &self.streams[stream];
            if let Some(known) = this.coefficients.get(k) {
                return Ok(*known);
            }
            let Some((id, n, x)) = this.of.clone() else { return Ok(Num::default()) };
            let next = self.next(stream, (id, n, &x), this.coefficients.len())?;
            self.streams[stream].coefficients.push(next);
        }
    }

    /// Returns coefficient `k` of the result of a primitive, whose earlier coefficients are known.
    fn next(&mut self, y: usize, (id, n, x): (PrimitiveId, i64, &[usize]), k: usize) -> Result<Num, RecordError> {
        if k == 0 {
            let mut first = [Num::default(); OPERANDS];
            for (to, operand) in first.iter_mut().zip(x) {
                *to = self.coefficient(*operand, 0)?;
            }
            return self.levels.record_with(id, &first[..x.len().min(OPERANDS)], n);
        }
        match (id.info().partials(), x) {
            ([], _) => Ok(Num::default()),
            // A rounding rounds each coefficient of the series.
            ([Partial::Constant(_)], [only]) => match self.coefficient(*only, k)? {
                zero if self.levels.is_zero(zero) => Ok(zero),
                other => self.levels.record(id, &[other]),
            },
            ([Partial::Constant(a), Partial::Constant(b)], [x, y]) => {
                let (x, y) = (self.coefficient(*x, k)?, self.coefficient(*y, k)?);
                let sum = self.plus(None, x, Num::constant(*a))?;
                Ok(self.plus(sum, y, Num::constant(*b))?.unwrap_or_default())
            }
            // A product 0·∞ has no partial derivatives.
            ([Partial::Factor(_), ..], [a, b, ..]) if self.has_no_partials(*a, *b)? => Ok(Num::constant(f64::NAN)),
            ([Partial::Factor(_), Partial::Factor(_)], [a, b]) => {
                let mut sum = None;
                for j in 0..=k {
                    let (a, b) = (self.coefficient(*a, j)?, self.coefficient(*b, k - j)?);
                    sum = self.plus(sum, a, b)?;
                }
                Ok(sum.unwrap_or_default())
            }
            ([Partial::Reciprocal, Partial::Quotient], [a, b]) if self.coefficient(y, 0)?.value.is_finite() => {
                self.quotient(y, *a, *b, k)
            }
            _ => self.by_partials(y, x, k),
        }
    }

    /// Computes `yₖ = (aₖ - Σ yⱼ · bₖ₋ⱼ) / b₀`.
    fn quotient(&mut self, y: usize, a: usize, b: usize, k: usize) -> Result<Num, RecordError> {
        let mut sum = None;
        let above = self.coefficient(a, k)?;
        sum = self.plus(sum, above, Num::constant(1.0))?;
        for j in 0..k {
            let below = self.coefficient(b, k - j)?;
            if !self.levels.is_zero(below) {
                let earlier = self.coefficient(y, j)?;
                let term = self.levels.scaled(below, Num::constant(-1.0))?;
                sum = self.plus(sum, earlier, term)?;
            }
        }
        let below = self.coefficient(b, 0)?;
        match sum {
            Some(sum) => self.levels.record(primitive_ids::DIV, &[sum, below]),
            None => Ok(Num::default()),
        }
    }

    /// Computes coefficient `k` of a primitive's result by `k · yₖ = Σ j · xⱼ · sₖ₋ⱼ`, summed over all operands.
    fn by_partials(&mut self, y: usize, x: &[usize], k: usize) -> Result<Num, RecordError> {
        let mut sum = None;
        for (i, operand) in x.iter().enumerate() {
            // An operand that varies by 0 must not be skipped where the partial derivative is infinite, because the
            // product 0·∞ is NaN.
            if self.varies(*operand) {
                let tangent = self.coefficient(*operand, 1)?;
                let partial = self.partial(y, i)?;
                if self.levels.is_zero(tangent) && !self.coefficient(partial, 0)?.value.is_finite() {
                    return Ok(Num::constant(f64::NAN));
                }
            }
            for j in 1..=k {
                let tangent = self.coefficient(*operand, j)?;
                if self.levels.is_zero(tangent) {
                    continue;
                }
                let partial = self.partial(y, i)?;
                let partial = self.coefficient(partial, k - j)?;
                let tangent = self.levels.scaled(tangent, Num::constant(j as f64 / k as f64))?;
                sum = self.plus(sum, tangent, partial)?;
            }
        }
        Ok(sum.unwrap_or_default())
    }

    /// Computes `sum + a · b`; a zero factor contributes nothing.
    fn plus(&mut self, sum: Option<Num>, a: Num, b: Num) -> Result<Option<Num>, RecordError> {
        if self.levels.is_zero(a) || self.levels.is_zero(b) {
            return Ok(sum);
        }
        let term = self.levels.scaled(a, b)?;
        self.levels.plus(sum, term).map(Some)
    }

    /// Whether the product of two series, of which one varies, begins with 0·∞.
    fn has_no_partials(&mut self, a: usize, b: usize) -> Result<bool, RecordError> {
        let (x, y) = (self.coefficient(a, 0)?.value, self.coefficient(b, 0)?.value);
        Ok((x * y).is_nan() && !x.is_nan() && !y.is_nan() && (self.varies(a) || self.varies(b)))
    }

    /// Whether a series has more coefficients than the constant coefficient.
    fn varies(&self, stream: usize) -> bool {
        match &self.streams[stream].of {
            Some((id, _, x)) => !id.info().partials().is_empty() && x.iter().any(|x| self.varies(*x)),
            None => self.streams[stream].coefficients.len() > 1,
        }
    }

    fn partial(&mut self, y: usize, i: usize) -> Result<usize, RecordError> {
        if let Some(known) = self.streams[y].partials[i] {
            return Ok(known);
        }
        let Some((id, n, x)) = self.streams[y].of.clone() else { return Ok(self.given(vec![])) };
        let partial = match formula::partials(id).get(i) {
            Some(formula) => self.made_of(formula, y, (n, &x))?,
            None => self.given(vec![]),
        };
        self.streams[y].partials[i] = Some(partial);
        Ok(partial)
    }

    /// Returns the series of a partial derivative, computed by its formula.
    fn made_of(&mut self, formula: &Formula, y: usize, (n, x): (i64, &[usize])) -> Result<usize, RecordError> {
        Ok(match formula {
            Formula::Operand(k) => x[*k as usize],
            Formula::Result => y,
            Formula::Constant(c) => self.given(vec![Num::constant(*c)]),
            Formula::Number(OrderOffset(by)) => self.given(vec![Num::constant(n.saturating_add(*by) as f64)]),
            Formula::Apply(id, operands, OrderOffset(by)) => {
                let mut of = vec![];
                for operand in operands {
                    of.push(self.made_of(operand, y, (n, x))?);
                }
                self.apply(*id, n.saturating_add(*by), of)
            }
            Formula::Select(parts) => {
                let (test, then, otherwise) = &**parts;
                let (Test::Equal(a, b) | Test::Less(a, b) | Test::AtMost(a, b)) = test;
                let (a, b) = (self.made_of(a, y, (n, x))?, self.made_of(b, y, (n, x))?);
                let (a, b) = (self.coefficient(a, 0)?.value, self.coefficient(b, 0)?.value);
                let holds = match test {
                    Test::Equal(..) => a == b,
                    Test::Less(..) => a < b,
                    Test::AtMost(..) => a <= b,
                };
                self.made_of(if holds { then } else { otherwise }, y, (n, x))?
            }
            Formula::Bound(_) => unreachable!("a sum or an integral in a partial derivative"),
        })
    }
}
