//! Chains: several elementwise operations in one pass over memory.
//!
//! A chain is a list of operations on nodes, as on a stack machine with names. It is evaluated block by block, so that intermediate
//! values stay in the cache.

use super::super::cancellation;
use super::super::error::{Result, TensorError};
use super::super::parallel::{BLOCK, BLOCKS_OF_CHUNK, for_each_chunk, threads};
use super::super::reader::{Operand, Reader};
use super::super::reduction::sum_of_blocks;
use super::super::scalar::with_kind;
use super::super::shape::Shape;
use super::super::strided::Tensor;
use super::operation::{Binary, Comparison, Kept, Unary};
use super::real::Real;
use smallvec::{SmallVec, smallvec};

/// A value of a chain: an input, a constant, or the result of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node(u32);

#[derive(Clone, Copy, Debug)]
enum Step {
    Input(usize),
    Constant(f64),
    Unary(Unary, Node),
    Binary(Binary, Node, Node),
    Compare(Comparison, Node, Node),
    Select(Node, Node, Node),
    Keep(Kept, Node, Node),
}

/// Elementwise operations on real numbers that are evaluated together.
///
/// The lists have room for the steps of most derivatives, because a chain is made for each operation on small tensors, too.
#[derive(Clone, Debug, Default)]
pub struct Chain {
    steps: SmallVec<[Step; 12]>,
    /// For each step the last step that reads its value.
    last_reads: SmallVec<[u32; 12]>,
    inputs: usize,
    results: SmallVec<[Node; 2]>,
    is_invalid: bool,
}

/// The last read of a result, which remains after all steps.
const RESULT: u32 = u32::MAX;

/// The value of a node for the current block.
#[derive(Clone, Debug)]
enum Value<T> {
    Block(Vec<T>),
    Input(usize),
    Scalar(T),
}

/// The values of the nodes for one block at a time, and blocks for reuse.
struct Evaluation<'a, T> {
    chain: &'a Chain,
    /// The inputs from the second one on, if the first one is given block by block.
    inputs: &'a [Reader<'a, T>],
    is_first_given: bool,
    copies: SmallVec<[Vec<T>; 4]>,
    values: SmallVec<[Value<T>; 12]>,
    unused: SmallVec<[Vec<T>; 4]>,
    start: usize,
    count: usize,
}

/// Returns all inputs of a chain.
fn all<'a>(first: &'a Tensor, rest: &[&'a Tensor]) -> SmallVec<[&'a Tensor; 4]> {
    std::iter::once(first).chain(rest.iter().copied()).collect()
}

/// Returns readers of the inputs of a chain, repeated to a shape.
fn readers<'a, T: Real>(inputs: &[&'a Tensor], shape: &Shape) -> Result<SmallVec<[Reader<'a, T>; 4]>> {
    inputs.iter().map(|input| input.reader_in::<T>("chain", shape)).collect()
}

impl Chain {
    /// Creates a chain without operations.
    pub fn new() -> Chain {
        Chain::default()
    }

