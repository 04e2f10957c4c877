//! Linear map: the differential of the function that a reverse level recorded, which remains when the level has ended.

pub mod known_pattern;
pub mod lanes;
pub mod sparsity;

use super::Num;
use super::levels::{Direction, Levels, Mode};
use super::node::{Node, RecordError};
use super::recording::Tape;
use super::sweep::{Progress, Sweep};
use super::wide_node::{Template, Wide};
use crate::value::Ref;
use crate::value::shape::TangentId;
use std::rc::Rc;

/// A differential or, transposed, a pullback: a value like any other, which can be stored and called any number of
/// times.
#[derive(Clone, Debug)]
pub struct LinearMap {
    /// The tape of the recorded function.
    pub tape: Rc<Tape>,
    /// The node of each number of the result that can vary; 0 for a constant number. The nodes of the input are the
    /// leaves.
    pub outputs: Rc<[u32]>,
    /// The templates of the inputs, which describe their structure.
    pub x: Rc<[Template]>,
    /// The templates of the results, which describe their structure.
    pub y: Rc<[Template]>,
    /// Whether the map goes from results to inputs: whether it is a pullback.
    pub transposed: bool,
}

/// The transpose of a linear function whose arguments contain arrays or other containers: such a function can only be
/// recorded when it is called, because the number of their elements is not known before.
#[derive(Clone, Debug)]
pub struct UnsizedTranspose {
    /// The linear function that is transposed.
    pub function: Ref,
    /// The tangent type of the linear function's argument.
    pub at: TangentId,
    /// The tangent type of the linear function's result.
    pub result: TangentId,
}

impl LinearMap {
    /// Ends the innermost level, a reverse one, and returns the map from its leaves to `outputs`, which become numbers
    /// of the outer levels.
    pub fn close(levels: &mut Levels, outputs: &mut [Num]) -> LinearMap {
        let nodes = match levels.depth().checked_sub(1) {
            Some(k) => outputs
                .iter_mut()
                .map(|y| {
                    let node = levels.node(k, *y);
                    *y = levels.strip(k, *y);
                    node
                })
                .collect(),
            None => vec![0; outputs.len()],
        };
        let tape = levels.close().unwrap_or_else(|| Tape::empty(levels.pool()));
        LinearMap { tape: Rc::new(tape), outputs: nodes.into(), x: Rc::from([]), y: Rc::from([]), transposed: false }
    }

    /// Ends the innermost level, the only one, whose tape linearization code has recorded, and returns the map from its leaves
    /// to the nodes `outputs`. `None` if a partial derivative is not finite, or if a node is missing.
    pub fn of_linearization(levels: &mut Levels, outputs: Vec<u32>) -> Option<LinearMap> {
        let tape = levels.close()?;
        let is_sound = outputs.iter().all(|node| *node as usize <= tape.len()) && tape.is_sound();
        let empty = || Rc::from([]);
        is_sound.then(|| LinearMap {
            tape: Rc::new(tape),
            outputs: outputs.into(),
            x: empty(),
            y: empty(),
            transposed: false,
        })
    }

    /// Returns the linear map in the other direction.
    #[must_use]
    pub fn transpose(&self) -> LinearMap {
        LinearMap { transposed: !self.transposed, ..self.clone() }
    }

    /// Returns the direction in which an application of the map sweeps the tape.
    pub fn direction(&self) -> Direction {
        if self.transposed { Direction::Reverse } else { Direction::Forward }
    }

    /// Returns the nodes to which the seeds are added when the map is applied.
    pub fn seeded(&self) -> Vec<u32> {
        if self.transposed { self.outputs.to_vec() } else { (1..=self.tape.leaves()).collect() }
    }

    /// Returns the nodes from which the result is read when the map is applied.
    pub fn read(&self) -> Vec<u32> {
        if self.transposed { (1..=self.tape.leaves()).collect() } else { self.outputs.to_vec() }
    }

    /// Returns the linear map with other numbers of outer levels in its partial derivatives.
    #[must_use]
    pub fn with(&self, columns: super::recording::Columns, wide: Vec<Wide>) -> LinearMap {
        LinearMap { tape: Rc::new(self.tape.with(columns, wide)), ..self.clone() }
    }

    /// Computes the adjoints of the inputs from the adjoints of the results; for tapes without functions of the user's
    /// own.
    ///
    /// # Errors
    /// [`RecordError`] when the sweep is recorded in live levels and a limit is reached.
    pub fn pull_back(&self, levels: &mut Levels, seeds: &[Num]) -> Result<Vec<Num>, RecordError> {
        let map = LinearMap { transposed: true, ..self.clone() };
        Ok(map.apply(levels, seeds, &|| false)?.unwrap_or_default())
    }

    /// Computes the tangents of the results from the tangents of the inputs; for tapes without functions of the user's
    /// own.
    ///
    /// # Errors
    /// [`RecordError`] when the sweep is recorded in live levels and a limit is reached.
    pub fn push_forward(&self, levels: &mut Levels, seeds: &[Num]) -> Result<Vec<Num>, RecordError> {
        let map = LinearMap { transposed: false, ..self.clone() };
        Ok(map.apply(levels, seeds, &|| false)?.unwrap_or_default())
    }

    /// Applies the map to some seeds; `None` when `stop` reports that the user cancels. For tapes without functions of
    /// the user's own.
    ///
    /// # Errors
    /// [`RecordError`] when the sweep is recorded in live levels and a limit is reached.
    pub fn apply(
        &self,
        levels: &mut Levels,
        seeds: &[Num],
        stop: &dyn Fn() -> bool,
    ) -> Result<Option<Vec<Num>>, RecordError> {
        let mut sweep = Sweep::new(levels, &self.tape, self.direction());
        for (node, seed) in self.seeded().into_iter().zip(seeds) {
            sweep.add(levels, node, *seed)?;
        }
        let progress = sweep.run(levels, stop)?;
        let numbers = sweep.numbers(&self.read());
        sweep.finish(levels);
        match progress {
            Progress::Done => Ok(Some(numbers)),
            Progress::Interrupted => Ok(None),
            Progress::Call(_) => unreachable!("no function is called on this tape"),
        }
    }
}

impl Levels {
    /// Returns the number of leaves of the single reverse level, and the nodes that follow them; `None` if they are not in one
    /// piece, or if some of them are wide.
    pub fn single_chunk(&self) -> Option<(u32, &[Node])> {
        if self.mode() == Mode::SingleReverse { self.outermost.single_chunk() } else { None }
    }

    /// Appends a node for linearization code to the tape of the single level, unless both operands are constants. The operands
    /// and the result are the bits of node numbers.
    pub fn append_linear(&mut self, operands: [f64; 2], partials: [f64; 2]) -> Option<f64> {
        let [a, b] = operands.map(|bits| bits.to_bits() as u32);
        if a == 0 && b == 0 {
            return Some(0.0);
        }
        self.make_room().ok()?;
        // A partial in a missing operand has no meaning.
        let partial = |operand: u32, partial: f64| if operand == 0 { 0.0 } else { partial };
        let node = self.push_single(a, b, partial(a, partials[0]), partial(b, partials[1]))?;
        Some(f64::from_bits(u64::from(node)))
    }
}
