//! Pass: the computation of deferred storages in one pass over memory.

use super::super::cancellation;
use super::super::elementwise::{Chain, Node, Real, Source, Target};
use super::super::error::Result;
use super::super::fold::Foldable;
use super::super::scalar::{ScalarKind, with_kind};
use super::super::shape::Shape;
use super::super::strided::Tensor;
use super::expression::{Expression, Extent, LEAST_DEFERRED, MAX_OPERATIONS, MAX_SOURCES};
use super::storage::Storage;
use smallvec::SmallVec;
use std::rc::Rc;

/// The number of simple operations for one scalar that take about as long as to store and to read it.
const LEAST_STORED_COST: usize = 8;

/// The number of bytes of a tensor that is likely to stay in the cache, where it is stored and read faster.
const MOST_CACHED: usize = 1 << 20;

/// The largest number of storages in the search for others that are computed in the same pass.
const MAX_SEARCHED: usize = 64;

/// Computes the scalars of a storage.
pub(super) fn compute(storage: &Rc<Storage>) {
    let is_small = storage.expression(Expression::is_small).unwrap_or(false);
    let computed = if is_small { compute_number(storage) } else { Pass::of(storage).run() };
    if let Err(error) = computed {
        unreachable!("the operands were checked when the operation was deferred: {error}");
    }
}

/// Computes a number from other numbers.
fn compute_number(storage: &Rc<Storage>) -> Result<()> {
    let Some((chain, inputs)) = storage.expression(|e| (e.chain.clone(), e.inputs.clone())) else { return Ok(()) };
    let Some(first) = inputs.iter().flatten().next() else { return Ok(()) };
    let inputs: SmallVec<[&Tensor; 3]> = inputs.iter().map(|input| input.as_ref().unwrap_or(first)).collect();
    let result = chain.evaluate(&inputs)?.swap_remove(0);
    storage.store(Storage::buffer(&result.data).clone());
    storage.release();
    Ok(())
}

/// The storages of a pass, and what is computed of them.
struct Pass {
    /// The storages that are not computed yet, each after those that it is computed from.
    nodes: Vec<Rc<Storage>>,
    /// Whether the scalars of each one are stored.
    is_result: Vec<bool>,
}

/// What it takes to compute a storage again.
#[derive(Default)]
struct Effort {
    /// The number of simple operations for one scalar, roughly.
    cost: usize,
    /// The large storages that are read.
    sources: SmallVec<[*const Storage; 4]>,
}

impl Effort {
    fn include(&mut self, other: &Effort) {
        self.cost = self.cost.saturating_add(other.cost);
        other.sources.iter().for_each(|source| self.read(*source));
    }

    fn read(&mut self, source: *const Storage) {
        if !self.sources.contains(&source) {
            self.sources.push(source);
        }
    }

    /// Whether it takes longer to compute a storage again than to store and to read it.
    fn exceeds_storing(&self, storage: &Storage) -> bool {
        let is_expensive = self.cost >= LEAST_STORED_COST;
        let is_cached = storage.len() * storage.kind().size() <= MOST_CACHED;
        // A large tensor that is computed for the first time may not be read again while it is there.
        self.sources.len() > 1 || is_expensive && is_cached || storage.note_recomputed() && is_expensive
    }
}

/// A tensor that a pass reads, and the shape to which it is repeated.
struct Input {
    tensor: Tensor,
    shape: Shape,
    node: Node,
}

/// The steps of a pass.
struct Steps {
    chain: Chain,
    inputs: Vec<Input>,
    results: Vec<Rc<Storage>>,
    /// The inputs whose memory results take over: their number, and that of the result.
    reused: Vec<(usize, usize)>,
    kind: ScalarKind,
    count: usize,
}

impl Pass {
    /// Finds the storages that are computed together with one.
    fn of(root: &Rc<Storage>) -> Pass {
        let of_root = root.expression(Expression::domain);
        let mut nodes = Vec::new();
        add(&mut nodes, root);
        let mut roots = vec![Rc::as_ptr(root)];
        let (mut seen, mut seen_of_sources, mut at) = (Vec::new(), Vec::new(), 0);
        while at < nodes.len() {
            let mut found = Vec::new();
            search(&nodes[at], &mut seen, &mut found);
            search_sums(&nodes[at], &mut seen_of_sources, &mut found);
            at += 1;
            for other in found {
                let is_known = nodes.iter().any(|node| Rc::ptr_eq(node, &other));
                if is_known || other.expression(Expression::domain) != of_root {
                    continue;
                }
                let extent = Extent::of(nodes.iter().chain([&other]));
                if extent.operations <= 2 * MAX_OPERATIONS && extent.sources <= 2 * MAX_SOURCES {
                    add(&mut nodes, &other);
                    roots.push(Rc::as_ptr(&other));
                }
            }
        }
        let mut pass = Pass { is_result: vec![false; nodes.len()], nodes };
        pass.choose_results(&roots);
        pass
    }

