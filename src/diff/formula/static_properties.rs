//! Static properties: the properties of a function that are determined before its evaluation.

use super::{Registers, Value};
use crate::ir::analysis::flow_graph::FlowGraph;
use crate::ir::{Function, Reg};
use crate::source::Span;

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

/// Finds a loop in a function and returns the source location of a step in the loop.
pub(super) fn cycle(function: &Function) -> Option<Span> {
    // The state of a block is 0 if it is new, 1 if it is on the current path, and 2 if it is done.
    let mut states = vec![0u8; function.blocks.len()];
    let mut open = vec![];
    let mut next = Some(0);
    loop {
        if let Some(block) = next.take() {
            *states.get_mut(block)? = 1;
            open.push((block, function.successors(block).rev()));
        }
        let (block, left) = open.last_mut()?;
        match left.next() {
            Some(id) if states.get(id) == Some(&1) => return Some(place(function, id)),
            Some(id) if states.get(id) == Some(&0) => next = Some(id),
            Some(_) => {}
            None => {
                states[*block] = 2;
                open.pop();
            }
        }
    }
}

fn place(function: &Function, block: usize) -> Span {
    let Some(block) = function.blocks.get(block) else { return function.span };
    block.instructions.first().map_or(block.end_span, |step| step.span)
}

pub(super) fn put(registers: &mut Registers, reg: Reg, value: Value) {
    if let Some(register) = registers.get_mut(reg.0 as usize) {
        *register = Some(value);
    }
}
