//! The division of work into chunks, and the threads that process them. The chunks do not depend on the number of threads, so
//! neither do the results.

use super::cancellation;
use super::memory::spare::{self, unspecified};
use super::reader::Reader;
use super::scalar::Scalar;
use rayon::prelude::*;
use std::cell::RefCell;
use std::num::NonZeroUsize;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// The number of scalars of a block, which fits into the first-level cache together with the blocks that it is computed from.
pub(super) const BLOCK: usize = 1024;

/// The number of blocks of a chunk, which one thread processes.
pub(super) const BLOCKS_OF_CHUNK: usize = 8;

/// The amount of work, in simple operations, from which threads are used.
const LEAST_PARALLEL_WORK: usize = 1 << 16;

/// The least number of pieces into which the chunks for a thread are divided, so that all threads end at about the same time.
const PIECES_OF_THREAD: usize = 8;

/// The amount of work, in simple operations, between two checks for cancellation.
const WORK_BETWEEN_CHECKS: usize = 1 << 22;

/// The number of threads; 0 if it was not determined yet.
static THREADS: AtomicUsize = AtomicUsize::new(0);

/// The time for which a thread that has nothing to do waits for the next operation before it sleeps: longer than the interpreter
/// takes between large operations, because waking a thread takes as long as the work for one of them.
const WAIT_BEFORE_SLEEP: Duration = Duration::from_micros(100);

/// The largest number of threads that stay awake for the next operation.
const MOST_AWAKE: usize = 7;

thread_local! {
    /// The pool of this thread, which is one of the threads of the pool: it processes the first chunks while the others wake up, and
    /// takes back the chunks that none of them has started. A thread cannot leave its pool, so the number of threads is that of the
    /// first large operation.
    static POOL: RefCell<Option<Rc<Pool>>> = const { RefCell::new(None) };
}

/// The threads for the operations of one thread.
struct Pool {
    threads: rayon::ThreadPool,
    /// The number of operations that have begun.
    begun: Arc<AtomicUsize>,
}

impl Pool {
    fn new(count: usize) -> Option<Pool> {
        let threads = rayon::ThreadPoolBuilder::new().num_threads(count).use_current_thread().build().ok()?;
        Some(Pool { threads, begun: Arc::default() })
    }

    /// Runs an operation, and keeps other threads awake for a while after it.
    fn run(&self, operation: impl FnOnce() + Send) {
        let number = self.begun.fetch_add(1, Ordering::Relaxed) + 1;
        self.threads.install(operation);
        for _ in 0..(self.threads.current_num_threads() - 1).min(MOST_AWAKE) {
            let begun = Arc::clone(&self.begun);
            self.threads.spawn(move || {
                let start = Instant::now();
                while begun.load(Ordering::Relaxed) == number && start.elapsed() < WAIT_BEFORE_SLEEP {
                    std::thread::yield_now();
                }
            });
        }
    }
}

/// Sets the number of threads that operations on large tensors use; `None` stands for one per processor.
pub fn set_threads(count: Option<NonZeroUsize>) {
    THREADS.store(count.map_or(0, NonZeroUsize::get), Ordering::Relaxed);
}

/// Returns the number of threads that operations on large tensors use. The processors are counted only when the number is
/// first needed, because that takes longer than the start of a small program.
pub fn threads() -> usize {
    match THREADS.load(Ordering::Relaxed) {
        0 => {
            let count = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
            THREADS.store(count, Ordering::Relaxed);
            count
        }
        count => count,
    }
}

/// Returns the threads, if there are several and the work is large enough.
fn pool(work: usize) -> Option<Rc<Pool>> {
    if work < LEAST_PARALLEL_WORK {
        return None;
    }
    let threads = threads();
    if threads < 2 {
        return None;
    }
    POOL.with_borrow_mut(|pool| {
        if pool.is_none() {
            // Without threads (a system that refuses them), the calling thread does the work.
            *pool = Pool::new(threads).map(Rc::new);
        }
        pool.clone()
    })
}

/// Calls a function with each chunk of a slice and its number. `work` is the number of simple operations for a whole chunk.
pub(super) fn for_each_chunk<T: Send>(
    scalars: &mut [T],
    chunk: usize,
    work: usize,
    process: impl Fn(usize, &mut [T]) + Sync,
) {
    let chunk = chunk.max(1);
    let count = scalars.len().div_ceil(chunk);
    let at_once = (WORK_BETWEEN_CHECKS / work.max(1)).max(1);
    match pool(work.saturating_mul(count)).filter(|_| count > 1) {
        None => {
            for (number, part) in scalars.chunks_mut(chunk).enumerate() {
                if number % at_once == 0 {
                    cancellation::check();
                }
                process(number, part);
            }
        }
        // A worker cannot observe a cancellation, so the chunks are given out in groups.
        Some(pool) => in_groups(&pool, scalars, chunk, at_once.max(4) * pool.threads.current_num_threads(), &process),
    }
}

/// Calls a function with each chunk of a slice and its number on several threads, `group` chunks at a time. The function is
/// passed by reference, because this code would otherwise be compiled for each of the hundreds of operations.
#[inline(never)]
fn in_groups<T: Send>(
    pool: &Pool,
    scalars: &mut [T],
    chunk: usize,
    group: usize,
    process: &(dyn Fn(usize, &mut [T]) + Sync),
) {
    for (number, part) in scalars.chunks_mut(chunk * group).enumerate() {
        cancellation::check();
        let most = part.len().div_ceil(chunk) / (PIECES_OF_THREAD * pool.threads.current_num_threads());
        pool.run(|| {
            let chunks = part.par_chunks_mut(chunk).enumerate().with_max_len(most.max(1));
            chunks.for_each(|(at, part)| process(number * group + at, part));
        });
    }
}

/// Calls a function with each block of a slice and its position. `cost` is the number of simple operations for one scalar.
pub(super) fn update_blocks<T: Send>(scalars: &mut [T], cost: usize, process: impl Fn(usize, &mut [T]) + Sync) {
    if scalars.len() <= BLOCK {
        return process(0, scalars);
    }
    let chunk = BLOCK * BLOCKS_OF_CHUNK;
    for_each_chunk(scalars, chunk, chunk * cost, |number, part| {
        for (block, part) in part.chunks_mut(BLOCK).enumerate() {
            process(number * chunk + block * BLOCK, part);
        }
    });
}

/// Returns a vector of which a function fills each block, given its position.
pub(super) fn fill_blocks<T: Scalar>(count: usize, cost: usize, fill: impl Fn(usize, &mut [T]) + Sync) -> Vec<T> {
    let mut scalars = unspecified(count);
    update_blocks(&mut scalars, cost, fill);
    scalars
}

/// Returns a copy of scalars of which a function changes each block, given its position.
pub(super) fn change_blocks<T: Scalar>(
    source: &Reader<'_, T>,
    count: usize,
    cost: usize,
    change: impl Fn(usize, &mut [T]) + Sync,
) -> Vec<T> {
    if pool(count.saturating_mul(cost)).is_some() {
        return fill_blocks(count, cost, |start, block| {
            source.fill(start, block);
            change(start, block);
        });
    }
    // Blocks are appended while they are in the cache, so that the memory need not be cleared beforehand.
    let mut scalars = spare::with_capacity(count);
    let between = WORK_BETWEEN_CHECKS / cost.max(1) / BLOCK;
    for start in (0..count).step_by(BLOCK) {
        if (start / BLOCK).is_multiple_of(between.max(1)) {
            cancellation::check();
        }
        source.append(start, BLOCK.min(count - start), &mut scalars);
        change(start, &mut scalars[start..]);
    }
    scalars
}
