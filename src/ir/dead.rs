//! Steps and registers that nobody needs.

use super::copies::count;
use super::graph::{Function, Op, Reg, SweepOp, Terminator, Trap};

/// Removes steps without effects whose results are never read.
pub fn eliminate(function: &mut Function) {
    let mut reads = count(function).reads;
    loop {
        let mut removed = false;
        // Backwards, so that what only a removed step has read goes in the same round.
        for block in function.blocks.iter_mut().rev() {
            crate::stop::look();
            let mut kept = Vec::with_capacity(block.instructions.len());
            for step in std::mem::take(&mut block.instructions).into_iter().rev() {
                let unused = step.outs.iter().all(|out| reads[out.0 as usize] == 0);
                let idle = matches!(step.op, Op::Copy | Op::Take) && step.outs == step.ins;
                if idle || (unused && is_pure(&step.op)) {
                    step.ins.iter().for_each(|reg| reads[reg.0 as usize] -= 1);
                    removed = true;
                } else {
                    kept.push(step);
                }
            }
            kept.reverse();
            block.instructions = kept;
        }
        if !removed {
            return;
        }
    }
}

/// Whether a step has no effect but its results, and cannot fail.
pub fn is_pure(op: &Op) -> bool {
    match op {
        Op::ConstF(_)
        | Op::ConstI(_)
        | Op::Text(_)
        | Op::Constants(_)
        | Op::Null
        | Op::Copy
        | Op::Closure(_)
        | Op::Capture { .. }
        | Op::NewBox
        | Op::NewInstance(_)
        | Op::FindMethod(_)
        | Op::LoadBox { .. }
        | Op::NewRecord
        | Op::LoadRecord { .. }
        | Op::NewArray(_)
        | Op::Count
        | Op::LoadGlobal { .. } => true,
        Op::Sweep(
            SweepOp::Partial { .. } | SweepOp::Cut | SweepOp::Still | SweepOp::Flush | SweepOp::CaptureOf { .. },
        ) => true,
        Op::Primitive(id) => !may_fail(id.info().name),
        Op::Take
        | Op::Call(_)
        | Op::CallRule(_)
        | Op::CallValue
        | Op::Hold
        | Op::StoreBox { .. }
        | Op::TakeBox { .. }
        | Op::StoreRecord { .. }
        | Op::TakeRecord { .. }
        | Op::Append(_)
        | Op::AppendText
        | Op::CheckIndex
        | Op::LoadElement { .. }
        | Op::StoreElement { .. }
        | Op::TakeElement { .. }
        | Op::StoreGlobal { .. }
        | Op::TakeGlobal { .. }
        | Op::Access { .. }
        | Op::Native { .. }
        | Op::Operator(_)
        | Op::Sweep(_)
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

/// Numbers the registers that are used, in the order in which they appear.
pub fn compact(function: &mut Function) {
    let mut number: Vec<Option<Reg>> = vec![None; function.registers.len()];
    let mut kept = vec![];
    let registers = &function.registers;
    let mut renumber = |reg: &mut Reg| {
        let new = *number[reg.0 as usize].get_or_insert_with(|| {
            kept.push(registers[reg.0 as usize].clone());
            Reg(kept.len() as u32 - 1)
        });
        *reg = new;
    };
    function.params.iter_mut().for_each(&mut renumber);
    for block in &mut function.blocks {
        for step in &mut block.instructions {
            step.ins.iter_mut().for_each(&mut renumber);
            step.outs.iter_mut().for_each(&mut renumber);
        }
        match &mut block.end {
            Some(Terminator::Branch { condition, .. }) => renumber(condition),
            Some(Terminator::Return(regs)) => regs.iter_mut().for_each(&mut renumber),
            Some(Terminator::Trap(Trap::Failed { message: Some(reg), .. } | Trap::Uncaught(reg))) => renumber(reg),
            Some(Terminator::Trap(_) | Terminator::Jump(_)) | None => {}
        }
    }
    function.registers = kept;
}