    fn position(&self, storage: &Rc<Storage>) -> Option<usize> {
        self.nodes.iter().position(|node| Rc::ptr_eq(node, storage))
    }

    /// Returns the number of references to a node that do not belong to expressions.
    fn users(&self, at: usize) -> usize {
        let node = &self.nodes[at];
        (Rc::strong_count(node) - 1).saturating_sub(node.references(&node.deferred_dependents()))
    }

    /// Chooses the storages of which the scalars are stored.
    fn choose_results(&mut self, roots: &[*const Storage]) {
        let mut efforts: Vec<Effort> = Vec::with_capacity(self.nodes.len());
        for at in 0..self.nodes.len() {
            let node = &self.nodes[at];
            let mut effort = Effort::default();
            node.expression(|expression| {
                effort.cost = expression.chain.cost();
                for source in expression.sources() {
                    match self.position(source) {
                        Some(known) => effort.include(&efforts[known]),
                        None if source.len() >= LEAST_DEFERRED => effort.read(Rc::as_ptr(source)),
                        None => {}
                    }
                }
            });
            // Whether something may read the scalars later, which takes less time from memory than from the operands.
            let is_kept = self.users(at) > 0 && effort.exceeds_storing(node);
            self.is_result[at] = roots.contains(&Rc::as_ptr(node)) || is_kept;
            if self.is_result[at] {
                effort = Effort::default();
                effort.read(Rc::as_ptr(node));
            }
            efforts.push(effort);
        }
    }

    /// Returns for each storage whether its expression is released by the pass.
    fn released(&self) -> Vec<bool> {
        let mut released = self.is_result.clone();
        for at in (0..self.nodes.len()).rev().filter(|at| !self.is_result[*at]) {
            let is_released = |dependent: &Rc<Storage>| self.position(dependent).is_some_and(|at| released[at]);
            released[at] = self.users(at) == 0 && self.nodes[at].deferred_dependents().iter().all(is_released);
        }
        released
    }

    /// Joins the expressions to one chain.
    fn steps(self) -> Steps {
        let domain = self.nodes.first().and_then(|node| node.expression(Expression::domain));
        let (kind, count) = domain.unwrap_or((ScalarKind::F64, 0));
        let mut steps = Steps { chain: Chain::new(), inputs: vec![], results: vec![], reused: vec![], kind, count };
        let mut joined: Vec<Option<Node>> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            let result = node.expression(|expression| {
                let mut inputs: SmallVec<[Option<Node>; 4]> = SmallVec::new();
                for input in &expression.inputs {
                    inputs.push(input.as_ref().and_then(|tensor| match self.position(&tensor.data) {
                        Some(at) => joined[at],
                        None => Some(steps.input(tensor, &expression.shape)),
                    }));
                }
                steps.chain.include(&expression.chain, &inputs)
            });
            joined.push(result.flatten());
        }
        let released = self.released();
        let mut is_reused = vec![false; steps.inputs.len()];
        for ((node, joined), _) in self.nodes.iter().zip(joined).zip(&self.is_result).filter(|(_, is)| **is) {
            let Some(joined) = joined else { continue };
            steps.chain.give(joined);
            let is_sum = is_sum(node);
            let reusable = |at: &usize| !is_reused[*at] && self.is_reusable(&steps, *at, &released);
            if !is_sum && let Some(input) = (0..steps.inputs.len()).find(reusable) {
                is_reused[input] = true;
                steps.reused.push((input, steps.results.len()));
            }
            steps.results.push(Rc::clone(node));
        }
        steps
    }

    /// Whether nothing else reads an input, so that a result can take over its memory.
    fn is_reusable(&self, steps: &Steps, at: usize, released: &[bool]) -> bool {
        let tensor = &steps.inputs[at].tensor;
        if tensor.data.len() != steps.count || !tensor.is_whole() {
            return false;
        }
        let nodes = self.nodes.iter().zip(released).filter(|(_, is_released)| **is_released);
        let dependents: Vec<Rc<Storage>> = nodes.map(|(node, _)| Rc::clone(node)).collect();
        let inputs = steps.inputs.iter().filter(|input| Rc::ptr_eq(&input.tensor.data, &tensor.data)).count();
        inputs == 1 && Rc::strong_count(&tensor.data) == tensor.data.references(&dependents) + 1
    }

    fn run(self) -> Result<()> {
        let steps = self.steps();
        with_kind!("chain", real steps.kind, T => steps.run::<T>())
    }
}

