//! Code object: what the compiler gives to the machine for one function.

use super::Instruction;
use crate::native::{Primitive, PrimitiveId, table};
use crate::source::Span;
use crate::value::origins::Storage;
use crate::value::shape::{ShapeId, TangentId};
use crate::value::{Bank, Constants};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::rc::Rc;

/// How many registers or components of each bank: numbers, integers, references.
pub type Counts = [u16; 3];

/// The code of one function.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Code {
    /// Name as in a backtrace.
    pub name: Rc<str>,
    /// Where the function is declared.
    pub span: Span,
    /// Whether a backtrace leaves it out.
    pub is_prelude: bool,
    /// Whether its numbers carry slots.
    pub is_derivative: bool,
    /// What is done.
    pub instructions: Vec<Instruction>,
    /// The place of each instruction in the source.
    pub spans: Vec<Span>,
    /// Constants.
    pub numbers: Vec<f64>,
    /// Constants.
    pub integers: Vec<i64>,
    /// Constants.
    pub texts: Vec<Rc<str>>,
    /// Constant elements of arrays.
    pub arrays: Vec<Rc<Constants>>,
    /// How many components are put together.
    pub parts: Vec<Counts>,
    /// Function objects that are made.
    pub closures: Vec<ClosureSite>,
    /// Calls of the native library.
    pub natives: Vec<NativeSite>,
    /// Uses of differential operators.
    pub operators: Vec<OperatorSite>,
    /// Accesses to what others can reach.
    pub accesses: Vec<AccessSite>,
    /// Calls of functions with registered derivatives.
    pub rules: Vec<RuleSite>,
    /// The arguments arrive in the first registers; the object of a closure after them.
    pub params: Counts,
    /// The results are left in the first registers.
    pub results: Counts,
    /// Its own registers.
    pub registers: Counts,
    /// Registers after them, which are the first ones of whatever it calls.
    pub window: Counts,
    /// The number registers from here on are never written with a slot, so theirs are cleared on entry.
    pub inactive_from: u16,
    /// The components of an instance that it reads, by bank, where it is the getter of a stored property.
    pub reads: [Range<u32>; 3],
}

/// A function object that is made.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct ClosureSite {
    /// Its function.
    pub function: u32,
    /// What it captures.
    pub captures: Counts,
}

/// A call of the native library.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct NativeSite {
    /// Which function: an index into the library.
    pub native: u16,
    /// The shapes of its generic arguments.
    pub shapes: Vec<ShapeId>,
    /// What it takes.
    pub params: Counts,
    /// What it gives.
    pub results: Counts,
}

/// An access to a variable or property that others can reach.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct AccessSite {
    /// What it is called.
    pub name: Rc<str>,
    /// Which components of its object, or of the global variables, by bank.
    pub cells: [Range<u32>; 3],
    /// The method that reads the components, where they depend on the type of the object.
    pub getter: Option<u16>,
}

/// A use of a differential operator.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct OperatorSite {
    /// Which one.
    pub operator: Operator,
    /// What it takes.
    pub params: Counts,
    /// What it gives.
    pub results: Counts,
}

