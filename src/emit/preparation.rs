//! Preparation: passes that reduce the cost of the graph before registers are assigned.
//!
//! In the order of [`prepare`]: `withoutDerivative(at:)` of a number without a slot becomes a copy, empty blocks are
//! skipped, copies are removed, loops are rotated, comparisons move into branches, small constants into instructions,
//! and the other constants of loops to the entry of the function, and arithmetic and strings are fused
//! ([`fuse_arithmetic`], [`fuse_text`]).

use super::fusion::fuse_arithmetic;
use super::graph::{Block, Compare, End, Graph, Reg, Step, StepOp, Test};
use super::text_fusion::fuse_text;
use crate::ir::analysis::control_flow::{back_edges, in_loops};
use crate::ir::analysis::effects::{Effects, Memory, MemoryAccess, effects};
use crate::ir::analysis::flow_graph::{Counts, count};
use crate::ir::passes::copy_propagation::{PropagationMode, coalesce_where, propagate_where};
use crate::ir::passes::dead_code::eliminate;
use crate::ir::{Op, Operator};
use crate::value::Bank;
use crate::value::shape::Shapes;
use hashbrown::HashMap;

/// Runs all passes of the preparation.
pub fn prepare(graph: &mut Graph, shapes: &Shapes, is_derivative: bool) {
    copy_constants(graph, is_derivative);
    skip_empty_blocks(graph);
    propagate_copies(graph, is_derivative);
    rotate_loops(graph);
    let constants = constants(graph);
    add_constants(graph, &constants);
    fuse_comparisons(graph, &constants);
    eliminate(graph);
    hoist_constants(graph);
    // Copies that were removed have left more blocks empty.
    skip_empty_blocks(graph);
    fuse_arithmetic(graph);
    if !is_derivative {
        fuse_text(graph, shapes);
    }
}

/// Replaces `withoutDerivative(at:)` by a copy if its operand has no slot.
fn copy_constants(graph: &mut Graph, is_derivative: bool) {
    for step in graph.blocks.iter_mut().flat_map(|block| &mut block.steps) {
        if let (Some(Op::Operator(Operator::WithoutDerivative { .. })), [value]) = (step.ir(), &step.ins[..])
            && (!is_derivative || graph.banks[*value] == Bank::I)
        {
            step.op = StepOp::Ir(Op::Copy);
        }
    }
}

fn skip_empty_blocks(graph: &mut Graph) {
    let next: Vec<Option<usize>> = graph
        .blocks
        .iter()
        .map(|b| match b.end {
            End::Jump(to) if b.steps.is_empty() => Some(to),
            _ => None,
        })
        .collect();
    let follow = |mut at: usize| {
        // An infinite loop of empty blocks is legal, so the number of steps is limited.
        for _ in 0..next.len() {
            match next[at] {
                Some(to) => at = to,
                None => break,
            }
        }
        at
    };
    graph.blocks.iter_mut().for_each(|b| b.end.retarget(follow));
}

/// Replaces copies by their originals where this preserves the slots, and removes the copies.
fn propagate_copies(graph: &mut Graph, is_derivative: bool) {
    let banks = graph.banks.clone();
    let is_copy = |step: &Step| !drops_slot(step, &banks, is_derivative);
    propagate_where(graph, PropagationMode::Complete, is_copy);
    eliminate(graph);
    coalesce_where(graph, is_copy);
}

/// Whether a copy drops the slot of its number, so that the copy cannot be replaced by the original.
fn drops_slot(copy: &Step, banks: &[Bank], is_derivative: bool) -> bool {
    is_derivative && !copy.active && banks[copy.outs[0]] == Bank::F
}

/// Rotates loops: the condition at the head of a loop is duplicated at the end of the loop, which saves one jump per
/// iteration.
fn rotate_loops(graph: &mut Graph) {
    const MAX_HEADER_STEPS: usize = 6;
    for (from, head) in back_edges(graph) {
        if !matches!(graph.blocks[from].end, End::Jump(to) if to == head) {
            continue;
        }
        let block = &graph.blocks[head];
        let cheap = |s: &Step| {
            s.ir().is_some_and(|op| {
                let Effects { memory, access, .. } = effects(op);
                match memory {
                    Memory::None => access == MemoryAccess::None,
                    Memory::Text | Memory::Box | Memory::Global => access == MemoryAccess::Read,
                    _ => matches!(op, Op::Constants(_) | Op::Count),
                }
            })
        };
        if block.steps.len() > MAX_HEADER_STEPS
            || !matches!(block.end, End::Branch { .. })
            || !block.steps.iter().all(cheap)
        {
            continue;
        }
        let (steps, end, span) = (block.steps.clone(), block.end.clone(), block.end_span);
        let latch = &mut graph.blocks[from];
        latch.steps.extend(steps);
        latch.end = end;
        latch.end_span = span;
    }
}

/// Finds the registers to which every write assigns one and the same integer constant.
fn constants(graph: &Graph) -> HashMap<Reg, i64> {
    let mut known: HashMap<Reg, Option<i64>> = HashMap::new();
    for p in graph.params.iter().chain(&graph.closure) {
        known.insert(*p, None);
    }
    for step in graph.blocks.iter().flat_map(|b| &b.steps) {
        for out in &step.outs {
            let value = match step.ir() {
                Some(Op::ConstI(value)) => Some(*value),
                _ => None,
            };
            known.entry(*out).and_modify(|k| *k = k.filter(|k| Some(*k) == value)).or_insert(value);
        }
    }
    known.into_iter().filter_map(|(r, k)| Some((r, k?))).collect()
}

