//! Global reads: the global variables that a function reads.

use crate::ir::{FunctionId, Op, Program};
use crate::value::Bank;
use hashbrown::HashSet;
use std::collections::BTreeSet;

/// Returns the global variables that may hold numbers and that a function reads, directly or in its callees. Global
/// variables of the library are constants and are not included.
pub fn global_reads(program: &Program, function: FunctionId) -> Vec<(Bank, u32)> {
    let mut open = vec![function];
    let mut visited: HashSet<FunctionId> = HashSet::from_iter([function]);
    let mut globals = BTreeSet::new();
    while let Some(id) = open.pop() {
        let Some(f) = program.function(id).filter(|f| !f.is_prelude) else { continue };
        for step in f.blocks.iter().flat_map(|block| &block.instructions) {
            match step.op {
                Op::LoadGlobal { bank: bank @ (Bank::F | Bank::R), index } => {
                    globals.insert((bank, index));
                }
                Op::Call(callee) | Op::CallRule(callee) | Op::Closure(callee) if visited.insert(callee) => {
                    open.push(callee)
                }
                _ => {}
            }
        }
    }
    globals.into_iter().collect()
}