/// The differential operators that the machine has built in. Arguments and results as the graph writes them.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum Operator {
    /// `x…, body → value…, differential`; after a flag and an error if the body may throw.
    ValueWithDifferential { at: TangentId, result: TangentId, throws: bool },
    /// `x…, dx…, body → value…, derivative…`; the same.
    ValueWithTangent { at: TangentId, result: TangentId, throws: bool },
    /// `x, order, body → whether it was done, coefficients`; after a flag and an error if the body may throw.
    Series { result: TangentId, throws: bool },
    /// `linear → linear`
    Transpose { at: TangentId, result: TangentId },
    /// `x… → x…`
    WithoutDerivative { of: TangentId },
    /// `x… → x…`: the argument of a parameter, or what is stored in a property, that is marked `@noDerivative`.
    NoDerivative { is_property: bool },
    /// `x…, edit → x…`
    WithDerivative { of: TangentId },
    /// `x, y → y`: `y` was made of `x`, and cannot be differentiated.
    LoseTangent { of: TangentId },
    /// `x →`: the result with that number was made of `x`, and cannot be differentiated.
    SendResultOrigin { result: u32 },
    /// `→ x`: what was sent for the result with that number.
    ReceiveResultOrigin { result: u32 },
    /// Forgets what was sent and given.
    ForgetOrigins,
    /// `x →`: the argument with that number of the next call was made of `x`.
    SendArgumentOrigin { argument: u32 },
    /// `→ x`: what was given for the argument with that number.
    ReceiveArgumentOrigin { argument: u32 },
    /// `x… → x`: a number that moves wherever one of these moves, or one in one of these objects.
    JoinOrigins,
    /// `object, x, n → object`: what the integer or text there was made of.
    StoreOrigin { inside: Storage, component: u32, replaces: bool },
    /// `object, n → x`: what was recorded of it.
    LoadOrigin { inside: Storage, component: u32 },
    /// `x, y →`: a branch depends on this comparison of two numbers.
    Threshold { comparison: PrimitiveId },
    /// `x…, body → whether it was done, value, gradient…`, without the value unless that is wanted; after a flag and an error
    /// if the body may throw.
    Gradient { at: TangentId, value: bool, throws: bool },
    /// `linear, vectors → whether it was done, results`
    ApplyAtOnce,
    /// `x… → array`
    Coordinates { of: TangentId },
    /// `body →`, or `body → thrown, error`
    Recompute { traced: bool },
}

/// A call of a function with registered derivatives.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RuleSite {
    /// The function itself.
    pub function: u32,
    /// Its parameters: how many components, and how they differentiate.
    pub params: Vec<(Counts, Option<TangentId>)>,
    /// What they are called.
    pub names: Vec<Rc<str>>,
    /// How many components it returns.
    pub results: Counts,
    /// What was registered, the most specific first.
    pub rules: Vec<Registered>,
    /// Why it cannot be differentiated where no rule applies: its body is unknown.
    pub refusal: Option<Rc<str>>,
    /// Whether the function may throw.
    pub throws: bool,
    /// Whether it changes parameters.
    pub changes: bool,
    /// Whether it is all that the derivative code of a function object does, whose caller has left for that what the
    /// arguments were made of.
    pub is_entry: bool,
    /// The global variables that may hold numbers and that the function reads.
    pub globals: Vec<(Bank, u32)>,
}

/// A registered derivative.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Registered {
    /// Which parameters it differentiates by.
    pub wrt: Vec<bool>,
    /// The function that was registered.
    pub function: u32,
    /// What it returns beside the value.
    pub kind: RegisteredKind,
    /// How the result differentiates.
    pub result: TangentId,
    /// Whether the registered function may throw.
    pub throws: bool,
    /// Whether it was registered as a transpose.
    pub is_transpose: bool,
    /// Whether it is meant to be another one than the derivative.
    pub differs: bool,
    /// A transpose: whether the function's own derivative code gives its tangents.
    pub has_own_tangent: bool,
    /// Where that was.
    pub place: Span,
    /// For each parameter whose numbers are not in its values: the function that moves a value along a tangent vector.
    pub movers: Vec<Option<u32>>,
    /// The member of a superclass or a protocol that it was registered for, where its value has to be compared with that of
    /// the function, which inherits it.
    pub inherited: Option<Rc<str>>,
}

/// What a registered derivative returns beside the value.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum RegisteredKind {
    /// A differential.
    Differential,
    /// A differential that is not written where it is given, so that it has not been checked.
    UnseenDifferential,
    /// A pullback.
    Pullback,
}

impl Code {
    /// Registers and window together: what a frame needs of each bank.
    pub fn frame(&self) -> [usize; 3] {
        [0, 1, 2].map(|b| self.registers[b] as usize + self.window[b] as usize)
    }
}

/// The primitive of an operand; `None` when there are not so many.
pub fn primitive(number: u8) -> Option<&'static Primitive> {
    table::all().get(number as usize)
}
