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

/// A method that is found by the type of its receiver while the program runs: an index into [`Program::methods`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, Serialize, Deserialize)]
pub struct MethodId(pub u32);

/// One function for one list of concrete types.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Function {
    /// Name as in a backtrace: `smooth(_:)`, `closure in loss(_:)`, `‹script›`.
    pub name: Rc<str>,
    /// Where it is declared.
    pub span: Span,
    /// The registers that the arguments arrive in, component by component.
    pub params: Vec<Reg>,
    /// The parameters as written, each a run of `params`.
    pub parameters: Vec<Parameter>,
    /// The banks of what it returns: the result's components, then those of every `inout` parameter in order.
    pub results: Vec<Bank>,
    /// How many of `results` belong to the result proper.
    pub result_len: usize,
    /// How the parts of `results` differentiate that do: their first component, shape and tangent.
    pub result_tangents: Vec<(usize, ShapeId, TangentId)>,
    /// Whether it is a closure: then [`Op::Capture`] reads what it captured.
    pub captures: Vec<Bank>,
    /// All registers.
    pub registers: Vec<Register>,
    /// All blocks; the first is the entry.
    pub blocks: Vec<Block>,
    /// Derivatives that were registered for it, the most specific first.
    pub rules: Vec<Rule>,
    /// Whether it was declared in the prelude, so that diagnostics point at the call instead.
    pub is_prelude: bool,
    /// An opaque function: it has no derivative unless a rule is registered (`sinf` of `Glibc`).
    pub is_opaque: bool,
    /// Whether it may throw: it gives a flag and the error before its result.
    pub throws: bool,
    /// Why it is opaque, where that is more than the lack of a registered derivative.
    pub obstacle: Option<Obstacle>,
    /// The components of an instance that it reads, by bank, where it is the getter of a stored property.
    pub reads: [Range<u32>; 3],
}

/// What is in the way of a derivative.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Obstacle {
    /// No derivative that is registered applies to the generic arguments: what they would have to be.
    Requirement(Rc<str>),
    /// A stored property of a type whose tangent vectors do not say how it moves (`Circle.angle`): whether it is read.
    Property {
        /// The type.
        owner: Rc<str>,
        /// The property.
        name: Rc<str>,
        /// Whether it is read, or set.
        is_read: bool,
        /// Whether it is what a case of an enum holds.
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

/// A parameter as written.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Parameter {
    /// Its name.
    pub name: Rc<str>,
    /// Where it is declared.
    pub span: Span,
    /// Its first component in [`Function::params`].
    pub first: usize,
    /// How many components it has.
    pub len: usize,
    /// How its type differentiates; `None` for `Int` and the like.
    pub tangent: Option<TangentId>,
    /// Its shape.
    pub shape: ShapeId,
}

/// What is known of a register.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Register {
    /// Its bank.
    pub bank: Bank,
    /// The variable that it belongs to, for listings and diagnostics.
    pub name: Option<Rc<str>>,
}

/// A straight run of instructions.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Block {
    /// The instructions.
    pub instructions: Vec<Instruction>,
    /// How it ends; `None` only while it is built.
    pub end: Option<Terminator>,
    /// The place of its end in the source.
    pub end_span: Span,
}

impl Block {
    /// The function that a register of the block gets, if that is all that it gets.
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

/// A name that dscript itself knows. An alias, because fields of the type itself would be read from a file without a
/// copy.
type Name = &'static str;

/// One step.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Instruction {
    /// What is done.
    pub op: Op,
    /// What is written.
    pub outs: Vec<Reg>,
    /// What is read.
    pub ins: Vec<Reg>,
    /// Its place in the source.
    pub span: Span,
    /// Derivative code: the step moves and combines tangent slots as well. Never set in original code. Where chains that
    /// break are marked, calls that are given such integers have it before.
    pub active: bool,
}

/// How many components of each bank an element, a record or a box has. In an array of `n` elements the numbers are
/// stored element after element.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub struct Stride {
    /// Components in `f64`.
    pub f: u16,
    /// Components in `i64`.
    pub i: u16,
    /// References.
    pub r: u16,
}

