//! Graph: the control-flow graph of one function, and the tables that functions share.

#![allow(missing_docs, reason = "the comment of a variant names its fields")]

use crate::ir::passes::exclusivity_checks::{AccessKind, Region};
use crate::native::{PrimitiveId, library};
use crate::source::Span;
use crate::value::origins::Storage;
use crate::value::shape::{ShapeId, Shapes, TangentId, Tangents};
use crate::value::{Bank, Constants};
use hashbrown::HashMap;
use serde::{Deserialize, Deserializer, Serialize};
use std::iter::Flatten;
use std::ops::Range;
use std::rc::Rc;
use std::slice;

/// A virtual register: an index into [`Function::registers`]. Registers are variables, not values: one may be written
/// in several places.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Reg(pub u32);

/// A block: an index into [`Function::blocks`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, Serialize, Deserialize)]
pub struct BlockId(pub u32);

/// A compiled function: an index into [`Program::functions`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FunctionId(pub u32);

/// A method that is dispatched on the type of its receiver at run time: an index into [`Program::methods`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, Serialize, Deserialize)]
pub struct MethodId(pub u32);

/// One function for one list of concrete types.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Function {
    /// The name in a backtrace: `smooth(_:)`, `closure in loss(_:)`, `‹script›`.
    pub name: Rc<str>,
    /// The location of its declaration.
    pub span: Span,
    /// The registers of the arguments, component by component.
    pub params: Vec<Reg>,
    /// The declared parameters, each a range of `params`.
    pub parameters: Vec<Parameter>,
    /// The banks of the results: the components of the result, then those of every `inout` parameter in order.
    pub results: Vec<Bank>,
    /// The number of `results` that belong to the result proper.
    pub result_len: usize,
    /// The differentiable parts of `results`: first component, shape and tangent.
    pub result_tangents: Vec<(usize, ShapeId, TangentId)>,
    /// The banks of the captured values, which [`Op::Capture`] reads; empty if it is not a closure.
    pub captures: Vec<Bank>,
    /// All registers.
    pub registers: Vec<Register>,
    /// All blocks; the first is the entry.
    pub blocks: Vec<Block>,
    /// The derivatives that are registered for it, the most specific first.
    pub rules: Vec<Rule>,
    /// Whether it is declared in the prelude, so that diagnostics point at the call instead.
    pub is_prelude: bool,
    /// Whether the function is opaque: it has no derivative unless a rule is registered (`sinf` of `Glibc`).
    pub is_opaque: bool,
    /// Whether it may throw: it returns a flag and the error before its result.
    pub throws: bool,
    /// The reason why it is opaque, if this is not just the lack of a registered derivative.
    pub obstacle: Option<Obstacle>,
    /// The components of an instance that it reads, by bank, if it is the getter of a stored property.
    pub reads: [Range<u32>; 3],
}

/// The reason why a function has no derivative.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Obstacle {
    /// No registered derivative applies to the generic arguments: the requirement that they do not satisfy.
    Requirement(Rc<str>),
    /// The function accesses a stored property of a type whose tangent vectors do not determine how it varies (`Circle.angle`).
    Property {
        /// The type.
        owner: Rc<str>,
        /// The property.
        name: Rc<str>,
        /// Whether the property is read, as opposed to set.
        is_read: bool,
        /// Whether it is a payload of an enum case.
        is_case: bool,
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
            Obstacle::Property { owner, name, is_read, .. } => {
                let what = if *is_read { "access to" } else { "setting" };
                write!(
                    f,
                    "cannot differentiate {what} property '{owner}.{name}' because '{owner}.TangentVector' does not have a stored property named '{name}'"
                )
            }
        }
    }
}

/// A declared parameter.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Parameter {
    /// Its name.
    pub name: Rc<str>,
    /// The location of its declaration.
    pub span: Span,
    /// Its first component in [`Function::params`].
    pub first: usize,
    /// The number of its components.
    pub len: usize,
    /// The tangent of its type; `None` for `Int` and other types that are not differentiable.
    pub tangent: Option<TangentId>,
    /// Its shape.
    pub shape: ShapeId,
}

/// The properties of a register.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Register {
    /// Its bank.
    pub bank: Bank,
    /// The variable that it belongs to, for listings and diagnostics.
    pub name: Option<Rc<str>>,
}

