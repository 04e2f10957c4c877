//! Graph: the control-flow graph of one function, and the tables that functions share.

#![allow(missing_docs, reason = "the comment of a variant names its fields")]

use crate::ir::Rule;
use crate::ir::passes::exclusivity_checks::{AccessKind, Region};
use crate::native::{PrimitiveId, library};
use crate::source::Span;
use crate::value::origins::Storage;
use crate::value::shape::{ShapeId, TangentId};
use crate::value::{Bank, Constants, JacobianForm};
use serde::{Deserialize, Deserializer, Serialize};
use std::iter::Flatten;
use std::ops::Range;
use std::rc::Rc;
use std::slice;

/// A virtual register: an index into [`Function::registers`]. Registers are variables, not values: several steps may
/// write one register.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Reg(pub u32);

/// A block: an index into [`Function::blocks`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, Serialize, Deserialize)]
pub struct BlockId(pub u32);

/// A compiled function: an index into [`Program::functions`](crate::ir::Program::functions).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FunctionId(pub u32);

/// A method that is dispatched on the type of its receiver at run time: an index into
/// [`Program::methods`](crate::ir::Program::methods).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, Serialize, Deserialize)]
pub struct MethodId(pub u32);

/// The graph of one function, compiled for one list of concrete types.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Function {
    /// The name of the function in a backtrace: `smooth(_:)`, `closure in loss(_:)`, `‹script›`.
    pub name: Rc<str>,
    /// The source location of the function's declaration.
    pub span: Span,
    /// The registers of the arguments, component by component.
    pub params: Vec<Reg>,
    /// The declared parameters, each with its range in `params`.
    pub parameters: Vec<Parameter>,
    /// The banks of the results: the components of the result, then the components of every `inout` parameter in order.
    pub results: Vec<Bank>,
    /// The number of `results` that belong to the function's result, without the `inout` parameters.
    pub result_len: usize,
    /// The differentiable parts of `results`: first component, shape and tangent type.
    pub result_tangents: Vec<(usize, ShapeId, TangentId)>,
    /// The banks of the captured values, which [`Op::Capture`] reads; empty if the function is not a closure.
    pub captures: Vec<Bank>,
    /// All registers of the function.
    pub registers: Vec<Register>,
    /// All blocks of the function; the first is the entry.
    pub blocks: Vec<Block>,
    /// The derivatives that are registered for the function, the most specific first.
    pub rules: Vec<Rule>,
    /// Whether the function is declared in the prelude, so that diagnostics point at the call instead.
    pub is_prelude: bool,
    /// Whether the function is opaque, so that it has no derivative unless a derivative is registered (`sinf` of
    /// `Glibc`).
    pub is_opaque: bool,
    /// Whether the function may throw, so that it returns a flag and the error before its result.
    pub throws: bool,
    /// The reason why the function is opaque, if the reason is not only the lack of a registered derivative.
    pub obstacle: Option<Obstacle>,
    /// The components of an instance that the function reads, by bank, if it is the getter of a stored property.
    pub reads: [Range<u32>; 3],
}

impl Function {
    /// Creates a function that consists of one empty block, and has no registers, parameters and results.
    pub fn empty(name: impl Into<Rc<str>>, span: Span) -> Function {
        Function {
            name: name.into(),
            span,
            params: vec![],
            parameters: vec![],
            results: vec![],
            result_len: 0,
            result_tangents: vec![],
            captures: vec![],
            registers: vec![],
            blocks: vec![Block::default()],
            rules: vec![],
            is_prelude: false,
            is_opaque: false,
            throws: false,
            obstacle: None,
            reads: Default::default(),
        }
    }
}

/// The reason why a function has no derivative.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Obstacle {
    /// No registered derivative applies to the generic arguments: the requirement that is not satisfied.
    Requirement(Rc<str>),
    /// The function accesses a stored property of a type whose tangent vectors do not determine how it varies
    /// (`Circle.angle`).
    Property {
        /// The name of the type.
        owner: Rc<str>,
        /// The name of the property.
        name: Rc<str>,
        /// Whether the property is read, as opposed to set.
        is_read: bool,
        /// Whether the property is a payload of an enum case.
        is_case: bool,
        /// The type that the member of the same name would need in the tangent vector, if it has another type.
        expected: Option<Rc<str>>,
    },
}

