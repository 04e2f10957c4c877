//! Linear tangents: a function that is certainly linear computes tangents by its own derivative code, not by its
//! registered transpose.
//!
//! Promises: a function is certainly linear only if its code as written is linear; a function that calls a function
//! with a registered derivative, or that cuts a path, uses its transpose in both directions.

use crate::diff::differentiation_parameters;
use crate::diff::differentiation_parameters::{Variation, varied_components};
use crate::diff::linearity::{Kind, Linearities};
use crate::ir::{Function, FunctionId, Op, Program, RuleKind};
use hashbrown::HashSet;
use std::rc::Rc;

/// Examines the transposes of all functions whose number is `first` or higher.
pub fn mark_own_tangents(program: &mut Program, first: usize) {
    let of = |(id, f): (usize, &Option<Rc<Function>>)| {
        let is_transposed = f.as_ref()?.rules.iter().any(|rule| rule.kind == RuleKind::Transpose);
        is_transposed.then_some(FunctionId(id as u32))
    };
    let transposed: Vec<FunctionId> = program.functions.iter().enumerate().skip(first).filter_map(of).collect();
    for id in transposed {
        let Some(mut shared) = program.function(id).cloned() else { continue };
        let given: Vec<bool> = shared
            .rules
            .iter()
            .map(|rule| rule.kind == RuleKind::Transpose && !rule.differs && computes_tangents(program, id, &rule.wrt))
            .collect();
        if !given.contains(&true) {
            continue;
        }
        for (rule, given) in Rc::make_mut(&mut shared).rules.iter_mut().zip(given) {
            rule.has_own_tangent = given;
        }
        program.functions[id.0 as usize] = Some(shared);
    }
}

/// Whether the derivative code of a function computes the function's tangents with respect to the given parameters.
fn computes_tangents(program: &Program, id: FunctionId, by: &[bool]) -> bool {
    let Some(f) = program.function(id).filter(|_| is_plain(program, id)) else { return false };
    let kinds = varied_components(program, f, by).into_iter();
    let kinds =
        kinds.map(|variations| if variations == Variation::No { Kind::Constant } else { Kind::Linear }).collect();
    let results = Linearities::new(program).results(id, kinds);
    let is_linear = |kind: Kind| matches!(kind, Kind::Linear | Kind::Affine | Kind::Zero);
    differentiation_parameters::carrying(program, f)
        .iter()
        .zip(results.iter())
        .all(|(carries, known)| !carries || is_linear(known.kind))
}

/// Whether the bodies of a function and all of its callees are known, and none of them has a registered derivative.
fn is_plain(program: &Program, id: FunctionId) -> bool {
    let mut seen: HashSet<FunctionId> = HashSet::from([id]);
    let mut open = vec![id];
    while let Some(at) = open.pop() {
        let Some(f) = program.function(at).filter(|f| !f.is_opaque && (at == id || f.rules.is_empty())) else {
            return false;
        };
        for step in f.blocks.iter().flat_map(|b| &b.instructions) {
            match step.op {
                Op::Operator(_) => return false,
                Op::Call(callee) if callee == id => return false,
                Op::Call(callee) if seen.insert(callee) => open.push(callee),
                _ => {}
            }
        }
    }
    true
}
