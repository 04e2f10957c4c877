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
    /// How many results it has.
    pub results: u32,
    /// What it does.
    pub kind: WideKind,
    /// What an explanation of the derivative says of it.
    pub seen: Option<Box<Seen>>,
}

/// What is remembered of a call or a block while steps are shown.
#[derive(Clone, Debug)]
pub struct Seen {
    /// What was called.
    pub name: Rc<str>,
    /// Where in the program, as the machine counts places.
    pub place: u32,
    /// The results.
    pub values: Vec<f64>,
}

impl WideKind {
    /// What is called here, in a word.
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

    /// The operand nodes of a call or a block.
    pub fn operands(&self) -> &[u32] {
        match self {
            WideKind::Sum(_) => &[],
            WideKind::Call(call) => &call.operands,
            WideKind::Block(block) => &block.operands,
        }
    }
}

/// What a wide node does.
#[derive(Clone, Debug)]
pub enum WideKind {
    /// One result; an operand node, the partial derivative in it, and the partial derivative's outer slot, each.
    Sum(Vec<(u32, f64, Slot)>),
    /// On the way back, a function takes the adjoint of the results and gives those of the operands.
    Call(Box<Call>),
    /// A part of the program that was run without being recorded, and is run again by the sweep.
    Block(Box<Block>),
}

/// A checkpoint: what it takes to run a part of the program a second time.
#[derive(Clone, Debug)]
pub struct Block {
    /// A copy of the function without parameters, and of everything that it can reach, from before the first run.
    pub state: Ref,
    /// The generator of random numbers before the first run.
    pub random: Random,
    /// The level in which it was recorded: numbers of that level in the state are operands.
    pub epoch: u64,
    /// The operand nodes.
    pub operands: Vec<u32>,
    /// Whether the function may throw.
    pub throws: bool,
    /// Where the results are found.
    pub outline: HeapPath,
    /// The results: an object of the outline, and which of its numbers.
    pub results: Vec<(u32, u32)>,
    /// Bytes that the copy alone holds.
    pub held: u64,
}

/// Bytes that the blocks among some wide nodes hold.
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
    /// What it is the pullback of, while steps are shown.
    pub name: Option<Rc<str>>,
    /// The operand nodes, one for each number of the operands that can move; 0 for a constant one.
    pub operands: Vec<u32>,
    /// What the operands looked like.
    pub x: Vec<Template>,
    /// What the result looked like.
    pub y: Template,
}

/// What a called function does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CallKind {
    /// Takes the adjoint of the result to those of the operands.
    Pullback,
    /// Changes the adjoint in place (`withDerivative`): results and operands correspond one to one.
    Edit,
    /// Takes the tangents of the operands to that of the result, and cannot be transposed: it gives a constant.
    Constant,
    /// The same for a function whose transpose is unknown: it takes or gives vectors whose components cannot be counted
    /// beforehand.
    Forwards,
}

/// A value, kept for its shape: how many elements its arrays have, which keys, which case.
#[derive(Clone, Debug)]
pub struct Template {
    /// How its type differentiates.
    pub tangent: TangentId,
    /// Its components.
    pub cells: Cells,
}
