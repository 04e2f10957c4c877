//! Transforms: derive tangent and adjoint code, which compute a function and its derivative on plain numbers.
//!
//! In: the graph of a function without calls (`ir::passes::full_inlining`). Out: another graph, which computes the
//! value and its derivative without slots and without a tape:
//! - [tangent code](tangent()) computes, after every step, the tangents of its results;
//! - [adjoint code](adjoint()) runs the steps of the function, stores the values that the reverse pass cannot recompute, and then
//!   goes back over the same blocks, the last one first;
//! - [Jacobian code](jacobian()) is adjoint code for several results, which propagates the adjoints for all of them at once;
//! - [linearization code](linearization()) appends, after every step, the step's partial derivatives to the tape of a level that
//!   was opened for it, and so records without slots.
//!
//! Promises: results differ from those of a level in the last digits at most; where a level would report more (a lost
//! tangent, a number that is not finite, storage that cannot be followed), there is no such code, or its caller does
//! not use its results.
//! Not here: the code for live levels (`derivative`), the choice of the function (`session`).

mod adjoint_code;
mod array_adjoints;
mod array_lengths;
mod contribution;
pub(crate) mod control_flow_trace;
mod counting_loop;
mod jacobian_code;
mod kept_adjoints;
mod linearization;
pub(crate) mod recomputation;
pub(crate) mod reverse_block;
mod shared_cosines;
mod tangent_code;
mod tangent_of_adjoint;
mod varied_registers;

pub use adjoint_code::adjoint;
pub use jacobian_code::jacobian;
pub use linearization::linearization;
pub use tangent_code::tangent;

use crate::ir::{Function, Instruction, Op, Reg, Register};
use crate::native::{PrimitiveId, primitive};
use crate::source::Span;
use crate::value::Bank;

/// The registers and steps of a graph under construction.
pub(crate) struct GraphBuilder {
    registers: Vec<Register>,
    steps: Vec<Instruction>,
    span: Span,
}

impl GraphBuilder {
    /// Creates a builder without steps that has the registers of a function.
    fn new(f: &Function) -> GraphBuilder {
        GraphBuilder { registers: f.registers.clone(), steps: vec![], span: f.span }
    }

    fn register(&mut self, bank: Bank) -> Reg {
        self.registers.push(Register { bank, name: None });
        Reg(self.registers.len() as u32 - 1)
    }

    fn number(&mut self) -> Reg {
        self.register(Bank::F)
    }

    /// Appends a step that writes the given registers.
    fn step(&mut self, op: Op, outs: &[Reg], ins: &[Reg]) {
        let (outs, ins) = (outs.to_vec(), ins.to_vec());
        self.steps.push(Instruction { op, outs, ins, span: self.span, active: false });
    }

    /// Appends a step that computes a new number, and returns the register of the number.
    fn emit(&mut self, op: Op, ins: &[Reg]) -> Reg {
        let out = self.number();
        self.step(op, &[out], ins);
        out
    }

    /// Appends arithmetic that computes a new number, and returns the register of the number.
    fn arithmetic(&mut self, id: PrimitiveId, ins: &[Reg]) -> Reg {
        self.emit(Op::Primitive(id), ins)
    }

    fn copy(&mut self, to: Reg, from: Reg) {
        if to != from {
            self.step(Op::Copy, &[to], &[from]);
        }
    }
}

/// Whether a function is differentiated with respect to the register argument with the given index. The arguments that
/// stand for registers of an outer graph belong to no declared parameter.
fn is_differentiated(f: &Function, k: usize) -> bool {
    f.parameters.iter().any(|p| (p.first..p.first + p.len).contains(&k) && p.tangent.is_some())
}

/// Returns the operation of integer arithmetic with the given name.
fn arithmetic(name: &str) -> Op {
    match primitive(name) {
        Some(id) => Op::Primitive(id),
        None => unreachable!("the table of primitives has `{name}`"),
    }
}

#[cfg(test)]
mod tests;