impl std::fmt::Display for Obstacle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Obstacle::Requirement(unmet) => {
                write!(f, "function call is not differentiable because generic requirements are not met: {unmet}")
            }
            Obstacle::Property { owner, name, is_case: true, .. } => write!(
                f,
                "cannot differentiate what '{owner}.{name}' holds because '{owner}.TangentVector' is not an enum of the same cases"
            ),
            Obstacle::Property { owner, name, is_read, expected, .. } => {
                let what = if *is_read { "access to" } else { "setting" };
                write!(f, "cannot differentiate {what} property '{owner}.{name}' because '{owner}.TangentVector")?;
                match expected {
                    Some(expected) => write!(f, ".{name}' does not have the expected type '{expected}'"),
                    None => write!(f, "' does not have a stored property named '{name}'"),
                }
            }
        }
    }
}

/// A declared parameter of a function.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Parameter {
    /// The name of the parameter.
    pub name: Rc<str>,
    /// The source location of the parameter's declaration.
    pub span: Span,
    /// The index of the parameter's first component in [`Function::params`].
    pub first: usize,
    /// The number of the parameter's components.
    pub len: usize,
    /// The tangent type of the parameter's type; `None` for `Int` and other types that are not differentiable.
    pub tangent: Option<TangentId>,
    /// The shape of the parameter's type.
    pub shape: ShapeId,
}

/// The properties of a register.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Register {
    /// The bank of the register.
    pub bank: Bank,
    /// The name of the variable to which the register belongs, for listings and diagnostics.
    pub name: Option<Rc<str>>,
}

/// A straight run of instructions with one entry and one terminator.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Block {
    /// The instructions of the block.
    pub instructions: Vec<Instruction>,
    /// The terminator of the block; `None` only during construction.
    pub end: Option<Terminator>,
    /// The source location of the terminator.
    pub end_span: Span,
}

impl Block {
    /// Returns the function that a register of the block holds, if only one step of the block writes the register.
    pub(super) fn function_in(&self, reg: Reg) -> Option<FunctionId> {
        let mut writers = self.instructions.iter().filter(|step| step.outs.contains(&reg));
        let step = writers.next().filter(|_| writers.next().is_none())?;
        match step.op {
            Op::Closure(id) if step.ins.is_empty() => Some(id),
            Op::AssertDifferentiable { .. } | Op::Copy | Op::Take => {
                self.function_in(*step.ins.first().filter(|own| **own != reg)?)
            }
            _ => None,
        }
    }
}

/// The name of a native function or a construct of the language. The type is an alias, because serde would borrow a
/// field of the type `&str` from its input.
type Name = &'static str;

/// One instruction of a block.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Instruction {
    /// The operation of the instruction.
    pub op: Op,
    /// The registers that the instruction writes.
    pub outs: Vec<Reg>,
    /// The registers that the instruction reads.
    pub ins: Vec<Reg>,
    /// The source location of the instruction.
    pub span: Span,
    /// Whether the instruction of derivative code also propagates tangent slots. The flag is not set in original code,
    /// except by the tracking of lost tangents, for calls whose integer arguments were computed from numbers.
    pub active: bool,
}

/// The numbers of components of each bank in an element, a record or a box. An array of `n` elements stores its numbers
/// element after element.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub struct Stride {
    /// The number of `f64` components.
    pub f: u16,
    /// The number of `i64` components.
    pub i: u16,
    /// The number of references.
    pub r: u16,
}

impl Stride {
    /// The stride of an array of numbers.
    pub const NUMBERS: Stride = Stride { f: 1, i: 0, r: 0 };
}

