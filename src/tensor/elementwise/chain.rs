//! Chains: several elementwise operations in one pass over memory.
//!
//! A chain is a list of operations on nodes, as on a stack machine with names. It is evaluated block by block, so that intermediate
//! values stay in the cache.

use super::super::deferred;
use super::super::error::{Result, TensorError};
use super::super::parallel::BLOCK;
use super::super::reader::Reader;
use super::super::scalar::{ScalarKind, with_kind};
use super::super::shape::Shape;
use super::super::strided::Tensor;
use super::evaluation::{Source, Target};
use super::operation::{Binary, Comparison, Kept, Unary};
use super::real::Real;
use smallvec::{SmallVec, smallvec};

/// A value of a chain: an input, a constant, or the result of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node(pub(super) u32);

/// A step of a chain, which computes the value of a node.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    Input(usize),
    Constant(f64),
    Unary(Unary, Node),
    Binary(Binary, Node, Node),
    Compare(Comparison, Node, Node),
    Select(Node, Node, Node),
    Keep(Kept, Node, Node),
}

impl Step {
    /// Returns the nodes that the step reads.
    fn operands(&self) -> SmallVec<[Node; 3]> {
        match *self {
            Step::Input(_) | Step::Constant(_) => smallvec![],
            Step::Unary(_, a) => smallvec![a],
            Step::Binary(_, a, b) | Step::Compare(_, a, b) | Step::Keep(_, a, b) => smallvec![a, b],
            Step::Select(mask, a, b) => smallvec![mask, a, b],
        }
    }

    /// Whether the step reads a node.
    pub(super) fn reads(&self, node: Node) -> bool {
        self.operands().contains(&node)
    }

    /// Whether another step computes the same value. Numbers are compared by their bits, so that zeros keep their signs.
    fn is_same(&self, other: &Step) -> bool {
        match (self, other) {
            (Step::Constant(a), Step::Constant(b)) => a.to_bits() == b.to_bits(),
            (Step::Unary(f, a), Step::Unary(g, b)) => (f, a) == (g, b),
            (Step::Binary(f, a, b), Step::Binary(g, c, d)) => (f, a, b) == (g, c, d),
            (Step::Compare(f, a, b), Step::Compare(g, c, d)) => (f, a, b) == (g, c, d),
            (Step::Keep(f, a, b), Step::Keep(g, c, d)) => (f, a, b) == (g, c, d),
            (Step::Select(a, b, c), Step::Select(d, e, f)) => (a, b, c) == (d, e, f),
            _ => false,
        }
    }
}

/// Elementwise operations on real numbers that are evaluated together.
///
/// The lists have room for the steps of most derivatives, because a chain is made for each operation on small tensors, too.
#[derive(Clone, Debug, Default)]
pub struct Chain {
    pub(super) steps: SmallVec<[Step; 12]>,
    /// For each step the last step that reads its value.
    pub(super) last_reads: SmallVec<[u32; 12]>,
    inputs: usize,
    pub(super) results: SmallVec<[Node; 2]>,
    is_invalid: bool,
}

/// The last read of a result, which remains after all steps.
pub(super) const RESULT: u32 = u32::MAX;

/// The scalars of the inputs of a chain.
type Sources<'a, T> = SmallVec<[Source<'a, T>; 4]>;

/// Returns all inputs of a chain.
fn all<'a>(first: &'a Tensor, rest: &[&'a Tensor]) -> SmallVec<[&'a Tensor; 4]> {
    std::iter::once(first).chain(rest.iter().copied()).collect()
}

/// Returns the kind of the scalars of the inputs of a chain, which is that of the first one.
fn kind(inputs: &[&Tensor]) -> Result<ScalarKind> {
    match inputs.first() {
        Some(first) => Ok(first.kind()),
        None => Err(TensorError::value("chain", "a chain needs an input")),
    }
}

/// Elementwise operations on real numbers, of which each one gives a node for those that follow.
pub trait Steps {
    /// Adds a constant.
    fn constant(&mut self, value: f64) -> Node;

    /// Adds an operation with one operand.
    fn unary(&mut self, operation: Unary, operand: Node) -> Node;

    /// Adds an operation with two operands.
    fn binary(&mut self, operation: Binary, left: Node, right: Node) -> Node;

    /// Adds a comparison, which is 1 where it holds, and 0 elsewhere.
    fn compare(&mut self, operation: Comparison, left: Node, right: Node) -> Node;

