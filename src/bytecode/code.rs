//! Code object: the result of the compiler for one function, which the machine executes.

use super::{Instruction, Opcode};
use crate::native::library::NativeSignature;
use crate::native::{Primitive, PrimitiveId, primitive_table};
use crate::source::Span;
use crate::value::origins::Storage;
use crate::value::shape::{ShapeId, TangentId};
use crate::value::{Bank, Constants, JacobianForm};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::rc::Rc;

/// The number of registers or components in each bank: numbers, integers, references.
pub type Counts = [u16; 3];

/// The code of one function.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Code {
    /// The name of the function in a backtrace.
    pub name: Rc<str>,
    /// The location of the function's declaration.
    pub span: Span,
    /// Whether backtraces omit the function, because it belongs to the prelude.
    pub is_prelude: bool,
    /// Whether the numbers of the code carry slots.
    pub is_derivative: bool,
    /// The instructions of the function.
    pub instructions: Vec<Instruction>,
    /// The source location of each instruction.
    pub spans: Vec<Span>,
    /// The table of number constants.
    pub numbers: Vec<f64>,
    /// The table of integer constants.
    pub integers: Vec<i64>,
    /// The table of string constants.
    pub texts: Vec<Rc<str>>,
    /// The table of the constant elements of arrays.
    pub arrays: Vec<Rc<Constants>>,
    /// The table of the component counts of objects that the function creates.
    pub parts: Vec<Counts>,
    /// The table of the signatures of function objects that the function calls.
    pub signatures: Vec<CallSignature>,
    /// The table of the function objects that the function creates.
    pub closures: Vec<ClosureSite>,
    /// The table of the calls of native functions.
    pub natives: Vec<NativeSite>,
    /// The table of the applications of differential operators.
    pub operators: Vec<OperatorSite>,
    /// The table of the accesses to shared storage.
    pub accesses: Vec<AccessSite>,
    /// The table of the calls of functions with registered derivatives.
    pub rules: Vec<RuleSite>,
    /// The components of the arguments, which are passed in the first registers; the object of a closure follows them.
    pub params: Counts,
    /// The components of the results, which are returned in the first registers.
    pub results: Counts,
    /// The number of the function's own registers.
    pub registers: Counts,
    /// The number of registers in the window, which follows the own registers: the first registers of the function's
    /// callees.
    pub window: Counts,
    /// The index of the first number register that is never written with a slot; the slots of these registers are
    /// cleared on entry.
    pub inactive_from: u16,
    /// The components of an instance that the function reads, by bank, if it is the getter of a stored property.
    pub reads: [Range<u32>; 3],
}

/// A function object that is created.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct ClosureSite {
    /// The function of the function object.
    pub function: u32,
    /// The number of components of the captured values.
    pub captures: Counts,
}

/// The signature of a function object that is called.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct CallSignature {
    /// The number of components of the arguments, without the function object.
    pub params: Counts,
    /// The number of components of the results.
    pub results: Counts,
}

/// A call of the native library.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct NativeSite {
    /// The index of the native function in the library.
    pub native: u16,
    /// The shapes of the generic arguments of the call.
    pub shapes: Vec<ShapeId>,
    /// The kinds of the generic arguments, and the numbers of components of the arguments and results.
    pub signature: NativeSignature,
    /// The number of registers of the window that the call uses, by [`window`].
    pub window: Counts,
}

/// Returns the number of registers of the window that a call with the given numbers of arguments and results uses.
pub fn window(params: Counts, results: Counts) -> Counts {
    [0, 1, 2].map(|bank| params[bank].max(results[bank]))
}

/// An access to a variable or property in shared storage.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct AccessSite {
    /// The name of the variable or property.
    pub name: Rc<str>,
    /// The accessed components of the object, or of the global variables, by bank.
    pub cells: [Range<u32>; 3],
    /// The getter that reads the components, if they depend on the type of the object.
    pub getter: Option<u16>,
}

/// An application of a differential operator.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct OperatorSite {
    /// The operator that is applied.
    pub operator: Operator,
    /// The number of components of the operator's arguments.
    pub params: Counts,
    /// The number of components of the operator's results.
    pub results: Counts,
}