/// A straight run of instructions with one entry and one terminator.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Block {
    /// The instructions.
    pub instructions: Vec<Instruction>,
    /// The terminator; `None` only during construction.
    pub end: Option<Terminator>,
    /// The source location of the terminator.
    pub end_span: Span,
}

impl Block {
    /// Returns the function that a register of the block holds, if only one step of the block writes the register.
    fn function_in(&self, reg: Reg) -> Option<FunctionId> {
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

/// The name of a native function or a construct of the language. It is an alias, because serde would borrow a field of the
/// type `&str` from its input.
type Name = &'static str;

/// One step.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Instruction {
    /// The operation.
    pub op: Op,
    /// The registers that it writes.
    pub outs: Vec<Reg>,
    /// The registers that it reads.
    pub ins: Vec<Reg>,
    /// Its source location.
    pub span: Span,
    /// Whether the step also propagates tangent slots, in derivative code. Never set in original code. The tracking of
    /// lost tangents sets it beforehand on calls whose integer arguments were computed from numbers.
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

/// An operation. `a → b` denotes the registers that it reads and writes.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Op {
    /// `→ f`
    ConstF(f64),
    /// `→ i`
    ConstI(i64),
    /// `→ r`: a string.
    Text(Rc<str>),
    /// `→ array` of constant elements.
    Constants(Rc<Constants>),
    /// `→ r`: a null reference.
    Null,
    /// `x → x` of the same bank. A reference is shared.
    Copy,
    /// `r → r`: moves the reference out of its register, which becomes empty.
    Take,
    /// `operands → result` of a primitive.
    Primitive(PrimitiveId),
    /// `arguments → results`
    Call(FunctionId),
    /// `arguments → results` of a function that has registered derivatives, or whose body is unknown. It occurs only in
    /// derivative code, where it replaces [`Op::Call`]: the machine takes the innermost live level among the arguments and
    /// the most specific of the [rules](Function::rules) that covers the active arguments. If there is none, it runs the
    /// function's own derivative code, or fails with a source location if the function has no derivative
    /// ([`Function::is_opaque`]). Without a live level it is a plain call.
    CallRule(FunctionId),
    /// `function, arguments → results`
    CallValue,
    /// `captured components → r`: a function object.
    Closure(FunctionId),
    /// `→ x`: component `index` (counted in its bank) of the values that the running closure captured.
    Capture { bank: Bank, index: u16 },

    /// `components → r`: a box, shared by all its holders: a captured variable or an instance of a class.
    NewBox,
    /// `→ r`: an instance of a class whose properties are not initialized yet.
    NewInstance(ShapeId),
    /// `receiver → r`: the implementation of a method for the dynamic type of the receiver.
    FindMethod(MethodId),
    /// `box → x`
    LoadBox { bank: Bank, index: u16 },
    /// `box, x →`
    StoreBox { bank: Bank, index: u16 },
    /// `references →`: extends the lifetime of the references to this point, and has no other effect.
    Hold,
    /// `box → r`: moves the reference out of the box, for a modification in place.
    TakeBox { index: u16 },

    /// `components → r`: a record with value semantics: a large or recursive struct or enum.
    NewRecord,
    /// `record → x`
    LoadRecord { bank: Bank, index: u16 },
    /// `record, x → record`: `outs[0]` is the same register as `ins[0]`; a shared record is copied first.
    StoreRecord { bank: Bank, index: u16 },
    /// `record → r, record`: moves a reference out of the record (`outs[1]` is `ins[0]`).
    TakeRecord { index: u16 },

    /// `→ array`: an empty array.
    NewArray(Stride),
    /// `array, components → array`: appends one element (`outs[0]` is `ins[0]`).
    Append(Stride),
    /// `string = string, string`: appends a string, in place if it has a single owner.
    AppendText,
    /// `array → count`
    Count,
    /// `array, index →`: fails if the index is out of range.
    CheckIndex,
    /// `array, index → x`: component `offset` (counted in its bank) of an element; fails out of range.
    LoadElement { bank: Bank, offset: u16, stride: Stride },
    /// `array, index, x → array` (`outs[0]` is `ins[0]`); a shared array is copied first; fails out of range.
    StoreElement { bank: Bank, offset: u16, stride: Stride },
    /// `array, index → r, array`: moves a reference out of an element (`outs[1]` is `ins[0]`).
    TakeElement { offset: u16, stride: Stride },

    /// `→ x`: component `index` (counted in its bank) of the global variables.
    LoadGlobal { bank: Bank, index: u32 },
    /// `x →`
    StoreGlobal { bank: Bank, index: u32 },
    /// `→ r`: moves the reference out of the global variable.
    TakeGlobal { index: u32 },
    /// `box →`, or `→` for a global variable: notes an access to a part of it, or the beginning or end of a modification; fails
    /// if that part is already being modified.
    Access { how: AccessKind, region: Rc<Region> },

    /// `operands → results` of a function of the native library (`native::library`), by name, with the shapes of its generic
    /// arguments. A reference that the function modifies is passed to it and returned as a result.
    Native {
        #[serde(deserialize_with = "known_name")]
        name: Name,
        shapes: Vec<ShapeId>,
    },

    /// A differential operator or an auxiliary operation; see [`Operator`].
    Operator(Operator),

    /// `function → function`: the conversion to a differentiable or linear function. It is a copy at run time; `diff` verifies
    /// the assertion. `wrt[k]` states whether parameter `k` is differentiated.
    AssertDifferentiable { linear: bool, wrt: Vec<bool> },

    /// A step that only tangent and adjoint code has; see [`TransformedOp`].
    Transformed(TransformedOp),
}

/// The steps of tangent and adjoint code, which computes a function and its derivative on plain numbers.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum TransformedOp {
    /// `operands, result → f`: the partial of a primitive in one of its numeric operands, given its result.
    Partial { primitive: PrimitiveId, operand: u8 },
    /// `x →`: pushes a number or an integer onto the value stack, for the reverse pass.
    Push(Bank),
    /// `→`: pushes a constant integer onto the value stack.
    PushConstant(i32),
    /// `→ x`: pops the value stack.
    Pop(Bank),
    /// `array, index, x → array`: adds a number to a component of an element (`outs[0]` is `ins[0]`).
    AddElement { offset: u16, stride: Stride },
    /// `x → x` of the same bank, without its tangent.
    DropTangent,
    /// `x → x` of the same bank. If `x` varies, the function has no tangent or adjoint code.
    RequireConstant,
    /// `f → f`, the same register: the number may be set to zero if it is subnormal. Contractions over thousands of iterations
    /// would otherwise compute with subnormal numbers, 15 times slower.
    Flush,
    /// `closure → x`: component `index` (counted in its bank) of the values that a function object captured.
    CaptureOf { bank: Bank, index: u16 },
}

