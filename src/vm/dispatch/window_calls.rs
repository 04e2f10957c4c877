//! Window calls: the functions by which machine code calls native functions on its window, and loads and appends strings.
#![allow(unsafe_code)]
#![allow(
    improper_ctypes_definitions,
    reason = "machine code passes the addresses of sites and strings on without looking at them"
)]

use super::fast_path;
use crate::bytecode::NativeSite;
use crate::jit::{Context, FINALIZERS_PENDING, LEFT, NOT_EXECUTED, RETURNED};
use crate::native::library::{self, Window};
use crate::value::{Ref, Text, finalizer};
use crate::vm::compiled::Running;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

/// Calls a native function that needs no context. The numbers of the window were passed, and its integers after them; the
/// references are in their registers. The results are in their place.
pub extern "C" fn call_native(context: *mut Context, site: *const NativeSite, references: *mut u8) -> i64 {
    // SAFETY: machine code passes its own context and a site of its code; nothing else borrows the context.
    let (context, site) = unsafe { (&mut *context, &*site) };
    let [numbers, integers, references_count] = site.window().map(usize::from);
    let passed = context.passed.as_mut_ptr();
    // SAFETY: machine code passes the first registers of its window, which the verifier has found large enough, and calls
    // no function whose numbers and integers are more than can be passed. All bits are valid numbers and integers.
    let (f, i, r) = unsafe {
        (
            std::slice::from_raw_parts_mut(passed.cast::<f64>(), numbers),
            std::slice::from_raw_parts_mut(passed.add(numbers).cast::<i64>(), integers),
            std::slice::from_raw_parts_mut(references.cast::<Ref>(), references_count),
        )
    };
    let mut window = Window { f, i, r, kinds: &site.kinds, params: site.params, results: site.results };
    let called = catch_unwind(AssertUnwindSafe(|| library::direct(site.native)?.apply(&mut window)));
    match called {
        Ok(Some(steps)) => {
            context.fuel -= steps;
            if finalizer::any() { FINALIZERS_PENDING } else { RETURNED }
        }
        Ok(None) => NOT_EXECUTED,
        Err(panic) => {
            // SAFETY: the run of the context is in progress.
            unsafe { (*context.run.cast::<Running>()).panic = Some(panic) };
            LEFT
        }
    }
}

/// Writes a constant string to an empty register; returns whether the register was empty.
pub extern "C" fn load_text(out: *mut u8, text: *const Rc<str>) -> i64 {
    // SAFETY: machine code passes a register of its frame, which nothing else borrows, and a string of its code.
    let (out, text) = unsafe { (&mut *out.cast::<Ref>(), &*text) };
    if !matches!(out, Ref::Null) {
        return 0;
    }
    *out = Ref::Text(Text::Fixed(Rc::clone(text)));
    1
}

/// Appends the string in a register, which is emptied, to the string in another register, if that has enough capacity or
/// the result is short; returns whether it did.
pub extern "C" fn append_text(text: *mut u8, from: *mut u8) -> i64 {
    if text == from {
        return 0;
    }
    // SAFETY: machine code passes two registers of its frame, which nothing else borrows.
    let (text, from) = unsafe { (&mut *text.cast::<Ref>(), &mut *from.cast::<Ref>()) };
    i64::from(fast_path::append_moved(text, from).is_some())
}