    /// Adds a selection: `chosen` where the mask is not 0, `other` elsewhere.
    fn select(&mut self, mask: Node, chosen: Node, other: Node) -> Node;

    /// Adds `value`, with the zeros that another node requires.
    fn keep(&mut self, rule: Kept, value: Node, other: Node) -> Node;

    /// Adds `value`, with the zeros of `factor` where `value` is NaN: zero times an undefined partial is zero.
    fn keep_zero(&mut self, value: Node, factor: Node) -> Node {
        self.keep(Kept::ZeroOfNan, value, factor)
    }
}

impl Steps for Chain {
    fn constant(&mut self, value: f64) -> Node {
        self.push(Step::Constant(value))
    }

    fn unary(&mut self, operation: Unary, operand: Node) -> Node {
        self.push(Step::Unary(operation, operand))
    }

    fn binary(&mut self, operation: Binary, left: Node, right: Node) -> Node {
        self.push(Step::Binary(operation, left, right))
    }

    fn compare(&mut self, operation: Comparison, left: Node, right: Node) -> Node {
        self.push(Step::Compare(operation, left, right))
    }

    fn select(&mut self, mask: Node, chosen: Node, other: Node) -> Node {
        self.push(Step::Select(mask, chosen, other))
    }

    fn keep(&mut self, rule: Kept, value: Node, other: Node) -> Node {
        self.push(Step::Keep(rule, value, other))
    }
}

impl Chain {
    /// Creates a chain without operations.
    pub fn new() -> Chain {
        Chain::default()
    }

    fn push(&mut self, step: Step) -> Node {
        let at = self.steps.len() as u32;
        for operand in step.operands() {
            match self.last_reads.get_mut(operand.0 as usize) {
                Some(last) if *last != RESULT => *last = at,
                Some(_) => {}
                None => self.is_invalid = true,
            }
        }
        self.steps.push(step);
        self.last_reads.push(at);
        Node(at)
    }

    /// Adds the next input.
    pub fn input(&mut self) -> Node {
        self.inputs += 1;
        self.push(Step::Input(self.inputs - 1))
    }

    /// Makes a node a result of the chain.
    pub fn give(&mut self, node: Node) {
        match self.last_reads.get_mut(node.0 as usize) {
            Some(last) => *last = RESULT,
            None => self.is_invalid = true,
        }
        self.results.push(node);
    }

    /// Returns the number of operations.
    pub(in crate::tensor) fn operations(&self) -> usize {
        self.steps.iter().filter(|step| !matches!(step, Step::Input(_) | Step::Constant(_))).count()
    }

    /// Whether a result depends on the input with a number.
    pub(in crate::tensor) fn reads(&self, input: usize) -> bool {
        let is_it = |step: &Step| matches!(step, Step::Input(number) if *number == input);
        self.steps.iter().position(is_it).is_some_and(|at| self.last_reads[at] as usize != at)
    }

    /// Adds the steps of a chain, of which the inputs are nodes of this one, and returns its first result. Steps that are in this chain
    /// already are not repeated.
    pub(in crate::tensor) fn include(&mut self, chain: &Chain, inputs: &[Option<Node>]) -> Option<Node> {
        let mut nodes: SmallVec<[Option<Node>; 12]> = SmallVec::with_capacity(chain.steps.len());
        for step in &chain.steps {
            let of = |node: Node| nodes.get(node.0 as usize).copied().flatten();
            let step = match *step {
                Step::Input(number) => {
                    nodes.push(inputs.get(number).copied().flatten());
                    continue;
                }
                Step::Constant(value) => Some(Step::Constant(value)),
                Step::Unary(operation, a) => of(a).map(|a| Step::Unary(operation, a)),
                Step::Binary(operation, a, b) => of(a).zip(of(b)).map(|(a, b)| Step::Binary(operation, a, b)),
                Step::Compare(operation, a, b) => of(a).zip(of(b)).map(|(a, b)| Step::Compare(operation, a, b)),
                Step::Keep(rule, a, b) => of(a).zip(of(b)).map(|(a, b)| Step::Keep(rule, a, b)),
                Step::Select(mask, a, b) => {
                    of(mask).zip(of(a).zip(of(b))).map(|(mask, (a, b))| Step::Select(mask, a, b))
                }
            };
            nodes.push(step.map(|step| match self.steps.iter().position(|known| known.is_same(&step)) {
                Some(at) => Node(at as u32),
                None => self.push(step),
            }));
        }
        nodes.get(chain.results.first()?.0 as usize).copied().flatten()
    }

