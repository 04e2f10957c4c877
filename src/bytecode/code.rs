//! Code object: the result of the compiler for one function, which the machine executes.

use super::Instruction;
use crate::native::{Primitive, PrimitiveId, table};
use crate::source::Span;
use crate::value::origins::Storage;
use crate::value::shape::{ShapeId, TangentId};
use crate::value::{Bank, Constants};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::rc::Rc;

/// The number of registers or components of each bank: numbers, integers, references.
pub type Counts = [u16; 3];

/// The code of one function.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Code {
    /// The name in a backtrace.
    pub name: Rc<str>,
    /// The location of the function's declaration.
    pub span: Span,
    /// Whether backtraces omit it.
    pub is_prelude: bool,
    /// Whether its numbers carry slots.
    pub is_derivative: bool,
    /// The instructions.
    pub instructions: Vec<Instruction>,
    /// The source location of each instruction.
    pub spans: Vec<Span>,
    /// Number constants.
    pub numbers: Vec<f64>,
    /// Integer constants.
    pub integers: Vec<i64>,
    /// String constants.
    pub texts: Vec<Rc<str>>,
    /// Constant elements of arrays.
    pub arrays: Vec<Rc<Constants>>,
    /// The component counts of objects that are created.
    pub parts: Vec<Counts>,
    /// The function objects that are created.
    pub closures: Vec<ClosureSite>,
    /// Calls of the native library.
    pub natives: Vec<NativeSite>,
    /// Applications of differential operators.
    pub operators: Vec<OperatorSite>,
    /// Accesses to shared storage.
    pub accesses: Vec<AccessSite>,
    /// Calls of functions with registered derivatives.
    pub rules: Vec<RuleSite>,
    /// The components of the arguments, which are passed in the first registers; the object of a closure follows them.
    pub params: Counts,
    /// The components of the results, which are returned in the first registers.
    pub results: Counts,
    /// Its own registers.
    pub registers: Counts,
    /// The registers after them, which are the first registers of its callees.
    pub window: Counts,
    /// The index of the first number register that is never written with a slot; the slots of these are cleared on entry.
    pub inactive_from: u16,
    /// The components of an instance that it reads, by bank, if it is the getter of a stored property.
    pub reads: [Range<u32>; 3],
}

/// A function object that is created.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct ClosureSite {
    /// Its function.
    pub function: u32,
    /// The components of its captured values.
    pub captures: Counts,
}

/// A call of the native library.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct NativeSite {
    /// The function: an index into the library.
    pub native: u16,
    /// The shapes of its generic arguments.
    pub shapes: Vec<ShapeId>,
    /// The components of its arguments.
    pub params: Counts,
    /// The components of its results.
    pub results: Counts,
}

/// An access to a variable or property in shared storage.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct AccessSite {
    /// The name of the variable or property.
    pub name: Rc<str>,
    /// The components of its object, or of the global variables, by bank.
    pub cells: [Range<u32>; 3],
    /// The getter that reads the components, if they depend on the type of the object.
    pub getter: Option<u16>,
}

/// An application of a differential operator.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct OperatorSite {
    /// The operator.
    pub operator: Operator,
    /// The components of its arguments.
    pub params: Counts,
    /// The components of its results.
    pub results: Counts,
}