/// An operation. `a → b` denotes the registers that the operation reads and writes.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Op {
    /// Loads a number constant: `→ f`.
    ConstF(f64),
    /// Loads an integer constant: `→ i`.
    ConstI(i64),
    /// Loads a string constant: `→ r`.
    Text(Rc<str>),
    /// Creates an array of constant elements: `→ array`.
    Constants(Rc<Constants>),
    /// Loads a null reference: `→ r`.
    Null,
    /// Copies a register to another register of the same bank: `x → x`. A reference is shared.
    Copy,
    /// Moves a reference out of its register, which becomes empty: `r → r`.
    Take,
    /// Applies a primitive: `operands → result`.
    Primitive(PrimitiveId),
    /// Calls a function: `arguments → results`.
    Call(FunctionId),
    /// Calls a function that has registered derivatives, or whose body is unknown: `arguments → results`. The operation
    /// occurs only in derivative code, where it replaces [`Op::Call`]: the machine takes the innermost live level among
    /// the arguments and the most specific of the [rules](Function::rules) that covers the active arguments. If no rule
    /// covers them, the machine runs the function's own derivative code, or fails with a source location if the
    /// function has no derivative ([`Function::is_opaque`]). Without a live level, the operation is a plain call.
    CallRule(FunctionId),
    /// Calls a function value: `function, arguments → results`.
    CallValue,
    /// Creates a function object: `captured components → r`.
    Closure(FunctionId),
    /// Reads the component `index` (counted in its bank) of the values that the running closure captured: `→ x`.
    Capture { bank: Bank, index: u16 },

    /// Creates a box, which is shared by all its holders: a captured variable or an instance of a class: `components →
    /// r`.
    NewBox,
    /// Creates an instance of a class whose properties are not initialized yet: `→ r`.
    NewInstance(ShapeId),
    /// Looks up the implementation of a method for the dynamic type of the receiver: `receiver → r`.
    FindMethod(MethodId),
    /// Reads the component `index` (counted in its bank) of a box: `box → x`.
    LoadBox { bank: Bank, index: u16 },
    /// Writes the component `index` (counted in its bank) of a box: `box, x →`.
    StoreBox { bank: Bank, index: u16 },
    /// Extends the lifetime of references to this point, and has no other effect: `references →`.
    Hold,
    /// Moves a reference out of a box, for a modification in place: `box → r`.
    TakeBox { index: u16 },

    /// Creates a record with value semantics, which represents a large or recursive struct or enum: `components → r`.
    NewRecord,
    /// Reads the component `index` (counted in its bank) of a record: `record → x`.
    LoadRecord { bank: Bank, index: u16 },
    /// Writes the component `index` (counted in its bank) of a record: `record, x → record`. `outs[0]` is `ins[0]`; a
    /// shared record is copied first.
    StoreRecord { bank: Bank, index: u16 },
    /// Moves a reference out of a record: `record → r, record` (`outs[1]` is `ins[0]`).
    TakeRecord { index: u16 },

    /// Creates an empty array: `→ array`.
    NewArray(Stride),
    /// Appends one element to an array: `array, components → array` (`outs[0]` is `ins[0]`).
    Append(Stride),
    /// Appends a string to another, in place if it has a single owner: `string = string, string`.
    AppendText,
    /// Counts the elements of an array: `array → count`.
    Count,
    /// Checks an index of an array, and fails if the index is out of range: `array, index →`.
    CheckIndex,
    /// Reads the component `offset` (counted in its bank) of an element: `array, index → x`. The operation fails if the
    /// index is out of range.
    LoadElement { bank: Bank, offset: u16, stride: Stride },
    /// Writes a component of an element: `array, index, x → array` (`outs[0]` is `ins[0]`). A shared array is copied
    /// first. The operation fails if the index is out of range.
    StoreElement { bank: Bank, offset: u16, stride: Stride },
    /// Moves a reference out of an element of an array: `array, index → r, array` (`outs[1]` is `ins[0]`).
    TakeElement { offset: u16, stride: Stride },

    /// Reads the component `index` (counted in its bank) of the global variables: `→ x`.
    LoadGlobal { bank: Bank, index: u32 },
    /// Writes the component `index` (counted in its bank) of the global variables: `x →`.
    StoreGlobal { bank: Bank, index: u32 },
    /// Moves a reference out of the global variables: `→ r`.
    TakeGlobal { index: u32 },
    /// Notes an access to a part of a box, or of a global variable, or the beginning or end of a modification: `box →`,
    /// or `→` for a global variable. The operation fails if this part is already being modified.
    Access { how: AccessKind, region: Rc<Region> },

    /// Calls a function of the native library (`native::library`) by name, with the shapes of its generic arguments:
    /// `operands → results`. A reference that the function modifies is passed to it and returned as a result.
    Native {
        #[serde(deserialize_with = "known_name")]
        name: Name,
        shapes: Vec<ShapeId>,
    },

    /// Applies a differential operator or an auxiliary operator; see [`Operator`].
    Operator(Operator),

    /// Converts a function to a differentiable or linear function: `function → function`. The conversion is a copy at
    /// run time; `diff` verifies the assertion. `wrt[k]` states whether parameter `k` is differentiated.
    AssertDifferentiable { linear: bool, wrt: Vec<bool> },

    /// An operation that only tangent and adjoint code has; see [`TransformedOp`].
    Transformed(TransformedOp),
}