impl Steps {
    /// Returns the node of an input.
    fn input(&mut self, tensor: &Tensor, shape: &Shape) -> Node {
        let is_same = |input: &&Input| {
            Rc::ptr_eq(&input.tensor.data, &tensor.data)
                && (input.tensor.offset, &input.tensor.shape) == (tensor.offset, &tensor.shape)
                && input.tensor.strides == tensor.strides
                && &input.shape == shape
        };
        if let Some(known) = self.inputs.iter().find(is_same) {
            return known.node;
        }
        let node = self.chain.input();
        self.inputs.push(Input { tensor: tensor.clone(), shape: shape.clone(), node });
        node
    }

    /// Computes and stores the results.
    fn run<T: Real + Foldable>(self) -> Result<()> {
        let Steps { chain, inputs, results, reused, count, .. } = self;
        let mut targets: SmallVec<[Target<T>; 1]> = SmallVec::new();
        for result in &results {
            targets.push(if is_sum(result) { Target::Sum } else { Target::Scalars });
        }
        if !reused.is_empty() {
            cancellation::check();
            results.iter().for_each(|result| result.release());
        }
        let mut taken = vec![None; inputs.len()];
        let mut kept = Vec::with_capacity(inputs.len());
        for (at, input) in inputs.into_iter().enumerate() {
            let result = reused.iter().find(|(input, _)| *input == at).map(|(_, result)| *result);
            kept.push(match result {
                None => Some(input),
                Some(result) => match Rc::try_unwrap(input.tensor.data).map(Storage::into_scalars) {
                    Ok(Some(scalars)) => {
                        (targets[result], taken[at]) = (Target::Over(scalars), Some(result));
                        None
                    }
                    Ok(None) | Err(_) => unreachable!("only this pass refers to the scalars"),
                },
            });
        }
        let mut sources: SmallVec<[Source<'_, T>; 4]> = SmallVec::new();
        for (input, taken) in kept.iter().zip(taken) {
            match (input, taken) {
                (Some(input), _) => {
                    sources.push(Source::Tensor(input.tensor.reader_in::<T>("chain", &input.shape)?));
                }
                (None, result) => sources.push(Source::Result(result.unwrap_or(0))),
            }
        }
        // Results that overwrite their operands cannot be computed again after an interruption.
        let computed = match reused.is_empty() {
            true => chain.compute(&sources, targets, count),
            false => cancellation::without_checks(|| chain.compute(&sources, targets, count)),
        };
        for (result, scalars) in results.iter().zip(computed) {
            result.store(T::buffer(scalars));
            result.release();
        }
        Ok(())
    }
}

/// Adds a storage and those that it is computed from, unless their scalars are known.
fn add(nodes: &mut Vec<Rc<Storage>>, storage: &Rc<Storage>) {
    if !storage.is_deferred() || nodes.iter().any(|node| Rc::ptr_eq(node, storage)) {
        return;
    }
    storage.expression(|expression| expression.sources().for_each(|source| add(nodes, source)));
    nodes.push(Rc::clone(storage));
}

/// Finds the results that depend on a storage and on which no other elementwise result depends.
fn search(storage: &Rc<Storage>, seen: &mut Vec<*const Storage>, found: &mut Vec<Rc<Storage>>) {
    for dependent in storage.deferred_dependents() {
        if seen.contains(&Rc::as_ptr(&dependent)) || seen.len() >= MAX_SEARCHED {
            continue;
        }
        seen.push(Rc::as_ptr(&dependent));
        let is_last = is_sum(&dependent) || dependent.deferred_dependents().is_empty();
        if dependent.expression(Expression::is_small).unwrap_or(true) {
            continue;
        }
        match is_last {
            true => found.push(dependent),
            false => search(&dependent, seen, found),
        }
    }
}

/// Finds the sums that are computed from the same tensors as a storage. They would keep these tensors alive.
fn search_sums(storage: &Rc<Storage>, seen: &mut Vec<*const Storage>, found: &mut Vec<Rc<Storage>>) {
    let mut sources: SmallVec<[Rc<Storage>; 3]> = SmallVec::new();
    storage.expression(|e| sources.extend(e.sources().filter(|source| !source.is_deferred()).cloned()));
    let mut last = vec![];
    sources.iter().for_each(|source| search(source, seen, &mut last));
    found.extend(last.into_iter().filter(is_sum));
}

fn is_sum(storage: &Rc<Storage>) -> bool {
    storage.expression(|expression| expression.is_sum).unwrap_or(false)
}
