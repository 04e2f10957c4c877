//! Passes that make the graph cheaper to run, before registers are assigned.
//!
//! In the order of [`prepare`]: `withoutDerivative(at:)` of one number becomes a copy where it changes nothing, empty blocks are skipped, copies go away, the test of a loop moves to its end,
//! comparisons move into branches, small constants into instructions, the other constants of loops to the entry, and arithmetic is joined ([`join_arithmetic`]).

use super::graph::{Block, Compare, End, Graph, Reg, Step, StepOp, Test};
use super::join::join_arithmetic;
use super::order::{back_edges, in_loops};
use crate::ir::{Op, Operator};
use crate::value::Bank;
use std::collections::HashMap;

/// Does all of it.
pub fn prepare(graph: &mut Graph, is_derivative: bool) {
    copy_constants(graph, is_derivative);
    skip_empty_blocks(graph);
    forward_copies(graph, is_derivative);
    fold_copies(graph, is_derivative);
    rotate_loops(graph);
    let constants = constants(graph);
    add_constants(graph, &constants);
    fuse_comparisons(graph, &constants);
    remove_unused(graph);
    hoist_constants(graph);
    join_arithmetic(graph);
}

/// `withoutDerivative(at:)` of what has no slot is a copy.
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
        // An endless loop of empty blocks is legal and must not be followed for ever.
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

/// `t = a; … t …` becomes `… a …` where both mean the same until the last use of `t`.
fn forward_copies(graph: &mut Graph, is_derivative: bool) {
    let (writes, reads) = graph.counts();
    let banks = std::mem::take(&mut graph.banks);
    for block in &mut graph.blocks {
        for at in 0..block.steps.len() {
            let step = &block.steps[at];
            if step.ir() != Some(&Op::Copy) {
                continue;
            }
            let (t, a) = (step.outs[0], step.ins[0]);
            if t == a || writes[t] != 1 || cuts(step, &banks, is_derivative) {
                continue;
            }
            if forwardable(block, at, t, a, reads[t]) {
                for step in &mut block.steps[at + 1..] {
                    step.ins.iter_mut().filter(|r| **r == t).for_each(|r| *r = a);
                }
                replace_in_end(&mut block.end, t, a);
            }
        }
    }
    graph.banks = banks;
    remove_unused(graph);
}

/// Whether a copy leaves the slot of its number behind, so that it does not stand for the original.
fn cuts(copy: &Step, banks: &[Bank], is_derivative: bool) -> bool {
    is_derivative && !copy.active && banks[copy.outs[0]] == Bank::F
}

/// Whether all `reads` of `t` come in the same block, before `a` changes, and none of them empties it.
fn forwardable(block: &Block, at: usize, t: Reg, a: Reg, reads: u32) -> bool {
    let mut left = reads;
    for step in &block.steps[at + 1..] {
        let here = step.ins.iter().filter(|r| **r == t).count() as u32;
        if here > 0 && step.ir() == Some(&Op::Take) {
            return false;
        }
        left -= here;
        if left == 0 {
            return !step.outs.contains(&t);
        }
        if step.outs.contains(&a) || (step.ir() == Some(&Op::Take) && step.ins.contains(&a)) {
            return false;
        }
    }
    left == block.end.ins().iter().filter(|r| **r == t).count() as u32
}

fn replace_in_end(end: &mut End, t: Reg, a: Reg) {
    match end {
        End::Branch { ins, .. } | End::Return(ins) => ins.iter_mut().filter(|r| **r == t).for_each(|r| *r = a),
        End::Trap { message: Some(message), .. } if *message == t => *message = a,
        End::Jump(_) | End::Trap { .. } => {}
    }
}

/// `t = …; v = t` becomes `v = …` where `t` has no other use and `v` none in between.
fn fold_copies(graph: &mut Graph, is_derivative: bool) {
    let (writes, reads) = graph.counts();
    let banks = std::mem::take(&mut graph.banks);
    for block in &mut graph.blocks {
        let mut at = 0;
        while at < block.steps.len() {
            match folding(block, at, &writes, &reads).filter(|_| !cuts(&block.steps[at], &banks, is_derivative)) {
                Some(from) => {
                    let v = block.steps[at].outs[0];
                    let t = block.steps[at].ins[0];
                    block.steps[from].outs.iter_mut().filter(|r| **r == t).for_each(|r| *r = v);
                    block.steps.remove(at);
                }
                None => at += 1,
            }
        }
    }
    graph.banks = banks;
}

