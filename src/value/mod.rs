//! Values: heap objects (strings, arrays, dictionaries, functions, boxes), shapes, and the printed form of values.
//!
//! In: numbers and references, and the [`shape`] of their type. Out: the printed form.
//!
//! Promises: every storage of numbers can also store their [`Slot`]s; arrays, records and dictionaries have value
//! semantics (copied when changed while shared), boxes are shared; dropping a long chain of objects does not recurse.

pub mod cells;
pub mod compare;
mod components;
mod constants;
pub mod dictionary;
pub mod finalizer;
pub mod heap_path;
pub mod heap_visit;
pub mod number;
pub mod opaque_vector;
pub mod origins;
pub mod print;
mod release;
pub mod shape;
pub mod text;
pub mod walk;

pub use cells::{Cells, Integers, Numbers, References};
pub use components::Components;
pub use constants::Constants;
pub use release::release;
use std::rc::Rc;
pub use text::Text;

/// The bank of a register.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, serde::Serialize, serde::Deserialize)]
pub enum Bank {
    /// `f64`: `Double`, and `Float` rounded after each step. The only bank with tangent slots.
    F,
    /// `i64`: integers, `Bool`, tags of enums and optionals.
    I,
    /// References: strings, arrays, dictionaries, functions, boxes.
    R,
}

/// A tangent slot: the tangent or the tape node of a number in one level of differentiation.
///
/// `epoch` 0, or the epoch of a level that has ended, means that the number is constant. In a reverse level `payload` is the
/// number of a node of that level's tape; in the outermost level, if it is a forward one, the bits of the tangent
/// itself; in any other forward level the index of a cell.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Slot {
    /// The epoch of the level, which is assigned when the level begins and never reused.
    pub epoch: u64,
    /// The node, the tangent or the cell.
    pub payload: u64,
}

impl Slot {
    /// The slot of a number that is constant in every level.
    pub const NONE: Slot = Slot { epoch: 0, payload: 0 };
}

/// The content of a register of the reference bank.
#[derive(Clone, Debug, Default)]
pub enum Ref {
    /// No object.
    #[default]
    Null,
    /// A string.
    Text(text::Text),
    /// An array or record: value semantics.
    Cells(Rc<Cells>),
    /// A box: a captured variable, an instance of a class. Shared.
    Box(Rc<BoxCells>),
    /// A dictionary or set: value semantics.
    Dictionary(Rc<dictionary::Dictionary>),
    /// A function with its captures.
    Closure(Rc<Closure>),
    /// A differential or pullback, or another object that belongs to the machine.
    Machine(Rc<dyn std::any::Any>),
    /// An existential: a value of any type, with its shape.
    Any(Rc<AnyValue>),
}

/// A box: storage that is shared by reference.
#[derive(Debug)]
pub struct BoxCells {
    /// The contents.
    pub cells: std::cell::RefCell<Cells>,
    /// Its shape, for instances of classes; variables have none.
    pub shape: Option<shape::ShapeId>,
    /// The code that runs when it is destroyed.
    pub finalizer: crate::value::finalizer::Finalizer,
}

/// The part of a function object that determines its code: its function, and the captured function objects.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Signature {
    /// Its function.
    pub function: u32,
    /// For each captured reference: its signature, if it is a function object.
    pub captured: Vec<Option<Signature>>,
}

impl Signature {
    /// Returns the signature of a function object. Only eight levels of nested captures are included.
    pub fn of(closure: &Closure) -> Signature {
        Signature::within(closure, 8)
    }

    fn within(closure: &Closure, depth: usize) -> Signature {
        let captured = closure.captures.r.iter().map(|reference| match reference {
            Ref::Closure(closure) if depth > 0 => Some(Signature::within(closure, depth - 1)),
            _ => None,
        });
        Signature { function: closure.function, captured: captured.collect() }
    }
}

/// A function object: its code, and its captures with tangent slots.
#[derive(Debug)]
pub struct Closure {
    /// The index of the function in the program, which identifies its original, derivative and transpose code.
    pub function: u32,
    /// The captures.
    pub captures: Cells,
}

/// An existential.
#[derive(Debug)]
pub struct AnyValue {
    /// The shape of its type.
    pub shape: shape::ShapeId,
    /// Its components.
    pub cells: Cells,
}
