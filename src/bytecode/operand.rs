//! Operands: types that state the bank and the direction of a register, or the table to which an index refers.

use crate::value::Bank;

/// The role of an operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// A register of a bank.
    Register(Bank, Access),
    /// An index into a table of the code object.
    Table(Table),
    /// An integer in the instruction itself.
    Immediate,
    /// A component, an offset or a stride, which is checked when it is used.
    Component,
    /// A function of the program.
    Function,
    /// A method that is dispatched at run time.
    Method,
    /// A shape of the program.
    Shape,
    /// A component of the global variables.
    Global,
    /// A jump: the number of instructions to skip after this one; negative for a backward jump.
    Jump,
    /// A primitive.
    Primitive,
    /// The combination of joined operations.
    Arithmetic,
}

/// The access of an instruction to a register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// Writes it.
    Out,
    /// Reads it.
    In,
    /// Moves the reference out of it.
    Take,
    /// Reads and writes it.
    Change,
}

/// A table of a code object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Table {
    /// `Code::numbers`
    Numbers,
    /// `Code::integers`
    Integers,
    /// `Code::texts`
    Texts,
    /// `Code::arrays`
    Arrays,
    /// `Code::parts`
    Parts,
    /// `Code::closures`
    Closures,
    /// `Code::natives`
    Natives,
    /// `Code::operators`
    Operators,
    /// `Code::rules`
    Rules,
    /// `Code::accesses`
    Accesses,
}

/// The type of an operand.
pub trait Operand: Sized {
    /// The role of the operand.
    const ROLE: Role;
    /// Returns the encoded number.
    fn number(self) -> i64;
    /// Creates the operand with a number, if it fits.
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
    /// A number constant.
    Number(u32) Role::Table(Table::Numbers);
    /// An integer constant.
    Integer(u32) Role::Table(Table::Integers);
    /// A string constant.
    Text(u32) Role::Table(Table::Texts);
    /// Constant elements of an array.
    ArrayAt(u32) Role::Table(Table::Arrays);
    /// The number of components in the window.
    PartsAt(u32) Role::Table(Table::Parts);
    /// A function object to create.
    ClosureAt(u32) Role::Table(Table::Closures);
    /// A call of the native library.
    NativeAt(u32) Role::Table(Table::Natives);
    /// An application of a differential operator.
    OperatorAt(u32) Role::Table(Table::Operators);
    /// A call of a function with registered derivatives.
    RuleAt(u32) Role::Table(Table::Rules);
    /// An access to shared storage.
    AccessAt(u32) Role::Table(Table::Accesses);
    /// An integer.
    Immediate(i32) Role::Immediate;
    /// A small integer.
    Small(i16) Role::Immediate;
    /// A component of an object, or of an element; also a stride.
    Part(u16) Role::Component;
    /// A function.
    Fun(u32) Role::Function;
    /// A method.
    Method(u16) Role::Method;
    /// A shape.
    Shaped(u32) Role::Shape;
    /// A component of the global variables.
    Global(u32) Role::Global;
    /// A near jump.
    To(i16) Role::Jump;
    /// A far jump.
    Far(i32) Role::Jump;
    /// One of the first 256 primitives.
    Prim(u8) Role::Primitive;
    /// The combination of joined operations; see [`Joined`](super::Joined).
    Ways(u8) Role::Arithmetic;
}
