//! Known pattern: the pattern of the last matrix. An iteration that computes one Jacobian or Hessian after the other records the same
//! operations each time, so that its matrices have the same pattern, which then needs neither a search nor a coloring.

use super::LinearMap;
use super::sparsity::ColoredPattern;
use std::rc::Rc;

/// The largest number of nodes of a tape whose operands are kept.
const LARGEST: usize = 1 << 20;

/// The pattern of the last matrix, and the operands of the tape from which it follows.
#[derive(Debug, Default)]
pub struct KnownPattern {
    last: Option<Last>,
}

#[derive(Debug)]
struct Last {
    sparse: bool,
    leaves: u32,
    outputs: Rc<[u32]>,
    operands: Vec<[u32; 2]>,
    pattern: Option<Rc<ColoredPattern>>,
}

impl Last {
    fn is_of(&self, map: &LinearMap, sparse: bool) -> bool {
        let is_same_size = self.sparse == sparse
            && self.leaves == map.tape.leaves()
            && self.operands.len() == map.tape.records()
            && self.outputs == map.outputs;
        // Without an early exit in a chunk, so that the comparison is vectorized.
        let mut known = &self.operands[..];
        is_same_size
            && map.tape.chunks().iter().all(|chunk| {
                let (own, rest) = known.split_at(chunk.len().min(known.len()));
                known = rest;
                let differences = own.iter().zip(chunk).map(|([a, b], node)| (a ^ node.a) | (b ^ node.b));
                differences.fold(0, |all, difference| all | difference) == 0
            })
    }
}

impl KnownPattern {
    /// Returns the pattern of a map, which is searched for unless it is known; `None` if the matrix should not be treated as
    /// sparse, or when the user cancels.
    pub(super) fn of(&mut self, map: &LinearMap, sparse: bool, stop: &dyn Fn() -> bool) -> Option<Rc<ColoredPattern>> {
        let search = || ColoredPattern::of(map, sparse, stop).map(Rc::new);
        if !map.tape.wide().is_empty() || map.tape.records() > LARGEST {
            return search();
        }
        if let Some(last) = &self.last
            && last.is_of(map, sparse)
        {
            return last.pattern.clone();
        }
        let pattern = search();
        if stop() {
            return None;
        }
        self.last = Some(Last {
            sparse,
            leaves: map.tape.leaves(),
            outputs: Rc::clone(&map.outputs),
            operands: map.tape.chunks().iter().flatten().map(|node| [node.a, node.b]).collect(),
            pattern: pattern.clone(),
        });
        pattern
    }
}
