//! The kinds of values that programs keep beside numbers: how each is made, changed, read and opened, as templates.
//!
//! `$` is the name of the value, `#1` and `#2` are numbers, `?1` is a condition, `@1` to `@3` are fresh names. What a
//! change puts into a function must not be evaluated when the function is called: it could call itself. A number may call
//! a closure that changes the same value, so a template evaluates its numbers before it looks whether a part is there. So it does
//! with a default, which is evaluated while the value is changed: it must not read the same value.

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

/// One kind.
#[derive(Debug)]
pub struct Kind {
    /// What its names begin with.
    pub prefix: &'static str,
    /// Declarations.
    pub makes: &'static [&'static str],
    /// Statements that change it.
    pub changes: &'static [&'static str],
    /// Numbers that are read from it, with one number.
    pub reads: &'static [&'static str],
    /// Blocks that bind parts of it: the heads of two blocks, and what ends the second one.
    pub opens: &'static [[&'static str; 3]],
    /// A number that all of it goes into.
    pub kept: &'static str,
}

/// All kinds.
pub const KINDS: &[&Kind] = &[
    &FIGURE, &TABLE, &MAYBE, &CELL, &TUPLE, &FUNCTION, &MEASURED, &BAG, &ROWS, &SHAPE, &NESTED, &GAUGE, &TREE, &BOX,
    &LIST, &SLICE, &SHELF, &DIAL, &LINK, &POOL, &RECURSION, &SHARED, &PULLBACK, &SWEEP, &CROWD, &WHEEL, &GEAR,
    &TURNING,
];

/// Those whose values are spread over registers.
pub const ARITHMETIC: &[&Kind] = &[&SHAPE, &MAYBE, &TUPLE, &BOX];
