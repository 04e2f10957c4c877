//! Wide node: a node with many operands, or with a function of the program instead of partial derivatives.

use crate::native::library::Random;
use crate::native::tensor::{Operands, Operation, TensorValue};
use crate::tensor::{ScalarKind, Shape};
use crate::value::heap_path::HeapPath;
use crate::value::shape::TangentId;
use crate::value::{Cells, Ref, Slot};
use smallvec::SmallVec;
use std::rc::Rc;

/// A wide node: the records from `first` on are its results, and have no partial derivatives themselves.
#[derive(Clone, Debug)]
pub struct Wide {
    /// The node of the first result of the wide node.
    pub first: u32,
    /// The number of results of the wide node.
    pub results: u32,
    /// The operation of the wide node.
    pub kind: WideKind,
    /// The description of the wide node in an explanation of the derivative.
    pub description: Option<Box<WideDescription>>,
}

/// The description of a call or a checkpoint, which is stored while steps are shown.
#[derive(Clone, Debug)]
pub struct WideDescription {
    /// The name of the called function.
    pub name: Rc<str>,
    /// The number that the machine assigns to the source location of the call.
    pub place: u32,
    /// The values that the called function returned.
    pub values: Vec<f64>,
}

impl Wide {
    /// Returns the number of the source location of the wide node, if it is known.
    pub(super) fn place(&self) -> Option<u32> {
        self.description.as_ref().map(|description| description.place)
    }
}

impl WideKind {
    /// Returns the name of the operation of the wide node in an explanation.
    pub(super) fn name(&self) -> Rc<str> {
        match self {
            WideKind::Sum(_) => "sum".into(),
            WideKind::Block(_) => "checkpoint".into(),
            WideKind::Tensor(node) => match &node.step {
                TensorStep::Operation(operation, ..) => operation.name().into(),
                TensorStep::Pack(..) => "Tensor".into(),
                TensorStep::Unpack(..) => "scalars".into(),
            },
            WideKind::Call(call) => match (&call.name, call.kind) {
                (Some(name), _) => name.clone(),
                (None, CallKind::Edit) => "withDerivative".into(),
                (None, CallKind::Pullback | CallKind::Constant | CallKind::Forwards) => "registered".into(),
            },
        }
    }

    /// Whether the result of the wide node is a tensor.
    pub(super) fn returns_tensor(&self) -> bool {
        matches!(self, WideKind::Tensor(node) if !matches!(node.step, TensorStep::Unpack(..)))
    }

    /// Returns the nodes of the operands of a call or a checkpoint.
    pub fn operands(&self) -> &[u32] {
        match self {
            WideKind::Sum(_) => &[],
            WideKind::Call(call) => &call.operands,
            WideKind::Block(block) => &block.operands,
            WideKind::Tensor(node) => &node.operands,
        }
    }
}

/// The operation of a wide node.
#[derive(Clone, Debug)]
pub enum WideKind {
    /// A sum of products with one result; for each operand the node, the partial derivative, and the outer slot of the
    /// partial derivative.
    Sum(Vec<(u32, f64, Slot)>),
    /// A call: in the reverse sweep, a function takes the adjoint of the results and returns the adjoints of the
    /// operands.
    Call(Box<Call>),
    /// A checkpoint: a part of the program that was run without being recorded, and is run again by the sweep.
    Block(Box<Block>),
    /// An operation of tensors.
    Tensor(Box<TensorNode>),
}

/// The state that is needed to run the function of a checkpoint a second time.
#[derive(Clone, Debug)]
pub struct Block {
    /// A copy of the function without parameters, and of everything reachable from it, from before the first run.
    pub state: Ref,
    /// The generator of random numbers before the first run.
    pub random: Random,
    /// The level in which the checkpoint was recorded: numbers of that level in the state are operands.
    pub epoch: u64,
    /// The nodes of the operands of the checkpoint.
    pub operands: Vec<u32>,
    /// Whether the function of the checkpoint may throw.
    pub throws: bool,
    /// The paths to the objects that contain the results.
    pub heap_path: HeapPath,
    /// The results: the index of an object among those on the paths, and the index of the number in the object.
    pub results: Vec<(u32, u32)>,
    /// The number of bytes that the copy of the state alone holds.
    pub held: u64,
}

/// Returns the number of bytes that the checkpoints and tensors among some wide nodes hold.
pub(super) fn held(wide: &[Wide]) -> u64 {
    let of = |wide: &Wide| match &wide.kind {
        WideKind::Block(block) => block.held,
        WideKind::Tensor(node) => node.held(),
        WideKind::Sum(_) | WideKind::Call(_) => 0,
    };
    wide.iter().map(of).sum()
}

/// An operation of tensors on a tape, with the values that its derivative needs.
#[derive(Clone, Debug)]
pub struct TensorNode {
    /// The operation.
    pub step: TensorStep,
    /// The nodes of the operands; 0 for a constant operand.
    pub operands: SmallVec<[u32; 2]>,
}

/// The kinds of operations on tensors, by what their operands and results are.
#[derive(Clone, Debug)]
pub enum TensorStep {
    /// An operation of tensors, with its operands and its result as values of the outer levels.
    Operation(Operation, Operands, TensorValue),
    /// The construction of a tensor of this kind and shape from numbers.
    Pack(ScalarKind, Shape),
    /// The numbers of a tensor of this kind and shape.
    Unpack(ScalarKind, Shape),
}

impl TensorNode {
    /// Replaces the slots of the values that the node holds.
    pub fn change_slots(&mut self, change: &mut dyn FnMut(Slot) -> Slot) {
        if let TensorStep::Operation(_, operands, result) = &mut self.step {
            operands.iter_mut().chain([result]).for_each(|value| value.slot = change(value.slot));
        }
    }

    /// Returns the number of bytes of the result that the node holds.
    pub fn held(&self) -> u64 {
        match &self.step {
            TensorStep::Operation(_, _, result) => result.tensor.buffer_size() as u64,
            TensorStep::Pack(..) | TensorStep::Unpack(..) => 0,
        }
    }
}

/// A pullback that the program defines, or an edit of an adjoint.
#[derive(Clone, Debug)]
pub struct Call {
    /// Whether the call is a pullback or an edit.
    pub kind: CallKind,
    /// The function object that is called.
    pub function: Ref,
    /// The name of the function to which the pullback belongs, while steps are shown.
    pub name: Option<Rc<str>>,
    /// The nodes of the operands, one for each number that can vary; 0 for a constant number.
    pub operands: Vec<u32>,
    /// The templates of the operands, which describe their structure.
    pub x: Vec<Template>,
    /// The template of the result, which describes its structure.
    pub y: Template,
}

/// The purpose of a function that a sweep calls.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CallKind {
    /// The function maps the adjoint of the result to the adjoints of the operands.
    Pullback,
    /// The function changes the adjoint in place (`withDerivative`): results and operands correspond one to one.
    Edit,
    /// The function maps the tangents of the operands to the tangent of the result, and cannot be transposed: it
    /// returns a constant.
    Constant,
    /// The function maps the tangents of the operands to the tangent of the result, and is transposed by the reverse
    /// sweep.
    Forwards,
}

/// A value that represents the structure of other values: how many elements its arrays have, which keys, which case.
#[derive(Clone, Debug)]
pub struct Template {
    /// The tangent type of the described values.
    pub tangent: TangentId,
    /// The components of the value that represents the structure.
    pub cells: Cells,
}
