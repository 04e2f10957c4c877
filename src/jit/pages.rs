//! Pages: the memory that holds machine code.
//!
//! Each function has its own pages, which are writable while the code is copied and executable afterwards, and never
//! both. They are released with the function.
#![allow(unsafe_code)]

use std::ptr::NonNull;

/// Machine code in executable memory.
#[derive(Debug)]
pub struct Pages {
    start: NonNull<u8>,
    bytes: usize,
}

impl Pages {
    /// Copies machine code into executable memory; `None` when the system refuses executable memory.
    pub fn of(code: &[u8]) -> Option<Pages> {
        if code.is_empty() {
            return None;
        }
        // SAFETY: an anonymous mapping of a positive length has no precondition; the result is checked.
        let start = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                code.len(),
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        if start == libc::MAP_FAILED {
            return None;
        }
        let pages = Pages { start: NonNull::new(start.cast())?, bytes: code.len() };
        // SAFETY: the mapping is writable, as long as the code, and does not overlap it. The protection changes for the
        // mapping alone.
        let is_executable = unsafe {
            std::ptr::copy_nonoverlapping(code.as_ptr(), pages.start.as_ptr(), code.len());
            libc::mprotect(start, pages.bytes, libc::PROT_READ | libc::PROT_EXEC) == 0
        };
        is_executable.then(|| {
            pages.flush();
            pages
        })
    }

    /// Returns the address of the first instruction.
    pub fn start(&self) -> *const u8 {
        self.start.as_ptr()
    }

    /// Makes the code visible to the processor, where the caches of data and of instructions are not coherent.
    fn flush(&self) {
        #[cfg(target_arch = "aarch64")]
        // SAFETY: the function of the compiler's run-time library takes the bounds of the code.
        unsafe {
            unsafe extern "C" {
                fn __clear_cache(from: *mut libc::c_char, to: *mut libc::c_char);
            }
            __clear_cache(self.start.as_ptr().cast(), self.start.as_ptr().add(self.bytes).cast());
        }
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: the mapping was made with this length, and no code in it runs any more: the machine drops compiled
        // functions when it is dropped itself.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.bytes) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_copied() {
        let pages = Pages::of(&[1, 2, 3]).unwrap();
        // SAFETY: the pages are readable and hold three bytes.
        assert_eq!(unsafe { std::slice::from_raw_parts(pages.start(), 3) }, [1, 2, 3]);
        assert!(Pages::of(&[]).is_none());
    }
}
