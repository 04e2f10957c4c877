//! Allocator: the allocator of the process, mimalloc. Programs create many small objects, which it allocates and frees
//! several times faster than the allocator of the system.
#![allow(unsafe_code)]

use libmimalloc_sys::{
    mi_free, mi_malloc, mi_malloc_aligned, mi_realloc, mi_realloc_aligned, mi_zalloc, mi_zalloc_aligned,
};
use std::alloc::{GlobalAlloc, Layout};

/// The alignment of all blocks: the sizes of blocks are multiples of it, and the first block of a page is aligned to it.
const WORD: usize = size_of::<usize>();

/// The allocator of the process.
///
/// The functions for a given alignment search for an aligned block, and allocate a larger block unless the size is a power
/// of two. Most objects are aligned to a word, as all blocks are, so they take the shorter way.
#[derive(Debug)]
pub struct Allocator;

// SAFETY: all functions pass the request on to mimalloc, which allocates, frees and moves blocks of at least the given
// size. Every block is aligned to a word; larger alignments are requested from the functions that take an alignment. A
// block may be freed in the same way whichever function allocated it.
unsafe impl GlobalAlloc for Allocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let (size, alignment) = (layout.size(), layout.align());
        // SAFETY: the function has no preconditions.
        unsafe { if alignment <= WORD { mi_malloc(size) } else { mi_malloc_aligned(size, alignment) }.cast() }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let (size, alignment) = (layout.size(), layout.align());
        // SAFETY: the function has no preconditions.
        unsafe { if alignment <= WORD { mi_zalloc(size) } else { mi_zalloc_aligned(size, alignment) }.cast() }
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, _: Layout) {
        // SAFETY: the caller passes a block of this allocator, which is not used any more.
        unsafe { mi_free(block.cast()) }
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let (block, alignment) = (block.cast(), layout.align());
        // SAFETY: the caller passes a block of this allocator, which has the alignment of its layout.
        unsafe {
            if alignment <= WORD { mi_realloc(block, size) } else { mi_realloc_aligned(block, size, alignment) }.cast()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_aligned_and_keep_their_contents_when_they_grow() {
        for alignment in (0..8).map(|k| 1 << k) {
            for size in (1..300).chain([1000, 5000, 100_000]) {
                let layout = Layout::from_size_align(size, alignment).unwrap();
                // SAFETY: the sizes are not zero, and only bytes within the blocks are written and read.
                unsafe {
                    let block = Allocator.alloc(layout);
                    let zeros = Allocator.alloc_zeroed(layout);
                    assert!(block.addr().is_multiple_of(alignment) && zeros.addr().is_multiple_of(alignment));
                    assert!(std::slice::from_raw_parts(zeros, size).iter().all(|byte| *byte == 0));
                    std::ptr::write_bytes(block, 7, size);
                    let grown = Allocator.realloc(block, layout, 3 * size);
                    assert!(grown.addr().is_multiple_of(alignment), "{size} {alignment}");
                    assert!(std::slice::from_raw_parts(grown, size).iter().all(|byte| *byte == 7));
                    Allocator.dealloc(grown, Layout::from_size_align(3 * size, alignment).unwrap());
                    Allocator.dealloc(zeros, layout);
                }
            }
        }
    }
}
