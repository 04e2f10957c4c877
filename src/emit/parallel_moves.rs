//! Parallel moves: sequences of moves that bring arguments into the window, and results into the first registers.

use hashbrown::{HashMap, HashSet};
use std::collections::BTreeSet;
use std::hash::Hash;

/// A move of one value from one place to another; `S` is the type of a place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Move<S> {
    /// The place to which the value is moved.
    pub to: S,
    /// The place from which the value is moved.
    pub from: S,
    /// Whether the source place of a reference is left empty, because no later move reads it.
    pub last: bool,
}

/// Orders moves so that no move overwrites the source of a later move. `scratch` is a place that breaks cycles. A value
/// whose source is its target is not moved.
pub fn in_sequence<S: Copy + Eq + Hash>(moves: &[(S, S)], scratch: S) -> Vec<Move<S>> {
    let done = ordered(moves.iter().copied().filter(|(to, from)| to != from).collect(), scratch);
    let unmoved: HashSet<S> = moves.iter().filter(|(to, from)| to == from).map(|(to, _)| *to).collect();
    // Whether the next move that involves a place reads the place; if it writes the place, the place holds another
    // value afterwards.
    let mut is_read_next: HashMap<S, bool> = HashMap::new();
    let mut out: Vec<Move<S>> = done
        .into_iter()
        .rev()
        .map(|(to, from)| {
            let last = !unmoved.contains(&from) && is_read_next.get(&from) != Some(&true);
            is_read_next.insert(to, false);
            is_read_next.insert(from, true);
            Move { to, from, last }
        })
        .collect();
    out.reverse();
    out
}

/// Orders the moves: the next move is always the first whose target is no longer a source. Targets are distinct.
fn ordered<S: Copy + Eq + Hash>(mut moves: Vec<(S, S)>, scratch: S) -> Vec<(S, S)> {
    let writers: HashMap<S, usize> = moves.iter().enumerate().map(|(k, (to, _))| (*to, k)).collect();
    let mut readers: HashMap<S, usize> = HashMap::new();
    moves.iter().for_each(|(_, from)| *readers.entry(*from).or_default() += 1);
    let mut waiting: BTreeSet<usize> = (0..moves.len()).collect();
    let mut free: BTreeSet<usize> = (0..moves.len()).filter(|k| !readers.contains_key(&moves[*k].0)).collect();
    let mut done = vec![];
    while let Some(first) = waiting.first().copied() {
        let (to, from) = match free.pop_first() {
            Some(k) => {
                waiting.remove(&k);
                moves[k]
            }
            None => {
                // All remaining moves form cycles: the source of the first move is freed.
                let from = std::mem::replace(&mut moves[first].1, scratch);
                readers.insert(scratch, 1);
                (scratch, from)
            }
        };
        done.push((to, from));
        if let Some(left) = readers.get_mut(&from) {
            *left -= 1;
            if *left == 0 {
                readers.remove(&from);
                free.extend(writers.get(&from).filter(|k| waiting.contains(*k)));
            }
        }
    }
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(moves: &[(usize, usize)]) -> Vec<usize> {
        let mut registers: Vec<usize> = (0..10).collect();
        for m in in_sequence(moves, 9) {
            registers[m.to] = registers[m.from];
        }
        registers
    }

    #[test]
    fn cycles_and_chains() {
        assert_eq!(run(&[(0, 1), (1, 0)])[..2], [1, 0]);
        assert_eq!(run(&[(0, 1), (1, 2), (2, 0)])[..3], [1, 2, 0]);
        assert_eq!(run(&[(1, 0), (2, 1), (3, 2)])[..4], [0, 0, 1, 2]);
        assert_eq!(run(&[(0, 0), (1, 0), (2, 0)])[..3], [0, 0, 0]);
    }

    #[test]
    fn the_last_move_of_a_source_empties_it() {
        let moves = in_sequence(&[(3, 0), (4, 0)], 9);
        assert_eq!(moves.iter().map(|m| m.last).collect::<Vec<_>>(), [false, true]);
        assert!(!in_sequence(&[(0, 0), (4, 0)], 9)[0].last);
    }
}
