//! Instructions: one list, from which the enum, the printed form, the operand roles, the checks and the documentation
//! are generated.

use super::entry::{Entry, Field};
use super::operand::*;
use crate::native::primitive_ids;

macro_rules! optional {
    () => {
        None
    };
    ($id:ident) => {
        Some(primitive_ids::$id)
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

        /// The descriptions of all instructions.
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

            /// Calls `visitor` with each operand of the instruction, in order.
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

            /// Creates an instruction from its operands; `None` if an operand is missing or does not fit.
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
        /// Copies a number: `out = a`.
        MoveF { out: FOut, a: FIn };
        /// Copies an integer: `out = a`.
        MoveI { out: IOut, a: IIn };
        /// Copies a reference, which is then shared: `out = a`.
        Share { out: ROut, a: RIn };
        /// Moves a reference to another register: `out = a`.
        Take { out: ROut, a: RTake };
        /// Drops the reference in `a`.
        Clear { a: ROut };
        /// Loads a number constant: `out = numbers[k]`.
        LoadF { out: FOut, k: Number };
        /// Loads an integer constant: `out = integers[k]`.
        LoadI { out: IOut, k: Integer };
        /// Loads an integer from the instruction: `out = value`.
        SetI { out: IOut, value: Immediate };
        /// Loads a string constant: `out = texts[k]`.
        LoadText { out: ROut, k: Text };
        /// Creates an array of the constants in `arrays[k]`.
        LoadArray { out: ROut, k: ArrayAt };

        /// Adds two numbers: `out = a + b`.
        AddF { out: FOut, a: FIn, b: FIn } computes ADD;
        /// Subtracts two numbers: `out = a - b`.
        SubF { out: FOut, a: FIn, b: FIn } computes SUB;
        /// Multiplies two numbers: `out = a · b`.
        MulF { out: FOut, a: FIn, b: FIn } computes MUL;
        /// Divides two numbers: `out = a / b`.
        DivF { out: FOut, a: FIn, b: FIn } computes DIV;
        /// Negates a number: `out = -a`.
        NegF { out: FOut, a: FIn } computes NEG;
        /// Computes the absolute value of a number: `out = |a|`.
        AbsF { out: FOut, a: FIn } computes ABS;
        /// Computes the square root of a number: `out = √a`.
        SqrtF { out: FOut, a: FIn } computes SQRT;
        /// Rounds a number to single precision: `out = a`.
        RoundF { out: FOut, a: FIn } computes TO_SINGLE;
        /// Converts an integer to a number: `out = a`.
        NumberOf { out: FOut, a: IIn } computes FROM_INT;
        /// Applies a primitive to one number: `out = p(a)`.
        Prim1F { out: FOut, a: FIn, p: Prim };
        /// Applies a primitive to two numbers: `out = p(a, b)`.
        Prim2F { out: FOut, a: FIn, b: FIn, p: Prim };
        /// Applies a primitive to three numbers: `out = p(a, b, c)`, where `c` is in the [`Extra`](Instruction::Extra)
        /// that follows.
        Prim3F { out: FOut, a: FIn, b: FIn, p: Prim };
        /// Applies a primitive to a number and an integer: `out = p(a, n)`.
        PrimFI { out: FOut, a: FIn, n: IIn, p: Prim };
        /// Applies a primitive that converts an integer to a number: `out = p(a)`.
        PrimNumber { out: FOut, a: IIn, p: Prim };
        /// Applies a primitive that converts a number to an integer, which may fail: `out = p(a)`.
        PrimWhole { out: IOut, a: FIn, p: Prim };
        /// Applies a predicate to one number: `out = p(a)`.
        Prim1Test { out: IOut, a: FIn, p: Prim };
        /// Applies a predicate to two numbers: `out = p(a, b)`.
        Prim2Test { out: IOut, a: FIn, b: FIn, p: Prim };
        /// Applies a primitive to one integer, which may fail: `out = p(a)`.
        Prim1I { out: IOut, a: IIn, p: Prim };
        /// Applies a primitive to two integers, which may fail: `out = p(a, b)`.
        Prim2I { out: IOut, a: IIn, b: IIn, p: Prim };
        /// Computes the partial of `p` at `a`, given the result `y` of `p(a)`.
        PartialF { out: FOut, a: FIn, y: FIn, p: Prim };
        /// Computes the partial of `p(a, b)` in `a`. The result of `p(a, b)` is in the [`Extra`](Instruction::Extra)
        /// that follows.
        PartialLeftF { out: FOut, a: FIn, b: FIn, p: Prim };
        /// Computes the partial of `p(a, b)` in `b`. The result of `p(a, b)` is in the [`Extra`](Instruction::Extra)
        /// that follows.
        PartialRightF { out: FOut, a: FIn, b: FIn, p: Prim };
        /// Computes the partial of `p(a, n)` in `a`. The result of `p(a, n)` is in the [`Extra`](Instruction::Extra)
        /// that follows.
        PartialFI { out: FOut, a: FIn, n: IIn, p: Prim };
        /// Sets the number in `a` to zero if it is subnormal.
        FlushF { a: FIn };
        /// Appends a node with the operand `node` and the partial `a` to the tape; `out` becomes its number, or 0 if `node` is
        /// 0. Node numbers are held as the bits of numbers.
        AppendNode { out: FOut, node: FIn, a: FIn };
        /// Appends a node with the operands `left` and `right` to the tape; `out` becomes its number, or 0 if both operands are
        /// 0. The partials are in the [`Extras`](Instruction::Extras) that follow.
        AppendNode2 { out: FOut, left: FIn, right: FIn };
        /// Pushes the number `a` onto the value stack.
        PushF { a: FIn };
        /// Pushes the integer `a` onto the value stack.
        PushI { a: IIn };
        /// Pushes the integer `value` onto the value stack.
        PushKnown { value: Immediate };
        /// Pops a number from the value stack to `out`.
        PopF { out: FOut };
        /// Pops an integer from the value stack to `out`.
        PopI { out: IOut };
        /// Computes `out = (a ∘ b) ∘ c`, where `how` specifies the two operations, and `c` is in the
        /// [`Extra`](Instruction::Extra) that follows.
        JoinLeftF { out: FOut, a: FIn, b: FIn, how: Ways };
        /// Computes `out = a ∘ (b ∘ c)`, with the same operands as `JoinLeftF`.
        JoinRightF { out: FOut, a: FIn, b: FIn, how: Ways };
        /// Computes `out = (a ∘ b) ∘ (c ∘ d)`, where `c` and `d` are in the [`Extras`](Instruction::Extras) that
        /// follows.
        JoinBothF { out: FOut, a: FIn, b: FIn, how: Ways };
        /// Holds the third operand of the previous instruction, and does nothing by itself.
        Extra { c: FIn };
        /// Holds the third and the fourth operand of the previous instruction, and does nothing by itself.
        Extras { c: FIn, d: FIn };
        /// Specifies the component that the previous instruction accesses: number `offset` of the `stride` that an
        /// element has in its bank. The instruction does nothing by itself.
        Element { offset: Part, stride: Part };

        /// Adds two integers: `out = a + b`. It fails on overflow.
        AddI { out: IOut, a: IIn, b: IIn } computes INT_ADD;
        /// Adds a constant to an integer: `out = a + k`. It fails on overflow.
        AddIK { out: IOut, a: IIn, k: Small };
        /// Subtracts two integers: `out = a - b`. It fails on overflow.
        SubI { out: IOut, a: IIn, b: IIn } computes INT_SUB;
        /// Multiplies two integers: `out = a · b`. It fails on overflow.
        MulI { out: IOut, a: IIn, b: IIn } computes INT_MUL;
        /// Divides two integers, rounded toward 0: `out = a / b`. It fails on division by 0 and on overflow.
        DivI { out: IOut, a: IIn, b: IIn } computes INT_DIV;
        /// Computes the remainder of two integers: `out = a % b`. It fails on division by 0 and on overflow.
        RemI { out: IOut, a: IIn, b: IIn } computes INT_REM;
        /// Negates a Boolean: `out = !a`.
        Not { out: IOut, a: IIn } computes NOT;
        /// Compares two integers: `out = a == b`.
        EqI { out: IOut, a: IIn, b: IIn } computes INT_EQ;
        /// Compares two integers: `out = a != b`.
        NeI { out: IOut, a: IIn, b: IIn } computes INT_NE;
        /// Compares two integers: `out = a < b`.
        LtI { out: IOut, a: IIn, b: IIn } computes INT_LT;
        /// Compares two integers: `out = a <= b`.
        LeI { out: IOut, a: IIn, b: IIn } computes INT_LE;
        /// Compares two numbers: `out = a == b`.
        EqF { out: IOut, a: FIn, b: FIn } computes EQ;
        /// Compares two numbers: `out = a != b`.
        NeF { out: IOut, a: FIn, b: FIn } computes NE;
        /// Compares two numbers: `out = a < b`.
        LtF { out: IOut, a: FIn, b: FIn } computes LT;
        /// Compares two numbers: `out = a <= b`.
        LeF { out: IOut, a: FIn, b: FIn } computes LE;

        /// Jumps to the instruction `to`.
        Jump { to: Far };
        /// Jumps to the instruction `to` if the integer `a` is not 0.
        If { a: IIn, to: To };
        /// Jumps to the instruction `to` if the integer `a` is 0.
        Unless { a: IIn, to: To };
        /// Compares two integers, and jumps to the instruction `to` if `a == b`.
        IfEqI { a: IIn, b: IIn, to: To };
        /// Compares two integers, and jumps to the instruction `to` if `a != b`.
        IfNeI { a: IIn, b: IIn, to: To };
        /// Compares two integers, and jumps to the instruction `to` if `a < b`.
        IfLtI { a: IIn, b: IIn, to: To };
        /// Compares two integers, and jumps to the instruction `to` if `a <= b`.
        IfLeI { a: IIn, b: IIn, to: To };
        /// Compares an integer with a constant, and jumps to the instruction `to` if `a == k`.
        IfEqIK { a: IIn, k: Small, to: To };
        /// Compares an integer with a constant, and jumps to the instruction `to` if `a != k`.
        IfNeIK { a: IIn, k: Small, to: To };
        /// Compares an integer with a constant, and jumps to the instruction `to` if `a < k`.
        IfLtIK { a: IIn, k: Small, to: To };
        /// Compares an integer with a constant, and jumps to the instruction `to` if `a <= k`.
        IfLeIK { a: IIn, k: Small, to: To };
        /// Compares an integer with a constant, and jumps to the instruction `to` if `a > k`.
        IfGtIK { a: IIn, k: Small, to: To };
        /// Compares an integer with a constant, and jumps to the instruction `to` if `a >= k`.
        IfGeIK { a: IIn, k: Small, to: To };
        /// Compares two numbers, and jumps to the instruction `to` if `a == b`.
        IfEqF { a: FIn, b: FIn, to: To };
        /// Compares two numbers, and jumps to the instruction `to` if `a != b`.
        IfNeF { a: FIn, b: FIn, to: To };
        /// Compares two numbers, and jumps to the instruction `to` if `a < b`.
        IfLtF { a: FIn, b: FIn, to: To };
        /// Compares two numbers, and jumps to the instruction `to` if `a <= b`.
        IfLeF { a: FIn, b: FIn, to: To };
        /// Compares two numbers, and jumps to the instruction `to` unless `a < b`.
        UnlessLtF { a: FIn, b: FIn, to: To };
        /// Compares two numbers, and jumps to the instruction `to` unless `a <= b`.
        UnlessLeF { a: FIn, b: FIn, to: To };
        /// Ends a counting loop: `i = i + 1`, then jumps to `to` if `i < n`. It fails on overflow.
        LoopLtI { i: IChange, n: IIn, to: To };
        /// Ends a counting loop with a constant limit: `i = i + 1`, then jumps to `to` if `i < k`. It fails on
        /// overflow.
        LoopLtIK { i: IChange, k: Small, to: To };

        /// Calls a function with the arguments in the window, where the results are afterwards.
        Call { function: Fun };
        /// Calls the function object in `function`, which follows the arguments in the window.
        CallValue { function: RTake, signature: SignatureAt };
        /// Calls a function of the native library; arguments and results are in the window.
        Native { site: NativeAt };
        /// Applies a differential operator; arguments and results are in the window.
        Operate { site: OperatorAt };
        /// Returns to the caller; the results are in the first registers.
        Return {};
        /// Returns the number in `a` to the caller.
        ReturnF { a: FIn };
        /// Returns the integer in `a` to the caller.
        ReturnI { a: IIn };
        /// Returns the reference in `a` to the caller.
        ReturnR { a: RTake };

        /// Creates a box with the components in the window.
        NewBox { out: ROut, parts: PartsAt };
        /// Creates an instance of a class, whose properties are not initialized yet.
        NewInstance { out: ROut, shape: Shaped };
        /// Looks up the implementation of a method for the dynamic type of the value in `from`.
        FindMethod { out: ROut, from: RIn, method: Method };
        /// Creates a record with the components in the window.
        NewRecord { out: ROut, parts: PartsAt };
        /// Creates a function object with the captured components in the window.
        NewClosure { out: ROut, site: ClosureAt };
        /// Loads a number from a box: `out = box.index`.
        LoadBoxF { out: FOut, from: RIn, index: Part };
        /// Loads an integer from a box: `out = box.index`.
        LoadBoxI { out: IOut, from: RIn, index: Part };
        /// Loads a reference from a box: `out = box.index`. The reference is shared.
        LoadBoxR { out: ROut, from: RIn, index: Part };
        /// Stores a number in a box: `box.index = a`.
        StoreBoxF { to: RIn, a: FIn, index: Part };
        /// Stores an integer in a box: `box.index = a`.
        StoreBoxI { to: RIn, a: IIn, index: Part };
        /// Stores a reference in a box: `box.index = a`. The reference is moved.
        StoreBoxR { to: RIn, a: RTake, index: Part };
        /// Moves a reference out of a box: `out = box.index`.
        TakeBox { out: ROut, from: RIn, index: Part };
        /// Loads a number from a record: `out = record.index`.
        LoadRecordF { out: FOut, from: RIn, index: Part };
        /// Loads an integer from a record: `out = record.index`.
        LoadRecordI { out: IOut, from: RIn, index: Part };
        /// Loads a reference from a record: `out = record.index`. The reference is shared.
        LoadRecordR { out: ROut, from: RIn, index: Part };
        /// Stores a number in a record: `record.index = a`.
        StoreRecordF { to: RChange, a: FIn, index: Part };
        /// Stores an integer in a record: `record.index = a`.
        StoreRecordI { to: RChange, a: IIn, index: Part };
        /// Stores a reference in a record: `record.index = a`. The reference is moved.
        StoreRecordR { to: RChange, a: RTake, index: Part };
        /// Moves a reference out of a record: `out = record.index`.
        TakeRecord { out: ROut, from: RChange, index: Part };
        /// Loads a number that a function object has captured: `out = captures.index`.
        CaptureF { out: FOut, from: RIn, index: Part };
        /// Loads an integer that a function object has captured: `out = captures.index`.
        CaptureI { out: IOut, from: RIn, index: Part };
        /// Loads a reference that a function object has captured: `out = captures.index`. The reference is shared.
        CaptureR { out: ROut, from: RIn, index: Part };

        /// Creates an empty array.
        NewArray { out: ROut };
        /// Appends an element that consists of one number to an array.
        AppendF { array: RChange, a: FIn };
        /// Appends an element that consists of one integer to an array.
        AppendI { array: RChange, a: IIn };
        /// Appends an element that consists of one reference to an array. The reference is moved.
        AppendR { array: RChange, a: RTake };
        /// Appends a string to another string. The appended string is moved.
        AppendText { text: RChange, a: RTake };
        /// Appends the element whose components are in the window to an array.
        Append { array: RChange, parts: PartsAt };
        /// Counts the elements of an array: `out` becomes their number.
        Count { out: IOut, array: RIn };
        /// Checks an index of an array, and fails if it is out of range.
        CheckIndex { array: RIn, index: IIn };
        /// Reads an element that consists of one number: `out = array[index]`. It fails if the index is out of range.
        ElementF { out: FOut, array: RIn, index: IIn };
        /// Reads an element that consists of one integer: `out = array[index]`. It fails if the index is out of range.
        ElementI { out: IOut, array: RIn, index: IIn };
        /// Reads an element that consists of one reference: `out = array[index]`. It fails if the index is out of
        /// range. The reference is shared.
        ElementR { out: ROut, array: RIn, index: IIn };
        /// Reads a number from an element: `out` becomes the component of `array[index]` that the following
        /// [`Element`](Instruction::Element) specifies.
        PartF { out: FOut, array: RIn, index: IIn };
        /// Reads an integer from an element: `out` becomes a component of `array[index]`.
        PartI { out: IOut, array: RIn, index: IIn };
        /// Reads a reference from an element: `out` becomes a component of `array[index]`. The reference is shared.
        PartR { out: ROut, array: RIn, index: IIn };
        /// Moves a reference out of an element: `out` becomes a component of `array[index]`.
        TakePart { out: ROut, array: RChange, index: IIn };
        /// Sets an element that consists of one number: `array[index] = a`. It fails if the index is out of range.
        SetElementF { array: RChange, a: FIn, index: IIn };
        /// Sets an element that consists of one integer: `array[index] = a`. It fails if the index is out of range.
        SetElementI { array: RChange, a: IIn, index: IIn };
        /// Sets an element that is one reference, which is moved: `array[index] = a`. The index must be in range.
        SetElementR { array: RChange, a: RTake, index: IIn };
        /// Adds to an element that consists of one number: `array[index] += a`. It fails if the index is out of range.
        AddElementF { array: RChange, a: FIn, index: IIn };
        /// Adds `a` to a number in the element `array[index]`. It fails if the index is out of range.
        AddPartF { array: RChange, a: FIn, index: IIn };
        /// Adds `a` to a component of the element `index` of an array of adjoints, which grows if necessary.
        Accumulate { array: RChange, a: FIn, index: IIn };
        /// Moves a component of the element `index` out of an array of adjoints; a missing component is zero.
        TakeAdjoint { out: FOut, array: RChange, index: IIn };
        /// Reads a component of the element `index` of an array of adjoints; a missing component is zero.
        ReadAdjoint { out: FOut, array: RIn, index: IIn };
        /// Adds the numbers of the array `from` to those of the array in the element `index` of an array of adjoints; both
        /// grow if necessary.
        AccumulateR { array: RChange, from: RIn, index: IIn };
        /// Moves the array in the element `index` out of an array of adjoints; a missing array is empty.
        TakeAdjointR { out: ROut, array: RChange, index: IIn };
        /// Adds the numbers of the array `from` to those of an array of adjoints, which grows if necessary.
        AddArray { array: RChange, from: RIn };
        /// Appends the sums of the nodes in the arrays `from` and `array` to the tape; `array`, which grows if necessary, holds them.
        AddNodes { array: RChange, from: RIn };
        /// Stores a number in an element: a component of `array[index]` becomes `a`.
        SetPartF { array: RChange, a: FIn, index: IIn };
        /// Stores an integer in an element: a component of `array[index]` becomes `a`.
        SetPartI { array: RChange, a: IIn, index: IIn };
        /// Stores a reference in an element: a component of `array[index]` becomes `a`. The reference is moved.
        SetPartR { array: RChange, a: RTake, index: IIn };

        /// Loads a number from the global variables: `out = globals.index`.
        LoadGlobalF { out: FOut, index: Global };
        /// Loads an integer from the global variables: `out = globals.index`.
        LoadGlobalI { out: IOut, index: Global };
        /// Loads a reference from the global variables: `out = globals.index`. The reference is shared.
        LoadGlobalR { out: ROut, index: Global };
        /// Stores a number in the global variables: `globals.index = a`.
        StoreGlobalF { a: FIn, index: Global };
        /// Stores an integer in the global variables: `globals.index = a`.
        StoreGlobalI { a: IIn, index: Global };
        /// Stores a reference in the global variables: `globals.index = a`. The reference is moved.
        StoreGlobalR { a: RTake, index: Global };
        /// Moves a reference out of the global variables: `out = globals.index`.
        TakeGlobal { out: ROut, index: Global };

        /// Fails if another access is modifying the given components of `object`.
        CheckAccess { object: RIn, site: AccessAt };
        /// Fails if another access is modifying the given components of the global variables.
        CheckGlobalAccess { site: AccessAt };
        /// Checks that no other access is modifying the given components of `object`, and begins a modification of
        /// them.
        BeginAccess { object: RIn, site: AccessAt };
        /// Checks that no other access is modifying the given components of the global variables, and begins a
        /// modification of them.
        BeginGlobalAccess { site: AccessAt };
        /// Ends the modification that began last and has not ended.
        EndAccess {};

        /// Stops the program because an optional without a value was unwrapped.
        TrapNil {};
        /// Stops the program because the condition that the string `what` names did not hold; `message` has details.
        TrapFailed { message: RIn, what: Text };
        /// Stops the program at an error that was not caught; `message` is the description of the error.
        TrapUncaught { message: RIn };
        /// Stops the program at a point that a correct program does not reach.
        TrapUnreachable {};

        /// Continues the task of this frame. It occurs only in the machine's own code.
        Resume {};
        /// Ends the run. It occurs only in the machine's own code.
        Halt {};
        /// Executes the machine code of the frame's function. It occurs only in the machine's own code.
        EnterCompiled {};
    }
    active {
        /// Copies a number with its slot: `out = a`.
        DMoveF { out: FOut, a: FIn };
        /// Loads a number constant, which is constant in every level: `out = numbers[k]`.
        DLoadF { out: FOut, k: Number };
        /// Makes the number in `a` constant in every level.
        ClearSlot { a: FIn };
        /// Adds two numbers with their slots: `out = a + b`.
        DAddF { out: FOut, a: FIn, b: FIn } computes ADD;
        /// Subtracts two numbers with their slots: `out = a - b`.
        DSubF { out: FOut, a: FIn, b: FIn } computes SUB;
        /// Multiplies two numbers with their slots: `out = a · b`.
        DMulF { out: FOut, a: FIn, b: FIn } computes MUL;
        /// Divides two numbers with their slots: `out = a / b`.
        DDivF { out: FOut, a: FIn, b: FIn } computes DIV;
        /// Negates a number with its slot: `out = -a`.
        DNegF { out: FOut, a: FIn } computes NEG;
        /// Applies a primitive to one number with its slot: `out = p(a)`.
        DPrim1F { out: FOut, a: FIn, p: Prim };
        /// Applies a primitive to two numbers with their slots: `out = p(a, b)`.
        DPrim2F { out: FOut, a: FIn, b: FIn, p: Prim };
        /// Applies a primitive to three numbers with their slots: `out = p(a, b, c)`, where `c` is in the
        /// [`Extra`](Instruction::Extra) that follows.
        DPrim3F { out: FOut, a: FIn, b: FIn, p: Prim };
        /// Applies a primitive to a number with its slot and an integer: `out = p(a, n)`.
        DPrimFI { out: FOut, a: FIn, n: IIn, p: Prim };

        /// Calls the derivative code of a function.
        DCall { function: Fun };
        /// Calls the derivative code of the function object in `function`.
        DCallValue { function: RTake, signature: SignatureAt };
        /// Calls a function with registered derivatives: the live levels determine which registered derivative is used.
        DCallRule { site: RuleAt };
        /// Calls a function of the native library; the slots of the arguments are in the window, too.
        DNative { site: NativeAt };
        /// Applies a differential operator in derivative code, where a level may be live.
        DOperate { site: OperatorAt };
        /// Returns the number in `a` and its slot to the caller.
        DReturnF { a: FIn };

        /// Creates a box with the components and slots in the window.
        DNewBox { out: ROut, parts: PartsAt };
        /// Creates a record with the components and slots in the window.
        DNewRecord { out: ROut, parts: PartsAt };
        /// Creates a function object with the captured components and slots in the window.
        DNewClosure { out: ROut, site: ClosureAt };
        /// Loads a number with its slot from a box: `out = box.index`.
        DLoadBoxF { out: FOut, from: RIn, index: Part };
        /// Stores a number with its slot in a box: `box.index = a`.
        DStoreBoxF { to: RIn, a: FIn, index: Part };
        /// Loads a number with its slot from a record: `out = record.index`.
        DLoadRecordF { out: FOut, from: RIn, index: Part };
        /// Stores a number with its slot in a record: `record.index = a`.
        DStoreRecordF { to: RChange, a: FIn, index: Part };
        /// Loads a number with its slot that a function object has captured: `out = captures.index`.
        DCaptureF { out: FOut, from: RIn, index: Part };
        /// Appends an element that consists of one number with its slot to an array.
        DAppendF { array: RChange, a: FIn };
        /// Appends the element whose components and slots are in the window to an array.
        DAppend { array: RChange, parts: PartsAt };
        /// Reads an element that is one number with its slot: `out = array[index]`. The index must be in range.
        DElementF { out: FOut, array: RIn, index: IIn };
        /// Reads a number with its slot from an element: `out` becomes a component of `array[index]`.
        DPartF { out: FOut, array: RIn, index: IIn };
        /// Sets an element that is one number with its slot: `array[index] = a`. The index must be in range.
        DSetElementF { array: RChange, a: FIn, index: IIn };
        /// Stores a number with its slot in an element: a component of `array[index]` becomes `a`.
        DSetPartF { array: RChange, a: FIn, index: IIn };
        /// Loads a number with its slot from the global variables: `out = globals.index`.
        DLoadGlobalF { out: FOut, index: Global };
        /// Stores a number with its slot in the global variables: `globals.index = a`.
        DStoreGlobalF { a: FIn, index: Global };
    }
}

/// The kind of instruction that must follow an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Trailer {
    /// No particular instruction must follow.
    None,
    /// An [`Instruction::Extra`] must follow.
    Extra,
    /// An [`Instruction::Extras`] must follow.
    Extras,
    /// An [`Instruction::Element`] must follow.
    Element,
}

impl Opcode {
    /// Returns the description of the instruction.
    pub fn entry(self) -> &'static Entry {
        &LIST[self as usize]
    }

    /// Whether execution never continues with the next instruction.
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

    /// Returns the kind of instruction that must follow this instruction.
    pub fn trailer(self) -> Trailer {
        use Opcode::*;
        match self {
            Prim3F | DPrim3F | JoinLeftF | JoinRightF => Trailer::Extra,
            JoinBothF | AppendNode2 => Trailer::Extras,
            PartialLeftF | PartialRightF | PartialFI => Trailer::Extra,
            AddPartF | Accumulate | AccumulateR | TakeAdjoint | ReadAdjoint | TakeAdjointR | PartF | PartI | PartR
            | TakePart | SetPartF | SetPartI | SetPartR | DPartF | DSetPartF => Trailer::Element,
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
