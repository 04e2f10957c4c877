//! The `dscript` command.
//!
//! The entry point is that of C. Rust's own one prepares the report of a stack overflow of the main thread, for which the C library
//! reads the memory map of the process: a twentieth of the time of a small script. Here, the main thread only starts another one.
#![no_main]
#![allow(unsafe_code)]

#[global_allocator]
static ALLOCATOR: dscript::allocator::Allocator = dscript::allocator::Allocator;

// SAFETY: no other function of the program has this name, and the signature is that of C.
#[unsafe(no_mangle)]
extern "C" fn main(_count: std::ffi::c_int, _arguments: *const *const std::ffi::c_char) -> std::ffi::c_int {
    dscript::front::cli::main()
}
