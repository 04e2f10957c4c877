//! Values: heap objects (strings, arrays, dictionaries, functions, boxes), shapes, and the printed form of values.
//!
//! In: numbers and references, and the [`shape`] of their type. Out: the printed form.
//!
//! Promises: every storage of numbers can also store their [`Slot`]s; arrays, records and dictionaries have value
//! semantics (copied when changed while shared), boxes are shared; dropping a long chain of objects does not recurse.

pub mod cells;
pub mod comparison;
mod components;
mod constant_array;
pub mod dictionary;
pub mod finalizer;
pub mod hashing;
pub mod heap_path;
pub mod number_format;
pub mod opaque_vector;
pub mod origins;
pub mod printing;
mod release;
pub mod shape;
mod signature;
pub mod slot_rewrite;
pub mod spare_arrays;
pub mod string;
pub mod walk;

pub use cells::{Cells, Integers, Numbers, References};
pub use components::Components;
pub use constant_array::Constants;
pub use release::release;
pub use signature::{ClosureSignature, Signature};
use std::rc::Rc;
pub use string::Text;

/// The bank of a register.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, serde::Serialize, serde::Deserialize)]
pub enum Bank {
    /// The bank of `f64` components: `Double`, and `Float` rounded after each step. It is the only bank with tangent
    /// slots.
    F,
    /// The bank of `i64` components: integers, `Bool`, tags of enums and optionals.
    I,
    /// The bank of references: strings, arrays, dictionaries, functions, boxes.
    R,
}

/// A tangent slot: the tangent or the tape node of a number in one level of differentiation.
///
/// `epoch` 0, or the epoch of a level that has ended, means that the number is constant. In a reverse level `payload`
/// is the number of a node of that level's tape; in the outermost level, if it is a forward one, the bits of the
/// tangent itself; in any other forward level the index of a cell.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(C)]
pub struct Slot {
    /// The epoch of the level to which the slot belongs. It is assigned when the level begins and never reused.
    pub epoch: u64,
    /// The number of the node, the bits of the tangent, or the index of the cell.
    pub payload: u64,
}

impl Slot {
    /// The slot of a number that is constant in every level.
    pub const NONE: Slot = Slot { epoch: 0, payload: 0 };
}

/// The content of a register of the reference bank. It begins with a tag of one byte, so that machine code can read it.
#[derive(Clone, Debug, Default)]
#[repr(u8)]
pub enum Ref {
    /// The null reference, which refers to no object.
    #[default]
    Null,
    /// A string.
    Text(string::Text),
    /// An array or record, which has value semantics.
    Cells(Rc<Cells>),
    /// A box, which is shared: a captured variable, or an instance of a class.
    Box(Rc<BoxCells>),
    /// A dictionary or set, which has value semantics.
    Dictionary(Rc<dictionary::Dictionary>),
    /// A function object, which contains its captures.
    Closure(Rc<Closure>),
    /// A differential or pullback, or another object that belongs to the machine.
    Machine(Rc<dyn std::any::Any>),
    /// An existential: a value of any type, with its shape.
    Any(Rc<AnyValue>),
    /// A tensor, which has value semantics.
    Tensor(Rc<crate::tensor::Tensor>),
}

/// A box: storage that is shared by reference, such as a captured variable or an instance of a class.
#[derive(Debug)]
pub struct BoxCells {
    /// The components that the box contains.
    pub cells: std::cell::RefCell<Cells>,
    /// The shape of an instance of a class; the boxes of variables have none.
    pub shape: Option<shape::ShapeId>,
    /// The code that runs when the instance in the box is destroyed.
    pub finalizer: crate::value::finalizer::Finalizer,
}

/// The form in which an operator computes a Jacobian.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub enum JacobianForm {
    /// A few rows with all entries, computed together by Jacobian code.
    Small,
    /// The rows with all entries, computed by sweeps over a tape.
    Dense,
    /// The entries that may differ from zero, computed by sweeps over a tape.
    Sparse,
}

impl JacobianForm {
    /// Returns the banks of the results of the operator: whether it succeeded, the size of a sparse Jacobian, and the parts of the
    /// Jacobian.
    pub fn results(self) -> &'static [Bank] {
        match self {
            JacobianForm::Small | JacobianForm::Dense => &[Bank::I, Bank::R],
            JacobianForm::Sparse => &[Bank::I, Bank::I, Bank::I, Bank::R, Bank::R, Bank::R],
        }
    }
}

/// A function object: the index of its function, and its captures with their tangent slots.
#[derive(Debug)]
pub struct Closure {
    /// The index of the function in the program, which identifies its original, derivative and transpose code.
    pub function: u32,
    /// The captured values of the function object.
    pub captures: Cells,
}

/// The value of an existential, together with the shape of its type.
#[derive(Debug)]
pub struct AnyValue {
    /// The shape of the value's type.
    pub shape: shape::ShapeId,
    /// The components of the value.
    pub cells: Cells,
}
