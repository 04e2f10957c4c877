//! The evaluation of chains: all steps for one block after another.

use super::super::cancellation;
use super::super::fold::{Fold, Foldable};
use super::super::memory::spare;
use super::super::parallel::{BLOCK, BLOCKS_OF_CHUNK, for_each_chunk, threads};
use super::super::reader::{Operand, Reader};
use super::super::reduction::tree;
use super::super::scalar::Scalar;
use super::chain::{Chain, Node, RESULT, Step};
use super::operation::{Binary, Kept};
use super::real::Real;
use smallvec::SmallVec;
use std::ops::Range;

/// Where the scalars of an input of a chain come from.
pub(in crate::tensor) enum Source<'a, T> {
    /// From a tensor.
    Tensor(Reader<'a, T>),
    /// From the memory of the result with this number, which is overwritten block by block.
    Result(usize),
}

/// What is computed of a result of a chain.
pub(in crate::tensor) enum Target<T> {
    /// Its scalars.
    Scalars,
    /// Its scalars, in the memory of an input. The chain is longer than a block.
    Over(Vec<T>),
    /// The sum of its scalars, which are not stored.
    Sum,
}

impl<T> Target<T> {
    fn is_sum(&self) -> bool {
        matches!(self, Target::Sum)
    }

    /// Returns the memory for `count` scalars, or for a sum for those of the blocks; `allocate` allocates new memory.
    fn memory(self, count: usize, allocate: fn(usize) -> Vec<T>) -> Vec<T> {
        match self {
            Target::Scalars => allocate(count),
            Target::Over(scalars) => scalars,
            Target::Sum => allocate(count.div_ceil(BLOCK)),
        }
    }
}

/// The computed scalars of the results of a chain.
pub(in crate::tensor) type Computed<T> = SmallVec<[Vec<T>; 1]>;

/// The value of a node for the current block.
#[derive(Clone, Debug)]
enum Value<T> {
    Block(Vec<T>),
    Input(usize),
    Scalar(T),
}

/// The blocks of inputs in the memory of results, by the numbers of the results.
type Given<'a, T> = SmallVec<[&'a [T]; 2]>;

/// Returns a block of a result; an empty one if the block is still to be appended, or if the result is a sum.
fn block_of<T>(scalars: &[T], block: Range<usize>) -> &[T] {
    scalars.get(block).unwrap_or(&[])
}

/// The last step of a chain, which changes the memory of the result.
struct Modification {
    operation: Binary,
    /// The other operand.
    other: Node,
    /// Whether the changed operand is the second one.
    is_swapped: bool,
}

/// A copy of scalars of an input.
#[derive(Debug)]
struct Copied<T> {
    scalars: Vec<T>,
    /// The number of scalars before the current block.
    first: usize,
}

impl<T: Scalar> Copied<T> {
    /// Copies the block of `count` scalars from number `start` on. A row that is repeated is copied once for all blocks.
    fn read(&mut self, reader: &Reader<'_, T>, start: usize, count: usize) {
        match reader.period(count) {
            None => {
                self.first = 0;
                self.scalars.resize(count, T::default());
                reader.fill(start, &mut self.scalars);
            }
            Some(period) => {
                self.first = start % period;
                if self.scalars.is_empty() {
                    self.scalars.resize(period + count, T::default());
                    reader.fill(0, &mut self.scalars);
                }
            }
        }
    }
}

/// The values of the nodes for one block at a time, and blocks for reuse.
struct Evaluation<'a, T> {
    chain: &'a Chain,
    inputs: &'a [Source<'a, T>],
    /// The scalars of the current block of each input that is not contiguous.
    copies: SmallVec<[Copied<T>; 4]>,
    values: SmallVec<[Value<T>; 12]>,
    unused: SmallVec<[Vec<T>; 4]>,
    start: usize,
    count: usize,
}

