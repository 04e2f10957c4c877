//! Nodes: the recorded operations of a tape, and the memory pool of all tapes.

use crate::native::library::{Failure, FailureKind};
use crate::value::number_format::in_bytes;

/// One recorded operation: the node numbers of two operands, and the partial derivatives of the result in these
/// operands.
///
/// A missing operand is represented by the node itself, with partial derivative 0: a sweep then neither branches on the
/// arity nor writes to a common dummy node. Number 0 represents no node.
#[derive(Clone, Copy, PartialEq, Debug)]
#[repr(C)]
pub struct Node {
    /// The node of the first operand.
    pub a: u32,
    /// The node of the second operand.
    pub b: u32,
    /// The partial derivative of the result in the first operand.
    pub pa: f64,
    /// The partial derivative of the result in the second operand.
    pub pb: f64,
}

/// The reason why an operation is not recorded.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RecordError {
    /// The tapes together would need more bytes than the given limit.
    Bytes(u64),
    /// More derivatives would be nested than the given limit.
    Levels(usize),
    /// A function that must be linear applies the primitive or operation with the given name to its arguments.
    NotLinear(&'static str),
    /// The work is canceled, for a [reason](crate::cancel::reason) that comes from outside.
    Cancelled,
    /// An [observer](super::Observer) is active, and a number is not finite.
    NotFinite,
    /// An observer is active, and the primitive or operation with the given name is at a kink.
    Kink(&'static str),
    /// An operation of tensors has failed.
    Failed(Box<Failure>),
}

impl From<RecordError> for Failure {
    fn from(error: RecordError) -> Failure {
        let (kind, message) = match error {
            RecordError::Failed(failure) => return *failure,
            RecordError::Bytes(limit) => (
                FailureKind::Tape,
                format!("the derivative needs more memory than allowed ({} of tape)", in_bytes(limit)),
            ),
            RecordError::Levels(most) => {
                (FailureKind::Nesting, format!("derivatives are nested more than {most} deep"))
            }
            RecordError::NotLinear(step) => {
                (FailureKind::NotLinear, format!("'{step}' is not linear, but it is called in a linear function"))
            }
            RecordError::Cancelled => (FailureKind::Cancelled, "the work was canceled".to_owned()),
            RecordError::NotFinite => (FailureKind::NotFinite, "a number became infinite or NaN".to_owned()),
            RecordError::Kink(name) => (FailureKind::Kink, format!("'{name}' is differentiated at a kink")),
        };
        Failure::new(kind, message)
    }
}

impl From<Failure> for RecordError {
    fn from(failure: Failure) -> RecordError {
        RecordError::Failed(Box::new(failure))
    }
}

/// The number of nodes in the first chunk of a tape: most gradients need no more, and stay in the first-level cache.
const SMALL_CHUNK: usize = 512;
/// The number of nodes in every chunk after the first.
const LARGE_CHUNK: usize = 32 * 1024;
/// The number of bytes of large chunks that are retained for the next tape.
const RETAINED_BYTES: usize = 12 << 20;
/// The number of small chunks that are retained for the next tape.
const RETAINED_SMALL_CHUNKS: usize = 64;
/// The number of chunks in use from which on a finished tape releases unused capacity, because a program with many
/// chunks probably stores pullbacks.
const SHRINK_THRESHOLD: usize = 64;

/// The pool of chunks that all tapes share.
#[derive(Debug)]
pub struct Pool {
    small: Vec<Vec<Node>>,
    large: Vec<Vec<Node>>,
    /// The number of chunks in use.
    borrowed: usize,
    /// The number of bytes in use, including the bytes of columns and cells.
    used: u64,
    limit: u64,
}

const fn bytes(nodes: usize) -> u64 {
    (nodes * size_of::<Node>()) as u64
}

impl Pool {
    /// Creates a pool for tapes of at most `limit` bytes together.
    pub fn new(limit: u64) -> Pool {
        Pool { small: vec![], large: vec![], borrowed: 0, used: 0, limit }
    }

    /// Returns the maximum number of bytes of all tapes together.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// Returns an empty chunk.
    ///
    /// # Errors
    /// [`RecordError`] when the limit is reached.
    pub fn take(&mut self, first: bool) -> Result<Vec<Node>, RecordError> {
        let (size, kept) = if first { (SMALL_CHUNK, &mut self.small) } else { (LARGE_CHUNK, &mut self.large) };
        if self.used + bytes(size) > self.limit {
            return Err(RecordError::Bytes(self.limit));
        }
        self.used += bytes(size);
        self.borrowed += 1;
        Ok(kept.pop().unwrap_or_else(|| Vec::with_capacity(size)))
    }

    /// Takes back a chunk that a tape no longer uses.
    pub fn return_chunk(&mut self, mut chunk: Vec<Node>) {
        if chunk.capacity() == 0 {
            return;
        }
        self.used = self.used.saturating_sub(bytes(chunk.capacity()));
        self.borrowed = self.borrowed.saturating_sub(1);
        chunk.clear();
        match chunk.capacity() {
            SMALL_CHUNK if self.small.len() < RETAINED_SMALL_CHUNKS => self.small.push(chunk),
            LARGE_CHUNK if (self.large.len() + 1) * LARGE_CHUNK * size_of::<Node>() <= RETAINED_BYTES => {
                self.large.push(chunk)
            }
            _ => {}
        }
    }

    /// Copies the last chunk of a finished tape to its exact size, if many chunks are in use and the chunk is at most
    /// half full.
    pub fn trim(&mut self, chunk: Vec<Node>) -> Vec<Node> {
        if self.borrowed <= SHRINK_THRESHOLD || chunk.len() * 2 > chunk.capacity() || chunk.capacity() == 0 {
            return chunk;
        }
        let mut exact = Vec::with_capacity(chunk.len());
        exact.extend_from_slice(&chunk);
        self.return_chunk(chunk);
        self.used += bytes(exact.capacity());
        self.borrowed += 1;
        exact
    }

    /// Counts the chunks and columns that a copy of a tape has allocated as used.
    pub fn adopt(&mut self, chunks: &[Vec<Node>], columns: u64) {
        self.borrowed += chunks.iter().filter(|c| c.capacity() > 0).count();
        self.used += chunks.iter().map(|c| bytes(c.capacity())).sum::<u64>() + columns;
    }

    /// Reserves bytes for columns or cells.
    ///
    /// # Errors
    /// [`RecordError`] when the limit is reached.
    pub fn reserve(&mut self, more: u64) -> Result<(), RecordError> {
        if self.used + more > self.limit {
            return Err(RecordError::Bytes(self.limit));
        }
        self.used += more;
        Ok(())
    }

    /// Releases bytes that were reserved for columns or cells.
    pub fn release(&mut self, less: u64) {
        self.used = self.used.saturating_sub(less);
    }

    /// Returns the number of bytes in use by all tapes.
    pub fn used(&self) -> u64 {
        self.used
    }

    /// Changes the maximum number of bytes of all tapes.
    pub fn set_limit(&mut self, limit: u64) {
        self.limit = limit;
    }
}
