//! Steps that nobody needs.

use super::copies::count;
use super::graph::{Function, Op};

/// Removes steps without effects whose results are never read.
pub fn eliminate(function: &mut Function) {
    loop {
        let counts = count(function);
        let mut removed = false;
        for block in &mut function.blocks {
            block.instructions.retain(|step| {
                let unused = step.outs.iter().all(|out| counts.reads[out.0 as usize] == 0);
                let idle = step.op == Op::Copy && step.outs == step.ins;
                let keep = !idle && !(unused && is_pure(&step.op));
                removed |= !keep;
                keep
            });
        }
        if !removed {
            return;
        }
    }
}

/// Whether a step has no effect but its results, and cannot fail.
fn is_pure(op: &Op) -> bool {
    match op {
        Op::ConstF(_)
        | Op::ConstI(_)
        | Op::Text(_)
        | Op::Null
        | Op::Copy
        | Op::Closure(_)
        | Op::Capture { .. }
        | Op::NewBox
        | Op::LoadBox { .. }
        | Op::NewRecord
        | Op::LoadRecord { .. }
        | Op::NewArray(_)
        | Op::Count
        | Op::LoadGlobal { .. } => true,
        Op::Primitive(id) => !may_fail(id.info().name),
        Op::Take
        | Op::Call(_)
        | Op::CallRule(_)
        | Op::CallValue
        | Op::StoreBox { .. }
        | Op::TakeBox { .. }
        | Op::StoreRecord { .. }
        | Op::TakeRecord { .. }
        | Op::Append(_)
        | Op::CheckIndex
        | Op::LoadElement { .. }
        | Op::StoreElement { .. }
        | Op::TakeElement { .. }
        | Op::StoreGlobal { .. }
        | Op::TakeGlobal { .. }
        | Op::Native { .. }
        | Op::Operator(_)
        | Op::Promise { .. } => false,
    }
}

/// Whole numbers overflow; all else always has a result.
fn may_fail(name: &str) -> bool {
    let harmless = ["eq", "ne", "lt", "le", "gt", "ge", "and", "or", "xor", "not", "min", "max"];
    match name.strip_prefix("int.") {
        Some(rest) => !harmless.contains(&rest) && !rest.ends_with("Wrapping"),
        None => false,
    }
}
