//! Moves that happen at once: arguments into the window, results into the first registers.

/// A move of one value; `S` is where it stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Move<S> {
    /// Where it goes.
    pub to: S,
    /// Where it comes from.
    pub from: S,
    /// Whether the source is left empty (references): no later move needs it.
    pub last: bool,
}

/// Puts moves in an order in which none overwrites what another one still needs. `scratch` breaks cycles. A source that
/// is its own target stays where it is.
pub fn in_sequence<S: Copy + PartialEq>(moves: &[(S, S)], scratch: S) -> Vec<Move<S>> {
    let mut pending: Vec<(S, S)> = moves.iter().copied().filter(|(to, from)| to != from).collect();
    let mut done: Vec<(S, S)> = vec![];
    while !pending.is_empty() {
        let free = pending.iter().position(|(to, _)| pending.iter().all(|(_, from)| from != to));
        match free {
            Some(k) => done.push(pending.remove(k)),
            None => {
                // Everything left is a cycle: free the source of the first move.
                let (_, from) = pending[0];
                done.push((scratch, from));
                pending.iter_mut().filter(|(_, f)| *f == from).for_each(|(_, f)| *f = scratch);
            }
        }
    }
    let stays = |place: S| moves.iter().any(|(to, from)| to == from && *to == place);
    let last = |k: usize| {
        let from = done[k].1;
        // Written again in between, it is another value.
        let next = done[k + 1..].iter().find(|(to, f)| *f == from || *to == from);
        !stays(from) && next.is_none_or(|(_, f)| *f != from)
    };
    done.iter().enumerate().map(|(k, (to, from))| Move { to: *to, from: *from, last: last(k) }).collect()
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
