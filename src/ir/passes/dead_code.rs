//! Dead code elimination: removes steps without effects whose results are never read, and registers that are not used.

use crate::ir::analysis::flow_graph::{FlowGraph, Step};
use crate::ir::graph::{Function, Op, Reg, Terminator};

/// Removes pure steps whose results are never read.
pub fn eliminate<G: FlowGraph>(graph: &mut G) {
    eliminate_where(graph, |_, _, step| step.is_pure());
}

/// Removes steps whose results are never read. `is_removable` receives a block, the index of a step in the block, and
/// the step.
pub fn eliminate_where<G: FlowGraph>(graph: &mut G, is_removable: impl Fn(usize, usize, &G::Step) -> bool) {
    let ReadRegisters { registers: is_read, removable } = read_registers(graph, is_removable);
    let mut removable = removable.into_iter();
    for block in 0..graph.block_count() {
        graph.steps_mut(block).retain(|step| {
            let is_needed = step.outs().iter().any(|out| is_read[(*out).into()]);
            let is_self_copy = matches!(step.op(), Some(Op::Copy | Op::Take)) && step.outs() == step.ins();
            removable.next() == Some(false) || is_needed && !is_self_copy
        });
    }
}

struct ReadRegisters {
    /// Whether the remaining steps read each register.
    registers: Vec<bool>,
    /// Whether each step, block after block, may be removed.
    removable: Vec<bool>,
}

fn read_registers<G: FlowGraph>(graph: &G, is_removable: impl Fn(usize, usize, &G::Step) -> bool) -> ReadRegisters {
    let mut removable = vec![];
    let mut work: Vec<usize> = vec![];
    // The registers that removable steps read, by the register that the step writes, in one list for all registers.
    let mut starts = vec![0; graph.register_count() + 1];
    for block in 0..graph.block_count() {
        crate::cancel::check();
        work.extend(graph.end_reads(block).iter().map(|r| (*r).into()));
        for (i, step) in graph.steps(block).iter().enumerate() {
            let is_self_copy = matches!(step.op(), Some(Op::Copy | Op::Take)) && step.outs() == step.ins();
            let may_remove = is_self_copy || is_removable(block, i, step);
            removable.push(may_remove);
            if may_remove {
                step.outs().iter().for_each(|out| starts[(*out).into() + 1] += step.ins().len());
            } else {
                work.extend(step.ins().iter().map(|r| (*r).into()));
            }
        }
    }
    for reg in 1..starts.len() {
        starts[reg] += starts[reg - 1];
    }
    let mut operands = vec![0; starts[graph.register_count()]];
    let mut next = starts.clone();
    let steps = (0..graph.block_count()).flat_map(|block| graph.steps(block));
    for step in steps.zip(&removable).filter(|(_, may_remove)| **may_remove).map(|(step, _)| step) {
        for out in step.outs() {
            for operand in step.ins() {
                let next = &mut next[(*out).into()];
                operands[*next] = (*operand).into();
                *next += 1;
            }
        }
    }
    let mut registers = vec![false; graph.register_count()];
    while let Some(reg) = work.pop() {
        if !std::mem::replace(&mut registers[reg], true) {
            work.extend(&operands[starts[reg]..starts[reg + 1]]);
        }
    }
    ReadRegisters { registers, removable }
}

/// Renumbers the registers that are used, in the order of their first occurrence.
pub fn compact(function: &mut Function) {
    let mut number: Vec<Option<Reg>> = vec![None; function.registers.len()];
    let mut used = vec![];
    let registers = &function.registers;
    let mut renumber = |reg: &mut Reg| {
        let new = *number[reg.0 as usize].get_or_insert_with(|| {
            used.push(registers[reg.0 as usize].clone());
            Reg(used.len() as u32 - 1)
        });
        *reg = new;
    };
    function.params.iter_mut().for_each(&mut renumber);
    for block in &mut function.blocks {
        for step in &mut block.instructions {
            step.ins.iter_mut().for_each(&mut renumber);
            step.outs.iter_mut().for_each(&mut renumber);
        }
        block.end.iter_mut().flat_map(Terminator::reads_mut).for_each(&mut renumber);
    }
    function.registers = used;
}