/// The differential operators that the machine implements. Arguments and results are those of the graph's operators.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum Operator {
    /// `x…, body → value…, differential`; after a flag and an error if the body may throw.
    ValueWithDifferential { at: TangentId, result: TangentId, throws: bool },
    /// `x…, dx…, body → value…, derivative…`; after a flag and an error if the body may throw.
    ValueWithTangent { at: TangentId, result: TangentId, throws: bool },
    /// `x, order, body → whether it succeeded, coefficients`; after a flag and an error if the body may throw.
    Series { result: TangentId, throws: bool },
    /// `linear → linear`
    Transpose { at: TangentId, result: TangentId },
    /// `x… → x…`
    WithoutDerivative { of: TangentId },
    /// `x… → x…`: the argument of a parameter, or the value stored in a property, that is marked `@noDerivative`.
    NoDerivative { is_property: bool },
    /// `x…, edit → x…`
    WithDerivative { of: TangentId },
    /// `x, y → y`: `y` was computed from `x` by way of a value without a tangent.
    LoseTangent { of: TangentId },
    /// `x →`: the result with that index was computed from `x` by way of a value without a tangent.
    SendResultOrigin { result: u32 },
    /// `→ x`: the number that was sent for the result with that index.
    ReceiveResultOrigin { result: u32 },
    /// Discards the numbers that were sent or passed.
    ForgetOrigins,
    /// `x →`: the argument with that index of the next call was computed from `x`.
    SendArgumentOrigin { argument: u32 },
    /// `→ x`: the number that was passed for the argument with that index.
    ReceiveArgumentOrigin { argument: u32 },
    /// `x… → x`: a number that varies if any of these numbers, or a number in any of these objects, varies.
    JoinOrigins,
    /// `object, x, n → object`: records that the integer or string `n` in the object was computed from `x`.
    StoreOrigin { inside: Storage, component: u32, replaces: bool },
    /// `object, n → x`: the number that was recorded for `n`.
    LoadOrigin { inside: Storage, component: u32 },
    /// `x, y →`: a branch that depends on this comparison of two numbers.
    Threshold { comparison: PrimitiveId },
    /// `x…, body → whether it succeeded, value, gradient…`, without the value unless `value` is set; after a flag and an error if
    /// the body may throw.
    Gradient { at: TangentId, value: bool, throws: bool },
    /// `linear, vectors → whether it succeeded, results`
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
    /// Its parameters: the number of components, and the tangent of each.
    pub params: Vec<(Counts, Option<TangentId>)>,
    /// The names of the parameters.
    pub names: Vec<Rc<str>>,
    /// The number of components of its results.
    pub results: Counts,
    /// The registered derivatives, the most specific first.
    pub rules: Vec<Registered>,
    /// The message if no rule applies, for a function whose body is unknown.
    pub refusal: Option<Rc<str>>,
    /// Whether the function may throw.
    pub throws: bool,
    /// Whether it changes parameters.
    pub changes: bool,
    /// Whether the call is the only step of the derivative code of a function object: then the caller of that code has already
    /// passed the numbers from which the arguments were computed.
    pub is_entry: bool,
    /// The global variables that may hold numbers and that the function reads.
    pub globals: Vec<(Bank, u32)>,
}

/// A registered derivative.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Registered {
    /// The parameters that it differentiates by.
    pub wrt: Vec<bool>,
    /// The function that was registered.
    pub function: u32,
    /// The kind of the linear function that it returns besides the value.
    pub kind: RegisteredKind,
    /// The tangent of the result.
    pub result: TangentId,
    /// Whether the registered function may throw.
    pub throws: bool,
    /// Whether it was registered as a transpose.
    pub is_transpose: bool,
    /// Whether it is intended to differ from the derivative.
    pub differs: bool,
    /// For a transpose: whether the function's own derivative code computes its tangents.
    pub has_own_tangent: bool,
    /// The location of the registration.
    pub place: Span,
    /// For each parameter whose tangent is beside its value: the function that moves a value along a tangent vector.
    pub movers: Vec<Option<u32>>,
    /// The member of a superclass or a protocol for which it was registered, if its value must be compared with that of the
    /// function, which inherits it.
    pub inherited: Option<Rc<str>>,
}

/// The kind of linear function that a registered derivative returns besides the value.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum RegisteredKind {
    /// A differential.
    Differential,
    /// A differential that is not a closure created by the registered derivative, so that it has not been checked.
    UnseenDifferential,
    /// A pullback.
    Pullback,
}

impl Code {
    /// Returns the size of a frame in each bank: registers and window together.
    pub fn frame(&self) -> [usize; 3] {
        [0, 1, 2].map(|b| self.registers[b] as usize + self.window[b] as usize)
    }
}

/// Returns the primitive of an operand; `None` if there is none with that index.
pub fn primitive(number: u8) -> Option<&'static Primitive> {
    table::all().get(number as usize)
}
