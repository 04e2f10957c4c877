//! Recording: the tape of a live level ([`Recording`]), and the tape after the level has ended ([`Tape`]).

use super::column::SlotColumn;
use super::node::{Node, Pool, RecordError};
use super::observer::ObservedStep;
use super::wide_node::{Call, Wide, WideKind, held};
use crate::value::Slot;
use std::cell::RefCell;
use std::rc::Rc;

/// The pool that all tapes of a machine share.
pub type SharedPool = Rc<RefCell<Pool>>;

/// The tape of a live level.
///
/// Nodes are numbered from 1: first the leaves, which need no record, then one number per record.
#[derive(Debug)]
pub struct Recording {
    /// The chunk that is being filled.
    chunk: Vec<Node>,
    /// The number of the first node of `chunk`.
    base: u32,
    full: Vec<Vec<Node>>,
    leaves: u32,
    wide: Vec<Wide>,
    columns: Columns,
    steps: Vec<(u32, ObservedStep)>,
    pool: SharedPool,
}

/// The memory of a tape, for machine code that appends nodes itself.
#[derive(Clone, Copy, Debug)]
pub struct NodeMemory {
    /// The address of the next node.
    pub next: usize,
    /// The address after the memory that is allocated.
    pub end: usize,
    /// The number of the next node.
    pub number: u32,
}

/// The columns beside the nodes of a level inside of other levels: the dependence of values and partial derivatives on
/// the outer levels. The columns are only as long as needed, so that a level whose numbers vary in no other level costs
/// nothing.
#[derive(Clone, Debug, Default)]
pub struct Columns {
    /// The outer slot of the value of each node, by node number.
    values: SlotColumn,
    /// The outer slots of the two partial derivatives of each record, by twice the record number.
    partials: SlotColumn,
}

/// A finished tape.
#[derive(Debug)]
pub struct Tape {
    chunks: Vec<Vec<Node>>,
    leaves: u32,
    wide: Vec<Wide>,
    columns: Columns,
    /// The recorded operations, by node number; present while an observer is active.
    steps: Vec<(u32, ObservedStep)>,
    pool: SharedPool,
}

impl Recording {
    /// Creates an empty tape.
    pub fn new(pool: &SharedPool) -> Recording {
        Recording {
            chunk: vec![],
            base: 1,
            full: vec![],
            leaves: 0,
            wide: vec![],
            columns: Columns::default(),
            steps: vec![],
            pool: Rc::clone(pool),
        }
    }

    /// Adds a leaf. All leaves come before all records.
    ///
    /// # Errors
    /// [`RecordError`] when no node numbers are left.
    pub fn leaf(&mut self, outer: Slot) -> Result<u32, RecordError> {
        debug_assert!(self.chunk.is_empty() && self.full.is_empty(), "leaves come before records");
        let n = self.base;
        self.base = n.checked_add(1).ok_or(RecordError::Bytes(u64::from(u32::MAX)))?;
        self.leaves += 1;
        self.set_outer_value(n, outer)?;
        Ok(n)
    }

    /// Adds `count` leaves that are constant in the outer levels.
    ///
    /// # Errors
    /// [`RecordError`] when no node numbers are left.
    pub fn leaves(&mut self, count: usize) -> Result<(), RecordError> {
        debug_assert!(self.chunk.is_empty() && self.full.is_empty(), "leaves come before records");
        let full = || RecordError::Bytes(u64::from(u32::MAX));
        let count = u32::try_from(count).map_err(|_| full())?;
        self.base = self.base.checked_add(count).ok_or_else(full)?;
        self.leaves += count;
        Ok(())
    }

    /// Records an operation; an operand 0 is missing.
    ///
    /// # Errors
    /// [`RecordError`] when the limit is reached.
    #[inline(always)]
    pub fn push(&mut self, a: u32, b: u32, pa: f64, pb: f64) -> Result<u32, RecordError> {
        self.make_room()?;
        Ok(self.append(a, b, pa, pb))
    }

    /// Whether one more operation can be appended at once.
    #[inline(always)]
    pub fn has_room(&self) -> bool {
        self.chunk.len() < self.chunk.capacity()
    }

    /// Allocates memory for one more operation.
    ///
    /// # Errors
    /// [`RecordError`] when the limit is reached.
    #[inline(always)]
    pub fn make_room(&mut self) -> Result<(), RecordError> {
        if self.has_room() { Ok(()) } else { self.next_chunk() }
    }

    /// Appends an operation, for which there must be memory; an operand 0 is missing.
    #[inline(always)]
    pub fn append(&mut self, a: u32, b: u32, pa: f64, pb: f64) -> u32 {
        let n = self.base + self.chunk.len() as u32;
        let a = if a == 0 { n } else { a };
        let b = if b == 0 { n } else { b };
        self.chunk.push(Node { a, b, pa, pb });
        n
    }

    /// Returns the memory for the next operations.
    pub fn memory(&mut self) -> NodeMemory {
        let start = self.chunk.as_mut_ptr().addr();
        NodeMemory {
            next: start + size_of_val(&self.chunk[..]),
            end: start + self.chunk.capacity() * size_of::<Node>(),
            number: self.base + self.chunk.len() as u32,
        }
    }

