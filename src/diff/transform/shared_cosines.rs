//! Shared cosines: the partial derivative of a sine is a cosine, and that of a cosine a negative sine. A function that computes both
//! for the same angle has computed the partial derivatives as well.

use crate::ir::analysis::control_flow::{dominates, in_loops};
use crate::ir::analysis::flow_graph::{Counts, count};
use crate::ir::{Function, Op, Reg, TransformedOp};
use crate::native::primitive_ids::{COS, NEG, SIN};
use hashbrown::HashMap;

/// A function of an angle.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Trigonometric {
    Sine,
    Cosine,
}

/// The step that has computed a function of an angle.
#[derive(Clone, Copy)]
struct Computed {
    out: Reg,
    block: usize,
}

/// Replaces sines, cosines and their partial derivatives that were computed before by copies. The first `forward` blocks are those of
/// the forward pass. As many blocks follow in adjoint code, each of which runs only after the corresponding one of them.
pub(super) fn share(function: &mut Function, forward: usize) {
    let has_partial = function
        .blocks
        .iter()
        .flat_map(|block| &block.instructions)
        .any(|step| matches!(step.op, Op::Transformed(TransformedOp::Partial { primitive: SIN | COS, .. })));
    if !has_partial {
        return;
    }
    let (counts, in_loop) = (count(function), in_loops(function));
    let is_single = |reg: Reg, Counts { writes, .. }: &Counts| writes[reg.0 as usize] <= 1;
    // What blocks outside of loops have computed, by registers that are written once.
    let mut everywhere: HashMap<(Trigonometric, Reg), Vec<Computed>> = HashMap::new();
    for (b, repeats) in in_loop.into_iter().enumerate() {
        crate::cancel::check();
        let mut here: HashMap<(Trigonometric, Reg), Reg> = HashMap::new();
        for i in 0..function.blocks[b].instructions.len() {
            let step = &function.blocks[b].instructions[i];
            let outs = step.outs.clone();
            let computed = computation(&step.op).map(|(of, op)| ((of, step.ins[0]), op));
            if let Some((key, op)) = &computed {
                let corresponding = b.checked_sub(forward).filter(|corresponding| *corresponding < forward);
                let runs_before = |found: &&Computed| {
                    dominates(function, found.block, b)
                        || corresponding.is_some_and(|corresponding| dominates(function, found.block, corresponding))
                };
                let before = || everywhere.get(key)?.iter().find(runs_before);
                let known = here.get(key).copied().or_else(|| before().map(|found| found.out));
                if let Some(known) = known {
                    let step = &mut function.blocks[b].instructions[i];
                    (step.op, step.ins) = (op.clone(), vec![known]);
                }
            }
            here.retain(|(_, angle), out| !outs.contains(angle) && !outs.contains(out));
            // The partial derivative of a cosine is not a sine, but a negative one.
            if let Some((key, Op::Copy)) = computed
                && !outs.contains(&key.1)
            {
                let out = outs[0];
                here.entry(key).or_insert(out);
                if !repeats && is_single(key.1, &counts) && is_single(out, &counts) {
                    everywhere.entry(key).or_default().push(Computed { out, block: b });
                }
            }
        }
    }
}

/// Returns what a step computes of its first operand, and the operation that computes it from the function of the angle.
fn computation(op: &Op) -> Option<(Trigonometric, Op)> {
    match op {
        Op::Primitive(SIN) => Some((Trigonometric::Sine, Op::Copy)),
        Op::Primitive(COS) | Op::Transformed(TransformedOp::Partial { primitive: SIN, .. }) => {
            Some((Trigonometric::Cosine, Op::Copy))
        }
        Op::Transformed(TransformedOp::Partial { primitive: COS, .. }) => {
            Some((Trigonometric::Sine, Op::Primitive(NEG)))
        }
        _ => None,
    }
}