/// The steps of tangent and adjoint code, which computes a function and its derivative on plain numbers.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum TransformedOp {
    /// Computes the partial of a primitive in one of its numeric operands, given the result of the primitive:
    /// `operands, result → f`.
    Partial { primitive: PrimitiveId, operand: u8 },
    /// Pushes a number or an integer onto the value stack, for the reverse pass: `x →`.
    Push(Bank),
    /// Pushes a constant integer onto the value stack: `→`.
    PushConstant(i32),
    /// Pops the value stack: `→ x`.
    Pop(Bank),
    /// Adds a number to a component of an element: `array, index, x → array` (`outs[0]` is `ins[0]`).
    AddElement { offset: u16, stride: Stride },
    /// Adds a number to a component of an element of an array of adjoints, which is extended by zeros as far as
    /// necessary: `array, index, x → array` (`outs[0]` is `ins[0]`).
    Accumulate { offset: u16, stride: Stride },
    /// Moves a component of an element out of an array of adjoints, in which it becomes zero; a missing component is
    /// zero: `array, index → x, array` (`outs[1]` is `ins[0]`).
    TakeAdjoint { offset: u16, stride: Stride },
    /// Reads a component of an element of an array of adjoints; a missing component is zero: `array, index → x`.
    ReadAdjoint { offset: u16, stride: Stride },
    /// Adds the numbers of an array of adjoints to those of the array in a component of an element of another array of
    /// adjoints, which is extended as far as necessary: `array, index, array → array` (`outs[0]` is `ins[0]`).
    AccumulateArray { offset: u16, stride: Stride },
    /// Moves the array in a component of an element out of an array of adjoints, in which it becomes empty; a missing array
    /// is empty: `array, index → array, array` (`outs[1]` is `ins[0]`).
    TakeAdjointArray { offset: u16, stride: Stride },
    /// Adds the numbers of an array of adjoints to those of another, which is extended by zeros as far as necessary, but
    /// not by zeros alone: `array, array → array` (`outs[0]` is `ins[0]`).
    AddArray,
    /// Copies a register to another register of the same bank, without its tangent: `x → x`.
    DropTangent,
    /// Copies a register to another register of the same bank: `x → x`. If `x` varies, the function has no tangent or
    /// adjoint code.
    RequireConstant,
    /// Sets a number to zero if it is subnormal: `f → f`, where both are one register. Contractions over thousands of
    /// iterations would otherwise compute with subnormal numbers, which is 15 times slower.
    Flush,
    /// Appends a node to the tape: `node, partial → node` for one operand, `node, node, partial, partial → node` for two. A
    /// node is given by its number, as the bits of an `f`; 0 is that of a constant, and the result if all operands are
    /// constant.
    AppendNode,
    /// Appends the sums of the nodes in two arrays to the tape: `array, array → array` (`outs[0]` is `ins[0]`). The first array
    /// is extended by zeros as far as necessary.
    AddNodes,
    /// Reads the component `index` (counted in its bank) of the values that a function object captured: `closure → x`.
    CaptureOf { bank: Bank, index: u16 },
}

