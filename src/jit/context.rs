//! Context: the memory that machine code shares with the machine.

use super::site::Site;
use crate::value::spare_arrays::SpareArrays;
use std::mem::offset_of;

/// The number of arguments or results that can be passed by way of the context.
pub const PASSED: usize = 128;

/// The memory that machine code accesses through the pinned register.
#[repr(C)]
#[derive(Debug)]
pub struct Context {
    /// The number of steps until the limits must be checked.
    pub fuel: i64,
    /// The end of the records of the exit that is in progress.
    pub records: *mut u64,
    /// The entries of compiled functions, by function number; null for a function that is not compiled.
    pub targets: *const *const u8,
    /// The number of entries of functions.
    pub target_count: usize,
    /// The entries of compiled derivative code, by function number.
    pub derivative_targets: *const *const u8,
    /// The lowest address that the stack pointer may have when a function is entered.
    pub stack_limit: usize,
    /// The end of the registers of references.
    pub references_end: usize,
    /// The end of the slots of number registers.
    pub slots_end: usize,
    /// The outcome of a single step that preserves all machine registers.
    pub status: i64,
    /// The addresses of the numbers, integers and references of the global variables.
    pub globals: [usize; 3],
    /// The number of slots of the global variables.
    pub global_slots: usize,
    /// The address of the slots of the global variables.
    pub global_slots_address: usize,
    /// The address of the next node of the tape; 0 unless one level is live, in reverse mode.
    pub next_node: usize,
    /// The end of the memory for nodes.
    pub nodes_end: usize,
    /// The number of the next node.
    pub node_number: u64,
    /// The epoch of the level.
    pub epoch: u64,
    /// The number of modifications of shared storage that are in progress.
    pub modifications: usize,
    /// The number of adjoints that were added from array to array.
    pub copied: usize,
    /// The end of the numbers and of the integers in the value stack of adjoint code.
    pub tops: [usize; 2],
    /// The end of the memory of the numbers and of the integers in the value stack.
    pub ends: [usize; 2],
    /// The beginning of the numbers and of the integers in the value stack.
    pub bottoms: [usize; 2],
    /// The run of machine code that is in progress, which belongs to the machine.
    pub run: *mut (),
    /// The record of the machine, as the caller of the function that it has entered.
    pub root: Link,
    /// The arrays without an owner, which belong to the machine.
    pub spare_arrays: SpareArrays,
    /// Arguments and results that do not fit in machine registers, and the operands of single steps.
    pub passed: [u64; PASSED],
}

/// A record on the machine's stack of a compiled function that has called another function.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Link {
    /// The record of the caller; that in the context for the function that the machine has entered.
    pub caller: *const Link,
    /// The point of the function that is executing.
    pub site: *const Site,
    /// The beginning of the window in the stacks of numbers (the low half) and of integers (the high half), where the
    /// registers of a callee begin.
    pub window: u64,
    /// The address of the function's registers of references.
    pub references: *const u8,
}

impl Link {
    /// The record of the machine, which has entered a function whose registers begin at the given places.
    pub const fn root(numbers: u32, integers: u32) -> Link {
        let window = numbers as u64 | (integers as u64) << 32;
        Link { caller: std::ptr::null(), site: std::ptr::null(), window, references: std::ptr::null() }
    }
}

/// The offsets of fields, for machine code.
pub mod offsets {
    use super::{Context, Link, offset_of};
    pub const FUEL: i32 = offset_of!(Context, fuel) as i32;
    pub const RECORDS: i32 = offset_of!(Context, records) as i32;
    pub const TARGETS: i32 = offset_of!(Context, targets) as i32;
    pub const TARGET_COUNT: i32 = offset_of!(Context, target_count) as i32;
    pub const DERIVATIVE_TARGETS: i32 = offset_of!(Context, derivative_targets) as i32;
    pub const SLOTS_END: i32 = offset_of!(Context, slots_end) as i32;
    pub const GLOBAL_SLOTS_ADDRESS: i32 = offset_of!(Context, global_slots_address) as i32;
    pub const NEXT_NODE: i32 = offset_of!(Context, next_node) as i32;
    pub const NODES_END: i32 = offset_of!(Context, nodes_end) as i32;
    pub const NODE_NUMBER: i32 = offset_of!(Context, node_number) as i32;
    pub const EPOCH: i32 = offset_of!(Context, epoch) as i32;
    pub const STACK_LIMIT: i32 = offset_of!(Context, stack_limit) as i32;
    pub const REFERENCES_END: i32 = offset_of!(Context, references_end) as i32;
    pub const STATUS: i32 = offset_of!(Context, status) as i32;
    pub const GLOBALS: i32 = offset_of!(Context, globals) as i32;
    pub const GLOBAL_SLOTS: i32 = offset_of!(Context, global_slots) as i32;
    pub const MODIFICATIONS: i32 = offset_of!(Context, modifications) as i32;
    pub const TOPS: i32 = offset_of!(Context, tops) as i32;
    pub const ENDS: i32 = offset_of!(Context, ends) as i32;
    pub const BOTTOMS: i32 = offset_of!(Context, bottoms) as i32;
    pub const PASSED: i32 = offset_of!(Context, passed) as i32;
    pub const ROOT: i32 = offset_of!(Context, root) as i32;
    pub const CALLER: i32 = offset_of!(Link, caller) as i32;
    pub const SITE: i32 = offset_of!(Link, site) as i32;
    pub const WINDOW: i32 = offset_of!(Link, window) as i32;
    pub const REFERENCES: i32 = offset_of!(Link, references) as i32;
}

impl Context {
    /// Creates the context of a machine that has compiled nothing.
    pub fn new() -> Context {
        Context {
            fuel: 0,
            records: std::ptr::null_mut(),
            targets: std::ptr::null(),
            target_count: 0,
            derivative_targets: std::ptr::null(),
            stack_limit: 0,
            references_end: 0,
            slots_end: 0,
            status: 0,
            globals: [0; 3],
            global_slots: 0,
            global_slots_address: 0,
            next_node: 0,
            nodes_end: 0,
            node_number: 0,
            epoch: 0,
            modifications: 0,
            copied: 0,
            tops: [0; 2],
            ends: [0; 2],
            bottoms: [0; 2],
            run: std::ptr::null_mut(),
            root: Link::root(0, 0),
            spare_arrays: SpareArrays::default(),
            passed: [0; PASSED],
        }
    }
}

impl Default for Context {
    fn default() -> Context {
        Context::new()
    }
}