fn small(constants: &HashMap<Reg, i64>, reg: Reg) -> Option<i16> {
    constants.get(&reg).and_then(|k| i16::try_from(*k).ok())
}

/// Returns the name of the primitive of a step.
fn primitive_name(step: &Step) -> Option<&'static str> {
    match step.ir() {
        Some(Op::Primitive(p)) => Some(p.info().name),
        _ => None,
    }
}

fn add_constants(graph: &mut Graph, constants: &HashMap<Reg, i64>) {
    for step in graph.blocks.iter_mut().flat_map(|b| &mut b.steps) {
        let (Some(name), &[a, b]) = (primitive_name(step), &step.ins[..]) else { continue };
        let found = match name {
            "int.add" => small(constants, b).map(|k| (a, k)).or_else(|| small(constants, a).map(|k| (b, k))),
            // The smallest integer has no negation, so subtracting it cannot become an addition.
            "int.sub" => small(constants, b).and_then(i16::checked_neg).map(|k| (a, k)),
            _ => None,
        };
        if let Some((a, k)) = found {
            step.op = StepOp::AddK(k);
            step.ins = vec![a];
        }
    }
}

fn fuse_comparisons(graph: &mut Graph, constants: &HashMap<Reg, i64>) {
    let foldable = only_read_by_branches(graph);
    for block in &mut graph.blocks {
        while let End::Branch { test: Test::True, ins, then, otherwise } = &mut block.end {
            let Some(step) = block.steps.last().filter(|s| s.outs[..] == ins[..] && foldable[ins[0]]) else { break };
            let Some(name) = primitive_name(step) else { break };
            if name == "bool.not" {
                *ins = step.ins.clone();
                (*then, *otherwise) = (*otherwise, *then);
                block.steps.pop();
                continue;
            }
            let Some((bank, Some(compare))) = name.split_once('.').map(|(b, n)| (b, Compare::named(n))) else { break };
            let &[a, b] = &step.ins[..] else { break };
            let (test, operands) = match (bank, small(constants, a), small(constants, b)) {
                ("int", _, Some(k)) => (Test::IntWith(compare, k), vec![a]),
                ("int", Some(k), _) => (Test::IntWith(compare.swapped(), k), vec![b]),
                ("int", None, None) => (Test::Ints(compare), vec![a, b]),
                ("double", ..) => (Test::Numbers(compare), vec![a, b]),
                _ => break,
            };
            block.end = End::Branch { test, ins: operands, then: *then, otherwise: *otherwise };
            block.steps.pop();
        }
    }
}

/// Finds the registers that are only read by the branch directly after their write, or by a `not` between the write and
/// the branch.
fn only_read_by_branches(graph: &Graph) -> Vec<bool> {
    let Counts { reads, .. } = count(graph);
    let mut branch_reads = vec![0; graph.banks.len()];
    for block in &graph.blocks {
        let End::Branch { test: Test::True, ins, .. } = &block.end else { continue };
        let mut condition = ins[0];
        for step in block.steps.iter().rev() {
            if step.outs[..] != [condition] {
                break;
            }
            branch_reads[condition] += 1;
            if primitive_name(step) != Some("bool.not") {
                break;
            }
            condition = step.ins[0];
        }
    }
    branch_reads.iter().zip(&reads).map(|(branch_reads, reads)| branch_reads == reads).collect()
}

/// Hoists the constants of loops: each constant is loaded once, at the entry, into one register.
fn hoist_constants(graph: &mut Graph) {
    const MAX_HOISTED: usize = 256;
    let in_loop = in_loops(graph);
    if !in_loop.contains(&true) {
        return;
    }
    let Counts { writes, .. } = count(graph);
    let mut hoisted: HashMap<(Bank, u64), Reg> = HashMap::new();
    let mut renamed: HashMap<Reg, Reg> = HashMap::new();
    let mut entry = vec![];
    for (block, _) in graph.blocks.iter_mut().zip(&in_loop).filter(|(_, inside)| **inside) {
        block.steps.retain(|step| {
            let key = match step.ir() {
                Some(Op::ConstF(value)) => (Bank::F, value.to_bits()),
                Some(Op::ConstI(value)) => (Bank::I, *value as u64),
                _ => return true,
            };
            let out = step.outs[0];
            if writes[out] != 1 || step.active || (hoisted.len() == MAX_HOISTED && !hoisted.contains_key(&key)) {
                return true;
            }
            let shared = *hoisted.entry(key).or_insert_with(|| {
                entry.push(step.clone());
                out
            });
            renamed.insert(out, shared);
            false
        });
    }
    let rename = |r: &mut Reg| {
        if let Some(shared) = renamed.get(r) {
            *r = *shared;
        }
    };
    for block in &mut graph.blocks {
        block.steps.iter_mut().flat_map(|s| &mut s.ins).for_each(rename);
        block.end.ins_mut().iter_mut().for_each(rename);
    }
    // The entry may itself be the head of a loop; then the loads of the constants must not be repeated.
    if in_loop[0] {
        let span = graph.blocks[0].end_span;
        let first = std::mem::replace(&mut graph.blocks[0], Block { steps: entry, end: End::Jump(0), end_span: span });
        graph.blocks.push(first);
        let moved = graph.blocks.len() - 1;
        graph.blocks.iter_mut().for_each(|b| b.end.retarget(|to| if to == 0 { moved } else { to }));
    } else {
        graph.blocks[0].steps.splice(0..0, entry);
    }
}
