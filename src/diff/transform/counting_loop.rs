//! Counting loops: a loop that only counts is replaced by its result.

use crate::diff::transform::arithmetic;
use crate::ir::{Block, Instruction, Op, Reg, Terminator};
use hashbrown::HashMap;

/// Replaces a loop that does nothing but count by one step: `i = max(i + 1, n)`.
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