/// The operators that the machine implements; the prelude defines the other operators in terms of these.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Operator {
    /// Records `body` at `x`: `x…, body → value…, differential`. `at` and `result` are the tangent types of `x` and of
    /// the result.
    ValueWithDifferential { at: TangentId, result: TangentId, throws: bool },
    /// Propagates one tangent forward in constant memory: `x…, dx…, body → value…, derivative…`.
    ValueWithTangent { at: TangentId, result: TangentId, throws: bool },
    /// Computes the gradient of a function that returns one number, by adjoint code, and the value if `value` is set:
    /// `x…, body → whether it succeeded, value, gradient…`. The operator occurs only in plain code, and does not
    /// succeed in a live level, under an observer, or without adjoint code.
    Gradient { at: TangentId, value: bool, throws: bool },
    /// Computes the Taylor polynomial of `body` around `x`: `x, order, body → whether it succeeded, coefficients`. The
    /// operator succeeds if only primitives are recorded.
    Series { result: TangentId, throws: bool },
    /// Transposes a linear function: `linear → linear`.
    Transpose { at: TangentId, result: TangentId },
    /// Makes a value constant in every live level: `x… → x…`. The operator also applies to types that are not
    /// differentiable (`of` is then [nothing](crate::value::shape::TangentKind::Nothing)), because it makes a lost
    /// tangent explicit.
    WithoutDerivative { of: TangentId },
    /// Marks the argument of a parameter, or the value stored in a property, that is marked `@noDerivative`: `x… → x…`.
    /// If the value varies, results that depend on it have no derivative, and requesting their derivative is an error.
    NoDerivative { is_property: bool },
    /// Copies a value whose adjoint is edited: `x…, edit → x…`. On the reverse pass, `edit`, a function `(inout
    /// T.TangentVector) -> ()`, is applied to the adjoint of the value.
    WithDerivative { of: TangentId },
    /// Marks a number `y` that was computed from `x` by way of a value without a tangent: `x, y → y`. If `x` varies,
    /// `y` has a lost tangent, and requesting its derivative is an error. The operator occurs only in derivative code.
    LoseTangent { of: TangentId },
    /// Sends the number `x` from which the result with the given index, which is returned next, was computed by way of
    /// a value without a tangent: `x →`. The operator occurs only in derivative code.
    SendResultOrigin { result: u32 },
    /// Receives the number that the function which has just returned sent for the result with the given index, or a
    /// constant: `→ x`. The operator occurs only in derivative code.
    ReceiveResultOrigin { result: u32 },
    /// Discards the origins that earlier calls sent or received. The operator occurs only in derivative code.
    ForgetOrigins,
    /// Sends the number `x` from which the argument with the given index of the next call was computed: `x →`. The
    /// operator occurs only in derivative code.
    SendArgumentOrigin { argument: u32 },
    /// Receives the number that the caller sent for the argument with the given index, or a constant: `→ x`. The
    /// operator occurs only in derivative code.
    ReceiveArgumentOrigin { argument: u32 },
    /// Computes a number that varies if any of the given numbers, or a number in any of the given objects, varies: `x…
    /// → x`. The operator occurs only in derivative code.
    JoinOrigins,
    /// Stores `x` as an origin of the integer or string `n` in a component: `object, x, n → object`, or without an
    /// object for a global variable. The origin is added to the stored origins of the component, unless it `replaces`
    /// them; for the [whole](Storage::Whole) object there is no `n`. The operator occurs only in derivative code.
    StoreOrigin { inside: Storage, component: u32, replaces: bool },
    /// Loads the origin of the integer or string `n` that was loaded from a component, or a constant if no origin was
    /// stored: `object, n → x`, or without an object. The operator occurs only in derivative code.
    LoadOrigin { inside: Storage, component: u32 },
    /// Notes the comparison of two numbers that decides a branch: `x, y →`. If the numbers are equal and vary, an
    /// observer may report the comparison. The operator occurs only in derivative code, and only under such an
    /// observer.
    Threshold { comparison: PrimitiveId },
    /// Applies a differential or pullback to all vectors of an array, several in one sweep: `linear, vectors → whether
    /// it succeeded, results`. The operator occurs only in plain code, and does not succeed in a live level.
    ApplyAtOnce,
    /// Computes the matrix of a differential, with few sweeps if the matrix is sparse: `linear → whether it succeeded,
    /// rows`, or `linear → whether it succeeded, row indices, column indices, values` of the entries that may differ from
    /// zero. The operator occurs only in plain code, and does not succeed in a live level.
    Matrix { sparse: bool },
    /// Computes the matrix of the differential of `body`: `x…, body → whether it succeeded, rows`, or `x…, body → whether it
    /// succeeded, number of rows, number of columns, row indices, column indices, values` if it is sparse. The operator occurs only
    /// in plain code, and does not succeed in a live level, under an observer, or without Jacobian or linearization code.
    Jacobian { at: TangentId, result: TangentId, form: JacobianForm },
    /// Returns all numbers of a value that can vary, in order: `x… → array`.
    Coordinates { of: TangentId },
    /// Calls a function without parameters and results: `body →`, or `body → thrown, error`. A reverse level does not
    /// record the call, but repeats it on the reverse pass.
    Recompute { traced: bool },
}

impl Operator {
    /// Whether the operator differentiates the function that is its last operand at the point that precedes it.
    pub fn differentiates_at_point(&self) -> bool {
        matches!(
            self,
            Operator::Gradient { .. }
                | Operator::Jacobian { .. }
                | Operator::ValueWithTangent { .. }
                | Operator::ValueWithDifferential { .. }
        )
    }

