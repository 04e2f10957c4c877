//! What was computed in a block already is not computed again: `xs[i] * xs[i]` is one read, `2 * i` in two indices one
//! product.

use super::graph::{Function, Instruction, Op, Reg};
use crate::value::Bank;

/// So many results are remembered: in a long block without branches, to look through all would take too long.
const REACH: usize = 24;

/// What was computed, and is there still.
struct Known {
    op: Op,
    ins: Vec<Reg>,
    out: Reg,
}

/// The second of two equal steps becomes a copy, where nothing has changed in between.
pub fn compute_once(function: &mut Function) {
    for block in &mut function.blocks {
        let mut known: Vec<Known> = vec![];
        for step in &mut block.instructions {
            let computed = is_repeatable(step).then(|| Known {
                op: step.op.clone(),
                ins: step.ins.clone(),
                out: step.outs[0],
            });
            if let Some(computed) = &computed
                && let Some(before) = known.iter().find(|k| k.op == computed.op && k.ins == computed.ins)
            {
                step.op = Op::Copy;
                step.ins = vec![before.out];
            }
            known.retain(|k| !spoils(step, k));
            known.extend(computed.filter(|computed| !computed.ins.contains(&computed.out)));
            if known.len() > REACH {
                known.remove(0);
            }
        }
    }
}

/// Whether a step gives the same again as long as nothing is written that it reads. What has failed is not repeated.
fn is_repeatable(step: &Instruction) -> bool {
    matches!(step.op, Op::LoadElement { bank: Bank::F | Bank::I, .. } | Op::Primitive(_) | Op::Count)
}

/// Whether a result may not stand in its register, or not be the same any more, behind a step. Whatever does more with an
/// array than to look at it may change it or move it away.
fn spoils(step: &Instruction, known: &Known) -> bool {
    let looks = matches!(step.op, Op::LoadElement { .. } | Op::Count | Op::CheckIndex | Op::Primitive(_));
    let uses_array = !matches!(known.op, Op::Primitive(_)) && step.ins.contains(&known.ins[0]);
    step.outs.iter().any(|out| *out == known.out || known.ins.contains(out)) || (uses_array && !looks)
}