/// The differential operators that the machine implements. Arguments and results are those of the graph's operators.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum Operator {
    /// Records `body` and returns its differential: `x…, body → value…, differential`; after a flag and an error if the
    /// body may throw.
    ValueWithDifferential { at: TangentId, result: TangentId, throws: bool },
    /// Propagates a tangent through `body`: `x…, dx…, body → value…, derivative…`; after a flag and an error if the
    /// body may throw.
    ValueWithTangent { at: TangentId, result: TangentId, throws: bool },
    /// Computes the Taylor polynomial of `body`: `x, order, body → whether it succeeded, coefficients`; after a flag
    /// and an error if the body may throw.
    Series { result: TangentId, throws: bool },
    /// Transposes a linear function: `linear → linear`.
    Transpose { at: TangentId, result: TangentId },
    /// Makes a value constant in every live level: `x… → x…`.
    WithoutDerivative { of: TangentId },
    /// Marks the argument of a parameter, or the value stored in a property, that is marked `@noDerivative`: `x… → x…`.
    NoDerivative { is_property: bool },
    /// Applies the function `edit` to the adjoint of a value: `x…, edit → x…`.
    WithDerivative { of: TangentId },
    /// Marks a number `y` that was computed from `x` by way of a value without a tangent: `x, y → y`.
    LoseTangent { of: TangentId },
    /// Sends the number `x` from which the result with the given index was computed by way of a value without a
    /// tangent: `x →`.
    SendResultOrigin { result: u32 },
    /// Receives the number that was sent for the result with the given index: `→ x`.
    ReceiveResultOrigin { result: u32 },
    /// Discards the numbers that were sent for results or arguments.
    ForgetOrigins,
    /// Sends the number `x` from which the argument with the given index of the next call was computed: `x →`.
    SendArgumentOrigin { argument: u32 },
    /// Receives the number that was sent for the argument with the given index: `→ x`.
    ReceiveArgumentOrigin { argument: u32 },
    /// Computes a number that varies if any of the given numbers, or a number in any of the given objects, varies: `x…
    /// → x`.
    JoinOrigins,
    /// Records that the integer or string `n` in the object was computed from `x`: `object, x, n → object`.
    StoreOrigin { inside: Storage, component: u32, replaces: bool },
    /// Returns the number that was recorded as the origin of `n`: `object, n → x`.
    LoadOrigin { inside: Storage, component: u32 },
    /// Notes the comparison of two numbers on which a branch depends: `x, y →`.
    Threshold { comparison: PrimitiveId },
    /// Computes the gradient of `body` by adjoint code: `x…, body → whether it succeeded, value, gradient…`, without
    /// the value unless `value` is set; after a flag and an error if the body may throw.
    Gradient { at: TangentId, value: bool, throws: bool },
    /// Applies a linear map to several vectors: `linear, vectors → whether it succeeded, results`.
    ApplyAtOnce,
    /// Computes the matrix of a linear map: `linear → whether it succeeded, rows`, or the row and column indices and the
    /// values of the entries that may differ from zero.
    Matrix { sparse: bool },
    /// Computes the matrix of the differential of a function at a point: `x…, body → whether it succeeded, rows`, or `x…, body →
    /// whether it succeeded, number of rows, number of columns, row indices, column indices, values` if it is sparse.
    Jacobian { at: TangentId, result: TangentId, form: JacobianForm },
    /// Returns all numbers of a value that can vary: `x… → array`.
    Coordinates { of: TangentId },
    /// Runs a checkpoint: `body →`, or `body → thrown, error`.
    Recompute { traced: bool },
}

impl OperatorSite {
    /// Returns the number of registers of the window that the operator uses.
    pub fn window(&self) -> Counts {
        window(self.params, self.results)
    }
}

impl Operator {
    /// Whether tangent or adjoint code of the function is enough to apply the operator in plain code, so that the machine calls no
    /// function of the program.
    pub fn uses_transformed_code(&self) -> bool {
        matches!(
            self,
            Operator::Gradient { throws: false, .. }
                | Operator::ValueWithTangent { throws: false, .. }
                | Operator::Jacobian { form: JacobianForm::Small, .. }
        )
    }
}

/// A call of a function with registered derivatives.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RuleSite {
    /// The function that is called.
    pub function: u32,
    /// The parameters of the function: the number of components, and the tangent type of each parameter.
    pub params: Vec<(Counts, Option<TangentId>)>,
    /// The names of the parameters.
    pub names: Vec<Rc<str>>,
    /// The number of components of the function's results.
    pub results: Counts,
    /// The registered derivatives, the most specific first.
    pub rules: Vec<Registered>,
    /// The message if no registered derivative applies, for a function whose body is unknown.
    pub refusal: Option<Rc<str>>,
    /// Whether the function may throw.
    pub throws: bool,
    /// Whether the function changes its parameters.
    pub changes: bool,
    /// Whether the call is the only step of the derivative code of a function object. In that case the caller of the
    /// derivative code has already passed the origins of the arguments.
    pub is_entry: bool,
    /// The global variables that may hold numbers and that the function reads.
    pub globals: Vec<(Bank, u32)>,
}

/// A registered derivative of a function.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Registered {
    /// The parameters with respect to which the registered derivative differentiates.
    pub wrt: Vec<bool>,
    /// The function that was registered as the derivative.
    pub function: u32,
    /// The kind of the linear function that the registered function returns besides the value.
    pub kind: RegisteredKind,
    /// The tangent type of the original function's result.
    pub result: TangentId,
    /// Whether the registered function may throw.
    pub throws: bool,
    /// Whether the derivative was registered as a transpose.
    pub is_transpose: bool,
    /// Whether the registered derivative is intended to differ from the true derivative.
    pub differs: bool,
    /// Whether the function's own derivative code computes its tangents, for a transpose.
    pub has_own_tangent: bool,
    /// The source location of the registration.
    pub place: Span,
    /// The function that moves a value along a tangent vector, for each parameter whose tangent vector is beside its
    /// value.
    pub movers: Vec<Option<u32>>,
    /// The member of a superclass or a protocol for which the derivative was registered, if its value must be compared
    /// with the value of the function, which inherits the derivative.
    pub inherited: Option<Rc<str>>,
}

/// The kind of linear function that a registered derivative returns besides the value.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum RegisteredKind {
    /// The linear function is a differential.
    Differential,
    /// The linear function is a differential that is not a closure created by the registered derivative, so that its
    /// linearity has not been checked.
    UnseenDifferential,
    /// The linear function is a pullback.
    Pullback,
}

impl Code {
    /// Whether the code is linearization code, which appends nodes to the tape without slots.
    pub fn is_linearization(&self) -> bool {
        self.instructions
            .iter()
            .any(|step| matches!(step.opcode(), Opcode::AppendNode | Opcode::AppendNode2 | Opcode::AddNodes))
    }

    /// Returns the size of a frame in each bank: registers and window together.
    pub fn frame(&self) -> [usize; 3] {
        [0, 1, 2].map(|b| self.registers[b] as usize + self.window[b] as usize)
    }
}

/// Returns the primitive with the index of an operand; `None` if there is none.
pub fn primitive(number: u8) -> Option<&'static Primitive> {
    primitive_table::all().get(number as usize)
}