/// What an instruction does. `a → b` says what it reads and writes.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Op {
    /// `→ f`
    ConstF(f64),
    /// `→ i`
    ConstI(i64),
    /// `→ r`: a text.
    Text(Rc<str>),
    /// `→ array` of elements that are known.
    Constants(Rc<Constants>),
    /// `→ r`: no reference.
    Null,
    /// `x → x` of the same bank. A reference is shared.
    Copy,
    /// `r → r`: moves the reference out of its register, which is left without one.
    Take,
    /// `operands → result` of an entry of the table of primitives.
    Primitive(PrimitiveId),
    /// `arguments → results`
    Call(FunctionId),
    /// `arguments → results` of a function that has registered derivatives, or whose body is unknown. Only in
    /// derivative code, where it replaces [`Op::Call`]: the machine takes the innermost live level among the
    /// arguments and the most specific of the [rules](Function::rules) that covers what is active there; the function's
    /// own derivative code when none does, or a located failure when it has none ([`Function::is_opaque`]). Without a
    /// live level it is a plain call.
    CallRule(FunctionId),
    /// `function, arguments → results`
    CallValue,
    /// `captured components → r`: a function object. `promise` is set where it is converted to `@differentiable`.
    Closure(FunctionId),
    /// `→ x`: component `index` (counted in its bank) of what the running closure captured.
    Capture { bank: Bank, index: u16 },

    /// `components → r`: a box, shared by all who hold it: a captured variable, an instance of a class.
    NewBox,
    /// `→ r`: an instance of a class whose properties have no values yet.
    NewInstance(ShapeId),
    /// `receiver → r`: the function that a method is for the type that the receiver has now.
    FindMethod(MethodId),
    /// `box → x`
    LoadBox { bank: Bank, index: u16 },
    /// `box, x →`
    StoreBox { bank: Bank, index: u16 },
    /// `references →`: nothing but a reason to hold them until here.
    Hold,
    /// `box → r`: moves the reference out of the box, for a change in place.
    TakeBox { index: u16 },

    /// `components → r`: a record with value semantics: a big or recursive struct or enum.
    NewRecord,
    /// `record → x`
    LoadRecord { bank: Bank, index: u16 },
    /// `record, x → record`: `outs[0]` is the same register as `ins[0]`; copies first when it is shared.
    StoreRecord { bank: Bank, index: u16 },
    /// `record → r, record`: moves a reference out of the record (`outs[1]` is `ins[0]`).
    TakeRecord { index: u16 },

    /// `→ array`: an empty array.
    NewArray(Stride),
    /// `array, components → array`: appends one element (`outs[0]` is `ins[0]`).
    Append(Stride),
    /// `text = text with another after it`, in place when it has one owner.
    AppendText,
    /// `array → count`
    Count,
    /// `array, index →`: fails when the index is out of range.
    CheckIndex,
    /// `array, index → x`: component `offset` (counted in its bank) of an element; fails out of range.
    LoadElement { bank: Bank, offset: u16, stride: Stride },
    /// `array, index, x → array` (`outs[0]` is `ins[0]`); copies first when it is shared; fails out of range.
    StoreElement { bank: Bank, offset: u16, stride: Stride },
    /// `array, index → r, array`: moves a reference out of an element (`outs[1]` is `ins[0]`).
    TakeElement { offset: u16, stride: Stride },

    /// `→ x`: component `index` (counted in its bank) of the global variables.
    LoadGlobal { bank: Bank, index: u32 },
    /// `x →`
    StoreGlobal { bank: Bank, index: u32 },
    /// `→ r`: moves the reference out of the global variable.
    TakeGlobal { index: u32 },
    /// `box →`, or `→` for a global variable: what is there is accessed, or is changed from here on or until here.
    /// it is being changed already.
    Access { how: AccessKind, region: Rc<Region> },

    /// `operands → results` of a function of the native library (`native::library`), by name, with the shapes of its
    /// generic arguments. A reference that the function changes is given to it and comes back as a result.
    Native {
        #[serde(deserialize_with = "known_name")]
        name: Name,
        shapes: Vec<ShapeId>,
    },

    /// A differential operator or what belongs to it; see [`Operator`].
    Operator(Operator),

    /// `function → function`: where a function is converted to a differentiable or linear one. It changes nothing at
    /// run time; `diff` checks here what was promised. `wrt[k]` says whether parameter `k` is differentiated.
    AssertDifferentiable { linear: bool, wrt: Vec<bool> },

    /// A step that only tangent and adjoint code has; see [`TransformedOp`].
    Transformed(TransformedOp),
}

/// Steps of tangent and adjoint code, which works on plain numbers: the code of a function together with that of its
/// sweep.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum TransformedOp {
    /// `operands, result → f`: the partial of a primitive in one of its numeric operands, where it has that
    /// result.
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
    /// `f → f`, the same register: the number may be set to zero if it is smaller than any normal one. Contractions over
    /// thousands of rounds would otherwise run on subnormal numbers, 15 times slower.
    Flush,
    /// `closure → x`: component `index` (counted in its bank) of what a function object captured.
    CaptureOf { bank: Bank, index: u16 },
}