/// The step that could write the target of the copy at `at` itself.
fn folding(block: &Block, at: usize, writes: &[u32], reads: &[u32]) -> Option<usize> {
    let copy = &block.steps[at];
    let (Some(Op::Copy | Op::Take), [v], [t]) = (copy.ir(), &copy.outs[..], &copy.ins[..]) else { return None };
    if v == t || writes[*t] != 1 || reads[*t] != 1 {
        return None;
    }
    for from in (0..at).rev() {
        let step = &block.steps[from];
        if step.outs.contains(t) {
            // A step that writes `v` as well would then write it twice.
            return (!step.outs.contains(v)).then_some(from);
        }
        if step.outs.contains(v) || step.ins.contains(v) {
            return None;
        }
    }
    None
}

/// A loop whose test stands at its head is entered there and repeated from its end: one jump less per turn.
fn rotate_loops(graph: &mut Graph) {
    const LONGEST: usize = 6;
    for (from, head) in back_edges(graph) {
        if !matches!(graph.blocks[from].end, End::Jump(to) if to == head) {
            continue;
        }
        let block = &graph.blocks[head];
        let cheap = |s: &Step| {
            s.is_removable()
                || matches!(s.ir(), Some(Op::Primitive(_) | Op::Count | Op::LoadBox { .. } | Op::LoadGlobal { .. }))
        };
        if block.steps.len() > LONGEST || !matches!(block.end, End::Branch { .. }) || !block.steps.iter().all(cheap) {
            continue;
        }
        let (steps, end, span) = (block.steps.clone(), block.end.clone(), block.end_span);
        let latch = &mut graph.blocks[from];
        latch.steps.extend(steps);
        latch.end = end;
        latch.end_span = span;
    }
}

/// Registers that hold one integer wherever they are written.
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

/// The primitive of a step.
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
            // The smallest integer has no opposite.
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

/// Registers whose every read is the branch right behind a write of them, or the `not` that stands between.
fn only_read_by_branches(graph: &Graph) -> Vec<bool> {
    let (_, reads) = graph.counts();
    let mut behind = vec![0; graph.banks.len()];
    for block in &graph.blocks {
        let End::Branch { test: Test::True, ins, .. } = &block.end else { continue };
        let mut wanted = ins[0];
        for step in block.steps.iter().rev() {
            if step.outs[..] != [wanted] {
                break;
            }
            behind[wanted] += 1;
            if primitive_name(step) != Some("bool.not") {
                break;
            }
            wanted = step.ins[0];
        }
    }
    behind.iter().zip(&reads).map(|(behind, reads)| behind == reads).collect()
}

/// Drops constants and copies that nobody reads.
fn remove_unused(graph: &mut Graph) {
    loop {
        let (_, reads) = graph.counts();
        let mut changed = false;
        for block in &mut graph.blocks {
            let before = block.steps.len();
            block.steps.retain(|s| !s.is_removable() || s.outs.iter().any(|r| reads[*r] > 0));
            changed |= block.steps.len() != before;
        }
        if !changed {
            return;
        }
    }
}

/// Constants that a loop needs are loaded once, at the entry, one register for each different one.
fn hoist_constants(graph: &mut Graph) {
    const MOST: usize = 256;
    let in_loop = in_loops(graph);
    if !in_loop.contains(&true) {
        return;
    }
    let (writes, _) = graph.counts();
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
            if writes[out] != 1 || step.active || (hoisted.len() == MOST && !hoisted.contains_key(&key)) {
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
        match &mut block.end {
            End::Branch { ins, .. } | End::Return(ins) => ins.iter_mut().for_each(rename),
            End::Trap { message, .. } => message.iter_mut().for_each(rename),
            End::Jump(_) => {}
        }
    }
    // The entry may itself be the head of a loop; then it must not be repeated with the constants.
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
