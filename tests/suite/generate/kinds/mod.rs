//! The kinds of stored values besides numbers, with templates for declaring, changing, reading and opening them.
//!
//! `$` is the name of the value, `#1` and `#2` are numbers, `?1` is a condition, `@1` to `@3` are fresh names. A number that a
//! change stores in a function must not be evaluated when the function is called, because it could call the function. A number
//! may call a closure that changes the same value, so a template evaluates its numbers before it tests whether a part exists.
//! The same applies to a default, which is evaluated while the value is being changed and must not read it.

mod collections;
mod functions;
mod generics;
mod references;
mod values;
pub mod variable;

use collections::{LIST, ROWS, SHELF, SLICE, TABLE};
pub use functions::PULLBACK;
use functions::{FUNCTION, RECURSION, SHARED, SWEEP};
use generics::{CROWD, GEAR, MEASURED, TURNING, WHEEL};
use references::{CELL, DIAL, LINK, POOL};
use values::{BAG, BOX, FIGURE, GAUGE, MAYBE, NESTED, SHAPE, TREE, TUPLE};

/// A kind of stored values.
#[derive(Debug)]
pub struct Kind {
    /// The prefix of the names of its values.
    pub prefix: &'static str,
    /// Templates of declarations.
    pub makes: &'static [&'static str],
    /// Templates of statements that change a value.
    pub changes: &'static [&'static str],
    /// Templates of numbers that are read from a value, with one operand.
    pub reads: &'static [&'static str],
    /// Templates of blocks that bind parts of a value: the heads of two blocks, and the end of the second one.
    pub opens: &'static [[&'static str; 3]],
    /// The template of a number that depends on all parts of a value.
    pub kept: &'static str,
}

/// All kinds.
pub const KINDS: &[&Kind] = &[
    &FIGURE, &TABLE, &MAYBE, &CELL, &TUPLE, &FUNCTION, &MEASURED, &BAG, &ROWS, &SHAPE, &NESTED, &GAUGE, &TREE, &BOX,
    &LIST, &SLICE, &SHELF, &DIAL, &LINK, &POOL, &RECURSION, &SHARED, &PULLBACK, &SWEEP, &CROWD, &WHEEL, &GEAR,
    &TURNING,
];

/// The kinds whose values are stored in registers.
pub const ARITHMETIC: &[&Kind] = &[&SHAPE, &MAYBE, &TUPLE, &BOX];