/// The operators that the machine has built in; the others are written in the prelude on top of them.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Operator {
    /// `x…, body → value…, differential`: records `body` at `x`. `at` and `result` say how their types differentiate.
    ValueWithDifferential { at: TangentId, result: TangentId, throws: bool },
    /// `x…, dx…, body → value…, derivative…`: pushes one tangent forward in constant memory.
    ValueWithTangent { at: TangentId, result: TangentId, throws: bool },
    /// `x…, body → whether it was done, value, gradient…`: the gradient of a function of one number, by adjoint code,
    /// and the value, if it is wanted. Only in plain code; in a live level, under an observer, and where there is
    /// no adjoint code, it is not done.
    Gradient { at: TangentId, value: bool, throws: bool },
    /// `x, order, body → whether it was done, coefficients`: the Taylor polynomial of `body` around `x`, where nothing
    /// but primitives is recorded.
    Series { result: TangentId, throws: bool },
    /// `linear → linear`
    Transpose { at: TangentId, result: TangentId },
    /// `x… → x…`: the same value, constant in every live level. Also of types that do not differentiate (`of` is then
    /// [nothing](crate::value::shape::TangentKind::Nothing)), because it makes a break of the path explicit.
    WithoutDerivative { of: TangentId },
    /// `x… → x…`: the argument of a parameter, or what is stored in a property, that is marked `@noDerivative`. The
    /// value is the same; where it moves, what is made of it has no derivative, and it is an error to ask for one.
    NoDerivative { is_property: bool },
    /// `x…, edit → x…`: the same value; on the reverse pass its adjoint goes through `edit`, `(inout T.TangentVector) ->
    /// ()`.
    WithDerivative { of: TangentId },
    /// `x, y → y`: a number that was made of `x` by way of something that cannot move. Where `x` moves, `y` has no
    /// derivative, and it is an error to ask for one. Only in derivative code.
    LoseTangent { of: TangentId },
    /// `x →`: the result with that number, which is returned next, was made of `x` by way of something that cannot
    /// move. Only in derivative code.
    SendResultOrigin { result: u32 },
    /// `→ x`: what the function that has just returned has sent for the result with that number; a constant when it has
    /// sent nothing. Only in derivative code.
    ReceiveResultOrigin { result: u32 },
    /// Forgets what was sent by calls before, and what they were given. Only in derivative code.
    ForgetOrigins,
    /// `x →`: the argument with that number of the function that is called next was made of `x`. Only in derivative
    /// code.
    SendArgumentOrigin { argument: u32 },
    /// `→ x`: what the caller has given for the argument with that number; a constant when it has given nothing. Only in
    /// derivative code.
    ReceiveArgumentOrigin { argument: u32 },
    /// `x… → x`: a number that moves wherever one of these moves, or one in one of these objects. Only in derivative
    /// code.
    JoinOrigins,
    /// `object, x, n → object`, or without an object for a global variable: the integer or text `n` that was stored
    /// there as that component was made of `x`, beside what was stored there before unless it `replaces` that; of the
    /// [whole](Storage::Whole) there is no `n`. Only in derivative code.
    StoreOrigin { inside: Storage, component: u32, replaces: bool },
    /// `object, n → x`, or without an object: what the integer or text `n` that was read there was made of; a constant
    /// where nothing was said of it. Only in derivative code.
    LoadOrigin { inside: Storage, component: u32 },
    /// `x, y →`: the comparison of two numbers on which a branch depends. Where they are equal and vary, an observer
    /// may report it. Only in derivative code, and only under such an observer.
    Threshold { comparison: PrimitiveId },
    /// `linear, vectors → whether it was done, results`: applies a differential or pullback to all vectors of an array,
    /// several in one sweep. Only in plain code; in a live level it is not done.
    ApplyAtOnce,
    /// `x… → array`: all numbers of a value that can move, in their order.
    Coordinates { of: TangentId },
    /// `body →`, or `body → thrown, error`: calls a function without parameters and results. A reverse level does not
    /// record it, but has it run again on the reverse pass.
    Recompute { traced: bool },
}

impl Operator {
    /// How the types that it speaks of differentiate.
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

/// How a block ends.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Terminator {
    /// Goes on there.
    Jump(BlockId),
    /// Goes to `then` when the `i` register is not zero.
    Branch { condition: Reg, then: BlockId, otherwise: BlockId },
    /// Returns the results.
    Return(Vec<Reg>),
    /// Stops the program.
    Trap(Trap),
}

/// At most two blocks, or places of blocks.
pub type Targets<T> = Flatten<std::array::IntoIter<Option<T>, 2>>;

