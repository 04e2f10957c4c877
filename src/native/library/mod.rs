//! Native library: functions on strings, arrays, dictionaries, files and the clock, by the names that the prelude uses.
//!
//! In: the components of the arguments ([`NativeContext`]), with their slots in derivative code. Out: those of the
//! results.
//!
//! Promises: copied numbers retain their slots; no function calls back into the machine; no argument that a program can
//! pass to a function causes a panic.
//! Not here: functions of numbers, which have derivatives (the table of primitives).

mod array;
mod context;
mod data;
mod dictionary;
mod existential;
mod fast_path;
mod file;
mod file_access;
mod host;
mod interpolation;
mod io;
mod mirror;
mod number;
mod picture;
mod printf_format;
mod reflection;
mod sorting;
mod string;
mod tensor;
mod tensor_file;

pub use context::{Argument, Failure, FailureKind, NativeContext, NativeRegisters, internal};
pub use data::{
    ColumnKind, JSONStream, Table, TableColumn, TableFormat, check_pattern, date_of, matches_of, stream_of, table_of,
};
pub use fast_path::{BYTES_PER_STEP, Direct, FastPath, NativeSignature, PureOperation, Window};
pub use file::lines_of;
pub use file_access::{Access, AccessError, Folders, access_help};
pub use host::{Display, ExplainRequest, Host, ProgressReport, Random, Screen, Streams, View};
pub use interpolation::MAX_LENGTH;
pub use string::{append_text, texts};
pub use tensor_file::{NamedTensor, TensorFormat, bytes_of_tensors, tensors_of};

use hashbrown::HashMap;
use std::sync::LazyLock;

