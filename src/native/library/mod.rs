//! The native library: functions on texts, arrays, dictionaries, files and the clock, by the names of the prelude.
//!
//! In: the components of the arguments ([`NativeContext`]), with their slots in derivative code. Out: those of the results.
//!
//! Promises: whatever is copied keeps its slots; no function calls back into the machine; nothing that a program can give
//! to a function makes it panic.
//! Not here: functions of numbers, which have derivatives (the table of primitives).

mod any;
mod array;
mod context;
mod dictionary;
mod format;
mod host;
mod io;
mod mirror;
mod number;
mod place;
mod text;

pub use context::{Argument, Failure, FailureKind, NativeContext, internal};
pub use host::{Host, Random};
pub use io::{Table, lines_of, table_of};

use hashbrown::HashMap;
use std::sync::OnceLock;

/// A function of the library.
#[derive(Clone, Copy, Debug)]
pub struct NativeFunction {
    /// The name that the prelude uses.
    pub name: &'static str,
    /// What it does.
    pub call: fn(&mut NativeContext<'_>) -> Result<(), Failure>,
}

const PARTS: [&[NativeFunction]; 9] = [
    text::TABLE,
    any::TABLE,
    array::TABLE,
    dictionary::TABLE,
    io::TABLE,
    number::TABLE,
    place::TABLE,
    format::TABLE,
    mirror::TABLE,
];

/// The function with that number.
pub fn get(number: u16) -> Option<&'static NativeFunction> {
    let mut number = number as usize;
    for part in PARTS {
        if number < part.len() {
            return Some(&part[number]);
        }
        number -= part.len();
    }
    None
}

/// The name of the function with that number.
pub fn name(number: u16) -> &'static str {
    get(number).map_or("?", |f| f.name)
}

/// The names of all functions, in the order of their numbers.
pub fn names() -> impl Iterator<Item = &'static str> {
    PARTS.iter().copied().flatten().map(|f| f.name)
}

/// The number of the function with that name.
pub fn find(name: &str) -> Option<u16> {
    static NUMBERS: OnceLock<HashMap<&'static str, u16>> = OnceLock::new();
    let numbers = NUMBERS.get_or_init(|| names().zip(0..).collect());
    numbers.get(name).copied()
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod names {
    use super::*;

    #[test]
    fn names_lead_to_their_functions() {
        let all: Vec<&NativeFunction> = PARTS.iter().copied().flatten().collect();
        for f in &all {
            assert_eq!(find(f.name).map(name), Some(f.name), "two functions have one name");
        }
        assert!(get(all.len() as u16).is_none());
    }
}