impl Terminator {
    /// The blocks that may follow.
    pub fn targets(&self) -> Targets<BlockId> {
        match self {
            Terminator::Jump(to) => [Some(*to), None],
            Terminator::Branch { then, otherwise, .. } => [Some(*then), Some(*otherwise)],
            Terminator::Return(_) | Terminator::Trap(_) => [None, None],
        }
        .into_iter()
        .flatten()
    }

    /// The registers that it reads.
    pub fn reads(&self) -> &[Reg] {
        match self {
            Terminator::Branch { condition, .. } => slice::from_ref(condition),
            Terminator::Return(regs) => regs,
            Terminator::Trap(Trap::Failed { message: Some(reg), .. } | Trap::Uncaught(reg)) => slice::from_ref(reg),
            Terminator::Trap(_) | Terminator::Jump(_) => &[],
        }
    }

    /// The registers that it reads, to change them.
    pub fn reads_mut(&mut self) -> &mut [Reg] {
        match self {
            Terminator::Branch { condition, .. } => slice::from_mut(condition),
            Terminator::Return(regs) => regs,
            Terminator::Trap(Trap::Failed { message: Some(reg), .. } | Trap::Uncaught(reg)) => slice::from_mut(reg),
            Terminator::Trap(_) | Terminator::Jump(_) => &mut [],
        }
    }
}

/// Why a program stops by itself.
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
    /// A place that cannot be reached in a correct program (a getter that does not return).
    Unreachable,
    /// Tangent or adjoint code has come to something that it cannot do: the function runs again, under a level.
    Unsupported,
    /// An error that is not caught: the register holds its description.
    Uncaught(Reg),
}

/// A registered derivative.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Rule {
    /// Which parameters it differentiates by, one flag for each of [`Function::parameters`].
    pub wrt: Vec<bool>,
    /// The function that is called: takes the original's parameters, and gives what it gives with a linear function.
    pub function: FunctionId,
    /// The function that was registered: what it calls, if it changes parameters, and otherwise itself.
    pub registered: FunctionId,
    /// What it returns beside the value.
    pub kind: RuleKind,
    /// How the result differentiates.
    pub result: TangentId,
    /// Whether the registered function may throw.
    pub throws: bool,
    /// Whether it is meant to be another one than the derivative.
    pub differs: bool,
    /// A transpose: whether the function's own derivative code gives its tangents.
    pub has_own_tangent: bool,
    /// Where it was registered.
    pub place: Span,
    /// For each parameter whose type says itself what its tangent vectors are: what moves a value along one.
    pub movers: Rc<[Option<FunctionId>]>,
    /// The member of a superclass or a protocol that it was registered for, where its value has to be compared with
    /// that of the function, which inherits it.
    pub inherited: Option<Rc<str>>,
}

impl Rule {
    /// One that is registered as it is called.
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

/// What a registered derivative returns beside the value.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum RuleKind {
    /// A differential: tangents of the arguments to the tangent of the result.
    Differential,
    /// A pullback: adjoint of the result to adjoints of the arguments.
    Pullback,
    /// A transpose for a linear function: result-typed argument to the linear parameters.
    Transpose,
}

/// The name of a function of the native library.
fn known_name<'d, D: Deserializer<'d>>(from: D) -> Result<&'static str, D::Error> {
    let name = String::deserialize(from)?;
    let known = library::find(&name).map(library::name);
    known.ok_or_else(|| serde::de::Error::custom("no function of the native library has this name"))
}

/// Everything that was compiled in a session.
#[derive(Clone, Default, Debug)]
pub struct Program {
    /// The functions; `None` while one is being built.
    pub functions: Vec<Option<Rc<Function>>>,
    /// The shapes of values.
    pub shapes: Shapes,
    /// How types differentiate.
    pub tangents: Tangents,
    /// How many global components there are in each bank.
    pub globals: [u32; 3],
    /// What global variables of one component are called.
    pub global_names: HashMap<(Bank, u32), Rc<str>>,
    /// By [`OwnId`](crate::value::shape::OwnId) the functions that write a value of a type as it declares itself: alone,
    /// and inside of another value.
    pub own_texts: Vec<[FunctionId; 2]>,
    /// The names of the methods that are found while the program runs.
    pub methods: Vec<Rc<str>>,
    /// Which function such a method is for a type: complete for all types that values are made of.
    pub dispatch: HashMap<(MethodId, ShapeId), FunctionId>,
    /// Whether something happens when an instance is destroyed, so that it matters when the last reference is dropped.
    pub sees_ends: bool,
}

impl Program {
    /// The function with that number; `None` while it is built.
    pub fn function(&self, id: FunctionId) -> Option<&Rc<Function>> {
        self.functions.get(id.0 as usize)?.as_ref()
    }

    /// The function that a global variable always holds: one that captured nothing, and is stored there in one place.
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
