//! The native library: functions on texts, arrays, dictionaries, files and the clock, by the names of the prelude.
//!
//! In: the components of the arguments ([`NativeContext`]), with their slots in derivative code. Out: those of the results.
//!
//! Promises: whatever is copied keeps its slots; no function calls back into the machine; nothing that a program can give
//! to a function makes it panic.
//! Not here: functions of numbers, which have derivatives (the table of primitives).

mod access;
mod any;
mod array;
mod context;
mod dictionary;
mod format;
mod host;
mod io;
mod mirror;
mod number;
mod picture;
mod place;
mod text;

pub use access::{Access, Denied, Folders, way_out};
pub use context::{Argument, Failure, FailureKind, NativeContext, internal};
pub use host::{Display, Host, Random, Screen, Step, Streams, View, Wish};
pub use io::{Table, lines_of, table_of};
pub use text::{append_text, texts};

use crate::value::Ref;
use hashbrown::HashMap;
use std::sync::LazyLock;

/// A function of the library.
#[derive(Clone, Copy, Debug)]
pub struct NativeFunction {
    /// The name that the prelude uses.
    pub name: &'static str,
    /// What it does.
    pub call: fn(&mut NativeContext<'_>) -> Result<(), Failure>,
}

/// A function of texts and integers that nothing has to be prepared for.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    /// The name that the prelude uses.
    pub name: &'static str,
    /// What it does.
    pub what: Glance,
}

/// What a look gives.
#[derive(Clone, Copy, Debug)]
pub enum Glance {
    /// One integer or truth value. `None` when the arguments are of another kind, which compiled code never passes.
    See(fn(&[Ref], &[i64]) -> Option<i64>),
    /// What stands at a place, in place of what it stands in, and the next place. `None` as above.
    Step(fn(&mut Ref, &mut i64) -> Option<()>),
}

/// One of the library.
#[derive(Clone, Copy, Debug)]
pub enum Native {
    /// With everything that it may want to know.
    Function(&'static NativeFunction),
    /// Which makes nothing large, and asks the program for nothing.
    Step(&'static NativeFunction),
    /// Which needs nothing but its arguments.
    Look(&'static Look),
    /// Which asks the compiler for a function as a formula: takes the function, how it is written, and how many times it is
    /// differentiated; gives the forms of a picture.
    Derive,
}

impl Native {
    fn name(self) -> &'static str {
        match self {
            Native::Function(f) | Native::Step(f) => f.name,
            Native::Look(f) => f.name,
            Native::Derive => "derive",
        }
    }
}

const LOOKS: &[Look] = text::LOOKS;

const PARTS: [&[NativeFunction]; 10] = [
    text::TABLE,
    any::TABLE,
    array::TABLE,
    dictionary::TABLE,
    io::TABLE,
    number::TABLE,
    place::TABLE,
    format::TABLE,
    mirror::TABLE,
    picture::TABLE,
];

/// All of them, by number.
static ALL: LazyLock<Vec<Native>> = LazyLock::new(|| {
    let functions = PARTS.iter().copied().flatten().map(Native::Function);
    let steps = dictionary::STEPS.iter().map(Native::Step);
    functions.chain(steps).chain(LOOKS.iter().map(Native::Look)).chain([Native::Derive]).collect()
});

/// How many functions are no looks; those have the numbers behind.
const FUNCTIONS: usize = {
    let (mut count, mut k) = (0, 0);
    while k < PARTS.len() {
        count += PARTS[k].len();
        k += 1;
    }
    count + dictionary::STEPS.len()
};

/// The look with that number, if it is one.
pub fn look(number: u16) -> Option<&'static Look> {
    LOOKS.get(usize::from(number).checked_sub(FUNCTIONS)?)
}

/// The function with that number.
pub fn get(number: u16) -> Option<Native> {
    ALL.get(usize::from(number)).copied()
}

/// The name of the function with that number.
pub fn name(number: u16) -> &'static str {
    get(number).map_or("?", Native::name)
}

/// The names of all functions, in the order of their numbers.
pub fn names() -> impl Iterator<Item = &'static str> {
    ALL.iter().map(|f| f.name())
}

/// The number of the function with that name.
pub fn find(name: &str) -> Option<u16> {
    static NUMBERS: LazyLock<HashMap<&'static str, u16>> = LazyLock::new(|| names().zip(0..).collect());
    NUMBERS.get(name).copied()
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod names {
    use super::*;

    #[test]
    fn names_lead_to_their_functions() {
        for f in names() {
            assert_eq!(find(f).map(name), Some(f), "two functions have one name");
        }
        assert!(get(ALL.len() as u16).is_none());
        let is_look = |number: u16| matches!(get(number), Some(Native::Look(_)));
        assert!((0..=ALL.len() as u16).all(|number| look(number).is_some() == is_look(number)));
    }
}
