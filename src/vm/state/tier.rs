//! Tier: the state of compiled code in a machine. It is created when the first function is compiled.

use crate::jit::{Compiled, Compiler, Context, Helpers};
use std::rc::Rc;

/// The functions that are compiled to machine code.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum CompileMode {
    /// No function is compiled.
    Never,
    /// Functions and loops are compiled that run for long.
    #[default]
    WhenHot,
    /// Every function is compiled when it is called first, and every loop when it is repeated first.
    Always,
}

impl CompileMode {
    /// Returns the mode that the environment variable `DSCRIPT_JIT` names: `off`, `on` or `force`; otherwise the
    /// default.
    pub fn from_environment() -> CompileMode {
        std::env::var("DSCRIPT_JIT").ok().and_then(|name| CompileMode::named(&name)).unwrap_or_default()
    }

    /// Returns the mode with the given name.
    pub fn named(name: &str) -> Option<CompileMode> {
        CompileMode::NAMES.iter().find(|(known, _)| *known == name).map(|(_, mode)| *mode)
    }

    /// The names of the modes.
    pub const NAMES: [(&str, CompileMode); 3] =
        [("off", CompileMode::Never), ("on", CompileMode::WhenHot), ("force", CompileMode::Always)];
}

/// The state of compiled code.
#[derive(Debug, Default)]
pub(crate) struct Tier {
    /// The functions that are compiled.
    pub(crate) mode: CompileMode,
    /// The steps that were granted, and that are added again at the next step, after the machine has looked for machine
    /// code in which it can continue.
    pub(crate) withheld: i64,
    /// The number of calls since steps were withheld.
    pub(crate) postponed: u32,
    /// The functions of the dispatch loop that machine code calls, once the loop has run.
    pub(crate) helpers: Option<&'static Helpers>,
    /// The compiler and its results, once a function was compiled.
    pub(crate) code: Option<Box<CompiledCode>>,
}

/// The compiler, and the memory that machine code uses.
#[derive(Debug)]
pub(crate) struct CompiledCode {
    /// The compiler; `None` when the processor or the system does not permit compiled code.
    pub(crate) compiler: Option<Compiler>,
    /// The memory that machine code accesses.
    pub(crate) context: Context,
    /// The addresses of compiled functions, by function number: of original code, and of derivative code.
    pub(crate) targets: [Vec<*const u8>; 2],
    /// The space for the records of an exit.
    pub(crate) records: Vec<u64>,
    /// The number of words in the largest record.
    pub(crate) largest_record: usize,
    /// Machine code that is not entered any more, but may be running.
    pub(crate) retired: Vec<Rc<Compiled>>,
}