    fn push(&mut self, step: Step) -> Node {
        let at = self.steps.len() as u32;
        let operands: &[Node] = match &step {
            Step::Input(_) | Step::Constant(_) => &[],
            Step::Unary(_, a) => &[*a],
            Step::Binary(_, a, b) | Step::Compare(_, a, b) | Step::Keep(_, a, b) => &[*a, *b],
            Step::Select(mask, a, b) => &[*mask, *a, *b],
        };
        for operand in operands {
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

    /// Adds a constant.
    pub fn constant(&mut self, value: f64) -> Node {
        self.push(Step::Constant(value))
    }

    /// Adds an operation with one operand.
    pub fn unary(&mut self, operation: Unary, operand: Node) -> Node {
        self.push(Step::Unary(operation, operand))
    }

    /// Adds an operation with two operands.
    pub fn binary(&mut self, operation: Binary, left: Node, right: Node) -> Node {
        self.push(Step::Binary(operation, left, right))
    }

    /// Adds a comparison, which is 1 where it holds, and 0 elsewhere.
    pub fn compare(&mut self, operation: Comparison, left: Node, right: Node) -> Node {
        self.push(Step::Compare(operation, left, right))
    }

    /// Adds a selection: `chosen` where the mask is not 0, `other` elsewhere.
    pub fn select(&mut self, mask: Node, chosen: Node, other: Node) -> Node {
        self.push(Step::Select(mask, chosen, other))
    }

    /// Adds `value`, with the zeros of `factor` where `value` is NaN: zero times an undefined partial is zero.
    pub fn keep_zero(&mut self, value: Node, factor: Node) -> Node {
        self.keep(Kept::ZeroOfNan, value, factor)
    }

    /// Adds `value`, with the zeros that another node requires.
    pub fn keep(&mut self, rule: Kept, value: Node, other: Node) -> Node {
        self.push(Step::Keep(rule, value, other))
    }

    /// Makes a node a result of the chain.
    pub fn give(&mut self, node: Node) {
        match self.last_reads.get_mut(node.0 as usize) {
            Some(last) => *last = RESULT,
            None => self.is_invalid = true,
        }
        self.results.push(node);
    }

    /// Returns the number of simple operations for one scalar, roughly.
    fn cost(&self) -> usize {
        let cost = |step: &Step| match step {
            Step::Unary(operation, _) => operation.cost(),
            Step::Binary(operation, ..) => operation.cost(),
            _ => 1,
        };
        self.steps.iter().map(cost).sum::<usize>().max(1)
    }

    fn common_shape(&self, inputs: &[&Tensor]) -> Result<Shape> {
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

    /// Evaluates the results for inputs that broadcast.
    pub fn evaluate(&self, inputs: &[&Tensor]) -> Result<SmallVec<[Tensor; 1]>> {
        let shape = self.common_shape(inputs)?;
        let Some(first) = inputs.first() else {
            return Err(TensorError::value("chain", "a chain needs an input"));
        };
        with_kind!("chain", real first.kind(), T => {
            let readers = readers::<T>(inputs, &shape)?;
            let scalars = self.scalars(&readers, shape.scalar_count());
            Ok(scalars.into_iter().map(|scalars| Tensor::from_scalars(shape.clone(), scalars)).collect())
        })
    }

    /// Evaluates the first result for inputs that broadcast.
    fn evaluate_all(&self, first: &Tensor, rest: &[&Tensor]) -> Result<Tensor> {
        let mut results = self.evaluate(&all(first, rest))?;
        Ok(results.swap_remove(0))
    }

    /// Evaluates the only result for inputs that broadcast, in the memory of the first one if that is large, and if nothing else shares
    /// it.
    pub fn evaluate_over(&self, mut first: Tensor, rest: &[&Tensor]) -> Result<Tensor> {
        let count = first.scalar_count();
        if count <= BLOCK || self.results.len() != 1 || !first.is_unique() {
            return self.evaluate_all(&first, rest);
        }
        let shape = self.common_shape(&all(&first, rest))?;
        if first.shape != shape {
            return self.evaluate_all(&first, rest);
        }
        with_kind!("chain", real first.kind(), T => {
            let readers = readers::<T>(rest, &shape)?;
            let chunk = BLOCK * BLOCKS_OF_CHUNK;
            for_each_chunk(first.scalars_mut::<T>()?, chunk, chunk * self.cost(), |number, part| {
                let mut evaluation = Evaluation::new(self, &readers);
                evaluation.copies.insert(0, Vec::new());
                evaluation.is_first_given = true;
                for (at, block) in part.chunks_mut(BLOCK).enumerate() {
                    evaluation.copies[0].clear();
                    evaluation.copies[0].extend_from_slice(block);
                    evaluation.run(number * chunk + at * BLOCK, block.len());
                    evaluation.write(self.results[0], block);
                }
            });
            Ok(first)
        })
    }

    /// Returns the sum of the first result over all scalars, which is never stored. It equals the sum of the evaluated result.
    pub fn sum(&self, inputs: &[&Tensor]) -> Result<Tensor> {
        let shape = self.common_shape(inputs)?;
        let Some(first) = inputs.first() else {
            return Err(TensorError::value("chain", "a chain needs an input"));
        };
        with_kind!("chain", real first.kind(), T => {
            let readers = readers::<T>(inputs, &shape)?;
            let result = self.results[0];
            let sum = sum_of_blocks(shape.scalar_count(), self.cost(), |start, count, add| {
                let mut evaluation = Evaluation::new(self, &readers);
                let mut block = Vec::new();
                for start in (start..start + count).step_by(BLOCK).map(|at| at..(at + BLOCK).min(start + count)) {
                    evaluation.run(start.start, start.len());
                    match evaluation.operand(result) {
                        Operand::Slice(scalars) => add(scalars),
                        Operand::Scalar(value) => {
                            block.clear();
                            block.resize(start.len(), value);
                            add(&block);
                        }
                    }
                }
            });
            Ok(Tensor::scalar::<T>(sum))
        })
    }

    /// Computes the results on one thread. They are appended block by block, so that the memory need not be cleared beforehand.
    fn scalars_in_order<T: Real>(&self, inputs: &[Reader<'_, T>], count: usize) -> SmallVec<[Vec<T>; 1]> {
        let mut evaluation = Evaluation::new(self, inputs);
        if count <= BLOCK {
            evaluation.run(0, count);
            return self.results.iter().enumerate().map(|(number, &node)| evaluation.finished(number, node)).collect();
        }
        let mut all: SmallVec<[Vec<T>; 1]> = self.results.iter().map(|_| Vec::with_capacity(count)).collect();
        for start in (0..count).step_by(BLOCK) {
            cancellation::check();
            let length = BLOCK.min(count - start);
            evaluation.run(start, length);
            for (scalars, &node) in all.iter_mut().zip(&self.results) {
                match evaluation.operand(node) {
                    Operand::Slice(block) => scalars.extend_from_slice(block),
                    Operand::Scalar(value) => scalars.extend(std::iter::repeat_n(value, length)),
                }
            }
        }
        all
    }

    fn scalars<T: Real>(&self, inputs: &[Reader<'_, T>], count: usize) -> SmallVec<[Vec<T>; 1]> {
        if count <= BLOCK || threads() == 1 {
            return self.scalars_in_order(inputs, count);
        }
        let mut all: SmallVec<[Vec<T>; 1]> = smallvec![vec![T::default(); count]; self.results.len()];
        let chunk = BLOCK * BLOCKS_OF_CHUNK;
        let mut chunks: Vec<Vec<&mut [T]>> = (0..count.div_ceil(chunk)).map(|_| Vec::new()).collect();
        for scalars in &mut all {
            for (part, chunk) in chunks.iter_mut().zip(scalars.chunks_mut(chunk)) {
                part.push(chunk);
            }
        }
        for_each_chunk(&mut chunks, 1, chunk * self.cost(), |number, parts| {
            let mut evaluation = Evaluation::new(self, inputs);
            for parts in parts {
                let length = parts.first().map_or(0, |part| part.len());
                for start in (0..length).step_by(BLOCK) {
                    let end = (start + BLOCK).min(length);
                    evaluation.run(number * chunk + start, end - start);
                    for (target, &node) in parts.iter_mut().zip(&self.results) {
                        evaluation.write(node, &mut target[start..end]);
                    }
                }
            }
        });
        all
    }
}

impl<'a, T: Real> Evaluation<'a, T> {
    fn new(chain: &'a Chain, inputs: &'a [Reader<'a, T>]) -> Evaluation<'a, T> {
        let copies = inputs.iter().map(|_| Vec::new()).collect();
        Evaluation {
            chain,
            inputs,
            is_first_given: false,
            copies,
            values: SmallVec::new(),
            unused: SmallVec::new(),
            start: 0,
            count: 0,
        }
    }

    /// Returns the value of a node for the current block.
    fn operand(&self, node: Node) -> Operand<'_, T> {
        match &self.values[node.0 as usize] {
            Value::Block(scalars) => Operand::Slice(scalars),
            Value::Scalar(value) => Operand::Scalar(*value),
            Value::Input(0) if self.is_first_given => Operand::Slice(&self.copies[0]),
            Value::Input(at) => match &self.inputs[at - usize::from(self.is_first_given)] {
                Reader::Contiguous(scalars) => Operand::Slice(&scalars[self.start..self.start + self.count]),
                Reader::Scalar(value) => Operand::Scalar(*value),
                Reader::Strided(..) => Operand::Slice(&self.copies[*at]),
            },
        }
    }

    /// Writes the scalars of a node for the current block.
    fn write(&self, node: Node, target: &mut [T]) {
        match self.operand(node) {
            Operand::Slice(scalars) => target.copy_from_slice(scalars),
            Operand::Scalar(value) => target.fill(value),
        }
    }

    /// Returns the scalars of a node to be changed: its block if the step is the last one that reads it, or else a copy.
    fn taken(&mut self, node: Node, at: u32) -> Vec<T> {
        if self.chain.last_reads[node.0 as usize] == at
            && let Value::Block(scalars) = &mut self.values[node.0 as usize]
        {
            return std::mem::take(scalars);
        }
        let mut block = self.unused.pop().unwrap_or_default();
        block.clear();
        match self.operand(node) {
            Operand::Slice(scalars) => block.extend_from_slice(scalars),
            Operand::Scalar(value) => block.resize(self.count, value),
        }
        block
    }

    fn is_block(&self, node: Node, at: u32) -> bool {
        self.chain.last_reads[node.0 as usize] == at && matches!(&self.values[node.0 as usize], Value::Block(_))
    }

    fn as_scalar(&self, node: Node) -> Option<T> {
        match self.operand(node) {
            Operand::Scalar(value) => Some(value),
            Operand::Slice(_) => None,
        }
    }

    /// Computes all nodes for the block of `count` scalars from number `start` on.
    fn run(&mut self, start: usize, count: usize) {
        (self.start, self.count) = (start, count);
        for value in self.values.drain(..) {
            // A block that a later step took over has left an empty one.
            if let Value::Block(scalars) = value
                && scalars.capacity() > 0
            {
                self.unused.push(scalars);
            }
        }
        for (reader, copy) in self.inputs.iter().zip(&mut self.copies[usize::from(self.is_first_given)..]) {
            if let Reader::Strided(..) = reader {
                copy.resize(count, T::default());
                reader.fill(start, copy);
            }
        }
        for (at, step) in self.chain.steps.iter().enumerate() {
            let value = self.value(at as u32, *step);
            self.values.push(value);
        }
    }

    fn value(&mut self, at: u32, step: Step) -> Value<T> {
        match step {
            Step::Input(input) => Value::Input(input),
            Step::Constant(value) => Value::Scalar(T::nearest(value)),
            Step::Unary(operation, a) => {
                if let Some(value) = self.as_scalar(a) {
                    let mut value = [value];
                    T::unary(operation, &mut value);
                    return Value::Scalar(value[0]);
                }
                let mut block = self.taken(a, at);
                T::unary(operation, &mut block);
                Value::Block(block)
            }
            Step::Binary(operation, a, b) => {
                // The operand that nothing reads any more is overwritten.
                if a != b && !self.is_block(a, at) && self.is_block(b, at) {
                    let mut block = self.taken(b, at);
                    T::binary(operation, &mut block, self.operand(a), true);
                    return Value::Block(block);
                }
                self.combined(at, (a, b), |block, other| T::binary(operation, block, other, false))
            }
            Step::Compare(operation, a, b) => {
                self.combined(at, (a, b), |block, other| T::comparison(operation, block, other))
            }
            Step::Keep(rule, value, other) => {
                self.combined(at, (value, other), |block, other| T::keep(rule, block, other))
            }
            Step::Select(mask, a, b) => {
                let mut block = if mask == a || mask == b { self.copied(mask) } else { self.taken(mask, at) };
                T::select(&mut block, self.operand(a), self.operand(b));
                Value::Block(block)
            }
        }
    }

    /// Returns the value of step `at`, an operation that changes the scalars of its first operand.
    fn combined(&mut self, at: u32, (a, b): (Node, Node), apply: impl Fn(&mut [T], Operand<'_, T>)) -> Value<T> {
        if let (Some(a), Some(b)) = (self.as_scalar(a), self.as_scalar(b)) {
            let mut value = [a];
            apply(&mut value, Operand::Scalar(b));
            return Value::Scalar(value[0]);
        }
        let mut block = if a == b { self.copied(a) } else { self.taken(a, at) };
        apply(&mut block, self.operand(b));
        Value::Block(block)
    }

    fn copied(&mut self, node: Node) -> Vec<T> {
        self.taken(node, RESULT - 1)
    }

    /// Returns the scalars of the result with a number after the last block: the block itself, unless a later result is the same
    /// node.
    fn finished(&mut self, number: usize, node: Node) -> Vec<T> {
        let is_last = !self.chain.results[number + 1..].contains(&node);
        if is_last { self.taken(node, RESULT) } else { self.copied(node) }
    }
}