    /// Returns the tangent types of the operator's operands and results.
    pub fn tangents(&self) -> Vec<TangentId> {
        match *self {
            Operator::ValueWithDifferential { at, result, .. }
            | Operator::ValueWithTangent { at, result, .. }
            | Operator::Jacobian { at, result, .. }
            | Operator::Transpose { at, result } => vec![at, result],
            Operator::WithoutDerivative { of }
            | Operator::WithDerivative { of }
            | Operator::Coordinates { of }
            | Operator::Gradient { at: of, .. }
            | Operator::LoseTangent { of } => vec![of],
            Operator::Series { result, .. } => vec![result],
            Operator::ApplyAtOnce
            | Operator::Matrix { .. }
            | Operator::NoDerivative { .. }
            | Operator::Recompute { .. }
            | Operator::Threshold { .. }
            | Operator::SendResultOrigin { .. }
            | Operator::ReceiveResultOrigin { .. }
            | Operator::ForgetOrigins
            | Operator::SendArgumentOrigin { .. }
            | Operator::ReceiveArgumentOrigin { .. }
            | Operator::JoinOrigins
            | Operator::StoreOrigin { .. }
            | Operator::LoadOrigin { .. } => vec![],
        }
    }
}

/// The terminator of a block.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Terminator {
    /// Jumps to another block.
    Jump(BlockId),
    /// Jumps to `then` if the `i` register is not zero, and to `otherwise` if the register is zero.
    Branch { condition: Reg, then: BlockId, otherwise: BlockId },
    /// Returns the results of the function.
    Return(Vec<Reg>),
    /// Stops the program with a fault.
    Trap(Trap),
}

/// The successors of a block: at most two blocks, or block indices.
pub type Targets<T> = Flatten<std::array::IntoIter<Option<T>, 2>>;

impl Terminator {
    /// Returns the successors of the block that the terminator ends.
    pub fn targets(&self) -> Targets<BlockId> {
        match self {
            Terminator::Jump(to) => [Some(*to), None],
            Terminator::Branch { then, otherwise, .. } => [Some(*then), Some(*otherwise)],
            Terminator::Return(_) | Terminator::Trap(_) => [None, None],
        }
        .into_iter()
        .flatten()
    }

    /// Returns the successors of the block, to change them.
    pub fn targets_mut(&mut self) -> Targets<&mut BlockId> {
        match self {
            Terminator::Jump(to) => [Some(to), None],
            Terminator::Branch { then, otherwise, .. } => [Some(then), Some(otherwise)],
            Terminator::Return(_) | Terminator::Trap(_) => [None, None],
        }
        .into_iter()
        .flatten()
    }

    /// Returns the registers that the terminator reads.
    pub fn reads(&self) -> &[Reg] {
        match self {
            Terminator::Branch { condition, .. } => slice::from_ref(condition),
            Terminator::Return(regs) => regs,
            Terminator::Trap(Trap::Failed { message: Some(reg), .. } | Trap::Uncaught(reg)) => slice::from_ref(reg),
            Terminator::Trap(_) | Terminator::Jump(_) => &[],
        }
    }

    /// Returns the registers that the terminator reads, mutably.
    pub fn reads_mut(&mut self) -> &mut [Reg] {
        match self {
            Terminator::Branch { condition, .. } => slice::from_mut(condition),
            Terminator::Return(regs) => regs,
            Terminator::Trap(Trap::Failed { message: Some(reg), .. } | Trap::Uncaught(reg)) => slice::from_mut(reg),
            Terminator::Trap(_) | Terminator::Jump(_) => &mut [],
        }
    }
}

/// The reason why a program stops.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Trap {
    /// An optional that was unwrapped, as in `nil!`, is `nil`.
    UnexpectedNil,
    /// A `precondition`, `assert` or `fatalError` failed: the register holds the message, if any.
    Failed {
        #[serde(skip)]
        what: Name,
        message: Option<Reg>,
    },
    /// The program reached a point that a correct program does not reach (the end of a getter that does not return).
    Unreachable,
    /// Tangent or adjoint code has reached a step that it does not support: the function runs again, on the tape.
    Unsupported,
    /// An error was not caught: the register holds the description of the error.
    Uncaught(Reg),
}

/// Deserializes the name of a function of the native library.
fn known_name<'d, D: Deserializer<'d>>(from: D) -> Result<&'static str, D::Error> {
    let name = String::deserialize(from)?;
    let known = library::find(&name).map(library::name);
    known.ok_or_else(|| serde::de::Error::custom("no function of the native library has this name"))
}
