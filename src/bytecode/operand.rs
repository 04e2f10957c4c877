//! Operands: types that state the bank and the direction of a register, or the table to which an index refers.

use crate::value::Bank;

/// The role of an operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Role {
    /// The operand is a register of a bank.
    Register(Bank, Access),
    /// The operand is an index into a table of the code object.
    Table(Table),
    /// The operand is an integer in the instruction itself.
    Immediate,
    /// The operand is a component, an offset or a stride, which is checked when it is used.
    Component,
    /// The operand is the number of a function of the program.
    Function,
    /// The operand is the number of a method that is dispatched at run time.
    Method,
    /// The operand is the number of a shape of the program.
    Shape,
    /// The operand is a component of the global variables.
    Global,
    /// The operand is the distance of a jump: the number of instructions to skip after the jump; negative for a
    /// backward jump.
    Jump,
    /// The operand is the number of a primitive.
    Primitive,
    /// The operand is the number of a combination of fused operations.
    Arithmetic,
}

/// The way in which an instruction accesses a register.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Access {
    /// The instruction writes the register.
    Out,
    /// The instruction reads the register.
    In,
    /// The instruction moves the reference out of the register.
    Take,
    /// The instruction reads and writes the register.
    Change,
}

/// A table of a code object to which an operand refers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Table {
    /// The table of number constants, `Code::numbers`.
    Numbers,
    /// The table of integer constants, `Code::integers`.
    Integers,
    /// The table of string constants, `Code::texts`.
    Texts,
    /// The table of constant elements of arrays, `Code::arrays`.
    Arrays,
    /// The table of component counts, `Code::parts`.
    Parts,
    /// The table of signatures of function objects that are called, `Code::signatures`.
    Signatures,
    /// The table of function objects, `Code::closures`.
    Closures,
    /// The table of calls of the native library, `Code::natives`.
    Natives,
    /// The table of applications of operators, `Code::operators`.
    Operators,
    /// The table of calls of functions with registered derivatives, `Code::rules`.
    Rules,
    /// The table of accesses to shared storage, `Code::accesses`.
    Accesses,
}

/// The type of an operand of an instruction.
pub trait Operand: Sized {
    /// The role of the operand.
    const ROLE: Role;
    /// Returns the number that encodes the operand.
    fn number(self) -> i64;
    /// Creates the operand that a number encodes, if the number fits.
    fn of(number: i64) -> Option<Self>;
}

macro_rules! operands {
    ($($(#[doc = $doc:literal])+ $name:ident($repr:ident) $role:expr;)*) => {
        $(
            $(#[doc = $doc])+
            #[derive(Clone, Copy, PartialEq, Eq, Debug)]
            pub struct $name(pub $repr);

            impl Operand for $name {
                const ROLE: Role = $role;
                fn number(self) -> i64 {
                    i64::from(self.0)
                }
                fn of(number: i64) -> Option<$name> {
                    $repr::try_from(number).ok().map($name)
                }
            }

            impl From<$name> for usize {
                fn from(operand: $name) -> usize {
                    operand.0 as usize
                }
            }
        )*
    };
}

operands! {
    /// A number register that is written.
    FOut(u16) Role::Register(Bank::F, Access::Out);
    /// A number register that is read.
    FIn(u16) Role::Register(Bank::F, Access::In);
    /// An integer register that is written.
    IOut(u16) Role::Register(Bank::I, Access::Out);
    /// An integer register that is read.
    IIn(u16) Role::Register(Bank::I, Access::In);
    /// An integer register that is modified.
    IChange(u16) Role::Register(Bank::I, Access::Change);
    /// A reference register that is written.
    ROut(u16) Role::Register(Bank::R, Access::Out);
    /// A reference register that is read.
    RIn(u16) Role::Register(Bank::R, Access::In);
    /// A reference register that is emptied.
    RTake(u16) Role::Register(Bank::R, Access::Take);
    /// A reference register whose object is modified in place, or copied first if it is shared.
    RChange(u16) Role::Register(Bank::R, Access::Change);
    /// The index of a number constant.
    Number(u32) Role::Table(Table::Numbers);
    /// The index of an integer constant.
    Integer(u32) Role::Table(Table::Integers);
    /// The index of a string constant.
    Text(u32) Role::Table(Table::Texts);
    /// The index of the constant elements of an array.
    ArrayAt(u32) Role::Table(Table::Arrays);
    /// The index of the component counts of an object that is created from the window.
    PartsAt(u32) Role::Table(Table::Parts);
    /// The index of the signature of a function object that is called.
    SignatureAt(u32) Role::Table(Table::Signatures);
    /// The index of a function object that is created.
    ClosureAt(u32) Role::Table(Table::Closures);
    /// The index of a call of the native library.
    NativeAt(u32) Role::Table(Table::Natives);
    /// The index of an application of a differential operator.
    OperatorAt(u32) Role::Table(Table::Operators);
    /// The index of a call of a function with registered derivatives.
    RuleAt(u32) Role::Table(Table::Rules);
    /// The index of an access to shared storage.
    AccessAt(u32) Role::Table(Table::Accesses);
    /// An integer of 32 bits in the instruction itself.
    Immediate(i32) Role::Immediate;
    /// An integer of 16 bits in the instruction itself.
    Small(i16) Role::Immediate;
    /// The index of a component of an object or of an element, or a stride.
    Part(u16) Role::Component;
    /// The number of a function.
    Fun(u32) Role::Function;
    /// The number of a method that is dispatched at run time.
    Method(u16) Role::Method;
    /// The number of a shape.
    Shaped(u32) Role::Shape;
    /// The index of a component of the global variables.
    Global(u32) Role::Global;
    /// The distance of a near jump.
    To(i16) Role::Jump;
    /// The distance of a far jump.
    Far(i32) Role::Jump;
    /// The number of one of the first 256 primitives.
    Prim(u8) Role::Primitive;
    /// The number of a combination of fused operations; see [`Fused`](super::Fused).
    Ways(u8) Role::Arithmetic;
}