    /// Returns the number of simple operations for one scalar, roughly.
    pub(in crate::tensor) fn cost(&self) -> usize {
        let cost = |step: &Step| match step {
            Step::Unary(operation, _) => operation.cost(),
            Step::Binary(operation, ..) => operation.cost(),
            _ => 1,
        };
        self.steps.iter().map(cost).sum::<usize>().max(1)
    }

    /// Returns the shape to which the inputs broadcast.
    pub(in crate::tensor) fn common_shape(&self, inputs: &[&Tensor]) -> Result<Shape> {
        if self.is_invalid || inputs.len() != self.inputs || self.results.is_empty() {
            return Err(TensorError::value("chain", "the nodes and the inputs do not fit the chain"));
        }
        let mut shape = inputs.first().map_or_else(Shape::default, |input| input.shape.clone());
        for input in inputs {
            if input.shape != shape {
                shape = shape.broadcast("chain", &input.shape)?;
            }
        }
        shape.checked_count("chain", 8 * self.results.len())?;
        Ok(shape)
    }

    /// Returns the scalars of the inputs from one number on, repeated to a shape; nothing for inputs that no step reads.
    fn sources<'a, T: Real>(&self, first: usize, inputs: &[&'a Tensor], shape: &Shape) -> Result<Sources<'a, T>> {
        let mut sources = Sources::new();
        for (number, input) in inputs.iter().enumerate() {
            sources.push(Source::Tensor(match self.reads(first + number) {
                true => input.reader_in::<T>("chain", shape)?,
                false => Reader::Contiguous(&[]),
            }));
        }
        Ok(sources)
    }

    /// Evaluates the results for inputs that broadcast.
    pub fn evaluate(&self, inputs: &[&Tensor]) -> Result<SmallVec<[Tensor; 1]>> {
        self.evaluate_in(self.common_shape(inputs)?, inputs)
    }

    /// Evaluates the results for inputs that broadcast to a shape.
    fn evaluate_in(&self, shape: Shape, inputs: &[&Tensor]) -> Result<SmallVec<[Tensor; 1]>> {
        with_kind!("chain", real kind(inputs)?, T => {
            let sources = self.sources::<T>(0, inputs, &shape)?;
            let targets = self.results.iter().map(|_| Target::Scalars).collect();
            let computed = self.compute(&sources, targets, shape.scalar_count());
            Ok(computed.into_iter().map(|scalars| Tensor::from_scalars(shape.clone(), scalars)).collect())
        })
    }

    /// Returns the only result for inputs that broadcast. That of large inputs is computed later; otherwise it is computed in the memory
    /// of the first input if nothing else shares it.
    pub fn apply(&self, mut first: Tensor, rest: &[&Tensor]) -> Result<Tensor> {
        let inputs = all(&first, rest);
        let shape = self.common_shape(&inputs)?;
        if let Some(result) = deferred::result(self, &inputs, &shape) {
            return Ok(result);
        }
        let count = shape.scalar_count();
        if count <= BLOCK || first.shape != shape || self.results.len() != 1 {
            return Ok(self.evaluate_in(shape, &inputs)?.swap_remove(0));
        }
        drop(inputs);
        with_kind!("chain", real first.kind(), T => {
            let mut sources = self.sources::<T>(1, rest, &shape)?;
            let Some(scalars) = first.whole_mut::<T>().map(std::mem::take) else {
                return Ok(self.evaluate_in(shape, &all(&first, rest))?.swap_remove(0));
            };
            sources.insert(0, Source::Result(0));
            let mut computed = self.compute(&sources, smallvec![Target::Over(scalars)], count);
            Ok(Tensor::from_scalars(shape, computed.swap_remove(0)))
        })
    }

    /// Returns the sum of the first result over all scalars, which is never stored. It equals the sum of the evaluated result.
    pub fn sum(&self, inputs: &[&Tensor]) -> Result<Tensor> {
        let shape = self.common_shape(inputs)?;
        with_kind!("chain", real kind(inputs)?, T => {
            let sources = self.sources::<T>(0, inputs, &shape)?;
            let mut computed = self.compute(&sources, smallvec![Target::Sum], shape.scalar_count());
            Ok(Tensor::from_scalars(Shape::default(), computed.swap_remove(0)))
        })
    }
}