impl Chain {
    /// Computes the results for `count` scalars of each input.
    pub(in crate::tensor) fn compute<T: Real + Foldable>(
        &self,
        inputs: &[Source<'_, T>],
        targets: SmallVec<[Target<T>; 1]>,
        count: usize,
    ) -> Computed<T> {
        if count <= BLOCK {
            let mut evaluation = Evaluation::new(self, inputs);
            evaluation.run(0, count, &[]);
            let finished =
                targets.iter().zip(&self.results).enumerate().map(|(number, (target, &node))| match target {
                    Target::Sum => vec![evaluation.sum(node)],
                    Target::Scalars | Target::Over(_) => evaluation.finished(number, node),
                });
            return finished.collect();
        }
        let is_sum: SmallVec<[bool; 2]> = targets.iter().map(Target::is_sum).collect();
        let modification = self.modification(inputs);
        let mut computed = match threads() {
            1 => self.compute_in_order(inputs, targets, &is_sum, modification, count),
            _ => self.compute_chunks(inputs, targets, &is_sum, modification, count),
        };
        for (scalars, _) in computed.iter_mut().zip(is_sum).filter(|(_, is_sum)| *is_sum) {
            *scalars = vec![tree(Fold::Sum, scalars)];
        }
        computed
    }

    /// Computes the results on one thread, and for a sum those of the blocks. Scalars are appended block by block, so that the memory
    /// need not be cleared beforehand.
    fn compute_in_order<T: Real + Foldable>(
        &self,
        inputs: &[Source<'_, T>],
        targets: SmallVec<[Target<T>; 1]>,
        is_sum: &[bool],
        modification: Option<Modification>,
        count: usize,
    ) -> Computed<T> {
        let memory = targets.into_iter().map(|target| target.memory(count, spare::with_capacity));
        let mut computed: Computed<T> = memory.collect();
        let mut evaluation = Evaluation::new(self, inputs);
        for start in (0..count).step_by(BLOCK) {
            cancellation::check();
            let length = BLOCK.min(count - start);
            if let Some(modification) = &modification {
                evaluation.modify(modification, start, &mut computed[0][start..start + length]);
                continue;
            }
            let given = computed.iter().map(|scalars| block_of(scalars, start..start + length));
            evaluation.run(start, length, &given.collect::<Given<'_, T>>());
            for ((scalars, &node), is_sum) in computed.iter_mut().zip(&self.results).zip(is_sum) {
                if *is_sum {
                    scalars.push(evaluation.sum(node));
                } else if scalars.len() > start {
                    evaluation.write(node, &mut scalars[start..start + length]);
                } else {
                    match evaluation.operand(node, &[]) {
                        Operand::Slice(block) => scalars.extend_from_slice(block),
                        Operand::Scalar(value) => scalars.extend(std::iter::repeat_n(value, length)),
                    }
                }
            }
        }
        computed
    }

    /// Computes the results on several threads, and for a sum those of the blocks.
    fn compute_chunks<T: Real + Foldable>(
        &self,
        inputs: &[Source<'_, T>],
        targets: SmallVec<[Target<T>; 1]>,
        is_sum: &[bool],
        modification: Option<Modification>,
        count: usize,
    ) -> Computed<T> {
        let memory = targets.into_iter().map(|target| target.memory(count, spare::unspecified));
        let mut computed: Computed<T> = memory.collect();
        let chunk = BLOCK * BLOCKS_OF_CHUNK;
        let mut chunks: Vec<Vec<&mut [T]>> = (0..count.div_ceil(chunk)).map(|_| Vec::new()).collect();
        for (scalars, is_sum) in computed.iter_mut().zip(is_sum) {
            let size = if *is_sum { BLOCKS_OF_CHUNK } else { chunk };
            for (part, chunk) in chunks.iter_mut().zip(scalars.chunks_mut(size)) {
                part.push(chunk);
            }
        }
        for_each_chunk(&mut chunks, 1, chunk * self.cost(), |number, parts| {
            let mut evaluation = Evaluation::new(self, inputs);
            for parts in parts {
                let length = chunk.min(count - number * chunk);
                for (block, start) in (0..length).step_by(BLOCK).enumerate() {
                    let end = (start + BLOCK).min(length);
                    if let Some(modification) = &modification {
                        evaluation.modify(modification, number * chunk + start, &mut parts[0][start..end]);
                        continue;
                    }
                    let given = parts.iter().map(|part| block_of(part, start..end));
                    evaluation.run(number * chunk + start, end - start, &given.collect::<Given<'_, T>>());
                    for ((target, &node), is_sum) in parts.iter_mut().zip(&self.results).zip(is_sum) {
                        match is_sum {
                            true => target[block] = evaluation.sum(node),
                            false => evaluation.write(node, &mut target[start..end]),
                        }
                    }
                }
            }
        });
        computed
    }

    /// Returns the last step if it changes the memory of the only result, which is that of an input, and no other step reads that
    /// input.
    fn modification<T>(&self, inputs: &[Source<'_, T>]) -> Option<Modification> {
        let (last, others) = self.steps.split_last()?;
        let (Step::Binary(operation, a, b), [result]) = (*last, &self.results[..]) else { return None };
        let is_overwritten = |node: Node| match self.steps[node.0 as usize] {
            Step::Input(input) => matches!(inputs[input], Source::Result(_)),
            _ => false,
        };
        let is_swapped = !is_overwritten(a);
        let (changed, other) = if is_swapped { (b, a) } else { (a, b) };
        let is_only_reader = a != b && !others.iter().any(|step| step.reads(changed));
        let is_last = result.0 as usize == others.len();
        (is_last && is_only_reader && is_overwritten(changed)).then_some(Modification { operation, other, is_swapped })
    }
}

impl<'a, T: Real + Foldable> Evaluation<'a, T> {
    fn new(chain: &'a Chain, inputs: &'a [Source<'a, T>]) -> Evaluation<'a, T> {
        let copies = inputs.iter().map(|_| Copied { scalars: Vec::new(), first: 0 }).collect();
        let (values, unused) = (SmallVec::new(), SmallVec::new());
        Evaluation { chain, inputs, copies, values, unused, start: 0, count: 0 }
    }

    /// Returns the value of a node for the current block, given the blocks of the inputs that results overwrite, by the numbers of the
    /// results.
    #[inline]
    fn operand<'b>(&'b self, node: Node, given: &[&'b [T]]) -> Operand<'b, T> {
        match &self.values[node.0 as usize] {
            Value::Block(scalars) => Operand::Slice(scalars),
            Value::Scalar(value) => Operand::Scalar(*value),
            Value::Input(at) => match &self.inputs[*at] {
                Source::Tensor(Reader::Contiguous(scalars)) => {
                    Operand::Slice(&scalars[self.start..self.start + self.count])
                }
                Source::Tensor(Reader::Scalar(value)) => Operand::Scalar(*value),
                Source::Tensor(Reader::Strided(..)) => {
                    let Copied { scalars, first } = &self.copies[*at];
                    Operand::Slice(&scalars[*first..*first + self.count])
                }
                Source::Result(result) => Operand::Slice(given[*result]),
            },
        }
    }

    /// Writes the scalars of a node for the current block.
    fn write(&self, node: Node, target: &mut [T]) {
        match self.operand(node, &[]) {
            Operand::Slice(scalars) => target.copy_from_slice(scalars),
            Operand::Scalar(value) => target.fill(value),
        }
    }

    /// Returns the sum of the scalars of a node for the current block.
    fn sum(&self, node: Node) -> T {
        match self.operand(node, &[]) {
            Operand::Slice(scalars) => T::block(Fold::Sum, scalars),
            Operand::Scalar(value) => T::block(Fold::Sum, &vec![value; self.count]),
        }
    }

    /// Returns the scalars of a node to be changed: its block if the step is the last one that reads it, or else a copy.
    fn taken(&mut self, node: Node, at: u32, given: &[&[T]]) -> Vec<T> {
        if self.chain.last_reads[node.0 as usize] == at
            && let Value::Block(scalars) = &mut self.values[node.0 as usize]
        {
            return std::mem::take(scalars);
        }
        let mut block = self.unused.pop().unwrap_or_default();
        block.clear();
        match self.operand(node, given) {
            Operand::Slice(scalars) => block.extend_from_slice(scalars),
            Operand::Scalar(value) => block.resize(self.count, value),
        }
        block
    }

    #[inline]
    fn is_block(&self, node: Node, at: u32) -> bool {
        self.chain.last_reads[node.0 as usize] == at && matches!(&self.values[node.0 as usize], Value::Block(_))
    }

    #[inline]
    fn as_scalar(&self, node: Node) -> Option<T> {
        match &self.values[node.0 as usize] {
            Value::Scalar(value) => Some(*value),
            Value::Block(_) => None,
            Value::Input(at) => match &self.inputs[*at] {
                Source::Tensor(Reader::Scalar(value)) => Some(*value),
                Source::Tensor(Reader::Contiguous(_) | Reader::Strided(..)) | Source::Result(_) => None,
            },
        }
    }

    /// Computes the result of a chain that ends with a modification, for the block from number `start` on.
    fn modify(&mut self, last: &Modification, start: usize, block: &mut [T]) {
        self.run_steps(start, block.len(), self.chain.steps.len() - 1, &[]);
        T::binary(last.operation, block, self.operand(last.other, &[]), last.is_swapped);
    }

    /// Computes all nodes for the block of `count` scalars from number `start` on.
    fn run(&mut self, start: usize, count: usize, given: &[&[T]]) {
        self.run_steps(start, count, self.chain.steps.len(), given);
        // A given input that is a result itself must be read before its memory is overwritten.
        for node in self.chain.results.iter().map(|node| node.0 as usize) {
            if let Value::Input(at) = self.values[node]
                && let Source::Result(result) = self.inputs[at]
            {
                self.values[node] = Value::Block(given[result].to_vec());
            }
        }
    }

    /// Computes the first `steps` nodes for the block of `count` scalars from number `start` on.
    fn run_steps(&mut self, start: usize, count: usize, steps: usize, given: &[&[T]]) {
        (self.start, self.count) = (start, count);
        for value in self.values.drain(..) {
            // A block that a later step took over has left an empty one.
            if let Value::Block(scalars) = value
                && scalars.capacity() > 0
            {
                self.unused.push(scalars);
            }
        }
        for (input, copy) in self.inputs.iter().zip(&mut self.copies) {
            if let Source::Tensor(reader @ Reader::Strided(..)) = input {
                copy.read(reader, start, count);
            }
        }
        for (at, step) in self.chain.steps[..steps].iter().enumerate() {
            let value = self.value(at as u32, *step, given);
            self.values.push(value);
        }
    }

    fn value(&mut self, at: u32, step: Step, given: &[&[T]]) -> Value<T> {
        match step {
            Step::Input(input) => Value::Input(input),
            Step::Constant(value) => Value::Scalar(T::nearest(value)),
            Step::Unary(operation, a) => {
                if let Some(value) = self.as_scalar(a) {
                    let mut value = [value];
                    T::unary(operation, &mut value);
                    return Value::Scalar(value[0]);
                }
                let mut block = self.taken(a, at, given);
                T::unary(operation, &mut block);
                Value::Block(block)
            }
            Step::Binary(operation, a, b) => {
                // The operand that nothing reads any more is overwritten.
                if !operation.chooses() && a != b && !self.is_block(a, at) && self.is_block(b, at) {
                    let mut block = self.taken(b, at, given);
                    T::binary(operation, &mut block, self.operand(a, given), true);
                    return Value::Block(block);
                }
                let is_copied = !self.is_block(a, at) || operation.chooses();
                let are_scalars = self.as_scalar(a).is_some() && self.as_scalar(b).is_some();
                if is_copied && !are_scalars && operation.has_separate_target() {
                    let block = self.separate(operation, a, b, given);
                    self.release(a, at);
                    self.release(b, at);
                    return Value::Block(block);
                }
                self.combined(at, (a, b), given, |block, other| T::binary(operation, block, other, false))
            }
            Step::Compare(operation, a, b) => {
                self.combined(at, (a, b), given, |block, other| T::comparison(operation, block, other))
            }
            Step::Keep(rule, value, other) => {
                let scalars = self.as_scalar(value).zip(self.as_scalar(other));
                if let Some((value, other)) = scalars {
                    let mut kept = [value];
                    T::keep_to(rule, &mut kept, &[value], Operand::Scalar(other));
                    return Value::Scalar(kept[0]);
                }
                let block = self.kept(rule, value, other, given);
                self.release(value, at);
                Value::Block(block)
            }
            Step::Select(mask, a, b) => {
                let mut block =
                    if mask == a || mask == b { self.copied(mask, given) } else { self.taken(mask, at, given) };
                T::select(&mut block, self.operand(a, given), self.operand(b, given));
                Value::Block(block)
            }
        }
    }

    /// Returns the result of an operation on two operands, not both of which are scalars, in a block of its own.
    fn separate(&mut self, operation: Binary, a: Node, b: Node, given: &[&[T]]) -> Vec<T> {
        let mut block = self.unused.pop().unwrap_or_default();
        block.resize(self.count, T::default());
        match (self.operand(a, given), self.operand(b, given)) {
            (Operand::Slice(x), y) => T::binary_to(operation, &mut block, x, y, false),
            (x, Operand::Slice(y)) => T::binary_to(operation, &mut block, y, x, true),
            (Operand::Scalar(_), Operand::Scalar(_)) => unreachable!("two scalars have no block"),
        }
        block
    }

    /// Returns the scalars of a node, or the zeros that another node requires, in a block of its own.
    fn kept(&mut self, rule: Kept, value: Node, other: Node, given: &[&[T]]) -> Vec<T> {
        let mut block = self.unused.pop().unwrap_or_default();
        block.resize(self.count, T::default());
        let y = self.operand(other, given);
        match self.operand(value, given) {
            Operand::Slice(x) => T::keep_to(rule, &mut block, x, y),
            Operand::Scalar(value) => T::keep_to(rule, &mut block, &vec![value; self.count], y),
        }
        block
    }

    /// Lets later steps use the block of a node that step `at` has read as the last one.
    fn release(&mut self, node: Node, at: u32) {
        if self.is_block(node, at)
            && let Value::Block(scalars) = &mut self.values[node.0 as usize]
            && !scalars.is_empty()
        {
            self.unused.push(std::mem::take(scalars));
        }
    }

    /// Returns the value of step `at`, an operation that changes the scalars of its first operand.
    fn combined(
        &mut self,
        at: u32,
        (a, b): (Node, Node),
        given: &[&[T]],
        apply: impl Fn(&mut [T], Operand<'_, T>),
    ) -> Value<T> {
        if let (Some(a), Some(b)) = (self.as_scalar(a), self.as_scalar(b)) {
            let mut value = [a];
            apply(&mut value, Operand::Scalar(b));
            return Value::Scalar(value[0]);
        }
        let mut block = if a == b { self.copied(a, given) } else { self.taken(a, at, given) };
        apply(&mut block, self.operand(b, given));
        Value::Block(block)
    }

    fn copied(&mut self, node: Node, given: &[&[T]]) -> Vec<T> {
        self.taken(node, RESULT - 1, given)
    }

    /// Returns the scalars of the result with a number after the last block: the block itself, unless a later result is the same
    /// node.
    fn finished(&mut self, number: usize, node: Node) -> Vec<T> {
        let is_last = !self.chain.results[number + 1..].contains(&node);
        if is_last { self.taken(node, RESULT, &[]) } else { self.copied(node, &[]) }
    }
}
