//! What stands in a register already is not read from an array again: `xs[i] * xs[i]` is one read.

use super::graph::{Graph, Reg, Step, StepOp};
use crate::ir::Op;
use crate::value::Bank;

/// So many reads are remembered: in a long block without branches, to look through all would take too long.
const REACH: usize = 16;

/// A number that was read from an array, and is there still.
struct Read {
    op: Op,
    from: Vec<Reg>,
    active: bool,
    out: Reg,
}

/// The second of two reads of the same element becomes a copy, where nothing has changed in between.
pub fn read_once(graph: &mut Graph) {
    for block in &mut graph.blocks {
        let mut known: Vec<Read> = vec![];
        for step in &mut block.steps {
            let read = element_read(step);
            if let Some(read) = &read
                && let Some(before) =
                    known.iter().find(|k| k.op == read.op && k.from == read.from && k.active == read.active)
            {
                step.op = StepOp::Ir(Op::Copy);
                step.ins = vec![before.out];
            }
            known.retain(|k| !spoils(step, k));
            known.extend(read.filter(|read| !read.from.contains(&read.out)));
            if known.len() > REACH {
                known.remove(0);
            }
        }
    }
}

fn element_read(step: &Step) -> Option<Read> {
    match step.ir() {
        Some(op @ Op::LoadElement { bank: Bank::F | Bank::I, .. }) => {
            Some(Read { op: op.clone(), from: step.ins.clone(), active: step.active, out: step.outs[0] })
        }
        _ => None,
    }
}

/// Whether a number may not stand in its register, or not in its array, behind a step. Whatever does more with the array
/// than to look at it may change it or move it away.
fn spoils(step: &Step, read: &Read) -> bool {
    let looks = matches!(step.ir(), Some(Op::LoadElement { .. } | Op::Count | Op::CheckIndex));
    let uses_array = read.from.first().is_some_and(|array| step.ins.contains(array));
    step.outs.iter().any(|out| *out == read.out || read.from.contains(out)) || (uses_array && !looks)
}
