//! Wide node: a node with many operands, or with a function of the program in the place of partial derivatives.

use crate::native::library::Random;
use crate::value::heap_path::HeapPath;
use crate::value::shape::TangentId;
use crate::value::{Cells, Ref, Slot};
use std::rc::Rc;

/// A wide node: the records from `first` on are its results, and have no partial derivatives themselves.
#[derive(Clone, Debug)]
pub struct Wide {
    /// The node of its first result.
    pub first: u32,
    /// The number of its results.
    pub results: u32,
    /// The operation.
    pub kind: WideKind,
    /// Its description in an explanation of the derivative.
    pub description: Option<Box<WideDescription>>,
}

/// The description of a call or a block while steps are shown.
#[derive(Clone, Debug)]
pub struct WideDescription {
    /// The name of the called function.
    pub name: Rc<str>,
    /// Its place in the program, by the machine's numbering.
    pub place: u32,
    /// The returned values.
    pub values: Vec<f64>,
}

impl WideKind {
    /// Returns the name of the operation in an explanation.
    pub(super) fn name(&self) -> Rc<str> {
        match self {
            WideKind::Sum(_) => "sum".into(),
            WideKind::Block(_) => "checkpoint".into(),
            WideKind::Call(call) => match (&call.name, call.kind) {
                (Some(name), _) => name.clone(),
                (None, CallKind::Edit) => "withDerivative".into(),
                (None, CallKind::Pullback | CallKind::Constant | CallKind::Forwards) => "registered".into(),
            },
        }
    }

    /// Returns the operand nodes of a call or a block.
    pub fn operands(&self) -> &[u32] {
        match self {
            WideKind::Sum(_) => &[],
            WideKind::Call(call) => &call.operands,
            WideKind::Block(block) => &block.operands,
        }
    }
}

/// The operation of a wide node.
#[derive(Clone, Debug)]
pub enum WideKind {
    /// One result; for each operand its node, the partial derivative in it, and the partial derivative's outer slot.
    Sum(Vec<(u32, f64, Slot)>),
    /// In the reverse sweep, a function takes the adjoint of the results and returns those of the operands.
    Call(Box<Call>),
    /// A part of the program that was run without being recorded, and is run again by the sweep.
    Block(Box<Block>),
}

/// A checkpoint: the state that is needed to run a part of the program a second time.
#[derive(Clone, Debug)]
pub struct Block {
    /// A copy of the function without parameters, and of everything reachable from it, from before the first run.
    pub state: Ref,
    /// The generator of random numbers before the first run.
    pub random: Random,
    /// The level in which it was recorded: numbers of that level in the state are operands.
    pub epoch: u64,
    /// The operand nodes.
    pub operands: Vec<u32>,
    /// Whether the function may throw.
    pub throws: bool,
    /// The paths to the objects that contain the results.
    pub heap_path: HeapPath,
    /// The results: the index of an object among those on the paths, and the index of the number in it.
    pub results: Vec<(u32, u32)>,
    /// Bytes that the copy alone holds.
    pub held: u64,
}

/// Returns the number of bytes that the blocks among some wide nodes hold.
pub(super) fn held(wide: &[Wide]) -> u64 {
    let of = |wide: &Wide| match &wide.kind {
        WideKind::Block(block) => block.held,
        WideKind::Sum(_) | WideKind::Call(_) => 0,
    };
    wide.iter().map(of).sum()
}

/// A pullback of the user's own, or an edit of an adjoint.
#[derive(Clone, Debug)]
pub struct Call {
    /// Which of the two.
    pub kind: CallKind,
    /// The function.
    pub function: Ref,
    /// The name of the function that it is the pullback of, while steps are shown.
    pub name: Option<Rc<str>>,
    /// The operand nodes, one for each number of the operands that can vary; 0 for a constant one.
    pub operands: Vec<u32>,
    /// The structure of the operands.
    pub x: Vec<Template>,
    /// The structure of the result.
    pub y: Template,
}

/// The purpose of a called function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CallKind {
    /// Maps the adjoint of the result to those of the operands.
    Pullback,
    /// Changes the adjoint in place (`withDerivative`): results and operands correspond one to one.
    Edit,
    /// Maps the tangents of the operands to that of the result, and cannot be transposed: it returns a constant.
    Constant,
    /// Like `Constant`, for a function whose transpose is unknown: it takes or returns vectors whose components cannot be counted
    /// beforehand.
    Forwards,
}

/// A value that describes a structure: how many elements its arrays have, which keys, which case.
#[derive(Clone, Debug)]
pub struct Template {
    /// The tangent type.
    pub tangent: TangentId,
    /// Its components.
    pub cells: Cells,
}