    /// Returns the number of leaves and the nodes that follow them, if they are in one piece and none of them is wide.
    pub fn single_chunk(&self) -> Option<(u32, &[Node])> {
        (self.full.is_empty() && self.wide.is_empty()).then_some((self.leaves, &self.chunk[..]))
    }

    /// Sets the number of operations after machine code has appended some.
    ///
    /// # Safety
    /// The nodes below the address `next` must be in the memory of the tape, and initialized.
    #[allow(unsafe_code)]
    pub unsafe fn set_next(&mut self, next: usize) {
        // SAFETY: the caller guarantees that as many nodes are initialized.
        unsafe { self.chunk.set_len((next - self.chunk.as_ptr().addr()) / size_of::<Node>()) }
    }

    #[cold]
    #[inline(never)]
    fn next_chunk(&mut self) -> Result<(), RecordError> {
        // The node numbers of the next chunk must stay below 2³², too.
        if self.base > u32::MAX - (1 << 20) {
            return Err(RecordError::Bytes(u64::from(u32::MAX)));
        }
        let first = self.chunk.capacity() == 0;
        let fresh = self.pool.borrow_mut().take(first)?;
        let filled = std::mem::replace(&mut self.chunk, fresh);
        self.base += filled.len() as u32;
        if !first {
            self.full.push(filled);
        }
        Ok(())
    }

    /// Records an operation whose partial derivatives or value depend on outer levels.
    ///
    /// # Errors
    /// [`RecordError`] when the limit is reached.
    pub fn push_nested(&mut self, node: Node, outer: Slot, partials: [Slot; 2]) -> Result<u32, RecordError> {
        let n = self.push(node.a, node.b, node.pa, node.pb)?;
        self.set_outer_value(n, outer)?;
        if partials != [Slot::NONE; 2] {
            let at = 2 * (n - self.leaves - 1) as usize;
            put(&mut self.columns.partials, at, partials[0], &self.pool)?;
            put(&mut self.columns.partials, at + 1, partials[1], &self.pool)?;
        }
        Ok(n)
    }

    /// Sets the slot of the value of a node in the outer levels.
    ///
    /// # Errors
    /// [`RecordError`] when the limit is reached.
    pub fn set_outer_value(&mut self, node: u32, outer: Slot) -> Result<(), RecordError> {
        if outer == Slot::NONE {
            return Ok(());
        }
        put(&mut self.columns.values, node as usize, outer, &self.pool)
    }

    /// Returns the slot that the value of a node has in the outer levels.
    pub fn outer_value(&self, node: u32) -> Slot {
        self.columns.values.get(node as usize)
    }

    /// Records a wide node with `results` results; returns the number of the first result.
    ///
    /// # Errors
    /// [`RecordError`] when the limit is reached.
    pub fn push_wide(&mut self, results: u32, make: impl FnOnce(u32) -> Wide) -> Result<u32, RecordError> {
        let mut first = 0;
        for k in 0..results {
            let n = self.push(0, 0, 0.0, 0.0)?;
            first = if k == 0 { n } else { first };
        }
        if results > 0 {
            self.wide.push(make(first));
        }
        Ok(first)
    }

    /// Returns the call whose results include a node.
    pub fn call(&self, node: u32) -> Option<&Call> {
        match &wide_at(&self.wide, node)?.kind {
            WideKind::Call(call) => Some(call),
            WideKind::Sum(_) | WideKind::Block(_) | WideKind::Tensor(_) => None,
        }
    }

    /// Stores an observed operation beside its node.
    pub fn keep(&mut self, node: u32, step: ObservedStep) {
        if self.steps.last().is_none_or(|(last, _)| *last < node) {
            self.steps.push((node, step));
        }
    }

    /// Returns the number of nodes, including the leaves.
    pub fn len(&self) -> u32 {
        self.base - 1 + self.chunk.len() as u32
    }

    /// Whether no operation was recorded.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Ends the recording and returns its tape; an empty recording remains in its place.
    pub fn finish(&mut self) -> Tape {
        let mut chunks = std::mem::take(&mut self.full);
        let last = std::mem::take(&mut self.chunk);
        if last.capacity() > 0 {
            chunks.push(self.pool.borrow_mut().trim(last));
        }
        self.base = 1;
        Tape {
            chunks,
            leaves: std::mem::take(&mut self.leaves),
            wide: std::mem::take(&mut self.wide),
            columns: std::mem::take(&mut self.columns),
            steps: std::mem::take(&mut self.steps),
            pool: Rc::clone(&self.pool),
        }
    }
}

/// Writes a slot to a column, for which memory may have to be reserved.
fn put(column: &mut SlotColumn, at: usize, slot: Slot, pool: &SharedPool) -> Result<(), RecordError> {
    let missing = column.missing(at, slot);
    if missing > 0 {
        pool.borrow_mut().reserve(missing)?;
    }
    column.set(at, slot);
    Ok(())
}