/// The operators that the machine implements; the prelude defines the others in terms of these.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Operator {
    /// `x…, body → value…, differential`: records `body` at `x`. `at` and `result` are the tangents of `x` and the result.
    ValueWithDifferential { at: TangentId, result: TangentId, throws: bool },
    /// `x…, dx…, body → value…, derivative…`: propagates one tangent forward in constant memory.
    ValueWithTangent { at: TangentId, result: TangentId, throws: bool },
    /// `x…, body → whether it succeeded, value, gradient…`: the gradient of a function that returns one number, by adjoint
    /// code, and the value if `value` is set. Only in plain code; it does not succeed in a live level, under an observer, or
    /// if there is no adjoint code.
    Gradient { at: TangentId, value: bool, throws: bool },
    /// `x, order, body → whether it succeeded, coefficients`: the Taylor polynomial of `body` around `x`; it succeeds if only
    /// primitives are recorded.
    Series { result: TangentId, throws: bool },
    /// `linear → linear`
    Transpose { at: TangentId, result: TangentId },
    /// `x… → x…`: the same value, constant in every live level. Also for types that are not differentiable (`of` is then
    /// [nothing](crate::value::shape::TangentKind::Nothing)), because it makes a lost tangent explicit.
    WithoutDerivative { of: TangentId },
    /// `x… → x…`: the argument of a parameter, or the value stored in a property, that is marked `@noDerivative`. The value is
    /// the same; if it varies, results that depend on it have no derivative, and requesting one is an error.
    NoDerivative { is_property: bool },
    /// `x…, edit → x…`: the same value; on the reverse pass, `edit`, a function `(inout T.TangentVector) -> ()`, is applied to
    /// its adjoint.
    WithDerivative { of: TangentId },
    /// `x, y → y`: a number that was computed from `x` by way of a value without a tangent. If `x` varies, `y` has a lost
    /// tangent, and requesting its derivative is an error. Only in derivative code.
    LoseTangent { of: TangentId },
    /// `x →`: the result with that index, which is returned next, was computed from `x` by way of a value without a tangent.
    /// Only in derivative code.
    SendResultOrigin { result: u32 },
    /// `→ x`: the number that the function which has just returned sent for the result with that index; a constant if it sent
    /// none. Only in derivative code.
    ReceiveResultOrigin { result: u32 },
    /// Discards the numbers that earlier calls sent or received. Only in derivative code.
    ForgetOrigins,
    /// `x →`: the argument with that index of the function that is called next was computed from `x`. Only in derivative
    /// code.
    SendArgumentOrigin { argument: u32 },
    /// `→ x`: the number that the caller passed for the argument with that index; a constant if it passed none. Only in
    /// derivative code.
    ReceiveArgumentOrigin { argument: u32 },
    /// `x… → x`: a number that varies if any of these numbers, or a number in any of these objects, varies. Only in derivative
    /// code.
    JoinOrigins,
    /// `object, x, n → object`, or without an object for a global variable: the integer or string `n` that was stored as that
    /// component was computed from `x`. This is added to what was stored for the component before, unless it `replaces` that;
    /// for the [whole](Storage::Whole) there is no `n`. Only in derivative code.
    StoreOrigin { inside: Storage, component: u32, replaces: bool },
    /// `object, n → x`, or without an object: the number from which the integer or string `n` that was loaded from the component
    /// was computed; a constant if none was stored. Only in derivative code.
    LoadOrigin { inside: Storage, component: u32 },
    /// `x, y →`: the comparison of two numbers that decides a branch. If they are equal and vary, an observer may report it.
    /// Only in derivative code, and only under such an observer.
    Threshold { comparison: PrimitiveId },
    /// `linear, vectors → whether it succeeded, results`: applies a differential or pullback to all vectors of an array,
    /// several in one sweep. Only in plain code; it does not succeed in a live level.
    ApplyAtOnce,
    /// `x… → array`: all numbers of a value that can vary, in order.
    Coordinates { of: TangentId },
    /// `body →`, or `body → thrown, error`: calls a function without parameters and results. A reverse level does not record
    /// it, but runs it again on the reverse pass.
    Recompute { traced: bool },
}

