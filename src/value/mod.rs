//! Values: heap objects (strings, arrays, dictionaries, functions, boxes), shapes, and how a value is printed.
//!
//! In: numbers and references, and the [`shape`] of the type that they belong to. Out: the same, as text.
//!
//! Promises: whatever stores a number can store its [`Slot`] beside it; arrays, records and dictionaries have value
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

/// Which bank a register lives in.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, serde::Serialize, serde::Deserialize)]
pub enum Bank {
    /// `f64`: `Double`, and `Float` rounded after each step. The bank that has tangent slots.
    F,
    /// `i64`: integers, `Bool`, tags of enums and optionals.
    I,
    /// References: text, arrays, dictionaries, functions, boxes.
    R,
}

/// A tangent slot: what the number that it stands beside means to one level of differentiation.
///
/// `epoch` 0, or the epoch of a level that has ended, means "constant here". In a reverse level `payload` is the
/// number of a node of that level's tape; in the outermost level, when it is a forward one, the bits of the tangent
/// itself; in any other forward level the number of a cell.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Slot {
    /// The level, by the number that it got when it was opened; never used again.
    pub epoch: u64,
    /// Node, tangent or cell.
    pub payload: u64,
}

impl Slot {
    /// Constant in every level.
    pub const NONE: Slot = Slot { epoch: 0, payload: 0 };
}

/// What a register of the reference bank holds.
#[derive(Clone, Debug, Default)]
pub enum Ref {
    /// Nothing.
    #[default]
    Null,
    /// A text.
    Text(text::Text),
    /// An array or record: value semantics.
    Cells(Rc<Cells>),
    /// A box: a captured variable, an instance of a class. Shared.
    Box(Rc<BoxCells>),
    /// A dictionary or set: value semantics.
    Dictionary(Rc<dictionary::Dictionary>),
    /// A function with what it captured.
    Closure(Rc<Closure>),
    /// A differential or pullback, or another object that belongs to the machine.
    Machine(Rc<dyn std::any::Any>),
    /// A value of any type, with its shape.
    Any(Rc<AnyValue>),
}

/// A box that is shared by reference.
#[derive(Debug)]
pub struct BoxCells {
    /// What is in it.
    pub cells: std::cell::RefCell<Cells>,
    /// Its shape, for instances of classes; variables have none.
    pub shape: Option<shape::ShapeId>,
    /// What is done when it goes away.
    pub finalizer: crate::value::finalizer::Finalizer,
}

/// A function object as far as code is made for it: its function, and the function objects among what it captured.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Signature {
    /// Its function.
    pub function: u32,
    /// For each reference that it captured: what that is, if it is a function object.
    pub captured: Vec<Option<Signature>>,
}

impl Signature {
    /// Of a function object. What is nested deeper than a program would nest it is left out.
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

/// A function object: which code, and what it captured, with tangent slots.
#[derive(Debug)]
pub struct Closure {
    /// Index of the function in the program: its original, derivative and transpose code are found there.
    pub function: u32,
    /// What it captured.
    pub captures: Cells,
}

/// A value of any type.
#[derive(Debug)]
pub struct AnyValue {
    /// Its type.
    pub shape: shape::ShapeId,
    /// Its components.
    pub cells: Cells,
}