impl Columns {
    fn bytes(&self) -> u64 {
        self.values.bytes() + self.partials.bytes()
    }

    /// Whether some slot in the columns satisfies a predicate.
    pub fn any(&self, test: &mut dyn FnMut(Slot) -> bool) -> bool {
        self.values.any(test) || self.partials.any(test)
    }

    /// Replaces every slot in the columns.
    pub fn map(&mut self, change: &mut dyn FnMut(Slot) -> Slot) {
        self.values.map(change);
        self.partials.map(change);
    }
}

impl Tape {
    /// Returns a tape without nodes.
    pub fn empty(pool: &SharedPool) -> Tape {
        Recording::new(pool).finish()
    }

    /// Returns the number of leaves of the tape, which are the nodes from 1 on.
    pub fn leaves(&self) -> u32 {
        self.leaves
    }

    /// Whether all partial derivatives are finite, and each operand comes before its node.
    pub fn is_sound(&self) -> bool {
        let mut number = self.leaves;
        let mut is_sound = |node: &Node| {
            number += 1;
            (node.a.max(node.b) <= number) & node.pa.is_finite() & node.pb.is_finite()
        };
        // Without an early exit in a chunk, so that nothing is predicted.
        self.chunks.iter().all(|chunk| chunk.iter().fold(true, |all, node| all & is_sound(node)))
    }

    /// Returns the number of nodes of the tape, including the leaves.
    pub fn len(&self) -> usize {
        self.leaves as usize + self.records()
    }

    /// Whether the tape has no nodes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of records of the tape.
    pub fn records(&self) -> usize {
        self.chunks.iter().map(Vec::len).sum()
    }

    /// Returns the operation of a node, if an observer was active. A step with three operands has two nodes.
    pub fn step(&self, node: u32) -> Option<&ObservedStep> {
        let at = self.steps.partition_point(|(n, _)| *n < node);
        let (n, step) = self.steps.get(at)?;
        (*n == node || *n == node + 1 && step.operands == 3).then_some(step)
    }

    /// Whether a node is the first of the two nodes of a step.
    pub fn is_first_of_two(&self, node: u32, step: &ObservedStep) -> bool {
        step.operands == 3 && self.steps.binary_search_by_key(&node, |(n, _)| *n).is_err()
    }

    /// Returns the records of the tape, in chunks.
    pub fn chunks(&self) -> &[Vec<Node>] {
        &self.chunks
    }

    /// Returns a record by its number; a leaf has none.
    pub fn record(&self, node: u32) -> Option<&Node> {
        let mut at = node.checked_sub(self.leaves + 1)? as usize;
        for chunk in &self.chunks {
            match chunk.get(at) {
                Some(record) => return Some(record),
                None => at -= chunk.len(),
            }
        }
        None
    }

    /// Returns the wide nodes of the tape, in order.
    pub fn wide(&self) -> &[Wide] {
        &self.wide
    }

    /// Returns the wide node whose results include a node.
    pub fn wide_at(&self, node: u32) -> Option<&Wide> {
        wide_at(&self.wide, node)
    }

    /// Returns the dependence of values and partial derivatives on the outer levels.
    pub fn columns(&self) -> &Columns {
        &self.columns
    }

    /// Returns the slot that the value of a node has in the outer levels.
    pub fn outer_value(&self, node: u32) -> Slot {
        self.columns.values.get(node as usize)
    }

    /// Returns the slots that the partial derivatives of a node have in the outer levels.
    pub fn outer_partials(&self, node: u32) -> [Slot; 2] {
        let at = 2 * (node - self.leaves - 1) as usize;
        [self.columns.partials.get(at), self.columns.partials.get(at + 1)]
    }

    /// Returns a copy of the tape with other columns and wide nodes.
    #[must_use]
    pub fn with(&self, columns: Columns, wide: Vec<Wide>) -> Tape {
        let chunks = self.chunks.clone();
        self.pool.borrow_mut().adopt(&chunks, columns.bytes() + held(&wide));
        Tape { chunks, leaves: self.leaves, wide, columns, steps: self.steps.clone(), pool: Rc::clone(&self.pool) }
    }
}

impl Drop for Tape {
    fn drop(&mut self) {
        let mut pool = self.pool.borrow_mut();
        pool.release(self.columns.bytes() + held(&self.wide));
        for chunk in self.chunks.drain(..) {
            pool.return_chunk(chunk);
        }
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        // The recording was abandoned, by a trap for example, so its memory is returned.
        let mut pool = self.pool.borrow_mut();
        pool.release(self.columns.bytes() + held(&self.wide));
        pool.return_chunk(std::mem::take(&mut self.chunk));
        for chunk in self.full.drain(..) {
            pool.return_chunk(chunk);
        }
    }
}

/// Returns, among several wide nodes in order, the wide node whose results include a node.
fn wide_at(all: &[Wide], node: u32) -> Option<&Wide> {
    let after = all.partition_point(|wide| wide.first <= node);
    all.get(after.checked_sub(1)?).filter(|wide| node < wide.first + wide.results)
}
