//! What code need not do.

use crate::diff::transform::arithmetic;
use crate::ir::{Block, Instruction, Op, Reg, Register, Terminator, is_pure, verify};
use hashbrown::HashMap;

/// Leaves out what nobody needs. A step that may fail stays, unless it is `repeated`.
pub fn sweep_up(blocks: &mut [Block], registers: &[Register], repeated: &[(usize, usize)]) {
    let may_go = |b: usize, i: usize, step: &Instruction| is_pure(&step.op) || repeated.contains(&(b, i));
    let mut needed = vec![false; registers.len()];
    let mut makers: Vec<Vec<Reg>> = vec![vec![]; registers.len()];
    let mut work: Vec<Reg> = blocks.iter().flat_map(|block| &block.end).flat_map(verify::reads).collect();
    for (b, block) in blocks.iter().enumerate() {
        for (i, step) in block.instructions.iter().enumerate() {
            if !may_go(b, i, step) {
                work.extend(&step.ins);
            }
            step.outs.iter().for_each(|out| makers[out.0 as usize].extend(&step.ins));
        }
    }
    while let Some(reg) = work.pop() {
        if !std::mem::replace(&mut needed[reg.0 as usize], true) {
            work.append(&mut makers[reg.0 as usize]);
        }
    }
    for (b, block) in blocks.iter_mut().enumerate() {
        let mut i = 0;
        block.instructions.retain(|step| {
            i += 1;
            !may_go(b, i - 1, step) || step.outs.iter().any(|out| needed[out.0 as usize])
        });
    }
}

/// A loop that does nothing any more but to count has counted at once: `i = max(i + 1, n)`.
pub fn skip_counting(blocks: &mut [Block]) {
    let mut makers: HashMap<Reg, Vec<Op>> = HashMap::new();
    for step in blocks.iter().flat_map(|block| &block.instructions) {
        step.outs.iter().for_each(|out| makers.entry(*out).or_default().push(step.op.clone()));
    }
    let is_one = |reg: &Reg| matches!(makers.get(reg).map(Vec::as_slice), Some([Op::ConstI(1)]));
    let is = |step: &Instruction, name: &str| matches!(step.op, Op::Primitive(id) if id.info().name == name);
    for (b, block) in blocks.iter_mut().enumerate() {
        let Some(Terminator::Branch { condition, then, otherwise }) = block.end else { continue };
        let [count, test] = &mut block.instructions[..] else { continue };
        let counts = is(count, "int.add") && count.ins[0] == count.outs[0] && is_one(&count.ins[1]);
        let tests = is(test, "int.lt") && test.outs == [condition] && test.ins[0] == count.outs[0];
        if then.0 as usize == b && counts && tests && test.ins[1] != count.outs[0] {
            test.op = arithmetic("int.max");
            test.outs = count.outs.clone();
            block.end = Some(Terminator::Jump(otherwise));
        }
    }
}
