//! Passes: transformations of finished graphs, and their order.
//!
//! In: graphs that were just lowered. Out: the same graphs with straight runs merged into one block, without dead code,
//! with small functions of the standard library inlined, and with references released early.
//!
//! Promises: the behavior of a program and its derivatives are preserved; steps with effects are preserved.

pub(crate) mod available_copies;
pub(crate) mod block_simplification;
pub(crate) mod common_subexpressions;
pub(crate) mod constant_propagation;
pub mod copy_propagation;
pub mod dead_code;
pub(crate) mod early_release;
pub(crate) mod element_promotion;
pub mod exclusivity_checks;
pub mod fallback;
pub mod full_inlining;
pub(crate) mod inlining;
pub(crate) mod invariant_loads;
pub(crate) mod invariant_steps;
pub(crate) mod loop_unrolling;
pub(crate) mod loops;
pub(crate) mod move_coalescing;
pub(crate) mod neutral_operands;
pub(crate) mod scalar_replacement;

use crate::ir::{Function, FunctionId, Op, Program};

use crate::cancel;
use hashbrown::{HashMap, HashSet};
use std::rc::Rc;

/// Runs the passes over new functions, callees before their callers.
pub fn finish(program: &mut Program, fresh: &[FunctionId]) {
    for id in callees_first(program, fresh) {
        let Some(mut shared) = program.functions[id.0 as usize].take() else { continue };
        let function = Rc::make_mut(&mut shared);
        clean(function);
        if inlining::inline(program, id, function) {
            clean(function);
        }
        program.functions[id.0 as usize] = Some(shared);
    }
    // The early release runs last, because inlining must see the references that a callee still uses.
    for id in fresh {
        if let Some(mut shared) = program.functions[id.0 as usize].take() {
            early_release::release(Rc::make_mut(&mut shared));
            program.functions[id.0 as usize] = Some(shared);
        }
    }
}

/// Runs the passes that work on a single function.
pub(crate) fn clean(function: &mut Function) {
    cancel::check();
    block_simplification::simplify(function);
    common_subexpressions::compute_once(function);
    // The removal of a copy may make another copy removable; two iterations suffice for nearly all copies.
    for _ in 0..2 {
        copy_propagation::coalesce(function);
        cancel::check();
        copy_propagation::propagate(function);
        cancel::check();
        dead_code::eliminate(function);
        cancel::check();
    }
    block_simplification::simplify(function);
    dead_code::compact(function);
}

/// The maximum number of rounds in which arrays are replaced by registers, which limits the compile time.
const MAX_ROUNDS: usize = 40;

/// Removes branches on known integers, and keeps the elements of small arrays in registers, as far as their lengths and indices
/// are known.
pub(crate) fn specialize(function: &mut Function) {
    for _ in 0..MAX_ROUNDS {
        cancel::check();
        constant_propagation::propagate(function);
        block_simplification::simplify(function);
        let mut steps = function.blocks.iter().flat_map(|block| &block.instructions);
        if !steps.any(|step| matches!(step.op, Op::NewArray(_) | Op::Constants(_))) {
            break;
        }
        if !loop_unrolling::unroll_one(function) && !scalar_replacement::replace(function) {
            break;
        }
    }
    available_copies::read_originals(function);
    clean(function);
}

/// Returns the new functions in an order in which callees precede their callers, as far as recursion allows.
fn callees_first(program: &Program, fresh: &[FunctionId]) -> Vec<FunctionId> {
    let new: HashSet<FunctionId> = fresh.iter().copied().collect();
    let calls: HashMap<FunctionId, Vec<FunctionId>> = fresh
        .iter()
        .map(|id| {
            let all = program.function(*id).map(|f| callees(f)).unwrap_or_default();
            (*id, all.into_iter().filter(|c| new.contains(c)).collect())
        })
        .collect();
    let mut order = vec![];
    let mut seen = HashSet::new();
    for root in fresh {
        let mut work = vec![(*root, 0)];
        if !seen.insert(*root) {
            continue;
        }
        while let Some((id, next)) = work.pop() {
            match calls[&id].get(next) {
                Some(callee) => {
                    work.push((id, next + 1));
                    if seen.insert(*callee) {
                        work.push((*callee, 0));
                    }
                }
                None => order.push(id),
            }
        }
    }
    order
}

fn callees(function: &Function) -> Vec<FunctionId> {
    let steps = function.blocks.iter().flat_map(|b| &b.instructions);
    steps
        .filter_map(|i| match i.op {
            Op::Call(id) => Some(id),
            _ => None,
        })
        .collect()
}
