//! Instructions: one list, from which the enum, the printed form, the operand roles, the checks and the documentation are
//! generated.

use super::operand::*;
use crate::native::{PrimitiveId, ids};

/// An operand of one instruction, with its name and role.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Field {
    /// Its name.
    pub name: &'static str,
    /// The role of the operand.
    pub role: Role,
    /// The encoded number.
    pub number: i64,
}

/// The description of one instruction.
#[derive(Debug)]
pub struct Entry {
    /// Its name.
    pub name: &'static str,
    /// The documentation: register transfer, and further properties.
    pub doc: &'static [&'static str],
    /// The names and roles of the operands.
    pub operands: &'static [(&'static str, Role)],
    /// The primitive that the instruction computes.
    pub computes: Option<PrimitiveId>,
    /// Whether it propagates tangent slots, and therefore occurs in derivative code only.
    pub active: bool,
}

macro_rules! optional {
    () => {
        None
    };
    ($id:ident) => {
        Some(ids::$id)
    };
}

macro_rules! instructions {
    (
        plain { $($(#[doc = $doc:literal])+ $name:ident { $($field:ident: $role:ident),* } $(computes $computes:ident)?;)* }
        active { $($(#[doc = $adoc:literal])+ $aname:ident { $($afield:ident: $arole:ident),* } $(computes $acomputes:ident)?;)* }
    ) => {
        /// One instruction of the machine: 8 bytes.
        #[derive(Clone, Copy, PartialEq, Debug)]
        #[allow(missing_docs)]
        pub enum Instruction {
            $($(#[doc = $doc])+ $name { $($field: $role),* },)*
            $($(#[doc = $adoc])+ $aname { $($afield: $arole),* },)*
        }

        /// The operation of an instruction, without its operands: its index in [`LIST`].
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[repr(u8)]
        #[allow(missing_docs)]
        pub enum Opcode { $($name,)* $($aname,)* }

        /// All instructions.
        pub const LIST: &[Entry] = &[
            $(Entry {
                name: stringify!($name),
                doc: &[$($doc),+],
                operands: &[$((stringify!($field), <$role as Operand>::ROLE)),*],
                computes: optional!($($computes)?),
                active: false,
            },)*
            $(Entry {
                name: stringify!($aname),
                doc: &[$($adoc),+],
                operands: &[$((stringify!($afield), <$arole as Operand>::ROLE)),*],
                computes: optional!($($acomputes)?),
                active: true,
            },)*
        ];

        impl Opcode {
            /// All opcodes, in the order of the list.
            pub const ALL: &[Opcode] = &[$(Opcode::$name,)* $(Opcode::$aname,)*];
        }

        impl Instruction {
            /// Returns the opcode of the instruction.
            pub fn opcode(&self) -> Opcode {
                match self {
                    $(Instruction::$name { .. } => Opcode::$name,)*
                    $(Instruction::$aname { .. } => Opcode::$aname,)*
                }
            }

            /// Calls `visitor` with each operand in order.
            pub fn visit(&self, visitor: &mut dyn FnMut(Field)) {
                match *self {
                    $(Instruction::$name { $($field),* } => {
                        $(visitor(Field { name: stringify!($field), role: <$role as Operand>::ROLE, number: $field.number() });)*
                    })*
                    $(Instruction::$aname { $($afield),* } => {
                        $(visitor(Field { name: stringify!($afield), role: <$arole as Operand>::ROLE, number: $afield.number() });)*
                    })*
                }
            }

            /// Creates an instruction from its operands; `None` if one is missing or does not fit.
            pub fn build(opcode: Opcode, operands: &[i64]) -> Option<Instruction> {
                let mut operands = operands.iter().copied();
                Some(match opcode {
                    $(Opcode::$name => Instruction::$name { $($field: <$role as Operand>::of(operands.next()?)?),* },)*
                    $(Opcode::$aname => Instruction::$aname { $($afield: <$arole as Operand>::of(operands.next()?)?),* },)*
                })
            }
        }
    };
}

instructions! {
    plain {
        /// `out = a`
        MoveF { out: FOut, a: FIn };
        /// `out = a`
        MoveI { out: IOut, a: IIn };
        /// `out = a`, shared.
        Share { out: ROut, a: RIn };
        /// `out = a`, moved.
        Take { out: ROut, a: RTake };
        /// Drops the reference in `a`.
        Clear { a: ROut };
        /// `out = numbers[k]`
        LoadF { out: FOut, k: Number };
        /// `out = integers[k]`
        LoadI { out: IOut, k: Integer };
        /// `out = value`
        SetI { out: IOut, value: Immediate };
        /// `out = texts[k]`
        LoadText { out: ROut, k: Text };
        /// `out =` an array of `arrays[k]`.
        LoadArray { out: ROut, k: ArrayAt };

        /// `out = a + b`
        AddF { out: FOut, a: FIn, b: FIn } computes ADD;
        /// `out = a - b`
        SubF { out: FOut, a: FIn, b: FIn } computes SUB;
        /// `out = a · b`
        MulF { out: FOut, a: FIn, b: FIn } computes MUL;
        /// `out = a / b`
        DivF { out: FOut, a: FIn, b: FIn } computes DIV;
        /// `out = -a`
        NegF { out: FOut, a: FIn } computes NEG;
        /// `out = |a|`
        AbsF { out: FOut, a: FIn } computes ABS;
        /// `out = √a`
        SqrtF { out: FOut, a: FIn } computes SQRT;
        /// `out = a`, rounded to single precision.
        RoundF { out: FOut, a: FIn } computes TO_SINGLE;
        /// `out = a`, as a number.
        NumberOf { out: FOut, a: IIn } computes FROM_INT;
        /// `out = p(a)`
        Prim1F { out: FOut, a: FIn, p: Prim };
        /// `out = p(a, b)`
        Prim2F { out: FOut, a: FIn, b: FIn, p: Prim };
        /// `out = p(a, b, c)`, where `c` is in the [`Extra`](Instruction::Extra) that follows.
        Prim3F { out: FOut, a: FIn, b: FIn, p: Prim };
        /// `out = p(a, n)`
        PrimFI { out: FOut, a: FIn, n: IIn, p: Prim };
        /// `out = p(a)`: a number computed from an integer.
        PrimNumber { out: FOut, a: IIn, p: Prim };
        /// `out = p(a)`: an integer computed from a number. Can fail.
        PrimWhole { out: IOut, a: FIn, p: Prim };
        /// `out = p(a)`: a test of a number.
        Prim1Test { out: IOut, a: FIn, p: Prim };
        /// `out = p(a, b)`: a test of two numbers.
        Prim2Test { out: IOut, a: FIn, b: FIn, p: Prim };
        /// `out = p(a)`. Can fail.
        Prim1I { out: IOut, a: IIn, p: Prim };
        /// `out = p(a, b)`. Can fail.
        Prim2I { out: IOut, a: IIn, b: IIn, p: Prim };
        /// `out =` the partial of `p` at `a`, given its result `y`.
        PartialF { out: FOut, a: FIn, y: FIn, p: Prim };
        /// `out =` the partial of `p(a, b)` in `a`; its result is in the [`Extra`](Instruction::Extra)
        /// that follows.
        PartialLeftF { out: FOut, a: FIn, b: FIn, p: Prim };
        /// `out =` the partial of `p(a, b)` in `b`; its result is in the [`Extra`](Instruction::Extra) that follows.
        PartialRightF { out: FOut, a: FIn, b: FIn, p: Prim };
        /// `out =` the partial of `p(a, n)` in `a`; its result is in the [`Extra`](Instruction::Extra) that follows.
        PartialFI { out: FOut, a: FIn, n: IIn, p: Prim };
        /// `a` may be set to zero if it is subnormal.
        FlushF { a: FIn };
        /// Pushes `a` onto the value stack.
        PushF { a: FIn };
        /// Pushes `a` onto the value stack.
        PushI { a: IIn };
        /// Pushes `value` onto the value stack.
        PushKnown { value: Immediate };
        /// `out =` the number on top of the value stack, which is popped.
        PopF { out: FOut };
        /// `out =` the integer on top of the value stack, which is popped.
        PopI { out: IOut };
        /// `out = (a ∘ b) ∘ c`, where `how` specifies the operations, and `c` is in the [`Extra`](Instruction::Extra)
        /// that follows.
        JoinLeftF { out: FOut, a: FIn, b: FIn, how: Ways };
        /// `out = a ∘ (b ∘ c)`, encoded in the same way.
        JoinRightF { out: FOut, a: FIn, b: FIn, how: Ways };
        /// `out = (a ∘ b) ∘ (c ∘ d)`, where `c` and `d` are in the [`Extras`](Instruction::Extras) that follows.
        JoinBothF { out: FOut, a: FIn, b: FIn, how: Ways };
        /// A third operand of the previous instruction. Does nothing by itself.
        Extra { c: FIn };
        /// Third and fourth operands of the previous instruction. Does nothing by itself.
        Extras { c: FIn, d: FIn };
        /// The component of an element that the previous instruction accesses: number `offset` of the `stride` that an
        /// element has in its bank. Does nothing by itself.
        Element { offset: Part, stride: Part };

        /// `out = a + b`. Fails on overflow.
        AddI { out: IOut, a: IIn, b: IIn } computes INT_ADD;
        /// `out = a + k`. Fails on overflow.
        AddIK { out: IOut, a: IIn, k: Small };
        /// `out = a - b`. Fails on overflow.
        SubI { out: IOut, a: IIn, b: IIn } computes INT_SUB;
        /// `out = a · b`. Fails on overflow.
        MulI { out: IOut, a: IIn, b: IIn } computes INT_MUL;
        /// `out = a / b`, rounded toward 0. Fails on division by 0 and on overflow.
        DivI { out: IOut, a: IIn, b: IIn } computes INT_DIV;
        /// `out = a % b`. Fails on division by 0 and on overflow.
        RemI { out: IOut, a: IIn, b: IIn } computes INT_REM;
        /// `out = !a`
        Not { out: IOut, a: IIn } computes NOT;
        /// `out = a == b`
        EqI { out: IOut, a: IIn, b: IIn } computes INT_EQ;
        /// `out = a != b`
        NeI { out: IOut, a: IIn, b: IIn } computes INT_NE;
        /// `out = a < b`
        LtI { out: IOut, a: IIn, b: IIn } computes INT_LT;
        /// `out = a <= b`
        LeI { out: IOut, a: IIn, b: IIn } computes INT_LE;
        /// `out = a == b`
        EqF { out: IOut, a: FIn, b: FIn } computes EQ;
        /// `out = a != b`
        NeF { out: IOut, a: FIn, b: FIn } computes NE;
        /// `out = a < b`
        LtF { out: IOut, a: FIn, b: FIn } computes LT;
        /// `out = a <= b`
        LeF { out: IOut, a: FIn, b: FIn } computes LE;

        /// Jumps to `to`.
        Jump { to: Far };
        /// Jumps to `to` if `a` is not 0.
        If { a: IIn, to: To };
        /// Jumps to `to` if `a` is 0.
        Unless { a: IIn, to: To };
        /// Jumps to `to` if `a == b`.
        IfEqI { a: IIn, b: IIn, to: To };
        /// Jumps to `to` if `a != b`.
        IfNeI { a: IIn, b: IIn, to: To };
        /// Jumps to `to` if `a < b`.
        IfLtI { a: IIn, b: IIn, to: To };
        /// Jumps to `to` if `a <= b`.
        IfLeI { a: IIn, b: IIn, to: To };
        /// Jumps to `to` if `a == k`.
        IfEqIK { a: IIn, k: Small, to: To };
        /// Jumps to `to` if `a != k`.
        IfNeIK { a: IIn, k: Small, to: To };
        /// Jumps to `to` if `a < k`.
        IfLtIK { a: IIn, k: Small, to: To };
        /// Jumps to `to` if `a <= k`.
        IfLeIK { a: IIn, k: Small, to: To };
        /// Jumps to `to` if `a > k`.
        IfGtIK { a: IIn, k: Small, to: To };
        /// Jumps to `to` if `a >= k`.
        IfGeIK { a: IIn, k: Small, to: To };
        /// Jumps to `to` if `a == b`.
        IfEqF { a: FIn, b: FIn, to: To };
        /// Jumps to `to` if `a != b`.
        IfNeF { a: FIn, b: FIn, to: To };
        /// Jumps to `to` if `a < b`.
        IfLtF { a: FIn, b: FIn, to: To };
        /// Jumps to `to` if `a <= b`.
        IfLeF { a: FIn, b: FIn, to: To };
        /// Jumps to `to` unless `a < b`.
        UnlessLtF { a: FIn, b: FIn, to: To };
        /// Jumps to `to` unless `a <= b`.
        UnlessLeF { a: FIn, b: FIn, to: To };
        /// `i = i + 1`, then jumps to `to` if `i < n`: the end of a counting loop. Fails on overflow.
        LoopLtI { i: IChange, n: IIn, to: To };
        /// `i = i + 1`, then jumps to `to` if `i < k`. Fails on overflow.
        LoopLtIK { i: IChange, k: Small, to: To };

        /// Calls a function with the arguments in the window; its results are there afterwards.
        Call { function: Fun };
        /// Calls the function object in `function`, which follows the arguments in the window.
        CallValue { function: RTake };
        /// Calls a function of the native library, with the same window.
        Native { site: NativeAt };
        /// Applies a differential operator, with the same window.
        Operate { site: OperatorAt };
        /// Returns to the caller; the results are in the first registers.
        Return {};
        /// Returns one number.
        ReturnF { a: FIn };
        /// Returns one integer.
        ReturnI { a: IIn };
        /// Returns one reference.
        ReturnR { a: RTake };

        /// `out =` a box with the components in the window.
        NewBox { out: ROut, parts: PartsAt };
        /// `out =` an instance of a class, whose properties are not initialized yet.
        NewInstance { out: ROut, shape: Shaped };
        /// `out =` the implementation of a method for the dynamic type of the value in `from`.
        FindMethod { out: ROut, from: RIn, method: Method };
        /// `out =` a record with the components in the window.
        NewRecord { out: ROut, parts: PartsAt };
        /// `out =` a function object with the captured components in the window.
        NewClosure { out: ROut, site: ClosureAt };
        /// `out = box.index`
        LoadBoxF { out: FOut, from: RIn, index: Part };
        /// `out = box.index`
        LoadBoxI { out: IOut, from: RIn, index: Part };
        /// `out = box.index`, shared.
        LoadBoxR { out: ROut, from: RIn, index: Part };
        /// `box.index = a`
        StoreBoxF { to: RIn, a: FIn, index: Part };
        /// `box.index = a`
        StoreBoxI { to: RIn, a: IIn, index: Part };
        /// `box.index = a`, moved.
        StoreBoxR { to: RIn, a: RTake, index: Part };
        /// `out = box.index`, moved.
        TakeBox { out: ROut, from: RIn, index: Part };
        /// `out = record.index`
        LoadRecordF { out: FOut, from: RIn, index: Part };
        /// `out = record.index`
        LoadRecordI { out: IOut, from: RIn, index: Part };
        /// `out = record.index`, shared.
        LoadRecordR { out: ROut, from: RIn, index: Part };
        /// `record.index = a`
        StoreRecordF { to: RChange, a: FIn, index: Part };
        /// `record.index = a`
        StoreRecordI { to: RChange, a: IIn, index: Part };
        /// `record.index = a`, moved.
        StoreRecordR { to: RChange, a: RTake, index: Part };
        /// `out = record.index`, moved.
        TakeRecord { out: ROut, from: RChange, index: Part };
        /// `out = captures.index` of the function object `from`.
        CaptureF { out: FOut, from: RIn, index: Part };
        /// `out = captures.index`
        CaptureI { out: IOut, from: RIn, index: Part };
        /// `out = captures.index`, shared.
        CaptureR { out: ROut, from: RIn, index: Part };

        /// `out =` an empty array.
        NewArray { out: ROut };
        /// Appends an element of one number.
        AppendF { array: RChange, a: FIn };
        /// Appends an element of one integer.
        AppendI { array: RChange, a: IIn };
        /// Appends an element of one reference, moved.
        AppendR { array: RChange, a: RTake };
        /// Appends a string, moved.
        AppendText { text: RChange, a: RTake };
        /// Appends the element in the window.
        Append { array: RChange, parts: PartsAt };
        /// `out =` the number of elements.
        Count { out: IOut, array: RIn };
        /// Fails if `index` is out of range.
        CheckIndex { array: RIn, index: IIn };
        /// `out = array[index]`, of elements of one number. Fails out of range.
        ElementF { out: FOut, array: RIn, index: IIn };
        /// `out = array[index]`, of elements of one integer. Fails out of range.
        ElementI { out: IOut, array: RIn, index: IIn };
        /// `out = array[index]`, of elements of one reference, shared. Fails out of range.
        ElementR { out: ROut, array: RIn, index: IIn };
        /// `out =` the component of `array[index]` that the following [`Element`](Instruction::Element) specifies.
        PartF { out: FOut, array: RIn, index: IIn };
        /// `out =` a component of `array[index]`.
        PartI { out: IOut, array: RIn, index: IIn };
        /// `out =` a component of `array[index]`, shared.
        PartR { out: ROut, array: RIn, index: IIn };
        /// `out =` a component of `array[index]`, moved.
        TakePart { out: ROut, array: RChange, index: IIn };
        /// `array[index] = a`, of elements of one number. Fails out of range.
        SetElementF { array: RChange, a: FIn, index: IIn };
        /// `array[index] = a`, of elements of one integer. Fails out of range.
        SetElementI { array: RChange, a: IIn, index: IIn };
        /// `array[index] = a`, of elements of one reference, moved. Fails out of range.
        SetElementR { array: RChange, a: RTake, index: IIn };
        /// `array[index] = array[index] + a`, of elements of one number. Fails out of range.
        AddElementF { array: RChange, a: FIn, index: IIn };
        /// Adds `a` to a component of `array[index]`. Fails out of range.
        AddPartF { array: RChange, a: FIn, index: IIn };
        /// Stores `a` in a component of `array[index]`.
        SetPartF { array: RChange, a: FIn, index: IIn };
        /// Stores `a` in a component of `array[index]`.
        SetPartI { array: RChange, a: IIn, index: IIn };
        /// Stores `a` in a component of `array[index]`, moved.
        SetPartR { array: RChange, a: RTake, index: IIn };

        /// `out = globals.index`
        LoadGlobalF { out: FOut, index: Global };
        /// `out = globals.index`
        LoadGlobalI { out: IOut, index: Global };
        /// `out = globals.index`, shared.
        LoadGlobalR { out: ROut, index: Global };
        /// `globals.index = a`
        StoreGlobalF { a: FIn, index: Global };
        /// `globals.index = a`
        StoreGlobalI { a: IIn, index: Global };
        /// `globals.index = a`, moved.
        StoreGlobalR { a: RTake, index: Global };
        /// `out = globals.index`, moved.
        TakeGlobal { out: ROut, index: Global };

        /// Fails if another access is modifying these components of `object`.
        CheckAccess { object: RIn, site: AccessAt };
        /// Fails if another access is modifying these components of the global variables.
        CheckGlobalAccess { site: AccessAt };
        /// Checks access, and begins a modification of these components of `object`.
        BeginAccess { object: RIn, site: AccessAt };
        /// Checks access, and begins a modification of these components of the global variables.
        BeginGlobalAccess { site: AccessAt };
        /// Ends the modification that began last.
        EndAccess {};

        /// Stops: an optional without a value was unwrapped.
        TrapNil {};
        /// Stops: the condition that the string `what` names did not hold; `message` has details.
        TrapFailed { message: RIn, what: Text };
        /// Stops: an error that was not caught, with its description.
        TrapUncaught { message: RIn };
        /// Stops: a point that a correct program does not reach.
        TrapUnreachable {};

        /// Continues the task of this frame. Only in the machine's own code.
        Resume {};
        /// Ends the run. Only in the machine's own code.
        Halt {};
    }
    active {
        /// `out = a` with its slot.
        DMoveF { out: FOut, a: FIn };
        /// `out = numbers[k]`, constant in every level.
        DLoadF { out: FOut, k: Number };
        /// Makes the number in `a` constant in every level.
        ClearSlot { a: FIn };
        /// `out = a + b`
        DAddF { out: FOut, a: FIn, b: FIn } computes ADD;
        /// `out = a - b`
        DSubF { out: FOut, a: FIn, b: FIn } computes SUB;
        /// `out = a · b`
        DMulF { out: FOut, a: FIn, b: FIn } computes MUL;
        /// `out = a / b`
        DDivF { out: FOut, a: FIn, b: FIn } computes DIV;
        /// `out = -a`
        DNegF { out: FOut, a: FIn } computes NEG;
        /// `out = p(a)`
        DPrim1F { out: FOut, a: FIn, p: Prim };
        /// `out = p(a, b)`
        DPrim2F { out: FOut, a: FIn, b: FIn, p: Prim };
        /// `out = p(a, b, c)`, where `c` is in the [`Extra`](Instruction::Extra) that follows.
        DPrim3F { out: FOut, a: FIn, b: FIn, p: Prim };
        /// `out = p(a, n)`
        DPrimFI { out: FOut, a: FIn, n: IIn, p: Prim };

        /// Calls the derivative code of a function.
        DCall { function: Fun };
        /// Calls the derivative code of the function object in `function`.
        DCallValue { function: RTake };
        /// Calls a function with registered derivatives: the live levels determine which one is used.
        DCallRule { site: RuleAt };
        /// Calls a function of the native library, with the slots.
        DNative { site: NativeAt };
        /// Applies a differential operator in derivative code, where a level may be live.
        DOperate { site: OperatorAt };
        /// Returns one number and its slot.
        DReturnF { a: FIn };

        /// `out =` a box with the components and slots in the window.
        DNewBox { out: ROut, parts: PartsAt };
        /// `out =` a record with the components and slots in the window.
        DNewRecord { out: ROut, parts: PartsAt };
        /// `out =` a function object with the captured components and slots in the window.
        DNewClosure { out: ROut, site: ClosureAt };
        /// `out = box.index` with its slot.
        DLoadBoxF { out: FOut, from: RIn, index: Part };
        /// `box.index = a` with its slot.
        DStoreBoxF { to: RIn, a: FIn, index: Part };
        /// `out = record.index` with its slot.
        DLoadRecordF { out: FOut, from: RIn, index: Part };
        /// `record.index = a` with its slot.
        DStoreRecordF { to: RChange, a: FIn, index: Part };
        /// `out = captures.index` with its slot.
        DCaptureF { out: FOut, from: RIn, index: Part };
        /// Appends an element of one number with its slot.
        DAppendF { array: RChange, a: FIn };
        /// Appends the element in the window with its slots.
        DAppend { array: RChange, parts: PartsAt };
        /// `out = array[index]` with its slot, of elements of one number. Fails out of range.
        DElementF { out: FOut, array: RIn, index: IIn };
        /// `out =` a component of `array[index]`, with its slot.
        DPartF { out: FOut, array: RIn, index: IIn };
        /// `array[index] = a` with its slot, of elements of one number. Fails out of range.
        DSetElementF { array: RChange, a: FIn, index: IIn };
        /// Stores `a` with its slot in a component of `array[index]`.
        DSetPartF { array: RChange, a: FIn, index: IIn };
        /// `out = globals.index` with its slot.
        DLoadGlobalF { out: FOut, index: Global };
        /// `globals.index = a` with its slot.
        DStoreGlobalF { a: FIn, index: Global };
    }
}

/// The instruction that must follow an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Trailer {
    /// No particular instruction.
    None,
    /// [`Instruction::Extra`]
    Extra,
    /// [`Instruction::Extras`]
    Extras,
    /// [`Instruction::Element`]
    Element,
}

impl Opcode {
    /// Returns the description of the instruction.
    pub fn entry(self) -> &'static Entry {
        &LIST[self as usize]
    }

    /// Whether execution does not continue with the next instruction.
    pub fn is_end(self) -> bool {
        use Opcode::*;
        matches!(
            self,
            Jump | Return
                | ReturnF
                | ReturnI
                | ReturnR
                | DReturnF
                | TrapNil
                | TrapFailed
                | TrapUncaught
                | TrapUnreachable
                | Halt
        )
    }

    /// Returns the instruction that must follow.
    pub fn trailer(self) -> Trailer {
        use Opcode::*;
        match self {
            Prim3F | DPrim3F | JoinLeftF | JoinRightF => Trailer::Extra,
            JoinBothF => Trailer::Extras,
            PartialLeftF | PartialRightF | PartialFI => Trailer::Extra,
            AddPartF | PartF | PartI | PartR | TakePart | SetPartF | SetPartI | SetPartR | DPartF | DSetPartF => {
                Trailer::Element
            }
            _ => Trailer::None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instruction_is_eight_bytes() {
        assert_eq!(size_of::<Instruction>(), 8);
    }

    #[test]
    fn every_instruction_is_encoded_and_decoded() {
        for opcode in Opcode::ALL {
            let numbers: Vec<i64> = (1..=opcode.entry().operands.len() as i64).collect();
            let instruction = Instruction::build(*opcode, &numbers).unwrap();
            assert_eq!(instruction.opcode(), *opcode);
            let mut seen = vec![];
            instruction.visit(&mut |field| seen.push(field.number));
            assert_eq!(seen, numbers);
        }
    }
}