impl Operator {
    /// Returns the tangents of the types of its operands and results.
    pub fn tangents(&self) -> Vec<TangentId> {
        match *self {
            Operator::ValueWithDifferential { at, result, .. }
            | Operator::ValueWithTangent { at, result, .. }
            | Operator::Transpose { at, result } => vec![at, result],
            Operator::WithoutDerivative { of }
            | Operator::WithDerivative { of }
            | Operator::Coordinates { of }
            | Operator::Gradient { at: of, .. }
            | Operator::LoseTangent { of } => vec![of],
            Operator::Series { result, .. } => vec![result],
            Operator::ApplyAtOnce
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
    /// Jumps to a block.
    Jump(BlockId),
    /// Jumps to `then` if the `i` register is not zero, and to `otherwise` if it is.
    Branch { condition: Reg, then: BlockId, otherwise: BlockId },
    /// Returns the results.
    Return(Vec<Reg>),
    /// Stops the program with a fault.
    Trap(Trap),
}

/// At most two blocks, or block indices.
pub type Targets<T> = Flatten<std::array::IntoIter<Option<T>, 2>>;

impl Terminator {
    /// Returns the successors of the block.
    pub fn targets(&self) -> Targets<BlockId> {
        match self {
            Terminator::Jump(to) => [Some(*to), None],
            Terminator::Branch { then, otherwise, .. } => [Some(*then), Some(*otherwise)],
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
    /// `nil!`
    UnexpectedNil,
    /// A failed `precondition`, `assert` or `fatalError`: the register holds the message, if there is one.
    Failed {
        #[serde(skip)]
        what: Name,
        message: Option<Reg>,
    },
    /// A point that a correct program does not reach (the end of a getter that does not return).
    Unreachable,
    /// Tangent or adjoint code has reached a step that it does not support: the function runs again, on the tape.
    Unsupported,
    /// An error that is not caught: the register holds its description.
    Uncaught(Reg),
}

/// A registered derivative.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Rule {
    /// The parameters that it differentiates by, one flag for each of [`Function::parameters`].
    pub wrt: Vec<bool>,
    /// The function that is called: it takes the parameters of the original, and returns its result with a linear function.
    pub function: FunctionId,
    /// The function that was registered: the one that `function` calls if the original changes parameters, otherwise `function`.
    pub registered: FunctionId,
    /// The kind of the linear function.
    pub kind: RuleKind,
    /// The tangent of the result.
    pub result: TangentId,
    /// Whether the registered function may throw.
    pub throws: bool,
    /// Whether it is intended to differ from the derivative.
    pub differs: bool,
    /// For a transpose: whether the function's own derivative code computes its tangents.
    pub has_own_tangent: bool,
    /// The location of the registration.
    pub place: Span,
    /// For each parameter whose type defines its own tangent vectors: the function that moves a value along one.
    pub movers: Rc<[Option<FunctionId>]>,
    /// The member of a superclass or a protocol for which it was registered, if its value must be compared with that of the
    /// function, which inherits it.
    pub inherited: Option<Rc<str>>,
}

impl Rule {
    /// Creates a rule for a registered function that is called directly.
    pub fn new(wrt: Vec<bool>, function: FunctionId, kind: RuleKind, result: TangentId) -> Rule {
        Rule {
            wrt,
            function,
            registered: function,
            kind,
            result,
            throws: false,
            differs: false,
            has_own_tangent: false,
            place: Span::default(),
            movers: Rc::from([]),
            inherited: None,
        }
    }
}

/// The kind of linear function that a registered derivative returns besides the value.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum RuleKind {
    /// A differential: maps tangents of the arguments to the tangent of the result.
    Differential,
    /// A pullback: maps the adjoint of the result to adjoints of the arguments.
    Pullback,
    /// The transpose of a linear function: maps the adjoint of the result to those of the linear parameters.
    Transpose,
}

/// Deserializes the name of a function of the native library.
fn known_name<'d, D: Deserializer<'d>>(from: D) -> Result<&'static str, D::Error> {
    let name = String::deserialize(from)?;
    let known = library::find(&name).map(library::name);
    known.ok_or_else(|| serde::de::Error::custom("no function of the native library has this name"))
}

/// All functions that were compiled in a session, and their shared tables.
#[derive(Clone, Default, Debug)]
pub struct Program {
    /// The functions; `None` while one is under construction.
    pub functions: Vec<Option<Rc<Function>>>,
    /// The shapes of values.
    pub shapes: Shapes,
    /// The tangents of types.
    pub tangents: Tangents,
    /// The number of global components in each bank.
    pub globals: [u32; 3],
    /// The names of the global variables that have one component.
    pub global_names: HashMap<(Bank, u32), Rc<str>>,
    /// The functions that describe a value of a type with a custom description, by
    /// [`DescriptionId`](crate::value::shape::DescriptionId): one for the value alone, and one for the value inside another value.
    pub custom_descriptions: Vec<[FunctionId; 2]>,
    /// The names of the methods that are dispatched at run time.
    pub methods: Vec<Rc<str>>,
    /// The implementation of each such method for each type: complete for all types of which values are created.
    pub dispatch: HashMap<(MethodId, ShapeId), FunctionId>,
    /// Whether the destruction of an instance has an effect, so that the time at which the last reference is dropped matters.
    pub sees_ends: bool,
}

impl Program {
    /// Returns the function with an id; `None` while it is under construction.
    pub fn function(&self, id: FunctionId) -> Option<&Rc<Function>> {
        self.functions.get(id.0 as usize)?.as_ref()
    }

    /// Returns the function that a global variable always holds: one without captured values that is stored at a single place.
    pub fn function_in_global(&self, index: u32) -> Option<FunctionId> {
        let place = Op::StoreGlobal { bank: Bank::R, index };
        let blocks = self.functions.iter().flatten().flat_map(|function| &function.blocks);
        let mut stores = blocks.flat_map(|block| {
            let stores = block.instructions.iter().filter(|step| step.op == place);
            stores.map(|step| block.function_in(*step.ins.first()?))
        });
        stores.next().flatten().filter(|_| stores.next().is_none())
    }
}
