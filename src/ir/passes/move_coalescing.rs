//! Move coalescing: a register from which an array is moved, and the register to which it is moved, become one register.
//!
//! For graphs of tangent and adjoint code, where the tangents or adjoints of an array would be moved, too.

use crate::ir::analysis::flow_graph::FlowGraph;
use crate::ir::analysis::liveness::Liveness;
use crate::ir::graph::{Function, Op, Reg};
use crate::value::Bank;
use hashbrown::{HashMap, HashSet};

/// Replaces the registers of moves by one register where their contents are never needed at the same time.
pub(crate) fn coalesce(function: &mut Function) {
    let moves = moves(function);
    if moves.is_empty() {
        return;
    }
    let conflicts = conflicts(function, &moves);
    let mut names: HashMap<Reg, Reg> = HashMap::new();
    let mut members: HashMap<Reg, Vec<Reg>> = HashMap::new();
    for (to, from) in moves {
        let [to, from] = [to, from].map(|reg| names.get(&reg).copied().unwrap_or(reg));
        if to == from {
            continue;
        }
        let [all_to, all_from] = [to, from].map(|reg| members.get(&reg).cloned().unwrap_or_else(|| vec![reg]));
        let conflict = |a: &Reg| all_from.iter().any(|b| conflicts.contains(&(*a, *b)));
        if !all_to.iter().any(conflict) {
            names.extend(all_from.iter().map(|reg| (*reg, to)));
            members.insert(to, [all_to, all_from].concat());
        }
    }
    rename(function, &names);
}

/// Returns the moves of references between registers that are no parameters: to, from.
fn moves(function: &Function) -> Vec<(Reg, Reg)> {
    let steps = function.blocks.iter().flat_map(|block| &block.instructions);
    let moves = steps.filter(|step| step.op == Op::Take).map(|step| (step.outs[0], step.ins[0]));
    let is_variable = |reg: Reg| function.registers[reg.0 as usize].bank == Bank::R && !function.params.contains(&reg);
    moves.filter(|(to, from)| to != from && is_variable(*to) && is_variable(*from)).collect()
}

/// Returns the pairs of registers of which one is written while the content of the other is needed.
fn conflicts(function: &Function, moves: &[(Reg, Reg)]) -> HashSet<(Reg, Reg)> {
    let moved: HashSet<Reg> = moves.iter().flat_map(|(to, from)| [*to, *from]).collect();
    let live = Liveness::of(function);
    let mut found = HashSet::new();
    for (b, block) in function.blocks.iter().enumerate() {
        crate::cancel::check();
        let after = moved.iter().filter(|reg| live.leaves(b, reg.0 as usize));
        let mut needed: HashSet<Reg> = after.chain(function.end_reads(b)).copied().collect();
        for step in block.instructions.iter().rev() {
            for out in step.outs.iter().filter(|out| moved.contains(*out)) {
                for other in needed.iter().chain(&step.outs).filter(|other| *other != out) {
                    found.extend([(*out, *other), (*other, *out)]);
                }
            }
            needed.retain(|reg| !step.outs.contains(reg));
            needed.extend(step.ins.iter().filter(|reg| moved.contains(*reg)));
        }
    }
    found
}

fn rename(function: &mut Function, names: &HashMap<Reg, Reg>) {
    let rename = |reg: &mut Reg| *reg = names.get(reg).copied().unwrap_or(*reg);
    for b in 0..function.blocks.len() {
        let steps = &mut function.blocks[b].instructions;
        steps.iter_mut().for_each(|step| step.outs.iter_mut().chain(&mut step.ins).for_each(rename));
        steps.retain(|step| step.op != Op::Take || step.outs != step.ins);
        function.end_reads_mut(b).iter_mut().for_each(rename);
    }
}
