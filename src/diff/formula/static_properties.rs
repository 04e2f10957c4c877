//! Static properties: the properties of a function that are determined before its evaluation.

use super::{Registers, Value};
use crate::ir::analysis::flow_graph::FlowGraph;
use crate::ir::{BlockId, Function, Reg};

/// Returns the name of a function without labels.
pub(super) fn called(function: &Function) -> &str {
    function.name.split('(').next().unwrap_or_default()
}

/// Returns the reason why the body of a function is not evaluated.
pub(super) fn obstacle(function: &Function) -> Option<String> {
    match function {
        Function { is_opaque: true, .. } => Some(format!("'{}' is opaque", called(function))),
        Function { rules, .. } if !rules.is_empty() => {
            Some(format!("'{}' has a registered derivative", called(function)))
        }
        Function { throws: true, .. } => Some(format!("'{}' can throw", called(function))),
        _ => None,
    }
}

/// Whether a branch decides if a loop continues: its block can be reached again from one of its successors alone.
pub(super) fn leaves_loop(function: &Function, block: BlockId, [then, otherwise]: [BlockId; 2]) -> bool {
    reaches(function, then, block) != reaches(function, otherwise, block)
}

/// Whether a block is reachable from another block.
fn reaches(function: &Function, from: BlockId, to: BlockId) -> bool {
    let mut seen = vec![false; function.blocks.len()];
    let mut open = vec![from.0 as usize];
    while let Some(block) = open.pop() {
        if block == to.0 as usize {
            return true;
        }
        if seen.get(block) == Some(&false) {
            seen[block] = true;
            open.extend(function.successors(block));
        }
    }
    false
}

pub(super) fn put(registers: &mut Registers, reg: Reg, value: Value) {
    if let Some(register) = registers.get_mut(reg.0 as usize) {
        *register = Some(value);
    }
}