/// A function of the library.
#[derive(Clone, Copy, Debug)]
pub struct NativeFunction {
    /// The name of the function that the prelude uses.
    pub name: &'static str,
    /// The implementation of the function.
    pub call: fn(&mut NativeContext<'_>) -> Result<(), Failure>,
}

/// A function of the library with a fast path.
#[derive(Clone, Copy, Debug)]
pub struct FastFunction {
    /// The function, which has the complete meaning.
    pub function: NativeFunction,
    /// The usual case of the function.
    pub fast: FastPath,
}

/// A function of strings and integers that needs nothing but its arguments.
#[derive(Clone, Copy, Debug)]
pub struct PureNative {
    /// The name of the function that the prelude uses.
    pub name: &'static str,
    /// The implementation of the function.
    pub operation: PureOperation,
}

/// A function of the native library, by the way in which it is called.
#[derive(Clone, Copy, Debug)]
pub enum Native {
    /// A function that receives the whole context.
    Function(&'static NativeFunction),
    /// A function that allocates nothing large and never calls back into the program.
    Step(&'static NativeFunction),
    /// A pure function, which needs nothing but its arguments.
    Pure(&'static PureNative),
    /// A query to the compiler for a function as a formula: its arguments are the function, its source text, and the
    /// order of differentiation; its results are the forms of a picture.
    Derive,
    /// An operation on coroutines, which the machine performs itself.
    Coroutine(CoroutineOperation),
}

/// An operation on coroutines.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CoroutineOperation {
    /// Runs a function as a coroutine until it is suspended or ends; returns the number of the coroutine, or -1 if it
    /// has ended.
    Start,
    /// Continues the suspended coroutine with a number until it is suspended or ends; returns what `Start` returns.
    Continue,
    /// Suspends the running coroutine, so that its caller continues; returns whether a coroutine is running.
    Suspend,
}

impl Native {
    fn name(self) -> &'static str {
        match self {
            Native::Function(f) | Native::Step(f) => f.name,
            Native::Pure(f) => f.name,
            Native::Derive => "derive",
            Native::Coroutine(CoroutineOperation::Start) => "coroutine.start",
            Native::Coroutine(CoroutineOperation::Continue) => "coroutine.continue",
            Native::Coroutine(CoroutineOperation::Suspend) => "coroutine.suspend",
        }
    }
}

const PURE: &[PureNative] = string::PURE;

/// The functions with a fast path that may create large objects.
const FAST: &[FastFunction] = interpolation::FAST;

const PARTS: [&[NativeFunction]; 27] = [
    reflection::TABLE,
    string::TABLE,
    existential::TABLE,
    array::TABLE,
    dictionary::TABLE,
    io::TABLE,
    file::TABLE,
    data::CSV,
    data::JSON,
    data::REGEX,
    data::DATE,
    number::TABLE,
    string::index::TABLE,
    string::encoding::TABLE,
    printf_format::TABLE,
    mirror::TABLE,
    picture::TABLE,
    sorting::TABLE,
    tensor::SCALARS,
    tensor::ELEMENTWISE,
    tensor::CONSTRUCTION,
    tensor::VIEW,
    tensor::INDEXING,
    tensor::REDUCTION,
    tensor::MATRIX,
    tensor::WINDOW,
    tensor_file::TABLE,
];

/// All native functions, by number: first those without a [direct](direct) call.
static ALL: LazyLock<Vec<Native>> = LazyLock::new(|| {
    let functions = PARTS.iter().copied().flatten().map(Native::Function);
    let fast = FAST.iter().map(|fast| Native::Function(&fast.function));
    let steps = dictionary::STEPS.iter().map(|step| Native::Step(&step.function));
    let coroutines = [CoroutineOperation::Start, CoroutineOperation::Continue, CoroutineOperation::Suspend];
    let of_machine = std::iter::once(Native::Derive).chain(coroutines.map(Native::Coroutine));
    functions.chain(fast).chain(steps).chain(PURE.iter().map(Native::Pure)).chain(of_machine).collect()
});

/// The number of functions without a direct call; the others are numbered after them.
const FUNCTIONS: usize = {
    let (mut count, mut k) = (0, 0);
    while k < PARTS.len() {
        count += PARTS[k].len();
        k += 1;
    }
    count
};

/// The direct calls of the functions after the first [`FUNCTIONS`].
static DIRECT: [Direct; FAST.len() + dictionary::STEPS.len() + PURE.len()] = {
    let mut all = [Direct::Pure(PURE[0].operation); _];
    let mut k = 0;
    while k < all.len() {
        all[k] = match k.checked_sub(FAST.len()) {
            None => Direct::FastPath(FAST[k].fast),
            Some(step) if step < dictionary::STEPS.len() => Direct::FastPath(dictionary::STEPS[step].fast),
            Some(rest) => Direct::Pure(PURE[rest - dictionary::STEPS.len()].operation),
        };
        k += 1;
    }
    all
};

/// Returns the direct call of the function with the given number, if it has one.
#[inline(always)]
pub fn direct(number: u16) -> Option<Direct> {
    DIRECT.get(usize::from(number).checked_sub(FUNCTIONS)?).copied()
}

/// Returns the native function with the given number.
pub fn get(number: u16) -> Option<Native> {
    ALL.get(usize::from(number)).copied()
}

/// Returns the name of the native function with the given number.
pub fn name(number: u16) -> &'static str {
    get(number).map_or("?", Native::name)
}

/// Returns the names of all native functions, in the order of their numbers.
pub fn names() -> impl Iterator<Item = &'static str> {
    ALL.iter().map(|f| f.name())
}

/// Returns the number of the native function with the given name.
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
        for number in 0..=ALL.len() as u16 {
            let is_direct = match (get(number), direct(number)) {
                (Some(Native::Pure(_)), Some(Direct::Pure(_))) | (Some(Native::Step(_)), Some(Direct::FastPath(_))) => {
                    true
                }
                (Some(Native::Function(_)), found) => !matches!(found, Some(Direct::Pure(_))),
                (Some(Native::Derive | Native::Coroutine(_)) | None, None) => true,
                _ => false,
            };
            assert!(is_direct, "{}", name(number));
        }
    }
}
