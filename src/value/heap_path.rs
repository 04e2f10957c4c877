//! Heap paths: the paths from some objects to all reachable objects, by which corresponding numbers are found in a
//! copy.

use crate::value::slot_rewrite::{address, part};
use crate::value::{Cells, Ref, Slot};
use hashbrown::HashSet;

/// The steps to the objects that are reachable from the roots: each object is a part of an earlier one.
#[derive(Clone, Debug, Default)]
pub struct HeapPath(Vec<PathStep>);

/// A step from an object to one of its parts: the index of the object, and the index of the part.
#[derive(Clone, Copy, Debug)]
struct PathStep {
    of: u32,
    part: u32,
}

impl HeapPath {
    /// Finds every object that is reachable from the objects `first`, except through objects whose addresses are
    /// `known`. Returns the steps, and the objects, starting with the roots.
    pub fn of(first: &[Ref], known: &HashSet<usize>) -> (HeapPath, Vec<Ref>) {
        let mut steps = vec![];
        let mut objects = first.to_vec();
        let mut visited: HashSet<usize> = first.iter().map(address).collect();
        let mut of = 0;
        while of < objects.len() {
            for k in 0.. {
                let Some(child) = part_of(&objects[of], k) else { break };
                let place = address(&child);
                if place != 0 && !known.contains(&place) && visited.insert(place) {
                    steps.push(PathStep { of: of as u32, part: k as u32 });
                    objects.push(child);
                }
            }
            of += 1;
        }
        (HeapPath(steps), objects)
    }

    /// Returns the objects at the same paths in another copy, starting with the roots; `None` when the structure of the
    /// copy differs.
    pub fn follow(&self, first: &[Ref]) -> Option<Vec<Ref>> {
        let mut objects = first.to_vec();
        for step in &self.0 {
            let child = part_of(objects.get(step.of as usize)?, step.part as usize)?;
            objects.push(child);
        }
        Some(objects)
    }
}

fn part_of(object: &Ref, k: usize) -> Option<Ref> {
    match object {
        Ref::Box(inside) => inside.cells.borrow().r.get(k).cloned(),
        _ => part(object, k).cloned(),
    }
}

/// Returns the number `k` of an object, with its slot; the numbers of a dictionary are those of its keys, then those of
/// its values.
pub fn number(object: &Ref, k: usize) -> Option<(f64, Slot)> {
    let of = |cells: &Cells, k: usize| cells.f.get(k).map(|value| (*value, cells.slot(k)));
    match object {
        Ref::Cells(cells) => of(cells, k),
        Ref::Closure(closure) => of(&closure.captures, k),
        Ref::Any(any) => of(&any.cells, k),
        Ref::Box(inside) => of(&inside.cells.borrow(), k),
        Ref::Dictionary(d) => match k.checked_sub(d.keys().f.len()) {
            None => of(d.keys(), k),
            Some(k) => of(d.values(), k),
        },
        Ref::Null | Ref::Text(_) | Ref::Tensor(_) | Ref::Machine(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Components;
    use std::rc::Rc;

    fn array(numbers: &[f64]) -> Ref {
        Ref::Cells(Rc::new(Cells::record(Components { f: numbers, ..Components::default() })))
    }

    fn holding(parts: &[Ref]) -> Ref {
        Ref::Cells(Rc::new(Cells::record(Components { r: parts, ..Components::default() })))
    }

    #[test]
    fn another_copy_has_its_numbers_at_the_same_places() {
        let make = |x: f64| [holding(&[array(&[1.0]), holding(&[array(&[2.0, x])])])];
        let (heap_path, objects) = HeapPath::of(&make(3.0), &HashSet::new());
        let place = objects.iter().position(|o| number(o, 1).is_some()).unwrap();
        let others = heap_path.follow(&make(4.0)).unwrap();
        assert_eq!(number(&others[place], 1), Some((4.0, Slot::NONE)));
        assert!(heap_path.follow(&[array(&[])]).is_none());
    }

    #[test]
    fn what_is_known_is_left_out() {
        let known = array(&[1.0]);
        let all = [holding(&[known.clone(), array(&[2.0])])];
        let (_, objects) = HeapPath::of(&all, &HashSet::from([address(&known)]));
        assert_eq!(objects.len(), 2);
    }
}
